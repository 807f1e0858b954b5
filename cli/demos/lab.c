/* The counted loop.  Samples of metrics are added when the device is done, so a count waits for it first; waiting is no
 * barrier and computes nothing. */
#include "lab.h"

#include "xlaprof/metrics.h"

enum { PARAMETERS = 4 };

typedef struct {
  bool is_eager;
  xl_tensor x, w1, b1, w2, b2;
  xp_metric_handle *compile_time, *execute_time;
  lab_counts before; /* of the process, when the counting began */
} lab;

const char *lab_phase_name(lab_phase phase)
{
  static const char *const names[LAB_PHASE_COUNT] = {"fwd", "bwd", "opt"};
  return names[phase];
}

static void fill(float *values, size_t count, uint32_t *state)
{
  for (size_t i = 0; i < count; i++) {
    *state = *state * 1664525u + 1013904223u;
    values[i] = (float)(*state >> 8) / (float)(1 << 25) - 0.25f;
  }
}

void lab_fill(lab_model *model)
{
  uint32_t state = 1;
  fill(model->x, sizeof model->x / sizeof(float), &state);
  fill(model->w1, sizeof model->w1 / sizeof(float), &state);
  fill(model->b1, sizeof model->b1 / sizeof(float), &state);
  fill(model->w2, sizeof model->w2 / sizeof(float), &state);
  fill(model->b2, sizeof model->b2 / sizeof(float), &state);
}

/* ---------------------------------------------------------------- counting */

static lab_counts raw_counts(const lab *l)
{
  return (lab_counts){xp_metric_samples(l->compile_time), xp_metric_samples(l->execute_time)};
}

static lab_counts less(lab_counts a, lab_counts b)
{
  return (lab_counts){a.compiles - b.compiles, a.executes - b.executes};
}

/* What happened since the counting began. */
static lab_counts count(const lab *l)
{
  xl_wait(NULL); /* an error stays with its tensors: reading the loss tells it */
  return less(raw_counts(l), l->before);
}

/* ---------------------------------------------------------------- the loop */

static void upload(lab *l, const lab_model *model)
{
  l->x = xl_from_host(XL_F32, XL_SHAPE(LAB_BATCH, LAB_IN), model->x);
  l->w1 = xl_from_host(XL_F32, XL_SHAPE(LAB_HIDDEN, LAB_IN), model->w1);
  l->b1 = xl_from_host(XL_F32, XL_SHAPE(LAB_HIDDEN), model->b1);
  l->w2 = xl_from_host(XL_F32, XL_SHAPE(LAB_OUT, LAB_HIDDEN), model->w2);
  l->b2 = xl_from_host(XL_F32, XL_SHAPE(LAB_OUT), model->b2);
  const xl_tensor parameters[PARAMETERS] = {l->w1, l->b1, l->w2, l->b2};
  for (int i = 0; i < PARAMETERS; i++) {
    xl_requires_grad(parameters[i], true);
  }
}

static void begin_counting(lab *l)
{
  l->compile_time = xp_metric_get(l->is_eager ? "EagerOpCompileTime" : "CompileTime", XP_METRIC_TIME);
  l->execute_time = xp_metric_get(l->is_eager ? "EagerOpExecuteTime" : "ExecuteTime", XP_METRIC_TIME);
  xl_wait(NULL);
  l->before = raw_counts(l);
}

/* The three parts of a step; gives the loss. */
static xl_tensor train(const lab *l, lab_counts after[LAB_PHASE_COUNT])
{
  const xl_tensor parameters[PARAMETERS] = {l->w1, l->b1, l->w2, l->b2};
  xl_tensor loss = XL_NONE;
  XP_TRACE("fwd") {
    const xl_tensor hidden = xl_relu(xl_linear(l->x, l->w1, l->b1));
    loss = xl_mean(xl_linear(hidden, l->w2, l->b2));
  }
  after[LAB_FORWARD] = count(l);
  XP_TRACE("bwd") {
    xl_backward(loss);
  }
  after[LAB_BACKWARD] = count(l);
  XP_TRACE("opt") {
    XL_NO_GRAD
    {
      for (int i = 0; i < PARAMETERS; i++) {
        xl_add_scaled_(parameters[i], xl_grad(parameters[i]), -LAB_RATE);
        xl_zero_grad(parameters[i]);
      }
    }
  }
  after[LAB_UPDATE] = count(l);
  return xl_keep(loss);
}

static xp_status run_step(const lab *l, int64_t number, lab_counts before, lab_step *step, xp_error *err)
{
  lab_counts after[LAB_PHASE_COUNT];
  xl_tensor loss = XL_NONE;
  XP_STEP(l->is_eager ? "eager" : "lazy", number) {
    XL_POOL
    {
      loss = train(l, after);
    }
  }
  step->sum = count(l);
  for (int i = 0; i < LAB_PHASE_COUNT; i++) {
    step->phases[i] = less(after[i], i > 0 ? after[i - 1] : before);
  }
  const xp_status status = xl_item(loss, &step->loss, err);
  xl_free(loss);
  return status;
}

xp_status lab_run(const lab_model *model, bool is_eager, size_t steps, lab_step *done, xp_error *err)
{
  lab l = {.is_eager = is_eager};
  xp_status status = XP_OK;
  xl_set_ir_debug(false); /* with names, equal operations of two scopes would be two programs */
  XL_POOL
  {
    upload(&l, model);
    begin_counting(&l);
    xl_set_eager(is_eager);
    for (size_t i = 0; i < steps && status == XP_OK; i++) {
      status = run_step(&l, (int64_t)i, i > 0 ? done[i - 1].sum : (lab_counts){0, 0}, &done[i], err);
    }
    xl_set_eager(false);
  }
  return status;
}

xp_status lab_save_program(const lab_model *model, bool has_names, const char *path, xp_error *err)
{
  lab l = {.is_eager = false};
  xp_status status = XP_OK;
  xl_set_ir_debug(has_names);
  XL_POOL
  {
    lab_counts after[LAB_PHASE_COUNT];
    upload(&l, model);
    begin_counting(&l);
    const xp_trace scope = xp_trace_begin("train"); /* no step: its end would be a barrier, which runs the program */
    const xl_tensor loss = train(&l, after);
    xp_trace_end(scope, NULL);
    status = xl_program_save(NULL, 0, path, err);
    xl_free(loss);
  }
  return status;
}
