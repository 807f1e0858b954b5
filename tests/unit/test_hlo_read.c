/* Reading HloModuleProto: what is put in order, and what is refused with the name of instruction and field. */
#include "hlo_messages.h"

/* A module of one computation "main" (id 9), whose instructions `fill` puts, with the given root. */
static xp_wire_writer module_of(void (*fill)(xp_wire_writer *w), uint64_t root)
{
  xp_wire_writer w = {0};
  xp_wire_put_bytes(&w, 1, xp_str_c("m"));
  size_t mark = open_computation(&w, 9, root, "main");
  fill(&w);
  xp_wire_close_message(&w, mark);
  xp_wire_put_varint(&w, 6, 9);
  return w;
}

static void must_fail(void (*fill)(xp_wire_writer *w), uint64_t root, xp_status status, const char *part)
{
  xp_error err;
  xp_wire_writer w = module_of(fill, root);
  assert_int_equal(read_message(written(&w), &err, NULL), status);
  assert_contains(err.text, part);
  xp_wire_writer_free(&w);
}

static void must_read(void (*fill)(xp_wire_writer *w), uint64_t root, void (*check)(const xp_hlo_module *module))
{
  xp_error err;
  xp_wire_writer w = module_of(fill, root);
  if (read_message(written(&w), &err, check) != XP_OK) {
    fail_msg("%s", err.text);
  }
  xp_wire_writer_free(&w);
}

/* ---------------------------------------------------------------- order */

static void users_first(xp_wire_writer *w)
{
  put_instruction(w, 30, "add", "\x14\x0a"); /* 20, 10 */
  size_t mark = open_instruction(w, 20, "negate", "\x0a");
  xp_wire_put_bytes(w, 37, xp_str_c("\x0f")); /* after 15 */
  xp_wire_close_message(w, mark);
  put_instruction(w, 10, "parameter", "");
  put_instruction(w, 15, "sine", "\x0a");
}

static void check_order(const xp_hlo_module *module)
{
  const xp_hlo_computation *c = xp_hlo_entry(module);
  static const char *const names[] = {"parameter.10", "sine.15", "negate.20", "add.30"};
  assert_int_equal(c->instruction_count, 4);
  for (uint32_t i = 0; i < 4; i++) {
    assert_str(c->instructions[i].name, names[i]);
  }
  const xp_hlo_instruction *root = xp_hlo_root(c);
  assert_str(root->name, "add.30");
  assert_str(xp_hlo_operand(c, root, 0)->name, "negate.20");
  assert_str(xp_hlo_operand(c, root, 1)->name, "parameter.10");
  assert_int_equal(c->instructions[2].predecessors[0], 1);
  assert_str(xp_hlo_parameter(c, 0)->name, "parameter.10");
}

static void instructions_in_any_order_are_sorted(void **state)
{
  (void)state;
  must_read(users_first, 30, check_order);
}

static void cycle(xp_wire_writer *w)
{
  put_instruction(w, 1, "parameter", "");
  put_instruction(w, 2, "negate", "\x03");
  put_instruction(w, 3, "sine", "\x02");
}

static void itself(xp_wire_writer *w)
{
  put_instruction(w, 2, "negate", "\x02");
}

static void a_cycle_is_refused_with_an_instruction_on_it(void **state)
{
  (void)state;
  must_fail(cycle, 3, XP_ERR_FORMAT, "field operand_ids: the instruction needs itself");
  must_fail(itself, 2, XP_ERR_FORMAT, "instruction negate.2 of computation main");
}

/* A chain as deep as the message is long: nothing may recurse over it. */
static void backwards(xp_wire_writer *w)
{
  for (uint64_t id = 100000; id > 1; id--) {
    size_t mark = open_instruction(w, id, "negate", "");
    xp_wire_put_varint(w, 36, id - 1);
    xp_wire_close_message(w, mark);
  }
  put_instruction(w, 1, "parameter", "");
}

