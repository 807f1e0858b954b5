/* reduce-window by one of the usual operations: a pass for each dimension that the window moves or is wide in.
 *
 * A window is a box, and these operations may be done in any order: what lies under it is combined over its first
 * dimension, then the results over its second one, and so on.  A pass sees the array as [outer][extent][inner] and
 * combines whole rows; a window of 3 x 3 costs 3 + 3 combinations instead of 9.
 *
 * A window that ends (begins) at each element and is as long as the dimension makes results so far: such a pass keeps a
 * running result, and takes time that grows with the dimension instead of its square.
 *
 * Leading dimensions without a window are cut into slices, which stay in the cache from pass to pass.  f16 and bf16 are
 * combined as f32.  The initial value goes into each result once, in the last pass; the others begin with what changes
 * nothing.
 */
#include <math.h>

#include "device/eval_ops.h"
#include "device/eval_window.h"

#define SLICE   8192 /* elements that make it worth while to begin passes */
#define REACHES 32   /* worked out at a time */

typedef enum { SLIDING, FORWARD, BACKWARD } pass_kind;

typedef struct {
  pass_kind kind;
  int64_t outer, inner;
  xp_dev_spatial dim;
} pass;

typedef struct {
  xp_dev_type type;                     /* in which results are kept meanwhile */
  xp_dev_kernel combine, widen, narrow; /* widen, narrow: of f16 and bf16, else NULL */
  xp_dev_fold fold;
  xp_dev_stride stride;
  xp_dev_scan scan;
  uint64_t nothing;                           /* an element that changes nothing */
  int64_t slices, batch, in_slice, out_slice; /* batch: slices at a time */
  size_t buffer_bytes;                        /* of each of two buffers in the scratch */
  int count;
  pass passes[XP_HLO_MAX_RANK];
} window_passes;

/* ---------------------------------------------------------------- passes */

/* The elements of one window are a row, and there are more of them than windows. */
static bool is_fold(const pass *p)
{
  const xp_hlo_window_dim *w = &p->dim.window;
  return p->inner == 1 && w->window_dilation == 1 && w->base_dilation == 1 && w->size > p->dim.out;
}

static void fold_windows(const window_passes *d, const xp_dev_spatial *dim, char *out, const char *in)
{
  const xp_hlo_window_dim *w = &dim->window;
  int64_t size = xp_dev_type_sizes[d->type];
  for (int64_t i = 0; i < dim->out; i++) {
    int64_t first = i * w->stride - w->padding_low, end = first + w->size;
    first = first > 0 ? first : 0;
    end = end < dim->in ? end : dim->in;
    if (first < end) {
      d->fold(out + i * size, in + first * size, end - first);
    }
  }
}

/* Combines the rows of one window position with the results. */
static void combine_rows(const window_passes *d, int64_t inner, const xp_dev_reach *r, char *out, const char *in)
{
  int64_t size = xp_dev_type_sizes[d->type];
  char *to = out + r->at * inner * size;
  const char *from = in + r->from * inner * size;
  if (inner == 1) {
    d->stride(to, r->at_step, from, r->from_step, r->count);
    return;
  }
  bool are_joined = r->at_step == 1 && r->from_step == 1;
  int64_t count = are_joined ? 1 : r->count, n = are_joined ? r->count * inner : inner;
  for (int64_t i = 0; i < count; i++) {
    const void *both[2] = {to, from};
    d->combine(to, both, n);
    to += r->at_step * inner * size, from += r->from_step * inner * size;
  }
}

/* `outer` arrays [extent][inner]; the results hold initial values. */
static void slide(const window_passes *d, const pass *p, int64_t outer, char *out, const char *in)
{
  int64_t size = xp_dev_type_sizes[d->type], in_bytes = p->dim.in * p->inner * size,
          out_bytes = p->dim.out * p->inner * size;
  if (is_fold(p)) {
    for (int64_t o = 0; o < outer; o++) {
      fold_windows(d, &p->dim, out + o * out_bytes, in + o * in_bytes);
    }
    return;
  }
  for (int64_t first = 0; first < p->dim.window.size; first += REACHES) {
    xp_dev_reach reaches[REACHES];
    int64_t n = 0;
    for (int64_t k = first; k < p->dim.window.size && k < first + REACHES; k++) {
      reaches[n] = xp_dev_window_reach(&p->dim, k);
      n += reaches[n].count > 0;
    }
    for (int64_t o = 0; o < outer; o++) {
      for (int64_t i = 0; i < n; i++) {
        combine_rows(d, p->inner, &reaches[i], out + o * out_bytes, in + o * in_bytes);
      }
    }
  }
}

