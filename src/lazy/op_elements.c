/* Types and shapes of results element by element. */
#include "lazy/op_elements.h"

#include <math.h>

#include "lazy/op_public.h"
#include "lazy/op_types.h"

xl_type xl_promote(xl_type a, xl_type b)
{
  static const uint8_t width[XL_TYPE_COUNT] = {
      [XL_BOOL] = 0, [XL_U8] = 1, [XL_I32] = 2, [XL_I64] = 3, [XL_BF16] = 4, [XL_F32] = 5,
  };
  return width[a] >= width[b] ? a : b;
}

bool xl_broadcast_shapes(const xl_var *x, const xl_var *y, xl_shape *shape)
{
  const xl_shape *a = &x->shape, *b = &y->shape;
  if (xl_shape_equal(a, b)) {
    *shape = *a;
    return true;
  }
  *shape = (xl_shape){a->rank > b->rank ? a->rank : b->rank, {0}};
  for (size_t i = 0; i < shape->rank; i++) { /* from the last dimension */
    const int64_t m = i < a->rank ? a->dims[a->rank - 1 - i] : 1, n = i < b->rank ? b->dims[b->rank - 1 - i] : 1;
    if (m != n && m != 1 && n != 1) {
      char p[XL_SHAPE_TEXT], q[XL_SHAPE_TEXT];
      xl_refuse(XP_ERR_USAGE, "the shapes %s and %s can't be broadcast against each other",
                xl_shape_text(p, x->type, a), xl_shape_text(q, y->type, b));
      return false;
    }
    shape->dims[shape->rank - 1 - i] = m == 1 ? n : m;
  }
  return true;
}

xl_var *xl_op_cast(xl_var *x, xl_type type)
{
  if (x == NULL || x->type == type) {
    return x;
  }
  const xl_result result = {.op = XL_OP_CAST, .type = type, .shape = x->shape};
  return xl_apply_1(&result, x);
}

xl_var *xl_op_unary(xl_op op, xl_var *x)
{
  if (x == NULL) {
    return NULL;
  }
  if (x->type == XL_BOOL && op != XL_OP_SIGN) {
    return xl_no_bools(x, NULL);
  }
  const xl_result result = {.op = op, .type = x->type, .shape = x->shape};
  return xl_apply_1(&result, x);
}

xl_var *xl_op_float_unary(xl_op op, xl_var *x)
{
  if (x == NULL) {
    return NULL;
  }
  const xl_result result = {.op = op, .type = xl_is_float(x->type) ? x->type : XL_F32, .shape = x->shape};
  return xl_apply_1(&result, x);
}

/* Whether an operation is one of these types: some are none of two bools, and a difference is none of a single one. */
static bool takes_bools(xl_op op, xl_type x, xl_type y)
{
  switch (op) {
  case XL_OP_SUB:
    return x != XL_BOOL && y != XL_BOOL;
  case XL_OP_FLOOR_DIV:
  case XL_OP_REMAINDER:
  case XL_OP_POW:
    return x != XL_BOOL || y != XL_BOOL;
  default:
    return true;
  }
}

xl_var *xl_op_binary(xl_op op, xl_var *x, xl_var *y)
{
  xl_result result; /* not zeroed as a whole: that would be a twentieth of what a node costs */
  if (x == NULL || y == NULL || !xl_broadcast_shapes(x, y, &result.shape)) {
    return NULL;
  }
  if (!takes_bools(op, x->type, y->type)) {
    return xl_no_bools(x, y);
  }
  result.op = op;
  result.type = xl_promote(x->type, y->type);
  result.attrs = NULL;
  result.attr_bytes = 0;
  if (op == XL_OP_DIV && !xl_is_float(result.type)) {
    result.type = XL_F32;
  }
  return xl_apply_2(&result, x, y);
}

/* A whole number as a type of whole numbers has it: without its upper bits. */
static double wrapped(xl_type type, double value)
{
  const double range = type == XL_U8 ? 0x1p8 : 0x1p32, least = type == XL_U8 ? 0 : -0x1p31;
  return type == XL_I64 ? value : value - range * floor((value - least) / range);
}

xl_var *xl_op_binary_number(xl_op op, xl_var *x, double y)
{
  if (x == NULL) {
    return NULL;
  }
  if (xl_is_float(x->type)) {
    return xl_op_binary(op, x, xl_number(x->type, y));
  }
  if (!xl_is_whole(y) || op == XL_OP_DIV) {
    return xl_op_binary(op, x, xl_number(XL_F32, y));
  }
  const xl_type type = x->type == XL_BOOL ? XL_I64 : x->type;
  return xl_op_binary(op, x, xl_number(type, wrapped(type, y)));
}

xl_var *xl_op_add_scaled(xl_var *x, xl_var *y, double alpha)
{
  xl_result result = {.op = XL_OP_ADD_SCALED};
  if (alpha == 1) {
    return xl_op_binary(XL_OP_ADD, x, y);
  }
  if (x == NULL || y == NULL || !xl_broadcast_shapes(x, y, &result.shape)) {
    return NULL;
  }
  result.type = xl_promote(x->type, y->type);
  if (!xl_is_float(result.type) && !xl_is_whole(alpha)) {
    char text[XL_SHAPE_TEXT];
    return xl_refuse(XP_ERR_USAGE, "%g times %s has a fraction; cast the tensor to f32 (xl_cast)", alpha,
                     xl_shape_text(text, y->type, &y->shape));
  }
  if (result.type == XL_BOOL) {
    return xl_no_bools(x, y);
  }
  return xl_apply_3(&result, x, y, xl_number(result.type, alpha));
}

