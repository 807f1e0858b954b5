/* Shapes and types of what moves elements without looking at values. */
#include "lazy/op_moves.h"

#include <stdlib.h>

#include "lazy/op_elements.h"
#include "lazy/op_views.h"

static xl_var *other_shape(const xl_var *x, const xl_var *first)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  return xl_refuse(XP_ERR_USAGE, "%s does not fit to %s", xl_shape_text(a, x->type, &x->shape),
                   xl_shape_text(b, first->type, &first->shape));
}

/* The widest type; false if a tensor is missing. */
static bool common_type(xl_var *const *parts, size_t count, xl_type *type)
{
  if (count == 0) {
    return xl_refuse(XP_ERR_USAGE, "there are no tensors to join") != NULL;
  }
  for (size_t i = 0; i < count; i++) {
    if (parts[i] == NULL) {
      return false;
    }
    *type = i == 0 ? parts[0]->type : xl_promote(*type, parts[i]->type);
  }
  return true;
}

/* ---------------------------------------------------------------- cat */

/* Of rank 1 without elements: torch lets it stand for nothing, whatever the others are. */
static bool is_nothing(const xl_var *x)
{
  return x->shape.rank == 1 && x->shape.dims[0] == 0;
}

/* The rank of the first that is not nothing, or 1. */
static size_t rank_of_something(xl_var *const *parts, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (!is_nothing(parts[i])) {
      return parts[i]->shape.rank;
    }
  }
  return 1;
}

/* Equal extents but for one dimension, which are summed up. */
static bool add_extents(xl_var *const *parts, size_t count, int dim, int64_t *sum)
{
  *sum = 0;
  for (size_t i = 0; i < count; i++) {
    xl_shape shape = parts[i]->shape;
    if (shape.rank == parts[0]->shape.rank) {
      shape.dims[dim] = parts[0]->shape.dims[dim];
    }
    if (!xl_shape_equal(&shape, &parts[0]->shape)) {
      return other_shape(parts[i], parts[0]) != NULL;
    }
    if (__builtin_add_overflow(*sum, parts[i]->shape.dims[dim], sum)) {
      return xl_refuse(XP_ERR_USAGE, "the extents of dimension %d are too large together", dim) != NULL;
    }
  }
  return true;
}

/* A node has no more operands than this: more tensors are joined in groups, and the groups then. */
enum { GROUP = UINT16_MAX };

/* Joins groups of tensors by `join`, and what comes out by `cat`. */
static xl_var *in_groups(xl_var *const *parts, size_t count, int dim, xl_type type,
                         xl_var *(*join)(xl_var *const *parts, size_t count, int dim, xl_type type),
                         xl_var *(*cat)(xl_var *const *parts, size_t count, int dim, xl_type type))
{
  const size_t groups = (count - 1) / GROUP + 1;
  xl_var **joined = malloc(groups * sizeof *joined), *result = NULL;
  size_t made = 0;
  for (; joined != NULL && made < groups; made++) {
    const size_t first = made * GROUP;
    joined[made] = join(parts + first, count - first < GROUP ? count - first : GROUP, dim, type);
    if (joined[made] == NULL) {
      break;
    }
  }
  if (joined == NULL) {
    xl_refuse(XP_ERR_MEMORY, "there is no memory for %zu tensors", count);
  } else if (made == groups) {
    result = cat(joined, groups, dim, type);
  }
  free(joined);
  return result;
}

static xl_var *cat_kept(xl_var *const *parts, size_t count, int dim, xl_type type)
{
  if (count > GROUP) {
    return in_groups(parts, count, dim, type, cat_kept, cat_kept);
  }
  const int at = xl_dim_of(parts[0], dim, parts[0]->shape.rank);
  if (at < 0) {
    return NULL;
  }
  const xl_dim_attrs attrs = {at};
  xl_result result = {
      .op = XL_OP_CAT, .type = type, .shape = parts[0]->shape, .attrs = &attrs, .attr_bytes = sizeof attrs};
  return add_extents(parts, count, at, &result.shape.dims[at]) ? xl_apply(&result, parts, count) : NULL;
}

