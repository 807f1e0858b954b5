/* Gradients of convolution and pooling: each is an operation of its own, with the same attributes. */
#include "lazy/autograd.h"
#include "lazy/op_sums.h"
#include "lazy/op_windows.h"

void xl_gradient_conv2d(xl_gradient *to)
{
  const xl_grad_node *node = to->node;
  xl_result result = {.type = to->grad->type, .attrs = to->attrs, .attr_bytes = node->attr_bytes};
  if (xl_gradient_wanted(to, 0)) {
    result.op = XL_OP_CONV2D_BACKWARD_INPUT;
    result.shape = node->inputs[0].shape;
    to->result[0] = xl_apply_2(&result, to->grad, to->in[1]);
  }
  if (xl_gradient_wanted(to, 1)) {
    result.op = XL_OP_CONV2D_BACKWARD_WEIGHT;
    result.shape = node->inputs[1].shape;
    to->result[1] = xl_apply_2(&result, to->grad, to->in[0]);
  }
  if (node->input_count == 3 && xl_gradient_wanted(to, 2)) {
    to->result[2] = xl_op_reduce(XL_OP_SUM, to->grad, to->grad->type, 1 << 0 | 1 << 2 | 1 << 3, false);
  }
}

void xl_gradient_avg_pool2d(xl_gradient *to)
{
  const xl_result result = {.op = XL_OP_AVG_POOL2D_BACKWARD,
                            .type = to->grad->type,
                            .shape = to->node->inputs[0].shape,
                            .attrs = to->attrs,
                            .attr_bytes = to->node->attr_bytes};
  to->result[0] = xl_apply_1(&result, to->grad);
}
