/* Reading a message by its table, in two walks.
 *
 * The first walk counts: elements of repeated fields, and bytes of the records that no line of the table takes.  So
 * every array is allocated once, for as many elements as the message really has, and memory is bounded by the message.
 * The second walk fills.  A field that should stand once and stands twice has the last value, as protobuf has it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "hlo/record.h"

/* Where the second walk stands. */
typedef struct {
  size_t counts[XP_HLO_MAX_FIELDS]; /* elements of the repeated fields */
  size_t filled[XP_HLO_MAX_FIELDS];
  size_t rest_bytes, rest_filled;
} progress;

/* How much of a name goes into an error. */
static int shown(xp_str name)
{
  return name.len > 100 ? 100 : (int)name.len;
}

bool xp_hlo_refuse(xp_hlo_reader *r, xp_status status, const char *field, const char *format, ...)
{
  char what[256], where[256] = "";
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  if (r->instruction.len > 0) {
    snprintf(where, sizeof where, " instruction %.*s of computation %.*s,", shown(r->instruction), r->instruction.ptr,
             shown(r->computation), r->computation.len > 0 ? r->computation.ptr : "");
  } else if (r->computation.len > 0) {
    snprintf(where, sizeof where, " computation %.*s,", shown(r->computation), r->computation.ptr);
  }
  r->status = xp_fail(r->err, status, "The HLO program cannot be used:%s field %s: %s. Write the program again.", where,
                      field, what);
  return false;
}

static void *at(void *structure, size_t offset)
{
  return (char *)structure + offset;
}

/* ---------------------------------------------------------------- first walk */

/* Varints in a packed field: bytes that end one. */
static size_t count_varints(xp_str packed)
{
  size_t n = 0;
  for (size_t i = 0; i < packed.len; i++) {
    n += ((uint8_t)packed.ptr[i] & 0x80) == 0;
  }
  return n;
}

/* The line of a field number; `hint` is where the search begins, since fields mostly come in the order of the table. */
static const xp_hlo_field *find_field(const xp_hlo_record *record, uint32_t number, size_t *hint)
{
  for (size_t i = 0; i < record->field_count; i++) {
    size_t line = *hint + i < record->field_count ? *hint + i : *hint + i - record->field_count;
    if (record->fields[line].number == number) {
      *hint = line;
      return &record->fields[line];
    }
  }
  return NULL;
}

static bool is_bad_message(xp_hlo_reader *r, const xp_hlo_record *record, const xp_wire_reader *wire)
{
  if (wire->status == XP_WIRE_OK) {
    return false;
  }
  bool is_cut = wire->status == XP_WIRE_TRUNCATED;
  xp_hlo_refuse(r, is_cut ? XP_ERR_TRUNCATED : XP_ERR_FORMAT, record->name,
                is_cut ? "its end is missing" : "no message");
  return true;
}

static bool count_elements(xp_hlo_reader *r, const xp_hlo_record *record, xp_str message, progress *p)
{
  xp_wire_reader wire = xp_wire_open(message);
  xp_wire_field f;
  size_t hint = 0;
  const uint8_t *start = wire.pos;
  for (; xp_wire_next(&wire, &f); start = wire.pos) {
    const xp_hlo_field *field = find_field(record, f.number, &hint);
    if (field == NULL) {
      p->rest_bytes += (size_t)(wire.pos - start);
    } else if (field->kind == XP_HLO_FIELD_LIST && f.type == XP_WIRE_BYTES) {
      p->counts[hint] += count_varints(f.bytes);
    } else {
      p->counts[hint]++;
    }
  }
  return !is_bad_message(r, record, &wire);
}

/* ---------------------------------------------------------------- second walk: one field */

static bool wants_bytes(uint16_t kind)
{
  return kind >= XP_HLO_FIELD_NAME && kind != XP_HLO_FIELD_LIST;
}

