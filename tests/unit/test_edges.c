/* Lead-ins and tails. */
#include "readings.h"

static void the_lead_in_is_read_like_a_gap_and_ranked(void **state)
{
  story *s = *state;
  session(s, 1000);
  tpu(s, "/device:TPU:0", TIMES({65, 1000}));
  thread(s, "python");
  event(s, "backend_compile", 10, 50);
  call(s, 1, 50, 60);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->where, XP_WHERE_LEAD_IN);
  assert_string_equal(parts_of(s, 0), "compile 40, dispatch 10, unknown 10, launch 5");
  assert_string_equal(reason_of(s, 0), "compile after compile");
  assert_true(gap_at(s, 0)->ranked);
  assert_int_equal(s->reading->devices[0].lead_in_ps, US(65));
  assert_int_equal(s->reading->idle_ps, 0);
}

static void a_lead_in_before_work_without_a_launch_is_unknown_and_not_ranked(void **state)
{
  story *s = *state;
  session(s, 1000);
  tpu(s, "/device:TPU:0", TIMES({65, 1000}));
  thread(s, "python");
  event(s, "backend_compile", 10, 50);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "unknown 65");
  assert_false(gap_at(s, 0)->ranked);
  assert_int_equal(s->reading->cause_count, 0);
}

static void the_tail_is_read_off_the_thread_of_the_last_launch(void **state)
{
  story *s = *state;
  session(s, 200);
  tpu(s, "/device:TPU:0", TIMES({0, 100}));
  thread(s, "other");
  event(s, "backend_compile", 100, 200);
  line(s, "python");
  call(s, 1, 0, 4);
  step(s, "train", 1, 0, 190);
  event(s, "watermark", 115, 185);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->where, XP_WHERE_TAIL);
  assert_string_equal(named_parts_of(s, 0), "host [watermark] watermark 70, host [train] train 20, unknown [] 10");
  assert_true(gap_at(s, 0)->ranked);
  assert_int_equal(s->reading->devices[0].tail_ps, US(100));
}

static void no_share_is_above_one_where_work_outlives_the_session(void **state)
{
  story *s = *state;
  session(s, 200);
  tpu(s, "/device:TPU:0", TIMES({10, 350}));
  read_story(s);
  assert_int_equal(s->reading->devices[0].busy_ps, US(340));
  assert_int_equal(s->reading->devices[0].session_ps, US(350));
}

static void no_share_is_above_one_where_work_runs_under_the_profiler(void **state)
{
  story *s = *state;
  session(s, 200);
  tpu(s, "/device:TPU:0", TIMES({10, 190}));
  thread(s, "python");
  event(s, "$profiler.py:100 stop_trace", 100, 200);
  read_story(s);
  assert_int_equal(s->reading->devices[0].busy_ps, US(180));
  assert_int_equal(s->reading->devices[0].session_ps, US(190)); /* 10 us of the profiler lie behind the window */
}

static void a_tail_without_events_is_not_ranked(void **state)
{
  story *s = *state;
  session(s, 200);
  tpu(s, "/device:TPU:0", TIMES({0, 100}));
  thread(s, "python");
  call(s, 1, 0, 4);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "unknown");
  assert_false(gap_at(s, 0)->ranked);
}

static void a_tail_in_which_the_profiler_stops_is_not_ranked(void **state)
{
  story *s = *state;
  session(s, 200);
  tpu(s, "/device:TPU:0", TIMES({0, 100}));
  thread(s, "python");
  call(s, 1, 0, 4);
  event(s, "$profiler.py:300 stop_trace", 120, 200);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "profiler 80, unknown 20");
  assert_false(gap_at(s, 0)->ranked);
  assert_int_equal(s->reading->devices[0].session_ps, US(120));
}

static void the_profilers_time_is_no_part_of_a_row(void **state)
{
  story *s = *state;
  session(s, 200);
  tpu(s, "/device:TPU:0", TIMES({0, 100}));
  thread(s, "python");
  call(s, 1, 0, 4);
  event(s, "something", 100, 170);
  event(s, "$profiler.py:300 stop_trace", 170, 200);
  read_story(s);
  assert_true(gap_at(s, 0)->ranked);
  assert_int_equal(s->reading->cause_count, 1);
  assert_int_equal(s->reading->causes[0].ps, US(70));
  assert_int_equal(s->reading->causes[0].where, XP_WHERE_TAIL);
}

static void a_device_whose_events_end_early_is_read_to_that_point(void **state)
{
  story *s = *state;
  session(s, 2000);
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {130, 140}));
  thread(s, "python");
  step(s, "train", 1, 1, 1999);
  for (int i = 0; i < 10; i++) {
    call(s, i + 1, 100 * i + 2, 100 * i + 4);
  }
  read_story(s);
  assert_true(s->reading->devices[0].ends_early);
  assert_int_equal(s->reading->devices[0].window_ps[1], US(140));
  const xp_gap *tail = gap_at(s, s->reading->gap_count - 1);
  assert_int_equal(tail->where, XP_WHERE_TAIL);
  assert_false(tail->ranked);
}

static void without_a_session_there_is_no_lead_in_and_no_tail(void **state)
{
  story *s = *state;
  two_runs(s);
  read_story(s);
  assert_int_equal(s->reading->gap_count, 1);
  assert_false(s->reading->devices[0].has_lead_in);
  assert_false(s->reading->devices[0].has_tail);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(the_lead_in_is_read_like_a_gap_and_ranked),
      STORY(a_lead_in_before_work_without_a_launch_is_unknown_and_not_ranked),
      STORY(the_tail_is_read_off_the_thread_of_the_last_launch),
      STORY(no_share_is_above_one_where_work_outlives_the_session),
      STORY(no_share_is_above_one_where_work_runs_under_the_profiler),
      STORY(a_tail_without_events_is_not_ranked),
      STORY(a_tail_in_which_the_profiler_stops_is_not_ranked),
      STORY(the_profilers_time_is_no_part_of_a_row),
      STORY(a_device_whose_events_end_early_is_read_to_that_point),
      STORY(without_a_session_there_is_no_lead_in_and_no_tail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
