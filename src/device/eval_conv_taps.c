/* Convolutions of few features in each group: shifted images instead of a matrix product.
 *
 * An image of one channel is laid out with its padding around it.  Counted through that layout, row after row, the
 * element under a position of the window is at the same distance from each pixel.  So the sums over a window are a few
 * multiplications of one long row with numbers (the taps); results at the ends of rows mean nothing and are left out.
 * A stride makes one layout (a plane) for each remainder of the position: in it, pixels lie side by side again.
 *
 * Where the window is larger than the result (the gradient of a kernel), the two change places: the kernel is the long
 * row, and the pixels are the shifts, each of which gives a product of two rows.  A mask takes out what lies between
 * the ends of rows, where an infinity would become NaN.
 *
 * f16 and bf16 are laid out as they are, then turned into f32.
 */
#include "device/eval_conv_taps.h"

#define MAX_FEATURES 16                 /* of a group */
#define MAX_TAPS     576                /* of all channels of a group: the shifts stay in the first cache */
#define MAX_PLANES   16                 /* of a channel */
#define MAX_ELEMENTS (INT64_C(1) << 23) /* of the planes of a group */

/* One dimension: `count` elements of the long row, `step` apart in the input, and `taps`, `tap_step` apart. */
typedef struct {
  int64_t count, step, taps, tap_step;
  int64_t planes, extent, stride; /* extent and stride of a plane */
} axis;

/* What is copied into a plane: its elements that are no padding. */
typedef struct {
  xp_dev_move move;
  int64_t to, from;
} interior;

struct xp_dev_taps {
  bool is_turned;
  int rank;
  axis axes[XP_DEV_MAX_SPATIAL];
  int64_t plane, planes;  /* elements of a plane, planes of a channel */
  int64_t row, taps;      /* elements of the long row, taps of a channel */
  int64_t channel_planes; /* of a group, or 1 if channels come one by one */
  const int64_t *shifts;  /* of the taps of all of them */
  interior interiors[MAX_PLANES];
  xp_dev_move kernel, results;            /* kernel: turned, of one channel and feature, to a row */
  int64_t kernel_feature, kernel_channel; /* strides in the kernel */
  xp_dev_kernel widen, narrow;
  size_t planes_at, raw_at, kernel_at, raw_kernel_at, mask_at, results_at, raw_results_at; /* raw: f16 or bf16 */
};

typedef struct xp_dev_taps taps;

/* ---------------------------------------------------------------- running */

/* The scratch and the operands of one run. */
typedef struct {
  const xp_dev_convolution *c;
  const taps *t;
  const xp_dev_kernels *kernels;
  char *scratch, *out;
  const char *input, *kernel;
  float *planes, *row, *results;
} pass;

/* A copy with strides to f32 at `to`, by way of `raw` where elements are halves.  total: elements from the first to the
 * last one that is written. */
static void move_wide(const taps *t, const xp_dev_move *move, float *to, uint16_t *raw, int64_t at, const char *from,
                      int64_t total)
{
  if (t->widen == NULL) {
    xp_dev_move_run(move, to + at, from);
    return;
  }
  xp_dev_move_run(move, raw + at, from);
  const void *in[1] = {raw};
  t->widen(to, in, total);
}

static void fill_planes(const pass *p, int64_t channel, const char *image)
{
  const taps *t = p->t;
  int64_t slot = t->is_turned ? 0 : channel;
  for (int64_t i = 0; i < t->planes; i++) {
    const interior *in = &t->interiors[i];
    int64_t first = (slot * t->planes + i) * t->plane;
    uint16_t *raw = (uint16_t *)(p->scratch + t->raw_at) + first;
    const char *from = image + (channel * p->c->patches.channel_stride + in->from) * (int64_t)p->c->patches.size;
    move_wide(t, &in->move, p->planes + first, raw, in->to, from, t->plane);
  }
}

/* Results of one feature to where the output wants them. */
static void place(const pass *p, const float *results, int64_t image, int64_t feature, int64_t count)
{
  const xp_dev_convolution *c = p->c;
  const void *from = results;
  if (p->t->narrow != NULL) {
    p->t->narrow(p->scratch + p->t->raw_results_at, &from, count);
    from = p->scratch + p->t->raw_results_at;
  }
  int64_t to = c->out_from + image * c->out_batch_stride + feature * c->out_feature_stride;
  xp_dev_move_run(&p->t->results, p->out + to * (int64_t)p->t->results.size, from);
}

