/* Counters and metrics of a running program, and their report, in the text format of torch_xla
 * (torch_xla.debug.metrics.metrics_report): it tells what happens without any capture.
 *
 * Threads: every function may be called from any thread.  Raising a counter takes one atomic addition (but
 * for xp_counter_add_exclusive); adding a sample takes the metric's own lock.  After fork the child goes on with a copy
 * of everything.
 *
 * Names may be any text but the empty one.  In the report, control characters, blanks and backslashes of a name are
 * written as \xNN, so that a name is one word for every tool and no two names look alike: better use names without
 * them. Format and names: torch/csrc/lazy/core/metrics.cpp, torch_xla/csrc/runtime/metrics.cc.
 */
#ifndef XLAPROF_METRICS_H
#define XLAPROF_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xlaprof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { XP_METRIC_VALUE, XP_METRIC_TIME, XP_METRIC_BYTES } xp_metric_unit;

/* Kept for the life of the process. */
typedef struct xp_counter_handle xp_counter_handle;
typedef struct xp_metric_handle xp_metric_handle;

/* The counter of a name (copied), new if it was not there; NULL when memory is out or the name is empty.  Ask once and
 * keep it where that matters: the look-up goes through the name. */
XP_API xp_counter_handle *xp_counter_get(const char *name);

/* Adds to a counter; NULL is ignored. */
XP_API void xp_counter_add(xp_counter_handle *counter, int64_t value);

/* The same without an atomic operation, for a counter that no two threads add to at once, by this function or by
 * xp_counter_add, because a lock keeps them apart, say: else additions are lost.  Reading and clearing it need no lock.
 */
XP_API void xp_counter_add_exclusive(xp_counter_handle *counter, int64_t value);

/* The value; 0 for NULL. */
XP_API int64_t xp_counter_value(const xp_counter_handle *counter);

/* The metric of a name (copied), new if it was not there, with the unit that it was first asked for; NULL when memory
 * is out or the name is empty.  It keeps its latest samples (1024, or as many as the variable XLAPROF_METRICS_SAMPLES
 * says, 1 to 1048576) and the sum of all.  A counter may have the same name. */
XP_API xp_metric_handle *xp_metric_get(const char *name, xp_metric_unit unit);

/* Adds a sample: a value, nanoseconds, or bytes, stamped with the time of the call.  NULL is ignored, and so are
 * infinity and what is no number. */
XP_API void xp_metric_add(xp_metric_handle *metric, double value);

/* The same with the time of the sample, for those who have just read the clock: nanoseconds of CLOCK_MONOTONIC.  One
 * that lies before the last sample's counts as of that time. */
XP_API void xp_metric_add_at(xp_metric_handle *metric, double value, int64_t time_ns);

/* Samples since the start or the last clear, and their sum; 0 for NULL. */
XP_API uint64_t xp_metric_samples(const xp_metric_handle *metric);
XP_API double xp_metric_sum(const xp_metric_handle *metric);

/* The report: metrics, then counters, each sorted by name; those without samples or of value 0 are left out (the text
 * is empty if all are).  Times are printed to the nanosecond; torch_xla prints some of them wrongly (16.7 ms as
 * 017ms700.000us).  Returns a text that the caller frees with free(), or NULL when memory is out. */
XP_API char *xp_metrics_report_text(void);

/* The same of some names only, each once and in this order, and behind them of all counters that begin with "aten::",
 * which are operations that fell back to the host.  Both lists end with NULL; for one that is NULL or empty torch_xla's
 * own is taken: the metrics CompileTime, ExecuteTime, ExecuteReplicatedTime, TransferToDeviceTime and
 * TransferFromDeviceTime, the counters CachedCompile, MarkStep and DynamoSyncInputExecuteTime.  The text as above.
 * After short_metrics_report of torch_xla/debug/metrics.py. */
XP_API char *xp_metrics_report_short(const char *const *counter_names, const char *const *metric_names);

/* Sets all counters to 0, or forgets all samples, or both. */
XP_API void xp_counters_clear(void);
XP_API void xp_metrics_clear(void);
XP_API void xp_metrics_clear_all(void);

/* Reading by name.  As in torch_xla/debug/metrics.py, what the report leaves out is not there. */

/* The names that the report has, sorted, and those of operations that fell back to the host (the counters "aten::.."):
 * a list that ends with NULL, and in *count, if that is given, their number.  The caller frees the list with free();
 * the names live as long as the process.  NULL when memory is out. */
XP_API const char **xp_counter_names(size_t *count);
XP_API const char **xp_metric_names(size_t *count);
XP_API const char **xp_fallback_names(size_t *count);

/* The value of the counter of a name, which is not made by that; false, and 0, if the report does not have it.  value
 * may be NULL. */
XP_API bool xp_counter_read(const char *name, int64_t *value);

typedef struct {
  int64_t time_ns; /* of CLOCK_MONOTONIC; torch_xla's are of the clock of the day */
  double value;    /* a value, nanoseconds, or bytes */
} xp_metric_sample;

/* What a metric holds at one moment. */
typedef struct {
  xp_metric_unit unit;
  uint64_t total;                  /* samples since the start or the last clear, */
  double sum;                      /* and their sum */
  size_t count;                    /* of the latest ones, which are kept, */
  const xp_metric_sample *samples; /* the oldest first; in the same piece of memory */
} xp_metric_data;

/* The data of the metric of a name, which is not made by that.  The caller frees it with free().  NULL if the report
 * does not have it, or when memory is out. */
XP_API xp_metric_data *xp_metric_read(const char *name);

/* The kept sample at a percentile, from 0 to 100: the one below which so many percent of them lie, nothing between two.
 * False, and *value as it was, if the report does not have the metric, or for another percentage.  value may be NULL.
 */
XP_API bool xp_metric_percentile(const char *name, double percent, double *value);

/* The kept samples in a second, and what they come to in a second: their number and their sum, over the time from the
 * oldest to the newest.  False, and both as they were, if the report does not have the metric or no rates for it, which
 * takes two samples at different times.  NULL for what is not wanted. */
XP_API bool xp_metric_rate(const char *name, double *samples_per_second, double *sum_per_second);

#ifdef __cplusplus
}
#endif

#endif
