/* What one thread records: traces, steps, regions, instants, and their order and arguments. */
#include "recorded.h"

static void a_trace_is_an_event_with_its_time(void **state)
{
  (void)state;
  start(1, false, MIB);
  xp_trace trace = xp_trace_begin("forward");
  sleep_ms(20);
  end(trace);
  xp_recording *recording = stop();
  assert_int_equal(recording->thread_count, 1);
  assert_int_equal(recording->dropped, 0);
  events list = events_of(recording, 0);
  assert_names(&list, "forward");
  assert_true(list.all[0].dur_ps >= 19900000000); /* sleep at least 20 ms, a tick of the clock aside */
  assert_true(list.all[0].dur_ps < 2000000000000);
  assert_false(list.all[0].unfinished);
  assert_int_equal(list.all[0].arg_count, 0);
  assert_true(end_of(&list.all[0]) <= (recording->stop_unix_ns - recording->start_unix_ns) * 1000);
  events_free(&list);
  xp_recording_free(recording);
}

static void events_come_by_their_start_with_outer_ones_first(void **state)
{
  (void)state;
  start(1, false, MIB);
  XP_STEP("step", 7) {
    XP_TRACE("a") {
      XP_REGION("b") {
      }
    }
    xp_instant(1, "i", NULL, 0);
    XP_TRACE("c") {
    }
  }
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "step,a,b,i,c");
  for (size_t i = 1; i < list.count; i++) {
    assert_inside(&list.all[0], &list.all[i]);
    assert_true(list.all[i - 1].start_ps <= list.all[i].start_ps);
  }
  assert_inside(&list.all[1], &list.all[2]);
  assert_int_equal(list.all[3].dur_ps, 0);
  events_free(&list);
  xp_recording_free(recording);
}

static void a_step_has_its_mark_and_its_number(void **state)
{
  (void)state;
  start(1, false, MIB);
  XP_STEP("train", 41) {
  }
  end(xp_step_begin_copy("eval...", 4, -3));
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "train,eval");
  const int64_t numbers[] = {41, -3};
  for (int i = 0; i < 2; i++) {
    const xp_arg *args = list.all[i].args;
    assert_int_equal(list.all[i].arg_count, 2);
    assert_string_equal(args[0].key, "_r");
    assert_int_equal(args[0].type, XP_ARG_INT);
    assert_int_equal(args[0].value.i, 1);
    assert_string_equal(args[1].key, "step_num");
    assert_int_equal(args[1].value.i, numbers[i]);
  }
  events_free(&list);
  xp_recording_free(recording);
}

static void arguments_keep_type_and_value(void **state)
{
  (void)state;
  char text[] = "changes";
  start(1, false, MIB);
  XP_TRACE("t", XP_INT("i", INT64_MIN), XP_UINT("u", UINT64_MAX), XP_DOUBLE("d", -0.5), XP_BOOL("b", true),
           XP_TEXT("s", "literal"), xp_arg_str_copy("c", text, 6)) {
    text[0] = 'X';
  }
  xp_recording *recording = stop();
  xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, 0);
  xp_recorded_event event;
  assert_true(xp_recorded_cursor_next(cursor, &event));
  assert_int_equal(event.arg_count, 6);
  assert_int_equal(event.args[0].type, XP_ARG_INT);
  assert_true(event.args[0].value.i == INT64_MIN);
  assert_int_equal(event.args[1].type, XP_ARG_UINT);
  assert_true(event.args[1].value.u == UINT64_MAX);
  assert_int_equal(event.args[2].type, XP_ARG_DOUBLE);
  assert_true(event.args[2].value.d == -0.5);
  assert_int_equal(event.args[3].type, XP_ARG_BOOL);
  assert_int_equal(event.args[3].value.i, 1);
  assert_int_equal(event.args[4].type, XP_ARG_STR);
  assert_string_equal(event.args[4].value.s, "literal");
  assert_int_equal(event.args[5].type, XP_ARG_STR_COPY);
  assert_str(xp_str_from(event.args[5].value.s, event.args[5].len), "change");
  assert_string_equal(event.args[5].key, "c");
  assert_false(xp_recorded_cursor_next(cursor, &event));
  xp_recorded_cursor_close(cursor);
  xp_recording_free(recording);
}

