/* reduce-window and select-and-scatter against values on paper, and against plain loops over windows of all kinds. */
#include <math.h>

#include "eval_testing.h"

#define RANK 3
#define MOST 4096 /* elements of an array */

static const xp_hlo_window_dim still = {1, 1, 0, 0, 1, 1, false};

/* A computation of two scalars. */
static uint32_t operation(const eval_program *p, xp_hlo_type type, xp_hlo_opcode opcode)
{
  xp_hlo_shape scalar = xp_hlo_shape_scalar(type);
  xp_hlo_body *body = xp_hlo_body_begin(p->builder, "operation");
  xp_hlo_value a = xp_hlo_build_parameter(body, 0, &scalar, "a"), b = xp_hlo_build_parameter(body, 1, &scalar, "b");
  return xp_hlo_body_end(body, xp_hlo_build_binary(body, opcode, a, b));
}

static uint32_t comparison(const eval_program *p, xp_hlo_type type, xp_hlo_compare direction)
{
  xp_hlo_shape scalar = xp_hlo_shape_scalar(type);
  xp_hlo_body *body = xp_hlo_body_begin(p->builder, "comparison");
  xp_hlo_value a = xp_hlo_build_parameter(body, 0, &scalar, "a"), b = xp_hlo_build_parameter(body, 1, &scalar, "b");
  return xp_hlo_body_end(body, xp_hlo_build_compare(body, direction, a, b));
}

typedef struct {
  xp_hlo_type type;
  xp_hlo_opcode opcode;
  double start;
  size_t rank;
  const int64_t *dims;
  const xp_hlo_window_dim *windows;
} reduction;

static void reduce_window(const reduction *r, const void *x, void *result)
{
  eval_program p = eval_begin();
  uint32_t f = operation(&p, r->type, r->opcode);
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value start = xp_hlo_build_scalar(p.main, r->type, r->start),
               in = eval_parameter(&p, 0, r->type, r->rank, r->dims);
  eval_once(&p, xp_hlo_build_reduce_window(p.main, in, start, r->windows, f), x, NULL, result);
}

/* ---------------------------------------------------------------- results so far */

/* Of a row, from its beginning or its end. */
static void run_so_far(xp_hlo_type type, xp_hlo_opcode opcode, double start, int64_t n, bool is_reverse, const void *x,
                       void *result)
{
  const xp_hlo_window_dim window = {n, 1, is_reverse ? 0 : n - 1, is_reverse ? n - 1 : 0, 1, 1, false};
  const reduction r = {type, opcode, start, 1, &n, &window};
  reduce_window(&r, x, result);
}

static void sums_so_far_are_those_on_paper(void **state)
{
  (void)state;
  const float x[4] = {1, 2, 3, 4}, forward[4] = {1, 3, 6, 10}, backward[4] = {10, 9, 7, 4};
  float got[4];
  run_so_far(XP_HLO_F32, XP_HLO_OP_ADD, 0, 4, false, x, got);
  assert_memory_equal(got, forward, sizeof got);
  run_so_far(XP_HLO_F32, XP_HLO_OP_ADD, 0, 4, true, x, got);
  assert_memory_equal(got, backward, sizeof got);
  const float from_ten[4] = {11, 13, 16, 20};
  run_so_far(XP_HLO_F32, XP_HLO_OP_ADD, 10, 4, false, x, got);
  assert_memory_equal(got, from_ten, sizeof got);
}

static void sums_so_far_run_over_any_dimension(void **state)
{
  (void)state;
  static const int64_t dims[3] = {2, 3, 2};
  const int32_t x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const int32_t forward[12] = {1, 2, 4, 6, 9, 12, 7, 8, 16, 18, 27, 30};
  const int32_t backward[12] = {8, 10, 12, 14, 16, 18, 7, 8, 9, 10, 11, 12};
  int32_t got[12];
  xp_hlo_window_dim windows[3] = {still, {3, 1, 2, 0, 1, 1, false}, still};
  const reduction r = {XP_HLO_S32, XP_HLO_OP_ADD, 0, 3, dims, windows};
  reduce_window(&r, x, got);
  assert_memory_equal(got, forward, sizeof got);
  windows[0] = (xp_hlo_window_dim){2, 1, 0, 1, 1, 1, false};
  windows[1] = still;
  reduce_window(&r, x, got);
  assert_memory_equal(got, backward, sizeof got);
}

static void extremes_so_far_stay_nan(void **state)
{
  (void)state;
  const float x[5] = {2, 1, NAN, 7, 3};
  float got[5];
  run_so_far(XP_HLO_F32, XP_HLO_OP_MAXIMUM, -INFINITY, 5, false, x, got);
  assert_true(got[0] == 2 && got[1] == 2 && isnan(got[2]) && isnan(got[3]) && isnan(got[4]));
  run_so_far(XP_HLO_F32, XP_HLO_OP_MINIMUM, INFINITY, 5, true, x, got);
  assert_true(got[4] == 3 && got[3] == 3 && isnan(got[2]) && isnan(got[1]) && isnan(got[0]));
}

