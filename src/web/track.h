/* The bands of the timeline: threads, lines of devices, and what the reading found (gaps, steps, runs, work of XLA
 * CPU).
 *
 * A track has items, numbered in order of start, and every item has a row within the track: nesting for events, and for
 * items that overlap without nesting the first row that is free.  Nothing of an event is copied: an item is looked up
 * in the capture or in the reading.  Tracks belong to one arena and do not change after xp_tracks_build.
 */
#ifndef XP_WEB_TRACK_H
#define XP_WEB_TRACK_H

#include "analyze/internal.h"
#include "base/sum.h"

enum { XP_MOST_ROWS = 64, XP_NO_ROW = 255 };

typedef enum {
  XP_TRACK_GAPS,
  XP_TRACK_WORK,     /* of XLA CPU, which has no line of its own */
  XP_TRACK_PROGRAMS, /* runs, where the device has no line of them */
  XP_TRACK_LINE,     /* a line of a device */
  XP_TRACK_STEPS,
  XP_TRACK_THREAD
} xp_track_kind;

/* Items that follow each other in one row of a track, and their sums; see lod.h. */
typedef struct xp_row xp_row;

typedef struct {
  xp_track_kind kind;
  xp_str name;
  uint32_t host, device; /* device: index into the reading's, or XP_NONE */
  uint32_t thread;       /* THREAD: index into the analysis', or XP_NONE */
  const xp_line *line;   /* LINE and THREAD */
  const xp_device_data *data;
  const xp_gap *gaps;          /* GAPS: the first */
  const xp_step *const *steps; /* STEPS */
  const xp_lane *lane;         /* LINE: what the reading made of its events; NULL */
  int64_t shift_ps;            /* added to the times of a line */
  uint32_t count;              /* items */
  uint32_t timed;              /* those with a row */
  int64_t first_ps, last_ps;   /* of the timed ones */
  uint8_t *row_of;             /* of every item; XP_NO_ROW: it has no time.  NULL: all are in row 0 */
  xp_row *rows;
  uint32_t row_count;
} xp_track;

typedef enum { XP_GROUP_DEVICE, XP_GROUP_STEPS, XP_GROUP_THREADS, XP_GROUP_REST } xp_group_kind;

/* Tracks that are shown together: tracks[first] .. tracks[first + count - 1]. */
typedef struct {
  xp_group_kind kind;
  xp_str name;
  uint32_t host, device;
  uint32_t first, count;
} xp_track_group;

typedef struct {
  xp_arena *arena;
  xp_reading *reading;
  xp_analysis *an;
  xp_track *tracks;
  uint32_t count;
  xp_track_group *groups;
  uint32_t group_count;
  xp_map track_of_line; /* address of an xp_line -> track */
  uint32_t *gap_track;  /* by device of the reading */
  uint32_t *step_track; /* by host; XP_NONE */
} xp_tracks;

typedef struct {
  int64_t start_ps, end_ps;
} xp_times;

/* Lists the tracks of a reading, without rows.  Memory comes from the arena, with its escape. */
void xp_tracks_list(xp_tracks *tracks, xp_reading *reading, xp_arena *arena);

/* Start and end of an item of a track without a line. */
xp_times xp_item_times_read(const xp_track *track, uint32_t item);

/* Start and end of an item. */
static inline xp_times xp_item_times(const xp_track *track, uint32_t item)
{
  if (track->line == NULL) {
    return xp_item_times_read(track, item);
  }
  return (xp_times){xp_add_saturating(track->line->start_ps[item], track->shift_ps),
                    xp_add_saturating(xp_event_end(track->line, item), track->shift_ps)};
}

/* False for an event whose time was never recorded or lies far outside of the session. */
static inline bool xp_item_has_time(const xp_track *track, uint32_t item)
{
  return track->line == NULL || xp_event_has_time(track->line, item);
}

static inline uint32_t xp_item_row(const xp_track *track, uint32_t item)
{
  return track->row_of ? track->row_of[item] : 0;
}

/* The track of a line and the item that an event is; XP_NONE if the line is in no track. */
uint32_t xp_tracks_of_line(const xp_tracks *tracks, const xp_line *line);

/* The first item that starts at or after a time; count if there is none. */
uint32_t xp_track_first_from(const xp_track *track, int64_t time_ps);

const char *xp_track_kind_name(xp_track_kind kind);
const char *xp_group_kind_name(xp_group_kind kind);

#endif
