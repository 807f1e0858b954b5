/* Instructions of tensors that are made of numbers: counting along a dimension. */
#include "lazy/lower.h"

/* start + i * step, in the type of the two numbers. */
xp_hlo_value xl_lower_arange(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const xl_type counting = (xl_type)xl_node_operands(node)[0]->type;
  const xp_hlo_shape counts = xl_hlo_shape(counting, &shape);
  const xp_hlo_value places = xp_hlo_build_iota(to->body, &counts, 0);
  const xp_hlo_value start = xl_lower_broadcast(to, operands[0], &shape);
  const xp_hlo_value step = xl_lower_broadcast(to, operands[1], &shape);
  const xp_hlo_value way = xp_hlo_build_binary(to->body, XP_HLO_OP_MULTIPLY, places, step);
  const xp_hlo_value result = xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, start, way);
  return xl_lower_as(to, result, xl_hlo_type((xl_type)node->type));
}

/* The operand where row and column are the same. */
xp_hlo_value xl_lower_eye(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_shape counts = xl_hlo_shape(xl_counting_type(shape.dims[0]), &shape);
  const xp_hlo_value rows = xp_hlo_build_iota(to->body, &counts, 0), columns = xp_hlo_build_iota(to->body, &counts, 1);
  const xp_hlo_value is_same = xp_hlo_build_compare(to->body, XP_HLO_COMPARE_EQ, rows, columns);
  const xp_hlo_value zeros = xl_lower_filled(to, 0, xl_hlo_type((xl_type)node->type), &shape);
  return xp_hlo_build_select(to->body, is_same, xl_lower_broadcast(to, operands[0], &shape), zeros);
}
