/* Several planes of one name made into one, as for /host:CPU: what plugins collected on the host's threads joins what
 * this process recorded.
 *
 * Lines of one id (one thread) become one line.  Metadata ids are numbers of a plane, so every event and stat gets
 * those of the new plane; metadata of equal names become one. Upstream: xla/tsl/profiler/utils/xplane_utils.cc
 * (MergePlanes).
 */
#ifndef XP_SESSION_PLANE_MERGE_H
#define XP_SESSION_PLANE_MERGE_H

#include "session/merged_lines.h"
#include "session/plane_copy.h"
#include "xspace/write.h"

/* A stat of the new plane: its metadata id there, and the record (field 6 of an XPlane). */
typedef struct {
  int64_t id;
  xp_str record;
} xp_merged_stat;

typedef struct {
  xp_arena *arena;         /* without escape */
  xp_plane_writer *tables; /* gives ids, gets metadata and stats of the plane; borrowed */
  xp_plane_frame frame;
  xp_merged_lines lines; /* of the same arena */
  xp_merged_stat *stats; /* each id once */
  size_t stat_count, stat_capacity;
  bool failed; /* memory ran out */
} xp_plane_merge;

/* Adds an XPlane message.  False if it is damaged: what came before the damage is there.  Copies what it keeps. */
bool xp_plane_merge_add(xp_plane_merge *merge, xp_str plane);

/* Gives the tables the stats of the planes (of equal names that of the last plane), and process_id if no plane had it.
 * Once, after the last plane. */
void xp_plane_merge_stats(xp_plane_merge *merge);

#endif
