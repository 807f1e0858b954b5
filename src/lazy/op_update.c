/* Updates in place: the operation, and its result as the new value. */
#include <math.h>

#include "lazy/apply.h"
#include "lazy/op_elements.h"
#include "lazy/op_views.h"

/* x takes a value, which is cast to its type. */
static xl_tensor end_update(xl_var *x, xl_var *value)
{
  return xl_end(x != NULL ? xl_update(x, xl_op_cast(value, x->type)) : NULL);
}

xl_tensor xl_add__at(const xl_location *at, xl_tensor first, xl_tensor second)
{
  static xl_entry entry = {"add_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(first), *y = xl_arg(second);
  return end_update(x, xl_op_binary(XL_OP_ADD, x, y));
}

xl_tensor xl_add_scaled__at(const xl_location *at, xl_tensor first, xl_tensor second, double alpha)
{
  static xl_entry entry = {"add_scaled_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(first), *y = xl_arg(second);
  return end_update(x, xl_op_add_scaled(x, y, alpha));
}

xl_tensor xl_add_scalar__at(const xl_location *at, xl_tensor tensor, double y)
{
  static xl_entry entry = {"add_scalar_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return end_update(x, xl_op_binary_number(XL_OP_ADD, x, y));
}

xl_tensor xl_sub__at(const xl_location *at, xl_tensor first, xl_tensor second)
{
  static xl_entry entry = {"sub_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(first), *y = xl_arg(second);
  return end_update(x, xl_op_binary(XL_OP_SUB, x, y));
}

xl_tensor xl_mul__at(const xl_location *at, xl_tensor first, xl_tensor second)
{
  static xl_entry entry = {"mul_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(first), *y = xl_arg(second);
  return end_update(x, xl_op_binary(XL_OP_MUL, x, y));
}

xl_tensor xl_mul_scalar__at(const xl_location *at, xl_tensor tensor, double y)
{
  static xl_entry entry = {"mul_scalar_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return end_update(x, xl_op_binary_number(XL_OP_MUL, x, y));
}

xl_tensor xl_div__at(const xl_location *at, xl_tensor first, xl_tensor second)
{
  static xl_entry entry = {"div_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(first), *y = xl_arg(second);
  return end_update(x, xl_op_binary(XL_OP_DIV, x, y));
}

/* x + scale (a op b), all of it in the widest type. */
static xl_tensor add_scaled_pair(xl_entry *entry, const xl_location *at, xl_op op, const xl_tensor tensors[3],
                                 double scale)
{
  xl_begin(entry, at);
  xl_var *x = xl_arg(tensors[0]), *a = xl_arg(tensors[1]), *b = xl_arg(tensors[2]);
  if (x == NULL || a == NULL || b == NULL) {
    return xl_end(NULL);
  }
  const xl_type type = xl_promote(x->type, xl_promote(a->type, b->type));
  return end_update(x, xl_op_add_scaled(x, xl_op_binary(op, xl_op_cast(a, type), xl_op_cast(b, type)), scale));
}

xl_tensor xl_addcmul__at(const xl_location *at, xl_tensor x, xl_tensor a, xl_tensor b, double scale)
{
  static xl_entry entry = {"addcmul_", NULL};
  return add_scaled_pair(&entry, at, XL_OP_MUL, (const xl_tensor[]){x, a, b}, scale);
}

xl_tensor xl_addcdiv__at(const xl_location *at, xl_tensor x, xl_tensor a, xl_tensor b, double scale)
{
  static xl_entry entry = {"addcdiv_", NULL};
  return add_scaled_pair(&entry, at, XL_OP_DIV, (const xl_tensor[]){x, a, b}, scale);
}

xl_tensor xl_relu__at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"relu_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return end_update(x, xl_op_unary(XL_OP_RELU, x));
}

static xl_var *fill(xl_var *x, double value)
{
  xl_var *number = x != NULL ? xl_number(x->type, value) : NULL;
  return x != NULL ? xl_op_expand(number, &x->shape) : NULL;
}

xl_tensor xl_fill__at(const xl_location *at, xl_tensor tensor, double value)
{
  static xl_entry entry = {"fill_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return end_update(x, fill(x, value));
}

xl_tensor xl_zero__at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"zero_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return end_update(x, fill(x, 0));
}

xl_tensor xl_copy__at(const xl_location *at, xl_tensor tensor, xl_tensor from)
{
  static xl_entry entry = {"copy_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor), *y = xl_arg(from);
  xl_var *fitting = x == NULL || y == NULL || xl_shape_equal(&x->shape, &y->shape) ? y : xl_op_expand(y, &x->shape);
  return end_update(x, fitting);
}
