/* Arrays out of nothing: iota, the size of a dimension, the numbers of the one replica that there is. */
#include "device/eval_element.h"
#include "device/eval_ops.h"

typedef struct {
  int64_t before, extent, after; /* products of the extents around the counted dimension, and that one */
  xp_dev_kernel convert;         /* from s64 */
} iota;

static xp_status run_iota(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const iota *d = step->detail;
  size_t size = xp_dev_type_sizes[step->out[0].type], block = (size_t)(d->extent * d->after) * size;
  char *out = xp_dev_at(frame, step->out[0]);
  for (int64_t i = 0; i < d->extent && d->before > 0 && d->after > 0; i++) {
    const void *in[1] = {&i};
    uint64_t value;
    d->convert(&value, in, 1);
    xp_dev_fill(out + (size_t)(i * d->after) * size, &value, size, d->after);
  }
  for (int64_t b = 1; b < d->before; b++) {
    memcpy(out + (size_t)b * block, out, block);
  }
  return XP_OK;
}

xp_status xp_dev_prepare_iota(xp_dev_context *context, xp_dev_step *step)
{
  xp_hlo_list dimensions = context->instruction->dimensions;
  const xp_hlo_shape *shape = step->out_count == 1 ? step->out[0].shape : NULL;
  if (shape == NULL || dimensions.count != 1 || dimensions.values[0] < 0 || dimensions.values[0] >= shape->rank) {
    return xp_dev_reject(context, "its dimension does not fit its shape");
  }
  iota *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  *d = (iota){1, shape->dims[dimensions.values[0]], 1, context->plan->kernels->convert[XP_DEV_S64][step->out[0].type]};
  for (int i = 0; i < shape->rank; i++) {
    int64_t *product = i < dimensions.values[0] ? &d->before : &d->after;
    *product *= i == dimensions.values[0] ? 1 : shape->dims[i];
  }
  if (step->out[0].count == 0) { /* extents of 0 hide products that do not fit */
    *d = (iota){0, 0, 0, d->convert};
  }
  step->detail = d;
  step->run = run_iota;
  return XP_OK;
}

static xp_status run_number(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const int32_t *value = step->detail;
  memcpy(xp_dev_at(frame, step->out[0]), value, sizeof *value);
  return XP_OK;
}

static xp_status prepare_number(xp_dev_context *context, xp_dev_step *step, int32_t value)
{
  bool is_number = step->out_count == 1 && step->out[0].count == 1 && xp_dev_type_sizes[step->out[0].type] == 4;
  if (!is_number) {
    return xp_dev_reject(context, "its result is not a number of 32 bits");
  }
  int32_t *number = xp_arena_alloc(context->plan->arena, sizeof *number);
  *number = value;
  step->detail = number;
  step->run = run_number;
  return XP_OK;
}

xp_status xp_dev_prepare_dimension_size(xp_dev_context *context, xp_dev_step *step)
{
  xp_hlo_list dimensions = context->instruction->dimensions;
  if (step->in_count != 1 || dimensions.count != 1 || dimensions.values[0] < 0 ||
      dimensions.values[0] >= step->in[0].shape->rank || step->in[0].shape->dims[dimensions.values[0]] > INT32_MAX) {
    return xp_dev_reject(context, "its dimension does not fit its operand");
  }
  int32_t size = (int32_t)step->in[0].shape->dims[dimensions.values[0]];
  step->in_count = 0; /* the operand's values are not read */
  return prepare_number(context, step, size);
}

xp_status xp_dev_prepare_zero(xp_dev_context *context, xp_dev_step *step)
{
  return prepare_number(context, step, 0);
}
