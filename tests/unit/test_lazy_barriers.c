/* Barriers, programs that are used again, and the counts of the lab.
 *
 * The lab's table is measured on torch_xla 2.9: one compile and an execute a step; in eager mode 23 compiles, and 27,
 * 58 and 89 executes after one, two and three steps.
 */
#include "lazy_testing.h"

typedef struct {
  xl_tensor x, w[4]; /* weight and bias of two layers */
} lab;

static lab lab_make(void)
{
  static float values[256];
  for (int i = 0; i < 256; i++) {
    values[i] = (float)(i * 37 % 101) / 101.0f - 0.5f;
  }
  lab l = {.x = xl_from_host(XL_F32, XL_SHAPE(16, 16), values),
           .w = {xl_from_host(XL_F32, XL_SHAPE(16, 16), values), xl_from_host(XL_F32, XL_SHAPE(16), values),
                 xl_from_host(XL_F32, XL_SHAPE(4, 16), values), xl_from_host(XL_F32, XL_SHAPE(4), values)}};
  for (int i = 0; i < 4; i++) {
    xl_requires_grad(l.w[i], true);
  }
  sync_now();
  xp_metrics_clear();
  return l;
}

static void lab_step(lab *l)
{
  XL_POOL
  {
    xl_tensor loss = XL_NONE;
    XP_TRACE("fwd") {
      loss = xl_mean(xl_linear(xl_relu(xl_linear(l->x, l->w[0], l->w[1])), l->w[2], l->w[3]));
    }
    XP_TRACE("bwd") {
      xl_backward(loss);
    }
    XL_NO_GRAD
    {
      for (int i = 0; i < 4; i++) {
        xl_add_scaled_(l->w[i], xl_grad(l->w[i]), -0.1);
      }
    }
    for (int i = 0; i < 4; i++) {
      xl_zero_grad(l->w[i]);
    }
  }
  sync_now();
}

static void a_lazy_step_compiles_once_and_executes_once_a_step(void **state)
{
  (void)state;
  lab l = lab_make();
  for (uint64_t step = 1; step <= 3; step++) {
    lab_step(&l);
    assert_int_equal(samples("CompileTime"), 1);
    assert_int_equal(samples("ExecuteTime"), step);
  }
  assert_int_equal(samples("EagerOpCompileTime"), 0);
}

/* The first update makes views be computed again in the backward pass, under the names that they have in the forward
 * pass. */
static void a_lazy_step_with_names_compiles_once_too(void **state)
{
  (void)state;
  lab l = lab_make();
  xl_set_ir_debug(true);
  for (uint64_t step = 1; step <= 3; step++) {
    lab_step(&l);
    assert_int_equal(samples("CompileTime"), 1);
    assert_int_equal(samples("ExecuteTime"), step);
  }
}

static void an_eager_step_has_the_lessons_counts(void **state)
{
  (void)state;
  static const uint64_t executes[] = {27, 58, 89};
  lab l = lab_make();
  xl_set_eager(true);
  for (int step = 0; step < 3; step++) {
    lab_step(&l);
    assert_int_equal(samples("EagerOpCompileTime"), 23);
    assert_int_equal(samples("EagerOpExecuteTime"), executes[step]);
  }
  assert_int_equal(samples("CompileTime"), 0);
}

static void fresh_views_are_not_computed_twice(void **state)
{
  (void)state;
  lab l = lab_make();
  xl_set_eager(true);
  xl_set_fresh_views(true);
  lab_step(&l);
  assert_int_equal(samples("EagerOpExecuteTime"), 27);
  lab_step(&l);
  assert_int_equal(samples("EagerOpExecuteTime"), 54);
}

static void what_many_tensors_hold_is_computed_into_one_array(void **state)
{
  (void)state;
  enum { OTHERS = 40 };
  xl_tensor x = vector(2, (const float[]){1, 2}), view = xl_slice(xl_neg(x), 0, 1, 2, 1), last = XL_NONE;
  for (int i = 0; i < OTHERS; i++) {
    xl_add_scalar(x, i);
    last = xl_detach(view);
  }
  const int64_t before = counted("CreateDataHandles");
  sync_now();
  assert_int_equal(counted("CreateDataHandles") - before, 2 + OTHERS); /* -x and its part */
  assert_values(last, (const float[]){-2}, 1);
}

