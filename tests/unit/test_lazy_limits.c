/* Sizes, depths and pointers that nobody expects, and what outlives its pool, its thread or xl_shutdown. */
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "lazy_testing.h"

enum { FAR = 70000, DEEP = 100 };

static const int64_t huge = INT64_C(1) << 40;

/* ---------------------------------------------------------------- shapes */

static void a_result_that_is_too_large_is_refused_with_its_shape(void **state)
{
  (void)state;
  assert_int_equal(xl_mm(xl_zeros(XL_F32, XL_SHAPE(huge, 0)), xl_zeros(XL_F32, XL_SHAPE(0, huge))).index, 0);
  assert_error("xl_mm: there is no shape [1099511627776,1099511627776]");
  const xl_tensor one = xl_ones(XL_F32, XL_SHAPE(1, 1));
  const xl_tensor tall = xl_expand(one, XL_SHAPE(huge, 1)), wide = xl_expand(one, XL_SHAPE(1, huge));
  assert_int_equal(xl_add(tall, wide).index, 0);
  assert_error("xl_add: there is no shape");
  xl_conv2d_options options = XL_CONV2D_OPTIONS_INIT;
  options.padding[0] = options.padding[1] = 1 << 30;
  assert_int_equal(
      xl_conv2d(xl_ones(XL_F32, XL_SHAPE(4, 1, 2, 2)), xl_ones(XL_F32, XL_SHAPE(4, 1, 1, 1)), XL_NONE, &options).index,
      0);
  assert_error("xl_conv2d: there is no shape [4,4,2147483650,2147483650]");
}

static void a_value_that_no_memory_holds_is_an_error_of_the_device(void **state)
{
  (void)state;
  xp_error err = {0};
  float target;
  const xl_tensor x = xl_expand(xl_ones(XL_F32, XL_SHAPE(1)), XL_SHAPE(huge));
  assert_int_not_equal(xl_to_host(x, &target, 4 * (size_t)huge, &err), XP_OK);
  assert_contains(err.text, "f32[1099511627776] needs 4398046511104 bytes");
}

static void a_rank_that_is_none_is_refused_everywhere(void **state)
{
  (void)state;
  const xl_shape bad = {SIZE_MAX, {1, 1, 1, 1, 1, 1, 1, 1}}, nine = {9, {1}};
  const xl_tensor x = xl_ones(XL_F32, XL_SHAPE(1));
  const float value = 1;
  assert_int_equal(xl_expand(x, bad).index, 0);
  assert_error("[1,1,1,1,1,1,1,1,..]");
  assert_int_equal(xl_reshape(x, nine).index, 0);
  assert_error("at most 8 extents");
  assert_int_equal(xl_zeros(XL_F32, bad).index, 0);
  assert_error("at most 8 extents");
  assert_int_equal(xl_from_host(XL_F32, nine, &value).index, 0);
  assert_error("at most 8 extents");
}

static void a_type_that_is_none_is_refused(void **state)
{
  (void)state;
  const xl_tensor x = xl_ones(XL_F32, XL_SHAPE(1));
  assert_int_equal(xl_cast(x, (xl_type)77).index, 0);
  assert_error("xl_cast: there is no type 77");
  assert_int_equal(xl_zeros((xl_type)-1, XL_SHAPE(1)).index, 0);
  assert_error("there is no type -1");
}

static void pointers_that_are_null_are_told(void **state)
{
  (void)state;
  xp_error err = {0};
  const xl_tensor x = xl_ones(XL_F32, XL_SHAPE(1, 1));
  assert_int_equal(xl_permute(x, NULL).index, 0);
  assert_error("xl_permute: the order of the dimensions is NULL");
  assert_int_equal(xl_sum_dims(x, NULL, 2, false).index, 0);
  assert_error("the list of 2 dimensions is NULL");
  assert_int_equal(xl_sync_tensors(NULL, 2, true, &err), XP_ERR_USAGE);
  assert_int_equal(xl_item(x, NULL, &err), XP_ERR_USAGE);
  assert_int_equal(xl_to_host(x, NULL, 4, &err), XP_ERR_USAGE);
  assert_int_equal(xl_program_save(&x, 1, NULL, &err), XP_ERR_USAGE);
  assert_int_equal(xl_describe(x, NULL, NULL, &err), XP_OK);
  assert_false(xl_set_op_name_prefix(xl_neg(x), NULL, 1));
  assert_error("the prefix is NULL");
}

