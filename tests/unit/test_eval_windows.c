/* reduce-window against values on paper, and against plain loops over windows of all kinds. */
#include <math.h>

#include "eval_windows.h"

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
  uint32_t f = eval_operation(&p, r->type, r->opcode);
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
  xp_hlo_window_dim windows[3] = {eval_still, {3, 1, 2, 0, 1, 1, false}, eval_still};
  const reduction r = {XP_HLO_S32, XP_HLO_OP_ADD, 0, 3, dims, windows};
  reduce_window(&r, x, got);
  assert_memory_equal(got, forward, sizeof got);
  windows[0] = (xp_hlo_window_dim){2, 1, 0, 1, 1, 1, false};
  windows[1] = eval_still;
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

static void sums_so_far_cost_one_addition_a_result(void **state)
{
  (void)state;
  const int64_t n = 1000;
  const xp_hlo_window_dim window = {n, 1, n - 1, 0, 1, 1, false};
  eval_program p = eval_begin();
  uint32_t add = eval_operation(&p, XP_HLO_F32, XP_HLO_OP_ADD);
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value x = eval_parameter(&p, 0, XP_HLO_F32, 1, &n), zero = xp_hlo_build_scalar(p.main, XP_HLO_F32, 0);
  xp_dev_plan *plan = eval_prepare(eval_finish(&p, xp_hlo_build_reduce_window(p.main, x, zero, &window, add)));
  assert_true(xp_dev_plan_step(plan, 0).flops == (double)n);
  xp_dev_plan_destroy(plan);
  xp_arena_destroy(p.arena);
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

static void check_reduction(uint64_t *state, const eval_layout *l, xp_hlo_opcode opcode)
{
  static int32_t x[EVAL_MOST], got[EVAL_MOST * 8];
  eval_numbers(state, x, l->count);
  const reduction r = {XP_HLO_S32, opcode, 2, EVAL_RANK, l->dims, l->windows};
  reduce_window(&r, x, got);
  for (int64_t i = 0; i < l->out_count; i++) {
    uint32_t want = 2;
    for (int64_t k = 0; k < eval_positions(l); k++) {
      int64_t e = eval_element_under(l, i, k);
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
    eval_layout l = eval_random_layout(&random, i % 3);
    if (l.count <= EVAL_MOST && l.out_count <= EVAL_MOST * 8) {
      check_reduction(&random, &l, opcodes[i % 4]);
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_so_far_are_those_on_paper),
      cmocka_unit_test(sums_so_far_run_over_any_dimension),
      cmocka_unit_test(extremes_so_far_stay_nan),
      cmocka_unit_test(products_so_far_wrap),
      cmocka_unit_test(sums_so_far_of_bf16_are_rounded_once),
      cmocka_unit_test(sums_so_far_cost_one_addition_a_result),
      cmocka_unit_test(a_long_sum_so_far_is_that_of_a_loop),
      cmocka_unit_test(windows_of_all_kinds_are_reduced_as_by_loops),
      cmocka_unit_test(a_pooling_by_maximum_gives_nan_where_one_is),
      cmocka_unit_test(sums_of_padding_alone_are_the_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
