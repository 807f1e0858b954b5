/* reduce-precision: numbers rounded as if they were kept in a float of fewer bits. */
#include <math.h>

#include "device/eval_element.h"
#include "device/eval_ops.h"

typedef struct {
  int exponent_bits, mantissa_bits;
  xp_dev_kernel widen, narrow; /* between the type and f64 */
  xp_dev_kernel widen_half;    /* of a half type, to f32 first; NULL for the others */
} precision;

/* Ties to even; what is above the range becomes infinity, what is below it zero, both with the sign. */
static double reduce(double x, int exponent_bits, int mantissa_bits)
{
  if (x == 0 || x - x != 0) {
    return x;
  }
  int exponent;
  double fraction = frexp(x, &exponent); /* 0.5 <= |fraction| < 1 */
  double scaled = ldexp(rint(ldexp(fraction, mantissa_bits + 1)), exponent - mantissa_bits - 1);
  int bias = (1 << (exponent_bits - 1)) - 1;
  frexp(scaled, &exponent);
  if (exponent - 1 > bias) {
    return copysign(INFINITY, x);
  }
  return exponent - 1 < 1 - bias ? copysign(0.0, x) : scaled;
}

static xp_status run_precision(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const precision *d = step->detail;
  const char *from = xp_dev_at(frame, step->in[0]);
  char *to = xp_dev_at(frame, step->out[0]);
  int64_t size = xp_dev_type_sizes[step->out[0].type];
  double wide[64];
  float half[64];
  for (int64_t at = 0; at < step->out[0].count; at += 64) {
    int64_t n = step->out[0].count - at < 64 ? step->out[0].count - at : 64;
    const void *source[1] = {from + at * size}, *halves[1] = {half}, *wides[1] = {wide};
    if (d->widen_half != NULL) {
      d->widen_half(half, source, n);
    }
    d->widen(wide, d->widen_half != NULL ? halves : source, n);
    for (int64_t i = 0; i < n; i++) {
      wide[i] = reduce(wide[i], d->exponent_bits, d->mantissa_bits);
    }
    d->narrow(to + at * size, wides, n);
  }
  return XP_OK;
}

xp_status xp_dev_prepare_reduce_precision(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  const xp_dev_kernels *kernels = context->plan->kernels;
  if (step->in_count != 1 || step->out_count != 1 || !xp_hlo_shape_same(step->in[0].shape, step->out[0].shape) ||
      !xp_dev_type_is_float(step->in[0].type)) {
    return xp_dev_reject(context, "its operand is not of its shape, or not of floats");
  }
  if (instruction->exponent_bits < 1 || instruction->exponent_bits > 11 || instruction->mantissa_bits < 0 ||
      instruction->mantissa_bits > 52) {
    return xp_dev_reject(context, "there is no float of so many bits");
  }
  xp_dev_type type = step->in[0].type;
  bool is_half = xp_dev_type_is_half(type);
  precision *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  *d = (precision){instruction->exponent_bits, instruction->mantissa_bits,
                   kernels->convert[is_half ? XP_DEV_F32 : type][XP_DEV_F64], kernels->convert[XP_DEV_F64][type],
                   is_half ? kernels->convert[type][XP_DEV_F32] : NULL};
  step->detail = d;
  step->run = run_precision;
  step->is_pointwise = true;
  return XP_OK;
}
