/* Views and updates in place: who sees what, what is computed again, and what may be donated.  The base of most tests
 * is the matrix [[0, 1, 2], [3, 4, 5]]. */
#include <pthread.h>
#include <unistd.h>

#include "lazy_testing.h"

static xl_tensor base(void)
{
  return xl_from_host(XL_F32, XL_SHAPE(2, 3), (const float[]){0, 1, 2, 3, 4, 5});
}

static double aliases(void)
{
  return xp_metric_sum(xp_metric_get("InputOutputAliasCount", XP_METRIC_VALUE));
}

/* Executions of eager mode, all of which are done. */
static uint64_t eager_executes(void)
{
  xp_error err = {0};
  must(xl_wait(&err), &err);
  return samples("EagerOpExecuteTime");
}

/* ---------------------------------------------------------------- kinds of views */

static xl_tensor turned(xl_tensor x)
{
  return xl_t(x);
}

static xl_tensor reshaped(xl_tensor x)
{
  return xl_reshape(x, XL_SHAPE(3, -1));
}

static xl_tensor flattened(xl_tensor x)
{
  return xl_flatten(x, 0, -1);
}

static xl_tensor with_one_more(xl_tensor x)
{
  return xl_squeeze(xl_unsqueeze(xl_unsqueeze(x, 1), -1), 1);
}

static xl_tensor first_and_third_column(xl_tensor x)
{
  return xl_slice(x, 1, 0, 3, 2);
}

static xl_tensor second_row(xl_tensor x)
{
  return xl_select(x, 0, 1);
}

static xl_tensor last_column(xl_tensor x)
{
  return xl_select(x, 1, -1);
}

static xl_tensor last_columns_turned(xl_tensor x)
{
  return xl_t(xl_slice(x, 1, -2, 3, 1));
}

static xl_tensor three_steps(xl_tensor x)
{
  return xl_select(xl_slice(xl_t(x), 0, 0, 3, 2), 1, 1);
}

static xl_tensor permuted_twice(xl_tensor x)
{
  xl_tensor cube = xl_permute(xl_unsqueeze(x, 0), (const int[]){2, 0, 1}); /* [3, 1, 2] */
  return xl_select(cube, 0, 0);
}

static xl_tensor detached(xl_tensor x)
{
  return xl_detach(x);
}

static xl_tensor detached_view(xl_tensor x)
{
  return xl_detach(xl_select(x, 0, 0));
}

static xl_tensor expanded_to_itself(xl_tensor x)
{
  return xl_expand(x, XL_SHAPE(1, -1, 3));
}

