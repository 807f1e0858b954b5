/* Shapes of losses. */
#include "lazy/op_elements.h"
#include "lazy/op_layers.h"
#include "lazy/op_sums.h"
#include "lazy/op_types.h"

/* Truth values have no difference: they become numbers. */
static xl_var *as_number(xl_var *x, xl_type type)
{
  return x->type == XL_BOOL ? xl_op_cast(x, type) : x;
}

static xl_var *mse_loss(xl_var *x, xl_var *target)
{
  if (x == NULL || target == NULL) {
    return NULL;
  }
  const xl_type type = xl_promote(x->type, target->type);
  if (!xl_is_float(type)) {
    char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
    return xl_refuse(XP_ERR_USAGE, "neither %s nor %s has fractions; cast one of them to f32 (xl_cast)",
                     xl_shape_text(a, x->type, &x->shape), xl_shape_text(b, target->type, &target->shape));
  }
  xl_var *distance = xl_op_binary(XL_OP_SUB, as_number(x, type), as_number(target, type));
  xl_var *square = xl_op_binary(XL_OP_MUL, distance, distance);
  return square != NULL ? xl_op_reduce(XL_OP_MEAN, square, type, xl_dims_all(square), false) : NULL;
}

/* Which dimension of [N, C, ..] or [C] the classes are. */
static int class_dim(const xl_var *x)
{
  return x->shape.rank > 1 ? 1 : 0;
}

/* The target has the shape of x without the classes; false with an error. */
static bool check_target(const xl_var *x, const xl_var *target)
{
  xl_shape expected = {0, {0}};
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  for (int i = 0; i < (int)x->shape.rank; i++) {
    if (i != class_dim(x)) {
      expected.dims[expected.rank++] = x->shape.dims[i];
    }
  }
  if (x->shape.rank == 0 || !xl_shape_equal(&expected, &target->shape) ||
      (target->type != XL_I64 && target->type != XL_I32)) {
    xl_refuse(XP_ERR_USAGE, "x is [N, C, ..] and the target [N, ..] of i64 or i32, but they are %s and %s",
              xl_shape_text(a, x->type, &x->shape), xl_shape_text(b, target->type, &target->shape));
    return false;
  }
  return xl_check_fractions(x);
}

static xl_var *nll_loss(xl_var *x, xl_var *target)
{
  if (x == NULL || target == NULL || !check_target(x, target)) {
    return NULL;
  }
  const xl_result result = {.op = XL_OP_NLL_LOSS, .type = x->type};
  return xl_apply_2(&result, x, target);
}

/* The check comes first, so that its error has the shape that the caller passed. */
static xl_var *cross_entropy(xl_var *x, xl_var *target)
{
  if (x == NULL || target == NULL || !check_target(x, target)) {
    return NULL;
  }
  return nll_loss(xl_op_log_softmax(x, class_dim(x)), target);
}

/* ---------------------------------------------------------------- public */

#define LOSS(name)                                                                                                     \
  xl_tensor xl_##name##_at(const xl_location *at, xl_tensor first, xl_tensor second)                                   \
  {                                                                                                                    \
    static xl_entry entry = {#name, NULL};                                                                             \
    xl_begin(&entry, at);                                                                                              \
    xl_var *x = xl_arg(first), *target = xl_arg(second);                                                               \
    return xl_end(name(x, target));                                                                                    \
  }

LOSS(mse_loss)
LOSS(nll_loss)
LOSS(cross_entropy)
