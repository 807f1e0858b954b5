/* Shapes and types of sums. */
#include "lazy/op_sums.h"

#include "lazy/autograd.h"
#include "lazy/op_public.h"
#include "lazy/op_types.h"
#include "lazy/op_views.h"

int64_t xl_dims_all(const xl_var *x)
{
  return (INT64_C(1) << x->shape.rank) - 1;
}

int64_t xl_dims_mask(const xl_var *x, const int *dims, size_t count)
{
  int64_t mask = 0;
  if (dims == NULL && count > 0) {
    xl_refuse(XP_ERR_USAGE, "the list of %zu dimensions is NULL", count);
    return -1;
  }
  if (count == 0 || (x->shape.rank == 0 && count == 1 && (dims[0] == 0 || dims[0] == -1))) {
    return xl_dims_all(x);
  }
  for (size_t i = 0; i < count; i++) {
    const int dim = xl_dim_of(x, dims[i], x->shape.rank);
    if (dim < 0) {
      return -1;
    }
    if (mask >> dim & 1) {
      xl_refuse(XP_ERR_USAGE, "dimension %d is named twice", dim);
      return -1;
    }
    mask |= INT64_C(1) << dim;
  }
  return mask;
}

static xl_shape reduced(const xl_var *x, int64_t dims, bool keeps)
{
  xl_shape shape = {0, {0}};
  for (size_t i = 0; i < x->shape.rank; i++) {
    const bool is_reduced = dims >> i & 1;
    if (!is_reduced || keeps) {
      shape.dims[shape.rank++] = is_reduced ? 1 : x->shape.dims[i];
    }
  }
  return shape;
}

xl_var *xl_op_reduce(xl_op op, xl_var *x, xl_type type, int64_t dims, bool keeps)
{
  if (x == NULL || dims < 0) {
    return NULL;
  }
  const xl_reduce_attrs attrs = {dims, keeps};
  const xl_result result = {
      .op = op, .type = type, .shape = reduced(x, dims, keeps), .attrs = &attrs, .attr_bytes = sizeof attrs};
  return xl_apply_1(&result, x);
}

xl_var *xl_sum_to(xl_var *x, const xl_shape *shape)
{
  if (x == NULL || xl_shape_equal(&x->shape, shape)) {
    return x;
  }
  const size_t missing = x->shape.rank - shape->rank;
  int64_t dims = 0;
  for (size_t i = 0; i < x->shape.rank; i++) {
    if (i < missing || (shape->dims[i - missing] == 1 && x->shape.dims[i] != 1)) {
      dims |= INT64_C(1) << i;
    }
  }
  xl_var *sum = dims != 0 ? xl_op_reduce(XL_OP_SUM, x, x->type, dims, true) : x;
  return missing > 0 ? xl_op_reshape(sum, shape) : sum;
}

/* Sums of types without fractions are i64. */
static xl_type sum_type(const xl_var *x)
{
  return x == NULL || xl_is_float(x->type) ? (x != NULL ? x->type : XL_F32) : XL_I64;
}

static xl_var *mean(xl_var *x, int64_t dims, bool keeps)
{
  return x != NULL && xl_check_fractions(x) ? xl_op_reduce(XL_OP_MEAN, x, x->type, dims, keeps) : NULL;
}

static double elements_of(const xl_var *x, int64_t dims)
{
  double elements = 1;
  for (size_t i = 0; i < x->shape.rank; i++) {
    elements *= dims >> i & 1 ? (double)x->shape.dims[i] : 1;
  }
  return elements;
}

static xl_var *var_dims(xl_var *x, int64_t dims, bool keeps, int64_t correction)
{
  if (x == NULL || dims < 0) {
    return NULL;
  }
  if (!xl_check_fractions(x)) {
    return NULL;
  }
  const double divisor = elements_of(x, dims) - (double)correction;
  const xl_var_attrs attrs = {{dims, keeps}, divisor > 0 ? divisor : 0};
  const xl_result result = {
      .op = XL_OP_VAR, .type = x->type, .shape = reduced(x, dims, keeps), .attrs = &attrs, .attr_bytes = sizeof attrs};
  return xl_apply_1(&result, x);
}

