/* Windows over all dimensions of an array. */
#ifndef XP_DEVICE_EVAL_WINDOW_H
#define XP_DEVICE_EVAL_WINDOW_H

#include "device/eval_patches.h"

/* Sets up a window that moves over `in` and gives one pixel for each element of `out`; false if they do not fit. */
bool xp_dev_window_prepare(xp_dev_patches *patches, const xp_hlo_shape *in, const xp_hlo_shape *out,
                           const xp_hlo_window *window);

#endif
