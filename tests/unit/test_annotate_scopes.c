/* Scopes: their text and numbers, what frontends hook in, steps' barriers, and ends at the wrong place.
 *
 * The numbers are those of torch/csrc/lazy/core/ir_metadata.cpp: one counter for all names in one instance of a parent.
 */
#include "recorded.h"

static void assert_scope(const char *want)
{
  char text[256];
  assert_int_equal(xp_scope_current(text, sizeof text), strlen(want));
  assert_string_equal(text, want);
}

static int reset_scopes(void **state)
{
  (void)state;
  return xp_scope_reset(NULL) == XP_OK && xp_scope_depth() == 0 ? 0 : -1;
}

static void numbers_count_all_scopes_of_a_parent(void **state)
{
  (void)state;
  assert_scope("");
  XP_TRACE("a") {
    assert_scope("a.1");
    XP_TRACE("b") {
      assert_scope("a.1/b.1");
    }
    XP_TRACE("c") {
      assert_scope("a.1/c.2");
    }
    assert_int_equal(xp_scope_depth(), 1);
  }
  assert_scope("");
  XP_TRACE("a") {
    XP_TRACE("x") {
      assert_scope("a.2/x.1");
    }
  }
}

static void siblings_of_one_name_have_numbers_of_their_own(void **state)
{
  (void)state;
  XP_TRACE("fc1") {
    assert_scope("fc1.1");
  }
  XP_TRACE("fc2") {
    assert_scope("fc2.2");
  }
  XP_TRACE("fc1") {
    assert_scope("fc1.3");
  }
}

static void names_are_the_scope_without_its_numbers(void **state)
{
  (void)state;
  char text[64];
  assert_int_equal(xp_scope_names(text, sizeof text), 0);
  XP_TRACE("a") {
    XP_TRACE("v1.2/x") {
      assert_int_equal(xp_scope_names(text, sizeof text), strlen("a/v1.2/x"));
      assert_string_equal(text, "a/v1.2/x");
      assert_int_equal(xp_scope_names(text, 4), strlen("a/v1.2/x"));
      assert_string_equal(text, "a/v");
    }
  }
}

static xp_status on_barrier_that_asks_for_the_step(void *context, xp_error *err)
{
  (void)err;
  return xp_step_current(context) ? XP_OK : XP_ERR_IDLE;
}

static void the_innermost_open_step_is_known_until_its_barrier_returned(void **state)
{
  (void)state;
  xp_open_step outer, inner, in_barrier = {.number = -1};
  assert_false(xp_step_current(&outer));
  xp_set_step_barrier(&(xp_step_barrier){on_barrier_that_asks_for_the_step, &in_barrier});
  xp_trace step = xp_step_begin("epoch", 7);
  XP_TRACE("a") {
    assert_true(xp_step_current(&outer));
    assert_int_equal(outer.number, 7);
    const int line = __LINE__ + 1;
    XP_STEP("train", 8) {
      assert_true(xp_step_current(&inner));
      assert_int_equal(inner.number, 8);
      assert_int_not_equal(inner.serial, outer.serial);
      assert_int_equal(inner.len, 5);
      assert_memory_equal(inner.name, "train", 5);
      assert_string_equal(inner.place->file, __FILE__);
      assert_string_equal(inner.place->function, __func__);
      assert_int_equal(inner.place->line, line);
    }
    assert_int_equal(in_barrier.number, 8);
    assert_int_equal(in_barrier.place->line, line);
  }
  assert_int_equal(xp_trace_end(step, NULL), XP_OK);
  assert_int_equal(in_barrier.number, 7);
  assert_null(in_barrier.place); /* xp_step_begin tells none */
  assert_false(xp_step_current(&inner));
  xp_set_step_barrier(NULL);
}

static void numbers_are_the_same_while_a_session_records(void **state)
{
  (void)state;
  start(1, false, MIB);
  XP_STEP("train", 0) {
    XP_TRACE("fwd", XP_INT("k", 1)) {
      assert_scope("train.1/fwd.1");
    }
    XP_REGION("no scope") {
      assert_scope("train.1");
    }
    xp_trace trace = xp_trace_begin_copy("bwd", 3, NULL, 0);
    assert_scope("train.1/bwd.2");
    end(trace);
  }
  xp_recording_free(stop());
}

static void *look_at_scope(void *context)
{
  (void)context;
  assert_scope("");
  XP_TRACE("t") {
    assert_scope("t.1");
  }
  return NULL;
}

