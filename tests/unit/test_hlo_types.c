/* The tables of element types and opcodes, shapes, and single elements. */
#include "testing.h"

#include <math.h>

#include "hlo/element.h"
#include "hlo/opcode.h"
#include "hlo/shape.h"

static void the_list_of_opcodes_is_sorted_so_that_every_text_is_found(void **state)
{
  (void)state;
  for (int i = 0; i < XP_HLO_OP_COUNT; i++) {
    const char *name = xp_hlo_opcode_name((xp_hlo_opcode)i);
    assert_int_equal(xp_hlo_opcode_find(xp_str_c(name)), i);
    assert_true(i == 0 || strcmp(xp_hlo_opcode_name((xp_hlo_opcode)(i - 1)), name) < 0);
  }
  assert_string_equal(xp_hlo_opcode_name(XP_HLO_OP_DYNAMIC_UPDATE_SLICE), "dynamic-update-slice");
  assert_int_equal(xp_hlo_opcode_find(xp_str_c("adds")), XP_HLO_OP_UNKNOWN);
  assert_int_equal(xp_hlo_opcode_find(xp_str_c("")), XP_HLO_OP_UNKNOWN);
  assert_string_equal(xp_hlo_opcode_name((xp_hlo_opcode)999), "unknown");
}

static void types_have_the_names_and_sizes_of_xla(void **state)
{
  (void)state;
  static const struct {
    xp_hlo_type type;
    const char *name;
    size_t bytes;
  } facts[] = {{XP_HLO_PRED, "pred", 1},         {XP_HLO_S4, "s4", 1},       {XP_HLO_U64, "u64", 8},
               {XP_HLO_BF16, "bf16", 2},         {XP_HLO_F64, "f64", 8},     {XP_HLO_C128, "c128", 16},
               {XP_HLO_F8E4M3FN, "f8e4m3fn", 1}, {XP_HLO_TUPLE, "tuple", 0}, {(xp_hlo_type)99, "invalid", 0}};
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
    assert_string_equal(xp_hlo_type_name(facts[i].type), facts[i].name);
    assert_int_equal(xp_hlo_type_bytes(facts[i].type), facts[i].bytes);
  }
  assert_true(xp_hlo_type_is_integer(XP_HLO_U8) && !xp_hlo_type_is_integer(XP_HLO_PRED));
  assert_true(xp_hlo_type_is_complex(XP_HLO_C64) && !xp_hlo_type_is_float(XP_HLO_C64));
  assert_false(xp_hlo_type_is_array(XP_HLO_TOKEN));
}

static void shapes_count_elements_and_bytes(void **state)
{
  (void)state;
  static const int64_t dims[] = {2, 3, 4}, empty[] = {5, 0};
  xp_hlo_shape shape = xp_hlo_shape_array(XP_HLO_BF16, 3, dims);
  assert_int_equal(xp_hlo_shape_elements(&shape), 24);
  assert_int_equal(xp_hlo_shape_bytes(&shape), 48);
  shape = xp_hlo_shape_scalar(XP_HLO_F64);
  assert_int_equal(xp_hlo_shape_bytes(&shape), 8);
  shape = xp_hlo_shape_array(XP_HLO_F32, 2, empty);
  assert_int_equal(xp_hlo_shape_bytes(&shape), 0);
}

static void shapes_that_do_not_fit_63_bits_are_not_sound(void **state)
{
  (void)state;
  static const int64_t most[] = {INT64_MAX / 4}, over[] = {INT64_MAX / 4 + 1}, negative[] = {3, -1};
  static const int64_t hidden[] = {0, INT64_MAX, 2}; /* no bytes, but a product on the way that does not fit */
  xp_hlo_shape shape = xp_hlo_shape_array(XP_HLO_F32, 1, most);
  assert_true(xp_hlo_shape_is_sound(&shape));
  const xp_hlo_shape twice[] = {shape, shape};
  const xp_hlo_shape both = xp_hlo_shape_tuple(twice, 2);
  assert_false(xp_hlo_shape_is_sound(&both));
  shape = xp_hlo_shape_array(XP_HLO_F32, 1, over);
  assert_false(xp_hlo_shape_is_sound(&shape));
  shape = xp_hlo_shape_array(XP_HLO_F32, 2, negative);
  assert_false(xp_hlo_shape_is_sound(&shape));
  shape = xp_hlo_shape_array(XP_HLO_PRED, 3, hidden);
  assert_false(xp_hlo_shape_is_sound(&shape));
}

