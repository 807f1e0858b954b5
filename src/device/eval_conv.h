/* A convolution as it is planned (eval_conv_plan.c) and run (eval_conv.c). */
#ifndef XP_DEVICE_EVAL_CONV_H
#define XP_DEVICE_EVAL_CONV_H

#include "device/eval_matmul.h"
#include "device/eval_move.h"
#include "device/eval_patches.h"

#define XP_DEV_MAX_PIXELS 1024 /* of a block */

/* Where features and pixels of the output lie: pixels side by side, features side by side, or neither. */
typedef enum { XP_DEV_FEATURES_FIRST, XP_DEV_FEATURES_LAST, XP_DEV_ANY_ORDER } xp_dev_feature_order;

typedef struct xp_dev_taps xp_dev_taps; /* eval_conv_taps.h */

/* A convolution without base dilation, if it can be split into such, or all of it. */
typedef struct {
  xp_dev_patches patches;
  xp_dev_move kernel; /* to [feature][window position][channel]; turned: [feature][channel][window position] */
  xp_dev_type in_type, type, out_type;
  xp_dev_kernel narrow;
  int64_t groups, group_features, group_in_stride, images, block_pixels, out_batch_stride, out_feature_stride;
  int64_t kernel_from, out_from; /* where its part of the kernel and of the output begins, in elements */
  int64_t depth, row; /* elements of a patch, and from one to the next where they are rows (and in the kernel) */
  bool is_turned;     /* patches are filled along the window, not along the pixels */
  bool is_one_image;  /* pixels of all images lie in the output as those of one */
  xp_dev_feature_order order;
  const xp_dev_taps *taps;                                                    /* NULL: patches and a matrix product */
  size_t kernel_at, patches_at, segments_at, block_at, narrow_at, packing_at; /* in the scratch */
} xp_dev_convolution;

typedef struct {
  size_t count;
  xp_dev_convolution *parts;
} xp_dev_convolutions;

xp_status xp_dev_convolution_run(const xp_dev_step *step, const xp_dev_frame *frame);

#endif