static xl_var *reciprocal(xl_var *x)
{
  return x != NULL ? xl_op_binary(XL_OP_DIV, xl_number(xl_is_float(x->type) ? x->type : XL_F32, 1), x) : NULL;
}

static xl_var *square(xl_var *x)
{
  xl_var *number = x != NULL && x->type == XL_BOOL ? xl_op_cast(x, XL_I64) : x;
  return xl_op_binary(XL_OP_MUL, number, number);
}

/* torch has these for numbers with fractions alone. */
static xl_var *of_fractions(xl_op op, xl_var *x)
{
  return x != NULL && xl_check_fractions(x) ? xl_op_unary(op, x) : NULL;
}

/* Squares and roots are quicker than powers, and torch's are made so. */
static xl_var *pow_number(xl_var *x, double y)
{
  if (x == NULL || y == 2) {
    return square(x);
  }
  if (y == 0.5 || y == -0.5) {
    return xl_op_float_unary(y > 0 ? XL_OP_SQRT : XL_OP_RSQRT, x);
  }
  if (!xl_is_float(x->type) && y < 0 && xl_is_whole(y)) {
    char text[XL_SHAPE_TEXT];
    return xl_refuse(XP_ERR_USAGE, "%s to the power of %g has fractions; cast the tensor to f32 (xl_cast)",
                     xl_shape_text(text, x->type, &x->shape), y);
  }
  return xl_op_binary_number(XL_OP_POW, x, y);
}

/* ---------------------------------------------------------------- public */

XL_PUBLIC_1(neg, xl_op_unary(XL_OP_NEG, x))
XL_PUBLIC_1(abs, xl_op_unary(XL_OP_ABS, x))
XL_PUBLIC_1(sign, xl_op_unary(XL_OP_SIGN, x))
XL_PUBLIC_1(exp, xl_op_float_unary(XL_OP_EXP, x))
XL_PUBLIC_1(expm1, xl_op_float_unary(XL_OP_EXPM1, x))
XL_PUBLIC_1(log, xl_op_float_unary(XL_OP_LOG, x))
XL_PUBLIC_1(log1p, xl_op_float_unary(XL_OP_LOG1P, x))
XL_PUBLIC_1(sqrt, xl_op_float_unary(XL_OP_SQRT, x))
XL_PUBLIC_1(rsqrt, xl_op_float_unary(XL_OP_RSQRT, x))
XL_PUBLIC_1(sin, xl_op_float_unary(XL_OP_SIN, x))
XL_PUBLIC_1(cos, xl_op_float_unary(XL_OP_COS, x))
XL_PUBLIC_1(tanh, xl_op_float_unary(XL_OP_TANH, x))
XL_PUBLIC_1(erf, xl_op_float_unary(XL_OP_ERF, x))
XL_PUBLIC_1(floor, xl_op_unary(XL_OP_FLOOR, x))
XL_PUBLIC_1(ceil, xl_op_unary(XL_OP_CEIL, x))
XL_PUBLIC_1(round, xl_op_unary(XL_OP_ROUND, x))
XL_PUBLIC_1(relu, xl_op_unary(XL_OP_RELU, x))
XL_PUBLIC_1(sigmoid, xl_op_float_unary(XL_OP_SIGMOID, x))
XL_PUBLIC_1(silu, of_fractions(XL_OP_SILU, x))
XL_PUBLIC_1(gelu, of_fractions(XL_OP_GELU, x))
XL_PUBLIC_1(square, square(x))
XL_PUBLIC_1(reciprocal, reciprocal(x))

XL_PUBLIC_2(add, xl_op_binary(XL_OP_ADD, x, y))
XL_PUBLIC_2(sub, xl_op_binary(XL_OP_SUB, x, y))
XL_PUBLIC_2(mul, xl_op_binary(XL_OP_MUL, x, y))
XL_PUBLIC_2(div, xl_op_binary(XL_OP_DIV, x, y))
XL_PUBLIC_2(floor_div, xl_op_binary(XL_OP_FLOOR_DIV, x, y))
XL_PUBLIC_2(remainder, xl_op_binary(XL_OP_REMAINDER, x, y))
XL_PUBLIC_2(pow, xl_op_binary(XL_OP_POW, x, y))

XL_PUBLIC_NUMBER(add_scalar, xl_op_binary_number(XL_OP_ADD, x, number))
XL_PUBLIC_NUMBER(sub_scalar,
                 x != NULL && x->type == XL_BOOL ? xl_no_bools(x, NULL) : xl_op_binary_number(XL_OP_SUB, x, number))
XL_PUBLIC_NUMBER(mul_scalar, xl_op_binary_number(XL_OP_MUL, x, number))
XL_PUBLIC_NUMBER(div_scalar, xl_op_binary_number(XL_OP_DIV, x, number))
XL_PUBLIC_NUMBER(pow_scalar, pow_number(x, number))

xl_tensor xl_add_scaled_at(const xl_location *at, xl_tensor first, xl_tensor second, double alpha)
{
  static xl_entry entry = {"add_scaled", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(first), *y = xl_arg(second);
  return xl_end(xl_op_add_scaled(x, y, alpha));
}

xl_tensor xl_cast_at(const xl_location *at, xl_tensor tensor, xl_type type)
{
  static xl_entry entry = {"cast", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_check_type(type) ? xl_op_cast(xl_arg(tensor), type) : NULL);
}
