/* Modules with every operation that a builder makes, for unit tests and for the checks with XLA. */
#ifndef XP_TESTS_HLO_SAMPLES_H
#define XP_TESTS_HLO_SAMPLES_H

#include "hlo_short.h"

static inline uint32_t sample_elements(xp_hlo_builder *builder)
{
  static const xp_hlo_opcode of_floats[] = {XP_HLO_OP_ABS,
                                            XP_HLO_OP_CBRT,
                                            XP_HLO_OP_CEIL,
                                            XP_HLO_OP_COPY,
                                            XP_HLO_OP_COSINE,
                                            XP_HLO_OP_ERF,
                                            XP_HLO_OP_EXPONENTIAL,
                                            XP_HLO_OP_EXPONENTIAL_MINUS_ONE,
                                            XP_HLO_OP_FLOOR,
                                            XP_HLO_OP_IMAG,
                                            XP_HLO_OP_IS_FINITE,
                                            XP_HLO_OP_LOG,
                                            XP_HLO_OP_LOG_PLUS_ONE,
                                            XP_HLO_OP_LOGISTIC,
                                            XP_HLO_OP_NEGATE,
                                            XP_HLO_OP_REAL,
                                            XP_HLO_OP_ROUND_NEAREST_AFZ,
                                            XP_HLO_OP_ROUND_NEAREST_EVEN,
                                            XP_HLO_OP_RSQRT,
                                            XP_HLO_OP_SIGN,
                                            XP_HLO_OP_SINE,
                                            XP_HLO_OP_SQRT,
                                            XP_HLO_OP_TAN,
                                            XP_HLO_OP_TANH};
  static const xp_hlo_opcode of_integers[] = {XP_HLO_OP_NOT, XP_HLO_OP_POPCNT, XP_HLO_OP_COUNT_LEADING_ZEROS};
  static const xp_hlo_opcode of_two_floats[] = {
      XP_HLO_OP_ADD,      XP_HLO_OP_ATAN2, XP_HLO_OP_DIVIDE,    XP_HLO_OP_MAXIMUM,  XP_HLO_OP_MINIMUM,
      XP_HLO_OP_MULTIPLY, XP_HLO_OP_POWER, XP_HLO_OP_REMAINDER, XP_HLO_OP_SUBTRACT, XP_HLO_OP_COMPLEX};
  static const xp_hlo_opcode of_two_integers[] = {XP_HLO_OP_AND,
                                                  XP_HLO_OP_OR,
                                                  XP_HLO_OP_XOR,
                                                  XP_HLO_OP_SHIFT_LEFT,
                                                  XP_HLO_OP_SHIFT_RIGHT_ARITHMETIC,
                                                  XP_HLO_OP_SHIFT_RIGHT_LOGICAL};
  static const int64_t dims[] = {2, 3};
  xp_hlo_value out[80];
  size_t n = 0;
  xp_hlo_body *b = xp_hlo_body_begin(builder, "main");
  xp_hlo_value x = sample_parameter(b, 0, XP_HLO_F32, 2, dims), y = sample_parameter(b, 1, XP_HLO_F32, 2, dims);
  xp_hlo_value i = sample_parameter(b, 2, XP_HLO_S32, 2, dims);
  for (size_t k = 0; k < SAMPLE_COUNT(of_floats); k++) {
    out[n++] = xp_hlo_build_unary(b, of_floats[k], x);
  }
  for (size_t k = 0; k < SAMPLE_COUNT(of_integers); k++) {
    out[n++] = xp_hlo_build_unary(b, of_integers[k], i);
  }
  for (size_t k = 0; k < SAMPLE_COUNT(of_two_floats); k++) {
    out[n++] = xp_hlo_build_binary(b, of_two_floats[k], x, y);
  }
  for (size_t k = 0; k < SAMPLE_COUNT(of_two_integers); k++) {
    out[n++] = xp_hlo_build_binary(b, of_two_integers[k], i, i);
  }
  for (int d = XP_HLO_COMPARE_EQ; d < XP_HLO_COMPARE_COUNT; d++) {
    out[n++] = xp_hlo_build_compare(b, (xp_hlo_compare)d, x, y);
  }
  xp_hlo_value less = xp_hlo_build_compare(b, XP_HLO_COMPARE_LT, i, i);
  xp_hlo_value zero = xp_hlo_build_scalar(b, XP_HLO_F32, 0), one = xp_hlo_build_scalar(b, XP_HLO_F32, 1);
  out[n++] = xp_hlo_build_compare_total(b, XP_HLO_COMPARE_GT, x, y);
  out[n++] = xp_hlo_build_select(b, less, x, y);
  out[n++] = xp_hlo_build_select(b, xp_hlo_build_integer(b, XP_HLO_PRED, 1), x, y);
  out[n++] = xp_hlo_build_clamp(b, zero, x, one);
  out[n++] = xp_hlo_build_clamp(b, x, y, x);
  out[n++] = xp_hlo_build_convert(b, x, XP_HLO_BF16);
  out[n++] = xp_hlo_build_convert(b, i, XP_HLO_PRED);
  out[n++] = xp_hlo_build_bitcast_convert(b, x, XP_HLO_U32);
  out[n++] = xp_hlo_build_bitcast_convert(b, x, XP_HLO_U8);
  out[n++] = xp_hlo_build_bitcast_convert(b, xp_hlo_build_bitcast_convert(b, x, XP_HLO_U16), XP_HLO_S32);
  out[n++] = xp_hlo_build_reduce_precision(b, x, 8, 7);
  return sample_end(b, out, n);
}

