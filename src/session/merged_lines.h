/* The lines of a plane that is put together from several: one line of an id, with events from everywhere. */
#ifndef XP_SESSION_MERGED_LINES_H
#define XP_SESSION_MERGED_LINES_H

#include "session/event_rows.h"
#include "session/rope.h"

typedef struct {
  int64_t id, display_id, dur_ps;
  int64_t source_id; /* in the plane that it comes from; id, unless that was taken */
  xp_str name, display_name;
  int64_t base_ns;      /* relative to the session's start */
  xp_event_rows events; /* offsets from the session's start; messages begin with the metadata id and lack the offset */
} xp_merged_line;

typedef struct {
  xp_arena *arena; /* without escape */
  xp_merged_line *lines;
  size_t count, capacity;
  size_t first_joinable; /* lines before it are joined no more */
  const int64_t *taken;  /* ids of lines that stand elsewhere in the plane; borrowed */
  size_t taken_count;
  bool failed; /* memory ran out */
} xp_merged_lines;

/* The line of an id, new if it was not there (name empty, base_ns INT64_MAX); NULL when memory is out. */
xp_merged_line *xp_merged_lines_get(xp_merged_lines *lines, int64_t id);

/* Lines that come from now on join none of those that are here, nor of `taken`: where the id is the same they get
 * another one, 2^32 or more. */
void xp_merged_lines_keep_apart(xp_merged_lines *lines, const int64_t *taken, size_t taken_count);

/* Adds an event: its XEvent message (copied) without offset, metadata id first. */
void xp_merged_lines_add(xp_merged_lines *lines, xp_merged_line *line, int64_t offset_ps, int64_t dur_ps,
                         xp_str message);

/* Writes a line as field 3 of an XPlane, its events in order. */
void xp_merged_line_write(xp_merged_lines *lines, xp_merged_line *line, xp_rope *plane);

#endif
