/* The events that annotations recorded, as XEvent messages.
 *
 * A line is measured once, which also gives every name its id; then it can be written any number of times, event by
 * event, without its bytes ever standing in memory.  Times are those of the session, which starts before the recording;
 * what was open when the recording began is written from the session's start.
 */
#ifndef XP_SESSION_HOST_EVENTS_H
#define XP_SESSION_HOST_EVENTS_H

#include "annotate/recorder.h"
#include "base/map.h"
#include "session/rope.h"
#include "xspace/write.h"

/* Ids of what was recorded, in one plane. */
typedef struct {
  const xp_recording *recording;
  xp_plane_writer *tables; /* needed while lines are measured */
  xp_arena *arena;
  xp_map event_ids, stat_ids; /* by the address of the text */
  int64_t unfinished_id;      /* 0: no event was unfinished so far */
  int64_t base_ps;            /* from the session's start to the recording's */
  bool failed;
} xp_host_names;

void xp_host_names_init(xp_host_names *names, const xp_recording *recording, int64_t base_ps, xp_plane_writer *tables,
                        xp_arena *arena);

/* One thread's events. */
typedef struct {
  xp_host_names *names;
  size_t thread;
  uint64_t bytes; /* of all records (field 4 of an XLine) */
} xp_host_line;

/* Measures a thread's events and gives their names ids.  False when memory is out. */
bool xp_host_line_measure(xp_host_names *names, size_t thread, xp_host_line *line);

/* Appends the records to an XLine; line must live as long as the rope.  Nothing of tables is needed any more. */
void xp_host_line_append(const xp_host_line *line, xp_rope *rope);

/* Calls visit with every event: start (of the session's time), duration, and the XEvent without offset, metadata id
 * first. */
bool xp_host_line_each(xp_host_line *line,
                       void (*visit)(void *context, int64_t start_ps, int64_t dur_ps, xp_str message), void *context);

#endif
