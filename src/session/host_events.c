/* Both passes encode every event in full; the first one keeps the lengths only.  That costs two encodings and saves an
 * encoding that differs from its measure.
 *
 * Names and static texts keep their address, so an id is found by address; two addresses with equal texts get one id
 * when they are first seen.  Texts are made valid UTF-8, since protobuf refuses strings that are not.
 */
#include "session/host_events.h"

#include <stdlib.h>

#include "json/utf8.h"

void xp_host_names_init(xp_host_names *names, const xp_recording *recording, int64_t base_ps, xp_plane_writer *tables,
                        xp_arena *arena)
{
  *names = (xp_host_names){.recording = recording, .base_ps = base_ps, .tables = tables, .arena = arena};
  xp_map_init(&names->event_ids, arena);
  xp_map_init(&names->stat_ids, arena);
}

/* ---- ids */

static xp_str clean(xp_host_names *names, xp_str text)
{
  xp_str cleaned = xp_utf8_clean(text, names->arena);
  names->failed |= cleaned.ptr == NULL;
  return cleaned;
}

/* Readers of captures split names at '#' (TraceMe's encoding of arguments), so it becomes '_'. */
static xp_str clean_name(xp_host_names *names, xp_str text)
{
  xp_str name = clean(names, text);
  if (xp_str_find(name, '#', 0) == name.len) {
    return name;
  }
  char *copy = xp_arena_alloc(names->arena, name.len);
  names->failed |= copy == NULL;
  for (size_t i = 0; copy != NULL && i < name.len; i++) {
    copy[i] = name.ptr[i] == '#' ? '_' : name.ptr[i];
  }
  return xp_str_from(copy, copy != NULL ? name.len : 0);
}

static int64_t give_event(xp_host_names *names, xp_str name)
{
  return xp_plane_writer_event(names->tables, clean_name(names, name), xp_str_from(NULL, 0));
}

static int64_t give_stat(xp_host_names *names, xp_str name)
{
  return xp_plane_writer_stat(names->tables, clean(names, name));
}

/* The id of a text by its address; a new one from `give`.  Known ids are found without a change to the table, so that
 * any number of threads may read a measured line. */
static uint64_t id_of(xp_host_names *names, xp_map *ids, xp_str text, int64_t (*give)(xp_host_names *, xp_str))
{
  uint64_t address = (uint64_t)(uintptr_t)text.ptr;
  uint32_t known = xp_map_get(ids, address);
  if (known != XP_NONE) {
    return known;
  }
  uint32_t *entry = xp_map_entry(ids, address);
  if (entry == NULL) {
    names->failed = true;
    return 0;
  }
  *entry = (uint32_t)give(names, text);
  return *entry;
}

static uint64_t event_id(xp_host_names *names, xp_str name)
{
  return id_of(names, &names->event_ids, name, give_event);
}

static uint64_t stat_id(xp_host_names *names, const char *text)
{
  return id_of(names, &names->stat_ids, xp_str_c(text), give_stat);
}

/* The stat of events that were open at the stop; its name is there only if some were. */
static uint64_t unfinished_id(xp_host_names *names)
{
  if (names->unfinished_id == 0) {
    names->unfinished_id = xp_plane_writer_stat(names->tables, xp_str_c("unfinished"));
  }
  return (uint64_t)names->unfinished_id;
}

/* ---- one event */

/* The next event, in the session's time.  What was open before the recording lasts from the session's start, so that
 * readers can tell a step that is cut there from a whole one. */
static bool next_event(const xp_host_names *names, xp_recorded_cursor *cursor, xp_recorded_event *e)
{
  if (!xp_recorded_cursor_next(cursor, e)) {
    return false;
  }
  if (e->start_ps == 0) {
    e->dur_ps += names->base_ps;
  } else {
    e->start_ps += names->base_ps;
  }
  return true;
}

/* The buffers of an encoding; used again for every event. */
typedef struct {
  xp_wire_writer stat, message, record;
} buffers;

static void free_buffers(buffers *b)
{
  xp_wire_writer_free(&b->stat);
  xp_wire_writer_free(&b->message);
  xp_wire_writer_free(&b->record);
}

/* A copied text goes into the event itself, so that texts which are all different do not fill the table of names. */
static void put_copied_text(xp_wire_writer *stat, xp_str text)
{
  if (xp_utf8_is_valid(text)) {
    xp_wire_put_bytes(stat, 5, text);
    return;
  }
  char *room = malloc(XP_UTF8_REPAIRED_ROOM(text.len));
  if (room == NULL) {
    stat->failed = true;
    return;
  }
  xp_wire_put_bytes(stat, 5, xp_str_from(room, xp_utf8_repair(text, room)));
  free(room);
}

