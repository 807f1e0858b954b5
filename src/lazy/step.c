/* The end of a step is a barrier, which also marks the step for the loader (lazy/loader.c). */
#include "lazy/step.h"

#include <inttypes.h>
#include <stdio.h>

#include "lazy/barrier.h"

/* An error at the end of a step names the step, and the line where it begins. */
static xp_status barrier_of(const xp_open_step *step, xp_error *err)
{
  char name[128];
  const int len = step->len < 80 ? (int)step->len : 80;
  snprintf(name, sizeof name, "XP_STEP %.*s %" PRId64, len, step->name, step->number);
  return xl_tell(err, xl_barrier_step("end of a step (XP_STEP)", step->place, err), name, step->place);
}

/* A block (XP_STEP) takes no error: it stays with the thread then, until something else reports it. */
static xp_status wait_for_step(void *context, xp_error *err)
{
  (void)context;
  xp_error own = {0};
  xp_open_step step = {.name = ""};
  xp_step_current(&step);
  xl_barrier_lock();
  xp_error *first = &xl_rt.thread->error;
  if (first->status == XP_OK && (xl_rt.device == NULL || !xl_rt.device->is_lost) && barrier_of(&step, &own) != XP_OK) {
    *first = own;
  }
  const xp_status status = err != NULL ? xl_error(err) : first->status;
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
