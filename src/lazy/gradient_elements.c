/* Gradients of what is computed element by element. */
#include "lazy/autograd.h"
#include "lazy/op_elements.h"

static xl_var *negative(xl_var *x)
{
  return xl_op_unary(XL_OP_NEG, x);
}

static xl_var *product(xl_var *x, xl_var *y)
{
  return xl_op_binary(XL_OP_MUL, x, y);
}

static xl_var *quotient(xl_var *x, xl_var *y)
{
  return xl_op_binary(XL_OP_DIV, x, y);
}

void xl_gradient_cast(xl_gradient *to)
{
  to->result[0] = to->grad;
}

void xl_gradient_neg(xl_gradient *to)
{
  to->result[0] = negative(to->grad);
}

void xl_gradient_relu(xl_gradient *to)
{
  const xl_result result = {.op = XL_OP_THRESHOLD_BACKWARD, .type = to->grad->type, .shape = to->grad->shape};
  to->result[0] = xl_apply_2(&result, to->grad, to->out);
}

void xl_gradient_add(xl_gradient *to)
{
  to->result[0] = to->result[1] = to->grad;
}

void xl_gradient_add_scaled(xl_gradient *to)
{
  to->result[0] = to->grad;
  if (xl_gradient_wanted(to, 1)) {
    to->result[1] = product(to->grad, to->in[2]);
  }
}

void xl_gradient_sub(xl_gradient *to)
{
  to->result[0] = to->grad;
  if (xl_gradient_wanted(to, 1)) {
    to->result[1] = negative(to->grad);
  }
}

void xl_gradient_mul(xl_gradient *to)
{
  if (xl_gradient_wanted(to, 0)) {
    to->result[0] = product(to->grad, to->in[1]);
  }
  if (xl_gradient_wanted(to, 1)) {
    to->result[1] = product(to->grad, to->in[0]);
  }
}

void xl_gradient_div(xl_gradient *to)
{
  xl_var *scaled = quotient(to->grad, to->in[1]);
  to->result[0] = scaled;
  if (xl_gradient_wanted(to, 1)) {
    to->result[1] = negative(product(scaled, quotient(to->in[0], to->in[1])));
  }
}
