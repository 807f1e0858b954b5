/* Building: the shapes that come out, and the errors that name the operation and the shapes.  Right shapes are worked
 * out on paper from the rules of XLA; tests/interop/checks_hlo.py has XLA verify the samples. */
#include "hlo_bench.h"

/* ---------------------------------------------------------------- element by element */

static void element_wise_operations_keep_extents_and_say_what_they_refuse(void **state)
{
  (void)state;
  bench t = open_bench();
  xp_hlo_value x = matrix(&t, 2, 3), c = array(&t, XP_HLO_C64, 1, 5, 0, 0, 0);
  must_have_shape(&t, xp_hlo_build_unary(t.b, XP_HLO_OP_TANH, x), "f32[2,3]");
  must_have_shape(&t, xp_hlo_build_unary(t.b, XP_HLO_OP_ABS, c), "f32[5]");
  must_have_shape(&t, xp_hlo_build_unary(t.b, XP_HLO_OP_IS_FINITE, x), "pred[2,3]");
  must_have_shape(&t, xp_hlo_build_binary(t.b, XP_HLO_OP_COMPLEX, x, x), "c64[2,3]");
  must_have_shape(&t, xp_hlo_build_bitcast_convert(t.b, x, XP_HLO_U8), "u8[2,3,4]");
  must_have_shape(&t, xp_hlo_build_bitcast_convert(t.b, matrix(&t, 3, 2), XP_HLO_S64), "s64[3]");
  must_refuse(&t, xp_hlo_build_binary(t.b, XP_HLO_OP_ADD, x, matrix(&t, 3, 2)),
              "add: the operands have the shapes f32[2,3] and f32[3,2]; broadcast or convert one first.");
  t = open_bench();
  must_refuse(&t, xp_hlo_build_unary(t.b, XP_HLO_OP_NOT, matrix(&t, 2, 3)),
              "not: the operand has the shape f32[2,3], of a type");
  t = open_bench();
  x = array(&t, XP_HLO_S32, 1, 4, 0, 0, 0);
  must_refuse(&t, xp_hlo_build_binary(t.b, XP_HLO_OP_ADD, x, array(&t, XP_HLO_S64, 1, 4, 0, 0, 0)),
              "add: the operands have the shapes s32[4] and s64[4]");
  t = open_bench();
  c = array(&t, XP_HLO_C64, 1, 5, 0, 0, 0);
  must_refuse(&t, xp_hlo_build_compare(t.b, XP_HLO_COMPARE_LT, c, c), "complex numbers have no order");
  t = open_bench();
  must_refuse(&t, xp_hlo_build_unary(t.b, XP_HLO_OP_ADD, matrix(&t, 1, 1)), "add: it is no operation of one array");
  t = open_bench();
  must_refuse(&t, xp_hlo_build_bitcast_convert(t.b, matrix(&t, 2, 3), XP_HLO_F64),
              "bitcast-convert: the bits of f32[2,3] are no whole elements of f64");
  t = open_bench();
  x = matrix(&t, 2, 3);
  must_refuse(&t, xp_hlo_build_select(t.b, x, x, x),
              "select: the operands have the shapes f32[2,3] and f32[2,3]; the first");
}

static void scalars_of_select_and_clamp_are_broadcast(void **state)
{
  (void)state;
  static const int64_t dims[] = {2, 3};
  const xp_hlo_module *module;
  bench t = open_bench();
  xp_hlo_value x = sample_parameter(t.b, 0, XP_HLO_F32, 2, dims), zero = xp_hlo_build_scalar(t.b, XP_HLO_F32, 0);
  uint32_t entry = xp_hlo_body_end(t.b, xp_hlo_build_clamp(t.b, zero, x, x));
  assert_int_equal(xp_hlo_builder_finish(t.builder, entry, &module, NULL), XP_OK);
  const xp_hlo_computation *c = xp_hlo_entry(module);
  const xp_hlo_instruction *min = xp_hlo_operand(c, xp_hlo_root(c), 0);
  assert_int_equal(min->opcode, XP_HLO_OP_BROADCAST);
  assert_str(xp_hlo_shape_text(t.arena, &min->shape, false), "f32[2,3]");
  assert_int_equal(xp_hlo_operand(c, xp_hlo_root(c), 2)->opcode, XP_HLO_OP_PARAMETER);
  close_bench(&t);
}

