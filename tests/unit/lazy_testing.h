/* Short ways to use lazy tensors in tests. */
#ifndef XL_TESTS_LAZY_TESTING_H
#define XL_TESTS_LAZY_TESTING_H

#include "testing.h"
#include "xlaprof/lazy.h"
#include "xlaprof/metrics.h"

/* Fails with the error's text. */
static inline void must(xp_status status, const xp_error *err)
{
  if (status != XP_OK) {
    fail_msg("%s", err->text);
  }
}

static inline xl_tensor vector(size_t count, const float *values)
{
  return xl_from_host(XL_F32, XL_SHAPE((int64_t)count), values);
}

static inline double value_of(xl_tensor tensor)
{
  xp_error err = {0};
  double value = 0;
  must(xl_item(tensor, &value, &err), &err);
  return value;
}

static inline void assert_values(xl_tensor tensor, const float *want, size_t count)
{
  xp_error err = {0};
  float *got = calloc(count + 1, sizeof *got);
  must(xl_to_host(tensor, got, count * sizeof *got, &err), &err);
  for (size_t i = 0; i < count; i++) {
    if (got[i] != want[i]) {
      fail_msg("element %zu is %g and not %g", i, (double)got[i], (double)want[i]);
    }
  }
  free(got);
}

static inline void sync_now(void)
{
  xp_error err = {0};
  must(xl_sync(true, &err), &err);
}

/* The thread's error, which must be there and contain a text. */
static inline void assert_error(const char *part)
{
  xp_error err = {0};
  assert_int_not_equal(xl_error(&err), XP_OK);
  assert_contains(err.text, part);
}

static inline uint64_t samples(const char *metric)
{
  return xp_metric_samples(xp_metric_get(metric, XP_METRIC_TIME));
}

static inline int64_t counted(const char *counter)
{
  return xp_counter_value(xp_counter_get(counter));
}

/* After a test nothing of it is left: tensors, devices, errors, modes. */
static inline int end_lazy(void **state)
{
  (void)state;
  xl_set_eager(false);
  xl_set_fresh_views(false);
  xl_set_ir_debug(false);
  xl_shutdown();
  const bool had_error = xl_error(NULL) != XP_OK;
  size_t nodes;
  xl_node_bytes(&nodes);
  xp_counters_clear();
  xp_metrics_clear();
  return had_error || nodes > 0 ? -1 : 0;
}

#endif
