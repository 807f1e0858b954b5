/* batch-norm-training, -inference and -grad: statistics over all dimensions but one.
 *
 * The array is seen as [before][feature][after].  Everything is computed in f32, or f64 if the array is of f64, in rows
 * of `after` elements; sums are kept in f64, so that the variance of many elements is exact.
 */
#include <math.h>

#include "device/eval_element.h"
#include "device/eval_ops.h"

typedef struct {
  int64_t before, features, after;
  double epsilon;
  xp_dev_type type;                        /* of the array */
  xp_dev_kernel widen_half, widen, narrow; /* between the type and f64 */
} norm;

#define CHUNK 128

/* n elements as f64. */
static void load(const norm *d, double *to, const void *from, int64_t first, int64_t n)
{
  const void *in[1] = {(const char *)from + first * xp_dev_type_sizes[d->type]};
  float half[CHUNK];
  if (d->widen_half != NULL) {
    d->widen_half(half, in, n);
    in[0] = half;
  }
  d->widen(to, in, n);
}

static void store(const norm *d, void *to, int64_t first, const double *from, int64_t n)
{
  const void *in[1] = {from};
  d->narrow((char *)to + first * xp_dev_type_sizes[d->type], in, n);
}

static double load_one(const norm *d, const void *from, int64_t i)
{
  double x;
  load(d, &x, from, i, 1);
  return x;
}

/* Chunks of a feature's elements, one after the other; false at the end. */
typedef struct {
  int64_t row, at, first, n;
} walk;

static bool next_chunk(const norm *d, int64_t feature, walk *w)
{
  w->at += w->n;
  if (w->at >= d->after) {
    w->row++;
    w->at = 0;
  }
  if (w->row >= d->before || d->after == 0) {
    return false;
  }
  w->first = (w->row * d->features + feature) * d->after + w->at;
  w->n = d->after - w->at < CHUNK ? d->after - w->at : CHUNK;
  return true;
}

#define FOR_CHUNKS(w, feature) for (walk w = {0}; next_chunk(d, feature, &w);)

/* ---------------------------------------------------------------- training and inference */

static double mean_of(const norm *d, const void *x, int64_t feature)
{
  double values[CHUNK], sum = 0;
  FOR_CHUNKS(w, feature)
  {
    load(d, values, x, w.first, w.n);
    for (int64_t i = 0; i < w.n; i++) {
      sum += values[i];
    }
  }
  return sum / (double)(d->before * d->after);
}

static double variance_of(const norm *d, const void *x, int64_t feature, double mean)
{
  double values[CHUNK], sum = 0;
  FOR_CHUNKS(w, feature)
  {
    load(d, values, x, w.first, w.n);
    for (int64_t i = 0; i < w.n; i++) {
      sum += (values[i] - mean) * (values[i] - mean);
    }
  }
  return sum / (double)(d->before * d->after);
}

static void normalise(const norm *d, void *y, const void *x, int64_t feature, double mean, double factor, double offset)
{
  double values[CHUNK];
  FOR_CHUNKS(w, feature)
  {
    load(d, values, x, w.first, w.n);
    for (int64_t i = 0; i < w.n; i++) {
      values[i] = (values[i] - mean) * factor + offset;
    }
    store(d, y, w.first, values, w.n);
  }
}

static xp_status run_training(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const norm *d = step->detail;
  const void *x = xp_dev_at(frame, step->in[0]), *scale = xp_dev_at(frame, step->in[1]);
  const void *offset = xp_dev_at(frame, step->in[2]);
  void *y = xp_dev_at(frame, step->out[0]), *means = xp_dev_at(frame, step->out[1]),
       *variances = xp_dev_at(frame, step->out[2]);
  for (int64_t f = 0; f < d->features; f++) {
    double mean = mean_of(d, x, f), variance = variance_of(d, x, f, mean);
    normalise(d, y, x, f, mean, load_one(d, scale, f) / sqrt(variance + d->epsilon), load_one(d, offset, f));
    store(d, means, f, &mean, 1);
    store(d, variances, f, &variance, 1);
  }
  return XP_OK;
}

static xp_status run_inference(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const norm *d = step->detail;
  const void *in[5];
  for (int i = 0; i < 5; i++) {
    in[i] = xp_dev_at(frame, step->in[i]);
  }
  for (int64_t f = 0; f < d->features; f++) {
    double factor = load_one(d, in[1], f) / sqrt(load_one(d, in[4], f) + d->epsilon);
    normalise(d, xp_dev_at(frame, step->out[0]), in[0], f, load_one(d, in[3], f), factor, load_one(d, in[2], f));
  }
  return XP_OK;
}

/* ---------------------------------------------------------------- gradients */

