/* From op names to scopes. */
#include "testing.h"

#include "analyze/op_names.h"

enum { TORCH = 1, RAW = 2 };

static xp_arena *arena;

static xp_op_scope split(xp_str name, int how)
{
  return xp_op_scope_of(name, (how & TORCH) != 0, (how & RAW) != 0, arena);
}

static void assert_scope(const char *name, int how, const char *scope, const char *base)
{
  xp_op_scope found = split(xp_str_c(name), how);
  assert_str(found.scope, scope);
  assert_str(found.base, base);
  assert_false(found.mixed);
  assert_int_equal(found.scoped, scope[0] != '\0');
}

static void the_scope_is_all_but_the_last_component(void **state)
{
  (void)state;
  assert_scope("unet/attn/aten__bmm", 0, "unet/attn", "aten__bmm");
  assert_scope("aten__bmm", 0, "", "aten__bmm");
}

static void torch_numbers_are_folded_at_the_end_of_each_component(void **state)
{
  (void)state;
  assert_scope("fwd.2/attn.1/aten__bmm", TORCH, "fwd/attn", "aten__bmm");
  assert_scope("fwd.1234567890123456789012345/x", TORCH, "fwd", "x");
}

static void a_number_is_folded_once(void **state)
{
  (void)state;
  assert_scope("block.1.2/x", TORCH, "block.1", "x");
}

static void a_point_inside_a_name_stays(void **state)
{
  (void)state;
  assert_scope("scheduler.step.2/x", TORCH, "scheduler.step", "x");
  assert_scope("scheduler.step/x", TORCH, "scheduler.step", "x");
}

static void only_a_number_behind_a_point_is_folded(void **state)
{
  (void)state;
  assert_scope("v2/x", TORCH, "v2", "x");
  assert_scope("a.2b/x", TORCH, "a.2b", "x");
  assert_scope("a./x", TORCH, "a.", "x");
  assert_scope("12/x", TORCH, "12", "x");
}

static void the_name_of_the_instruction_is_not_folded(void **state)
{
  (void)state;
  assert_scope("fwd.2/aten__mm.3", TORCH, "fwd", "aten__mm.3");
}

static void numbers_stay_in_jax(void **state)
{
  (void)state;
  assert_scope("block.1/dot", 0, "block.1", "dot");
}

static void jit_is_dropped(void **state)
{
  (void)state;
  assert_scope("jit(step)/jit(main)/mlp/dot", 0, "mlp", "dot");
  assert_scope("jit(step)/mlp/pjit(inner)/dot", 0, "mlp", "dot");
  assert_scope("jit(f)/add", 0, "", "add");
  assert_scope("jit()/add", 0, "", "add");
}

static void jit_without_brackets_is_a_name(void **state)
{
  (void)state;
  assert_scope("jit/jitter(x)/add", 0, "jit/jitter(x)", "add");
}

static void what_is_differentiated_shows_as_itself(void **state)
{
  (void)state;
  assert_scope("jit(step)/jvp(mlp)/dot", 0, "mlp", "dot");
  assert_scope("jit(step)/transpose(jvp(mlp))/dot", 0, "mlp", "dot");
}

static void wrappers_nest(void **state)
{
  (void)state;
  assert_scope("jvp(jvp(mlp))/dot", 0, "mlp", "dot");
  assert_scope("jvp(transpose(jvp(mlp)))/dot", 0, "mlp", "dot");
  assert_scope("transpose(jvp(transpose(jvp(mlp))))/dot", 0, "mlp", "dot");
}

static void a_wrapper_around_nothing_is_dropped(void **state)
{
  (void)state;
  assert_scope("jit(step)/jvp()/dot", 0, "", "dot");
  assert_scope("jit(step)/transpose(jvp())/dot", 0, "", "dot");
  assert_scope("jvp(jit(f))/dot", 0, "", "dot");
}

static void a_wrapper_may_hold_a_path(void **state)
{
  (void)state;
  assert_scope("jit(step)/jvp(block/mlp)/dot", 0, "block/mlp", "dot");
  assert_scope("transpose(jvp(block/mlp))/inner/dot", 0, "block/mlp/inner", "dot");
}

static void other_brackets_stay(void **state)
{
  (void)state;
  assert_scope("vmap(mlp)/dot", 0, "vmap(mlp)", "dot");
  assert_scope("transpose(mlp)/dot", 0, "transpose(mlp)", "dot");
  assert_scope("a(b/c)/dot", 0, "a(b/c)", "dot");
}

