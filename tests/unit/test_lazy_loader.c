/* The loader: batches in order, one barrier a batch with and without steps, ends and errors. */
#include "lazy_testing.h"

enum { BATCHES = 5 };

typedef struct {
  int fetched, released, fails_at; /* fails_at 0: never */
  float values[BATCHES][2];
  int32_t labels[BATCHES];
} source;

static xp_status fetch(void *context, xl_host_array *arrays, xp_error *err)
{
  source *s = context;
  if (s->fetched == BATCHES) {
    return XP_ERR_EMPTY;
  }
  const int i = s->fetched++;
  if (s->fails_at > 0 && i == s->fails_at) {
    snprintf(err->text, sizeof err->text, "shard %d is damaged", i);
    return XP_ERR_FORMAT;
  }
  s->values[i][0] = (float)i;
  s->values[i][1] = (float)(10 * i);
  s->labels[i] = i;
  arrays[0] = (xl_host_array){XL_F32, XL_SHAPE(2), s->values[i]};
  arrays[1] = (xl_host_array){XL_I32, XL_SCALAR, &s->labels[i]};
  return XP_OK;
}

static void release(void *context, const xl_host_array *arrays)
{
  source *s = context;
  s->released++;
  ((float *)(uintptr_t)arrays[0].values)[0] = -1; /* nobody reads it any more */
}

static xl_loader *open_loader(source *s)
{
  const xl_loader_options options = {
      .size = sizeof options, .array_count = 2, .fetch = fetch, .release = release, .context = s, .batches_ahead = 2};
  xl_loader *loader;
  xp_error err = {0};
  must(xl_loader_open(&options, &loader, &err), &err);
  return loader;
}

static double sum_of(const xl_tensor batch[2])
{
  return value_of(xl_sum(xl_add(batch[0], batch[1])));
}

static void batches_come_in_order_and_then_the_end(void **state)
{
  (void)state;
  source s = {0};
  xl_loader *loader = open_loader(&s);
  xl_tensor batch[2];
  xp_error err = {0};
  for (int i = 0; i < BATCHES; i++) {
    must(xl_loader_next(loader, batch, &err), &err);
    assert_true(sum_of(batch) == 13 * i);
  }
  assert_int_equal(xl_loader_next(loader, batch, &err), XP_ERR_EMPTY);
  assert_int_equal(xl_loader_next(loader, batch, &err), XP_ERR_EMPTY);
  xl_loader_close(loader);
  assert_int_equal(s.released, BATCHES);
}

static void every_batch_has_one_barrier_without_steps(void **state)
{
  (void)state;
  source s = {0};
  xl_loader *loader = open_loader(&s);
  xl_tensor total = xl_zeros(XL_F32, XL_SHAPE(2)), batch[2];
  xp_error err = {0};
  int64_t count = 0;
  while (xl_loader_next(loader, batch, &err) == XP_OK) {
    assert_int_equal(counted("MarkStep"), count++);
    xl_add_(total, batch[0]);
  }
  assert_int_equal(counted("MarkStep"), BATCHES);
  assert_int_equal(samples("DeviceLockWait"), 2 * BATCHES);
  assert_int_equal(counted("ExecuteComputation"), BATCHES);
  assert_values(total, (const float[]){10, 100}, 2);
  xl_loader_close(loader);
}

static void every_batch_has_one_barrier_with_steps_around_it(void **state)
{
  (void)state;
  source s = {0};
  xl_loader *loader = open_loader(&s);
  xl_tensor total = xl_zeros(XL_F32, XL_SHAPE(2)), batch[2];
  xp_error err = {0};
  for (int i = 0; xl_loader_next(loader, batch, &err) == XP_OK; i++) {
    XP_STEP("train", i) {
      xl_add_(total, batch[0]);
    }
  }
  assert_int_equal(counted("MarkStep"), BATCHES);
  assert_int_equal(counted("ExecuteComputation"), BATCHES);
  xl_loader_close(loader);
}

static void every_batch_has_one_barrier_when_the_step_takes_it(void **state)
{
  (void)state;
  source s = {0};
  xl_loader *loader = open_loader(&s);
  xl_tensor total = xl_zeros(XL_F32, XL_SHAPE(2)), batch[2];
  xp_error err = {0};
  for (int i = 0; i < BATCHES; i++) {
    XP_STEP("train", i) {
      must(xl_loader_next(loader, batch, &err), &err);
      xl_add_(total, batch[0]);
    }
  }
  assert_int_equal(counted("MarkStep"), BATCHES);
  xl_loader_close(loader);
}

