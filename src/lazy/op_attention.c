/* Attention, made of its parts: each is an operation with its own gradient. */
#include <math.h>

#include "lazy/op_elements.h"
#include "lazy/op_layers.h"
#include "lazy/op_products.h"
#include "lazy/op_types.h"
#include "lazy/op_views.h"

/* The scores that the mask leaves, and minus infinity elsewhere. */
static xl_var *masked(xl_var *scores, xl_optional mask)
{
  if (scores == NULL || xl_optional_failed(mask) || !mask.is_given) {
    return mask.is_given && mask.var == NULL ? NULL : scores;
  }
  if (mask.var->type != XL_BOOL) {
    return xl_op_binary(XL_OP_ADD, scores, mask.var);
  }
  return xl_op_where(mask.var, scores, xl_number(scores->type, -INFINITY));
}

static bool check_shapes(const xl_var *q, const xl_var *k, const xl_var *v)
{
  const bool are_matrices = q->shape.rank >= 2 && k->shape.rank >= 2 && v->shape.rank >= 2;
  if (are_matrices && q->shape.dims[q->shape.rank - 1] == k->shape.dims[k->shape.rank - 1] &&
      k->shape.dims[k->shape.rank - 2] == v->shape.dims[v->shape.rank - 2]) {
    return true;
  }
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT], c[XL_SHAPE_TEXT];
  xl_refuse(XP_ERR_USAGE, "q [.., n, d], k [.., m, d] and v [.., m, e] are %s, %s and %s",
            xl_shape_text(a, q->type, &q->shape), xl_shape_text(b, k->type, &k->shape),
            xl_shape_text(c, v->type, &v->shape));
  return false;
}

/* As in torch: all of one type with fractions; a mask of numbers has that type, or f32.  False with an error. */
static bool check_types(const xl_var *q, const xl_var *k, const xl_var *v, xl_optional mask)
{
  const bool is_added = mask.is_given && mask.var != NULL && mask.var->type != XL_BOOL;
  return xl_check_fractions(q) && xl_check_same_types(q, k) && xl_check_same_types(q, v) &&
         (!is_added || mask.var->type == XL_F32 || xl_check_same_types(q, mask.var));
}

/* As in torch, a query that the mask keeps from all keys gives 0.  q is scaled, since it is smaller than the scores. */
static xl_var *attention(xl_var *q, xl_var *k, xl_var *v, xl_optional mask)
{
  if (q == NULL || k == NULL || v == NULL || !check_shapes(q, k, v) || !check_types(q, k, v, mask)) {
    return NULL;
  }
  const double depth = (double)q->shape.dims[q->shape.rank - 1];
  xl_var *scaled = xl_op_binary_number(XL_OP_MUL, q, 1 / sqrt(depth));
  xl_var *scores = masked(xl_op_matmul(scaled, xl_op_transpose(k, -2, -1)), mask);
  return xl_op_matmul(xl_op_cast(xl_op_softmax(scores, -1, mask.is_given), v->type), v);
}

xl_tensor xl_attention_at(const xl_location *at, xl_tensor queries, xl_tensor keys, xl_tensor values, xl_tensor mask)
{
  static xl_entry entry = {"attention", NULL};
  xl_begin(&entry, at);
  xl_var *q = xl_arg(queries), *k = xl_arg(keys), *v = xl_arg(values);
  return xl_end(attention(q, k, v, xl_optional_arg(mask)));
}