/* Sums of the gradient and of its product with the normalised input. */
static void sum_gradients(const norm *d, const void *x, const void *dy, int64_t feature, double mean, double inverse,
                          double *sum, double *sum_with_x)
{
  double values[CHUNK], gradients[CHUNK];
  *sum = *sum_with_x = 0;
  FOR_CHUNKS(w, feature)
  {
    load(d, values, x, w.first, w.n);
    load(d, gradients, dy, w.first, w.n);
    for (int64_t i = 0; i < w.n; i++) {
      *sum += gradients[i];
      *sum_with_x += gradients[i] * (values[i] - mean) * inverse;
    }
  }
}

static xp_status run_grad(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const norm *d = step->detail;
  const void *x = xp_dev_at(frame, step->in[0]), *dy = xp_dev_at(frame, step->in[4]);
  void *dx = xp_dev_at(frame, step->out[0]);
  double values[CHUNK], gradients[CHUNK], count = (double)(d->before * d->after);
  for (int64_t f = 0; f < d->features; f++) {
    double mean = load_one(d, xp_dev_at(frame, step->in[2]), f), sum, sum_with_x;
    double inverse = 1 / sqrt(load_one(d, xp_dev_at(frame, step->in[3]), f) + d->epsilon);
    double factor = load_one(d, xp_dev_at(frame, step->in[1]), f) * inverse;
    sum_gradients(d, x, dy, f, mean, inverse, &sum, &sum_with_x);
    FOR_CHUNKS(w, f)
    {
      load(d, values, x, w.first, w.n);
      load(d, gradients, dy, w.first, w.n);
      for (int64_t i = 0; i < w.n; i++) {
        values[i] = factor * (gradients[i] - sum / count - (values[i] - mean) * inverse * sum_with_x / count);
      }
      store(d, dx, w.first, values, w.n);
    }
    store(d, xp_dev_at(frame, step->out[1]), f, &sum_with_x, 1);
    store(d, xp_dev_at(frame, step->out[2]), f, &sum, 1);
  }
  return XP_OK;
}

/* ---------------------------------------------------------------- checking */

/* Bit i of arrays: operand i has the shape of operand 0; the others, and all results but the first, have one element a
 * feature. */
static xp_status prepare(xp_dev_context *context, xp_dev_step *step, uint32_t operands, uint32_t results,
                         unsigned arrays)
{
  const xp_hlo_instruction *instruction = context->instruction;
  const xp_dev_kernels *kernels = context->plan->kernels;
  const xp_hlo_shape *shape = step->in_count > 0 ? step->in[0].shape : NULL;
  int64_t along = instruction->feature_index;
  if (shape == NULL || step->in_count != operands || step->out_count != results || along < 0 || along >= shape->rank ||
      !xp_dev_type_is_float(step->in[0].type) || !xp_hlo_shape_same(shape, step->out[0].shape)) {
    return xp_dev_reject(context, "its operands do not fit its feature dimension");
  }
  for (uint32_t i = 1; i < operands + results; i++) {
    const xp_dev_leaf *leaf = i < operands ? &step->in[i] : &step->out[i - operands];
    bool is_array = i < operands ? arrays >> i & 1 : i == operands;
    if (leaf->type != step->in[0].type || (is_array ? !xp_hlo_shape_same(leaf->shape, shape)
                                                    : leaf->shape->rank != 1 || leaf->count != shape->dims[along])) {
      return xp_dev_reject(context, "its operands do not fit its feature dimension");
    }
  }
  xp_dev_type type = step->in[0].type;
  bool is_half = xp_dev_type_is_half(type);
  norm *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  *d = (norm){1,
              shape->dims[along],
              1,
              (double)instruction->epsilon,
              type,
              is_half ? kernels->convert[type][XP_DEV_F32] : NULL,
              kernels->convert[is_half ? XP_DEV_F32 : type][XP_DEV_F64],
              kernels->convert[XP_DEV_F64][type]};
  for (int i = 0; i < shape->rank; i++) {
    int64_t *part = i < along ? &d->before : &d->after;
    *part *= i == along ? 1 : shape->dims[i];
  }
  step->detail = d;
  step->flops = (results == 1 ? 4.0 : 8.0) * (double)step->in[0].count;
  return XP_OK;
}

xp_status xp_dev_prepare_norm_training(xp_dev_context *context, xp_dev_step *step)
{
  step->run = run_training;
  return prepare(context, step, 3, 3, 0x1);
}

xp_status xp_dev_prepare_norm_inference(xp_dev_context *context, xp_dev_step *step)
{
  step->run = run_inference;
  return prepare(context, step, 5, 1, 0x1);
}

xp_status xp_dev_prepare_norm_grad(xp_dev_context *context, xp_dev_step *step)
{
  step->run = run_grad;
  return prepare(context, step, 5, 3, 0x11);
}
