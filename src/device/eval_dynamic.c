/* dynamic-slice and dynamic-update-slice: where they start is known only when they run.
 *
 * Starts are clamped so that the slice lies inside of the array, as XLA has it.
 */
#include "device/eval_dynamic.h"

#include "base/map.h"
#include "device/eval_move.h"
#include "device/eval_ops.h"

int64_t xp_dev_index_at(const void *indices, xp_dev_type type, int64_t i)
{
  switch (type) {
  case XP_DEV_S8:
    return ((const int8_t *)indices)[i];
  case XP_DEV_S16:
    return ((const int16_t *)indices)[i];
  case XP_DEV_S32:
    return ((const int32_t *)indices)[i];
  case XP_DEV_S64:
    return ((const int64_t *)indices)[i];
  case XP_DEV_U8:
    return ((const uint8_t *)indices)[i];
  case XP_DEV_U16:
    return ((const uint16_t *)indices)[i];
  case XP_DEV_U32:
    return ((const uint32_t *)indices)[i];
  default: {
    uint64_t value = ((const uint64_t *)indices)[i];
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
  }
  }
}

bool xp_dev_type_is_index(xp_dev_type type)
{
  return type >= XP_DEV_S8 && type <= XP_DEV_U64;
}

typedef struct {
  xp_dev_move move;
  int64_t limits[XP_HLO_MAX_RANK], strides[XP_HLO_MAX_RANK]; /* of the array that is sliced */
  int rank;
  uint32_t first_index; /* operand */
} dynamic;

static int64_t start_of(const dynamic *d, const xp_dev_step *step, const xp_dev_frame *frame)
{
  int64_t first = 0;
  for (int i = 0; i < d->rank; i++) {
    bool is_vector = step->in_count == d->first_index + 1u; /* the older form: all starts in one array */
    xp_dev_leaf leaf = step->in[is_vector ? d->first_index : d->first_index + (uint32_t)i];
    int64_t at = xp_dev_index_at(xp_dev_at(frame, leaf), leaf.type, is_vector ? i : 0);
    at = at > d->limits[i] ? d->limits[i] : at;
    first += (at < 0 ? 0 : at) * d->strides[i];
  }
  return first;
}

static xp_status run_slice(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const dynamic *d = step->detail;
  const char *from = xp_dev_at(frame, step->in[0]);
  xp_dev_move_run(&d->move, xp_dev_at(frame, step->out[0]), from + start_of(d, step, frame) * (int64_t)d->move.size);
  return XP_OK;
}

static xp_status run_update(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const dynamic *d = step->detail;
  const void *from = xp_dev_at(frame, step->in[0]);
  char *to = xp_dev_at(frame, step->out[0]);
  if (to != from && step->out[0].count > 0) {
    memcpy(to, from, xp_dev_leaf_bytes(step->out[0]));
  }
  xp_dev_move_run(&d->move, to + start_of(d, step, frame) * (int64_t)d->move.size, xp_dev_at(frame, step->in[1]));
  return XP_OK;
}

/* Fits a part into a whole, with indices from operand `first_index` on; NULL if they do not fit. */
static dynamic *fit(xp_dev_context *context, const xp_dev_step *step, const xp_hlo_shape *whole,
                    const xp_hlo_shape *part, uint32_t first_index)
{
  dynamic *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  d->rank = whole->rank;
  d->first_index = first_index;
  d->move.rank = part->rank;
  d->move.size = xp_dev_type_sizes[step->out[0].type];
  bool is_vector = step->in_count == first_index + 1 && step->in[first_index].shape->rank == 1;
  if (part->rank != whole->rank || part->type != whole->type ||
      (is_vector ? step->in[first_index].count : step->in_count - first_index) != whole->rank) {
    return NULL;
  }
  for (uint32_t i = first_index; i < step->in_count; i++) {
    if (!xp_dev_type_is_index(step->in[i].type) || (!is_vector && step->in[i].count != 1)) {
      return NULL;
    }
  }
  xp_dev_strides(whole, d->strides);
  for (int i = 0; i < whole->rank; i++) {
    d->move.dims[i] = part->dims[i];
    d->limits[i] = whole->dims[i] - part->dims[i];
    if (d->limits[i] < 0) {
      return NULL;
    }
  }
  return d;
}

xp_status xp_dev_prepare_dynamic_slice(xp_dev_context *context, xp_dev_step *step)
{
  dynamic *d =
      step->in_count < 1 || step->out_count != 1 ? NULL : fit(context, step, step->in[0].shape, step->out[0].shape, 1);
  if (d == NULL) {
    return xp_dev_reject(context, "its starts or its shape do not fit its operand");
  }
  xp_dev_strides(step->out[0].shape, d->move.to);
  memcpy(d->move.from, d->strides, sizeof d->strides);
  xp_dev_move_simplify(&d->move);
  step->detail = d;
  step->run = run_slice;
  return XP_OK;
}

xp_status xp_dev_prepare_dynamic_update_slice(xp_dev_context *context, xp_dev_step *step)
{
  dynamic *d = step->in_count < 2 || step->out_count != 1 || !xp_hlo_shape_same(step->in[0].shape, step->out[0].shape)
                   ? NULL
                   : fit(context, step, step->out[0].shape, step->in[1].shape, 2);
  if (d == NULL) {
    return xp_dev_reject(context, "its starts or its update do not fit its operand");
  }
  xp_dev_strides(step->in[1].shape, d->move.from);
  memcpy(d->move.to, d->strides, sizeof d->strides);
  xp_dev_move_simplify(&d->move);
  step->detail = d;
  step->run = run_update;
  step->in_place = 0;
  return XP_OK;
}
