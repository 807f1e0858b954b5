/* The events of a segment into columns.
 *
 * The loop has one path for the usual record, with hardly a branch that the processor could guess wrong, and one for
 * everything else (see record.h).  Whatever is rare (stats, times outside of the session, long durations) leaves the
 * short path.  The counts were found by scanning, so the columns have their exact size and nothing is checked per event
 * but the record itself.  Segments write to disjoint parts of the columns; what they find beside is summed up
 * afterwards.
 */
#include "xspace/load.h"
#include "xspace/record.h"

enum { BLOCK = 64 };

typedef struct {
  xp_segment *segment;
  const xp_plane *plane;
  xp_arena *arena;
  int64_t base, zero_offset, lowest, highest;
  int64_t *start;
  uint32_t *dur, *meta;
  int64_t previous_start, previous_dur;
  const uint32_t *ids; /* of the dense table */
  uint64_t id_count;
  uint64_t base_above_lowest,
      span;          /* base - lowest, and the room for starts above lowest: one comparison finds what is outside */
  bool can_be_usual; /* the sums of the fast path, whose numbers have at most 56 bits, cannot overflow */
  bool is_recent;    /* the processor, see varint.h */
  bool is_unusual;   /* some event of the block is */
} decoder;

/* Flags of the stats in [pos, end), byte by byte; fields of other numbers are skipped. */
static bool stats_flags_any(decoder *d, const uint8_t *pos, const uint8_t *end, uint32_t *flags)
{
  xp_wire_reader r = xp_wire_open(xp_str_from((const char *)pos, (size_t)(end - pos)));
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == 4 && f.type == XP_WIRE_BYTES) {
      const uint8_t *p = (const uint8_t *)f.bytes.ptr;
      *flags |= XP_EVENT_HAS_STATS;
      if (!xp_stat_flags(d->plane, p, p + f.bytes.len, flags)) {
        d->segment->damage = (xp_damage){p, XP_WIRE_BAD};
        return false;
      }
    }
  }
  if (r.status != XP_WIRE_OK) {
    d->segment->damage = (xp_damage){r.pos, r.status};
    return false;
  }
  return true;
}

/* The same for usual stats: less than 128 bytes, an id of one or two bytes, and one value that fills the rest.  At
 * least 8 bytes can be read behind `end`.  Returns 0 if they are not usual, or damaged. */
static uint32_t stats_flags(const decoder *d, const uint8_t *p, const uint8_t *end)
{
  const xp_id_table *table = &d->plane->tables->stat_flags;
  uint32_t found = XP_EVENT_HAS_STATS;
  while (p < end) {
    const uint8_t *stat_end = p + 2 + p[1], *value = p + 4;
    uint64_t id = p[3];
    if (p[0] != XP_EVENT_STAT_KEY || p[1] >= 0x80 || p[2] != XP_EVENT_ID_KEY || stat_end > end) {
      return 0;
    }
    if (id >= 0x80) {
      id = (id & 0x7f) | (uint64_t)*value++ << 7;
    }
    if (value >= stat_end || id >= table->dense_count || value[-1] >= 0x80 || !xp_value_fills(value, stat_end) ||
        table->dense[id] == XP_STAT_IS_ROOT) {
      return 0;
    }
    found |= table->dense[id];
    p = stat_end;
  }
  return found;
}

/* ---- unusual events */

/* Durations of 2^31 ps and more go to the table of the segment. */
static uint32_t long_dur(decoder *d, int64_t dur)
{
  xp_segment *s = d->segment;
  enum { ROOM = sizeof s->long_durs->values / sizeof *s->long_durs->values };
  if (s->long_durs == NULL || s->long_durs->count == ROOM) {
    xp_long_durs *fresh = xp_arena_alloc(d->arena, sizeof *fresh);
    fresh->older = s->long_durs;
    fresh->first = s->long_count;
    s->long_durs = fresh;
  }
  s->long_durs->values[s->long_durs->count++] = dur;
  d->is_unusual = true;
  return 0x80000000u + (uint32_t)s->long_count++;
}

