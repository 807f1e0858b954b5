/* What an error says: the operation, the shapes and types, and the line of the call. */
#include <unistd.h>

#include "lazy_testing.h"

static xl_tensor fractions(void)
{
  return xl_zeros(XL_F32, XL_SHAPE(2, 3));
}

static xl_tensor whole_numbers(void)
{
  return xl_zeros(XL_I32, XL_SHAPE(3));
}

static xl_tensor freed(void)
{
  xl_tensor gone = fractions();
  xl_free(gone);
  return gone;
}

static xl_tensor leaf(void)
{
  xl_tensor x = fractions();
  xl_requires_grad(x, true);
  return x;
}

/* ---------------------------------------------------------------- misuses: each fails once, on one line */

typedef struct {
  xl_tensor fractions, whole, truth, gone;
} operands;

static void update_with_a_wider_type(const operands *t, xp_error *err)
{
  (void)err;
  xl_add_(t->whole, t->fractions);
}

static void update_with_a_fraction(const operands *t, xp_error *err)
{
  (void)err;
  xl_add_scalar_(t->whole, 0.5);
}

static void update_of_truth_values(const operands *t, xp_error *err)
{
  (void)err;
  xl_mul_(t->truth, t->whole);
}

static void matmul_of_two_types(const operands *t, xp_error *err)
{
  (void)err;
  xl_matmul(t->fractions, t->whole);
}

static void linear_of_two_types(const operands *t, xp_error *err)
{
  (void)err;
  xl_linear(t->fractions, xl_zeros(XL_BF16, XL_SHAPE(4, 3)), XL_NONE);
}

static void mean_of_whole_numbers(const operands *t, xp_error *err)
{
  (void)err;
  xl_mean(t->whole);
}

static void difference_of_truth_values(const operands *t, xp_error *err)
{
  (void)err;
  xl_sub(t->whole, t->truth);
}

static void clamp_to_a_fraction(const operands *t, xp_error *err)
{
  (void)err;
  xl_clamp_(t->whole, 0, 1.5);
}

static void division_in_place(const operands *t, xp_error *err)
{
  (void)err;
  xl_addcdiv_(fractions(), t->whole, t->whole, 1);
}

static void norm_with_whole_numbers(const operands *t, xp_error *err)
{
  (void)err;
  xl_layer_norm(t->fractions, 1, t->whole, XL_NONE, 1e-5);
}

static void second_free(const operands *t, xp_error *err)
{
  (void)err;
  xl_free(t->gone);
}

static void gradient_of_whole_numbers(const operands *t, xp_error *err)
{
  (void)err;
  xl_requires_grad(t->whole, true);
}

static void gradient_of_a_freed_one(const operands *t, xp_error *err)
{
  (void)err;
  xl_grad(t->gone);
}

static void no_gradient_of_a_freed_one(const operands *t, xp_error *err)
{
  (void)err;
  xl_zero_grad(t->gone);
}

static void prefix_of_a_freed_one(const operands *t, xp_error *err)
{
  (void)err;
  xl_set_op_name_prefix(t->gone, "p", 1);
}

static void update_of_a_leaf(const operands *t, xp_error *err)
{
  (void)t;
  (void)err;
  xl_add_scalar_(leaf(), 1);
}

static void item_of_many(const operands *t, xp_error *err)
{
  double value;
  xl_item(t->fractions, &value, err);
}

static void integer_of_a_fraction(const operands *t, xp_error *err)
{
  (void)t;
  int64_t whole;
  xl_item_integer(xl_scalar(XL_F32, 1), &whole, err);
}

static void item_of_a_freed_one(const operands *t, xp_error *err)
{
  double value;
  xl_item(t->gone, &value, err);
}

static void target_that_is_small(const operands *t, xp_error *err)
{
  float target[4];
  xl_to_host(t->fractions, target, sizeof target, err);
}

static void values_of_a_freed_one(const operands *t, xp_error *err)
{
  float target[4];
  xl_to_host(t->gone, target, sizeof target, err);
}

static void sync_of_a_freed_one(const operands *t, xp_error *err)
{
  xl_sync_tensors(&t->gone, 1, true, err);
}

