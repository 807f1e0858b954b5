/* Reading HloModuleProto: shapes, literals and fields with values that make no sense. */
#include "hlo_messages.h"

/* ---------------------------------------------------------------- shapes and literals */

/* An instruction of one operation with a shape from `put`, or with a literal of it. */
static void (*put_bad)(xp_wire_writer *w, uint32_t field);

static void with_shape(xp_wire_writer *w)
{
  size_t mark = xp_wire_open_message(w, 2);
  xp_wire_put_bytes(w, 1, xp_str_c("x"));
  xp_wire_put_bytes(w, 2, xp_str_c("replica-id"));
  put_bad(w, 3);
  xp_wire_put_varint(w, 35, 1);
  xp_wire_close_message(w, mark);
}

static void nine_dims(xp_wire_writer *w, uint32_t field)
{
  put_shape(w, field, XP_HLO_F32, 9, (const uint8_t *)"\1\1\1\1\1\1\1\1\1");
}

static void no_type(xp_wire_writer *w, uint32_t field)
{
  put_shape(w, field, 99, 0, NULL);
}

static void too_large(xp_wire_writer *w, uint32_t field)
{
  size_t mark = xp_wire_open_message(w, field);
  xp_wire_put_varint(w, 2, XP_HLO_F32);
  xp_wire_put_varint(w, 3, (uint64_t)1 << 61);
  xp_wire_put_varint(w, 3, 2);
  xp_wire_close_message(w, mark);
}

static void layout_of_two(xp_wire_writer *w, uint32_t field)
{
  size_t mark = xp_wire_open_message(w, field);
  xp_wire_put_varint(w, 2, XP_HLO_F32);
  xp_wire_put_bytes(w, 3, xp_str_c("\2\3"));
  size_t layout = xp_wire_open_message(w, 5);
  xp_wire_put_bytes(w, 1, xp_str_c("\1\1"));
  xp_wire_close_message(w, layout);
  xp_wire_close_message(w, mark);
}

static void nested(xp_wire_writer *w, uint32_t field)
{
  size_t marks[40];
  for (int i = 0; i < 40; i++) {
    marks[i] = xp_wire_open_message(w, i == 0 ? field : 4);
    xp_wire_put_varint(w, 2, XP_HLO_TUPLE);
  }
  for (int i = 40; i-- > 0;) {
    xp_wire_close_message(w, marks[i]);
  }
}

static void shapes_that_make_no_sense_are_refused(void **state)
{
  (void)state;
  put_bad = nine_dims;
  must_fail(with_shape, 1, XP_ERR_LIMIT,
            "instruction x of computation main, field shape: a shape of 9 dimensions; 8 is the");
  put_bad = no_type;
  must_fail(with_shape, 1, XP_ERR_FORMAT, "field shape: there is no element type 99");
  put_bad = too_large;
  must_fail(with_shape, 1, XP_ERR_FORMAT, "field shape: a dimension is negative, or the bytes do not fit 63 bits");
  put_bad = layout_of_two;
  must_fail(with_shape, 1, XP_ERR_FORMAT, "field shape: the layout is no permutation of the dimensions");
  put_bad = nested;
  must_fail(with_shape, 1, XP_ERR_LIMIT, "field shape: tuples are nested more than 32 deep");
}

/* A constant f32[dim] with the given floats, or varints of another type. */
static uint8_t constant_dim;
static xp_str constant_values;
static uint32_t constant_field, constant_type;

static void constant(xp_wire_writer *w)
{
  size_t mark = xp_wire_open_message(w, 2);
  xp_wire_put_bytes(w, 1, xp_str_c("constant.1"));
  xp_wire_put_bytes(w, 2, xp_str_c("constant"));
  put_shape(w, 3, constant_type, 1, &constant_dim);
  size_t literal = xp_wire_open_message(w, 8);
  put_shape(w, 1, constant_type, 1, &constant_dim);
  xp_wire_put_bytes(w, constant_field, constant_values);
  xp_wire_close_message(w, literal);
  xp_wire_put_varint(w, 35, 1);
  xp_wire_close_message(w, mark);
}

static void check_integers(const xp_hlo_module *module)
{
  static const int32_t want[] = {1, -1, 300};
  const xp_hlo_literal *literal = xp_hlo_root(xp_hlo_entry(module))->literal;
  assert_int_equal(literal->bytes.len, sizeof want);
  assert_memory_equal(literal->bytes.ptr, want, sizeof want);
}

