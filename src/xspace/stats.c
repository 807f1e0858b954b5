/* Stats, decoded one at a time when somebody asks.
 *
 * A stat is read strictly: a message whose bytes do not fit ends the iteration, because nothing behind it can be
 * trusted. Nothing is allocated; texts point into the file.
 */
#include <stdlib.h>

#include "xspace/tables.h"

static void set_name(const xp_plane *plane, uint64_t id, xp_stat *stat)
{
  uint32_t index = xp_id_get(&plane->tables->stats, id);
  stat->name = plane->stat_names[index];
  stat->key = plane->stat_keys[index];
}

static void set_value(const xp_plane *plane, const xp_wire_field *f, xp_stat *stat)
{
  switch (f->number << 3 | f->type) {
  case 2 << 3 | XP_WIRE_FIXED64:
    stat->type = XP_STAT_DOUBLE;
    memcpy(&stat->real, &f->value, sizeof stat->real);
    break;
  case 3 << 3 | XP_WIRE_VARINT:
    stat->type = XP_STAT_UINT64;
    stat->bits = f->value;
    break;
  case 4 << 3 | XP_WIRE_VARINT:
    stat->type = XP_STAT_INT64;
    stat->bits = f->value;
    break;
  case 5 << 3 | XP_WIRE_BYTES:
    stat->type = XP_STAT_STRING;
    stat->text = f->bytes;
    break;
  case 6 << 3 | XP_WIRE_BYTES:
    stat->type = XP_STAT_BYTES;
    stat->text = f->bytes;
    break;
  case 7 << 3 | XP_WIRE_VARINT:
    stat->type = XP_STAT_STRING;
    stat->text = plane->stat_names[xp_id_get(&plane->tables->stats, f->value)];
    break;
  default:
    break;
  }
}

bool xp_stat_read(const xp_plane *plane, xp_str message, xp_stat *stat)
{
  memset(stat, 0, sizeof *stat);
  xp_wire_reader r = xp_wire_open(message);
  xp_wire_field f;
  uint64_t id = 0;
  while (xp_wire_next(&r, &f)) {
    if (f.number == 1 && f.type == XP_WIRE_VARINT) {
      id = f.value;
    } else {
      set_value(plane, &f, stat);
    }
  }
  set_name(plane, id, stat);
  return r.status == XP_WIRE_OK;
}

static bool is_zero(const xp_stat *stat)
{
  if (stat->type == XP_STAT_STRING) {
    return stat->text.len == 0 || xp_str_is(stat->text, "0");
  }
  return stat->bits == 0 && stat->real == 0;
}

/* True if one value field fills the bytes exactly. */
static bool is_one_value(const uint8_t *pos, const uint8_t *end)
{
  if (pos == end) {
    return true;
  }
  uint64_t n;
  switch (*pos++) {
  case 3 << 3 | XP_WIRE_VARINT:
  case 4 << 3 | XP_WIRE_VARINT:
  case 7 << 3 | XP_WIRE_VARINT:
    return xp_wire_varint(&pos, end, &n) && pos == end;
  case 5 << 3 | XP_WIRE_BYTES:
  case 6 << 3 | XP_WIRE_BYTES:
    return xp_wire_varint(&pos, end, &n) && n == (uint64_t)(end - pos);
  case 2 << 3 | XP_WIRE_FIXED64:
    return end - pos == 8;
  default:
    return false;
  }
}

bool xp_stat_flags(const xp_plane *plane, const uint8_t *pos, const uint8_t *end, uint32_t *flags)
{
  const uint8_t *p = pos;
  uint64_t id;
  if (p < end && *p == (1 << 3 | XP_WIRE_VARINT)) {
    p++;
    if (xp_wire_varint(&p, end, &id) && is_one_value(p, end)) {
      uint32_t f = xp_id_get(&plane->tables->stat_flags, id);
      if (f != XP_STAT_IS_ROOT) {
        *flags |= f;
        return true;
      }
    }
  }
  xp_stat stat;
  if (!xp_stat_read(plane, xp_str_from((const char *)pos, (size_t)(end - pos)), &stat)) {
    return false;
  }
  uint32_t f = xp_key_flags(stat.key);
  if (f == XP_STAT_IS_ROOT) {
    f = is_zero(&stat) ? 0 : XP_EVENT_STEP;
  }
  *flags |= f;
  return true;
}

/* ---- iteration */

static xp_stats open_parts(const xp_plane *plane, xp_str first, uint32_t field, xp_str args, xp_str second)
{
  xp_stats s = {.plane = plane, .parts = {first, second}, .part_field = {field, 5}, .args = args};
  s.pos = (const uint8_t *)first.ptr;
  return s;
}

