/* Gradients of softmax, of normalisations and of losses: operations of their own, on what the forward pass computed. */
#include "lazy/autograd.h"
#include "lazy/op_layers.h"
#include "lazy/op_sums.h"

/* A result with the attributes of the node. */
static xl_result result_of(const xl_gradient *to, xl_op op, xl_type type, const xl_shape *shape)
{
  return (xl_result){.op = op, .type = type, .shape = *shape, .attrs = to->attrs, .attr_bytes = to->node->attr_bytes};
}

void xl_gradient_softmax(xl_gradient *to)
{
  const xl_result result = result_of(to, XL_OP_SOFTMAX_BACKWARD, to->grad->type, &to->node->shape);
  to->result[0] = xl_apply_2(&result, to->grad, to->out);
}

void xl_gradient_log_softmax(xl_gradient *to)
{
  const xl_result result = result_of(to, XL_OP_LOG_SOFTMAX_BACKWARD, to->grad->type, &to->node->shape);
  to->result[0] = xl_apply_2(&result, to->grad, to->out);
}

/* Inputs: x, statistics, weight, bias.  The statistics were computed from x, and their part is in its gradient. */
void xl_gradient_norm(xl_gradient *to)
{
  const xl_grad_node *node = to->node;
  const bool is_weighted = node->input_count == 4;
  if (xl_gradient_wanted(to, 0)) {
    const xl_op op = (xl_op)xl_op_facts[node->op].code;
    const xl_result result = result_of(to, op, to->grad->type, &node->shape);
    xl_var *const inputs[] = {to->grad, to->in[0], to->in[1], to->in[2]};
    to->result[0] = xl_apply(&result, inputs, is_weighted ? 4 : 3);
  }
  if (is_weighted && xl_gradient_wanted(to, 2)) {
    const xl_result result = result_of(to, XL_OP_NORM_BACKWARD_WEIGHT, to->grad->type, &node->inputs[2].shape);
    to->result[2] = xl_apply_3(&result, to->grad, to->in[0], to->in[1]);
  }
  if (is_weighted) {
    to->result[3] = to->grad;
  }
}

void xl_gradient_nll_loss(xl_gradient *to)
{
  const xl_result result = result_of(to, XL_OP_NLL_LOSS_BACKWARD, to->grad->type, &to->node->inputs[0].shape);
  to->result[0] = xl_apply_2(&result, to->grad, to->in[1]);
}
