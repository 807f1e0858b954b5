/* Operations that only move elements: broadcast, transpose, reverse, slice, concatenate, pad.
 *
 * Each is a list of strided copies whose strides are worked out while planning: a transpose permutes the strides of its
 * operand, a broadcast has strides of 0, a reverse negative ones, a slice starts further on.
 */
#include "base/map.h"
#include "device/eval_element.h"
#include "device/eval_move.h"
#include "device/eval_ops.h"

typedef struct {
  xp_dev_move move;
  uint32_t operand;
  int64_t to_first, from_first; /* elements before the first one moved */
} piece;

typedef struct {
  piece *pieces;
  uint32_t count;
  uint32_t filled_with; /* operand whose element fills the result first; XP_NONE: none */
} pieces;

static xp_status run_pieces(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const pieces *p = step->detail;
  size_t size = xp_dev_type_sizes[step->out[0].type];
  char *to = xp_dev_at(frame, step->out[0]);
  if (p->filled_with != XP_NONE) {
    xp_dev_fill(to, xp_dev_at(frame, step->in[p->filled_with]), size, step->out[0].count);
  }
  for (uint32_t i = 0; i < p->count; i++) {
    const piece *c = &p->pieces[i];
    const char *from = xp_dev_at(frame, step->in[c->operand]);
    xp_dev_move_run(&c->move, to + c->to_first * (int64_t)size, from + c->from_first * (int64_t)size);
  }
  return XP_OK;
}

/* Room for `count` pieces; each starts as the whole of an operand of the result's rank, moved to the same place. */
static pieces *begin(xp_dev_context *context, xp_dev_step *step, uint32_t count)
{
  pieces *p = xp_arena_alloc(context->plan->arena, sizeof *p);
  p->pieces = xp_arena_array(context->plan->arena, count, sizeof *p->pieces);
  p->count = count;
  p->filled_with = XP_NONE;
  for (uint32_t i = 0; i < count; i++) {
    xp_dev_move *m = &p->pieces[i].move;
    m->rank = step->out[0].shape->rank;
    m->size = xp_dev_type_sizes[step->out[0].type];
    memcpy(m->dims, step->out[0].shape->dims, sizeof m->dims);
    xp_dev_strides(step->out[0].shape, m->to);
    xp_dev_strides(step->in[i].shape, m->from);
    p->pieces[i].operand = i;
  }
  step->detail = p;
  step->run = run_pieces;
  return p;
}

static void finish(pieces *p)
{
  for (uint32_t i = 0; i < p->count; i++) {
    xp_dev_move_simplify(&p->pieces[i].move);
  }
}

/* One operand (or `operands`) of the result's type. */
static bool is_moving(const xp_dev_context *context, const xp_dev_step *step, uint32_t operands)
{
  return step->in_count == operands && context->instruction->operand_count == operands && step->out_count == 1 &&
         step->in[0].type == step->out[0].type && xp_hlo_shape_is_array(step->in[0].shape);
}

xp_status xp_dev_prepare_broadcast(xp_dev_context *context, xp_dev_step *step)
{
  xp_hlo_list dimensions = context->instruction->dimensions;
  if (!is_moving(context, step, 1) || dimensions.count != step->in[0].shape->rank) {
    return xp_dev_reject(context, "its dimensions do not fit its operand");
  }
  int64_t strides[XP_HLO_MAX_RANK];
  pieces *p = begin(context, step, 1);
  xp_dev_move *m = &p->pieces[0].move;
  memset(m->from, 0, sizeof m->from);
  xp_dev_strides(step->in[0].shape, strides);
  for (size_t i = 0; i < dimensions.count; i++) {
    int64_t d = dimensions.values[i];
    if (d < 0 || d >= m->rank || m->dims[d] != step->in[0].shape->dims[i] || m->from[d] != 0) {
      return xp_dev_reject(context, "its dimensions do not fit its operand");
    }
    m->from[d] = strides[i];
  }
  finish(p);
  return XP_OK;
}

xp_status xp_dev_prepare_transpose(xp_dev_context *context, xp_dev_step *step)
{
  xp_hlo_list dimensions = context->instruction->dimensions;
  if (!is_moving(context, step, 1) || dimensions.count != step->in[0].shape->rank ||
      dimensions.count != step->out[0].shape->rank) {
    return xp_dev_reject(context, "its dimensions do not fit its operand");
  }
  int64_t strides[XP_HLO_MAX_RANK];
  unsigned seen = 0;
  pieces *p = begin(context, step, 1);
  xp_dev_strides(step->in[0].shape, strides);
  for (size_t i = 0; i < dimensions.count; i++) {
    int64_t d = dimensions.values[i];
    if (d < 0 || d >= step->in[0].shape->rank || (seen >> d & 1) ||
        step->in[0].shape->dims[d] != step->out[0].shape->dims[i]) {
      return xp_dev_reject(context, "its dimensions do not fit its operand");
    }
    seen |= 1u << d;
    p->pieces[0].move.from[i] = strides[d];
  }
  finish(p);
  return XP_OK;
}