static void long_texts_are_cut_at_65535_bytes(void **state)
{
  (void)state;
  enum { LONG = 100000 };
  char *text = malloc(LONG);
  assert_non_null(text);
  for (size_t i = 0; i < LONG; i++) {
    text[i] = (char)('a' + i % 23);
  }
  xp_arg arg = xp_arg_str_copy("long", text, LONG);
  start(1, false, MIB);
  end(xp_trace_begin_args("t", &arg, 1));
  xp_recording *recording = stop();
  xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, 0);
  xp_recorded_event event;
  assert_true(xp_recorded_cursor_next(cursor, &event));
  assert_int_equal(event.args[0].len, 65535);
  assert_memory_equal(event.args[0].value.s, text, 65535);
  xp_recorded_cursor_close(cursor);
  xp_recording_free(recording);
  free(text);
}

static void texts_that_do_not_fit_into_a_chunk_together_are_cut(void **state)
{
  (void)state;
  char *text = malloc(65535);
  assert_non_null(text);
  memset(text, 'x', 65535);
  xp_arg args[4];
  for (int i = 0; i < 4; i++) {
    args[i] = xp_arg_str_copy("k", text, 65535);
  }
  start(1, false, MIB);
  end(xp_trace_begin_args("t", args, 4));
  xp_recording *recording = stop();
  assert_int_equal(recording->dropped, 0);
  xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, 0);
  xp_recorded_event event;
  assert_true(xp_recorded_cursor_next(cursor, &event));
  assert_int_equal(event.arg_count, 4);
  size_t sum = 0;
  for (int i = 0; i < 4; i++) {
    assert_true(event.args[i].len <= 65535);
    sum += event.args[i].len;
    touch_bytes(xp_str_from(event.args[i].value.s, event.args[i].len));
  }
  assert_in_range(sum, 120000, CHUNK);
  xp_recorded_cursor_close(cursor);
  xp_recording_free(recording);
  free(text);
}

static void arguments_beyond_127_are_counted_at_the_event(void **state)
{
  (void)state;
  xp_arg args[130];
  for (int i = 0; i < 130; i++) {
    args[i] = xp_arg_int("k", i);
  }
  start(1, false, MIB);
  end(xp_trace_begin_args("t", args, 130));
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_int_equal(list.all[0].arg_count, 128);
  assert_int_equal(list.all[0].args[126].value.i, 126);
  assert_string_equal(list.all[0].args[127].key, "args_dropped");
  assert_int_equal(list.all[0].args[127].value.u, 3);
  events_free(&list);
  xp_recording_free(recording);
}

static void an_argument_is_added_to_an_open_trace_of_any_depth(void **state)
{
  (void)state;
  start(1, false, MIB);
  xp_arg first = xp_arg_int("first", 1);
  xp_trace outer = xp_trace_begin_args("outer", &first, 1);
  xp_trace inner = xp_trace_begin("inner");
  xp_trace_add(outer, XP_INT("second", 2));
  xp_trace_add(inner, XP_INT("other", 9));
  char text[] = "copied";
  xp_trace_add(outer, xp_arg_str_copy("third", text, 6));
  memset(text, '-', 6);
  end(inner);
  end(outer);
  xp_trace_add(outer, XP_INT("late", 4));
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "outer,inner");
  assert_int_equal(list.all[0].arg_count, 3);
  assert_string_equal(list.all[0].args[0].key, "first");
  assert_string_equal(list.all[0].args[1].key, "second");
  assert_int_equal(list.all[0].args[1].value.i, 2);
  assert_str(xp_str_from(list.all[0].args[2].value.s, list.all[0].args[2].len), "copied");
  assert_int_equal(list.all[1].arg_count, 1);
  assert_int_equal(list.all[1].args[0].value.i, 9);
  events_free(&list);
  xp_recording_free(recording);
}

