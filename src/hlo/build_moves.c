/* Operations that move elements without computing: the result's extents follow from numbers of the caller, each of
 * which is checked against the operand.  Sums of extents are checked for overflow before they become a shape. */
#include "hlo/build_body.h"

/* An array of a type and extents that are known to be 0 or more. */
static xp_hlo_instruction with_dims(xp_hlo_opcode opcode, xp_hlo_type type, size_t rank, const int64_t *dims)
{
  return (xp_hlo_instruction){.opcode = opcode, .shape = xp_hlo_shape_array(type, rank, dims)};
}

static bool are_extents(xp_hlo_body *body, xp_hlo_opcode opcode, size_t rank, const int64_t *dims)
{
  if (rank > XP_HLO_MAX_RANK) {
    xp_hlo_cannot(body, opcode, "the result would have %zu dimensions; %d is the most", rank, XP_HLO_MAX_RANK);
    return false;
  }
  for (size_t i = 0; i < rank; i++) {
    if (dims[i] < 0) {
      xp_hlo_cannot(body, opcode, "dimension %zu of the result would have the extent %lld", i, (long long)dims[i]);
      return false;
    }
  }
  return true;
}

xp_hlo_value xp_hlo_build_broadcast(xp_hlo_body *body, xp_hlo_value x, size_t rank, const int64_t *dims,
                                    const int64_t *mapping)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_BROADCAST;
  if (!xp_hlo_is_array_value(body, opcode, x) || !are_extents(body, opcode, rank, dims)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x);
  xp_hlo_instruction in = with_dims(opcode, s->type, rank, dims);
  for (size_t i = 0; i < s->rank; i++) {
    bool is_place = mapping[i] >= 0 && mapping[i] < (int64_t)rank && (i == 0 || mapping[i] > mapping[i - 1]);
    if (!is_place || dims[mapping[i]] != s->dims[i]) {
      return xp_hlo_cannot(body, opcode, "dimension %zu of %.180s cannot become dimension %lld of %.180s", i,
                           xp_hlo_show(body, s), (long long)mapping[i], xp_hlo_show(body, &in.shape));
    }
  }
  in.dimensions = xp_hlo_keep_list(body->builder, mapping, s->rank);
  return xp_hlo_append(body, &in, &x, 1);
}

xp_hlo_value xp_hlo_build_reshape(xp_hlo_body *body, xp_hlo_value x, size_t rank, const int64_t *dims)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_RESHAPE;
  if (!xp_hlo_is_array_value(body, opcode, x) || !are_extents(body, opcode, rank, dims)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x);
  xp_hlo_instruction in = with_dims(opcode, s->type, rank, dims);
  if (!xp_hlo_shape_is_sound(&in.shape) || xp_hlo_shape_elements(&in.shape) != xp_hlo_shape_elements(s)) {
    return xp_hlo_cannot(body, opcode, "%.180s and %.180s have different numbers of elements", xp_hlo_show(body, s),
                         xp_hlo_show(body, &in.shape));
  }
  return xp_hlo_append(body, &in, &x, 1);
}

xp_hlo_value xp_hlo_build_transpose(xp_hlo_body *body, xp_hlo_value x, const int64_t *permutation)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_TRANSPOSE;
  if (!xp_hlo_is_array_value(body, opcode, x)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x);
  int64_t dims[XP_HLO_MAX_RANK];
  if (!xp_hlo_are_dimensions(permutation, s->rank, s->rank)) {
    return xp_hlo_cannot(body, opcode, "the dimensions are no permutation of those of %.180s", xp_hlo_show(body, s));
  }
  for (size_t i = 0; i < s->rank; i++) {
    dims[i] = s->dims[permutation[i]];
  }
  xp_hlo_instruction in = with_dims(opcode, s->type, s->rank, dims);
  in.dimensions = xp_hlo_keep_list(body->builder, permutation, s->rank);
  return xp_hlo_append(body, &in, &x, 1);
}

xp_hlo_value xp_hlo_build_reverse(xp_hlo_body *body, xp_hlo_value x, size_t count, const int64_t *dimensions)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_REVERSE;
  if (!xp_hlo_is_array_value(body, opcode, x)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x);
  if (!xp_hlo_are_dimensions(dimensions, count, s->rank)) {
    return xp_hlo_cannot(body, opcode, "%.180s does not have these dimensions, or one is named twice",
                         xp_hlo_show(body, s));
  }
  xp_hlo_instruction in = with_dims(opcode, s->type, s->rank, s->dims);
  in.dimensions = xp_hlo_keep_list(body->builder, dimensions, count);
  return xp_hlo_append(body, &in, &x, 1);
}

