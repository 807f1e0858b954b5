/* Operations element by element, on tensors. */
#ifndef XL_OP_ELEMENTS_H
#define XL_OP_ELEMENTS_H

#include "lazy/apply.h"

/* The wider of two types. */
xl_type xl_promote(xl_type a, xl_type b);

/* The shape that two are broadcast to; false with an error that has both. */
bool xl_broadcast_shapes(const xl_var *x, const xl_var *y, xl_shape *shape);

/* x of another type; x itself if it has that type. */
xl_var *xl_op_cast(xl_var *x, xl_type type);

/* One operand; xl_op_float_unary: of a type with fractions (integers become f32). */
xl_var *xl_op_unary(xl_op op, xl_var *x);
xl_var *xl_op_float_unary(xl_op op, xl_var *x);

/* Two operands, broadcast, of the wider type. */
xl_var *xl_op_binary(xl_op op, xl_var *x, xl_var *y);

/* Whether a number has no fraction, and is one that 64 bits can hold. */
static inline bool xl_is_whole(double value)
{
  return value >= -0x1p63 && value < 0x1p63 && value == (double)(int64_t)value;
}

/* The second one is a number, which takes the type of x (or f32, if it has a fraction and x none). */
xl_var *xl_op_binary_number(xl_op op, xl_var *x, double y);

/* x + alpha y */
xl_var *xl_op_add_scaled(xl_var *x, xl_var *y, double alpha);

/* Comparisons, of two and with a number, and logical operations of two: bool. */
xl_var *xl_op_truth(xl_op op, xl_var *x, xl_var *y);
xl_var *xl_op_compare_number(xl_op op, xl_var *x, double y);

/* x where the condition holds, else y. */
xl_var *xl_op_where(xl_var *condition, xl_var *x, xl_var *y);

/* At least min and at most max, either of which may be infinite. */
xl_var *xl_op_clamp(xl_var *x, double min, double max);

#endif