/* One array [extent][inner]: results so far, from either end. */
static void scan_rows(const window_passes *d, const pass *p, char *out, const char *in, const void *initial)
{
  size_t size = xp_dev_type_sizes[d->type];
  int64_t extent = p->dim.in, way = p->kind == FORWARD ? 1 : -1, row = p->inner * (int64_t)size;
  int64_t first = p->kind == FORWARD ? 0 : (extent - 1) * row;
  if (p->inner == 1) {
    uint64_t result;
    memcpy(&result, initial, size);
    d->scan(&result, out + first, in + first, way, extent);
    return;
  }
  const char *before = out + first;
  xp_dev_fill(out + first, initial, size, p->inner);
  for (int64_t i = 0, at = first; i < extent; i++, at += way * row) {
    const void *both[2] = {before, in + at};
    d->combine(out + at, both, p->inner);
    before = out + at;
  }
}

/* A pass over n slices. */
static void run_pass(const window_passes *d, const pass *p, int64_t n, char *out, const char *in, const void *initial)
{
  size_t size = xp_dev_type_sizes[d->type];
  int64_t outer = n * p->outer, row = p->dim.out * p->inner * (int64_t)size;
  if (p->kind == SLIDING) {
    xp_dev_fill(out, initial, size, outer * p->dim.out * p->inner);
    slide(d, p, outer, out, in);
    return;
  }
  for (int64_t o = 0; o < outer; o++) { /* in and out have the same extents */
    scan_rows(d, p, out + o * row, in + o * row, initial);
  }
}

static xp_status run_window_passes(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const window_passes *d = step->detail;
  char *buffers[2] = {xp_dev_scratch(frame, step), (char *)xp_dev_scratch(frame, step) + d->buffer_bytes};
  char *to = xp_dev_at(frame, step->out[0]);
  const char *from = xp_dev_at(frame, step->in[0]);
  const void *initial = xp_dev_at(frame, step->in[1]);
  int64_t size = xp_dev_type_sizes[step->in[0].type];
  float wide;
  if (d->widen != NULL) {
    d->widen(&wide, &initial, 1);
    initial = &wide;
  }
  for (int64_t s = 0; s < d->slices; s += d->batch) {
    int64_t n = d->slices - s < d->batch ? d->slices - s : d->batch;
    const void *now = from + s * d->in_slice * size;
    int which = 0;
    if (d->widen != NULL) {
      d->widen(buffers[which], &now, n * d->in_slice);
      now = buffers[which++];
    }
    for (int i = 0; i < d->count; i++, which = !which) {
      bool is_last = i + 1 == d->count;
      char *made = is_last && d->narrow == NULL ? to + s * d->out_slice * size : buffers[which];
      run_pass(d, &d->passes[i], n, made, now, is_last ? initial : &d->nothing);
      now = made;
    }
    if (d->narrow != NULL) {
      d->narrow(to + s * d->out_slice * size, &now, n * d->out_slice);
    }
  }
  return XP_OK;
}

/* ---------------------------------------------------------------- planning */

#define PUT(T, value)                                                                                                  \
  {                                                                                                                    \
    T element = (T)(value);                                                                                            \
    memcpy(&bits, &element, sizeof element);                                                                           \
    break;                                                                                                             \
  }

/* The least integer of a type, or the largest one; as bytes of that width. */
static uint64_t end_of_range(xp_dev_type type, bool is_least)
{
  int width = 8 * xp_dev_type_sizes[type];
  bool is_signed = type >= XP_DEV_S8 && type <= XP_DEV_S64;
  uint64_t all = UINT64_MAX >> (64 - width), sign = UINT64_C(1) << (width - 1);
  if (type == XP_DEV_PRED) {
    return !is_least;
  }
  return is_signed ? (is_least ? sign : sign - 1) : (is_least ? 0 : all);
}

