/* One plane is read in four passes, since its metadata stand behind its lines: names of stats, names of events, what
 * else the metadata of events hold, then lines and the plane's own stats.  Each pass only needs what the passes before
 * it found.
 */
#include "session/plane_merge.h"

#include "base/map.h"

/* What the ids of the plane that is being added are in the new plane. */
typedef struct {
  xp_plane_merge *merge;
  xp_map event_ids, stat_ids;
  xp_wire_writer stat, event; /* messages that are being built; their buffers are used again */
} translation;

static int64_t look_up(const xp_map *ids, int64_t id)
{
  uint32_t known = xp_map_get(ids, (uint64_t)id);
  return known == XP_NONE ? 0 : (int64_t)known;
}

/* An id that the plane's table lacks stays without a name. */
static int64_t event_id(translation *t, int64_t id)
{
  int64_t known = look_up(&t->event_ids, id);
  xp_str none = xp_str_from(NULL, 0);
  return known != 0 ? known : xp_plane_writer_event(t->merge->tables, none, none);
}

static int64_t stat_id(translation *t, int64_t id)
{
  int64_t known = look_up(&t->stat_ids, id);
  return known != 0 ? known : xp_plane_writer_stat(t->merge->tables, xp_str_from(NULL, 0));
}

static void remember(translation *t, xp_map *ids, int64_t old_id, int64_t new_id)
{
  uint32_t *entry = xp_map_entry(ids, (uint64_t)old_id);
  if (entry == NULL || new_id <= 0 || new_id >= XP_NONE) {
    t->merge->failed = true;
    return;
  }
  *entry = (uint32_t)new_id;
}

/* ---- records with other ids */

static void put_field(xp_wire_writer *to, const xp_wire_field *f)
{
  if (f->type == XP_WIRE_BYTES) {
    xp_wire_put_bytes(to, f->number, f->bytes);
  } else if (f->type == XP_WIRE_VARINT) {
    xp_wire_put_varint(to, f->number, f->value);
  } else if (f->type == XP_WIRE_FIXED64) {
    double value;
    memcpy(&value, &f->value, sizeof value);
    xp_wire_put_double(to, f->number, value);
  }
}

/* An XStat as a field of something. */
static void put_stat(translation *t, xp_wire_writer *to, uint32_t number, xp_str stat)
{
  xp_wire_reader r = xp_wire_open(stat);
  xp_wire_field f;
  t->stat.len = 0;
  while (xp_wire_next(&r, &f)) {
    if (f.type == XP_WIRE_VARINT && (f.number == 1 || f.number == 7)) {
      f.value = (uint64_t)stat_id(t, (int64_t)f.value);
    }
    put_field(&t->stat, &f);
  }
  xp_wire_put_message(to, number, &t->stat);
}

/* ---- metadata */

/* The message of a map entry, and its key. */
static xp_str entry_value(xp_str entry, int64_t *key)
{
  xp_wire_field f;
  xp_str value = xp_str_from(NULL, 0);
  *key = 0;
  for (xp_wire_reader r = xp_wire_open(entry); xp_wire_next(&r, &f);) {
    if (f.number == 1 && f.type == XP_WIRE_VARINT) {
      *key = (int64_t)f.value;
    } else if (f.number == 2 && f.type == XP_WIRE_BYTES) {
      value = f.bytes;
    }
  }
  return value;
}

static xp_str text_of(xp_str message, uint32_t number)
{
  xp_wire_field f;
  xp_str text = xp_str_from(NULL, 0);
  for (xp_wire_reader r = xp_wire_open(message); xp_wire_next(&r, &f);) {
    text = f.number == number && f.type == XP_WIRE_BYTES ? f.bytes : text;
  }
  return text;
}

static bool add_stat_name(translation *t, xp_str entry)
{
  int64_t id;
  xp_str message = entry_value(entry, &id);
  remember(t, &t->stat_ids, id, xp_plane_writer_stat(t->merge->tables, text_of(message, 2)));
  return true;
}

static bool add_event_name(translation *t, xp_str entry)
{
  int64_t id;
  xp_str message = entry_value(entry, &id);
  remember(t, &t->event_ids, id, xp_plane_writer_event(t->merge->tables, text_of(message, 2), text_of(message, 4)));
  return true;
}

