/* Planning a convolution: its dimension numbers are checked, and turned into strides.
 *
 * An input whose elements lie base_dilation apart (the gradient of a convolution with strides) is zeros for the most
 * part.  Every output pixel meets elements only at each base_dilation-th position of the window, so such a convolution
 * is split into dense ones: one for each remainder of the output's position, with the part of the kernel that it meets.
 *
 * A window that is larger than the output (the gradient of a kernel) makes rows of a few pixels.  Patches are filled
 * along the window then.
 */
#include "device/eval_conv_taps.h"
#include "device/eval_ops.h"

#define BLOCK_BYTES (2 << 20)
#define MAX_PHASES  8  /* base dilations up to this one are split, */
#define MAX_PARTS   64 /* into so many convolutions */

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

static bool read_spatial(xp_dev_convolution *c, const xp_dev_step *step, const xp_hlo_convolution *n,
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

static bool read_groups(xp_dev_convolution *c, const xp_dev_step *step, const xp_hlo_convolution *n,
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

/* steps: from one position of the window to the next, in the kernel. */
static void read_kernel(xp_dev_convolution *c, const xp_dev_step *step, const xp_hlo_convolution *n,
                        const int64_t *steps)
{
  const xp_hlo_shape *shape = step->in[1].shape;
  int64_t strides[XP_HLO_MAX_RANK], stride = 1;
  xp_dev_strides(shape, strides);
  xp_dev_move *m = &c->kernel;
  const int channel = c->is_turned ? 1 : shape->rank - 1;
  m->rank = shape->rank;
  m->size = xp_dev_type_sizes[step->in[1].type];
  for (int d = 0, spatial = 0; d < m->rank; d++) {
    int64_t from = d == 0 ? n->kernel_output_feature : d == channel ? n->kernel_input_feature : 0;
    m->dims[d] = shape->dims[from];
    m->from[d] = strides[from];
    if (d != 0 && d != channel) {
      m->dims[d] = c->patches.dims[spatial].window.size;
      m->from[d] = strides[n->kernel_spatial.values[spatial]] * steps[spatial];
      spatial++;
    }
  }
  for (int d = m->rank - 1; d >= 0; d--) {
    m->to[d] = d == 0 ? c->row : stride;
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

static void choose_order(xp_dev_convolution *c)
{
  const xp_dev_patches *p = &c->patches;
  int64_t features = c->groups * c->group_features;
  bool are_joined = are_pixels_joined(p, 1);
  c->order = XP_DEV_ANY_ORDER;
  c->is_one_image = c->images == 1 || c->out_batch_stride == p->pixel_count;
  if (c->narrow != NULL) {
    return;
  }
  if (c->out_feature_stride == 1 && are_pixels_joined(p, features) &&
      (c->images == 1 || c->out_batch_stride == features * p->pixel_count)) {
    c->order = XP_DEV_FEATURES_LAST;
  } else if (are_joined && (c->is_one_image || p->pixel_count >= 128)) { /* else blocks are of several images */
    c->order = XP_DEV_FEATURES_FIRST;
  }
}

/* Whether runs along the window are longer than those along the pixels, and can be taken. */
static bool should_turn(const xp_dev_patches *p)
{
  const xp_dev_spatial *last = &p->dims[p->rank - 1];
  for (int d = 0; d < p->rank; d++) {
    if (p->dims[d].window.base_dilation != 1 || p->dims[d].window.is_reversed) {
      return false;
    }
  }
  return last->window.size > last->out && !xp_dev_patches_are_rows(p);
}

static void plan_scratch(xp_dev_convolution *c, xp_dev_step *step)
{
  size_t in_size = xp_dev_type_sizes[c->in_type], size = xp_dev_type_sizes[c->type], bytes = 0;
  size_t depth = (size_t)c->depth, features = (size_t)(c->groups * c->group_features);
  size_t pixels = depth == 0 ? XP_DEV_MAX_PIXELS : BLOCK_BYTES / in_size / depth / 32 * 32;
  pixels = pixels < 32 ? 32 : pixels > XP_DEV_MAX_PIXELS ? XP_DEV_MAX_PIXELS : pixels;
  size_t total = (size_t)(c->images * c->patches.pixel_count);
  pixels = pixels < total ? pixels : total > 0 ? total : 1;
  size_t block = xp_dev_multiply_sizes(pixels, (size_t)c->group_features);
  size_t segments = c->is_turned ? (size_t)c->patches.window_count : pixels;
  xp_dev_matmul x = {.type = c->type};
  c->block_pixels = (int64_t)pixels;
  c->kernel_at = xp_dev_reserve(&bytes, xp_dev_multiply_sizes(features, (size_t)c->row), in_size);
  c->patches_at = xp_dev_reserve(&bytes, xp_dev_multiply_sizes(pixels, (size_t)c->row), in_size);
  c->segments_at = xp_dev_reserve(&bytes, xp_dev_patches_scratch(segments), 1);
  c->block_at = xp_dev_reserve(&bytes, c->order == XP_DEV_ANY_ORDER ? block : 0, size);
  c->narrow_at = xp_dev_reserve(&bytes, c->narrow != NULL ? block : 0, size);
  c->packing_at = xp_dev_reserve(&bytes, xp_dev_matmul_bytes(&x), 1);
  step->scratch_bytes = bytes > step->scratch_bytes ? bytes : step->scratch_bytes; /* parts run one after the other */
}

/* Rows of patches that are read side by side must not lie at the same place of the cache. */
static void plan_part(xp_dev_context *context, xp_dev_convolution *c, xp_dev_step *step, const xp_hlo_convolution *n,
                      const int64_t *steps)
{
  bool has_taps = xp_dev_taps_plan(context, step, c, n, steps);
  c->is_turned = has_taps || should_turn(&c->patches);
  c->depth = c->patches.window_count * c->patches.channels;
  c->row = c->depth + (c->is_turned && !has_taps && c->depth % 256 == 0 ? 16 : 0);
  choose_order(c);
  read_kernel(c, step, n, steps);
  if (has_taps) {
    return;
  }
  plan_scratch(c, step);
}

/* ---------------------------------------------------------------- splitting */

/* Into how many convolutions a dimension is split. */
static int64_t phases_of(const xp_dev_spatial *d)
{
  const xp_hlo_window_dim *w = &d->window;
  bool can_split = w->base_dilation <= MAX_PHASES && w->stride == 1 && !w->is_reversed &&
                   xp_dev_common_divisor(w->window_dilation, w->base_dilation) == 1;
  return can_split ? w->base_dilation : 1;
}

/* One dimension of the part whose output positions are `phase` + i * phases.  kernel_from: the first window position
 * that meets elements; with position + phases, the element is window_dilation elements on. */
static void split_dim(xp_dev_spatial *d, int64_t phase, int64_t phases, int64_t *kernel_from)
{
  xp_hlo_window_dim *w = &d->window;
  int64_t first = 0;
  while ((phase + first * w->window_dilation - w->padding_low) % phases != 0) {
    first++;
  }
  *kernel_from = first < w->size ? first : 0;
  w->padding_low = -(phase + first * w->window_dilation - w->padding_low) / phases;
  w->size = first < w->size ? (w->size - first - 1) / phases + 1 : 0;
  w->base_dilation = 1;
  d->out = phase < d->out ? (d->out - phase - 1) / phases + 1 : 0;
  d->out_stride *= phases;
}

/* Part `index` of the whole. */
static void split(xp_dev_context *context, xp_dev_convolution *c, int64_t index, const int64_t *phases,
                  xp_dev_step *step, const xp_hlo_convolution *n)
{
  int64_t strides[XP_HLO_MAX_RANK];
  xp_dev_strides(step->in[1].shape, strides);
  xp_dev_patches *p = &c->patches;
  p->window_count = p->pixel_count = 1;
  for (int d = 0; d < p->rank; d++) {
    if (phases[d] > 1) {
      int64_t phase = index % phases[d], from;
      index /= phases[d];
      c->out_from += phase * p->dims[d].out_stride;
      split_dim(&p->dims[d], phase, phases[d], &from);
      c->kernel_from += from * strides[n->kernel_spatial.values[d]];
    }
    p->window_count *= p->dims[d].window.size;
    p->pixel_count *= p->dims[d].out;
  }
  plan_part(context, c, step, n, phases);
}

static xp_dev_convolutions *split_all(xp_dev_context *context, const xp_dev_convolution *whole, xp_dev_step *step,
                                      const xp_hlo_convolution *n)
{
  int64_t phases[XP_DEV_MAX_SPATIAL], count = 1;
  for (int d = 0; d < whole->patches.rank; d++) {
    phases[d] = count <= MAX_PARTS / MAX_PHASES ? phases_of(&whole->patches.dims[d]) : 1;
    count *= phases[d];
  }
  xp_dev_convolutions *all = xp_arena_alloc(context->plan->arena, sizeof *all);
  all->count = (size_t)count;
  all->parts = xp_arena_array(context->plan->arena, all->count, sizeof *all->parts);
  for (int64_t i = 0; i < count; i++) {
    all->parts[i] = *whole;
    split(context, &all->parts[i], i, phases, step, n);
  }
  return all;
}

/* ---------------------------------------------------------------- the instruction */

xp_status xp_dev_prepare_convolution(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  const xp_hlo_convolution *n = instruction->convolution;
  const xp_hlo_window *window = instruction->window;
  xp_dev_convolution c = {0};
  if (n == NULL || step->in_count != 2 || step->out_count != 1 ||
      (window == NULL ? 0 : window->count) != n->input_spatial.count || n->input_spatial.count > XP_DEV_MAX_SPATIAL ||
      !is_permutation(step->in[0].shape, n->input_batch, n->input_feature, n->input_spatial) ||
      !is_permutation(step->in[1].shape, n->kernel_input_feature, n->kernel_output_feature, n->kernel_spatial) ||
      !is_permutation(step->out[0].shape, n->output_batch, n->output_feature, n->output_spatial) ||
      n->kernel_spatial.count != n->input_spatial.count || n->output_spatial.count != n->input_spatial.count) {
    return xp_dev_reject(context, "its dimension numbers do not fit its operands");
  }
  if (!read_spatial(&c, step, n, window) || !read_groups(&c, step, n, instruction)) {
    return xp_dev_reject(context, "its window or its groups do not fit its operands");
  }
  c.in_type = step->in[0].type;
  c.out_type = step->out[0].type;
  c.type = xp_dev_type_is_half(c.in_type) ? XP_DEV_F32 : c.in_type;
  if (step->in[1].type != c.in_type || (c.out_type != c.type && c.out_type != c.in_type)) {
    return xp_dev_reject(context, "this device does not have it for these types");
  }
  c.narrow = c.out_type != c.type ? context->plan->kernels->convert[c.type][c.out_type] : NULL;
  c.patches.size = xp_dev_type_sizes[c.in_type];
  step->flops = 2.0 * (double)step->out[0].count * (double)c.patches.window_count * (double)c.patches.channels;
  step->detail = split_all(context, &c, step, n);
  step->run = xp_dev_convolution_run;
  return XP_OK;
}
