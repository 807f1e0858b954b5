/* Steps: where they come from, which are whole, what the devices did in them. */
#include "readings.h"

/* "train 1 10..20, train 2 30..40 cut": all steps. */
static const char *steps_of(story *s)
{
  const char *words = "";
  for (size_t i = 0; i < s->reading->step_count; i++) {
    const xp_step *x = &s->reading->steps[i];
    words = WORDS(s, "%s%s%.*s%s%s %s..%s%s", words, i ? ", " : "", XP_STR_ARG(x->name), x->has_num ? " " : "",
                  x->has_num ? WORDS(s, "%lld", (long long)x->num) : "", us_of(s, x->start_ps),
                  us_of(s, x->start_ps + x->dur_ps), x->complete ? "" : " cut");
  }
  return words;
}

/* ---- where they come from */

static void an_event_with_r_is_a_step(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "train", 10, 20);
  with(s, "_r", 1);
  event(s, "other", 30, 40);
  read_story(s);
  assert_int_equal(s->reading->step_source, XP_STEPS_ANNOTATION);
  assert_string_equal(steps_of(s), "train 10..20");
}

static void an_event_with_step_num_is_a_step(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "train", 10, 20);
  with(s, "step_num", 7);
  read_story(s);
  assert_string_equal(steps_of(s), "train 7 10..20");
}

static void a_step_may_be_written_in_its_name(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "train#_r=1,step_num=3#", 10, 20);
  read_story(s);
  assert_string_equal(steps_of(s), "train 3 10..20");
}

static void a_step_may_have_any_name(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "Schritt \xc3\xbc/\xff::$x", 1, 10, 20);
  read_story(s);
  assert_string_equal(steps_of(s), "Schritt \xc3\xbc/\xff::$x 1 10..20");
}

static void numbers_are_kept_as_they_are(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 100, 10, 20);
  step(s, "train", -3, 30, 40);
  step(s, "train", 100, 50, 60);
  read_story(s);
  assert_string_equal(steps_of(s), "train 100 10..20, train -3 30..40, train 100 50..60");
}

static void steps_stand_in_the_order_of_time(void **state)
{
  story *s = *state;
  thread(s, "b");
  step(s, "eval", 1, 30, 40);
  line(s, "a");
  step(s, "train", 1, 10, 20);
  read_story(s);
  assert_string_equal(steps_of(s), "train 1 10..20, eval 1 30..40");
}

static void annotations_go_before_the_steps_of_a_device(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "Steps");
  event(s, "5", 10, 20);
  thread(s, "python");
  step(s, "train", 1, 10, 20);
  read_story(s);
  assert_string_equal(steps_of(s), "train 1 10..20");
}

static void without_annotations_the_device_tells_its_steps(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "Steps");
  event(s, "5", 10, 20);
  event(s, "6", 30, 40);
  read_story(s);
  assert_int_equal(s->reading->step_source, XP_STEPS_DEVICE);
  assert_string_equal(steps_of(s), "step 5 10..20, step 6 30..40");
}

static void untimed_and_stray_events_are_no_steps_of_a_device(void **state)
{
  story *s = *state;
  session(s, 100);
  plane(s, "/device:TPU:0");
  line(s, "Steps");
  event(s, "4", 0, 0);
  event(s, "5", 10, 20);
  event(s, "6", 1000, 1010);
  read_story(s);
  assert_string_equal(steps_of(s), "step 5 10..20");
}

static void without_both_the_runs_of_the_main_program_are_steps(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "jit_init(1)", 0, 500);
  event(s, "jit_step(2)", 510, 520);
  event(s, "jit_log(3)", 521, 522);
  event(s, "jit_step(2)", 530, 540);
  event(s, "jit_log(3)", 541, 542);
  read_story(s);
  assert_int_equal(s->reading->step_source, XP_STEPS_MODULE);
  assert_string_equal(steps_of(s), "jit_step 510..520, jit_step 530..540");
}

static void a_program_that_runs_once_makes_no_step(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}));
  read_story(s);
  assert_int_equal(s->reading->step_source, XP_STEPS_NONE);
  assert_int_equal(s->reading->step_count, 0);
  assert_true(s->reading->step_reason.len > 0);
}

/* ---- whole and cut */

static void a_step_inside_the_session_is_whole(void **state)
{
  story *s = *state;
  session(s, 100);
  thread(s, "python");
  step(s, "train", 1, 10, 90);
  read_story(s);
  assert_string_equal(steps_of(s), "train 1 10..90");
}

static void a_step_that_the_session_cuts_is_partial(void **state)
{
  story *s = *state;
  session(s, 100);
  thread(s, "python");
  step(s, "train", 1, -10, 20);
  step(s, "train", 2, 30, 40);
  step(s, "train", 3, 60, 120);
  read_story(s);
  assert_string_equal(steps_of(s), "train 1 -10..20 cut, train 2 30..40, train 3 60..120 cut");
}

