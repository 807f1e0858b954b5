/* What a program may do wrong, and what it is told. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lazy_testing.h"

static void a_wrong_shape_names_the_operation_both_shapes_and_the_line(void **state)
{
  (void)state;
  xl_tensor x = xl_zeros(XL_F32, XL_SHAPE(2, 3)), y = xl_zeros(XL_F32, XL_SHAPE(4, 5));
  assert_int_equal(xl_mm(x, y).index, 0);
  xp_error err;
  assert_int_equal(xl_error(&err), XP_ERR_USAGE);
  assert_contains(err.text, "xl_mm: the shapes f32[2,3] and f32[4,5] don't fit together.");
  assert_contains(err.text, "(test_lazy_misuse.c:");
  assert_int_equal(xl_error(NULL), XP_OK);
}

static void operations_on_a_failed_result_do_nothing_and_the_first_error_stays(void **state)
{
  (void)state;
  xp_error err;
  xl_tensor x = xl_zeros(XL_F32, XL_SHAPE(2, 3));
  xl_tensor bad = xl_mm(x, x);
  assert_int_equal(xl_relu(xl_add(bad, x)).index, 0);
  assert_int_equal(xl_sync(true, &err), XP_ERR_USAGE);
  assert_contains(err.text, "xl_mm");
  sync_now();
}

static void a_tensor_that_was_freed_is_told_from_its_successor(void **state)
{
  (void)state;
  xl_tensor x = vector(1, (const float[]){1});
  xl_free(x);
  xl_tensor y = vector(1, (const float[]){2});
  assert_int_equal(y.index, x.index); /* the same place */
  assert_false(xl_is_alive(x));
  assert_int_equal(xl_neg(x).index, 0);
  assert_error("is used after it was freed");
  xl_free(x);
  assert_error("was freed already");
  assert_true(value_of(y) == 2);
}

static void a_tensor_of_a_pool_ends_with_it_unless_it_is_kept(void **state)
{
  (void)state;
  xl_tensor kept = XL_NONE, gone = XL_NONE;
  XL_POOL
  {
    XL_POOL
    {
      kept = xl_keep(vector(1, (const float[]){1}));
    }
    gone = vector(1, (const float[]){2});
    assert_true(xl_is_alive(gone));
  }
  assert_true(xl_is_alive(kept));
  assert_false(xl_is_alive(gone));
}

static void a_handle_that_nobody_made_is_an_error(void **state)
{
  (void)state;
  assert_int_equal(xl_neg((xl_tensor){4000000, 3}).index, 0);
  assert_error("is used after it was freed");
  assert_int_equal(xl_neg(XL_NONE).index, 0);
  assert_error("XL_NONE");
}

static void a_target_of_the_wrong_size_is_refused(void **state)
{
  (void)state;
  xp_error err;
  float target[4];
  assert_int_equal(xl_to_host(vector(3, (const float[]){1, 2, 3}), target, sizeof target, &err), XP_ERR_USAGE);
  assert_contains(err.text, "f32[3] takes 12 bytes, the target has 16");
  double value;
  assert_int_equal(xl_item(vector(3, (const float[]){1, 2, 3}), &value, &err), XP_ERR_USAGE);
  assert_contains(err.text, "f32[3] is no single value");
}

static void a_plugin_that_is_missing_is_told_with_its_path(void **state)
{
  (void)state;
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err;
  options.plugin = "/nowhere/plugin.so";
  assert_int_equal(xl_device_open(&options, NULL, &err), XP_ERR_IO);
  assert_contains(err.text, "/nowhere/plugin.so");
}

static void a_first_operation_without_a_device_tells_why(void **state)
{
  (void)state;
  setenv("XL_PJRT_PLUGIN", "/nowhere/plugin.so", 1);
  assert_int_equal(xl_zeros(XL_F32, XL_SHAPE(2)).index, 0);
  assert_error("/nowhere/plugin.so: cannot open shared object file");
  assert_int_equal(xl_zeros(XL_F32, XL_SHAPE(2)).index, 0);
  assert_error("XL_PJRT_PLUGIN");
  assert_int_equal(xl_device_open(NULL, NULL, NULL), XP_ERR_IO);
  unsetenv("XL_PJRT_PLUGIN");
}