static void names_that_change_are_copied_and_equal_ones_share_an_address(void **state)
{
  (void)state;
  char name[16];
  start(1, false, MIB);
  for (int i = 0; i < 4; i++) {
    int len = snprintf(name, sizeof name, "batch%d", i % 2);
    end(xp_trace_begin_copy(name, (size_t)len, NULL, 0));
  }
  xp_recording *recording = stop();
  xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, 0);
  xp_recorded_event event;
  const char *address[4];
  for (int i = 0; i < 4; i++) {
    assert_true(xp_recorded_cursor_next(cursor, &event));
    assert_str(event.name, i % 2 == 0 ? "batch0" : "batch1");
    address[i] = event.name.ptr;
  }
  assert_ptr_equal(address[0], address[2]);
  assert_ptr_equal(address[1], address[3]);
  assert_ptr_not_equal(address[0], address[1]);
  xp_recorded_cursor_close(cursor);
  xp_recording_free(recording);
}

static void a_region_takes_arguments(void **state)
{
  (void)state;
  start(1, false, MIB);
  XP_REGION("r", XP_INT("k", 5)) {
  }
  xp_arg arg = xp_arg_uint("bytes", 4096);
  xp_region_end(xp_region_begin_args(1, "copy", &arg, 1));
  xp_instant(1, "now", &arg, 1);
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "r,copy,now");
  assert_int_equal(list.all[0].args[0].value.i, 5);
  assert_int_equal(list.all[1].args[0].value.u, 4096);
  assert_int_equal(list.all[2].args[0].value.u, 4096);
  events_free(&list);
  xp_recording_free(recording);
}

static void past_events_are_put_where_they_began(void **state)
{
  (void)state;
  start(1, false, MIB);
  uint64_t before = xp_clock_ticks();
  sleep_ms(1);
  XP_TRACE("a") {
    sleep_ms(1);
  }
  uint64_t between = xp_clock_ticks();
  XP_TRACE("b") {
    sleep_ms(1);
  }
  uint64_t after = xp_clock_ticks();
  xp_record(1, "second", between, after, NULL, 0);
  xp_record(1, "first", before, between, NULL, 0);
  xp_record(1, "whole", before, after, NULL, 0);
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "whole,first,a,second,b");
  assert_inside(&list.all[1], &list.all[2]);
  assert_inside(&list.all[3], &list.all[4]);
  assert_int_equal(list.all[0].start_ps, list.all[1].start_ps);
  assert_int_equal(end_of(&list.all[1]), list.all[3].start_ps);
  events_free(&list);
  xp_recording_free(recording);
}

static void past_events_are_held_to_the_session_and_the_present(void **state)
{
  (void)state;
  uint64_t long_ago = xp_clock_ticks();
  sleep_ms(2);
  uint64_t ago = xp_clock_ticks();
  sleep_ms(2);
  start(1, false, MIB);
  sleep_ms(1);
  xp_record(1, "over before", long_ago, ago, NULL, 0);
  xp_record(1, "into it", ago, xp_clock_ticks(), NULL, 0);
  xp_record(1, "future", xp_clock_ticks(), UINT64_MAX, NULL, 0);
  XP_TRACE("next") {
  }
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "into it,future,next");
  assert_int_equal(list.all[0].start_ps, 0);
  assert_true(list.all[0].dur_ps >= 900000000 && list.all[0].dur_ps < 1000000000000);
  assert_true(end_of(&list.all[1]) <= list.all[2].start_ps);
  events_free(&list);
  xp_recording_free(recording);
}