static void sum_image(const pass *p, const char *image, int64_t number, int64_t group)
{
  const xp_dev_convolution *c = p->c;
  const taps *t = p->t;
  for (int64_t channel = 0; channel < c->patches.channels; channel++) {
    fill_planes(p, channel, image);
  }
  for (int64_t f = 0; f < c->group_features; f++) {
    int64_t feature = group * c->group_features + f, count = c->patches.channels * t->taps;
    p->kernels->sum_taps(p->results, p->planes, t->shifts, p->row + feature * count, count, t->row);
    place(p, p->results, number, feature, t->row);
  }
}

static void multiply_image(const pass *p, const char *image, int64_t number, int64_t group)
{
  const xp_dev_convolution *c = p->c;
  const taps *t = p->t;
  memset(p->results, 0, (size_t)(c->group_features * t->taps) * sizeof(float));
  for (int64_t channel = 0; channel < c->patches.channels; channel++) {
    fill_planes(p, channel, image);
    for (int64_t f = 0; f < c->group_features; f++) {
      int64_t feature = group * c->group_features + f;
      int64_t from = c->kernel_from + feature * t->kernel_feature + channel * t->kernel_channel;
      move_wide(t, &t->kernel, p->row, (uint16_t *)(p->scratch + t->raw_kernel_at), 0,
                p->kernel + from * (int64_t)c->patches.size, t->row);
      p->kernels->dot_taps(p->results + f * t->taps, p->planes, t->shifts, t->taps, p->row,
                           (const uint32_t *)(p->scratch + t->mask_at), t->row);
    }
  }
  for (int64_t f = 0; f < c->group_features; f++) {
    place(p, p->results + f * t->taps, number, group * c->group_features + f, t->taps);
  }
}

/* Ones where the long row has elements. */
static void fill_mask(const taps *t, uint32_t *mask)
{
  static const uint32_t all = UINT32_MAX;
  xp_dev_move move = t->kernel;
  move.size = sizeof all;
  memset(move.from, 0, sizeof move.from);
  memset(mask, 0, (size_t)t->row * sizeof *mask);
  xp_dev_move_run(&move, mask, &all);
}

/* What stays the same for all images: the padding of planes and rows, the taps. */
static void open_pass(const pass *p)
{
  const taps *t = p->t;
  size_t planes = (size_t)(t->channel_planes * t->plane + XP_DEV_TAPS_MULTIPLE);
  memset(p->planes, 0, planes * sizeof(float));
  memset(p->scratch + t->raw_at, 0, t->widen != NULL ? planes * sizeof(uint16_t) : 0);
  if (t->is_turned) {
    memset(p->row, 0, (size_t)t->row * sizeof(float));
    memset(p->scratch + t->raw_kernel_at, 0, t->widen != NULL ? (size_t)t->row * sizeof(uint16_t) : 0);
    fill_mask(t, (uint32_t *)(p->scratch + t->mask_at));
    return;
  }
  int64_t count = p->c->groups * p->c->group_features * p->c->patches.channels * t->taps;
  move_wide(t, &p->c->kernel, p->row, (uint16_t *)(p->scratch + t->raw_kernel_at), 0,
            p->kernel + p->c->kernel_from * (int64_t)p->c->patches.size, count);
}

void xp_dev_taps_run(const xp_dev_convolution *c, const xp_dev_step *step, const xp_dev_frame *frame)
{
  const taps *t = c->taps;
  char *scratch = xp_dev_scratch(frame, step);
  const pass p = {c,
                  t,
                  frame->plan->kernels,
                  scratch,
                  xp_dev_at(frame, step->out[0]),
                  xp_dev_at(frame, step->in[0]),
                  xp_dev_at(frame, step->in[1]),
                  (float *)(scratch + t->planes_at),
                  (float *)(scratch + t->kernel_at),
                  (float *)(scratch + t->results_at)};
  open_pass(&p);
  for (int64_t g = 0; g < c->groups; g++) {
    for (int64_t i = 0; i < c->images; i++) {
      const char *image = p.input + (g * c->group_in_stride + i * c->patches.batch_stride) * (int64_t)c->patches.size;
      if (t->is_turned) {
        multiply_image(&p, image, i, g);
      } else {
        sum_image(&p, image, i, g);
      }
    }
  }
}

