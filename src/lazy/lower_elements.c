/* Instructions of what is computed element by element. */
#include "lazy/lower.h"
#include "lazy/op_elements.h"

xp_hlo_value xl_lower_device_data(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  (void)operands;
  const xp_hlo_shape shape = xl_node_hlo_shape(node);
  const char *name = xp_arena_format(to->arena, "p%u", node->data->parameter).ptr;
  return xp_hlo_build_parameter(to->body, node->data->parameter, &shape, name);
}

xp_hlo_value xl_lower_constant(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  (void)operands;
  double value;
  memcpy(&value, xl_node_attrs(node), sizeof value);
  return xp_hlo_build_scalar(to->body, xl_hlo_type((xl_type)node->type), value);
}

static xp_hlo_opcode opcode_of(const xl_node *node)
{
  return (xp_hlo_opcode)xl_op_facts[node->op].code;
}

xp_hlo_value xl_lower_cast(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return node->type == XL_BOOL ? xl_lower_truth_of(to, operands[0])
                               : xl_lower_as(to, operands[0], xl_hlo_type((xl_type)node->type));
}

xp_hlo_value xl_lower_unary(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value x = xl_lower_as(to, operands[0], xl_hlo_type((xl_type)node->type));
  return xp_hlo_build_unary(to->body, opcode_of(node), x);
}

/* A whole number is what it is. */
xp_hlo_value xl_lower_rounding(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return xl_is_float((xl_type)node->type) ? xl_lower_unary(to, node, operands) : operands[0];
}

xp_hlo_value xl_lower_abs(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return xl_type_facts[node->type].is_signed ? xp_hlo_build_unary(to->body, XP_HLO_OP_ABS, operands[0]) : operands[0];
}

/* As in torch, 0 of a NaN, which HLO's is a NaN of. */
xp_hlo_value xl_lower_sign(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value x = operands[0];
  if (node->type == XL_BOOL) {
    return x;
  }
  if (!xl_type_facts[node->type].is_signed) {
    return xp_hlo_build_binary(to->body, XP_HLO_OP_MINIMUM, x, xl_lower_number_like(to, 1, x));
  }
  const xp_hlo_value sign = xp_hlo_build_unary(to->body, XP_HLO_OP_SIGN, x);
  if (!xl_is_float((xl_type)node->type)) {
    return sign;
  }
  const xp_hlo_value is_number = xp_hlo_build_compare(to->body, XP_HLO_COMPARE_EQ, x, x);
  return xp_hlo_build_select(to->body, is_number, sign, xl_lower_number_like(to, 0, x));
}

/* Operand i in the result's type and shape. */
static xp_hlo_value operand_as(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands, size_t i)
{
  const xl_shape shape = xl_node_shape(node);
  return xl_lower_broadcast(to, xl_lower_as(to, operands[i], xl_hlo_type((xl_type)node->type)), &shape);
}

xp_hlo_value xl_lower_binary(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value x = operand_as(to, node, operands, 0), y = operand_as(to, node, operands, 1);
  return xp_hlo_build_binary(to->body, opcode_of(node), x, y);
}

xp_hlo_value xl_lower_add_scaled(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value x = operand_as(to, node, operands, 0), y = operand_as(to, node, operands, 1);
  const xp_hlo_value alpha = operand_as(to, node, operands, 2);
  const xp_hlo_value scaled = xp_hlo_build_binary(to->body, XP_HLO_OP_MULTIPLY, y, alpha);
  return xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, x, scaled);
}

static xp_hlo_value zeros(xl_lowering *to, const xl_node *node)
{
  const xl_shape shape = xl_node_shape(node);
  return xl_lower_filled(to, 0, xl_hlo_type((xl_type)node->type), &shape);
}

xp_hlo_value xl_lower_relu(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return xp_hlo_build_binary(to->body, XP_HLO_OP_MAXIMUM, operands[0], zeros(to, node));
}