static void literals_are_held_against_their_shape(void **state)
{
  (void)state;
  constant_dim = 3;
  constant_type = XP_HLO_S32;
  constant_field = 4;
  constant_values = xp_str_from("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xac\x02", 13);
  must_read(constant, 1, check_integers);
  constant_dim = 4;
  must_fail(constant, 1, XP_ERR_FORMAT,
            "constant.1 of computation main, field literal: 12 bytes of values, and its shape has 16");
  constant_dim = 3;
  constant_field = 8; /* values of floats for integers */
  must_fail(constant, 1, XP_ERR_FORMAT, "field literal: 0 bytes of values, and its shape has 12");
  constant_field = 4;
  constant_values = xp_str_from("\x01\x01\x01\xff", 4);
  must_fail(constant, 1, XP_ERR_FORMAT, "field literal: a number does not end");
  constant_type = XP_HLO_F32;
  constant_field = 8;
  constant_values = xp_str_from("123456789012", 11);
  must_fail(constant, 1, XP_ERR_FORMAT, "field literal: 11 bytes of values");
}

/* ---------------------------------------------------------------- fields */

static void bad_direction(xp_wire_writer *w)
{
  size_t mark = open_instruction(w, 1, "compare", "");
  xp_wire_put_bytes(w, 63, xp_str_c("XX"));
  xp_wire_close_message(w, mark);
}

static void bad_distribution(xp_wire_writer *w)
{
  size_t mark = open_instruction(w, 1, "rng", "");
  xp_wire_put_varint(w, 23, 9);
  xp_wire_close_message(w, mark);
}

static void bad_wire_type(xp_wire_writer *w)
{
  size_t mark = open_instruction(w, 1, "reduce", "");
  xp_wire_put_varint(w, 15, 1); /* a number for the window */
  xp_wire_close_message(w, mark);
}

static void no_opcode(xp_wire_writer *w)
{
  size_t mark = xp_wire_open_message(w, 2);
  xp_wire_put_varint(w, 35, 1);
  xp_wire_close_message(w, mark);
}

static void cut_inside(xp_wire_writer *w)
{
  size_t mark = open_instruction(w, 1, "reduce", "");
  xp_wire_put_bytes(w, 15, xp_str_from("\x0a\x05", 2)); /* a dimension of 5 bytes that are not there */
  xp_wire_close_message(w, mark);
}

/* A field that a later XLA may add to the dimension numbers of dot. */
static void newer_numbers(xp_wire_writer *w)
{
  size_t mark = open_instruction(w, 1, "dot", "");
  xp_wire_put_bytes(w, 30, xp_str_from("\x48\x01", 2)); /* field 9 */
  xp_wire_close_message(w, mark);
}

static void fields_with_wrong_values_are_named(void **state)
{
  (void)state;
  must_fail(bad_direction, 1, XP_ERR_FORMAT, "field comparison_direction: there is no value \"XX\"");
  must_fail(bad_distribution, 1, XP_ERR_FORMAT, "field distribution: there is no value 9");
  must_fail(bad_wire_type, 1, XP_ERR_FORMAT, "field window: wire type 0 does not belong there");
  must_fail(no_opcode, 1, XP_ERR_FORMAT, "field opcode: it is missing");
  must_fail(newer_numbers, 1, XP_ERR_FORMAT,
            "field dot_dimension_numbers: it has a field 9, which is newer than this library");
  must_fail(cut_inside, 1, XP_ERR_TRUNCATED, "field window: its end is missing");
}

static void unknown_operation(xp_wire_writer *w)
{
  size_t mark = open_instruction(w, 1, "of-the-future", "");
  xp_wire_put_varint(w, 200, 7);
  xp_wire_close_message(w, mark);
}

static void check_unknown(const xp_hlo_module *module)
{
  const xp_hlo_instruction *in = xp_hlo_root(xp_hlo_entry(module));
  assert_int_equal(in->opcode, XP_HLO_OP_UNKNOWN);
  assert_str(in->opcode_text, "of-the-future");
  assert_int_equal(in->rest.len, 3); /* key of two bytes, and the value */
}

static void an_unknown_operation_and_its_fields_are_kept(void **state)
{
  (void)state;
  must_read(unknown_operation, 1, check_unknown);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_that_make_no_sense_are_refused),
      cmocka_unit_test(literals_are_held_against_their_shape),
      cmocka_unit_test(fields_with_wrong_values_are_named),
      cmocka_unit_test(an_unknown_operation_and_its_fields_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
