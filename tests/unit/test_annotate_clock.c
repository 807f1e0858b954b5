/* Time: with a system clock that the test sets.  The file with the clock is compiled in here, with its clock replaced.
 */
#define _GNU_SOURCE
#include "recorded.h"

static int64_t monotonic_ns = 5000; /* what the clocks say now */
static int64_t real_ns = 1700000000000000000;
static bool is_real_clock = false;

static int fake_gettime(clockid_t id, struct timespec *now)
{
  if (is_real_clock && id == CLOCK_MONOTONIC) {
    return clock_gettime(id, now);
  }
  int64_t ns = id == CLOCK_REALTIME ? real_ns : monotonic_ns;
  *now = (struct timespec){ns / 1000000000, ns % 1000000000};
  return 0;
}

#define clock_gettime fake_gettime
#include "../../src/annotate/clock.c"
#undef clock_gettime

static int use_system_clock(void **state)
{
  (void)state;
  xp_clock_source = XP_CLOCK_SYSTEM;
  is_real_clock = false;
  return 0;
}

static int use_counter(void **state)
{
  (void)state;
  xp_clock_source = XP_CLOCK_UNKNOWN;
  is_real_clock = true;
  return 0;
}

static void nanoseconds_are_exact_where_there_is_no_counter(void **state)
{
  (void)state;
  start(1, false, MIB);
  monotonic_ns += 1000;
  xp_trace trace = xp_trace_begin("t");
  monotonic_ns += 234;
  end(trace);
  monotonic_ns += 5;
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_int_equal(list.all[0].start_ps, 1000000);
  assert_int_equal(list.all[0].dur_ps, 234000);
  assert_true(recording->start_unix_ns == 1700000000000000000);
  assert_true(recording->stop_unix_ns == 1700000000000001239);
  assert_true(xp_recording_unix_ns(recording, list.all[0].start_ps) == 1700000000000001000);
  events_free(&list);
  xp_recording_free(recording);
}

static void equal_starts_come_with_the_longer_one_first(void **state)
{
  (void)state;
  start(1, false, MIB);
  monotonic_ns += 10;
  xp_instant(1, "instant", NULL, 0);
  xp_trace outer = xp_trace_begin("outer");
  xp_trace inner = xp_trace_begin("inner");
  xp_trace same = xp_trace_begin("same");
  monotonic_ns += 5;
  end(same);
  end(inner);
  monotonic_ns += 5;
  end(outer);
  xp_record(1, "past", (uint64_t)monotonic_ns - 10, (uint64_t)monotonic_ns - 2, NULL, 0);
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "outer,past,inner,same,instant");
  events_free(&list);
  xp_recording_free(recording);
}

/* With either clock: the system's is set an hour ahead and two back while the recording runs. */
static void steps_of_the_system_clock_move_nothing(void **state)
{
  (void)state;
  int64_t began = real_ns;
  start(1, false, MIB);
  uint64_t first = xp_clock_ticks();
  XP_TRACE("a") {
    real_ns += 3600000000000;
    monotonic_ns += 100;
  }
  XP_TRACE("b") {
    real_ns -= 7200000000000;
    monotonic_ns += 100;
  }
  uint64_t last = xp_clock_ticks();
  xp_record(1, "whole", first, last, NULL, 0);
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "whole,a,b");
  assert_inside(&list.all[0], &list.all[2]);
  assert_true(recording->start_unix_ns <= began && recording->start_unix_ns > began - 10000000); /* it stood still */
  assert_true(recording->stop_unix_ns >= began && recording->stop_unix_ns < began + 60000000000);
  events_free(&list);
  xp_recording_free(recording);
}

static void the_counter_keeps_time_with_the_system(void **state)
{
  (void)state;
  struct timespec a, b;
  start(1, false, MIB);
  XP_TRACE("t") {
    clock_gettime(CLOCK_MONOTONIC, &a);
    sleep_ms(50);
    clock_gettime(CLOCK_MONOTONIC, &b);
  }
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  int64_t ns = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;
  assert_true(list.all[0].dur_ps >= (ns - 1000) * 1000); /* the trace has both readings inside */
  assert_true(list.all[0].dur_ps < (ns + 1000000000) * 1000);
  events_free(&list);
  xp_recording_free(recording);
}

static void ticks_become_picoseconds_at_the_measured_rate(void **state)
{
  (void)state;
  xp_clock_source = XP_CLOCK_COUNTER;
  const uint64_t hz = 2600000000;
  xp_clock_scale scale = xp_clock_scale_between((xp_clock_pair){1000, 50}, (xp_clock_pair){1000 + hz, 1000000050});
  assert_int_equal(xp_clock_ps(&scale, 1000), 0);
  assert_int_equal(xp_clock_ps(&scale, 999), 0);
  assert_in_range(xp_clock_ps(&scale, 1000 + hz), 999999999990, 1000000000010);
  assert_in_range(xp_clock_ps(&scale, 1000 + 13), 4999, 5000); /* 13 ticks of 384.6 ps */
  /* 30 days, with an error of less than a microsecond */
  assert_in_range(xp_clock_ps(&scale, 1000 + hz * 86400 * 30), 2591999999999000000, 2592000000001000000);
  assert_true(xp_clock_ps(&scale, 1000 + hz * 86400 * 200) == INT64_MAX); /* 106 days are the end of the range */
}

static void a_session_without_length_has_a_rate(void **state)
{
  (void)state;
  xp_clock_source = XP_CLOCK_COUNTER;
  xp_clock_scale scale = xp_clock_scale_between((xp_clock_pair){7, 50}, (xp_clock_pair){7, 50});
  assert_int_equal(xp_clock_ps(&scale, 8), 1000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(nanoseconds_are_exact_where_there_is_no_counter, use_system_clock),
      cmocka_unit_test_setup(equal_starts_come_with_the_longer_one_first, use_system_clock),
      cmocka_unit_test_setup(steps_of_the_system_clock_move_nothing, use_system_clock),
      cmocka_unit_test_setup(steps_of_the_system_clock_move_nothing, use_counter),
      cmocka_unit_test_setup(the_counter_keeps_time_with_the_system, use_counter),
      cmocka_unit_test(ticks_become_picoseconds_at_the_measured_rate),
      cmocka_unit_test(a_session_without_length_has_a_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
