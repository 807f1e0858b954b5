/* Starts and stops: what is open at either of them, and what is left from one session to the next. */
#include "recorded.h"

#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void a_second_start_and_a_stop_without_start_are_refused(void **state)
{
  (void)state;
  xp_error err;
  xp_recording *recording = NULL;
  const xp_recorder_options options = {1, false, MIB};
  assert_int_equal(xp_recorder_stop(&recording, &err), XP_ERR_IDLE);
  assert_null(recording);
  start(1, false, MIB);
  assert_int_equal(xp_recorder_start(&options, &err), XP_ERR_BUSY);
  xp_recording_free(stop());
  assert_int_equal(xp_recorder_stop(&recording, &err), XP_ERR_IDLE);
}

static void levels_that_do_not_exist_are_refused(void **state)
{
  (void)state;
  xp_error err;
  const int levels[] = {0, 4, -1};
  for (int i = 0; i < 3; i++) {
    const xp_recorder_options options = {levels[i], false, MIB};
    assert_int_equal(xp_recorder_start(&options, &err), XP_ERR_USAGE);
    assert_contains(err.text, "level");
  }
}

static void more_memory_than_there_can_be_is_refused(void **state)
{
  (void)state;
  xp_error err;
  const uint64_t sizes[] = {UINT64_MAX, (uint64_t)1 << 60};
  for (int i = 0; i < 2; i++) {
    const xp_recorder_options options = {1, false, sizes[i]};
    assert_int_equal(xp_recorder_start(&options, &err), XP_ERR_MEMORY);
    assert_contains(err.text, "buffer_limit_bytes");
  }
  start(1, false, MIB);
  xp_recording_free(stop());
}

static void a_session_without_events_has_no_threads(void **state)
{
  (void)state;
  start(1, false, MIB);
  xp_recording *recording = stop();
  assert_int_equal(recording->thread_count, 0);
  xp_recording_free(recording);
}

static void what_is_open_at_the_stop_is_unfinished(void **state)
{
  (void)state;
  start(1, false, MIB);
  xp_trace outer = xp_step_begin("outer", 3);
  xp_trace inner = xp_trace_begin("inner");
  xp_region region = xp_region_begin(1, "region");
  XP_TRACE("done") {
  }
  sleep_ms(5);
  xp_recording *recording = stop();
  xp_region_end(region);
  end(inner);
  end(outer);
  events list = events_of(recording, 0);
  assert_names(&list, "outer,inner,region,done");
  const bool unfinished[] = {true, true, true, false};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(list.all[i].unfinished, unfinished[i]);
  }
  assert_int_equal(end_of(&list.all[0]), end_of(&list.all[2]));
  assert_true(list.all[0].dur_ps >= 5000000000);
  int64_t length_ps = (recording->stop_unix_ns - recording->start_unix_ns) * 1000;
  assert_true(end_of(&list.all[0]) >= length_ps - 1000000 && end_of(&list.all[0]) <= length_ps + 1000000);
  events_free(&list);
  xp_recording_free(recording);
}

static void what_was_open_before_begins_with_the_session(void **state)
{
  (void)state;
  xp_trace outer = xp_step_begin("outer", 17);
  xp_trace inner = xp_trace_begin_copy("inner", 5, NULL, 0);
  sleep_ms(2);
  start(1, false, MIB);
  sleep_ms(1);
  XP_TRACE("within") {
  }
  end(inner);
  sleep_ms(1);
  end(outer);
  XP_TRACE("after") {
  }
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "outer,inner,within,after");
  assert_int_equal(list.all[0].start_ps, 0);
  assert_int_equal(list.all[1].start_ps, 0);
  assert_inside(&list.all[0], &list.all[1]);
  assert_inside(&list.all[1], &list.all[2]);
  assert_true(list.all[0].dur_ps - list.all[1].dur_ps >= 1000000000);
  assert_true(end_of(&list.all[0]) <= list.all[3].start_ps);
  assert_false(list.all[0].unfinished);
  assert_int_equal(list.all[0].arg_count, 2);
  assert_int_equal(list.all[0].args[1].value.i, 17);
  events_free(&list);
  xp_recording_free(recording);
}

