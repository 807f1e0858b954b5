/* The time of devices: work, copies, idle time, and what is left out. */
#include "readings.h"

/* ---- one device */

static void a_gap_of_the_minimum_is_listed(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event_ps(s, "%fusion.1 = x", US(10), US(20));
  event_ps(s, "%fusion.1 = x", US(21), US(30));
  read_story(s);
  assert_int_equal(s->reading->devices[0].gap_count, 1);
  assert_int_equal(s->reading->devices[0].short_count, 0);
}

static void a_gap_one_ps_below_the_minimum_is_folded(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event_ps(s, "%fusion.1 = x", US(10), US(20));
  event_ps(s, "%fusion.1 = x", US(21) - 1, US(30));
  read_story(s);
  assert_int_equal(s->reading->devices[0].gap_count, 0);
  assert_int_equal(s->reading->devices[0].short_count, 1);
  assert_int_equal(s->reading->devices[0].short_ps, US(1) - 1);
  assert_int_equal(s->reading->cause_count, 1);
  assert_int_equal(s->reading->causes[0].cause, XP_CAUSE_SHORT);
  assert_int_equal(s->reading->causes[0].ps, US(1) - 1);
}

static void the_minimum_can_be_chosen(void **state)
{
  story *s = *state;
  two_runs(s);
  read_with(s, &(xp_analyze_options){.min_gap_ps = US(100) + 1});
  check_sums(s);
  assert_int_equal(s->reading->gap_count, 0);
  assert_int_equal(s->reading->devices[0].short_count, 1);
}

static void work_on_any_line_is_busy_time(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  event(s, "a", 10, 50);
  event(s, "b", 80, 90);
  line(s, "Stream #2(Compute)");
  event(s, "c", 40, 70);
  read_story(s);
  assert_int_equal(s->reading->devices[0].busy_ps, US(70));
  assert_int_equal(s->reading->devices[0].idle_ps, US(10));
}

static void a_copy_is_neither_work_nor_idle(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  event(s, "a", 10, 50);
  event(s, "b", 80, 90);
  line(s, "Stream #2(MemcpyH2D)");
  event(s, "MemcpyH2D", 40, 60);
  event(s, "x", 60, 65);
  with_text(s, "memcpy_details", "kind_src:1");
  event(s, "MemoryAlloc", 66, 75);
  read_story(s);
  assert_int_equal(s->reading->devices[0].busy_ps, US(50));
  assert_int_equal(s->reading->devices[0].copy_ps, US(15));
  assert_int_equal(s->reading->devices[0].idle_ps, US(15));
}

static void a_kernel_that_a_copy_call_launched_is_a_copy(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Kernel)");
  event(s, "a", 10, 50);
  event(s, "copyBuffer", 50, 60);
  with(s, "correlation_id", 4);
  thread(s, "Host Threads/7");
  event(s, "hipMemcpyAsync", 5, 6);
  with(s, "correlation_id", 4);
  read_story(s);
  assert_int_equal(s->reading->devices[0].copy_ps, US(10));
}

static void untimed_events_are_counted_and_not_used(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 0, 0);
  event(s, "%fusion.1 = x", 10, 20);
  read_story(s);
  assert_int_equal(s->reading->devices[0].untimed, 1);
  assert_int_equal(s->reading->devices[0].window_ps[0], US(10));
}

static void stray_events_are_counted_and_not_used(void **state)
{
  story *s = *state;
  session(s, 100);
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 10, 20);
  event(s, "%fusion.1 = x", 1000, 1010);
  read_story(s);
  assert_int_equal(s->reading->devices[0].stray, 1);
  assert_int_equal(s->reading->devices[0].window_ps[1], US(20));
}

static void a_device_without_ops_is_read_by_its_programs(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "jit_step(7)", 10, 20);
  event(s, "jit_step(7)", 30, 40);
  read_story(s);
  assert_int_equal(s->reading->devices[0].busy_ps, US(20));
}

static void a_custom_device_without_ops_has_all_other_lines(void **state)
{
  story *s = *state;
  plane(s, "/device:CUSTOM:x:0");
  line(s, "Steps");
  event(s, "1", 0, 100);
  line(s, "queue");
  event(s, "kernel", 10, 20);
  event(s, "Memcpy", 20, 30);
  read_story(s);
  assert_int_equal(s->reading->devices[0].busy_ps, US(10));
  assert_int_equal(s->reading->devices[0].copy_ps, US(10));
}

static void an_op_of_xla_cpu_goes_on_until_its_marker(void **state)
{
  story *s = *state;
  thread(s, "tf_XLAEigen/1");
  op(s, "dot.1", 7, 10, 20);
  event(s, "end: dot.1", 50, 51);
  consume(s, 0, 7);
  op(s, "add.1", 8, 60, 70);
  event(s, "end: add.1", 65, 66); /* before its own end */
  consume(s, 0, 8);
  op(s, "mul.1", 9, 80, 90);
  event(s, "end: dot.1", 95, 96); /* of another op */
  consume(s, 0, 9);
  read_story(s);
  assert_str(s->reading->devices[0].name, "CPU:0");
  assert_int_equal(s->reading->devices[0].busy_ps, US(40 + 10 + 10));
}

