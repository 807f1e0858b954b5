/* Operations whose places are values: dynamic slices, gather and scatter.
 *
 * Gather and scatter are each other's mirror.  Both have an array of indices, one dimension of which holds the parts of
 * an index (index_vector_dim; if it is the rank of the array, an index has one part).  The other dimensions of the
 * indices are batch dimensions of the slices; the remaining dimensions of the slices are windows into the operand.
 */
#include "hlo/build_body.h"

/* ---------------------------------------------------------------- dynamic slices */

/* Operands x, (update,) starts; NULL if a start is no integer scalar.  Lies in the arena. */
static const xp_hlo_value *with_starts(xp_hlo_body *body, xp_hlo_opcode opcode, const xp_hlo_value *first, size_t count,
                                       const xp_hlo_value *starts, size_t rank)
{
  if (!xp_hlo_are_values(body, opcode, starts, rank)) {
    return NULL;
  }
  for (size_t i = 0; i < rank; i++) {
    const xp_hlo_shape *s = xp_hlo_shape_in(body, starts[i]);
    if (s->rank != 0 || !xp_hlo_type_is_integer(s->type) || s->type != xp_hlo_shape_in(body, starts[0])->type) {
      xp_hlo_cannot(body, opcode, "start %zu has the shape %.180s; pass integer scalars of one type", i,
                    xp_hlo_show(body, s));
      return NULL;
    }
  }
  xp_hlo_value *all = xp_arena_array(body->builder->arena, count + rank, sizeof *all);
  if (all == NULL) {
    xp_hlo_out_of_memory(body->builder);
    return NULL;
  }
  memcpy(all, first, count * sizeof *all);
  if (rank > 0) {
    memcpy(all + count, starts, rank * sizeof *all);
  }
  return all;
}

xp_hlo_value xp_hlo_build_dynamic_slice(xp_hlo_body *body, xp_hlo_value x, const xp_hlo_value *starts,
                                        const int64_t *sizes)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_DYNAMIC_SLICE;
  if (!xp_hlo_is_array_value(body, opcode, x)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x);
  for (size_t i = 0; i < s->rank; i++) {
    if (sizes[i] < 0 || sizes[i] > s->dims[i]) {
      return xp_hlo_cannot(body, opcode, "dimension %zu of %.180s has no slice of %lld elements", i,
                           xp_hlo_show(body, s), (long long)sizes[i]);
    }
  }
  const xp_hlo_value *operands = with_starts(body, opcode, &x, 1, starts, s->rank);
  if (operands == NULL) {
    return XP_HLO_NO_VALUE;
  }
  xp_hlo_instruction in = {.opcode = opcode,
                           .shape = xp_hlo_shape_array(s->type, s->rank, sizes),
                           .dynamic_slice_sizes = xp_hlo_keep_list(body->builder, sizes, s->rank)};
  return xp_hlo_append(body, &in, operands, 1u + s->rank);
}

xp_hlo_value xp_hlo_build_dynamic_update_slice(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value update,
                                               const xp_hlo_value *starts)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_DYNAMIC_UPDATE_SLICE;
  const xp_hlo_value both[] = {x, update};
  if (!xp_hlo_is_array_value(body, opcode, x) || !xp_hlo_is_array_value(body, opcode, update)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x), *u = xp_hlo_shape_in(body, update);
  bool is_inside = s->type == u->type && s->rank == u->rank;
  for (size_t i = 0; is_inside && i < s->rank; i++) {
    is_inside = u->dims[i] <= s->dims[i];
  }
  if (!is_inside) {
    return xp_hlo_cannot_pair(body, opcode, s, u, "the update must be of the same type and no larger");
  }
  const xp_hlo_value *operands = with_starts(body, opcode, both, 2, starts, s->rank);
  if (operands == NULL) {
    return XP_HLO_NO_VALUE;
  }
  xp_hlo_instruction in = {.opcode = opcode, .shape = xp_hlo_shape_array(s->type, s->rank, s->dims)};
  return xp_hlo_append(body, &in, operands, 2u + s->rank);
}

/* ---------------------------------------------------------------- what gather and scatter have in common */

static bool is_rising(const xp_hlo_list *list, size_t rank)
{
  for (size_t i = 0; i < list->count; i++) {
    if (list->values[i] < 0 || list->values[i] >= (int64_t)rank || (i > 0 && list->values[i] <= list->values[i - 1])) {
      return false;
    }
  }
  return true;
}

