/* Reading HloModuleProto: what is put in order, and what is refused with the name of instruction and field. */
#include "hlo_messages.h"

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
      cmocka_unit_test(every_prefix_of_a_message_is_refused_or_read),
      cmocka_unit_test(wrappers_are_taken_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
