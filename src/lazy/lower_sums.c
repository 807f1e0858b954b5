/* Instructions of sums: a reduction, in f32 for bf16, and a reshape where dimensions stay. */
#include <math.h>

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

/* How many elements each result is made of. */
static double elements_of(const xl_node *node)
{
  int64_t dims[XL_MAX_RANK];
  const size_t count = dims_of(node, dims);
  double elements = 1;
  for (size_t i = 0; i < count; i++) {
    elements *= (double)xl_node_dims(xl_node_operands(node)[0])[dims[i]];
  }
  return elements;
}

static xp_hlo_value divided(xl_lowering *to, xp_hlo_value x, double divisor)
{
  return xp_hlo_build_binary(to->body, XP_HLO_OP_DIVIDE, x, xl_lower_number_like(to, divisor, x));
}

xp_hlo_value xl_lower_mean(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return finish(to, node, divided(to, sum(to, node, operands[0]), elements_of(node)));
}

/* What was reduced, repeated over the shape of the operand. */
static xp_hlo_value repeated(xl_lowering *to, const xl_node *node, xp_hlo_value reduced)
{
  const xl_node *operand = xl_node_operands(node)[0];
  xl_reduce_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  int64_t mapping[XL_MAX_RANK];
  size_t count = 0;
  for (int i = 0; i < operand->rank; i++) {
    if (!(attrs.dims >> i & 1)) {
      mapping[count++] = i;
    }
  }
  return xp_hlo_build_broadcast(to->body, reduced, operand->rank, xl_node_dims(operand), mapping);
}

/* Twice through the elements: what is far from 0 keeps its digits. */
xp_hlo_value xl_lower_var(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xl_var_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  const xp_hlo_value x = xl_lower_as(to, operands[0], sum_type(node));
  const xp_hlo_value mean = divided(to, sum(to, node, x), elements_of(node));
  const xp_hlo_value apart = xp_hlo_build_binary(to->body, XP_HLO_OP_SUBTRACT, x, repeated(to, node, mean));
  const xp_hlo_value squares = xp_hlo_build_binary(to->body, XP_HLO_OP_MULTIPLY, apart, apart);
  return finish(to, node, divided(to, sum(to, node, squares), attrs.divisor));
}

/* ---------------------------------------------------------------- extremes */

/* Nothing of a type is beyond it: the smallest for a maximum. */
static xp_hlo_value neutral(xl_lowering *to, xp_hlo_type type, bool is_maximum)
{
  switch (type) {
  case XP_HLO_F32:
  case XP_HLO_BF16:
    return xp_hlo_build_scalar(to->body, type, is_maximum ? -HUGE_VAL : HUGE_VAL);
  case XP_HLO_S32:
    return xp_hlo_build_integer(to->body, type, is_maximum ? INT32_MIN : INT32_MAX);
  case XP_HLO_S64:
    return xp_hlo_build_integer(to->body, type, is_maximum ? INT64_MIN : INT64_MAX);
  default:
    return xp_hlo_build_integer(to->body, type, is_maximum ? 0 : UINT8_MAX);
  }
}

static xp_hlo_value extreme(xl_lowering *to, const xl_node *node, xp_hlo_value x, xp_hlo_opcode opcode)
{
  int64_t dims[XL_MAX_RANK];
  const size_t count = dims_of(node, dims);
  const xp_hlo_type type = xp_hlo_value_shape(to->body, x)->type;
  const xp_hlo_value start = neutral(to, type, opcode == XP_HLO_OP_MAXIMUM);
  return xp_hlo_build_reduce(to->body, &x, &start, 1, dims, count, xl_lower_combiner(to, opcode, type));
}

xp_hlo_value xl_lower_extreme(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  return finish(to, node, extreme(to, node, operands[0], (xp_hlo_opcode)xl_op_facts[node->op].code));
}

/* The first position that has the extreme, or a NaN: the extreme is a NaN then. */
xp_hlo_value xl_lower_arg_extreme(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xp_hlo_body *body = to->body;
  const xp_hlo_value x = operands[0];
  const xl_node *operand = xl_node_operands(node)[0];
  if (operand->rank == 0) {
    return finish(to, node, xp_hlo_build_integer(body, XP_HLO_S64, 0));
  }
  int64_t dims[XL_MAX_RANK];
  dims_of(node, dims);
  const xp_hlo_value best = extreme(to, node, x, (xp_hlo_opcode)xl_op_facts[node->op].code);
  xp_hlo_value has_it = xp_hlo_build_compare(body, XP_HLO_COMPARE_EQ, x, repeated(to, node, best));
  if (xl_is_float((xl_type)operand->type)) {
    const xp_hlo_value is_nan = xp_hlo_build_compare(body, XP_HLO_COMPARE_NE, x, x);
    has_it = xp_hlo_build_binary(body, XP_HLO_OP_OR, has_it, is_nan);
  }
  const xp_hlo_shape positions = xp_hlo_shape_array(XP_HLO_S64, operand->rank, xl_node_dims(operand));
  const xp_hlo_value position = xp_hlo_build_iota(body, &positions, dims[0]);
  const xp_hlo_value none = xl_lower_number_like(to, (double)xl_node_dims(operand)[dims[0]], position);
  const xp_hlo_value candidates = xp_hlo_build_select(body, has_it, position, none);
  return finish(to, node, extreme(to, node, candidates, XP_HLO_OP_MINIMUM));
}

/* any: or, beginning with false; all: and, beginning with true */
xp_hlo_value xl_lower_truth(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  int64_t dims[XL_MAX_RANK];
  const size_t count = dims_of(node, dims);
  const xp_hlo_opcode opcode = (xp_hlo_opcode)xl_op_facts[node->op].code;
  const xp_hlo_value truth = xl_lower_truth_of(to, operands[0]);
  return finish(to, node, xl_lower_reduce(to, truth, opcode, opcode == XP_HLO_OP_AND, dims, count));
}

/* ---------------------------------------------------------------- sums up to each element */

/* A window over an element and all before it (behind it, for the gradient); the places outside of the array are 0. */
xp_hlo_value xl_lower_cumsum(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xl_cumsum_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_type type = sum_type(node);
  const xp_hlo_value x = xl_lower_as(to, operands[0], type);
  if (shape.rank == 0 || xl_shape_elements(&shape) == 0) {
    return finish(to, node, x);
  }
  xp_hlo_window_dim windows[XL_MAX_RANK];
  for (size_t i = 0; i < shape.rank; i++) {
    windows[i] = (xp_hlo_window_dim){.size = 1, .stride = 1, .window_dilation = 1, .base_dilation = 1};
  }
  xp_hlo_window_dim *window = &windows[attrs.dim];
  window->size = shape.dims[attrs.dim];
  *(attrs.is_reverse ? &window->padding_high : &window->padding_low) = window->size - 1;
  const xp_hlo_value zero = xp_hlo_build_scalar(to->body, type, 0);
  const uint32_t add = xl_lower_combiner(to, XP_HLO_OP_ADD, type);
  return finish(to, node, xp_hlo_build_reduce_window(to->body, x, zero, windows, add));
}
