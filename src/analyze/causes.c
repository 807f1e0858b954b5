/* Summing whole gaps by (cause, trigger, scope, trigger scope, where), so that the rows inside the windows add up to
 * idle. */
#include "analyze/internal.h"
#include "base/sum.h"

#include <stdlib.h>

typedef struct {
  xp_cause_row *rows;
  size_t count, capacity;
  xp_map index;   /* hash of what a row is summed by -> row */
  uint32_t *row;  /* of every gap; XP_NONE: not ranked */
  size_t of_gaps; /* ranked ones */
} table;

/* The k-th smallest value; puts smaller ones before it and larger ones behind it. */
static int64_t select_value(int64_t *values, size_t count, size_t k)
{
  size_t low = 0, high = count;
  while (high - low > 1) {
    int64_t pivot = values[low + (high - low) / 2];
    size_t less = low, more = high, at = low;
    while (at < more) { /* three parts: below, equal to, and above the pivot */
      int64_t v = values[at];
      if (v < pivot) {
        values[at++] = values[less];
        values[less++] = v;
      } else if (v > pivot) {
        values[at] = values[--more];
        values[more] = v;
      } else {
        at++;
      }
    }
    if (k < less) {
      high = less;
    } else if (k >= more) {
      low = more;
    } else {
      return pivot;
    }
  }
  return values[low];
}

static int larger_first(const void *a, const void *b)
{
  const xp_cause_row *x = a, *y = b;
  if (x->ps != y->ps) {
    return x->ps > y->ps ? -1 : 1;
  }
  if (x->cause != y->cause) {
    return (int)x->cause - (int)y->cause;
  }
  int order = xp_str_cmp(x->scope, y->scope);
  return order ? order : xp_str_cmp(x->trigger_scope, y->trigger_scope);
}

static uint64_t key_of(const xp_gap *gap)
{
  uint64_t key = xp_str_hash(gap->scope) * 31 + xp_str_hash(gap->trigger_scope) * 7;
  return key * 0x9e3779b97f4a7c15u + (uint64_t)gap->cause * 64 + (uint64_t)gap->trigger * 8 + (uint64_t)gap->where;
}

static bool is_of(const xp_gap *gap, const xp_cause_row *row)
{
  return gap->cause == row->cause && gap->trigger == row->trigger && gap->where == row->where &&
         xp_str_eq(gap->scope, row->scope) && xp_str_eq(gap->trigger_scope, row->trigger_scope);
}

/* The row that a gap belongs to, mostly that of the gap before. */
static uint32_t row_of(table *t, const xp_gap *gap, uint32_t last, xp_arena *arena)
{
  if (last != XP_NONE && is_of(gap, &t->rows[last])) {
    return last;
  }
  uint32_t *row = xp_map_entry(&t->index, key_of(gap));
  if (*row == XP_NONE) {
    *row = (uint32_t)t->count++;
    t->rows = xp_arena_grow(arena, t->rows, *row, &t->capacity, sizeof *t->rows);
    t->rows[*row] = (xp_cause_row){.cause = gap->cause,
                                   .trigger = gap->trigger,
                                   .where = gap->where,
                                   .scope = gap->scope,
                                   .trigger_scope = gap->trigger_scope};
  }
  return *row;
}

/* The time of a gap that counts: without the profiler's own at the edges. */
static int64_t length_of(const xp_gap *gap)
{
  return gap->where == XP_WHERE_INSIDE ? gap->dur_ps : gap->dur_ps - gap->profiler_ps;
}

static void add_gaps(table *t, const xp_reading *r, xp_arena *arena)
{
  uint32_t last = XP_NONE;
  for (size_t i = 0; i < r->gap_count; i++) {
    const xp_gap *gap = &r->gaps[i];
    t->row[i] = gap->ranked ? row_of(t, gap, last, arena) : XP_NONE;
    if (!gap->ranked) {
      continue;
    }
    last = t->row[i];
    xp_cause_row *row = &t->rows[last];
    int64_t ps = length_of(gap);
    row->gaps++;
    row->longest_ps = ps > row->longest_ps ? ps : row->longest_ps;
    xp_sum_add(&row->ps, ps);
    t->of_gaps++;
  }
}