/* One side of a pair of operations: names as gather has them. */
typedef struct {
  const xp_hlo_shape *operand, *indices;
  const xp_hlo_list *window_dims; /* dimensions of the slices that are windows: offset_dims, update_window_dims */
  const xp_hlo_list *left_out;    /* dimensions of the operand that windows lack: collapsed, inserted */
  const xp_hlo_list *map;         /* the dimension of the operand that each part of an index is for */
  const xp_hlo_list *operand_batch, *indices_batch;
  int64_t index_vector_dim;
} numbers;

static size_t batch_rank(const numbers *n)
{
  return n->indices->rank - (n->index_vector_dim < n->indices->rank ? 1u : 0u);
}

/* NULL, or what is wrong. */
static const char *problem_with(const numbers *n, size_t slices_rank)
{
  size_t rank = n->operand->rank;
  if (!xp_hlo_type_is_integer(n->indices->type)) {
    return "the indices must be integers";
  }
  if (n->index_vector_dim < 0 || n->index_vector_dim > n->indices->rank) {
    return "index_vector_dim is no dimension of the indices";
  }
  int64_t parts = n->index_vector_dim < n->indices->rank ? n->indices->dims[n->index_vector_dim] : 1;
  if ((int64_t)n->map->count != parts || !xp_hlo_are_dimensions(n->map->values, n->map->count, rank)) {
    return "each part of an index needs a dimension of the operand of its own";
  }
  if (!is_rising(n->window_dims, slices_rank) || !is_rising(n->left_out, rank) || !is_rising(n->operand_batch, rank)) {
    return "dimensions must exist, and rise";
  }
  if (n->operand_batch->count != n->indices_batch->count ||
      !xp_hlo_are_dimensions(n->indices_batch->values, n->indices_batch->count, n->indices->rank) ||
      xp_hlo_list_has(n->indices_batch, n->index_vector_dim)) {
    return "the batch dimensions of operand and indices do not belong together";
  }
  for (size_t i = 0; i < n->operand_batch->count; i++) {
    int64_t dim = n->operand_batch->values[i];
    if (xp_hlo_list_has(n->left_out, dim) || xp_hlo_list_has(n->map, dim) ||
        n->operand->dims[dim] != n->indices->dims[n->indices_batch->values[i]]) {
      return "a batch dimension is used twice, or has two extents";
    }
  }
  if (n->window_dims->count + n->left_out->count + n->operand_batch->count != rank) {
    return "windows and the dimensions that they lack are not all dimensions of the operand";
  }
  return NULL;
}

/* The extent of batch dimension i of the slices. */
static int64_t batch_extent(const numbers *n, size_t i)
{
  return n->indices->dims[(int64_t)i < n->index_vector_dim ? i : i + 1];
}

/* ---------------------------------------------------------------- gather */

static const char *problem_with_sizes(const numbers *n, const xp_hlo_list *sizes)
{
  if (sizes->count != n->operand->rank) {
    return "there must be a slice size for each dimension of the operand";
  }
  for (size_t i = 0; i < sizes->count; i++) {
    bool is_left_out = xp_hlo_list_has(n->left_out, (int64_t)i) || xp_hlo_list_has(n->operand_batch, (int64_t)i);
    if (sizes->values[i] < 0 || sizes->values[i] > n->operand->dims[i] || (is_left_out && sizes->values[i] > 1)) {
      return "a slice size is larger than the dimension, or than 1 where the dimension goes";
    }
  }
  return NULL;
}

/* Batch dimensions stand where no window does, and windows take the sizes of the dimensions that stay, in order. */
static xp_hlo_shape gathered(const numbers *n, const xp_hlo_list *sizes)
{
  int64_t dims[XP_HLO_MAX_RANK];
  size_t rank = batch_rank(n) + n->window_dims->count, batch = 0, window = 0;
  for (size_t i = 0; i < rank; i++) {
    if (xp_hlo_list_has(n->window_dims, (int64_t)i)) {
      while (xp_hlo_list_has(n->left_out, (int64_t)window) || xp_hlo_list_has(n->operand_batch, (int64_t)window)) {
        window++;
      }
      dims[i] = sizes->values[window++];
    } else {
      dims[i] = batch_extent(n, batch++);
    }
  }
  return xp_hlo_shape_array(n->operand->type, rank, dims);
}