static void shapes_are_compared_without_their_layouts(void **state)
{
  (void)state;
  static const int64_t dims[] = {2, 3};
  xp_hlo_shape a = xp_hlo_shape_array(XP_HLO_F32, 2, dims), b = a;
  b.minor_to_major[0] = 0;
  b.minor_to_major[1] = 1;
  assert_true(xp_hlo_shape_same(&a, &b));
  assert_true(xp_hlo_shape_is_row_major(&a) && !xp_hlo_shape_is_row_major(&b));
  const xp_hlo_shape one = xp_hlo_shape_tuple(&a, 1), other = xp_hlo_shape_tuple(&b, 1),
                     none = xp_hlo_shape_tuple(&a, 0);
  assert_true(xp_hlo_shape_same(&one, &other));
  assert_false(xp_hlo_shape_same(&one, &none));
  b.type = XP_HLO_S32;
  assert_false(xp_hlo_shape_same(&a, &b));
  assert_true(xp_hlo_shape_same_dims(&a, &b));
}

static void shapes_are_printed_as_xla_prints_them(void **state)
{
  (void)state;
  static const int64_t dims[] = {2, 3};
  xp_arena *arena = xp_arena_create();
  xp_hlo_shape shape = xp_hlo_shape_array(XP_HLO_F32, 2, dims);
  shape.dynamic = 1;
  const xp_hlo_shape parts[] = {shape, xp_hlo_shape_scalar(XP_HLO_PRED)};
  const xp_hlo_shape tuple = xp_hlo_shape_tuple(parts, 2);
  assert_str(xp_hlo_shape_text(arena, &tuple, true), "(f32[<=2,3]{1,0}, pred[])");
  assert_str(xp_hlo_shape_text(arena, &tuple, false), "(f32[<=2,3], pred[])");
  xp_arena_destroy(arena);
}

/* ---------------------------------------------------------------- elements */

/* Values from ml_dtypes 0.6 and numpy: x.view(type).astype(float64). */
static void small_floats_have_their_values(void **state)
{
  (void)state;
  static const struct {
    xp_hlo_type type;
    uint16_t bits;
    double value;
  } facts[] = {{XP_HLO_F16, 0x3555, 0.333251953125}, {XP_HLO_F16, 0x0001, 5.960464477539063e-08},
               {XP_HLO_F16, 0xfbff, -65504},         {XP_HLO_F16, 0xfc00, (double)-INFINITY},
               {XP_HLO_BF16, 0x4049, 3.140625},      {XP_HLO_BF16, 0x0001, 9.183549615799121e-41},
               {XP_HLO_F8E4M3FN, 0x7e, 448},         {XP_HLO_F8E4M3FN, 0x01, 0.001953125},
               {XP_HLO_F8E5M2, 0x7b, 57344},         {XP_HLO_F8E4M3FNUZ, 0x7f, 240},
               {XP_HLO_F8E5M2FNUZ, 0x7f, 57344},     {XP_HLO_F8E4M3B11FNUZ, 0x7f, 30},
               {XP_HLO_F8E3M4, 0x6f, 15.5},          {XP_HLO_F8E8M0FNU, 0x80, 2},
               {XP_HLO_F4E2M1FN, 0x07, 6},           {XP_HLO_F6E3M2FN, 0x1f, 28},
               {XP_HLO_F6E2M3FN, 0x1f, 7.5}};
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
    double value = xp_hlo_element_to_double(facts[i].type, &facts[i].bits);
    if (value != facts[i].value) {
      fail_msg("%s %#x is %.17g, not %.17g", xp_hlo_type_name(facts[i].type), facts[i].bits, value, facts[i].value);
    }
  }
  static const uint16_t nan_of_fn = 0x7f, nan_of_fnuz = 0x80;
  assert_true(isnan(xp_hlo_element_to_double(XP_HLO_F8E4M3FN, &nan_of_fn)));
  assert_true(isnan(xp_hlo_element_to_double(XP_HLO_F8E4M3FNUZ, &nan_of_fnuz)));
}

