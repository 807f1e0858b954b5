/* Outlines of host threads: nesting, what is open at a time, pool tasks, producers, Python frames. */
#include "readings.h"

/* The only thread of a story. */
static xp_thread *outline(story *s, xp_threads *threads)
{
  xp_threads_open(threads, loaded(s), NULL, s->arena);
  xp_threads_build(threads);
  assert_int_equal(threads->count, 1);
  return &threads->threads[0];
}

static const char *name_of(story *s, const xp_thread *t, uint32_t entry)
{
  return entry == XP_NONE ? "none" : WORDS(s, "%.*s", XP_STR_ARG(xp_entry_name(t, entry)));
}

static const char *innermost(story *s, const xp_thread *t, int64_t us)
{
  return name_of(s, t, xp_thread_innermost(t, US(us)));
}

/* All that is open at a time, innermost first: "c b a". */
static const char *open_at(story *s, const xp_thread *t, int64_t us)
{
  const char *words = "";
  for (uint32_t e = xp_thread_innermost(t, US(us)); e != XP_NONE; e = xp_thread_outer(t, e, US(us))) {
    words = WORDS(s, "%s%s%s", words, words[0] ? " " : "", name_of(s, t, e));
  }
  return words;
}

static const char *parent_of(story *s, const xp_thread *t, const char *name)
{
  for (uint32_t e = 0; e < t->count; e++) {
    if (xp_str_is(xp_entry_name(t, e), name)) {
      return name_of(s, t, t->parent[e]);
    }
  }
  fail_msg("no entry is called %s", name);
  return NULL;
}

/* ---- nesting */

static void an_event_inside_another_has_it_as_parent(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "a", 0, 100);
  event(s, "b", 10, 50);
  event(s, "c", 20, 30);
  event(s, "d", 60, 70);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_string_equal(parent_of(s, t, "a"), "none");
  assert_string_equal(parent_of(s, t, "b"), "a");
  assert_string_equal(parent_of(s, t, "c"), "b");
  assert_string_equal(parent_of(s, t, "d"), "a");
  assert_false(t->overlaps);
}

static void an_event_that_starts_as_another_ends_is_not_inside(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "a", 10, 20);
  event(s, "b", 20, 30);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_string_equal(parent_of(s, t, "b"), "none");
  assert_string_equal(innermost(s, t, 20), "b");
}

static void of_two_that_start_together_the_longer_is_outside(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "short", 10, 20);
  event(s, "long", 10, 30);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_string_equal(parent_of(s, t, "short"), "long");
}

static void the_order_in_the_file_does_not_matter(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "c", 20, 30);
  event(s, "a", 0, 100);
  event(s, "b", 10, 50);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_string_equal(open_at(s, t, 25), "c b a");
}

static void an_event_is_open_from_its_start_until_before_its_end(void **state)
{
  story *s = *state;
  thread(s, "python");
  event_ps(s, "a", US(10), US(20));
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_int_equal(xp_thread_innermost(t, US(10) - 1), XP_NONE);
  assert_int_equal(xp_thread_innermost(t, US(10)), 0);
  assert_int_equal(xp_thread_innermost(t, US(20) - 1), 0);
  assert_int_equal(xp_thread_innermost(t, US(20)), XP_NONE);
}

static void between_inner_events_the_outer_one_is_innermost(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "a", 0, 100);
  event(s, "b", 10, 20);
  event(s, "c", 30, 40);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_string_equal(open_at(s, t, 25), "a");
  assert_string_equal(open_at(s, t, 35), "c a");
  assert_string_equal(open_at(s, t, 99), "a");
  assert_string_equal(open_at(s, t, 100), "");
}

static void times_before_and_after_everything_have_nothing_open(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "a", 10, 20);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_int_equal(xp_thread_innermost(t, INT64_MIN), XP_NONE);
  assert_int_equal(xp_thread_innermost(t, INT64_MAX), XP_NONE);
  assert_int_equal(xp_thread_first_from(t, INT64_MIN), 0);
  assert_int_equal(xp_thread_first_from(t, INT64_MAX), 1);
}

/* Two recorders on one line: b outlives a, in which it began. */
static void an_event_that_outlives_its_parent_goes_on_without_it(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "a", 0, 50);
  event(s, "b", 40, 100);
  event(s, "c", 60, 70);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_true(t->overlaps);
  assert_string_equal(parent_of(s, t, "b"), "a");
  assert_string_equal(open_at(s, t, 45), "b a");
  assert_string_equal(open_at(s, t, 55), "b");
  assert_string_equal(open_at(s, t, 65), "c b");
  assert_string_equal(open_at(s, t, 80), "b");
}

