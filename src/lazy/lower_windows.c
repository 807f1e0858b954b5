/* Instructions of convolution and pooling.
 *
 * Along one dimension, output o is the sum over k of x[o s + k d - p] w[k], for stride s, dilation d and padding p. Its
 * gradients are convolutions, too:
 *
 *   by x: the sum over all o, k with i = o s + k d - p of g[o] w[k].  So g, with its elements s apart, is convolved
 * with w from its end to its beginning, d apart by w[k]: the sum over o of x[k d + o s - p] g[o].  So g is the window:
 * its elements are s apart, its places d. Images take the place of channels, and channels that of images
 */
#include "lazy/lower.h"
#include "lazy/op_windows.h"

static const int64_t spatial[] = {2, 3};
#define SPATIAL ((xp_hlo_list){spatial, 2})

static xl_conv2d_options options_of(const xl_node *node)
{
  xl_conv2d_options options;
  memcpy(&options, xl_node_attrs(node), sizeof options);
  return options;
}

static const int64_t *operand_dims(const xl_node *node, size_t i)
{
  return xl_node_dims(xl_node_operands(node)[i]);
}

/* x * kernel in the type of the node. */
static xp_hlo_value convolution(xl_lowering *to, const xl_node *node, xp_hlo_value x, xp_hlo_value kernel,
                                xp_hlo_convolution_options *how)
{
  const xp_hlo_type type = xl_hlo_type((xl_type)node->type);
  how->numbers.input_spatial = how->numbers.kernel_spatial = how->numbers.output_spatial = SPATIAL;
  how->type = type;
  const xp_hlo_value left = xl_lower_as(to, x, type), right = xl_lower_as(to, kernel, type);
  return xp_hlo_build_convolution(to->body, left, right, how);
}

/* One value for each feature, in the type and shape of the node. */
static xp_hlo_value over_features(xl_lowering *to, const xl_node *node, xp_hlo_value bias)
{
  static const int64_t feature = 1;
  const xp_hlo_value x = xl_lower_as(to, bias, xl_hlo_type((xl_type)node->type));
  return xp_hlo_build_broadcast(to->body, x, node->rank, xl_node_dims(node), &feature);
}

xp_hlo_value xl_lower_conv2d(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_conv2d_options o = options_of(node);
  const int64_t *w = operand_dims(node, 1);
  xp_hlo_window_dim windows[2];
  for (int i = 0; i < 2; i++) {
    windows[i] = (xp_hlo_window_dim){.size = w[2 + i],
                                     .stride = o.stride[i],
                                     .padding_low = o.padding[i],
                                     .padding_high = o.padding[i],
                                     .window_dilation = o.dilation[i],
                                     .base_dilation = 1};
  }
  xp_hlo_convolution_options how = {
      .numbers = {.input_feature = 1, .kernel_input_feature = 1, .output_feature = 1},
      .windows = windows,
      .feature_groups = o.groups,
      .batch_groups = 1,
  };
  const xp_hlo_value y = convolution(to, node, operands[0], operands[1], &how);
  return node->operand_count < 3
             ? y
             : xp_hlo_build_binary(to->body, XP_HLO_OP_ADD, y, over_features(to, node, operands[2]));
}

/* A weight [out, C / groups, h, w] as [out / groups, C, h, w], from its end to its beginning: its outputs are what the
 * gradient sums over, group by group. */
static xp_hlo_value turned_weight(xl_lowering *to, xp_hlo_value weight, const int64_t *w, int64_t groups)
{
  xp_hlo_value x = xp_hlo_build_reverse(to->body, weight, 2, spatial);
  if (groups > 1) {
    static const int64_t order[] = {1, 0, 2, 3, 4};
    const int64_t split[] = {groups, w[0] / groups, w[1], w[2], w[3]};
    const int64_t joined[] = {w[0] / groups, groups * w[1], w[2], w[3]};
    x = xp_hlo_build_transpose(to->body, xp_hlo_build_reshape(to->body, x, 5, split), order);
    x = xp_hlo_build_reshape(to->body, x, 4, joined);
  }
  return x;
}

