/* Full buffers: the oldest or the newest events stay, and the number of those that do not is exact for each thread. */
#include "recorded.h"

enum { EVENTS = 20000 };

static const char *const names[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"};

static void record_numbered(int from, int to)
{
  for (int i = from; i < to; i++) {
    XP_REGION(names[i % 10], XP_INT("number", i)) {
    }
    next_tick();
  }
}

static void the_oldest_stay(void **state)
{
  (void)state;
  start(1, false, (uint64_t)2 * CHUNK);
  record_numbered(0, EVENTS);
  xp_recording *recording = stop();
  const xp_recorded_thread *thread = &recording->threads[0];
  assert_int_equal(thread->count + thread->dropped, EVENTS);
  assert_int_equal(recording->dropped, thread->dropped);
  assert_in_range(thread->count, 2000, EVENTS - 1000);
  events list = events_of(recording, 0);
  for (size_t i = 0; i < list.count; i++) {
    assert_int_equal(list.all[i].args[0].value.i, i);
  }
  events_free(&list);
  xp_recording_free(recording);
}

static void the_newest_stay(void **state)
{
  (void)state;
  start(1, true, (uint64_t)3 * CHUNK);
  record_numbered(0, EVENTS);
  xp_recording *recording = stop();
  const xp_recorded_thread *thread = &recording->threads[0];
  assert_int_equal(thread->count + thread->dropped, EVENTS);
  assert_in_range(thread->count, 4000, EVENTS - 1000);
  events list = events_of(recording, 0);
  for (size_t i = 0; i < list.count; i++) {
    assert_int_equal(list.all[i].args[0].value.i, (size_t)EVENTS - list.count + i);
  }
  events_free(&list);
  xp_recording_free(recording);
}

static void the_newest_stay_in_a_single_chunk(void **state)
{
  (void)state;
  start(1, true, CHUNK);
  record_numbered(0, EVENTS);
  xp_recording *recording = stop();
  const xp_recorded_thread *thread = &recording->threads[0];
  assert_int_equal(thread->count + thread->dropped, EVENTS);
  events list = events_of(recording, 0);
  assert_in_range(list.count, 1, CHUNK / 32);
  assert_int_equal(list.all[list.count - 1].args[0].value.i, EVENTS - 1);
  events_free(&list);
  xp_recording_free(recording);
}

static void open_traces_stay_with_the_newest(void **state)
{
  (void)state;
  char text[] = "copied text";
  start(1, true, (uint64_t)2 * CHUNK);
  record_numbered(0, 1000); /* so that the open ones do not stand at the front */
  xp_trace outer = xp_step_begin_copy("outer", 5, 12);
  xp_arg arg = xp_arg_str_copy("text", text, 11);
  xp_trace inner = xp_trace_begin_args("inner", &arg, 1);
  xp_region region = xp_region_begin(1, "lost region");
  record_numbered(1000, EVENTS);
  memset(text, '-', sizeof text - 1);
  xp_trace_add(inner, XP_INT("added", 3));
  xp_region_end(region); /* its place is another event's by now */
  end(inner);
  xp_recording *recording = stop();
  end(outer);
  const xp_recorded_thread *thread = &recording->threads[0];
  assert_int_equal(thread->count + thread->dropped, EVENTS + 3);
  xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, 0);
  xp_recorded_event event;
  assert_true(xp_recorded_cursor_next(cursor, &event));
  assert_str(event.name, "outer");
  assert_true(event.unfinished);
  assert_int_equal(event.args[1].value.i, 12);
  assert_true(xp_recorded_cursor_next(cursor, &event));
  assert_str(event.name, "inner");
  assert_false(event.unfinished);
  assert_int_equal(event.arg_count, 2);
  assert_str(xp_str_from(event.args[0].value.s, event.args[0].len), "copied text");
  assert_int_equal(event.args[1].value.i, 3);
  uint64_t rest = 0;
  for (int64_t last = event.start_ps; xp_recorded_cursor_next(cursor, &event); rest++) {
    assert_true(event.start_ps >= last); /* after the end of the one before */
    assert_int_equal(event.name.ptr[0], 'n');
    assert_false(event.unfinished);
    last = end_of(&event);
  }
  assert_int_equal(rest, thread->count - 2);
  xp_recorded_cursor_close(cursor);
  xp_recording_free(recording);
}

