/* One plane: the ranges of its lines, and the tables that turn metadata ids into names.
 *
 * The plane is walked twice: once to count, so that every table gets its exact size, and once to fill.  Of map entries
 * with equal keys the last wins, as protobuf demands.  Index 0 of both tables stands for ids that have no entry.
 */
#include "xspace/load.h"

enum { FIELD_ID = 1, FIELD_NAME = 2, FIELD_LINE = 3, FIELD_EVENT_META = 4, FIELD_STAT_META = 5 };

static bool mark(xp_damage *damage, const xp_wire_reader *r)
{
  if (r->status != XP_WIRE_OK) {
    damage->pos = r->pos;
    damage->why = r->status;
  }
  return r->status == XP_WIRE_OK;
}

static bool count_fields(xp_plane_draft *draft)
{
  xp_plane *plane = &draft->plane;
  xp_wire_reader r = xp_wire_open(plane->message);
  xp_wire_field f;
  while (xp_wire_next(&r, &f)) {
    if (f.type == XP_WIRE_BYTES) {
      plane->line_count += f.number == FIELD_LINE;
      draft->event_entries += f.number == FIELD_EVENT_META;
      draft->stat_entries += f.number == FIELD_STAT_META;
      if (f.number == FIELD_NAME) {
        plane->name = f.bytes;
      }
    } else if (f.type == XP_WIRE_VARINT && f.number == FIELD_ID) {
      plane->id = (int64_t)f.value;
    }
  }
  return mark(&draft->damage, &r);
}

static bool read_entry(xp_plane_draft *draft, xp_str entry, uint64_t *key, xp_str *value)
{
  xp_wire_reader r = xp_wire_open(entry);
  xp_wire_field f;
  *key = 0;
  *value = xp_str_from(entry.ptr, 0);
  while (xp_wire_next(&r, &f)) {
    if (f.number == 1 && f.type == XP_WIRE_VARINT) {
      *key = f.value;
    } else if (f.number == 2 && f.type == XP_WIRE_BYTES) {
      *value = f.bytes;
    }
  }
  return mark(&draft->damage, &r);
}

static void id_table_init(xp_id_table *table, size_t entries, xp_arena *arena)
{
  table->dense_count = entries == 0 ? 0 : entries * 4 + 64;
  table->dense = xp_arena_array(arena, table->dense_count, sizeof *table->dense);
  xp_map_init(&table->sparse, arena);
}

static void id_put(xp_id_table *table, uint64_t id, uint32_t value)
{
  if (id < table->dense_count) {
    table->dense[id] = value;
  } else {
    xp_map_put(&table->sparse, id, value);
  }
}

/* ---- stats */

static bool add_stat(xp_plane_draft *draft, xp_plane_tables *tables, xp_str entry)
{
  xp_plane *plane = &draft->plane;
  uint64_t id;
  xp_str body;
  if (!read_entry(draft, entry, &id, &body)) {
    return false;
  }
  xp_str name = xp_str_from(body.ptr, 0);
  xp_wire_reader r = xp_wire_open(body);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    name = f.number == 2 && f.type == XP_WIRE_BYTES ? f.bytes : name;
  }
  uint32_t index = xp_id_get(&tables->stats, id);
  if (index == 0) {
    index = (uint32_t)plane->stat_count++;
    id_put(&tables->stats, id, index);
  }
  plane->stat_names[index] = name;
  plane->stat_keys[index] = xp_key_find(name);
  id_put(&tables->stat_flags, id, xp_key_flags(plane->stat_keys[index]));
  return mark(&draft->damage, &r);
}