/* ---------------------------------------------------------------- moves */

static void moves_follow_their_numbers(void **state)
{
  (void)state;
  static const int64_t wide[] = {3, 7, 2}, mapping[] = {0, 2}, flat[] = {6}, swap[] = {1, 0};
  static const xp_hlo_slice_dim slices[] = {{1, 3, 1}, {0, 2, 2}};
  static const xp_hlo_pad_dim padding[] = {{1, 2, 1}, {-1, 0, 0}};
  bench t = open_bench();
  xp_hlo_value x = matrix(&t, 3, 2), zero = xp_hlo_build_scalar(t.b, XP_HLO_F32, 0);
  const xp_hlo_value two[] = {x, matrix(&t, 5, 2)};
  must_have_shape(&t, xp_hlo_build_broadcast(t.b, x, 3, wide, mapping), "f32[3,7,2]");
  must_have_shape(&t, xp_hlo_build_reshape(t.b, x, 1, flat), "f32[6]");
  must_have_shape(&t, xp_hlo_build_transpose(t.b, x, swap), "f32[2,3]");
  must_have_shape(&t, xp_hlo_build_slice(t.b, x, slices), "f32[2,1]");
  must_have_shape(&t, xp_hlo_build_pad(t.b, x, zero, padding), "f32[8,1]"); /* 3 + 2 between + 3; 2 - 1 */
  must_have_shape(&t, xp_hlo_build_concatenate(t.b, two, 2, 0), "f32[8,2]");
  close_bench(&t);
}

static void moves_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  static const int64_t wide[] = {3, 7, 3}, mapping[] = {0, 2}, five[] = {5}, twice[] = {1, 1};
  static const xp_hlo_slice_dim beyond[] = {{0, 3, 1}, {1, 3, 1}};
  static const xp_hlo_pad_dim away[] = {{0, 0, 0}, {-2, -1, 0}}, endless[] = {{INT64_MAX, 1, 0}, {0, 0, 0}};
  bench t = open_bench();
  must_refuse(&t, xp_hlo_build_broadcast(t.b, matrix(&t, 3, 2), 3, wide, mapping),
              "broadcast: dimension 1 of f32[3,2] cannot become dimension 2 of f32[3,7,3]");
  t = open_bench();
  must_refuse(&t, xp_hlo_build_reshape(t.b, matrix(&t, 3, 2), 1, five),
              "reshape: f32[3,2] and f32[5] have different numbers");
  t = open_bench();
  must_refuse(&t, xp_hlo_build_transpose(t.b, matrix(&t, 3, 2), twice), "transpose: the dimensions are no permutation");
  t = open_bench();
  must_refuse(&t, xp_hlo_build_slice(t.b, matrix(&t, 3, 2), beyond),
              "slice: [1:3:1] is no part of dimension 1 of f32[3,2]");
  t = open_bench();
  xp_hlo_value zero = xp_hlo_build_scalar(t.b, XP_HLO_F32, 0);
  must_refuse(&t, xp_hlo_build_pad(t.b, matrix(&t, 3, 2), zero, away), "pad: -2_-1_0 is no padding of dimension 1");
  t = open_bench();
  zero = xp_hlo_build_scalar(t.b, XP_HLO_F32, 0);
  must_refuse(&t, xp_hlo_build_pad(t.b, matrix(&t, 3, 2), zero, endless), "is no padding of dimension 0 of f32[3,2]");
  t = open_bench();
  const xp_hlo_value two[] = {matrix(&t, 3, 2), matrix(&t, 3, 4)};
  must_refuse(&t, xp_hlo_build_concatenate(t.b, two, 2, 0),
              "concatenate: the operands have the shapes f32[3,2] and f32[3,4]");
  t = open_bench();
  static const int64_t huge[] = {(int64_t)1 << 40, (int64_t)1 << 40};
  zero = xp_hlo_build_scalar(t.b, XP_HLO_F32, 0);
  must_refuse(&t, xp_hlo_build_broadcast(t.b, zero, 2, huge, NULL), "whose bytes do not fit 63 bits");
}

