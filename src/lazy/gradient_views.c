/* Gradients of views. */
#include "lazy/autograd.h"
#include "lazy/op_views.h"

/* The engine sums over what was repeated (xl_sum_to). */
void xl_gradient_expand(xl_gradient *to)
{
  to->result[0] = to->grad;
}

void xl_gradient_permute(xl_gradient *to)
{
  const int64_t *order = to->attrs;
  int inverse[XL_MAX_RANK];
  for (size_t i = 0; i < to->node->shape.rank; i++) {
    inverse[order[i]] = (int)i;
  }
  to->result[0] = xl_op_permute(to->grad, inverse);
}

void xl_gradient_reshape(xl_gradient *to)
{
  to->result[0] = xl_op_reshape(to->grad, &to->node->inputs[0].shape);
}

/* Zeros with the gradient at the place of the part. */
static void put_into_zeros(xl_gradient *to, xl_op op)
{
  const xl_result result = {.op = op,
                            .type = to->grad->type,
                            .shape = to->node->inputs[0].shape,
                            .attrs = to->attrs,
                            .attr_bytes = sizeof(xl_slice_attrs)};
  to->result[0] = xl_apply_2(&result, xl_filled(to->grad->type, &to->node->inputs[0].shape, 0), to->grad);
}

void xl_gradient_slice(xl_gradient *to)
{
  put_into_zeros(to, XL_OP_SLICE_PUT);
}

void xl_gradient_select(xl_gradient *to)
{
  put_into_zeros(to, XL_OP_SELECT_PUT);
}