static void check_chain(const xp_hlo_module *module)
{
  const xp_hlo_computation *c = xp_hlo_entry(module);
  for (uint32_t i = 1; i < c->instruction_count; i++) {
    assert_int_equal(c->instructions[i].operands[0], i - 1);
  }
}

static void a_chain_of_a_hundred_thousand_backwards_is_sorted(void **state)
{
  (void)state;
  must_read(backwards, 100000, check_chain);
}

/* ---------------------------------------------------------------- ids */

static void unknown_operand(xp_wire_writer *w)
{
  put_instruction(w, 1, "parameter", "");
  put_instruction(w, 2, "negate", "\x07");
}

static void twice(xp_wire_writer *w)
{
  put_instruction(w, 1, "parameter", "");
  put_instruction(w, 1, "negate", "\x01");
}

static void calls_nothing(xp_wire_writer *w)
{
  size_t mark = open_instruction(w, 1, "call", "");
  xp_wire_put_varint(w, 38, 77);
  xp_wire_close_message(w, mark);
}

static void two_parameters_of_one_number(xp_wire_writer *w)
{
  put_instruction(w, 1, "parameter", "");
  put_instruction(w, 2, "parameter", "");
}

static void nothing(xp_wire_writer *w)
{
  (void)w;
}

static void ids_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  must_fail(
      unknown_operand, 2, XP_ERR_FORMAT,
      "instruction negate.2 of computation main, field operand_ids: the computation has no instruction with the id 7");
  must_fail(twice, 1, XP_ERR_FORMAT, "field id: the id 1 stands twice");
  must_fail(calls_nothing, 1, XP_ERR_FORMAT, "call.1 of computation main, field called_computation_ids: there is no");
  must_fail(two_parameters_of_one_number, 1, XP_ERR_FORMAT, "field parameter_number: 0 stands twice");
  must_fail(nothing, 1, XP_ERR_FORMAT, "computation main, field instructions: there are none");
}

static void one_parameter(xp_wire_writer *w)
{
  put_instruction(w, 1, "parameter", "");
}

static void a_root_or_an_entry_that_is_not_there_is_refused(void **state)
{
  (void)state;
  xp_error err;
  must_fail(one_parameter, 5, XP_ERR_FORMAT, "computation main, field root_id: there is no instruction with the id 5");
  xp_wire_writer w = module_of(one_parameter, 1);
  xp_wire_put_varint(&w, 6, 8);
  assert_int_equal(read_message(written(&w), &err, NULL), XP_ERR_FORMAT);
  assert_contains(err.text, "field entry_computation_id: there is no computation with the id 8");
  xp_wire_writer_free(&w);
}

static void computations_that_call_each_other_are_refused(void **state)
{
  (void)state;
  xp_error err;
  xp_wire_writer w = {0};
  for (uint64_t id = 4; id <= 5; id++) {
    size_t mark = open_computation(&w, id, 1, id == 4 ? "ping" : "pong"), call = open_instruction(&w, 1, "call", "");
    xp_wire_put_varint(&w, 38, 9 - id);
    xp_wire_close_message(&w, call);
    xp_wire_close_message(&w, mark);
  }
  xp_wire_put_varint(&w, 6, 4);
  assert_int_equal(read_message(written(&w), &err, NULL), XP_ERR_FORMAT);
  assert_contains(err.text, "the computation calls itself");
  xp_wire_writer_free(&w);
}

static void check_callee_first(const xp_hlo_module *module)
{
  assert_int_equal(module->computation_count, 2);
  assert_int_equal(module->entry, 1);
  assert_str(xp_hlo_call(module, xp_hlo_root(xp_hlo_entry(module)), 0)->name, "callee");
}