/* ---------------------------------------------------------------- products */

static void products_pair_their_dimensions(void **state)
{
  (void)state;
  static const int64_t zero[] = {0}, one[] = {1}, two[] = {2};
  const xp_hlo_dot plain = {.lhs_contracting = sample_list(one, 1), .rhs_contracting = sample_list(zero, 1)};
  const xp_hlo_dot batched = {.lhs_contracting = sample_list(one, 1),
                              .rhs_contracting = sample_list(two, 1),
                              .lhs_batch = sample_list(zero, 1),
                              .rhs_batch = sample_list(one, 1)};
  bench t = open_bench();
  xp_hlo_value x = array(&t, XP_HLO_BF16, 3, 5, 3, 2, 0), y = array(&t, XP_HLO_BF16, 4, 7, 5, 3, 9);
  must_have_shape(&t, xp_hlo_build_dot(t.b, x, y, &batched, XP_HLO_F32, XP_HLO_PRECISION_DEFAULT), "f32[5,2,7,9]");
  must_refuse(
      &t, xp_hlo_build_dot(t.b, matrix(&t, 2, 3), matrix(&t, 2, 4), &plain, XP_HLO_TYPE_INVALID, XP_HLO_PRECISION_HIGH),
      "dot: the operands have the shapes f32[2,3] and f32[2,4]; batch and contracted dimensions must pair");
}

/* Extents from the rule of XLA: ((n-1)*lhs_dilate+1 + pads - ((k-1)*rhs_dilate+1)) / stride + 1. */
static void convolutions_count_the_places_of_their_window(void **state)
{
  (void)state;
  static const int64_t spatial[] = {2, 3};
  static const xp_hlo_window_dim windows[] = {{3, 2, 1, 1, 1, 1, false}, {2, 1, 0, 0, 2, 3, false}};
  xp_hlo_convolution_options options = {
      .numbers = {0, 1, sample_list(spatial, 2), 1, 0, sample_list(spatial, 2), 0, 1, sample_list(spatial, 2)},
      .windows = windows,
      .feature_groups = 2,
      .batch_groups = 1};
  bench t = open_bench();
  xp_hlo_value x = array(&t, XP_HLO_F32, 4, 2, 4, 9, 5), k = array(&t, XP_HLO_F32, 4, 6, 2, 3, 2);
  /* rows: (9 + 2 - 3) / 2 + 1 = 5; columns: base 4*3+1 = 13, window 1*2+1 = 3: 11 */
  must_have_shape(&t, xp_hlo_build_convolution(t.b, x, k, &options), "f32[2,6,5,11]");
  options.feature_groups = 1;
  must_refuse(&t, xp_hlo_build_convolution(t.b, x, k, &options),
              "convolution: the operands have the shapes f32[2,4,9,5] and f32[6,2,3,2]; features of input and kernel "
              "do not fit");
}

/* ---------------------------------------------------------------- sums */