static void products_so_far_wrap(void **state)
{
  (void)state;
  enum { N = 40 };
  uint32_t x[N], got[N], want = 1;
  for (int i = 0; i < N; i++) {
    x[i] = 3;
  }
  run_so_far(XP_HLO_U32, XP_HLO_OP_MULTIPLY, 1, N, false, x, got);
  for (int i = 0; i < N; i++) {
    want *= 3;
    assert_int_equal(got[i], want);
  }
}

/* Ones: in steps of bf16, whose numbers are 2 apart above 256, the sum would stand still there. */
static void sums_so_far_of_bf16_are_rounded_once(void **state)
{
  (void)state;
  enum { N = 600 };
  uint16_t x[N], got[N];
  for (int i = 0; i < N; i++) {
    x[i] = 0x3f80;
  }
  run_so_far(XP_HLO_BF16, XP_HLO_OP_ADD, 0, N, false, x, got);
  assert_int_equal(got[254], 0x437f); /* 255 */
  assert_int_equal(got[299], 0x4396); /* 300 */
  assert_int_equal(got[599], 0x4416); /* 600 */
}

/* Too long for time that grows with its square: 2^40 additions. */
static void a_long_sum_so_far_is_that_of_a_loop(void **state)
{
  (void)state;
  enum { N = 1 << 20 };
  int64_t *x = malloc(N * sizeof *x), *got = malloc(N * sizeof *got), want = 0;
  for (int64_t i = 0; i < N; i++) {
    x[i] = i * 7919 % 1000 - 400;
  }
  run_so_far(XP_HLO_S64, XP_HLO_OP_ADD, 0, N, true, x, got);
  for (int64_t i = N - 1; i >= 0; i--) {
    want += x[i];
    assert_int_equal(got[i], want);
  }
  free(x), free(got);
}

/* ---------------------------------------------------------------- plain loops */

static uint32_t random_below(uint64_t *state, uint32_t n)
{
  *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % n;
}

/* How many windows fit; 0 if none. */
static int64_t windows_over(int64_t in, const xp_hlo_window_dim *w)
{
  int64_t padded = (in > 0 ? (in - 1) * w->base_dilation + 1 : 0) + w->padding_low + w->padding_high;
  int64_t span = (w->size - 1) * w->window_dilation + 1;
  return padded < span ? 0 : (padded - span) / w->stride + 1;
}

typedef struct {
  int64_t dims[RANK], out[RANK], count, out_count;
  xp_hlo_window_dim windows[RANK];
} layout;

/* Some dimensions, some of which the window moves over; kind: plain, with dilations, or with results so far. */
static layout random_layout(uint64_t *state, int kind)
{
  layout l = {.count = 1, .out_count = 1};
  for (int d = 0; d < RANK; d++) {
    int64_t in = random_below(state, 12);
    xp_hlo_window_dim w = still;
    if (kind == 2 && random_below(state, 2) == 0 && in > 0) {
      bool is_reverse = random_below(state, 2);
      w = (xp_hlo_window_dim){in, 1, is_reverse ? 0 : in - 1, is_reverse ? in - 1 : 0, 1, 1, false};
    } else if (random_below(state, 3) != 0) {
      w.size = 1 + random_below(state, 4);
      w.stride = 1 + random_below(state, 3);
      w.padding_low = (int64_t)random_below(state, 5) - (in > 1);
      w.padding_high = (int64_t)random_below(state, 5) - (in > 1);
      w.window_dilation = kind == 0 ? 1 : 1 + random_below(state, 3);
      w.base_dilation = kind == 0 ? 1 : 1 + random_below(state, 3);
      w.is_reversed = random_below(state, 4) == 0;
    }
    l.dims[d] = in, l.windows[d] = w, l.out[d] = windows_over(in, &w);
    l.count *= in, l.out_count *= l.out[d];
  }
  return l;
}

/* The element under a position of the window over a pixel; -1 if none.  Both are numbers that count all dimensions. */
static int64_t element_under(const layout *l, int64_t pixel, int64_t position)
{
  int64_t element = 0, stride = 1;
  for (int d = RANK - 1; d >= 0; d--) {
    const xp_hlo_window_dim *w = &l->windows[d];
    int64_t k = position % w->size, i = pixel % l->out[d];
    int64_t at = i * w->stride + (w->is_reversed ? w->size - 1 - k : k) * w->window_dilation - w->padding_low;
    if (at < 0 || at % w->base_dilation != 0 || at / w->base_dilation >= l->dims[d]) {
      return -1;
    }
    element += at / w->base_dilation * stride;
    stride *= l->dims[d];
    pixel /= l->out[d], position /= w->size;
  }
  return element;
}

