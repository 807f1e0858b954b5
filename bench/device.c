/* What the embedded device's evaluator takes for the operations that models spend their time in.
 *
 *   device
 *
 * Prints a line for each: the fastest of several runs, on one thread, and what that is in GFLOP/s or GB/s.
 * bench/device_peers.py prints the same lines for numpy and for XLA's CPU client.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/eval.h"
#include "hlo/build.h"

static double now_s(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void die(const xp_error *err)
{
  fprintf(stderr, "%s\n", err->text);
  exit(1);
}

/* Memory for an array, filled with small numbers. */
static void *filled(size_t bytes)
{
  float *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
  for (size_t i = 0; memory != NULL && i < bytes / sizeof *memory; i++) {
    memory[i] = (float)(i * 7919 % 1000) / 500 - 1;
  }
  return memory;
}

/* The fastest run of a plan, in seconds. */
static double fastest(const xp_dev_plan *plan)
{
  void *in[4], *out[4], *temp = filled(xp_dev_plan_temp_bytes(plan));
  xp_error err;
  for (size_t i = 0; i < xp_dev_plan_input_count(plan); i++) {
    in[i] = filled((size_t)xp_hlo_shape_bytes(xp_dev_plan_input_shape(plan, i)));
  }
  for (size_t i = 0; i < xp_dev_plan_output_count(plan); i++) {
    out[i] = filled((size_t)xp_hlo_shape_bytes(xp_dev_plan_output_shape(plan, i)));
  }
  xp_dev_run run = {.inputs = (const void *const *)in, .outputs = out, .temp = temp};
  double best = 1e9, start = now_s();
  for (int i = 0; i < 5 || now_s() - start < 0.3; i++) {
    double before = now_s();
    if (xp_dev_plan_run(plan, &run, &err) != XP_OK) {
      die(&err);
    }
    double took = now_s() - before;
    best = took < best ? took : best;
  }
  for (size_t i = 0; i < xp_dev_plan_input_count(plan); i++) {
    free(in[i]);
  }
  for (size_t i = 0; i < xp_dev_plan_output_count(plan); i++) {
    free(out[i]);
  }
  free(temp);
  return best;
}

typedef struct {
  xp_arena *arena;
  xp_hlo_builder *builder;
  xp_hlo_body *body;
} program;

static program begin(void)
{
  xp_arena *arena = xp_arena_create();
  xp_hlo_builder *builder = xp_hlo_builder_create(arena, "bench");
  return (program){arena, builder, NULL};
}

/* Runs what was built and prints a line; units: flops or bytes of one run. */
static void end(program p, xp_hlo_value root, const char *name, double units, const char *unit)
{
  const xp_hlo_module *module;
  xp_dev_plan *plan = NULL;
  xp_error err;
  uint32_t entry = xp_hlo_body_end(p.body, root);
  if (xp_hlo_builder_finish(p.builder, entry, &module, &err) != XP_OK ||
      xp_dev_plan_prepare(module, &plan, &err) != XP_OK) {
    die(&err);
  }
  double s = fastest(plan);
  printf("%-36s %10.1f us %8.1f %s\n", name, s * 1e6, units / s / 1e9, unit);
  xp_dev_plan_destroy(plan);
  xp_arena_destroy(p.arena);
}

static xp_hlo_value parameter(program p, int number, xp_hlo_type type, size_t rank, const int64_t *dims)
{
  xp_hlo_shape shape = xp_hlo_shape_array(type, rank, dims);
  return xp_hlo_build_parameter(p.body, number, &shape, number == 0 ? "p0" : "p1");
}

static void bench_product(int64_t n, xp_hlo_type type)
{
  static const int64_t one = 1, zero = 0;
  program p = begin();
  p.body = xp_hlo_body_begin(p.builder, "main");
  const int64_t dims[2] = {n, n};
  xp_hlo_value a = parameter(p, 0, type, 2, dims), b = parameter(p, 1, type, 2, dims);
  xp_hlo_dot numbers = {.lhs_contracting = {&one, 1}, .rhs_contracting = {&zero, 1}};
  char name[64];
  snprintf(name, sizeof name, "product %s %d", xp_hlo_type_name(type), (int)n);
  end(p, xp_hlo_build_dot(p.body, a, b, &numbers, XP_HLO_TYPE_INVALID, XP_HLO_PRECISION_DEFAULT), name,
      2.0 * (double)(n * n * n), "GFLOP/s");
}

