/* Instructions of softmax and of normalisations, in f32 whatever the type is. */
#include "lazy/lower_layers.h"

#include <math.h>

#include "lazy/op_layers.h"
#include "lazy/op_sums.h"

static size_t list_dims(int64_t mask, bool is_listed, size_t rank, int64_t dims[XL_MAX_RANK])
{
  size_t count = 0;
  for (size_t i = 0; i < rank; i++) {
    if ((mask >> i & 1) == is_listed) {
      dims[count++] = (int64_t)i;
    }
  }
  return count;
}

xp_hlo_value xl_lower_over(xl_lowering *to, xp_hlo_value x, xp_hlo_opcode opcode, double start, int64_t dims)
{
  int64_t list[XL_MAX_RANK];
  const size_t count = list_dims(dims, true, xp_hlo_value_shape(to->body, x)->rank, list);
  return count > 0 ? xl_lower_reduce(to, x, opcode, start, list, count) : x;
}

xp_hlo_value xl_lower_along(xl_lowering *to, xp_hlo_value x, const xl_shape *shape, int64_t dims)
{
  int64_t kept[XL_MAX_RANK];
  list_dims(dims, false, shape->rank, kept);
  return dims == 0 ? x : xp_hlo_build_broadcast(to->body, x, shape->rank, shape->dims, kept);
}

xp_hlo_value xl_lower_like(xl_lowering *to, double value, xp_hlo_value x)
{
  const xp_hlo_shape like = *xp_hlo_value_shape(to->body, x);
  xl_shape shape = {like.rank, {0}};
  memcpy(shape.dims, like.dims, like.rank * sizeof *shape.dims);
  return xl_lower_filled(to, value, XP_HLO_F32, &shape);
}

/* ---------------------------------------------------------------- softmax */

static xl_softmax_attrs softmax_of(const xl_node *node)
{
  xl_softmax_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  return attrs;
}

/* x less its greatest element along the dimensions, so that no exponential is infinite. */
typedef struct {
  xp_hlo_value x, exponentials, sum;
} below_max;

static below_max subtract_max(xl_lowering *to, const xl_node *node, xp_hlo_value x)
{
  const xl_softmax_attrs how = softmax_of(node);
  const xl_shape shape = xl_node_shape(node);
  below_max out;
  x = xl_lower_wide(to, x);
  xp_hlo_value max = xl_lower_over(to, x, XP_HLO_OP_MAXIMUM, -INFINITY, how.dims), nothing = XP_HLO_NO_VALUE;
  if (how.is_safe) {
    nothing = xp_hlo_build_compare(to->body, XP_HLO_COMPARE_EQ, max, xl_lower_like(to, -INFINITY, max));
    max = xp_hlo_build_select(to->body, nothing, xl_lower_like(to, 0, max), max);
  }
  out.x = xl_lower_subtract(to, x, xl_lower_along(to, max, &shape, how.dims));
  out.exponentials = xp_hlo_build_unary(to->body, XP_HLO_OP_EXPONENTIAL, out.x);
  out.sum = xl_lower_over(to, out.exponentials, XP_HLO_OP_ADD, 0, how.dims);
  if (how.is_safe) {
    out.sum = xp_hlo_build_select(to->body, nothing, xl_lower_like(to, 1, max), out.sum);
  }
  return out;
}

xp_hlo_value xl_lower_softmax(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const below_max parts = subtract_max(to, node, operands[0]);
  const xp_hlo_value sums = xl_lower_along(to, parts.sum, &shape, softmax_of(node).dims);
  return xl_lower_result(to, node, xl_lower_divide(to, parts.exponentials, sums));
}

xp_hlo_value xl_lower_log_softmax(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const below_max parts = subtract_max(to, node, operands[0]);
  const xp_hlo_value log = xp_hlo_build_unary(to->body, XP_HLO_OP_LOG, parts.sum);
  const xp_hlo_value logs = xl_lower_along(to, log, &shape, softmax_of(node).dims);
  return xl_lower_result(to, node, xl_lower_subtract(to, parts.x, logs));
}