xp_status xp_dev_prepare_reverse(xp_dev_context *context, xp_dev_step *step)
{
  xp_hlo_list dimensions = context->instruction->dimensions;
  if (!is_moving(context, step, 1) || !xp_hlo_shape_same(step->in[0].shape, step->out[0].shape)) {
    return xp_dev_reject(context, "its shape is not that of its operand");
  }
  pieces *p = begin(context, step, 1);
  piece *c = &p->pieces[0];
  for (size_t i = 0; i < dimensions.count; i++) {
    int64_t d = dimensions.values[i];
    if (d < 0 || d >= c->move.rank || c->move.from[d] < 0) {
      return xp_dev_reject(context, "its dimensions do not fit its operand");
    }
    c->from_first += (c->move.dims[d] > 0 ? c->move.dims[d] - 1 : 0) * c->move.from[d];
    c->move.from[d] = -c->move.from[d];
  }
  finish(p);
  return XP_OK;
}

xp_status xp_dev_prepare_slice(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  if (!is_moving(context, step, 1) || instruction->slice_count != step->in[0].shape->rank ||
      instruction->slice_count != step->out[0].shape->rank) {
    return xp_dev_reject(context, "its ranges do not fit its operand");
  }
  pieces *p = begin(context, step, 1);
  piece *c = &p->pieces[0];
  for (int d = 0; d < c->move.rank; d++) {
    xp_hlo_slice_dim s = instruction->slice[d];
    if (s.start < 0 || s.limit < s.start || s.limit > step->in[0].shape->dims[d] || s.stride < 1 ||
        c->move.dims[d] != (s.limit - s.start) / s.stride + ((s.limit - s.start) % s.stride != 0)) {
      return xp_dev_reject(context, "its ranges do not fit its operand");
    }
    c->from_first += s.start * c->move.from[d];
    c->move.from[d] *= c->move.dims[d] > 1 ? s.stride : 1;
  }
  finish(p);
  return XP_OK;
}

xp_status xp_dev_prepare_concatenate(xp_dev_context *context, xp_dev_step *step)
{
  xp_hlo_list dimensions = context->instruction->dimensions;
  uint32_t count = step->in_count;
  int rank = step->out_count == 1 ? step->out[0].shape->rank : 0;
  if (count == 0 || dimensions.count != 1 || dimensions.values[0] < 0 || dimensions.values[0] >= rank) {
    return xp_dev_reject(context, "its dimension does not fit its operands");
  }
  int64_t along = dimensions.values[0], at = 0;
  pieces *p = begin(context, step, count);
  for (uint32_t i = 0; i < count; i++) {
    const xp_hlo_shape *shape = step->in[i].shape;
    piece *c = &p->pieces[i];
    for (int d = 0; d < rank; d++) {
      if (shape->rank != rank || step->in[i].type != step->out[0].type ||
          (d != along && shape->dims[d] != c->move.dims[d]) || shape->dims[along] > c->move.dims[along] - at) {
        return xp_dev_reject(context, "its operands do not fit its shape");
      }
    }
    c->move.dims[along] = shape->dims[along];
    c->to_first = at * c->move.to[along];
    at += shape->dims[along];
  }
  if (at != step->out[0].shape->dims[along]) {
    return xp_dev_reject(context, "its operands do not fit its shape");
  }
  finish(p);
  return XP_OK;
}

/* One dimension of a pad: which elements stay, and where the first of them goes.  False if the extents contradict. */
static bool pad_dim(piece *c, int d, xp_hlo_pad_dim pad, int64_t extent)
{
  int64_t step = pad.interior + 1, spread, total;
  if (pad.interior < 0 || __builtin_mul_overflow(extent > 0 ? extent - 1 : 0, step, &spread) ||
      __builtin_add_overflow(spread + (extent > 0), pad.low, &total) ||
      __builtin_add_overflow(total, pad.high, &total) || total != c->move.dims[d]) {
    return false;
  }
  /* Element i goes to low + i * step; those at or above 0 and below the result's extent stay. */
  int64_t first = pad.low < 0 ? (-pad.low + step - 1) / step : 0;
  int64_t end = total - pad.low <= 0 ? 0 : (total - pad.low - 1) / step + 1;
  end = end < extent ? end : extent;
  c->move.dims[d] = end > first ? end - first : 0;
  c->from_first += first * c->move.from[d];
  c->to_first += (pad.low + first * step) * c->move.to[d];
  c->move.to[d] *= c->move.dims[d] > 1 ? step : 1;
  return true;
}

xp_status xp_dev_prepare_pad(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  if (!is_moving(context, step, 2) || instruction->padding_count != step->in[0].shape->rank ||
      instruction->padding_count != step->out[0].shape->rank || step->in[1].type != step->in[0].type ||
      step->in[1].count != 1) {
    return xp_dev_reject(context, "its padding does not fit its operands");
  }
  pieces *p = begin(context, step, 1);
  for (int d = 0; d < p->pieces[0].move.rank; d++) {
    int64_t low = instruction->padding[d].low, high = instruction->padding[d].high;
    if (low == INT64_MIN || high == INT64_MIN || instruction->padding[d].interior == INT64_MAX ||
        !pad_dim(&p->pieces[0], d, instruction->padding[d], step->in[0].shape->dims[d])) {
      return xp_dev_reject(context, "its padding does not fit its operands");
    }
  }
  p->filled_with = 1;
  finish(p);
  return XP_OK;
}
