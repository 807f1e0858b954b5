/* Convolutions of few features in each group, such as depthwise ones, which a matrix product is too wide for. */
#ifndef XP_DEVICE_EVAL_CONV_TAPS_H
#define XP_DEVICE_EVAL_CONV_TAPS_H

#include "device/eval_conv.h"

/* Plans the convolution this way if it is one of these; otherwise returns false.  steps: from one position of the
 * window to the next, in the kernel, for each spatial dimension. */
bool xp_dev_taps_plan(xp_dev_context *context, xp_dev_step *step, xp_dev_convolution *c, const xp_hlo_convolution *n,
                      const int64_t *steps);

void xp_dev_taps_run(const xp_dev_convolution *c, const xp_dev_step *step, const xp_dev_frame *frame);

#endif