static void sync_of_null(const operands *t, xp_error *err)
{
  (void)t;
  xl_sync_tensors(NULL, 1, true, err);
}

static void facts_of_a_freed_one(const operands *t, xp_error *err)
{
  xl_type type;
  xl_describe(t->gone, &type, NULL, err);
}

static void end_without_a_region(const operands *t, xp_error *err)
{
  (void)t;
  xl_compiled_end(err);
}

static void sync_in_a_trace(const operands *t, xp_error *err)
{
  (void)t;
  XP_TRACE("fwd") {
    xl_sync(true, err);
  }
}

static void region_in_a_trace(const operands *t, xp_error *err)
{
  (void)t;
  XP_TRACE("fwd") {
    xl_compiled_begin("f", err);
  }
}

static void item_into_null(const operands *t, xp_error *err)
{
  xl_item(t->fractions, NULL, err);
}

static void backward_of_many(const operands *t, xp_error *err)
{
  (void)err;
  xl_backward(t->fractions);
}

static const struct {
  void (*misuse)(const operands *t, xp_error *err);
  const char *call, *part, *advice; /* the first word, and what else stands in the text */
} misuses[] = {
    {update_with_a_wider_type, "xl_add_: ", "i32[3] with f32[2,3] gives f32", "xl_cast"},
    {update_with_a_fraction, "xl_add_scalar_: ", "i32[3] with the number 0.5 gives f32", "xl_cast"},
    {update_of_truth_values, "xl_mul_: ", "bool[3] with i32[3] gives i32", "xl_cast"},
    {matmul_of_two_types, "xl_matmul: ", "f32[2,3] and i32[3] are of different types", "xl_cast"},
    {linear_of_two_types, "xl_linear: ", "f32[2,3] and bf16[4,3] are of different types", "xl_cast"},
    {mean_of_whole_numbers, "xl_mean: ", "i32[3] has no fractions", "xl_cast"},
    {difference_of_truth_values, "xl_sub: ", "i32[3] and bool[3]: this is not defined for bools", "xl_cast"},
    {clamp_to_a_fraction, "xl_clamp_: ", "i32[3] with the number 1.5 gives f32", "xl_cast"},
    {division_in_place, "xl_addcdiv_: ", "i32[3] divided by i32[3] has fractions", "xl_cast"},
    {norm_with_whole_numbers, "xl_layer_norm: ", "i32[3] beside f32[2,3]", "xl_cast"},
    {second_free, "xl_free: ", "was freed already", ""},
    {gradient_of_whole_numbers, "xl_requires_grad: ", "i32[3]", "xl_cast"},
    {gradient_of_a_freed_one, "xl_grad: ", "is used after it was freed", ""},
    {no_gradient_of_a_freed_one, "xl_zero_grad: ", "is used after it was freed", ""},
    {prefix_of_a_freed_one, "xl_set_op_name_prefix: ", "is used after it was freed", ""},
    {update_of_a_leaf, "xl_add_scalar_: ", "a leaf that wants a gradient", "XL_NO_GRAD"},
    {item_of_many, "xl_item: ", "f32[2,3] is no single value", "xl_to_host"},
    {integer_of_a_fraction, "xl_item_integer: ", "f32", "xl_item"},
    {item_of_a_freed_one, "xl_item: ", "is used after it was freed", ""},
    {target_that_is_small, "xl_to_host: ", "the value of f32[2,3] takes 24 bytes, the target has 16", ""},
    {values_of_a_freed_one, "xl_to_host: ", "is used after it was freed", ""},
    {sync_of_a_freed_one, "xl_sync_tensors: ", "is used after it was freed", ""},
    {sync_of_null, "xl_sync_tensors: ", "the list of 1 tensors is NULL", ""},
    {facts_of_a_freed_one, "xl_describe: ", "it was freed", ""},
    {end_without_a_region, "xl_compiled_end: ", "xl_compiled_begin comes first", ""},
    {sync_in_a_trace, "xl_sync: ", "Expecting scope to be empty but it is fwd", ""},
    {region_in_a_trace, "xl_compiled_begin: ", "Expecting scope to be empty but it is fwd", ""},
    {item_into_null, "xl_item: ", "NULL", ""},
    {backward_of_many, "xl_backward: ", "f32[2,3] is no single value", ""},
};

