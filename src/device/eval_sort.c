/* sort: lines of one or more arrays, ordered together by a comparator.
 *
 * The numbers of a line's elements are merge-sorted, from short sorted runs upwards, and the elements are fetched in
 * their order at the end.  So the sort is stable whether or not it has to be, and a comparator that contradicts itself
 * gives some order, but nothing worse.
 */
#include "device/eval_move.h"
#include "device/eval_ops.h"
#include "device/eval_scalar.h"

#define MAX_OPERANDS 16

typedef struct {
  const xp_dev_scalar *scalar;
  int64_t extent, stride, before; /* of a line: elements, their distance; lines that begin a block */
  size_t order_at, other_at;      /* in the scratch; 0 is the computation's memory */
} sort;

typedef struct {
  const sort *d;
  void *memory;
  uint32_t count;
  const char *line[MAX_OPERANDS]; /* first element of the line in each operand */
  int64_t distance[MAX_OPERANDS]; /* bytes from element to element */
} work;

/* True if element a must stand before element b. */
static bool is_before(const work *w, int64_t a, int64_t b)
{
  const void *parameters[2 * MAX_OPERANDS];
  for (uint32_t k = 0; k < w->count; k++) {
    parameters[2 * k] = w->line[k] + a * w->distance[k];
    parameters[2 * k + 1] = w->line[k] + b * w->distance[k];
  }
  xp_dev_scalar_run(w->d->scalar, w->memory, parameters, 1);
  return *(const uint8_t *)xp_dev_scalar_result(w->d->scalar, w->memory, 0) != 0;
}

/* Merges order[from .. middle) and order[middle .. to) into other. */
static void merge(const work *w, const int64_t *order, int64_t *other, int64_t from, int64_t middle, int64_t to)
{
  int64_t a = from, b = middle;
  for (int64_t i = from; i < to; i++) {
    bool takes_b = a >= middle || (b < to && is_before(w, order[b], order[a]));
    other[i] = takes_b ? order[b++] : order[a++];
  }
}

/* Sorts the numbers 0 .. n - 1; returns the one of the two arrays that has them. */
static const int64_t *sort_line(const work *w, int64_t n, int64_t *order, int64_t *other)
{
  for (int64_t i = 0; i < n; i++) {
    order[i] = i;
  }
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t from = 0; from < n; from += 2 * width) {
      int64_t middle = from + width < n ? from + width : n, to = middle + width < n ? middle + width : n;
      merge(w, order, other, from, middle, to);
    }
    int64_t *sorted = other;
    other = order;
    order = sorted;
  }
  return order;
}

#define FETCH(T)                                                                                                       \
  for (int64_t i = 0; i < n; i++) {                                                                                    \
    ((T *)to)[i * stride] = ((const T *)from)[order[i] * stride];                                                      \
  }                                                                                                                    \
  break;

static void fetch(void *to, const void *from, size_t size, const int64_t *order, int64_t n, int64_t stride)
{
  switch (size) {
  case 1:
    FETCH(uint8_t)
  case 2:
    FETCH(uint16_t)
  case 4:
    FETCH(uint32_t)
  default:
    FETCH(uint64_t)
  }
}

static xp_status run_sort(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const sort *d = step->detail;
  char *scratch = xp_dev_scratch(frame, step);
  work w = {.d = d, .memory = scratch, .count = step->in_count};
  xp_dev_scalar_open(d->scalar, scratch);
  for (int64_t line = 0; line < d->before * d->stride && d->extent > 0; line++) {
    int64_t first = line / d->stride * d->stride * d->extent + line % d->stride;
    for (uint32_t k = 0; k < w.count; k++) {
      int64_t size = xp_dev_type_sizes[step->in[k].type];
      w.line[k] = (const char *)xp_dev_at(frame, step->in[k]) + first * size;
      w.distance[k] = d->stride * size;
    }
    const int64_t *order =
        sort_line(&w, d->extent, (int64_t *)(scratch + d->order_at), (int64_t *)(scratch + d->other_at));
    for (uint32_t k = 0; k < w.count; k++) {
      size_t size = xp_dev_type_sizes[step->in[k].type];
      fetch((char *)xp_dev_at(frame, step->out[k]) + first * (int64_t)size, w.line[k], size, order, d->extent,
            d->stride);
    }
  }
  return XP_OK;
}

xp_status xp_dev_prepare_sort(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  xp_hlo_list dimensions = instruction->dimensions;
  xp_dev_type types[2 * MAX_OPERANDS], choice = XP_DEV_PRED;
  if (step->in_count == 0 || step->in_count > MAX_OPERANDS || step->out_count != step->in_count ||
      instruction->call_count != 1 || dimensions.count != 1 || dimensions.values[0] < 0 ||
      dimensions.values[0] >= step->in[0].shape->rank) {
    return xp_dev_reject(context, "its dimension or its number of operands does not fit");
  }
  for (uint32_t k = 0; k < step->in_count; k++) {
    types[2 * k] = types[2 * k + 1] = step->in[k].type;
    if (!xp_hlo_shape_same(step->in[k].shape, step->out[k].shape) ||
        !xp_hlo_shape_same_dims(step->in[k].shape, step->in[0].shape)) {
      return xp_dev_reject(context, "its operands and results have different shapes");
    }
  }
  sort *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  xp_status status =
      xp_dev_scalar_prepare(context, instruction->calls[0], types, 2 * step->in_count, &choice, 1, &d->scalar);
  if (status != XP_OK) {
    return status;
  }
  const xp_hlo_shape *shape = step->in[0].shape;
  d->extent = shape->dims[dimensions.values[0]];
  d->stride = d->before = 1;
  for (int i = 0; i < shape->rank; i++) {
    d->stride *= i > dimensions.values[0] ? shape->dims[i] : 1;
    d->before *= i < dimensions.values[0] ? shape->dims[i] : 1;
  }
  size_t order = xp_dev_round_up((size_t)d->extent * sizeof(int64_t));
  d->order_at = xp_dev_scalar_bytes(d->scalar);
  d->other_at = d->order_at + order;
  step->scratch_bytes = d->other_at + order;
  step->detail = d;
  step->run = run_sort;
  return XP_OK;
}
