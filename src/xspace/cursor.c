/* From the number of an event to its record in the file.
 *
 * Every 64th offset is stored; the records between are skipped by their length.  A cursor remembers where it was, so
 * that rising indices cost one step each.  Lines that were not in order have the offset of every event.
 */
#include "xspace/xspace.h"
#include "wire/wire.h"

enum { BLOCK = 64 };

/* The next event record at or behind *pos, which moves behind it; empty if there is none. */
static xp_str next_record(const xp_line *line, const uint8_t **pos)
{
  xp_wire_reader r = xp_wire_open(line->message);
  r.pos = *pos;
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == 4 && f.type == XP_WIRE_BYTES) {
      *pos = r.pos;
      return f.bytes;
    }
  }
  *pos = r.end;
  return xp_str_from(NULL, 0);
}

xp_str xp_event_record(xp_event_cursor *cursor, size_t i)
{
  const xp_line *line = cursor->line;
  const uint8_t *start = (const uint8_t *)line->message.ptr;
  if (line->record_offset != NULL) {
    const uint8_t *pos = start + line->record_offset[i];
    return next_record(line, &pos);
  }
  if (cursor->pos == NULL || i < cursor->next || i - cursor->next > BLOCK) {
    cursor->next = line->block_offset != NULL ? i / BLOCK * BLOCK : 0;
    cursor->pos = line->block_offset != NULL ? start + line->block_offset[i / BLOCK] : start;
  }
  xp_str record = xp_str_from(NULL, 0);
  for (; cursor->next <= i; cursor->next++) {
    record = next_record(line, &cursor->pos);
  }
  return record;
}