static void raw_names_stay_as_they_are(void **state)
{
  (void)state;
  assert_scope("jit(step)/transpose(jvp(mlp))/dot", RAW, "jit(step)/transpose(jvp(mlp))", "dot");
  assert_scope("fwd.2/attn.1/aten__bmm", TORCH | RAW, "fwd.2/attn.1", "aten__bmm");
}

static void the_type_behind_the_last_colon_goes(void **state)
{
  (void)state;
  assert_scope("fwd/mul:Mul", 0, "fwd", "mul");
  assert_scope("jit(f)/jit(main)/add:", 0, "", "add");
  assert_scope("mul:Mul", 0, "", "mul");
}

static void colons_in_brackets_and_scopes_stay(void **state)
{
  (void)state;
  assert_scope("a/dot[dims:1]:", 0, "a", "dot[dims:1]");
  assert_scope("block:1/dot", 0, "block:1", "dot");
  assert_scope("block:1/dot:Dot", 0, "block:1", "dot");
}

static void parts_of_a_fusion_in_one_scope_are_not_mixed(void **state)
{
  (void)state;
  assert_scope("a/x;a/y", 0, "a", "x");
  assert_scope("fwd.1/x;fwd.2/y", TORCH, "fwd", "x");
  assert_scope("jit(f)/jvp(a)/x;jit(f)/transpose(jvp(a))/y", 0, "a", "x");
}

static void a_fusion_over_scopes_shows_what_they_share(void **state)
{
  (void)state;
  xp_op_scope found = split(xp_str_c("a/b/x;a/c/y"), 0);
  assert_true(found.mixed);
  assert_true(found.scoped);
  assert_str(found.scope, "a");
}

static void scopes_share_whole_components_only(void **state)
{
  (void)state;
  assert_str(split(xp_str_c("ab/x;ac/y"), 0).scope, "");
  assert_str(split(xp_str_c("a/x;ab/y"), 0).scope, "");
  assert_str(split(xp_str_c("a/b/x;a/y"), 0).scope, "a");
  assert_str(split(xp_str_c("a/y;a/b/x"), 0).scope, "a");
}

static void a_fusion_that_shares_nothing_is_scoped_all_the_same(void **state)
{
  (void)state;
  xp_op_scope found = split(xp_str_c("a/x;b/y"), 0);
  assert_true(found.mixed);
  assert_true(found.scoped);
  assert_str(found.scope, "");
}

static void a_fusion_with_a_name_outside_of_scopes_is_not_scoped(void **state)
{
  (void)state;
  xp_op_scope found = split(xp_str_c("a/x;y"), 0);
  assert_true(found.mixed);
  assert_false(found.scoped);
  assert_str(found.scope, "");
}

static void spaces_around_the_names_of_a_fusion_do_not_matter(void **state)
{
  (void)state;
  assert_scope(" a/x ; a/y ", 0, "a", "x");
}

static void empty_names_of_a_fusion_are_none(void **state)
{
  (void)state;
  assert_scope(";a/x;; ;a/y;", 0, "a", "x");
}

static void an_empty_name_has_no_scope(void **state)
{
  (void)state;
  assert_scope("", 0, "", "");
  assert_scope(";", 0, "", "");
  assert_scope(":", 0, "", "");
}

static void empty_components_are_dropped(void **state)
{
  (void)state;
  assert_scope("///", 0, "", "");
  assert_scope("//a//b//x", 0, "a/b", "x");
  assert_scope("a/", 0, "a", "");
}

static void brackets_that_do_not_close_hide_no_slash(void **state)
{
  (void)state;
  assert_scope("jvp(a/b/dot", 0, "jvp(a/b", "dot");
  assert_scope("jit(f/dot", 0, "jit(f", "dot");
  assert_scope("a)/b)/dot", 0, "a)/b)", "dot");
  assert_scope("transpose(jvp(a)/dot", 0, "transpose(jvp(a)", "dot");
}

static void any_byte_may_stand_in_a_name(void **state)
{
  (void)state;
  static const char name[] = "a\0b\xff\xfe/c\x80/x\0y";
  static const char scope[] = "a\0b\xff\xfe/c\x80";
  static const char base[] = "x\0y";
  xp_op_scope found = split(xp_str_from(name, sizeof name - 1), TORCH);
  assert_true(xp_str_eq(found.scope, xp_str_from(scope, sizeof scope - 1)));
  assert_true(xp_str_eq(found.base, xp_str_from(base, sizeof base - 1)));
}

