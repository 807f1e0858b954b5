/* Options: what is read, and what is kept of it. */
#include "readings.h"

static void names_of_input_can_be_added(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "my_reader", 30, 90);
  read_with(s, &(xp_analyze_options){.input_regex = "my_(reader|writer)"});
  check_sums(s);
  assert_string_equal(parts_of(s, 0), "input 60, unknown 20, dispatch 10, launch 10");
}

static void names_of_input_must_match_as_a_whole(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "my_reader", 30, 90);
  read_with(s, &(xp_analyze_options){.input_regex = "reader|my_read"});
  assert_string_equal(reason_of(s, 0), "host in my_reader");
}

static xp_status refused(story *s, const xp_analyze_options *options, xp_error *err)
{
  loaded(s);
  xp_reading *reading;
  xp_status status = xp_analyze(s->capture, options, &reading, err);
  assert_null(reading);
  return status;
}

static void a_bad_regular_expression_is_refused(void **state)
{
  story *s = *state;
  two_runs(s);
  xp_error err;
  assert_int_equal(refused(s, &(xp_analyze_options){.input_regex = "("}, &err), XP_ERR_USAGE);
  assert_contains(err.text, "(");
}

static void an_unknown_device_is_refused_with_a_list_of_the_known(void **state)
{
  story *s = *state;
  two_runs(s);
  xp_error err;
  assert_int_equal(refused(s, &(xp_analyze_options){.device = "/device:TPU:9"}, &err), XP_ERR_USAGE);
  assert_contains(err.text, "/device:TPU:0");
}

static void an_unknown_step_is_refused_with_a_list_of_the_known(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  xp_error err;
  assert_int_equal(refused(s, &(xp_analyze_options){.step = "train:9"}, &err), XP_ERR_USAGE);
  assert_contains(err.text, "train");
}

static void the_name_of_a_device_may_be_short(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  tpu(s, "/device:TPU:1", TIMES({10, 20}, {90, 130}));
  read_with(s, &(xp_analyze_options){.device = "TPU:1"});
  assert_int_equal(s->reading->device_count, 1);
  assert_true(xp_str_is(s->reading->devices[0].name, "/device:TPU:1"));
}

static void only_the_device_that_was_asked_for_is_read(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  tpu(s, "/device:TPU:1", TIMES({10, 20}, {90, 130}));
  read_with(s, &(xp_analyze_options){.device = "/device:TPU:1"});
  check_sums(s);
  assert_int_equal(s->reading->device_count, 1);
  assert_int_equal(gap_at(s, 0)->dur_ps, US(70));
}

static void only_gaps_of_the_time_that_was_asked_for_are_kept(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}, {190, 200}, {300, 310}));
  read_with(s, &(xp_analyze_options){.has_from = true, .has_to = true, .from_ps = US(130), .to_ps = US(190)});
  assert_int_equal(s->reading->gap_count, 1);
  assert_int_equal(gap_at(s, 0)->start_ps, US(130));
}

static void the_session_start_is_a_limit_like_any_other(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}, {190, 200}));
  read_with(s, &(xp_analyze_options){.has_to = true});
  assert_int_equal(s->reading->gap_count, 0);
}

static void only_gaps_of_the_step_that_was_asked_for_are_kept(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}, {190, 200}));
  thread(s, "python");
  call(s, 1, 2, 4);
  step(s, "a:b", 1, 90, 125);
  call(s, 2, 100, 110);
  step(s, "a:b", 2, 130, 185);
  call(s, 3, 180, 182);
  read_with(s, &(xp_analyze_options){.step = "a:b:2"});
  assert_int_equal(s->reading->gap_count, 1);
  assert_int_equal(gap_at(s, 0)->start_ps, US(130));
  assert_int_equal(s->reading->step_count, 1);
  assert_int_equal(gap_at(s, 0)->step, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(names_of_input_can_be_added),
      STORY(names_of_input_must_match_as_a_whole),
      STORY(a_bad_regular_expression_is_refused),
      STORY(an_unknown_device_is_refused_with_a_list_of_the_known),
      STORY(an_unknown_step_is_refused_with_a_list_of_the_known),
      STORY(the_name_of_a_device_may_be_short),
      STORY(only_the_device_that_was_asked_for_is_read),
      STORY(only_gaps_of_the_time_that_was_asked_for_are_kept),
      STORY(the_session_start_is_a_limit_like_any_other),
      STORY(only_gaps_of_the_step_that_was_asked_for_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
