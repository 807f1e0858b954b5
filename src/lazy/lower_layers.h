/* What layers and losses are lowered with: arithmetic in f32, and sums that are put back over the shape they are of. */
#ifndef XL_LOWER_LAYERS_H
#define XL_LOWER_LAYERS_H

#include "lazy/lower.h"

/* Arithmetic on two values of one shape. */
static inline xp_hlo_value xl_lower_add(xl_lowering *to, xp_hlo_value x, xp_hlo_value y)
{
  return xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, x, y);
}

static inline xp_hlo_value xl_lower_subtract(xl_lowering *to, xp_hlo_value x, xp_hlo_value y)
{
  return xp_hlo_build_binary(to->body, XP_HLO_OP_SUBTRACT, x, y);
}

static inline xp_hlo_value xl_lower_multiply(xl_lowering *to, xp_hlo_value x, xp_hlo_value y)
{
  return xp_hlo_build_binary(to->body, XP_HLO_OP_MULTIPLY, x, y);
}

static inline xp_hlo_value xl_lower_divide(xl_lowering *to, xp_hlo_value x, xp_hlo_value y)
{
  return xp_hlo_build_binary(to->body, XP_HLO_OP_DIVIDE, x, y);
}

/* An operand in f32, and a result in the type of its node. */
static inline xp_hlo_value xl_lower_wide(xl_lowering *to, xp_hlo_value x)
{
  return xl_lower_as(to, x, XP_HLO_F32);
}

static inline xp_hlo_value xl_lower_result(xl_lowering *to, const xl_node *node, xp_hlo_value x)
{
  return xl_lower_as(to, x, xl_hlo_type((xl_type)node->type));
}

/* x combined over the dimensions of a mask, which go.  start: the neutral element. */
xp_hlo_value xl_lower_over(xl_lowering *to, xp_hlo_value x, xp_hlo_opcode opcode, double start, int64_t dims);

/* What is left of an array without the dimensions of a mask, repeated over the whole shape. */
xp_hlo_value xl_lower_along(xl_lowering *to, xp_hlo_value x, const xl_shape *shape, int64_t dims);

/* A number in the shape of a value of f32. */
xp_hlo_value xl_lower_like(xl_lowering *to, double value, xp_hlo_value x);

#endif