static void levels_above_that_of_the_session_are_not_recorded(void **state)
{
  (void)state;
  const char *want[] = {"1,trace", "1,2,trace", "1,2,3,trace"};
  for (int level = 1; level <= 3; level++) {
    start(level, false, MIB);
    xp_region_end(xp_region_begin(XP_LEVEL_USER, "1"));
    xp_instant(XP_LEVEL_INFO, "2", NULL, 0);
    uint64_t now = xp_clock_ticks();
    xp_record(XP_LEVEL_VERBOSE, "3", now, now, NULL, 0);
    XP_TRACE("trace") {
    }
    assert_true(xp_is_recording(level));
    assert_false(xp_is_recording(level + 1));
    xp_recording *recording = stop();
    events list = events_of(recording, 0);
    assert_names(&list, want[level - 1]);
    events_free(&list);
    xp_recording_free(recording);
  }
  assert_false(xp_is_recording(1));
}

static void flows_have_ids_of_their_own(void **state)
{
  (void)state;
  start(1, false, MIB);
  uint64_t id = xp_flow_new();
  assert_true(xp_flow_new() != id);
  XP_REGION("give", XP_FLOW_OUT(id)) {
  }
  XP_REGION("take", XP_FLOW_IN(id)) {
  }
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_int_equal(list.all[0].arg_count, 2);
  assert_string_equal(list.all[0].args[0].key, "_pt");
  assert_string_equal(list.all[0].args[1].key, "_p");
  assert_int_equal(list.all[0].args[1].value.u, id);
  assert_string_equal(list.all[1].args[0].key, "_ct");
  assert_string_equal(list.all[1].args[1].key, "_c");
  assert_int_equal(list.all[1].args[1].value.u, id);
  events_free(&list);
  xp_recording_free(recording);
}

static void a_cursor_can_begin_again(void **state)
{
  (void)state;
  start(1, false, MIB);
  uint64_t now = xp_clock_ticks();
  XP_TRACE("a") {
  }
  xp_record(1, "early", now, now, NULL, 0);
  xp_recording *recording = stop();
  xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, 0);
  for (int i = 0; i < 2; i++) {
    xp_recorded_event event;
    assert_true(xp_recorded_cursor_next(cursor, &event));
    assert_str(event.name, "early");
    assert_true(xp_recorded_cursor_next(cursor, &event));
    assert_str(event.name, "a");
    assert_false(xp_recorded_cursor_next(cursor, &event));
    xp_recorded_cursor_rewind(cursor);
  }
  xp_recorded_cursor_close(cursor);
  xp_recording_free(recording);
}

static void a_name_that_is_empty_is_told(void **state)
{
  (void)state;
  start(1, false, MIB);
  end(xp_trace_begin(""));
  end(xp_trace_begin_copy(NULL, 3, NULL, 0));
  xp_region_end(xp_region_begin(1, NULL));
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "(no name),(no name),(no name)");
  events_free(&list);
  xp_recording_free(recording);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_trace_is_an_event_with_its_time),
      cmocka_unit_test(events_come_by_their_start_with_outer_ones_first),
      cmocka_unit_test(a_step_has_its_mark_and_its_number),
      cmocka_unit_test(arguments_keep_type_and_value),
      cmocka_unit_test(long_texts_are_cut_at_65535_bytes),
      cmocka_unit_test(texts_that_do_not_fit_into_a_chunk_together_are_cut),
      cmocka_unit_test(arguments_beyond_127_are_counted_at_the_event),
      cmocka_unit_test(an_argument_is_added_to_an_open_trace_of_any_depth),
      cmocka_unit_test(names_that_change_are_copied_and_equal_ones_share_an_address),
      cmocka_unit_test(a_region_takes_arguments),
      cmocka_unit_test(past_events_are_put_where_they_began),
      cmocka_unit_test(past_events_are_held_to_the_session_and_the_present),
      cmocka_unit_test(levels_above_that_of_the_session_are_not_recorded),
      cmocka_unit_test(flows_have_ids_of_their_own),
      cmocka_unit_test(a_cursor_can_begin_again),
      cmocka_unit_test(a_name_that_is_empty_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
