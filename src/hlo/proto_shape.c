/* ShapeProto and LayoutProto, to and from xp_hlo_shape.
 *
 * A message without a layout gives the usual one (the last dimension runs fastest), and has_layout says that it was not
 * there.  Tuples nest at most XP_HLO_MAX_NESTING deep, which bounds every later recursion over shapes.
 */
#include "hlo/record.h"

/* What the message says before it is checked. */
typedef struct {
  int64_t type;
  xp_hlo_list dims, dynamic;
  const xp_str *parts, *layouts;
  size_t part_count, layout_count;
} raw_shape;

typedef struct {
  xp_hlo_list minor_to_major;
  xp_str rest;
} raw_layout;

#define PLAIN(number, kind, name, member)                                                                              \
  {                                                                                                                    \
    number, XP_HLO_FIELD_##kind, offsetof(raw_shape, member), 0, {NULL}, name                                          \
  }
#define TEXTS(number, name, member, count)                                                                             \
  {                                                                                                                    \
    number, XP_HLO_FIELD_STRS, offsetof(raw_shape, member), offsetof(raw_shape, count), {NULL}, name                   \
  }

static const xp_hlo_field shape_fields[] = {
    PLAIN(2, INT64, "element_type", type),           PLAIN(3, LIST, "dimensions", dims),
    TEXTS(4, "tuple_shapes", parts, part_count),     TEXTS(5, "layout", layouts, layout_count),
    PLAIN(6, LIST, "is_dynamic_dimension", dynamic),
};
static const xp_hlo_record shape_record = {"shape", shape_fields, sizeof shape_fields / sizeof shape_fields[0],
                                           sizeof(raw_shape), XP_HLO_REFUSE_REST};

static const xp_hlo_field layout_fields[] = {
    {1, XP_HLO_FIELD_LIST, offsetof(raw_layout, minor_to_major), 0, {NULL}, "minor_to_major"},
};
static const xp_hlo_record layout_record = {"layout", layout_fields, 1, sizeof(raw_layout), offsetof(raw_layout, rest)};

/* ---------------------------------------------------------------- reading */

static bool read_layout(xp_hlo_reader *r, const char *field, xp_str message, xp_hlo_shape *shape)
{
  raw_layout raw = {.rest = {NULL, 0}};
  if (!xp_hlo_record_read(r, &layout_record, message, &raw)) {
    return false;
  }
  unsigned seen = 0;
  if (raw.minor_to_major.count != shape->rank) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, field, "a layout of %zu dimensions, and a shape of %d",
                         raw.minor_to_major.count, shape->rank);
  }
  for (size_t i = 0; i < shape->rank; i++) {
    int64_t dim = raw.minor_to_major.values[i];
    if (dim < 0 || dim >= shape->rank || (seen & 1u << dim) != 0) {
      return xp_hlo_refuse(r, XP_ERR_FORMAT, field, "the layout is no permutation of the dimensions");
    }
    seen |= 1u << dim;
    shape->minor_to_major[i] = (uint8_t)dim;
  }
  shape->has_layout = true;
  shape->layout_rest = raw.rest;
  return true;
}

static bool read_parts(xp_hlo_reader *r, const char *field, const raw_shape *raw, xp_hlo_shape *shape)
{
  if (r->depth >= XP_HLO_MAX_NESTING) {
    return xp_hlo_refuse(r, XP_ERR_LIMIT, field, "tuples are nested more than %d deep", XP_HLO_MAX_NESTING);
  }
  xp_hlo_shape *parts = xp_arena_array(r->arena, raw->part_count, sizeof *parts);
  r->depth++;
  for (size_t i = 0; i < raw->part_count; i++) {
    if (!xp_hlo_shape_read(r, field, raw->parts[i], &parts[i])) {
      return false;
    }
  }
  r->depth--;
  *shape = xp_hlo_shape_tuple(parts, raw->part_count);
  return true;
}

static bool read_array(xp_hlo_reader *r, const char *field, const raw_shape *raw, xp_hlo_shape *shape)
{
  if (raw->dims.count > XP_HLO_MAX_RANK) {
    return xp_hlo_refuse(r, XP_ERR_LIMIT, field, "a shape of %zu dimensions; %d is the most", raw->dims.count,
                         XP_HLO_MAX_RANK);
  }
  *shape = xp_hlo_shape_array((xp_hlo_type)raw->type, raw->dims.count, raw->dims.values);
  shape->has_layout = false;
  for (size_t i = 0; i < raw->dynamic.count && i < shape->rank; i++) {
    shape->dynamic |= (uint8_t)(raw->dynamic.values[i] != 0 ? 1u << i : 0u);
  }
  if (raw->layout_count > 0) {
    return read_layout(r, field, raw->layouts[raw->layout_count - 1], shape);
  }
  return true;
}

bool xp_hlo_shape_read(xp_hlo_reader *r, const char *field, xp_str message, xp_hlo_shape *shape)
{
  raw_shape raw = {.type = 0};
  if (!xp_hlo_record_read(r, &shape_record, message, &raw)) {
    return false;
  }
  if (raw.type <= XP_HLO_TYPE_INVALID || raw.type >= XP_HLO_TYPE_COUNT) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, field, "there is no element type %lld", (long long)raw.type);
  }
  bool is_tuple = raw.type == XP_HLO_TUPLE;
  if (!is_tuple && raw.part_count > 0) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, field, "tuple_shapes in a shape that is no tuple");
  }
  if (!(is_tuple ? read_parts(r, field, &raw, shape) : read_array(r, field, &raw, shape))) {
    return false;
  }
  /* Checked for the outermost shape only: that covers its parts, and nesting does not multiply the work. */
  if (r->depth == 0 && !xp_hlo_shape_is_sound(shape)) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, field, "a dimension is negative, or the bytes do not fit 63 bits");
  }
  return true;
}

/* ---------------------------------------------------------------- writing */

static void write_layout(xp_wire_writer *w, const xp_hlo_shape *shape)
{
  size_t mark = xp_wire_open_message(w, 5);
  if (shape->rank > 0) {
    size_t list = xp_wire_open_message(w, 1);
    for (size_t i = 0; i < shape->rank; i++) {
      xp_wire_append_varint(w, shape->minor_to_major[i]);
    }
    xp_wire_close_message(w, list);
  }
  xp_wire_append(w, shape->layout_rest);
  xp_wire_close_message(w, mark);
}

static void write_dims(xp_wire_writer *w, const xp_hlo_shape *shape)
{
  size_t mark = xp_wire_open_message(w, 3);
  for (size_t i = 0; i < shape->rank; i++) {
    xp_wire_append_varint(w, (uint64_t)shape->dims[i]);
  }
  xp_wire_close_message(w, mark);
  mark = xp_wire_open_message(w, 6);
  for (size_t i = 0; i < shape->rank; i++) {
    xp_wire_append_varint(w, shape->dynamic >> i & 1u);
  }
  xp_wire_close_message(w, mark);
}

void xp_hlo_shape_write(xp_wire_writer *w, const xp_hlo_shape *shape)
{
  xp_wire_put_varint(w, 2, (uint64_t)shape->type);
  if (shape->rank > 0) {
    write_dims(w, shape);
  }
  for (size_t i = 0; i < shape->part_count; i++) {
    size_t mark = xp_wire_open_message(w, 4);
    xp_hlo_shape_write(w, &shape->parts[i]);
    xp_wire_close_message(w, mark);
  }
  if (shape->has_layout) {
    write_layout(w, shape);
  }
}