/* The duration of an event, from the column. */
static int64_t dur_of(const decoder *d, size_t i)
{
  size_t index = d->dur[i] & 0x7fffffffu;
  if (d->dur[i] < 0x80000000u) {
    return (int64_t)index;
  }
  const xp_long_durs *part = d->segment->long_durs;
  while (index < part->first) {
    part = part->older;
  }
  return part->values[index - part->first];
}

static uint32_t time_flags(const decoder *d, int64_t start, int64_t dur, bool is_zero)
{
  if (dur < 0 || is_zero) {
    return XP_EVENT_UNTIMED;
  }
  return start < d->lowest || xp_add_saturating(start, dur) > d->highest ? XP_EVENT_STRAY : 0;
}

/* Stores any event. */
static void put_event(decoder *d, size_t i, const xp_record *r, uint32_t flags)
{
  int64_t start = xp_add_saturating(d->base, r->offset_ps), dur = r->dur_ps < 0 ? 0 : r->dur_ps;
  flags |= xp_id_get(&d->plane->tables->events, r->id);
  flags |= time_flags(d, start, r->dur_ps, r->offset_ps == d->zero_offset && dur == 0);
  d->segment->untimed += (flags & XP_EVENT_UNTIMED) != 0;
  d->segment->stray += (flags & XP_EVENT_STRAY) != 0;
  d->start[i] = start;
  d->meta[i] = flags;
  d->dur[i] = dur < INT64_C(0x80000000) ? (uint32_t)dur : long_dur(d, dur);
  d->is_unusual = true;
}

/* Reads fields of the line up to and including its next event, and stores it.  Returns the byte behind it; NULL on
 * damage. */
static const uint8_t *put_next_event(decoder *d, const uint8_t *p, const uint8_t *end, size_t i)
{
  xp_wire_reader reader = xp_wire_open(xp_str_from((const char *)p, (size_t)(end - p)));
  for (xp_wire_field f; xp_wire_next(&reader, &f);) {
    if (f.number != 4 || f.type != XP_WIRE_BYTES) {
      continue;
    }
    xp_record r;
    uint32_t flags = 0;
    const uint8_t *bad;
    xp_wire_status status = xp_record_slow(f.bytes, &r, &bad);
    if (status != XP_WIRE_OK) {
      d->segment->damage = (xp_damage){bad, status};
      return NULL;
    }
    if (!stats_flags_any(d, r.stats, r.end, &flags)) {
      return NULL;
    }
    put_event(d, i, &r, flags);
    return reader.pos;
  }
  d->segment->damage = (xp_damage){reader.pos, XP_WIRE_BAD}; /* cannot happen: scanning saw the event */
  return NULL;
}

/* ---- usual events */

/* Stores events i .. stop-1 as long as they are usual: short, of a dense id, inside of the session, of a duration below
 * 2^31 ps.  What does not change is read through d each time, not kept: registers are short here, and a load is cheaper
 * than a spilled position, on which the next event waits.  Returns the number of the first event that was not stored;
 * *pos is its record. */
XP_ALWAYS_INLINE size_t put_usual_with(decoder *d, const uint8_t **pos, const uint8_t *end, size_t i, size_t stop,
                                       bool pext)
{
  const uint8_t *p = *pos;
  for (xp_record r; i < stop && end - p >= XP_FAST_BYTES && xp_record_fast(p, &r, pext); i++) {
    if (r.id >= d->id_count || (uint64_t)r.offset_ps + d->base_above_lowest > d->span ||
        (r.dur_ps == 0 && r.offset_ps == d->zero_offset)) {
      break;
    }
    uint32_t flags = 0;
    if (r.stats != r.end) {
      flags = end - r.end < 8 ? 0 : stats_flags(d, r.stats, r.end);
      if (flags == 0) {
        break;
      }
    }
    d->start[i] = d->base + r.offset_ps;
    d->dur[i] = __builtin_expect(r.dur_ps >> 31 == 0, 1) ? (uint32_t)r.dur_ps : long_dur(d, r.dur_ps);
    d->meta[i] = d->ids[r.id] | flags;
    p = r.end;
  }
  *pos = p;
  return i;
}