static void more_open_traces_than_a_chunk_holds_leave_the_count_exact(void **state)
{
  (void)state;
  enum { DEEP = 9000 };
  xp_trace *traces = calloc(DEEP, sizeof *traces);
  assert_non_null(traces);
  start(1, true, CHUNK);
  for (int i = 0; i < DEEP; i++) {
    traces[i] = xp_trace_begin("deep");
  }
  for (int i = DEEP; i > 0; i--) {
    end(traces[i - 1]);
  }
  record_numbered(0, 10);
  xp_recording *recording = stop();
  const xp_recorded_thread *thread = &recording->threads[0];
  assert_int_equal(thread->count + thread->dropped, DEEP + 10);
  events list = events_of(recording, 0);
  assert_int_equal(list.all[list.count - 1].args[0].value.i, 9);
  events_free(&list);
  xp_recording_free(recording);
  free(traces);
}

static void without_memory_all_are_dropped_and_counted(void **state)
{
  (void)state;
  for (int newest = 0; newest < 2; newest++) {
    xp_trace before = xp_trace_begin("before");
    start(1, newest, 0);
    XP_TRACE("t", XP_INT("k", 1)) {
      xp_instant(1, "i", NULL, 0);
    }
    uint64_t now = xp_clock_ticks();
    xp_record(1, "p", now, now, NULL, 0);
    end(before);
    xp_recording *recording = stop();
    assert_int_equal(recording->thread_count, 1);
    assert_int_equal(recording->threads[0].count, 0);
    assert_int_equal(recording->threads[0].dropped, 4);
    events list = events_of(recording, 0);
    events_free(&list);
    xp_recording_free(recording);
  }
}

static void an_argument_that_finds_no_room_is_counted_at_its_event(void **state)
{
  (void)state;
  start(1, false, CHUNK);
  xp_trace trace = xp_trace_begin("t");
  record_numbered(0, EVENTS);
  for (int i = 0; i < 5; i++) {
    xp_trace_add(trace, XP_INT("late", i));
  }
  end(trace);
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_str(list.all[0].name, "t");
  assert_int_equal(list.all[0].arg_count, 1);
  assert_string_equal(list.all[0].args[0].key, "args_dropped");
  assert_int_equal(list.all[0].args[0].value.u, 5);
  events_free(&list);
  xp_recording_free(recording);
}

/* A step that stays open while its thread's chunks are taken again, with five arguments that were added first. */
static xp_recorded_event read_step_with_added(xp_recording *recording, xp_recorded_cursor **cursor)
{
  xp_recorded_event event;
  *cursor = xp_recorded_cursor_open(recording, 0);
  assert_true(xp_recorded_cursor_next(*cursor, &event));
  assert_str(event.name, "step");
  return event;
}

static void added_arguments_that_had_to_leave_are_counted_at_their_event(void **state)
{
  (void)state;
  for (int has_late = 0; has_late < 2; has_late++) {
    start(1, true, (uint64_t)2 * CHUNK);
    xp_trace step = xp_step_begin("step", 1);
    for (int i = 0; i < 5; i++) {
      xp_trace_add(step, XP_INT("early", i));
    }
    record_numbered(0, EVENTS);
    if (has_late) {
      xp_trace_add(step, XP_INT("late", 7));
    }
    end(step);
    xp_recording *recording = stop();
    xp_recorded_cursor *cursor;
    xp_recorded_event event = read_step_with_added(recording, &cursor);
    assert_int_equal(event.arg_count, 3 + has_late); /* _r, step_num */
    const xp_arg *dropped = &event.args[event.arg_count - 1];
    assert_string_equal(dropped->key, "args_dropped");
    if (has_late) {
      assert_int_equal(event.args[2].value.i, 7);
      assert_int_equal(dropped->value.u, 5);
    } else { /* nothing is left that knows the number */
      assert_str(xp_str_from(dropped->value.s, dropped->len), "1 or more");
    }
    xp_recorded_cursor_close(cursor);
    xp_recording_free(recording);
  }
}

