/* reduce-window: a window over all dimensions of an array.
 *
 * The usual operations have a faster way (eval_window_pass.c).  Any other computation makes results a row of pixels at
 * a time: for each position in the window, the elements under it are combined with the results so far.  Positions
 * outside of the array, or between the elements of a dilated one, are left out.
 */
#include "device/eval_window.h"

#include "device/eval_lanes.h"
#include "device/eval_ops.h"

bool xp_dev_window_prepare(xp_dev_patches *patches, const xp_hlo_shape *in, const xp_hlo_shape *out,
                           const xp_hlo_window *window)
{
  int64_t in_strides[XP_HLO_MAX_RANK], out_strides[XP_HLO_MAX_RANK];
  if (in->rank != out->rank || (window == NULL ? 0 : window->count) != in->rank) {
    return false;
  }
  xp_dev_strides(in, in_strides);
  xp_dev_strides(out, out_strides);
  patches->rank = in->rank;
  patches->window_count = patches->pixel_count = patches->channels = 1;
  for (int d = 0; d < in->rank; d++) {
    if (!xp_dev_window_is_sound(window->dims[d], in->dims[d], out->dims[d])) {
      return false;
    }
    patches->dims[d] = (xp_dev_spatial){in->dims[d], out->dims[d], in_strides[d], out_strides[d], window->dims[d]};
    patches->pixel_count *= out->dims[d];
  }
  if (in->rank == 0) {
    patches->dims[patches->rank++] = (xp_dev_spatial){1, 1, 0, 0, {1, 1, 0, 0, 1, 1, false}};
  }
  return true;
}

bool xp_dev_window_is_still(const xp_dev_spatial *dim)
{
  const xp_hlo_window_dim *w = &dim->window;
  return w->size == 1 && w->stride == 1 && w->base_dilation == 1 && w->padding_low == 0 && dim->out == dim->in;
}

/* Pixel i is over place i * stride + offset of the dilated input, which has an element at each base_dilation-th place:
 * the first such pixel is looked for, the others follow at equal distances. */
xp_dev_reach xp_dev_window_reach(const xp_dev_spatial *dim, int64_t position)
{
  const xp_hlo_window_dim *w = &dim->window;
  int64_t k = w->is_reversed ? w->size - 1 - position : position;
  int64_t offset = k * w->window_dilation - w->padding_low, base = w->base_dilation;
  int64_t divisor = xp_dev_common_divisor(w->stride, base), at = offset < 0 ? (-offset - 1) / w->stride + 1 : 0,
          tries = 0;
  while (tries < base / divisor && at < dim->out && (at * w->stride + offset) % base != 0) {
    at++, tries++;
  }
  int64_t from = (at * w->stride + offset) / base;
  if (tries == base / divisor || at >= dim->out || from >= dim->in) {
    return (xp_dev_reach){0};
  }
  xp_dev_reach reach = {at, from, 0, base / divisor, w->stride / divisor};
  int64_t pixels = (dim->out - 1 - at) / reach.at_step, elements = (dim->in - 1 - from) / reach.from_step;
  reach.count = (pixels < elements ? pixels : elements) + 1;
  return reach;
}

typedef struct {
  const xp_dev_scalar *scalar;
  xp_dev_patches patches;
} reduce_window;

static xp_status run_reduce_window(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const reduce_window *d = step->detail;
  xp_dev_lanes lanes;
  xp_dev_lanes_open(&lanes, step, frame, d->scalar, step->out_count);
  xp_dev_segment *segments =
      (xp_dev_segment *)((char *)xp_dev_scratch(frame, step) + xp_dev_lanes_bytes(d->scalar, step->out_count));
  int64_t total = step->out[0].count, distance = xp_dev_segment_step(&d->patches);
  for (int64_t first = 0; first < total; first += XP_DEV_LANES) {
    int64_t n = total - first < XP_DEV_LANES ? total - first : XP_DEV_LANES, position[XP_HLO_MAX_RANK] = {0};
    xp_dev_lanes_start(&lanes, n);
    do {
      int64_t found = xp_dev_patches_segments(&d->patches, first, n, position, segments);
      for (int64_t s = 0; s < found; s++) {
        if (segments[s].from >= 0) {
          xp_dev_lanes_take(&lanes, segments[s].from, distance, segments[s].count);
          xp_dev_lanes_combine(&lanes, segments[s].at, segments[s].count);
        }
      }
    } while (xp_dev_patches_advance(&d->patches, position));
    xp_dev_lanes_store(&lanes, first, n);
  }
  return XP_OK;
}

xp_status xp_dev_prepare_reduce_window(xp_dev_context *context, xp_dev_step *step)
{
  reduce_window *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  xp_status status = xp_dev_lanes_prepare(context, step, &d->scalar);
  if (status != XP_OK) {
    return status;
  }
  for (uint32_t i = 0; i < step->out_count; i++) {
    if (!xp_hlo_shape_same_dims(step->in[i].shape, step->in[0].shape)) {
      return xp_dev_reject(context, "its operands have different shapes");
    }
  }
  if (!xp_dev_window_prepare(&d->patches, step->in[0].shape, step->out[0].shape, context->instruction->window)) {
    return xp_dev_reject(context, "its window does not fit its operands");
  }
  if (xp_dev_prepare_window_passes(context, step, &d->patches, d->scalar)) {
    return XP_OK;
  }
  double window = 1;
  for (int i = 0; i < d->patches.rank; i++) {
    window *= (double)d->patches.dims[i].window.size;
  }
  step->detail = d;
  step->run = run_reduce_window;
  step->scratch_bytes = xp_dev_lanes_bytes(d->scalar, step->out_count) + xp_dev_patches_scratch(XP_DEV_LANES);
  step->flops = (window - 1) * (double)step->out[0].count * (double)d->scalar->op_count;
  return XP_OK;
}
