/* A plane has few lines, so they are searched from end to end; events are sorted once, when their line is written. */
#include "session/merged_lines.h"

/* ---- ids */

static bool is_taken(const xp_merged_lines *l, int64_t id)
{
  for (size_t i = 0; i < l->count; i++) {
    if (l->lines[i].id == id) {
      return true;
    }
  }
  for (size_t i = 0; i < l->taken_count; i++) {
    if (l->taken[i] == id) {
      return true;
    }
  }
  return false;
}

static int64_t free_id(const xp_merged_lines *l, int64_t wanted)
{
  int64_t id = wanted;
  for (int64_t next = (int64_t)1 << 32; is_taken(l, id); next++) {
    id = next;
  }
  return id;
}

xp_merged_line *xp_merged_lines_get(xp_merged_lines *l, int64_t id)
{
  for (size_t i = l->first_joinable; i < l->count; i++) {
    if (l->lines[i].source_id == id) {
      return &l->lines[i];
    }
  }
  xp_merged_line *lines = xp_arena_grow(l->arena, l->lines, l->count, &l->capacity, sizeof *lines);
  if (lines == NULL) {
    l->failed = true;
    return NULL;
  }
  l->lines = lines;
  lines[l->count] = (xp_merged_line){.id = free_id(l, id), .source_id = id, .base_ns = INT64_MAX};
  return &lines[l->count++];
}

void xp_merged_lines_keep_apart(xp_merged_lines *l, const int64_t *taken, size_t taken_count)
{
  l->first_joinable = l->count;
  l->taken = taken;
  l->taken_count = taken_count;
}

/* ---- events */

void xp_merged_lines_add(xp_merged_lines *l, xp_merged_line *line, int64_t offset_ps, int64_t dur_ps, xp_str message)
{
  xp_str copy = xp_arena_copy(l->arena, message);
  xp_event_row row = {offset_ps, dur_ps, copy};
  l->failed |= copy.ptr == NULL || !xp_event_rows_add(&line->events, l->arena, row);
}

/* ---- writing */

/* True if num_occurrences is left to read: such an event has no offset, the two are a oneof. */
static bool is_count(xp_wire_reader r)
{
  xp_wire_field f;
  bool found = false;
  while (!found && xp_wire_next(&r, &f)) {
    found = f.number == 5 && f.type == XP_WIRE_VARINT;
  }
  return found;
}

/* The message begins with the metadata id; the offset goes behind it, where upstream writes it. */
static void put_event(xp_wire_writer *to, const xp_event_row *row, int64_t base_ps, xp_wire_writer *scratch)
{
  xp_wire_reader r = xp_wire_open(row->message);
  xp_wire_field id = {0};
  xp_wire_next(&r, &id);
  scratch->len = 0;
  xp_wire_put_varint(scratch, 1, id.value);
  if (!is_count(r)) {
    xp_wire_put_varint(scratch, 2, (uint64_t)row->offset_ps - (uint64_t)base_ps);
  }
  xp_wire_writer rest = {.data = (uint8_t *)(uintptr_t)r.pos, .len = (size_t)(r.end - r.pos)};
  xp_wire_put_raw(scratch, &rest);
  xp_wire_put_message(to, 4, scratch);
}

void xp_merged_line_write(xp_merged_lines *l, xp_merged_line *line, xp_rope *plane)
{
  l->failed |= !xp_event_rows_sort(&line->events, l->arena);
  xp_wire_writer message = {0}, scratch = {0};
  int64_t base_ns = line->base_ns == INT64_MAX ? 0 : line->base_ns;
  xp_wire_put_number(&message, 1, (uint64_t)line->id);
  xp_wire_put_bytes(&message, 2, line->name);
  xp_wire_put_number(&message, 3, (uint64_t)base_ns);
  for (size_t i = 0; i < line->events.count && !l->failed; i++) {
    put_event(&message, &line->events.rows[i], base_ns * 1000, &scratch);
  }
  xp_wire_put_number(&message, 9, (uint64_t)line->dur_ps);
  xp_wire_put_number(&message, 10, (uint64_t)line->display_id);
  xp_wire_put_bytes(&message, 11, line->display_name);
  xp_wire_writer_free(&scratch);
  xp_rope body;
  xp_rope_init(&body, plane->arena);
  xp_rope_records(&body, &message);
  xp_rope_nest(plane, 3, &body);
}
