/* Building an XSpace plane by plane.
 *
 * Events are appended to the message of their line at once; an event stays open until the next call that is not one of
 * its stats.  Metadata entries are kept as finished records, and go behind the lines as upstream's serializer orders
 * them. Names are copied, so the caller may drop them.  Memory running out makes the plane fail as a whole, at the end.
 */
#include "xspace/write.h"

#include <stdlib.h>

#include "base/map.h"

/* A metadata entry of an event: its names, and the records of its stats. */
typedef struct {
  xp_str name, display_name;
  xp_wire_writer stats;
} event_entry;

struct xp_plane_writer {
  xp_arena *arena; /* without escape */
  xp_str name;
  int64_t id;
  bool failed;
  event_entry *events;
  size_t event_count, event_room;
  xp_intern event_names, stat_names;
  xp_wire_writer lines, line, event, plane_stats;
  xp_wire_writer stat; /* the one that is being built; its buffer is used again */
  bool in_line, in_event;
};

xp_plane_writer *xp_plane_writer_create(xp_str name, int64_t id)
{
  xp_plane_writer *plane = calloc(1, sizeof *plane);
  xp_arena *arena = xp_arena_create();
  if (plane == NULL || arena == NULL) {
    free(plane);
    xp_arena_destroy(arena);
    return NULL;
  }
  plane->arena = arena;
  plane->name = xp_arena_copy(arena, name);
  plane->failed = plane->name.ptr == NULL;
  plane->id = id;
  xp_intern_init(&plane->event_names, arena);
  xp_intern_init(&plane->stat_names, arena);
  return plane;
}

static int64_t intern_copy(xp_plane_writer *plane, xp_intern *table, xp_str name)
{
  uint32_t number = xp_intern_find(table, name);
  if (number == XP_NONE) {
    xp_str copy = xp_arena_copy(plane->arena, name);
    number = copy.ptr == NULL ? XP_NONE : xp_intern_add(table, copy);
  }
  plane->failed |= number == XP_NONE;
  return number == XP_NONE ? 0 : (int64_t)number + 1;
}

int64_t xp_plane_writer_stat(xp_plane_writer *plane, xp_str name)
{
  return intern_copy(plane, &plane->stat_names, name);
}

/* The entry of an id that was just given; NULL when memory is out. */
static event_entry *entry_of(xp_plane_writer *plane, int64_t id)
{
  if ((size_t)id <= plane->event_count) {
    return &plane->events[id - 1];
  }
  event_entry *events =
      xp_arena_grow(plane->arena, plane->events, plane->event_count, &plane->event_room, sizeof *events);
  if (events == NULL) {
    return NULL;
  }
  plane->events = events;
  events[plane->event_count] = (event_entry){.name = plane->event_names.strings[id - 1]};
  return &events[plane->event_count++];
}

int64_t xp_plane_writer_event(xp_plane_writer *plane, xp_str name, xp_str display_name)
{
  int64_t id = plane->failed ? 0 : intern_copy(plane, &plane->event_names, name);
  event_entry *entry = id > 0 ? entry_of(plane, id) : NULL;
  if (entry == NULL) {
    plane->failed = true;
    return 0;
  }
  if (entry->display_name.len == 0 && display_name.len > 0) {
    entry->display_name = xp_arena_copy(plane->arena, display_name);
    plane->failed |= entry->display_name.ptr == NULL;
  }
  return id;
}

int64_t xp_plane_writer_event_of(xp_plane_writer *plane, xp_str key, xp_str name, xp_str display_name)
{
  size_t before = plane->event_count;
  int64_t id = xp_plane_writer_event(plane, key, display_name);
  if (plane->event_count > before) {
    plane->events[before].name = xp_arena_copy(plane->arena, name);
    plane->failed |= plane->events[before].name.ptr == NULL;
  }
  return id;
}

/* ---- lines and events */

static void close_event(xp_plane_writer *plane)
{
  if (plane->in_event) {
    xp_wire_put_message(&plane->line, 4, &plane->event);
    plane->event.len = 0;
    plane->in_event = false;
  }
}

