/* Figures of a metric that was copied: those of its report and those that are asked for by name. */
#ifndef XP_METRICS_ACCESS_H
#define XP_METRICS_ACCESS_H

#include "metrics/registry.h"

/* True for the counter of an operation that fell back to the host. */
bool xp_counter_is_fallback(xp_str name);

/* What the kept samples come to in a second, from the oldest to the newest of them, and how many; false if no time lies
 * between. */
bool xp_metric_state_rate(const xp_metric_state *metric, double *samples_per_second, double *sum_per_second);

/* Sorts the samples by value, for what follows. */
void xp_metric_state_sort(xp_metric_state *metric);

/* The sample at a percentile, from 0 to 100: one of them, not something between two. */
double xp_metric_state_percentile(const xp_metric_state *sorted, double percent);

#endif