static inline uint32_t sample_sources(xp_hlo_builder *builder)
{
  static const int64_t dims[] = {2, 3}, state_dims[] = {2}, twelve[] = {12};
  static const float values[] = {1.5f, -2, 0.1f, 1e-7f, 123456789.f, 0};
  static const int32_t many[12] = {1, -2, 3};
  const xp_hlo_shape matrix = xp_hlo_shape_array(XP_HLO_F32, 2, dims), bits = xp_hlo_shape_array(XP_HLO_U32, 2, dims);
  const xp_hlo_shape large = xp_hlo_shape_array(XP_HLO_S32, 1, twelve);
  xp_hlo_shape turned = matrix;
  turned.minor_to_major[0] = 0;
  turned.minor_to_major[1] = 1;
  xp_hlo_value out[40];
  size_t n = 0;
  xp_hlo_body *b = xp_hlo_body_begin(builder, "main");
  xp_hlo_value state = sample_parameter(b, 0, XP_HLO_U64, 1, state_dims);
  xp_hlo_value zero = xp_hlo_build_scalar(b, XP_HLO_F32, 0), one = xp_hlo_build_scalar(b, XP_HLO_F32, 1);
  static const xp_hlo_type types[] = {XP_HLO_F16, XP_HLO_BF16, XP_HLO_F32, XP_HLO_F64,  XP_HLO_S8,  XP_HLO_S16,
                                      XP_HLO_S32, XP_HLO_S64,  XP_HLO_C64, XP_HLO_C128, XP_HLO_PRED};
  for (size_t i = 0; i < SAMPLE_COUNT(types); i++) {
    out[n++] = xp_hlo_build_scalar(b, types[i], -3.14159);
  }
  out[n++] = xp_hlo_build_integer(b, XP_HLO_U64, -1);
  out[n++] = xp_hlo_build_integer(b, XP_HLO_U8, 200);
  out[n++] = xp_hlo_build_integer(b, XP_HLO_S64, INT64_MIN);
  out[n++] = xp_hlo_build_constant(b, &matrix, xp_str_from((const char *)values, sizeof values));
  out[n++] = xp_hlo_build_constant(b, &turned, xp_str_from((const char *)values, sizeof values));
  out[n++] = xp_hlo_build_constant(b, &large, xp_str_from((const char *)many, sizeof many));
  out[n++] = xp_hlo_build_iota(b, &bits, 1);
  out[n++] = xp_hlo_build_rng(b, XP_HLO_RNG_UNIFORM, zero, one, &matrix);
  out[n++] = xp_hlo_build_rng(b, XP_HLO_RNG_NORMAL, zero, one, &matrix);
  out[n++] = xp_hlo_build_element(b, xp_hlo_build_random_bits(b, XP_HLO_RNG_DEFAULT, state, &bits), 1);
  out[n++] = xp_hlo_build_element(b, xp_hlo_build_random_bits(b, XP_HLO_RNG_THREE_FRY, state, &bits), 1);
  out[n++] = xp_hlo_build_element(b, xp_hlo_build_random_bits(b, XP_HLO_RNG_PHILOX, state, &bits), 1);
  return sample_end(b, out, n);
}

