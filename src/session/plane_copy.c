/* A plane of a device may hold gigabytes of events, so its bytes stay where the plugin put them: the rope gets slices
 * of them, and new bytes only for what changes: the base of a line, the order of events that are not in order, and one
 * stat.
 *
 * What upstream does to planes before it saves them: xla/tsl/profiler/convert/post_process_single_host_xplane.cc
 * (NormalizeTimestamps, SortXSpace) and the stat process_id of profiler_session.cc.
 */
#include "session/plane_copy.h"

#include "session/event_rows.h"

xp_str xp_plane_message_name(xp_str plane)
{
  xp_wire_reader r = xp_wire_open(plane);
  xp_wire_field f;
  xp_str name = xp_str_from(NULL, 0);
  while (xp_wire_next(&r, &f)) {
    if (f.number == 2 && f.type == XP_WIRE_BYTES) {
      name = f.bytes;
    } else if (f.number > 2) {
      break; /* upstream writes fields in order; a name behind the lines is looked for no further */
    }
  }
  return name;
}

static xp_str record_between(const uint8_t *from, const uint8_t *to)
{
  return xp_str_from((const char *)from, (size_t)(to - from));
}

/* ---- lines */

typedef struct {
  xp_event_rows events;
  const uint8_t *first, *last; /* records of events: from, to */
  bool is_contiguous;          /* nothing else stands between them */
  int64_t timestamp_ns;
  xp_rope others; /* records of all other fields */
} line_parts;

static bool read_event(line_parts *line, xp_str message, const uint8_t *from, const uint8_t *to, xp_arena *scratch)
{
  xp_event_row row;
  if (!xp_event_row_read(message, &row) || !xp_event_rows_add(&line->events, scratch, row)) {
    return false;
  }
  line->is_contiguous = line->first == NULL || (line->is_contiguous && line->last == from);
  line->first = line->first == NULL ? from : line->first;
  line->last = to;
  return true;
}

static bool read_line(xp_str message, line_parts *line, xp_arena *arena, xp_arena *scratch)
{
  xp_wire_reader r = xp_wire_open(message);
  xp_wire_field f;
  xp_rope_init(&line->others, arena);
  for (const uint8_t *from = r.pos; xp_wire_next(&r, &f); from = r.pos) {
    if (f.number == 3 && f.type == XP_WIRE_VARINT) {
      line->timestamp_ns = (int64_t)f.value;
    } else if (f.number != 4 || f.type != XP_WIRE_BYTES) {
      xp_rope_borrow(&line->others, record_between(from, r.pos));
    } else if (!read_event(line, f.bytes, from, r.pos, scratch)) {
      return false;
    }
  }
  return r.status == XP_WIRE_OK;
}

/* The events in their order: one slice if they stand so already, else copied. */
static void put_events(xp_rope *rope, line_parts *line, xp_arena *scratch)
{
  if (line->events.is_sorted && line->is_contiguous) {
    xp_rope_borrow(rope, record_between(line->first, line->last));
    return;
  }
  rope->failed |= !xp_event_rows_sort(&line->events, scratch);
  xp_wire_writer records = {0};
  for (size_t i = 0; i < line->events.count && !rope->failed; i++) {
    xp_wire_put_bytes(&records, 4, line->events.rows[i].message);
  }
  xp_rope_records(rope, &records);
}

static bool copy_line(xp_rope *plane, xp_str message, const xp_plane_frame *frame, xp_arena *scratch)
{
  line_parts line = {0};
  if (!read_line(message, &line, plane->arena, scratch)) {
    return false;
  }
  int64_t base_ns = xp_plane_frame_base_ns(frame, line.timestamp_ns);
  xp_wire_writer base = {0};
  if (base_ns != 0) {
    xp_wire_put_varint(&base, 3, (uint64_t)base_ns);
  }
  xp_rope_records(&line.others, &base);
  if (line.events.count > 0) {
    put_events(&line.others, &line, scratch);
  }
  xp_rope_nest(plane, 3, &line.others);
  return true;
}

