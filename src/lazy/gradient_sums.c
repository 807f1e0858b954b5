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
