/* Windows over all dimensions of an array. */
#ifndef XP_DEVICE_EVAL_WINDOW_H
#define XP_DEVICE_EVAL_WINDOW_H

#include "device/eval_patches.h"
#include "device/eval_scalar.h"

/* Sets up a window that moves over `in` and gives one pixel for each element of `out`; false if they do not fit. */
bool xp_dev_window_prepare(xp_dev_patches *patches, const xp_hlo_shape *in, const xp_hlo_shape *out,
                           const xp_hlo_window *window);

/* True if the window is one element wide here, and goes from each to the next. */
bool xp_dev_window_is_still(const xp_dev_spatial *dim);

/* The pixels of one dimension that have an element under a position of the window, and those elements: `count` pairs
 * from `at` and `from` on, steps apart. */
typedef struct {
  int64_t at, from, count, at_step, from_step;
} xp_dev_reach;

xp_dev_reach xp_dev_window_reach(const xp_dev_spatial *dim, int64_t position);

/* A reduce-window whose computation is one of the usual operations: fills in the step, or returns false if it is more
 * (eval_window_pass.c). */
bool xp_dev_prepare_window_passes(xp_dev_context *context, xp_dev_step *step, const xp_dev_patches *window,
                                  const xp_dev_scalar *scalar);

/* A select-and-scatter that compares and adds, likewise (eval_select_rows.c). */
bool xp_dev_prepare_select_rows(xp_dev_context *context, xp_dev_step *step, const xp_dev_patches *window,
                                const xp_dev_scalar *select, const xp_dev_scalar *scatter);

#endif
