/* Some stats of an event in one pass: what the readers of devices ask of millions of events.
 *
 * What nearly all records look like is read here; whatever looks different goes to the general readers.
 */
#include "xspace/tables.h"

static void pick_stat(const xp_plane *plane, xp_str message, const xp_stat_picker *picker, xp_stat *out)
{
  const uint8_t *p = (const uint8_t *)message.ptr, *end = p + message.len;
  uint64_t id, value;
  xp_stat stat;
  if (p < end && *p == (1 << 3 | XP_WIRE_VARINT)) { /* the id comes first, as all writers have it */
    p++;
    if (xp_wire_varint(&p, end, &id)) {
      uint32_t index = xp_id_get(&plane->tables->stats, id);
      uint8_t slot = picker->slot[plane->stat_keys[index]];
      if (slot == 0 || out[slot - 1].type != XP_STAT_NONE) {
        return;
      }
      uint8_t key = p < end ? *p : 0;
      p++;
      if ((key == (3 << 3 | XP_WIRE_VARINT) || key == (4 << 3 | XP_WIRE_VARINT)) && xp_wire_varint(&p, end, &value) &&
          p == end) {
        out[slot - 1] = (xp_stat){.key = plane->stat_keys[index],
                                  .name = plane->stat_names[index],
                                  .type = key == (3 << 3 | XP_WIRE_VARINT) ? XP_STAT_UINT64 : XP_STAT_INT64,
                                  .bits = value};
        return;
      }
    }
  }
  if (xp_stat_read(plane, message, &stat)) {
    uint8_t slot = picker->slot[stat.key];
    if (slot != 0 && out[slot - 1].type == XP_STAT_NONE) {
      out[slot - 1] = stat;
    }
  }
}

/* Skips fields that are numbers, as long as there is more than one of the longest. */
static const uint8_t *skip_numbers(const uint8_t *p, const uint8_t *end)
{
  enum { LONGEST = 11 };
  while (end - p > LONGEST && *p < 0x80 && (*p & 7) == XP_WIRE_VARINT && *p >> 3 > 0) {
    const uint8_t *last = p + 1;
    while (*last >= 0x80 && last - p < LONGEST - 1) {
      last++;
    }
    if (*last >= 0x80) {
      break;
    }
    p = last + 1;
  }
  return p;
}

/* The next stat of an event record.  Numbers before it are skipped, and a short one taken, without the general reader:
 * an event of a device has a dozen fields, and there are millions. */
static bool next_own_stat(xp_wire_reader *r, xp_str *stat)
{
  enum { STAT_KEY = 4 << 3 | XP_WIRE_BYTES };
  const uint8_t *const end = r->end, *p = skip_numbers(r->pos, end);
  if (end - p > 2 && *p == STAT_KEY && p[1] < 0x80 && p[1] <= end - p - 2) {
    *stat = xp_str_from((const char *)p + 2, p[1]);
    r->pos = p + 2 + p[1];
    return true;
  }
  r->pos = p;
  for (xp_wire_field f; xp_wire_next(r, &f);) {
    if (f.number == 4 && f.type == XP_WIRE_BYTES) {
      *stat = f.bytes;
      return true;
    }
  }
  return false;
}

void xp_stats_pick(xp_event_cursor *cursor, size_t i, const xp_stat_picker *picker, xp_stat *out, size_t count)
{
  const xp_line *line = cursor->line;
  const xp_event_meta *meta = xp_event_meta_of(line, i);
  for (size_t k = 0; k < count; k++) {
    out[k].type = XP_STAT_NONE;
  }
  xp_wire_reader r = xp_wire_open(xp_event_record(cursor, i));
  for (xp_str stat; next_own_stat(&r, &stat);) {
    pick_stat(line->plane, stat, picker, out);
  }
  if (meta->args.len > 0 || meta->has_stats) {
    xp_stats stats = xp_meta_stats(line->plane, meta);
    for (xp_stat stat; xp_stats_next(&stats, &stat);) {
      uint8_t slot = picker->slot[stat.key];
      if (slot != 0 && out[slot - 1].type == XP_STAT_NONE) {
        out[slot - 1] = stat;
      }
    }
  }
}
