/* The runtime as the barrier of steps (xp_set_step_barrier). */
#ifndef XL_STEP_H
#define XL_STEP_H

/* From now on the end of a step is a barrier. */
void xl_steps_follow(void);

#endif
