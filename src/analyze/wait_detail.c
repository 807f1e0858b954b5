/* What a wait was for, in words: other devices at work, or nothing that the capture shows. */
#include "analyze/walk.h"

enum { NOTABLE_WAIT_PS = 50000000 }; /* 50 us: shorter ones are not worth a look at every pool thread */

/* The event of a pool thread that lasts longest within a time. */
static xp_str longest_pool_event(const xp_analysis *an, uint32_t host, int64_t from, int64_t to)
{
  xp_str best = {NULL, 0};
  int64_t best_ps = 0;
  for (size_t i = 0; i < an->threads.count; i++) {
    const xp_thread *t = &an->threads.threads[i];
    if (!t->is_runtime || t->is_api || t->host != host) {
      continue;
    }
    uint32_t e = xp_thread_innermost(t, from);
    for (uint32_t next = xp_thread_first_from(t, from + 1);; e = next++) {
      if (e != XP_NONE) {
        int64_t start = xp_entry_start(t, e), end = xp_entry_end(t, e);
        int64_t overlap = (end < to ? end : to) - (start > from ? start : from);
        if (overlap > best_ps) {
          best_ps = overlap;
          best = xp_entry_name(t, e);
        }
      }
      if (next >= t->count || xp_entry_start(t, next) >= to) {
        break;
      }
    }
  }
  return best;
}

xp_str xp_wait_detail(const xp_walk *w, int64_t from, int64_t to)
{
  const xp_analysis *an = w->an;
  int64_t middle = from + (to - from) / 2;
  xp_str names = {NULL, 0};
  size_t working = 0;
  for (uint32_t i = 0; i < an->devices.count; i++) {
    if (i != w->device && an->devices.devices[i].host == w->d->host && xp_device_works_at(an, i, middle)) {
      xp_str name = an->devices.devices[i].name;
      working++;
      if (working <= 3) {
        names = names.len ? xp_arena_format(w->out->arena, "%.*s, %.*s", XP_STR_ARG(names), XP_STR_ARG(name)) : name;
      }
    }
  }
  if (working > 3) {
    return xp_arena_format(w->out->arena, "for %.*s and %zu more devices, at work", XP_STR_ARG(names), working - 3);
  }
  if (working) {
    return xp_arena_format(w->out->arena, "for %.*s, at work", XP_STR_ARG(names));
  }
  xp_str longest = to - from >= NOTABLE_WAIT_PS ? longest_pool_event(an, w->d->host, from, to) : (xp_str){NULL, 0};
  if (longest.len) {
    return xp_arena_format(w->out->arena,
                           "no device was working: the runtime was slow to notice (longest meanwhile: %.*s)",
                           XP_STR_ARG(longest));
  }
  return xp_str_c("no device was working: the runtime was slow to notice");
}
