/* Reductions, windows and sorting: operations that take a computation of scalars. */
#include "hlo/build_body.h"

/* ---------------------------------------------------------------- reduce */

/* What a combining computation of `count` values takes and gives: accumulators, then elements; accumulators again. */
static bool is_combiner(xp_hlo_body *body, xp_hlo_opcode opcode, uint32_t computation, const xp_hlo_value *initials,
                        size_t count)
{
  const xp_hlo_shape **takes = xp_arena_array(body->builder->arena, 2 * count, sizeof(xp_hlo_shape *));
  xp_hlo_shape *parts = xp_arena_array(body->builder->arena, count, sizeof *parts);
  if (takes == NULL || parts == NULL) {
    xp_hlo_out_of_memory(body->builder);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    parts[i] = *xp_hlo_shape_in(body, initials[i]);
    takes[i] = takes[count + i] = &parts[i];
  }
  const xp_hlo_shape gives = count == 1 ? parts[0] : xp_hlo_shape_tuple(parts, count);
  return xp_hlo_is_called_right(body, opcode, computation, takes, 2 * count, &gives);
}

/* inputs of the same extents, with scalars of their types. */
static bool are_inputs(xp_hlo_body *body, xp_hlo_opcode opcode, const xp_hlo_value *inputs,
                       const xp_hlo_value *initials, size_t count)
{
  if (count == 0) {
    xp_hlo_cannot(body, opcode, "there are no operands; pass an array or more");
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (!xp_hlo_is_array_value(body, opcode, inputs[i]) || !xp_hlo_is_array_value(body, opcode, initials[i])) {
      return false;
    }
    const xp_hlo_shape *first = xp_hlo_shape_in(body, inputs[0]), *s = xp_hlo_shape_in(body, inputs[i]),
                       *initial = xp_hlo_shape_in(body, initials[i]);
    if (!xp_hlo_shape_same_dims(first, s)) {
      xp_hlo_cannot_pair(body, opcode, first, s, "all inputs must have the same extents");
      return false;
    }
    if (initial->rank != 0 || initial->type != s->type) {
      xp_hlo_cannot_pair(body, opcode, s, initial, "the initial value must be a scalar of the same type");
      return false;
    }
  }
  return true;
}

/* The shape that is left of each input, as one shape or as a tuple in the arena. */
static bool reduced(xp_hlo_body *body, const xp_hlo_value *inputs, size_t count, const xp_hlo_list *dimensions,
                    xp_hlo_shape *out)
{
  const xp_hlo_shape *first = xp_hlo_shape_in(body, inputs[0]);
  xp_hlo_shape *parts = xp_arena_array(body->builder->arena, count, sizeof *parts);
  int64_t dims[XP_HLO_MAX_RANK];
  size_t rank = 0;
  if (parts == NULL) {
    xp_hlo_out_of_memory(body->builder);
    return false;
  }
  for (int64_t i = 0; i < first->rank; i++) {
    if (!xp_hlo_list_has(dimensions, i)) {
      dims[rank++] = first->dims[i];
    }
  }
  for (size_t i = 0; i < count; i++) {
    parts[i] = xp_hlo_shape_array(xp_hlo_shape_in(body, inputs[i])->type, rank, dims);
  }
  *out = count == 1 ? parts[0] : xp_hlo_shape_tuple(parts, count);
  return true;
}

/* Two arrays of values one behind the other, in the arena; NULL when memory is out. */
static const xp_hlo_value *joined(xp_hlo_body *body, const xp_hlo_value *a, const xp_hlo_value *b, size_t count)
{
  xp_hlo_value *all = xp_arena_array(body->builder->arena, 2 * count, sizeof *all);
  if (all == NULL) {
    xp_hlo_out_of_memory(body->builder);
    return NULL;
  }
  memcpy(all, a, count * sizeof *all);
  memcpy(all + count, b, count * sizeof *all);
  return all;
}