static const struct {
  xl_tensor (*make)(xl_tensor x);
  size_t count;
  float after_10[6]; /* its values after 10 was added to the base */
  float filled[6];   /* the base after the view was filled with 9 */
} kinds[] = {
    {turned, 6, {10, 13, 11, 14, 12, 15}, {9, 9, 9, 9, 9, 9}},
    {reshaped, 6, {10, 11, 12, 13, 14, 15}, {9, 9, 9, 9, 9, 9}},
    {flattened, 6, {10, 11, 12, 13, 14, 15}, {9, 9, 9, 9, 9, 9}},
    {with_one_more, 6, {10, 11, 12, 13, 14, 15}, {9, 9, 9, 9, 9, 9}},
    {first_and_third_column, 4, {10, 12, 13, 15}, {9, 1, 9, 9, 4, 9}},
    {second_row, 3, {13, 14, 15}, {0, 1, 2, 9, 9, 9}},
    {last_column, 2, {12, 15}, {0, 1, 9, 3, 4, 9}},
    {last_columns_turned, 4, {11, 14, 12, 15}, {0, 9, 9, 3, 9, 9}},
    {three_steps, 2, {13, 15}, {0, 1, 2, 9, 4, 9}},
    {permuted_twice, 2, {10, 13}, {9, 1, 2, 9, 4, 5}},
    {detached, 6, {10, 11, 12, 13, 14, 15}, {9, 9, 9, 9, 9, 9}},
    {detached_view, 3, {10, 11, 12}, {9, 9, 9, 3, 4, 5}},
    {expanded_to_itself, 6, {10, 11, 12, 13, 14, 15}, {9, 9, 9, 9, 9, 9}},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* All modes: bit 0 eagerly, bit 1 with fresh views, bit 2 with a barrier between what is done. */
static void set_mode(int mode)
{
  xl_set_eager(mode & 1);
  xl_set_fresh_views(mode & 2);
}

static void pause_here(int mode)
{
  if (mode & 4) {
    sync_now();
  }
}

static void an_update_of_the_base_is_seen_by_every_view(void **state)
{
  (void)state;
  for (int mode = 0; mode < 8; mode++) {
    for (size_t i = 0; i < KINDS; i++) {
      set_mode(mode);
      xl_tensor x = base(), early = kinds[i].make(x);
      pause_here(mode);
      xl_add_scalar_(x, 4);
      xl_tensor between = kinds[i].make(x);
      pause_here(mode);
      xl_add_scalar_(x, 6);
      assert_values(early, kinds[i].after_10, kinds[i].count);
      assert_values(between, kinds[i].after_10, kinds[i].count);
      assert_values(kinds[i].make(x), kinds[i].after_10, kinds[i].count);
    }
  }
}

static void an_update_of_a_view_is_seen_by_the_base(void **state)
{
  (void)state;
  for (int mode = 0; mode < 8; mode++) {
    for (size_t i = 0; i < KINDS; i++) {
      set_mode(mode);
      xl_tensor x = base(), other = xl_detach(x), view = kinds[i].make(x);
      pause_here(mode);
      xl_fill_(view, 8);
      pause_here(mode);
      xl_add_scalar_(view, 1);
      assert_values(x, kinds[i].filled, 6);
      assert_values(other, kinds[i].filled, 6);
      assert_values(view, (const float[]){9, 9, 9, 9, 9, 9}, kinds[i].count);
    }
  }
}

static void views_of_one_base_see_each_other(void **state)
{
  (void)state;
  for (int mode = 0; mode < 8; mode++) {
    set_mode(mode);
    xl_tensor x = base(), row = xl_select(x, 0, 0), column = xl_slice(x, 1, 0, 1, 1);
    xl_fill_(row, 7);
    pause_here(mode);
    assert_values(column, (const float[]){7, 3}, 2);
    xl_fill_(column, 1);
    pause_here(mode);
    assert_values(row, (const float[]){1, 7, 7}, 3);
    xl_copy_(row, xl_select(x, 0, 1)); /* from the same memory */
    assert_values(x, (const float[]){1, 4, 5, 1, 4, 5}, 6);
    assert_values(column, (const float[]){1, 1}, 2);
  }
}

static void a_view_outlives_its_base(void **state)
{
  (void)state;
  xl_tensor x = base(), row = xl_select(x, 0, 1), part = xl_slice(row, 0, 1, 3, 1);
  xl_free(x);
  xl_add_scalar_(part, 1);
  assert_values(row, (const float[]){3, 5, 6}, 3);
  xl_free(row);
  xl_add_scalar_(part, 1);
  assert_values(part, (const float[]){6, 7}, 2);
}

static void a_tensor_that_repeats_elements_is_not_updated(void **state)
{
  (void)state;
  xl_tensor x = base(), wide = xl_expand(x, XL_SHAPE(2, 2, 3));
  assert_int_equal(xl_fill_(wide, 1).index, 0);
  assert_error("xl_fill_: an expanded tensor can't be updated in place");
  assert_int_equal(xl_fill_(xl_select(wide, 0, 0), 1).index, 0);
  assert_error("clone it");
  assert_values(x, (const float[]){0, 1, 2, 3, 4, 5}, 6);
  xl_add_scalar_(x, 1);
  assert_values(xl_select(wide, 0, 1), (const float[]){1, 2, 3, 4, 5, 6}, 6);
}

static void a_view_of_very_many_views_is_updated_like_any_other(void **state)
{
  (void)state;
  enum { DEEP = 10001 };
  xl_tensor x = base(), view = x;
  for (int i = 0; i < DEEP; i++) {
    view = xl_t(view);
  }
  assert_values(view, (const float[]){0, 3, 1, 4, 2, 5}, 6);
  xl_mul_scalar_(view, 2);
  assert_values(x, (const float[]){0, 2, 4, 6, 8, 10}, 6);
  xl_add_scalar_(x, 1);
  assert_values(view, (const float[]){1, 7, 3, 9, 5, 11}, 6);
}

static void what_does_not_fit_is_not_taken(void **state)
{
  (void)state;
  xl_tensor x = base(), row = xl_select(x, 0, 0);
  assert_int_equal(xl_add_(row, x).index, 0);
  assert_error("xl_add_: the result f32[2,3] does not fit into the tensor f32[3]");
  xl_tensor whole = xl_cast(row, XL_I32);
  xl_tensor fractions = vector(3, (const float[]){0.5F, 1.5F, 2.5F});
  assert_int_equal(xl_add_(whole, fractions).index, 0);
  assert_error("xl_add_: i32[3] with f32[3] gives f32, and an update in place keeps i32");
  xl_copy_(whole, xl_add(whole, fractions));
  int32_t got[3];
  xp_error err = {0};
  must(xl_to_host(whole, got, sizeof got, &err), &err);
  assert_true(got[0] == 0 && got[1] == 2 && got[2] == 4); /* 0.5, 2.5 and 4.5 without their fractions */
}

/* ---------------------------------------------------------------- empty tensors */

static void views_without_elements_can_be_updated(void **state)
{
  (void)state;
  for (int mode = 0; mode < 8; mode++) {
    set_mode(mode);
    xl_tensor x = base(), none = xl_slice(x, 1, 2, 1, 1),
              wide = xl_expand(xl_slice(x, 0, 0, 1, 1), XL_SHAPE(0, 2, 1, 3));
    pause_here(mode);
    xl_fill_(none, 9);
    xl_fill_(xl_t(none), 9);
    xl_fill_(xl_reshape(none, XL_SHAPE(0, 7)), 9);
    xl_fill_(wide, 9);
    assert_values(x, (const float[]){0, 1, 2, 3, 4, 5}, 6);
    assert_values(none, NULL, 0);
    xl_tensor empty = xl_zeros(XL_F32, XL_SHAPE(0, 3)), view = xl_t(empty);
    xl_add_scalar_(empty, 1);
    pause_here(mode);
    assert_values(view, NULL, 0);
    xl_fill_(xl_select(view, 0, 1), 2);
    assert_values(empty, NULL, 0);
    assert_int_equal(xl_error(NULL), XP_OK);
  }
}

/* ---------------------------------------------------------------- how often views are computed */

static void a_view_of_updated_memory_is_computed_twice_as_in_torch(void **state)
{
  (void)state;
  xl_tensor x = base();
  xl_set_eager(true);
  xl_tensor view = xl_t(x);
  xl_neg(view);
  assert_int_equal(eager_executes(), 2); /* nothing was updated: the view's value is good */
  xl_add_scalar_(x, 1);
  xl_neg(view);
  assert_int_equal(eager_executes(), 5); /* the update, the view again, the negation */
  xl_neg(view);
  assert_int_equal(eager_executes(), 6); /* it is up to date now */
  xl_tensor late = xl_t(x);
  assert_int_equal(eager_executes(), 7);
  xl_neg(late);
  assert_int_equal(eager_executes(), 9); /* a new view counts as one that fell behind */
  xl_neg(xl_t(late));
  assert_int_equal(eager_executes(), 9 + 1 + 2 + 1); /* it is made, then its chain of two is computed */
}

static void fresh_views_are_computed_once(void **state)
{
  (void)state;
  xl_tensor x = base();
  xl_set_eager(true);
  xl_set_fresh_views(true);
  xl_add_scalar_(x, 1);
  xl_tensor view = xl_t(x);
  xl_neg(view);
  xl_neg(xl_t(view));
  assert_int_equal(eager_executes(), 5);
  xl_add_scalar_(x, 1);
  assert_values(view, (const float[]){2, 5, 3, 6, 4, 7}, 6);
  assert_int_equal(eager_executes(), 7); /* one that really fell behind is computed again */
}

static void an_update_of_a_view_costs_its_way_back(void **state)
{
  (void)state;
  xl_tensor x = base();
  xl_set_eager(true);
  xl_tensor view = xl_slice(xl_t(x), 0, 0, 2, 1);
  assert_int_equal(eager_executes(), 2);
  xl_add_scalar_(view, 1); /* the sum, the first view again, and both undone */
  assert_int_equal(eager_executes(), 2 + 1 + 1 + 2);
  assert_values(x, (const float[]){1, 2, 2, 4, 5, 5}, 6);
}

/* ---------------------------------------------------------------- donation */

static void arrays_that_updates_replace_are_donated(void **state)
{
  (void)state;
  xl_tensor a = vector(2, (const float[]){1, 2}), b = vector(2, (const float[]){3, 4});
  xl_tensor c = xl_add(a, b);
  xl_mul_scalar_(a, 2);
  xl_add_scalar_(b, 2);
  sync_now();
  assert_true(aliases() == 2);
  assert_values(a, (const float[]){2, 4}, 2);
  assert_values(b, (const float[]){5, 6}, 2);
  assert_values(c, (const float[]){4, 6}, 2);
}

static void ten_updates_in_a_step_donate_one_array(void **state)
{
  (void)state;
  xl_tensor x = vector(2, (const float[]){1, 2});
  for (int i = 0; i < 10; i++) {
    xl_add_scalar_(x, 1);
  }
  sync_now();
  assert_true(aliases() == 1);
  assert_values(x, (const float[]){11, 12}, 2);
}

static void an_array_that_another_tensor_has_is_not_donated(void **state)
{
  (void)state;
  xl_tensor x = vector(2, (const float[]){1, 2}), copy = xl_clone(x), view = xl_slice(x, 0, 0, 2, 1);
  sync_now(); /* the view is an array of its own */
  xl_add_scalar_(x, 1);
  sync_now();
  assert_true(aliases() == 0);
  assert_values(copy, (const float[]){1, 2}, 2);
  assert_values(view, (const float[]){2, 3}, 2);
  xl_add_scalar_(copy, 1); /* it has that array alone now */
  sync_now();
  assert_true(aliases() == 1);
  assert_values(copy, (const float[]){2, 3}, 2);
}

static void an_array_that_a_program_gives_back_as_well_is_not_donated(void **state)
{
  (void)state;
  xl_tensor x = vector(2, (const float[]){1, 2}), copy = xl_zeros(XL_F32, XL_SHAPE(2));
  sync_now();
  xl_copy_(copy, x);
  xl_add_scalar_(x, 1);
  sync_now();
  assert_values(copy, (const float[]){1, 2}, 2);
  assert_values(x, (const float[]){2, 3}, 2);
  xl_tensor sum = xl_add(x, copy);
  xl_copy_(x, copy);
  xl_add_scalar_(copy, 5);
  sync_now();
  assert_values(x, (const float[]){1, 2}, 2);
  assert_values(copy, (const float[]){6, 7}, 2);
  assert_values(sum, (const float[]){3, 5}, 2);
}

static void what_a_gradient_keeps_is_not_donated(void **state)
{
  (void)state;
  xl_tensor w = vector(2, (const float[]){2, 3}), x = vector(2, (const float[]){5, 7});
  xl_requires_grad(w, true);
  xl_tensor product = xl_mul(w, x);
  sync_now();
  const double before = aliases();
  xl_mul_(product, product); /* its gradient needs what it was */
  sync_now();
  assert_true(aliases() == before);
  xl_backward(xl_sum(product)); /* the derivative of (w x)^2 is 2 w x^2 */
  assert_values(xl_grad(w), (const float[]){100, 294}, 2);
}

static void computing_some_tensors_donates_nothing(void **state)
{
  (void)state;
  xp_error err;
  xl_tensor x = vector(2, (const float[]){1, 2}), old = xl_neg(x);
  xl_add_scalar_(x, 1);
  must(xl_sync_tensors(&x, 1, true, &err), &err);
  assert_true(aliases() == 0);
  assert_values(old, (const float[]){-1, -2}, 2);
  assert_values(x, (const float[]){2, 3}, 2);
}

static void after_eager_updates_a_lazy_one_donates(void **state)
{
  (void)state;
  xl_tensor x = vector(2, (const float[]){1, 2});
  xl_set_eager(true);
  for (int i = 0; i < 3; i++) {
    xl_add_scalar_(x, 1);
  }
  xl_set_eager(false);
  xp_metrics_clear();
  xl_add_scalar_(x, 1);
  sync_now();
  assert_true(aliases() == 1);
  assert_values(x, (const float[]){5, 6}, 2);
}

typedef struct {
  xl_tensor tensor;
  float values[2];
  xp_status status;
} reader;

static void *read_slowly(void *context)
{
  reader *r = context;
  r->status = xl_to_host(r->tensor, r->values, sizeof r->values, NULL);
  return NULL;
}

static void an_array_that_another_thread_reads_is_not_donated(void **state)
{
  (void)state;
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  xp_error err = {0};
  options.options = (const char *const[]){"launch_latency_us", "100000", NULL};
  must(xl_device_open(&options, NULL, &err), &err);
  reader r = {.tensor = vector(2, (const float[]){1, 2})};
  xl_add_scalar_(r.tensor, 1);
  must(xl_sync(false, &err), &err);
  const double before = aliases();
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, read_slowly, &r), 0);
  usleep(20000);               /* the reader waits for the device by now, mostly */
  xl_mul_scalar_(r.tensor, 2); /* another program: what is donated is counted when it is compiled */
  must(xl_sync(false, &err), &err);
  const bool is_donated = aliases() > before;
  pthread_join(thread, NULL);
  assert_int_equal(r.status, XP_OK);
  const bool read_old = r.values[0] == 2 && r.values[1] == 3, read_new = r.values[0] == 4 && r.values[1] == 6;
  assert_true((read_old && !is_donated) || read_new);
  assert_values(r.tensor, (const float[]){4, 6}, 2);
}

