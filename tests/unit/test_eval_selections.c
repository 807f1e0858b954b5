/* select-and-scatter against values on paper, and against plain loops over windows of all kinds. */
#include <math.h>

#include "eval_windows.h"

/* The first position of which no later one is better. */
static int64_t selected_under(const eval_layout *l, const int32_t *x, int64_t pixel, xp_hlo_compare direction)
{
  int64_t chosen = -1;
  for (int64_t k = 0; k < eval_positions(l); k++) {
    int64_t e = eval_element_under(l, pixel, k);
    bool is_kept = e < 0 || (chosen >= 0 && (direction == XP_HLO_COMPARE_GE   ? x[chosen] >= x[e]
                                             : direction == XP_HLO_COMPARE_GT ? x[chosen] > x[e]
                                             : direction == XP_HLO_COMPARE_LE ? x[chosen] <= x[e]
                                                                              : x[chosen] < x[e]));
    chosen = is_kept ? chosen : e;
  }
  return chosen;
}

static void check_selection(uint64_t *state, const eval_layout *l, xp_hlo_compare direction)
{
  static int32_t x[EVAL_MOST], source[EVAL_MOST * 8], got[EVAL_MOST], want[EVAL_MOST];
  eval_numbers(state, x, l->count);
  eval_numbers(state, source, l->out_count);
  eval_program p = eval_begin();
  uint32_t select = eval_comparison(&p, XP_HLO_S32, direction), add = eval_operation(&p, XP_HLO_S32, XP_HLO_OP_ADD);
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value a = eval_parameter(&p, 0, XP_HLO_S32, EVAL_RANK, l->dims),
               b = eval_parameter(&p, 1, XP_HLO_S32, EVAL_RANK, l->out);
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
    eval_layout l = eval_random_layout(&random, i % 2);
    if (l.count <= EVAL_MOST && l.out_count <= EVAL_MOST * 8) {
      check_selection(&random, &l, directions[i % 4]);
    }
  }
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
  uint32_t select = eval_comparison(&p, XP_HLO_BF16, XP_HLO_COMPARE_GE),
           add = eval_operation(&p, XP_HLO_BF16, XP_HLO_OP_ADD);
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
  uint32_t select = eval_comparison(&p, XP_HLO_F32, XP_HLO_COMPARE_GE),
           add = eval_operation(&p, XP_HLO_F32, XP_HLO_OP_ADD);
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value a = eval_parameter(&p, 0, XP_HLO_F32, 1, &dims), b = eval_parameter(&p, 1, XP_HLO_F32, 1, &out);
  xp_hlo_value zero = xp_hlo_build_scalar(p.main, XP_HLO_F32, 0);
  eval_once(&p, xp_hlo_build_select_and_scatter(p.main, a, select, &window, b, zero, add), x, g, got);
  assert_memory_equal(got, want, sizeof want);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_of_all_kinds_select_as_loops_do),
      cmocka_unit_test(gradients_of_bf16_are_rounded_once),
      cmocka_unit_test(a_selection_passes_on_behind_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
