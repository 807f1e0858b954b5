/* Lines cut into pieces that can be decoded independently.
 *
 * Records of a line can only be found one after the other, so a long line is first cut at guesses: from every multiple
 * of PIECE bytes on, the next place is searched where many plausible event records follow each other.  The pieces are
 * scanned in parallel (counting events, skipping them by length).  Then they are joined: a piece whose guess is not
 * exactly where the piece before it ended is scanned again from there.  So the result never depends on a guess, only
 * the speed does.
 */
#include "xspace/load.h"

enum { PIECE = 256 << 10, BATCH = 512 << 10, SEARCH = 64 << 10, CHAIN = 24, FIELD_EVENTS = 4 };

#define EVENT_KEY (FIELD_EVENTS << 3 | XP_WIRE_BYTES)
#define NOT_FOUND SIZE_MAX

/* ---- scanning */

static void take_line_field(xp_line_fields *fields, const xp_wire_field *f)
{
  switch (f->number << 3 | f->type) {
  case 1 << 3 | XP_WIRE_VARINT:
    fields->has_id = true;
    fields->id = (int64_t)f->value;
    break;
  case 2 << 3 | XP_WIRE_BYTES:
    fields->has_name = true;
    fields->name = f->bytes;
    break;
  case 3 << 3 | XP_WIRE_VARINT:
    fields->has_timestamp = true;
    fields->timestamp_ns = (int64_t)f->value;
    break;
  case 11 << 3 | XP_WIRE_BYTES:
    fields->has_display_name = true;
    fields->display_name = f->bytes;
    break;
  default:
    break;
  }
}

/* Where records of less than 128 bytes surely end before the message does, and begin before the segment ends. */
static const uint8_t *last_short(const xp_segment *s, const uint8_t *start, const uint8_t *end)
{
  const uint8_t *stop = start + s->stop;
  return end - start < 130 ? start : end - 130 < stop ? end - 130 : stop;
}

static inline bool is_short_event(const uint8_t *p, const uint8_t *last)
{
  return p < last && p[0] == EVENT_KEY && p[1] < 0x80;
}

/* Skips short event records. */
static void skip_short(xp_segment *s, xp_wire_reader *r)
{
  const uint8_t *p = r->pos, *const last = last_short(s, r->start, r->end);
  size_t n = 0;
  for (; is_short_event(p, last); n++) {
    p += 2 + p[1];
  }
  s->count += n;
  r->pos = p;
}

/* The same in two segments in turn, until one of them needs something else.  Each step waits for the length that the
 * step before it loads, so two chains take hardly longer than one. */
static void skip_short_in_two(xp_segment *a, xp_wire_reader *ra, xp_segment *b, xp_wire_reader *rb)
{
  const uint8_t *p = ra->pos, *const last_p = last_short(a, ra->start, ra->end);
  const uint8_t *q = rb->pos, *const last_q = last_short(b, rb->start, rb->end);
  size_t n = 0;
  for (; is_short_event(p, last_p) && is_short_event(q, last_q); n++) {
    p += 2 + p[1];
    q += 2 + q[1];
  }
  a->count += n;
  b->count += n;
  ra->pos = p;
  rb->pos = q;
}

static xp_wire_reader scan_begin(xp_segment *s)
{
  xp_wire_reader r = xp_wire_open(s->line->message);
  r.pos = r.start + s->from;
  s->count = 0;
  s->fields = (xp_line_fields){0};
  s->damage = (xp_damage){0};
  return r;
}

/* Skips short records and one other.  False at the end of the segment. */
static bool scan_step(xp_segment *s, xp_wire_reader *r)
{
  skip_short(s, r);
  xp_wire_field f;
  bool is_in = r->pos < r->start + s->stop;
  if (is_in && xp_wire_next(r, &f)) {
    if (f.number == FIELD_EVENTS && f.type == XP_WIRE_BYTES) {
      s->count++;
    } else {
      take_line_field(&s->fields, &f);
    }
    return true;
  }
  if (is_in) {
    s->damage = (xp_damage){r->pos, r->status};
  }
  s->end = (size_t)(r->pos - r->start);
  return false;
}

static void scan(xp_segment *s)
{
  xp_wire_reader r = scan_begin(s);
  while (scan_step(s, &r)) {
  }
}

static void scan_two(xp_segment *a, xp_segment *b)
{
  xp_wire_reader ra = scan_begin(a), rb = scan_begin(b);
  bool in_a = true, in_b = true;
  while (in_a || in_b) {
    if (in_a && in_b) {
      skip_short_in_two(a, &ra, b, &rb);
    }
    in_a = in_a && scan_step(a, &ra);
    in_b = in_b && scan_step(b, &rb);
  }
}

/* ---- guessing */

/* Follows CHAIN plausible event records from p on.  Returns the place behind them, or NULL. */
static const uint8_t *follow_chain(const uint8_t *p, const uint8_t *end)
{
  for (int i = 0; i < CHAIN; i++) {
    uint64_t size;
    if (p == end || *p++ != EVENT_KEY || !xp_wire_varint(&p, end, &size) || size < 2 || size > (uint64_t)(end - p) ||
        *p != (1 << 3 | XP_WIRE_VARINT)) {
      return NULL;
    }
    p += size;
  }
  return p;
}

/* A place behind `from` where a record seems to begin.  Not the first one: the stats of an event look like events, too,
 * but behind a whole chain the walk has left the event in which it began. */
