/* The prepare functions of all families, for the table of opcodes (eval_ops.c). */
#ifndef XP_DEVICE_EVAL_OPS_H
#define XP_DEVICE_EVAL_OPS_H

#include "device/eval_plan.h"

/* eval_element.c */
xp_status xp_dev_prepare_element(xp_dev_context *context, xp_dev_step *step);
/* eval_precision.c */
xp_status xp_dev_prepare_reduce_precision(xp_dev_context *context, xp_dev_step *step);
/* eval_shape.c */
xp_status xp_dev_prepare_broadcast(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_transpose(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_reverse(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_slice(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_concatenate(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_pad(xp_dev_context *context, xp_dev_step *step);
/* eval_dynamic.c */
xp_status xp_dev_prepare_dynamic_slice(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_dynamic_update_slice(xp_dev_context *context, xp_dev_step *step);
/* eval_create.c */
xp_status xp_dev_prepare_iota(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_dimension_size(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_zero(xp_dev_context *context, xp_dev_step *step);
/* eval_gather.c, eval_scatter.c */
xp_status xp_dev_prepare_gather(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_scatter(xp_dev_context *context, xp_dev_step *step);
/* eval_reduce.c, eval_window.c, eval_select_scatter.c, eval_map.c */
xp_status xp_dev_prepare_reduce(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_reduce_window(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_select_and_scatter(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_map(xp_dev_context *context, xp_dev_step *step);
/* eval_dot.c, eval_conv.c */
xp_status xp_dev_prepare_dot(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_convolution(xp_dev_context *context, xp_dev_step *step);
/* eval_sort.c */
xp_status xp_dev_prepare_sort(xp_dev_context *context, xp_dev_step *step);
/* eval_random.c, eval_bits.c */
xp_status xp_dev_prepare_rng(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_rng_bits(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_rng_state(xp_dev_context *context, xp_dev_step *step);
/* eval_control.c */
xp_status xp_dev_prepare_while(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_conditional(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_call(xp_dev_context *context, xp_dev_step *step);
/* eval_norm.c */
xp_status xp_dev_prepare_norm_training(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_norm_inference(xp_dev_context *context, xp_dev_step *step);
xp_status xp_dev_prepare_norm_grad(xp_dev_context *context, xp_dev_step *step);
/* eval_linear.c */
xp_status xp_dev_prepare_custom_call(xp_dev_context *context, xp_dev_step *step);

#endif
