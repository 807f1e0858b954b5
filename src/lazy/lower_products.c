/* Instructions of products. */
#include "lazy/lower.h"

static xp_hlo_value mm(xl_lowering *to, const xl_node *node, xp_hlo_value x, xp_hlo_value y)
{
  static const int64_t last = 1, first = 0;
  const xp_hlo_type type = xl_hlo_type((xl_type)node->type);
  const xp_hlo_dot numbers = {.lhs_contracting = {&last, 1}, .rhs_contracting = {&first, 1}};
  return xp_hlo_build_dot(to->body, xl_lower_as(to, x, type), xl_lower_as(to, y, type), &numbers, type,
                          XP_HLO_PRECISION_DEFAULT);
}

xp_hlo_value xl_lower_mm(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return mm(to, node, operands[0], operands[1]);
}

xp_hlo_value xl_lower_addmm(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_value bias = xl_lower_as(to, operands[0], xl_hlo_type((xl_type)node->type));
  const xp_hlo_value product = mm(to, node, operands[1], operands[2]);
  return xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, product, xl_lower_broadcast(to, bias, &shape));
}
