/* Shapes of products: of matrices, of batches of them, and of what is folded into matrices. */
#include "lazy/op_products.h"

#include "lazy/op_elements.h"
#include "lazy/op_public.h"
#include "lazy/op_types.h"
#include "lazy/op_views.h"

void *xl_no_fit(const xl_var *x, const xl_var *y)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  return xl_refuse(XP_ERR_USAGE, "the shapes %s and %s don't fit together", xl_shape_text(a, x->type, &x->shape),
                   xl_shape_text(b, y->type, &y->shape));
}

bool xl_check_factors(const xl_var *x, const xl_var *y)
{
  return xl_check_same_types(x, y) && (x->type != XL_BOOL || xl_no_bools(x, y) != NULL);
}

xl_var *xl_op_shaped(xl_var *x, const xl_shape *shape)
{
  if (x == NULL || xl_shape_equal(&x->shape, shape)) {
    return x;
  }
  const xl_result result = {.op = XL_OP_RESHAPE, .type = x->type, .shape = *shape};
  return xl_apply_1(&result, x);
}

/* The result of [.., n, k] [.., k, m] with the same leading dimensions, `rank` in all; false with an error. */
static bool product_result(xl_op op, const xl_var *x, const xl_var *y, size_t rank, xl_result *result)
{
  const int64_t *a = x->shape.dims, *b = y->shape.dims;
  if (x->shape.rank != rank || y->shape.rank != rank || a[rank - 1] != b[rank - 2] ||
      memcmp(a, b, (rank - 2) * sizeof *a) != 0) {
    xl_no_fit(x, y);
    return false;
  }
  if (!xl_check_factors(x, y)) {
    return false;
  }
  *result = (xl_result){.op = op, .type = x->type, .shape = x->shape};
  result->shape.dims[rank - 1] = b[rank - 1];
  return true;
}

xl_var *xl_op_mm(xl_var *x, xl_var *y)
{
  xl_result result;
  return x != NULL && y != NULL && product_result(XL_OP_MM, x, y, 2, &result) ? xl_apply_2(&result, x, y) : NULL;
}

xl_var *xl_op_bmm(xl_var *x, xl_var *y)
{
  xl_result result;
  return x != NULL && y != NULL && product_result(XL_OP_BMM, x, y, 3, &result) ? xl_apply_2(&result, x, y) : NULL;
}

