/* Gradients of what chooses, element by element: a gradient goes to what was chosen. */
#include "lazy/autograd.h"
#include "lazy/op_elements.h"

static xl_var *zero_for(const xl_gradient *to)
{
  return xl_number(to->grad->type, 0);
}

/* Where x is as y, half of it; where x is beyond y (op), none; a NaN gets all of it. */
static xl_var *share(const xl_gradient *to, xl_op op, xl_var *x, xl_var *y)
{
  xl_var *half = xl_op_binary_number(XL_OP_MUL, to->grad, 0.5);
  xl_var *equally = xl_op_where(xl_op_truth(XL_OP_EQ, x, y), half, to->grad);
  xl_var *is_beyond = xl_op_truth(op, x, y);
  return xl_op_where(is_beyond, zero_for(to), equally);
}

static void share_both(xl_gradient *to, xl_op op)
{
  if (xl_gradient_wanted(to, 0)) {
    to->result[0] = share(to, op, to->in[0], to->in[1]);
  }
  if (xl_gradient_wanted(to, 1)) {
    to->result[1] = share(to, op, to->in[1], to->in[0]);
  }
}

void xl_gradient_maximum(xl_gradient *to)
{
  share_both(to, XL_OP_LT);
}

void xl_gradient_minimum(xl_gradient *to)
{
  share_both(to, XL_OP_GT);
}

/* The bounds themselves are inside. */
void xl_gradient_clamp(xl_gradient *to)
{
  xl_var *is_above = xl_op_truth(XL_OP_GE, to->in[0], to->in[1]);
  xl_var *is_below = xl_op_truth(XL_OP_LE, to->in[0], to->in[2]);
  xl_var *is_inside = xl_op_truth(XL_OP_LOGICAL_AND, is_above, is_below);
  to->result[0] = xl_op_where(is_inside, to->grad, zero_for(to));
}

void xl_gradient_where(xl_gradient *to)
{
  if (xl_gradient_wanted(to, 1)) {
    to->result[1] = xl_op_where(to->in[0], to->grad, zero_for(to));
  }
  if (xl_gradient_wanted(to, 2)) {
    to->result[2] = xl_op_where(to->in[0], zero_for(to), to->grad);
  }
}
