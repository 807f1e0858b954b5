/* What lazy tensors cost, for bench/lazy, which runs this and its peers in turn.
 *
 *   lazy [PLUGIN.so]
 *
 * Answers each line of its standard input with a line of numbers, so that a device is opened and programs are compiled
 * once.  "chain names" and "step names" are as "chain" and "step", with the gate of names open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fma.h"
#include "xlaprof/lazy.h"

enum { CHAIN = 5000, CHAINS = 15, TRACES = 1000000, RESIDENT_NODES = 200000, TENS = 12, LAUNCHES = 301 };

/* What the host's calls cost is time of the processor, which other programs do not change: of the calling thread, or of
 * the process for products, whose only thread that works is the device's.  Steps and launches take time of the wall. */
static double ns_of(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double thread_ns(void)
{
  return ns_of(CLOCK_THREAD_CPUTIME_ID);
}

static double wall_ns(void)
{
  return ns_of(CLOCK_MONOTONIC);
}

static void must(xp_status status, const xp_error *err)
{
  if (status != XP_OK) {
    fprintf(stderr, "%s\n", err->text);
    exit(1);
  }
}

static void sync_now(bool is_waiting)
{
  xp_error err = {0};
  must(xl_sync(is_waiting, &err), &err);
}

static int by_value(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static double median(double *values, size_t count)
{
  qsort(values, count, sizeof *values, by_value);
  return values[count / 2];
}

/* A tensor of small numbers. */
static xl_tensor filled(xl_shape shape)
{
  size_t count = 1;
  for (size_t i = 0; i < shape.rank; i++) {
    count *= (size_t)shape.dims[i];
  }
  float *values = malloc((count + 1) * sizeof *values);
  for (size_t i = 0; values != NULL && i < count; i++) {
    values[i] = (float)(i * 7919 % 1000) / 500 - 1;
  }
  xl_tensor tensor = xl_from_host(XL_F32, shape, values);
  free(values);
  return tensor;
}

/* ---------------------------------------------------------------- nodes and barriers */

/* x + x + .. + x, as a loop over y = y + x makes it. */
static xl_tensor add_up(xl_tensor x, int nodes)
{
  xl_tensor y = xl_add(x, x);
  for (int i = 1; i < nodes; i++) {
    xl_tensor next = xl_add(y, x);
    xl_free(y);
    y = next;
  }
  return y;
}

/* ns of building a node, and of a barrier a node: the call, which launches a program that is there already. */
static void chain(void)
{
  double build[CHAINS], barrier[CHAINS];
  xl_tensor x = filled(XL_SHAPE(4, 4));
  for (int i = -2; i < CHAINS; i++) {
    xl_tensor y = XL_NONE;
    const double start = thread_ns();
    XP_TRACE("fwd") {
      y = add_up(x, CHAIN);
    }
    const double built = thread_ns();
    sync_now(false);
    const double launched = thread_ns();
    xp_error err = {0};
    must(xl_wait(&err), &err);
    xl_free(y);
    if (i >= 0) {
      build[i] = (built - start) / CHAIN;
      barrier[i] = (launched - built) / CHAIN;
    }
  }
  xl_free(x);
  printf("%g %g\n", median(build, CHAINS), median(barrier, CHAINS));
}

static void trace(void)
{
  const double start = thread_ns();
  for (int i = 0; i < TRACES; i++) {
    XP_TRACE("empty") {
      __asm__ volatile("" ::: "memory");
    }
  }
  printf("%g\n", (thread_ns() - start) / TRACES);
}

/* A node at least is memory from malloc that is written, linked to the last one, and freed. */
typedef struct floor_node {
  struct floor_node *operands[2];
  uint64_t fields[10];
} floor_node;

static double empty_loop_ns(void)
{
  const double start = thread_ns();
  for (int i = 0; i < TRACES; i++) {
    __asm__ volatile("" ::: "memory");
  }
  return (thread_ns() - start) / TRACES;
}

/* ns of that, of going through 5000 of them and writing a field of each, and of a turn of an empty loop. */
static void floors(void)
{
  static floor_node *nodes[CHAIN];
  double build[CHAINS], walk[CHAINS];
  for (int i = 0; i < CHAINS; i++) {
    const double start = thread_ns();
    for (int k = 0; k < CHAIN; k++) {
      nodes[k] = malloc(sizeof *nodes[k]);
      if (nodes[k] == NULL) {
        exit(1);
      }
      memset(nodes[k], k, sizeof *nodes[k]);
      nodes[k]->operands[0] = k > 0 ? nodes[k - 1] : NULL;
    }
    const double built = thread_ns();
    for (floor_node *n = nodes[CHAIN - 1]; n != NULL; n = n->operands[0]) {
      n->fields[0]++;
    }
    const double walked = thread_ns();
    for (int k = 0; k < CHAIN; k++) {
      free(nodes[k]);
    }
    build[i] = (built - start + thread_ns() - walked) / CHAIN;
    walk[i] = (walked - built) / CHAIN;
  }
  printf("%g %g %g\n", median(build, CHAINS), median(walk, CHAINS), empty_loop_ns());
}

/* ---------------------------------------------------------------- memory */

static double resident_bytes(void)
{
  long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2) {
    exit(1);
  }
  fclose(file);
  return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* Bytes of a node as the library counts them, and how much the process grows for one. */
static void memory(void)
{
  size_t before, count;
  xl_tensor x = filled(XL_SHAPE(4, 4));
  xl_free(add_up(x, 1));
  const size_t bytes_before = xl_node_bytes(&before);
  const double resident = resident_bytes();
  xl_tensor y = add_up(x, RESIDENT_NODES);
  const size_t bytes = xl_node_bytes(&count);
  printf("%g %g\n", (double)(bytes - bytes_before) / (double)(count - before),
         (resident_bytes() - resident) / RESIDENT_NODES);
  xl_free(y);
  xl_free(x);
}

/* ---------------------------------------------------------------- programs */

/* GFLOP/s of the fastest of several products of two square matrices. */
static void product(int64_t n)
{
  double best = 1e18;
  xl_tensor a = filled(XL_SHAPE(n, n)), b = filled(XL_SHAPE(n, n));
  for (int i = 0; i < 5; i++) {
    xl_tensor c = xl_mm(a, b);
    const double start = ns_of(CLOCK_PROCESS_CPUTIME_ID);
    sync_now(true);
    const double took = ns_of(CLOCK_PROCESS_CPUTIME_ID) - start;
    best = took < best ? took : best;
    xl_free(c);
  }
  xl_free(a);
  xl_free(b);
  printf("%g\n", 2.0 * (double)(n * n * n) / best);
}

typedef struct {
  xl_tensor x, target, w[4];
} mlp;

/* An MLP of 784, 256 and 10, and 128 examples. */
static mlp mlp_make(void)
{
  static int64_t labels[128];
  for (int i = 0; i < 128; i++) {
    labels[i] = i % 10;
  }
  mlp m = {filled(XL_SHAPE(128, 784)),
           xl_from_host(XL_I64, XL_SHAPE(128), labels),
           {filled(XL_SHAPE(256, 784)), filled(XL_SHAPE(256)), filled(XL_SHAPE(10, 256)), filled(XL_SHAPE(10))}};
  for (int i = 0; i < 4; i++) {
    xl_requires_grad(m.w[i], true);
  }
  return m;
}

static void mlp_step(const mlp *m)
{
  XL_POOL
  {
    xl_tensor out = xl_linear(xl_relu(xl_linear(m->x, m->w[0], m->w[1])), m->w[2], m->w[3]);
    xl_backward(xl_cross_entropy(out, m->target));
    XL_NO_GRAD
    {
      for (int i = 0; i < 4; i++) {
        xl_add_scaled_(m->w[i], xl_grad(m->w[i]), -1e-4);
        xl_zero_grad(m->w[i]);
      }
    }
  }
  sync_now(false);
}

/* us of a training step: ten steps, of which the device does one after the other while the host is ahead; the fastest
 * of several tens. */
static void step(void)
{
  const mlp m = mlp_make();
  xp_error err = {0};
  double best = 1e18;
  for (int i = 0; i < TENS; i++) {
    must(xl_wait(&err), &err);
    const double start = wall_ns();
    for (int k = 0; k < 10; k++) {
      mlp_step(&m);
    }
    must(xl_wait(&err), &err);
    const double took = (wall_ns() - start) / 10;
    best = took < best ? took : best;
  }
  printf("%g\n", best / 1e3);
  for (int i = 0; i < 4; i++) {
    xl_free(m.w[i]);
  }
  xl_free(m.x);
  xl_free(m.target);
}

/* us of a program that negates one number: until the call returns, and until the device is done. */
static void launch(void)
{
  double call[LAUNCHES], done[LAUNCHES];
  xl_tensor x = filled(XL_SCALAR);
  for (int i = -5; i < LAUNCHES; i++) {
    xp_error err = {0};
    xl_tensor y = xl_neg(x);
    const double start = wall_ns();
    sync_now(false);
    const double called = wall_ns();
    must(xl_wait(&err), &err);
    if (i >= 0) {
      call[i] = (called - start) / 1e3;
      done[i] = (wall_ns() - start) / 1e3;
    }
    xl_free(y);
  }
  xl_free(x);
  printf("%g %g\n", median(call, LAUNCHES), median(done, LAUNCHES));
}

/* ---------------------------------------------------------------- questions */

static void peak(void)
{
  printf("%g\n", fma_peak_gflops());
}

typedef struct {
  const char *name;
  void (*answer)(void);
} question;

static const question questions[] = {{"chain", chain}, {"trace", trace},   {"floors", floors}, {"memory", memory},
                                     {"step", step},   {"launch", launch}, {"peak", peak}};

static bool answer(const char *line)
{
  char name[32] = "", more[32] = "";
  sscanf(line, "%31s %31s", name, more);
  xl_set_ir_debug(strcmp(more, "names") == 0);
  if (strcmp(name, "product") == 0) {
    product(strtoll(more, NULL, 10));
    return true;
  }
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
    if (strcmp(questions[i].name, name) == 0) {
      questions[i].answer();
      return true;
    }
  }
  return false;
}

int main(int argc, char **argv)
{
  char line[128];
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err = {0};
  options.plugin = argc > 1 ? argv[1] : "embedded";
  must(xl_device_open(&options, NULL, &err), &err);
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (!answer(line)) {
      fprintf(stderr, "there is no question %s", line);
      return 2;
    }
    fflush(stdout);
  }
  xl_shutdown();
  return 0;
}
