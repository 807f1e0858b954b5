/* Lines whose records are not in order of (start, longest first).
 *
 * A stable radix sort of a permutation, least digit first, so that its time does not depend on the order in the file.
 * It sorts by start; only if that leaves equal starts with a longer event behind a shorter one, it sorts by duration
 * first. The columns are then rearranged in place.  Only this line needs temporary memory, 8 bytes an event, which is
 * given back at once; meanwhile the pages of the file that were read are let go.
 */
#include "xspace/load.h"

enum { SMALL_DIGIT = 8, LARGE_DIGIT = 11, LARGE_LINE = 1 << 14, FORGET_STEP = 4 << 20 };

typedef struct {
  const xp_line *line;
  uint32_t *from, *to; /* permutation, and room for the next pass */
  int64_t lowest;      /* start */
  uint64_t longest;    /* duration */
} sorter;

/* What is sorted by: small for what comes first. */
static inline uint64_t key_of(const sorter *s, uint32_t i, bool by_dur)
{
  return by_dur ? s->longest - (uint64_t)xp_event_dur(s->line, i)
                : (uint64_t)s->line->start_ps[i] - (uint64_t)s->lowest;
}

static void sort_digit(sorter *s, bool by_dur, unsigned shift, unsigned bits)
{
  size_t at[1 << LARGE_DIGIT] = {0};
  const uint64_t mask = (UINT64_C(1) << bits) - 1;
  const size_t count = s->line->count;
  for (size_t i = 0; i < count; i++) {
    at[key_of(s, s->from[i], by_dur) >> shift & mask]++;
  }
  size_t sum = 0;
  for (size_t digit = 0; digit <= mask; digit++) {
    size_t n = at[digit];
    at[digit] = sum;
    sum += n;
  }
  for (size_t i = 0; i < count; i++) {
    s->to[at[key_of(s, s->from[i], by_dur) >> shift & mask]++] = s->from[i];
  }
  uint32_t *swap = s->from;
  s->from = s->to;
  s->to = swap;
}

static void sort_by(sorter *s, bool by_dur, uint64_t largest_key)
{
  const unsigned bits = s->line->count < LARGE_LINE ? SMALL_DIGIT : LARGE_DIGIT;
  for (unsigned shift = 0; shift < 64 && largest_key >> shift != 0; shift += bits) {
    sort_digit(s, by_dur, shift, bits);
  }
}

/* True if a longer event stands behind a shorter one of the same start. */
static bool has_wrong_ties(const sorter *s)
{
  for (size_t i = 1; i < s->line->count; i++) {
    uint32_t a = s->from[i - 1], b = s->from[i];
    if (s->line->start_ps[a] == s->line->start_ps[b] && xp_event_dur(s->line, a) < xp_event_dur(s->line, b)) {
      return true;
    }
  }
  return false;
}

static void begin(sorter *s)
{
  for (size_t i = 0; i < s->line->count; i++) {
    s->from[i] = (uint32_t)i;
  }
}

static void sort_permutation(sorter *s)
{
  int64_t lowest = INT64_MAX, highest = INT64_MIN;
  uint64_t longest = 0;
  for (size_t i = 0; i < s->line->count; i++) {
    int64_t start = s->line->start_ps[i];
    uint64_t dur = (uint64_t)xp_event_dur(s->line, i);
    lowest = start < lowest ? start : lowest;
    highest = start > highest ? start : highest;
    longest = dur > longest ? dur : longest;
  }
  s->lowest = lowest;
  s->longest = longest;
  begin(s);
  sort_by(s, false, (uint64_t)highest - (uint64_t)lowest);
  if (has_wrong_ties(s)) {
    begin(s);
    sort_by(s, true, longest);
    sort_by(s, false, (uint64_t)highest - (uint64_t)lowest);
  }
}

/* ---- applying it */

typedef struct {
  int64_t start;
  uint64_t offset;
  uint32_t dur, meta;
} row;

typedef struct {
  int64_t *start;
  uint64_t *offset;
  uint32_t *dur, *meta;
} columns;

static row get_row(const columns *c, size_t i)
{
  return (row){c->start[i], c->offset[i], c->dur[i], c->meta[i]};
}

static void put_row(const columns *c, size_t i, row r)
{
  c->start[i] = r.start;
  c->offset[i] = r.offset;
  c->dur[i] = r.dur;
  c->meta[i] = r.meta;
}

/* Row i becomes what row order[i] was.  Follows each cycle of the permutation once, so that no copy of a column is
 * needed; places that are done point to themselves. */
static void apply_order(const columns *c, uint32_t *order, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (order[i] == i) {
      continue;
    }
    const row first = get_row(c, i);
    size_t to = i;
    for (size_t from = order[to]; from != i; from = order[to]) {
      put_row(c, to, get_row(c, from));
      order[to] = (uint32_t)to;
      to = from;
    }
    put_row(c, to, first);
    order[to] = (uint32_t)to;
  }
}

/* The offsets of all event records, in the order of the file. */
static void find_records(const xp_line *line, uint64_t *offsets)
{
  const xp_file *file = &line->plane->host->file;
  xp_wire_reader r = xp_wire_open(line->message);
  const uint8_t *forgotten = r.start;
  xp_wire_field f;
  for (size_t i = 0; i < line->count;) {
    uint64_t at = (uint64_t)(r.pos - r.start);
    if (!xp_wire_next(&r, &f)) {
      return;
    }
    if (f.number == 4 && f.type == XP_WIRE_BYTES) {
      offsets[i++] = at;
    }
    if (r.pos - forgotten >= FORGET_STEP) {
      xp_file_forget(file, forgotten, (size_t)(r.pos - forgotten));
      forgotten = r.pos;
    }
  }
}

bool xp_line_sort(xp_line *line, xp_arena *arena)
{
  if (line->count > UINT32_MAX) {
    return false; /* the permutation has 32 bits: a line of over 8 GB */
  }
  uint64_t *offsets = xp_arena_array(arena, line->count, sizeof *offsets);
  xp_arena *temporary = xp_arena_create();
  uint32_t *both = temporary != NULL ? xp_arena_array(temporary, line->count, 2 * sizeof *both) : NULL;
  if (both != NULL) {
    sorter s = {.line = line, .from = both, .to = both + line->count};
    sort_permutation(&s);
    find_records(line, offsets);
    const columns c = {(int64_t *)(uintptr_t)line->start_ps, offsets, (uint32_t *)(uintptr_t)line->dur,
                       (uint32_t *)(uintptr_t)line->meta};
    apply_order(&c, s.from, line->count);
    line->record_offset = offsets;
    line->sorted_in_file = false;
  }
  xp_arena_destroy(temporary);
  return both != NULL;
}