/* What the operation changes nothing with.  -0 and not 0 for sums: 0 + -0 is 0. */
static uint64_t nothing_of(xp_hlo_opcode opcode, xp_dev_type type)
{
  double value = opcode == XP_HLO_OP_ADD ? -0.0 : opcode == XP_HLO_OP_MULTIPLY ? 1 : INFINITY;
  value = opcode == XP_HLO_OP_MAXIMUM ? -value : value;
  uint64_t bits = 0;
  switch (type) {
  case XP_DEV_F32:
    PUT(float, value)
  case XP_DEV_F64:
    PUT(double, value)
  default:
    bits = opcode == XP_HLO_OP_MAXIMUM || opcode == XP_HLO_OP_MINIMUM ? end_of_range(type, opcode == XP_HLO_OP_MAXIMUM)
                                                                      : opcode == XP_HLO_OP_MULTIPLY;
  }
  return bits;
}

static pass_kind kind_of(const xp_dev_spatial *dim)
{
  const xp_hlo_window_dim *w = &dim->window;
  bool is_running = dim->in > 1 && dim->out == dim->in && w->size >= dim->in && w->stride == 1 &&
                    w->window_dilation == 1 && w->base_dilation == 1;
  return is_running && w->padding_low == w->size - 1 ? FORWARD : is_running && w->padding_low == 0 ? BACKWARD : SLIDING;
}

/* Cuts the array into slices and passes; false if what lies between two passes is larger than operand and result. */
static bool plan_passes(window_passes *d, const xp_dev_patches *window)
{
  int first = 0;
  for (d->slices = 1; first + 1 < window->rank && xp_dev_window_is_still(&window->dims[first]); first++) {
    d->slices *= window->dims[first].in;
  }
  size_t outer = 1, inner[XP_HLO_MAX_RANK + 1] = {0}, largest = 0;
  inner[window->rank] = 1;
  for (int i = window->rank - 1; i >= first; i--) {
    inner[i] = xp_dev_multiply_sizes(inner[i + 1], (size_t)window->dims[i].in);
  }
  for (int i = first; i < window->rank; i++) {
    const xp_dev_spatial *dim = &window->dims[i];
    if (!xp_dev_window_is_still(dim) || window->rank == first + 1) {
      d->passes[d->count++] = (pass){kind_of(dim), (int64_t)outer, (int64_t)inner[i + 1], *dim};
    }
    outer = xp_dev_multiply_sizes(outer, (size_t)dim->out);
    size_t made = xp_dev_multiply_sizes(outer, inner[i + 1]);
    largest = made > largest ? made : largest;
  }
  d->in_slice = (int64_t)inner[first];
  d->out_slice = (int64_t)outer;
  size_t most = inner[first] > outer ? inner[first] : outer;
  d->batch = most < SLICE ? SLICE / (int64_t)(most > 0 ? most : 1) : 1;
  d->batch = d->batch < d->slices ? d->batch : d->slices > 0 ? d->slices : 1;
  d->buffer_bytes =
      d->count > 1 || d->widen != NULL ? xp_dev_round_up((size_t)d->batch * most * xp_dev_type_sizes[d->type]) : 0;
  return largest <= most;
}

bool xp_dev_prepare_window_passes(xp_dev_context *context, xp_dev_step *step, const xp_dev_patches *window,
                                  const xp_dev_scalar *scalar)
{
  const xp_dev_kernels *kernels = context->plan->kernels;
  xp_dev_type type = step->in[0].type;
  bool is_half = xp_dev_type_is_half(type);
  if (step->out_count != 1 || scalar->only >= XP_HLO_OP_COUNT || step->in[0].count == 0 || step->out[0].count == 0) {
    return false;
  }
  window_passes *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  d->type = is_half ? XP_DEV_F32 : type;
  d->combine = kernels->elementwise[scalar->only][d->type];
  d->fold = kernels->fold[scalar->only][d->type];
  d->stride = kernels->stride[scalar->only][d->type];
  d->scan = kernels->scan[scalar->only][d->type];
  d->widen = is_half ? kernels->convert[type][XP_DEV_F32] : NULL;
  d->narrow = is_half ? kernels->convert[XP_DEV_F32][type] : NULL;
  if (d->combine == NULL || d->fold == NULL || d->stride == NULL || d->scan == NULL || !plan_passes(d, window)) {
    return false;
  }
  d->nothing = nothing_of(scalar->only, d->type);
  double under = 1; /* elements that each result is made of; a running result and one more */
  for (int i = 0; i < d->count; i++) {
    under *= d->passes[i].kind == SLIDING ? (double)d->passes[i].dim.window.size : 2;
  }
  step->flops = (under - 1) * (double)step->out[0].count;
  step->scratch_bytes = 2 * d->buffer_bytes;
  step->detail = d;
  step->run = run_window_passes;
  return true;
}
