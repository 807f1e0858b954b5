/* What operations are counted as.  The wanted counts are those of torch_xla 2.9's report of the same operations. */
#include "lazy_testing.h"

static const float ones[64] = {1, 1, 1, 1};

static xl_tensor square_matrix(void)
{
  return xl_from_host(XL_F32, XL_SHAPE(4, 4), ones);
}

/* All counters that begin with "xla::", as "add 1, mm 2". */
static const char *functions(void)
{
  static char text[600];
  size_t count, len = 0;
  const char **names = xp_counter_names(&count);
  text[0] = '\0';
  for (size_t i = 0; i < count; i++) {
    if (strncmp(names[i], "xla::", 5) == 0) {
      len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %d", len > 0 ? ", " : "", names[i] + 5,
                              (int)counted(names[i]));
    }
  }
  free(names);
  return text;
}

static void assert_functions(const char *want)
{
  assert_string_equal(functions(), want);
  xp_metrics_clear_all();
}

/* ---------------------------------------------------------------- functions */

static void an_operation_is_counted_by_the_name_that_torch_xla_has_for_it(void **state)
{
  (void)state;
  xl_tensor x = square_matrix();
  xp_metrics_clear_all();
  xl_add(x, x);
  xl_mul_scalar(x, 3);
  xl_square(x);
  xl_gt_scalar(x, 0);
  xl_softmax(x, 0);
  xl_cast(x, XL_I32);
  assert_functions("_softmax 1, _to_copy 1, add 1, gt 1, mul 1, pow 1");
  xl_reshape(x, XL_SHAPE(16));
  xl_t(x);
  xl_transpose(x, 0, 1);
  xl_expand(xl_select(x, 0, 1), XL_SHAPE(4, 4));
  xl_unsqueeze(x, 0);
  xl_detach(x);
  assert_functions("detach_copy 1, expand_copy_symint 1, select_copy 1, t_copy 1, transpose_copy 1, unsqueeze_copy 1, "
                   "view_copy_symint 1");
}

static void an_update_in_place_is_counted_as_the_operation(void **state)
{
  (void)state;
  xl_tensor x = square_matrix();
  xp_metrics_clear_all();
  xl_add_(x, x);
  xl_add_scaled_(x, x, 3);
  xl_mul_scalar_(x, 3);
  xl_relu_(x);
  assert_functions("add 2, mul 1, relu 1");
}

static void what_pytorch_composes_is_counted_by_its_parts(void **state)
{
  (void)state;
  xl_tensor x = square_matrix(), bias = xl_from_host(XL_F32, XL_SHAPE(4), ones);
  xl_tensor cube = xl_from_host(XL_F32, XL_SHAPE(2, 4, 4), ones);
  xl_tensor target = xl_from_host(XL_I32, XL_SHAPE(4), (const int32_t[]){0, 1, 2, 3});
  xp_metrics_clear_all();
  xl_matmul(x, x);
  assert_functions("mm 1");
  xl_linear(x, x, bias);
  assert_functions("addmm 1, t_copy 1");
  xl_cross_entropy(x, target);
  assert_functions("_log_softmax 1, nll_loss_forward 1");
  xl_matmul(cube, cube);
  assert_functions("bmm 1");
}

/* The first step of the lab, whose parts torch_xla's report has as well. */
static void a_backward_pass_is_counted_by_its_parts(void **state)
{
  (void)state;
  xl_tensor x = square_matrix(), w = square_matrix(), bias = xl_from_host(XL_F32, XL_SHAPE(4), ones);
  xl_requires_grad(w, true);
  xl_requires_grad(bias, true);
  xl_tensor loss = xl_mean(xl_relu(xl_linear(x, w, bias)));
  xp_metrics_clear_all();
  xl_backward(loss);
  assert_functions(
      "div 1, empty_strided_symint 1, empty_symint 1, expand_copy_symint 1, fill_ 1, mm 1, sum 1, t_copy 2, "
      "threshold_backward 1, view_copy_symint 1");
}

static void what_builds_no_node_is_no_function(void **state)
{
  (void)state;
  xl_tensor w = square_matrix();
  xp_metrics_clear_all();
  xl_requires_grad(w, true);
  xl_grad(w);
  xl_zero_grad(w);
  xl_free(w);
  assert_int_equal(samples("LazyTracing"), 0);
  assert_functions("");
}

/* ---------------------------------------------------------------- tensors */

