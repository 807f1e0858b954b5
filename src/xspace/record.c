/* Any XEvent message, field by field. */
#include "xspace/record.h"

xp_wire_status xp_record_slow(xp_str message, xp_record *r, const uint8_t **bad)
{
  xp_wire_reader reader = xp_wire_open(message);
  *r = (xp_record){.stats = reader.start, .end = reader.end};
  for (xp_wire_field f; xp_wire_next(&reader, &f);) {
    if (f.type != XP_WIRE_VARINT) {
      continue;
    }
    if (f.number == 1) {
      r->id = f.value;
    } else if (f.number == 2) {
      r->offset_ps = (int64_t)f.value;
    } else if (f.number == 3) {
      r->dur_ps = (int64_t)f.value;
    }
  }
  *bad = reader.pos;
  return reader.status;
}