XP_TARGET_RECENT XP_NOINLINE static size_t put_usual_recent(decoder *d, const uint8_t **pos, const uint8_t *end,
                                                            size_t i, size_t stop)
{
  return put_usual_with(d, pos, end, i, stop, true);
}

XP_NOINLINE static size_t put_usual(decoder *d, const uint8_t **pos, const uint8_t *end, size_t i, size_t stop)
{
  return put_usual_with(d, pos, end, i, stop, false);
}

/* ---- blocks */

/* What the events first .. stop-1 add to what is known of the segment.  They are in the cache still, and loops over one
 * column or two can use vectors. */
XP_ALWAYS_INLINE void sum_up_with(decoder *d, size_t first, size_t stop)
{
  const int64_t *starts = d->start;
  const uint32_t *durs = d->dur, *metas = d->meta;
  uint32_t flags = 0, unnamed = 0;
  for (size_t i = first; i < stop; i++) {
    flags |= metas[i];
    unnamed += (metas[i] & XP_EVENT_META_MASK) == 0;
  }
  int64_t last_ps = d->segment->last_ps;
  uint64_t unsorted = starts[first] < d->previous_start ||
                      (starts[first] == d->previous_start && (int64_t)durs[first] > d->previous_dur);
  for (size_t i = first; i < stop; i++) {
    const int64_t last = starts[i] + durs[i];
    last_ps = last > last_ps ? last : last_ps;
  }
  for (size_t i = first + 1; i < stop; i++) {
    unsorted |= (uint64_t)(starts[i] < starts[i - 1]) |
                ((uint64_t)(starts[i] == starts[i - 1]) & (uint64_t)(durs[i] > durs[i - 1]));
  }
  d->previous_start = starts[stop - 1];
  d->previous_dur = durs[stop - 1];
  d->segment->last_ps = last_ps;
  d->segment->flags |= flags;
  d->segment->unnamed += unnamed;
  d->segment->sorted &= unsorted == 0;
}

XP_TARGET_RECENT static void sum_up_recent(decoder *d, size_t first, size_t stop)
{
  sum_up_with(d, first, stop);
}

static void sum_up(decoder *d, size_t first, size_t stop)
{
  sum_up_with(d, first, stop);
}

/* The same where some event is not usual. */
static void sum_up_unusual(decoder *d, size_t first, size_t stop)
{
  xp_segment *s = d->segment;
  for (size_t i = first; i < stop; i++) {
    const int64_t start = d->start[i];
    const int64_t dur = dur_of(d, i);
    const int64_t last = xp_add_saturating(start, dur);
    s->flags |= d->meta[i];
    s->unnamed += (d->meta[i] & XP_EVENT_META_MASK) == 0;
    if (xp_event_has_time(s->line, i) && last > s->last_ps) {
      s->last_ps = last;
    }
    s->sorted &= start > d->previous_start || (start == d->previous_start && dur <= d->previous_dur);
    d->previous_start = start;
    d->previous_dur = dur;
  }
}

/* Stores the events of one block; false on damage. */
static bool decode_block(decoder *d, const uint8_t **pos, const uint8_t *end, size_t first, size_t stop)
{
  d->is_unusual = false;
  for (size_t i = first; i < stop; i++) {
    if (d->can_be_usual) {
      i = d->is_recent ? put_usual_recent(d, pos, end, i, stop) : put_usual(d, pos, end, i, stop);
    }
    *pos = i < stop ? put_next_event(d, *pos, end, i) : *pos;
    if (*pos == NULL) {
      return false;
    }
  }
  if (d->is_unusual) {
    sum_up_unusual(d, first, stop);
  } else if (d->is_recent) {
    sum_up_recent(d, first, stop);
  } else {
    sum_up(d, first, stop);
  }
  return true;
}