static inline uint32_t sample_moves(xp_hlo_builder *builder)
{
  static const int64_t dims[] = {2, 3}, wide[] = {4, 2, 3}, mapping[] = {1, 2}, flat[] = {6}, swap[] = {1, 0};
  static const xp_hlo_slice_dim strided[] = {{0, 2, 1}, {0, 3, 2}}, plain[] = {{1, 2, 1}, {0, 0, 1}};
  static const xp_hlo_pad_dim padding[] = {{1, 1, 0}, {0, -1, 2}};
  xp_hlo_value out[16];
  size_t n = 0;
  xp_hlo_body *b = xp_hlo_body_begin(builder, "main");
  xp_hlo_value x = sample_parameter(b, 0, XP_HLO_F32, 2, dims), zero = xp_hlo_build_scalar(b, XP_HLO_F32, 0);
  const xp_hlo_value three[] = {x, x, x};
  out[n++] = xp_hlo_build_broadcast(b, x, 3, wide, mapping);
  out[n++] = xp_hlo_build_broadcast(b, zero, 2, dims, NULL);
  out[n++] = xp_hlo_build_reshape(b, x, 1, flat);
  out[n++] = xp_hlo_build_transpose(b, x, swap);
  out[n++] = xp_hlo_build_reverse(b, x, 1, swap);
  out[n++] = xp_hlo_build_slice(b, x, strided);
  out[n++] = xp_hlo_build_slice(b, x, plain);
  out[n++] = xp_hlo_build_pad(b, x, zero, padding);
  out[n++] = xp_hlo_build_concatenate(b, three, 3, 1);
  return sample_end(b, out, n);
}

static inline uint32_t sample_index(xp_hlo_builder *builder)
{
  static const int64_t table[] = {10, 4}, five[] = {5}, rows[] = {5, 4}, pairs[] = {3, 2}, ten[] = {3, 10};
  static const int64_t zero[] = {0}, one[] = {1}, row[] = {1, 4}, cell[] = {1, 1}, sizes[] = {2, 3};
  uint32_t add = sample_scalars(builder, "add", XP_HLO_OP_ADD, XP_HLO_COMPARE_NONE, XP_HLO_F32);
  xp_hlo_value out[8];
  size_t n = 0;
  xp_hlo_body *b = xp_hlo_body_begin(builder, "main");
  xp_hlo_value x = sample_parameter(b, 0, XP_HLO_F32, 2, table), i = sample_parameter(b, 1, XP_HLO_S64, 1, five);
  xp_hlo_value u = sample_parameter(b, 2, XP_HLO_F32, 2, rows), y = sample_parameter(b, 3, XP_HLO_F32, 2, ten);
  xp_hlo_value j = sample_parameter(b, 4, XP_HLO_S32, 2, pairs), start = sample_parameter(b, 5, XP_HLO_S32, 0, NULL);
  const xp_hlo_value starts[] = {start, start};
  const xp_hlo_gather by_row = {.offset_dims = sample_list(one, 1),
                                .collapsed_slice_dims = sample_list(zero, 1),
                                .start_index_map = sample_list(zero, 1),
                                .index_vector_dim = 1,
                                .slice_sizes = sample_list(row, 2)};
  const xp_hlo_gather by_batch = {.collapsed_slice_dims = sample_list(one, 1),
                                  .start_index_map = sample_list(one, 1),
                                  .operand_batching_dims = sample_list(zero, 1),
                                  .start_indices_batching_dims = sample_list(zero, 1),
                                  .index_vector_dim = 2,
                                  .slice_sizes = sample_list(cell, 2)};
  const xp_hlo_scatter_options to_rows = {.numbers = {.update_window_dims = sample_list(one, 1),
                                                      .inserted_window_dims = sample_list(zero, 1),
                                                      .scatter_dims_to_operand_dims = sample_list(zero, 1),
                                                      .index_vector_dim = 1},
                                          .unique_indices = true,
                                          .combine = add};
  out[n++] = xp_hlo_build_gather(b, x, i, &by_row, true);
  out[n++] = xp_hlo_build_gather(b, y, j, &by_batch, false);
  out[n++] = xp_hlo_build_scatter(b, x, i, u, &to_rows);
  out[n] = xp_hlo_build_dynamic_slice(b, x, starts, sizes);
  out[n + 1] = xp_hlo_build_dynamic_update_slice(b, x, out[n], starts);
  return sample_end(b, out, n + 2);
}