/* ---------------------------------------------------------------- updates and gradients */

static void a_leaf_is_updated_without_recording_only(void **state)
{
  (void)state;
  xl_tensor w = vector(2, (const float[]){2, 3}), part = xl_slice(w, 0, 0, 1, 1);
  xl_requires_grad(w, true);
  assert_int_equal(xl_add_scalar_(w, 1).index, 0);
  assert_error("xl_add_scalar_: a leaf that wants a gradient is updated in place; do it inside XL_NO_GRAD");
  assert_int_equal(xl_zero_(xl_slice(w, 0, 1, 2, 1)).index, 0);
  assert_error("XL_NO_GRAD");
  XL_NO_GRAD
  {
    xl_add_scalar_(w, 1);
    xl_fill_(part, 9);
  }
  assert_values(w, (const float[]){9, 4}, 2);
  xl_backward(xl_sum(xl_mul(w, w)));
  assert_values(xl_grad(w), (const float[]){18, 8}, 2);
}

static void what_a_gradient_needs_must_not_have_changed(void **state)
{
  (void)state;
  xl_tensor w = vector(2, (const float[]){2, 3}), x = vector(2, (const float[]){5, 7});
  xl_requires_grad(w, true);
  xl_tensor loss = xl_sum(xl_mul(w, x));
  xl_zero_(xl_slice(x, 0, 0, 1, 1)); /* through a view */
  xl_backward(loss);
  assert_error("a tensor that the gradient of xla::multiply needs was updated in place since then");
  assert_int_equal(xl_grad(w).index, 0);

  xl_tensor result = xl_relu(xl_neg(w));
  loss = xl_sum(result);
  XL_NO_GRAD
  {
    xl_zero_(result);
  }
  xl_backward(loss);
  assert_error("a tensor that the gradient of aten::relu needs was updated in place since then");
}