static int64_t positions_of(const layout *l)
{
  return l->windows[0].size * l->windows[1].size * l->windows[2].size;
}

static void fill(uint64_t *state, int32_t *x, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    x[i] = (int32_t)random_below(state, 19) - 9;
  }
}

static void check_reduction(uint64_t *state, const layout *l, xp_hlo_opcode opcode)
{
  static int32_t x[MOST], got[MOST * 8];
  fill(state, x, l->count);
  const reduction r = {XP_HLO_S32, opcode, 2, RANK, l->dims, l->windows};
  reduce_window(&r, x, got);
  for (int64_t i = 0; i < l->out_count; i++) {
    uint32_t want = 2;
    for (int64_t k = 0; k < positions_of(l); k++) {
      int64_t e = element_under(l, i, k);
      if (e >= 0) {
        want = opcode == XP_HLO_OP_ADD        ? want + (uint32_t)x[e]
               : opcode == XP_HLO_OP_MULTIPLY ? want * (uint32_t)x[e]
               : opcode == XP_HLO_OP_MAXIMUM  ? ((int32_t)want > x[e] ? want : (uint32_t)x[e])
                                              : ((int32_t)want < x[e] ? want : (uint32_t)x[e]);
      }
    }
    assert_int_equal(got[i], (int32_t)want);
  }
}

static void windows_of_all_kinds_are_reduced_as_by_loops(void **state)
{
  (void)state;
  static const xp_hlo_opcode opcodes[4] = {XP_HLO_OP_ADD, XP_HLO_OP_MULTIPLY, XP_HLO_OP_MAXIMUM, XP_HLO_OP_MINIMUM};
  uint64_t random = 1;
  for (int i = 0; i < 600; i++) {
    layout l = random_layout(&random, i % 3);
    if (l.count <= MOST && l.out_count <= MOST * 8) {
      check_reduction(&random, &l, opcodes[i % 4]);
    }
  }
}

/* The first position of which no later one is better. */
static int64_t selected_under(const layout *l, const int32_t *x, int64_t pixel, xp_hlo_compare direction)
{
  int64_t chosen = -1;
  for (int64_t k = 0; k < positions_of(l); k++) {
    int64_t e = element_under(l, pixel, k);
    bool is_kept = e < 0 || (chosen >= 0 && (direction == XP_HLO_COMPARE_GE   ? x[chosen] >= x[e]
                                             : direction == XP_HLO_COMPARE_GT ? x[chosen] > x[e]
                                             : direction == XP_HLO_COMPARE_LE ? x[chosen] <= x[e]
                                                                              : x[chosen] < x[e]));
    chosen = is_kept ? chosen : e;
  }
  return chosen;
}

static void check_selection(uint64_t *state, const layout *l, xp_hlo_compare direction)
{
  static int32_t x[MOST], source[MOST * 8], got[MOST], want[MOST];
  fill(state, x, l->count);
  fill(state, source, l->out_count);
  eval_program p = eval_begin();
  uint32_t select = comparison(&p, XP_HLO_S32, direction), add = operation(&p, XP_HLO_S32, XP_HLO_OP_ADD);
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value a = eval_parameter(&p, 0, XP_HLO_S32, RANK, l->dims),
               b = eval_parameter(&p, 1, XP_HLO_S32, RANK, l->out);
  xp_hlo_value one = xp_hlo_build_scalar(p.main, XP_HLO_S32, 1);
  eval_once(&p, xp_hlo_build_select_and_scatter(p.main, a, select, l->windows, b, one, add), x, source, got);
  for (int64_t i = 0; i < l->count; i++) {
    want[i] = 1;
  }
  for (int64_t i = 0; i < l->out_count; i++) {
    int64_t e = selected_under(l, x, i, direction);
    if (e >= 0) {
      want[e] += source[i];
    }
  }
  assert_memory_equal(got, want, (size_t)l->count * sizeof *got);
}

static void windows_of_all_kinds_select_as_loops_do(void **state)
{
  (void)state;
  static const xp_hlo_compare directions[4] = {XP_HLO_COMPARE_GE, XP_HLO_COMPARE_GT, XP_HLO_COMPARE_LE,
                                               XP_HLO_COMPARE_LT};
  uint64_t random = 2;
  for (int i = 0; i < 400; i++) {
    layout l = random_layout(&random, i % 2);
    if (l.count <= MOST && l.out_count <= MOST * 8) {
      check_selection(&random, &l, directions[i % 4]);
    }
  }
}

/* ---------------------------------------------------------------- pooling */

/* 1 5 2      of 2 x 2: 5 5
 * 4 3 NaN              7 NaN, and 9 8 below
 * 7 0 6
 * 9 8 1 */