static inline uint32_t sample_sums(xp_hlo_builder *builder)
{
  static const int64_t dims[] = {2, 3}, image[] = {1, 4, 4, 1}, pooled[] = {1, 2, 2, 1}, last[] = {1};
  static const xp_hlo_window_dim halves[] = {
      {1, 1, 0, 0, 1, 1, false}, {2, 2, 0, 0, 1, 1, false}, {2, 2, 0, 0, 1, 1, false}, {1, 1, 0, 0, 1, 1, false}};
  static const xp_hlo_window_dim padded[] = {
      {1, 1, 0, 0, 1, 1, false}, {3, 1, 1, 1, 1, 1, false}, {3, 1, 1, 1, 2, 1, false}, {1, 1, 0, 0, 1, 1, false}};
  uint32_t add = sample_scalars(builder, "add", XP_HLO_OP_ADD, XP_HLO_COMPARE_NONE, XP_HLO_F32);
  uint32_t ge = sample_scalars(builder, "ge", XP_HLO_OP_ADD, XP_HLO_COMPARE_GE, XP_HLO_F32);
  xp_hlo_body *b = xp_hlo_body_begin(builder, "argmax");
  xp_hlo_value p[4], out[8];
  for (int i = 0; i < 4; i++) {
    p[i] = sample_parameter(b, i, i % 2 == 0 ? XP_HLO_F32 : XP_HLO_S32, 0, NULL);
  }
  xp_hlo_value more = xp_hlo_build_compare(b, XP_HLO_COMPARE_GT, p[0], p[2]);
  out[0] = xp_hlo_build_select(b, more, p[0], p[2]);
  out[1] = xp_hlo_build_select(b, more, p[1], p[3]);
  uint32_t argmax = sample_end(b, out, 2);
  b = xp_hlo_body_begin(builder, "less");
  for (int i = 0; i < 4; i++) {
    p[i] = sample_parameter(b, i, i < 2 ? XP_HLO_F32 : XP_HLO_S32, 0, NULL);
  }
  uint32_t less = xp_hlo_body_end(b, xp_hlo_build_compare_total(b, XP_HLO_COMPARE_LT, p[0], p[1]));
  b = xp_hlo_body_begin(builder, "main");
  xp_hlo_value x = sample_parameter(b, 0, XP_HLO_F32, 2, dims), a = sample_parameter(b, 1, XP_HLO_F32, 4, image);
  xp_hlo_value s = sample_parameter(b, 2, XP_HLO_F32, 4, pooled), zero = xp_hlo_build_scalar(b, XP_HLO_F32, 0);
  const xp_hlo_shape counted = xp_hlo_shape_array(XP_HLO_S32, 2, dims);
  const xp_hlo_value both[] = {x, xp_hlo_build_iota(b, &counted, 1)};
  const xp_hlo_value initials[] = {zero, xp_hlo_build_integer(b, XP_HLO_S32, 0)};
  size_t n = 0;
  out[n++] = xp_hlo_build_reduce(b, &x, &zero, 1, last, 1, add);
  out[n++] = xp_hlo_build_element(b, xp_hlo_build_reduce(b, both, initials, 2, last, 1, argmax), 1);
  out[n++] = xp_hlo_build_reduce_window(b, a, zero, halves, add);
  out[n++] = xp_hlo_build_reduce_window(b, a, zero, padded, add);
  out[n++] = xp_hlo_build_select_and_scatter(b, a, ge, halves, s, zero, add);
  out[n++] = xp_hlo_build_sort(b, &x, 1, 1, false, ge);
  out[n++] = xp_hlo_build_element(b, xp_hlo_build_sort(b, both, 2, 0, true, less), 1);
  return sample_end(b, out, n);
}

