/* What the annotations of all threads recorded between a start and a stop.
 *
 * A session asks for it; annotate.h feeds it.  Recording threads take no lock and allocate nothing; their buffers come
 * from one reservation of limit_bytes.  After a stop the recording does not change, and any number of threads may read
 * it.
 */
#ifndef XP_ANNOTATE_RECORDER_H
#define XP_ANNOTATE_RECORDER_H

#include "base/error.h"
#include "base/str.h"
#include "xlaprof/annotate.h"

typedef struct {
  int level;            /* 1 to 3 */
  bool keep_newest;     /* when the memory is full: recycle the oldest events of the thread, else drop the new ones */
  uint64_t limit_bytes; /* of all buffers; used in chunks of 128 KiB, at least one a thread.  0: all is dropped */
} xp_recorder_options;

/* Starts recording.  XP_ERR_BUSY if it runs already; XP_ERR_USAGE for another level; XP_ERR_MEMORY. */
xp_status xp_recorder_start(const xp_recorder_options *options, xp_error *err);

/* Of those that have events or dropped some. */
typedef struct {
  int64_t tid;             /* of the kernel */
  char name[32];           /* as the thread was called at its first event */
  uint64_t count, dropped; /* events that are here, and that found no room (or had to leave it) */
} xp_recorded_thread;

typedef struct xp_recording {
  int64_t start_unix_ns, stop_unix_ns; /* the clock of the system, read once at the start */
  xp_recorded_thread *threads;         /* in the order of their first event */
  size_t thread_count;
  uint64_t dropped; /* of all threads */
} xp_recording;

/* Stops recording and takes what was recorded; takes milliseconds whatever the number of events.  Open traces become
 * events that end now and are unfinished; those that were open before the start begin with it.  XP_ERR_IDLE if it does
 * not run; XP_ERR_MEMORY if it has been stopped and the events are lost.  Ended by xp_recording_free, which gives the
 * buffers back.  After fork a recording is empty in the child. */
xp_status xp_recorder_stop(xp_recording **recording, xp_error *err);

void xp_recording_free(xp_recording *recording);

/* An event as it was recorded.  Names and static texts keep their address from event to event of a thread; texts of two
 * addresses may be equal.  The argument args_dropped says how many found no room or had to leave it: a number, or the
 * text "31 or more". */
typedef struct {
  xp_str name;      /* good until the recording is freed */
  int64_t start_ps; /* since the recording's start, >= 0 */
  int64_t dur_ps;   /* >= 0 */
  bool unfinished;
  const xp_arg *args; /* good until the next call; XP_ARG_STR_COPY points into the buffers */
  size_t arg_count;
} xp_recorded_event;

/* Goes through the events of one thread by start, longer ones first among equal starts. */
typedef struct xp_recorded_cursor xp_recorded_cursor;

/* NULL when memory is out; ended by xp_recorded_cursor_close. */
xp_recorded_cursor *xp_recorded_cursor_open(const xp_recording *recording, size_t thread);

/* Back to the first event. */
void xp_recorded_cursor_rewind(xp_recorded_cursor *cursor);

/* The next event; false at the end. */
bool xp_recorded_cursor_next(xp_recorded_cursor *cursor, xp_recorded_event *event);

void xp_recorded_cursor_close(xp_recorded_cursor *cursor);

/* Nanoseconds since 1970 for a time since the recording's start. */
static inline int64_t xp_recording_unix_ns(const xp_recording *recording, int64_t ps)
{
  return recording->start_unix_ns + ps / 1000;
}

#endif
