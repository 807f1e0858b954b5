/* The protobuf wire format, without protobuf: a bounds-checked reader over bytes in memory, and a writer.
 *
 * The reader copies nothing.  It never reads outside of the slice that it was given and accepts every message that
 * the format allows: unknown fields are skipped, fields may repeat and come in any order.  Groups (wire types 3 and 4)
 * and field number 0 are errors.
 * Format: https://protobuf.dev/programming-guides/encoding/
 */
#ifndef XP_WIRE_WIRE_H
#define XP_WIRE_WIRE_H

#include "base/error.h"
#include "base/str.h"

typedef enum { XP_WIRE_VARINT = 0, XP_WIRE_FIXED64 = 1, XP_WIRE_BYTES = 2, XP_WIRE_FIXED32 = 5 } xp_wire_type;

typedef enum {
  XP_WIRE_OK = 0,    /* a field was read, or the message ended where it should */
  XP_WIRE_TRUNCATED, /* the data end inside a field */
  XP_WIRE_BAD        /* a key or varint that the format does not allow */
} xp_wire_status;

typedef struct {
  const uint8_t *start, *pos, *end;
  xp_wire_status status;
} xp_wire_reader;

typedef struct {
  uint32_t number;
  xp_wire_type type;
  uint64_t value; /* VARINT, FIXED64, FIXED32: the bits as they stand */
  xp_str bytes;   /* BYTES: the content */
} xp_wire_field;

static inline xp_wire_reader xp_wire_open(xp_str message)
{
  const uint8_t *p = (const uint8_t *)message.ptr;
  xp_wire_reader r = {p, p, message.len > 0 ? p + message.len : p, XP_WIRE_OK}; /* NULL takes no offset, not even 0 */
  return r;
}

/* Reads the next field.  Returns false at the end of the message and on an error; r->status tells which.  On an error
 * r->pos is the start of the bad record. */
bool xp_wire_next(xp_wire_reader *r, xp_wire_field *field);

/* For messages that are good as a whole or not at all: XP_OK if the reader came to the end of its message, else an
 * error that says where in `message` ("The profile request") it stands. */
xp_status xp_wire_finish(const xp_wire_reader *r, const char *message, xp_error *err);

/* The whole of xp_wire_varint, for numbers of more than one byte. */
bool xp_wire_long_varint(const uint8_t **pos, const uint8_t *end, uint64_t *value);

/* Reads a varint at *pos and moves *pos behind it.  Returns false (and leaves *pos) if it does not end before `end` or
 * has more than 10 bytes. */
static inline bool xp_wire_varint(const uint8_t **pos, const uint8_t *end, uint64_t *value)
{
  if (*pos < end && **pos < 0x80) { /* most numbers in a message are small */
    *value = *(*pos)++;
    return true;
  }
  return xp_wire_long_varint(pos, end, value);
}

/* The writer appends to a buffer that grows with realloc.  After a failed allocation it stays `failed` and ignores
 * everything.  xp_wire_writer_free ends it. */
typedef struct {
  uint8_t *data;
  size_t len, capacity;
  bool failed;
} xp_wire_writer;

void xp_wire_put_varint(xp_wire_writer *w, uint32_t field, uint64_t value);
void xp_wire_put_float(xp_wire_writer *w, uint32_t field, float value);
void xp_wire_put_double(xp_wire_writer *w, uint32_t field, double value);
void xp_wire_put_bytes(xp_wire_writer *w, uint32_t field, xp_str bytes);

/* As proto3 writes a field outside of a oneof: left out if it is 0, or empty. */
void xp_wire_put_number(xp_wire_writer *w, uint32_t field, uint64_t value);
void xp_wire_put_text(xp_wire_writer *w, uint32_t field, xp_str text);

/* Key and length of a field of bytes that follow from elsewhere. */
void xp_wire_put_head(xp_wire_writer *w, uint32_t field, uint64_t bytes);

/* A nested message of known content: the same as bytes. */
void xp_wire_put_message(xp_wire_writer *w, uint32_t field, const xp_wire_writer *message);

/* Finished records as they stand, without a key. */
void xp_wire_put_raw(xp_wire_writer *w, const xp_wire_writer *records);

/* A nested message whose records are written next, into the same writer: open gives the mark that close takes.  Close
 * moves the records by the bytes that their length needs beyond one. */
size_t xp_wire_open_message(xp_wire_writer *w, uint32_t field);
void xp_wire_close_message(xp_wire_writer *w, size_t mark);

/* Pieces of a packed field, or finished records: without a key. */
void xp_wire_append_varint(xp_wire_writer *w, uint64_t value);
void xp_wire_append(xp_wire_writer *w, xp_str bytes);

void xp_wire_writer_free(xp_wire_writer *w);

#endif