static void callers_come_behind_what_they_call(void **state)
{
  (void)state;
  xp_error err;
  xp_wire_writer w = {0};
  size_t mark = open_computation(&w, 4, 1, "caller"), call = open_instruction(&w, 1, "call", "");
  xp_wire_put_varint(&w, 38, 5);
  xp_wire_close_message(&w, call);
  xp_wire_close_message(&w, mark);
  mark = open_computation(&w, 5, 1, "callee");
  put_instruction(&w, 1, "replica-id", "");
  xp_wire_close_message(&w, mark);
  xp_wire_put_bytes(&w, 2, xp_str_c("caller")); /* old writers name the entry only */
  assert_int_equal(read_message(written(&w), &err, check_callee_first), XP_OK);
  xp_wire_writer_free(&w);
}

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

static void fields_with_wrong_values_are_named(void **state)
{
  (void)state;
  must_fail(bad_direction, 1, XP_ERR_FORMAT, "field comparison_direction: there is no value \"XX\"");
  must_fail(bad_distribution, 1, XP_ERR_FORMAT, "field distribution: there is no value 9");
  must_fail(bad_wire_type, 1, XP_ERR_FORMAT, "field window: wire type 0 does not belong there");
  must_fail(no_opcode, 1, XP_ERR_FORMAT, "field opcode: it is missing");
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

static void every_prefix_of_a_message_is_refused_or_read(void **state)
{
  (void)state;
  xp_wire_writer w = module_of(users_first, 30);
  for (size_t len = 0; len < w.len; len++) {
    xp_error err = {XP_OK, ""};
    if (read_message(xp_str_from((const char *)w.data, len), &err, NULL) != XP_OK) {
      assert_true(err.text[0] != '\0');
    }
  }
  xp_wire_writer_free(&w);
}

/* ---------------------------------------------------------------- wrappers */

static void wrappers_are_taken_off(void **state)
{
  (void)state;
  xp_error err;
  xp_str inner;
  xp_wire_writer module = module_of(one_parameter, 1), proto = {0}, with_config = {0};
  xp_wire_put_bytes(&module, 2, xp_str_c("main"));
  assert_int_equal(xp_hlo_unwrap(written(&module), &inner, &err), XP_OK);
  assert_int_equal(inner.len, module.len);
  xp_wire_put_message(&proto, 1, &module);
  xp_wire_put_bytes(&proto, 3, xp_str_c("")); /* HloProto: buffer_assignment */
  assert_int_equal(xp_hlo_unwrap(written(&proto), &inner, &err), XP_OK);
  assert_int_equal(inner.len, module.len);
  xp_wire_put_message(&with_config, 1, &module);
  xp_wire_put_bytes(&with_config, 2, xp_str_c("config"));
  assert_int_equal(xp_hlo_unwrap(written(&with_config), &inner, &err), XP_OK);
  assert_int_equal(read_message(inner, &err, NULL), XP_OK);
  assert_int_equal(xp_hlo_unwrap(xp_str_c("\x0a"), &inner, &err), XP_ERR_TRUNCATED);
  xp_wire_writer_free(&module);
  xp_wire_writer_free(&proto);
  xp_wire_writer_free(&with_config);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(instructions_in_any_order_are_sorted),
      cmocka_unit_test(a_cycle_is_refused_with_an_instruction_on_it),
      cmocka_unit_test(a_chain_of_a_hundred_thousand_backwards_is_sorted),
      cmocka_unit_test(ids_that_do_not_fit_are_refused),
      cmocka_unit_test(a_root_or_an_entry_that_is_not_there_is_refused),
      cmocka_unit_test(computations_that_call_each_other_are_refused),
      cmocka_unit_test(callers_come_behind_what_they_call),
      cmocka_unit_test(shapes_that_make_no_sense_are_refused),
      cmocka_unit_test(literals_are_held_against_their_shape),
      cmocka_unit_test(fields_with_wrong_values_are_named),
      cmocka_unit_test(an_unknown_operation_and_its_fields_are_kept),
      cmocka_unit_test(every_prefix_of_a_message_is_refused_or_read),
      cmocka_unit_test(wrappers_are_taken_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