/* Puts the lengths of the gaps of each row together, and takes the middle one. */
static void find_medians(table *t, const xp_reading *r, xp_arena *arena)
{
  int64_t *lengths = xp_arena_array(arena, t->of_gaps, sizeof *lengths);
  size_t *end = xp_arena_array(arena, t->count, sizeof *end), sum = 0;
  for (size_t i = 0; i < t->count; i++) {
    end[i] = sum;
    sum += t->rows[i].gaps;
  }
  for (size_t i = 0; i < r->gap_count; i++) {
    if (t->row[i] != XP_NONE) {
      lengths[end[t->row[i]]++] = length_of(&r->gaps[i]);
    }
  }
  for (size_t i = 0; i < t->count; i++) {
    size_t gaps = t->rows[i].gaps;
    t->rows[i].median_ps = select_value(lengths + end[i] - gaps, gaps, gaps / 2);
  }
  xp_arena_discard(arena, lengths, t->of_gaps * sizeof *lengths);
  xp_arena_discard(arena, end, t->count * sizeof *end);
}

static xp_cause_row short_gaps(const xp_reading *r)
{
  xp_cause_row row = {.cause = XP_CAUSE_SHORT};
  for (size_t i = 0; i < r->device_count; i++) {
    const xp_device *d = &r->devices[i];
    row.gaps += d->ranked ? d->short_count : 0;
    xp_sum_add(&row.ps, d->ranked ? d->short_ps : 0);
  }
  return row;
}

static int64_t session_of(const xp_reading *r)
{
  int64_t sum = 0;
  for (size_t i = 0; i < r->device_count; i++) {
    xp_sum_add(&sum, r->devices[i].has_window && r->devices[i].ranked ? r->devices[i].session_ps : 0);
  }
  return sum;
}

void xp_causes_sum(xp_analysis *an)
{
  xp_reading *r = an->reading;
  table t = {.row = xp_arena_array(an->arena, r->gap_count, sizeof *t.row)};
  xp_map_init(&t.index, an->arena);
  add_gaps(&t, r, an->arena);
  find_medians(&t, r, an->arena);
  xp_map_discard(&t.index);
  xp_arena_discard(an->arena, t.row, r->gap_count * sizeof *t.row);
  t.rows = xp_arena_grow(an->arena, t.rows, t.count, &t.capacity, sizeof *t.rows);
  t.rows[t.count] = short_gaps(r);
  t.count += t.rows[t.count].gaps > 0;
  const int64_t session_ps = session_of(r);
  for (size_t i = 0; i < t.count; i++) {
    int64_t whole = t.rows[i].where == XP_WHERE_INSIDE ? r->idle_ps : session_ps;
    t.rows[i].share = whole ? (double)t.rows[i].ps / (double)whole : 0;
  }
  if (t.count) {
    qsort(t.rows, t.count, sizeof *t.rows, larger_first);
  }
  r->causes = t.rows;
  r->cause_count = t.count;
}

void xp_coverage_sum(xp_analysis *an)
{
  xp_reading *r = an->reading;
  for (size_t i = 0; i < r->device_count; i++) {
    xp_sum_add(&r->idle_ps, r->devices[i].ranked ? r->devices[i].idle_ps : 0);
    xp_sum_add(&r->explained_ps, r->devices[i].ranked ? r->devices[i].idle_ps - r->devices[i].short_ps : 0);
  }
  for (size_t i = 0; i < r->gap_count; i++) {
    bool counts = r->gaps[i].where == XP_WHERE_INSIDE && r->devices[r->gaps[i].device].ranked;
    xp_sum_add(&r->explained_ps, counts ? -r->gaps[i].unknown_ps : 0);
  }
}
