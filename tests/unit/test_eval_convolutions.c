/* Convolutions in groups, by values on paper and against plain loops: forward, and the gradients of input and kernel as
 * HLO writes them. */
#include <math.h>

#include "eval_testing.h"

#define MOST 4096 /* elements of an array */

/* A convolution over two dimensions.  By dimension: batch, feature, height, width of x and y; input and output feature,
 * height, width of the kernel. */
typedef struct {
  int64_t x[4], kernel[4], y[4];
  int x_at[4], kernel_at[4], y_at[4]; /* where those dimensions are */
  xp_hlo_window_dim windows[2];
  int64_t feature_groups, batch_groups;
} convolution;

static int64_t count_of(const int64_t *dims)
{
  return dims[0] * dims[1] * dims[2] * dims[3];
}

/* Extents by their place in the shape. */
static void place_dims(const int64_t *dims, const int *at, int64_t *placed)
{
  for (int d = 0; d < 4; d++) {
    placed[at[d]] = dims[d];
  }
}

static int64_t offset_of(const int64_t *dims, const int *at, const int64_t *index)
{
  int64_t placed[4], indices[4], offset = 0;
  place_dims(dims, at, placed);
  place_dims(index, at, indices);
  for (int d = 0; d < 4; d++) {
    offset = offset * placed[d] + indices[d];
  }
  return offset;
}

static void run(const convolution *c, xp_hlo_type type, const void *x, const void *kernel, void *y)
{
  const int64_t x_spatial[2] = {c->x_at[2], c->x_at[3]}, kernel_spatial[2] = {c->kernel_at[2], c->kernel_at[3]},
                y_spatial[2] = {c->y_at[2], c->y_at[3]};
  int64_t x_dims[4], kernel_dims[4];
  place_dims(c->x, c->x_at, x_dims);
  place_dims(c->kernel, c->kernel_at, kernel_dims);
  const xp_hlo_convolution_options options = {
      .numbers = {c->x_at[0],
                  c->x_at[1],
                  {x_spatial, 2},
                  c->kernel_at[0],
                  c->kernel_at[1],
                  {kernel_spatial, 2},
                  c->y_at[0],
                  c->y_at[1],
                  {y_spatial, 2}},
      .windows = c->windows,
      .feature_groups = c->feature_groups,
      .batch_groups = c->batch_groups,
  };
  eval_program p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value a = eval_parameter(&p, 0, type, 4, x_dims), b = eval_parameter(&p, 1, type, 4, kernel_dims);
  eval_once(&p, xp_hlo_build_convolution(p.main, a, b, &options), x, kernel, y);
}

static const int in_order[4] = {0, 1, 2, 3}, kernel_in_order[4] = {1, 0, 2, 3};

static convolution in_order_of_torch(void)
{
  convolution c = {.feature_groups = 1, .batch_groups = 1};
  memcpy(c.x_at, in_order, sizeof c.x_at);
  memcpy(c.y_at, in_order, sizeof c.y_at);
  memcpy(c.kernel_at, kernel_in_order, sizeof c.kernel_at);
  return c;
}

/* ---------------------------------------------------------------- on paper */

/* 1 2 3      1 0                     1 1 1      1 1
 * 4 5 6  and 0 2, with zeros around; 1 1 1  and 1 1: each channel has its own kernel.
 * 7 8 9                              1 1 1 */
static void each_channel_has_its_own_kernel(void **state)
{
  (void)state;
  const float x[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1}, kernel[8] = {1, 0, 0, 2, 1, 1, 1, 1};
  const float want[32] = {2, 4, 6, 0, 8, 11, 14, 3, 14, 20, 23, 6, 0, 7, 8, 9,
                          1, 2, 2, 1, 2, 4,  4,  2, 2,  4,  4,  2, 1, 2, 2, 1};
  float got[32];
  convolution c = in_order_of_torch();
  const int64_t x_dims[4] = {1, 2, 3, 3}, kernel_dims[4] = {1, 2, 2, 2};
  memcpy(c.x, x_dims, sizeof c.x);
  memcpy(c.kernel, kernel_dims, sizeof c.kernel);
  c.feature_groups = 2;
  c.windows[0] = c.windows[1] = (xp_hlo_window_dim){2, 1, 1, 1, 1, 1, false};
  run(&c, XP_HLO_F32, x, kernel, got);
  assert_memory_equal(got, want, sizeof want);
}