static void an_error_of_fetch_comes_out_behind_the_batches_before_it(void **state)
{
  (void)state;
  source s = {.fails_at = 2};
  xl_loader *loader = open_loader(&s);
  xl_tensor batch[2];
  xp_error err = {0};
  must(xl_loader_next(loader, batch, &err), &err);
  must(xl_loader_next(loader, batch, &err), &err);
  assert_int_equal(xl_loader_next(loader, batch, &err), XP_ERR_FORMAT);
  assert_contains(err.text, "xl_loader_next: shard 2 is damaged. (test_lazy_loader.c:");
  xl_loader_close(loader);
}

static void a_loader_that_is_closed_early_releases_what_it_fetched(void **state)
{
  (void)state;
  source s = {0};
  xl_loader *loader = open_loader(&s);
  xl_tensor batch[2];
  xp_error err = {0};
  must(xl_loader_next(loader, batch, &err), &err);
  xl_loader_close(loader);
  assert_int_equal(s.released, s.fetched);
  assert_true(sum_of(batch) == 0);
  xl_loader_close(NULL);
}

static void a_loader_without_fetch_or_arrays_is_refused(void **state)
{
  (void)state;
  xl_loader *loader;
  xp_error err;
  assert_int_equal(xl_loader_open(&(xl_loader_options){.array_count = 1}, &loader, &err), XP_ERR_USAGE);
  assert_int_equal(xl_loader_open(&(xl_loader_options){.fetch = fetch, .array_count = 17}, &loader, &err),
                   XP_ERR_USAGE);
}

static xp_status fetch_badly(void *context, xl_host_array *arrays, xp_error *err)
{
  const int how = *(const int *)context;
  (void)err;
  static const float value = 1;
  arrays[0] =
      (xl_host_array){XL_F32, XL_SHAPE(how == 1 ? INT64_C(1) << 40 : 0, INT64_C(1) << 40), how == 1 ? &value : NULL};
  return how == 0 ? XP_ERR_IO : XP_OK;
}

static void a_fetch_that_gives_no_reason_or_no_sound_shape_is_told_so(void **state)
{
  (void)state;
  static const char *const texts[] = {"failed with status 2, and gave no reason",
                                      "Array 0 of a batch is f32[1099511627776,1099511627776]: a shape has"};
  for (int how = 0; how < 2; how++) {
    const xl_loader_options options = {.size = sizeof options, .array_count = 1, .fetch = fetch_badly, .context = &how};
    xl_loader *loader;
    xl_tensor x;
    xp_error err = {0};
    must(xl_loader_open(&options, &loader, &err), &err);
    assert_int_not_equal(xl_loader_next(loader, &x, &err), XP_OK);
    assert_contains(err.text, texts[how]);
    xl_loader_close(loader);
  }
}

static void a_batch_without_elements_needs_no_values(void **state)
{
  (void)state;
  int how = 2;
  const xl_loader_options options = {.size = sizeof options, .array_count = 1, .fetch = fetch_badly, .context = &how};
  xl_loader *loader;
  xl_tensor x;
  xp_error err = {0};
  must(xl_loader_open(&options, &loader, &err), &err);
  must(xl_loader_next(loader, &x, &err), &err);
  xl_loader_close(loader);
}

static void a_loader_that_is_open_at_the_shutdown_ends_with_it(void **state)
{
  (void)state;
  source s = {0};
  xl_loader *loader = open_loader(&s);
  xl_tensor batch[2];
  xp_error err = {0};
  must(xl_loader_next(loader, batch, &err), &err);
  xl_shutdown();
  assert_int_equal(s.released, s.fetched);
  assert_int_equal(xl_loader_next(loader, batch, &err), XP_ERR_USAGE);
  assert_contains(err.text, "xl_shutdown");
  xl_loader_close(loader);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(batches_come_in_order_and_then_the_end, end_lazy),
      cmocka_unit_test_teardown(every_batch_has_one_barrier_without_steps, end_lazy),
      cmocka_unit_test_teardown(every_batch_has_one_barrier_with_steps_around_it, end_lazy),
      cmocka_unit_test_teardown(every_batch_has_one_barrier_when_the_step_takes_it, end_lazy),
      cmocka_unit_test_teardown(an_error_of_fetch_comes_out_behind_the_batches_before_it, end_lazy),
      cmocka_unit_test_teardown(a_loader_that_is_closed_early_releases_what_it_fetched, end_lazy),
      cmocka_unit_test_teardown(a_loader_without_fetch_or_arrays_is_refused, end_lazy),
      cmocka_unit_test_teardown(a_fetch_that_gives_no_reason_or_no_sound_shape_is_told_so, end_lazy),
      cmocka_unit_test_teardown(a_batch_without_elements_needs_no_values, end_lazy),
      cmocka_unit_test_teardown(a_loader_that_is_open_at_the_shutdown_ends_with_it, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
