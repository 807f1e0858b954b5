/* Fuzz target: the wire reader, on a message and on everything in it that might be a message. */
#include "wire/wire.h"

#include <stdlib.h>

enum { DEEPEST = 16 };

/* Reads all fields; aborts if the reader breaks its word. */
static void walk(xp_str message, int depth)
{
  xp_wire_reader r = xp_wire_open(message);
  xp_wire_field field;
  const uint8_t *before = r.pos;
  while (xp_wire_next(&r, &field)) {
    if (r.pos <= before || r.pos > r.end) {
      abort();
    }
    before = r.pos;
    if (field.type == XP_WIRE_BYTES) {
      if (field.bytes.len > 0 &&
          (field.bytes.ptr < message.ptr || field.bytes.ptr + field.bytes.len > message.ptr + message.len)) {
        abort();
      }
      if (depth < DEEPEST) {
        walk(field.bytes, depth + 1);
      }
    }
  }
  if (r.status == XP_WIRE_OK ? r.pos != r.end : r.pos != before) {
    abort();
  }
}

/* What the writer makes of the fields must be read back as the same fields. */
static void copy(xp_str message)
{
  xp_wire_writer w = {0};
  xp_wire_reader r = xp_wire_open(message);
  xp_wire_field field;
  size_t fields = 0;
  while (xp_wire_next(&r, &field)) {
    if (field.type == XP_WIRE_BYTES) {
      xp_wire_put_bytes(&w, field.number, field.bytes);
    } else {
      xp_wire_put_varint(&w, field.number, field.value);
    }
    fields++;
  }
  xp_wire_reader again = xp_wire_open(xp_str_from((const char *)w.data, w.len));
  while (xp_wire_next(&again, &field)) {
    fields--;
  }
  if (!w.failed && (fields != 0 || again.status != XP_WIRE_OK)) {
    abort();
  }
  xp_wire_writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  xp_str message = xp_str_from((const char *)data, size);
  walk(message, 0);
  copy(message);
  return 0;
}
