/* Modules and bodies under construction.
 *
 * A body is an array of instructions that only grows, so operands always come first.  A body that has ended becomes a
 * computation of the module; it can call only computations that ended before it, so callees come first, too.  These are
 * the promises of hlo/hlo.h, and nothing here has to sort.
 *
 * After the first error nothing is appended any more.  Memory that is out is such an error.
 */
#include "hlo/build_body.h"

#include <stdarg.h>
#include <stdio.h>

#include "json/utf8.h"

/* ---------------------------------------------------------------- errors */

static bool has_failed(const xp_hlo_builder *builder)
{
  return builder->error.status != XP_OK;
}

void xp_hlo_out_of_memory(xp_hlo_builder *builder)
{
  if (!has_failed(builder)) {
    xp_fail(&builder->error, XP_ERR_MEMORY, "There is no memory for the HLO program %.*s.", XP_STR_ARG(builder->name));
  }
}

xp_hlo_value xp_hlo_cannot(xp_hlo_body *body, xp_hlo_opcode opcode, const char *format, ...)
{
  char what[512];
  if (!has_failed(body->builder)) {
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    xp_fail(&body->builder->error, XP_ERR_USAGE, "%s: %s.", xp_hlo_opcode_name(opcode), what);
  }
  return XP_HLO_NO_VALUE;
}

const char *xp_hlo_show(const xp_hlo_body *body, const xp_hlo_shape *shape)
{
  xp_str text = xp_hlo_shape_text(body->builder->arena, shape, false);
  xp_str copy = xp_arena_copy(body->builder->arena, text);
  return copy.len > 0 ? copy.ptr : "?";
}

xp_hlo_value xp_hlo_cannot_pair(xp_hlo_body *body, xp_hlo_opcode opcode, const xp_hlo_shape *a, const xp_hlo_shape *b,
                                const char *advice)
{
  return xp_hlo_cannot(body, opcode, "the operands have the shapes %.180s and %.180s; %s", xp_hlo_show(body, a),
                       xp_hlo_show(body, b), advice);
}

/* ---------------------------------------------------------------- copies */

void *xp_hlo_keep(xp_hlo_builder *builder, const void *from, size_t count, size_t size)
{
  void *copy = xp_arena_array(builder->arena, count, size);
  if (copy == NULL) {
    xp_hlo_out_of_memory(builder);
  } else if (count > 0) {
    memcpy(copy, from, count * size);
  }
  return copy;
}

xp_hlo_list xp_hlo_keep_list(xp_hlo_builder *builder, const int64_t *values, size_t count)
{
  const int64_t *copy = xp_hlo_keep(builder, values, count, sizeof *values);
  return (xp_hlo_list){copy, copy != NULL ? count : 0};
}

xp_str xp_hlo_keep_str(xp_hlo_builder *builder, xp_str s)
{
  xp_str copy = xp_arena_copy(builder->arena, s);
  if (copy.ptr == NULL) {
    xp_hlo_out_of_memory(builder);
  }
  return copy;
}

xp_str xp_hlo_keep_text(xp_hlo_builder *builder, xp_str s)
{
  bool is_utf8 = xp_utf8_is_valid(s);
  xp_str copy = is_utf8 ? xp_arena_copy(builder->arena, s) : xp_utf8_clean(s, builder->arena);
  if (copy.ptr == NULL) {
    xp_hlo_out_of_memory(builder);
  }
  return copy;
}

xp_hlo_shape xp_hlo_keep_shape(xp_hlo_builder *builder, const xp_hlo_shape *shape)
{
  xp_hlo_shape copy = *shape;
  copy.layout_rest = xp_hlo_keep_str(builder, shape->layout_rest);
  xp_hlo_shape *parts = xp_hlo_keep(builder, shape->parts, shape->part_count, sizeof *parts);
  for (size_t i = 0; parts != NULL && i < shape->part_count; i++) {
    parts[i] = xp_hlo_keep_shape(builder, &shape->parts[i]);
  }
  copy.parts = parts;
  copy.part_count = parts != NULL ? shape->part_count : 0;
  return copy;
}

/* ---------------------------------------------------------------- appending */

bool xp_hlo_are_values(xp_hlo_body *body, xp_hlo_opcode opcode, const xp_hlo_value *values, size_t count)
{
  if (has_failed(body->builder)) {
    return false;
  }
  if (body->is_ended) {
    xp_hlo_cannot(body, opcode, "the body %.*s has ended; build in an open one", XP_STR_ARG(body->name));
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (values[i] >= body->count) {
      xp_hlo_cannot(body, opcode, "operand %zu is no value of the body %.*s; use values of this body only", i,
                    XP_STR_ARG(body->name));
      return false;
    }
  }
  return true;
}

bool xp_hlo_is_array_value(xp_hlo_body *body, xp_hlo_opcode opcode, xp_hlo_value value)
{
  if (!xp_hlo_are_values(body, opcode, &value, 1)) {
    return false;
  }
  const xp_hlo_shape *shape = xp_hlo_shape_in(body, value);
  if (!xp_hlo_shape_is_array(shape)) {
    xp_hlo_cannot(body, opcode, "the operand has the shape %.300s; pass an array", xp_hlo_show(body, shape));
    return false;
  }
  return true;
}

