/* Cut points: what ended a lazy program's graph and started an execute.
 *
 * Only torch_xla's kind of runtime has them: under StepMarker the program asked for it; a sync without one belongs to
 * the read that follows it, or, if none follows, to an operation that runs on its own.
 */
#include "analyze/internal.h"

#include <stdlib.h>

static uint32_t flags_of(const xp_thread *t, uint32_t entry)
{
  return xp_entry_class(t, entry).flags;
}

static bool is_wait(const xp_thread *t, uint32_t entry)
{
  return (t->flags[entry] & XP_ENTRY_LISTED) && t->cause[entry] == XP_CAUSE_WAIT;
}

/* Nothing but waiting begins between the end of a sync and the end of the step around it. */
static bool ends_step(const xp_thread *t, uint32_t marker)
{
  int64_t end = xp_entry_end(t, marker), start = xp_entry_start(t, marker);
  for (uint32_t e = xp_thread_outer(t, marker, start); e != XP_NONE; e = xp_thread_outer(t, e, start)) {
    if (t->flags[e] & XP_ENTRY_STEP) {
      uint32_t next = xp_thread_first_from(t, end);
      while (next < t->count && is_wait(t, next)) {
        next++;
      }
      return next >= t->count || xp_entry_start(t, next) >= xp_entry_end(t, e);
    }
  }
  return false;
}

/* After a sync comes a read, before another sync does. */
static bool serves_read(const xp_thread *t, uint32_t sync)
{
  enum { LOOK_AHEAD = 256 };
  int64_t end = xp_entry_end(t, sync);
  uint32_t next = xp_thread_first_from(t, end);
  for (uint32_t e = next; e < t->count && e - next < LOOK_AHEAD; e++) {
    uint32_t flags = flags_of(t, e);
    if (flags & XP_NAME_READS) {
      return true;
    }
    if (flags & (XP_NAME_LAZY_SYNC | XP_NAME_SYNC)) {
      return false;
    }
  }
  return false;
}

static bool find_cut(const xp_analysis *an, const xp_launch *launch, xp_cut_point *cut)
{
  const xp_thread *t = &an->threads.threads[xp_launch_asker(launch)];
  uint32_t marker = XP_NONE, sync = XP_NONE;
  for (uint32_t e = xp_thread_innermost(t, launch->asked_ps); e != XP_NONE;
       e = xp_thread_outer(t, e, launch->asked_ps)) {
    uint32_t flags = flags_of(t, e);
    marker = flags & XP_NAME_SYNC ? e : marker;
    sync = flags & XP_NAME_LAZY_SYNC ? e : sync;
  }
  cut->scope = xp_thread_scope(t, launch->asked_ps);
  if (marker == XP_NONE && sync == XP_NONE) { /* the execute call follows its sync on the same thread */
    uint32_t before = xp_thread_first_from(t, launch->asked_ps);
    for (uint32_t back = 0; before > 0 && back < 64 && sync == XP_NONE; before--, back++) {
      uint32_t flags = flags_of(t, before - 1);
      if (flags & XP_NAME_EXECUTES) {
        break;
      }
      sync = flags & XP_NAME_LAZY_SYNC ? before - 1 : XP_NONE;
    }
    for (uint32_t e = sync; e != XP_NONE; e = t->parent[e]) {
      marker = flags_of(t, e) & XP_NAME_SYNC ? e : marker;
      sync = flags_of(t, e) & XP_NAME_LAZY_SYNC ? e : sync;
    }
  }
  if (marker != XP_NONE) {
    cut->kind = ends_step(t, marker) ? XP_CUT_STEP_END : XP_CUT_SYNC;
    return true;
  }
  cut->kind = sync != XP_NONE && serves_read(t, sync) ? XP_CUT_READ : XP_CUT_EAGER;
  return sync != XP_NONE;
}

static void add_cut(xp_analysis *an, const xp_cut_point *cut, xp_map *known, size_t *capacity, bool in_main_step)
{
  xp_counters *out = &an->reading->counters;
  uint64_t key = xp_str_hash(cut->scope) * 8 + (uint64_t)cut->kind;
  uint32_t i = xp_map_get(known, key);
  if (i == XP_NONE) {
    i = (uint32_t)out->cut_count;
    xp_map_put(known, key, i);
    out->cuts = xp_arena_grow(an->arena, out->cuts, i, capacity, sizeof *out->cuts);
    out->cuts[out->cut_count++] = (xp_cut_point){.kind = cut->kind, .scope = cut->scope};
  }
  out->cuts[i].count++;
  out->cuts[i].per_step += in_main_step; /* divided below */
}

static int most_first(const void *x, const void *y)
{
  const xp_cut_point *a = x, *b = y;
  if (a->count != b->count) {
    return a->count > b->count ? -1 : 1;
  }
  return a->kind != b->kind ? (int)a->kind - (int)b->kind : xp_str_cmp(a->scope, b->scope);
}

void xp_cuts_find(xp_analysis *an)
{
  xp_counters *out = &an->reading->counters;
  size_t capacity = 0, steps = 0;
  xp_map known; /* hash of kind and scope -> cut */
  xp_map_init(&known, an->arena);
  for (size_t i = 0; i < an->reading->step_count; i++) {
    steps += an->reading->steps[i].complete && xp_str_eq(an->reading->steps[i].name, out->main_step);
  }
  for (size_t i = 0; an->threads.torch && i < an->links.asked_count; i++) {
    const xp_launch *launch = &an->links.launches[an->links.asked[i]];
    xp_cut_point cut;
    if (!find_cut(an, launch, &cut)) {
      continue;
    }
    uint32_t step = xp_launch_step(an, launch, NULL);
    const xp_step *s = step == XP_NONE ? NULL : &an->reading->steps[step];
    add_cut(an, &cut, &known, &capacity, s && s->complete && xp_str_eq(s->name, out->main_step));
  }
  for (size_t i = 0; i < out->cut_count; i++) {
    out->cuts[i].per_step = steps ? out->cuts[i].per_step / (double)steps : 0;
  }
  if (out->cut_count > 1) {
    qsort(out->cuts, out->cut_count, sizeof *out->cuts, most_first);
  }
}
