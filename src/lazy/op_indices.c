/* Shapes of what takes elements by indices. */
#include "lazy/op_moves.h"
#include "lazy/op_views.h"

/* Indices are whole numbers, and there must be something to take. */
static bool check_indices(const xl_var *x, int dim, const xl_var *indices)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  const bool is_whole = !xl_is_float(indices->type) && indices->type != XL_BOOL;
  if (is_whole && (x->shape.dims[dim] > 0 || xl_shape_elements(&indices->shape) == 0)) {
    return true;
  }
  xl_shape_text(a, indices->type, &indices->shape);
  xl_shape_text(b, x->type, &x->shape);
  return (is_whole ? xl_refuse(XP_ERR_USAGE, "dimension %d of %s has no elements for the indices %s", dim, b, a)
                   : xl_refuse(XP_ERR_USAGE, "the indices %s of %s are no whole numbers (i32, i64, u8)", a, b)) != NULL;
}

xl_var *xl_op_index_select(xl_op op, xl_var *x, int dim, xl_var *indices)
{
  const int at = x != NULL && indices != NULL ? xl_dim_of(x, dim, x->shape.rank) : -1;
  if (at < 0 || !check_indices(x, at, indices)) {
    return NULL;
  }
  const size_t rank = x->shape.rank - 1 + indices->shape.rank;
  if (rank > XL_MAX_RANK) {
    return xl_refuse(XP_ERR_USAGE, "the result has %zu dimensions, %d are possible", rank, XL_MAX_RANK);
  }
  const xl_dim_attrs attrs = {at};
  xl_result result = {.op = op, .type = x->type, .attrs = &attrs, .attr_bytes = sizeof attrs};
  for (int i = 0; i < (int)x->shape.rank; i++) {
    if (i != at) {
      result.shape.dims[result.shape.rank++] = x->shape.dims[i];
      continue;
    }
    for (size_t k = 0; k < indices->shape.rank; k++) {
      result.shape.dims[result.shape.rank++] = indices->shape.dims[k];
    }
  }
  return xl_apply_2(&result, x, indices);
}

xl_var *xl_op_gather(xl_var *x, int dim, xl_var *indices)
{
  const int at = x != NULL && indices != NULL ? xl_dim_of(x, dim, x->shape.rank) : -1;
  if (at < 0) {
    return NULL;
  }
  bool fits = indices->shape.rank == x->shape.rank;
  for (int i = 0; fits && i < (int)x->shape.rank; i++) {
    fits = i == at || indices->shape.dims[i] <= x->shape.dims[i];
  }
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  if (!fits) {
    return xl_refuse(XP_ERR_USAGE, "the indices %s must have the rank of %s, and no larger extents but in dimension %d",
                     xl_shape_text(a, indices->type, &indices->shape), xl_shape_text(b, x->type, &x->shape), dim);
  }
  const xl_dim_attrs attrs = {at};
  const xl_result result = {
      .op = XL_OP_GATHER, .type = x->type, .shape = indices->shape, .attrs = &attrs, .attr_bytes = sizeof attrs};
  return check_indices(x, at, indices) ? xl_apply_2(&result, x, indices) : NULL;
}

xl_var *xl_op_one_hot(xl_var *indices, int64_t classes)
{
  if (indices == NULL) {
    return NULL;
  }
  char text[XL_SHAPE_TEXT];
  xl_shape_text(text, indices->type, &indices->shape);
  if (xl_is_float(indices->type) || indices->type == XL_BOOL) {
    return xl_refuse(XP_ERR_USAGE, "the indices %s are no whole numbers (i32, i64, u8)", text);
  }
  if (classes < 1 || indices->shape.rank == XL_MAX_RANK) {
    return xl_refuse(XP_ERR_USAGE, "%lld classes of %s: there is at least one, and %d dimensions are possible",
                     (long long)classes, text, XL_MAX_RANK);
  }
  xl_result result = {.op = XL_OP_ONE_HOT, .type = XL_I64, .shape = indices->shape};
  result.shape.dims[result.shape.rank++] = classes;
  return xl_apply_1(&result, indices);
}

/* ---------------------------------------------------------------- public */

/* In torch one index is a vector of one. */
static xl_var *index_select(xl_var *x, int dim, xl_var *indices)
{
  const xl_shape one = XL_SHAPE(1);
  char text[XL_SHAPE_TEXT];
  if (indices != NULL && indices->shape.rank > 1) {
    return xl_refuse(XP_ERR_USAGE, "the indices %s are no vector", xl_shape_text(text, indices->type, &indices->shape));
  }
  indices = indices != NULL && indices->shape.rank == 0 ? xl_op_reshape(indices, &one) : indices;
  return xl_op_index_select(XL_OP_INDEX_SELECT, x, dim, indices);
}

static xl_var *embedding(xl_var *weight, xl_var *indices)
{
  char text[XL_SHAPE_TEXT];
  if (weight != NULL && weight->shape.rank != 2) {
    return xl_refuse(XP_ERR_USAGE, "the weight %s is no matrix", xl_shape_text(text, weight->type, &weight->shape));
  }
  return xl_op_index_select(XL_OP_EMBEDDING, weight, 0, indices);
}

xl_tensor xl_index_select_at(const xl_location *at, xl_tensor tensor, int dim, xl_tensor indices)
{
  static xl_entry entry = {"index_select", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return xl_end(index_select(x, dim, xl_arg(indices)));
}

xl_tensor xl_gather_at(const xl_location *at, xl_tensor tensor, int dim, xl_tensor indices)
{
  static xl_entry entry = {"gather", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return xl_end(xl_op_gather(x, dim, xl_arg(indices)));
}

xl_tensor xl_one_hot_at(const xl_location *at, xl_tensor indices, int64_t classes)
{
  static xl_entry entry = {"one_hot", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_one_hot(xl_arg(indices), classes));
}

xl_tensor xl_embedding_at(const xl_location *at, xl_tensor weight, xl_tensor indices)
{
  static xl_entry entry = {"embedding", NULL};
  xl_begin(&entry, at);
  xl_var *rows = xl_arg(weight);
  return xl_end(embedding(rows, xl_arg(indices)));
}