typedef struct {
  sem_t ready, done;
  int64_t tid;
} waiter;

static void *wait_in_a_trace(void *context)
{
  waiter *w = context;
  w->tid = syscall(SYS_gettid);
  prctl(PR_SET_NAME, "quiet one");
  XP_STEP("waiting", 5) {
    xp_trace trace = xp_trace_begin_copy("for the end", 7, NULL, 0);
    sem_post(&w->ready);
    sem_wait(&w->done);
    end(trace);
  }
  return NULL;
}

static void a_thread_that_only_waits_has_its_open_traces(void **state)
{
  (void)state;
  waiter w;
  sem_init(&w.ready, 0, 0);
  sem_init(&w.done, 0, 0);
  pthread_t id = begin_thread(wait_in_a_trace, &w);
  sem_wait(&w.ready);
  start(1, false, MIB);
  XP_TRACE("main") {
  }
  sleep_ms(3);
  xp_recording *recording = stop();
  sem_post(&w.done);
  end_thread(id);
  assert_int_equal(recording->thread_count, 2);
  assert_int_equal(recording->threads[1].tid, w.tid);
  assert_string_equal(recording->threads[1].name, "quiet one");
  events list = events_of(recording, 1);
  assert_names(&list, "waiting,for the");
  for (int i = 0; i < 2; i++) {
    assert_int_equal(list.all[i].start_ps, 0);
    assert_true(list.all[i].dur_ps >= 3000000000);
    assert_true(list.all[i].unfinished);
  }
  assert_int_equal(list.all[0].args[1].value.i, 5);
  events_free(&list);
  xp_recording_free(recording);
}

static xp_status wait_in_barrier(void *context, xp_error *err)
{
  (void)err;
  waiter *w = context;
  sem_post(&w->ready);
  sem_wait(&w->done);
  return XP_OK;
}

static void *end_a_step(void *context)
{
  (void)context;
  XP_STEP("in its barrier", 1) {
  }
  return NULL;
}

static void a_step_in_its_barrier_is_open(void **state)
{
  (void)state;
  waiter w;
  sem_init(&w.ready, 0, 0);
  sem_init(&w.done, 0, 0);
  xp_set_step_barrier(&(xp_step_barrier){wait_in_barrier, &w});
  pthread_t id = begin_thread(end_a_step, NULL);
  sem_wait(&w.ready);
  start(1, false, MIB);
  sleep_ms(2);
  sem_post(&w.done);
  end_thread(id);
  xp_recording *recording = stop();
  xp_set_step_barrier(NULL);
  assert_int_equal(recording->thread_count, 1);
  events list = events_of(recording, 0);
  assert_names(&list, "in its barrier");
  assert_int_equal(list.all[0].start_ps, 0);
  assert_true(list.all[0].dur_ps >= 2000000000);
  assert_false(list.all[0].unfinished);
  events_free(&list);
  xp_recording_free(recording);
}

static void a_trace_of_one_session_may_end_in_the_next(void **state)
{
  (void)state;
  start(1, false, MIB);
  xp_trace trace = xp_trace_begin("long");
  xp_region region = xp_region_begin(1, "region");
  xp_recording *first = stop();
  start(1, false, MIB);
  xp_trace_add(trace, XP_INT("second", 2));
  xp_region_end(region); /* is of the first */
  end(trace);
  xp_recording *second = stop();
  events list = events_of(first, 0);
  assert_names(&list, "long,region");
  assert_true(list.all[0].unfinished);
  assert_true(list.all[1].unfinished);
  assert_int_equal(list.all[0].arg_count, 0);
  events_free(&list);
  list = events_of(second, 0);
  assert_names(&list, "long");
  assert_int_equal(list.all[0].start_ps, 0);
  assert_false(list.all[0].unfinished);
  assert_int_equal(list.all[0].args[0].value.i, 2);
  events_free(&list);
  xp_recording_free(first);
  xp_recording_free(second);
}

