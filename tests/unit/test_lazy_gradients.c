/* Gradients through updates in place of views, what of that is refused, and what memory a backward pass needs.
 *
 * tests/lazy/gradient_programs.py tries many such programs; these are the cases that it is made of, with values from
 * paper.  Most have a leaf w of 1 2 3 4, as a matrix of two rows, and x = 2 w.
 */
#include "lazy_testing.h"

static xl_tensor leaf(void)
{
  xl_tensor w = xl_from_host(XL_F32, XL_SHAPE(2, 2), (const float[]){1, 2, 3, 4});
  xl_requires_grad(w, true);
  return w;
}

static xl_tensor twice(xl_tensor w)
{
  return xl_mul_scalar(w, 2);
}

/* The gradient of the sum of a tensor's elements, each taken 1, 2, 3 .. times. */
static void backward_of(xl_tensor x)
{
  static const float times[] = {1, 2, 3, 4};
  xl_shape shape;
  xp_error err = {0};
  must(xl_describe(x, NULL, &shape, &err), &err);
  xl_backward_from(x, xl_from_host(XL_F32, shape, times), false);
}

static void assert_gradient(xl_tensor w, float a, float b, float c, float d)
{
  assert_values(xl_grad(w), (const float[]){a, b, c, d}, 4);
}

/* ---------------------------------------------------------------- what is recorded */

static xl_tensor turned(xl_tensor x)
{
  return xl_t(x);
}

static xl_tensor flattened(xl_tensor x)
{
  return xl_flatten(x, 0, 1);
}

static xl_tensor expanded_to_itself(xl_tensor x)
{
  return xl_expand(x, XL_SHAPE(1, 2, 2));
}

static xl_tensor second_row(xl_tensor x)
{
  return xl_select(x, 0, 1);
}

static xl_tensor every_other(xl_tensor x)
{
  return xl_slice(xl_flatten(x, 0, 1), 0, 0, 4, 2);
}

static xl_tensor first_of_last_column(xl_tensor x)
{
  return xl_slice(xl_select(xl_t(x), 0, -1), 0, 0, 1, 1);
}

static xl_tensor nothing(xl_tensor x)
{
  return xl_slice(x, 0, 1, 1, 1);
}

