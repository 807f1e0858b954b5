/* Recordings whose events are given by the test: what takes the place of src/annotate.  Include it once. */
#ifndef XP_TESTS_FAKE_RECORDER_H
#define XP_TESTS_FAKE_RECORDER_H

#include "annotate/recorder.h"
#include "ropes.h"

enum { FAKE_THREADS = 8 };

typedef struct {
  xp_recording head; /* first */
  xp_recorded_thread threads[FAKE_THREADS];
  const xp_recorded_event *events[FAKE_THREADS];
} fake_recording;

static inline void fake_thread(fake_recording *r, int64_t tid, const char *name, const xp_recorded_event *events,
                               size_t count)
{
  size_t i = r->head.thread_count++;
  assert_true(i < FAKE_THREADS);
  r->head.threads = r->threads;
  r->threads[i] = (xp_recorded_thread){.tid = tid, .count = count};
  snprintf(r->threads[i].name, sizeof r->threads[i].name, "%s", name);
  r->events[i] = events;
}

struct xp_recorded_cursor {
  const fake_recording *recording;
  size_t thread, next;
};

static int fake_cursors; /* open ones */

xp_recorded_cursor *xp_recorded_cursor_open(const xp_recording *recording, size_t thread)
{
  xp_recorded_cursor *cursor = calloc(1, sizeof *cursor);
  if (cursor != NULL) {
    __atomic_add_fetch(&fake_cursors, 1, __ATOMIC_RELAXED);
    cursor->recording = (const fake_recording *)recording;
    cursor->thread = thread;
  }
  return cursor;
}

void xp_recorded_cursor_rewind(xp_recorded_cursor *cursor)
{
  cursor->next = 0;
}

bool xp_recorded_cursor_next(xp_recorded_cursor *cursor, xp_recorded_event *event)
{
  if (cursor->next == cursor->recording->threads[cursor->thread].count) {
    return false;
  }
  *event = cursor->recording->events[cursor->thread][cursor->next++];
  return true;
}

/* The test's own. */
void xp_recording_free(xp_recording *recording)
{
  (void)recording;
}

void xp_recorded_cursor_close(xp_recorded_cursor *cursor)
{
  if (cursor != NULL) {
    __atomic_sub_fetch(&fake_cursors, 1, __ATOMIC_RELAXED);
    free(cursor);
  }
}

#endif
