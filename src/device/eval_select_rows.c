/* select-and-scatter as models have it: the element that compares is selected, and what goes to it is added.
 *
 * A row of windows at a time: for each position in the window, the row of elements under it is offered to the row of
 * those selected so far.  Positions come in their order, so of equal elements the first one is selected.  Leading
 * dimensions without a window are cut into slices, which f16 and bf16 are turned into f32 for.
 */
#include "device/eval_ops.h"
#include "device/eval_window.h"

#define MAX_WIDTH 64 /* positions of the window along a row */

typedef struct {
  xp_dev_type type;
  xp_dev_select select;
  xp_dev_kernel widen, narrow;
  int64_t slices, in_slice, source_slice, rows; /* rows: of windows, in a slice */
  int rank;
  xp_dev_spatial dims[XP_HLO_MAX_RANK]; /* without those of the slices; rows lie along the last one */
  int64_t reach_count;
  xp_dev_reach reaches[MAX_WIDTH];
  size_t places_at, in_at, source_at, out_at; /* in the scratch; values are at 0.  in_at and on: of f16 and bf16 */
} select_rows;

#define ADD(T, U)                                                                                                      \
  for (int64_t i = 0; i < n; i++) {                                                                                    \
    if (places[i] >= 0) {                                                                                              \
      ((T *)out)[places[i]] = (T)((U)((T *)out)[places[i]] + (U)((const T *)source)[i]);                               \
    }                                                                                                                  \
  }                                                                                                                    \
  break;

static void add_row(xp_dev_type type, void *out, const int32_t *places, const void *source, int64_t n)
{
  switch (type) {
  case XP_DEV_F32:
    ADD(float, float)
  case XP_DEV_F64:
    ADD(double, double)
  case XP_DEV_S32:
    ADD(int32_t, uint32_t)
  default:
    ADD(int64_t, uint64_t)
  }
}

/* Where the row of elements under a position of the window begins; -1 if it is outside.  Neither pixel nor position has
 * the last dimension. */
static int64_t row_under(const select_rows *d, const int64_t *pixel, const int64_t *position)
{
  int64_t row = 0;
  for (int i = 0; i < d->rank - 1; i++) {
    const xp_dev_spatial *s = &d->dims[i];
    int64_t at = pixel[i] * s->window.stride + position[i] * s->window.window_dilation - s->window.padding_low;
    if (at < 0 || at >= s->in) {
      return -1;
    }
    row += at * s->in_stride;
  }
  return row;
}

/* Steps through the pixels (or the positions) of all dimensions but the last one; false at the end. */
static bool advance(const select_rows *d, int64_t *index, bool is_pixel)
{
  for (int i = d->rank - 2; i >= 0; i--) {
    if (++index[i] < (is_pixel ? d->dims[i].out : d->dims[i].window.size)) {
      return true;
    }
    index[i] = 0;
  }
  return false;
}

static void run_slice(const select_rows *d, char *out, const char *in, const char *source, char *scratch)
{
  int64_t size = xp_dev_type_sizes[d->type], width = d->dims[d->rank - 1].out, pixel[XP_HLO_MAX_RANK] = {0};
  int32_t *places = (int32_t *)(scratch + d->places_at);
  for (int64_t r = 0; r < d->rows; r++) {
    int64_t position[XP_HLO_MAX_RANK] = {0};
    memset(places, -1, (size_t)width * sizeof *places);
    do {
      int64_t row = row_under(d, pixel, position);
      for (int64_t i = 0; row >= 0 && i < d->reach_count; i++) {
        const xp_dev_reach *reach = &d->reaches[i];
        int64_t from = row + reach->from;
        d->select(scratch + reach->at * size, places + reach->at, in + from * size, (int32_t)from,
                  (int32_t)reach->from_step, reach->count);
      }
    } while (advance(d, position, false));
    add_row(d->type, out, places, source + r * width * size, width);
    advance(d, pixel, true);
  }
}

static xp_status run_select_rows(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const select_rows *d = step->detail;
  char *scratch = xp_dev_scratch(frame, step), *out = xp_dev_at(frame, step->out[0]);
  const char *in = xp_dev_at(frame, step->in[0]), *source = xp_dev_at(frame, step->in[1]);
  const void *initial = xp_dev_at(frame, step->in[2]);
  int64_t size = xp_dev_type_sizes[step->out[0].type];
  float wide;
  if (d->widen == NULL) {
    xp_dev_fill(out, initial, (size_t)size, step->out[0].count);
  } else {
    d->widen(&wide, &initial, 1);
  }
  for (int64_t s = 0; s < d->slices; s++) {
    const void *elements = in + s * d->in_slice * size, *added = source + s * d->source_slice * size;
    void *to = out + s * d->in_slice * size;
    if (d->widen == NULL) {
      run_slice(d, to, elements, added, scratch);
      continue;
    }
    d->widen(scratch + d->in_at, &elements, d->in_slice);
    d->widen(scratch + d->source_at, &added, d->source_slice);
    xp_dev_fill(scratch + d->out_at, &wide, sizeof wide, d->in_slice);
    run_slice(d, scratch + d->out_at, scratch + d->in_at, scratch + d->source_at, scratch);
    const void *made = scratch + d->out_at;
    d->narrow(to, &made, d->in_slice);
  }
  return XP_OK;
}

