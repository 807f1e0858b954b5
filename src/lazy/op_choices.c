/* Types and shapes of what compares and chooses, element by element. */
#include <math.h>

#include "lazy/op_elements.h"
#include "lazy/op_public.h"

xl_var *xl_op_truth(xl_op op, xl_var *x, xl_var *y)
{
  xl_result result = {.op = op, .type = XL_BOOL};
  return x != NULL && y != NULL && xl_broadcast_shapes(x, y, &result.shape) ? xl_apply_2(&result, x, y) : NULL;
}

static xl_var *truth_of(xl_op op, xl_var *x)
{
  if (x == NULL) {
    return NULL;
  }
  const xl_result result = {.op = op, .type = XL_BOOL, .shape = x->shape};
  return xl_apply_1(&result, x);
}

/* Whether a type of whole numbers has a whole number. */
static bool has_number(xl_type type, double value)
{
  switch (type) {
  case XL_U8:
    return value >= 0 && value <= UINT8_MAX;
  case XL_I32:
    return value >= INT32_MIN && value <= INT32_MAX;
  default:
    return type == XL_I64;
  }
}

/* A number that the type of x does not have is compared in a wider one. */
xl_var *xl_op_compare_number(xl_op op, xl_var *x, double y)
{
  if (x == NULL) {
    return NULL;
  }
  const xl_type whole = has_number(x->type, y) ? x->type : XL_I64;
  const xl_type type = xl_is_float(x->type) ? x->type : xl_is_whole(y) ? whole : XL_F32;
  return xl_op_truth(op, x, xl_number(type, y));
}

xl_var *xl_op_where(xl_var *condition, xl_var *x, xl_var *y)
{
  xl_result result = {.op = XL_OP_WHERE};
  if (condition == NULL || x == NULL || y == NULL) {
    return NULL;
  }
  if (condition->type != XL_BOOL) {
    char text[XL_SHAPE_TEXT];
    return xl_refuse(XP_ERR_USAGE, "the condition %s is not of type bool",
                     xl_shape_text(text, condition->type, &condition->shape));
  }
  xl_shape both;
  if (!xl_broadcast_shapes(x, y, &both)) {
    return NULL;
  }
  result.type = xl_promote(x->type, y->type);
  const xl_var pair = {.type = result.type, .shape = both};
  return xl_broadcast_shapes(condition, &pair, &result.shape) ? xl_apply_3(&result, condition, x, y) : NULL;
}

/* Whether a bound makes f32 of whole numbers; an infinite one bounds nothing. */
static bool is_fraction(double bound)
{
  return !isinf(bound) && !xl_is_whole(bound);
}

xl_var *xl_op_clamp(xl_var *x, double min, double max)
{
  if (x == NULL) {
    return NULL;
  }
  xl_result result = {.op = XL_OP_CLAMP, .type = x->type == XL_BOOL ? XL_I64 : x->type, .shape = x->shape};
  if (!xl_is_float(x->type) && (is_fraction(min) || is_fraction(max))) {
    result.type = XL_F32;
  }
  xl_var *least = xl_number(result.type, min), *most = xl_number(result.type, max);
  return xl_apply_3(&result, x, least, most);
}

/* ---------------------------------------------------------------- public */

XL_PUBLIC_1(isnan, truth_of(XL_OP_ISNAN, x))
XL_PUBLIC_1(isfinite, truth_of(XL_OP_ISFINITE, x))
XL_PUBLIC_1(logical_not, truth_of(XL_OP_LOGICAL_NOT, x))

XL_PUBLIC_2(maximum, xl_op_binary(XL_OP_MAXIMUM, x, y))
XL_PUBLIC_2(minimum, xl_op_binary(XL_OP_MINIMUM, x, y))
XL_PUBLIC_2(eq, xl_op_truth(XL_OP_EQ, x, y))
XL_PUBLIC_2(ne, xl_op_truth(XL_OP_NE, x, y))
XL_PUBLIC_2(lt, xl_op_truth(XL_OP_LT, x, y))
XL_PUBLIC_2(le, xl_op_truth(XL_OP_LE, x, y))
XL_PUBLIC_2(gt, xl_op_truth(XL_OP_GT, x, y))
XL_PUBLIC_2(ge, xl_op_truth(XL_OP_GE, x, y))
XL_PUBLIC_2(logical_and, xl_op_truth(XL_OP_LOGICAL_AND, x, y))
XL_PUBLIC_2(logical_or, xl_op_truth(XL_OP_LOGICAL_OR, x, y))
XL_PUBLIC_2(logical_xor, xl_op_truth(XL_OP_LOGICAL_XOR, x, y))

XL_PUBLIC_NUMBER(eq_scalar, xl_op_compare_number(XL_OP_EQ, x, number))
XL_PUBLIC_NUMBER(lt_scalar, xl_op_compare_number(XL_OP_LT, x, number))
XL_PUBLIC_NUMBER(gt_scalar, xl_op_compare_number(XL_OP_GT, x, number))

xl_tensor xl_where_at(const xl_location *at, xl_tensor condition, xl_tensor first, xl_tensor second)
{
  static xl_entry entry = {"where", NULL};
  xl_begin(&entry, at);
  xl_var *c = xl_arg(condition), *x = xl_arg(first), *y = xl_arg(second);
  return xl_end(xl_op_where(c, x, y));
}

xl_tensor xl_clamp_at(const xl_location *at, xl_tensor tensor, double min, double max)
{
  static xl_entry entry = {"clamp", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_clamp(xl_arg(tensor), min, max));
}
