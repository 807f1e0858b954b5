/* Views: permutations, reshapes, expansions, slices, selections, and how an update of one goes back into its base. */
#include "lazy/op_views.h"

#include "lazy/autograd.h"

int xl_dim_of(const xl_var *x, int dim, size_t rank)
{
  const int wanted = dim < 0 ? dim + (int)rank : dim;
  if (wanted >= 0 && wanted < (int)rank) {
    return wanted;
  }
  char text[XL_SHAPE_TEXT];
  xl_refuse(XP_ERR_USAGE, "there is no dimension %d in %s", dim, xl_shape_text(text, x->type, &x->shape));
  return -1;
}

xl_var *xl_op_permute(xl_var *x, const int *order)
{
  if (x == NULL) {
    return NULL;
  }
  if (order == NULL && x->shape.rank > 0) {
    return xl_refuse(XP_ERR_USAGE, "the order of the dimensions is NULL");
  }
  int64_t attrs[XL_MAX_RANK];
  unsigned seen = 0;
  xl_result result = {.op = XL_OP_PERMUTE, .type = x->type, .shape = {x->shape.rank, {0}}};
  for (size_t i = 0; i < x->shape.rank; i++) {
    const int dim = xl_dim_of(x, order[i], x->shape.rank);
    if (dim < 0) {
      return NULL;
    }
    if (seen >> dim & 1) {
      return xl_refuse(XP_ERR_USAGE, "dimension %d comes twice in the order", dim);
    }
    seen |= 1u << dim;
    attrs[i] = dim;
    result.shape.dims[i] = x->shape.dims[dim];
  }
  result.attrs = attrs;
  result.attr_bytes = x->shape.rank * sizeof *attrs;
  return xl_apply_view(&result, x);
}

xl_var *xl_op_transpose(xl_var *x, int a, int b)
{
  if (x == NULL) {
    return NULL;
  }
  int order[XL_MAX_RANK];
  for (size_t i = 0; i < x->shape.rank; i++) {
    order[i] = (int)i;
  }
  a = xl_dim_of(x, a, x->shape.rank);
  b = xl_dim_of(x, b, x->shape.rank);
  if (a < 0 || b < 0) {
    return NULL;
  }
  order[a] = b;
  order[b] = a;
  return xl_op_permute(x, order);
}

static xl_var *no_fit(const xl_var *x, const xl_shape *shape, const char *verb)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  return xl_refuse(XP_ERR_USAGE, "%s can't be %s to %s", xl_shape_text(a, x->type, &x->shape), verb,
                   xl_shape_text(b, x->type, shape));
}

/* A shape in which -1 stands for an extent that is found; false with an error. */
static bool check_open_shape(const xl_shape *shape)
{
  bool is_sound = shape->rank <= XL_MAX_RANK;
  for (size_t i = 0; is_sound && i < shape->rank; i++) {
    is_sound = shape->dims[i] >= -1;
  }
  char text[XL_SHAPE_TEXT];
  return is_sound || xl_refuse(XP_ERR_USAGE, "the shape %s: at most %d extents are possible, none of them below -1",
                               xl_extents_text(text, shape), XL_MAX_RANK) != NULL;
}

xl_var *xl_op_reshape(xl_var *x, const xl_shape *shape)
{
  if (x == NULL || !check_open_shape(shape)) {
    return NULL;
  }
  xl_result result = {.op = XL_OP_RESHAPE, .type = x->type, .shape = *shape};
  const int64_t elements = xl_shape_elements(&x->shape);
  int64_t known = 1;
  int open = -1;
  for (size_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] == -1 && open >= 0) {
      return xl_refuse(XP_ERR_USAGE, "two extents are -1; one can be found");
    }
    open = shape->dims[i] == -1 ? (int)i : open;
    if (shape->dims[i] != -1 && __builtin_mul_overflow(known, shape->dims[i], &known)) {
      return no_fit(x, shape, "reshaped");
    }
  }
  if (open >= 0 && known > 0) {
    result.shape.dims[open] = elements / known;
    known *= elements / known;
  }
  if (known != elements || (open >= 0 && result.shape.dims[open] < 0)) {
    return no_fit(x, shape, "reshaped");
  }
  return xl_apply_view(&result, x);
}

