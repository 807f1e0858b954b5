/* select-and-scatter: under each window one element is selected, and the source's element is added to the result there
 * (or joined to it by another computation).  It is how a pooling by maximum gives gradients back; the way that it has
 * in models is faster (eval_select_rows.c).
 */
#include "device/eval_ops.h"
#include "device/eval_window.h"

typedef struct {
  const xp_dev_scalar *select, *scatter;
  xp_dev_patches patches;
  size_t scatter_at, segments_at, value_at; /* in the scratch; select is at 0 */
} select_scatter;

/* What is selected under a row of windows. */
typedef struct {
  char *value;
  int64_t from[XP_DEV_LANES]; /* element of the operand; -1: none yet */
} selection;

/* Offers the elements of a segment, one for each window. */
static void offer(const select_scatter *d, void *memory, selection *now, const char *operand, size_t size,
                  const xp_dev_segment *segment)
{
  int64_t distance = xp_dev_segment_step(&d->patches);
  for (int64_t i = 0; i < segment->count; i++) {
    int64_t from = segment->from + i * distance, lane = segment->at + i;
    const void *parameters[2] = {now->value + lane * (int64_t)size, operand + from * (int64_t)size};
    bool is_kept = false;
    if (now->from[lane] >= 0) {
      xp_dev_scalar_run(d->select, memory, parameters, 1);
      is_kept = *(const uint8_t *)xp_dev_scalar_result(d->select, memory, 0) != 0;
    }
    if (!is_kept) {
      memcpy(now->value + lane * (int64_t)size, parameters[1], size);
      now->from[lane] = from;
    }
  }
}

static void scatter_row(const select_scatter *d, void *memory, const selection *chosen, char *out, const char *source,
                        size_t size, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    if (chosen->from[i] < 0) {
      continue;
    }
    char *to = out + chosen->from[i] * (int64_t)size;
    const void *parameters[2] = {to, source + i * (int64_t)size};
    xp_dev_scalar_run(d->scatter, memory, parameters, 1);
    memmove(to, xp_dev_scalar_result(d->scatter, memory, 0), size);
  }
}

static xp_status run_select_scatter(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const select_scatter *d = step->detail;
  char *scratch = xp_dev_scratch(frame, step), *out = xp_dev_at(frame, step->out[0]);
  const char *operand = xp_dev_at(frame, step->in[0]), *source = xp_dev_at(frame, step->in[1]);
  size_t size = xp_dev_type_sizes[step->out[0].type];
  xp_dev_segment *segments = (xp_dev_segment *)(scratch + d->segments_at);
  selection chosen = {.value = scratch + d->value_at};
  xp_dev_scalar_open(d->select, scratch);
  xp_dev_scalar_open(d->scatter, scratch + d->scatter_at);
  xp_dev_fill(out, xp_dev_at(frame, step->in[2]), size, step->out[0].count);
  for (int64_t first = 0, total = step->in[1].count; first < total; first += XP_DEV_LANES) {
    int64_t n = total - first < XP_DEV_LANES ? total - first : XP_DEV_LANES, position[XP_HLO_MAX_RANK] = {0};
    memset(chosen.from, -1, sizeof chosen.from);
    do {
      int64_t found = xp_dev_patches_segments(&d->patches, first, n, position, segments);
      for (int64_t s = 0; s < found; s++) {
        if (segments[s].from >= 0) {
          offer(d, scratch, &chosen, operand, size, &segments[s]);
        }
      }
    } while (xp_dev_patches_advance(&d->patches, position));
    scatter_row(d, scratch + d->scatter_at, &chosen, out, source + first * (int64_t)size, size, n);
  }
  return XP_OK;
}

xp_status xp_dev_prepare_select_and_scatter(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  select_scatter *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  if (step->in_count != 3 || step->out_count != 1 || instruction->call_count != 2 || step->in[2].count != 1 ||
      !xp_hlo_shape_same(step->in[0].shape, step->out[0].shape) || step->in[1].type != step->in[0].type ||
      step->in[2].type != step->in[0].type ||
      !xp_dev_window_prepare(&d->patches, step->in[0].shape, step->in[1].shape, instruction->window)) {
    return xp_dev_reject(context, "its window does not fit its operands");
  }
  xp_dev_type type = step->in[0].type, parameters[2] = {type, type}, choice = XP_DEV_PRED;
  xp_status status = xp_dev_scalar_prepare(context, instruction->calls[0], parameters, 2, &choice, 1, &d->select);
  if (status == XP_OK) {
    status = xp_dev_scalar_prepare(context, instruction->calls[1], parameters, 2, &type, 1, &d->scatter);
  }
  if (status != XP_OK) {
    return status;
  }
  if (xp_dev_prepare_select_rows(context, step, &d->patches, d->select, d->scatter)) {
    return XP_OK;
  }
  d->scatter_at = xp_dev_scalar_bytes(d->select);
  d->segments_at = d->scatter_at + xp_dev_scalar_bytes(d->scatter);
  d->value_at = d->segments_at + xp_dev_patches_scratch(XP_DEV_LANES);
  step->scratch_bytes = d->value_at + XP_DEV_LANES * 8;
  step->detail = d;
  step->run = run_select_scatter;
  return XP_OK;
}