/* ---------------------------------------------------------------- planning */

/* With more features a matrix product is faster.  It is so earlier where there are few taps to make up for laying out
 * planes and, if turned, the row of each feature and image. */
static bool has_few_features(const taps *t, const xp_dev_convolution *c)
{
  return c->group_features <= MAX_FEATURES && c->group_features <= (t->is_turned ? 1 : 4) * t->taps;
}

static int64_t round_up(int64_t n)
{
  return (n + XP_DEV_TAPS_MULTIPLE - 1) / XP_DEV_TAPS_MULTIPLE * XP_DEV_TAPS_MULTIPLE;
}

/* Reads the axes and lays out a plane; false if that is too large, if the rows would be padding for the most part, or
 * if there are too many features. */
static bool plan_axes(taps *t, const xp_dev_convolution *c)
{
  const xp_dev_patches *p = &c->patches;
  t->is_turned = p->window_count > p->pixel_count;
  t->rank = p->rank;
  t->plane = t->planes = t->taps = 1;
  int64_t elements = 1;
  for (int d = p->rank - 1; d >= 0; d--) {
    const xp_hlo_window_dim *w = &p->dims[d].window;
    axis *a = &t->axes[d];
    *a = t->is_turned ? (axis){w->size, w->window_dilation, p->dims[d].out, w->stride, 1, 0, 0}
                      : (axis){p->dims[d].out, w->stride, w->size, w->window_dilation, 1, 0, 0};
    if (w->base_dilation != 1 || (t->is_turned && w->is_reversed)) {
      return false;
    }
    a->planes = a->taps > 1 ? a->step : 1;
    a->extent = a->count + (a->taps - 1) * a->tap_step / a->step;
    a->stride = t->plane;
    t->row += (a->count - 1) * a->stride;
    t->taps *= a->taps;
    t->planes *= a->planes;
    elements *= a->count;
    if (t->planes > MAX_PLANES || t->taps > MAX_TAPS || a->extent > MAX_ELEMENTS / t->plane) {
      return false;
    }
    t->plane *= a->extent;
  }
  t->row = round_up(t->row + 1);
  if (p->channels > MAX_TAPS / t->taps || t->row > 4 * elements || !has_few_features(t, c)) {
    return false;
  }
  t->channel_planes = t->planes * (t->is_turned ? 1 : p->channels);
  return t->channel_planes <= MAX_ELEMENTS / t->plane;
}

/* Where in the planes of its channel tap k of a dimension lies. */
static int64_t shift_of(const taps *t, const xp_dev_patches *p, int d, int64_t k, int64_t plane_stride)
{
  const axis *a = &t->axes[d];
  int64_t at = (p->dims[d].window.is_reversed ? a->taps - 1 - k : k) * a->tap_step;
  return at % a->step * plane_stride * t->plane + at / a->step * a->stride;
}

static const int64_t *plan_shifts(const taps *t, const xp_dev_patches *p, xp_arena *arena)
{
  int64_t channels = t->channel_planes / t->planes;
  int64_t *shifts = xp_arena_array(arena, (size_t)(channels * t->taps), sizeof *shifts);
  for (int64_t i = 0; i < channels * t->taps; i++) {
    int64_t rest = i % t->taps, plane_stride = 1;
    shifts[i] = i / t->taps * t->planes * t->plane;
    for (int d = t->rank - 1; d >= 0; d--) {
      shifts[i] += shift_of(t, p, d, rest % t->axes[d].taps, plane_stride);
      rest /= t->axes[d].taps;
      plane_stride *= t->axes[d].planes;
    }
  }
  return shifts;
}

/* Place i of a plane is element i * step + remainder - padding of the input. */
static interior interior_of(const taps *t, const xp_dev_patches *p, int64_t plane)
{
  interior made = {{t->rank, p->size, {0}, {0}, {0}}, 0, 0};
  for (int d = t->rank - 1; d >= 0; d--) {
    const axis *a = &t->axes[d];
    int64_t offset = plane % a->planes - p->dims[d].window.padding_low;
    int64_t first = offset < 0 ? (-offset - 1) / a->step + 1 : 0, from = first * a->step + offset;
    int64_t inside = from < p->dims[d].in ? (p->dims[d].in - 1 - from) / a->step + 1 : 0, room = a->extent - first;
    made.move.dims[d] = room < 0 ? 0 : room < inside ? room : inside;
    made.move.to[d] = a->stride;
    made.move.from[d] = a->step * p->dims[d].in_stride;
    made.to += first * a->stride;
    made.from += from * p->dims[d].in_stride;
    plane /= a->planes;
  }
  xp_dev_move_simplify(&made.move);
  return made;
}

