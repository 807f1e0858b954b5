/* Barriers: of a step, of some tensors, and of one whose value is asked for. */
#ifndef XL_BARRIER_H
#define XL_BARRIER_H

#include "lazy/run.h"
#include "lazy/runtime.h"

/* Takes the lock for a barrier, which errors name by its entry, and measures how long that took. */
void xl_barrier_lock(const xl_entry *entry, const xl_location *place);

/* The barrier of a step on the device in use; the first error of the thread that was not reported comes before it (all
 * functions here leave such a one with the thread, see xl_tell).  Under the lock; waits for nothing. */
xp_status xl_barrier_step(const char *cause, const xl_location *place, xp_error *err);

/* Launches the computation of some tensors of one device, if they are not arrays yet.  Under the lock. */
xp_status xl_barrier_tensors(xl_var *const *tensors, size_t count, const char *cause, const xl_location *place,
                             xp_error *err);

/* The array of a tensor, computed if it has to be, with a reference; its contents may come later.  NULL with an error.
 * Under the lock. */
xl_data *xl_barrier_value(xl_var *tensor, const char *cause, const xl_location *place, xp_error *err);

/* Waits until no more than the allowed number of executions is in flight.  Outside of the lock. */
void xl_barrier_limit(void);

/* Copies an array to the host.  Outside of the lock: it waits for the device. */
xp_status xl_barrier_download(const xl_data *data, void *target, size_t bytes, xp_error *err);

/* Computes and copies the value of a tensor, for a function with that entry; the first error of the thread comes before
 * it.  Outside of the lock. */
xp_status xl_barrier_read(const xl_entry *entry, const xl_location *at, xl_tensor tensor, void *target, size_t bytes,
                          xp_error *err);

/* Gives memory back. */
void xl_barriers_end(void);

#endif
