/* A training step under scopes, for checks of the names that it leaves on a device.
 *
 *   lazy_step PLUGIN.so|embedded open|closed PROGRAM [LOGDIR]
 *
 * Two linear layers, cross entropy and SGD, under fwd, bwd and opt, with the gate of names open or closed.  Writes the
 * program of the step (HloModuleProto), runs three steps, with LOGDIR in a capture, and prints the losses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xlaprof/lazy.h"
#include "xlaprof/session.h"

enum { BATCH = 8, WIDTH = 32, CLASSES = 10, STEPS = 3 };

typedef struct {
  xl_tensor x, labels, weights[4];
} model;

static void must(xp_status status, const xp_error *err)
{
  if (status != XP_OK) {
    fprintf(stderr, "%s\n", err->text);
    exit(1);
  }
}

static xl_tensor filled(xl_shape shape)
{
  static float values[WIDTH * WIDTH];
  for (int i = 0; i < WIDTH * WIDTH; i++) {
    values[i] = (float)(i * 7919 % 1000) / 1000 - 0.5f;
  }
  return xl_from_host(XL_F32, shape, values);
}

static model make(void)
{
  static const int64_t labels[BATCH] = {0, 1, 2, 3, 4, 5, 6, 7};
  model m = {filled(XL_SHAPE(BATCH, WIDTH)),
             xl_from_host(XL_I64, XL_SHAPE(BATCH), labels),
             {filled(XL_SHAPE(WIDTH, WIDTH)), filled(XL_SHAPE(WIDTH)), filled(XL_SHAPE(CLASSES, WIDTH)),
              filled(XL_SHAPE(CLASSES))}};
  for (int i = 0; i < 4; i++) {
    xl_requires_grad(m.weights[i], true);
  }
  return m;
}

/* What a step computes; the loss is for the caller to free. */
static xl_tensor build(const model *m)
{
  xl_tensor loss = XL_NONE;
  XL_POOL
  {
    XP_TRACE("fwd") {
      xl_tensor hidden = xl_relu(xl_linear(m->x, m->weights[0], m->weights[1]));
      loss = xl_keep(xl_cross_entropy(xl_linear(hidden, m->weights[2], m->weights[3]), m->labels));
    }
    XP_TRACE("bwd") {
      xl_backward(loss);
    }
    XP_TRACE("opt") {
      XL_NO_GRAD
      {
        for (int i = 0; i < 4; i++) {
          xl_add_scaled_(m->weights[i], xl_grad(m->weights[i]), -0.5);
          xl_zero_grad(m->weights[i]);
        }
      }
    }
  }
  return loss;
}

static void run_steps(const model *m)
{
  xl_tensor losses[STEPS];
  xp_error err = {0};
  for (int i = 0; i < STEPS; i++) {
    XP_STEP("train", i) {
      losses[i] = build(m);
    }
  }
  must(xl_wait(&err), &err);
  for (int i = 0; i < STEPS; i++) {
    double loss;
    must(xl_item(losses[i], &loss, &err), &err);
    printf("loss%d %.6f\n", i, loss);
  }
}

static void capture_steps(const model *m, const char *logdir)
{
  const xp_session_options options = XP_SESSION_OPTIONS_INIT;
  const xp_export_options files = XP_EXPORT_OPTIONS_INIT;
  xp_profile *profile;
  xp_export *export;
  xp_error err = {0};
  must(xp_session_start(&options, &err), &err);
  run_steps(m);
  must(xp_session_stop(&profile, &err), &err);
  must(xp_profile_export(profile, logdir, &files, &export, &err), &err);
  must(xp_export_wait(export, NULL, 0, &err), &err);
}

int main(int argc, char **argv)
{
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err = {0};
  if (argc < 4) {
    fputs("usage: lazy_step PLUGIN.so|embedded open|closed PROGRAM [LOGDIR]\n", stderr);
    return 2;
  }
  options.plugin = argv[1];
  must(xl_device_open(&options, NULL, &err), &err);
  xl_set_ir_debug(strcmp(argv[2], "open") == 0);
  const model m = make();
  xl_tensor loss = build(&m);
  must(xl_program_save(NULL, 0, argv[3], &err), &err);
  must(xl_sync(true, &err), &err);
  xl_free(loss);
  if (argc > 4) {
    capture_steps(&m, argv[4]);
  } else {
    run_steps(&m);
  }
  xl_shutdown();
  return 0;
}
