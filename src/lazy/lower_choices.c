/* Instructions of what compares and chooses, element by element. */
#include "lazy/lower.h"
#include "lazy/op_elements.h"

/* In the wider type of both. */
xp_hlo_value xl_lower_compare(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_node *const *from = (const xl_node *const *)xl_node_operands(node);
  const xp_hlo_type type = xl_hlo_type(xl_promote((xl_type)from[0]->type, (xl_type)from[1]->type));
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_value x = xl_lower_broadcast(to, xl_lower_as(to, operands[0], type), &shape);
  const xp_hlo_value y = xl_lower_broadcast(to, xl_lower_as(to, operands[1], type), &shape);
  return xp_hlo_build_compare(to->body, (xp_hlo_compare)xl_op_facts[node->op].code, x, y);
}

xp_hlo_value xl_lower_logical(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_value x = xl_lower_broadcast(to, xl_lower_truth_of(to, operands[0]), &shape);
  const xp_hlo_value y = xl_lower_broadcast(to, xl_lower_truth_of(to, operands[1]), &shape);
  return xp_hlo_build_binary(to->body, (xp_hlo_opcode)xl_op_facts[node->op].code, x, y);
}

xp_hlo_value xl_lower_logical_not(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  (void)node;
  return xp_hlo_build_unary(to->body, XP_HLO_OP_NOT, xl_lower_truth_of(to, operands[0]));
}

/* Whole numbers are no NaN, and finite. */
static xp_hlo_value always(xl_lowering *to, const xl_node *node, bool truth)
{
  const xl_shape shape = xl_node_shape(node);
  return xl_lower_filled(to, truth, XP_HLO_PRED, &shape);
}

xp_hlo_value xl_lower_isnan(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return xl_is_float((xl_type)xl_node_operands(node)[0]->type)
             ? xp_hlo_build_compare(to->body, XP_HLO_COMPARE_NE, operands[0], operands[0])
             : always(to, node, false);
}

xp_hlo_value xl_lower_isfinite(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return xl_is_float((xl_type)xl_node_operands(node)[0]->type)
             ? xp_hlo_build_unary(to->body, XP_HLO_OP_IS_FINITE, operands[0])
             : always(to, node, true);
}

/* Not HLO's clamp: where min is above max, torch gives max. */
xp_hlo_value xl_lower_clamp(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_value x = xl_lower_as(to, operands[0], xl_hlo_type((xl_type)node->type));
  const xp_hlo_value min = xl_lower_broadcast(to, operands[1], &shape);
  const xp_hlo_value max = xl_lower_broadcast(to, operands[2], &shape);
  const xp_hlo_value above = xp_hlo_build_binary(to->body, XP_HLO_OP_MAXIMUM, x, min);
  return xp_hlo_build_binary(to->body, XP_HLO_OP_MINIMUM, above, max);
}

xp_hlo_value xl_lower_where(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_type type = xl_hlo_type((xl_type)node->type);
  const xp_hlo_value condition = xl_lower_broadcast(to, operands[0], &shape);
  const xp_hlo_value x = xl_lower_broadcast(to, xl_lower_as(to, operands[1], type), &shape);
  const xp_hlo_value y = xl_lower_broadcast(to, xl_lower_as(to, operands[2], type), &shape);
  return xp_hlo_build_select(to->body, condition, x, y);
}
