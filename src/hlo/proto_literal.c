/* LiteralProto, to and from the bytes of an xp_hlo_literal.
 *
 * The message keeps the values of each type in a field of their own: as packed varints (pred, 32 and 64-bit integers),
 * as packed little-endian numbers, or as bytes.  In memory all of them are little-endian elements.  The number of
 * values is held against the shape before anything is allocated.
 */
#include "hlo/record.h"

typedef struct {
  const xp_str *shapes, *parts;
  size_t shape_count, part_count;
} raw_literal;

#define TEXTS(number, name, member, count)                                                                             \
  {                                                                                                                    \
    number, XP_HLO_FIELD_STRS, offsetof(raw_literal, member), offsetof(raw_literal, count), {NULL}, name               \
  }

static bool is_varints(xp_hlo_type type)
{
  switch (type) {
  case XP_HLO_PRED:
  case XP_HLO_S32:
  case XP_HLO_S64:
  case XP_HLO_U32:
  case XP_HLO_U64:
    return true;
  default:
    return false;
  }
}

/* ---------------------------------------------------------------- reading the values of an array */

/* Bytes that one record of values gives; for varints, each gives an element. */
static size_t record_bytes(const xp_wire_field *f, xp_hlo_type type)
{
  size_t each = xp_hlo_type_bytes(type), n = 0;
  switch (f->type) {
  case XP_WIRE_BYTES:
    if (!is_varints(type)) {
      return f->bytes.len;
    }
    for (size_t i = 0; i < f->bytes.len; i++) {
      n += ((uint8_t)f->bytes.ptr[i] & 0x80) == 0;
    }
    return n * each;
  case XP_WIRE_VARINT:
    return is_varints(type) ? each : 0;
  default:
    return is_varints(type) ? 0 : f->type == XP_WIRE_FIXED32 ? 4 : 8;
  }
}

static char *put_element(char *to, uint64_t value, size_t bytes)
{
  for (size_t i = 0; i < bytes; i++) {
    to[i] = (char)(value >> (8 * i));
  }
  return to + bytes;
}

/* Appends one record of values at `to`; NULL if a number does not end. */
static char *copy_record(const xp_wire_field *f, xp_hlo_type type, char *to)
{
  size_t each = xp_hlo_type_bytes(type);
  bool is_pred = type == XP_HLO_PRED;
  if (f->type != XP_WIRE_BYTES) {
    return put_element(to, is_pred ? f->value != 0 : f->value, record_bytes(f, type));
  }
  if (!is_varints(type)) {
    memcpy(to, f->bytes.ptr, f->bytes.len);
    return to + f->bytes.len;
  }
  const uint8_t *pos = (const uint8_t *)f->bytes.ptr, *end = pos + f->bytes.len;
  while (pos < end) {
    uint64_t value;
    if (!xp_wire_varint(&pos, end, &value)) {
      return NULL;
    }
    to = put_element(to, is_pred ? value != 0 : value, each);
  }
  return to;
}

static bool read_values(xp_hlo_reader *r, xp_str message, xp_hlo_literal *literal)
{
  xp_hlo_type type = literal->shape.type;
  uint32_t number = xp_hlo_type_fact_of(type)->field;
  size_t want = (size_t)xp_hlo_shape_bytes(&literal->shape), have = 0;
  xp_wire_field f;
  for (xp_wire_reader wire = xp_wire_open(message); xp_wire_next(&wire, &f);) {
    have += f.number == number ? record_bytes(&f, type) : 0;
  }
  if (have != want) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, "literal", "%zu bytes of values, and its shape has %zu", have, want);
  }
  char *bytes = xp_arena_alloc(r->arena, want), *to = bytes;
  for (xp_wire_reader wire = xp_wire_open(message); xp_wire_next(&wire, &f);) {
    if (f.number == number && record_bytes(&f, type) > 0) {
      to = copy_record(&f, type, to);
    }
    if (to == NULL) {
      return xp_hlo_refuse(r, XP_ERR_FORMAT, "literal", "a number does not end");
    }
  }
  literal->bytes = xp_str_from(bytes, want);
  return true;
}

/* ---------------------------------------------------------------- reading */

