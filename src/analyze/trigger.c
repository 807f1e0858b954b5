/* What made the host late: a read, a wait or a compile on the threads of the chain.
 *
 * A read counts whatever its length, since it drains the device; it must have begun before the launch call returned, and
 * ended in the gap, or shortly before it, or still run.  A wait counts from 50 us on, and only outside of execute calls.
 */
#include "analyze/internal.h"

enum { LEAD_PS = 50000000, LEAST_WAIT_PS = 50000000 };

typedef struct {
  int64_t start_before_ps; /* began before this */
  int64_t end_from_ps;     /* ended at or after this */
  int64_t least_ps;
  xp_cause cause;
} condition;

static bool is_in_execute_call(const xp_thread *t, uint32_t entry)
{
  int64_t start = xp_entry_start(t, entry), end = xp_entry_end(t, entry);
  for (uint32_t e = xp_thread_outer(t, entry, start); e != XP_NONE; e = xp_thread_outer(t, e, start)) {
    if ((t->flags[e] & XP_ENTRY_LISTED) && t->cause[e] == XP_CAUSE_DISPATCH && xp_entry_end(t, e) >= end) {
      return true;
    }
  }
  return false;
}

static bool meets(const xp_thread *t, uint32_t entry, const condition *c)
{
  return (t->flags[entry] & XP_ENTRY_LISTED) && t->cause[entry] == c->cause &&
         xp_entry_start(t, entry) < c->start_before_ps && xp_entry_end(t, entry) >= c->end_from_ps &&
         xp_event_dur(t->line, t->event[entry]) >= c->least_ps &&
         !(c->cause == XP_CAUSE_WAIT && is_in_execute_call(t, entry));
}

/* The latest entry of a thread that meets a condition, its outermost one of the kind; XP_NONE. */
static uint32_t latest(const xp_thread *t, const condition *c)
{
  uint32_t found = XP_NONE;
  uint32_t first = xp_thread_first_from(t, c->end_from_ps);
  uint32_t open = first ? first - 1 : XP_NONE;
  for (; open != XP_NONE; open = t->parent[open]) { /* began before, may still run then */
    found = meets(t, open, c) ? open : found;
  }
  for (uint32_t e = first; e < t->count && xp_entry_start(t, e) < c->start_before_ps; e++) {
    if (meets(t, e, c) && (found == XP_NONE || xp_entry_start(t, e) >= xp_entry_end(t, found))) {
      found = e;
    }
  }
  return found;
}

static bool search(const xp_analysis *an, const xp_launch *launch, const condition *c, xp_trigger_found *out)
{
  int64_t best = INT64_MIN;
  for (int h = 0; h < launch->hop_count; h++) {
    const xp_thread *t = &an->threads.threads[launch->hops[h].thread];
    uint32_t entry = latest(t, c);
    if (entry != XP_NONE && xp_entry_start(t, entry) > best) {
      best = xp_entry_start(t, entry);
      out->thread = t->index;
      out->entry = entry;
    }
  }
  return best != INT64_MIN;
}

xp_trigger_found xp_trigger_find(const xp_analysis *an, xp_span gap, const xp_launch *launch)
{
  xp_trigger_found found = {XP_TRIGGER_NONE, XP_NONE, XP_NONE};
  if (!launch) {
    return found;
  }
  int64_t lead = (gap.end_ps - gap.start_ps) / 10 > LEAD_PS ? (gap.end_ps - gap.start_ps) / 10 : LEAD_PS;
  int64_t before = launch->return_ps < gap.end_ps ? launch->return_ps : gap.end_ps;
  condition read = {before, gap.start_ps - lead, 0, XP_CAUSE_VALUE_REQUEST};
  condition wait = {before, gap.start_ps - lead, LEAST_WAIT_PS, XP_CAUSE_WAIT};
  condition compile = {gap.end_ps, gap.start_ps + 1, 0, XP_CAUSE_COMPILE};
  if (search(an, launch, &read, &found)) {
    found.trigger = XP_TRIGGER_VALUE_REQUEST;
  } else if (search(an, launch, &wait, &found)) {
    found.trigger = XP_TRIGGER_WAIT;
  } else if (search(an, launch, &compile, &found)) {
    found.trigger = XP_TRIGGER_COMPILE;
  }
  return found;
}

bool xp_trigger_free(const xp_analysis *an, const xp_launch *launch, int64_t from_ps, int64_t to_ps)
{
  xp_trigger_found found;
  condition read = {to_ps, from_ps, 0, XP_CAUSE_VALUE_REQUEST};
  condition wait = {to_ps, from_ps, LEAST_WAIT_PS, XP_CAUSE_WAIT};
  return !search(an, launch, &read, &found) && !search(an, launch, &wait, &found);
}
