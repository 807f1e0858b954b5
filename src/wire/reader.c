/* Reading records of the protobuf wire format: every length is compared with what is left before it is used.
 *
 * A record is read as a whole or not at all; after an error the reader stands at the start of the bad record, so that
 * the caller can name its offset.
 */
#include "wire/wire.h"

enum { LONGEST_VARINT = 10 };

bool xp_wire_long_varint(const uint8_t **pos, const uint8_t *end, uint64_t *value)
{
  const uint8_t *p = *pos;
  uint64_t n = 0;
  for (unsigned i = 0; i < LONGEST_VARINT && p < end; i++) {
    uint8_t byte = *p++;
    n |= (uint64_t)(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *pos = p;
      *value = n;
      return true;
    }
  }
  return false;
}

/* A varint that could not be read: cut off, or too long? */
static xp_wire_status why_no_varint(const uint8_t *pos, const uint8_t *end)
{
  return end - pos >= LONGEST_VARINT ? XP_WIRE_BAD : XP_WIRE_TRUNCATED;
}

static uint64_t fixed(const uint8_t *p, unsigned bytes)
{
  uint64_t n = 0;
  for (unsigned i = 0; i < bytes; i++) {
    n |= (uint64_t)p[i] << (8 * i);
  }
  return n;
}

static xp_wire_status read_value(const uint8_t **pos, const uint8_t *end, xp_wire_field *field)
{
  const uint8_t *p = *pos;
  uint64_t size;
  switch (field->type) {
  case XP_WIRE_VARINT:
    if (!xp_wire_varint(pos, end, &field->value)) {
      return why_no_varint(p, end);
    }
    return XP_WIRE_OK;
  case XP_WIRE_BYTES:
    if (!xp_wire_varint(&p, end, &size)) {
      return why_no_varint(p, end);
    }
    if (size > (uint64_t)(end - p)) {
      return XP_WIRE_TRUNCATED;
    }
    field->bytes = xp_str_from((const char *)p, (size_t)size);
    *pos = p + size;
    return XP_WIRE_OK;
  case XP_WIRE_FIXED64:
  case XP_WIRE_FIXED32:
    size = field->type == XP_WIRE_FIXED64 ? 8 : 4;
    if ((uint64_t)(end - p) < size) {
      return XP_WIRE_TRUNCATED;
    }
    field->value = fixed(p, (unsigned)size);
    *pos = p + size;
    return XP_WIRE_OK;
  default:
    return XP_WIRE_BAD;
  }
}

bool xp_wire_next(xp_wire_reader *r, xp_wire_field *field)
{
  if (r->pos == r->end || r->status != XP_WIRE_OK) {
    return false;
  }
  const uint8_t *p = r->pos;
  uint64_t key;
  if (!xp_wire_varint(&p, r->end, &key)) {
    r->status = why_no_varint(p, r->end);
    return false;
  }
  uint64_t number = key >> 3;
  if (number == 0 || number > UINT32_MAX >> 3) {
    r->status = XP_WIRE_BAD;
    return false;
  }
  field->number = (uint32_t)number;
  field->type = (xp_wire_type)(key & 7);
  field->value = 0;
  field->bytes = xp_str_from(NULL, 0);
  r->status = read_value(&p, r->end, field);
  if (r->status != XP_WIRE_OK) {
    return false;
  }
  r->pos = p;
  return true;
}

xp_status xp_wire_finish(const xp_wire_reader *r, const char *message, xp_error *err)
{
  size_t at = (size_t)(r->pos - r->start);
  if (r->status == XP_WIRE_TRUNCATED) {
    return xp_fail(err, XP_ERR_TRUNCATED, "%s ends inside the record at byte %zu", message, at);
  }
  if (r->status == XP_WIRE_BAD) {
    return xp_fail(err, XP_ERR_FORMAT, "%s is no protobuf message: byte %zu starts no record", message, at);
  }
  return XP_OK;
}