typedef struct {
  int64_t x[4], kernel[4];
  xp_hlo_window_dim window; /* of both spatial dimensions, which are the last of all */
  bool is_kernel_gradient;  /* images take the place of channels, and channels that of images */
  int64_t groups;           /* of features; for the gradient of a kernel, of the batch */
} convolution;

static void bench_convolution(const char *name, const convolution *c, double flops)
{
  static const int64_t two_three[2] = {2, 3};
  program p = begin();
  p.body = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value x = parameter(p, 0, XP_HLO_F32, 4, c->x), k = parameter(p, 1, XP_HLO_F32, 4, c->kernel);
  xp_hlo_window_dim windows[2] = {c->window, c->window};
  xp_hlo_list spatial = {two_three, 2};
  xp_hlo_convolution_options options = {.numbers = {0, 1, spatial, 1, 0, spatial, 0, 1, spatial},
                                        .windows = windows,
                                        .feature_groups = c->is_kernel_gradient ? 1 : c->groups,
                                        .batch_groups = c->is_kernel_gradient ? c->groups : 1};
  if (c->is_kernel_gradient) {
    options.numbers = (xp_hlo_convolution){1, 0, spatial, 0, 1, spatial, 1, 0, spatial};
  }
  end(p, xp_hlo_build_convolution(p.body, x, k, &options), name, flops, "GFLOP/s");
}

/* A batch of 4, 3 x 3, as many channels as features, in the order of PyTorch: the convolution, the gradient of its
 * kernel, and that of the input of a convolution with stride 2. */
static void bench_convolutions(int64_t channels, int64_t extent, int64_t groups)
{
  const int64_t n = channels, e = extent, half = extent / 2, g = groups;
  const convolution forward = {{4, n, e, e}, {n, n / g, 3, 3}, {3, 1, 1, 1, 1, 1, false}, false, g};
  const convolution by_kernel = {{4, n, e, e}, {4, n, e, e}, {e, 1, 1, 1, 1, 1, false}, true, g};
  const convolution by_input = {{4, n, half, half}, {n, n / g, 3, 3}, {3, 1, 1, 2, 1, 2, false}, false, g};
  const double flops = 2.0 * 9 * 4 * (double)(n * (n / g) * e * e);
  char name[64];
  int length = snprintf(name, sizeof name, "convolution 3x3 4x%dx%dx%d", (int)n, (int)e, (int)e);
  if (g > 1) {
    snprintf(name + length, sizeof name - (size_t)length, ", %d groups", (int)g);
  }
  bench_convolution(name, &forward, flops);
  bench_convolution(".. gradient of its kernel", &by_kernel, flops);
  bench_convolution(".. with stride 2, of its input", &by_input, flops / 4);
}

static uint32_t combination(program p, xp_hlo_opcode opcode)
{
  xp_hlo_shape scalar = xp_hlo_shape_scalar(XP_HLO_F32);
  xp_hlo_body *body = xp_hlo_body_begin(p.builder, opcode == XP_HLO_OP_ADD ? "sum" : "largest");
  xp_hlo_value a = xp_hlo_build_parameter(body, 0, &scalar, "a"), b = xp_hlo_build_parameter(body, 1, &scalar, "b");
  return xp_hlo_body_end(body, xp_hlo_build_binary(body, opcode, a, b));
}

