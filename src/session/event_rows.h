/* Events of one line that have to be put in order: XEvent messages with their times. */
#ifndef XP_SESSION_EVENT_ROWS_H
#define XP_SESSION_EVENT_ROWS_H

#include "base/arena.h"

typedef struct {
  int64_t offset_ps, dur_ps;
  xp_str message; /* the XEvent */
} xp_event_row;

typedef struct {
  xp_event_row *rows;
  size_t count, capacity;
  bool is_sorted; /* by start, longer ones first among equal starts */
} xp_event_rows;

/* The times of an XEvent; false if it is damaged.  Events without an offset (counters) begin at 0. */
bool xp_event_row_read(xp_str message, xp_event_row *row);

/* True if a may stand before b. */
static inline bool xp_event_rows_in_order(const xp_event_row *a, const xp_event_row *b)
{
  return a->offset_ps < b->offset_ps || (a->offset_ps == b->offset_ps && a->dur_ps >= b->dur_ps);
}

/* Appends; false when memory is out. */
bool xp_event_rows_add(xp_event_rows *rows, xp_arena *arena, xp_event_row row);

/* Sorts stably; arena for the time of the call. */
bool xp_event_rows_sort(xp_event_rows *rows, xp_arena *arena);

#endif
