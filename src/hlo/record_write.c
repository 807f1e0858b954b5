/* Writing a structure by its table.
 *
 * Numbers that are 0, empty texts and empty lists are left out: a reader of protobuf takes them as 0 and empty.  A
 * message in the structure itself is left out when it would be empty; one behind a pointer is written whenever the
 * pointer is there, since "no window" and "a window of no dimensions" are different things.
 */
#include "hlo/record.h"

static const void *at(const void *structure, size_t offset)
{
  return (const char *)structure + offset;
}

static void write_number(xp_wire_writer *w, const xp_hlo_field *field, const void *from)
{
  int64_t wide = 0;
  int32_t narrow = 0;
  switch (field->kind) {
  case XP_HLO_FIELD_INT64:
    memcpy(&wide, from, sizeof wide);
    break;
  case XP_HLO_FIELD_BOOL:
    wide = *(const bool *)from;
    break;
  default:
    memcpy(&narrow, from, sizeof narrow);
    wide = narrow; /* negative numbers have 10 bytes in protobuf, also those of 32 bits */
    break;
  }
  if (wide != 0) {
    xp_wire_put_varint(w, field->number, (uint64_t)wide);
  }
}

static void write_list(xp_wire_writer *w, uint32_t number, const xp_hlo_list *list)
{
  if (list->count == 0) {
    return;
  }
  size_t mark = xp_wire_open_message(w, number);
  for (size_t i = 0; i < list->count; i++) {
    xp_wire_append_varint(w, (uint64_t)list->values[i]);
  }
  xp_wire_close_message(w, mark);
}

/* A nested message; taken back if it is empty and may be left out. */
static void write_nested(xp_wire_writer *w, const xp_hlo_field *field, const void *from, bool may_be_left_out)
{
  size_t before = w->len, mark = xp_wire_open_message(w, field->number);
  if (w->failed) {
    return;
  }
  if (field->kind == XP_HLO_FIELD_SHAPE || field->kind == XP_HLO_FIELD_SHAPES) {
    xp_hlo_shape_write(w, from);
  } else if (field->kind == XP_HLO_FIELD_LITERAL) {
    xp_hlo_literal_write(w, from);
  } else {
    xp_hlo_record_write(w, field->of.record, from);
  }
  if (w->len == mark && may_be_left_out) {
    w->len = before;
  } else {
    xp_wire_close_message(w, mark);
  }
}

static void write_array(xp_wire_writer *w, const xp_hlo_field *field, const void *structure)
{
  const void *array;
  size_t count;
  memcpy(&array, at(structure, field->offset), sizeof array);
  memcpy(&count, at(structure, field->count), sizeof count);
  for (size_t i = 0; i < count; i++) {
    if (field->kind == XP_HLO_FIELD_STRS) {
      xp_wire_put_bytes(w, field->number, ((const xp_str *)array)[i]);
    } else if (field->kind == XP_HLO_FIELD_SHAPES) {
      write_nested(w, field, (const xp_hlo_shape *)array + i, false);
    } else {
      write_nested(w, field, at(array, i * field->of.record->size), false);
    }
  }
}

static void write_text(xp_wire_writer *w, uint32_t number, xp_str text)
{
  if (text.len > 0) {
    xp_wire_put_bytes(w, number, text);
  }
}

static void write_pointer(xp_wire_writer *w, const xp_hlo_field *field, const void *from)
{
  const void *target;
  memcpy(&target, from, sizeof target);
  if (target != NULL) {
    write_nested(w, field, target, false);
  }
}

static void write_float(xp_wire_writer *w, uint32_t number, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (bits != 0) {
    xp_wire_put_float(w, number, value);
  }
}

static void write_field(xp_wire_writer *w, const xp_hlo_field *field, const void *structure)
{
  const void *from = at(structure, field->offset);
  switch (field->kind) {
  case XP_HLO_FIELD_FLOAT:
    write_float(w, field->number, *(const float *)from);
    break;
  case XP_HLO_FIELD_NAME:
    write_text(w, field->number, xp_str_c(field->of.names[*(const uint32_t *)from]));
    break;
  case XP_HLO_FIELD_STR:
    write_text(w, field->number, *(const xp_str *)from);
    break;
  case XP_HLO_FIELD_LIST:
    write_list(w, field->number, from);
    break;
  case XP_HLO_FIELD_STRS:
  case XP_HLO_FIELD_ARRAY:
  case XP_HLO_FIELD_SHAPES:
    write_array(w, field, structure);
    break;
  case XP_HLO_FIELD_INLINE:
    write_nested(w, field, from, true);
    break;
  case XP_HLO_FIELD_SHAPE:
    write_nested(w, field, from, false);
    break;
  case XP_HLO_FIELD_POINTER:
  case XP_HLO_FIELD_LITERAL:
    write_pointer(w, field, from);
    break;
  case XP_HLO_FIELD_DERIVED:
    break;
  default:
    write_number(w, field, from);
    break;
  }
}

void xp_hlo_record_write(xp_wire_writer *w, const xp_hlo_record *record, const void *structure)
{
  for (size_t i = 0; i < record->field_count; i++) {
    write_field(w, &record->fields[i], structure);
  }
  if (record->rest < record->size) {
    xp_wire_append(w, *(const xp_str *)at(structure, record->rest));
  }
}
