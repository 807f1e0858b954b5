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

/* Of what was there before, the gradient of the part is 0; the part has the gradient of its place. */
static void part_of(xl_gradient *to, xl_op put, xl_op take)
{
  const xl_grad_input *before = &to->node->inputs[0], *value = &to->node->inputs[1];
  xl_result result = {.op = put,
                      .type = to->grad->type,
                      .shape = before->shape,
                      .attrs = to->attrs,
                      .attr_bytes = to->node->attr_bytes};
  if (xl_gradient_wanted(to, 0)) {
    to->result[0] = xl_apply_2(&result, to->grad, xl_op_expand(xl_number(result.type, 0), &value->shape));
  }
  if (xl_gradient_wanted(to, 1)) {
    result.op = take;
    result.shape = value->shape;
    to->result[1] = xl_apply_1(&result, to->grad);
  }
}

void xl_gradient_slice_put(xl_gradient *to)
{
  part_of(to, XL_OP_SLICE_PUT, XL_OP_SLICE);
}

void xl_gradient_select_put(xl_gradient *to)
{
  part_of(to, XL_OP_SELECT_PUT, XL_OP_SELECT);
}