xp_hlo_value xp_hlo_build_gather(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value indices, const xp_hlo_gather *g,
                                 bool indices_are_sorted)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_GATHER;
  const xp_hlo_value operands[] = {x, indices};
  if (!xp_hlo_is_array_value(body, opcode, x) || !xp_hlo_is_array_value(body, opcode, indices)) {
    return XP_HLO_NO_VALUE;
  }
  const numbers n = {xp_hlo_shape_in(body, x),
                     xp_hlo_shape_in(body, indices),
                     &g->offset_dims,
                     &g->collapsed_slice_dims,
                     &g->start_index_map,
                     &g->operand_batching_dims,
                     &g->start_indices_batching_dims,
                     g->index_vector_dim};
  size_t rank = batch_rank(&n) + g->offset_dims.count;
  const char *problem = rank > XP_HLO_MAX_RANK ? "the result has too many dimensions" : problem_with(&n, rank);
  problem = problem != NULL ? problem : problem_with_sizes(&n, &g->slice_sizes);
  if (problem != NULL) {
    return xp_hlo_cannot_pair(body, opcode, n.operand, n.indices, problem);
  }
  const xp_hlo_gather copy = {xp_hlo_keep_copy(body, &g->offset_dims),
                              xp_hlo_keep_copy(body, &g->collapsed_slice_dims),
                              xp_hlo_keep_copy(body, &g->start_index_map),
                              xp_hlo_keep_copy(body, &g->operand_batching_dims),
                              xp_hlo_keep_copy(body, &g->start_indices_batching_dims),
                              g->index_vector_dim,
                              xp_hlo_keep_copy(body, &g->slice_sizes)};
  xp_hlo_instruction in = {.opcode = opcode,
                           .shape = gathered(&n, &g->slice_sizes),
                           .gather = xp_hlo_keep(body->builder, &copy, 1, sizeof copy),
                           .indices_are_sorted = indices_are_sorted};
  return xp_hlo_append(body, &in, operands, 2);
}

/* ---------------------------------------------------------------- scatter */

static const char *problem_with_updates(const numbers *n, const xp_hlo_shape *updates)
{
  size_t batch = 0, window = 0;
  if (updates->type != n->operand->type) {
    return "updates and operand must have one type";
  }
  if (updates->rank != batch_rank(n) + n->window_dims->count) {
    return "updates need a dimension for each batch and window dimension";
  }
  for (size_t i = 0; i < updates->rank; i++) {
    if (!xp_hlo_list_has(n->window_dims, (int64_t)i)) {
      if (updates->dims[i] != batch_extent(n, batch++)) {
        return "updates and indices differ in the extent of a batch dimension";
      }
      continue;
    }
    while (xp_hlo_list_has(n->left_out, (int64_t)window) || xp_hlo_list_has(n->operand_batch, (int64_t)window)) {
      window++;
    }
    if (updates->dims[i] > n->operand->dims[window++]) {
      return "a window of the updates is larger than the operand";
    }
  }
  return NULL;
}

xp_hlo_value xp_hlo_build_scatter(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value indices, xp_hlo_value updates,
                                  const xp_hlo_scatter_options *options)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_SCATTER;
  const xp_hlo_value operands[] = {x, indices, updates};
  const xp_hlo_scatter *s = &options->numbers;
  for (size_t i = 0; i < 3; i++) {
    if (!xp_hlo_is_array_value(body, opcode, operands[i])) {
      return XP_HLO_NO_VALUE;
    }
  }
  const xp_hlo_shape *u = xp_hlo_shape_in(body, updates);
  const numbers n = {xp_hlo_shape_in(body, x),
                     xp_hlo_shape_in(body, indices),
                     &s->update_window_dims,
                     &s->inserted_window_dims,
                     &s->scatter_dims_to_operand_dims,
                     &s->input_batching_dims,
                     &s->scatter_indices_batching_dims,
                     s->index_vector_dim};
  const char *problem = problem_with(&n, u->rank);
  problem = problem != NULL ? problem : problem_with_updates(&n, u);
  if (problem != NULL) {
    return xp_hlo_cannot_pair(body, opcode, n.operand, u, problem);
  }
  const xp_hlo_shape scalar = xp_hlo_shape_scalar(n.operand->type);
  const xp_hlo_shape *takes[] = {&scalar, &scalar};
  if (!xp_hlo_is_called_right(body, opcode, options->combine, takes, 2, &scalar)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_scatter copy = {xp_hlo_keep_copy(body, &s->update_window_dims),
                               xp_hlo_keep_copy(body, &s->inserted_window_dims),
                               xp_hlo_keep_copy(body, &s->scatter_dims_to_operand_dims),
                               xp_hlo_keep_copy(body, &s->input_batching_dims),
                               xp_hlo_keep_copy(body, &s->scatter_indices_batching_dims),
                               s->index_vector_dim};
  xp_hlo_instruction in = {.opcode = opcode,
                           .shape = xp_hlo_shape_array(n.operand->type, n.operand->rank, n.operand->dims),
                           .scatter = xp_hlo_keep(body->builder, &copy, 1, sizeof copy),
                           .indices_are_sorted = options->indices_are_sorted,
                           .unique_indices = options->unique_indices};
  return xp_hlo_append_calling(body, &in, operands, 3, &options->combine, 1);
}