static void an_event_goes_on_behind_one_that_began_inside_and_one_that_did_not(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "long", 0, 200);
  event(s, "a", 10, 50);
  event(s, "b", 40, 60);
  event(s, "c", 45, 48);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_string_equal(open_at(s, t, 46), "c b a long");
  assert_string_equal(open_at(s, t, 55), "b long");
  assert_string_equal(open_at(s, t, 100), "long");
}

static void the_first_entry_from_a_time_may_start_at_it(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "a", 10, 20);
  event(s, "b", 30, 40);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_int_equal(xp_thread_first_from(t, US(10)), 0);
  assert_int_equal(xp_thread_first_from(t, US(10) + 1), 1);
  assert_int_equal(xp_thread_first_from(t, US(30) + 1), 2);
}

/* ---- what is in an outline */

static void only_events_that_say_something_are_in_the_outline(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "kept", 10, 20);
  event(s, "$train.py:1 f", 10, 20);
  event(s, "end: fusion.1", 10, 20);
  event(s, "no duration", 12, 12);
  event(s, "fusion.1", 13, 14);
  with_text(s, "hlo_op", "fusion.1");
  event(s, "$x.py:9 block_until_ready", 15, 16);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_int_equal(t->count, 2);
  assert_string_equal(name_of(s, t, 0), "kept");
  assert_string_equal(name_of(s, t, 1), "$x.py:9 block_until_ready");
  assert_true(t->has_frame);
}

static void an_api_call_for_an_instruction_is_no_op(void **state)
{
  story *s = *state;
  thread(s, "Host Threads/7");
  event(s, "cuLaunchKernel", 10, 20);
  with_text(s, "hlo_op", "fusion.1");
  with(s, "correlation_id", 3);
  xp_threads threads;
  assert_int_equal(outline(s, &threads)->count, 1);
}

static void stray_events_are_left_out(void **state)
{
  story *s = *state;
  session(s, 100);
  thread(s, "python");
  event(s, "kept", 10, 20);
  event(s, "stray", 1000, 1010);
  xp_threads threads;
  assert_int_equal(outline(s, &threads)->count, 1);
}

static void lines_of_device_and_metadata_planes_are_no_threads(void **state)
{
  story *s = *state;
  static const char *const others[] = {"/device:TPU:0", "/host:metadata", "/host:__ScopeRangeCallStack__", "other"};
  for (size_t i = 0; i < COUNT(others); i++) {
    plane(s, others[i]);
    line(s, "python");
    event(s, "a", 10, 20);
  }
  thread(s, "python");
  event(s, "a", 10, 20);
  xp_threads threads;
  outline(s, &threads);
}

static void a_step_is_marked_and_has_no_class_of_its_name(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "data", 3, 10, 20);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_true(t->has_step);
  assert_true(t->flags[0] & XP_ENTRY_STEP);
  assert_false(t->flags[0] & XP_ENTRY_LISTED);
  assert_int_equal(t->cause[0], XP_CAUSE_HOST);
}

static void listed_names_have_their_class_in_the_outline(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "backend_compile", 10, 20);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_int_equal(t->cause[0], XP_CAUSE_COMPILE);
  assert_true(t->flags[0] & XP_ENTRY_LISTED);
}

/* ---- pool tasks and producers */

static void flow(story *s, const char *type_stat, int64_t type, const char *id_stat, int64_t id)
{
  with(s, type_stat, type);
  with(s, id_stat, id);
}

static void region(story *s, int64_t id, int64_t from_us, int64_t to_us)
{
  event(s, "ThreadpoolListener::StartRegion", from_us, from_us);
  flow(s, "_ct", 15, "_c", id);
  event(s, "ThreadpoolListener::StopRegion", to_us, to_us);
}

static void a_pool_task_runs_from_its_start_to_its_stop(void **state)
{
  story *s = *state;
  thread(s, "pool/1");
  region(s, 5, 10, 20);
  region(s, 6, 30, 40);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_int_equal(t->region_count, 2);
  assert_null(xp_thread_region(t, US(9)));
  assert_int_equal(xp_thread_region(t, US(10))->id, 5);
  assert_int_equal(xp_thread_region(t, US(19))->id, 5);
  assert_null(xp_thread_region(t, US(25)));
  assert_int_equal(xp_thread_region(t, US(35))->id, 6);
  assert_null(xp_thread_region(t, US(50)));
}

static void a_pool_task_that_the_session_cuts_goes_on(void **state)
{
  story *s = *state;
  thread(s, "pool/1");
  event(s, "ThreadpoolListener::StartRegion", 10, 10);
  flow(s, "_ct", 15, "_c", 5);
  xp_threads threads;
  const xp_thread *t = outline(s, &threads);
  assert_int_equal(xp_thread_region(t, US(1000))->id, 5);
}

