/* The clock of a device against that of its host. */
#include "readings.h"

/* A run of 5..20 and one of 50..60 by the device's clock, called at the given times. */
static void two_runs_called_at(story *s, int64_t first_us, int64_t second_us)
{
  tpu(s, "/device:TPU:0", TIMES({5, 20}, {50, 60}));
  thread(s, "python");
  call(s, 1, first_us, first_us + 1);
  call(s, 2, second_us, second_us + 1);
}

static bool is_warned(story *s, const char *word)
{
  for (size_t i = 0; i < s->reading->warning_count; i++) {
    if (xp_str_find_text(s->reading->warnings[i], word) < s->reading->warnings[i].len) {
      return true;
    }
  }
  return false;
}

static void work_that_starts_after_its_launch_is_in_order(void **state)
{
  story *s = *state;
  two_runs_called_at(s, 2, 30);
  read_story(s);
  assert_int_equal(s->reading->clock, XP_CLOCK_OK);
  assert_int_equal(s->reading->clock_aligned_ps, 0);
  assert_int_equal(s->reading->devices[0].window_ps[0], US(5));
}

static void work_that_starts_with_its_launch_is_in_order(void **state)
{
  story *s = *state;
  two_runs_called_at(s, 5, 30);
  read_story(s);
  assert_int_equal(s->reading->clock, XP_CLOCK_OK);
}

static void work_before_its_launch_is_shifted_by_the_least_that_mends_it(void **state)
{
  story *s = *state;
  two_runs_called_at(s, 10, 40);
  read_story(s);
  assert_int_equal(s->reading->clock, XP_CLOCK_SHIFTED);
  assert_int_equal(s->reading->clock_aligned_ps, US(5));
  assert_int_equal(s->reading->devices[0].window_ps[0], US(10));
  assert_int_equal(s->reading->devices[0].window_ps[1], US(65));
  assert_int_equal(gap_at(s, 0)->start_ps, US(25));
  assert_true(is_warned(s, "clock"));
}

static void the_run_that_needs_most_decides(void **state)
{
  story *s = *state;
  two_runs_called_at(s, 7, 62);
  read_story(s);
  assert_int_equal(s->reading->clock_aligned_ps, US(12));
}

static void causes_are_those_of_the_shifted_times(void **state)
{
  story *s = *state;
  two_runs_called_at(s, 10, 40);
  event(s, "something", 25, 40);
  read_story(s);
  /* the gap is 25..55: 15 something, 1 the call, then it has returned */
  assert_string_equal(parts_of(s, 0), "host 15, launch 14, dispatch 1");
}

static void all_devices_of_a_host_are_shifted_alike(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({5, 20}));
  tpu(s, "/device:TPU:1", TIMES({2, 20}));
  thread(s, "python");
  call(s, 1, 10, 11);
  read_story(s);
  assert_int_equal(s->reading->clock_aligned_ps, US(8));
  assert_int_equal(s->reading->devices[0].window_ps[0], US(13));
  assert_int_equal(s->reading->devices[1].window_ps[0], US(10));
}

static void runs_linked_by_their_order_show_the_shift_too(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "jit_step(7)", 5, 20);
  event(s, "jit_step(7)", 50, 60);
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 10, 11);
  event(s, "PJRT_LoadedExecutable_Execute", 40, 41);
  read_story(s);
  assert_int_equal(s->reading->clock, XP_CLOCK_SHIFTED);
  assert_int_equal(s->reading->clock_aligned_ps, US(5));
}

static void a_wait_that_returned_before_the_shifted_end_contradicts(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  two_runs_called_at(s, 10, 40);
  event(s, "something", 25, 40);
  event(s, "Wait for run", 12, 24);
  with(s, "run_id", 1);
  read_story(s);
  assert_int_equal(s->reading->clock, XP_CLOCK_INCONSISTENT);
  assert_true(is_warned(s, "contradict"));
}

static void a_wait_that_returned_at_the_shifted_end_does_not_contradict(void **state)
{
  story *s = *state;
  two_runs_called_at(s, 10, 40);
  event(s, "Wait for run", 12, 25);
  with(s, "run_id", 1);
  read_story(s);
  assert_int_equal(s->reading->clock, XP_CLOCK_SHIFTED);
}

static void contradicting_clocks_give_no_cause_that_depends_on_them(void **state)
{
  story *s = *state;
  two_runs_called_at(s, 10, 40);
  event(s, "something", 25, 40);
  event(s, "Wait for run", 12, 24);
  with(s, "run_id", 1);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "unknown 30");
  assert_string_equal(reason_of(s, 0), "unknown");
}