xp_hlo_value xp_hlo_build_reduce(xp_hlo_body *body, const xp_hlo_value *inputs, const xp_hlo_value *initials,
                                 size_t count, const int64_t *dimensions, size_t dimension_count, uint32_t combine)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_REDUCE;
  if (!are_inputs(body, opcode, inputs, initials, count)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *first = xp_hlo_shape_in(body, inputs[0]);
  if (!xp_hlo_are_dimensions(dimensions, dimension_count, first->rank)) {
    return xp_hlo_cannot(body, opcode, "%.180s does not have these dimensions, or one is named twice",
                         xp_hlo_show(body, first));
  }
  xp_hlo_instruction in = {.opcode = opcode,
                           .dimensions = xp_hlo_keep_list(body->builder, dimensions, dimension_count)};
  const xp_hlo_value *operands = joined(body, inputs, initials, count);
  if (operands == NULL || !is_combiner(body, opcode, combine, initials, count) ||
      !reduced(body, inputs, count, &in.dimensions, &in.shape)) {
    return XP_HLO_NO_VALUE;
  }
  return xp_hlo_append_calling(body, &in, operands, 2 * count, &combine, 1);
}

/* ---------------------------------------------------------------- windows */

int64_t xp_hlo_window_places(int64_t extent, const xp_hlo_window_dim *w)
{
  int64_t base, window;
  if (w->size < 1 || w->stride < 1 || w->base_dilation < 1 || w->window_dilation < 1 ||
      __builtin_mul_overflow(extent > 0 ? extent - 1 : 0, w->base_dilation, &base) ||
      __builtin_add_overflow(base, extent > 0 ? 1 : 0, &base) || __builtin_add_overflow(base, w->padding_low, &base) ||
      __builtin_add_overflow(base, w->padding_high, &base) ||
      __builtin_mul_overflow(w->size - 1, w->window_dilation, &window) || window == INT64_MAX) {
    return -1;
  }
  window++;
  if (base < 0) {
    return -1;
  }
  return base < window ? 0 : (base - window) / w->stride + 1;
}

const char *xp_hlo_window_result(const xp_hlo_shape *shape, const xp_hlo_window_dim *windows, xp_hlo_shape *out)
{
  *out = xp_hlo_shape_array(shape->type, shape->rank, shape->dims);
  for (size_t i = 0; i < shape->rank; i++) {
    out->dims[i] = xp_hlo_window_places(shape->dims[i], &windows[i]);
    if (out->dims[i] < 0) {
      return "the window needs sizes, strides and dilations of 1 and more, and padding that leaves something";
    }
  }
  return NULL;
}

static const xp_hlo_window *keep_window(xp_hlo_body *body, const xp_hlo_window_dim *windows, size_t count)
{
  const xp_hlo_window window = {xp_hlo_keep(body->builder, windows, count, sizeof *windows), count};
  return xp_hlo_keep(body->builder, &window, 1, sizeof window);
}

xp_hlo_value xp_hlo_build_reduce_window(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value initial,
                                        const xp_hlo_window_dim *windows, uint32_t combine)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_REDUCE_WINDOW;
  const xp_hlo_value operands[] = {x, initial};
  xp_hlo_instruction in = {.opcode = opcode};
  if (!are_inputs(body, opcode, &x, &initial, 1) || !is_combiner(body, opcode, combine, &initial, 1)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x);
  const char *problem = xp_hlo_window_result(s, windows, &in.shape);
  if (problem != NULL) {
    return xp_hlo_cannot(body, opcode, "the operand has the shape %.180s; %s", xp_hlo_show(body, s), problem);
  }
  in.window = keep_window(body, windows, s->rank);
  return xp_hlo_append_calling(body, &in, operands, 2, &combine, 1);
}