xl_var *xl_op_unsqueeze(xl_var *x, int dim)
{
  const int at = x != NULL ? xl_dim_of(x, dim, x->shape.rank + 1) : -1;
  if (at < 0) {
    return NULL;
  }
  if (x->shape.rank == XL_MAX_RANK) {
    return xl_refuse(XP_ERR_USAGE, "a tensor has at most %d dimensions", XL_MAX_RANK);
  }
  xl_shape shape = {x->shape.rank + 1, {0}};
  for (size_t i = 0; i < shape.rank; i++) {
    shape.dims[i] = (int)i < at ? x->shape.dims[i] : (int)i == at ? 1 : x->shape.dims[i - 1];
  }
  return xl_op_reshape(x, &shape);
}

xl_var *xl_op_expand(xl_var *x, const xl_shape *shape)
{
  if (x == NULL || !check_open_shape(shape)) {
    return NULL;
  }
  if (shape->rank < x->shape.rank) {
    return no_fit(x, shape, "expanded");
  }
  xl_result result = {.op = XL_OP_EXPAND, .type = x->type, .shape = *shape};
  const size_t missing = shape->rank - x->shape.rank;
  for (size_t i = 0; i < shape->rank; i++) {
    const int64_t have = i >= missing ? x->shape.dims[i - missing] : 1;
    const int64_t want = shape->dims[i] == -1 && i >= missing ? have : shape->dims[i];
    if (want < 0 || (have != want && have != 1)) {
      return no_fit(x, shape, "expanded");
    }
    result.shape.dims[i] = want;
  }
  return xl_apply_view(&result, x);
}

static int64_t into(int64_t value, int64_t extent)
{
  value = value < 0 ? value + extent : value;
  return value < 0 ? 0 : value > extent ? extent : value;
}

xl_var *xl_op_slice(xl_var *x, int dim, int64_t start, int64_t end, int64_t step)
{
  const int at = x != NULL ? xl_dim_of(x, dim, x->shape.rank) : -1;
  if (at < 0) {
    return NULL;
  }
  if (step <= 0) {
    return xl_refuse(XP_ERR_USAGE, "the step of a slice is at least 1; xl_flip turns a dimension around");
  }
  const int64_t extent = x->shape.dims[at];
  start = into(start, extent);
  end = into(end, extent);
  const xl_slice_attrs attrs = {at, start, step};
  xl_result result = {
      .op = XL_OP_SLICE, .type = x->type, .shape = x->shape, .attrs = &attrs, .attr_bytes = sizeof attrs};
  result.shape.dims[at] = end > start ? (end - start - 1) / step + 1 : 0;
  return xl_apply_view(&result, x);
}

xl_var *xl_op_select(xl_var *x, int dim, int64_t index)
{
  const int at = x != NULL ? xl_dim_of(x, dim, x->shape.rank) : -1;
  if (at < 0) {
    return NULL;
  }
  const int64_t extent = x->shape.dims[at], wanted = index < 0 ? index + extent : index;
  char text[XL_SHAPE_TEXT];
  if (wanted < 0 || wanted >= extent) {
    return xl_refuse(XP_ERR_USAGE, "there is no element %lld in dimension %d of %s", (long long)index, dim,
                     xl_shape_text(text, x->type, &x->shape));
  }
  const xl_slice_attrs attrs = {at, wanted, 1};
  xl_result result = {.op = XL_OP_SELECT,
                      .type = x->type,
                      .shape = {x->shape.rank - 1, {0}},
                      .attrs = &attrs,
                      .attr_bytes = sizeof attrs};
  for (size_t i = 0; i < result.shape.rank; i++) {
    result.shape.dims[i] = x->shape.dims[(int)i < at ? i : i + 1];
  }
  return xl_apply_view(&result, x);
}

/* ---------------------------------------------------------------- updates go back */

xl_var *xl_view_put_back(const xl_view *view, xl_var *before, xl_var *value)
{
  if (before == NULL || value == NULL) {
    return NULL;
  }
  xl_result result = {.op = view->op, .type = value->type, .shape = view->parent_shape};
  int64_t inverse[XL_MAX_RANK];
  switch (view->op) {
  case XL_OP_PERMUTE:
    for (size_t i = 0; i < view->shape.rank; i++) {
      inverse[view->attrs[i]] = (int64_t)i;
    }
    result.attrs = inverse;
    result.attr_bytes = view->attr_bytes;
    return xl_apply_1(&result, value);
  case XL_OP_RESHAPE:
    return xl_apply_1(&result, value);
  case XL_OP_SLICE:
  case XL_OP_SELECT:
    result.op = view->op == XL_OP_SLICE ? XL_OP_SLICE_PUT : XL_OP_SELECT_PUT;
    result.attrs = view->attrs;
    result.attr_bytes = view->attr_bytes;
    return xl_apply_2(&result, before, value);
  default:
    break;
  }
  /* An expansion: one that repeats nothing, or all of it no times, can be undone. */
  const int64_t elements = xl_shape_elements(&view->shape);
  if (elements == xl_shape_elements(&view->parent_shape)) {
    result.op = XL_OP_RESHAPE;
    return xl_apply_1(&result, value);
  }
  if (elements == 0) {
    return before;
  }
  return xl_refuse(XP_ERR_USAGE, "an expanded tensor can't be updated in place: several of its elements share one "
                                 "place in memory; clone it");
}

