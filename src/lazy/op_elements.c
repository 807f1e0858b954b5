/* Types and shapes of results element by element. */
#include "lazy/op_elements.h"

#include <math.h>

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
  shape->rank = a->rank > b->rank ? a->rank : b->rank;
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

xl_var *xl_op_binary(xl_op op, xl_var *x, xl_var *y)
{
  xl_result result = {.op = op};
  if (x == NULL || y == NULL || !xl_broadcast_shapes(x, y, &result.shape)) {
    return NULL;
  }
  result.type = xl_promote(x->type, y->type);
  if (op == XL_OP_DIV && !xl_is_float(result.type)) {
    result.type = XL_F32;
  }
  return xl_apply_2(&result, x, y);
}

xl_var *xl_op_binary_number(xl_op op, xl_var *x, double y)
{
  if (x == NULL) {
    return NULL;
  }
  const bool has_fraction = y != floor(y) || isinf(y);
  const bool is_whole = !xl_is_float(x->type) && !has_fraction && op != XL_OP_DIV;
  const xl_type type = xl_is_float(x->type) ? x->type : !is_whole ? XL_F32 : x->type == XL_BOOL ? XL_I64 : x->type;
  return xl_op_binary(op, x, xl_number(type, y));
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
  return xl_apply_3(&result, x, y, xl_number(result.type, alpha));
}

/* ---------------------------------------------------------------- public */

/* xl_NAME(x), xl_NAME(x, y), xl_NAME(x, number): the tensors of the handles, and an expression of them. */
#define UNARY(name, expression)                                                                                        \
  xl_tensor xl_##name##_at(const xl_location *at, xl_tensor tensor)                                                    \
  {                                                                                                                    \
    static xl_entry entry = {#name, NULL};                                                                             \
    xl_begin(&entry, at);                                                                                              \
    xl_var *x = xl_arg(tensor);                                                                                        \
    return xl_end(expression);                                                                                         \
  }

#define BINARY(name, expression)                                                                                       \
  xl_tensor xl_##name##_at(const xl_location *at, xl_tensor first, xl_tensor second)                                   \
  {                                                                                                                    \
    static xl_entry entry = {#name, NULL};                                                                             \
    xl_begin(&entry, at);                                                                                              \
    xl_var *x = xl_arg(first), *y = xl_arg(second);                                                                    \
    return xl_end(expression);                                                                                         \
  }

#define WITH_NUMBER(name, expression)                                                                                  \
  xl_tensor xl_##name##_at(const xl_location *at, xl_tensor tensor, double number)                                     \
  {                                                                                                                    \
    static xl_entry entry = {#name, NULL};                                                                             \
    xl_begin(&entry, at);                                                                                              \
    xl_var *x = xl_arg(tensor);                                                                                        \
    return xl_end(expression);                                                                                         \
  }

UNARY(neg, xl_op_unary(XL_OP_NEG, x))
UNARY(relu, xl_op_unary(XL_OP_RELU, x))

BINARY(add, xl_op_binary(XL_OP_ADD, x, y))
BINARY(sub, xl_op_binary(XL_OP_SUB, x, y))
BINARY(mul, xl_op_binary(XL_OP_MUL, x, y))
BINARY(div, xl_op_binary(XL_OP_DIV, x, y))

WITH_NUMBER(add_scalar, xl_op_binary_number(XL_OP_ADD, x, number))
WITH_NUMBER(sub_scalar, xl_op_binary_number(XL_OP_SUB, x, number))
WITH_NUMBER(mul_scalar, xl_op_binary_number(XL_OP_MUL, x, number))
WITH_NUMBER(div_scalar, xl_op_binary_number(XL_OP_DIV, x, number))

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
  return xl_end(xl_op_cast(xl_arg(tensor), type));
}