static void each_thread_has_its_own_scopes(void **state)
{
  (void)state;
  XP_TRACE("main") {
    run_in_thread(look_at_scope, NULL);
  }
}

static void text_is_cut_where_its_room_ends(void **state)
{
  (void)state;
  XP_TRACE("outer") {
    XP_TRACE("inner") {
      char text[10];
      assert_int_equal(xp_scope_current(text, sizeof text), 15); /* outer.1/inner.1 */
      assert_string_equal(text, "outer.1/i");
      assert_int_equal(xp_scope_current(NULL, 0), 15);
      assert_int_equal(xp_scope_current(text, 1), 15);
      assert_string_equal(text, "");
    }
  }
}

static void reset_needs_an_empty_scope_and_says_so_as_torch_xla_does(void **state)
{
  (void)state;
  xp_error err;
  XP_TRACE("train") {
    XP_TRACE("skipped") {
    }
    XP_TRACE("forward") {
      assert_int_equal(xp_scope_reset(&err), XP_ERR_USAGE);
      assert_string_equal(err.text, "Expecting scope to be empty but it is train.1/forward.2");
    }
  }
  assert_int_equal(xp_scope_reset(&err), XP_OK);
  XP_TRACE("again") {
    assert_scope("again.1");
  }
}

static void deep_stacks_refuse_more_and_stay_whole(void **state)
{
  (void)state;
  enum { DEEP = 40000 };
  xp_trace *traces = calloc(DEEP, sizeof *traces);
  assert_non_null(traces);
  start(1, false, (uint64_t)4 * MIB);
  uint64_t misuse = xp_misuse_count();
  for (int i = 0; i < DEEP; i++) {
    traces[i] = xp_trace_begin("deep");
  }
  size_t depth = xp_scope_depth();
  assert_in_range(depth, 1000, DEEP - 1);
  assert_int_equal(xp_misuse_count() - misuse, DEEP - depth);
  for (int i = DEEP; i > 0; i--) {
    end(traces[i - 1]);
  }
  assert_int_equal(xp_scope_depth(), 0);
  xp_recording *recording = stop();
  assert_int_equal(recording->threads[0].count, depth);
  xp_recording_free(recording);
  free(traces);
}

static void copied_names_that_find_no_room_are_refused(void **state)
{
  (void)state;
  enum { MANY = 40 };
  xp_trace traces[MANY];
  char *name = malloc(65535);
  assert_non_null(name);
  memset(name, 'n', 65535);
  uint64_t misuse = xp_misuse_count();
  for (int i = 0; i < MANY; i++) {
    traces[i] = xp_trace_begin_copy(name, 65535, NULL, 0);
  }
  size_t depth = xp_scope_depth();
  assert_in_range(depth, 10, MANY - 1);
  assert_int_equal(xp_misuse_count() - misuse, MANY - depth);
  for (int i = MANY; i > 0; i--) {
    end(traces[i - 1]);
  }
  free(name);
}

/* ---------------------------------------------------------------- misplaced ends */

static void an_end_out_of_order_names_both_traces_and_ends_nothing(void **state)
{
  (void)state;
  xp_error err;
  xp_trace outer = xp_trace_begin("outer");
  xp_trace inner = xp_trace_begin_copy("inner?", 5, NULL, 0);
  assert_int_equal(xp_trace_end(outer, &err), XP_ERR_USAGE);
  assert_contains(err.text, "\"outer\"");
  assert_contains(err.text, "\"inner\"");
  assert_scope("outer.1/inner.1");
  end(inner);
  end(outer);
}

static void a_second_end_is_told(void **state)
{
  (void)state;
  xp_error err;
  xp_trace outer = xp_trace_begin("outer");
  xp_trace inner = xp_trace_begin("inner");
  end(inner);
  assert_int_equal(xp_trace_end(inner, &err), XP_ERR_USAGE);
  assert_contains(err.text, "ended already");
  assert_contains(err.text, "\"outer\"");
  xp_trace other = xp_trace_begin("other"); /* at the place of inner */
  assert_int_equal(xp_trace_end(inner, &err), XP_ERR_USAGE);
  assert_contains(err.text, "\"other\"");
  end(other);
  end(outer);
}

static void *end_of_other(void *context)
{
  xp_error err;
  XP_TRACE("of this one") {
    assert_int_equal(xp_trace_end(*(xp_trace *)context, &err), XP_ERR_USAGE);
    assert_contains(err.text, "\"of main\"");
    assert_contains(err.text, "\"of this one\"");
    assert_scope("of this one.1");
  }
  assert_int_equal(xp_trace_end(*(xp_trace *)context, &err), XP_ERR_USAGE);
  assert_contains(err.text, "\"of main\"");
  assert_contains(err.text, "no trace is open");
  return NULL;
}