/* Ids of children stand one in a field, or packed. */
static void put_children(translation *t, xp_wire_writer *to, const xp_wire_field *f)
{
  if (f->type == XP_WIRE_VARINT) {
    xp_wire_put_varint(to, 6, (uint64_t)event_id(t, (int64_t)f->value));
    return;
  }
  const uint8_t *pos = (const uint8_t *)f->bytes.ptr, *end = pos + f->bytes.len;
  uint64_t child;
  while (f->type == XP_WIRE_BYTES && pos < end && xp_wire_varint(&pos, end, &child)) {
    xp_wire_put_varint(to, 6, (uint64_t)event_id(t, (int64_t)child));
  }
}

/* Metadata of equal names are one: the first that has more than names gives it. */
static bool add_event_details(translation *t, xp_str entry)
{
  int64_t id;
  xp_wire_field f;
  xp_str message = entry_value(entry, &id);
  int64_t to = event_id(t, id);
  xp_wire_writer records = {0};
  bool is_bare = xp_plane_writer_meta_is_bare(t->merge->tables, to);
  for (xp_wire_reader r = xp_wire_open(message); is_bare && xp_wire_next(&r, &f);) {
    if (f.number == 5 && f.type == XP_WIRE_BYTES) {
      put_stat(t, &records, 5, f.bytes);
    } else if (f.number == 3 && f.type == XP_WIRE_BYTES) {
      put_field(&records, &f);
    } else if (f.number == 6) {
      put_children(t, &records, &f);
    }
  }
  xp_plane_writer_meta_raw(t->merge->tables, to, &records);
  xp_wire_writer_free(&records);
  return true;
}

/* ---- lines */

static bool add_event(translation *t, xp_merged_line *line, int64_t base_ps, xp_str event)
{
  xp_wire_writer *to = &t->event;
  xp_event_row row;
  xp_wire_field f;
  int64_t id = 0, start_ps;
  if (!xp_event_row_read(event, &row) || __builtin_add_overflow(base_ps, row.offset_ps, &start_ps)) {
    return false;
  }
  for (xp_wire_reader r = xp_wire_open(event); xp_wire_next(&r, &f);) {
    id = f.number == 1 && f.type == XP_WIRE_VARINT ? (int64_t)f.value : id;
  }
  to->len = 0;
  xp_wire_put_varint(to, 1, (uint64_t)event_id(t, id));
  for (xp_wire_reader r = xp_wire_open(event); xp_wire_next(&r, &f);) {
    if (f.number == 4 && f.type == XP_WIRE_BYTES) {
      put_stat(t, to, 4, f.bytes);
    } else if (f.number != 1 && f.number != 2) {
      put_field(to, &f);
    }
  }
  t->merge->failed |= to->failed;
  xp_merged_lines_add(&t->merge->lines, line, start_ps, row.dur_ps, xp_str_from((const char *)to->data, to->len));
  return true;
}

/* The fields of a line that are not events. */
static xp_merged_line read_line_head(xp_str message, const xp_plane_frame *frame)
{
  xp_wire_field f;
  xp_merged_line line = {0};
  for (xp_wire_reader r = xp_wire_open(message); xp_wire_next(&r, &f);) {
    xp_str *text = f.number == 2 ? &line.name : f.number == 11 ? &line.display_name : NULL;
    int64_t *number = f.number == 1    ? &line.id
                      : f.number == 3  ? &line.base_ns
                      : f.number == 9  ? &line.dur_ps
                      : f.number == 10 ? &line.display_id
                                       : NULL;
    if (text != NULL && f.type == XP_WIRE_BYTES) {
      *text = f.bytes;
    } else if (number != NULL && f.type == XP_WIRE_VARINT) {
      *number = (int64_t)f.value;
    }
  }
  line.base_ns = xp_plane_frame_base_ns(frame, line.base_ns);
  return line;
}

static void take_name(xp_plane_merge *m, xp_str *name, xp_str from)
{
  if (name->len == 0 && from.len > 0) {
    *name = xp_arena_copy(m->arena, from);
    m->failed |= name->ptr == NULL;
  }
}

