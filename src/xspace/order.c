/* Lines whose records are not in order of (start, longest first).
 *
 * A stable merge sort over a permutation, which uses the runs that are there: a line made of a few sorted parts costs a
 * few passes.  The columns are then rewritten one after the other, so that only this line needs temporary memory, 16
 * bytes an event, which is given back at once.
 */
#include "xspace/load.h"

typedef struct {
  const xp_line *line;
  uint32_t *from, *to; /* permutation, and room for the next pass */
} sorter;

static bool is_before(const xp_line *line, uint32_t a, uint32_t b)
{
  if (line->start_ps[a] != line->start_ps[b]) {
    return line->start_ps[a] < line->start_ps[b];
  }
  return xp_event_dur(line, a) > xp_event_dur(line, b);
}

/* The end of the run in order that begins at i. */
static size_t run_end(const sorter *s, size_t i)
{
  for (i++; i < s->line->count && !is_before(s->line, s->from[i], s->from[i - 1]); i++) {
  }
  return i;
}

static void merge(sorter *s, size_t a, size_t middle, size_t end)
{
  size_t b = middle, to = a;
  while (a < middle && b < end) {
    s->to[to++] = is_before(s->line, s->from[b], s->from[a]) ? s->from[b++] : s->from[a++];
  }
  memcpy(s->to + to, s->from + a, (middle - a) * sizeof *s->to);
  to += middle - a;
  memcpy(s->to + to, s->from + b, (end - b) * sizeof *s->to);
}

/* Merges neighbouring runs; true if there was more than one. */
static bool merge_pass(sorter *s)
{
  size_t count = s->line->count, runs = 0;
  for (size_t a = 0; a < count; runs++) {
    size_t middle = run_end(s, a);
    size_t end = middle < count ? run_end(s, middle) : count;
    runs += middle < count;
    merge(s, a, middle, end);
    a = end;
  }
  uint32_t *swap = s->from;
  s->from = s->to;
  s->to = swap;
  return runs > 1;
}

static void apply_order32(uint32_t *column, const uint32_t *order, size_t count, uint32_t *copy)
{
  memcpy(copy, column, count * sizeof *copy);
  for (size_t i = 0; i < count; i++) {
    column[i] = copy[order[i]];
  }
}

static void apply_order64(uint64_t *column, const uint32_t *order, size_t count, uint64_t *copy)
{
  memcpy(copy, column, count * sizeof *copy);
  for (size_t i = 0; i < count; i++) {
    column[i] = copy[order[i]];
  }
}

static void find_records(const xp_line *line, uint64_t *offsets)
{
  xp_wire_reader r = xp_wire_open(line->message);
  xp_wire_field f;
  for (size_t i = 0; i < line->count;) {
    uint64_t at = (uint64_t)(r.pos - r.start);
    if (!xp_wire_next(&r, &f)) {
      return;
    }
    if (f.number == 4 && f.type == XP_WIRE_BYTES) {
      offsets[i++] = at;
    }
  }
}

static bool sort_with(xp_line *line, uint64_t *offsets, xp_arena *temporary)
{
  size_t count = line->count;
  sorter s = {.line = line};
  s.from = xp_arena_array(temporary, count, sizeof *s.from);
  s.to = xp_arena_array(temporary, count, sizeof *s.to);
  uint64_t *copy = xp_arena_array(temporary, count, sizeof *copy);
  if (s.from == NULL || s.to == NULL || copy == NULL) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    s.from[i] = (uint32_t)i;
  }
  while (merge_pass(&s)) {
  }
  find_records(line, offsets);
  apply_order64(offsets, s.from, count, copy);
  apply_order64((uint64_t *)(uintptr_t)line->start_ps, s.from, count, copy);
  apply_order32((uint32_t *)(uintptr_t)line->dur, s.from, count, s.to);
  apply_order32((uint32_t *)(uintptr_t)line->meta, s.from, count, s.to);
  line->record_offset = offsets;
  line->sorted_in_file = false;
  return true;
}

bool xp_line_sort(xp_line *line, xp_arena *arena)
{
  if (line->count > UINT32_MAX) {
    return false; /* the permutation has 32 bits: a line of over 8 GB */
  }
  uint64_t *offsets = xp_arena_array(arena, line->count, sizeof *offsets);
  xp_arena *temporary = xp_arena_create();
  bool is_done = temporary != NULL && sort_with(line, offsets, temporary);
  xp_arena_destroy(temporary);
  return is_done;
}