xp_hlo_value xl_lower_conv2d_backward_input(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_conv2d_options o = options_of(node);
  const int64_t *x = xl_node_dims(node), *g = operand_dims(node, 0), *w = operand_dims(node, 1);
  xp_hlo_window_dim windows[2];
  for (int i = 0; i < 2; i++) {
    const int64_t covered = (g[2 + i] - 1) * o.stride[i] + 1;
    windows[i] = (xp_hlo_window_dim){.size = w[2 + i],
                                     .stride = 1,
                                     .padding_low = (w[2 + i] - 1) * o.dilation[i] - o.padding[i],
                                     .padding_high = x[2 + i] - covered + o.padding[i],
                                     .window_dilation = o.dilation[i],
                                     .base_dilation = o.stride[i]};
  }
  xp_hlo_convolution_options how = {
      .numbers = {.input_feature = 1, .kernel_output_feature = 1, .output_feature = 1},
      .windows = windows,
      .feature_groups = o.groups,
      .batch_groups = 1,
  };
  return convolution(to, node, operands[0], turned_weight(to, operands[1], w, o.groups), &how);
}

xp_hlo_value xl_lower_conv2d_backward_weight(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_conv2d_options o = options_of(node);
  const int64_t *w = xl_node_dims(node), *g = operand_dims(node, 0), *x = operand_dims(node, 1);
  xp_hlo_window_dim windows[2];
  for (int i = 0; i < 2; i++) {
    const int64_t span = (g[2 + i] - 1) * o.stride[i] + 1;
    windows[i] = (xp_hlo_window_dim){.size = g[2 + i],
                                     .stride = o.dilation[i],
                                     .padding_low = o.padding[i],
                                     .padding_high = (w[2 + i] - 1) * o.dilation[i] + span - x[2 + i] - o.padding[i],
                                     .window_dilation = o.stride[i],
                                     .base_dilation = 1};
  }
  xp_hlo_convolution_options how = {
      .numbers = {.input_batch = 1, .kernel_output_feature = 1, .output_batch = 1},
      .windows = windows,
      .feature_groups = 1,
      .batch_groups = o.groups,
  };
  return convolution(to, node, operands[1], operands[0], &how);
}

/* ---------------------------------------------------------------- pooling */

static xl_pool_attrs pool_of(const xl_node *node)
{
  xl_pool_attrs attrs;
  memcpy(&attrs, xl_node_attrs(node), sizeof attrs);
  return attrs;
}

/* Sums of f32 under windows over the last two dimensions, divided by the size of the window, in the node's type. */
static xp_hlo_value mean_of_windows(xl_lowering *to, const xl_node *node, xp_hlo_value x, int64_t size, int64_t stride)
{
  xp_hlo_window_dim windows[XL_MAX_RANK];
  for (size_t i = 0; i < node->rank; i++) {
    const bool is_moved = i + 2 >= node->rank;
    windows[i] = (xp_hlo_window_dim){
        .size = is_moved ? size : 1, .stride = is_moved ? stride : 1, .window_dilation = 1, .base_dilation = 1};
  }
  const xl_shape shape = xl_node_shape(node);
  const xp_hlo_value zero = xp_hlo_build_scalar(to->body, XP_HLO_F32, 0);
  const uint32_t add = xl_lower_combiner(to, XP_HLO_OP_ADD, XP_HLO_F32);
  const xp_hlo_value sum = xp_hlo_build_reduce_window(to->body, x, zero, windows, add);
  const xp_hlo_value divisor = xl_lower_filled(to, (double)size * (double)size, XP_HLO_F32, &shape);
  return xl_lower_as(to, xp_hlo_build_binary(to->body, XP_HLO_OP_DIVIDE, sum, divisor),
                     xl_hlo_type((xl_type)node->type));
}

xp_hlo_value xl_lower_avg_pool2d(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_pool_attrs pool = pool_of(node);
  return mean_of_windows(to, node, xl_lower_as(to, operands[0], XP_HLO_F32), pool.size, pool.stride);
}

/* Element i of the input has a part in the windows that begin at i - size + 1 .. i: with gradients `stride` apart and
 * zeros between and around them, these are a window again. */
xp_hlo_value xl_lower_avg_pool2d_backward(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands)
{
  const xl_pool_attrs pool = pool_of(node);
  const int64_t *x = xl_node_dims(node), *g = operand_dims(node, 0);
  xp_hlo_pad_dim padding[XL_MAX_RANK] = {{0, 0, 0}};
  for (size_t i = node->rank - 2u; i < node->rank; i++) {
    padding[i] = (xp_hlo_pad_dim){pool.size - 1, x[i] - (g[i] - 1) * pool.stride - 1, pool.stride - 1};
  }
  const xp_hlo_value zero = xp_hlo_build_scalar(to->body, XP_HLO_F32, 0);
  const xp_hlo_value spread = xp_hlo_build_pad(to->body, xl_lower_as(to, operands[0], XP_HLO_F32), zero, padding);
  return mean_of_windows(to, node, spread, pool.size, 1);
}