static inline uint32_t sample_products(xp_hlo_builder *builder)
{
  static const int64_t a_dims[] = {2, 3}, b_dims[] = {3, 4}, c_dims[] = {5, 2, 3}, d_dims[] = {5, 3, 4};
  static const int64_t zero[] = {0}, one[] = {1}, two[] = {2}, one_two[] = {1, 2}, two_three[] = {2, 3};
  static const int64_t zero_one[] = {0, 1};
  static const int64_t image[] = {1, 8, 8, 3}, kernel[] = {3, 3, 3, 16}, planes[] = {2, 4, 9, 9},
                       grouped[] = {8, 2, 3, 3};
  static const xp_hlo_window_dim same[] = {{3, 1, 1, 1, 1, 1, false}, {3, 1, 1, 1, 1, 1, false}};
  static const xp_hlo_window_dim odd[] = {{3, 2, 0, 0, 1, 1, true}, {3, 1, 1, 0, 2, 2, true}};
  const xp_hlo_dot plain = {.lhs_contracting = sample_list(one, 1), .rhs_contracting = sample_list(zero, 1)};
  const xp_hlo_dot batched = {.lhs_contracting = sample_list(two, 1),
                              .rhs_contracting = sample_list(one, 1),
                              .lhs_batch = sample_list(zero, 1),
                              .rhs_batch = sample_list(zero, 1)};
  const xp_hlo_convolution_options last = {
      .numbers = {0, 3, sample_list(one_two, 2), 2, 3, sample_list(zero_one, 2), 0, 3, sample_list(one_two, 2)},
      .windows = same,
      .feature_groups = 1,
      .batch_groups = 1};
  const xp_hlo_convolution_options first = {
      .numbers = {0, 1, sample_list(two_three, 2), 1, 0, sample_list(two_three, 2), 0, 1, sample_list(two_three, 2)},
      .windows = odd,
      .feature_groups = 2,
      .batch_groups = 1,
      .precision = XP_HLO_PRECISION_HIGHEST};
  xp_hlo_value out[8];
  size_t n = 0;
  xp_hlo_body *b = xp_hlo_body_begin(builder, "main");
  xp_hlo_value x = sample_parameter(b, 0, XP_HLO_F32, 2, a_dims), y = sample_parameter(b, 1, XP_HLO_F32, 2, b_dims);
  xp_hlo_value c = sample_parameter(b, 2, XP_HLO_F32, 3, c_dims), d = sample_parameter(b, 3, XP_HLO_F32, 3, d_dims);
  xp_hlo_value e = sample_parameter(b, 4, XP_HLO_F32, 4, image), f = sample_parameter(b, 5, XP_HLO_F32, 4, kernel);
  xp_hlo_value g = sample_parameter(b, 6, XP_HLO_F32, 4, planes), h = sample_parameter(b, 7, XP_HLO_F32, 4, grouped);
  out[n++] = xp_hlo_build_dot(b, x, y, &plain, XP_HLO_TYPE_INVALID, XP_HLO_PRECISION_DEFAULT);
  out[n++] = xp_hlo_build_dot(b, x, y, &plain, XP_HLO_TYPE_INVALID, XP_HLO_PRECISION_HIGH);
  out[n++] = xp_hlo_build_dot(b, c, d, &batched, XP_HLO_TYPE_INVALID, XP_HLO_PRECISION_DEFAULT);
  out[n++] = xp_hlo_build_convolution(b, e, f, &last);
  out[n++] = xp_hlo_build_convolution(b, g, h, &first);
  return sample_end(b, out, n);
}

static inline uint32_t sample_calls(xp_hlo_builder *builder)
{
  static const int64_t four[] = {4};
  const xp_hlo_shape parts[] = {xp_hlo_shape_scalar(XP_HLO_S32), xp_hlo_shape_array(XP_HLO_F32, 1, four)};
  const xp_hlo_shape pair = xp_hlo_shape_tuple(parts, 2);
  xp_hlo_body *b = xp_hlo_body_begin(builder, "step");
  xp_hlo_value state = xp_hlo_build_parameter(b, 0, &pair, "state");
  xp_hlo_value i = xp_hlo_build_element(b, state, 0), v = xp_hlo_build_element(b, state, 1);
  xp_hlo_value next[] = {xp_hlo_build_binary(b, XP_HLO_OP_ADD, i, xp_hlo_build_integer(b, XP_HLO_S32, 1)),
                         xp_hlo_build_binary(b, XP_HLO_OP_ADD, v, v)};
  uint32_t step = sample_end(b, next, 2);
  b = xp_hlo_body_begin(builder, "condition");
  state = xp_hlo_build_parameter(b, 0, &pair, "state");
  const xp_hlo_value end_of_steps = xp_hlo_build_integer(b, XP_HLO_S32, 3);
  i = xp_hlo_build_element(b, state, 0);
  uint32_t condition = xp_hlo_body_end(b, xp_hlo_build_compare(b, XP_HLO_COMPARE_LT, i, end_of_steps));
  uint32_t branches[2];
  for (int k = 0; k < 2; k++) {
    b = xp_hlo_body_begin(builder, k == 0 ? "negate" : "double");
    xp_hlo_value x = sample_parameter(b, 0, XP_HLO_F32, 0, NULL);
    branches[k] = xp_hlo_body_end(b, k == 0 ? xp_hlo_build_unary(b, XP_HLO_OP_NEGATE, x)
                                            : xp_hlo_build_binary(b, XP_HLO_OP_ADD, x, x));
  }
  b = xp_hlo_body_begin(builder, "main");
  xp_hlo_value x = sample_parameter(b, 0, XP_HLO_F32, 0, NULL), s = sample_parameter(b, 1, XP_HLO_S32, 0, NULL);
  xp_hlo_value p = sample_parameter(b, 2, XP_HLO_PRED, 0, NULL), w = sample_parameter(b, 3, XP_HLO_F32, 1, four);
  const xp_hlo_value initial[] = {s, w}, twice[] = {x, x};
  xp_hlo_value out[10];
  size_t n = 0;
  xp_hlo_value end = xp_hlo_build_while(b, condition, step, xp_hlo_build_tuple(b, initial, 2));
  out[n++] = xp_hlo_build_element(b, end, 0);
  out[n++] = xp_hlo_build_call(b, branches[0], &x, 1);
  out[n++] = xp_hlo_build_conditional(b, p, branches, twice, 2);
  out[n++] = xp_hlo_build_conditional(b, s, branches, twice, 2);
  out[n++] = xp_hlo_build_element(b, xp_hlo_build_opt_barrier(b, end), 1);
  return sample_end(b, out, n);
}

