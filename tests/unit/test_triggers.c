/* What made the host late, what waits were for, and where tracing alone is the limit. */
#include "readings.h"

/* ---- what made the host late */

/* A gap from 1100 on; the second run is called 20 us before it starts. */
static void late_runs(story *s, int64_t gap_us)
{
  tpu(s, "/device:TPU:0", TIMES({1000, 1100}, {1100 + gap_us, 1200 + gap_us}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 1080 + gap_us, 1090 + gap_us);
}

static xp_trigger trigger_of_event(story *s, int64_t gap_us, const char *name, int64_t from_us, int64_t to_us)
{
  late_runs(s, gap_us);
  event(s, name, from_us, to_us);
  read_story(s);
  return gap_at(s, 0)->trigger;
}

static void a_read_that_ended_50_us_before_a_gap_is_a_trigger(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "np.asarray(jax.Array)", 1049, 1050), XP_TRIGGER_VALUE_REQUEST);
}

static void a_read_that_ended_51_us_before_a_gap_is_none(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "np.asarray(jax.Array)", 1000, 1049), XP_TRIGGER_NONE);
}

static void a_read_that_ended_a_tenth_of_a_long_gap_before_it_is_a_trigger(void **state)
{
  assert_int_equal(trigger_of_event(*state, 1000, "np.asarray(jax.Array)", 990, 1000), XP_TRIGGER_VALUE_REQUEST);
}

static void a_read_that_ended_more_than_a_tenth_of_a_long_gap_before_it_is_none(void **state)
{
  assert_int_equal(trigger_of_event(*state, 1000, "np.asarray(jax.Array)", 990, 999), XP_TRIGGER_NONE);
}

static void a_read_of_any_length_is_a_trigger(void **state)
{
  story *s = *state;
  late_runs(s, 100);
  event_ps(s, "np.asarray(jax.Array)", US(1150), US(1150) + 1);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->trigger, XP_TRIGGER_VALUE_REQUEST);
}

static void a_read_that_still_runs_is_a_trigger(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "np.asarray(jax.Array)", 1050, 2000), XP_TRIGGER_VALUE_REQUEST);
}

static void a_read_that_began_after_the_launch_call_returned_is_none(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "np.asarray(jax.Array)", 1190, 1250), XP_TRIGGER_NONE);
}

static void a_read_on_another_thread_is_no_trigger(void **state)
{
  story *s = *state;
  late_runs(s, 100);
  line(s, "other");
  event(s, "np.asarray(jax.Array)", 1050, 1150);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->trigger, XP_TRIGGER_NONE);
}

static void a_wait_of_50_us_is_a_trigger(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "DeviceBarrier", 1060, 1110), XP_TRIGGER_WAIT);
}

static void a_wait_of_49_us_is_none(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "DeviceBarrier", 1061, 1110), XP_TRIGGER_NONE);
}

static void a_wait_inside_an_execute_call_is_none(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({1000, 1100}, {1200, 1300}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 1090, 1190);
  event(s, "Wait for donation holds", 1100, 1180);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "wait");
}

static void a_compile_in_the_gap_is_a_trigger(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "backend_compile", 1110, 1111), XP_TRIGGER_COMPILE);
}

static void a_compile_before_the_gap_is_none(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "backend_compile", 1090, 1100), XP_TRIGGER_NONE);
}

static void a_read_goes_before_a_wait_and_a_wait_before_a_compile(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({100, 200}, {300, 400}, {500, 600}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 280, 290);
  call(s, 3, 480, 490);
  event(s, "np.asarray(jax.Array)", 200, 205);
  event(s, "DeviceBarrier", 205, 265);
  event(s, "DeviceBarrier", 400, 460);
  event(s, "backend_compile", 461, 479);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->trigger, XP_TRIGGER_VALUE_REQUEST);
  assert_int_equal(gap_at(s, 1)->trigger, XP_TRIGGER_WAIT);
}

/* Two recorders on one line: the second read is not inside the first. */
static void a_read_that_overlaps_an_earlier_one_is_a_trigger_of_its_own(void **state)
{
  story *s = *state;
  late_runs(s, 100);
  event(s, "np.asarray(jax.Array)", 1000, 1040);
  event(s, "D2H Dispatch", 1035, 1060);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->trigger, XP_TRIGGER_VALUE_REQUEST);
}

