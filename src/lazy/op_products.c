/* Shapes of products. */
#include "lazy/op_products.h"

#include "lazy/op_elements.h"
#include "lazy/op_views.h"

static void *no_product(const xl_var *x, const xl_var *y)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  return xl_refuse(XP_ERR_USAGE, "the shapes %s and %s don't fit together", xl_shape_text(a, x->type, &x->shape),
                   xl_shape_text(b, y->type, &y->shape));
}

/* The result of [n, k] [k, m]; false with an error. */
static bool mm_result(xl_op op, const xl_var *x, const xl_var *y, xl_result *result)
{
  if (x->shape.rank != 2 || y->shape.rank != 2 || x->shape.dims[1] != y->shape.dims[0]) {
    no_product(x, y);
    return false;
  }
  *result =
      (xl_result){.op = op, .type = xl_promote(x->type, y->type), .shape = {2, {x->shape.dims[0], y->shape.dims[1]}}};
  return true;
}

xl_var *xl_op_mm(xl_var *x, xl_var *y)
{
  xl_result result;
  return x != NULL && y != NULL && mm_result(XL_OP_MM, x, y, &result) ? xl_apply_2(&result, x, y) : NULL;
}

xl_var *xl_op_addmm(xl_var *bias, xl_var *x, xl_var *y)
{
  xl_result result;
  if (bias == NULL || x == NULL || y == NULL || !mm_result(XL_OP_ADDMM, x, y, &result)) {
    return NULL;
  }
  const xl_shape *b = &bias->shape;
  for (size_t i = 0; i < b->rank; i++) {
    const int64_t extent = b->dims[b->rank - 1 - i];
    if (i >= 2 || (extent != 1 && extent != result.shape.dims[1 - i])) {
      char p[XL_SHAPE_TEXT], q[XL_SHAPE_TEXT];
      return xl_refuse(XP_ERR_USAGE, "a bias %s can't be added to a product %s", xl_shape_text(p, bias->type, b),
                       xl_shape_text(q, result.type, &result.shape));
    }
  }
  return xl_apply_3(&result, bias, x, y);
}

/* ---------------------------------------------------------------- public */

xl_tensor xl_mm_at(const xl_location *at, xl_tensor first, xl_tensor second)
{
  static xl_entry entry = {"mm", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(first), *y = xl_arg(second);
  return xl_end(xl_op_mm(x, y));
}

xl_tensor xl_addmm_at(const xl_location *at, xl_tensor bias, xl_tensor first, xl_tensor second)
{
  static xl_entry entry = {"addmm", NULL};
  xl_begin(&entry, at);
  xl_var *b = xl_arg(bias), *x = xl_arg(first), *y = xl_arg(second);
  return xl_end(xl_op_addmm(b, x, y));
}

/* x weight^T + bias, as torch.nn.functional.linear does it for matrices. */
static xl_var *linear(xl_var *x, xl_var *weight, xl_var *bias, bool has_bias)
{
  if (x == NULL || weight == NULL || (has_bias && bias == NULL)) {
    return NULL;
  }
  if (weight->shape.rank != 2 || x->shape.rank != 2) {
    return no_product(x, weight);
  }
  xl_var *turned = xl_op_transpose(weight, 0, 1);
  return has_bias ? xl_op_addmm(bias, x, turned) : xl_op_mm(x, turned);
}

xl_tensor xl_linear_at(const xl_location *at, xl_tensor tensor, xl_tensor weight, xl_tensor bias)
{
  static xl_entry entry = {"linear", NULL};
  xl_begin(&entry, at);
  bool has_bias;
  xl_var *x = xl_arg(tensor), *w = xl_arg(weight), *b = xl_arg_or_none(bias, &has_bias);
  return xl_end(linear(x, w, b, has_bias));
}