static void decode(decoder *d)
{
  xp_segment *s = d->segment;
  const xp_line *line = s->line;
  const uint8_t *const start = (const uint8_t *)line->message.ptr, *const end = start + line->message.len;
  uint64_t *blocks = (uint64_t *)(uintptr_t)line->block_offset;
  const uint8_t *p = start + s->from;
  const size_t stop = s->first + s->count;
  for (size_t i = s->first, next; i < stop; i = next) {
    if (i % BLOCK == 0) {
      blocks[i / BLOCK] = (uint64_t)(p - start);
    }
    next = (i / BLOCK + 1) * BLOCK < stop ? (i / BLOCK + 1) * BLOCK : stop;
    if (!decode_block(d, &p, end, i, next)) {
      return;
    }
  }
  s->head_start = d->start[s->first];
  s->tail_start = d->previous_start;
  s->tail_dur = d->previous_dur;
  s->head_dur = dur_of(d, s->first);
}

/* Events must lie between these, or they are stray.  Three days each way hold every capture, and leave the sums and
 * differences of a few times far from the ends of their range, so that the analysis need not check each. */
static void set_bounds(decoder *d, const xp_host *host)
{
  const int64_t most = INT64_C(1) << 58;
  int64_t length = host->has_session ? xp_sub_saturating(host->stop_ps, host->start_ps) : most;
  int64_t lowest = xp_sub_saturating(host->start_ps, length);
  int64_t highest = xp_add_saturating(host->has_session ? host->stop_ps : 0, length);
  d->lowest = lowest < -most ? -most : lowest;
  d->highest = highest > most ? most : highest;
  /* what starts this late may end too late: such events are not usual */
  const uint64_t short_dur = UINT64_C(1) << 31, span = (uint64_t)d->highest - (uint64_t)d->lowest;
  d->span = d->highest > d->lowest && span > short_dur ? span - short_dur : 0;
  d->base_above_lowest = (uint64_t)d->base - (uint64_t)d->lowest;
}

static void decode_segment(xp_segment *s, xp_arena *arena)
{
  xp_line *line = s->line;
  const xp_host *host = line->plane->host;
  decoder d = {.segment = s, .plane = line->plane, .arena = arena, .base = line->base_ps};
  d.zero_offset = xp_sub_saturating(0, xp_ns_to_ps(line->timestamp_ns));
  set_bounds(&d, host);
  d.start = (int64_t *)(uintptr_t)line->start_ps;
  d.dur = (uint32_t *)(uintptr_t)line->dur;
  d.meta = (uint32_t *)(uintptr_t)line->meta;
  d.previous_start = INT64_MIN;
  d.previous_dur = INT64_MAX;
  d.ids = d.plane->tables->events.dense;
  d.id_count = d.plane->tables->events.dense_count;
  d.can_be_usual = d.base > -(INT64_C(1) << 61) && d.base < INT64_C(1) << 61;
  d.is_recent = xp_cpu_is_recent();
  s->sorted = true;
  s->last_ps = INT64_MIN;
  decode(&d);
}

void xp_columns_allocate(xp_loader *loader)
{
  xp_arena *arena = loader->capture.arena;
  for (size_t i = 0; i < loader->plane_count; i++) {
    xp_plane *plane = &loader->planes[i]->plane;
    for (size_t k = 0; loader->planes[i]->damage.pos == NULL && k < plane->line_count; k++) {
      xp_line *line = &plane->lines[k];
      line->start_ps = xp_arena_array(arena, line->count, sizeof *line->start_ps);
      line->dur = xp_arena_array(arena, line->count, sizeof *line->dur);
      line->meta = xp_arena_array(arena, line->count, sizeof *line->meta);
      line->block_offset = xp_arena_array(arena, line->count / BLOCK + 1, sizeof *line->block_offset);
    }
  }
}

void xp_segments_decode(xp_loader *loader, size_t batch, xp_arena *arena)
{
  const xp_batch *b = &loader->batches[batch];
  uint64_t bytes = 0;
  for (xp_segment *s = &loader->segments[b->first]; s < &loader->segments[b->first + b->count]; s++) {
    if (s->count > 0 && s->line->start_ps != NULL) {
      decode_segment(s, arena);
      xp_file_forget(&s->line->plane->host->file, s->line->message.ptr + s->from, s->end - s->from);
    }
    bytes += s->end - s->from;
  }
  xp_loader_progress(loader, bytes, false);
}
