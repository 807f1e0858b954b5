/* Several planes of one name made into one, as for /host:CPU: what plugins collected on the host's threads joins what
 * this process recorded.
 *
 * Lines of one id (one thread) become one line.  Metadata ids are numbers of a plane, so every event and stat gets
 * those of the new plane; metadata of equal names become one. Upstream: xla/tsl/profiler/utils/xplane_utils.cc
 * (MergePlanes).
 */
#ifndef XP_SESSION_PLANE_MERGE_H
#define XP_SESSION_PLANE_MERGE_H

#include "session/event_rows.h"
#include "session/plane_copy.h"
#include "xspace/write.h"

typedef struct {
  int64_t id, display_id, dur_ps;
  xp_str name, display_name;
  int64_t base_ns;      /* relative to the session's start */
  xp_event_rows events; /* offsets from the session's start; messages begin with the metadata id and lack the offset */
} xp_merged_line;

/* A stat of the new plane: its metadata id there, and the record (field 6 of an XPlane). */
typedef struct {
  int64_t id;
  xp_str record;
} xp_merged_stat;

typedef struct {
  xp_arena *arena;         /* without escape */
  xp_plane_writer *tables; /* gives ids, gets metadata and stats of the plane; borrowed */
  xp_plane_frame frame;
  xp_merged_line *lines;
  size_t line_count, line_capacity;
  xp_merged_stat *stats; /* each id once */
  size_t stat_count, stat_capacity;
  bool failed; /* memory ran out */
} xp_plane_merge;

/* Adds an XPlane message.  False if it is damaged: what came before the damage is there.  Copies what it keeps. */
bool xp_plane_merge_add(xp_plane_merge *merge, xp_str plane);

/* The line of an id, new if it was not there (name empty, base_ns INT64_MAX); NULL when memory is out. */
xp_merged_line *xp_plane_merge_line(xp_plane_merge *merge, int64_t id);

/* Adds an event: its XEvent message (copied) without offset, metadata id first. */
void xp_plane_merge_event(xp_plane_merge *merge, xp_merged_line *line, int64_t offset_ps, int64_t dur_ps,
                          xp_str message);

/* Gives the tables the stats of the planes (of equal names that of the last plane), and process_id if no plane had it.
 * Once, after the last plane. */
void xp_plane_merge_stats(xp_plane_merge *merge);

/* Writes a line as field 3 of an XPlane, its events in order. */
void xp_merged_line_write(xp_plane_merge *merge, xp_merged_line *line, xp_rope *plane);

#endif
