/* convolution: the kernel as a matrix times patches of the input (eval_patches.h), a block of output pixels at a time.
 *
 * All dimension numbers, strides, paddings, dilations, reversal and both kinds of groups are handled alike: they only
 * change strides.  Two layouts of the result are written in place, features before pixels (NCHW) and pixels before
 * features (NHWC); other layouts, and results of f16 and bf16, go through a block of scratch.
 */
#include "device/eval_matmul.h"
#include "device/eval_move.h"
#include "device/eval_ops.h"
#include "device/eval_patches.h"

#define BLOCK_BYTES (2 << 20)
#define MAX_PIXELS  1024

typedef enum { FEATURES_FIRST, FEATURES_LAST, ANY_ORDER } order;

typedef struct {
  xp_dev_patches patches;
  xp_dev_move kernel; /* to [feature][window position][channel] */
  xp_dev_type in_type, type, out_type;
  xp_dev_kernel narrow;
  int64_t groups, group_features, group_in_stride, images, block_pixels, out_batch_stride, out_feature_stride;
  order order;
  size_t kernel_at, patches_at, segments_at, block_at, narrow_at, packing_at; /* in the scratch */
} convolution;

/* ---------------------------------------------------------------- running */

/* Where pixel p of all images lies in the output. */
static int64_t output_offset(const convolution *c, int64_t pixel)
{
  int64_t offset = pixel / c->patches.pixel_count * c->out_batch_stride, rest = pixel % c->patches.pixel_count;
  for (int d = c->patches.rank - 1; d >= 0; d--) {
    offset += rest % c->patches.dims[d].out * c->patches.dims[d].out_stride;
    rest /= c->patches.dims[d].out;
  }
  return offset;
}

#define PLACE(T)                                                                                                       \
  for (int64_t p = 0; p < count; p++) {                                                                                \
    T *to = (T *)out + output_offset(c, first + p);                                                                    \
    for (int64_t f = 0; f < c->group_features; f++) {                                                                  \
      to[f * c->out_feature_stride] = ((const T *)block)[f * count + p];                                               \
    }                                                                                                                  \
  }

