/* Items get rows in one pass over a track: the stack of the items that are still open.  One that lies within all open
 * ones goes below them; one that outlives some of them goes to the first free row below those that hold it.  So nesting
 * looks like nesting, and a chain of overlapping items takes two rows instead of ever more. */
#include "web/lod.h"

#include <stdatomic.h>

#include "base/thread.h"

/* ---- rows */

typedef struct {
  int64_t ends[XP_MOST_ROWS];
  uint32_t used; /* rows above the lowest one that is free for good */
} open_items;

static uint32_t row_among(const open_items *open, xp_times t)
{
  uint32_t row = open->used;
  while (row > 0 && open->ends[row - 1] < t.end_ps) { /* below the deepest one that holds it */
    row--;
  }
  while (row < open->used && open->ends[row] > t.start_ps) {
    row++;
  }
  return row < XP_MOST_ROWS ? row : XP_MOST_ROWS - 1;
}

static uint32_t place_item(open_items *open, xp_times t)
{
  while (open->used > 0 && open->ends[open->used - 1] <= t.start_ps) {
    open->used--;
  }
  uint32_t row = row_among(open, t);
  open->ends[row] = t.end_ps;
  open->used = row >= open->used ? row + 1 : open->used;
  return row;
}

/* What has to be known of the rows before their items can be listed. */
typedef struct {
  uint32_t counts[XP_MOST_ROWS];
  uint32_t bases[XP_MOST_ROWS]; /* the first item of the group of the latest one */
  bool is_wide[XP_MOST_ROWS];   /* some group spans too many items of the track for short distances */
} census;

static void count_item(census *rows, uint32_t row, uint32_t item)
{
  if (rows->counts[row]++ % XP_LOD_FIRST == 0) {
    rows->bases[row] = item;
  }
  rows->is_wide[row] = rows->is_wide[row] || item - rows->bases[row] > UINT16_MAX;
}

/* Finds the row of every item. */
static void find_rows(xp_track *track, census *rows)
{
  open_items open = {.used = 0};
  track->timed = 0;
  for (uint32_t i = 0; i < track->count; i++) {
    if (!xp_item_has_time(track, i)) {
      track->row_of[i] = XP_NO_ROW;
      continue;
    }
    xp_times t = xp_item_times(track, i);
    uint32_t row = place_item(&open, t);
    track->row_of[i] = (uint8_t)row;
    count_item(rows, row, i);
    track->row_count = row >= track->row_count ? row + 1 : track->row_count;
    track->first_ps = track->timed == 0 ? t.start_ps : track->first_ps;
    track->last_ps = track->timed++ == 0 || t.end_ps > track->last_ps ? t.end_ps : track->last_ps;
  }
}

static uint32_t group_count(const xp_row *row)
{
  return row->count / XP_LOD_FIRST + (row->count % XP_LOD_FIRST != 0);
}

static void put_item(xp_row *row, uint32_t i, uint32_t item)
{
  if (row->items) {
    row->items[i] = item;
    return;
  }
  uint32_t *base = &row->bases[i / XP_LOD_FIRST];
  *base = i % XP_LOD_FIRST == 0 ? item : *base;
  row->distances[i] = (uint16_t)(item - *base);
}

/* Lists the items of every row, where one row is not all of the track. */
static void list_items(xp_track *track, const census *rows, xp_arena *arena)
{
  uint32_t listed[XP_MOST_ROWS] = {0};
  track->rows = xp_arena_array(arena, track->row_count, sizeof *track->rows);
  for (uint32_t r = 0; r < track->row_count; r++) {
    track->rows[r].count = rows->counts[r];
  }
  if (track->row_count == 1 && rows->counts[0] == track->count) {
    return;
  }
  for (uint32_t r = 0; r < track->row_count; r++) {
    xp_row *row = &track->rows[r];
    if (rows->is_wide[r]) {
      row->items = xp_arena_array(arena, row->count, sizeof *row->items);
    } else {
      row->bases = xp_arena_array(arena, group_count(row), sizeof *row->bases);
      row->distances = xp_arena_array(arena, row->count, sizeof *row->distances);
    }
  }
  for (uint32_t i = 0; i < track->count; i++) {
    uint32_t r = track->row_of[i];
    if (r != XP_NO_ROW) {
      put_item(&track->rows[r], listed[r]++, i);
    }
  }
}

