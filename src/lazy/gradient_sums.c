/* Gradients of sums: what went is put back with extent 1, and repeated. */
#include "lazy/autograd.h"
#include "lazy/op_elements.h"
#include "lazy/op_sums.h"
#include "lazy/op_views.h"

static xl_reduce_attrs attrs_of(const xl_gradient *to)
{
  xl_reduce_attrs attrs;
  memcpy(&attrs, to->attrs, sizeof attrs);
  return attrs;
}

/* x with the extents 1 of the dimensions that went. */
static xl_var *with_dims(const xl_gradient *to, xl_var *x)
{
  const xl_reduce_attrs attrs = attrs_of(to);
  xl_shape shape = to->node->inputs[0].shape;
  if (attrs.keeps || x == NULL || x->shape.rank == 0) {
    return x; /* a single value is repeated as it is */
  }
  for (size_t i = 0; i < shape.rank; i++) {
    shape.dims[i] = attrs.dims >> i & 1 ? 1 : shape.dims[i];
  }
  return xl_op_reshape(x, &shape);
}

static xl_var *repeated(const xl_gradient *to, xl_var *x)
{
  return xl_op_expand(with_dims(to, x), &to->node->inputs[0].shape);
}

void xl_gradient_sum(xl_gradient *to)
{
  to->result[0] = repeated(to, to->grad);
}

void xl_gradient_mean(xl_gradient *to)
{
  const xl_shape *all = &to->node->inputs[0].shape;
  double elements = 1;
  for (size_t i = 0; i < all->rank; i++) {
    elements *= attrs_of(to).dims >> i & 1 ? (double)all->dims[i] : 1;
  }
  to->result[0] = xl_op_binary_number(XL_OP_DIV, repeated(to, to->grad), elements);
}

/* 2 / divisor times how far each is from the mean. */
void xl_gradient_var(xl_gradient *to)
{
  xl_var_attrs attrs;
  memcpy(&attrs, to->attrs, sizeof attrs);
  xl_var *mean = xl_op_reduce(XL_OP_MEAN, to->in[0], to->in[0]->type, attrs.reduce.dims, true);
  xl_var *apart = xl_op_binary(XL_OP_SUB, to->in[0], mean);
  xl_var *slope = xl_op_binary_number(XL_OP_MUL, apart, 2 / attrs.divisor);
  to->result[0] = xl_op_binary(XL_OP_MUL, slope, with_dims(to, to->grad));
}

/* Equal shares for all that are as large; after a NaN there are none, and the gradient is a NaN. */
void xl_gradient_extreme(xl_gradient *to)
{
  xl_var *is_extreme = xl_op_truth(XL_OP_EQ, to->in[0], with_dims(to, to->out));
  xl_var *count = xl_op_reduce(XL_OP_SUM, is_extreme, XL_I64, attrs_of(to).dims, true);
  xl_var *share = xl_op_binary(XL_OP_DIV, with_dims(to, to->grad), count);
  to->result[0] = xl_op_binary(XL_OP_MUL, share, is_extreme);
}

/* Each element is in the sums behind it. */
void xl_gradient_cumsum(xl_gradient *to)
{
  xl_cumsum_attrs attrs;
  memcpy(&attrs, to->attrs, sizeof attrs);
  to->result[0] = xl_op_cumsum(to->grad, to->grad->type, attrs.dim, !attrs.is_reverse);
}
