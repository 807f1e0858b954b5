/* Reading a torch_xla metrics report: the text of torch_xla.debug.metrics.metrics_report() (full or short), also as
 * metrics_saver appends it to XLA_METRICS_FILE.
 *
 * Values are printed rounded by torch_xla ("01m03s441ms563.912us"); the sums here are of the printed values.  It rounds
 * parts of a time up and does not take that off the next part (1.9 s becomes "02s900ms000.000us"), which cannot be told
 * from a time that is really so long.  Our own report (metrics/text.h) has no such error.
 * Format: torch_xla/csrc/runtime/metrics.cc, torch/csrc/lazy/core/metrics.cpp.
 */
#ifndef XP_METRICS_REPORT_H
#define XP_METRICS_REPORT_H

#include "base/arena.h"
#include "base/error.h"
#include "xlaprof/metrics.h"

typedef struct {
  xp_str name;
  uint64_t samples;
  xp_metric_unit unit;
  double accumulator; /* value, ns or bytes */
} xp_metric;

typedef struct {
  xp_str name;
  int64_t value;
} xp_metric_counter;

typedef struct {
  xp_str path;
  int64_t step; /* of "[MetricsData; step=k]"; -1 if the text has none */
  xp_metric *metrics;
  size_t metric_count;
  xp_metric_counter *counters;
  size_t counter_count;
} xp_metrics_report;

/* True if the text looks like such a report: a line that begins with "Metric: " or "Counter: ". */
bool xp_metrics_report_probe(xp_str text);

/* Reads a report; of a file with several ([MetricsData; step=k] ..) the last one.  Strings are slices of `text`; rows
 * come from the arena.  XP_ERR_FORMAT names the line that cannot be read. */
xp_status xp_metrics_report_read(xp_str text, xp_str path, xp_arena *arena, xp_metrics_report *report, xp_error *err);

/* Samples of a metric or value of a counter; 0 if the report has none. */
uint64_t xp_metrics_report_samples(const xp_metrics_report *report, const char *metric);
int64_t xp_metrics_report_counter(const xp_metrics_report *report, const char *counter);

#endif
