/* The counters and metrics of this process: what xlaprof/metrics.h needs below the text. */
#ifndef XP_METRICS_REGISTRY_H
#define XP_METRICS_REGISTRY_H

#include "base/arena.h"
#include "xlaprof/metrics.h"

/* What a metric holds at one moment. */
typedef struct {
  xp_str name; /* with a NUL behind it; so are those of counters */
  xp_metric_unit unit;
  uint64_t total;            /* samples since the start or the last clear */
  double sum;                /* of all of them */
  xp_metric_sample *samples; /* the latest, oldest first */
  size_t count;
} xp_metric_state;

typedef struct {
  xp_str name;
  int64_t value;
} xp_counter_state;

typedef struct {
  xp_metric_state *metrics;
  size_t metric_count;
  xp_counter_state *counters;
  size_t counter_count;
} xp_metrics_state;

/* Copies all metrics that have samples and all counters that are not 0, each sorted by name (bytewise).  Every row is
 * of one moment; other threads may go on between two rows.  Rows come from the arena, which must have an escape; names
 * live on. */
xp_metrics_state xp_metrics_state_take(xp_arena *arena);

/* The same of one metric and one counter; false if it has no samples or is 0, or there is none of that name. */
bool xp_metric_state_take(const char *name, xp_arena *arena, xp_metric_state *state);
bool xp_counter_state_take(const char *name, xp_counter_state *state);

#endif
