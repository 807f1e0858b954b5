/* The clock of calls: its times are those of the system's clock. */
#include <unistd.h>

#include "base/clock.h"
#include "lazy/ticks.h"
#include "lazy_testing.h"

/* How far a time is from the system's clock, which is read before and behind it. */
static int64_t miss_ns(void)
{
  const int64_t before = xp_monotonic_ns(), ns = xl_ticks_ns(xp_clock_ticks()), after = xp_monotonic_ns();
  return ns < before ? before - ns : ns > after ? ns - after : 0;
}

/* Each reading is of a line of its own; some fall into moments in which other programs run. */
static void times_are_those_of_the_systems_clock(void **state)
{
  (void)state;
  int near = 0;
  xl_ticks_open();
  for (int i = 0; i < 40; i++) {
    near += miss_ns() <= 20000;
    usleep(1500); /* longer than a line is good */
    near += miss_ns() <= 20000;
  }
  assert_true(near >= 40); /* a clock that is off is never near */
}

static void a_time_before_the_latest_is_as_long_before(void **state)
{
  (void)state;
  xl_ticks_open();
  const int64_t start_ns = xp_monotonic_ns();
  const uint64_t start = xp_clock_ticks();
  usleep(20000);
  const uint64_t end = xp_clock_ticks();
  const int64_t right_ns = xp_monotonic_ns() - start_ns;
  const int64_t end_ns = xl_ticks_ns(end), dur_ns = end_ns - xl_ticks_ns(start);
  assert_true(dur_ns >= 20000000 - right_ns / 100);
  assert_true(dur_ns <= right_ns + right_ns / 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_are_those_of_the_systems_clock),
      cmocka_unit_test(a_time_before_the_latest_is_as_long_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
