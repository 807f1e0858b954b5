/* From left to right through a row: groups where they are narrow, single items elsewhere.
 *
 * A group belongs to the cell of its start and is taken whole if it is narrower than half a pixel.  So a merged block
 * reaches at most half a pixel into the next cell, and no group has to be taken apart for that half. */
#include <math.h>

#include "web/lod.h"

typedef struct {
  const xp_track *track;
  const xp_row *row;
  double pixel_ps;
  void (*emit)(void *context, const xp_lod_block *block);
  void *context;
  xp_lod_group merged; /* what is being merged: items first .. last of the row; count 0: nothing */
  uint32_t first, last, count;
  double cell_end_ps;
} walk;

static void emit_group(const walk *w, const xp_lod_group *group, uint32_t first, uint32_t last)
{
  const xp_lod_block block = {.start_ps = group->start_ps,
                              .end_ps = group->end_ps,
                              .total_ps = group->total_ps,
                              .count = last - first + 1,
                              .item = group->longest,
                              .first = first,
                              .last = last};
  w->emit(w->context, &block);
}

static void flush_block(walk *w)
{
  if (w->count > 0) {
    emit_group(w, &w->merged, w->first, w->last);
  }
  w->count = 0;
}

/* Adds items of the row to the block of the cell in which they start. */
static void merge(walk *w, const xp_lod_group *group, uint32_t first, uint32_t count)
{
  if (w->count > 0 && (double)group->start_ps >= w->cell_end_ps) {
    flush_block(w);
  }
  if (w->count == 0) {
    w->cell_end_ps = (floor((double)group->start_ps / w->pixel_ps) + 1) * w->pixel_ps;
    w->merged = *group;
    w->first = first;
  } else {
    xp_lod_join(&w->merged, group);
  }
  w->last = first + count - 1;
  w->count += count;
}

static uint32_t size_of(int level)
{
  return (uint32_t)XP_LOD_FIRST << (2 * level);
}

/* The highest level whose group begins at i and is narrow; -1 if none. */
static int largest_group(const walk *w, uint32_t i)
{
  int level = -1;
  for (int next = 0; next < w->row->level_count && i % size_of(next) == 0; next++) {
    const xp_lod_group *group = &w->row->levels[next][i / size_of(next)];
    if ((double)xp_sub_saturating(group->end_ps, group->start_ps) * 2 >= w->pixel_ps) {
      break;
    }
    level = next;
  }
  return level;
}

/* Takes what begins at i and returns where the next begins; the end of the row if that is at or after to_ps. */
static uint32_t take(walk *w, uint32_t i, int64_t to_ps)
{
  int level = i % XP_LOD_FIRST == 0 ? largest_group(w, i) : -1;
  uint32_t size = level < 0 ? 1 : size_of(level), left = w->row->count - i;
  const xp_lod_group group =
      level < 0 ? xp_lod_single(w->track, xp_row_item(w->row, i)) : w->row->levels[level][i / size];
  size = size < left ? size : left;
  if (group.start_ps >= to_ps) {
    return w->row->count;
  }
  if (level >= 0 || (double)group.total_ps < w->pixel_ps) {
    merge(w, &group, i, size);
  } else {
    flush_block(w);
    emit_group(w, &group, i, i);
  }
  return i + size;
}

/* The first of a row that ends after a time.  Items of a row do not overlap (but in the last row), so ends rise. */
static uint32_t first_after(const walk *w, int64_t time_ps)
{
  uint32_t low = 0, high = w->row->count;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (xp_item_times(w->track, xp_row_item(w->row, mid)).end_ps <= time_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

void xp_lod_walk(const xp_track *track, uint32_t row, int64_t from_ps, int64_t to_ps, double pixel_ps,
                 void (*emit)(void *context, const xp_lod_block *block), void *context)
{
  walk w = {.track = track, .row = &track->rows[row], .pixel_ps = pixel_ps, .emit = emit, .context = context};
  for (uint32_t i = first_after(&w, from_ps); i < w.row->count;) {
    i = take(&w, i, to_ps);
  }
  flush_block(&w);
}
