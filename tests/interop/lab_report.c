/* The lab of torch_lab_peer.py on lazy tensors, and the metrics report of its steps alone.
 *
 *   lab_report lazy|eager
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xlaprof/lazy.h"
#include "xlaprof/metrics.h"

enum { BATCH = 16, IN = 16, HIDDEN = 16, OUT = 4, PARAMETERS = 4 };

static void must(xp_status status, const xp_error *err)
{
  if (status != XP_OK) {
    fprintf(stderr, "%s\n", err->text);
    exit(1);
  }
}

/* Numbers do not matter: nothing that is counted depends on them. */
static xl_tensor upload(xl_shape shape)
{
  static float values[HIDDEN * IN];
  for (int i = 0; i < HIDDEN * IN; i++) {
    values[i] = (float)(i % 7) / 8;
  }
  return xl_from_host(XL_F32, shape, values);
}

/* A step as PyTorch's optimizers have it: gradients are dropped before they are computed again, not after their use. */
static xl_tensor train(xl_tensor x, const xl_tensor p[PARAMETERS], xl_tensor last_loss)
{
  for (int i = 0; i < PARAMETERS; i++) {
    xl_zero_grad(p[i]);
  }
  const xl_tensor hidden = xl_relu(xl_linear(x, p[0], p[1]));
  const xl_tensor loss = xl_mean(xl_linear(hidden, p[2], p[3]));
  xl_free(last_loss);
  xl_backward(loss);
  XL_NO_GRAD
  {
    for (int i = 0; i < PARAMETERS; i++) {
      xl_add_scaled_(p[i], xl_grad(p[i]), -0.1);
    }
  }
  return xl_keep(loss);
}

int main(int argc, char **argv)
{
  const bool is_eager = argc > 1 && strcmp(argv[1], "eager") == 0;
  xp_error err = {0};
  const xl_tensor x = upload(XL_SHAPE(BATCH, IN));
  const xl_tensor p[PARAMETERS] = {upload(XL_SHAPE(HIDDEN, IN)), upload(XL_SHAPE(HIDDEN)),
                                   upload(XL_SHAPE(OUT, HIDDEN)), upload(XL_SHAPE(OUT))};
  for (int i = 0; i < PARAMETERS; i++) {
    xl_requires_grad(p[i], true);
  }
  must(xl_sync(true, &err), &err);
  xp_metrics_clear_all();
  xl_set_eager(is_eager);
  xl_tensor loss = XL_NONE;
  for (int step = 0; step < (is_eager ? 3 : 2); step++) {
    XL_POOL
    {
      loss = train(x, p, loss);
    }
    must(xl_sync(true, &err), &err);
  }
  char *report = xp_metrics_report_text();
  if (report == NULL) {
    return 1;
  }
  fputs(report, stdout);
  free(report);
  xl_shutdown();
  return 0;
}
