/* From the number of an event to its record in the file.
 *
 * Every 64th offset is stored; the records between are skipped by their length.  A cursor remembers where it was, so
 * that rising indices cost one step each.  Lines that were not in order have the offset of every event.
 *
 * A cursor that walks through a mapped file gives back the pages behind it: they stay in the page cache, and the
 * program does not grow by the size of the file with every pass over it.
 */
#include "xspace/xspace.h"

#include "wire/wire.h"

enum { BLOCK = 64, EVENT_KEY = 4 << 3 | XP_WIRE_BYTES, RELEASE_BYTES = 8 << 20 };

/* The next event record at or behind *pos, which moves behind it; empty if there is none. */
static xp_str next_record(const xp_line *line, const uint8_t **pos)
{
  const uint8_t *p = *pos, *end = (const uint8_t *)line->message.ptr + line->message.len;
  if (end - p > 2 && p[0] == EVENT_KEY && p[1] < 0x80 && p[1] <= end - p - 2) { /* as nearly all are */
    *pos = p + 2 + p[1];
    return xp_str_from((const char *)p + 2, p[1]);
  }
  xp_wire_reader r = xp_wire_open(line->message);
  r.pos = p;
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == 4 && f.type == XP_WIRE_BYTES) {
      *pos = r.pos;
      return f.bytes;
    }
  }
  *pos = r.end;
  return xp_str_from(NULL, 0);
}

void xp_pages_release(const xp_host *host, const uint8_t *from, const uint8_t *to)
{
  xp_file_forget(&host->file, from, (size_t)(to - from));
}

/* Gives back what lies behind the cursor, a few MiB at a time. */
static void release_behind(xp_event_cursor *cursor)
{
  if (cursor->kept == NULL || cursor->pos < cursor->kept) {
    cursor->kept = cursor->pos;
  } else if (cursor->pos - cursor->kept > RELEASE_BYTES) {
    xp_pages_release(cursor->line->plane->host, cursor->kept, cursor->pos);
    cursor->kept = cursor->pos;
  }
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
    release_behind(cursor);
  }
  xp_str record = xp_str_from(NULL, 0);
  for (; cursor->next <= i; cursor->next++) {
    record = next_record(line, &cursor->pos);
  }
  if (i % BLOCK == 0) {
    release_behind(cursor);
  }
  return record;
}