static void gradients_go_through_updates(void **state)
{
  (void)state;
  xl_tensor w = vector(2, (const float[]){2, 3}), x = vector(2, (const float[]){5, 7});
  xl_requires_grad(w, true);
  xl_tensor y = xl_zeros(XL_F32, XL_SHAPE(2));
  xl_copy_(y, w); /* a leaf */
  xl_mul_(y, x);  /* w x */
  xl_mul_(y, w);  /* w^2 x */
  xl_add_(y, x);  /* w^2 x + x */
  xl_backward(xl_sum(y));
  assert_values(xl_grad(w), (const float[]){20, 42}, 2);
  assert_values(y, (const float[]){25, 70}, 2);
}

static void detached_memory_is_shared_but_has_no_gradient(void **state)
{
  (void)state;
  xl_tensor w = vector(2, (const float[]){2, 3});
  xl_requires_grad(w, true);
  xl_tensor same = xl_detach(w);
  xl_add_scalar_(same, 1);
  assert_values(w, (const float[]){3, 4}, 2);
  xl_backward(xl_sum(same));
  assert_error("depends on nothing that wants a gradient");
}

static void a_gradient_that_is_added_to_is_the_same_tensor(void **state)
{
  (void)state;
  xl_tensor w = vector(1, (const float[]){2});
  xl_requires_grad(w, true);
  xl_backward(xl_sum(xl_mul(w, w)));
  xl_tensor first = xl_grad(w);
  xl_backward(xl_sum(w));
  assert_values(first, (const float[]){5}, 1);
  xl_zero_grad(w);
  assert_int_equal(xl_grad(w).index, 0);
  assert_values(first, (const float[]){5}, 1); /* its holder keeps it */
}