/* The lesson's gap: the host worked in one scope since it had waited for a value in another. */
static void the_trigger_has_the_scope_in_which_it_began(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  event(s, "scheduler.step", 14, 25);
  event(s, "PjRtComputationClient::TransferFromDevice", 15, 24);
  event(s, "watermark", 30, 90);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "host in watermark after value_request in scheduler.step");
}

static void of_two_reads_the_later_is_the_trigger(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  event(s, "first", 15, 30);
  event(s, "np.asarray(jax.Array)", 16, 29);
  event(s, "second", 40, 50);
  event(s, "np.asarray(jax.Array)", 41, 49);
  read_story(s);
  assert_str(gap_at(s, 0)->trigger_scope, "second");
}

/* ---- what a wait is for */

static void a_wait_is_for_the_devices_that_work_meanwhile(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:1", TIMES({10, 200}));
  two_runs(s);
  event(s, "DeviceBarrier", 20, 90);
  read_story(s);
  assert_str(wait_of(s, 0), "for /device:TPU:1, at work");
}

static void a_wait_for_nothing_says_so(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "DeviceBarrier", 20, 90);
  read_story(s);
  assert_str_contains(wait_of(s, 0), "no device was working: the runtime was slow to notice");
}

static void a_wait_for_nothing_shows_the_longest_event_of_pool_threads(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "DeviceBarrier", 20, 90);
  line(s, "tf_XLAEigen/7");
  event(s, "Brief", 20, 25);
  event(s, "Slow", 30, 80);
  line(s, "other");
  event(s, "Not asked", 20, 90);
  read_story(s);
  assert_str_contains(wait_of(s, 0), "slow to notice");
  assert_str_contains(wait_of(s, 0), "Slow");
}

/* ---- tracing-bound */

static void tracing_without_a_read_since_the_launch_before_is_the_limit(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "lower_x", 20, 90);
  read_story(s);
  assert_true(gap_at(s, 0)->tracing_bound);
}

/* The read ended 90 us before the gap, so it is no trigger; but it stands between the two launches. */
static void tracing_with_a_read_since_the_launch_before_is_not(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 200}, {300, 400}));
  thread(s, "python");
  call(s, 1, 2, 4);
  event(s, "np.asarray(jax.Array)", 105, 110);
  event(s, "lower_x", 120, 280);
  call(s, 2, 280, 290);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "tracing");
  assert_false(gap_at(s, 0)->tracing_bound);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(a_read_that_ended_50_us_before_a_gap_is_a_trigger),
      STORY(a_read_that_ended_51_us_before_a_gap_is_none),
      STORY(a_read_that_ended_a_tenth_of_a_long_gap_before_it_is_a_trigger),
      STORY(a_read_that_ended_more_than_a_tenth_of_a_long_gap_before_it_is_none),
      STORY(a_read_of_any_length_is_a_trigger),
      STORY(a_read_that_still_runs_is_a_trigger),
      STORY(a_read_that_began_after_the_launch_call_returned_is_none),
      STORY(a_read_on_another_thread_is_no_trigger),
      STORY(a_wait_of_50_us_is_a_trigger),
      STORY(a_wait_of_49_us_is_none),
      STORY(a_wait_inside_an_execute_call_is_none),
      STORY(a_compile_in_the_gap_is_a_trigger),
      STORY(a_compile_before_the_gap_is_none),
      STORY(a_read_goes_before_a_wait_and_a_wait_before_a_compile),
      STORY(a_read_that_overlaps_an_earlier_one_is_a_trigger_of_its_own),
      STORY(the_trigger_has_the_scope_in_which_it_began),
      STORY(of_two_reads_the_later_is_the_trigger),
      STORY(a_wait_is_for_the_devices_that_work_meanwhile),
      STORY(a_wait_for_nothing_says_so),
      STORY(a_wait_for_nothing_shows_the_longest_event_of_pool_threads),
      STORY(tracing_without_a_read_since_the_launch_before_is_the_limit),
      STORY(tracing_with_a_read_since_the_launch_before_is_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