/* The first line of an id that has a name gives it; the earliest base becomes the base of all. */
static void join_heads(xp_plane_merge *m, xp_merged_line *line, const xp_merged_line *head)
{
  take_name(m, &line->name, head->name);
  take_name(m, &line->display_name, head->display_name.len > 0 ? head->display_name : head->name);
  line->display_id = line->display_id != 0 ? line->display_id : head->display_id;
  line->base_ns = head->base_ns < line->base_ns ? head->base_ns : line->base_ns;
  line->dur_ps = head->dur_ps > line->dur_ps ? head->dur_ps : line->dur_ps;
}

static bool add_line(translation *t, xp_str message)
{
  xp_merged_line head = read_line_head(message, &t->merge->frame);
  int64_t base_ps;
  if (__builtin_mul_overflow(head.base_ns, (int64_t)1000, &base_ps)) {
    return false;
  }
  xp_merged_line *line = xp_merged_lines_get(&t->merge->lines, head.id);
  xp_wire_field f;
  bool is_good = line != NULL;
  if (is_good) {
    join_heads(t->merge, line, &head);
  }
  xp_wire_reader r = xp_wire_open(message);
  while (is_good && xp_wire_next(&r, &f)) {
    if (f.number == 4 && f.type == XP_WIRE_BYTES) {
      is_good = add_event(t, line, base_ps, f.bytes);
    }
  }
  return is_good && r.status == XP_WIRE_OK;
}

/* ---- the plane */

/* A later stat of a name takes the place of an earlier one. */
static bool add_plane_stat(translation *t, xp_str stat)
{
  xp_plane_merge *m = t->merge;
  xp_wire_field f;
  int64_t id = 0;
  for (xp_wire_reader r = xp_wire_open(stat); xp_wire_next(&r, &f);) {
    id = f.number == 1 && f.type == XP_WIRE_VARINT ? (int64_t)f.value : id;
  }
  id = stat_id(t, id);
  t->event.len = 0;
  put_stat(t, &t->event, 6, stat);
  xp_merged_stat found = {id, xp_arena_copy(m->arena, xp_str_from((const char *)t->event.data, t->event.len))};
  size_t i = 0;
  while (i < m->stat_count && m->stats[i].id != id) {
    i++;
  }
  xp_merged_stat *stats = xp_arena_grow(m->arena, m->stats, m->stat_count, &m->stat_capacity, sizeof *stats);
  if (stats == NULL || found.record.ptr == NULL || t->event.failed) {
    m->failed = true;
    return false;
  }
  m->stats = stats;
  stats[i] = found;
  m->stat_count += i == m->stat_count;
  return true;
}

static bool add_records(translation *t, xp_str plane, uint32_t number, bool (*add)(translation *t, xp_str record))
{
  xp_wire_reader r = xp_wire_open(plane);
  xp_wire_field f;
  bool is_good = true;
  while (is_good && xp_wire_next(&r, &f)) {
    if (f.number == number && f.type == XP_WIRE_BYTES) {
      is_good = add(t, f.bytes);
    }
  }
  return is_good && r.status == XP_WIRE_OK;
}

bool xp_plane_merge_add(xp_plane_merge *m, xp_str plane)
{
  translation t = {.merge = m};
  xp_map_init(&t.event_ids, m->arena);
  xp_map_init(&t.stat_ids, m->arena);
  bool is_good = add_records(&t, plane, 5, add_stat_name);
  is_good &= add_records(&t, plane, 4, add_event_name);
  is_good &= add_records(&t, plane, 4, add_event_details);
  is_good &= add_records(&t, plane, 3, add_line);
  is_good &= add_records(&t, plane, 6, add_plane_stat);
  xp_wire_writer_free(&t.stat);
  xp_wire_writer_free(&t.event);
  return is_good;
}

void xp_plane_merge_stats(xp_plane_merge *m)
{
  int64_t process = xp_plane_writer_stat(m->tables, xp_str_c("process_id"));
  bool has_process = false;
  for (size_t i = 0; i < m->stat_count; i++) {
    has_process |= m->stats[i].id == process;
    xp_wire_writer record = {.data = (uint8_t *)(uintptr_t)m->stats[i].record.ptr, .len = m->stats[i].record.len};
    xp_plane_writer_stats_raw(m->tables, &record);
  }
  if (!has_process) {
    xp_plane_writer_int(m->tables, process, m->frame.process_id);
  }
}