static void the_producer_of_an_id_is_the_latest_that_is_not_later(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "ThreadpoolListener::Record", 10, 10);
  flow(s, "_pt", 15, "_p", 5);
  event(s, "ThreadpoolListener::Record", 30, 30);
  flow(s, "_pt", 15, "_p", 5);
  xp_threads threads;
  outline(s, &threads);
  assert_null(xp_threads_producer(&threads, 0, 15, 5, US(9)));
  assert_int_equal(xp_threads_producer(&threads, 0, 15, 5, US(10))->time_ps, US(10));
  assert_int_equal(xp_threads_producer(&threads, 0, 15, 5, US(29))->time_ps, US(10));
  assert_int_equal(xp_threads_producer(&threads, 0, 15, 5, US(30))->time_ps, US(30));
}

static void producers_of_other_types_ids_and_hosts_are_others(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "ThreadpoolListener::Record", 10, 10);
  flow(s, "_pt", 15, "_p", 5);
  xp_threads threads;
  outline(s, &threads);
  assert_null(xp_threads_producer(&threads, 0, 14, 5, US(20)));
  assert_null(xp_threads_producer(&threads, 0, 15, 6, US(20)));
  assert_null(xp_threads_producer(&threads, 1, 15, 5, US(20)));
}

static void a_producer_without_type_has_type_0(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "x", 10, 20);
  with(s, "_p", 5);
  xp_threads threads;
  outline(s, &threads);
  assert_non_null(xp_threads_producer(&threads, 0, 0, 5, US(20)));
}

/* ---- frames */

static xp_thread *with_frames(story *s, xp_threads *threads)
{
  xp_thread *t = outline(s, threads);
  xp_thread_index_frames(t, s->arena);
  return t;
}

static void the_innermost_frame_of_a_time_is_found(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "$train.py:1 main", 0, 100);
  event(s, "$train.py:9 step", 10, 50);
  event(s, "$train.py:20 loss", 20, 30);
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  assert_str(xp_thread_frame(t, US(5)), "$train.py:1 main");
  assert_str(xp_thread_frame(t, US(25)), "$train.py:20 loss");
  assert_str(xp_thread_frame(t, US(30)), "$train.py:9 step");
  assert_str(xp_thread_frame(t, US(99)), "$train.py:1 main");
  assert_str(xp_thread_frame(t, US(100)), "");
}

static void a_frame_of_the_user_goes_before_those_of_libraries_inside_it(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "$train.py:1 main", 0, 100);
  event(s, "$pjit.py:331 cache_miss", 10, 50);
  event(s, "$builtins len", 20, 30);
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  assert_str(xp_thread_frame(t, US(25)), "$train.py:1 main");
}

static void without_a_frame_of_the_user_the_innermost_of_a_library_is_shown(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "$pjit.py:331 cache_miss", 10, 50);
  event(s, "$builtins len", 20, 30);
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  assert_str(xp_thread_frame(t, US(25)), "$builtins len");
  assert_str(xp_thread_frame(t, US(35)), "$pjit.py:331 cache_miss");
}

static void events_that_are_no_frames_do_not_hide_frames(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "$train.py:1 main", 0, 100);
  event(s, "np.asarray(jax.Array)", 10, 50);
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  assert_str(xp_thread_frame(t, US(25)), "$train.py:1 main");
}

static void a_thread_with_one_frame_alone_shows_it(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "$train.py:1 main", 10, 20);
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  assert_str(xp_thread_frame(t, US(10)), "$train.py:1 main");
  assert_str(xp_thread_frame(t, US(20)), "");
}

enum { MANY = 10000 };

/* Frame i is "$f.py:i f". */
static void many_frames(story *s, bool nested)
{
  thread(s, "python");
  for (int i = 0; i < MANY; i++) {
    event(s, WORDS(s, "$f.py:%d f", i), nested ? i : 2 * i, nested ? 2 * MANY - i : 2 * i + 1);
  }
}

static void frames_that_follow_one_another_are_found_among_many(void **state)
{
  story *s = *state;
  many_frames(s, false);
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  for (int i = 0; i < MANY; i++) {
    assert_str(xp_thread_frame(t, US(2 * i)), WORDS(s, "$f.py:%d f", i));
    assert_str(xp_thread_frame(t, US(2 * i + 1)), "");
  }
}

static void frames_that_nest_are_found_among_many(void **state)
{
  story *s = *state;
  many_frames(s, true);
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  for (int i = 1; i < MANY; i += 97) {
    assert_str(xp_thread_frame(t, US(i)), WORDS(s, "$f.py:%d f", i));
    assert_str(xp_thread_frame(t, US(2 * MANY - i) - 1), WORDS(s, "$f.py:%d f", i));
  }
}

/* A frame of the user far out: library frames cover it. */
static void a_long_frame_is_found_behind_many_short_ones(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "$train.py:1 main", 0, 3 * MANY);
  for (int i = 0; i < MANY; i++) {
    event(s, "$builtins len", 2 * i, 2 * i + 1);
  }
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  assert_str(xp_thread_frame(t, US(2 * MANY + 5)), "$train.py:1 main");
  assert_str(xp_thread_frame(t, US(7)), "$train.py:1 main");
}