static bool fill_stats(xp_plane_draft *draft, xp_plane_tables *tables, xp_arena *arena)
{
  xp_plane *plane = &draft->plane;
  plane->stat_names = xp_arena_array(arena, draft->stat_entries + 1, sizeof *plane->stat_names);
  plane->stat_keys = xp_arena_array(arena, draft->stat_entries + 1, sizeof *plane->stat_keys);
  plane->stat_count = 1;
  id_table_init(&tables->stats, draft->stat_entries, arena);
  id_table_init(&tables->stat_flags, draft->stat_entries, arena);
  xp_wire_reader r = xp_wire_open(plane->message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == FIELD_STAT_META && f.type == XP_WIRE_BYTES && !add_stat(draft, tables, f.bytes)) {
      return false;
    }
  }
  return true;
}

/* ---- events */

static bool read_event_meta(xp_plane_draft *draft, uint64_t id, xp_str body, xp_event_meta *meta, uint32_t *flags)
{
  xp_str name = xp_str_from(body.ptr, 0);
  *meta = (xp_event_meta){.id = (int64_t)id, .message = body, .display_name = name};
  *flags = 0;
  xp_wire_reader r = xp_wire_open(body);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type != XP_WIRE_BYTES) {
      continue;
    }
    const uint8_t *p = (const uint8_t *)f.bytes.ptr;
    if (f.number == 2) {
      name = f.bytes;
    } else if (f.number == 4) {
      meta->display_name = f.bytes;
    } else if (f.number == 5) {
      meta->has_stats = true;
      if (!xp_stat_flags(&draft->plane, p, p + f.bytes.len, flags)) {
        draft->damage = (xp_damage){p, XP_WIRE_BAD};
        return false;
      }
    }
  }
  xp_traceme_split(name, &meta->name, &meta->args);
  *flags |= xp_args_flags(meta->args);
  return mark(&draft->damage, &r);
}

static bool add_event_meta(xp_plane_draft *draft, xp_plane_tables *tables, xp_str entry)
{
  xp_plane *plane = &draft->plane;
  uint64_t id;
  xp_str body;
  if (!read_entry(draft, entry, &id, &body)) {
    return false;
  }
  uint32_t index = xp_id_get(&tables->events, id) & XP_EVENT_META_MASK;
  if (index == 0) {
    if (plane->event_meta_count > XP_EVENT_META_MASK) {
      return true; /* more names than an event can point to: their events stay without a name, and are counted */
    }
    index = (uint32_t)plane->event_meta_count++;
  }
  uint32_t flags;
  bool is_good = read_event_meta(draft, id, body, &plane->event_meta[index], &flags);
  id_put(&tables->events, id, index | flags);
  return is_good;
}

static bool fill_events(xp_plane_draft *draft, xp_plane_tables *tables, xp_arena *arena)
{
  xp_plane *plane = &draft->plane;
  plane->event_meta = xp_arena_array(arena, draft->event_entries + 1, sizeof *plane->event_meta);
  plane->event_meta_count = 1;
  plane->lines = xp_arena_array(arena, plane->line_count, sizeof *plane->lines);
  id_table_init(&tables->events, draft->event_entries, arena);
  size_t line = 0;
  xp_wire_reader r = xp_wire_open(plane->message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type != XP_WIRE_BYTES) {
      continue;
    }
    if (f.number == FIELD_EVENT_META && !add_event_meta(draft, tables, f.bytes)) {
      return false;
    }
    if (f.number == FIELD_LINE) {
      plane->lines[line] =
          (xp_line){.plane = plane, .index = (uint32_t)line, .message = f.bytes, .sorted_in_file = true};
      line++;
    }
  }
  return true;
}

static bool load_plane(xp_plane_draft *draft, xp_arena *arena)
{
  if (!count_fields(draft)) {
    return false;
  }
  xp_plane_tables *tables = xp_arena_alloc(arena, sizeof *tables);
  draft->plane.tables = tables;
  return fill_stats(draft, tables, arena) && fill_events(draft, tables, arena);
}

void xp_plane_load(xp_loader *loader, size_t item, xp_arena *arena)
{
  xp_plane_draft *draft = loader->planes[item];
  if (!load_plane(draft, arena)) {
    draft->plane.line_count = 0; /* it will be left out, and its lines were not all set up */
  }
}