static void put_value(xp_host_names *names, xp_wire_writer *stat, const xp_arg *arg)
{
  switch (arg->type) {
  case XP_ARG_INT:
    xp_wire_put_varint(stat, 4, (uint64_t)arg->value.i);
    break;
  case XP_ARG_UINT:
    xp_wire_put_varint(stat, 3, arg->value.u);
    break;
  case XP_ARG_DOUBLE:
    xp_wire_put_double(stat, 2, arg->value.d);
    break;
  case XP_ARG_BOOL:
    xp_wire_put_varint(stat, 4, arg->value.i != 0);
    break;
  case XP_ARG_STR:
    xp_wire_put_varint(stat, 7, stat_id(names, arg->value.s));
    break;
  case XP_ARG_STR_COPY:
    put_copied_text(stat, xp_str_from(arg->value.s, arg->len));
    break;
  }
}

static void put_stat(xp_host_names *names, buffers *b, const xp_arg *arg)
{
  b->stat.len = 0;
  xp_wire_put_varint(&b->stat, 1, stat_id(names, arg->key));
  put_value(names, &b->stat, arg);
  xp_wire_put_message(&b->message, 4, &b->stat);
}

/* The XEvent, into b->message. */
static void encode(xp_host_names *names, buffers *b, const xp_recorded_event *e, bool with_offset)
{
  b->message.len = 0;
  xp_wire_put_varint(&b->message, 1, event_id(names, e->name));
  if (with_offset) {
    xp_wire_put_varint(&b->message, 2, (uint64_t)e->start_ps);
  }
  if (e->dur_ps != 0) {
    xp_wire_put_varint(&b->message, 3, (uint64_t)e->dur_ps);
  }
  for (size_t i = 0; i < e->arg_count; i++) {
    put_stat(names, b, &e->args[i]);
  }
  if (e->unfinished) {
    b->stat.len = 0;
    xp_wire_put_varint(&b->stat, 1, unfinished_id(names));
    xp_wire_put_varint(&b->stat, 4, 1);
    xp_wire_put_message(&b->message, 4, &b->stat);
  }
}

static void encode_record(xp_host_names *names, buffers *b, const xp_recorded_event *e)
{
  encode(names, b, e, true);
  b->record.len = 0;
  xp_wire_put_message(&b->record, 4, &b->message);
}

/* ---- the first pass */

bool xp_host_line_measure(xp_host_names *names, size_t thread, xp_host_line *line)
{
  *line = (xp_host_line){.names = names, .thread = thread};
  xp_recorded_cursor *cursor = xp_recorded_cursor_open(names->recording, thread);
  xp_recorded_event e;
  buffers b = {0};
  while (cursor != NULL && next_event(names, cursor, &e)) {
    encode_record(names, &b, &e);
    line->bytes += b.record.len;
  }
  names->failed |= cursor == NULL || b.record.failed;
  free_buffers(&b);
  xp_recorded_cursor_close(cursor);
  return !names->failed;
}

/* ---- the second pass */

typedef struct {
  xp_host_names *names;
  xp_recorded_cursor *cursor;
  buffers buffers;
  size_t taken; /* of buffers.record */
} line_reader;

static void close_reader(void *reader)
{
  line_reader *r = reader;
  free_buffers(&r->buffers);
  xp_recorded_cursor_close(r->cursor);
  free(r);
}

static void *open_reader(const void *context)
{
  const xp_host_line *line = context;
  line_reader *r = calloc(1, sizeof *r);
  if (r == NULL) {
    return NULL;
  }
  r->names = line->names;
  r->cursor = xp_recorded_cursor_open(line->names->recording, line->thread);
  if (r->cursor == NULL) {
    close_reader(r);
    return NULL;
  }
  return r;
}

static bool next_record(line_reader *r)
{
  xp_recorded_event e;
  if (!next_event(r->names, r->cursor, &e)) {
    return false;
  }
  encode_record(r->names, &r->buffers, &e);
  r->taken = 0;
  return !r->buffers.record.failed;
}

static size_t read_records(void *reader, uint8_t *buffer, size_t room)
{
  line_reader *r = reader;
  size_t filled = 0;
  while (filled < room) {
    size_t left = r->buffers.record.len - r->taken;
    if (left == 0) {
      if (!next_record(r)) {
        break;
      }
      continue;
    }
    size_t take = left < room - filled ? left : room - filled;
    memcpy(buffer + filled, r->buffers.record.data + r->taken, take);
    filled += take;
    r->taken += take;
  }
  return filled;
}

void xp_host_line_append(const xp_host_line *line, xp_rope *rope)
{
  static const xp_rope_source source = {open_reader, read_records, close_reader};
  xp_rope_make(rope, &source, line, line->bytes);
}

bool xp_host_line_each(xp_host_line *line,
                       void (*visit)(void *context, int64_t start_ps, int64_t dur_ps, xp_str message), void *context)
{
  xp_recorded_cursor *cursor = xp_recorded_cursor_open(line->names->recording, line->thread);
  xp_recorded_event e;
  buffers b = {0};
  while (cursor != NULL && next_event(line->names, cursor, &e)) {
    encode(line->names, &b, &e, false);
    visit(context, e.start_ps, e.dur_ps, xp_str_from((const char *)b.message.data, b.message.len));
  }
  bool is_good = cursor != NULL && !b.message.failed;
  free_buffers(&b);
  xp_recorded_cursor_close(cursor);
  return is_good;
}