static void a_program_is_not_saved_over_a_file(void **state)
{
  (void)state;
  xp_error err = {0};
  char path[] = "/tmp/xlaprof-test-XXXXXX", bytes[8];
  const int fd = mkstemp(path);
  assert_int_equal(write(fd, "mine", 4), 4);
  const xl_tensor x = xl_ones(XL_F32, XL_SHAPE(2));
  assert_int_equal(xl_program_save(&x, 1, path, &err), XP_ERR_IO);
  assert_non_null(strstr(err.text, "exists"));
  assert_int_equal(pread(fd, bytes, sizeof bytes, 0), 4);
  assert_memory_equal(bytes, "mine", 4);
  close(fd);
  unlink(path);
}

static void a_place_without_a_file_is_no_place(void **state)
{
  (void)state;
  static const xl_location nowhere = {NULL, NULL, 0};
  xl_set_ir_debug(true);
  const xl_tensor x = xl_ones_at(&nowhere, XL_F32, XL_SHAPE(2));
  char *graph = xl_graph_text(&x, 1, NULL), *program = xl_program_text(&x, 1, NULL);
  assert_non_null(graph);
  assert_null(strstr(graph, "location"));
  assert_non_null(program);
  free(graph);
  free(program);
  assert_true(value_of(xl_sum(x)) == 2);
}

static void zero_keeps_its_sign(void **state)
{
  (void)state;
  const double negative = -0.0;
  assert_true(value_of(xl_reciprocal(xl_full(XL_F32, XL_SHAPE(1), negative))) == -INFINITY);
  assert_true(value_of(xl_reciprocal(xl_mul_scalar(xl_ones(XL_F32, XL_SHAPE(1)), negative))) == -INFINITY);
  assert_true(value_of(xl_reciprocal(xl_full(XL_F32, XL_SHAPE(1), 0))) == INFINITY);
}

/* ---------------------------------------------------------------- many */

static void more_tensors_are_joined_than_a_node_has_operands(void **state)
{
  (void)state;
  static xl_tensor parts[FAR];
  xl_shape shape;
  const xl_tensor one = vector(1, (const float[]){1}), two = vector(1, (const float[]){2});
  for (size_t i = 0; i < FAR; i++) {
    parts[i] = i == FAR - 1 ? two : one;
  }
  const xl_tensor row = xl_cat(parts, FAR, 0), stack = xl_stack(parts, FAR, 1);
  assert_true(value_of(xl_sum(row)) == FAR + 1);
  assert_true(value_of(xl_select(row, 0, FAR - 1)) == 2);
  must(xl_describe(stack, NULL, &shape, NULL), NULL);
  assert_int_equal(shape.rank, 2);
  assert_int_equal(shape.dims[0], 1);
  assert_int_equal(shape.dims[1], FAR);
  assert_true(value_of(xl_select(xl_flatten(stack, 0, 1), 0, FAR - 1)) == 2);
}

static void a_leaf_without_elements_has_a_gradient_without_elements(void **state)
{
  (void)state;
  const xl_tensor x = vector(2, (const float[]){1, 2}), none = xl_zeros(XL_F32, XL_SHAPE(0));
  xl_shape shape;
  xl_requires_grad(none, true);
  xl_backward(xl_sum(xl_cat((const xl_tensor[]){x, none}, 2, 0)));
  must(xl_describe(xl_grad(none), NULL, &shape, NULL), NULL);
  assert_int_equal(shape.rank, 1);
  assert_int_equal(shape.dims[0], 0);
}

static void a_gradient_goes_back_through_very_many_operations(void **state)
{
  (void)state;
  xl_tensor x = vector(1, (const float[]){0.5f}), y = xl_mul_scalar(x, 1);
  xl_requires_grad(x, true);
  for (int i = 0; i < FAR; i++) {
    const xl_tensor next = i % 2 == 0 ? xl_sub(x, y) : xl_neg(y);
    xl_free(y);
    y = next;
  }
  xl_backward(y);
  /* Two operations make -x + y of y, and the first y has no gradient. */
  assert_true(value_of(xl_grad(x)) == -FAR / 2);
}

