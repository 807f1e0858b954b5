/* Which scopes a program's instructions carry: analyze/program_scopes.c, on modules that the builder makes. */
#include "testing.h"

#include "analyze/program_scopes.h"
#include "hlo/build.h"
#include "report/program_scopes.h"

static xp_arena *arena;

static int make_arena(void **state)
{
  (void)state;
  arena = xp_arena_create();
  return arena == NULL;
}

static int drop_arena(void **state)
{
  (void)state;
  xp_arena_destroy(arena);
  return 0;
}

static void name(xp_hlo_builder *b, const char *op_name)
{
  const xp_hlo_meta meta = {.op_name = xp_str_c(op_name)};
  xp_hlo_builder_set_meta(b, op_name != NULL ? &meta : NULL);
}

/* negate(x) for each name, in a row. */
static const xp_hlo_module *chain(const char *const *op_names)
{
  xp_hlo_builder *b = xp_hlo_builder_create(arena, "m");
  xp_hlo_body *body = xp_hlo_body_begin(b, "main");
  const xp_hlo_shape scalar = {.type = XP_HLO_F32};
  const xp_hlo_module *module = NULL;
  xp_error err = {0};
  xp_hlo_value x = xp_hlo_build_parameter(body, 0, &scalar, "p0");
  for (; *op_names != NULL; op_names++) {
    name(b, *op_names);
    x = xp_hlo_build_unary(body, XP_HLO_OP_NEGATE, x);
  }
  name(b, NULL);
  const uint32_t entry = xp_hlo_body_end(body, xp_hlo_build_tuple(body, &x, 1));
  if (xp_hlo_builder_finish(b, entry, &module, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return module;
}

static const xp_program_scope *row_of(const xp_program_scopes *scopes, const char *scope)
{
  for (size_t i = 0; i < scopes->count; i++) {
    if (xp_str_is(scopes->scopes[i].scope, scope)) {
      return &scopes->scopes[i];
    }
  }
  fail_msg("no scope \"%s\"", scope);
  return NULL;
}

static void instructions_are_counted_by_scope_before_and_after(void **state)
{
  (void)state;
  const xp_hlo_module *source = chain((const char *[]){"fwd/mul", "fwd/add", "bwd/mul", "neg", NULL});
  const xp_hlo_module *compiled = chain((const char *[]){"fwd/add", "", NULL});
  xp_program_scopes s;
  xp_program_scopes_count(source, compiled, false, arena, &s);
  assert_int_equal(s.count, 3);
  assert_int_equal(row_of(&s, "fwd")->source, 2);
  assert_int_equal(row_of(&s, "fwd")->compiled, 1);
  assert_int_equal(row_of(&s, "bwd")->source, 1);
  assert_int_equal(row_of(&s, "")->source, 1);
  assert_int_equal(row_of(&s, "")->compiled, 1);
  assert_int_equal(s.source, 4);
  assert_int_equal(s.source_scoped, 3);
  assert_int_equal(s.compiled, 2);
  assert_int_equal(s.compiled_scoped, 1);
}

static void a_scope_of_which_nothing_is_left_is_lost(void **state)
{
  (void)state;
  const xp_hlo_module *source = chain((const char *[]){"fwd/mul", "bwd/mul", NULL});
  const xp_hlo_module *compiled = chain((const char *[]){"fwd/mul", "new/copy", NULL});
  xp_program_scopes s;
  xp_program_scopes_count(source, compiled, false, arena, &s);
  assert_true(xp_program_scope_is_lost(row_of(&s, "bwd")));
  assert_false(xp_program_scope_is_lost(row_of(&s, "fwd")));
  assert_false(xp_program_scope_is_lost(row_of(&s, "new"))); /* the program never had it */
}

static void numbers_of_torch_xlas_scopes_are_folded(void **state)
{
  (void)state;
  const xp_hlo_module *compiled = chain((const char *[]){"step.1/fwd.2/aten__mm", "step.2/fwd.1/aten__mm", NULL});
  xp_program_scopes s;
  xp_program_scopes_count(NULL, compiled, true, arena, &s);
  assert_int_equal(s.count, 1);
  assert_int_equal(row_of(&s, "step/fwd")->compiled, 2);
}

static void rows_are_by_name_and_no_scope_comes_last(void **state)
{
  (void)state;
  const xp_hlo_module *compiled = chain((const char *[]){"neg", "b/x", "a/x", "b/c/x", NULL});
  static const char *const names[] = {"a", "b", "b/c", ""};
  xp_program_scopes s;
  xp_program_scopes_count(NULL, compiled, false, arena, &s);
  assert_int_equal(s.count, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_str(s.scopes[i].scope, names[i]);
  }
}

/* A loop's body runs as instructions of its own; what a reduce calls for each element does not. */
static void bodies_of_loops_count_and_those_of_sums_do_not(void **state)
{
  (void)state;
  xp_hlo_builder *b = xp_hlo_builder_create(arena, "m");
  const xp_hlo_shape scalar = {.type = XP_HLO_F32}, row = {.type = XP_HLO_F32, .rank = 1, .dims = {8}};
  const xp_hlo_module *module = NULL;
  xp_error err = {0};

  xp_hlo_body *add = xp_hlo_body_begin(b, "add");
  name(b, "sum/add");
  xp_hlo_value left = xp_hlo_build_parameter(add, 0, &scalar, "a");
  xp_hlo_value right = xp_hlo_build_parameter(add, 1, &scalar, "b");
  const uint32_t combine = xp_hlo_body_end(add, xp_hlo_build_binary(add, XP_HLO_OP_ADD, left, right));

  xp_hlo_body *condition = xp_hlo_body_begin(b, "condition");
  name(b, "loop/compare");
  xp_hlo_value c = xp_hlo_build_parameter(condition, 0, &scalar, "x");
  const uint32_t test = xp_hlo_body_end(condition, xp_hlo_build_compare(condition, XP_HLO_COMPARE_LT, c, c));
  xp_hlo_body *step = xp_hlo_body_begin(b, "step");
  name(b, "loop/negate");
  const uint32_t negate =
      xp_hlo_body_end(step, xp_hlo_build_unary(step, XP_HLO_OP_NEGATE, xp_hlo_build_parameter(step, 0, &scalar, "x")));

  xp_hlo_body *body = xp_hlo_body_begin(b, "main");
  name(b, "sum/reduce");
  xp_hlo_value x = xp_hlo_build_parameter(body, 0, &row, "p0"), zero = xp_hlo_build_scalar(body, XP_HLO_F32, 0);
  const int64_t dimension = 0;
  xp_hlo_value sum = xp_hlo_build_reduce(body, &x, &zero, 1, &dimension, 1, combine);
  name(b, "loop/while");
  const uint32_t entry = xp_hlo_body_end(body, xp_hlo_build_while(body, test, negate, sum));
  if (xp_hlo_builder_finish(b, entry, &module, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  xp_program_scopes s;
  xp_program_scopes_count(NULL, module, false, arena, &s);
  assert_int_equal(row_of(&s, "sum")->compiled, 1);  /* the reduce */
  assert_int_equal(row_of(&s, "loop")->compiled, 3); /* while, compare, negate */
}

/* ---------------------------------------------------------------- what is printed */

/* A program that kept two scopes, and has three instructions in none.  The builder puts the number of an instruction
 * behind its opcode; 1 is the parameter. */
static const xp_hlo_module *compiled_program(void)
{
  return chain((const char *[]){"", "step/fwd/mul", "copied", "step/opt/add", "", NULL});
}

static char *printed(xp_form form, size_t top)
{
  xp_program_scopes s;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  xp_error err = {0};
  xp_program_scopes_count(NULL, compiled_program(), false, arena, &s);
  const xp_program_scopes_view view = {xp_str_c("p.hlo"), xp_str_c("m"), xp_str_c("c.so"), xp_str_c("t"), 0, &s};
  const xp_output output = {.out = out, .form = form, .width = 80, .top = top};
  if (xp_program_scopes_write(&view, &output, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  fclose(out);
  return text;
}

static void every_executed_instruction_is_listed_with_its_scope_or_without(void **state)
{
  (void)state;
  xp_program_scopes s;
  xp_program_scopes_count(NULL, compiled_program(), false, arena, &s);
  assert_int_equal(s.compiled, 5);
  assert_str(s.instructions[0].scope, "");
  assert_str(s.instructions[1].name, "negate.3");
  assert_str(s.instructions[1].opcode, "negate");
  assert_str(s.instructions[1].scope, "step/fwd");
  assert_str(s.instructions[1].op_name, "step/fwd/mul");
  assert_str(s.instructions[2].scope, "");
  assert_str(s.instructions[2].op_name, "copied");
}

static void instructions_that_kept_a_scope_come_before_those_in_none(void **state)
{
  (void)state;
  char *text = printed(XP_FORM_TEXT, 0);
  const char *lists = strstr(text, "Executed instructions that carry a scope");
  assert_non_null(lists);
  assert_string_equal(lists, "Executed instructions that carry a scope\n"
                             "  instruction  opcode  scope\n"
                             "  negate.3     negate  step/fwd\n"
                             "  negate.5     negate  step/opt\n"
                             "\n"
                             "Executed instructions in no scope\n"
                             "  instruction  opcode\n"
                             "  negate.2     negate\n"
                             "  negate.4     negate\n"
                             "  negate.6     negate\n");
  free(text);
}

static void lists_of_instructions_have_as_many_rows_as_were_asked_for(void **state)
{
  (void)state;
  char *text = printed(XP_FORM_TEXT, 1);
  assert_non_null(strstr(text, "step/fwd\n  ... and 1 more instruction (--top 0 shows all)\n"));
  assert_non_null(strstr(text, "  negate.2     negate\n  ... and 2 more instructions (--top 0 shows all)\n"));
  assert_null(strstr(text, "negate.4"));
  free(text);
}

static void tables_for_programs_have_all_instructions_in_order(void **state)
{
  (void)state;
  char *csv = printed(XP_FORM_CSV, 1), *json = printed(XP_FORM_JSON, 1);
  assert_string_equal(csv, "instruction,opcode,scope,op_name\r\n"
                           "negate.2,negate,,\r\n"
                           "negate.3,negate,step/fwd,step/fwd/mul\r\n"
                           "negate.4,negate,,copied\r\n"
                           "negate.5,negate,step/opt,step/opt/add\r\n"
                           "negate.6,negate,,\r\n");
  assert_non_null(strstr(json, "{\"name\": \"negate.3\", \"opcode\": \"negate\", \"scope\": \"step/fwd\", "
                               "\"op_name\": \"step/fwd/mul\"}"));
  assert_non_null(strstr(json, "{\"name\": \"negate.6\", \"opcode\": \"negate\", \"scope\": null, "
                               "\"op_name\": null}"));
  free(csv);
  free(json);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, make_arena, drop_arena)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(instructions_are_counted_by_scope_before_and_after),
      TEST(a_scope_of_which_nothing_is_left_is_lost),
      TEST(numbers_of_torch_xlas_scopes_are_folded),
      TEST(rows_are_by_name_and_no_scope_comes_last),
      TEST(every_executed_instruction_is_listed_with_its_scope_or_without),
      TEST(instructions_that_kept_a_scope_come_before_those_in_none),
      TEST(lists_of_instructions_have_as_many_rows_as_were_asked_for),
      TEST(tables_for_programs_have_all_instructions_in_order),
      TEST(bodies_of_loops_count_and_those_of_sums_do_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