static void a_step_that_is_unfinished_is_cut_though_it_ends_before_the_session(void **state)
{
  story *s = *state;
  session(s, 100);
  thread(s, "python");
  step(s, "train", 1, 10, 20);
  step(s, "train", 2, 30, 99);
  with(s, "unfinished", 1);
  read_story(s);
  assert_string_equal(steps_of(s), "train 1 10..20, train 2 30..99 cut");
}

static void partial_steps_are_counted_and_not_averaged(void **state)
{
  story *s = *state;
  session(s, 100);
  thread(s, "python");
  step(s, "train", 1, -10, 20);
  step(s, "train", 2, 30, 40);
  step(s, "train", 3, 60, 120);
  read_story(s);
  const xp_step_summary *summary = &s->reading->summaries[0];
  assert_int_equal(summary->complete, 1);
  assert_int_equal(summary->partial, 2);
  assert_int_equal(summary->duration_ps, US(10));
  assert_false(summary->has_period);
}

/* ---- summaries */

static void three_steps(story *s)
{
  thread(s, "python");
  step(s, "train", 1, 10, 20);
  step(s, "train", 2, 30, 45);
  step(s, "train", 3, 60, 70);
}

static void the_duration_is_the_mean_with_median_and_maximum(void **state)
{
  story *s = *state;
  three_steps(s);
  read_story(s);
  const xp_step_summary *summary = &s->reading->summaries[0];
  assert_int_equal(summary->duration_ps, 11666667); /* 35 / 3 */
  assert_int_equal(summary->duration_median_ps, US(10));
  assert_int_equal(summary->duration_max_ps, US(15));
}

static void the_period_is_the_mean_distance_of_starts(void **state)
{
  story *s = *state;
  three_steps(s);
  read_story(s);
  const xp_step_summary *summary = &s->reading->summaries[0];
  assert_true(summary->has_period);
  assert_int_equal(summary->period_ps, US(25)); /* 20 and 30 */
  assert_int_equal(summary->period_median_ps, US(25));
  assert_int_equal(summary->period_max_ps, US(30));
}

static void each_name_has_its_summary(void **state)
{
  story *s = *state;
  three_steps(s);
  step(s, "vae", 1, 80, 100);
  read_story(s);
  assert_int_equal(s->reading->summary_count, 2);
  assert_str(s->reading->summaries[0].name, "train");
  assert_str(s->reading->summaries[1].name, "vae");
  assert_int_equal(s->reading->summaries[0].complete, 3);
  assert_int_equal(s->reading->summaries[1].duration_ps, US(20));
}

static void names_are_not_guessed_to_be_one(void **state)
{
  story *s = *state;
  thread(s, "python");
  for (int i = 0; i < 300; i++) {
    step(s, WORDS(s, "step %d", i), i, 10 * i, 10 * i + 5);
  }
  read_story(s);
  assert_int_equal(s->reading->summary_count, 300);
}

static void time_before_and_after_the_steps_is_outside(void **state)
{
  story *s = *state;
  session(s, 200);
  thread(s, "python");
  step(s, "train", 1, 20, 50);
  step(s, "train", 2, 60, 150);
  read_story(s);
  assert_int_equal(s->reading->outside_steps_ps, US(70));
}

/* ---- what the devices did */

/* The host runs ahead: both runs go on in the second step, or after it. */
static void run_ahead(story *s)
{
  tpu(s, "/device:TPU:0", TIMES({55, 75}, {110, 120}));
  thread(s, "python");
  step(s, "train", 1, 0, 50);
  call(s, 1, 10, 12);
  step(s, "train", 2, 50, 100);
  call(s, 2, 60, 62);
}

static void work_belongs_to_the_step_that_launched_it(void **state)
{
  story *s = *state;
  run_ahead(s);
  read_story(s);
  assert_int_equal(s->reading->steps[0].busy_ps, US(20));
  assert_int_equal(s->reading->steps[1].busy_ps, US(10));
}

static void the_step_on_the_device_is_kept_apart(void **state)
{
  story *s = *state;
  run_ahead(s);
  read_story(s);
  assert_int_equal(s->reading->steps[0].device_start_ps, US(55));
  assert_int_equal(s->reading->steps[0].device_end_ps, US(75));
  assert_int_equal(s->reading->steps[1].device_start_ps, US(110));
}

static void a_step_without_work_has_none(void **state)
{
  story *s = *state;
  run_ahead(s);
  step(s, "train", 3, 100, 140);
  read_story(s);
  assert_int_equal(s->reading->steps[2].busy_ps, 0);
  assert_int_equal(s->reading->steps[2].device_start_ps, s->reading->steps[2].device_end_ps);
}

