/* The end of a step is a barrier, which also marks the step for the loader (lazy/loader.c). */
#include "lazy/step.h"

#include "lazy/barrier.h"

static xp_status wait_for_step(void *context, xp_error *err)
{
  (void)context;
  xp_error own = {0};
  err = err != NULL ? err : &own;
  xl_lock();
  xp_status status = xl_rt.thread->error.status != XP_OK ? xl_error(err) : XP_OK;
  if (status == XP_OK && (xl_rt.device == NULL || !xl_rt.device->is_lost)) {
    status = xl_barrier_step("end of a step (XP_STEP)", NULL, err);
  }
  xl_rt.thread->is_step_marked = true;
  xl_unlock();
  return status;
}

void xl_steps_follow(void)
{
  const xp_step_barrier barrier = {wait_for_step, NULL};
  xp_set_step_barrier(&barrier);
}
