/* Bodies, calls and constants of a builder: errors that stick, ids, metadata, what is refused. */
#include "hlo_bench.h"

static void the_first_error_stays_and_later_calls_do_nothing(void **state)
{
  (void)state;
  bench t = open_bench();
  xp_hlo_value x = matrix(&t, 2, 3), bad = xp_hlo_build_unary(t.b, XP_HLO_OP_NOT, x);
  assert_int_equal(xp_hlo_build_unary(t.b, XP_HLO_OP_TANH, x), XP_HLO_NO_VALUE);
  assert_int_equal(xp_hlo_build_binary(t.b, XP_HLO_OP_ADD, bad, x), XP_HLO_NO_VALUE);
  assert_int_equal(xp_hlo_builder_status(t.builder), XP_ERR_USAGE);
  assert_int_equal(xp_hlo_value_shape(t.b, bad)->type, XP_HLO_TYPE_INVALID);
  must_refuse(&t, bad, "not: the operand");
}

static void values_of_nowhere_and_ended_bodies_are_refused(void **state)
{
  (void)state;
  bench t = open_bench();
  must_refuse(&t, xp_hlo_build_unary(t.b, XP_HLO_OP_TANH, 0), "tanh: operand 0 is no value of the body main");
  t = open_bench();
  xp_hlo_value x = xp_hlo_build_scalar(t.b, XP_HLO_F32, 1);
  assert_true(xp_hlo_body_end(t.b, x) != XP_HLO_NO_VALUE);
  must_refuse(&t, xp_hlo_build_unary(t.b, XP_HLO_OP_TANH, x), "tanh: the body main has ended");
}

static void a_program_needs_an_entry_and_all_bodies_ended(void **state)
{
  (void)state;
  const xp_hlo_module *module;
  xp_error err;
  bench t = open_bench();
  assert_int_equal(xp_hlo_builder_finish(t.builder, t.add, &module, &err), XP_ERR_USAGE);
  assert_contains(err.text, "end every body");
  xp_hlo_body_end(t.b, xp_hlo_build_scalar(t.b, XP_HLO_F32, 1));
  assert_int_equal(xp_hlo_builder_finish(t.builder, 7, &module, &err), XP_ERR_USAGE);
  assert_int_equal(xp_hlo_builder_finish(t.builder, t.add, &module, &err), XP_OK);
  assert_int_equal(xp_hlo_entry(module)->parameter_count, 2);
  close_bench(&t);
}

static void parameters_must_be_numbered_without_holes(void **state)
{
  (void)state;
  bench t = open_bench();
  xp_hlo_value x = sample_parameter(t.b, 1, XP_HLO_F32, 0, NULL);
  const xp_hlo_module *module;
  xp_error err;
  assert_int_equal(xp_hlo_body_end(t.b, x), XP_HLO_NO_VALUE);
  assert_int_equal(xp_hlo_builder_finish(t.builder, 0, &module, &err), XP_ERR_USAGE);
  assert_contains(err.text, "parameter: the body main has 1 parameters, and number 1 stands twice or is too large");
  close_bench(&t);
}

static void ids_are_dense_and_metadata_follow_the_builder(void **state)
{
  (void)state;
  const xp_hlo_meta meta = {.op_name = xp_str_c("fwd/x"), .source_line = 3};
  const xp_hlo_module *module;
  xp_arena *arena = xp_arena_create();
  xp_hlo_builder *builder = xp_hlo_builder_create(arena, "m");
  xp_hlo_body *b = xp_hlo_body_begin(builder, "main");
  xp_hlo_value x = sample_parameter(b, 0, XP_HLO_F32, 0, NULL);
  xp_hlo_builder_set_meta(builder, &meta);
  xp_hlo_value y = xp_hlo_build_unary(b, XP_HLO_OP_EXPONENTIAL_MINUS_ONE, x);
  xp_hlo_builder_set_meta(builder, NULL);
  uint32_t entry = xp_hlo_body_end(b, xp_hlo_build_binary(b, XP_HLO_OP_ADD, x, y));
  assert_int_equal(xp_hlo_builder_finish(builder, entry, &module, NULL), XP_OK);
  const xp_hlo_computation *c = xp_hlo_entry(module);
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(c->instructions[i].id, i + 1);
  }
  assert_int_equal(c->id, 4);
  assert_str(c->name, "main.4");
  assert_str(c->instructions[1].name, "exponential-minus-one.2");
  assert_str(c->instructions[1].meta.op_name, "fwd/x");
  assert_int_equal(c->instructions[1].meta.source_line, 3);
  assert_int_equal(c->instructions[2].meta.op_name.len, 0);
  xp_arena_destroy(arena);
}

static void loops_and_branches_must_keep_the_shape_of_their_state(void **state)
{
  (void)state;
  bench t = open_bench();
  uint32_t less = sample_scalars(t.builder, "less", XP_HLO_OP_ADD, XP_HLO_COMPARE_LT, XP_HLO_F32);
  xp_hlo_value x = matrix(&t, 2, 3);
  must_refuse(&t, xp_hlo_build_while(t.b, less, t.add, x),
              "while: the computation less.8 takes 2 arguments, and here it gets 1");
  t = open_bench();
  xp_hlo_value s = xp_hlo_build_integer(t.b, XP_HLO_S64, 0);
  const uint32_t branches[] = {t.add, t.add};
  const xp_hlo_value arguments[] = {s, s};
  must_refuse(&t, xp_hlo_build_conditional(t.b, s, branches, arguments, 2),
              "conditional: s64[] does not select one of 2 branches");
  t = open_bench();
  must_refuse(&t, xp_hlo_build_element(t.b, matrix(&t, 2, 3), 0), "get-tuple-element: f32[2,3] has no part 0");
}

static void constants_have_the_bytes_of_their_shape(void **state)
{
  (void)state;
  static const int64_t dims[] = {3};
  const xp_hlo_shape shape = xp_hlo_shape_array(XP_HLO_F32, 1, dims);
  bench t = open_bench();
  must_refuse(&t, xp_hlo_build_constant(t.b, &shape, xp_str_c("12345678")),
              "constant: the shape f32[3] needs 12 bytes, and there are 8");
  t = open_bench();
  must_refuse(&t, xp_hlo_build_scalar(t.b, XP_HLO_F8E5M2, 1), "constant: a number cannot be a constant of type f8e5m2");
  t = open_bench();
  xp_hlo_shape bad = shape;
  bad.minor_to_major[0] = 5;
  must_refuse(&t, xp_hlo_build_parameter(t.b, 0, &bad, "p"), "parameter: the shape is none");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_error_stays_and_later_calls_do_nothing),
      cmocka_unit_test(values_of_nowhere_and_ended_bodies_are_refused),
      cmocka_unit_test(a_program_needs_an_entry_and_all_bodies_ended),
      cmocka_unit_test(parameters_must_be_numbered_without_holes),
      cmocka_unit_test(ids_are_dense_and_metadata_follow_the_builder),
      cmocka_unit_test(loops_and_branches_must_keep_the_shape_of_their_state),
      cmocka_unit_test(constants_have_the_bytes_of_their_shape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
