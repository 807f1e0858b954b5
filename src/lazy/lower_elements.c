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

/* What is not 0 is true; a number with a fraction loses it. */
xp_hlo_value xl_lower_cast(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_type type = xl_hlo_type((xl_type)node->type);
  if (type != XP_HLO_PRED) {
    return xl_lower_as(to, operands[0], type);
  }
  const xl_node *operand = xl_node_operands(node)[0];
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_value zero = xl_lower_filled(to, 0, xl_hlo_type((xl_type)operand->type), &shape);
  return xp_hlo_build_compare(to->body, XP_HLO_COMPARE_NE, operands[0], zero);
}

xp_hlo_value xl_lower_unary(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value x = xl_lower_as(to, operands[0], xl_hlo_type((xl_type)node->type));
  return xp_hlo_build_unary(to->body, opcode_of(node), x);
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

/* The gradient where the result of relu was above 0. */
xp_hlo_value xl_lower_threshold_backward(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value zero = zeros(to, node);
  const xp_hlo_value is_above = xp_hlo_build_compare(to->body, XP_HLO_COMPARE_GT, operands[1], zero);
  return xp_hlo_build_select(to->body, is_above, operands[0], zero);
}