/* The results, and, if turned, the kernel: one is dense in the order of taps, the other lies in a row. */
static void plan_moves(taps *t, const xp_dev_convolution *c, const int64_t *kernel_strides)
{
  int64_t dense = 1;
  t->kernel = (xp_dev_move){t->rank, c->patches.size, {0}, {0}, {0}};
  t->results = (xp_dev_move){t->rank, xp_dev_type_sizes[c->out_type], {0}, {0}, {0}};
  for (int d = t->rank - 1; d >= 0; d--) {
    const axis *a = &t->axes[d];
    t->kernel.dims[d] = a->count;
    t->kernel.to[d] = a->stride;
    t->kernel.from[d] = kernel_strides[d];
    t->results.dims[d] = t->is_turned ? a->taps : a->count;
    t->results.from[d] = t->is_turned ? dense : a->stride;
    t->results.to[d] = c->patches.dims[d].out_stride;
    dense *= a->taps;
  }
  xp_dev_move_simplify(&t->kernel);
  xp_dev_move_simplify(&t->results);
}

static void plan_scratch(taps *t, const xp_dev_convolution *c, xp_dev_step *step)
{
  size_t planes = (size_t)(t->channel_planes * t->plane + XP_DEV_TAPS_MULTIPLE), row = (size_t)t->row, bytes = 0;
  size_t kernel = t->is_turned ? row : (size_t)(c->groups * c->group_features * c->patches.channels * t->taps);
  size_t results = t->is_turned ? (size_t)(c->group_features * t->taps) : row;
  t->planes_at = xp_dev_reserve(&bytes, planes, sizeof(float));
  t->raw_at = xp_dev_reserve(&bytes, t->widen != NULL ? planes : 0, sizeof(uint16_t));
  t->kernel_at = xp_dev_reserve(&bytes, kernel, sizeof(float));
  t->raw_kernel_at = xp_dev_reserve(&bytes, t->widen != NULL ? kernel : 0, sizeof(uint16_t));
  t->mask_at = xp_dev_reserve(&bytes, t->is_turned ? row : 0, sizeof(uint32_t));
  t->results_at = xp_dev_reserve(&bytes, results, sizeof(float));
  t->raw_results_at = xp_dev_reserve(&bytes, t->narrow != NULL ? results : 0, sizeof(uint16_t));
  step->scratch_bytes = bytes > step->scratch_bytes ? bytes : step->scratch_bytes; /* parts run one after the other */
}

bool xp_dev_taps_plan(xp_dev_context *context, xp_dev_step *step, xp_dev_convolution *c, const xp_hlo_convolution *n,
                      const int64_t *steps)
{
  const xp_dev_patches *p = &c->patches;
  int64_t strides[XP_HLO_MAX_RANK], kernel_strides[XP_DEV_MAX_SPATIAL] = {0};
  if (c->type != XP_DEV_F32 || c->group_features == 0 || p->channels == 0 || p->window_count == 0 ||
      p->pixel_count == 0 || c->images == 0) {
    return false;
  }
  taps *t = xp_arena_alloc(context->plan->arena, sizeof *t);
  if (!plan_axes(t, c)) {
    return false;
  }
  xp_dev_strides(step->in[1].shape, strides);
  for (size_t d = 0; d < n->kernel_spatial.count; d++) {
    kernel_strides[d] = strides[n->kernel_spatial.values[d]] * steps[d];
  }
  t->kernel_feature = strides[n->kernel_output_feature];
  t->kernel_channel = strides[n->kernel_input_feature];
  t->widen = c->in_type != c->type ? context->plan->kernels->convert[c->in_type][c->type] : NULL;
  t->narrow = c->narrow;
  t->shifts = plan_shifts(t, p, context->plan->arena);
  for (int64_t i = 0; i < t->planes; i++) {
    t->interiors[i] = interior_of(t, p, i);
  }
  plan_moves(t, c, kernel_strides);
  plan_scratch(t, c, step);
  c->taps = t;
  return true;
}
