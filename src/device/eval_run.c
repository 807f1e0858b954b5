/* Running a plan: slots become pointers, then the steps run in order.  Nothing is allocated. */
#include "device/eval_plan.h"

static void *slot_pointer(const xp_dev_slot *slot, const void *const *inputs, void *const *outputs, char *memory)
{
  switch (slot->place) {
  case XP_DEV_IN_INPUT:
    return (void *)(uintptr_t)inputs[slot->number]; /* never written: results do not take the place of inputs */
  case XP_DEV_IN_OUTPUT:
    return outputs[slot->number];
  case XP_DEV_IN_CONSTANT:
    return (void *)(uintptr_t)slot->constant;
  default:
    return memory + slot->offset;
  }
}

static void open_frame(xp_dev_frame *frame, const void *const *inputs, void *const *outputs)
{
  const xp_dev_program *program = frame->program;
  for (uint32_t i = 0; i < program->slot_count; i++) {
    frame->slots[i] = slot_pointer(&program->slots[i], inputs, outputs, (char *)frame->slots);
  }
}

static void copy_results(const xp_dev_frame *frame)
{
  const xp_dev_program *program = frame->program;
  for (uint32_t i = 0; i < program->copy_count; i++) {
    void *to = frame->slots[program->copies[i].to];
    const void *from = frame->slots[program->copies[i].from];
    if (to != from) {
      memcpy(to, from, program->slots[program->copies[i].from].bytes);
    }
  }
}

xp_status xp_dev_program_run(const xp_dev_frame *caller, const xp_dev_program *program, const void *const *inputs,
                             void *const *outputs, void *memory)
{
  xp_dev_frame frame = {caller->plan, program, caller->run, memory};
  open_frame(&frame, inputs, outputs);
  for (uint32_t i = 0; i < program->step_count; i++) {
    xp_status status = program->steps[i].run(&program->steps[i], &frame);
    if (status != XP_OK) {
      return status;
    }
  }
  copy_results(&frame);
  return XP_OK;
}

/* The entry, with the callbacks around each step. */
static xp_status run_entry(const xp_dev_frame *frame, const xp_dev_run *run, xp_error *err)
{
  const xp_dev_program *program = frame->program;
  for (uint32_t i = 0; i < program->step_count; i++) {
    if (run->before != NULL && run->before(run->context, i) != 0) {
      return xp_fail(err, XP_ERR_CANCELLED, "the run was ended before step %u", i);
    }
    xp_status status = program->steps[i].run(&program->steps[i], frame);
    if (status != XP_OK) {
      return xp_fail(err, status, "step %u of the program failed", i);
    }
    if (run->after != NULL) {
      run->after(run->context, i);
    }
  }
  copy_results(frame);
  return XP_OK;
}

static bool are_there(const void *const *pointers, const xp_dev_value *value)
{
  for (uint32_t i = 0; i < value->count; i++) {
    if (pointers == NULL || (pointers[i] == NULL && xp_dev_leaf_bytes(value->leaves[i]) > 0)) {
      return false;
    }
  }
  return true;
}

xp_status xp_dev_plan_run(const xp_dev_plan *plan, const xp_dev_run *run, xp_error *err)
{
  const xp_dev_program *program = plan->entry;
  if (!are_there(run->inputs, &program->inputs) || !are_there((const void *const *)run->outputs, &program->root)) {
    return xp_fail(err, XP_ERR_USAGE, "an input or output of the program has no memory");
  }
  if (program->frame_bytes > 0 && (run->temp == NULL || (uintptr_t)run->temp % XP_DEV_ALIGN != 0)) {
    return xp_fail(err, XP_ERR_USAGE, "the temporary memory is missing, or not aligned to %d bytes", XP_DEV_ALIGN);
  }
  xp_dev_frame frame = {plan, program, run, run->temp};
  open_frame(&frame, run->inputs, run->outputs);
  return run_entry(&frame, run, err);
}