static void sums_take_computations_of_the_right_scalars(void **state)
{
  (void)state;
  static const int64_t last[] = {1}, wrong[] = {2};
  bench t = open_bench();
  xp_hlo_value x = matrix(&t, 4, 3), zero = xp_hlo_build_scalar(t.b, XP_HLO_F32, 0);
  must_have_shape(&t, xp_hlo_build_reduce(t.b, &x, &zero, 1, last, 1, t.add), "f32[4]");
  must_refuse(&t, xp_hlo_build_reduce(t.b, &x, &zero, 1, wrong, 1, t.add),
              "reduce: f32[4,3] does not have these dimensions");
  t = open_bench();
  x = array(&t, XP_HLO_S32, 1, 8, 0, 0, 0);
  zero = xp_hlo_build_integer(t.b, XP_HLO_S32, 0);
  static const int64_t first[] = {0};
  must_refuse(&t, xp_hlo_build_reduce(t.b, &x, &zero, 1, first, 1, t.add),
              "reduce: parameter 0 of the computation add.4 is f32[], and here it gets s32[]");
  t = open_bench();
  x = matrix(&t, 4, 3);
  must_refuse(&t, xp_hlo_build_sort(t.b, &x, 1, 0, false, t.add),
              "sort: the computation add.4 gives f32[], and here it should give pred[]");
  t = open_bench();
  x = matrix(&t, 4, 3);
  must_refuse(&t, xp_hlo_build_sort(t.b, &x, 1, 0, false, 5), "sort: there is no computation 5; end its body first");
}

/* ---------------------------------------------------------------- places that are values */

static void gather_and_scatter_check_every_number(void **state)
{
  (void)state;
  static const int64_t zero[] = {0}, one[] = {1}, row[] = {1, 4}, larger[] = {1, 5};
  xp_hlo_gather numbers = {.offset_dims = sample_list(one, 1),
                           .collapsed_slice_dims = sample_list(zero, 1),
                           .start_index_map = sample_list(zero, 1),
                           .index_vector_dim = 2,
                           .slice_sizes = sample_list(row, 2)};
  bench t = open_bench();
  xp_hlo_value x = matrix(&t, 10, 4), i = array(&t, XP_HLO_S32, 2, 3, 6, 0, 0);
  must_have_shape(&t, xp_hlo_build_gather(t.b, x, i, &numbers, false), "f32[3,4,6]"); /* the window stands at 1 */
  numbers.slice_sizes = sample_list(larger, 2);
  must_refuse(&t, xp_hlo_build_gather(t.b, x, i, &numbers, false),
              "gather: the operands have the shapes f32[10,4] and s32[3,6]; a slice size is larger than the dimension");
  t = open_bench();
  numbers.slice_sizes = sample_list(row, 2);
  must_refuse(&t, xp_hlo_build_gather(t.b, matrix(&t, 10, 4), matrix(&t, 3, 6), &numbers, false),
              "the indices must be integers");
  t = open_bench();
  numbers.index_vector_dim = 1; /* then an index has 6 parts */
  x = matrix(&t, 10, 4);
  i = array(&t, XP_HLO_S32, 2, 3, 6, 0, 0);
  must_refuse(&t, xp_hlo_build_gather(t.b, x, i, &numbers, false), "each part of an index needs a dimension");
  t = open_bench();
  const xp_hlo_scatter_options options = {.numbers = {.update_window_dims = sample_list(one, 1),
                                                      .inserted_window_dims = sample_list(zero, 1),
                                                      .scatter_dims_to_operand_dims = sample_list(zero, 1),
                                                      .index_vector_dim = 1},
                                          .combine = t.add};
  x = matrix(&t, 10, 4);
  i = array(&t, XP_HLO_S32, 1, 5, 0, 0, 0);
  must_have_shape(&t, xp_hlo_build_scatter(t.b, x, i, matrix(&t, 5, 3), &options), "f32[10,4]");
  must_refuse(&t, xp_hlo_build_scatter(t.b, x, i, matrix(&t, 6, 4), &options),
              "updates and indices differ in the extent of a batch dimension");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(element_wise_operations_keep_extents_and_say_what_they_refuse),
      cmocka_unit_test(scalars_of_select_and_clamp_are_broadcast),
      cmocka_unit_test(moves_follow_their_numbers),
      cmocka_unit_test(moves_that_do_not_fit_are_refused),
      cmocka_unit_test(products_pair_their_dimensions),
      cmocka_unit_test(convolutions_count_the_places_of_their_window),
      cmocka_unit_test(sums_take_computations_of_the_right_scalars),
      cmocka_unit_test(gather_and_scatter_check_every_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
