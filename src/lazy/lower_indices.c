/* Instructions of what takes elements by indices, and of the sums that are their gradients.
 *
 * Gathering moves indices from outside to the ends of the extent; scattering would pass over them.  So that gradients
 * go where elements came from, the indices of both are clamped here.  Sums of bf16 are formed in f32.
 */
#include "lazy/lower.h"
#include "lazy/op_moves.h"

static int64_t dim_of(const xl_node *node)
{
  xl_dim_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  return attrs.dim;
}

/* Indices from 0 to extent - 1, in a type that counts to `most`. */
static xp_hlo_value clamped(xl_lowering *to, xp_hlo_value indices, int64_t extent, int64_t most)
{
  const xp_hlo_type given = xp_hlo_value_shape(to->body, indices)->type;
  const xp_hlo_type type = given == XP_HLO_S64 || xl_counting_type(extent) == XL_I64 ? XP_HLO_S64 : XP_HLO_S32;
  const xp_hlo_value least = xp_hlo_build_integer(to->body, type, 0);
  const xp_hlo_value last = xp_hlo_build_integer(to->body, type, extent - 1);
  const xp_hlo_value inside = xp_hlo_build_clamp(to->body, least, xl_lower_as(to, indices, type), last);
  return xl_lower_as(to, inside, xl_hlo_type(xl_counting_type(most)));
}

/* Where the values of other dimensions stand in a result whose dimension `dim` was replaced by `rank` others. */
static size_t other_dims(size_t x_rank, int64_t dim, size_t rank, int64_t dims[XL_MAX_RANK])
{
  size_t count = 0;
  for (size_t i = 0; i < x_rank; i++) {
    if ((int64_t)i != dim) {
      dims[count++] = (int64_t)((int64_t)i < dim ? i : i - 1 + rank);
    }
  }
  return count;
}

static bool is_empty(const xl_node *node)
{
  const xl_shape shape = xl_node_shape(node);
  return xl_shape_elements(&shape) == 0;
}

static xp_hlo_value zeros(xl_lowering *to, const xl_node *node)
{
  const xl_shape shape = xl_node_shape(node);
  return xl_lower_filled(to, 0, xl_hlo_type((xl_type)node->type), &shape);
}

xp_hlo_value xl_lower_index_select(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_node *x = xl_node_operands(node)[0], *indices = xl_node_operands(node)[1];
  if (is_empty(node)) {
    return zeros(to, node);
  }
  const int64_t dim = dim_of(node), extent = xl_node_dims(x)[dim];
  int64_t others[XL_MAX_RANK], sizes[XL_MAX_RANK];
  const size_t count = other_dims(x->rank, dim, indices->rank, others);
  memcpy(sizes, xl_node_dims(x), x->rank * sizeof *sizes);
  sizes[dim] = 1;
  const xp_hlo_gather numbers = {.offset_dims = {others, count},
                                 .collapsed_slice_dims = {&dim, 1},
                                 .start_index_map = {&dim, 1},
                                 .index_vector_dim = indices->rank,
                                 .slice_sizes = {sizes, x->rank}};
  const xp_hlo_value at = clamped(to, operands[1], extent, extent);
  return xp_hlo_build_gather(to->body, operands[0], at, &numbers, false);
}

/* The sum of updates at their indices; the result has the shape and type of the node. */
static xp_hlo_value add_up(xl_lowering *to, const xl_node *node, const xl_shape *shape, xp_hlo_value at,
                           xp_hlo_value updates, const xp_hlo_scatter *numbers)
{
  const xp_hlo_type type = node->type == XL_BF16 ? XP_HLO_F32 : xl_hlo_type((xl_type)node->type);
  const xp_hlo_scatter_options options = {.numbers = *numbers, .combine = xl_lower_combiner(to, XP_HLO_OP_ADD, type)};
  const xp_hlo_value base = xl_lower_filled(to, 0, type, shape);
  const xp_hlo_value sum = xp_hlo_build_scatter(to->body, base, at, xl_lower_as(to, updates, type), &options);
  return xl_lower_as(to, sum, xl_hlo_type((xl_type)node->type));
}