xp_stats xp_event_stats(xp_event_cursor *cursor, size_t i)
{
  const xp_line *line = cursor->line;
  xp_str record = xp_event_record(cursor, i);
  const xp_event_meta *meta;
  if (line->meta != NULL) {
    meta = xp_event_meta_of(line, i);
  } else {
    uint64_t id = 0;
    xp_wire_reader r = xp_wire_open(record);
    for (xp_wire_field f; xp_wire_next(&r, &f);) {
      id = f.number == 1 && f.type == XP_WIRE_VARINT ? f.value : id;
    }
    meta = &line->plane->event_meta[xp_id_get(&line->plane->tables->events, id) & XP_EVENT_META_MASK];
  }
  return open_parts(line->plane, record, 4, meta->args, meta->message);
}

xp_stats xp_plane_stats(const xp_plane *plane)
{
  return open_parts(plane, plane->message, 6, xp_str_from(NULL, 0), xp_str_from(NULL, 0));
}

xp_stats xp_meta_stats(const xp_plane *plane, const xp_event_meta *meta)
{
  return open_parts(plane, xp_str_from(NULL, 0), 4, meta->args, meta->message);
}

/* The next stat of a message; false at its end or at damage. */
static bool next_in_part(xp_stats *s, xp_str part, uint32_t field, xp_stat *stat, bool *damaged)
{
  if (part.len == 0) {
    return false;
  }
  xp_wire_reader r = xp_wire_open(part);
  r.pos = s->pos;
  xp_wire_field f;
  while (xp_wire_next(&r, &f)) {
    if (f.number == field && f.type == XP_WIRE_BYTES) {
      s->pos = r.pos;
      *damaged = !xp_stat_read(s->plane, f.bytes, stat);
      return !*damaged;
    }
  }
  s->pos = r.end;
  *damaged = r.status != XP_WIRE_OK;
  return false;
}

static bool to_double(xp_str text, double *value)
{
  char buffer[64];
  if (text.len >= sizeof buffer || xp_str_find(text, 'x', 0) < text.len || xp_str_find(text, 'X', 0) < text.len) {
    return false;
  }
  memcpy(buffer, text.ptr, text.len);
  buffer[text.len] = '\0';
  char *end;
  *value = strtod(buffer, &end);
  return text.len > 0 && end == buffer + text.len;
}

static bool to_uint64(xp_str text, uint64_t *value)
{
  uint64_t n = 0;
  for (size_t i = 0; i < text.len; i++) {
    int digit = text.ptr[i] - '0';
    if (digit < 0 || digit > 9 || __builtin_mul_overflow(n, 10u, &n) ||
        __builtin_add_overflow(n, (uint64_t)digit, &n)) {
      return false;
    }
  }
  *value = n;
  return text.len > 0;
}

static bool next_in_args(xp_stats *s, xp_stat *stat)
{
  xp_str value;
  memset(stat, 0, sizeof *stat);
  if (!xp_args_next(&s->args, &stat->name, &value)) {
    return false;
  }
  stat->key = xp_key_find(stat->name);
  int64_t n;
  if (xp_str_to_int64(value, &n)) {
    stat->type = XP_STAT_INT64;
    stat->bits = (uint64_t)n;
  } else if (to_uint64(value, &stat->bits)) {
    stat->type = XP_STAT_UINT64;
  } else if (to_double(value, &stat->real)) {
    stat->type = XP_STAT_DOUBLE;
  } else {
    stat->type = XP_STAT_STRING;
    stat->text = value;
  }
  return true;
}

bool xp_stats_next(xp_stats *s, xp_stat *stat)
{
  bool damaged = false;
  if (s->stage == 0) {
    if (next_in_part(s, s->parts[0], s->part_field[0], stat, &damaged)) {
      return true;
    }
    s->stage = damaged ? 3 : 1;
  }
  if (s->stage == 1) {
    if (next_in_args(s, stat)) {
      return true;
    }
    s->stage = 2;
    s->pos = (const uint8_t *)s->parts[1].ptr;
  }
  if (s->stage == 2) {
    if (next_in_part(s, s->parts[1], s->part_field[1], stat, &damaged)) {
      return true;
    }
    s->stage = 3;
  }
  memset(stat, 0, sizeof *stat);
  return false;
}

bool xp_stats_find(xp_stats stats, xp_key key, xp_stat *stat)
{
  while (xp_stats_next(&stats, stat)) {
    if (stat->key == key) {
      return true;
    }
  }
  return false;
}

int64_t xp_stat_int(const xp_stat *stat, int64_t otherwise)
{
  int64_t n;
  uint64_t bits;
  switch (stat->type) {
  case XP_STAT_INT64:
  case XP_STAT_UINT64:
    return (int64_t)stat->bits;
  case XP_STAT_STRING:
    if (xp_str_to_int64(stat->text, &n)) {
      return n;
    }
    return to_uint64(stat->text, &bits) ? (int64_t)bits : otherwise;
  case XP_STAT_DOUBLE:
    return stat->real >= -9.2e18 && stat->real <= 9.2e18 ? (int64_t)stat->real : otherwise;
  default:
    return otherwise;
  }
}

xp_str xp_stat_text(const xp_stat *stat)
{
  bool has_text = stat->type == XP_STAT_STRING || stat->type == XP_STAT_BYTES;
  return has_text ? stat->text : xp_str_from(NULL, 0);
}
