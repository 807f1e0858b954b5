/* A first program on lazy tensors: trains two layers for some steps, and prints the loss and what was compiled and run.
 *
 *   cc lab.c $(pkg-config --cflags --libs xlalazy)
 *   build/examples/lab [--eager] [--steps N]
 *
 * Without --eager a step is one program, compiled once.  With it, every operation is one.  `xlaprof demo lab` explains
 * the numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xlaprof/lazy.h>
#include <xlaprof/metrics.h>

enum { BATCH = 16, IN = 16, HIDDEN = 16, OUT = 4, PARAMETERS = 4 };

/* The samples of a metric: each compile and each execute of the runtime is one. */
static unsigned long long count(const char *metric)
{
  return (unsigned long long)xp_metric_samples(xp_metric_get(metric, XP_METRIC_TIME));
}

/* A parameter: random numbers of the device, and a wish for their gradient.  It lives until xl_free or xl_shutdown,
 * since it is made outside of every pool. */
static xl_tensor parameter(xl_shape shape)
{
  xl_tensor made = xl_mul_scalar(xl_sub_scalar(xl_rand(XL_F32, shape), 0.5), 0.5);
  xl_requires_grad(made, true);
  return made;
}

/* Builds the graph of a step.  Nothing is computed here. */
static xl_tensor train(xl_tensor x, const xl_tensor p[PARAMETERS])
{
  xl_tensor loss = XL_NONE;
  XP_TRACE("fwd") { /* the name that the operations inside have in a profile */
    xl_tensor hidden = xl_relu(xl_linear(x, p[0], p[1]));
    loss = xl_mean(xl_linear(hidden, p[2], p[3]));
  }
  XP_TRACE("bwd") {
    xl_backward(loss);
  }
  XP_TRACE("opt") {
    XL_NO_GRAD /* the update is no part of what is differentiated */
    {
      for (int i = 0; i < PARAMETERS; i++) {
        xl_add_scaled_(p[i], xl_grad(p[i]), -0.1);
        xl_zero_grad(p[i]);
      }
    }
  }
  return loss;
}

static xp_status run(bool is_eager, int steps, xp_error *err)
{
  xl_manual_seed(1);
  xl_tensor x = xl_randn(XL_F32, XL_SHAPE(BATCH, IN));
  const xl_tensor p[PARAMETERS] = {parameter(XL_SHAPE(HIDDEN, IN)), parameter(XL_SHAPE(HIDDEN)),
                                   parameter(XL_SHAPE(OUT, HIDDEN)), parameter(XL_SHAPE(OUT))};

  /* A barrier: computes all that was built, here the first values. */
  if (xl_sync(true, err) != XP_OK) {
    return err->status;
  }
  xp_metrics_clear();
  xl_set_eager(is_eager);
  for (int step = 0; step < steps; step++) {
    xl_tensor loss = XL_NONE;
    double value;
    XP_STEP("train", step) {
      XL_POOL /* what is made inside is freed at its end: the barrier need not compute it */
      {
        loss = xl_keep(train(x, p));
      }
    } /* the end of the step is a barrier: it launches the program, and does not wait */

    /* Reading a value waits for the device.  An error of anything above would be reported here. */
    if (xl_item(loss, &value, err) != XP_OK || xl_wait(err) != XP_OK) {
      return err->status;
    }
    xl_free(loss);
    printf("step %d: loss %9.6f, compiles %llu, executes %llu\n", step, value,
           count(is_eager ? "EagerOpCompileTime" : "CompileTime"),
           count(is_eager ? "EagerOpExecuteTime" : "ExecuteTime"));
  }
  return XP_OK;
}

int main(int argc, char **argv)
{
  bool is_eager = false;
  int steps = 3;
  xp_error err = {XP_OK, ""};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--eager") == 0) {
      is_eager = true;
    } else if (strcmp(argv[i], "--steps") == 0 && i + 1 < argc) {
      steps = atoi(argv[++i]);
    } else {
      fprintf(stderr, "usage: lab [--eager] [--steps N]\n");
      return 2;
    }
  }
  const xp_status status = run(is_eager, steps, &err);
  if (status != XP_OK) {
    fprintf(stderr, "lab: %s\n", err.text);
  }
  xl_shutdown();
  return status == XP_OK ? 0 : 1;
}