static void every_misuse_names_the_operation_what_it_got_and_the_line(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
    xp_error err = {0};
    XL_POOL
    {
      const operands t = {fractions(), whole_numbers(), xl_zeros(XL_BOOL, XL_SHAPE(3)), freed()};
      misuses[i].misuse(&t, &err);
      if (err.status == XP_OK) {
        xl_error(&err);
      }
    }
    assert_int_equal(err.status, XP_ERR_USAGE);
    assert_int_equal(strncmp(err.text, misuses[i].call, strlen(misuses[i].call)), 0);
    assert_contains(err.text, misuses[i].part);
    assert_contains(err.text, misuses[i].advice);
    assert_contains(err.text, " (test_lazy_errors.c:");
    assert_null(strstr(err.text, ".."));
    assert_int_equal(err.text[strlen(err.text) - 1], ')');
  }
}

/* ---------------------------------------------------------------- each error is composed once */

/* A name of a file begins as names of calls do, so that the text of the layer below does, too. */
static void an_error_of_a_file_names_the_call_whatever_the_file_is_called(void **state)
{
  (void)state;
  static const char *const names[] = {"xl_step.pb", "XP_STEP.pb", "step.pb"};
  char folder[] = "/tmp/xlaprof-test-XXXXXX", before[128], wanted[256];
  assert_non_null(mkdtemp(folder));
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(folder), 0);
  const xl_tensor x = fractions();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    xp_error err = {0};
    must(xl_program_save(&x, 1, names[i], &err), &err);
    assert_int_equal(xl_program_save(&x, 1, names[i], &err), XP_ERR_IO);
    snprintf(wanted, sizeof wanted, "xl_program_save: %s exists: remove it, or choose another name.", names[i]);
    assert_string_equal(err.text, wanted);
    unlink(names[i]);
  }
  assert_int_equal(chdir(before), 0);
  rmdir(folder);
}

/* It stays with the thread until a call that takes an xp_error: that one hands it out as it is. */
static void an_error_of_an_operation_comes_out_of_every_call_in_the_operation_s_name(void **state)
{
  (void)state;
  const xl_tensor x = fractions();
  float target[6];
  double value;
  int64_t whole;
  for (int call = 0; call < 7; call++) {
    xp_error err = {.status = XP_ERR_IO, .text = "left from another call"};
    xl_matmul(x, whole_numbers());
    const xp_status status = call == 0   ? xl_sync(true, &err)
                             : call == 1 ? xl_sync_tensors(&x, 1, true, &err)
                             : call == 2 ? xl_to_host(x, target, sizeof target, &err)
                             : call == 3 ? xl_item(x, &value, &err)
                             : call == 4 ? xl_item_integer(x, &whole, &err)
                             : call == 5 ? xl_compiled_begin("f", &err)
                                         : xl_error(&err);
    assert_int_equal(status, XP_ERR_USAGE);
    assert_int_equal(err.status, XP_ERR_USAGE);
    assert_int_equal(strncmp(err.text, "xl_matmul: f32[2,3] and i32[3] ", 31), 0);
    const char *place = strstr(err.text, " (test_lazy_errors.c:");
    assert_non_null(place);
    assert_null(strstr(place + 1, " (test_lazy_errors.c:"));
    assert_int_equal(xl_error(NULL), XP_OK);
  }
}

static void graphs_and_programs_of_a_freed_tensor_name_their_call(void **state)
{
  (void)state;
  const xl_tensor gone = freed();
  xp_error err = {.status = XP_ERR_IO, .text = "left from another call"};
  assert_null(xl_graph_text(&gone, 1, &err));
  assert_int_equal(strncmp(err.text, "xl_graph_text: tensor ", 22), 0);
  assert_null(xl_program_text(&gone, 1, &err));
  assert_int_equal(strncmp(err.text, "xl_program_text: tensor ", 24), 0);
  assert_int_equal(xl_program_save(&gone, 1, "/nowhere/step.pb", &err), XP_ERR_USAGE);
  assert_int_equal(strncmp(err.text, "xl_program_save: tensor ", 24), 0);
  assert_null(xl_graph_text(&gone, 1, NULL));
  assert_int_equal(xl_error(NULL), XP_OK);
}