/* Expected bits from numpy and ml_dtypes: np.array(value).astype(type). */
static void doubles_are_rounded_to_even(void **state)
{
  (void)state;
  static const struct {
    xp_hlo_type type;
    double value;
    uint64_t bits;
  } facts[] = {{XP_HLO_BF16, 1.00390625, 0x3f80}, /* half way between 1 and the next: to even */
               {XP_HLO_BF16, 1.01171875, 0x3f82},
               {XP_HLO_BF16, -3.14159, 0xc049},
               {XP_HLO_BF16, 3.4e38, 0x7f80},
               {XP_HLO_F16, 65519.9, 0x7bff},
               {XP_HLO_F16, 65520, 0x7c00},
               {XP_HLO_F16, 6e-08, 0x0001},
               {XP_HLO_F16, -0.0, 0x8000},
               {XP_HLO_F32, 0.1, 0x3dcccccd},
               {XP_HLO_S8, 300, 0x7f},
               {XP_HLO_S8, -300, 0x80},
               {XP_HLO_U8, -1, 0},
               {XP_HLO_S64, 1e30, INT64_MAX},
               {XP_HLO_U64, 1e30, UINT64_MAX},
               {XP_HLO_S32, -2.9, 0xfffffffe},
               {XP_HLO_PRED, 0.5, 1}};
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
    uint64_t bits = 0;
    assert_true(xp_hlo_element_from_double(facts[i].type, facts[i].value, &bits));
    if (bits != facts[i].bits) {
      fail_msg("%s %.17g is %#llx, not %#llx", xp_hlo_type_name(facts[i].type), facts[i].value,
               (unsigned long long)bits, (unsigned long long)facts[i].bits);
    }
  }
  char bytes[16];
  assert_true(xp_hlo_element_from_double(XP_HLO_C128, 2, bytes));
  assert_false(xp_hlo_element_from_double(XP_HLO_F8E5M2, 2, bytes));
  assert_false(xp_hlo_element_from_double(XP_HLO_TUPLE, 2, bytes));
}

static void integers_are_extended_by_their_sign(void **state)
{
  (void)state;
  static const uint8_t all[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  assert_int_equal(xp_hlo_element_to_int64(XP_HLO_S8, all), -1);
  assert_int_equal(xp_hlo_element_to_int64(XP_HLO_S64, all), -1);
  assert_int_equal(xp_hlo_element_to_int64(XP_HLO_U16, all), 65535);
  assert_int_equal(xp_hlo_element_to_int64(XP_HLO_S4, all), -1);
  assert_int_equal(xp_hlo_element_to_int64(XP_HLO_U4, all), 15);
  assert_int_equal(xp_hlo_element_to_int64(XP_HLO_F32, all), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_list_of_opcodes_is_sorted_so_that_every_text_is_found),
      cmocka_unit_test(types_have_the_names_and_sizes_of_xla),
      cmocka_unit_test(shapes_count_elements_and_bytes),
      cmocka_unit_test(shapes_that_do_not_fit_63_bits_are_not_sound),
      cmocka_unit_test(shapes_are_compared_without_their_layouts),
      cmocka_unit_test(shapes_are_printed_as_xla_prints_them),
      cmocka_unit_test(small_floats_have_their_values),
      cmocka_unit_test(doubles_are_rounded_to_even),
      cmocka_unit_test(integers_are_extended_by_their_sign),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