static void more_lost_arguments_than_can_be_counted_are_told_as_such(void **state)
{
  (void)state;
  xp_arg many[200];
  for (int i = 0; i < 200; i++) {
    many[i] = XP_INT("number", i);
  }
  start(1, false, CHUNK);
  end(xp_trace_begin_args("t", many, 127 + 30));
  end(xp_trace_begin_args("t", many, 127 + 31));
  xp_recording *recording = stop();
  xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, 0);
  xp_recorded_event event;
  assert_true(xp_recorded_cursor_next(cursor, &event));
  assert_int_equal(event.args[127].type, XP_ARG_UINT);
  assert_int_equal(event.args[127].value.u, 30);
  assert_true(xp_recorded_cursor_next(cursor, &event));
  assert_str(xp_str_from(event.args[127].value.s, event.args[127].len), "31 or more");
  xp_recorded_cursor_close(cursor);
  xp_recording_free(recording);
}

enum { THREADS = 4 };

static void *record_many(void *context)
{
  int count = *(int *)context;
  for (int i = 0; i < count; i++) {
    XP_TRACE("t", XP_INT("number", i)) {
    }
    next_tick();
  }
  return NULL;
}

static void drops_are_exact_for_each_of_several_threads(void **state)
{
  (void)state;
  for (int newest = 0; newest < 2; newest++) {
    int counts[THREADS] = {5000, 12000, 19000, 26000};
    pthread_t ids[THREADS];
    start(1, newest, (uint64_t)6 * CHUNK);
    for (int i = 0; i < THREADS; i++) {
      ids[i] = begin_thread(record_many, &counts[i]);
    }
    for (int i = 0; i < THREADS; i++) {
      end_thread(ids[i]);
    }
    xp_recording *recording = stop();
    assert_int_equal(recording->thread_count, THREADS);
    uint64_t dropped = 0, found = 0;
    for (size_t i = 0; i < THREADS; i++) {
      const xp_recorded_thread *thread = &recording->threads[i];
      dropped += thread->dropped;
      for (int k = 0; k < THREADS; k++) {
        found += thread->count + thread->dropped == (uint64_t)counts[k];
      }
      events list = events_of(recording, i);
      for (size_t k = 1; k < list.count; k++) {
        assert_int_equal(list.all[k].args[0].value.i, list.all[k - 1].args[0].value.i + 1);
      }
      events_free(&list);
    }
    assert_int_equal(found, THREADS);
    assert_int_equal(recording->dropped, dropped);
    assert_true(dropped > 0);
    xp_recording_free(recording);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_oldest_stay),
      cmocka_unit_test(the_newest_stay),
      cmocka_unit_test(the_newest_stay_in_a_single_chunk),
      cmocka_unit_test(open_traces_stay_with_the_newest),
      cmocka_unit_test(more_open_traces_than_a_chunk_holds_leave_the_count_exact),
      cmocka_unit_test(without_memory_all_are_dropped_and_counted),
      cmocka_unit_test(an_argument_that_finds_no_room_is_counted_at_its_event),
      cmocka_unit_test(added_arguments_that_had_to_leave_are_counted_at_their_event),
      cmocka_unit_test(more_lost_arguments_than_can_be_counted_are_told_as_such),
      cmocka_unit_test(drops_are_exact_for_each_of_several_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