static void a_plugin_that_is_too_old_is_told_with_its_version(void **state)
{
  (void)state;
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err;
  options.plugin = REFUSING_PLUGIN;
  setenv("XL_TEST_PLUGIN_MINOR", "12", 1);
  assert_int_equal(xl_device_open(&options, NULL, &err), XP_ERR_FORMAT);
  assert_contains(err.text, "0.12");
  unsetenv("XL_TEST_PLUGIN_MINOR");
}

static void a_program_that_the_plugin_does_not_compile_stays_and_its_words_are_told(void **state)
{
  (void)state;
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err;
  options.plugin = REFUSING_PLUGIN;
  must(xl_device_open(&options, NULL, &err), &err);
  xl_tensor x = xl_add_scalar(vector(1, (const float[]){1}), 1);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(xl_sync(true, &err), XP_ERR_PEER);
    assert_contains(err.text, "this compiler has a bad day");
    assert_contains(err.text, "UNIMPLEMENTED");
  }
  assert_int_equal(xl_cache().count, 0);
  xl_free(x); /* without it there is nothing to compute, and all is well again */
  must(xl_sync(true, &err), &err);
}

static void a_device_that_is_not_there_is_told_with_those_that_are(void **state)
{
  (void)state;
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err;
  options.number = 3;
  assert_int_equal(xl_device_open(&options, NULL, &err), XP_ERR_NOT_FOUND);
  assert_contains(err.text, "has no device 3: it has 1");
}

static void tensors_of_two_devices_do_not_mix(void **state)
{
  (void)state;
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err;
  options.options = (const char *const[]){"device_count", "2", NULL};
  must(xl_device_open(&options, NULL, &err), &err);
  xl_tensor x = vector(1, (const float[]){1});
  options.number = 1;
  must(xl_device_open(&options, NULL, &err), &err);
  xl_tensor y = vector(1, (const float[]){2});
  assert_int_equal(xl_add(x, y).index, 0);
  assert_error("are on different devices");
  assert_true(value_of(xl_add(y, y)) == 4);
  assert_true(value_of(xl_add(x, x)) == 2);
  assert_true(value_of(xl_add_scalar(x, 2.5)) == 3.5); /* numbers go where the tensor is, not to the device in use */
  xl_dropout(x, 0.5);
}

static void a_device_whose_memory_is_full_says_so_and_goes_on(void **state)
{
  (void)state;
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err;
  options.options = (const char *const[]){"memory_limit_bytes", "1000000", NULL};
  must(xl_device_open(&options, NULL, &err), &err);
  xl_tensor large = xl_zeros(XL_F32, XL_SHAPE(1000, 1000));
  float *target = malloc(4000000);
  assert_int_equal(xl_to_host(large, target, 4000000, &err), XP_ERR_PEER);
  assert_contains(err.text, "RESOURCE_EXHAUSTED");
  free(target);
  xl_free(large);
  xl_wait(NULL); /* the execution's error is told here as well */
  assert_true(value_of(xl_add_scalar(vector(1, (const float[]){1}), 1)) == 2);
}

/* ---------------------------------------------------------------- threads */

enum { THREADS = 4, ROUNDS = 200 };

static void *build_and_read(void *context)
{
  const float start = *(const float *)context;
  for (int i = 0; i < ROUNDS; i++) {
    XL_POOL
    {
      XP_TRACE("thread") {
        xl_tensor x = vector(1, &start);
        double value = 0;
        if (xl_item(xl_mul(xl_add(x, x), x), &value, NULL) != XP_OK || value != 2 * (double)start * (double)start) {
          return context;
        }
      }
    }
  }
  return NULL;
}

