/* Starting and stopping recordings in tests, and all events of one thread at once. */
#ifndef XP_TESTS_RECORDED_H
#define XP_TESTS_RECORDED_H

#include "testing.h"

#include <pthread.h>
#include <time.h>

#include "annotate/recorder.h"

enum { MIB = 1 << 20, CHUNK = 128 << 10 };

static inline void start(int level, bool keep_newest, uint64_t limit_bytes)
{
  const xp_recorder_options options = {level, keep_newest, limit_bytes};
  xp_error err;
  if (xp_recorder_start(&options, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
}

static inline xp_recording *stop(void)
{
  xp_recording *recording;
  xp_error err;
  if (xp_recorder_stop(&recording, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return recording;
}

/* Waits for the clock to move on.  Counters of arm64 stand still for up to 50 ns; events that begin at the same tick
 * are sorted by their length, whichever began first. */
static inline void next_tick(void)
{
  const uint64_t now = xp_clock_ticks();
  while (xp_clock_ticks() == now) {
  }
}

/* The events of a thread, with copies of their arguments; freed by events_free. */
typedef struct {
  xp_recorded_event *all;
  size_t count;
} events;

static inline events events_of(const xp_recording *recording, size_t thread)
{
  assert_true(thread < recording->thread_count);
  events list = {calloc(recording->threads[thread].count + 1, sizeof *list.all), 0};
  assert_non_null(list.all);
  xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, thread);
  assert_non_null(cursor);
  for (xp_recorded_event event; xp_recorded_cursor_next(cursor, &event);) {
    assert_true(list.count < recording->threads[thread].count);
    xp_arg *args = calloc(event.arg_count + 1, sizeof *args);
    assert_non_null(args);
    memcpy(args, event.args, event.arg_count * sizeof *args);
    event.args = args;
    list.all[list.count++] = event;
  }
  /* Names of copies are good as long as the cursor is. */
  for (size_t i = 0; i < list.count; i++) {
    char *name = calloc(list.all[i].name.len + 1, 1);
    assert_non_null(name);
    memcpy(name, list.all[i].name.ptr, list.all[i].name.len);
    list.all[i].name.ptr = name;
  }
  xp_recorded_cursor_close(cursor);
  assert_int_equal(list.count, recording->threads[thread].count);
  return list;
}

static inline void events_free(events *list)
{
  for (size_t i = 0; i < list->count; i++) {
    free((void *)(uintptr_t)list->all[i].args);
    free((void *)(uintptr_t)list->all[i].name.ptr);
  }
  free(list->all);
}

/* Fails unless these are the names, in this order, with commas between. */
static inline void assert_names(const events *list, const char *want)
{
  char text[4096] = "";
  size_t len = 0;
  for (size_t i = 0; i < list->count && len < sizeof text; i++) {
    len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s", i > 0 ? "," : "", XP_STR_ARG(list->all[i].name));
  }
  assert_string_equal(text, want);
}

static inline int64_t end_of(const xp_recorded_event *event)
{
  return event->start_ps + event->dur_ps;
}

/* Fails unless b lies within a. */
static inline void assert_inside(const xp_recorded_event *a, const xp_recorded_event *b)
{
  assert_true(a->start_ps <= b->start_ps);
  assert_true(end_of(a) >= end_of(b));
}

static inline void end(xp_trace trace)
{
  xp_error err;
  if (xp_trace_end(trace, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
}

static inline pthread_t begin_thread(void *(*run)(void *), void *context)
{
  pthread_t id;
  assert_int_equal(pthread_create(&id, NULL, run, context), 0);
  return id;
}

static inline void end_thread(pthread_t id)
{
  assert_int_equal(pthread_join(id, NULL), 0);
}

static inline void run_in_thread(void *(*run)(void *), void *context)
{
  end_thread(begin_thread(run, context));
}

static inline void sleep_ms(long ms)
{
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

#endif
