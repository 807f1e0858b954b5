/* Every allocation behind lazy tensors fails once: nothing crashes, nothing is lost, the caller is told that memory ran
 * out or gets the right values, and afterwards everything works again. */
#include "failing_links.h"

#include <unistd.h>

#include "lazy_testing.h"

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  return fails() ? NULL : count_piece(__real_aligned_alloc(alignment, size));
}

static int runs, failures;
static bool has_failed;    /* in this run: lack of memory was told */
static char problem[1000]; /* of this run: found in another thread, and told in that of the test */

static void wrong(const char *what, const char *more)
{
  if (problem[0] == '\0') {
    snprintf(problem, sizeof problem, "allocation %d: %s%s", first_to_fail, what, more);
  }
}

/* Takes what a call or a thread tells. */
static bool fine(xp_status status, const xp_error *err)
{
  if (status != XP_OK) {
    has_failed = true;
    if (status != XP_ERR_MEMORY && (status != XP_ERR_PEER || strstr(err->text, "RESOURCE_EXHAUSTED") == NULL)) {
      wrong("another error than lack of memory: ", err->text);
    }
  }
  return status == XP_OK;
}

static void take_error(void)
{
  xp_error err = {0};
  fine(xl_error(&err), &err);
}

/* The value is right, unless the run has failed: an error is told once, and what comes behind it is void. */
static void expect(xl_tensor tensor, double want)
{
  xp_error err = {0};
  double value;
  if (has_failed) {
    return;
  }
  if (tensor.index == 0) {
    take_error();
    if (!has_failed) {
      wrong("a tensor is missing, and nobody says why", "");
    }
  } else if (fine(xl_item(tensor, &value, &err), &err) && value != want) {
    wrong("a value is not right", "");
  }
}

static xl_tensor sum_of(xl_tensor x)
{
  return has_failed ? XL_NONE : xl_sum(x);
}

static void sync_here(void)
{
  xp_error err = {0};
  fine(xl_sync(true, &err), &err);
}

static xl_tensor two_by_two(void)
{
  return xl_from_host(XL_F32, XL_SHAPE(2, 2), ((const float[]){1, 2, 3, 4}));
}

/* ---------------------------------------------------------------- what is tried */

static void update_through_views(void)
{
  XL_POOL
  {
    xl_tensor x = two_by_two(), row = xl_select(xl_t(x), 0, 1); /* 2, 4 */
    xl_add_scalar_(row, 10);
    expect(sum_of(x), 30);
    expect(sum_of(row), 26);
  }
}

static void train(void)
{
  XL_POOL
  {
    xl_tensor x = two_by_two(), w = two_by_two(), loss = XL_NONE;
    xl_requires_grad(w, true);
    XP_TRACE("fwd") {
      loss = xl_sum(xl_relu(xl_mm(x, w))); /* 7 10 15 22 */
    }
    xl_backward(loss); /* of w: 4 4 6 6 */
    XL_NO_GRAD
    {
      xl_add_scaled_(w, xl_grad(w), -0.5);
    }
    sync_here();
    expect(loss, 54);
    expect(sum_of(w), 0);
  }
}

static void train_through_views(void)
{
  XL_POOL
  {
    xl_tensor w = two_by_two(), x = XL_NONE, column = XL_NONE;
    xl_requires_grad(w, true);
    x = xl_mul(w, w); /* 1 4 9 16 */
    column = xl_select(x, 1, 0);
    xl_mul_(xl_select(xl_t(x), 0, 1), xl_clone(column)); /* 1 4, 9 144 */
    xl_mul_scalar_(column, 2);                           /* 2 4, 18 144 */
    expect(sum_of(x), 168);
    take_error();
    if (!has_failed) { /* of 2 a^2 + b^2 a^2 in the first row: 4 a + 2 b^2 a, and 2 a^2 b */
      xl_backward(xl_sum(x));
    }
    take_error();
    expect(has_failed ? XL_NONE : xl_sum(xl_grad(w)), 12 + 4 + 108 + 72);
  }
}

static void write_down(void)
{
  xp_error err = {0};
  char saved[64];
  snprintf(saved, sizeof saved, "/tmp/xlaprof-test-%ld.hlo.pb", (long)getpid());
  XL_POOL
  {
    xl_tensor x = xl_mul_scalar(two_by_two(), 2.5);
    xl_set_op_name_prefix(x, "Scale.", 1);
    take_error();
    char *graph = xl_graph_text(&x, x.index != 0, &err);
    fine(graph != NULL ? XP_OK : err.status, &err);
    char *program = xl_program_text(&x, x.index != 0, &err);
    fine(program != NULL ? XP_OK : err.status, &err);
    fine(xl_program_save(NULL, 0, saved, &err), &err);
    unlink(saved);
    __real_free(program); /* the C library made them, whose calls are not counted */
    __real_free(graph);
  }
}

static void run_eagerly(void)
{
  xp_error err = {0};
  XL_POOL
  {
    xl_set_eager(true);
    xl_tensor x = xl_add(two_by_two(), two_by_two());
    if (fine(xl_compiled_begin("twice", &err), &err)) {
      x = xl_add(x, x);
      fine(xl_compiled_end(&err), &err);
    }
    take_error();
    xl_set_eager(false);
    expect(sum_of(x), 40);
  }
}