static void a_pooling_by_maximum_gives_nan_where_one_is(void **state)
{
  (void)state;
  static const int64_t dims[2] = {4, 3};
  const float x[12] = {1, 5, 2, 4, 3, NAN, 7, 0, 6, 9, 8, 1};
  const xp_hlo_window_dim windows[2] = {{2, 1, 0, 0, 1, 1, false}, {2, 1, 0, 0, 1, 1, false}};
  const reduction r = {XP_HLO_F32, XP_HLO_OP_MAXIMUM, -INFINITY, 2, dims, windows};
  float got[6];
  reduce_window(&r, x, got);
  assert_true(got[0] == 5 && isnan(got[1]) && got[2] == 7 && isnan(got[3]) && got[4] == 9 && got[5] == 8);
}

static void sums_of_padding_alone_are_the_start(void **state)
{
  (void)state;
  static const int64_t dims[1] = {2};
  const float x[2] = {-0.0f, 3};
  const xp_hlo_window_dim window = {1, 1, 2, 1, 1, 1, false};
  const reduction r = {XP_HLO_F32, XP_HLO_OP_ADD, -0.0, 1, dims, &window};
  float got[5];
  reduce_window(&r, x, got);
  assert_true(got[0] == 0 && signbit(got[0]) && signbit(got[2]) && got[3] == 3 && signbit(got[4]));
}

/* Under both windows the 2.5 is the largest one: 1 + 2^-8 goes there, which bf16 has not. */
static void gradients_of_bf16_are_rounded_once(void **state)
{
  (void)state;
  const int64_t dims = 3, out = 2;
  const uint16_t x[3] = {0x3f80, 0x4020, 0x3f80}, g[2] = {0x3f80, 0x3b80}; /* 1, 2.5, 1; 1, 2^-8 */
  const uint16_t want[3] = {0, 0x3f81, 0};                                 /* with the start of 2^-8: 1 + 2^-7 */
  uint16_t got[3];
  const xp_hlo_window_dim window = {2, 1, 0, 0, 1, 1, false};
  eval_program p = eval_begin();
  uint32_t select = comparison(&p, XP_HLO_BF16, XP_HLO_COMPARE_GE), add = operation(&p, XP_HLO_BF16, XP_HLO_OP_ADD);
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value a = eval_parameter(&p, 0, XP_HLO_BF16, 1, &dims), b = eval_parameter(&p, 1, XP_HLO_BF16, 1, &out);
  xp_hlo_value start = xp_hlo_build_scalar(p.main, XP_HLO_BF16, 0.00390625);
  eval_once(&p, xp_hlo_build_select_and_scatter(p.main, a, select, &window, b, start, add), x, g, got);
  assert_int_equal(got[1], want[1]);
  assert_int_equal(got[0], 0x3b80);
  assert_int_equal(got[2], 0x3b80);
}

/* A comparison with NaN is false: what stands behind it is selected, as in XLA. */
static void a_selection_passes_on_behind_nan(void **state)
{
  (void)state;
  const int64_t dims = 3, out = 1;
  const float x[3] = {NAN, 1, 0}, g[1] = {5}, want[3] = {0, 5, 0};
  float got[3];
  const xp_hlo_window_dim window = {3, 1, 0, 0, 1, 1, false};
  eval_program p = eval_begin();
  uint32_t select = comparison(&p, XP_HLO_F32, XP_HLO_COMPARE_GE), add = operation(&p, XP_HLO_F32, XP_HLO_OP_ADD);
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value a = eval_parameter(&p, 0, XP_HLO_F32, 1, &dims), b = eval_parameter(&p, 1, XP_HLO_F32, 1, &out);
  xp_hlo_value zero = xp_hlo_build_scalar(p.main, XP_HLO_F32, 0);
  eval_once(&p, xp_hlo_build_select_and_scatter(p.main, a, select, &window, b, zero, add), x, g, got);
  assert_memory_equal(got, want, sizeof want);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_so_far_are_those_on_paper),
      cmocka_unit_test(sums_so_far_run_over_any_dimension),
      cmocka_unit_test(extremes_so_far_stay_nan),
      cmocka_unit_test(products_so_far_wrap),
      cmocka_unit_test(sums_so_far_of_bf16_are_rounded_once),
      cmocka_unit_test(a_long_sum_so_far_is_that_of_a_loop),
      cmocka_unit_test(windows_of_all_kinds_are_reduced_as_by_loops),
      cmocka_unit_test(windows_of_all_kinds_select_as_loops_do),
      cmocka_unit_test(a_pooling_by_maximum_gives_nan_where_one_is),
      cmocka_unit_test(sums_of_padding_alone_are_the_start),
      cmocka_unit_test(gradients_of_bf16_are_rounded_once),
      cmocka_unit_test(a_selection_passes_on_behind_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