/* What only a machine with the function can compile. */
static inline uint32_t sample_custom(xp_hlo_builder *builder)
{
  static const int64_t four[] = {4};
  const xp_hlo_shape shape = xp_hlo_shape_array(XP_HLO_F32, 1, four);
  const xp_hlo_custom_call custom = {.target = xp_str_c("my \"target\""), .has_side_effect = true, .api_version = 2};
  xp_hlo_body *b = xp_hlo_body_begin(builder, "main");
  xp_hlo_value x = xp_hlo_build_parameter(b, 0, &shape, "p");
  const xp_hlo_value twice[] = {x, x};
  return xp_hlo_body_end(b, xp_hlo_build_custom_call(b, &custom, xp_str_c("opaque"), &shape, twice, 2));
}

/* Metadata, frames and an alias. */
static inline uint32_t sample_meta(xp_hlo_builder *builder)
{
  static const int64_t dims[] = {2, 3}, first[] = {0};
  static const xp_str files[] = {XP_STR_INIT("model.c")}, functions[] = {XP_STR_INIT("main"), XP_STR_INIT("forward")};
  static const xp_hlo_file_location locations[] = {{1, 1, 10, 0, 0, 0}, {1, 2, 33, 0, 0, 0}};
  static const xp_hlo_stack_frame frames[] = {{1, 0}, {2, 1}};
  const xp_hlo_frame_tables tables = {files, functions, 1, 2, locations, 2, frames, 2};
  const xp_hlo_alias alias = {sample_list(first, 1), 0, {NULL, 0}, XP_HLO_ALIAS_MUST};
  const xp_hlo_meta meta = {.op_type = xp_str_c("xla__add"),
                            .op_name = xp_str_c("fwd/xla__add"),
                            .source_file = xp_str_c("model.c"),
                            .source_line = 33,
                            .stack_frame_id = 2};
  const xp_hlo_meta quoted = {.op_name = xp_str_c("a \"b\"\n\xff'")};
  xp_hlo_body *b = xp_hlo_body_begin(builder, "main");
  xp_hlo_value x = sample_parameter(b, 0, XP_HLO_F32, 2, dims);
  xp_hlo_builder_set_frames(builder, &tables);
  xp_hlo_builder_set_aliases(builder, &alias, 1);
  xp_hlo_builder_set_meta(builder, &meta);
  xp_hlo_value y = xp_hlo_build_binary(b, XP_HLO_OP_ADD, x, x);
  xp_hlo_builder_set_meta(builder, &quoted);
  y = xp_hlo_build_unary(b, XP_HLO_OP_TANH, y);
  xp_hlo_builder_set_meta(builder, NULL);
  return sample_end(b, &y, 1);
}

typedef struct {
  const char *name;
  uint32_t (*build)(xp_hlo_builder *builder); /* the entry */
} hlo_sample;

static const hlo_sample hlo_samples[] = {
    {"elements", sample_elements}, {"sources", sample_sources}, {"moves", sample_moves},
    {"index", sample_index},       {"sums", sample_sums},       {"products", sample_products},
    {"calls", sample_calls},       {"custom", sample_custom},   {"meta", sample_meta},
};

#endif