static void parameters_that_a_step_updates_are_donated(void **state)
{
  (void)state;
  lab l = lab_make();
  lab_step(&l);
  assert_true(xp_metric_sum(xp_metric_get("InputOutputAliasCount", XP_METRIC_VALUE)) == 4);
}

static void equal_graphs_on_other_values_are_one_program(void **state)
{
  (void)state;
  for (int i = 0; i < 4; i++) {
    xl_tensor x = vector(3, (const float[]){(float)i, 1, 2});
    assert_true(value_of(xl_sum(xl_mul_scalar(x, 0.5 + i))) == (0.5 + i) * (3 + i));
  }
  assert_int_equal(xl_cache().misses, 1);
  assert_int_equal(xl_cache().hits, 3);
}

static void graphs_that_differ_in_their_arrays_order_are_two_programs(void **state)
{
  (void)state;
  xl_tensor x = vector(1, (const float[]){5}), y = vector(1, (const float[]){3});
  assert_true(value_of(xl_mul(xl_sub(x, y), xl_sub(x, y))) == 4);
  assert_true(value_of(xl_mul(xl_sub(x, y), xl_sub(y, x))) == -4);
  assert_true(value_of(xl_mul(xl_sub(y, x), xl_sub(x, y))) == -4);
  assert_int_equal(xl_cache().misses, 2);
}

static void programs_that_are_too_many_leave(void **state)
{
  (void)state;
  setenv("XL_CACHE_SIZE", "2", 1);
  xl_tensor x = vector(1, (const float[]){1});
  xl_tensor sum = x;
  for (int i = 0; i < 4; i++) {
    sum = xl_add(sum, x);
    assert_true(value_of(xl_add(sum, sum)) == 2 * (i + 2)); /* sum becomes an array only once it is asked for */
  }
  assert_int_equal(xl_cache().count, 2);
  assert_int_equal(xl_cache().limit, 2);
  assert_int_equal(xl_cache().evictions, 2);
  unsetenv("XL_CACHE_SIZE");
}

static void a_barrier_inside_a_trace_is_refused_before_any_work(void **state)
{
  (void)state;
  xp_error err;
  xl_tensor x = xl_add_scalar(vector(1, (const float[]){1}), 1);
  XP_TRACE("fwd") {
    assert_int_equal(xl_sync(true, &err), XP_ERR_USAGE);
    assert_contains(err.text, "xl_sync: Expecting scope to be empty but it is fwd; ");
    assert_contains(err.text, " (test_lazy_barriers.c:");
  }
  assert_int_equal(counted("MarkStep"), 0);
  assert_int_equal(counted("UncachedCompile"), 0);
  sync_now();
  assert_int_equal(counted("MarkStep"), 1);
  assert_true(value_of(x) == 2);
}

static void a_value_may_be_asked_for_inside_a_trace(void **state)
{
  (void)state;
  XP_TRACE("fwd") {
    assert_true(value_of(xl_add_scalar(vector(1, (const float[]){1}), 1)) == 2);
  }
  assert_int_equal(counted("aten::_local_scalar_dense"), 1);
}

static void the_end_of_a_step_is_a_barrier(void **state)
{
  (void)state;
  xl_tensor x = vector(1, (const float[]){1});
  for (int i = 0; i < 3; i++) {
    XP_STEP("train", i) {
      xl_add_(x, x);
    }
  }
  assert_int_equal(counted("MarkStep"), 3);
  assert_int_equal(samples("DeviceLockWait"), 2 * 3);
  assert_int_equal(counted("ExecuteComputation"), 3);
  assert_true(value_of(x) == 8);
  assert_int_equal(counted("ExecuteComputation"), 3);
}

static void some_tensors_are_computed_alone(void **state)
{
  (void)state;
  xp_error err = {0};
  xl_tensor x = vector(1, (const float[]){1});
  xl_tensor a = xl_add(x, x);
  xl_add_scalar(x, 7); /* stays pending */
  must(xl_sync_tensors(&a, 1, true, &err), &err);
  assert_int_equal(counted("MarkStep"), 0);
  assert_int_equal(counted("ExecuteComputation"), 1);
  sync_now();
  assert_int_equal(counted("ExecuteComputation"), 2);
}