static bool is_shape(const xp_hlo_shape *shape, int depth)
{
  if (shape->type <= XP_HLO_TYPE_INVALID || shape->type >= XP_HLO_TYPE_COUNT || shape->rank > XP_HLO_MAX_RANK ||
      depth > XP_HLO_MAX_NESTING) {
    return false;
  }
  unsigned seen = 0;
  for (size_t i = 0; i < shape->rank && shape->has_layout; i++) {
    seen |= 1u << shape->minor_to_major[i];
  }
  if (shape->has_layout && seen != (1u << shape->rank) - 1) {
    return false;
  }
  for (size_t i = 0; i < shape->part_count; i++) {
    if (!is_shape(&shape->parts[i], depth + 1)) {
      return false;
    }
  }
  return shape->type == XP_HLO_TUPLE || shape->part_count == 0;
}

bool xp_hlo_is_given_shape(xp_hlo_body *body, xp_hlo_opcode opcode, const xp_hlo_shape *shape)
{
  if (!is_shape(shape, 0) || !xp_hlo_shape_is_sound(shape)) {
    xp_hlo_cannot(body, opcode, "the shape is none; give a type, extents of at least 0 and a layout of all dimensions");
    return false;
  }
  return true;
}

xp_hlo_value xp_hlo_append_calling(xp_hlo_body *body, xp_hlo_instruction *in, const xp_hlo_value *operands,
                                   size_t count, const uint32_t *calls, size_t call_count)
{
  xp_hlo_builder *builder = body->builder;
  if (!xp_hlo_shape_is_sound(&in->shape)) {
    return xp_hlo_cannot(body, in->opcode, "the result would have the shape %.300s, whose bytes do not fit 63 bits",
                         xp_hlo_show(body, &in->shape));
  }
  in->opcode_text = xp_str_c(xp_hlo_opcode_name(in->opcode));
  in->operands = xp_hlo_keep(builder, operands, count, sizeof *operands);
  in->operand_count = count;
  in->calls = xp_hlo_keep(builder, calls, call_count, sizeof *calls);
  in->call_count = call_count;
  in->id = builder->next_id;
  xp_str base = in->name.len > 0 ? in->name : in->opcode_text;
  in->name = xp_arena_format(builder->arena, "%.*s.%lld", XP_STR_ARG(base), (long long)in->id);
  in->meta = builder->meta;
  xp_hlo_instruction *grown =
      xp_arena_grow(builder->arena, body->instructions, body->count, &body->capacity, sizeof *in);
  if (in->name.ptr == NULL || grown == NULL) {
    xp_hlo_out_of_memory(builder);
  }
  if (has_failed(builder)) {
    return XP_HLO_NO_VALUE;
  }
  if (builder->next_id >= INT32_MAX) {
    return xp_hlo_cannot(body, in->opcode, "the program has more than 2 billion instructions");
  }
  builder->next_id++;
  body->instructions = grown;
  body->instructions[body->count] = *in;
  return (xp_hlo_value)body->count++;
}

xp_hlo_value xp_hlo_append(xp_hlo_body *body, xp_hlo_instruction *in, const xp_hlo_value *operands, size_t count)
{
  return xp_hlo_append_calling(body, in, operands, count, NULL, 0);
}

bool xp_hlo_are_dimensions(const int64_t *dimensions, size_t count, size_t rank)
{
  unsigned seen = 0;
  for (size_t i = 0; i < count; i++) {
    if (dimensions[i] < 0 || dimensions[i] >= (int64_t)rank || (seen >> dimensions[i] & 1u) != 0) {
      return false;
    }
    seen |= 1u << dimensions[i];
  }
  return true;
}

/* ---------------------------------------------------------------- called computations */

const xp_hlo_computation *xp_hlo_called(xp_hlo_body *body, xp_hlo_opcode opcode, uint32_t computation)
{
  if (computation >= body->builder->computation_count) {
    xp_hlo_cannot(body, opcode, "there is no computation %u; end its body first", computation);
    return NULL;
  }
  return &body->builder->computations[computation];
}

bool xp_hlo_is_called_right(xp_hlo_body *body, xp_hlo_opcode opcode, uint32_t computation,
                            const xp_hlo_shape *const *takes, size_t count, const xp_hlo_shape *gives)
{
  const xp_hlo_computation *called = xp_hlo_called(body, opcode, computation);
  if (called == NULL) {
    return false;
  }
  if (called->parameter_count != count) {
    xp_hlo_cannot(body, opcode, "the computation %.*s takes %u arguments, and here it gets %zu",
                  XP_STR_ARG(called->name), called->parameter_count, count);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    const xp_hlo_shape *parameter = &xp_hlo_parameter(called, i)->shape;
    if (!xp_hlo_shape_same(parameter, takes[i])) {
      xp_hlo_cannot(body, opcode, "parameter %zu of the computation %.60s is %.150s, and here it gets %.150s", i,
                    called->name.ptr, xp_hlo_show(body, parameter), xp_hlo_show(body, takes[i]));
      return false;
    }
  }
  const xp_hlo_shape *result = &xp_hlo_root(called)->shape;
  if (gives != NULL && !xp_hlo_shape_same(result, gives)) {
    xp_hlo_cannot(body, opcode, "the computation %.60s gives %.180s, and here it should give %.180s", called->name.ptr,
                  xp_hlo_show(body, result), xp_hlo_show(body, gives));
    return false;
  }
  return true;
}