/* y (g - sum of g y), with the result y. */
xp_hlo_value xl_lower_softmax_backward(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const int64_t dims = softmax_of(node).dims;
  const xp_hlo_value g = xl_lower_wide(to, operands[0]), y = xl_lower_wide(to, operands[1]);
  const xp_hlo_value sum = xl_lower_over(to, xl_lower_multiply(to, g, y), XP_HLO_OP_ADD, 0, dims);
  const xp_hlo_value less = xl_lower_subtract(to, g, xl_lower_along(to, sum, &shape, dims));
  return xl_lower_result(to, node, xl_lower_multiply(to, y, less));
}

/* g - exp(y) (sum of g), with the result y. */
xp_hlo_value xl_lower_log_softmax_backward(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const int64_t dims = softmax_of(node).dims;
  const xp_hlo_value g = xl_lower_wide(to, operands[0]);
  const xp_hlo_value p = xp_hlo_build_unary(to->body, XP_HLO_OP_EXPONENTIAL, xl_lower_wide(to, operands[1]));
  const xp_hlo_value sum = xl_lower_over(to, g, XP_HLO_OP_ADD, 0, dims);
  const xp_hlo_value part = xl_lower_multiply(to, p, xl_lower_along(to, sum, &shape, dims));
  return xl_lower_result(to, node, xl_lower_subtract(to, g, part));
}

/* ---------------------------------------------------------------- normalisations */

static xl_norm_attrs norm_of(const xl_node *node)
{
  xl_norm_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  return attrs;
}

/* The mean of x over the dimensions of a mask, which go. */
static xp_hlo_value mean_over(xl_lowering *to, xp_hlo_value x, int64_t dims)
{
  const xp_hlo_shape shape = *xp_hlo_value_shape(to->body, x);
  double elements = 1;
  for (size_t i = 0; i < shape.rank; i++) {
    elements *= dims >> i & 1 ? (double)shape.dims[i] : 1;
  }
  const xp_hlo_value sum = xl_lower_over(to, x, XP_HLO_OP_ADD, 0, dims);
  return xl_lower_divide(to, sum, xl_lower_like(to, elements, sum));
}

/* With a dimension of extent 1 in front. */
static xp_hlo_value in_front(xl_lowering *to, xp_hlo_value x)
{
  const xp_hlo_shape shape = *xp_hlo_value_shape(to->body, x);
  int64_t dims[XL_MAX_RANK] = {1};
  memcpy(dims + 1, shape.dims, shape.rank * sizeof *dims);
  return xp_hlo_build_reshape(to->body, x, shape.rank + 1u, dims);
}

/* The variance is the mean of squares of distances from the mean, which keeps its digits where the mean is large. */
xp_hlo_value xl_lower_var_mean(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xl_reduce_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  const xl_shape shape = xl_node_shape(xl_node_operands(node)[0]);
  const xp_hlo_value x = xl_lower_wide(to, operands[0]), mean = mean_over(to, x, attrs.dims);
  const xp_hlo_value distance = xl_lower_subtract(to, x, xl_lower_along(to, mean, &shape, attrs.dims));
  const xp_hlo_value variance = mean_over(to, xl_lower_multiply(to, distance, distance), attrs.dims);
  const xp_hlo_value parts[] = {in_front(to, mean), in_front(to, variance)};
  return xp_hlo_build_concatenate(to->body, parts, 2, 0);
}

/* x normalised, and what it was divided by, inverted. */
typedef struct {
  xp_hlo_value x, inverse; /* both in the shape of x */
} normalised;

