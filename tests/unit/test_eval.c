/* The evaluator's arithmetic on values worked out on paper.  tests/interop holds all operations against XLA. */
#include <math.h>

#include "eval_testing.h"

static void binary_s32(xp_hlo_opcode opcode, const int32_t *a, const int32_t *b, int64_t n, const int32_t *want)
{
  int32_t got[8];
  eval_program p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value x = eval_parameter(&p, 0, XP_HLO_S32, 1, &n), y = eval_parameter(&p, 1, XP_HLO_S32, 1, &n);
  eval_once(&p, xp_hlo_build_binary(p.main, opcode, x, y), a, b, got);
  assert_memory_equal(got, want, (size_t)n * sizeof *got);
}

static void integers_divide_without_faults(void **state)
{
  (void)state;
  const int32_t a[5] = {7, -7, 7, INT32_MIN, INT32_MIN}, b[5] = {2, 2, 0, -1, 0};
  const int32_t quotients[5] = {3, -3, -1, INT32_MIN, -1}, remainders[5] = {1, -1, 7, 0, INT32_MIN};
  binary_s32(XP_HLO_OP_DIVIDE, a, b, 5, quotients);
  binary_s32(XP_HLO_OP_REMAINDER, a, b, 5, remainders);
}

static void shifts_by_the_width_shift_everything_out(void **state)
{
  (void)state;
  const int32_t a[5] = {-8, -8, -8, 5, 5}, b[5] = {1, 32, -1, 31, 40};
  const int32_t left[5] = {-16, 0, 0, INT32_MIN, 0}, arithmetic[5] = {-4, -1, -1, 0, 0},
                logical[5] = {0x7ffffffc, 0, 0, 0, 0};
  binary_s32(XP_HLO_OP_SHIFT_LEFT, a, b, 5, left);
  binary_s32(XP_HLO_OP_SHIFT_RIGHT_ARITHMETIC, a, b, 5, arithmetic);
  binary_s32(XP_HLO_OP_SHIFT_RIGHT_LOGICAL, a, b, 5, logical);
}

/* 1 + 2^-8 lies between 1 and 1 + 2^-7: the even one is 1.  1 + 3 * 2^-8 lies between 1 + 2^-7 and 1 + 2^-6: the
 * latter. */
static void bf16_rounds_ties_to_even(void **state)
{
  (void)state;
  const int64_t n = 3;
  const uint16_t a[3] = {0x3f80, 0x3f81, 0xff80},
                 b[3] = {0x3b80, 0x3b80, 0x7f80}; /* 1, 1 + 2^-7, -inf; 2^-8, 2^-8, inf */
  uint16_t got[3];
  eval_program p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value x = eval_parameter(&p, 0, XP_HLO_BF16, 1, &n), y = eval_parameter(&p, 1, XP_HLO_BF16, 1, &n);
  eval_once(&p, xp_hlo_build_binary(p.main, XP_HLO_OP_ADD, x, y), a, b, got);
  assert_int_equal(got[0], 0x3f80);
  assert_int_equal(got[1], 0x3f82);
  assert_true((got[2] & 0x7f80) == 0x7f80 && (got[2] & 0x7f) != 0); /* NaN */
}

static void floats_become_integers_at_the_ends_of_their_range(void **state)
{
  (void)state;
  const int64_t n = 6;
  const float x[6] = {2.9f, -2.9f, 300.0f, -INFINITY, NAN, 127.4f};
  const int8_t want[6] = {2, -2, 127, -128, 0, 127};
  int8_t got[6];
  eval_program p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  eval_once(&p, xp_hlo_build_convert(p.main, eval_parameter(&p, 0, XP_HLO_F32, 1, &n), XP_HLO_S8), x, NULL, got);
  assert_memory_equal(got, want, sizeof want);
}

static void extremes_give_nan_and_order_zeros(void **state)
{
  (void)state;
  const int64_t n = 4;
  const float a[4] = {NAN, 1, -0.0f, 0.0f}, b[4] = {1, NAN, 0.0f, -0.0f};
  float got[4];
  eval_program p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value x = eval_parameter(&p, 0, XP_HLO_F32, 1, &n), y = eval_parameter(&p, 1, XP_HLO_F32, 1, &n);
  eval_once(&p, xp_hlo_build_binary(p.main, XP_HLO_OP_MAXIMUM, x, y), a, b, got);
  assert_true(isnan(got[0]) && isnan(got[1]));
  assert_true(got[2] == 0 && !signbit(got[2]) && !signbit(got[3]));
}