static bool is_type_right(const xp_hlo_field *field, const xp_wire_field *f)
{
  if (field->kind == XP_HLO_FIELD_LIST) {
    return f->type == XP_WIRE_BYTES || f->type == XP_WIRE_VARINT;
  }
  if (field->kind == XP_HLO_FIELD_FLOAT) {
    return f->type == XP_WIRE_FIXED32;
  }
  return f->type == (wants_bytes(field->kind) ? XP_WIRE_BYTES : XP_WIRE_VARINT);
}

static bool read_number(xp_hlo_reader *r, const xp_hlo_field *field, uint64_t value, void *to)
{
  switch (field->kind) {
  case XP_HLO_FIELD_INT64:
    memcpy(to, &value, sizeof value);
    return true;
  case XP_HLO_FIELD_BOOL:
    *(bool *)to = value != 0;
    return true;
  case XP_HLO_FIELD_ENUM:
    if (value >= field->count) {
      return xp_hlo_refuse(r, XP_ERR_FORMAT, field->name, "there is no value %llu", (unsigned long long)value);
    }
    break;
  default:
    break;
  }
  uint32_t low = (uint32_t)value;
  memcpy(to, &low, sizeof low);
  return true;
}

static bool read_name(xp_hlo_reader *r, const xp_hlo_field *field, xp_str text, void *to)
{
  for (uint32_t i = 0; i < field->count; i++) {
    if (xp_str_is(text, field->of.names[i])) {
      memcpy(to, &i, sizeof i);
      return true;
    }
  }
  return xp_hlo_refuse(r, XP_ERR_FORMAT, field->name, "there is no value \"%.*s\"", shown(text), text.ptr);
}

static bool read_list(xp_hlo_reader *r, const xp_hlo_field *field, const xp_wire_field *f, size_t *filled,
                      xp_hlo_list *list)
{
  int64_t *values = (int64_t *)(uintptr_t)list->values; /* the structure's own array, which is const to its readers */
  if (f->type == XP_WIRE_VARINT) {
    values[(*filled)++] = (int64_t)f->value;
    return true;
  }
  const uint8_t *pos = (const uint8_t *)f->bytes.ptr, *end = pos + f->bytes.len;
  while (pos < end) {
    uint64_t value;
    if (!xp_wire_varint(&pos, end, &value)) {
      return xp_hlo_refuse(r, XP_ERR_FORMAT, field->name, "a number does not end");
    }
    values[(*filled)++] = (int64_t)value;
  }
  return true;
}

static bool read_pointer(xp_hlo_reader *r, const xp_hlo_field *field, xp_str message, void **to)
{
  bool is_literal = field->kind == XP_HLO_FIELD_LITERAL;
  if (*to == NULL) {
    *to = xp_arena_alloc(r->arena, is_literal ? sizeof(xp_hlo_literal) : field->of.record->size);
  }
  return is_literal ? xp_hlo_literal_read(r, message, *to) : xp_hlo_record_read(r, field->of.record, message, *to);
}

static bool read_element(xp_hlo_reader *r, const xp_hlo_field *field, xp_str message, char *array, size_t i)
{
  switch (field->kind) {
  case XP_HLO_FIELD_STRS:
    ((xp_str *)(void *)array)[i] = message;
    return true;
  case XP_HLO_FIELD_SHAPES:
    return xp_hlo_shape_read(r, field->name, message, (xp_hlo_shape *)(void *)array + i);
  default:
    return xp_hlo_record_read(r, field->of.record, message, array + i * field->of.record->size);
  }
}

