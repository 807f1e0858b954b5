/* custom-call: those that XLA's frontends write into programs and that change no values.
 *
 * Annotations (shardings, barriers of layouts) give their operands back.  Any other target is refused with its name.
 */
#include "device/eval_ops.h"

static bool is_annotation(xp_str target)
{
  static const char *const names[] = {
      "Sharding",         "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
      "LayoutConstraint", "MoveToHost",           "MoveToDevice"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (xp_str_is(target, names[i])) {
      return true;
    }
  }
  return false;
}

static xp_status run_copies(const xp_dev_step *step, const xp_dev_frame *frame)
{
  for (uint32_t i = 0; i < step->out_count; i++) {
    const void *from = xp_dev_at(frame, step->in[i]);
    void *to = xp_dev_at(frame, step->out[i]);
    if (to != from && step->out[i].count > 0) {
      memcpy(to, from, xp_dev_leaf_bytes(step->out[i]));
    }
  }
  return XP_OK;
}

xp_status xp_dev_prepare_custom_call(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  xp_str target = instruction->custom_call != NULL ? instruction->custom_call->target : xp_str_c("");
  if (!is_annotation(target)) {
    return xp_fail(context->err, XP_ERR_USAGE,
                   "the target \"%.*s\" of custom-call %%%.*s is not supported by this device", XP_STR_ARG(target),
                   XP_STR_ARG(instruction->name));
  }
  bool fits = step->in_count == step->out_count;
  for (uint32_t i = 0; fits && i < step->in_count; i++) {
    fits = xp_hlo_shape_same(step->in[i].shape, step->out[i].shape);
  }
  step->run = run_copies;
  return fits ? XP_OK : xp_dev_reject(context, "its shape is not that of its operands");
}