static const struct {
  xl_tensor (*make)(xl_tensor x);
  float factors[4]; /* of the gradient of x, after the view was multiplied by 5 */
} kinds[] = {
    {turned, {5, 5, 5, 5}},     {flattened, {5, 5, 5, 5}},   {expanded_to_itself, {5, 5, 5, 5}},
    {second_row, {1, 1, 5, 5}}, {every_other, {5, 1, 5, 1}}, {first_of_last_column, {1, 5, 1, 1}},
    {nothing, {1, 1, 1, 1}},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void gradients_go_through_the_part_that_was_updated_and_around_it(void **state)
{
  (void)state;
  for (size_t i = 0; i < 2 * KINDS; i++) {
    const float *by = kinds[i / 2].factors;
    xl_set_eager(i % 2 == 1);
    xl_tensor w = leaf(), x = twice(w);
    xl_mul_scalar_(kinds[i / 2].make(x), 5);
    assert_values(x, (const float[]){2 * by[0], 4 * by[1], 6 * by[2], 8 * by[3]}, 4);
    backward_of(x);
    assert_gradient(w, 2 * by[0], 4 * by[1], 6 * by[2], 8 * by[3]);
  }
}

static void what_a_part_is_given_gets_the_gradient_of_the_part(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = twice(w), v = vector(2, (const float[]){5, 6});
  xl_requires_grad(v, true);
  xl_copy_(xl_select(x, 0, 0), v);
  xl_mul_(xl_select(x, 1, 0), v); /* the column 5 6 becomes 25 36 */
  assert_values(x, (const float[]){25, 6, 36, 8}, 4);
  backward_of(x);
  /* x is v0 v0, v1, 2 w2 v1, 2 w3; its elements are taken 1, 2, 3, 4 times. */
  assert_gradient(w, 0, 0, 3 * 2 * 6, 4 * 2);
  assert_values(xl_grad(v), (const float[]){2 * 5, 2 + 3 * 6}, 2);
}

static void every_view_takes_part_in_an_update(void **state)
{
  (void)state;
  for (int mode = 0; mode < 4; mode++) {
    xl_set_eager(mode & 1);
    xl_set_fresh_views(mode & 2);
    xl_tensor w = leaf(), x = twice(w), row = xl_select(x, 0, 1), column = xl_select(xl_t(x), 0, 0);
    xl_mul_scalar_(column, 3); /* 2 4, 6 8 becomes 6 4, 18 8 */
    xl_mul_scalar_(row, 5);    /* 6 4, 90 40 */
    assert_values(column, (const float[]){6, 90}, 2);
    xl_backward_from(column, xl_ones(XL_F32, XL_SHAPE(2)), true);
    assert_gradient(w, 2 * 3, 0, 2 * 3 * 5, 0);
    xl_zero_grad(w);
    xl_mul_scalar_(x, 2);
    backward_of(row);
    assert_gradient(w, 0, 0, 2 * 3 * 5 * 2, 2 * 2 * 5 * 2);
  }
}

static void a_pass_inside_of_no_grad_knows_of_updates(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = twice(w), row = xl_select(x, 0, 0);
  xl_mul_scalar_(x, 5);
  XL_NO_GRAD
  {
    backward_of(row);
  }
  assert_gradient(w, 10, 20, 0, 0);
}

static void memory_without_a_gradient_gets_one_through_a_view(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = xl_zeros(XL_F32, XL_SHAPE(2, 2)), early = xl_flatten(x, 0, 1);
  xl_add_(xl_select(x, 0, 0), xl_select(w, 0, 1)); /* 3 4, 0 0 */
  backward_of(early);
  assert_values(early, (const float[]){3, 4, 0, 0}, 4);
  assert_gradient(w, 0, 0, 1, 2);
}

static void an_update_that_is_not_recorded_changes_values_and_no_gradients(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = twice(w), row = xl_select(x, 0, 0);
  XL_NO_GRAD
  {
    xl_zero_(row);
  }
  backward_of(row);
  assert_values(row, (const float[]){0, 0}, 2);
  assert_gradient(w, 2, 4, 0, 0);
}

static void what_is_overwritten_has_the_gradient_zero(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = twice(w), y = twice(w), z = xl_select(xl_select(twice(w), 0, 0), 0, 0);
  xl_zero_(x);
  xl_fill_(xl_t(y), 7);
  xl_zero_(z);
  backward_of(x);
  backward_of(y);
  xl_backward(z);
  assert_gradient(w, 0, 0, 0, 0);
}

static void detached_memory_has_a_history_of_its_own(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = twice(w), row = xl_detach(xl_select(x, 0, 1)), last = xl_slice(row, 0, 1, 2, 1);
  xl_mul_(last, xl_select(w, 0, 1)); /* 8 times 3 4 does not fit, */
  assert_error("xl_mul_: the result f32[2] does not fit into the tensor f32[1]");
  xl_mul_(last, xl_slice(xl_select(w, 0, 0), 0, 1, 2, 1)); /* 8 times 2 does */
  assert_values(x, (const float[]){2, 4, 6, 16}, 4);
  assert_values(row, (const float[]){6, 16}, 2);
  xl_backward(xl_sum(row));
  assert_gradient(w, 0, 8, 0, 0);
  xl_zero_grad(w);
  backward_of(x); /* which the update is no part of */
  assert_gradient(w, 2, 4, 6, 8);
}

static void a_view_that_is_made_a_leaf_is_one(void **state)
{
  (void)state;
  xl_tensor all = xl_ones(XL_F32, XL_SHAPE(4)), part = xl_slice(all, 0, 0, 2, 1);
  xl_requires_grad(part, true);
  XL_NO_GRAD
  {
    xl_mul_scalar_(all, 3); /* they share memory still */
  }
  xl_backward(xl_sum(xl_mul(part, part)));
  assert_values(xl_grad(part), (const float[]){6, 6}, 2);
  xl_add_scalar_(xl_select(part, 0, 0), 1);
  assert_error("a view of a leaf that wants a gradient is updated in place");
}

static void histories_that_lead_to_what_they_were_made_of_are_freed(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = twice(w), row = xl_select(x, 0, 0);
  xl_mul_(x, xl_mul(x, w)); /* keeps x */
  xl_mul_(xl_select(x, 0, 1), xl_mul(row, row));
  backward_of(x);
  assert_error("a tensor that the gradient of xla::multiply needs was updated in place since then");
  /* No backward pass freed them.  After the test no node may be left. */
}

static void a_view_of_very_many_views_is_updated_with_its_gradient(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = twice(w), view = x;
  for (int i = 0; i < 1001; i++) {
    view = xl_t(view);
  }
  xl_mul_(view, xl_t(w)); /* 2 w w */
  assert_values(x, (const float[]){2, 8, 18, 32}, 4);
  backward_of(x);
  assert_gradient(w, 4, 2 * 8, 3 * 12, 4 * 16);
}

/* ---------------------------------------------------------------- what is refused */

static void leaves_and_their_views_are_not_updated(void **state)
{
  (void)state;
  xl_tensor w = leaf();
  assert_int_equal(xl_add_scalar_(w, 1).index, 0);
  assert_error("xl_add_scalar_: a leaf that wants a gradient is updated in place; do it inside XL_NO_GRAD");
  assert_int_equal(xl_zero_(xl_select(xl_t(w), 0, 1)).index, 0);
  assert_error("xl_zero_: a view of a leaf that wants a gradient is updated in place; do it inside XL_NO_GRAD");
  assert_values(w, (const float[]){1, 2, 3, 4}, 4);
}

static void a_view_that_was_taken_without_recording_is_updated_without_recording(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = twice(w), plain = xl_ones(XL_F32, XL_SHAPE(2)), row, part;
  XL_NO_GRAD
  {
    row = xl_select(x, 0, 0);
    part = xl_slice(plain, 0, 0, 2, 1);
  }
  assert_int_equal(xl_add_scalar_(row, 1).index, 0);
  assert_error("a view that was taken inside XL_NO_GRAD is updated in place while gradients are recorded");
  assert_int_equal(xl_add_scalar_(xl_slice(row, 0, 0, 1, 1), 1).index, 0);
  assert_error("a view that was taken inside XL_NO_GRAD is updated in place while gradients are recorded");
  assert_int_equal(xl_add_(part, xl_select(w, 0, 0)).index, 0);
  assert_error("a view that was taken inside XL_NO_GRAD is updated in place while gradients are recorded");
  xl_add_scalar_(part, 1); /* nothing of this has a gradient */
  assert_values(plain, (const float[]){2, 2}, 2);
  XL_NO_GRAD
  {
    xl_add_scalar_(row, 1);
  }
  assert_values(x, (const float[]){3, 5, 6, 8}, 4);
}

static void a_view_that_was_taken_without_recording_is_not_used_after_an_update(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = twice(w), row;
  XL_NO_GRAD
  {
    row = xl_select(x, 0, 0);
  }
  assert_values(xl_neg(row), (const float[]){-2, -4}, 2); /* a constant, so far */
  xl_mul_scalar_(x, 2);
  assert_int_equal(xl_neg(row).index, 0);
  assert_error("xl_neg: a view that was taken inside XL_NO_GRAD is used while gradients are recorded, and its memory "
               "was updated in place since it was taken; take it again outside");
  XL_NO_GRAD
  {
    assert_values(xl_neg(row), (const float[]){-4, -8}, 2);
  }
}

static void what_a_gradient_keeps_of_a_view_must_not_have_changed(void **state)
{
  (void)state;
  xl_tensor w = leaf(), x = twice(w), y = xl_exp(x), product = xl_mul(xl_select(x, 0, 0), xl_select(w, 0, 0));
  xl_zero_(xl_select(y, 0, 0));
  xl_backward(xl_sum(y));
  assert_error("a tensor that the gradient of aten::exp needs was updated in place since then");
  xl_zero_(xl_select(x, 0, 1)); /* another part of the same memory, as in torch */
  xl_backward(xl_sum(product));
  assert_error("a tensor that the gradient of xla::multiply needs was updated in place since then");
}

/* ---------------------------------------------------------------- memory of the backward pass */

enum { ELEMENTS = 4096, DEPTH = 60, FEW = 8 };

/* A device with room for so many arrays of ELEMENTS, on which the host does not run ahead. */
static void open_small_device(int arrays)
{
  char limit[32];
  xp_error err = {0};
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  snprintf(limit, sizeof limit, "%d", arrays * ELEMENTS * 4);
  options.options = (const char *const[]){"memory_limit_bytes", limit, NULL};
  must(xl_device_open(&options, NULL, &err), &err);
  xl_set_most_in_flight(1);
  xl_set_eager(true);
}

static void go_deep_and_back(xl_tensor (*operation)(xl_tensor x), float gradient)
{
  xp_error err = {0};
  xl_tensor w = xl_ones(XL_F32, XL_SHAPE(ELEMENTS)), y = w;
  xl_requires_grad(w, true);
  for (int i = 0; i < DEPTH; i++) {
    xl_tensor next = operation(y);
    if (i > 0) {
      xl_free(y);
    }
    y = next;
  }
  xl_backward(xl_sum(y));
  must(xl_error(&err), &err);
  xl_free(y);
  assert_values(xl_slice(xl_grad(w), 0, 0, 2, 1), (const float[]){gradient, gradient}, 2);
  xl_set_most_in_flight(32);
}

static xl_tensor negated(xl_tensor x)
{
  return xl_neg(x);
}

static void a_deep_chain_that_keeps_nothing_needs_memory_for_a_few_gradients(void **state)
{
  (void)state;
  open_small_device(FEW);
  go_deep_and_back(negated, 1);
}

/* Keeps its operand, for a gradient in two steps. */
static xl_tensor absolute(xl_tensor x)
{
  return xl_abs(x);
}

static void a_deep_chain_that_keeps_its_values_needs_a_few_gradients_more(void **state)
{
  (void)state;
  open_small_device(DEPTH + FEW);
  go_deep_and_back(absolute, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(gradients_go_through_the_part_that_was_updated_and_around_it, end_lazy),
      cmocka_unit_test_teardown(what_a_part_is_given_gets_the_gradient_of_the_part, end_lazy),
      cmocka_unit_test_teardown(every_view_takes_part_in_an_update, end_lazy),
      cmocka_unit_test_teardown(a_pass_inside_of_no_grad_knows_of_updates, end_lazy),
      cmocka_unit_test_teardown(memory_without_a_gradient_gets_one_through_a_view, end_lazy),
      cmocka_unit_test_teardown(an_update_that_is_not_recorded_changes_values_and_no_gradients, end_lazy),
      cmocka_unit_test_teardown(what_is_overwritten_has_the_gradient_zero, end_lazy),
      cmocka_unit_test_teardown(detached_memory_has_a_history_of_its_own, end_lazy),
      cmocka_unit_test_teardown(a_view_that_is_made_a_leaf_is_one, end_lazy),
      cmocka_unit_test_teardown(histories_that_lead_to_what_they_were_made_of_are_freed, end_lazy),
      cmocka_unit_test_teardown(a_view_of_very_many_views_is_updated_with_its_gradient, end_lazy),
      cmocka_unit_test_teardown(leaves_and_their_views_are_not_updated, end_lazy),
      cmocka_unit_test_teardown(a_view_that_was_taken_without_recording_is_updated_without_recording, end_lazy),
      cmocka_unit_test_teardown(a_view_that_was_taken_without_recording_is_not_used_after_an_update, end_lazy),
      cmocka_unit_test_teardown(what_a_gradient_keeps_of_a_view_must_not_have_changed, end_lazy),
      cmocka_unit_test_teardown(a_deep_chain_that_keeps_nothing_needs_memory_for_a_few_gradients, end_lazy),
      cmocka_unit_test_teardown(a_deep_chain_that_keeps_its_values_needs_a_few_gradients_more, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