static void ops_of_xla_cpu_belong_to_the_device_of_their_ordinal(void **state)
{
  story *s = *state;
  thread(s, "tf_XLAEigen/1");
  op(s, "dot.1", 7, 10, 20);
  with(s, "device_ordinal", 2);
  op(s, "dot.1", 8, 10, 30);
  read_story(s);
  assert_int_equal(s->reading->device_count, 2);
  assert_str(s->reading->devices[0].name, "CPU:0");
  assert_int_equal(s->reading->devices[0].busy_ps, US(20));
  assert_str(s->reading->devices[1].name, "CPU:2");
  assert_int_equal(s->reading->devices[1].busy_ps, US(10));
}

static void host_events_of_programs_that_run_on_a_plane_are_no_work(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  event(s, "kernel", 10, 20);
  with(s, "program_id", 4);
  thread(s, "python");
  op(s, "fusion.1", 7, 5, 6);
  with(s, "program_id", 4);
  op(s, "other.1", 8, 30, 40);
  with(s, "program_id", 5);
  read_story(s);
  assert_int_equal(s->reading->device_count, 2);
  assert_str(s->reading->devices[1].name, "CPU:0");
  assert_int_equal(s->reading->devices[1].busy_ps, US(10));
}

/* ---- several devices */

static void each_device_has_its_own_gaps(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  tpu(s, "/device:TPU:1", TIMES({10, 60}, {150, 160}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 100, 110);
  event(s, "something", 20, 100);
  read_story(s);
  assert_int_equal(s->reading->gap_count, 2);
  assert_string_equal(parts_of(s, 0), "host 80, dispatch 10, launch 10");
  assert_string_equal(parts_of(s, 1), "host 40, launch 40, dispatch 10");
  assert_int_equal(s->reading->idle_ps, US(190));
}

static void devices_without_work_stand_last(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  tpu(s, "/device:TPU:1", TIMES({10, 20}));
  read_story(s);
  assert_str(s->reading->devices[0].name, "/device:TPU:1");
  assert_false(s->reading->devices[1].has_window);
}

static void a_plane_that_occurs_twice_is_one_device(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 10, 20);
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 30, 40);
  read_story(s);
  assert_int_equal(s->reading->device_count, 1);
  assert_int_equal(s->reading->devices[0].idle_ps, US(10));
}

static void a_collective_waits_for_the_last_to_arrive(void **state)
{
  story *s = *state;
  for (int i = 0; i < 2; i++) {
    plane(s, i ? "/device:TPU:1" : "/device:TPU:0");
    line(s, "XLA Modules");
    event(s, "jit_step(7)", 10, 100);
    with(s, "run_id", 1);
    line(s, "XLA Ops");
    event(s, "%all-reduce.1 = x", i ? 40 : 20, 60);
  }
  read_story(s);
  assert_int_equal(s->reading->devices[0].collective_ps, US(40));
  assert_int_equal(s->reading->devices[0].collective_wait_ps, US(20));
  assert_int_equal(s->reading->devices[1].collective_ps, US(20));
  assert_int_equal(s->reading->devices[1].collective_wait_ps, 0);
}

/* ---- hostile captures */

static void a_capture_without_devices_has_no_gaps(void **state)
{
  story *s = *state;
  thread(s, "python");
  call(s, 1, 2, 4);
  read_story(s);
  assert_int_equal(s->reading->device_count, 0);
  assert_int_equal(s->reading->gap_count, 0);
  assert_true(s->reading->verdict.len > 0);
}

static void times_at_the_ends_of_the_range_do_not_overflow(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  plane(s, "/device:TPU:1");
  line(s, "XLA Ops");
  event_ps(s, "%fusion.1 = x", INT64_MAX / 2 - 5, INT64_MAX / 2);
  event_ps(s, "%fusion.1 = x", INT64_MIN / 2, INT64_MIN / 2 + 5);
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 100, 110);
  event_ps(s, "something", INT64_MIN / 2, INT64_MAX / 2 - 1);
  read_with(s, NULL);
  assert_int_equal(s->reading->device_count, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(a_gap_of_the_minimum_is_listed),
      STORY(a_gap_one_ps_below_the_minimum_is_folded),
      STORY(the_minimum_can_be_chosen),
      STORY(work_on_any_line_is_busy_time),
      STORY(a_copy_is_neither_work_nor_idle),
      STORY(a_kernel_that_a_copy_call_launched_is_a_copy),
      STORY(untimed_events_are_counted_and_not_used),
      STORY(stray_events_are_counted_and_not_used),
      STORY(a_device_without_ops_is_read_by_its_programs),
      STORY(a_custom_device_without_ops_has_all_other_lines),
      STORY(an_op_of_xla_cpu_goes_on_until_its_marker),
      STORY(ops_of_xla_cpu_belong_to_the_device_of_their_ordinal),
      STORY(host_events_of_programs_that_run_on_a_plane_are_no_work),
      STORY(each_device_has_its_own_gaps),
      STORY(devices_without_work_stand_last),
      STORY(a_plane_that_occurs_twice_is_one_device),
      STORY(a_collective_waits_for_the_last_to_arrive),
      STORY(a_capture_without_devices_has_no_gaps),
      STORY(times_at_the_ends_of_the_range_do_not_overflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
