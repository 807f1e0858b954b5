/* Instructions of random numbers: bits of the generator Threefry, whose key is the seed, made into numbers.
 *
 * The bits are a vector, whatever the shape is, so that a seed gives the same numbers for all shapes of a size.  XLA's
 * devices and ours make the same bits; what is computed from them by exact arithmetic is the same as well, and normal
 * numbers differ by the rounding of log, sqrt and cos.
 */
#include "lazy/lower.h"

/* Random bits of a type from a seed of type i64. */
static xp_hlo_value bits_of(xl_lowering *to, xp_hlo_value seed, xp_hlo_type type, size_t rank, const int64_t *dims)
{
  const int64_t one = 1;
  const xp_hlo_value key =
      xp_hlo_build_reshape(to->body, xp_hlo_build_bitcast_convert(to->body, seed, XP_HLO_U64), 1, &one);
  const xp_hlo_value counter = xp_hlo_build_reshape(to->body, xp_hlo_build_scalar(to->body, XP_HLO_U64, 0), 1, &one);
  const xp_hlo_value state = xp_hlo_build_concatenate(to->body, (const xp_hlo_value[]){key, counter}, 2, 0);
  const xp_hlo_shape shape = xp_hlo_shape_array(type, rank, dims);
  const xp_hlo_value both = xp_hlo_build_random_bits(to->body, XP_HLO_RNG_THREE_FRY, state, &shape);
  return xp_hlo_build_element(to->body, both, 1);
}

/* A number for every element of x. */
static xp_hlo_value number_for(xl_lowering *to, xp_hlo_value x, double value)
{
  const xp_hlo_shape shape = *xp_hlo_value_shape(to->body, x);
  const xp_hlo_value number = xp_hlo_build_scalar(to->body, shape.type, value);
  return xp_hlo_build_broadcast(to->body, number, (size_t)shape.rank, shape.dims, NULL);
}

static xp_hlo_value with_number(xl_lowering *to, xp_hlo_opcode opcode, xp_hlo_value x, double value)
{
  return xp_hlo_build_binary(to->body, opcode, x, number_for(to, x, value));
}

/* f32 in [0, 1): multiples of 2^-digits, all of them as likely. */
static xp_hlo_value uniform(xl_lowering *to, xp_hlo_value seed, int digits, size_t rank, const int64_t *dims)
{
  const xp_hlo_value bits = bits_of(to, seed, XP_HLO_U32, rank, dims);
  const xp_hlo_value upper = with_number(to, XP_HLO_OP_SHIFT_RIGHT_LOGICAL, bits, 32 - digits);
  const xp_hlo_value whole = xp_hlo_build_convert(to->body, upper, XP_HLO_F32);
  return with_number(to, XP_HLO_OP_MULTIPLY, whole, 1.0 / (double)(1 << digits));
}

/* A vector in the type and shape of a node. */
static xp_hlo_value finish(xl_lowering *to, const xl_node *node, xp_hlo_value x)
{
  x = xl_lower_as(to, x, xl_hlo_type((xl_type)node->type));
  return xp_hlo_build_reshape(to->body, x, node->rank, xl_node_dims(node));
}

/* Arrays without elements need no generator; true if that is one. */
static bool lower_empty(xl_lowering *to, const xl_node *node, xp_hlo_value *result)
{
  const xl_shape shape = xl_node_shape(node);
  if (xl_shape_elements(&shape) > 0) {
    return false;
  }
  *result = xl_lower_filled(to, 0, xl_hlo_type((xl_type)node->type), &shape);
  return true;
}

static int64_t elements_of(const xl_node *node)
{
  const xl_shape shape = xl_node_shape(node);
  return xl_shape_elements(&shape);
}

/* As many digits as the type has, so that nothing is rounded up to 1. */
xp_hlo_value xl_lower_rand(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xp_hlo_value result;
  const int64_t count = elements_of(node);
  return lower_empty(to, node, &result)
             ? result
             : finish(to, node, uniform(to, operands[0], node->type == XL_BF16 ? 8 : 24, 1, &count));
}

