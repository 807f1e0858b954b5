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
    name = f.number == 2 && f.type == XP_WIRE_BYTES ? f.bytes : name;
  }
  return name;
}

static xp_str record_between(const uint8_t *from, const uint8_t *to)
{
  return xp_str_from((const char *)from, (size_t)(to - from));
}

/* ---- lines */

typedef struct {
  const uint8_t *first, *last; /* records of events: from, to */
  bool is_as_saved;            /* the events are in order, and nothing else stands between them */
  xp_event_row newest;
  int64_t timestamp_ns;
  xp_rope others; /* records of all other fields */
} line_parts;

static bool read_event(line_parts *line, xp_str message, const uint8_t *from, const uint8_t *to)
{
  xp_event_row row;
  if (!xp_event_row_read(message, &row)) {
    return false;
  }
  if (line->first == NULL) {
    line->first = from;
    line->is_as_saved = true;
  } else {
    line->is_as_saved = line->is_as_saved && line->last == from && xp_event_rows_in_order(&line->newest, &row);
  }
  line->last = to;
  line->newest = row;
  return true;
}

static bool read_line(xp_str message, line_parts *line, xp_arena *arena)
{
  xp_wire_reader r = xp_wire_open(message);
  xp_wire_field f;
  xp_rope_init(&line->others, arena);
  for (const uint8_t *from = r.pos; xp_wire_next(&r, &f); from = r.pos) {
    if (f.number == 3 && f.type == XP_WIRE_VARINT) {
      line->timestamp_ns = (int64_t)f.value;
    } else if (f.number != 4 || f.type != XP_WIRE_BYTES) {
      xp_rope_borrow(&line->others, record_between(from, r.pos));
    } else if (!read_event(line, f.bytes, from, r.pos)) {
      return false;
    }
  }
  return r.status == XP_WIRE_OK;
}

/* Copies the events of a line (which could be read) in their order, into one piece that has room for the whole line. */
static void put_sorted(xp_rope *rope, xp_str message, xp_arena *scratch)
{
  enum { SLACK = 32 }; /* that the writer wants behind the last record */
  xp_event_rows events = {0};
  xp_event_row row;
  xp_wire_field f;
  for (xp_wire_reader r = xp_wire_open(message); !rope->failed && xp_wire_next(&r, &f);) {
    if (f.number == 4 && f.type == XP_WIRE_BYTES) {
      rope->failed |= !xp_event_row_read(f.bytes, &row) || !xp_event_rows_add(&events, scratch, row);
    }
  }
  uint8_t *room = xp_arena_alloc(rope->arena, message.len + SLACK);
  if (room == NULL || !xp_event_rows_sort(&events, scratch)) {
    rope->failed = true;
    return;
  }
  xp_wire_writer records = {.data = room, .capacity = message.len + SLACK};
  for (size_t i = 0; i < events.count; i++) {
    xp_wire_put_bytes(&records, 4, events.rows[i].message);
  }
  xp_rope_borrow(rope, xp_str_from((const char *)records.data, records.len));
}

static bool copy_line(xp_rope *plane, xp_str message, const xp_plane_frame *frame, xp_arena *scratch)
{
  line_parts line = {0};
  if (!read_line(message, &line, plane->arena)) {
    return false;
  }
  int64_t base_ns = xp_plane_frame_base_ns(frame, line.timestamp_ns);
  xp_wire_writer base = {0};
  if (base_ns != 0) {
    xp_wire_put_varint(&base, 3, (uint64_t)base_ns);
  }
  xp_rope_records(&line.others, &base);
  if (line.is_as_saved) {
    xp_rope_borrow(&line.others, record_between(line.first, line.last));
  } else if (line.first != NULL) {
    put_sorted(&line.others, message, scratch);
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
  int64_t largest, known; /* stat ids: of all, and of process_id */
  bool is_known, has_value;
} process_stat;

static void look_for_process(xp_str plane, process_stat *found)
{
  xp_wire_field f;
  for (xp_wire_reader r = xp_wire_open(plane); xp_wire_next(&r, &f);) {
    int64_t id = 0;
    if (f.number == 5 && f.type == XP_WIRE_BYTES) {
      if (xp_str_is(stat_entry(f.bytes, &id), "process_id")) {
        found->known = id;
        found->is_known = true;
      }
      found->largest = id > found->largest ? id : found->largest;
    }
  }
  for (xp_wire_reader r = xp_wire_open(plane); found->is_known && xp_wire_next(&r, &f);) {
    found->has_value |= f.number == 6 && f.type == XP_WIRE_BYTES && stat_id(f.bytes) == found->known;
  }
}

static void put_process(xp_rope *rope, xp_str plane, int64_t process_id)
{
  process_stat found = {0};
  look_for_process(plane, &found);
  if (found.has_value || found.largest == INT64_MAX) { /* no id is free: the plane goes without */
    return;
  }
  xp_wire_writer records = {0}, name = {0}, message = {0};
  uint64_t id = (uint64_t)(found.is_known ? found.known : found.largest + 1);
  if (!found.is_known) {
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