/* ---------------------------------------------------------------- steps, and layers below */

static void a_step_that_can_not_end_is_named_with_its_line(void **state)
{
  (void)state;
  xp_error err = {0};
  char place[64];
  vector(1, (const float[]){1});
  const xp_trace around = xp_trace_begin("epoch");
  snprintf(place, sizeof place, " (test_lazy_errors.c:%d)", __LINE__ + 1);
  XP_STEP("train", 7) {
    xl_add_scalar(vector(1, (const float[]){1}), 1);
  }
  assert_int_equal(xl_error(&err), XP_ERR_USAGE);
  assert_int_equal(strncmp(err.text, "XP_STEP train 7: Expecting scope to be empty but it is epoch", 60), 0);
  assert_contains(err.text, place);
  assert_int_equal(xp_trace_end(around, NULL), XP_OK);
}

static void an_error_of_the_device_names_the_call_that_reports_it(void **state)
{
  (void)state;
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err = {0};
  options.options = (const char *const[]){"memory_limit_bytes", "1000000", NULL};
  must(xl_device_open(&options, NULL, &err), &err);
  xl_tensor large = xl_zeros(XL_F32, XL_SHAPE(1000, 1000));
  float *target = malloc(4000000);
  assert_int_equal(xl_to_host(large, target, 4000000, &err), XP_ERR_PEER);
  assert_int_equal(strncmp(err.text, "xl_to_host: ", 12), 0);
  assert_contains(err.text, "RESOURCE_EXHAUSTED");
  assert_contains(err.text, " (test_lazy_errors.c:");
  free(target);
  xl_free(large);
  xl_wait(NULL);
}

static void a_first_operation_without_a_device_names_itself(void **state)
{
  (void)state;
  xp_error err = {0};
  setenv("XL_PJRT_PLUGIN", "/nowhere/plugin.so", 1);
  xl_manual_seed(3);
  assert_error("xl_manual_seed: ");
  assert_int_equal(xl_zeros(XL_F32, XL_SHAPE(2)).index, 0);
  assert_int_equal(xl_error(&err), XP_ERR_IO);
  assert_int_equal(strncmp(err.text, "xl_zeros: ", 10), 0);
  assert_contains(err.text, "/nowhere/plugin.so");
  assert_contains(err.text, "XL_PJRT_PLUGIN");
  assert_contains(err.text, " (test_lazy_errors.c:");
  unsetenv("XL_PJRT_PLUGIN");
}

static void texts_of_graphs_call_types_as_the_interface_does(void **state)
{
  (void)state;
  xp_error err = {0};
  xl_tensor x = xl_eq(xl_zeros(XL_I32, XL_SHAPE(2)), xl_zeros(XL_I64, XL_SHAPE(2)));
  char *text = xl_graph_text(&x, 1, &err);
  assert_non_null(text);
  assert_contains(text, "i32[2]");
  assert_contains(text, "i64[2]");
  assert_contains(text, "bool[2]");
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(every_misuse_names_the_operation_what_it_got_and_the_line, end_lazy),
      cmocka_unit_test_teardown(an_error_of_a_file_names_the_call_whatever_the_file_is_called, end_lazy),
      cmocka_unit_test_teardown(an_error_of_an_operation_comes_out_of_every_call_in_the_operation_s_name, end_lazy),
      cmocka_unit_test_teardown(graphs_and_programs_of_a_freed_tensor_name_their_call, end_lazy),
      cmocka_unit_test_teardown(a_step_that_can_not_end_is_named_with_its_line, end_lazy),
      cmocka_unit_test_teardown(an_error_of_the_device_names_the_call_that_reports_it, end_lazy),
      cmocka_unit_test_teardown(a_first_operation_without_a_device_names_itself, end_lazy),
      cmocka_unit_test_teardown(texts_of_graphs_call_types_as_the_interface_does, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