static bool read_literal(xp_hlo_reader *r, xp_str message, const xp_hlo_shape *want, xp_hlo_literal *literal);

static bool read_parts(xp_hlo_reader *r, const raw_literal *raw, xp_hlo_literal *literal)
{
  size_t count = literal->shape.part_count;
  if (raw->part_count != count) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, "literal", "%zu parts of a tuple, and its shape has %zu", raw->part_count,
                         count);
  }
  xp_hlo_literal *parts = xp_arena_array(r->arena, count, sizeof *parts);
  for (size_t i = 0; i < count; i++) {
    if (!read_literal(r, raw->parts[i], &literal->shape.parts[i], &parts[i])) {
      return false;
    }
  }
  literal->parts = parts;
  return true;
}

/* want: the shape that the tuple around says; NULL without one.  It is compared before the parts are read, so the
 * nesting of the outermost shape bounds the recursion. */
static bool read_literal(xp_hlo_reader *r, xp_str message, const xp_hlo_shape *want, xp_hlo_literal *literal)
{
  static const xp_hlo_field fields[] = {
      TEXTS(1, "shape", shapes, shape_count),
      TEXTS(10, "tuple_literals", parts, part_count),
  };
  /* The values are fields without a line: they are looked for when the type is known. */
  static const xp_hlo_record record = {"literal", fields, 2, sizeof(raw_literal), XP_HLO_DROP_REST};
  raw_literal raw = {.shape_count = 0};
  *literal = (xp_hlo_literal){.parts = NULL}; /* a field that stands twice: the last one counts */
  if (!xp_hlo_record_read(r, &record, message, &raw)) {
    return false;
  }
  if (raw.shape_count == 0) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, "literal", "it has no shape");
  }
  if (!xp_hlo_shape_read(r, "literal", raw.shapes[raw.shape_count - 1], &literal->shape)) {
    return false;
  }
  if (want != NULL && !xp_hlo_shape_same(&literal->shape, want)) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, "literal", "a part has another shape than its tuple says");
  }
  if (literal->shape.type == XP_HLO_TUPLE) {
    return read_parts(r, &raw, literal);
  }
  return read_values(r, message, literal);
}

bool xp_hlo_literal_read(xp_hlo_reader *r, xp_str message, xp_hlo_literal *literal)
{
  return read_literal(r, message, NULL, literal);
}

/* ---------------------------------------------------------------- writing */

static uint64_t element(const char *from, size_t bytes, bool is_signed)
{
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++) {
    value |= (uint64_t)(uint8_t)from[i] << (8 * i);
  }
  if (is_signed && bytes == 4 && (value & 0x80000000u) != 0) {
    value |= 0xffffffff00000000u; /* protobuf writes negative numbers as 64 bits */
  }
  return value;
}

static void write_varints(xp_wire_writer *w, const xp_hlo_literal *literal, uint32_t number)
{
  size_t each = xp_hlo_type_bytes(literal->shape.type), mark = xp_wire_open_message(w, number);
  bool is_signed = xp_hlo_type_kind(literal->shape.type) == XP_HLO_KIND_SIGNED;
  for (size_t at = 0; at + each <= literal->bytes.len; at += each) {
    xp_wire_append_varint(w, element(literal->bytes.ptr + at, each, is_signed));
  }
  xp_wire_close_message(w, mark);
}

void xp_hlo_literal_write(xp_wire_writer *w, const xp_hlo_literal *literal)
{
  size_t mark = xp_wire_open_message(w, 1);
  xp_hlo_shape_write(w, &literal->shape);
  xp_wire_close_message(w, mark);
  uint32_t number = xp_hlo_type_fact_of(literal->shape.type)->field;
  if (literal->bytes.len > 0 && is_varints(literal->shape.type)) {
    write_varints(w, literal, number);
  } else if (literal->bytes.len > 0) {
    xp_wire_put_bytes(w, number, literal->bytes);
  }
  for (size_t i = 0; literal->parts != NULL && i < literal->shape.part_count; i++) {
    mark = xp_wire_open_message(w, 10);
    xp_hlo_literal_write(w, &literal->parts[i]);
    xp_wire_close_message(w, mark);
  }
}