static void an_end_on_another_thread_names_both_traces_and_ends_nothing(void **state)
{
  (void)state;
  xp_trace trace = xp_trace_begin_copy("of main", 7, NULL, 0);
  run_in_thread(end_of_other, &trace);
  assert_scope("of main.1");
  end(trace);
}

static void *begin_only(void *context)
{
  *(xp_trace *)context = xp_trace_begin("left open");
  return NULL;
}

static void a_trace_of_a_thread_that_ended_cannot_end(void **state)
{
  (void)state;
  xp_error err;
  xp_trace trace;
  run_in_thread(begin_only, &trace);
  assert_int_equal(xp_trace_end(trace, &err), XP_ERR_USAGE);
  assert_contains(err.text, "another thread");
}

static void an_unset_trace_ends_without_effect(void **state)
{
  (void)state;
  xp_trace none = {0};
  assert_int_equal(xp_trace_end(none, NULL), XP_OK);
  xp_trace_add(none, XP_INT("k", 1));
}

static void *leave_open_in_block(void *context)
{
  (void)context;
  uint64_t before = xp_misuse_count();
  xp_trace inner = {0};
  XP_TRACE("outer") {
    inner = xp_trace_begin("inner");
  }
  assert_int_equal(xp_misuse_count() - before, 1);
  assert_scope("outer.1/inner.1");
  end(inner);
  assert_scope("outer.1");
  return NULL;
}

static void a_trace_left_open_in_a_block_is_counted(void **state)
{
  (void)state;
  run_in_thread(leave_open_in_block, NULL); /* whose stack goes with it */
}

/* ---------------------------------------------------------------- hooks and barriers */

typedef struct {
  char text[512];
  size_t len;
} story;

