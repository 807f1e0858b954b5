/* Shapes of convolution and pooling.
 *
 * Sizes from outside are held below 2^30 here, so that what later code makes of two of them stays in 64 bits.
 */
#include "lazy/op_windows.h"

#include "lazy/op_elements.h"
#include "lazy/op_products.h"
#include "lazy/op_types.h"
#include "lazy/op_views.h"

#define MOST (INT64_C(1) << 30)

/* ---------------------------------------------------------------- convolution */

static bool check_options(const xl_conv2d_options *options)
{
  bool is_sound = options->groups >= 1 && options->groups <= MOST;
  for (int i = 0; i < 2; i++) {
    is_sound = is_sound && options->stride[i] >= 1 && options->stride[i] <= MOST && options->dilation[i] >= 1 &&
               options->dilation[i] <= MOST && options->padding[i] >= 0 && options->padding[i] <= MOST;
  }
  if (!is_sound) {
    xl_refuse(XP_ERR_USAGE, "stride, dilation and groups are at least 1, padding at least 0, and all at most 2^30");
  }
  return is_sound;
}

static bool check_channels(const xl_var *x, const xl_var *weight, int64_t groups)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  const int64_t *w = weight->shape.dims;
  if (x->shape.rank != 4 || weight->shape.rank != 4) {
    xl_refuse(XP_ERR_USAGE, "x is [N, C, H, W] and the weight [out, C / groups, h, w], but they are %s and %s",
              xl_shape_text(a, x->type, &x->shape), xl_shape_text(b, weight->type, &weight->shape));
    return false;
  }
  if (w[0] % groups != 0 || x->shape.dims[1] % groups != 0 || x->shape.dims[1] / groups != w[1] || w[2] < 1 ||
      w[3] < 1) {
    xl_refuse(XP_ERR_USAGE, "a weight %s does not fit to %s in %lld groups",
              xl_shape_text(b, weight->type, &weight->shape), xl_shape_text(a, x->type, &x->shape), (long long)groups);
    return false;
  }
  return true;
}

/* Places of a window along one dimension; below 1 if there is none. */
static int64_t places(int64_t extent, int64_t size, int64_t stride, int64_t padding, int64_t dilation)
{
  const int64_t span = (size - 1) * dilation + 1, padded = extent + 2 * padding;
  return padded < span ? 0 : (padded - span) / stride + 1;
}

/* The extents of the result of a window of w[0] x w[1]; false with an error. */
static bool place_windows(const xl_var *x, const int64_t *w, const xl_conv2d_options *o, int64_t *out)
{
  const int64_t *in = x->shape.dims + x->shape.rank - 2;
  for (int i = 0; i < 2; i++) {
    const bool is_small = in[i] <= MOST && w[i] <= MOST;
    out[i] = is_small ? places(in[i], w[i], o->stride[i], o->padding[i], o->dilation[i]) : 0;
  }
  if (out[0] < 1 || out[1] < 1) {
    char text[XL_SHAPE_TEXT];
    xl_refuse(XP_ERR_USAGE,
              "a window of %lld x %lld with padding %lld, %lld and dilation %lld, %lld does not fit into %s",
              (long long)w[0], (long long)w[1], (long long)o->padding[0], (long long)o->padding[1],
              (long long)o->dilation[0], (long long)o->dilation[1], xl_shape_text(text, x->type, &x->shape));
    return false;
  }
  return true;
}

static bool check_bias(const xl_var *bias, const xl_var *weight)
{
  if (bias->shape.rank == 1 && bias->shape.dims[0] == weight->shape.dims[0]) {
    return true;
  }
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  xl_refuse(XP_ERR_USAGE, "a bias %s does not fit to a weight %s; it has one element for each feature",
            xl_shape_text(a, bias->type, &bias->shape), xl_shape_text(b, weight->type, &weight->shape));
  return false;
}

xl_var *xl_op_conv2d(xl_var *x, xl_var *weight, xl_var *bias, bool has_bias, const xl_conv2d_options *options)
{
  if (x == NULL || weight == NULL || (has_bias && bias == NULL) || !check_options(options) ||
      !check_channels(x, weight, options->groups) || (has_bias && !check_bias(bias, weight)) ||
      !xl_check_factors(x, weight) || (has_bias && !xl_check_same_types(x, bias))) {
    return NULL;
  }
  xl_result result = {.op = XL_OP_CONV2D,
                      .type = x->type,
                      .shape = {4, {x->shape.dims[0], weight->shape.dims[0]}},
                      .attrs = options,
                      .attr_bytes = sizeof *options};
  xl_var *const inputs[] = {x, weight, bias};
  return place_windows(x, weight->shape.dims + 2, options, result.shape.dims + 2)
             ? xl_apply(&result, inputs, has_bias ? 3 : 2)
             : NULL;
}

/* ---------------------------------------------------------------- pooling */

xl_var *xl_op_avg_pool2d(xl_var *x, int64_t size, int64_t stride)
{
  char text[XL_SHAPE_TEXT];
  if (x == NULL) {
    return NULL;
  }
  if (x->shape.rank != 3 && x->shape.rank != 4) {
    return xl_refuse(XP_ERR_USAGE, "x is [N, C, H, W] or [C, H, W], but it is %s",
                     xl_shape_text(text, x->type, &x->shape));
  }
  if (size < 1 || stride < 1 || size > MOST || stride > MOST) {
    return xl_refuse(XP_ERR_USAGE, "size and stride of a window are at least 1 and at most 2^30");
  }
  const xl_conv2d_options options = {{stride, stride}, {0, 0}, {1, 1}, 1};
  const int64_t window[] = {size, size};
  const xl_pool_attrs attrs = {size, stride};
  xl_result result = {
      .op = XL_OP_AVG_POOL2D, .type = x->type, .shape = x->shape, .attrs = &attrs, .attr_bytes = sizeof attrs};
  const bool is_fine =
      xl_check_fractions(x) && place_windows(x, window, &options, result.shape.dims + x->shape.rank - 2);
  return is_fine ? xl_apply_1(&result, x) : NULL;
}

/* ---------------------------------------------------------------- public */

xl_tensor xl_conv2d_at(const xl_location *at, xl_tensor tensor, xl_tensor weight, xl_tensor bias,
                       const xl_conv2d_options *options)
{
  static xl_entry entry = {"conv2d", NULL};
  static const xl_conv2d_options usual = XL_CONV2D_OPTIONS_INIT;
  xl_begin(&entry, at);
  bool has_bias;
  xl_var *x = xl_arg(tensor), *w = xl_arg(weight), *b = xl_arg_or_none(bias, &has_bias);
  return xl_end(xl_op_conv2d(x, w, b, has_bias, options != NULL ? options : &usual));
}

xl_tensor xl_avg_pool2d_at(const xl_location *at, xl_tensor tensor, int64_t size, int64_t stride)
{
  static xl_entry entry = {"avg_pool2d", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_avg_pool2d(xl_arg(tensor), size, stride));
}