/* The gradient of a kernel of 1 x 2 over 1 x 4 without padding: the last column meets the first tap in no pixel, so its
 * infinity stays out of the first tap, although rows lie behind each other. */
static void an_infinity_stays_out_of_taps_that_it_does_not_meet(void **state)
{
  (void)state;
  const float x[8] = {1, 2, 3, INFINITY, 4, 5, 6, INFINITY}, g[6] = {1, 1, 1, 1, 1, 2};
  float got[2];
  convolution c = in_order_of_torch();
  const int64_t x_dims[4] = {1, 1, 2, 4}, kernel_dims[4] = {1, 1, 2, 3};
  memcpy(c.x, x_dims, sizeof c.x);
  memcpy(c.kernel, kernel_dims, sizeof c.kernel);
  c.windows[0] = (xp_hlo_window_dim){2, 1, 0, 0, 1, 1, false};
  c.windows[1] = (xp_hlo_window_dim){3, 1, 0, 0, 1, 1, false};
  run(&c, XP_HLO_F32, x, g, got);
  assert_true(got[0] == 1 + 2 + 3 + 4 + 5 + 12 && got[1] == INFINITY);
}

/* ---------------------------------------------------------------- plain loops */

static uint32_t random_below(uint64_t *state, uint32_t n)
{
  *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % n;
}

/* The dimensions in another order. */
static void shuffle(uint64_t *state, int *at)
{
  for (int i = 3; i > 0; i--) {
    int j = (int)random_below(state, (uint32_t)i + 1), old = at[i];
    at[i] = at[j], at[j] = old;
  }
}

typedef enum { FORWARD, OF_INPUT, OF_KERNEL } direction;

/* One spatial dimension; false if no window fits. */
static bool random_window(uint64_t *state, direction way, convolution *c, int d)
{
  int64_t in = 1 + random_below(state, 9), small = 1 + random_below(state, 3);
  xp_hlo_window_dim w = {small, 1, (int64_t)random_below(state, 4) - (in > 1), random_below(state, 3), 1, 1, false};
  w.window_dilation = 1 + random_below(state, 2);
  if (way == FORWARD) {
    w.stride = 1 + random_below(state, 3);
    w.is_reversed = random_below(state, 4) == 0;
  } else if (way == OF_INPUT) {
    w.base_dilation = 1 + random_below(state, 3);
  } else {
    w.size = 1 + (in - 1) / w.window_dilation;
    w.stride = 1 + random_below(state, 2);
    w.padding_low = random_below(state, 3);
  }
  int64_t padded = (in - 1) * w.base_dilation + 1 + w.padding_low + w.padding_high;
  int64_t span = (w.size - 1) * w.window_dilation + 1;
  c->windows[d] = w;
  c->x[2 + d] = in, c->kernel[2 + d] = w.size, c->y[2 + d] = (padded - span) / w.stride + 1;
  return padded >= span;
}

static bool random_convolution(uint64_t *state, direction way, convolution *c)
{
  int64_t groups = 1 + random_below(state, 3), channels = 1 + random_below(state, 3),
          features = 1 + random_below(state, 4), images = 1 + random_below(state, 2);
  *c = in_order_of_torch();
  if (random_below(state, 2) == 0) {
    shuffle(state, c->x_at), shuffle(state, c->kernel_at), shuffle(state, c->y_at);
  }
  bool is_by_batch = random_below(state, 2) == 0;
  *(is_by_batch ? &c->batch_groups : &c->feature_groups) = groups;
  c->x[0] = images * c->batch_groups, c->x[1] = channels * c->feature_groups;
  c->kernel[0] = channels, c->kernel[1] = features * groups;
  c->y[0] = images, c->y[1] = features * groups;
  return random_window(state, way, c, 0) && random_window(state, way, c, 1) && count_of(c->x) <= MOST &&
         count_of(c->kernel) <= MOST && count_of(c->y) <= MOST;
}