/* The largest or smallest of a dimension, or where it is. */
static xl_var *extreme(xl_op op, xl_var *x, int dim, bool keeps)
{
  const int64_t mask = x != NULL ? xl_dims_mask(x, &dim, 1) : -1;
  if (mask < 0) {
    return NULL;
  }
  char text[XL_SHAPE_TEXT];
  if (elements_of(x, mask) == 0) {
    return xl_refuse(XP_ERR_USAGE, "dimension %d of %s has no elements", dim, xl_shape_text(text, x->type, &x->shape));
  }
  const bool is_position = op == XL_OP_ARGMAX || op == XL_OP_ARGMIN;
  if (is_position && x->type == XL_BOOL) {
    return xl_no_bools(x, NULL);
  }
  return xl_op_reduce(op, x, is_position ? XL_I64 : x->type, mask, keeps);
}

xl_var *xl_op_cumsum(xl_var *x, xl_type type, int64_t dim, bool is_reverse)
{
  if (x == NULL) {
    return NULL;
  }
  const xl_cumsum_attrs attrs = {dim, is_reverse};
  const xl_result result = {
      .op = XL_OP_CUMSUM, .type = type, .shape = x->shape, .attrs = &attrs, .attr_bytes = sizeof attrs};
  return xl_apply_1(&result, x);
}

static xl_var *cumsum(xl_var *x, int dim)
{
  const int64_t mask = x != NULL ? xl_dims_mask(x, &dim, 1) : -1;
  return mask < 0 ? NULL : xl_op_cumsum(x, sum_type(x), mask > 0 ? __builtin_ctzll((uint64_t)mask) : 0, false);
}

/* ---------------------------------------------------------------- public */

xl_tensor xl_sum_at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"sum", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return xl_end(x != NULL ? xl_op_reduce(XL_OP_SUM, x, sum_type(x), xl_dims_all(x), false) : NULL);
}

xl_tensor xl_mean_at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"mean", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return xl_end(x != NULL ? mean(x, xl_dims_all(x), false) : NULL);
}

xl_tensor xl_sum_dims_at(const xl_location *at, xl_tensor tensor, const int *dims, size_t count, bool keep)
{
  static xl_entry entry = {"sum_dims", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return xl_end(x != NULL ? xl_op_reduce(XL_OP_SUM, x, sum_type(x), xl_dims_mask(x, dims, count), keep) : NULL);
}

xl_tensor xl_mean_dims_at(const xl_location *at, xl_tensor tensor, const int *dims, size_t count, bool keep)
{
  static xl_entry entry = {"mean_dims", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return xl_end(x != NULL ? mean(x, xl_dims_mask(x, dims, count), keep) : NULL);
}

xl_tensor xl_var_dims_at(const xl_location *at, xl_tensor tensor, const int *dims, size_t count, bool keep,
                         int64_t correction)
{
  static xl_entry entry = {"var_dims", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return xl_end(x != NULL ? var_dims(x, xl_dims_mask(x, dims, count), keep, correction) : NULL);
}

#define ALONG_DIMENSION(name, op)                                                                                      \
  xl_tensor xl_##name##_at(const xl_location *at, xl_tensor tensor, int dim, bool keep)                                \
  {                                                                                                                    \
    static xl_entry entry = {#name, NULL};                                                                             \
    xl_begin(&entry, at);                                                                                              \
    return xl_end(extreme(op, xl_arg(tensor), dim, keep));                                                             \
  }

ALONG_DIMENSION(amax, XL_OP_AMAX)
ALONG_DIMENSION(amin, XL_OP_AMIN)
ALONG_DIMENSION(argmax, XL_OP_ARGMAX)
ALONG_DIMENSION(argmin, XL_OP_ARGMIN)

XL_PUBLIC_1(any, x != NULL ? xl_op_reduce(XL_OP_ANY, x, XL_BOOL, xl_dims_all(x), false) : NULL)
XL_PUBLIC_1(all, x != NULL ? xl_op_reduce(XL_OP_ALL, x, XL_BOOL, xl_dims_all(x), false) : NULL)

xl_tensor xl_cumsum_at(const xl_location *at, xl_tensor tensor, int dim)
{
  static xl_entry entry = {"cumsum", NULL};
  xl_begin(&entry, at);
  return xl_end(cumsum(xl_arg(tensor), dim));
}
