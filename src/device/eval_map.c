/* map: a computation of scalars, for every element. */
#include "device/eval_ops.h"
#include "device/eval_scalar.h"

#define MAX_OPERANDS 16

static xp_status run_map(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const xp_dev_scalar *scalar = step->detail;
  void *memory = xp_dev_scratch(frame, step);
  int64_t size = xp_dev_type_sizes[step->out[0].type];
  char *out = xp_dev_at(frame, step->out[0]);
  xp_dev_scalar_open(scalar, memory);
  for (int64_t at = 0; at < step->out[0].count; at += XP_DEV_LANES) {
    int64_t n = step->out[0].count - at < XP_DEV_LANES ? step->out[0].count - at : XP_DEV_LANES;
    const void *in[MAX_OPERANDS];
    for (uint32_t i = 0; i < step->in_count; i++) {
      in[i] = (const char *)xp_dev_at(frame, step->in[i]) + at * xp_dev_type_sizes[step->in[i].type];
    }
    xp_dev_scalar_run(scalar, memory, in, n);
    memcpy(out + at * size, xp_dev_scalar_result(scalar, memory, 0), (size_t)(n * size));
  }
  return XP_OK;
}

xp_status xp_dev_prepare_map(xp_dev_context *context, xp_dev_step *step)
{
  const xp_dev_scalar *scalar;
  xp_dev_type types[MAX_OPERANDS];
  if (step->in_count > MAX_OPERANDS || step->out_count != 1 || context->instruction->call_count != 1) {
    return xp_dev_reject(context, "it has a wrong number of operands");
  }
  for (uint32_t i = 0; i < step->in_count; i++) {
    types[i] = step->in[i].type;
    if (!xp_hlo_shape_same_dims(step->in[i].shape, step->out[0].shape)) {
      return xp_dev_reject(context, "its operands have different shapes");
    }
  }
  xp_status status = xp_dev_scalar_prepare(context, context->instruction->calls[0], types, step->in_count,
                                           &step->out[0].type, 1, &scalar);
  if (status != XP_OK) {
    return status;
  }
  step->detail = scalar;
  step->run = run_map;
  step->scratch_bytes = xp_dev_scalar_bytes(scalar);
  step->flops = (double)scalar->op_count * (double)step->out[0].count;
  return XP_OK;
}
