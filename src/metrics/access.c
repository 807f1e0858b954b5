/* Counters and metrics by name.  Everything is copied first, as for the report, and worked out from the copy: nothing
 * waits for a reader. */
#include "metrics/access.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- figures */

bool xp_counter_is_fallback(xp_str name)
{
  return xp_str_starts(name, "aten::");
}

bool xp_metric_state_rate(const xp_metric_state *metric, double *samples_per_second, double *sum_per_second)
{
  const xp_metric_sample *samples = metric->samples;
  const double seconds = (double)(samples[metric->count - 1].time_ns - samples[0].time_ns) * 1e-9;
  if (seconds <= 0) {
    return false;
  }
  double sum = 0;
  for (size_t i = 0; i < metric->count; i++) {
    sum += samples[i].value;
  }
  *samples_per_second = (double)metric->count / seconds;
  *sum_per_second = sum / seconds;
  return true;
}

static int by_value(const void *a, const void *b)
{
  double x = ((const xp_metric_sample *)a)->value, y = ((const xp_metric_sample *)b)->value;
  return (x > y) - (x < y);
}

void xp_metric_state_sort(xp_metric_state *metric)
{
  qsort(metric->samples, metric->count, sizeof *metric->samples, by_value);
}

double xp_metric_state_percentile(const xp_metric_state *sorted, double percent)
{
  const size_t i = (size_t)((double)sorted->count * percent / 100);
  return sorted->samples[i < sorted->count ? i : sorted->count - 1].value;
}

/* ---------------------------------------------------------------- names */

typedef enum { COUNTERS, METRICS, FALLBACKS } wanted;

typedef struct {
  xp_arena *arena;
  wanted kind;
  const char **names; /* of malloc */
  size_t count;
} listing;

static void add_name(listing *l, xp_str name)
{
  if (l->kind != FALLBACKS || xp_counter_is_fallback(name)) {
    l->names[l->count++] = name.ptr;
  }
}

static void list_names(void *context)
{
  listing *l = context;
  const xp_metrics_state state = xp_metrics_state_take(l->arena);
  const size_t most = l->kind == METRICS ? state.metric_count : state.counter_count;
  l->names = calloc(most + 1, sizeof *l->names);
  for (size_t i = 0; l->names != NULL && i < most; i++) {
    add_name(l, l->kind == METRICS ? state.metrics[i].name : state.counters[i].name);
  }
}

static const char **names_of(wanted kind, size_t *count)
{
  listing l = {.arena = xp_arena_create(), .kind = kind};
  if (l.arena != NULL) {
    (void)xp_arena_guard(l.arena, list_names, &l); /* without memory there are no names */
  }
  xp_arena_destroy(l.arena);
  if (count != NULL) {
    *count = l.count;
  }
  return l.names;
}

const char **xp_counter_names(size_t *count)
{
  return names_of(COUNTERS, count);
}

const char **xp_metric_names(size_t *count)
{
  return names_of(METRICS, count);
}

const char **xp_fallback_names(size_t *count)
{
  return names_of(FALLBACKS, count);
}

/* ---------------------------------------------------------------- one of them */

bool xp_counter_read(const char *name, int64_t *value)
{
  xp_counter_state state = {.value = 0};
  const bool is_there = xp_counter_state_take(name, &state);
  if (value != NULL) {
    *value = state.value;
  }
  return is_there;
}

/* What is done with a metric, which is there. */
typedef void use_function(xp_metric_state *metric, void *context);

typedef struct {
  xp_arena *arena;
  const char *name;
  use_function *use;
  void *context;
  bool is_there;
} reading;

static void read_metric(void *context)
{
  reading *r = context;
  xp_metric_state state;
  if (xp_metric_state_take(r->name, r->arena, &state)) {
    r->use(&state, r->context);
    r->is_there = true;
  }
}

/* Uses a copy of the metric of a name; false if it is not there, or when memory is out. */
static bool use_metric(const char *name, use_function *use, void *context)
{
  reading r = {xp_arena_create(), name, use, context, false};
  const bool is_read = r.arena != NULL && xp_arena_guard(r.arena, read_metric, &r);
  xp_arena_destroy(r.arena);
  return is_read && r.is_there;
}

static void copy_data(xp_metric_state *metric, void *context)
{
  xp_metric_data **copy = context;
  const size_t bytes = metric->count * sizeof *metric->samples;
  *copy = malloc(sizeof **copy + bytes);
  if (*copy != NULL) {
    xp_metric_sample *samples = (xp_metric_sample *)(void *)(*copy + 1);
    memcpy(samples, metric->samples, bytes);
    **copy = (xp_metric_data){metric->unit, metric->total, metric->sum, metric->count, samples};
  }
}

xp_metric_data *xp_metric_read(const char *name)
{
  xp_metric_data *data = NULL;
  return use_metric(name, copy_data, &data) ? data : NULL;
}

typedef struct {
  double percent, *value;
} percentile;

static void find_percentile(xp_metric_state *metric, void *context)
{
  const percentile *p = context;
  xp_metric_state_sort(metric);
  *p->value = xp_metric_state_percentile(metric, p->percent);
}

bool xp_metric_percentile(const char *name, double percent, double *value)
{
  double ignored;
  percentile p = {percent, value != NULL ? value : &ignored};
  return percent >= 0 && percent <= 100 && use_metric(name, find_percentile, &p);
}

typedef struct {
  double samples, sum;
  bool is_known;
} rate;

static void find_rate(xp_metric_state *metric, void *context)
{
  rate *r = context;
  r->is_known = xp_metric_state_rate(metric, &r->samples, &r->sum);
}

bool xp_metric_rate(const char *name, double *samples_per_second, double *sum_per_second)
{
  rate r = {0, 0, false};
  if (!use_metric(name, find_rate, &r) || !r.is_known) {
    return false;
  }
  if (samples_per_second != NULL) {
    *samples_per_second = r.samples;
  }
  if (sum_per_second != NULL) {
    *sum_per_second = r.sum;
  }
  return true;
}