static void ends_after_the_memory_is_gone_touch_nothing(void **state)
{
  (void)state;
  start(1, false, MIB);
  xp_trace trace = xp_trace_begin("t");
  xp_region region = xp_region_begin(1, "r");
  xp_recording_free(stop());
  xp_region_end(region);
  start(1, false, MIB); /* at other addresses, perhaps, or at the same */
  xp_region_end(region);
  XP_TRACE("new") {
  }
  xp_region_end(region);
  end(trace);
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "t,new");
  events_free(&list);
  xp_recording_free(recording);
}

static void *end_region(void *context)
{
  XP_TRACE("other") {
    xp_region_end(*(xp_region *)context);
  }
  return NULL;
}

static void a_region_of_another_thread_is_not_ended(void **state)
{
  (void)state;
  start(1, false, MIB);
  xp_region region = xp_region_begin(1, "of main");
  run_in_thread(end_region, &region);
  xp_recording *recording = stop();
  events list = events_of(recording, 0);
  assert_names(&list, "of main");
  assert_true(list.all[0].unfinished);
  events_free(&list);
  xp_recording_free(recording);
}

static void recordings_can_be_kept_side_by_side(void **state)
{
  (void)state;
  xp_recording *recordings[3];
  const char *names[] = {"one", "two", "three"};
  for (int i = 0; i < 3; i++) {
    start(1, false, MIB);
    XP_TRACE(names[i]) {
    }
    recordings[i] = stop();
  }
  for (int i = 0; i < 3; i++) {
    events list = events_of(recordings[i], 0);
    assert_names(&list, names[i]);
    events_free(&list);
    xp_recording_free(recordings[i]);
  }
  xp_recording_free(NULL);
}

static void nothing_is_recorded_without_a_session(void **state)
{
  (void)state;
  XP_TRACE("t", XP_INT("k", 1)) {
  }
  XP_REGION("r") {
  }
  xp_instant(1, "i", NULL, 0);
  xp_record(1, "p", 1, 2, NULL, 0);
  xp_region region = xp_region_begin(1, "r");
  assert_null(region.slot);
  start(1, false, MIB);
  xp_region_end(region);
  xp_recording *recording = stop();
  assert_int_equal(recording->thread_count, 0);
  xp_recording_free(recording);
}

static void arguments_of_blocks_are_evaluated_while_a_session_records(void **state)
{
  (void)state;
  int calls = 0;
  XP_TRACE("t", XP_INT("calls", ++calls)) {
  }
  XP_REGION("r", XP_INT("calls", ++calls)) {
  }
  assert_int_equal(calls, 0);
  start(1, false, MIB);
  XP_TRACE("t", XP_INT("calls", ++calls)) {
  }
  XP_REGION("r", XP_INT("calls", ++calls)) {
  }
  xp_recording_free(stop());
  assert_int_equal(calls, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_second_start_and_a_stop_without_start_are_refused),
      cmocka_unit_test(levels_that_do_not_exist_are_refused),
      cmocka_unit_test(more_memory_than_there_can_be_is_refused),
      cmocka_unit_test(a_session_without_events_has_no_threads),
      cmocka_unit_test(what_is_open_at_the_stop_is_unfinished),
      cmocka_unit_test(what_was_open_before_begins_with_the_session),
      cmocka_unit_test(a_thread_that_only_waits_has_its_open_traces),
      cmocka_unit_test(a_step_in_its_barrier_is_open),
      cmocka_unit_test(a_trace_of_one_session_may_end_in_the_next),
      cmocka_unit_test(ends_after_the_memory_is_gone_touch_nothing),
      cmocka_unit_test(a_region_of_another_thread_is_not_ended),
      cmocka_unit_test(recordings_can_be_kept_side_by_side),
      cmocka_unit_test(nothing_is_recorded_without_a_session),
      cmocka_unit_test(arguments_of_blocks_are_evaluated_while_a_session_records),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
