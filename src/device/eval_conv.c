/* convolution: the kernel as a matrix times patches of the input (eval_patches.h), a block of output pixels at a time.
 *
 * All dimension numbers, strides, paddings, dilations, reversal and both kinds of groups are handled alike: they only
 * change strides.  Two layouts of the result are written in place, features before pixels (NCHW) and pixels before
 * features (NHWC); other layouts, and results of f16 and bf16, go through a block of scratch.  Groups of few features
 * have a way of their own (eval_conv_taps.c).
 */
#include "device/eval_conv_taps.h"

/* Where pixel p of all images lies in the output. */
static int64_t output_offset(const xp_dev_convolution *c, int64_t pixel)
{
  int64_t offset = pixel / c->patches.pixel_count * c->out_batch_stride, rest = pixel % c->patches.pixel_count;
  for (int d = c->patches.rank - 1; d >= 0; d--) {
    offset += rest % c->patches.dims[d].out * c->patches.dims[d].out_stride;
    rest /= c->patches.dims[d].out;
  }
  return offset;
}

/* Feature by feature, or pixel by pixel where the features of one lie side by side. */
#define PLACE(T)                                                                                                       \
  if (c->out_feature_stride == 1) {                                                                                    \
    for (int64_t p = 0; p < count; p++) {                                                                              \
      for (int64_t f = 0; f < c->group_features; f++) {                                                                \
        ((T *)out)[offsets[p] + f] = ((const T *)block)[f * count + p];                                                \
      }                                                                                                                \
    }                                                                                                                  \
  } else {                                                                                                             \
    for (int64_t f = 0; f < c->group_features; f++) {                                                                  \
      T *to = (T *)out + f * c->out_feature_stride;                                                                    \
      const T *from = (const T *)block + f * count;                                                                    \
      for (int64_t p = 0; p < count; p++) {                                                                            \
        to[offsets[p]] = from[p];                                                                                      \
      }                                                                                                                \
    }                                                                                                                  \
  }

/* A block [feature][pixel] to where the output wants it. */
static void place_block(const xp_dev_convolution *c, void *out, const void *block, int64_t first, int64_t count)
{
  int64_t offsets[XP_DEV_MAX_PIXELS];
  for (int64_t p = 0; p < count; p++) {
    offsets[p] = output_offset(c, first + p);
  }
  switch (xp_dev_type_sizes[c->out_type]) {
  case 1:
    PLACE(uint8_t)
    break;
  case 2:
    PLACE(uint16_t)
    break;
  case 4:
    PLACE(uint32_t)
    break;
  default:
    PLACE(uint64_t)
    break;
  }
}

/* Pixels first .. first + count - 1 of one group.  kernel, input and out are those of the group. */
static void run_block(const xp_dev_convolution *c, const xp_dev_kernels *kernels, char *out, const char *input,
                      const char *kernel, char *scratch, int64_t first, int64_t count)
{
  char *patches = scratch + c->patches_at;
  bool are_rows = c->is_turned || xp_dev_patches_are_rows(&c->patches);
  if (c->is_turned) {
    xp_dev_patches_fill_turned(&c->patches, patches, c->row, input, first, count, scratch + c->segments_at);
  } else {
    xp_dev_patches_fill(&c->patches, patches, input, first, count, scratch + c->segments_at);
  }
  int64_t along = are_rows ? 1 : count, across = are_rows ? c->row : 1; /* in the patches: by depth, by pixel */
  xp_dev_matmul x = {.type = c->type, .a_type = c->in_type, .b_type = c->in_type, .k = c->depth};
  char *place = out + output_offset(c, first) * xp_dev_type_sizes[c->out_type];
  if (c->order == XP_DEV_FEATURES_LAST) {
    x.m = count, x.n = c->group_features, x.c_row = c->out_feature_stride * c->groups * c->group_features;
    x.a_row = across, x.a_column = along, x.b_row = 1, x.b_column = c->row;
    xp_dev_matmul_run(kernels, &x, place, patches, kernel, scratch + c->packing_at);
    return;
  }
  x.m = c->group_features, x.n = count, x.a_row = c->row, x.a_column = 1, x.b_row = along, x.b_column = across;
  x.c_row = c->order == XP_DEV_FEATURES_FIRST ? c->out_feature_stride : count;
  char *block = c->order == XP_DEV_FEATURES_FIRST ? place : scratch + c->block_at;
  xp_dev_matmul_run(kernels, &x, block, kernel, patches, scratch + c->packing_at);
  if (c->narrow != NULL) {
    const void *in[1] = {block};
    block = scratch + c->narrow_at;
    c->narrow(block, in, c->group_features * count);
  }
  if (c->order == XP_DEV_ANY_ORDER) {
    place_block(c, out, block, first, count);
  }
}

static void run_part(const xp_dev_convolution *c, const xp_dev_step *step, const xp_dev_frame *frame)
{
  int64_t size = xp_dev_type_sizes[c->in_type], out_size = xp_dev_type_sizes[c->out_type];
  int64_t pixels = c->images * c->patches.pixel_count;
  char *scratch = xp_dev_scratch(frame, step), *out = (char *)xp_dev_at(frame, step->out[0]) + c->out_from * out_size;
  const char *input = xp_dev_at(frame, step->in[0]);
  xp_dev_move_run(&c->kernel, scratch + c->kernel_at,
                  (const char *)xp_dev_at(frame, step->in[1]) + c->kernel_from * size);
  for (int64_t g = 0; g < c->groups; g++) {
    const char *kernel = scratch + c->kernel_at + g * c->group_features * c->row * size;
    char *to = out + g * c->group_features * c->out_feature_stride * out_size;
    for (int64_t first = 0, count; first < pixels; first += count) {
      count = pixels - first < c->block_pixels ? pixels - first : c->block_pixels;
      if (c->order == XP_DEV_FEATURES_FIRST && !c->is_one_image) { /* a block stays in its image */
        int64_t left = c->patches.pixel_count - first % c->patches.pixel_count;
        count = left < count ? left : count;
      }
      run_block(c, frame->plan->kernels, to, input + g * c->group_in_stride * size, kernel, scratch, first, count);
    }
  }
}

xp_status xp_dev_convolution_run(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const xp_dev_convolutions *all = step->detail;
  for (size_t i = 0; i < all->count; i++) {
    if (all->parts[i].taps != NULL) {
      xp_dev_taps_run(&all->parts[i], step, frame);
    } else {
      run_part(&all->parts[i], step, frame);
    }
  }
  return XP_OK;
}
