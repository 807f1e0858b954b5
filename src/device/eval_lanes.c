/* Reductions by a computation of scalars.
 *
 * The results so far are kept in one of two rows for each operand; a combination writes the other one, since the
 * computation may give its parameters back in another order.
 */
#include "device/eval_lanes.h"

static size_t row_bytes(void)
{
  return (size_t)XP_DEV_LANES * 8;
}

xp_status xp_dev_lanes_prepare(xp_dev_context *context, xp_dev_step *step, const xp_dev_scalar **scalar)
{
  const xp_hlo_instruction *instruction = context->instruction;
  uint32_t count = step->out_count;
  xp_dev_type parameters[2 * XP_DEV_MAX_OPERANDS], results[XP_DEV_MAX_OPERANDS];
  if (count == 0 || step->in_count != 2 * count || instruction->call_count != 1) {
    return xp_dev_reject(context, "it has a wrong number of operands");
  }
  if (count > XP_DEV_MAX_OPERANDS) {
    return xp_dev_reject(context, "it has more operands than this device takes");
  }
  for (uint32_t i = 0; i < count; i++) {
    const xp_dev_leaf *in = &step->in[i], *initial = &step->in[count + i];
    if (in->type != initial->type || in->type != step->out[i].type || initial->count != 1 ||
        !xp_hlo_shape_same_dims(step->out[i].shape, step->out[0].shape)) {
      return xp_dev_reject(context, "its operands, initial values and results are of different types");
    }
    parameters[i] = parameters[count + i] = results[i] = in->type;
  }
  return xp_dev_scalar_prepare(context, instruction->calls[0], parameters, 2 * count, results, count, scalar);
}

size_t xp_dev_lanes_bytes(const xp_dev_scalar *scalar, uint32_t count)
{
  return xp_dev_scalar_bytes(scalar) + 3 * count * row_bytes();
}

void xp_dev_lanes_open(xp_dev_lanes *lanes, const xp_dev_step *step, const xp_dev_frame *frame,
                       const xp_dev_scalar *scalar, uint32_t count)
{
  lanes->scalar = scalar;
  lanes->count = count;
  lanes->memory = xp_dev_scratch(frame, step);
  xp_dev_scalar_open(scalar, lanes->memory);
  char *at = (char *)lanes->memory + xp_dev_scalar_bytes(scalar);
  for (uint32_t i = 0; i < count; i++, at += 3 * row_bytes()) {
    lanes->now[i] = at;
    lanes->next[i] = at + row_bytes();
    lanes->gathered[i] = at + 2 * row_bytes();
    lanes->in[i] = xp_dev_at(frame, step->in[i]);
    lanes->initial[i] = xp_dev_at(frame, step->in[count + i]);
    lanes->out[i] = xp_dev_at(frame, step->out[i]);
    lanes->size[i] = xp_dev_type_sizes[step->in[i].type];
  }
}

void xp_dev_lanes_start(xp_dev_lanes *lanes, int64_t n)
{
  for (uint32_t i = 0; i < lanes->count; i++) {
    xp_dev_fill(lanes->now[i], lanes->initial[i], lanes->size[i], n);
  }
}

#define GATHER(T)                                                                                                      \
  for (int64_t k = 0; k < n; k++) {                                                                                    \
    ((T *)to)[k] = ((const T *)from)[bases[k]];                                                                        \
  }                                                                                                                    \
  break;

static void gather(void *to, const void *from, size_t size, const int64_t *bases, int64_t n)
{
  switch (size) {
  case 1:
    GATHER(uint8_t)
  case 2:
    GATHER(uint16_t)
  case 4:
    GATHER(uint32_t)
  default:
    GATHER(uint64_t)
  }
}

void xp_dev_lanes_gather(xp_dev_lanes *lanes, const int64_t *bases, int64_t offset, int64_t n)
{
  bool is_row = bases[n - 1] - bases[0] == n - 1; /* bases rise */
  for (uint32_t i = 0; i < lanes->count; i++) {
    const char *from = lanes->in[i] + offset * (int64_t)lanes->size[i];
    lanes->row[i] = is_row ? from + bases[0] * (int64_t)lanes->size[i] : lanes->gathered[i];
    if (!is_row) {
      gather(lanes->gathered[i], from, lanes->size[i], bases, n);
    }
  }
}

void xp_dev_lanes_take(xp_dev_lanes *lanes, int64_t first, int64_t step, int64_t n)
{
  for (uint32_t i = 0; i < lanes->count; i++) {
    const char *from = lanes->in[i] + first * (int64_t)lanes->size[i];
    lanes->row[i] = step == 1 || n == 1 ? from : lanes->gathered[i];
    if (lanes->row[i] != from) {
      xp_dev_move move = {1, lanes->size[i], {n}, {1}, {step}};
      xp_dev_move_run(&move, lanes->gathered[i], from);
    }
  }
}

void xp_dev_lanes_combine(xp_dev_lanes *lanes, int64_t at, int64_t n)
{
  const void *parameters[2 * XP_DEV_MAX_OPERANDS];
  for (uint32_t i = 0; i < lanes->count; i++) {
    parameters[i] = lanes->now[i] + at * (int64_t)lanes->size[i];
    parameters[lanes->count + i] = lanes->row[i];
  }
  xp_dev_scalar_run(lanes->scalar, lanes->memory, parameters, n);
  for (uint32_t i = 0; i < lanes->count; i++) {
    memcpy(lanes->next[i], xp_dev_scalar_result(lanes->scalar, lanes->memory, i), (size_t)n * lanes->size[i]);
  }
  for (uint32_t i = 0; i < lanes->count; i++) {
    memcpy(lanes->now[i] + at * (int64_t)lanes->size[i], lanes->next[i], (size_t)n * lanes->size[i]);
  }
}

void xp_dev_lanes_fold(xp_dev_lanes *lanes, int64_t n)
{
  for (int64_t half = n / 2; half > 0; half /= 2) {
    for (uint32_t i = 0; i < lanes->count; i++) {
      lanes->row[i] = lanes->now[i] + half * (int64_t)lanes->size[i];
    }
    xp_dev_lanes_combine(lanes, 0, half);
  }
}

void xp_dev_lanes_store(xp_dev_lanes *lanes, int64_t first, int64_t n)
{
  for (uint32_t i = 0; i < lanes->count; i++) {
    memcpy(lanes->out[i] + first * (int64_t)lanes->size[i], lanes->now[i], (size_t)n * lanes->size[i]);
  }
}
