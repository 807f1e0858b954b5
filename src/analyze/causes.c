/* Summing whole gaps by (cause, trigger, scope, trigger scope, where), so that the rows inside the windows add up to
 * idle. */
#include "analyze/internal.h"
#include "base/sum.h"

#include <stdlib.h>

typedef struct {
  xp_cause_row row;
  int64_t *lengths;
  size_t capacity;
} group;

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

static void add_short_gaps(xp_analysis *an, group *g)
{
  g->row = (xp_cause_row){.cause = XP_CAUSE_SHORT};
  for (size_t i = 0; i < an->reading->device_count; i++) {
    const xp_device *d = &an->reading->devices[i];
    g->row.gaps += d->ranked ? d->short_count : 0;
    xp_sum_add(&g->row.ps, d->ranked ? d->short_ps : 0);
  }
}

void xp_causes_sum(xp_analysis *an)
{
  xp_reading *r = an->reading;
  group *groups = NULL;
  size_t count = 0, capacity = 0;
  int64_t session_ps = 0;
  for (size_t i = 0; i < r->device_count; i++) {
    xp_sum_add(&session_ps, r->devices[i].has_window && r->devices[i].ranked ? r->devices[i].session_ps : 0);
  }
  xp_map index;
  xp_map_init(&index, an->arena);
  for (size_t i = 0; i < r->gap_count; i++) {
    const xp_gap *gap = &r->gaps[i];
    if (!gap->ranked) {
      continue;
    }
    uint64_t key = key_of(gap);
    uint32_t g = xp_map_get(&index, key);
    if (g == XP_NONE) {
      groups = xp_arena_grow(an->arena, groups, count, &capacity, sizeof *groups);
      g = (uint32_t)count++;
      groups[g] = (group){.row = {.cause = gap->cause,
                                  .trigger = gap->trigger,
                                  .where = gap->where,
                                  .scope = gap->scope,
                                  .trigger_scope = gap->trigger_scope}};
      xp_map_put(&index, key, g);
    }
    group *to = &groups[g];
    to->lengths = xp_arena_grow(an->arena, to->lengths, to->row.gaps, &to->capacity, sizeof *to->lengths);
    int64_t ps = gap->where == XP_WHERE_INSIDE ? gap->dur_ps : gap->dur_ps - gap->profiler_ps;
    to->lengths[to->row.gaps++] = ps;
    to->row.longest_ps = ps > to->row.longest_ps ? ps : to->row.longest_ps;
    xp_sum_add(&to->row.ps, ps);
  }
  groups = xp_arena_grow(an->arena, groups, count, &capacity, sizeof *groups);
  groups[count] = (group){0};
  add_short_gaps(an, &groups[count]);
  count += groups[count].row.gaps > 0;
  r->causes = xp_arena_array(an->arena, count, sizeof *r->causes);
  r->cause_count = count;
  for (size_t i = 0; i < count; i++) {
    if (groups[i].lengths) {
      groups[i].row.median_ps = select_value(groups[i].lengths, groups[i].row.gaps, groups[i].row.gaps / 2);
    }
    int64_t whole = groups[i].row.where == XP_WHERE_INSIDE ? r->idle_ps : session_ps;
    groups[i].row.share = whole ? (double)groups[i].row.ps / (double)whole : 0;
    r->causes[i] = groups[i].row;
  }
  if (count) {
    qsort(r->causes, count, sizeof *r->causes, larger_first);
  }
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
