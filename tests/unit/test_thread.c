/* Work on all cores. */
#include "testing.h"

#include <stdatomic.h>

#include "base/thread.h"

enum { ITEMS = 10000 };

typedef struct {
  atomic_int calls[ITEMS];
  atomic_int bad_workers;
  int threads;
} counts;

static void count_call(void *context, size_t item, int worker)
{
  counts *c = context;
  atomic_fetch_add(&c->calls[item], 1);
  if (worker < 0 || worker >= c->threads) {
    atomic_fetch_add(&c->bad_workers, 1);
  }
}

static void every_item_is_done_once_on_any_number_of_threads(void **state)
{
  (void)state;
  for (int threads = 1; threads <= 5; threads++) {
    counts *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->threads = threads;
    xp_parallel(ITEMS, threads, count_call, c);
    for (size_t i = 0; i < ITEMS; i++) {
      assert_int_equal(atomic_load(&c->calls[i]), 1);
    }
    assert_int_equal(atomic_load(&c->bad_workers), 0);
    free(c);
  }
}

static void no_items_are_no_calls(void **state)
{
  (void)state;
  xp_parallel(0, 4, count_call, NULL);
}

static void there_is_a_processor(void **state)
{
  (void)state;
  assert_in_range(xp_cpu_count(), 1, 64);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_item_is_done_once_on_any_number_of_threads),
      cmocka_unit_test(no_items_are_no_calls),
      cmocka_unit_test(there_is_a_processor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