static void every_tensor_is_counted_once_when_it_is_made_and_when_it_goes(void **state)
{
  (void)state;
  xl_tensor x = square_matrix(), bias = xl_from_host(XL_F32, XL_SHAPE(4), ones);
  xp_metrics_clear_all();
  xl_tensor y = xl_linear(x, x, bias); /* the turned weight, and the result */
  assert_int_equal(counted("CreateXlaTensor"), 2);
  assert_int_equal(counted("DestroyXlaTensor"), 1);
  assert_int_equal(counted("DestroyLtcTensor"), 1);
  xl_free(y);
  assert_int_equal(counted("DestroyXlaTensor"), 2);
  assert_int_equal(counted("DestroyLtcTensor"), 2);
}

static void a_number_is_no_tensor(void **state)
{
  (void)state;
  xl_tensor x = square_matrix();
  xp_metrics_clear_all();
  xl_free(xl_mul_scalar(x, 3));
  assert_int_equal(counted("CreateXlaTensor"), 1);
  assert_int_equal(counted("DestroyXlaTensor"), 1);
}

static void a_view_that_is_computed_again_is_another_tensor(void **state)
{
  (void)state;
  xl_tensor x = square_matrix(), view = xl_t(x);
  xl_add_(x, x);
  xp_metrics_clear_all();
  xl_free(xl_relu(view));
  assert_int_equal(counted("CreateXlaTensor"), 2);
  assert_int_equal(counted("DestroyXlaTensor"), 2);
  assert_functions("relu 1, t_copy 1");
}

/* ---------------------------------------------------------------- launches */

static void a_launch_has_its_samples(void **state)
{
  (void)state;
  xl_tensor x = square_matrix();
  sync_now();
  xp_metrics_clear_all();
  xl_tensor y = xl_add(x, x);
  sync_now();
  assert_int_equal(samples("DeviceLockWait"), 2);
  assert_int_equal(samples("UnwrapXlaData"), 1);
  assert_int_equal(samples("WrapXlaData"), 1);
  assert_int_equal(counted("CreateDataHandles"), 1);
  sync_now(); /* nothing to do: the lock is taken, nothing is launched */
  assert_int_equal(samples("DeviceLockWait"), 4);
  assert_int_equal(samples("UnwrapXlaData"), 1);
  float values[16];
  xp_error err = {0};
  must(xl_to_host(y, values, sizeof values, &err), &err);
  assert_int_equal(samples("UnwrapXlaData"), 2);
  assert_int_equal(samples("WrapXlaData"), 1);
}

static void every_launch_of_eager_mode_has_its_samples(void **state)
{
  (void)state;
  xl_tensor x = square_matrix();
  sync_now();
  xl_set_eager(true);
  xp_metrics_clear_all();
  xl_add(x, x);
  xl_relu(x);
  assert_int_equal(samples("DeviceLockWait"), 4);
  assert_int_equal(samples("UnwrapXlaData"), 2);
  assert_int_equal(samples("WrapXlaData"), 2);
}

static void an_upload_of_an_array_is_that_of_a_value(void **state)
{
  (void)state;
  sync_now();
  xp_metrics_clear_all();
  square_matrix();
  assert_int_equal(samples("IrValueTensorToXlaData"), 1);
  assert_int_equal(samples("TensorToData"), 1);
  xl_from_host(XL_F32, XL_SCALAR, ones); /* a scalar is none */
  assert_int_equal(samples("IrValueTensorToXlaData"), 1);
  assert_int_equal(samples("TensorToData"), 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(an_operation_is_counted_by_the_name_that_torch_xla_has_for_it, end_lazy),
      cmocka_unit_test_teardown(an_update_in_place_is_counted_as_the_operation, end_lazy),
      cmocka_unit_test_teardown(what_pytorch_composes_is_counted_by_its_parts, end_lazy),
      cmocka_unit_test_teardown(a_backward_pass_is_counted_by_its_parts, end_lazy),
      cmocka_unit_test_teardown(what_builds_no_node_is_no_function, end_lazy),
      cmocka_unit_test_teardown(every_tensor_is_counted_once_when_it_is_made_and_when_it_goes, end_lazy),
      cmocka_unit_test_teardown(a_number_is_no_tensor, end_lazy),
      cmocka_unit_test_teardown(a_view_that_is_computed_again_is_another_tensor, end_lazy),
      cmocka_unit_test_teardown(a_launch_has_its_samples, end_lazy),
      cmocka_unit_test_teardown(every_launch_of_eager_mode_has_its_samples, end_lazy),
      cmocka_unit_test_teardown(an_upload_of_an_array_is_that_of_a_value, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
