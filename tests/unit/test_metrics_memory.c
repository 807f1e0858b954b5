/* Metrics when memory is out: no handle or no report, and the next try works.  The sources are compiled into the test,
 * with the calls that ask for memory replaced. */
#define _GNU_SOURCE
#include "testing.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static int calls_left = -1; /* before one fails; -1: none does */

static bool fails_now(void)
{
  return calls_left >= 0 && calls_left-- == 0;
}

static void *failing_calloc(size_t count, size_t size)
{
  return fails_now() ? NULL : calloc(count, size);
}

static void *failing_malloc(size_t size)
{
  return fails_now() ? NULL : malloc(size);
}

static void *failing_aligned_alloc(size_t alignment, size_t size)
{
  return fails_now() ? NULL : aligned_alloc(alignment, size);
}

static locale_t failing_newlocale(int mask, const char *name, locale_t base)
{
  return fails_now() ? (locale_t)0 : newlocale(mask, name, base);
}

static FILE *failing_memstream(char **text, size_t *size)
{
  return fails_now() ? NULL : open_memstream(text, size);
}

#define calloc         failing_calloc
#define malloc         failing_malloc
#define aligned_alloc  failing_aligned_alloc
#define newlocale      failing_newlocale
#define open_memstream failing_memstream
#include "../../src/metrics/access.c"
#include "../../src/metrics/registry.c"
#include "../../src/metrics/text.c"
#undef calloc
#undef malloc
#undef aligned_alloc
#undef newlocale
#undef open_memstream

static void a_counter_without_memory_has_no_handle_yet(void **state)
{
  (void)state;
  calls_left = 0;
  assert_null(xp_counter_get("counter"));
  xp_counter_handle *counter = xp_counter_get("counter");
  assert_non_null(counter);
  calls_left = 0; /* finding it again needs none */
  assert_ptr_equal(xp_counter_get("counter"), counter);
  calls_left = -1;
}

static void a_metric_without_memory_has_no_handle_yet(void **state)
{
  (void)state;
  for (int n = 0; n < 2; n++) { /* the row, its samples */
    calls_left = n;
    assert_null(xp_metric_get("metric", XP_METRIC_VALUE));
    assert_int_equal(calls_left, -1);
  }
  xp_metric_handle *metric = xp_metric_get("metric", XP_METRIC_VALUE);
  assert_non_null(metric);
  xp_metric_add(metric, 1);
  assert_int_equal(xp_metric_samples(metric), 1);
}

static void a_report_without_memory_is_none_yet(void **state)
{
  (void)state;
  xp_counter_add(xp_counter_get("reported"), 1);
  for (int n = 0; n < 2; n++) { /* the locale, the stream */
    calls_left = n;
    assert_null(xp_metrics_report_text());
    assert_int_equal(calls_left, -1);
  }
  char *text = xp_metrics_report_text();
  assert_non_null(text);
  assert_contains(text, "Counter: reported\n");
  free(text);
}

static void names_and_data_without_memory_are_none_yet(void **state)
{
  (void)state;
  size_t count = 7;
  xp_metric_add(xp_metric_get("read", XP_METRIC_VALUE), 5);
  calls_left = 0;
  assert_null(xp_metric_names(&count));
  assert_int_equal(count, 0);
  calls_left = 0;
  assert_null(xp_metric_read("read"));
  assert_int_equal(calls_left, -1);
  xp_metric_data *data = xp_metric_read("read");
  assert_non_null(data);
  assert_true(data->samples[0].value == 5);
  free(data);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_counter_without_memory_has_no_handle_yet),
      cmocka_unit_test(a_metric_without_memory_has_no_handle_yet),
      cmocka_unit_test(a_report_without_memory_is_none_yet),
      cmocka_unit_test(names_and_data_without_memory_are_none_yet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