static xp_hlo_value row(xl_lowering *to, xp_hlo_value x, int64_t i, int64_t count)
{
  const xp_hlo_slice_dim part[] = {{i, i + 1, 1}, {0, count, 1}};
  return xp_hlo_build_reshape(to->body, xp_hlo_build_slice(to->body, x, part), 1, &count);
}

/* Box and Muller: two uniform numbers are the radius and the angle of two normal ones. */
xp_hlo_value xl_lower_randn(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xp_hlo_value result;
  if (lower_empty(to, node, &result)) {
    return result;
  }
  const int64_t count = elements_of(node), half = (count + 1) / 2, dims[] = {2, half};
  const xp_hlo_value u = uniform(to, operands[0], 24, 2, dims);
  const xp_hlo_value first = row(to, u, 0, half), second = row(to, u, 1, half);
  const xp_hlo_value above_0 = xp_hlo_build_binary(to->body, XP_HLO_OP_SUBTRACT, number_for(to, first, 1), first);
  const xp_hlo_value logs = xp_hlo_build_unary(to->body, XP_HLO_OP_LOG, above_0);
  const xp_hlo_value radius =
      xp_hlo_build_unary(to->body, XP_HLO_OP_SQRT, with_number(to, XP_HLO_OP_MULTIPLY, logs, -2));
  const xp_hlo_value angle = with_number(to, XP_HLO_OP_MULTIPLY, second, 6.283185307179586);
  const xp_hlo_value pair[] = {
      xp_hlo_build_binary(to->body, XP_HLO_OP_MULTIPLY, radius, xp_hlo_build_unary(to->body, XP_HLO_OP_COSINE, angle)),
      xp_hlo_build_binary(to->body, XP_HLO_OP_MULTIPLY, radius, xp_hlo_build_unary(to->body, XP_HLO_OP_SINE, angle))};
  const xp_hlo_slice_dim wanted = {0, count, 1};
  const xp_hlo_value all = xp_hlo_build_concatenate(to->body, pair, 2, 0);
  return finish(to, node, xp_hlo_build_slice(to->body, all, &wanted));
}

/* Operands: seed, the least number, how many there are.  The rest of 64 bits: no number is noticeably more likely. */
xp_hlo_value xl_lower_randint(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xp_hlo_value result;
  if (lower_empty(to, node, &result)) {
    return result;
  }
  const int64_t count = elements_of(node);
  const xl_shape shape = XL_SHAPE(count);
  const xp_hlo_value bits = bits_of(to, operands[0], XP_HLO_U64, 1, &count);
  const xp_hlo_value range = xl_lower_broadcast(to, xl_lower_as(to, operands[2], XP_HLO_U64), &shape);
  const xp_hlo_value rest = xp_hlo_build_binary(to->body, XP_HLO_OP_REMAINDER, bits, range);
  const xp_hlo_value least = xl_lower_broadcast(to, operands[1], &shape);
  return finish(to, node, xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, xl_lower_as(to, rest, XP_HLO_S64), least));
}

/* Operands: seed, the probability to stay. */
xp_hlo_value xl_lower_dropout_mask(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  xp_hlo_value result;
  if (lower_empty(to, node, &result)) {
    return result;
  }
  const int64_t count = elements_of(node);
  const xl_shape shape = XL_SHAPE(count);
  const xp_hlo_value u = uniform(to, operands[0], 24, 1, &count);
  const xp_hlo_value keep = xl_lower_broadcast(to, operands[1], &shape);
  const xp_hlo_value stays = xp_hlo_build_compare(to->body, XP_HLO_COMPARE_LT, u, keep);
  const xp_hlo_value scale = xp_hlo_build_binary(to->body, XP_HLO_OP_DIVIDE, number_for(to, u, 1), keep);
  return finish(to, node, xp_hlo_build_select(to->body, stays, scale, number_for(to, u, 0)));
}