static void threads_build_graphs_at_once(void **state)
{
  (void)state;
  static const float starts[THREADS] = {1, 2, 3, 4};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, build_and_read, (void *)(uintptr_t)&starts[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  assert_int_equal(counted("CreateXlaTensor"), counted("DestroyXlaTensor"));
}

static void *fail_here(void *context)
{
  xl_neg(XL_NONE);
  *(xp_status *)context = xl_error(NULL);
  return NULL;
}

static void errors_belong_to_the_thread_that_made_them(void **state)
{
  (void)state;
  pthread_t thread;
  xp_status status = XP_OK;
  assert_int_equal(pthread_create(&thread, NULL, fail_here, &status), 0);
  pthread_join(thread, NULL);
  assert_int_equal(status, XP_ERR_USAGE);
  assert_int_equal(xl_error(NULL), XP_OK);
}

static int child_uses_a_tensor(xl_tensor x)
{
  xp_error err = {0};
  double value;
  const bool is_told = xl_neg(x).index == 0 && xl_error(&err) == XP_ERR_USAGE && strstr(err.text, "forked") != NULL;
  const bool is_refused = xl_item(x, &value, &err) == XP_ERR_USAGE && strstr(err.text, "forked") != NULL;
  const bool no_new = xl_zeros(XL_F32, XL_SHAPE(1)).index == 0 && xl_error(&err) == XP_ERR_USAGE;
  xl_free(x);
  return is_told && is_refused && no_new ? 0 : 1;
}

static void a_fork_can_use_nothing_of_its_parent_and_is_told_so(void **state)
{
  (void)state;
  xl_tensor x = vector(1, (const float[]){1});
  xl_tensor y = xl_add(x, x);
  const pid_t child = fork();
  if (child == 0) {
    _exit(child_uses_a_tensor(x));
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_true(value_of(y) == 2);
}

static void an_error_in_a_step_stays_until_somebody_asks(void **state)
{
  (void)state;
  xp_error err = {0};
  double value;
  const float values[] = {1, 2};
  xl_tensor sum = XL_NONE;
  XP_STEP("train", 0) {
    sum = xl_add(vector(2, values), xl_from_host(XL_F32, XL_SHAPE(1, 2, 1), values));
    sum = xl_add(sum, xl_from_host(XL_F32, XL_SHAPE(3), (const float[]){1, 2, 3}));
  }
  assert_int_equal(xl_item(sum, &value, &err), XP_ERR_USAGE);
  assert_contains(err.text, "xl_add");
  assert_contains(err.text, "f32[3]");
  assert_int_equal(xl_error(&err), XP_OK);
  sync_now();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(a_wrong_shape_names_the_operation_both_shapes_and_the_line, end_lazy),
      cmocka_unit_test_teardown(operations_on_a_failed_result_do_nothing_and_the_first_error_stays, end_lazy),
      cmocka_unit_test_teardown(a_tensor_that_was_freed_is_told_from_its_successor, end_lazy),
      cmocka_unit_test_teardown(a_tensor_of_a_pool_ends_with_it_unless_it_is_kept, end_lazy),
      cmocka_unit_test_teardown(a_handle_that_nobody_made_is_an_error, end_lazy),
      cmocka_unit_test_teardown(a_target_of_the_wrong_size_is_refused, end_lazy),
      cmocka_unit_test_teardown(a_plugin_that_is_missing_is_told_with_its_path, end_lazy),
      cmocka_unit_test_teardown(a_first_operation_without_a_device_tells_why, end_lazy),
      cmocka_unit_test_teardown(a_plugin_that_is_too_old_is_told_with_its_version, end_lazy),
      cmocka_unit_test_teardown(a_program_that_the_plugin_does_not_compile_stays_and_its_words_are_told, end_lazy),
      cmocka_unit_test_teardown(a_device_that_is_not_there_is_told_with_those_that_are, end_lazy),
      cmocka_unit_test_teardown(tensors_of_two_devices_do_not_mix, end_lazy),
      cmocka_unit_test_teardown(a_device_whose_memory_is_full_says_so_and_goes_on, end_lazy),
      cmocka_unit_test_teardown(threads_build_graphs_at_once, end_lazy),
      cmocka_unit_test_teardown(errors_belong_to_the_thread_that_made_them, end_lazy),
      cmocka_unit_test_teardown(a_fork_can_use_nothing_of_its_parent_and_is_told_so, end_lazy),
      cmocka_unit_test_teardown(an_error_in_a_step_stays_until_somebody_asks, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
