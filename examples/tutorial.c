/* The steps of docs/tutorial.md, each a function here: `tutorial graph`, `program`, `read`, `again`, `gradient`, `cut`,
 * `names` and `capture LOGDIR`.  What they print stands in that page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xlaprof/lazy.h>
#include <xlaprof/metrics.h>
#include <xlaprof/session.h>

static const char *logdir; /* the second word */

/* Prints a text and frees it. */
static bool show(char *text)
{
  if (text != NULL) {
    fputs(text, stdout);
    free(text);
  }
  return text != NULL;
}

static xl_tensor row(float a, float b, float c)
{
  const float values[] = {a, b, c};
  return xl_from_host(XL_F32, XL_SHAPE(3), values);
}

static unsigned long long samples(const char *metric)
{
  return (unsigned long long)xp_metric_samples(xp_metric_get(metric, XP_METRIC_TIME));
}

static void print_counts(const char *when)
{
  printf("%-22s compiles %llu, executes %llu, reads %llu\n", when, samples("CompileTime"), samples("ExecuteTime"),
         samples("TransferFromDeviceTime"));
}

/* ---- one operation */

static bool graph(xp_error *err)
{
  xl_tensor x = row(1, 2, 3), y = row(10, 20, 30);
  xl_tensor sum = xl_add(x, y);
  return show(xl_graph_text(&sum, 1, err));
}

static bool program(xp_error *err)
{
  xl_tensor x = row(1, 2, 3), y = row(10, 20, 30);
  xl_tensor sum = xl_add(x, y);
  return show(xl_program_text(&sum, 1, err));
}

static bool read_back(xp_error *err)
{
  float values[3];
  xl_tensor x = row(1, 2, 3), y = row(10, 20, 30);
  xl_tensor sum = xl_add(x, y);
  print_counts("the graph is built:");
  if (xl_to_host(sum, values, sizeof values, err) != XP_OK || xl_wait(err) != XP_OK) {
    return false;
  }
  print_counts("its value was read:");
  printf("%g %g %g\n", (double)values[0], (double)values[1], (double)values[2]);
  return true;
}

/* ---- steps */

static bool again(xp_error *err)
{
  xl_tensor sum = row(0, 0, 0);
  for (int i = 0; i < 3; i++) {
    XP_STEP("count", i) {
      XL_POOL
      {
        xl_add_(sum, row(1, 2, (float)i));
      }
    }
    char when[32];
    snprintf(when, sizeof when, "after step %d:", i);
    if (xl_error(err) != XP_OK || xl_wait(err) != XP_OK) {
      return false;
    }
    print_counts(when);
  }
  return true;
}

/* ---- gradients */

static bool gradient(xp_error *err)
{
  float values[3];
  xl_tensor x = row(1, 2, 3), w = row(1, 1, 1);
  xl_requires_grad(w, true);
  xl_backward(xl_sum(xl_mul(x, xl_mul(w, w))));
  xl_tensor slope = xl_grad(w);
  if (!show(xl_graph_text(&slope, 1, err)) || xl_to_host(slope, values, sizeof values, err) != XP_OK) {
    return false;
  }
  printf("%g %g %g\n", (double)values[0], (double)values[1], (double)values[2]);
  return true;
}

/* ---- a read in the middle */

static bool cut(xp_error *err)
{
  xl_tensor x = row(3, 2, 1);
  for (int i = 0; i < 2; i++) {
    XP_STEP("shrink", i) {
      XL_POOL
      {
        double largest;
        xl_mul_scalar_(x, 0.5);
        if (xl_item(xl_sum(x), &largest, err) != XP_OK) { /* the host wants to decide: the step is cut in two */
          return false;
        }
        if (largest > 1) {
          xl_add_scalar_(x, -0.1);
        }
      }
    }
  }
  if (xl_wait(err) != XP_OK) {
    return false;
  }
  print_counts("two steps, with a read:");
  return true;
}

/* ---- names, and a capture */

static bool names(xp_error *err)
{
  xl_tensor x = row(1, 2, 3), y = XL_NONE;
  XP_TRACE("layer") {
    XP_TRACE("first") {
      y = xl_relu(x);
    }
    y = xl_add(y, x);
  }
  return show(xl_graph_text(&y, 1, err));
}

static bool capture(xp_error *err)
{
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.logdir = logdir;
  xl_tensor w = row(1, 1, 1), x = row(1, 2, 3);
  xl_requires_grad(w, true);
  if (xp_session_start(&options, err) != XP_OK) {
    return false;
  }
  for (int i = 0; i < 3; i++) {
    XP_STEP("train", i) {
      XL_POOL
      {
        xl_tensor loss = XL_NONE;
        XP_TRACE("fwd") {
          loss = xl_sum(xl_mul(x, xl_relu(w)));
        }
        xl_backward(loss);
        XP_TRACE("opt") {
          XL_NO_GRAD
          {
            xl_add_scaled_(w, xl_grad(w), -0.1);
          }
        }
        xl_zero_grad(w);
      }
    }
  }
  return xl_error(err) == XP_OK && xl_wait(err) == XP_OK && xp_session_save(NULL, NULL, err) == XP_OK;
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    bool (*run)(xp_error *err);
  } parts[] = {{"graph", graph},       {"program", program}, {"read", read_back}, {"again", again},
               {"gradient", gradient}, {"cut", cut},         {"names", names},    {"capture", capture}};
  xp_error err = {XP_OK, ""};
  logdir = argc > 2 ? argv[2] : "logs";
  for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof parts[0]; i++) {
    if (strcmp(argv[1], parts[i].name) == 0) {
      const bool is_done = parts[i].run(&err);
      if (!is_done) {
        fprintf(stderr, "tutorial: %s\n", err.text);
      }
      xl_shutdown();
      return is_done ? 0 : 1;
    }
  }
  fprintf(stderr, "usage: tutorial graph | program | read | again | gradient | cut | names | capture LOGDIR\n");
  return 2;
}