/* A name of many times the same text. */
static xp_str repeated(const char *text, size_t times)
{
  size_t len = strlen(text);
  char *name = xp_arena_alloc(arena, len * times);
  for (size_t i = 0; i < times; i++) {
    memcpy(name + i * len, text, len);
  }
  return xp_str_from(name, len * times);
}

enum { LONG = 100000 };

static void one_component_may_be_long(void **state)
{
  (void)state;
  xp_str name = repeated("x", LONG);
  ((char *)(uintptr_t)name.ptr)[LONG - 2] = '/';
  xp_op_scope found = split(name, TORCH);
  assert_int_equal(found.scope.len, LONG - 2);
  assert_str(found.base, "x");
}

static void components_may_be_many(void **state)
{
  (void)state;
  xp_op_scope found = split(repeated("a.1/", LONG / 4), TORCH);
  assert_int_equal(found.scope.len, LONG / 4 * 2 - 1);
}

static void names_of_a_fusion_may_be_many(void **state)
{
  (void)state;
  xp_op_scope found = split(repeated("a/x;", LONG / 4), 0);
  assert_str(found.scope, "a");
  assert_false(found.mixed);
}

static void wrappers_may_be_many(void **state)
{
  (void)state;
  xp_str name = repeated("jvp(", LONG / 5);
  char *text = xp_arena_alloc(arena, LONG + 2);
  memcpy(text, name.ptr, name.len);
  memset(text + name.len, ')', LONG / 5);
  memcpy(text + LONG, "/x", 2);
  assert_str(split(xp_str_from(text, LONG + 2), 0).scope, "");
}

/* The time must not grow with the square of the length: 100 KB would take seconds, 25 times that under a sanitizer. */
static void brackets_that_do_not_close_may_be_many(void **state)
{
  (void)state;
  xp_op_scope found = split(repeated("(/", LONG / 2), 0);
  assert_int_equal(found.scope.len, LONG - 1);
}

static int begin(void **state)
{
  (void)state;
  arena = xp_arena_create();
  return arena == NULL;
}

static int end(void **state)
{
  (void)state;
  xp_arena_destroy(arena);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_scope_is_all_but_the_last_component),
      cmocka_unit_test(torch_numbers_are_folded_at_the_end_of_each_component),
      cmocka_unit_test(a_number_is_folded_once),
      cmocka_unit_test(a_point_inside_a_name_stays),
      cmocka_unit_test(only_a_number_behind_a_point_is_folded),
      cmocka_unit_test(the_name_of_the_instruction_is_not_folded),
      cmocka_unit_test(numbers_stay_in_jax),
      cmocka_unit_test(jit_is_dropped),
      cmocka_unit_test(jit_without_brackets_is_a_name),
      cmocka_unit_test(what_is_differentiated_shows_as_itself),
      cmocka_unit_test(wrappers_nest),
      cmocka_unit_test(a_wrapper_around_nothing_is_dropped),
      cmocka_unit_test(a_wrapper_may_hold_a_path),
      cmocka_unit_test(other_brackets_stay),
      cmocka_unit_test(raw_names_stay_as_they_are),
      cmocka_unit_test(the_type_behind_the_last_colon_goes),
      cmocka_unit_test(colons_in_brackets_and_scopes_stay),
      cmocka_unit_test(parts_of_a_fusion_in_one_scope_are_not_mixed),
      cmocka_unit_test(a_fusion_over_scopes_shows_what_they_share),
      cmocka_unit_test(scopes_share_whole_components_only),
      cmocka_unit_test(a_fusion_that_shares_nothing_is_scoped_all_the_same),
      cmocka_unit_test(a_fusion_with_a_name_outside_of_scopes_is_not_scoped),
      cmocka_unit_test(spaces_around_the_names_of_a_fusion_do_not_matter),
      cmocka_unit_test(empty_names_of_a_fusion_are_none),
      cmocka_unit_test(an_empty_name_has_no_scope),
      cmocka_unit_test(empty_components_are_dropped),
      cmocka_unit_test(brackets_that_do_not_close_hide_no_slash),
      cmocka_unit_test(any_byte_may_stand_in_a_name),
      cmocka_unit_test(one_component_may_be_long),
      cmocka_unit_test(components_may_be_many),
      cmocka_unit_test(names_of_a_fusion_may_be_many),
      cmocka_unit_test(wrappers_may_be_many),
      cmocka_unit_test(brackets_that_do_not_close_may_be_many),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
