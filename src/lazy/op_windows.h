/* What moves a window over images [N, C, H, W]: convolution and pooling, on tensors. */
#ifndef XL_OP_WINDOWS_H
#define XL_OP_WINDOWS_H

#include "lazy/apply.h"

/* x [N, C, H, W], weight [out, C / groups, h, w], bias [out] or, if has_bias is false, none. */
xl_var *xl_op_conv2d(xl_var *x, xl_var *weight, xl_var *bias, bool has_bias, const xl_conv2d_options *options);

/* Windows of size x size over the last two dimensions. */
xl_var *xl_op_avg_pool2d(xl_var *x, int64_t size, int64_t stride);

/* Attributes of pooling and of its gradient; those of convolution are the options. */
typedef struct {
  int64_t size, stride;
} xl_pool_attrs;

#endif