/* ---------------------------------------------------------------- handles */

static void an_update_gives_back_the_handle_of_its_tensor(void **state)
{
  (void)state;
  xl_tensor x = vector(2, (const float[]){1, 2}), y = x;
  const xl_tensor results[] = {xl_add_(x, x),
                               xl_fill_(x, 1),
                               xl_zero_(x),
                               xl_copy_(x, x),
                               xl_relu_(x),
                               xl_mul_scalar_(x, 2),
                               xl_clamp_(x, 0, 1),
                               xl_addcmul_(x, x, x, 1),
                               xl_add_scaled_(x, x, 2)};
  for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
    assert_memory_equal(&results[i], &y, sizeof y);
  }
  XL_POOL
  {
    xl_add_(x, x);
  }
  assert_true(xl_is_alive(x)); /* the pool in which it was updated does not own it */
  xl_free(x);
  assert_false(xl_is_alive(results[0]));
}

static void handles_of_one_place_are_told_apart(void **state)
{
  (void)state;
  enum { ROUNDS = 1000 };
  static xl_tensor old[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    old[i] = vector(1, (const float[]){(float)i});
    xl_free(old[i]);
  }
  xl_tensor last = vector(1, (const float[]){-1});
  for (int i = 0; i < ROUNDS; i++) {
    assert_int_equal(old[i].index, last.index);
    assert_false(xl_is_alive(old[i]));
    xl_free(old[i]);
    assert_error("was freed already");
  }
  assert_values(last, (const float[]){-1}, 1);
}

