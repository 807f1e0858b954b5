/* Instructions of the negative log likelihood.
 *
 * A target of -100 does not count, as in torch.  One that is no class makes the loss NaN: torch raises an error, which
 * a device can't, and a wrong target must not go unnoticed.
 */
#include "lazy/lower_layers.h"

#include <math.h>

#include "lazy/op_layers.h"

enum { IGNORED = -100 };

/* All in the shape [N, C, ..] of x, but what counts, [N, ..]. */
typedef struct {
  xl_shape shape;
  int64_t classes; /* the mask of their dimension */
  xp_hlo_value target, counts, is_class;
} targets;

static targets read_targets(xl_lowering *to, xp_hlo_value target, const xl_shape *shape)
{
  targets t = {.shape = *shape, .classes = shape->rank > 1 ? 1 << 1 : 1 << 0, .target = target};
  const xp_hlo_shape each = *xp_hlo_value_shape(to->body, target);
  const xp_hlo_shape all = xp_hlo_shape_array(each.type, shape->rank, shape->dims);
  const xp_hlo_value ignored =
      xp_hlo_build_broadcast(to->body, xp_hlo_build_integer(to->body, each.type, IGNORED), each.rank, each.dims, NULL);
  const xp_hlo_value number = xp_hlo_build_iota(to->body, &all, shape->rank > 1 ? 1 : 0);
  t.counts = xp_hlo_build_compare(to->body, XP_HLO_COMPARE_NE, target, ignored);
  t.is_class = xp_hlo_build_compare(to->body, XP_HLO_COMPARE_EQ, number, xl_lower_along(to, target, shape, t.classes));
  return t;
}

/* How many targets count, as f32. */
static xp_hlo_value count_of(xl_lowering *to, const targets *t)
{
  const xp_hlo_value ones = xp_hlo_build_convert(to->body, t->counts, XP_HLO_F32);
  return xl_lower_over(to, ones, XP_HLO_OP_ADD, 0, ((INT64_C(1) << t->shape.rank) - 1) >> 1);
}

/* 0 where the target is a class or does not count, NaN elsewhere, [N, ..]. */
static xp_hlo_value nan_if_wrong(xl_lowering *to, const targets *t)
{
  const uint32_t either = xl_lower_combiner(to, XP_HLO_OP_OR, XP_HLO_PRED);
  const xp_hlo_value no = xp_hlo_build_scalar(to->body, XP_HLO_PRED, 0);
  const int64_t dim = t->shape.rank > 1 ? 1 : 0;
  const xp_hlo_value is_known = xp_hlo_build_reduce(to->body, &t->is_class, &no, 1, &dim, 1, either);
  const xp_hlo_value is_ignored = xp_hlo_build_unary(to->body, XP_HLO_OP_NOT, t->counts);
  const xp_hlo_value is_fine = xp_hlo_build_binary(to->body, XP_HLO_OP_OR, is_known, is_ignored);
  const xp_hlo_value zero = xl_lower_like(to, 0, is_fine);
  return xp_hlo_build_select(to->body, is_fine, zero, xl_lower_like(to, NAN, is_fine));
}

xp_hlo_value xl_lower_nll_loss(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(xl_node_operands(node)[0]);
  const targets t = read_targets(to, operands[1], &shape);
  const xp_hlo_value x = xl_lower_wide(to, operands[0]);
  const xp_hlo_value chosen = xp_hlo_build_select(to->body, t.is_class, x, xl_lower_like(to, 0, x));
  const xp_hlo_value each = xl_lower_over(to, chosen, XP_HLO_OP_ADD, 0, t.classes);
  const xp_hlo_value checked = xl_lower_add(to, each, nan_if_wrong(to, &t));
  const xp_hlo_value sum = xl_lower_over(to, checked, XP_HLO_OP_ADD, 0, ((INT64_C(1) << shape.rank) - 1) >> 1);
  const xp_hlo_value mean = xl_lower_divide(to, sum, count_of(to, &t));
  return xl_lower_result(to, node, xp_hlo_build_unary(to->body, XP_HLO_OP_NEGATE, mean));
}

/* Operands: the gradient, one value, and the target. */
xp_hlo_value xl_lower_nll_loss_backward(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_shape shape = xl_node_shape(node);
  const targets t = read_targets(to, operands[1], &shape);
  const xp_hlo_value g = xp_hlo_build_unary(to->body, XP_HLO_OP_NEGATE, xl_lower_wide(to, operands[0]));
  const xp_hlo_value each = xl_lower_broadcast(to, xl_lower_divide(to, g, count_of(to, &t)), &shape);
  const xp_hlo_value chosen = xp_hlo_build_select(to->body, t.is_class, each, xl_lower_like(to, 0, each));
  return xl_lower_result(to, node, chosen);
}