static xp_status fetch(void *context, xl_host_array *arrays, xp_error *err)
{
  static const float values[2] = {3, 4};
  int *left = context;
  (void)err;
  arrays[0] = (xl_host_array){XL_F32, XL_SHAPE(2), values};
  return (*left)-- > 0 ? XP_OK : XP_ERR_EMPTY;
}

static void load(void)
{
  int left = 2;
  const xl_loader_options options = {
      .size = sizeof options, .array_count = 1, .fetch = fetch, .context = &left, .batches_ahead = 1};
  xl_loader *loader = NULL;
  xp_error err = {0};
  if (!fine(xl_loader_open(&options, &loader, &err), &err)) {
    return;
  }
  XL_POOL
  {
    xl_tensor batch;
    xp_status status;
    while ((status = xl_loader_next(loader, &batch, &err)) == XP_OK) {
      expect(sum_of(batch), 7);
    }
    fine(status == XP_ERR_EMPTY ? XP_OK : status, &err);
  }
  xl_loader_close(loader);
}

/* What goes to the host in between, has many inputs, or random numbers. */
static void move(void)
{
  XL_POOL
  {
    xl_tensor x = two_by_two(), many[10];
    for (int i = 0; i < 10; i++) {
      many[i] = x;
    }
    xl_tensor wide = xl_cat(many, 10, 1), random = xl_rand(XL_F32, XL_SHAPE(4));
    expect(sum_of(wide), 100);
    expect(has_failed ? XL_NONE : xl_all(xl_lt_scalar(random, 1)), 1);
    expect(has_failed ? XL_NONE : xl_sum(xl_nonzero(xl_gt_scalar(x, 2))), 3); /* 1 0, 1 1 */
  }
}

static void classify(void)
{
  static const int64_t labels[2] = {0, 1};
  XL_POOL
  {
    xl_tensor x = xl_zeros(XL_F32, XL_SHAPE(2, 4)), y = xl_from_host(XL_I64, XL_SHAPE(2), labels);
    xl_requires_grad(x, true);
    xl_backward(xl_cross_entropy(x, y));
    take_error();
    xl_tensor slope = has_failed ? XL_NONE : xl_grad(x); /* (1/4 - 1)/2 at the labels, 1/8 elsewhere */
    expect(has_failed ? XL_NONE : xl_select(xl_select(slope, 0, 0), 0, 0), -0.375);
    expect(has_failed ? XL_NONE : xl_select(xl_select(slope, 0, 1), 0, 3), 0.125);
  }
}

/* ---------------------------------------------------------------- runs */

static void (*part)(void);

static void *use_runtime(void *context)
{
  (void)context;
  xl_set_ir_debug(true);
  part();
  take_error();
  return NULL;
}

/* In a thread of its own, since a thread keeps memory until it ends. */
static void use_once(void)
{
  pthread_t thread;
  xp_error err = {0};
  has_failed = false;
  problem[0] = '\0';
  assert_int_equal(__real_pthread_create(&thread, NULL, use_runtime, NULL), 0);
  pthread_join(thread, NULL);
  if (problem[0] != '\0') {
    fail_msg("%s", problem);
  }
  first_to_fail = 0;
  const int calls_of_part = atomic_load(&calls);
  runs++;
  failures += has_failed;
  xl_wait(&err); /* errors of work that nobody asked for stay until here */
  xl_tensor x = two_by_two();
  assert_true(value_of(xl_sum(xl_add(x, x))) == 20);
  must(xl_error(&err), &err);
  assert_int_equal(end_lazy(NULL), 0);
  atomic_store(&calls, calls_of_part);
}

static void fail_each_of(void (*tried)(void))
{
  part = tried;
  runs = failures = 0;
  use_once(); /* what is set up once a process is there then */
  assert_int_equal(failures, 0);
  fail_each(use_once);
  assert_true(failures > runs / 2);
}

#define SURVIVES(tried)                                                                                                \
  static void tried##_survives_each_allocation_that_fails(void **state)                                                \
  {                                                                                                                    \
    (void)state;                                                                                                       \
    fail_each_of(tried);                                                                                               \
  }
SURVIVES(update_through_views)
SURVIVES(train_through_views)
SURVIVES(train)
SURVIVES(write_down)
SURVIVES(run_eagerly)
SURVIVES(load)
SURVIVES(move)
SURVIVES(classify)

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(update_through_views_survives_each_allocation_that_fails),
      cmocka_unit_test(train_through_views_survives_each_allocation_that_fails),
      cmocka_unit_test(train_survives_each_allocation_that_fails),
      cmocka_unit_test(write_down_survives_each_allocation_that_fails),
      cmocka_unit_test(run_eagerly_survives_each_allocation_that_fails),
      cmocka_unit_test(load_survives_each_allocation_that_fails),
      cmocka_unit_test(move_survives_each_allocation_that_fails),
      cmocka_unit_test(classify_survives_each_allocation_that_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