static void a_product_of_matrices_is_the_one_on_paper(void **state)
{
  (void)state;
  static const int64_t one = 1, zero = 0, a_dims[2] = {2, 3}, b_dims[2] = {3, 2};
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {7, 8, 9, 10, 11, 12}, want[4] = {58, 64, 139, 154};
  float got[4];
  eval_program p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value x = eval_parameter(&p, 0, XP_HLO_F32, 2, a_dims), y = eval_parameter(&p, 1, XP_HLO_F32, 2, b_dims);
  xp_hlo_dot numbers = {.lhs_contracting = {&one, 1}, .rhs_contracting = {&zero, 1}};
  eval_once(&p, xp_hlo_build_dot(p.main, x, y, &numbers, XP_HLO_TYPE_INVALID, XP_HLO_PRECISION_DEFAULT), a, b, got);
  assert_memory_equal(got, want, sizeof want);
}

/* 1 2 3      1 0
 * 4 5 6  and 0 2, one zero around: the lower right corner of the result is 9 * 1. */
static void a_convolution_is_the_one_on_paper(void **state)
{
  (void)state;
  static const int64_t two_three[2] = {2, 3}, x_dims[4] = {1, 1, 3, 3}, k_dims[4] = {1, 1, 2, 2};
  const float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, k[4] = {1, 0, 0, 2};
  const float want[16] = {2, 4, 6, 0, 8, 11, 14, 3, 14, 20, 23, 6, 0, 7, 8, 9};
  float got[16];
  eval_program p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_window_dim around = {2, 1, 1, 1, 1, 1, false}, windows[2] = {around, around};
  xp_hlo_list spatial = {two_three, 2};
  xp_hlo_convolution_options options = {.numbers = {0, 1, spatial, 1, 0, spatial, 0, 1, spatial},
                                        .windows = windows,
                                        .feature_groups = 1,
                                        .batch_groups = 1};
  xp_hlo_value image = eval_parameter(&p, 0, XP_HLO_F32, 4, x_dims),
               kernel = eval_parameter(&p, 1, XP_HLO_F32, 4, k_dims);
  eval_once(&p, xp_hlo_build_convolution(p.main, image, kernel, &options), x, k, got);
  assert_memory_equal(got, want, sizeof want);
}

static void a_loop_sums_up_to_its_limit(void **state)
{
  (void)state;
  const int32_t most = 100;
  int32_t got;
  eval_program p = eval_begin();
  xp_hlo_shape number = xp_hlo_shape_scalar(XP_HLO_S32), parts[3] = {number, number, number};
  xp_hlo_shape all = xp_hlo_shape_tuple(parts, 3);
  xp_hlo_body *step = xp_hlo_body_begin(p.builder, "step");
  xp_hlo_value s = xp_hlo_build_parameter(step, 0, &all, "s"), i = xp_hlo_build_element(step, s, 0);
  xp_hlo_value next = xp_hlo_build_binary(step, XP_HLO_OP_ADD, i, xp_hlo_build_integer(step, XP_HLO_S32, 1));
  xp_hlo_value sum = xp_hlo_build_binary(step, XP_HLO_OP_ADD, xp_hlo_build_element(step, s, 1), next);
  const xp_hlo_value made[3] = {next, sum, xp_hlo_build_element(step, s, 2)};
  uint32_t body = xp_hlo_body_end(step, xp_hlo_build_tuple(step, made, 3));
  xp_hlo_body *test = xp_hlo_body_begin(p.builder, "test");
  s = xp_hlo_build_parameter(test, 0, &all, "s");
  uint32_t condition =
      xp_hlo_body_end(test, xp_hlo_build_compare(test, XP_HLO_COMPARE_LT, xp_hlo_build_element(test, s, 0),
                                                 xp_hlo_build_element(test, s, 2)));
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value zero = xp_hlo_build_integer(p.main, XP_HLO_S32, 0);
  const xp_hlo_value start[3] = {zero, zero, eval_parameter(&p, 0, XP_HLO_S32, 0, NULL)};
  xp_hlo_value loop = xp_hlo_build_while(p.main, condition, body, xp_hlo_build_tuple(p.main, start, 3));
  eval_once(&p, xp_hlo_build_element(p.main, loop, 1), &most, NULL, &got);
  assert_int_equal(got, 5050);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_divide_without_faults),
      cmocka_unit_test(shifts_by_the_width_shift_everything_out),
      cmocka_unit_test(bf16_rounds_ties_to_even),
      cmocka_unit_test(floats_become_integers_at_the_ends_of_their_range),
      cmocka_unit_test(extremes_give_nan_and_order_zeros),
      cmocka_unit_test(a_product_of_matrices_is_the_one_on_paper),
      cmocka_unit_test(a_convolution_is_the_one_on_paper),
      cmocka_unit_test(a_loop_sums_up_to_its_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