/* ---------------------------------------------------------------- public */

xl_tensor xl_t_at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"t", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  char text[XL_SHAPE_TEXT];
  if (x != NULL && x->shape.rank != 2) {
    xl_refuse(XP_ERR_USAGE, "%s is no matrix", xl_shape_text(text, x->type, &x->shape));
    x = NULL;
  }
  return xl_end(xl_op_transpose(x, 0, 1));
}

xl_tensor xl_transpose_at(const xl_location *at, xl_tensor tensor, int a, int b)
{
  static xl_entry entry = {"transpose", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_transpose(xl_arg(tensor), a, b));
}

xl_tensor xl_permute_at(const xl_location *at, xl_tensor tensor, const int *order)
{
  static xl_entry entry = {"permute", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_permute(xl_arg(tensor), order));
}

xl_tensor xl_reshape_at(const xl_location *at, xl_tensor tensor, xl_shape shape)
{
  static xl_entry entry = {"reshape", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_reshape(xl_arg(tensor), &shape));
}

/* Dimensions first to last become one. */
static xl_var *flatten(xl_var *x, int first, int last)
{
  first = x != NULL ? xl_dim_of(x, first, x->shape.rank) : -1;
  last = first >= 0 ? xl_dim_of(x, last, x->shape.rank) : -1;
  if (last < 0) {
    return NULL;
  }
  if (last < first) {
    return xl_refuse(XP_ERR_USAGE, "the last dimension %d stands before the first, %d", last, first);
  }
  xl_shape shape = {0, {0}};
  for (int i = 0; i < (int)x->shape.rank; i++) {
    if (i > first && i <= last) {
      shape.dims[shape.rank - 1] *= x->shape.dims[i];
    } else {
      shape.dims[shape.rank++] = x->shape.dims[i];
    }
  }
  return xl_op_reshape(x, &shape);
}

xl_tensor xl_flatten_at(const xl_location *at, xl_tensor tensor, int first, int last)
{
  static xl_entry entry = {"flatten", NULL};
  xl_begin(&entry, at);
  return xl_end(flatten(xl_arg(tensor), first, last));
}

/* As in torch, a dimension whose extent is not 1 stays. */
static xl_var *squeeze(xl_var *x, int dim)
{
  const int at = x != NULL ? xl_dim_of(x, dim, x->shape.rank) : -1;
  if (at < 0) {
    return NULL;
  }
  xl_shape shape = {0, {0}};
  for (int i = 0; i < (int)x->shape.rank; i++) {
    if (i != at || x->shape.dims[i] != 1) {
      shape.dims[shape.rank++] = x->shape.dims[i];
    }
  }
  return xl_op_reshape(x, &shape);
}

xl_tensor xl_squeeze_at(const xl_location *at, xl_tensor tensor, int dim)
{
  static xl_entry entry = {"squeeze", NULL};
  xl_begin(&entry, at);
  return xl_end(squeeze(xl_arg(tensor), dim));
}

xl_tensor xl_unsqueeze_at(const xl_location *at, xl_tensor tensor, int dim)
{
  static xl_entry entry = {"unsqueeze", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_unsqueeze(xl_arg(tensor), dim));
}

xl_tensor xl_expand_at(const xl_location *at, xl_tensor tensor, xl_shape shape)
{
  static xl_entry entry = {"expand", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_expand(xl_arg(tensor), &shape));
}

xl_tensor xl_slice_at(const xl_location *at, xl_tensor tensor, int dim, int64_t start, int64_t end, int64_t step)
{
  static xl_entry entry = {"slice", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_slice(xl_arg(tensor), dim, start, end, step));
}

xl_tensor xl_select_at(const xl_location *at, xl_tensor tensor, int dim, int64_t index)
{
  static xl_entry entry = {"select", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_select(xl_arg(tensor), dim, index));
}
