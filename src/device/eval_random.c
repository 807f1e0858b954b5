/* rng and rng-get-and-update-state: random numbers from the device's own state.
 *
 * Each number is a hash of the run's seed and of its place in the sequence that the plan hands out, so numbers do not
 * depend on how many threads run the plan, as long as runs follow each other.
 */
#include <math.h>

#include "device/eval_element.h"
#include "device/eval_ops.h"

/* A number out of the sequence: two rounds of multiplication and folding (the finaliser of splitmix64). */
static uint64_t number_at(uint64_t seed, uint64_t place)
{
  uint64_t x = seed + place * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* In [0, 1), a multiple of 2^-53. */
static double unit(uint64_t number)
{
  return (double)(number >> 11) * 0x1p-53;
}

typedef struct {
  bool is_normal;
  xp_dev_kernel widen_half, widen, narrow; /* between the type and f64 */
} rng;

static double limit_of(const rng *d, const void *value)
{
  float half;
  double wide;
  const void *in[1] = {value};
  if (d->widen_half != NULL) {
    d->widen_half(&half, in, 1);
    in[0] = &half;
  }
  d->widen(&wide, in, 1);
  return wide;
}

/* Two numbers of the sequence for each element. */
static double next(const rng *d, uint64_t seed, uint64_t place, double a, double b, bool is_integer)
{
  double u = unit(number_at(seed, place)), v = unit(number_at(seed, place + 1));
  if (d->is_normal) { /* Box and Muller: mean a, deviation b */
    return a + b * sqrt(-2 * log(1 - u)) * cos(2 * 3.14159265358979323846 * v);
  }
  double x = a + u * (b - a);
  return is_integer ? floor(x) : x;
}

static xp_status run_rng(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const rng *d = step->detail;
  double a = limit_of(d, xp_dev_at(frame, step->in[0])), b = limit_of(d, xp_dev_at(frame, step->in[1]));
  uint64_t count = (uint64_t)step->out[0].count, place = atomic_fetch_add(frame->plan->random, 2 * count);
  bool is_integer = !xp_dev_type_is_float(step->out[0].type);
  char *out = xp_dev_at(frame, step->out[0]);
  size_t size = xp_dev_type_sizes[step->out[0].type];
  double numbers[64];
  for (uint64_t at = 0; at < count; at += 64) {
    uint64_t n = count - at < 64 ? count - at : 64;
    for (uint64_t i = 0; i < n; i++) {
      numbers[i] = next(d, frame->run->seed, place + 2 * (at + i), a, b, is_integer);
    }
    const void *in[1] = {numbers};
    d->narrow(out + at * size, in, (int64_t)n);
  }
  if (!d->is_normal && !is_integer) { /* rounding may have reached the end of the range, which is not part of it */
    for (uint64_t i = 0; i < count; i++) {
      if (limit_of(d, out + i * size) >= b) {
        memcpy(out + i * size, xp_dev_at(frame, step->in[0]), size);
      }
    }
  }
  return XP_OK;
}

xp_status xp_dev_prepare_rng(xp_dev_context *context, xp_dev_step *step)
{
  const xp_dev_kernels *kernels = context->plan->kernels;
  xp_hlo_rng distribution = context->instruction->rng;
  if (step->in_count != 2 || step->out_count != 1 || step->in[0].count != 1 || step->in[1].count != 1 ||
      step->in[0].type != step->out[0].type || step->in[1].type != step->out[0].type ||
      (distribution != XP_HLO_RNG_UNIFORM && distribution != XP_HLO_RNG_NORMAL)) {
    return xp_dev_reject(context, "its distribution or its operands do not fit");
  }
  xp_dev_type type = step->out[0].type;
  bool is_half = xp_dev_type_is_half(type);
  rng *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  *d = (rng){distribution == XP_HLO_RNG_NORMAL, is_half ? kernels->convert[type][XP_DEV_F32] : NULL,
             kernels->convert[is_half ? XP_DEV_F32 : type][XP_DEV_F64], kernels->convert[XP_DEV_F64][type]};
  step->detail = d;
  step->run = run_rng;
  step->has_effect = true;
  return XP_OK;
}

static xp_status run_state(const xp_dev_step *step, const xp_dev_frame *frame)
{
  uint64_t *out = xp_dev_at(frame, step->out[0]);
  out[0] = frame->run->seed + atomic_fetch_add(frame->plan->random, (uint64_t)step->instruction->delta);
  out[1] = 0;
  return XP_OK;
}

xp_status xp_dev_prepare_rng_state(xp_dev_context *context, xp_dev_step *step)
{
  if (step->in_count != 0 || step->out_count != 1 || step->out[0].count != 2 || step->out[0].type != XP_DEV_U64) {
    return xp_dev_reject(context, "its state is not u64[2]");
  }
  step->run = run_state;
  step->has_effect = true;
  return XP_OK;
}