xp_hlo_value xp_hlo_build_select_and_scatter(xp_hlo_body *body, xp_hlo_value x, uint32_t select,
                                             const xp_hlo_window_dim *windows, xp_hlo_value source,
                                             xp_hlo_value initial, uint32_t scatter)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_SELECT_AND_SCATTER;
  const xp_hlo_value operands[] = {x, source, initial};
  const uint32_t calls[] = {select, scatter};
  if (!are_inputs(body, opcode, &x, &initial, 1) || !xp_hlo_is_array_value(body, opcode, source) ||
      !is_combiner(body, opcode, scatter, &initial, 1)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x), *from = xp_hlo_shape_in(body, source);
  const xp_hlo_shape scalar = xp_hlo_shape_scalar(s->type), pred = xp_hlo_shape_scalar(XP_HLO_PRED);
  const xp_hlo_shape *takes[] = {&scalar, &scalar};
  xp_hlo_shape places;
  const char *problem = xp_hlo_window_result(s, windows, &places);
  if (problem != NULL || !xp_hlo_shape_same(&places, from)) {
    return xp_hlo_cannot_pair(body, opcode, s, from,
                              problem != NULL ? problem : "the source needs an element for each place of the window");
  }
  if (!xp_hlo_is_called_right(body, opcode, select, takes, 2, &pred)) {
    return XP_HLO_NO_VALUE;
  }
  xp_hlo_instruction in = {.opcode = opcode,
                           .shape = xp_hlo_shape_array(s->type, s->rank, s->dims),
                           .window = keep_window(body, windows, s->rank)};
  return xp_hlo_append_calling(body, &in, operands, 3, calls, 2);
}

/* ---------------------------------------------------------------- sort */

/* less takes, for each array, an element of the left and one of the right. */
static bool is_order(xp_hlo_body *body, uint32_t less, const xp_hlo_value *values, size_t count)
{
  const xp_hlo_shape **takes = xp_arena_array(body->builder->arena, 2 * count, sizeof(xp_hlo_shape *));
  xp_hlo_shape *scalars = xp_arena_array(body->builder->arena, count, sizeof *scalars);
  const xp_hlo_shape pred = xp_hlo_shape_scalar(XP_HLO_PRED);
  if (takes == NULL || scalars == NULL) {
    xp_hlo_out_of_memory(body->builder);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    scalars[i] = xp_hlo_shape_scalar(xp_hlo_shape_in(body, values[i])->type);
    takes[2 * i] = takes[2 * i + 1] = &scalars[i];
  }
  return xp_hlo_is_called_right(body, XP_HLO_OP_SORT, less, takes, 2 * count, &pred);
}

xp_hlo_value xp_hlo_build_sort(xp_hlo_body *body, const xp_hlo_value *values, size_t count, int64_t dimension,
                               bool is_stable, uint32_t less)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_SORT;
  if (!xp_hlo_are_values(body, opcode, values, count)) {
    return XP_HLO_NO_VALUE;
  }
  if (count == 0 || !xp_hlo_is_array_value(body, opcode, values[0])) {
    return xp_hlo_cannot(body, opcode, "there is nothing to sort; pass an array or more");
  }
  const xp_hlo_shape *first = xp_hlo_shape_in(body, values[0]);
  for (size_t i = 0; i < count; i++) {
    const xp_hlo_shape *s = xp_hlo_shape_in(body, values[i]);
    if (!xp_hlo_shape_is_array(s) || !xp_hlo_shape_same_dims(first, s)) {
      return xp_hlo_cannot_pair(body, opcode, first, s, "all must have the same extents");
    }
  }
  xp_hlo_instruction in = {.opcode = opcode, .is_stable = is_stable};
  const xp_hlo_list none = {NULL, 0};
  if (dimension < 0 || dimension >= first->rank) {
    return xp_hlo_cannot(body, opcode, "%.180s has no dimension %lld", xp_hlo_show(body, first), (long long)dimension);
  }
  if (!is_order(body, less, values, count) || !reduced(body, values, count, &none, &in.shape)) {
    return XP_HLO_NO_VALUE;
  }
  in.dimensions = xp_hlo_keep_list(body->builder, &dimension, 1);
  return xp_hlo_append_calling(body, &in, values, count, &less, 1);
}
