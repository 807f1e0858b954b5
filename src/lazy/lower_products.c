/* Instructions of products.  Those of bf16 are summed in f32 by the device and rounded once. */
#include "lazy/lower.h"

/* [.., n, k] [.., k, m], with `batch` leading dimensions. */
static xp_hlo_value product(xl_lowering *to, const xl_node *node, xp_hlo_value x, xp_hlo_value y, size_t batch)
{
  static const int64_t leading[XL_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
  const int64_t last = (int64_t)batch + 1, first = (int64_t)batch;
  const xp_hlo_type type = xl_hlo_type((xl_type)node->type);
  const xp_hlo_dot numbers = {.lhs_contracting = {&last, 1},
                              .rhs_contracting = {&first, 1},
                              .lhs_batch = {leading, batch},
                              .rhs_batch = {leading, batch}};
  const xp_hlo_value left = xl_lower_as(to, x, type), right = xl_lower_as(to, y, type);
  return xp_hlo_build_dot(to->body, left, right, &numbers, type, XP_HLO_PRECISION_DEFAULT);
}

xp_hlo_value xl_lower_mm(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return product(to, node, operands[0], operands[1], 0);
}

xp_hlo_value xl_lower_bmm(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return product(to, node, operands[0], operands[1], 1);
}

xp_hlo_value xl_lower_addmm(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_value bias = xl_lower_as(to, operands[0], xl_hlo_type((xl_type)node->type));
  const xp_hlo_value sum = product(to, node, operands[1], operands[2], 0);
  return xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, sum, xl_lower_broadcast(to, bias, &shape));
}
