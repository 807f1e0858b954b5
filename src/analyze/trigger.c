/* What made the host late: a read, a wait or a compile on the threads of the chain.
 *
 * A read counts whatever its length, since it drains the device; it must have begun before the launch call returned,
 * and ended in the gap, or shortly before it, or still run.  A wait counts from 50 us on, and only outside of execute
 * calls. Candidates are few beside all events, so each thread has a list of them; of nested ones only the outermost is
 * kept, which began first and ends last.
 */
#include "analyze/internal.h"

enum { LEAD_PS = 50000000, LEAST_WAIT_PS = 50000000 };

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

static void add_candidate(xp_analysis *an, const xp_thread *t, xp_entry_list *list, uint32_t entry)
{
  if (list->count && xp_entry_end(t, entry) <= xp_entry_end(t, list->entries[list->count - 1])) {
    return;
  }
  int64_t dur = xp_event_dur(t->line, t->event[entry]);
  list->entries = xp_arena_grow(an->arena, list->entries, list->count, &list->capacity, sizeof *list->entries);
  list->entries[list->count++] = entry;
  list->longest_ps = dur > list->longest_ps ? dur : list->longest_ps;
}

void xp_triggers_index(xp_analysis *an)
{
  an->triggers = xp_arena_array(an->arena, an->threads.count, sizeof *an->triggers);
  for (size_t i = 0; i < an->threads.count; i++) {
    const xp_thread *t = &an->threads.threads[i];
    for (uint32_t e = 0; e < t->count; e++) {
      uint8_t cause = t->flags[e] & XP_ENTRY_LISTED ? t->cause[e] : XP_CAUSE_COUNT;
      if (cause == XP_CAUSE_VALUE_REQUEST) {
        add_candidate(an, t, &an->triggers[i].reads, e);
      } else if (cause == XP_CAUSE_WAIT) {
        if (xp_event_dur(t->line, t->event[e]) >= LEAST_WAIT_PS && !is_in_execute_call(t, e)) {
          add_candidate(an, t, &an->triggers[i].waits, e);
        }
      } else if (cause == XP_CAUSE_COMPILE) {
        add_candidate(an, t, &an->triggers[i].compiles, e);
      }
    }
  }
}

/* The latest entry of a list that starts before one time and ends at or after another; XP_NONE. */
static uint32_t latest(const xp_thread *t, const xp_entry_list *list, int64_t start_before_ps, int64_t end_from_ps)
{
  size_t low = 0, high = list->count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (xp_entry_start(t, list->entries[mid]) < start_before_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  for (; low > 0; low--) {
    uint32_t e = list->entries[low - 1];
    if (xp_entry_end(t, e) >= end_from_ps) {
      return e;
    }
    if (end_from_ps - xp_entry_start(t, e) > list->longest_ps) {
      break; /* what began earlier ended earlier still */
    }
  }
  return XP_NONE;
}

enum { READS, WAITS, COMPILES };

static const xp_entry_list *list_of(const xp_trigger_lists *lists, int kind)
{
  return kind == READS ? &lists->reads : kind == WAITS ? &lists->waits : &lists->compiles;
}

static bool search(const xp_analysis *an, const xp_launch *launch, int kind, int64_t start_before_ps,
                   int64_t end_from_ps, xp_trigger_found *out)
{
  int64_t best = INT64_MIN;
  for (int h = 0; h < launch->hop_count; h++) {
    const xp_thread *t = &an->threads.threads[xp_launch_hop(launch, h).thread];
    uint32_t entry = latest(t, list_of(&an->triggers[t->index], kind), start_before_ps, end_from_ps);
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
  if (search(an, launch, READS, before, gap.start_ps - lead, &found)) {
    found.trigger = XP_TRIGGER_VALUE_REQUEST;
  } else if (search(an, launch, WAITS, before, gap.start_ps - lead, &found)) {
    found.trigger = XP_TRIGGER_WAIT;
  } else if (search(an, launch, COMPILES, gap.end_ps, gap.start_ps + 1, &found)) {
    found.trigger = XP_TRIGGER_COMPILE;
  }
  return found;
}

bool xp_trigger_free(const xp_analysis *an, const xp_launch *launch, int64_t from_ps, int64_t to_ps)
{
  xp_trigger_found found;
  return !search(an, launch, READS, to_ps, from_ps, &found) && !search(an, launch, WAITS, to_ps, from_ps, &found);
}
