/* Training on the digits: the loop, and the program around it.
 *
 * A step builds the graph of a batch; its end compiles and runs it.  Nothing in a step reads a value back, so that the
 * host is always ahead of the device: the loss is summed up on the device, and read once an epoch.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xlaprof/session.h>

#include "digits.h"

enum { TRAINING = 4000, TEST = 1000, BATCH = 50 };

typedef struct {
  const char *logdir;
  int epochs;
  bool is_json;
} settings;

typedef struct {
  const digits_model *model;
  digits training, test;
  xl_tensor parameters[PARAMETERS_MAX];
  xl_tensor loss_sum; /* of the epoch */
  int64_t step;
} program;

/* ---- what a step does */

static void update(const program *p)
{
  for (size_t i = 0; i < p->model->parameter_count; i++) {
    xl_add_scaled_(p->parameters[i], xl_grad(p->parameters[i]), -p->model->rate);
    xl_zero_grad(p->parameters[i]);
  }
}

static void train_step(program *p, xl_tensor pictures, xl_tensor labels)
{
  xl_tensor loss = XL_NONE;
  XP_TRACE("forward") {
    loss = xl_cross_entropy(p->model->forward(pictures, p->parameters), labels);
  }
  XP_TRACE("backward") {
    xl_backward(loss);
  }
  XP_TRACE("update") {
    XL_NO_GRAD
    {
      update(p);
      xl_add_(p->loss_sum, loss);
    }
  }
}

/* A batch, and the step on it.  The end of the step is the barrier; the inner pool ends before it, so that only what
 * lives on is computed. */
static xp_status train_batch(program *p, xl_loader *loader, xp_error *err)
{
  xp_status status = XP_OK;
  XL_POOL
  {
    xl_tensor batch[2];
    status = xl_loader_next(loader, batch, err);
    if (status == XP_OK) {
      XP_STEP("train", p->step++) {
        XL_POOL
        {
          train_step(p, batch[0], batch[1]);
        }
      }
    }
  }
  return status;
}

/* ---- an epoch */

static xp_status train_epoch(program *p, double *loss, xp_error *err)
{
  digits_batches batches = {&p->training, 0, BATCH};
  const xl_loader_options options = {
      .size = sizeof options, .array_count = 2, .fetch = digits_fetch, .context = &batches};
  xl_loader *loader;
  xl_zero_(p->loss_sum);
  xp_status status = xl_loader_open(&options, &loader, err);
  if (status != XP_OK) {
    return status;
  }
  while (status == XP_OK) {
    status = train_batch(p, loader, err);
  }
  status = status == XP_ERR_EMPTY ? XP_OK : status; /* no more batches */
  xl_loader_close(loader);
  if (status == XP_OK) {
    status = xl_item(p->loss_sum, loss, err);
    *loss /= TRAINING / BATCH;
  }
  return status;
}

/* The share of the test pictures that are recognised. */
static xp_status test(const program *p, double *accuracy, xp_error *err)
{
  xp_status status = XP_OK;
  XL_POOL
  {
    XL_NO_GRAD
    {
      xl_tensor pictures = xl_from_host(XL_F32, XL_SHAPE(TEST, DIGIT_PIXELS), p->test.pixels);
      xl_tensor labels = xl_from_host(XL_I64, XL_SHAPE(TEST), p->test.labels);
      xl_tensor found = xl_argmax(p->model->forward(pictures, p->parameters), -1, false);
      status = xl_item(xl_mean(xl_cast(xl_eq(found, labels), XL_F32)), accuracy, err);
    }
  }
  return status;
}

static void print_epoch(const settings *s, int epoch, double loss, double accuracy)
{
  if (s->is_json) {
    printf("%s{\"loss\": %.9g, \"accuracy\": %.9g}", epoch > 0 ? ", " : "", loss, accuracy);
  } else {
    printf("epoch %2d: loss %.4f, %.1f %% of the test pictures are recognised\n", epoch + 1, loss, 100 * accuracy);
  }
  fflush(stdout);
}

static xp_status train(program *p, const settings *s, xp_error *err)
{
  xp_status status = XP_OK;
  printf("%s", s->is_json ? "{\"epochs\": [" : "");
  for (int epoch = 0; epoch < s->epochs && status == XP_OK; epoch++) {
    double loss, accuracy;
    status = train_epoch(p, &loss, err);
    status = status == XP_OK ? test(p, &accuracy, err) : status;
    if (status == XP_OK) {
      print_epoch(s, epoch, loss, accuracy);
    }
  }
  const xl_cache_state programs = xl_cache();
  printf(s->is_json ? "], \"steps\": %lld, \"programs\": %zu}\n" : "%lld steps took %zu programs\n", (long long)p->step,
         programs.count);
  return status;
}

/* ---- the program */

/* Parameter i takes the numbers of seed 10 + i. */
static xl_tensor make_parameter(const digits_model *model, size_t i)
{
  const xl_shape shape = model->parameters[i].shape;
  size_t count = 1;
  for (size_t d = 0; d < shape.rank; d++) {
    count *= (size_t)shape.dims[d];
  }
  float *values = malloc(count * sizeof *values);
  const float bound = 1 / sqrtf((float)model->parameters[i].inputs);
  for (size_t n = 0; values != NULL && n < count; n++) {
    values[n] = (2 * digits_random(10 + i, n) - 1) * bound;
  }
  const xl_tensor made = values != NULL ? xl_from_host(XL_F32, shape, values) : XL_NONE;
  free(values);
  xl_requires_grad(made, true);
  return made;
}

static bool read_settings(int count, char **words, settings *s)
{
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--json") == 0) {
      s->is_json = true;
    } else if (strcmp(words[i], "--epochs") == 0 && i + 1 < count) {
      s->epochs = atoi(words[++i]);
    } else if (strcmp(words[i], "--logdir") == 0 && i + 1 < count) {
      s->logdir = words[++i];
    } else {
      return false;
    }
  }
  return s->epochs > 0;
}

static xp_status run(program *p, const settings *s, xp_error *err)
{
  xp_session_options session = XP_SESSION_OPTIONS_INIT;
  session.logdir = s->logdir;
  for (size_t i = 0; i < p->model->parameter_count; i++) {
    p->parameters[i] = make_parameter(p->model, i);
  }
  p->loss_sum = xl_zeros(XL_F32, XL_SCALAR);
  xp_status status = xl_sync(true, err);
  if (status == XP_OK && s->logdir != NULL) {
    status = xp_session_start(&session, err);
  }
  if (status == XP_OK) {
    status = train(p, s, err);
  }
  if (status == XP_OK && s->logdir != NULL) {
    status = xp_session_save(NULL, NULL, err);
  }
  return status;
}

int digits_main(const digits_model *model, int count, char **words)
{
  settings s = {.epochs = 10};
  program p = {.model = model};
  xp_error err = {XP_OK, ""};
  if (!read_settings(count, words, &s)) {
    fprintf(stderr, "usage: %s [--epochs N] [--json] [--logdir DIR]\n", model->name);
    return 2;
  }
  xp_status status = XP_ERR_MEMORY;
  if (digits_make(&p.training, TRAINING, 1) && digits_make(&p.test, TEST, 2)) {
    status = run(&p, &s, &err);
  }
  if (status != XP_OK) {
    fprintf(stderr, "%s: %s\n", model->name, err.text);
  }
  xl_shutdown();
  digits_free(&p.training);
  digits_free(&p.test);
  return status == XP_OK ? 0 : 1;
}