static void pools_may_be_deeper_than_anybody_needs(void **state)
{
  (void)state;
  enum { DEPTH = 100 };
  xl_pool pools[DEPTH];
  xl_tensor made[DEPTH];
  for (int i = 0; i < DEPTH; i++) {
    pools[i] = xl_pool_begin();
    made[i] = vector(1, (const float[]){(float)i});
  }
  xl_tensor kept = xl_keep(vector(1, (const float[]){7}));
  xl_free(made[20]);
  for (int i = DEPTH; i > 0; i--) {
    xl_pool_end(pools[i - 1]);
  }
  xl_pool_end(pools[0]); /* at its end already */
  for (int i = 0; i < DEPTH; i++) {
    assert_false(xl_is_alive(made[i]));
  }
  assert_values(kept, (const float[]){7}, 1);
}

static void a_pool_that_ends_ends_those_inside_it(void **state)
{
  (void)state;
  xl_pool outer = xl_pool_begin();
  xl_tensor a = vector(1, (const float[]){1});
  xl_pool inner = xl_pool_begin();
  xl_tensor b = vector(1, (const float[]){1});
  xl_pool_end(outer);
  assert_false(xl_is_alive(a) || xl_is_alive(b));
  xl_tensor c = vector(1, (const float[]){1});
  xl_pool_end(inner);
  assert_true(xl_is_alive(c));
}