static void pools_may_be_as_deep_as_one_likes(void **state)
{
  (void)state;
  xl_pool pools[DEEP];
  xl_tensor made[DEEP];
  for (int i = 0; i < DEEP; i++) {
    pools[i] = xl_pool_begin();
    made[i] = xl_ones(XL_F32, XL_SHAPE(1));
  }
  xl_pool_end(pools[DEEP - 1]);
  assert_false(xl_is_alive(made[DEEP - 1]));
  assert_true(xl_is_alive(made[DEEP - 2]));
  xl_pool_end(pools[10]); /* and those that were begun after it */
  assert_false(xl_is_alive(made[10]));
  assert_true(xl_is_alive(made[9]));
  xl_pool_end(pools[50]); /* ended already */
  assert_true(xl_is_alive(made[9]));
  xl_pool_end(pools[0]);
  assert_false(xl_is_alive(made[0]));
}

/* ---------------------------------------------------------------- ends */

static void *leave_pools_open(void *context)
{
  xl_tensor *made = context;
  xl_pool_begin();
  made[0] = xl_ones(XL_F32, XL_SHAPE(1));
  xl_pool_begin();
  made[1] = xl_ones(XL_F32, XL_SHAPE(1));
  made[2] = xl_keep(xl_ones(XL_F32, XL_SHAPE(1)));
  return NULL;
}

static void pools_end_with_their_thread(void **state)
{
  (void)state;
  pthread_t thread;
  xl_tensor made[3];
  assert_int_equal(pthread_create(&thread, NULL, leave_pools_open, made), 0);
  pthread_join(thread, NULL);
  assert_false(xl_is_alive(made[0]));
  assert_false(xl_is_alive(made[1]));
  assert_true(xl_is_alive(made[2]));
}

static void *is_eager_here(void *context)
{
  const uint64_t before = samples("EagerOpExecuteTime");
  xl_free(xl_neg(*(const xl_tensor *)context));
  xl_wait(NULL);
  return samples("EagerOpExecuteTime") > before ? context : NULL;
}

static void a_compiled_region_is_that_of_its_thread(void **state)
{
  (void)state;
  pthread_t thread;
  void *is_eager;
  xp_error err = {0};
  xl_set_eager(true);
  xl_tensor x = xl_ones(XL_F32, XL_SHAPE(2));
  must(xl_compiled_begin("here", &err), &err);
  assert_int_equal(pthread_create(&thread, NULL, is_eager_here, &x), 0);
  pthread_join(thread, &is_eager);
  assert_non_null(is_eager);
  assert_null(is_eager_here(&x));
  must(xl_compiled_end(&err), &err);
  assert_non_null(is_eager_here(&x));
}

static void a_trace_that_is_open_over_a_shutdown_names_what_comes_after_it(void **state)
{
  (void)state;
  xl_set_ir_debug(true);
  XP_TRACE("outer") {
    xl_neg(xl_ones(XL_F32, XL_SHAPE(1)));
    xl_shutdown();
    xl_set_ir_debug(true);
    const xl_tensor x = xl_ones(XL_F32, XL_SHAPE(1));
    char *graph = xl_graph_text(&x, 1, NULL);
    assert_contains(graph, "scope=outer");
    free(graph);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(a_result_that_is_too_large_is_refused_with_its_shape, end_lazy),
      cmocka_unit_test_teardown(a_value_that_no_memory_holds_is_an_error_of_the_device, end_lazy),
      cmocka_unit_test_teardown(a_rank_that_is_none_is_refused_everywhere, end_lazy),
      cmocka_unit_test_teardown(a_type_that_is_none_is_refused, end_lazy),
      cmocka_unit_test_teardown(pointers_that_are_null_are_told, end_lazy),
      cmocka_unit_test_teardown(a_program_is_not_saved_over_a_file, end_lazy),
      cmocka_unit_test_teardown(a_place_without_a_file_is_no_place, end_lazy),
      cmocka_unit_test_teardown(zero_keeps_its_sign, end_lazy),
      cmocka_unit_test_teardown(more_tensors_are_joined_than_a_node_has_operands, end_lazy),
      cmocka_unit_test_teardown(a_leaf_without_elements_has_a_gradient_without_elements, end_lazy),
      cmocka_unit_test_teardown(a_gradient_goes_back_through_very_many_operations, end_lazy),
      cmocka_unit_test_teardown(pools_may_be_as_deep_as_one_likes, end_lazy),
      cmocka_unit_test_teardown(pools_end_with_their_thread, end_lazy),
      cmocka_unit_test_teardown(a_compiled_region_is_that_of_its_thread, end_lazy),
      cmocka_unit_test_teardown(a_trace_that_is_open_over_a_shutdown_names_what_comes_after_it, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
