/* Gradients of what is computed element by element. */
#include "lazy/autograd.h"
#include "lazy/op_elements.h"
#include "lazy/op_views.h"

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

static xl_var *scaled(xl_var *x, double number)
{
  return xl_op_binary_number(XL_OP_MUL, x, number);
}

static xl_var *plus(xl_var *x, double number)
{
  return xl_op_binary_number(XL_OP_ADD, x, number);
}

/* 1 - x */
static xl_var *one_less(xl_var *x)
{
  return x != NULL ? xl_op_binary(XL_OP_SUB, xl_number(x->type, 1), x) : NULL;
}

/* ---------------------------------------------------------------- of one operand */

void xl_gradient_cast(xl_gradient *to)
{
  to->result[0] = to->grad;
}

void xl_gradient_neg(xl_gradient *to)
{
  to->result[0] = negative(to->grad);
}

/* Of steps. */
void xl_gradient_zero(xl_gradient *to)
{
  to->result[0] = xl_op_expand(xl_number(to->grad->type, 0), &to->grad->shape);
}

void xl_gradient_abs(xl_gradient *to)
{
  to->result[0] = product(to->grad, xl_op_unary(XL_OP_SIGN, to->in[0]));
}

void xl_gradient_exp(xl_gradient *to)
{
  to->result[0] = product(to->grad, to->out);
}

void xl_gradient_expm1(xl_gradient *to)
{
  to->result[0] = product(to->grad, plus(to->out, 1));
}

void xl_gradient_log(xl_gradient *to)
{
  to->result[0] = quotient(to->grad, to->in[0]);
}

void xl_gradient_log1p(xl_gradient *to)
{
  to->result[0] = quotient(to->grad, plus(to->in[0], 1));
}

void xl_gradient_sqrt(xl_gradient *to)
{
  to->result[0] = quotient(to->grad, scaled(to->out, 2));
}

void xl_gradient_rsqrt(xl_gradient *to)
{
  xl_var *cube = product(product(to->out, to->out), to->out);
  to->result[0] = product(scaled(to->grad, -0.5), cube);
}

void xl_gradient_sin(xl_gradient *to)
{
  to->result[0] = product(to->grad, xl_op_unary(XL_OP_COS, to->in[0]));
}

void xl_gradient_cos(xl_gradient *to)
{
  to->result[0] = negative(product(to->grad, xl_op_unary(XL_OP_SIN, to->in[0])));
}

void xl_gradient_tanh(xl_gradient *to)
{
  to->result[0] = product(to->grad, one_less(product(to->out, to->out)));
}

void xl_gradient_sigmoid(xl_gradient *to)
{
  to->result[0] = product(to->grad, product(to->out, one_less(to->out)));
}

/* 2 / sqrt(pi) exp(-x x) */
void xl_gradient_erf(xl_gradient *to)
{
  xl_var *power = xl_op_unary(XL_OP_EXP, negative(product(to->in[0], to->in[0])));
  to->result[0] = product(to->grad, scaled(power, 1.12837916709551257390));
}

static void backward_of(xl_gradient *to, xl_op op, xl_var *kept)
{
  const xl_result result = {.op = op, .type = to->grad->type, .shape = to->grad->shape};
  to->result[0] = xl_apply_2(&result, to->grad, kept);
}

void xl_gradient_relu(xl_gradient *to)
{
  backward_of(to, XL_OP_THRESHOLD_BACKWARD, to->out);
}

void xl_gradient_silu(xl_gradient *to)
{
  backward_of(to, XL_OP_SILU_BACKWARD, to->in[0]);
}

void xl_gradient_gelu(xl_gradient *to)
{
  backward_of(to, XL_OP_GELU_BACKWARD, to->in[0]);
}

/* ---------------------------------------------------------------- of two */

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

/* x - y floor(x / y); the floor changes in steps. */
void xl_gradient_remainder(xl_gradient *to)
{
  to->result[0] = to->grad;
  if (xl_gradient_wanted(to, 1)) {
    to->result[1] = negative(product(to->grad, xl_op_binary(XL_OP_FLOOR_DIV, to->in[0], to->in[1])));
  }
}

/* y x^(y-1), and x^y log(x); 0 where the result does not depend on the operand, be the rest of the formula a NaN. */
void xl_gradient_pow(xl_gradient *to)
{
  xl_var *x = to->in[0], *y = to->in[1], *zero = xl_number(to->grad->type, 0);
  if (xl_gradient_wanted(to, 0)) {
    xl_var *slope = product(y, xl_op_binary(XL_OP_POW, x, plus(y, -1)));
    xl_var *is_constant = xl_op_compare_number(XL_OP_EQ, y, 0);
    to->result[0] = xl_op_where(is_constant, zero, product(to->grad, slope));
  }
  if (xl_gradient_wanted(to, 1)) {
    xl_var *is_zero = xl_op_compare_number(XL_OP_EQ, x, 0), *is_power = xl_op_truth(XL_OP_GE, y, xl_number(y->type, 0));
    xl_var *is_constant = xl_op_truth(XL_OP_LOGICAL_AND, is_zero, is_power);
    xl_var *slope = product(to->out, xl_op_float_unary(XL_OP_LOG, x));
    to->result[1] = xl_op_where(is_constant, zero, product(to->grad, slope));
  }
}