static void the_busy_time_of_a_step_is_the_mean_over_the_devices(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 30}));
  tpu(s, "/device:TPU:1", TIMES({10, 20}));
  thread(s, "python");
  step(s, "train", 1, 0, 50);
  call(s, 1, 5, 6);
  read_story(s);
  assert_int_equal(s->reading->steps[0].busy_ps, US(15));
  assert_int_equal(s->reading->steps[0].device_busy_ps[0], US(20));
  assert_int_equal(s->reading->steps[0].device_busy_ps[1], US(10));
}

static void work_that_overlaps_is_busy_once(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  event(s, "a", 10, 30);
  with(s, "correlation_id", 1);
  line(s, "Stream #2(Compute)");
  event(s, "b", 20, 40);
  with(s, "correlation_id", 2);
  thread(s, "python");
  step(s, "train", 1, 0, 50);
  event(s, "PJRT_LoadedExecutable_Execute", 2, 8);
  event(s, "cuLaunchKernel", 3, 4);
  with(s, "correlation_id", 1);
  event(s, "cuLaunchKernel", 5, 6);
  with(s, "correlation_id", 2);
  read_story(s);
  assert_int_equal(s->reading->steps[0].busy_ps, US(30));
}

static void waiting_for_input_is_no_work_of_a_step(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "jit_step(7)", 10, 100);
  with(s, "run_id", 1);
  line(s, "XLA Ops");
  event(s, "%while.1 = x", 10, 100);
  event(s, "%infeed.1 = x", 20, 60);
  thread(s, "python");
  step(s, "train", 1, 0, 50);
  call(s, 1, 5, 6);
  read_story(s);
  assert_int_equal(s->reading->steps[0].busy_ps, US(50));
}

static void a_hand_over_keeps_the_step_in_which_it_was_made(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({70, 80}));
  thread(s, "python");
  step(s, "train", 1, 0, 50);
  event(s, "ThreadpoolListener::Record", 40, 40);
  produce(s, 15, 5);
  step(s, "train", 2, 50, 100);
  line(s, "pool");
  event(s, "ThreadpoolListener::StartRegion", 60, 60);
  consume(s, 15, 5);
  call(s, 1, 61, 63);
  event(s, "ThreadpoolListener::StopRegion", 64, 64);
  read_story(s);
  assert_int_equal(s->reading->steps[0].busy_ps, US(10));
  assert_int_equal(s->reading->steps[1].busy_ps, 0);
}

static void the_summary_has_the_mean_busy_time_of_whole_steps(void **state)
{
  story *s = *state;
  session(s, 130);
  tpu(s, "/device:TPU:0", TIMES({20, 30}, {65, 85}, {90, 95}));
  thread(s, "python");
  step(s, "train", 1, 5, 50);
  call(s, 1, 10, 12);
  step(s, "train", 2, 50, 88);
  call(s, 2, 60, 62);
  step(s, "train", 3, 88, 140);
  call(s, 3, 89, 89);
  read_story(s);
  assert_int_equal(s->reading->summaries[0].busy_ps, US(15));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(an_event_with_r_is_a_step),
      STORY(an_event_with_step_num_is_a_step),
      STORY(a_step_may_be_written_in_its_name),
      STORY(a_step_may_have_any_name),
      STORY(numbers_are_kept_as_they_are),
      STORY(steps_stand_in_the_order_of_time),
      STORY(annotations_go_before_the_steps_of_a_device),
      STORY(without_annotations_the_device_tells_its_steps),
      STORY(untimed_and_stray_events_are_no_steps_of_a_device),
      STORY(without_both_the_runs_of_the_main_program_are_steps),
      STORY(a_program_that_runs_once_makes_no_step),
      STORY(a_step_inside_the_session_is_whole),
      STORY(a_step_that_the_session_cuts_is_partial),
      STORY(a_step_that_is_unfinished_is_cut_though_it_ends_before_the_session),
      STORY(partial_steps_are_counted_and_not_averaged),
      STORY(the_duration_is_the_mean_with_median_and_maximum),
      STORY(the_period_is_the_mean_distance_of_starts),
      STORY(each_name_has_its_summary),
      STORY(names_are_not_guessed_to_be_one),
      STORY(time_before_and_after_the_steps_is_outside),
      STORY(work_belongs_to_the_step_that_launched_it),
      STORY(the_step_on_the_device_is_kept_apart),
      STORY(a_step_without_work_has_none),
      STORY(the_busy_time_of_a_step_is_the_mean_over_the_devices),
      STORY(work_that_overlaps_is_busy_once),
      STORY(waiting_for_input_is_no_work_of_a_step),
      STORY(a_hand_over_keeps_the_step_in_which_it_was_made),
      STORY(the_summary_has_the_mean_busy_time_of_whole_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