/* Operands: what index_select gave, and its indices; the result is as what it took from. */
xp_hlo_value xl_lower_index_add(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_node *updates = xl_node_operands(node)[0], *indices = xl_node_operands(node)[1];
  if (is_empty(updates)) {
    return zeros(to, node);
  }
  const xl_shape shape = xl_node_shape(node);
  const int64_t dim = dim_of(node), extent = shape.dims[dim];
  int64_t others[XL_MAX_RANK];
  const size_t count = other_dims(node->rank, dim, indices->rank, others);
  const xp_hlo_scatter numbers = {.update_window_dims = {others, count},
                                  .inserted_window_dims = {&dim, 1},
                                  .scatter_dims_to_operand_dims = {&dim, 1},
                                  .index_vector_dim = indices->rank};
  return add_up(to, node, &shape, clamped(to, operands[1], extent, extent), operands[0], &numbers);
}

/* ---------------------------------------------------------------- an index for every element */

/* Places in the row of all elements of `x`: the index in one dimension, the element's own place in the others. */
static xp_hlo_value places(xl_lowering *to, const xl_node *node, const xl_shape *x, const xl_node *indices,
                           xp_hlo_value values)
{
  const int64_t dim = dim_of(node), elements = xl_shape_elements(x);
  const xl_shape shape = xl_node_shape(indices);
  const xp_hlo_shape counts = xl_hlo_shape(xl_counting_type(elements), &shape);
  xp_hlo_value sum = XP_HLO_NO_VALUE;
  int64_t stride = 1;
  for (size_t i = x->rank; i > 0; stride *= x->dims[i - 1], i--) {
    const xp_hlo_value part = (int64_t)i - 1 == dim ? clamped(to, values, x->dims[dim], elements)
                                                    : xp_hlo_build_iota(to->body, &counts, (int64_t)i - 1);
    const xp_hlo_value strides = xl_lower_broadcast(to, xp_hlo_build_integer(to->body, counts.type, stride), &shape);
    const xp_hlo_value way = xp_hlo_build_binary(to->body, XP_HLO_OP_MULTIPLY, part, strides);
    sum = i == x->rank ? way : xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, sum, way);
  }
  return sum;
}

xp_hlo_value xl_lower_gather(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  if (is_empty(node)) {
    return zeros(to, node);
  }
  const xl_shape x = xl_node_shape(xl_node_operands(node)[0]);
  const int64_t elements = xl_shape_elements(&x), zero = 0, one = 1;
  const xp_hlo_gather numbers = {.collapsed_slice_dims = {&zero, 1},
                                 .start_index_map = {&zero, 1},
                                 .index_vector_dim = node->rank,
                                 .slice_sizes = {&one, 1}};
  const xp_hlo_value at = places(to, node, &x, xl_node_operands(node)[1], operands[1]);
  const xp_hlo_value row = xp_hlo_build_reshape(to->body, operands[0], 1, &elements);
  return xp_hlo_build_gather(to->body, row, at, &numbers, false);
}

/* Operands: what gather gave, and its indices; the result is as what it took from. */
xp_hlo_value xl_lower_scatter_add(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_node *indices = xl_node_operands(node)[1];
  if (is_empty(indices)) {
    return zeros(to, node);
  }
  const xl_shape shape = xl_node_shape(node);
  const int64_t zero = 0;
  const xl_shape row = XL_SHAPE(xl_shape_elements(&shape));
  const xp_hlo_scatter numbers = {.inserted_window_dims = {&zero, 1},
                                  .scatter_dims_to_operand_dims = {&zero, 1},
                                  .index_vector_dim = indices->rank};
  const xp_hlo_value at = places(to, node, &shape, indices, operands[1]);
  return xp_hlo_build_reshape(to->body, add_up(to, node, &row, at, operands[0], &numbers), shape.rank, shape.dims);
}

xp_hlo_value xl_lower_one_hot(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_shape counts = xl_hlo_shape(XL_I64, &shape);
  int64_t mapping[XL_MAX_RANK];
  for (int i = 0; i < XL_MAX_RANK; i++) {
    mapping[i] = i;
  }
  const xp_hlo_value index =
      xp_hlo_build_broadcast(to->body, xl_lower_as(to, operands[0], XP_HLO_S64), shape.rank, shape.dims, mapping);
  const xp_hlo_value place = xp_hlo_build_iota(to->body, &counts, (int64_t)shape.rank - 1);
  return xl_lower_as(to, xp_hlo_build_compare(to->body, XP_HLO_COMPARE_EQ, index, place), XP_HLO_S64);
}