/* The gradient where the result of relu was above 0, or a NaN. */
xp_hlo_value xl_lower_threshold_backward(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value zero = zeros(to, node);
  const xp_hlo_value is_not = xp_hlo_build_compare(to->body, XP_HLO_COMPARE_LE, operands[1], zero);
  return xp_hlo_build_select(to->body, is_not, zero, operands[0]);
}

/* ---------------------------------------------------------------- division with the sign of the divisor */

typedef struct {
  xp_hlo_value x, y, rest; /* of the sign of x, as HLO's is */
  xp_hlo_value is_between; /* there is a rest, of the other sign than y */
} division;

/* bf16 is divided in f32.  Of whole numbers HLO says what comes out for a divisor of 0: -1, and x as the rest. */
static division divide(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xp_hlo_body *body = to->body;
  division d = {.x = operand_as(to, node, operands, 0), .y = operand_as(to, node, operands, 1)};
  if (node->type == XL_BF16) {
    d.x = xl_lower_as(to, d.x, XP_HLO_F32);
    d.y = xl_lower_as(to, d.y, XP_HLO_F32);
  }
  const xp_hlo_value zero = xl_lower_number_like(to, 0, d.x);
  d.rest = xp_hlo_build_binary(body, XP_HLO_OP_REMAINDER, d.x, d.y);
  const xp_hlo_value has_rest = xp_hlo_build_compare(body, XP_HLO_COMPARE_NE, d.rest, zero);
  const xp_hlo_value rest_sign = xp_hlo_build_compare(body, XP_HLO_COMPARE_LT, d.rest, zero);
  const xp_hlo_value y_sign = xp_hlo_build_compare(body, XP_HLO_COMPARE_LT, d.y, zero);
  const xp_hlo_value signs_differ = xp_hlo_build_compare(body, XP_HLO_COMPARE_NE, rest_sign, y_sign);
  d.is_between = xp_hlo_build_binary(body, XP_HLO_OP_AND, has_rest, signs_differ);
  return d;
}

xp_hlo_value xl_lower_remainder(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const division d = divide(to, node, operands);
  const xp_hlo_value above = xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, d.rest, d.y);
  const xp_hlo_value rest = xp_hlo_build_select(to->body, d.is_between, above, d.rest);
  return xl_lower_as(to, rest, xl_hlo_type((xl_type)node->type));
}

/* The quotient without its fraction; it is computed without the rest, so that it is next to a whole number. */
static xp_hlo_value whole_quotient(xl_lowering *to, const division *d, xp_hlo_value quotient)
{
  xp_hlo_body *body = to->body;
  const xp_hlo_value floor = xp_hlo_build_unary(body, XP_HLO_OP_FLOOR, quotient);
  const xp_hlo_value fraction = xp_hlo_build_binary(body, XP_HLO_OP_SUBTRACT, quotient, floor);
  const xp_hlo_value half = xl_lower_number_like(to, 0.5, floor), one = xl_lower_number_like(to, 1, floor);
  const xp_hlo_value is_next = xp_hlo_build_compare(body, XP_HLO_COMPARE_GT, fraction, half);
  const xp_hlo_value next = xp_hlo_build_binary(body, XP_HLO_OP_ADD, floor, one);
  const xp_hlo_value whole = xp_hlo_build_select(body, is_next, next, floor);
  const xp_hlo_value zero = xl_lower_number_like(to, 0, floor);
  const xp_hlo_value by_zero = xp_hlo_build_compare(body, XP_HLO_COMPARE_EQ, d->y, zero);
  return xp_hlo_build_select(body, by_zero, xp_hlo_build_binary(body, XP_HLO_OP_DIVIDE, d->x, d->y), whole);
}