xl_var *xl_op_cat(xl_var *const *parts, size_t count, int dim)
{
  xl_type type = XL_BOOL;
  if (!common_type(parts, count, &type)) {
    return NULL;
  }
  xl_var **kept = malloc(count * sizeof *kept);
  if (kept == NULL) {
    return xl_refuse(XP_ERR_MEMORY, "there is no memory for %zu tensors", count);
  }
  size_t found = 0;
  const size_t rank = rank_of_something(parts, count);
  for (size_t i = 0; i < count; i++) {
    if (parts[i]->shape.rank == rank || !is_nothing(parts[i])) {
      kept[found++] = parts[i];
    }
  }
  xl_var *result = cat_kept(kept, found, dim, type);
  free(kept);
  return result;
}

/* ---------------------------------------------------------------- stack */

static xl_var *stack_equal(xl_var *const *parts, size_t count, int at, xl_type type)
{
  if (count > GROUP) {
    return in_groups(parts, count, at, type, stack_equal, cat_kept);
  }
  const xl_shape *part = &parts[0]->shape;
  const xl_dim_attrs attrs = {at};
  xl_result result = {
      .op = XL_OP_STACK, .type = type, .shape = {part->rank + 1, {0}}, .attrs = &attrs, .attr_bytes = sizeof attrs};
  for (int i = 0; i <= (int)part->rank; i++) {
    result.shape.dims[i] = i < at ? part->dims[i] : i == at ? (int64_t)count : part->dims[i - 1];
  }
  return xl_apply(&result, parts, count);
}

xl_var *xl_op_stack(xl_var *const *parts, size_t count, int dim)
{
  xl_type type = XL_BOOL;
  const int at = common_type(parts, count, &type) ? xl_dim_of(parts[0], dim, parts[0]->shape.rank + 1) : -1;
  if (at < 0) {
    return NULL;
  }
  if (parts[0]->shape.rank == XL_MAX_RANK) {
    return xl_refuse(XP_ERR_USAGE, "a tensor has at most %d dimensions", XL_MAX_RANK);
  }
  for (size_t i = 1; i < count; i++) {
    if (!xl_shape_equal(&parts[i]->shape, &parts[0]->shape)) {
      return other_shape(parts[i], parts[0]);
    }
  }
  return stack_equal(parts, count, at, type);
}

/* ---------------------------------------------------------------- one tensor */

xl_var *xl_op_flip(xl_var *x, int dim)
{
  const int at = x != NULL ? xl_dim_of(x, dim, x->shape.rank) : -1;
  if (at < 0) {
    return NULL;
  }
  const xl_dim_attrs attrs = {at};
  const xl_result result = {
      .op = XL_OP_FLIP, .type = x->type, .shape = x->shape, .attrs = &attrs, .attr_bytes = sizeof attrs};
  return xl_apply_1(&result, x);
}

xl_var *xl_op_pad(xl_var *x, int dim, int64_t before, int64_t after, double value)
{
  const int at = x != NULL ? xl_dim_of(x, dim, x->shape.rank) : -1;
  if (at < 0) {
    return NULL;
  }
  const xl_pad_attrs attrs = {at, before, after};
  xl_result result = {.op = XL_OP_PAD, .type = x->type, .shape = x->shape, .attrs = &attrs, .attr_bytes = sizeof attrs};
  int64_t *extent = &result.shape.dims[at];
  char text[XL_SHAPE_TEXT];
  if (__builtin_add_overflow(*extent, before, extent) || __builtin_add_overflow(*extent, after, extent) ||
      *extent < 0) {
    return xl_refuse(XP_ERR_USAGE, "dimension %d of %s with %lld elements before and %lld after has no extent", dim,
                     xl_shape_text(text, x->type, &x->shape), (long long)before, (long long)after);
  }
  return xl_apply_2(&result, x, xl_number(x->type, value));
}

