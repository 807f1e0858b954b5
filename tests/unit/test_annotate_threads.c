/* Many threads: their names and ends, sessions that come and go while they record, and fork. */
#include "recorded.h"

#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  const char *name;
  int64_t tid;
} named;

static void *record_under_a_name(void *context)
{
  named *n = context;
  n->tid = syscall(SYS_gettid);
  prctl(PR_SET_NAME, n->name);
  XP_TRACE(n->name) {
  }
  prctl(PR_SET_NAME, "later");
  return NULL;
}

static void threads_have_id_and_name_in_the_order_of_their_first_event(void **state)
{
  (void)state;
  named threads[3] = {{"loader", 0}, {"writer", 0}, {"reader", 0}};
  start(1, false, MIB);
  for (int i = 0; i < 3; i++) {
    run_in_thread(record_under_a_name, &threads[i]);
  }
  xp_recording *recording = stop();
  assert_int_equal(recording->thread_count, 3);
  for (size_t i = 0; i < 3; i++) {
    assert_string_equal(recording->threads[i].name, threads[i].name);
    assert_int_equal(recording->threads[i].tid, threads[i].tid);
    events list = events_of(recording, i);
    assert_names(&list, threads[i].name);
    events_free(&list);
  }
  xp_recording_free(recording);
}

static void *leave_open(void *context)
{
  (void)context;
  xp_trace_begin("left");
  xp_region_begin(1, "region");
  return NULL;
}

static void what_a_thread_left_open_ends_with_it(void **state)
{
  (void)state;
  start(1, false, MIB);
  run_in_thread(leave_open, NULL);
  uint64_t ended = xp_clock_ticks();
  sleep_ms(5);
  xp_record(1, "rest", ended, xp_clock_ticks(), NULL, 0);
  xp_recording *recording = stop();
  events list = events_of(recording, 0), rest = events_of(recording, 1);
  assert_names(&list, "left,region");
  assert_true(list.all[0].unfinished);
  assert_true(end_of(&list.all[0]) <= rest.all[0].start_ps);
  assert_int_equal(end_of(&list.all[0]), end_of(&list.all[1]));
  events_free(&list);
  events_free(&rest);
  xp_recording_free(recording);
}

/* ---------------------------------------------------------------- sessions that come and go */

enum { CYCLES = 100, THREADS = 4 };

static atomic_bool must_end;

static void *record_on_and_on(void *context)
{
  (void)context;
  char name[] = "copied";
  for (int i = 0; !atomic_load(&must_end); i++) {
    XP_STEP("step", i) {
      XP_TRACE("trace", XP_INT("i", i)) {
        XP_REGION("region") {
          xp_instant(1, "instant", NULL, 0);
        }
      }
      xp_trace trace = xp_trace_begin_copy(name, 6, NULL, 0);
      xp_trace_add(trace, XP_DOUBLE("d", 1.5));
      xp_trace_end(trace, NULL);
    }
  }
  return NULL;
}

/* Every event must be one that can be, lie in the recording, and nest. */
static void check_events(const xp_recording *recording)
{
  int64_t length_ps = (recording->stop_unix_ns - recording->start_unix_ns) * 1000 + 1000;
  for (size_t t = 0; t < recording->thread_count; t++) {
    xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, t);
    assert_non_null(cursor);
    uint64_t count = 0;
    int64_t last = 0, last_end = INT64_MAX;
    for (xp_recorded_event event; xp_recorded_cursor_next(cursor, &event); count++) {
      assert_true(event.start_ps > last || (event.start_ps == last && end_of(&event) <= last_end));
      assert_true(event.dur_ps >= 0 && end_of(&event) <= length_ps);
      assert_true(xp_str_is(event.name, "step") ? event.arg_count == 2 : event.arg_count <= 1);
      last = event.start_ps;
      last_end = end_of(&event);
    }
    assert_int_equal(count, recording->threads[t].count);
    xp_recorded_cursor_close(cursor);
  }
}

static void sessions_come_and_go_while_threads_record(void **state)
{
  (void)state;
  pthread_t ids[THREADS];
  atomic_store(&must_end, false);
  for (int i = 0; i < THREADS; i++) {
    ids[i] = begin_thread(record_on_and_on, NULL);
  }
  uint64_t total = 0;
  for (int i = 0; i < CYCLES; i++) {
    start(1 + i % 3, i % 2, (uint64_t)(1 + i % 9) * CHUNK);
    usleep(1000);
    xp_recording *recording = stop();
    check_events(recording);
    for (size_t t = 0; t < recording->thread_count; t++) {
      total += recording->threads[t].count;
    }
    xp_recording_free(recording);
  }
  atomic_store(&must_end, true);
  for (int i = 0; i < THREADS; i++) {
    end_thread(ids[i]);
  }
  assert_true(total > CYCLES);
}