static bool read_field(xp_hlo_reader *r, const xp_hlo_field *field, const xp_wire_field *f, size_t *filled,
                       void *structure)
{
  void *to = at(structure, field->offset);
  if (!is_type_right(field, f)) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, field->name, "wire type %d does not belong there", (int)f->type);
  }
  switch (field->kind) {
  case XP_HLO_FIELD_NAME:
    return read_name(r, field, f->bytes, to);
  case XP_HLO_FIELD_STR:
    *(xp_str *)to = f->bytes;
    return true;
  case XP_HLO_FIELD_LIST:
    return read_list(r, field, f, filled, to);
  case XP_HLO_FIELD_INLINE:
    return xp_hlo_record_read(r, field->of.record, f->bytes, to);
  case XP_HLO_FIELD_POINTER:
  case XP_HLO_FIELD_LITERAL:
    return read_pointer(r, field, f->bytes, to);
  case XP_HLO_FIELD_STRS:
  case XP_HLO_FIELD_ARRAY:
  case XP_HLO_FIELD_SHAPES:
    return read_element(r, field, f->bytes, *(char **)to, (*filled)++);
  case XP_HLO_FIELD_SHAPE:
    return xp_hlo_shape_read(r, field->name, f->bytes, to);
  case XP_HLO_FIELD_DERIVED:
    return true;
  default:
    return read_number(r, field, f->value, to);
  }
}

/* ---------------------------------------------------------------- the whole message */

/* Memory for what repeats, as the first walk has counted. */
static void allocate(xp_hlo_reader *r, const xp_hlo_record *record, const progress *p, void *structure)
{
  for (size_t i = 0; i < record->field_count; i++) {
    const xp_hlo_field *field = &record->fields[i];
    void *to = at(structure, field->offset);
    size_t size = field->kind == XP_HLO_FIELD_STRS     ? sizeof(xp_str)
                  : field->kind == XP_HLO_FIELD_SHAPES ? sizeof(xp_hlo_shape)
                  : field->kind == XP_HLO_FIELD_ARRAY  ? field->of.record->size
                                                       : 0;
    if (p->counts[i] == 0) {
      continue;
    }
    if (field->kind == XP_HLO_FIELD_LIST) {
      xp_hlo_list list = {xp_arena_array(r->arena, p->counts[i], sizeof(int64_t)), p->counts[i]};
      memcpy(to, &list, sizeof list);
    } else if (size > 0) {
      void *array = xp_arena_array(r->arena, p->counts[i], size);
      memcpy(to, &array, sizeof array);
      memcpy(at(structure, field->count), &p->counts[i], sizeof(size_t));
    }
  }
}

/* One field that no line takes: kept, dropped or refused, as the table says. */
static bool keep(xp_hlo_reader *r, const xp_hlo_record *record, uint32_t number, xp_str bytes, progress *p,
                 void *structure)
{
  if (record->rest == XP_HLO_REFUSE_REST) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, record->name, "it has a field %u, which is newer than this library", number);
  }
  if (record->rest != XP_HLO_DROP_REST) {
    const xp_str *rest = at(structure, record->rest);
    memcpy((char *)(uintptr_t)rest->ptr + p->rest_filled, bytes.ptr, bytes.len);
    p->rest_filled += bytes.len;
  }
  return true;
}

bool xp_hlo_record_read(xp_hlo_reader *r, const xp_hlo_record *record, xp_str message, void *structure)
{
  progress p = {.rest_bytes = 0};
  if (!count_elements(r, record, message, &p)) {
    return false;
  }
  allocate(r, record, &p, structure);
  if (record->rest < record->size && p.rest_bytes > 0) {
    *(xp_str *)at(structure, record->rest) = xp_str_from(xp_arena_alloc(r->arena, p.rest_bytes), p.rest_bytes);
  }
  xp_wire_reader wire = xp_wire_open(message);
  xp_wire_field f;
  size_t hint = 0;
  const uint8_t *start = wire.pos;
  for (; xp_wire_next(&wire, &f); start = wire.pos) {
    const xp_hlo_field *field = find_field(record, f.number, &hint);
    xp_str bytes = xp_str_from((const char *)start, (size_t)(wire.pos - start));
    if (!(field != NULL ? read_field(r, field, &f, &p.filled[hint], structure)
                        : keep(r, record, f.number, bytes, &p, structure))) {
      return false;
    }
  }
  return true;
}
