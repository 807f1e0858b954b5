/* Instructions of views, and of updates that go back into their base. */
#include "lazy/lower.h"
#include "lazy/op_views.h"

xp_hlo_value xl_lower_expand(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  return xl_lower_broadcast(to, operands[0], &shape);
}

xp_hlo_value xl_lower_permute(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return xp_hlo_build_transpose(to->body, operands[0], xl_node_attrs(node));
}

xp_hlo_value xl_lower_reshape(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return xp_hlo_build_reshape(to->body, operands[0], node->rank, xl_node_dims(node));
}

static xl_slice_attrs slice_of(const xl_node *node)
{
  xl_slice_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  return attrs;
}

/* count elements of one dimension of an operand. */
static xp_hlo_value slice(xl_lowering *to, xp_hlo_value x, xl_slice_attrs which, int64_t count)
{
  const xp_hlo_shape shape = *xp_hlo_value_shape(to->body, x);
  xp_hlo_slice_dim dims[XL_MAX_RANK];
  for (size_t i = 0; i < shape.rank; i++) {
    dims[i] = (xp_hlo_slice_dim){0, shape.dims[i], 1};
  }
  const int64_t last = which.start + (count - 1) * which.step;
  dims[which.dim] = (xp_hlo_slice_dim){which.start, count > 0 ? last + 1 : which.start, which.step};
  return xp_hlo_build_slice(to->body, x, dims);
}

xp_hlo_value xl_lower_slice(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_slice_attrs which = slice_of(node);
  return slice(to, operands[0], which, xl_node_dims(node)[which.dim]);
}

xp_hlo_value xl_lower_select(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xp_hlo_value one = slice(to, operands[0], slice_of(node), 1);
  return xp_hlo_build_reshape(to->body, one, node->rank, xl_node_dims(node));
}

/* The part at its place among elements `fill`: the padding of the part with its step between its elements. */
static xp_hlo_value at_its_place(xl_lowering *to, xp_hlo_value part, xp_hlo_value fill, xl_slice_attrs which,
                                 const xl_node *node)
{
  const xp_hlo_shape shape = *xp_hlo_value_shape(to->body, part);
  xp_hlo_pad_dim padding[XL_MAX_RANK] = {{0, 0, 0}};
  const int64_t count = shape.dims[which.dim], extent = xl_node_dims(node)[which.dim];
  const int64_t covered = count > 0 ? (count - 1) * which.step + 1 : 0;
  padding[which.dim] = (xp_hlo_pad_dim){which.start, extent - which.start - covered, which.step - 1};
  return xp_hlo_build_pad(to->body, part, fill, padding);
}

/* Elements of the part where it is, of the base elsewhere: a mask of the part's places tells. */
static xp_hlo_value put(xl_lowering *to, const xl_node *node, xp_hlo_value base, xp_hlo_value part)
{
  const xl_slice_attrs which = slice_of(node);
  const xp_hlo_type type = xl_hlo_type((xl_type)node->type);
  const xp_hlo_shape part_shape = *xp_hlo_value_shape(to->body, part);
  const xp_hlo_value zero = xp_hlo_build_scalar(to->body, type, 0);
  const xp_hlo_value no = xp_hlo_build_scalar(to->body, XP_HLO_PRED, 0);
  const xp_hlo_value yes = xp_hlo_build_scalar(to->body, XP_HLO_PRED, 1);
  const xp_hlo_value all = xp_hlo_build_broadcast(to->body, yes, part_shape.rank, part_shape.dims, NULL);
  const xp_hlo_value mask = at_its_place(to, all, no, which, node);
  return xp_hlo_build_select(to->body, mask, at_its_place(to, part, zero, which, node), base);
}

xp_hlo_value xl_lower_slice_put(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return put(to, node, operands[0], operands[1]);
}

xp_hlo_value xl_lower_select_put(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  int64_t dims[XL_MAX_RANK];
  memcpy(dims, xl_node_dims(node), node->rank * sizeof *dims);
  dims[slice_of(node).dim] = 1;
  return put(to, node, operands[0], xp_hlo_build_reshape(to->body, operands[1], node->rank, dims));
}
