/* Instructions of what moves elements without looking at values. */
#include "lazy/lower.h"
#include "lazy/op_moves.h"

static int64_t dim_of(const xl_node *node)
{
  xl_dim_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  return attrs.dim;
}

/* All operands in the type of the node, one behind the other; each reshaped first, if an extent of 1 is to be added. */
static xp_hlo_value join(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands, bool adds_extent)
{
  const int64_t dim = dim_of(node);
  int64_t dims[XL_MAX_RANK];
  memcpy(dims, xl_node_dims(node), node->rank * sizeof *dims);
  dims[dim] = 1;
  xp_hlo_value *parts = xp_arena_array(to->arena, node->operand_count, sizeof *parts);
  for (size_t i = 0; i < node->operand_count; i++) {
    parts[i] = xl_lower_as(to, operands[i], xl_hlo_type((xl_type)node->type));
    parts[i] = adds_extent ? xp_hlo_build_reshape(to->body, parts[i], node->rank, dims) : parts[i];
  }
  return xp_hlo_build_concatenate(to->body, parts, node->operand_count, dim);
}

xp_hlo_value xl_lower_cat(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return join(to, node, operands, false);
}

xp_hlo_value xl_lower_stack(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return join(to, node, operands, true);
}

xp_hlo_value xl_lower_flip(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const int64_t dim = dim_of(node);
  return xp_hlo_build_reverse(to->body, operands[0], 1, &dim);
}

xp_hlo_value xl_lower_pad(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xl_pad_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  xp_hlo_pad_dim padding[XL_MAX_RANK] = {{0, 0, 0}};
  padding[attrs.dim] = (xp_hlo_pad_dim){attrs.before, attrs.after, 0};
  return xp_hlo_build_pad(to->body, operands[0], operands[1], padding);
}

/* Elements whose column is at most their row + diagonal. */
xp_hlo_value xl_lower_tril(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  int64_t diagonal;
  memcpy(&diagonal, xl_node_attrs(node), sizeof diagonal);
  const xl_shape shape = xl_node_shape(node);
  const int64_t rows = shape.dims[shape.rank - 2], columns = shape.dims[shape.rank - 1];
  const xp_hlo_shape counts = xl_hlo_shape(xl_counting_type(rows + columns), &shape);
  const xp_hlo_value row = xp_hlo_build_iota(to->body, &counts, (int64_t)shape.rank - 2);
  const xp_hlo_value column = xp_hlo_build_iota(to->body, &counts, (int64_t)shape.rank - 1);
  const xp_hlo_value shift = xl_lower_filled(to, (double)diagonal, counts.type, &shape);
  const xp_hlo_value last = xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, row, shift);
  const xp_hlo_value stays = xp_hlo_build_compare(to->body, XP_HLO_COMPARE_LE, column, last);
  const xp_hlo_value zeros = xl_lower_filled(to, 0, xl_hlo_type((xl_type)node->type), &shape);
  return xp_hlo_build_select(to->body, stays, operands[0], zeros);
}

/* Every element becomes a square: [N, C, H, W] to [N, C, H, factor, W, factor]. */
xp_hlo_value xl_lower_upsample_nearest2d(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const int64_t *from = xl_node_dims(xl_node_operands(node)[0]), *dims = xl_node_dims(node);
  const int64_t mapping[] = {0, 1, 2, 4};
  const int64_t squares[] = {
      from[0], from[1], from[2], from[2] > 0 ? dims[2] / from[2] : 1, from[3], from[3] > 0 ? dims[3] / from[3] : 1};
  const xp_hlo_value wide = xp_hlo_build_broadcast(to->body, operands[0], 6, squares, mapping);
  return xp_hlo_build_reshape(to->body, wide, 4, dims);
}