static void a_factor_that_no_gradient_needs_may_be_updated(void **state)
{
  (void)state;
  xl_tensor x = vector(1, (const float[]){3});
  xl_requires_grad(x, true);
  xl_tensor y = xl_mul_scalar(x, 2);
  XL_NO_GRAD
  {
    xl_add_scalar_(x, 1);
  }
  xl_backward(y);
  assert_true(value_of(xl_grad(x)) == 2);
  xl_zero_grad(x);
  xl_tensor z = xl_mul(x, x); /* here both factors are needed */
  XL_NO_GRAD
  {
    xl_add_scalar_(x, 1);
  }
  xl_backward(z);
  assert_error("was updated in place");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(a_factor_that_no_gradient_needs_may_be_updated, end_lazy),
      cmocka_unit_test_teardown(an_update_of_the_base_is_seen_by_every_view, end_lazy),
      cmocka_unit_test_teardown(an_update_of_a_view_is_seen_by_the_base, end_lazy),
      cmocka_unit_test_teardown(views_of_one_base_see_each_other, end_lazy),
      cmocka_unit_test_teardown(a_view_outlives_its_base, end_lazy),
      cmocka_unit_test_teardown(a_tensor_that_repeats_elements_is_not_updated, end_lazy),
      cmocka_unit_test_teardown(a_view_of_very_many_views_is_updated_like_any_other, end_lazy),
      cmocka_unit_test_teardown(what_does_not_fit_is_not_taken, end_lazy),
      cmocka_unit_test_teardown(views_without_elements_can_be_updated, end_lazy),
      cmocka_unit_test_teardown(a_view_of_updated_memory_is_computed_twice_as_in_torch, end_lazy),
      cmocka_unit_test_teardown(fresh_views_are_computed_once, end_lazy),
      cmocka_unit_test_teardown(an_update_of_a_view_costs_its_way_back, end_lazy),
      cmocka_unit_test_teardown(arrays_that_updates_replace_are_donated, end_lazy),
      cmocka_unit_test_teardown(ten_updates_in_a_step_donate_one_array, end_lazy),
      cmocka_unit_test_teardown(an_array_that_another_tensor_has_is_not_donated, end_lazy),
      cmocka_unit_test_teardown(an_array_that_a_program_gives_back_as_well_is_not_donated, end_lazy),
      cmocka_unit_test_teardown(what_a_gradient_keeps_is_not_donated, end_lazy),
      cmocka_unit_test_teardown(computing_some_tensors_donates_nothing, end_lazy),
      cmocka_unit_test_teardown(after_eager_updates_a_lazy_one_donates, end_lazy),
      cmocka_unit_test_teardown(an_array_that_another_thread_reads_is_not_donated, end_lazy),
      cmocka_unit_test_teardown(a_leaf_is_updated_without_recording_only, end_lazy),
      cmocka_unit_test_teardown(what_a_gradient_needs_must_not_have_changed, end_lazy),
      cmocka_unit_test_teardown(gradients_go_through_updates, end_lazy),
      cmocka_unit_test_teardown(detached_memory_is_shared_but_has_no_gradient, end_lazy),
      cmocka_unit_test_teardown(a_gradient_that_is_added_to_is_the_same_tensor, end_lazy),
      cmocka_unit_test_teardown(an_update_gives_back_the_handle_of_its_tensor, end_lazy),
      cmocka_unit_test_teardown(handles_of_one_place_are_told_apart, end_lazy),
      cmocka_unit_test_teardown(pools_may_be_deeper_than_anybody_needs, end_lazy),
      cmocka_unit_test_teardown(a_pool_that_ends_ends_those_inside_it, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