static void close_line(xp_plane_writer *plane)
{
  close_event(plane);
  if (plane->in_line) {
    xp_wire_put_message(&plane->lines, 3, &plane->line);
    plane->line.len = 0;
    plane->in_line = false;
  }
}

void xp_plane_writer_line(xp_plane_writer *plane, int64_t id, xp_str name, int64_t timestamp_ns)
{
  close_line(plane);
  plane->in_line = true;
  xp_wire_put_number(&plane->line, 1, (uint64_t)id);
  xp_wire_put_text(&plane->line, 2, name);
  xp_wire_put_number(&plane->line, 3, (uint64_t)timestamp_ns);
}

void xp_plane_writer_add(xp_plane_writer *plane, int64_t event_id, int64_t offset_ps, int64_t dur_ps)
{
  close_event(plane);
  if (!plane->in_line) {
    xp_plane_writer_line(plane, 0, xp_str_from(NULL, 0), 0);
  }
  plane->in_event = true;
  xp_wire_put_number(&plane->event, 1, (uint64_t)event_id);
  xp_wire_put_varint(&plane->event, 2, (uint64_t)offset_ps); /* a oneof: written even when 0 */
  xp_wire_put_number(&plane->event, 3, (uint64_t)dur_ps);
}

/* ---- stats */

/* Begins a stat message. */
static xp_wire_writer *begin_stat(xp_plane_writer *plane, int64_t stat_id)
{
  plane->stat.len = 0;
  xp_wire_put_varint(&plane->stat, 1, (uint64_t)stat_id);
  return &plane->stat;
}

/* The stat belongs to the newest event, or to the plane if there is none yet. */
static void end_stat(xp_plane_writer *plane)
{
  if (plane->in_event) {
    xp_wire_put_message(&plane->event, 4, &plane->stat);
  } else {
    xp_wire_put_message(&plane->plane_stats, 6, &plane->stat);
  }
}

static void put_number_stat(xp_plane_writer *plane, int64_t stat_id, uint32_t field, uint64_t value)
{
  xp_wire_put_varint(begin_stat(plane, stat_id), field, value);
  end_stat(plane);
}

static void put_text_stat(xp_plane_writer *plane, int64_t stat_id, uint32_t field, xp_str value)
{
  xp_wire_put_bytes(begin_stat(plane, stat_id), field, value);
  end_stat(plane);
}

void xp_plane_writer_int(xp_plane_writer *plane, int64_t stat_id, int64_t value)
{
  put_number_stat(plane, stat_id, 4, (uint64_t)value);
}

void xp_plane_writer_uint(xp_plane_writer *plane, int64_t stat_id, uint64_t value)
{
  put_number_stat(plane, stat_id, 3, value);
}

void xp_plane_writer_double(xp_plane_writer *plane, int64_t stat_id, double value)
{
  xp_wire_put_double(begin_stat(plane, stat_id), 2, value);
  end_stat(plane);
}

void xp_plane_writer_text(xp_plane_writer *plane, int64_t stat_id, xp_str value)
{
  put_text_stat(plane, stat_id, 5, value);
}

void xp_plane_writer_bytes(xp_plane_writer *plane, int64_t stat_id, xp_str value)
{
  put_text_stat(plane, stat_id, 6, value);
}

void xp_plane_writer_ref(xp_plane_writer *plane, int64_t stat_id, xp_str value)
{
  put_number_stat(plane, stat_id, 7, (uint64_t)xp_plane_writer_stat(plane, value));
}

/* The same for the stats of a metadata entry. */
static void end_meta_stat(xp_plane_writer *plane, int64_t event_id)
{
  if (event_id > 0 && (size_t)event_id <= plane->event_count) {
    xp_wire_put_message(&plane->events[event_id - 1].stats, 5, &plane->stat);
  }
}

bool xp_plane_writer_meta_is_bare(const xp_plane_writer *plane, int64_t event_id)
{
  return event_id > 0 && (size_t)event_id <= plane->event_count && plane->events[event_id - 1].stats.len == 0;
}