/* ---- groups */

static void build_first_level(const xp_track *track, xp_row *row, uint32_t groups)
{
  for (uint32_t g = 0; g < groups; g++) {
    uint32_t first = g * XP_LOD_FIRST, end = row->count - first < XP_LOD_FIRST ? row->count : first + XP_LOD_FIRST;
    xp_lod_group sum = xp_lod_single(track, xp_row_item(row, first));
    for (uint32_t i = first + 1; i < end; i++) {
      const xp_lod_group next = xp_lod_single(track, xp_row_item(row, i));
      xp_lod_join(&sum, &next);
    }
    row->levels[0][g] = sum;
  }
}

static void build_next_level(xp_row *row, int level, uint32_t below, uint32_t groups)
{
  for (uint32_t g = 0; g < groups; g++) {
    const xp_lod_group *from = &row->levels[level - 1][g * XP_LOD_FACTOR];
    uint32_t n = below - g * XP_LOD_FACTOR < XP_LOD_FACTOR ? below - g * XP_LOD_FACTOR : XP_LOD_FACTOR;
    xp_lod_group sum = from[0];
    for (uint32_t i = 1; i < n; i++) {
      xp_lod_join(&sum, &from[i]);
    }
    row->levels[level][g] = sum;
  }
}

static void build_groups(const xp_track *track, xp_row *row, xp_arena *arena)
{
  uint32_t groups = group_count(row), below = 0;
  for (int level = 0; level < XP_LOD_LEVELS && groups > 1; level++) {
    row->levels[level] = xp_arena_array(arena, groups, sizeof **row->levels);
    if (level == 0) {
      build_first_level(track, row, groups);
    } else {
      build_next_level(row, level, below, groups);
    }
    row->level_count = level + 1;
    below = groups;
    groups = groups / XP_LOD_FACTOR + (groups % XP_LOD_FACTOR != 0);
  }
}

/* ---- all tracks */

typedef struct {
  xp_tracks *tracks;
  xp_arena **arenas;
  uint32_t track; /* of this item */
  atomic_bool failed;
} lod_job;

typedef struct {
  xp_track *track;
  xp_arena *arena;
} one_track;

static void build_track(void *context)
{
  one_track *one = context;
  census rows = {0};
  one->track->row_of = xp_arena_array(one->arena, one->track->count, sizeof *one->track->row_of);
  find_rows(one->track, &rows);
  list_items(one->track, &rows, one->arena);
  for (uint32_t r = 0; r < one->track->row_count; r++) {
    build_groups(one->track, &one->track->rows[r], one->arena);
  }
}

static void run_track(void *context, size_t item, int worker)
{
  lod_job *job = context;
  if (job->arenas[worker] == NULL) {
    job->arenas[worker] = xp_arena_create();
  }
  one_track one = {&job->tracks->tracks[item], job->arenas[worker]};
  if (job->arenas[worker] == NULL || !xp_arena_guard(one.arena, build_track, &one)) {
    atomic_store(&job->failed, true);
  }
}

bool xp_lod_build(xp_tracks *tracks, xp_arena *arenas[XP_LOD_ARENAS], int threads)
{
  lod_job job = {.tracks = tracks, .arenas = arenas};
  threads = threads > XP_LOD_ARENAS ? XP_LOD_ARENAS : threads;
  xp_parallel(tracks->count, threads, run_track, &job);
  return !atomic_load(&job.failed);
}
