/* Appending records to a growing buffer.
 *
 * Failure is sticky: after one allocation has failed every further call is ignored, so that a caller checks once at the
 * end.  The bytes written before stay where they are.
 */
#include <stdlib.h>

#include "wire/wire.h"

static bool reserve(xp_wire_writer *w, size_t more)
{
  if (w->failed) {
    return false;
  }
  if (w->capacity - w->len >= more) {
    return true;
  }
  size_t capacity = w->capacity < 256 ? 256 : w->capacity;
  while (capacity - w->len < more) {
    if (capacity > SIZE_MAX / 2) {
      w->failed = true;
      return false;
    }
    capacity *= 2;
  }
  uint8_t *data = realloc(w->data, capacity);
  if (data == NULL) {
    w->failed = true;
    return false;
  }
  w->data = data;
  w->capacity = capacity;
  return true;
}

/* The room for it has been reserved. */
static void append_varint(xp_wire_writer *w, uint64_t value)
{
  while (value >= 0x80) {
    w->data[w->len++] = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  w->data[w->len++] = (uint8_t)value;
}

static void append_key(xp_wire_writer *w, uint32_t field, xp_wire_type type)
{
  append_varint(w, (uint64_t)field << 3 | (uint64_t)type);
}

void xp_wire_put_varint(xp_wire_writer *w, uint32_t field, uint64_t value)
{
  if (reserve(w, 20)) {
    append_key(w, field, XP_WIRE_VARINT);
    append_varint(w, value);
  }
}

void xp_wire_put_float(xp_wire_writer *w, uint32_t field, float value)
{
  if (reserve(w, 14)) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    append_key(w, field, XP_WIRE_FIXED32);
    for (unsigned i = 0; i < 4; i++) {
      w->data[w->len++] = (uint8_t)(bits >> (8 * i));
    }
  }
}

void xp_wire_put_double(xp_wire_writer *w, uint32_t field, double value)
{
  if (reserve(w, 18)) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    append_key(w, field, XP_WIRE_FIXED64);
    for (unsigned i = 0; i < 8; i++) {
      w->data[w->len++] = (uint8_t)(bits >> (8 * i));
    }
  }
}

void xp_wire_put_head(xp_wire_writer *w, uint32_t field, uint64_t bytes)
{
  if (reserve(w, 20)) {
    append_key(w, field, XP_WIRE_BYTES);
    append_varint(w, bytes);
  }
}

void xp_wire_put_bytes(xp_wire_writer *w, uint32_t field, xp_str bytes)
{
  if (bytes.len > SIZE_MAX - 20) {
    w->failed = true;
  }
  if (reserve(w, bytes.len + 20)) {
    append_key(w, field, XP_WIRE_BYTES);
    append_varint(w, bytes.len);
    if (bytes.len > 0) {
      memcpy(w->data + w->len, bytes.ptr, bytes.len);
      w->len += bytes.len;
    }
  }
}

void xp_wire_put_number(xp_wire_writer *w, uint32_t field, uint64_t value)
{
  if (value != 0) {
    xp_wire_put_varint(w, field, value);
  }
}

void xp_wire_put_text(xp_wire_writer *w, uint32_t field, xp_str text)
{
  if (text.len > 0) {
    xp_wire_put_bytes(w, field, text);
  }
}

void xp_wire_put_message(xp_wire_writer *w, uint32_t field, const xp_wire_writer *message)
{
  if (message->failed) {
    w->failed = true;
    return;
  }
  xp_wire_put_bytes(w, field, xp_str_from((const char *)message->data, message->len));
}

void xp_wire_put_raw(xp_wire_writer *w, const xp_wire_writer *records)
{
  if (records->failed) {
    w->failed = true;
    return;
  }
  if (records->len > 0 && reserve(w, records->len)) {
    memcpy(w->data + w->len, records->data, records->len);
    w->len += records->len;
  }
}

void xp_wire_append_varint(xp_wire_writer *w, uint64_t value)
{
  if (reserve(w, 10)) {
    append_varint(w, value);
  }
}

void xp_wire_append(xp_wire_writer *w, xp_str bytes)
{
  if (bytes.len > 0 && reserve(w, bytes.len)) {
    memcpy(w->data + w->len, bytes.ptr, bytes.len);
    w->len += bytes.len;
  }
}

size_t xp_wire_open_message(xp_wire_writer *w, uint32_t field)
{
  if (reserve(w, 20)) {
    append_key(w, field, XP_WIRE_BYTES);
    w->data[w->len++] = 0;
  }
  return w->len;
}

void xp_wire_close_message(xp_wire_writer *w, size_t start)
{
  if (!reserve(w, 10)) {
    return;
  }
  size_t bytes = w->len - start, more = 0;
  for (size_t rest = bytes >> 7; rest > 0; rest >>= 7) {
    more++;
  }
  memmove(w->data + start + more, w->data + start, bytes);
  w->len = start - 1;
  append_varint(w, bytes);
  w->len += bytes;
}

void xp_wire_writer_free(xp_wire_writer *w)
{
  free(w->data);
  memset(w, 0, sizeof *w);
}