xl_var *xl_op_addmm(xl_var *bias, xl_var *x, xl_var *y)
{
  xl_result result;
  if (bias == NULL || x == NULL || y == NULL || !product_result(XL_OP_ADDMM, x, y, 2, &result)) {
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
  return xl_check_same_types(bias, x) ? xl_apply_3(&result, bias, x, y) : NULL;
}

/* ---------------------------------------------------------------- of any ranks */

/* The extents of a shape but for the last `without`, and then those of `last`. */
static xl_shape with_last(const xl_shape *shape, size_t without, const int64_t *last, size_t count)
{
  xl_shape out = {shape->rank - without, {0}};
  memcpy(out.dims, shape->dims, out.rank * sizeof *out.dims);
  memcpy(out.dims + out.rank, last, count * sizeof *last);
  out.rank += count;
  return out;
}

static int64_t product_of(const int64_t *dims, size_t count)
{
  int64_t product = 1;
  for (size_t i = 0; i < count; i++) {
    product *= dims[i];
  }
  return product;
}

/* x as a matrix: all dimensions but the last become one. */
static xl_var *folded(xl_var *x)
{
  const size_t rank = x->shape.rank;
  if (rank == 2) {
    return x;
  }
  const xl_shape matrix = {2, {product_of(x->shape.dims, rank - 1), x->shape.dims[rank - 1]}};
  return xl_op_reshape(x, &matrix);
}

/* A matrix or a vector on the right: rows of x are all treated alike. */
static xl_var *times_matrix(xl_var *x, xl_var *y)
{
  const bool is_vector = y->shape.rank == 1;
  xl_var *left = folded(x), *product = xl_op_mm(left, is_vector ? xl_op_unsqueeze(y, 1) : y);
  const xl_shape shape = with_last(&x->shape, 1, &y->shape.dims[1], is_vector ? 0 : 1);
  return xl_op_shaped(product, &shape);
}

/* The leading dimensions of two, broadcast; false with an error. */
static bool batch_shape(const xl_var *x, const xl_var *y, xl_shape *batch)
{
  const size_t a = x->shape.rank - 2, b = y->shape.rank - 2;
  batch->rank = a > b ? a : b;
  for (size_t i = 0; i < batch->rank; i++) { /* from the last dimension */
    const int64_t m = i < a ? x->shape.dims[a - 1 - i] : 1, n = i < b ? y->shape.dims[b - 1 - i] : 1;
    if (m != n && m != 1 && n != 1) {
      xl_no_fit(x, y);
      return false;
    }
    batch->dims[batch->rank - 1 - i] = m == 1 ? n : m;
  }
  return true;
}

/* x repeated over the batch, whose dimensions become one. */
static xl_var *batched(xl_var *x, const xl_shape *batch)
{
  const int64_t *last = x->shape.dims + x->shape.rank - 2;
  const xl_shape all = with_last(batch, 0, last, 2);
  const xl_shape joined = {3, {product_of(batch->dims, batch->rank), last[0], last[1]}};
  xl_var *repeated = xl_shape_equal(&x->shape, &all) ? x : xl_op_expand(x, &all);
  return repeated == NULL || xl_shape_equal(&repeated->shape, &joined) ? repeated : xl_op_reshape(repeated, &joined);
}

static xl_var *times_batch(xl_var *x, xl_var *y)
{
  xl_shape batch;
  const bool is_vector = x->shape.rank == 1;
  xl_var *left = is_vector ? xl_op_unsqueeze(x, 0) : x;
  if (left == NULL || !batch_shape(left, y, &batch)) {
    return NULL;
  }
  if (left->shape.dims[left->shape.rank - 1] != y->shape.dims[y->shape.rank - 2]) {
    return xl_no_fit(x, y);
  }
  const int64_t last[] = {left->shape.dims[left->shape.rank - 2], y->shape.dims[y->shape.rank - 1]};
  const xl_shape shape = with_last(&batch, 0, is_vector ? last + 1 : last, is_vector ? 1 : 2);
  xl_var *lefts = batched(left, &batch), *rights = batched(y, &batch);
  return xl_op_shaped(xl_op_bmm(lefts, rights), &shape);
}

xl_var *xl_op_matmul(xl_var *x, xl_var *y)
{
  if (x == NULL || y == NULL) {
    return NULL;
  }
  const size_t rank = y->shape.rank;
  if (x->shape.rank == 0 || rank == 0 ||
      x->shape.dims[x->shape.rank - 1] != y->shape.dims[rank - (rank == 1 ? 1 : 2)]) {
    return xl_no_fit(x, y);
  }
  if (!xl_check_factors(x, y)) {
    return NULL;
  }
  return rank <= 2 ? times_matrix(x, y) : times_batch(x, y);
}

/* x weight^T + bias, as torch.nn.functional.linear does it. */
static xl_var *linear(xl_var *x, xl_var *weight, xl_var *bias, bool has_bias)
{
  if (x == NULL || weight == NULL || (has_bias && bias == NULL)) {
    return NULL;
  }
  const size_t rank = x->shape.rank;
  if (weight->shape.rank != 2 || rank == 0 || x->shape.dims[rank - 1] != weight->shape.dims[1]) {
    return xl_no_fit(x, weight);
  }
  if (!xl_check_factors(x, weight) || (has_bias && !xl_check_same_types(x, bias))) {
    return NULL;
  }
  xl_var *turned = xl_op_transpose(weight, 0, 1), *rows = folded(x);
  const xl_shape shape = with_last(&x->shape, 1, weight->shape.dims, 1);
  return xl_op_shaped(has_bias ? xl_op_addmm(bias, rows, turned) : xl_op_mm(rows, turned), &shape);
}

/* ---------------------------------------------------------------- public */

XL_PUBLIC_2(mm, xl_op_mm(x, y))
XL_PUBLIC_2(bmm, xl_op_bmm(x, y))
XL_PUBLIC_2(matmul, xl_op_matmul(x, y))

xl_tensor xl_addmm_at(const xl_location *at, xl_tensor bias, xl_tensor first, xl_tensor second)
{
  static xl_entry entry = {"addmm", NULL};
  xl_begin(&entry, at);
  xl_var *b = xl_arg(bias), *x = xl_arg(first), *y = xl_arg(second);
  return xl_end(xl_op_addmm(b, x, y));
}

xl_tensor xl_linear_at(const xl_location *at, xl_tensor tensor, xl_tensor weight, xl_tensor bias)
{
  static xl_entry entry = {"linear", NULL};
  xl_begin(&entry, at);
  bool has_bias;
  xl_var *x = xl_arg(tensor), *w = xl_arg(weight), *b = xl_arg_or_none(bias, &has_bias);
  return xl_end(linear(x, w, b, has_bias));
}