void xp_plane_writer_meta_uint(xp_plane_writer *plane, int64_t event_id, int64_t stat_id, uint64_t value)
{
  xp_wire_put_varint(begin_stat(plane, stat_id), 3, value);
  end_meta_stat(plane, event_id);
}

void xp_plane_writer_meta_text(xp_plane_writer *plane, int64_t event_id, int64_t stat_id, xp_str value)
{
  xp_wire_put_bytes(begin_stat(plane, stat_id), 5, value);
  end_meta_stat(plane, event_id);
}

void xp_plane_writer_meta_bytes(xp_plane_writer *plane, int64_t event_id, int64_t stat_id, xp_str value)
{
  xp_wire_put_bytes(begin_stat(plane, stat_id), 6, value);
  end_meta_stat(plane, event_id);
}

void xp_plane_writer_meta_raw(xp_plane_writer *plane, int64_t event_id, const xp_wire_writer *records)
{
  if (event_id > 0 && (size_t)event_id <= plane->event_count) {
    xp_wire_put_raw(&plane->events[event_id - 1].stats, records);
  }
}

void xp_plane_writer_stats_raw(xp_plane_writer *plane, const xp_wire_writer *records)
{
  xp_wire_put_raw(&plane->plane_stats, records);
}

/* ---- finishing */

/* A map entry: the key, and a message that repeats it as its id. */
static void put_entry(xp_wire_writer *to, uint32_t field, size_t number, xp_str name, xp_str display,
                      const xp_wire_writer *stats)
{
  xp_wire_writer body = {0}, entry = {0};
  xp_wire_put_varint(&body, 1, number);
  xp_wire_put_text(&body, 2, name);
  xp_wire_put_text(&body, 4, display);
  if (stats != NULL) {
    xp_wire_put_raw(&body, stats);
  }
  xp_wire_put_varint(&entry, 1, number);
  xp_wire_put_message(&entry, 2, &body);
  xp_wire_put_message(to, field, &entry);
  xp_wire_writer_free(&body);
  xp_wire_writer_free(&entry);
}

bool xp_plane_writer_tables(xp_plane_writer *plane, xp_wire_writer *out)
{
  for (size_t i = 0; i < plane->event_count; i++) {
    const event_entry *e = &plane->events[i];
    put_entry(out, 4, i + 1, e->name, e->display_name, &e->stats);
  }
  for (size_t i = 0; i < plane->stat_names.count; i++) {
    put_entry(out, 5, i + 1, plane->stat_names.strings[i], xp_str_from(NULL, 0), NULL);
  }
  xp_wire_put_raw(out, &plane->plane_stats);
  return !plane->failed && !out->failed;
}

bool xp_plane_writer_finish(xp_plane_writer *plane, xp_wire_writer *space)
{
  close_line(plane);
  xp_wire_writer message = {0};
  xp_wire_put_number(&message, 1, (uint64_t)plane->id);
  xp_wire_put_text(&message, 2, plane->name);
  xp_wire_put_raw(&message, &plane->lines);
  bool is_good = xp_plane_writer_tables(plane, &message) && !plane->line.failed && !plane->event.failed;
  if (is_good) {
    xp_wire_put_message(space, 1, &message);
    is_good = !space->failed;
  }
  xp_wire_writer_free(&message);
  xp_plane_writer_free(plane);
  return is_good;
}

void xp_plane_writer_free(xp_plane_writer *plane)
{
  if (plane == NULL) {
    return;
  }
  for (size_t i = 0; i < plane->event_count; i++) {
    xp_wire_writer_free(&plane->events[i].stats);
  }
  xp_wire_writer_free(&plane->lines);
  xp_wire_writer_free(&plane->line);
  xp_wire_writer_free(&plane->event);
  xp_wire_writer_free(&plane->plane_stats);
  xp_wire_writer_free(&plane->stat);
  xp_arena_destroy(plane->arena);
  free(plane);
}