static size_t guess_record(xp_str message, size_t from)
{
  const uint8_t *start = (const uint8_t *)message.ptr, *end = start + message.len;
  size_t limit = message.len - from < SEARCH ? message.len : from + SEARCH;
  for (size_t at = from; at < limit; at++) {
    const uint8_t *hit = memchr(start + at, EVENT_KEY, limit - at);
    if (hit == NULL) {
      break;
    }
    const uint8_t *behind = follow_chain(hit, end);
    if (behind != NULL) {
      return (size_t)(behind - start);
    }
    at = (size_t)(hit - start);
  }
  return NOT_FOUND;
}

/* ---- plan, scan, join */

static size_t pieces_of(const xp_line *line)
{
  return line->message.len / PIECE + 1;
}

static void add_segments(xp_loader *loader, xp_line *line)
{
  size_t pieces = pieces_of(line);
  xp_segment *segments = &loader->segments[loader->segment_count];
  for (size_t i = 0; i < pieces; i++) {
    segments[i].line = line;
    segments[i].from = i * PIECE;
    segments[i].stop = i + 1 == pieces ? line->message.len : (i + 1) * PIECE;
  }
  line->segments = segments;
  line->segment_count = pieces;
  loader->segment_count += pieces;
}

/* Small lines share a task, so that no task is tiny. */
static void plan_batches(xp_loader *loader)
{
  size_t room = loader->segment_count;
  loader->batches = xp_arena_array(loader->capture.arena, room, sizeof *loader->batches);
  size_t bytes = BATCH;
  for (size_t i = 0; i < loader->segment_count; i++) {
    if (bytes >= BATCH) {
      loader->batches[loader->batch_count++] = (xp_batch){i, 0};
      bytes = 0;
    }
    loader->batches[loader->batch_count - 1].count++;
    bytes += loader->segments[i].stop - loader->segments[i].from + 64;
  }
}

void xp_segments_plan(xp_loader *loader)
{
  size_t count = 0;
  for (size_t i = 0; i < loader->plane_count; i++) {
    xp_plane *plane = &loader->planes[i]->plane;
    for (size_t k = 0; loader->planes[i]->damage.pos == NULL && k < plane->line_count; k++) {
      count += pieces_of(&plane->lines[k]);
      loader->bytes_total += plane->lines[k].message.len;
    }
  }
  loader->segments = xp_arena_array(loader->capture.arena, count, sizeof *loader->segments);
  for (size_t i = 0; i < loader->plane_count; i++) {
    xp_plane *plane = &loader->planes[i]->plane;
    for (size_t k = 0; loader->planes[i]->damage.pos == NULL && k < plane->line_count; k++) {
      add_segments(loader, &plane->lines[k]);
    }
  }
  plan_batches(loader);
}

/* Replaces both bounds, which are multiples of PIECE, by guesses.  The same guess is made for the end of a segment and
 * for the beginning of the next one, by whoever scans it. */
static void guess_bounds(xp_segment *s)
{
  const xp_str message = s->line->message;
  if (s->stop < message.len) {
    size_t stop = guess_record(message, s->stop);
    s->stop = stop != NOT_FOUND ? stop : s->stop;
  }
  if (s->from > 0) {
    s->from = guess_record(message, s->from);
  }
}

/* The next segment of [*s, stop) that has a start, and *s behind it; NULL if there is none. */
static xp_segment *next_to_scan(xp_segment **s, const xp_segment *stop)
{
  while (*s < stop) {
    xp_segment *segment = (*s)++;
    guess_bounds(segment);
    if (segment->from != NOT_FOUND) {
      return segment;
    }
  }
  return NULL;
}

void xp_segments_scan(xp_loader *loader, size_t batch, xp_arena *arena)
{
  (void)arena;
  const xp_batch *b = &loader->batches[batch];
  xp_segment *s = &loader->segments[b->first], *stop = s + b->count;
  uint64_t bytes = 0;
  for (const xp_segment *k = s; k < stop; k++) {
    bytes += k->stop - k->from;
  }
  for (xp_segment *first; (first = next_to_scan(&s, stop)) != NULL;) {
    xp_segment *second = next_to_scan(&s, stop);
    if (second != NULL) {
      scan_two(first, second);
    } else {
      scan(first);
    }
  }
  if (loader->options.no_events) {
    xp_loader_progress(loader, bytes, false);
  }
}

static void take_fields(xp_line *line, const xp_line_fields *f)
{
  line->id = f->has_id ? f->id : line->id;
  line->timestamp_ns = f->has_timestamp ? f->timestamp_ns : line->timestamp_ns;
  line->name = f->has_name ? f->name : line->name;
  line->display_name = f->has_display_name ? f->display_name : line->display_name;
}

static void join_line(xp_segment *segments, size_t count, xp_line *line, xp_damage *damage)
{
  size_t end = 0;
  for (size_t i = 0; i < count && damage->pos == NULL; i++) {
    xp_segment *s = &segments[i];
    if (s->from != end) {
      s->from = end;
      scan(s);
    }
    s->first = line->count;
    line->count += s->count;
    end = s->end;
    take_fields(line, &s->fields);
    *damage = s->damage;
  }
}

void xp_segments_join(xp_loader *loader)
{
  size_t at = 0;
  for (size_t i = 0; i < loader->plane_count; i++) {
    xp_plane_draft *draft = loader->planes[i];
    for (size_t k = 0; draft->plane.tables != NULL && k < draft->plane.line_count; k++) {
      xp_line *line = &draft->plane.lines[k];
      if (line->segment_count > 0) {
        join_line(&loader->segments[at], line->segment_count, line, &draft->damage);
        at += line->segment_count;
      }
    }
  }
}
