/* The level-of-detail index: the rows of every track, and sums of ever larger groups of items.
 *
 * A row holds items that follow each other.  Sixteen of them are a group of level 0, four groups one of the next level,
 * and so on; a group knows where it starts and ends, how long its items are in sum, and which is the longest.  A window
 * is then answered by a walk over the row that takes the largest group that lies within one pixel, and single items
 * where a group does not: its cost follows the pixels and not the events.
 */
#ifndef XP_WEB_LOD_H
#define XP_WEB_LOD_H

#include "web/track.h"

enum { XP_LOD_LEVELS = 14, XP_LOD_FIRST = 16, XP_LOD_FACTOR = 4 };

typedef struct {
  int64_t start_ps, end_ps, total_ps;
  uint32_t longest; /* item of the track */
  float longest_ps; /* its length, exact enough to compare with */
} xp_lod_group;

/* Items of the track, by start: in `items`; or, where each group of level 0 spans few items of the track, as their
 * distances from the first of the group, which takes half the memory; or, without either, item i is i. */
struct xp_row {
  uint32_t count;
  uint32_t *items;
  uint32_t *bases; /* by group of level 0 */
  uint16_t *distances;
  xp_lod_group *levels[XP_LOD_LEVELS];
  int level_count;
};

static inline uint32_t xp_row_item(const xp_row *row, uint32_t i)
{
  if (row->distances) {
    return row->bases[i / XP_LOD_FIRST] + row->distances[i];
  }
  return row->items ? row->items[i] : i;
}

/* An item as a group of one. */
static inline xp_lod_group xp_lod_single(const xp_track *track, uint32_t item)
{
  xp_times t = xp_item_times(track, item);
  int64_t length_ps = xp_sub_saturating(t.end_ps, t.start_ps);
  return (xp_lod_group){t.start_ps, t.end_ps, length_ps, item, (float)length_ps};
}

/* Adds to a group what follows it. */
static inline void xp_lod_join(xp_lod_group *group, const xp_lod_group *next)
{
  group->end_ps = next->end_ps > group->end_ps ? next->end_ps : group->end_ps;
  xp_sum_add(&group->total_ps, next->total_ps);
  if (next->longest_ps > group->longest_ps) {
    group->longest_ps = next->longest_ps;
    group->longest = next->longest;
  }
}

/* Finds the rows of all tracks and builds their groups, on all cores.  False if memory is out: workers allocate in
 * arenas of their own, which are put into arenas[0 .. XP_LOD_ARENAS-1] for the caller to destroy in any case. */
enum { XP_LOD_ARENAS = 64 };
bool xp_lod_build(xp_tracks *tracks, xp_arena *arenas[XP_LOD_ARENAS], int threads);

/* One thing to draw: a single item, or several shorter than a pixel whose starts lie in one cell. */
typedef struct {
  int64_t start_ps, end_ps, total_ps;
  uint32_t count, item; /* the longest */
  uint32_t first, last; /* places within the row */
} xp_lod_block;

/* lod_walk.c.  Calls emit(context, block) for what a row shows in [from_ps, to_ps), in order of start.  Cells are
 * multiples of pixel_ps (> 0) from the session start. */
void xp_lod_walk(const xp_track *track, uint32_t row, int64_t from_ps, int64_t to_ps, double pixel_ps,
                 void (*emit)(void *context, const xp_lod_block *block), void *context);

#endif