static void bench_softmax(int64_t rows, int64_t columns)
{
  static const int64_t one = 1, zero = 0;
  program p = begin();
  uint32_t sum = combination(p, XP_HLO_OP_ADD), largest = combination(p, XP_HLO_OP_MAXIMUM);
  p.body = xp_hlo_body_begin(p.builder, "main");
  const int64_t dims[2] = {rows, columns};
  xp_hlo_value x = parameter(p, 0, XP_HLO_F32, 2, dims);
  xp_hlo_value low = xp_hlo_build_scalar(p.body, XP_HLO_F32, -1e30),
               nothing = xp_hlo_build_scalar(p.body, XP_HLO_F32, 0);
  xp_hlo_value m = xp_hlo_build_reduce(p.body, &x, &low, 1, &one, 1, largest);
  m = xp_hlo_build_broadcast(p.body, m, 2, dims, &zero);
  xp_hlo_value e =
      xp_hlo_build_unary(p.body, XP_HLO_OP_EXPONENTIAL, xp_hlo_build_binary(p.body, XP_HLO_OP_SUBTRACT, x, m));
  xp_hlo_value s = xp_hlo_build_reduce(p.body, &e, &nothing, 1, &one, 1, sum);
  s = xp_hlo_build_broadcast(p.body, s, 2, dims, &zero);
  char name[64];
  snprintf(name, sizeof name, "softmax %dx%d", (int)rows, (int)columns);
  end(p, xp_hlo_build_binary(p.body, XP_HLO_OP_DIVIDE, e, s), name, 8.0 * (double)(rows * columns), "GB/s");
}

/* x * 2 + y, then tanh or nothing. */
static void bench_chain(xp_hlo_type type, int64_t n, bool has_tanh)
{
  program p = begin();
  p.body = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value x = parameter(p, 0, type, 1, &n), y = parameter(p, 1, type, 1, &n);
  xp_hlo_value two = xp_hlo_build_broadcast(p.body, xp_hlo_build_scalar(p.body, type, 2), 1, &n, NULL);
  xp_hlo_value z =
      xp_hlo_build_binary(p.body, XP_HLO_OP_ADD, xp_hlo_build_binary(p.body, XP_HLO_OP_MULTIPLY, x, two), y);
  char name[64];
  snprintf(name, sizeof name, "%s %s %d", has_tanh ? "tanh(2 x + y)" : "2 x + y", xp_hlo_type_name(type), (int)n);
  end(p, has_tanh ? xp_hlo_build_unary(p.body, XP_HLO_OP_TANH, z) : z, name,
      3.0 * (double)xp_hlo_type_bytes(type) * (double)n, "GB/s");
}

static void bench_transpose(int64_t n)
{
  static const int64_t turned[2] = {1, 0};
  program p = begin();
  p.body = xp_hlo_body_begin(p.builder, "main");
  const int64_t dims[2] = {n, n};
  xp_hlo_value x = parameter(p, 0, XP_HLO_F32, 2, dims);
  char name[64];
  snprintf(name, sizeof name, "transpose f32 %dx%d", (int)n, (int)n);
  end(p, xp_hlo_build_transpose(p.body, x, turned), name, 8.0 * (double)(n * n), "GB/s");
}

/* Sums of f32 up to each element, over one dimension of two. */
static void bench_sums(int64_t rows, int64_t columns, int dim)
{
  program p = begin();
  uint32_t sum = combination(p, XP_HLO_OP_ADD);
  p.body = xp_hlo_body_begin(p.builder, "main");
  const int64_t dims[2] = {rows, columns};
  xp_hlo_window_dim windows[2] = {{1, 1, 0, 0, 1, 1, false}, {1, 1, 0, 0, 1, 1, false}};
  windows[dim].size = dims[dim];
  windows[dim].padding_low = dims[dim] - 1;
  xp_hlo_value x = parameter(p, 0, XP_HLO_F32, 2, dims), zero = xp_hlo_build_scalar(p.body, XP_HLO_F32, 0);
  char name[64];
  snprintf(name, sizeof name, "sums so far of %s %dx%d", dim == 0 ? "columns" : "rows", (int)rows, (int)columns);
  end(p, xp_hlo_build_reduce_window(p.body, x, zero, windows, sum), name, 8.0 * (double)(rows * columns), "GB/s");
}

typedef struct {
  int64_t size, stride, padding;
} pool;

