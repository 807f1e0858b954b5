/* What an error says: the operation, the shapes and types, and the line of the call. */
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

static void refused_operation(int which, xp_error *err)
{
  xl_tensor f = fractions(), i = whole_numbers(), gone = freed(), truth = xl_zeros(XL_BOOL, XL_SHAPE(3));
  double value;
  int64_t whole;
  float target[4];
  xl_type type;
  /* clang-format off: a case is a line */
  switch (which) {
  case 0:
    xl_add_(i, f);
    break;
  case 1:
    xl_add_scalar_(i, 0.5);
    break;
  case 2:
    xl_mul_(truth, i);
    break;
  case 3:
    xl_matmul(f, i);
    break;
  case 4:
    xl_linear(f, xl_zeros(XL_BF16, XL_SHAPE(4, 3)), XL_NONE);
    break;
  case 5:
    xl_mean(i);
    break;
  case 6:
    xl_sub(i, truth);
    break;
  case 7:
    xl_clamp_(i, 0, 1.5);
    break;
  case 8:
    xl_addcdiv_(fractions(), i, i, 1);
    break;
  case 9:
    xl_layer_norm(f, 1, i, XL_NONE, 1e-5);
    break;
  case 10:
    xl_free(gone);
    break;
  case 11:
    xl_requires_grad(i, true);
    break;
  case 12:
    xl_grad(gone);
    break;
  case 13:
    xl_zero_grad(gone);
    break;
  case 14:
    xl_set_op_name_prefix(gone, "p", 1);
    break;
  case 15:
    xl_add_scalar_(leaf(), 1);
    break;
  case 16:
    xl_item(f, &value, err);
    break;
  case 17:
    xl_item_integer(xl_scalar(XL_F32, 1), &whole, err);
    break;
  case 18:
    xl_item(gone, &value, err);
    break;
  case 19:
    xl_to_host(f, target, sizeof target, err);
    break;
  case 20:
    xl_to_host(gone, target, sizeof target, err);
    break;
  case 21:
    xl_sync_tensors(&gone, 1, true, err);
    break;
  case 22:
    xl_sync_tensors(NULL, 1, true, err);
    break;
  case 23:
    xl_describe(gone, &type, NULL, err);
    break;
  case 24:
    xl_compiled_end(err);
    break;
  case 25:
    XP_TRACE("fwd") {
      xl_sync(true, err);
    }
    break;
  case 26:
    XP_TRACE("fwd") {
      xl_compiled_begin("f", err);
    }
    break;
  case 27:
    xl_item(f, NULL, err);
    break;
  default:
    xl_backward(f);
    break;
  }
  /* clang-format on */
}

/* The first word, and what else stands in the text. */
static const char *const wanted[][3] = {
    {"xl_add_: ", "i32[3] with f32[2,3] gives f32", "xl_cast"},
    {"xl_add_scalar_: ", "i32[3] with the number 0.5 gives f32", "xl_cast"},
    {"xl_mul_: ", "bool[3] with i32[3] gives i32", "xl_cast"},
    {"xl_matmul: ", "f32[2,3] and i32[3] are of different types", "xl_cast"},
    {"xl_linear: ", "f32[2,3] and bf16[4,3] are of different types", "xl_cast"},
    {"xl_mean: ", "i32[3] has no fractions", "xl_cast"},
    {"xl_sub: ", "i32[3] and bool[3]: this is not defined for bools", "xl_cast"},
    {"xl_clamp_: ", "i32[3] with the number 1.5 gives f32", "xl_cast"},
    {"xl_addcdiv_: ", "i32[3] divided by i32[3] has fractions", "xl_cast"},
    {"xl_layer_norm: ", "i32[3] beside f32[2,3]", "xl_cast"},
    {"xl_free: ", "was freed already", ""},
    {"xl_requires_grad: ", "i32[3]", "xl_cast"},
    {"xl_grad: ", "is used after it was freed", ""},
    {"xl_zero_grad: ", "is used after it was freed", ""},
    {"xl_set_op_name_prefix: ", "is used after it was freed", ""},
    {"xl_add_scalar_: ", "a leaf that wants a gradient", "XL_NO_GRAD"},
    {"xl_item: ", "f32[2,3] is no single value", "xl_to_host"},
    {"xl_item_integer: ", "f32", "xl_item"},
    {"xl_item: ", "is used after it was freed", ""},
    {"xl_to_host: ", "the value of f32[2,3] takes 24 bytes, the target has 16", ""},
    {"xl_to_host: ", "is used after it was freed", ""},
    {"xl_sync_tensors: ", "is used after it was freed", ""},
    {"xl_sync_tensors: ", "the list of 1 tensors is NULL", ""},
    {"xl_describe: ", "it was freed", ""},
    {"xl_compiled_end: ", "xl_compiled_begin comes first", ""},
    {"xl_sync: ", "Expecting scope to be empty but it is fwd", ""},
    {"xl_compiled_begin: ", "Expecting scope to be empty but it is fwd", ""},
    {"xl_item: ", "NULL", ""},
    {"xl_backward: ", "f32[2,3] is no single value", ""},
};

static void every_misuse_names_the_operation_what_it_got_and_the_line(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    xp_error err = {0};
    XL_POOL
    {
      refused_operation((int)i, &err);
      if (err.status == XP_OK) {
        xl_error(&err);
      }
    }
    assert_int_equal(err.status, XP_ERR_USAGE);
    assert_int_equal(strncmp(err.text, wanted[i][0], strlen(wanted[i][0])), 0);
    assert_contains(err.text, wanted[i][1]);
    assert_contains(err.text, wanted[i][2]);
    assert_contains(err.text, " (test_lazy_errors.c:");
    assert_null(strstr(err.text, ".."));
    assert_int_equal(err.text[strlen(err.text) - 1], ')');
  }
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
  assert_contains(err.text, "XP_STEP train 7: Expecting scope to be empty but it is epoch");
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
      cmocka_unit_test_teardown(a_step_that_can_not_end_is_named_with_its_line, end_lazy),
      cmocka_unit_test_teardown(an_error_of_the_device_names_the_call_that_reports_it, end_lazy),
      cmocka_unit_test_teardown(a_first_operation_without_a_device_names_itself, end_lazy),
      cmocka_unit_test_teardown(texts_of_graphs_call_types_as_the_interface_does, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