/* The element of the input under position k of a window over pixel i; -1 if none. */
static int64_t under(const xp_hlo_window_dim *w, int64_t in, int64_t i, int64_t k)
{
  int64_t at = i * w->stride + (w->is_reversed ? w->size - 1 - k : k) * w->window_dilation - w->padding_low;
  return at < 0 || at % w->base_dilation != 0 || at / w->base_dilation >= in ? -1 : at / w->base_dilation;
}

static float one_result(const convolution *c, const float *x, const float *kernel, const int64_t *y)
{
  int64_t group = y[1] / (c->y[1] / (c->feature_groups * c->batch_groups));
  int64_t image = c->batch_groups > 1 ? group * c->y[0] + y[0] : y[0];
  int64_t first = c->feature_groups > 1 ? group * c->kernel[0] : 0;
  float sum = 0;
  for (int64_t channel = 0; channel < c->kernel[0]; channel++) {
    for (int64_t k = 0; k < c->kernel[2] * c->kernel[3]; k++) {
      const int64_t from[4] = {channel, y[1], k / c->kernel[3], k % c->kernel[3]};
      const int64_t in[4] = {image, first + channel, under(&c->windows[0], c->x[2], y[2], from[2]),
                             under(&c->windows[1], c->x[3], y[3], from[3])};
      if (in[2] >= 0 && in[3] >= 0) {
        sum += x[offset_of(c->x, c->x_at, in)] * kernel[offset_of(c->kernel, c->kernel_at, from)];
      }
    }
  }
  return sum;
}

/* To the nearest, ties to even; the numbers here are finite. */
static uint16_t as_bf16(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Whole numbers: sums are exact in f32, whatever their order. */
static void fill(uint64_t *state, float *x, uint16_t *halves, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    x[i] = (float)random_below(state, 15) - 7;
    halves[i] = as_bf16(x[i]);
  }
}

static void check(uint64_t *state, const convolution *c)
{
  static float x[MOST], kernel[MOST], got[MOST];
  static uint16_t x_halves[MOST], kernel_halves[MOST], got_halves[MOST];
  fill(state, x, x_halves, count_of(c->x));
  fill(state, kernel, kernel_halves, count_of(c->kernel));
  run(c, XP_HLO_F32, x, kernel, got);
  run(c, XP_HLO_BF16, x_halves, kernel_halves, got_halves);
  for (int64_t i = 0; i < count_of(c->y); i++) {
    const int64_t y[4] = {i / (c->y[3] * c->y[2] * c->y[1]), i / (c->y[3] * c->y[2]) % c->y[1], i / c->y[3] % c->y[2],
                          i % c->y[3]};
    int64_t at = offset_of(c->y, c->y_at, y);
    float want = one_result(c, x, kernel, y);
    if (got[at] != want) {
      fail_msg("%g instead of %g", (double)got[at], (double)want);
    }
    want = want == 0 ? 0.0f : want; /* no -0 */
    assert_int_equal(got_halves[at] == 0x8000 ? 0 : got_halves[at], as_bf16(want));
  }
}

static void check_many(direction way)
{
  uint64_t random = 1 + (uint64_t)way;
  convolution c;
  int checked = 0;
  for (int i = 0; i < 600; i++) {
    if (random_convolution(&random, way, &c)) {
      check(&random, &c);
      checked++;
    }
  }
  assert_true(checked > 100);
}

static void convolutions_in_groups_are_those_of_loops(void **state)
{
  (void)state;
  check_many(FORWARD);
}

static void gradients_of_inputs_in_groups_are_those_of_loops(void **state)
{
  (void)state;
  check_many(OF_INPUT);
}

static void gradients_of_kernels_in_groups_are_those_of_loops(void **state)
{
  (void)state;
  check_many(OF_KERNEL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_channel_has_its_own_kernel),
      cmocka_unit_test(an_infinity_stays_out_of_taps_that_it_does_not_meet),
      cmocka_unit_test(convolutions_in_groups_are_those_of_loops),
      cmocka_unit_test(gradients_of_inputs_in_groups_are_those_of_loops),
      cmocka_unit_test(gradients_of_kernels_in_groups_are_those_of_loops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
