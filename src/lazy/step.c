/* The end of a step is a barrier, which also marks the step for the loader (lazy/loader.c). */
#include "lazy/step.h"

#include <inttypes.h>
#include <stdio.h>

#include "lazy/barrier.h"

/* A block (XP_STEP) takes no error: it stays with the thread then, until something else reports it.  One of the barrier
 * names the step, and the line where it begins. */
static xp_status wait_for_step(void *context, xp_error *err)
{
  (void)context;
  xp_error of_barrier = {0};
  xp_open_step step = {.name = ""};
  char name[128];
  xp_step_current(&step);
  snprintf(name, sizeof name, "XP_STEP %.*s %" PRId64, step.len < 80 ? (int)step.len : 80, step.name, step.number);
  xl_barrier_lock(NULL, step.place);
  xl_rt.ending_step = name;
  if (!xl_failed() && (xl_rt.device == NULL || !xl_rt.device->is_lost) &&
      xl_barrier_step("end of a step (XP_STEP)", step.place, &of_barrier) != XP_OK) {
    xl_refuse_with(&of_barrier);
  }
  const xp_status status = err != NULL ? xl_error(err) : xl_kept();
  xl_rt.thread->is_step_marked = true;
  xl_unlock();
  xl_barrier_limit();
  return status;
}

void xl_steps_follow(void)
{
  const xp_step_barrier barrier = {wait_for_step, NULL};
  xp_set_step_barrier(&barrier);
}