static void *record_a_little(void *context)
{
  XP_TRACE("short") {
    xp_instant(1, "i", NULL, 0);
  }
  return context;
}

static void *start_threads_on_and_on(void *context)
{
  uint64_t *started = context;
  while (!atomic_load(&must_end)) {
    run_in_thread(record_a_little, NULL);
    ++*started;
  }
  return NULL;
}

static void threads_come_and_go_while_sessions_do(void **state)
{
  (void)state;
  uint64_t started = 0;
  atomic_store(&must_end, false);
  pthread_t id = begin_thread(start_threads_on_and_on, &started);
  for (int i = 0; i < 20; i++) {
    start(1, false, (uint64_t)64 * CHUNK);
    usleep(2000);
    xp_recording *recording = stop();
    check_events(recording);
    xp_recording_free(recording);
  }
  atomic_store(&must_end, true);
  end_thread(id);
  assert_true(started > 0);
}

/* ---------------------------------------------------------------- fork */

static int thread_count(void)
{
  FILE *file = fopen("/proc/self/status", "r");
  char line[128];
  int count = -1;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    sscanf(line, "Threads: %d", &count);
  }
  if (file != NULL) {
    fclose(file);
  }
  return count;
}

/* What a child must find; 0 if all is so. */
static int look_as_child(xp_trace trace)
{
  char scope[32];
  xp_recording *recording;
  xp_scope_current(scope, sizeof scope);
  if (strcmp(scope, "parent.1/inner.1") != 0 || xp_is_recording(1) || thread_count() != 1) {
    return 1;
  }
  if (xp_recorder_stop(&recording, NULL) != XP_ERR_IDLE || xp_trace_end(trace, NULL) != XP_OK) {
    return 2;
  }
  const xp_recorder_options options = {1, false, MIB};
  if (xp_recorder_start(&options, NULL) != XP_OK) {
    return 3;
  }
  XP_TRACE("child") {
  }
  if (xp_recorder_stop(&recording, NULL) != XP_OK || recording->thread_count != 1) {
    return 4;
  }
  if (recording->threads[0].count != 2 || recording->threads[0].tid != syscall(SYS_gettid)) {
    return 5; /* "parent" is open, "child" is done */
  }
  xp_recording_free(recording);
  return 0;
}

static void *fork_in_traces(void *context)
{
  int *status = context;
  XP_TRACE("parent") {
    xp_trace inner = xp_trace_begin("inner");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
      _exit(look_as_child(inner));
    }
    waitpid(child, status, 0);
    xp_trace_end(inner, NULL);
  }
  return NULL;
}

static void a_child_has_no_session_but_its_open_traces(void **state)
{
  (void)state;
  skip_if_emulated("cannot start threads in a child of a program that has some");
  pthread_t id;
  int status = -1;
  atomic_store(&must_end, false);
  id = begin_thread(record_on_and_on, NULL);
  start(1, true, (uint64_t)64 * MIB); /* enough for the thread that forks to record */
  run_in_thread(fork_in_traces, &status);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_true(xp_is_recording(1));
  atomic_store(&must_end, true);
  end_thread(id);
  xp_recording *recording = stop();
  check_events(recording);
  xp_recording_free(recording);
}

static void a_recording_of_the_parent_is_empty_in_the_child(void **state)
{
  (void)state;
  skip_if_emulated("keeps memory in a child that is to be empty there (MADV_WIPEONFORK)");
  start(1, false, MIB);
  XP_TRACE("t") {
  }
  xp_recording *recording = stop();
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    xp_recorded_event event;
    xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, 0);
    int status = cursor == NULL || xp_recorded_cursor_next(cursor, &event);
    xp_recorded_cursor_close(cursor);
    xp_recording_free(recording);
    _exit(status);
  }
  int status = -1;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  events list = events_of(recording, 0);
  assert_names(&list, "t");
  events_free(&list);
  xp_recording_free(recording);
}

static void no_thread_is_left_after_a_stop(void **state)
{
  (void)state;
  int before = thread_count();
  start(1, false, (uint64_t)512 * MIB);
  XP_TRACE("t") {
  }
  xp_recording *recording = stop();
  int after = thread_count();
  for (int tries = 0; after != before && tries < 100; tries++) { /* the kernel may still count one that was joined */
    sleep_ms(1);
    after = thread_count();
  }
  assert_int_equal(after, before);
  xp_recording_free(recording);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_have_id_and_name_in_the_order_of_their_first_event),
      cmocka_unit_test(what_a_thread_left_open_ends_with_it),
      cmocka_unit_test(sessions_come_and_go_while_threads_record),
      cmocka_unit_test(threads_come_and_go_while_sessions_do),
      cmocka_unit_test(a_child_has_no_session_but_its_open_traces),
      cmocka_unit_test(a_recording_of_the_parent_is_empty_in_the_child),
      cmocka_unit_test(no_thread_is_left_after_a_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
