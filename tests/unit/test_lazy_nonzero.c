/* nonzero, which the host computes: what it counts, and that nobody waits with it. */
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "lazy_testing.h"

static void slow_device(void)
{
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err = {0};
  options.options = (const char *const[]){"launch_latency_us", "500000", NULL};
  must(xl_device_open(&options, NULL, &err), &err);
}

static void it_is_counted_as_a_fall_back_to_the_host(void **state)
{
  (void)state;
  xl_tensor x = xl_from_host(XL_F32, XL_SHAPE(2, 3), (const float[]){0, 1, 0, -0.0F, 2, 3});
  const uint64_t up = samples("TransferToDeviceTime");
  xl_tensor places = xl_nonzero(x);
  int64_t got[6];
  assert_int_equal(counted("aten::nonzero"), 1);
  assert_int_equal(counted("xla::nonzero"), 1);
  assert_int_equal(samples("TransferFromDeviceTime"), 1);
  assert_int_equal(samples("TransferToDeviceTime"), up + 1);
  assert_true(xp_metric_sum(xp_metric_get("InboundData", XP_METRIC_BYTES)) == 24);
  assert_int_equal(samples("ExecuteTime"), 0); /* x is an array already */
  must(xl_to_host(places, got, sizeof got, NULL), &(xp_error){0});
  assert_memory_equal(got, ((const int64_t[]){0, 1, 1, 1, 1, 2}), sizeof got);
}

static void an_operand_that_is_not_computed_yet_is_computed_alone(void **state)
{
  (void)state;
  xl_tensor x = vector(3, (const float[]){1, 2, 3}), other = xl_neg(x);
  xl_tensor places = xl_nonzero(xl_add_scalar(x, -1));
  assert_int_equal(samples("CompileTime"), 1);
  assert_int_equal(counted("MarkStep"), 0);
  int64_t got[2];
  must(xl_to_host(places, got, sizeof got, NULL), &(xp_error){0});
  assert_true(got[0] == 1 && got[1] == 2);
  assert_values(other, (const float[]){-1, -2, -3}, 3);
}

static void it_may_be_used_in_a_trace_and_in_eager_mode(void **state)
{
  (void)state;
  xl_set_eager(true);
  XP_TRACE("scheduler") {
    xl_type type;
    xl_shape shape;
    xl_tensor places = xl_nonzero(xl_relu(vector(3, (const float[]){-1, 2, 3})));
    must(xl_describe(places, &type, &shape, NULL), &(xp_error){0});
    assert_true(type == XL_I64 && shape.rank == 2 && shape.dims[0] == 2 && shape.dims[1] == 1);
  }
}

static void *find_places(void *context)
{
  xl_tensor *tensor = context;
  *tensor = xl_nonzero(*tensor);
  return NULL;
}

static void other_threads_go_on_while_it_waits_for_the_device(void **state)
{
  (void)state;
  slow_device();
  xl_tensor x = vector(3, (const float[]){0, 1, 2}), found = xl_add(x, x);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, find_places, &found), 0);
  while (counted("aten::nonzero") == 0) {
    usleep(1000);
  }
  const int64_t start_ns = xp_monotonic_ns();
  xl_tensor sum = xl_add(x, x);
  const int64_t dur_ns = xp_monotonic_ns() - start_ns;
  assert_true(xl_is_alive(sum));
  pthread_join(thread, NULL);
  assert_true(dur_ns < 400000000); /* the device takes half a second */
  int64_t got[2];
  must(xl_to_host(found, got, sizeof got, NULL), &(xp_error){0});
  assert_true(got[0] == 1 && got[1] == 2);
}

static void its_operand_may_be_freed_and_updated_meanwhile(void **state)
{
  (void)state;
  slow_device();
  xl_tensor x = vector(3, (const float[]){0, 1, 2}), found = x;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, find_places, &found), 0);
  while (counted("aten::nonzero") == 0) {
    usleep(1000);
  }
  xl_zero_(x);
  must(xl_sync(false, NULL), &(xp_error){0});
  xl_free(x);
  pthread_join(thread, NULL);
  xl_type type;
  xl_shape shape;
  must(xl_describe(found, &type, &shape, NULL), &(xp_error){0});
  assert_int_equal(shape.dims[0], 2);
}

static void an_operand_that_is_missing_is_told_and_not_counted(void **state)
{
  (void)state;
  assert_int_equal(xl_nonzero(XL_NONE).index, 0);
  assert_error("xl_nonzero: a tensor is XL_NONE");
  assert_int_equal(counted("aten::nonzero"), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(it_is_counted_as_a_fall_back_to_the_host, end_lazy),
      cmocka_unit_test_teardown(an_operand_that_is_not_computed_yet_is_computed_alone, end_lazy),
      cmocka_unit_test_teardown(it_may_be_used_in_a_trace_and_in_eager_mode, end_lazy),
      cmocka_unit_test_teardown(other_threads_go_on_while_it_waits_for_the_device, end_lazy),
      cmocka_unit_test_teardown(its_operand_may_be_freed_and_updated_meanwhile, end_lazy),
      cmocka_unit_test_teardown(an_operand_that_is_missing_is_told_and_not_counted, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
