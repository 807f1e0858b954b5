/* The seeds of random numbers: a chain that starts anew from the host's seed at every step, so that programs are equal
 * whatever the seed is. */
#ifndef XL_RANDOM_H
#define XL_RANDOM_H

#include "lazy/apply.h"

/* The seed of the next random operation, an i64; the one after it is computed from it. */
xl_var *xl_random_seed(xl_device *device);

/* The host's seed for the next step. */
void xl_random_step(xl_device *device);

/* The next seed comes from the host, as the one that the device would have computed: after a barrier inside a step,
 * programs do not begin with the whole chain of the step. */
void xl_random_forget(xl_device *device);

#endif
