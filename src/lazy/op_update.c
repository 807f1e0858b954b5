/* Updates in place: the operation, and its result as the new value. */
#include <math.h>

#include "lazy/autograd.h"
#include "lazy/op_create.h"
#include "lazy/op_elements.h"
#include "lazy/op_types.h"
#include "lazy/op_views.h"

/* What x is before it is updated, as the operand of the update. */
static xl_var *before(xl_var *x)
{
  return xl_rt.thread->grad_is_off ? x : xl_copy_before(x);
}

/* Another operand, which may be x again. */
static xl_var *beside(xl_var *x, xl_var *copy, xl_var *operand)
{
  return operand == x ? copy : operand;
}

/* x takes a value, which is cast to its type; whether it can be was checked (xl_kept_with), but for values that are
 * copied into x.  Gives back the handle of x. */
static xl_tensor end_update(xl_tensor tensor, xl_var *x, xl_var *value)
{
  const bool is_done = x != NULL && xl_update(x, xl_op_cast(value, x->type)) != NULL;
  xl_end_with_nothing();
  return is_done ? tensor : XL_NONE;
}

static xl_tensor update_binary(xl_entry *entry, const xl_location *at, xl_op op, xl_tensor first, xl_tensor second)
{
  xl_begin(entry, at);
  xl_var *x = xl_arg(first), *y = xl_arg(second), *copy = before(x);
  return end_update(first, x, xl_kept_with(x, xl_op_binary(op, copy, beside(x, copy, y)), y, NULL));
}

#define UPDATE_BINARY(name, op)                                                                                        \
  xl_tensor xl_##name##_at(const xl_location *at, xl_tensor first, xl_tensor second)                                   \
  {                                                                                                                    \
    static xl_entry entry = {#name, NULL};                                                                             \
    return update_binary(&entry, at, op, first, second);                                                               \
  }

UPDATE_BINARY(add_, XL_OP_ADD)
UPDATE_BINARY(sub_, XL_OP_SUB)
UPDATE_BINARY(mul_, XL_OP_MUL)
UPDATE_BINARY(div_, XL_OP_DIV)

xl_tensor xl_add_scaled__at(const xl_location *at, xl_tensor first, xl_tensor second, double alpha)
{
  static xl_entry entry = {"add_scaled_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(first), *y = xl_arg(second), *copy = before(x);
  return end_update(first, x, xl_kept_with(x, xl_op_add_scaled(copy, beside(x, copy, y), alpha), y, NULL));
}

xl_tensor xl_add_scalar__at(const xl_location *at, xl_tensor tensor, double y)
{
  static xl_entry entry = {"add_scalar_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return end_update(tensor, x, xl_kept_with_number(x, xl_op_binary_number(XL_OP_ADD, before(x), y), y));
}

xl_tensor xl_mul_scalar__at(const xl_location *at, xl_tensor tensor, double y)
{
  static xl_entry entry = {"mul_scalar_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return end_update(tensor, x, xl_kept_with_number(x, xl_op_binary_number(XL_OP_MUL, before(x), y), y));
}

/* Types that torch refuses in updates by two tensors: bools, and quotients of whole numbers.  False with an error. */
static bool check_pair(xl_op op, xl_type type, const xl_var *a, const xl_var *b)
{
  char p[XL_SHAPE_TEXT], q[XL_SHAPE_TEXT];
  if (op == XL_OP_DIV && !xl_is_float(a->type) && !xl_is_float(b->type)) {
    return xl_refuse(XP_ERR_USAGE, "%s divided by %s has fractions; cast one of them to f32 (xl_cast)",
                     xl_shape_text(p, a->type, &a->shape), xl_shape_text(q, b->type, &b->shape)) != NULL;
  }
  return type != XL_BOOL || xl_no_bools(a, b) != NULL;
}

/* x + scale (a op b), all of it in the widest type. */
static xl_tensor add_scaled_pair(xl_entry *entry, const xl_location *at, xl_op op, const xl_tensor tensors[3],
                                 double scale)
{
  xl_begin(entry, at);
  xl_var *x = xl_arg(tensors[0]), *a = xl_arg(tensors[1]), *b = xl_arg(tensors[2]), *copy = before(x);
  if (copy == NULL || a == NULL || b == NULL) {
    return end_update(tensors[0], x, NULL);
  }
  const xl_type type = xl_promote(x->type, xl_promote(a->type, b->type));
  if (!check_pair(op, type, a, b)) {
    return end_update(tensors[0], x, NULL);
  }
  xl_var *first = xl_op_cast(beside(x, copy, a), type), *second = xl_op_cast(beside(x, copy, b), type);
  xl_var *value = xl_op_add_scaled(copy, xl_op_binary(op, first, second), scale);
  return end_update(tensors[0], x, xl_kept_with(x, value, a, b));
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
  return end_update(tensor, x, xl_op_unary(XL_OP_RELU, before(x)));
}

xl_tensor xl_clamp__at(const xl_location *at, xl_tensor tensor, double min, double max)
{
  static xl_entry entry = {"clamp_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  const double fraction = xl_is_whole(min) || isinf(min) ? max : min;
  return end_update(tensor, x, xl_kept_with_number(x, xl_op_clamp(before(x), min, max), fraction));
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
  return end_update(tensor, x, fill(x, value));
}

xl_tensor xl_zero__at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"zero_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return end_update(tensor, x, fill(x, 0));
}

/* y repeated over the shape of x. */
static xl_var *fitted(xl_var *y, const xl_var *x)
{
  xl_shape shape;
  if (x == NULL || y == NULL || !xl_broadcast_shapes(x, y, &shape)) {
    return NULL;
  }
  /* The update refuses what is not of x's shape.  A copy is recorded, so that its gradient finds y if that is a leaf.
   */
  return xl_shape_equal(&shape, &y->shape) ? xl_op_clone(y) : xl_op_expand(y, &shape);
}

xl_tensor xl_copy__at(const xl_location *at, xl_tensor tensor, xl_tensor from)
{
  static xl_entry entry = {"copy_", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor), *y = xl_arg(from);
  return end_update(tensor, x, fitted(y, x));
}
