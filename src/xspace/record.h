/* Reading the numbers of one event record.  Included by the two loops that read millions of them: decode.c (into
 * columns) and aggregate.c (into sums). */
#ifndef XP_XSPACE_RECORD_H
#define XP_XSPACE_RECORD_H

#include "wire/wire.h"
#include "xspace/varint.h"

enum {
  XP_LINE_EVENT_KEY = 4 << 3 | XP_WIRE_BYTES,
  XP_EVENT_ID_KEY = 1 << 3 | XP_WIRE_VARINT,
  XP_EVENT_OFFSET_KEY = 2 << 3 | XP_WIRE_VARINT,
  XP_EVENT_DUR_KEY = 3 << 3 | XP_WIRE_VARINT,
  XP_EVENT_STAT_KEY = 4 << 3 | XP_WIRE_BYTES,
  XP_FAST_BYTES = 32 /* bytes that the fast path may look at, from the start of a record */
};

typedef struct {
  uint64_t id;
  int64_t offset_ps, dur_ps;
  const uint8_t *stats, *end; /* stats lie in [stats, end) */
} xp_record;

/* The fast path: an event of less than 128 bytes whose fields id, offset, duration come first, in this order, each
 * once, and whose numbers have at most 56 bits.  At least XP_FAST_BYTES bytes can be read at p.  False: use the slow
 * path. */
XP_ALWAYS_INLINE bool xp_record_fast(const uint8_t *p, xp_record *r, bool pext)
{
  const uint8_t *q = p + 3;
  uint64_t offset, dur = 0;
  if (p[0] != XP_LINE_EVENT_KEY || p[1] >= 0x80 || p[2] != XP_EVENT_ID_KEY) {
    return false;
  }
  r->end = p + 2 + p[1];
  if (!xp_varint_fast(&q, &r->id, pext) || *q++ != XP_EVENT_OFFSET_KEY || !xp_varint_fast(&q, &offset, pext)) {
    return false;
  }
  if (q < r->end && *q == XP_EVENT_DUR_KEY) {
    q++;
    if (!xp_varint_fast(&q, &dur, pext)) {
      return false;
    }
  }
  r->offset_ps = (int64_t)offset;
  r->dur_ps = (int64_t)dur;
  r->stats = q;
  return q == r->end || (q < r->end && *q == XP_EVENT_STAT_KEY);
}

/* True if one usual value field of an XStat fills [pos, end) exactly.  At least 8 bytes can be read behind `end`. */
XP_ALWAYS_INLINE bool xp_value_fills(const uint8_t *pos, const uint8_t *end)
{
  uint64_t ends;
  switch (*pos) {
  case 3 << 3 | XP_WIRE_VARINT:
  case 4 << 3 | XP_WIRE_VARINT:
  case 7 << 3 | XP_WIRE_VARINT:
    ends = xp_varint_ends(xp_load64(pos + 1));
    if (ends == 0) { /* negative numbers have ten bytes: half of all run ids are such */
      return end - pos == 11 && pos[9] >= 0x80 && pos[10] < 0x80;
    }
    return pos + 1 + xp_varint_size(ends) == end;
  case 5 << 3 | XP_WIRE_BYTES:
  case 6 << 3 | XP_WIRE_BYTES:
    return pos[1] < 0x80 && pos + 2 + pos[1] == end;
  case 2 << 3 | XP_WIRE_FIXED64:
    return end - pos == 9;
  default:
    return false;
  }
}

/* The slow path: any XEvent message.  The last of equal fields wins.  Returns the reader's status; stats is the start
 * of the message, because stats may stand anywhere.  On an error *bad is the damaged record. */
xp_wire_status xp_record_slow(xp_str message, xp_record *r, const uint8_t **bad);

#endif