xp_hlo_value xp_hlo_build_slice(xp_hlo_body *body, xp_hlo_value x, const xp_hlo_slice_dim *slices)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_SLICE;
  if (!xp_hlo_is_array_value(body, opcode, x)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x);
  int64_t dims[XP_HLO_MAX_RANK];
  for (size_t i = 0; i < s->rank; i++) {
    const xp_hlo_slice_dim *d = &slices[i];
    if (d->start < 0 || d->limit < d->start || d->limit > s->dims[i] || d->stride < 1) {
      return xp_hlo_cannot(body, opcode, "[%lld:%lld:%lld] is no part of dimension %zu of %.180s", (long long)d->start,
                           (long long)d->limit, (long long)d->stride, i, xp_hlo_show(body, s));
    }
    int64_t span = d->limit - d->start;
    dims[i] = span / d->stride + (span % d->stride != 0);
  }
  xp_hlo_instruction in = with_dims(opcode, s->type, s->rank, dims);
  in.slice = xp_hlo_keep(body->builder, slices, s->rank, sizeof *slices);
  in.slice_count = s->rank;
  return xp_hlo_append(body, &in, &x, 1);
}

/* The extent after padding; -1 if it is negative or does not fit. */
static int64_t padded(int64_t extent, const xp_hlo_pad_dim *p)
{
  int64_t result, between;
  if (p->interior < 0 || __builtin_mul_overflow(extent > 0 ? extent - 1 : 0, p->interior, &between) ||
      __builtin_add_overflow(extent, between, &result) || __builtin_add_overflow(result, p->low, &result) ||
      __builtin_add_overflow(result, p->high, &result)) {
    return -1;
  }
  return result < 0 ? -1 : result;
}

xp_hlo_value xp_hlo_build_pad(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value value, const xp_hlo_pad_dim *padding)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_PAD;
  const xp_hlo_value operands[] = {x, value};
  if (!xp_hlo_is_array_value(body, opcode, x) || !xp_hlo_is_array_value(body, opcode, value)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x), *v = xp_hlo_shape_in(body, value);
  int64_t dims[XP_HLO_MAX_RANK];
  if (v->rank != 0 || v->type != s->type) {
    return xp_hlo_cannot_pair(body, opcode, s, v, "the second must be a scalar of the type of the first");
  }
  for (size_t i = 0; i < s->rank; i++) {
    dims[i] = padded(s->dims[i], &padding[i]);
    if (dims[i] < 0) {
      return xp_hlo_cannot(body, opcode, "%lld_%lld_%lld is no padding of dimension %zu of %.180s",
                           (long long)padding[i].low, (long long)padding[i].high, (long long)padding[i].interior, i,
                           xp_hlo_show(body, s));
    }
  }
  xp_hlo_instruction in = with_dims(opcode, s->type, s->rank, dims);
  in.padding = xp_hlo_keep(body->builder, padding, s->rank, sizeof *padding);
  in.padding_count = s->rank;
  return xp_hlo_append(body, &in, operands, 2);
}

/* True if b can stand behind a along a dimension. */
static bool joins(const xp_hlo_shape *a, const xp_hlo_shape *b, int64_t dimension)
{
  if (a->type != b->type || a->rank != b->rank) {
    return false;
  }
  for (int64_t i = 0; i < a->rank; i++) {
    if (i != dimension && a->dims[i] != b->dims[i]) {
      return false;
    }
  }
  return true;
}

xp_hlo_value xp_hlo_build_concatenate(xp_hlo_body *body, const xp_hlo_value *values, size_t count, int64_t dimension)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_CONCATENATE;
  if (!xp_hlo_are_values(body, opcode, values, count)) {
    return XP_HLO_NO_VALUE;
  }
  if (count == 0 || !xp_hlo_is_array_value(body, opcode, values[0])) {
    return xp_hlo_cannot(body, opcode, "there is nothing to join; pass an array or more");
  }
  const xp_hlo_shape *first = xp_hlo_shape_in(body, values[0]);
  xp_hlo_instruction in = with_dims(opcode, first->type, first->rank, first->dims);
  if (dimension < 0 || dimension >= first->rank) {
    return xp_hlo_cannot(body, opcode, "%.180s has no dimension %lld", xp_hlo_show(body, first), (long long)dimension);
  }
  for (size_t i = 1; i < count; i++) {
    const xp_hlo_shape *next = xp_hlo_shape_in(body, values[i]);
    int64_t *extent = &in.shape.dims[dimension];
    if (!joins(first, next, dimension) || __builtin_add_overflow(*extent, next->dims[dimension], extent)) {
      return xp_hlo_cannot_pair(body, opcode, first, next, "they may differ in the extent of one dimension only");
    }
  }
  in.dimensions = xp_hlo_keep_list(body->builder, &dimension, 1);
  return xp_hlo_append(body, &in, values, count);
}