static void contradicting_clocks_leave_the_times_of_the_device_alone(void **state)
{
  story *s = *state;
  two_runs_called_at(s, 10, 40);
  event(s, "Wait for run", 12, 24);
  with(s, "run_id", 1);
  read_story(s);
  assert_int_equal(s->reading->devices[0].window_ps[0], US(5));
}

static void the_pauses_inside_a_program_need_no_host(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "jit_step(7)", 5, 60);
  with(s, "run_id", 1);
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 5, 20);
  event(s, "%infeed.1 = x", 30, 40);
  event(s, "%fusion.1 = x", 50, 60);
  thread(s, "python");
  call(s, 1, 10, 11);
  event(s, "Wait for run", 12, 24);
  with(s, "run_id", 1);
  read_story(s);
  assert_int_equal(s->reading->clock, XP_CLOCK_INCONSISTENT);
  assert_string_equal(parts_of(s, 0), "in_program 20, input 10");
}

static void xla_cpu_runs_on_the_clock_of_the_host(void **state)
{
  story *s = *state;
  thread(s, "python");
  call(s, 1, 10, 11);
  line(s, "tf_XLAEigen/1");
  event(s, "dot.1", 5, 20);
  with_text(s, "hlo_op", "dot.1");
  with(s, "run_id", 1);
  read_story(s);
  assert_int_equal(s->reading->clock, XP_CLOCK_OK);
  assert_int_equal(s->reading->devices[0].window_ps[0], US(5));
}

static void kernels_of_a_gpu_are_shifted_behind_their_execute_call(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  event(s, "kernel", 5, 20);
  with(s, "correlation_id", 1);
  event(s, "MemcpyD2H", 30, 40);
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 10, 14);
  event(s, "cuLaunchKernel", 11, 12);
  with(s, "correlation_id", 1);
  read_story(s);
  assert_int_equal(s->reading->clock, XP_CLOCK_SHIFTED);
  assert_int_equal(s->reading->devices[0].window_ps[0], US(5) + s->reading->clock_aligned_ps);
  assert_int_equal(s->reading->devices[0].window_ps[1], US(40) + s->reading->clock_aligned_ps);
  assert_true(s->reading->clock_aligned_ps >= US(5));
}

static void steps_of_the_device_move_with_it(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "Steps");
  event(s, "1", 5, 30);
  event(s, "2", 50, 70);
  line(s, "XLA Modules");
  event(s, "jit_step(7)", 5, 20);
  with(s, "run_id", 1);
  event(s, "jit_step(7)", 50, 60);
  with(s, "run_id", 2);
  thread(s, "python");
  call(s, 1, 35, 36);
  call(s, 2, 40, 41);
  read_story(s);
  assert_int_equal(s->reading->clock_aligned_ps, US(30));
  assert_int_equal(s->reading->steps[0].start_ps, US(35));
  assert_int_equal(s->reading->steps[1].start_ps, US(80));
  assert_int_equal(s->reading->steps[0].busy_ps, US(15));
  assert_int_equal(s->reading->steps[1].busy_ps, US(10));
}

static void steps_inferred_from_programs_move_with_the_device(void **state)
{
  story *s = *state;
  two_runs_called_at(s, 10, 40);
  read_story(s);
  assert_int_equal(s->reading->step_source, XP_STEPS_MODULE);
  assert_int_equal(s->reading->steps[0].start_ps, US(10));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(work_that_starts_after_its_launch_is_in_order),
      STORY(work_that_starts_with_its_launch_is_in_order),
      STORY(work_before_its_launch_is_shifted_by_the_least_that_mends_it),
      STORY(the_run_that_needs_most_decides),
      STORY(causes_are_those_of_the_shifted_times),
      STORY(all_devices_of_a_host_are_shifted_alike),
      STORY(runs_linked_by_their_order_show_the_shift_too),
      STORY(a_wait_that_returned_before_the_shifted_end_contradicts),
      STORY(a_wait_that_returned_at_the_shifted_end_does_not_contradict),
      STORY(contradicting_clocks_give_no_cause_that_depends_on_them),
      STORY(contradicting_clocks_leave_the_times_of_the_device_alone),
      STORY(the_pauses_inside_a_program_need_no_host),
      STORY(xla_cpu_runs_on_the_clock_of_the_host),
      STORY(kernels_of_a_gpu_are_shifted_behind_their_execute_call),
      STORY(steps_of_the_device_move_with_it),
      STORY(steps_inferred_from_programs_move_with_the_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
