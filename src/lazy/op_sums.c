/* Shapes and types of sums. */
#include "lazy/op_sums.h"

#include "lazy/autograd.h"
#include "lazy/op_views.h"

int64_t xl_dims_all(const xl_var *x)
{
  return (INT64_C(1) << x->shape.rank) - 1;
}

int64_t xl_dims_mask(const xl_var *x, const int *dims, size_t count)
{
  int64_t mask = 0;
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

xl_var *xl_op_reduce(xl_op op, xl_var *x, xl_type type, int64_t dims, bool keeps)
{
  if (x == NULL || dims < 0) {
    return NULL;
  }
  const xl_reduce_attrs attrs = {dims, keeps};
  xl_result result = {.op = op, .type = type, .attrs = &attrs, .attr_bytes = sizeof attrs};
  for (size_t i = 0; i < x->shape.rank; i++) {
    if (dims >> i & 1) {
      if (keeps) {
        result.shape.dims[result.shape.rank++] = 1;
      }
    } else {
      result.shape.dims[result.shape.rank++] = x->shape.dims[i];
    }
  }
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

static xl_type mean_type(const xl_var *x)
{
  return x == NULL || !xl_is_float(x->type) ? XL_F32 : x->type;
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
  return xl_end(x != NULL ? xl_op_reduce(XL_OP_MEAN, x, mean_type(x), xl_dims_all(x), false) : NULL);
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
  return xl_end(x != NULL ? xl_op_reduce(XL_OP_MEAN, x, mean_type(x), xl_dims_mask(x, dims, count), keep) : NULL);
}