typedef struct {
  story *s;
  const char *words;
  int64_t at_ps;
} visits;

static void note_visit(void *context, int64_t from_ps, int64_t to_ps, xp_str frame)
{
  visits *v = context;
  assert_int_equal(from_ps, v->at_ps);
  assert_true(to_ps > from_ps);
  v->at_ps = to_ps;
  v->words =
      WORDS(v->s, "%s%s%.*s %s", v->words, v->words[0] ? ", " : "", XP_STR_ARG(frame), us_of(v->s, to_ps - from_ps));
}

/* The stretches of a time by frame, which must cover it: "$a.py:1 f 10,  5". */
static const char *stretches(story *s, const xp_thread *t, int64_t from_us, int64_t to_us)
{
  visits v = {s, "", US(from_us)};
  xp_thread_frames(t, US(from_us), US(to_us), note_visit, &v);
  assert_int_equal(v.at_ps, US(to_us));
  return v.words;
}

static void a_time_is_cut_at_the_bounds_of_frames(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "$a.py:1 main", 10, 60);
  event(s, "$a.py:2 f", 20, 30);
  event(s, "$a.py:3 g", 30, 35);
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  assert_string_equal(stretches(s, t, 0, 100), " 10, $a.py:1 main 10, $a.py:2 f 10, $a.py:3 g 5, $a.py:1 main 25,  40");
  assert_string_equal(stretches(s, t, 25, 32), "$a.py:2 f 5, $a.py:3 g 2");
}

static void a_time_without_frames_is_one_stretch(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "a", 10, 60);
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  assert_string_equal(stretches(s, t, 0, 100), " 100");
}

/* Counts the stretches in the words' place. */
static void count_visit(void *context, int64_t from_ps, int64_t to_ps, xp_str frame)
{
  int64_t *at = context;
  assert_int_equal(from_ps, at[0]);
  assert_int_equal(frame.len > 0, from_ps / US(1) % 2 == 0);
  at[0] = to_ps;
  at[1]++;
}

static void ten_thousand_frames_cut_a_time_exactly(void **state)
{
  story *s = *state;
  many_frames(s, false);
  xp_threads threads;
  const xp_thread *t = with_frames(s, &threads);
  int64_t at[2] = {US(1), 0};
  xp_thread_frames(t, US(1), US(2 * MANY), count_visit, at);
  assert_int_equal(at[0], US(2 * MANY));
  assert_int_equal(at[1], 2 * MANY - 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(an_event_inside_another_has_it_as_parent),
      STORY(an_event_that_starts_as_another_ends_is_not_inside),
      STORY(of_two_that_start_together_the_longer_is_outside),
      STORY(the_order_in_the_file_does_not_matter),
      STORY(an_event_is_open_from_its_start_until_before_its_end),
      STORY(between_inner_events_the_outer_one_is_innermost),
      STORY(times_before_and_after_everything_have_nothing_open),
      STORY(an_event_that_outlives_its_parent_goes_on_without_it),
      STORY(an_event_goes_on_behind_one_that_began_inside_and_one_that_did_not),
      STORY(the_first_entry_from_a_time_may_start_at_it),
      STORY(only_events_that_say_something_are_in_the_outline),
      STORY(an_api_call_for_an_instruction_is_no_op),
      STORY(stray_events_are_left_out),
      STORY(lines_of_device_and_metadata_planes_are_no_threads),
      STORY(a_step_is_marked_and_has_no_class_of_its_name),
      STORY(listed_names_have_their_class_in_the_outline),
      STORY(a_pool_task_runs_from_its_start_to_its_stop),
      STORY(a_pool_task_that_the_session_cuts_goes_on),
      STORY(the_producer_of_an_id_is_the_latest_that_is_not_later),
      STORY(producers_of_other_types_ids_and_hosts_are_others),
      STORY(a_producer_without_type_has_type_0),
      STORY(the_innermost_frame_of_a_time_is_found),
      STORY(a_frame_of_the_user_goes_before_those_of_libraries_inside_it),
      STORY(without_a_frame_of_the_user_the_innermost_of_a_library_is_shown),
      STORY(events_that_are_no_frames_do_not_hide_frames),
      STORY(a_thread_with_one_frame_alone_shows_it),
      STORY(frames_that_follow_one_another_are_found_among_many),
      STORY(frames_that_nest_are_found_among_many),
      STORY(a_long_frame_is_found_behind_many_short_ones),
      STORY(a_time_is_cut_at_the_bounds_of_frames),
      STORY(a_time_without_frames_is_one_stretch),
      STORY(ten_thousand_frames_cut_a_time_exactly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
