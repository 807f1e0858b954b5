/* What the segments of a line found, put together: counts, extent, one table of long durations, the order of events.
 *
 * Runs for each plane in one task, so that a damaged segment can mark its plane.
 */
#include "xspace/load.h"

static void sum_up(xp_line *line)
{
  line->last_ps = INT64_MIN;
  for (size_t i = 0; i < line->segment_count; i++) {
    const xp_segment *s = &line->segments[i];
    if (s->count == 0) {
      continue;
    }
    line->untimed += s->untimed;
    line->stray += s->stray;
    line->flags |= s->flags & ~(uint32_t)XP_EVENT_META_MASK;
    line->plane->unnamed_events += s->unnamed;
    line->last_ps = s->last_ps > line->last_ps ? s->last_ps : line->last_ps;
  }
}

/* The earliest start; the events are in order. */
static void set_first(xp_line *line)
{
  if (line->count == line->untimed + line->stray) {
    line->last_ps = 0;
    return;
  }
  size_t i = 0;
  while (!xp_event_has_time(line, i)) {
    i++;
  }
  line->first_ps = line->start_ps[i];
}

static bool is_sorted(const xp_line *line)
{
  const xp_segment *previous = NULL;
  for (size_t i = 0; i < line->segment_count; i++) {
    const xp_segment *s = &line->segments[i];
    if (s->count == 0) {
      continue;
    }
    if (!s->sorted) {
      return false;
    }
    if (previous != NULL && (s->head_start < previous->tail_start ||
                             (s->head_start == previous->tail_start && s->head_dur > previous->tail_dur))) {
      return false;
    }
    previous = s;
  }
  return true;
}

/* Moves the indices of one segment behind those of the segments before it. */
static void shift_long(uint32_t *dur, size_t count, uint32_t by)
{
  for (size_t i = 0; by > 0 && i < count; i++) {
    dur[i] += dur[i] >= 0x80000000u ? by : 0;
  }
}

/* False if there are more long durations than an index can number. */
static bool join_long_durs(xp_line *line, xp_arena *arena)
{
  size_t total = 0;
  for (size_t i = 0; i < line->segment_count; i++) {
    total += line->segments[i].long_count;
  }
  if (total > 0x7fffffffu) {
    return false;
  }
  int64_t *all = total > 0 ? xp_arena_array(arena, total, sizeof *all) : NULL;
  size_t at = 0;
  for (size_t i = 0; i < line->segment_count; i++) {
    const xp_segment *s = &line->segments[i];
    for (const xp_long_durs *part = s->long_durs; part != NULL; part = part->older) {
      memcpy(all + at + part->first, part->values, part->count * sizeof *all);
    }
    if (s->long_count > 0) {
      shift_long((uint32_t *)(uintptr_t)line->dur + s->first, s->count, (uint32_t)at);
    }
    at += s->long_count;
  }
  line->long_dur_ps = all;
  return true;
}

void xp_plane_finish(xp_loader *loader, size_t item, xp_arena *arena)
{
  xp_plane_draft *draft = loader->planes[item];
  for (size_t k = 0; draft->damage.pos == NULL && k < draft->plane.line_count; k++) {
    xp_line *line = &draft->plane.lines[k];
    for (size_t i = 0; i < line->segment_count && draft->damage.pos == NULL; i++) {
      draft->damage = line->segments[i].damage;
    }
    if (draft->damage.pos != NULL || line->start_ps == NULL) {
      continue;
    }
    sum_up(line);
    if (!join_long_durs(line, arena) || (!is_sorted(line) && !xp_line_sort(line, arena))) {
      atomic_store(&loader->failed, true);
      return;
    }
    set_first(line);
  }
}