/* ---------------------------------------------------------------- planning */

/* False if there is more to the window than strides, padding and dilation of its own, or if it is too large. */
static bool plan_rows(select_rows *d, const xp_dev_patches *window)
{
  int first = 0;
  for (d->slices = 1; first + 1 < window->rank && xp_dev_window_is_still(&window->dims[first]); first++) {
    d->slices *= window->dims[first].in;
  }
  d->rank = window->rank - first;
  d->in_slice = d->source_slice = d->rows = 1;
  for (int i = 0; i < d->rank; i++) {
    const xp_dev_spatial *dim = &window->dims[first + i];
    if (dim->window.base_dilation != 1 || dim->window.is_reversed ||
        (dim->in > 0 && d->in_slice > INT32_MAX / dim->in)) {
      return false;
    }
    d->dims[i] = *dim;
    d->in_slice *= dim->in;
    d->source_slice *= dim->out;
    d->rows *= i + 1 < d->rank ? dim->out : 1;
  }
  const xp_dev_spatial *last = &d->dims[d->rank - 1];
  if (last->window.size > MAX_WIDTH || last->window.stride > INT32_MAX / 2) {
    return false;
  }
  for (int64_t k = 0; k < last->window.size; k++) {
    d->reaches[d->reach_count] = xp_dev_window_reach(last, k);
    d->reach_count += d->reaches[d->reach_count].count > 0;
  }
  return true;
}

/* False if the computation compares in another way than the kernels do. */
static bool find_direction(const xp_dev_scalar *select, xp_dev_compare *direction)
{
  const xp_hlo_instruction *compare = select->only_instruction;
  if (select->only != XP_HLO_OP_COMPARE || compare->order == XP_HLO_ORDER_TOTAL) {
    return false;
  }
  switch (compare->compare) {
  case XP_HLO_COMPARE_GE:
    *direction = XP_DEV_GE;
    return true;
  case XP_HLO_COMPARE_GT:
    *direction = XP_DEV_GT;
    return true;
  case XP_HLO_COMPARE_LE:
    *direction = XP_DEV_LE;
    return true;
  case XP_HLO_COMPARE_LT:
    *direction = XP_DEV_LT;
    return true;
  default:
    return false;
  }
}

bool xp_dev_prepare_select_rows(xp_dev_context *context, xp_dev_step *step, const xp_dev_patches *window,
                                const xp_dev_scalar *select, const xp_dev_scalar *scatter)
{
  const xp_dev_kernels *kernels = context->plan->kernels;
  xp_dev_type type = step->in[0].type;
  bool is_half = xp_dev_type_is_half(type);
  xp_dev_compare direction;
  if (scatter->only != XP_HLO_OP_ADD || !find_direction(select, &direction) || step->in[0].count == 0 ||
      step->in[1].count == 0) {
    return false;
  }
  select_rows *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  d->type = is_half ? XP_DEV_F32 : type;
  d->select = kernels->select[direction][d->type];
  d->widen = is_half ? kernels->convert[type][XP_DEV_F32] : NULL;
  d->narrow = is_half ? kernels->convert[XP_DEV_F32][type] : NULL;
  if (d->select == NULL || !plan_rows(d, window)) {
    return false;
  }
  size_t bytes = 0, size = xp_dev_type_sizes[d->type], width = (size_t)d->dims[d->rank - 1].out;
  xp_dev_reserve(&bytes, width, size);
  d->places_at = xp_dev_reserve(&bytes, width, sizeof(int32_t));
  d->in_at = xp_dev_reserve(&bytes, is_half ? (size_t)d->in_slice : 0, size);
  d->source_at = xp_dev_reserve(&bytes, is_half ? (size_t)d->source_slice : 0, size);
  d->out_at = xp_dev_reserve(&bytes, is_half ? (size_t)d->in_slice : 0, size);
  step->scratch_bytes = bytes;
  step->detail = d;
  step->run = run_select_rows;
  return true;
}