/* A block [feature][pixel] to where the output wants it. */
static void place_block(const convolution *c, void *out, const void *block, int64_t first, int64_t count)
{
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
static void run_block(const convolution *c, const xp_dev_kernels *kernels, char *out, const char *input,
                      const char *kernel, char *scratch, int64_t first, int64_t count)
{
  char *patches = scratch + c->patches_at;
  int64_t depth = c->patches.window_count * c->patches.channels;
  bool are_rows = xp_dev_patches_are_rows(&c->patches);
  xp_dev_patches_fill(&c->patches, patches, input, first, count, scratch + c->segments_at);
  int64_t along = are_rows ? 1 : count, across = are_rows ? depth : 1; /* in the patches: by depth, by pixel */
  xp_dev_matmul x = {.type = c->type, .a_type = c->in_type, .b_type = c->in_type, .k = depth};
  char *place = out + output_offset(c, first) * xp_dev_type_sizes[c->out_type];
  if (c->order == FEATURES_LAST) {
    x.m = count, x.n = c->group_features, x.c_row = c->out_feature_stride * c->groups * c->group_features;
    x.a_row = across, x.a_column = along, x.b_row = 1, x.b_column = depth;
    xp_dev_matmul_run(kernels, &x, place, patches, kernel, scratch + c->packing_at);
    return;
  }
  x.m = c->group_features, x.n = count, x.a_row = depth, x.a_column = 1, x.b_row = along, x.b_column = across;
  x.c_row = c->order == FEATURES_FIRST ? c->out_feature_stride : count;
  char *block = c->order == FEATURES_FIRST ? place : scratch + c->block_at;
  xp_dev_matmul_run(kernels, &x, block, kernel, patches, scratch + c->packing_at);
  if (c->narrow != NULL) {
    const void *in[1] = {block};
    block = scratch + c->narrow_at;
    c->narrow(block, in, c->group_features * count);
  }
  if (c->order == ANY_ORDER) {
    place_block(c, out, block, first, count);
  }
}

static xp_status run_convolution(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const convolution *c = step->detail;
  char *scratch = xp_dev_scratch(frame, step), *out = xp_dev_at(frame, step->out[0]);
  const char *input = xp_dev_at(frame, step->in[0]);
  int64_t size = xp_dev_type_sizes[c->in_type], out_size = xp_dev_type_sizes[c->out_type];
  int64_t kernel_row = c->patches.window_count * c->patches.channels, pixels = c->images * c->patches.pixel_count;
  xp_dev_move_run(&c->kernel, scratch + c->kernel_at, xp_dev_at(frame, step->in[1]));
  for (int64_t g = 0; g < c->groups; g++) {
    const char *kernel = scratch + c->kernel_at + g * c->group_features * kernel_row * size;
    char *to = out + g * c->group_features * c->out_feature_stride * out_size;
    for (int64_t first = 0, count; first < pixels; first += count) {
      count = pixels - first < c->block_pixels ? pixels - first : c->block_pixels;
      if (c->order == FEATURES_FIRST) { /* a block stays in its image */
        int64_t left = c->patches.pixel_count - first % c->patches.pixel_count;
        count = left < count ? left : count;
      }
      run_block(c, frame->plan->kernels, to, input + g * c->group_in_stride * size, kernel, scratch, first, count);
    }
  }
  return XP_OK;
}

/* ---------------------------------------------------------------- checking */

/* True if batch, feature and spatial dimensions are the dimensions of a shape, each once. */
static bool is_permutation(const xp_hlo_shape *shape, int64_t batch, int64_t feature, xp_hlo_list spatial)
{
  unsigned seen = 0;
  for (size_t i = 0; i < spatial.count + 2; i++) {
    int64_t d = i == 0 ? batch : i == 1 ? feature : spatial.values[i - 2];
    if (d < 0 || d >= shape->rank || (seen >> d & 1)) {
      return false;
    }
    seen |= 1u << d;
  }
  return shape->rank == spatial.count + 2;
}

static bool read_spatial(convolution *c, const xp_dev_step *step, const xp_hlo_convolution *n,
                         const xp_hlo_window *window)
{
  const xp_hlo_shape *in = step->in[0].shape, *kernel = step->in[1].shape, *out = step->out[0].shape;
  int64_t in_strides[XP_HLO_MAX_RANK], out_strides[XP_HLO_MAX_RANK];
  xp_dev_strides(in, in_strides);
  xp_dev_strides(out, out_strides);
  xp_dev_patches *p = &c->patches;
  p->rank = (int)n->input_spatial.count;
  p->window_count = p->pixel_count = 1;
  for (int d = 0; d < p->rank; d++) {
    int64_t i = n->input_spatial.values[d], o = n->output_spatial.values[d];
    p->dims[d] = (xp_dev_spatial){in->dims[i], out->dims[o], in_strides[i], out_strides[o], window->dims[d]};
    if (kernel->dims[n->kernel_spatial.values[d]] != window->dims[d].size ||
        !xp_dev_window_is_sound(window->dims[d], in->dims[i], out->dims[o])) {
      return false;
    }
    p->window_count *= window->dims[d].size;
    p->pixel_count *= out->dims[o];
  }
  if (p->rank == 0) { /* as if there were one spatial dimension of 1 */
    p->dims[p->rank++] = (xp_dev_spatial){1, 1, 0, 0, {1, 1, 0, 0, 1, 1, false}};
  }
  p->channel_stride = in_strides[n->input_feature];
  p->batch_stride = in_strides[n->input_batch];
  c->out_batch_stride = out_strides[n->output_batch];
  c->out_feature_stride = out_strides[n->output_feature];
  return true;
}

static bool read_groups(convolution *c, const xp_dev_step *step, const xp_hlo_convolution *n,
                        const xp_hlo_instruction *i)
{
  int64_t batch = step->in[0].shape->dims[n->input_batch], features = step->in[0].shape->dims[n->input_feature];
  int64_t out_features = step->out[0].shape->dims[n->output_feature];
  int64_t by_feature = i->feature_group_count, by_batch = i->batch_group_count;
  if (by_feature < 1 || by_batch < 1 || (by_feature > 1 && by_batch > 1) || features % by_feature != 0 ||
      batch % by_batch != 0) {
    return false;
  }
  c->groups = by_feature * by_batch;
  c->group_features = out_features / c->groups;
  c->patches.channels = features / by_feature;
  c->images = batch / by_batch;
  c->group_in_stride =
      by_feature > 1 ? c->patches.channels * c->patches.channel_stride : c->images * c->patches.batch_stride;
  return out_features % c->groups == 0 && step->out[0].shape->dims[n->output_batch] == c->images &&
         step->in[1].shape->dims[n->kernel_output_feature] == out_features &&
         step->in[1].shape->dims[n->kernel_input_feature] == c->patches.channels;
}

static void read_kernel(convolution *c, const xp_dev_step *step, const xp_hlo_convolution *n)
{
  const xp_hlo_shape *shape = step->in[1].shape;
  int64_t strides[XP_HLO_MAX_RANK], stride = 1;
  xp_dev_strides(shape, strides);
  xp_dev_move *m = &c->kernel;
  m->rank = shape->rank;
  m->size = xp_dev_type_sizes[step->in[1].type];
  for (int d = 0; d < m->rank; d++) {
    int64_t from = d == 0             ? n->kernel_output_feature
                   : d == m->rank - 1 ? n->kernel_input_feature
                                      : n->kernel_spatial.values[d - 1];
    m->dims[d] = shape->dims[from];
    m->from[d] = strides[from];
  }
  for (int d = m->rank - 1; d >= 0; d--) {
    m->to[d] = stride;
    stride *= m->dims[d];
  }
  xp_dev_move_simplify(m);
}

/* True if the spatial dimensions of the output lie as one dimension with this stride. */
static bool are_pixels_joined(const xp_dev_patches *p, int64_t stride)
{
  for (int d = p->rank - 1; d >= 0; d--) {
    if (p->dims[d].out != 1 && p->dims[d].out_stride != stride) {
      return false;
    }
    stride *= p->dims[d].out;
  }
  return true;
}

static order choose_order(const convolution *c)
{
  int64_t features = c->groups * c->group_features;
  if (c->narrow != NULL) {
    return ANY_ORDER;
  }
  if (c->out_feature_stride == 1 && are_pixels_joined(&c->patches, features) &&
      (c->images == 1 || c->out_batch_stride == features * c->patches.pixel_count)) {
    return FEATURES_LAST;
  }
  bool is_large = c->images == 1 || c->patches.pixel_count >= 128; /* else blocks are better made of several images */
  return are_pixels_joined(&c->patches, 1) && is_large ? FEATURES_FIRST : ANY_ORDER;
}

static size_t reserve(size_t *total, size_t count, size_t size)
{
  size_t at = *total, bytes = xp_dev_multiply_sizes(count, size);
  *total = xp_dev_add_sizes(at, bytes > SIZE_MAX - XP_DEV_ALIGN ? bytes : xp_dev_round_up(bytes));
  return at;
}

static void plan_scratch(convolution *c, xp_dev_step *step)
{
  size_t in_size = xp_dev_type_sizes[c->in_type], size = xp_dev_type_sizes[c->type];
  size_t depth = (size_t)(c->patches.window_count * c->patches.channels);
  size_t pixels = depth == 0 ? MAX_PIXELS : BLOCK_BYTES / in_size / depth / 32 * 32;
  pixels = pixels < 32 ? 32 : pixels > MAX_PIXELS ? MAX_PIXELS : pixels;
  size_t total = (size_t)(c->images * c->patches.pixel_count);
  pixels = pixels < total ? pixels : total > 0 ? total : 1;
  size_t block = xp_dev_multiply_sizes(pixels, (size_t)c->group_features);
  xp_dev_matmul x = {.type = c->type};
  c->block_pixels = (int64_t)pixels;
  c->kernel_at = reserve(&step->scratch_bytes, (size_t)step->in[1].count, in_size);
  c->patches_at = reserve(&step->scratch_bytes, xp_dev_multiply_sizes(pixels, depth), in_size);
  c->segments_at = reserve(&step->scratch_bytes, xp_dev_patches_scratch(pixels), 1);
  c->block_at = reserve(&step->scratch_bytes, c->order == ANY_ORDER ? block : 0, size);
  c->narrow_at = reserve(&step->scratch_bytes, c->narrow != NULL ? block : 0, size);
  c->packing_at = reserve(&step->scratch_bytes, xp_dev_matmul_bytes(&x), 1);
}

xp_status xp_dev_prepare_convolution(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  const xp_hlo_convolution *n = instruction->convolution;
  const xp_hlo_window *window = instruction->window;
  convolution *c = xp_arena_alloc(context->plan->arena, sizeof *c);
  if (n == NULL || step->in_count != 2 || step->out_count != 1 ||
      (window == NULL ? 0 : window->count) != n->input_spatial.count || n->input_spatial.count > XP_DEV_MAX_SPATIAL ||
      !is_permutation(step->in[0].shape, n->input_batch, n->input_feature, n->input_spatial) ||
      !is_permutation(step->in[1].shape, n->kernel_input_feature, n->kernel_output_feature, n->kernel_spatial) ||
      !is_permutation(step->out[0].shape, n->output_batch, n->output_feature, n->output_spatial) ||
      n->kernel_spatial.count != n->input_spatial.count || n->output_spatial.count != n->input_spatial.count) {
    return xp_dev_reject(context, "its dimension numbers do not fit its operands");
  }
  if (!read_spatial(c, step, n, window) || !read_groups(c, step, n, instruction)) {
    return xp_dev_reject(context, "its window or its groups do not fit its operands");
  }
  c->in_type = step->in[0].type;
  c->out_type = step->out[0].type;
  c->type = xp_dev_type_is_half(c->in_type) ? XP_DEV_F32 : c->in_type;
  if (step->in[1].type != c->in_type || (c->out_type != c->type && c->out_type != c->in_type)) {
    return xp_dev_reject(context, "this device does not have it for these types");
  }
  c->narrow = c->out_type != c->type ? context->plan->kernels->convert[c->type][c->out_type] : NULL;
  c->patches.size = xp_dev_type_sizes[c->in_type];
  c->order = choose_order(c);
  read_kernel(c, step, n);
  plan_scratch(c, step);
  step->detail = c;
  step->run = run_convolution;
  step->flops = 2.0 * (double)step->out[0].count * (double)c->patches.window_count * (double)c->patches.channels;
  return XP_OK;
}