xp_hlo_value xl_lower_floor_div(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xp_hlo_body *body = to->body;
  const division d = divide(to, node, operands);
  const bool is_float = xl_is_float((xl_type)node->type);
  const xp_hlo_value dividend = is_float ? xp_hlo_build_binary(body, XP_HLO_OP_SUBTRACT, d.x, d.rest) : d.x;
  const xp_hlo_value quotient = xp_hlo_build_binary(body, XP_HLO_OP_DIVIDE, dividend, d.y);
  const xp_hlo_value one = xl_lower_number_like(to, 1, quotient);
  const xp_hlo_value below = xp_hlo_build_binary(body, XP_HLO_OP_SUBTRACT, quotient, one);
  const xp_hlo_value result = xp_hlo_build_select(body, d.is_between, below, quotient);
  return xl_lower_as(to, is_float ? whole_quotient(to, &d, result) : result, xl_hlo_type((xl_type)node->type));
}

/* ---------------------------------------------------------------- activations, bf16 in f32 */

static xp_hlo_value wide(xl_lowering *to, xp_hlo_value x, const xl_node *node)
{
  return xl_lower_as(to, x, node->type == XL_BF16 ? XP_HLO_F32 : xl_hlo_type((xl_type)node->type));
}

static xp_hlo_value narrow(xl_lowering *to, xp_hlo_value x, const xl_node *node)
{
  return xl_lower_as(to, x, xl_hlo_type((xl_type)node->type));
}

static xp_hlo_value times(xl_lowering *to, xp_hlo_value x, xp_hlo_value y)
{
  return xp_hlo_build_binary(to->body, XP_HLO_OP_MULTIPLY, x, y);
}

static xp_hlo_value scaled(xl_lowering *to, xp_hlo_value x, double number)
{
  return times(to, x, xl_lower_number_like(to, number, x));
}

/* 1 + x */
static xp_hlo_value one_and(xl_lowering *to, xp_hlo_value x)
{
  return xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, x, xl_lower_number_like(to, 1, x));
}

xp_hlo_value xl_lower_silu(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value x = wide(to, operands[0], node);
  return narrow(to, times(to, x, xp_hlo_build_unary(to->body, XP_HLO_OP_LOGISTIC, x)), node);
}

/* g s (1 + x (1 - s)), s being the sigmoid of x */
xp_hlo_value xl_lower_silu_backward(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value gradient = wide(to, operands[0], node), x = wide(to, operands[1], node);
  const xp_hlo_value s = xp_hlo_build_unary(to->body, XP_HLO_OP_LOGISTIC, x);
  const xp_hlo_value rest = xp_hlo_build_binary(to->body, XP_HLO_OP_SUBTRACT, xl_lower_number_like(to, 1, s), s);
  const xp_hlo_value outer = times(to, gradient, s), inner = one_and(to, times(to, x, rest));
  return narrow(to, times(to, outer, inner), node);
}

/* The normal distribution up to x. */
static xp_hlo_value normal_below(xl_lowering *to, xp_hlo_value x)
{
  const xp_hlo_value erf = xp_hlo_build_unary(to->body, XP_HLO_OP_ERF, scaled(to, x, 0.70710678118654752440));
  return scaled(to, one_and(to, erf), 0.5);
}

xp_hlo_value xl_lower_gelu(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value x = wide(to, operands[0], node);
  return narrow(to, times(to, x, normal_below(to, x)), node);
}

/* The derivative of gelu is the distribution below x, and x times its density at x. */
xp_hlo_value xl_lower_gelu_backward(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value gradient = wide(to, operands[0], node), x = wide(to, operands[1], node);
  const xp_hlo_value power = xp_hlo_build_unary(to->body, XP_HLO_OP_EXPONENTIAL, scaled(to, times(to, x, x), -0.5));
  const xp_hlo_value density = scaled(to, power, 0.39894228040143267794); /* 1 / sqrt(2 pi) */
  const xp_hlo_value below = normal_below(to, x), at = times(to, x, density);
  const xp_hlo_value slope = xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, below, at);
  return narrow(to, times(to, gradient, slope), node);
}