static void tell(story *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void tell(story *s, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  s->len += (size_t)vsnprintf(s->text + s->len, sizeof s->text - s->len, format, args);
  va_end(args);
}

static void on_enter(void *context, const char *name, size_t len)
{
  char scope[128];
  xp_scope_current(scope, sizeof scope);
  tell(context, "+%.*s(%s) ", (int)len, name, scope);
}

static void on_leave(void *context)
{
  char scope[128];
  xp_scope_current(scope, sizeof scope);
  tell(context, "-(%s) ", scope);
}

static xp_status on_barrier(void *context, xp_error *err)
{
  char scope[128];
  xp_scope_current(scope, sizeof scope);
  tell(context, "wait(%s) ", scope);
  sleep_ms(10);
  return xp_scope_reset(err);
}

static void a_hook_hears_of_every_push_and_pop(void **state)
{
  (void)state;
  for (int recording = 0; recording < 2; recording++) {
    story s = {{0}, 0};
    xp_set_scope_hook(&(xp_scope_hook){on_enter, on_leave, &s});
    xp_scope_reset(NULL);
    if (recording) {
      start(1, false, MIB);
    }
    XP_STEP("s", 1) {
      XP_TRACE("a") {
      }
      XP_REGION("r") {
      }
      end(xp_trace_begin_copy("bcd", 1, NULL, 0));
    }
    xp_set_scope_hook(NULL);
    XP_TRACE("unheard") {
    }
    assert_string_equal(s.text, "+s(s.1) +a(s.1/a.1) -(s.1/a.1) +b(s.1/b.2) -(s.1/b.2) -(s.1) ");
    if (recording) {
      xp_recording *taken = stop();
      events list = events_of(taken, 0);
      assert_names(&list, "s,a,r,b,unheard");
      events_free(&list);
      xp_recording_free(taken);
    }
  }
}

static void a_barrier_runs_after_the_scope_and_within_the_event(void **state)
{
  (void)state;
  story s = {{0}, 0};
  xp_set_scope_hook(&(xp_scope_hook){on_enter, on_leave, &s});
  xp_set_step_barrier(&(xp_step_barrier){on_barrier, &s});
  start(1, false, MIB);
  XP_STEP("step", 1) {
  }
  xp_set_scope_hook(NULL);
  xp_set_step_barrier(NULL);
  XP_STEP("without", 2) {
  }
  xp_recording *recording = stop();
  assert_string_equal(s.text, "+step(step.1) -(step.1) wait() ");
  events list = events_of(recording, 0);
  assert_names(&list, "step,without");
  assert_true(list.all[0].dur_ps >= 9900000000);
  events_free(&list);
  xp_recording_free(recording);
}

static xp_status on_barrier_that_fails(void *context, xp_error *err)
{
  ++*(int *)context;
  err->status = XP_ERR_TIMEOUT;
  strcpy(err->text, "the device does not answer");
  return XP_ERR_TIMEOUT;
}

static void a_barrier_that_fails_gives_its_status_and_the_step_ends(void **state)
{
  (void)state;
  int calls = 0;
  xp_error err;
  xp_set_step_barrier(&(xp_step_barrier){on_barrier_that_fails, &calls});
  xp_trace step = xp_step_begin("s", 1);
  assert_int_equal(xp_trace_end(step, &err), XP_ERR_TIMEOUT);
  assert_string_equal(err.text, "the device does not answer");
  assert_int_equal(calls, 1);
  assert_int_equal(xp_scope_depth(), 0);
  xp_set_step_barrier(NULL);
}

static xp_status on_barrier_with_scopes(void *context, xp_error *err)
{
  (void)context;
  (void)err;
  XP_TRACE("sync") {
    assert_scope("sync.2");
  }
  return XP_OK;
}

static void scopes_of_a_barrier_are_numbered_in_the_parent(void **state)
{
  (void)state;
  xp_set_step_barrier(&(xp_step_barrier){on_barrier_with_scopes, NULL});
  XP_STEP("s", 1) {
  }
  xp_set_step_barrier(NULL);
  XP_TRACE("after") {
    assert_scope("after.3");
  }
}

static xp_status on_barrier_that_leaves_a_trace(void *context, xp_error *err)
{
  (void)err;
  *(xp_trace *)context = xp_trace_begin("left");
  return XP_OK;
}

static void a_barrier_that_leaves_a_trace_open_is_told_and_not_called_again(void **state)
{
  (void)state;
  xp_error err;
  xp_trace left;
  xp_set_step_barrier(&(xp_step_barrier){on_barrier_that_leaves_a_trace, &left});
  xp_trace step = xp_step_begin("step", 1);
  assert_int_equal(xp_trace_end(step, &err), XP_ERR_USAGE);
  assert_contains(err.text, "\"step\"");
  assert_contains(err.text, "\"left\"");
  end(left);
  end(step);
  assert_int_equal(xp_scope_depth(), 0);
  xp_set_step_barrier(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(numbers_count_all_scopes_of_a_parent, reset_scopes),
      cmocka_unit_test_setup(siblings_of_one_name_have_numbers_of_their_own, reset_scopes),
      cmocka_unit_test_setup(names_are_the_scope_without_its_numbers, reset_scopes),
      cmocka_unit_test_setup(the_innermost_open_step_is_known_until_its_barrier_returned, reset_scopes),
      cmocka_unit_test_setup(numbers_are_the_same_while_a_session_records, reset_scopes),
      cmocka_unit_test_setup(each_thread_has_its_own_scopes, reset_scopes),
      cmocka_unit_test_setup(text_is_cut_where_its_room_ends, reset_scopes),
      cmocka_unit_test_setup(reset_needs_an_empty_scope_and_says_so_as_torch_xla_does, reset_scopes),
      cmocka_unit_test_setup(deep_stacks_refuse_more_and_stay_whole, reset_scopes),
      cmocka_unit_test_setup(copied_names_that_find_no_room_are_refused, reset_scopes),
      cmocka_unit_test_setup(an_end_out_of_order_names_both_traces_and_ends_nothing, reset_scopes),
      cmocka_unit_test_setup(a_second_end_is_told, reset_scopes),
      cmocka_unit_test_setup(an_end_on_another_thread_names_both_traces_and_ends_nothing, reset_scopes),
      cmocka_unit_test_setup(a_trace_of_a_thread_that_ended_cannot_end, reset_scopes),
      cmocka_unit_test_setup(an_unset_trace_ends_without_effect, reset_scopes),
      cmocka_unit_test_setup(a_trace_left_open_in_a_block_is_counted, reset_scopes),
      cmocka_unit_test_setup(a_hook_hears_of_every_push_and_pop, reset_scopes),
      cmocka_unit_test_setup(a_barrier_runs_after_the_scope_and_within_the_event, reset_scopes),
      cmocka_unit_test_setup(a_barrier_that_fails_gives_its_status_and_the_step_ends, reset_scopes),
      cmocka_unit_test_setup(scopes_of_a_barrier_are_numbered_in_the_parent, reset_scopes),
      cmocka_unit_test_setup(a_barrier_that_leaves_a_trace_open_is_told_and_not_called_again, reset_scopes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