/* A pooling of 4x64x56x56, or, by maximum, its gradient: bytes are those of the operands and the result. */
static void bench_pool(const char *name, pool window, xp_hlo_opcode opcode, bool is_gradient)
{
  program p = begin();
  uint32_t join = combination(p, opcode), sum = is_gradient ? combination(p, XP_HLO_OP_ADD) : 0, select = 0;
  if (is_gradient) {
    xp_hlo_shape scalar = xp_hlo_shape_scalar(XP_HLO_F32);
    xp_hlo_body *body = xp_hlo_body_begin(p.builder, "select");
    xp_hlo_value a = xp_hlo_build_parameter(body, 0, &scalar, "a"), b = xp_hlo_build_parameter(body, 1, &scalar, "b");
    select = xp_hlo_body_end(body, xp_hlo_build_compare(body, XP_HLO_COMPARE_GE, a, b));
  }
  p.body = xp_hlo_body_begin(p.builder, "main");
  const int64_t e = 56, made = (e + 2 * window.padding - window.size) / window.stride + 1;
  const int64_t dims[4] = {4, 64, e, e}, out[4] = {4, 64, made, made};
  const xp_hlo_window_dim still = {1, 1, 0, 0, 1, 1, false};
  const xp_hlo_window_dim moved = {window.size, window.stride, window.padding, window.padding, 1, 1, false};
  const xp_hlo_window_dim windows[4] = {still, still, moved, moved};
  xp_hlo_value x = parameter(p, 0, XP_HLO_F32, 4, dims);
  xp_hlo_value start = xp_hlo_build_scalar(p.body, XP_HLO_F32, opcode == XP_HLO_OP_MAXIMUM && !is_gradient ? -1e30 : 0);
  xp_hlo_value y = is_gradient ? xp_hlo_build_select_and_scatter(p.body, x, select, windows,
                                                                 parameter(p, 1, XP_HLO_F32, 4, out), start, sum)
                               : xp_hlo_build_reduce_window(p.body, x, start, windows, join);
  double bytes = 4.0 * 256 * (double)(e * e * (is_gradient ? 2 : 1) + made * made);
  end(p, y, name, bytes, "GB/s");
}

/* The least that a pooling has to do: what memcpy takes for its operand. */
static void bench_copy(size_t count)
{
  size_t bytes = count * sizeof(float);
  char *from = filled(bytes), *to = filled(bytes);
  double best = 1e9, start = now_s();
  while (now_s() - start < 0.3) {
    double before = now_s();
    memcpy(to, from, bytes);
    __asm__ volatile("" : : "r"(to) : "memory");
    double took = now_s() - before;
    best = took < best ? took : best;
  }
  printf("%-36s %10.1f us %8.1f GB/s\n", "memcpy of 4x64x56x56", best * 1e6, 2.0 * (double)bytes / best / 1e9);
  free(from);
  free(to);
}

static void bench_pools(void)
{
  const pool two = {2, 2, 0}, three = {3, 2, 1};
  bench_copy(4 * 64 * 56 * 56);
  bench_pool("maximum of 2x2", two, XP_HLO_OP_MAXIMUM, false);
  bench_pool(".. its gradient", two, XP_HLO_OP_MAXIMUM, true);
  bench_pool("maximum of 3x3, stride 2", three, XP_HLO_OP_MAXIMUM, false);
  bench_pool(".. its gradient", three, XP_HLO_OP_MAXIMUM, true);
  bench_pool("sum of 2x2", two, XP_HLO_OP_ADD, false);
  bench_pool("sum of 3x3, stride 2", three, XP_HLO_OP_ADD, false);
}

int main(void)
{
  for (int64_t n = 64; n <= 1024; n *= 2) {
    bench_product(n, XP_HLO_F32);
  }
  bench_product(512, XP_HLO_BF16);
  bench_product(512, XP_HLO_F64);
  bench_convolutions(32, 32, 1);
  bench_convolutions(64, 32, 1);
  bench_convolutions(128, 16, 1);
  bench_convolutions(64, 56, 64);
  bench_convolutions(512, 14, 512);
  bench_convolutions(128, 28, 32);
  bench_softmax(1024, 128);
  bench_softmax(64, 8192);
  bench_chain(XP_HLO_F32, 1 << 16, false);
  bench_chain(XP_HLO_F32, 1 << 22, false);
  bench_chain(XP_HLO_BF16, 1 << 16, false);
  bench_chain(XP_HLO_F32, 1 << 16, true);
  bench_transpose(1024);
  bench_sums(256, 1024, 1);
  bench_sums(1024, 256, 0);
  bench_pools();
  return 0;
}
