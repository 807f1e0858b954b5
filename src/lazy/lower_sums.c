/* Instructions of sums: a reduction, in f32 for bf16, and a reshape where dimensions stay. */
#include "lazy/lower.h"
#include "lazy/op_sums.h"

static size_t dims_of(const xl_node *node, int64_t dims[XL_MAX_RANK])
{
  xl_reduce_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  size_t count = 0;
  for (int i = 0; i < XL_MAX_RANK; i++) {
    if (attrs.dims >> i & 1) {
      dims[count++] = i;
    }
  }
  return count;
}

/* The type in which a sum is formed. */
static xp_hlo_type sum_type(const xl_node *node)
{
  return node->type == XL_BF16 ? XP_HLO_F32 : xl_hlo_type((xl_type)node->type);
}

static xp_hlo_value sum(xl_lowering *to, const xl_node *node, xp_hlo_value x)
{
  int64_t dims[XL_MAX_RANK];
  const size_t count = dims_of(node, dims);
  return xl_lower_reduce(to, xl_lower_as(to, x, sum_type(node)), XP_HLO_OP_ADD, 0, dims, count);
}

static xp_hlo_value finish(xl_lowering *to, const xl_node *node, xp_hlo_value x)
{
  x = xl_lower_as(to, x, xl_hlo_type((xl_type)node->type));
  return xp_hlo_value_shape(to->body, x)->rank == node->rank
             ? x
             : xp_hlo_build_reshape(to->body, x, node->rank, xl_node_dims(node));
}

xp_hlo_value xl_lower_sum(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return finish(to, node, sum(to, node, operands[0]));
}

xp_hlo_value xl_lower_mean(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  int64_t dims[XL_MAX_RANK];
  const size_t count = dims_of(node, dims);
  double elements = 1;
  for (size_t i = 0; i < count; i++) {
    elements *= (double)xl_node_dims(xl_node_operands(node)[0])[dims[i]];
  }
  const xp_hlo_value total = sum(to, node, operands[0]);
  const xp_hlo_shape shape = *xp_hlo_value_shape(to->body, total);
  xl_shape extents = {shape.rank, {0}};
  memcpy(extents.dims, shape.dims, shape.rank * sizeof *extents.dims);
  const xp_hlo_value divisor = xl_lower_filled(to, elements, shape.type, &extents);
  return finish(to, node, xp_hlo_build_binary(to->body, XP_HLO_OP_DIVIDE, total, divisor));
}