/* ---- process_id */

/* Id and name of a stat metadata entry (a map entry: 1 key, 2 message). */
static xp_str stat_entry(xp_str entry, int64_t *id)
{
  xp_wire_reader r = xp_wire_open(entry);
  xp_wire_field f, inner;
  xp_str name = xp_str_from(NULL, 0);
  while (xp_wire_next(&r, &f)) {
    if (f.number == 1 && f.type == XP_WIRE_VARINT) {
      *id = (int64_t)f.value;
    } else if (f.number == 2 && f.type == XP_WIRE_BYTES) {
      for (xp_wire_reader m = xp_wire_open(f.bytes); xp_wire_next(&m, &inner);) {
        name = inner.number == 2 && inner.type == XP_WIRE_BYTES ? inner.bytes : name;
      }
    }
  }
  return name;
}

/* The metadata id of a plane's stat. */
static int64_t stat_id(xp_str stat)
{
  xp_wire_reader r = xp_wire_open(stat);
  xp_wire_field f;
  int64_t id = 0;
  while (xp_wire_next(&r, &f)) {
    id = f.number == 1 && f.type == XP_WIRE_VARINT ? (int64_t)f.value : id;
  }
  return id;
}

typedef struct {
  int64_t largest, known; /* stat ids: of all, and of process_id (0: it is not there) */
  bool has_value;
} process_stat;

static void look_for_process(xp_str plane, process_stat *found)
{
  xp_wire_field f;
  for (xp_wire_reader r = xp_wire_open(plane); xp_wire_next(&r, &f);) {
    int64_t id = 0;
    if (f.number == 5 && f.type == XP_WIRE_BYTES) {
      found->known = xp_str_is(stat_entry(f.bytes, &id), "process_id") ? id : found->known;
      found->largest = id > found->largest ? id : found->largest;
    }
  }
  for (xp_wire_reader r = xp_wire_open(plane); found->known != 0 && xp_wire_next(&r, &f);) {
    found->has_value |= f.number == 6 && f.type == XP_WIRE_BYTES && stat_id(f.bytes) == found->known;
  }
}

static void put_process(xp_rope *rope, xp_str plane, int64_t process_id)
{
  process_stat found = {0};
  look_for_process(plane, &found);
  if (found.has_value || found.largest == INT64_MAX) {
    return;
  }
  xp_wire_writer records = {0}, name = {0}, message = {0};
  uint64_t id = (uint64_t)(found.known != 0 ? found.known : found.largest + 1);
  if (found.known == 0) {
    xp_wire_put_varint(&name, 1, id);
    xp_wire_put_bytes(&name, 2, xp_str_c("process_id"));
    xp_wire_put_varint(&message, 1, id);
    xp_wire_put_message(&message, 2, &name);
    xp_wire_put_message(&records, 5, &message);
    message.len = 0;
  }
  xp_wire_put_varint(&message, 1, id);
  xp_wire_put_varint(&message, 4, (uint64_t)process_id);
  xp_wire_put_message(&records, 6, &message);
  xp_wire_writer_free(&name);
  xp_wire_writer_free(&message);
  xp_rope_records(rope, &records);
}

bool xp_plane_copy(xp_rope *space, xp_str plane, const xp_plane_frame *frame, xp_arena *scratch)
{
  xp_rope copy;
  xp_rope_init(&copy, space->arena);
  xp_wire_reader r = xp_wire_open(plane);
  xp_wire_field f;
  for (const uint8_t *from = r.pos; xp_wire_next(&r, &f); from = r.pos) {
    if (f.number != 3 || f.type != XP_WIRE_BYTES) {
      xp_rope_borrow(&copy, record_between(from, r.pos));
    } else if (!copy_line(&copy, f.bytes, frame, scratch)) {
      return false;
    }
  }
  if (r.status != XP_WIRE_OK) {
    return false;
  }
  put_process(&copy, plane, frame->process_id);
  xp_rope_nest(space, 1, &copy);
  return true;
}