/* Part i of [2, ..]. */
static xp_hlo_value statistic(xl_lowering *to, xp_hlo_value stats, int64_t i)
{
  const xp_hlo_shape shape = *xp_hlo_value_shape(to->body, stats);
  xp_hlo_slice_dim dims[XL_MAX_RANK] = {{i, i + 1, 1}};
  for (size_t k = 1; k < shape.rank; k++) {
    dims[k] = (xp_hlo_slice_dim){0, shape.dims[k], 1};
  }
  return xp_hlo_build_reshape(to->body, xp_hlo_build_slice(to->body, stats, dims), shape.rank - 1u, shape.dims + 1);
}

static normalised normalise(xl_lowering *to, const xl_node *node, xp_hlo_value x, xp_hlo_value stats,
                            const xl_shape *shape)
{
  const xl_norm_attrs how = norm_of(node);
  const xp_hlo_value mean = statistic(to, stats, 0), variance = statistic(to, stats, 1);
  const xp_hlo_value sum = xl_lower_add(to, variance, xl_lower_like(to, how.epsilon, variance));
  const xp_hlo_value inverse = xp_hlo_build_unary(to->body, XP_HLO_OP_RSQRT, sum);
  normalised out = {.inverse = xl_lower_along(to, inverse, shape, how.dims)};
  const xp_hlo_value wide = xl_lower_wide(to, x);
  out.x = xl_lower_subtract(to, wide, xl_lower_along(to, mean, shape, how.dims));
  out.x = xl_lower_multiply(to, out.x, out.inverse);
  return out;
}

/* Operands: x, statistics, and then weight and bias, or nothing. */
xp_hlo_value xl_lower_norm(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  xp_hlo_value y = normalise(to, node, operands[0], operands[1], &shape).x;
  if (node->operand_count == 4) {
    y = xl_lower_multiply(to, y, xl_lower_broadcast(to, xl_lower_wide(to, operands[2]), &shape));
    y = xl_lower_add(to, y, xl_lower_broadcast(to, xl_lower_wide(to, operands[3]), &shape));
  }
  return xl_lower_result(to, node, y);
}

/* With n for x normalised and h for the gradient times the weight: (h - mean of h - n (mean of h n)) times the inverse.
 * Operands: the gradient, x, statistics, and then the weight or nothing. */
xp_hlo_value xl_lower_norm_backward(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const int64_t dims = norm_of(node).dims;
  const normalised n = normalise(to, node, operands[1], operands[2], &shape);
  xp_hlo_value h = xl_lower_wide(to, operands[0]);
  if (node->operand_count == 4) {
    h = xl_lower_multiply(to, h, xl_lower_broadcast(to, xl_lower_wide(to, operands[3]), &shape));
  }
  const xp_hlo_value mean = mean_over(to, h, dims), with_n = mean_over(to, xl_lower_multiply(to, h, n.x), dims);
  const xp_hlo_value part = xl_lower_multiply(to, n.x, xl_lower_along(to, with_n, &shape, dims));
  h = xl_lower_subtract(to, xl_lower_subtract(to, h, xl_lower_along(to, mean, &shape, dims)), part);
  return xl_lower_result(to, node, xl_lower_multiply(to, h, n.inverse));
}

/* The gradient times x normalised, summed to the shape of the weight.  Operands: the gradient, x, statistics. */
xp_hlo_value xl_lower_norm_backward_weight(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(xl_node_operands(node)[0]);
  const normalised n = normalise(to, node, operands[1], operands[2], &shape);
  const xp_hlo_value product = xl_lower_multiply(to, xl_lower_wide(to, operands[0]), n.x);
  const size_t missing = shape.rank - node->rank;
  int64_t dims = 0;
  for (size_t i = 0; i < shape.rank; i++) {
    const bool is_summed = i < missing || xl_node_dims(node)[i - missing] == 1;
    dims |= (int64_t)is_summed << i;
  }
  const xp_hlo_value sum = xl_lower_over(to, product, XP_HLO_OP_ADD, 0, dims);
  return xl_lower_result(to, node, xp_hlo_build_reshape(to->body, sum, node->rank, xl_node_dims(node)));
}