xl_var *xl_op_tril(xl_var *x, int64_t diagonal)
{
  if (x == NULL) {
    return NULL;
  }
  char text[XL_SHAPE_TEXT];
  if (x->shape.rank < 2) {
    return xl_refuse(XP_ERR_USAGE, "%s is no matrix", xl_shape_text(text, x->type, &x->shape));
  }
  const int64_t rows = x->shape.dims[x->shape.rank - 2], columns = x->shape.dims[x->shape.rank - 1];
  diagonal = diagonal < -rows ? -rows : diagonal > columns ? columns : diagonal; /* those outside are all the same */
  const xl_result result = {
      .op = XL_OP_TRIL, .type = x->type, .shape = x->shape, .attrs = &diagonal, .attr_bytes = sizeof diagonal};
  return xl_apply_1(&result, x);
}

xl_var *xl_op_upsample_nearest2d(xl_var *x, int64_t factor)
{
  if (x == NULL) {
    return NULL;
  }
  xl_result result = {.op = XL_OP_UPSAMPLE_NEAREST2D, .type = x->type, .shape = x->shape};
  char text[XL_SHAPE_TEXT];
  if (x->shape.rank != 4 || factor < 1 || __builtin_mul_overflow(x->shape.dims[2], factor, &result.shape.dims[2]) ||
      __builtin_mul_overflow(x->shape.dims[3], factor, &result.shape.dims[3])) {
    return xl_refuse(XP_ERR_USAGE, "%s times %lld: it takes [N, C, H, W] and a factor of 1 or more",
                     xl_shape_text(text, x->type, &x->shape), (long long)factor);
  }
  return xl_apply_1(&result, x);
}

/* ---------------------------------------------------------------- public */

/* The tensors of some handles, joined by one of the functions above. */
static xl_tensor join(xl_entry *entry, const xl_location *at, const xl_tensor *tensors, size_t count, int dim,
                      xl_var *(*join_parts)(xl_var *const *parts, size_t count, int dim))
{
  xl_begin(entry, at);
  if (tensors == NULL && count > 0) {
    return xl_end(xl_refuse(XP_ERR_USAGE, "the list of %zu tensors is NULL", count));
  }
  xl_var **parts = calloc(count + (count == 0), sizeof *parts);
  if (parts == NULL) {
    return xl_end(xl_refuse(XP_ERR_MEMORY, "there is no memory for %zu tensors", count));
  }
  for (size_t i = 0; i < count; i++) {
    parts[i] = xl_arg(tensors[i]);
  }
  xl_var *result = join_parts(parts, count, dim);
  free(parts);
  return xl_end(result);
}

xl_tensor xl_cat_at(const xl_location *at, const xl_tensor *tensors, size_t count, int dim)
{
  static xl_entry entry = {"cat", NULL};
  return join(&entry, at, tensors, count, dim, xl_op_cat);
}

xl_tensor xl_stack_at(const xl_location *at, const xl_tensor *tensors, size_t count, int dim)
{
  static xl_entry entry = {"stack", NULL};
  return join(&entry, at, tensors, count, dim, xl_op_stack);
}

xl_tensor xl_flip_at(const xl_location *at, xl_tensor tensor, int dim)
{
  static xl_entry entry = {"flip", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_flip(xl_arg(tensor), dim));
}

xl_tensor xl_pad_at(const xl_location *at, xl_tensor tensor, int dim, int64_t before, int64_t after, double value)
{
  static xl_entry entry = {"pad", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_pad(xl_arg(tensor), dim, before, after, value));
}

xl_tensor xl_tril_at(const xl_location *at, xl_tensor tensor, int64_t diagonal)
{
  static xl_entry entry = {"tril", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_tril(xl_arg(tensor), diagonal));
}

xl_tensor xl_upsample_nearest2d_at(const xl_location *at, xl_tensor tensor, int64_t factor)
{
  static xl_entry entry = {"upsample_nearest2d", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_upsample_nearest2d(xl_arg(tensor), factor));
}