static void nothing_pending_executes_nothing(void **state)
{
  (void)state;
  vector(1, (const float[]){1});
  sync_now();
  sync_now();
  assert_int_equal(counted("ExecuteComputation"), 0);
  assert_int_equal(counted("MarkStep"), 2);
}

static void a_chain_of_a_hundred_thousand_operations_is_computed_and_freed(void **state)
{
  (void)state;
  xl_tensor x = vector(1, (const float[]){1}), sum = xl_add(x, x);
  for (int i = 0; i < 100000; i++) {
    xl_tensor next = xl_neg(sum);
    xl_free(sum);
    sum = next;
  }
  xl_free(sum); /* frees the whole chain */
  size_t nodes;
  xl_node_bytes(&nodes);
  assert_int_equal(nodes, 1);
}

static void the_host_runs_ahead_as_far_as_it_may(void **state)
{
  (void)state;
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err = {0};
  options.options = (const char *const[]){"launch_latency_us", "20000", NULL};
  must(xl_device_open(&options, NULL, &err), &err);
  xl_tensor x = vector(1, (const float[]){1});
  xl_set_most_in_flight(1);
  for (uint64_t i = 1; i <= 4; i++) {
    xl_add_(x, x);
    must(xl_sync(false, &err), &err);
    assert_true(samples("ExecuteTime") + 1 >= i); /* at most the last is not done; it would take 20 ms */
  }
  xl_set_most_in_flight(32);
}

static void a_compiled_region_is_lazy_inside_eager_mode(void **state)
{
  (void)state;
  xp_error err = {0};
  xl_tensor x = vector(1, (const float[]){1});
  xl_set_eager(true);
  xl_tensor y = xl_add(x, x);
  must(xl_compiled_begin("double", &err), &err);
  xl_tensor z = xl_add(xl_add(y, y), y);
  must(xl_compiled_end(&err), &err);
  must(xl_wait(&err), &err);
  assert_int_equal(samples("EagerOpExecuteTime"), 1);
  assert_int_equal(samples("ExecuteTime"), 1);
  assert_int_equal(counted("MarkStep"), 2);
  assert_true(value_of(z) == 6);
  assert_int_equal(xl_compiled_end(&err), XP_ERR_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(a_lazy_step_compiles_once_and_executes_once_a_step, end_lazy),
      cmocka_unit_test_teardown(a_lazy_step_with_names_compiles_once_too, end_lazy),
      cmocka_unit_test_teardown(an_eager_step_has_the_lessons_counts, end_lazy),
      cmocka_unit_test_teardown(fresh_views_are_not_computed_twice, end_lazy),
      cmocka_unit_test_teardown(what_many_tensors_hold_is_computed_into_one_array, end_lazy),
      cmocka_unit_test_teardown(parameters_that_a_step_updates_are_donated, end_lazy),
      cmocka_unit_test_teardown(equal_graphs_on_other_values_are_one_program, end_lazy),
      cmocka_unit_test_teardown(graphs_that_differ_in_their_arrays_order_are_two_programs, end_lazy),
      cmocka_unit_test_teardown(programs_that_are_too_many_leave, end_lazy),
      cmocka_unit_test_teardown(a_barrier_inside_a_trace_is_refused_before_any_work, end_lazy),
      cmocka_unit_test_teardown(a_value_may_be_asked_for_inside_a_trace, end_lazy),
      cmocka_unit_test_teardown(the_end_of_a_step_is_a_barrier, end_lazy),
      cmocka_unit_test_teardown(some_tensors_are_computed_alone, end_lazy),
      cmocka_unit_test_teardown(nothing_pending_executes_nothing, end_lazy),
      cmocka_unit_test_teardown(a_chain_of_a_hundred_thousand_operations_is_computed_and_freed, end_lazy),
      cmocka_unit_test_teardown(the_host_runs_ahead_as_far_as_it_may, end_lazy),
      cmocka_unit_test_teardown(a_compiled_region_is_lazy_inside_eager_mode, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
