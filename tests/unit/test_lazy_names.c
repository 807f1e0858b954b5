/* Names: from the trace that is open when an operation is called to the instruction that the device runs.
 *
 * What is right follows torch_xla/csrc/lowering_context.cpp: op_type is the operation with ':' as '_', op_name the
 * scope, a '/', and op_type.
 */
#include "lazy_testing.h"
#include "ropes.h"
#include "session/profile.h"
#include "xlaprof/session.h"

enum { FWD_LINE = __LINE__ + 9, OPT_LINE = __LINE__ + 17 };

/* A training step; what it built is pending behind it. */
static void train(xl_tensor x, xl_tensor w, const char *forward)
{
  XL_POOL
  {
    xl_tensor loss = XL_NONE;
    XP_TRACE(forward) {
      loss = xl_mean(xl_relu(xl_mm(x, w)));
    }
    XP_TRACE("bwd") {
      xl_backward(loss);
    }
    XP_TRACE("opt") {
      XL_NO_GRAD
      {
        xl_add_scaled_(w, xl_grad(w), -0.1);
      }
    }
    xl_zero_grad(w);
  }
}

static void make(xl_tensor *x, xl_tensor *w)
{
  static const float values[16] = {1, 2, 3, 4, 5, 6, 7, 8};
  *x = xl_from_host(XL_F32, XL_SHAPE(4, 4), values);
  *w = xl_from_host(XL_F32, XL_SHAPE(4, 4), values);
  xl_requires_grad(*w, true);
}

static char *program_now(void)
{
  xp_error err = {0};
  char *text = xl_program_text(NULL, 0, &err);
  if (text == NULL) {
    fail_msg("%s", err.text);
  }
  return text;
}

static size_t count_of(const char *text, const char *part)
{
  size_t count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    count++;
  }
  return count;
}

/* Every instruction has one of some scopes, but for parameters and the tuple of results. */
static void assert_scopes(const char *program, const char *const *scopes)
{
  size_t scoped = 0;
  for (size_t i = 0; scopes[i] != NULL; i++) {
    char part[64];
    snprintf(part, sizeof part, "op_name=\"%s/", scopes[i]);
    const size_t here = count_of(program, part);
    if (here == 0) {
      fail_msg("no instruction has the scope %s in\n%s", scopes[i], program);
    }
    scoped += here;
  }
  const size_t arrays = count_of(program, "op_name=\"xla__device_data\"");
  assert_int_equal(scoped + arrays, count_of(program, "op_name="));
  assert_int_equal(scoped + arrays + 1, count_of(program, "\n  %") + count_of(program, "\n  ROOT %"));
}

static void every_instruction_has_the_scope_of_its_call_and_the_backward_pass_that_of_the_forward(void **state)
{
  (void)state;
  xl_tensor x, w;
  make(&x, &w);
  xl_set_ir_debug(true);
  train(x, w, "fwd");
  char *program = program_now();
  assert_scopes(program, (const char *const[]){"fwd", "bwd/fwd", "opt", NULL});
  assert_contains(program, "op_type=\"aten__mm\" op_name=\"fwd/aten__mm\"");
  assert_contains(program, "op_name=\"bwd/fwd/aten__threshold_backward\"");
  free(program);
}

static void a_backward_pass_outside_of_traces_has_the_forward_scopes(void **state)
{
  (void)state;
  xl_tensor x, w, loss = XL_NONE;
  make(&x, &w);
  xl_set_ir_debug(true);
  XP_TRACE("model") {
    XP_TRACE("head") {
      loss = xl_mean(xl_mm(x, w));
    }
  }
  xl_backward(loss);
  char *program = program_now();
  assert_scopes(program, (const char *const[]){"model/head", NULL});
  free(program);
}

static void a_closed_gate_gives_no_names_and_no_error(void **state)
{
  (void)state;
  xl_tensor x, w;
  make(&x, &w);
  train(x, w, "fwd");
  char *program = program_now();
  assert_null(strstr(program, "metadata"));
  free(program);
  sync_now();
}

static void a_program_says_where_in_the_source_an_operation_was_called(void **state)
{
  (void)state;
  xl_tensor x, w;
  make(&x, &w);
  xl_set_ir_debug(true);
  train(x, w, "fwd");
  char *program = program_now(), part[128];
  snprintf(part, sizeof part, "op_name=\"fwd/aten__mm\" source_file=\"%s\" source_line=%d", __FILE__, FWD_LINE);
  assert_contains(program, part);
  snprintf(part, sizeof part, "op_name=\"opt/aten__add\" source_file=\"%s\" source_line=%d", __FILE__, OPT_LINE);
  assert_contains(program, part);
  assert_contains(program, "\n1 \"train\"\n"); /* the function */
  free(program);
}

static void another_name_is_another_program(void **state)
{
  (void)state;
  xl_tensor x, w;
  make(&x, &w);
  xl_set_ir_debug(true);
  train(x, w, "fwd");
  sync_now();
  train(x, w, "fwd");
  sync_now();
  assert_int_equal(xl_cache().misses, 1);
  train(x, w, "forward");
  char *program = program_now();
  assert_contains(program, "op_name=\"forward/aten__mm\"");
  free(program);
  sync_now();
  assert_int_equal(xl_cache().misses, 2);
  xl_set_ir_debug(false);
  train(x, w, "forward");
  sync_now();
  train(x, w, "fwd");
  sync_now();
  assert_int_equal(xl_cache().misses, 3); /* without names they are one */
}

static void colons_of_a_name_become_underlines(void **state)
{
  (void)state;
  xl_tensor x, w;
  make(&x, &w);
  xl_set_ir_debug(true);
  XP_TRACE("net::block:1") {
    x = xl_relu(x);
  }
  char *program = program_now();
  assert_contains(program, "op_name=\"net__block_1/aten__relu\"");
  free(program);
}

static void a_custom_prefix_stands_in_place_of_the_scope(void **state)
{
  (void)state;
  xl_tensor x, w;
  make(&x, &w);
  xl_set_ir_debug(true);
  XP_TRACE("fwd") {
    xl_tensor y = xl_mm(x, w), z = xl_relu(y);
    assert_true(xl_set_op_name_prefix(y, "Linear[0].", 1));
    assert_true(xl_set_op_name_prefix(z, "ReLU[1]/", 0));
    assert_false(xl_set_op_name_prefix(x, "data", 1)); /* it is an array already */
  }
  char *program = program_now();
  assert_contains(program, "op_name=\"Linear[0].aten__mm\" source_file=");
  assert_contains(program, "op_type=\"aten__relu\" op_name=\"ReLU[1]/aten__relu\"}");
  assert_null(strstr(program, "fwd/"));
  free(program);
}

static void numbers_of_scopes_are_written_on_request_as_torch_xla_does(void **state)
{
  (void)state;
  setenv("XL_SCOPE_NUMBERING", "1", 1);
  xp_scope_reset(NULL); /* numbers count from here */
  xl_tensor x, w;
  make(&x, &w);
  xl_set_ir_debug(true);
  XP_TRACE("fwd") {
    XP_TRACE("a") {
      x = xl_relu(x);
    }
  }
  char *program = program_now();
  assert_contains(program, "op_name=\"fwd.1/a.1/aten__relu\"");
  free(program);
  unsetenv("XL_SCOPE_NUMBERING");
}

/* ---------------------------------------------------------------- in a capture */

/* A session of this process, from its start to the capture that it made. */
typedef struct {
  xp_profile *profile;
  xp_str bytes;
  xp_capture *capture;
} captured;

static void start_session(void)
{
  const xp_session_options options = XP_SESSION_OPTIONS_INIT;
  xp_error err = {0};
  must(xp_session_start(&options, &err), &err);
}

static captured stop_session(void)
{
  captured c;
  xp_error err = {0};
  must(xl_wait(&err), &err);
  must(xp_session_stop(&c.profile, &err), &err);
  const xp_rope *space = xp_profile_space(c.profile, &err);
  must(space != NULL ? XP_OK : err.status, &err);
  c.capture = load_rope(space, &c.bytes);
  return c;
}

static void captured_free(captured *c)
{
  xp_capture_free(c->capture);
  free((void *)(uintptr_t)c->bytes.ptr);
  xp_profile_free(c->profile);
}

/* Events of a line of the device's plane. */
static const xp_line *device_line(const xp_capture *capture, const char *name)
{
  const xp_plane *plane = plane_of(capture, "/device:CUSTOM:xlaprof:0");
  assert_non_null(plane);
  for (size_t i = 0; i < plane->line_count; i++) {
    if (xp_str_is(plane->lines[i].name, name)) {
      return &plane->lines[i];
    }
  }
  return NULL;
}

static size_t events_named(const xp_line *line, const char *name)
{
  size_t count = 0;
  for (size_t i = 0; line != NULL && i < line->count; i++) {
    const xp_event_meta *meta = &line->plane->event_meta[line->meta[i] & XP_EVENT_META_MASK];
    count += xp_str_is(meta->name, name) || xp_str_starts(meta->display_name, name);
  }
  return count;
}

static void a_capture_has_the_scopes_and_the_step_on_the_device(void **state)
{
  (void)state;
  xl_tensor x, w;
  make(&x, &w);
  xl_set_ir_debug(true);
  start_session();
  for (int i = 0; i < 2; i++) {
    XP_STEP("train", i) {
      train(x, w, "fwd");
    }
  }
  captured c = stop_session();
  assert_int_equal(device_line(c.capture, "XLA Modules")->count, 2);
  assert_int_equal(device_line(c.capture, "Steps")->count, 2);
  const xp_line *scopes = device_line(c.capture, "Framework Name Scope");
  assert_int_equal(events_named(scopes, "train"), 2);
  assert_true(events_named(scopes, "fwd") >= 2);
  assert_true(events_named(scopes, "opt") >= 2);
  captured_free(&c);
}

/* Each round of a loop has a step of each name, with the loop's number. */
static void steps_with_the_same_number_are_different_steps_on_the_device(void **state)
{
  (void)state;
  xl_tensor x, w;
  make(&x, &w);
  xl_set_ir_debug(true);
  start_session();
  for (int i = 0; i < 2; i++) {
    XP_STEP("train", i) {
      train(x, w, "fwd");
    }
    XP_STEP("eval", i) {
      train(x, w, "fwd");
    }
  }
  captured c = stop_session();
  const xp_line *steps = device_line(c.capture, "Steps");
  assert_int_equal(steps->count, 4);
  assert_int_equal(events_named(steps, "0"), 2);
  assert_int_equal(events_named(steps, "1"), 2);
  captured_free(&c);
}

static int64_t flow_stat(const xp_line *line, size_t i, xp_key key)
{
  xp_event_cursor cursor = xp_event_cursor_open(line);
  xp_stat stat = {.type = XP_STAT_NONE};
  return xp_stats_find(xp_event_stats(&cursor, i), key, &stat) ? xp_stat_int(&stat, -1) : -1;
}

/* The k-th event of a name on the thread that records. */
static size_t host_event(const xp_capture *capture, const char *name, size_t k, const xp_line **line)
{
  const xp_plane *host = plane_of(capture, "/host:CPU");
  assert_non_null(host);
  for (size_t l = 0; l < host->line_count; l++) {
    *line = &host->lines[l];
    for (size_t i = 0; i < host->lines[l].count; i++) {
      if (xp_str_is(xp_event_name(*line, i), name) && k-- == 0) {
        return i;
      }
    }
  }
  fail_msg("there is no event %s", name);
  return 0;
}

/* So that readers know which call launched what, however many devices there are; and what the host waited for. */
static void a_capture_links_runs_to_their_launches_and_has_the_wait_for_them(void **state)
{
  (void)state;
  xl_device_options device = XL_DEVICE_OPTIONS_INIT;
  xp_error err = {0};
  device.options = (const char *const[]){"launch_latency_us", "5000", NULL};
  must(xl_device_open(&device, NULL, &err), &err);
  xl_tensor x = vector(1, (const float[]){1});
  start_session();
  for (int i = 0; i < 2; i++) {
    xl_add_(x, x);
    must(xl_sync(false, &err), &err);
  }
  captured c = stop_session();
  const xp_line *modules = device_line(c.capture, "XLA Modules"), *host;
  assert_int_equal(modules->count, 2);
  for (size_t i = 0; i < 2; i++) {
    const size_t call = host_event(c.capture, "PjRtComputationClient::ExecuteComputation", i, &host);
    assert_true(flow_stat(host, call, XP_KEY_PRODUCER) > 0);
    assert_int_equal(flow_stat(modules, i, XP_KEY_CONSUMER), flow_stat(host, call, XP_KEY_PRODUCER));
    assert_int_equal(flow_stat(modules, i, XP_KEY_CONSUMER_TYPE), flow_stat(host, call, XP_KEY_PRODUCER_TYPE));
  }
  const size_t wait = host_event(c.capture, "Wait for executions in flight", 0, &host);
  assert_true(xp_event_end(host, wait) >= xp_event_end(modules, 1));
  captured_free(&c);
}

static void a_capture_with_a_closed_gate_says_once_how_to_open_it(void **state)
{
  (void)state;
  xl_tensor x, w;
  make(&x, &w);
  start_session();
  for (int i = 0; i < 2; i++) {
    XP_STEP("train", i) {
      train(x, w, "fwd");
    }
  }
  captured c = stop_session();
  assert_true(xp_str_find_text(c.bytes, "no names on the device; set XLA_HLO_DEBUG=1") < c.bytes.len);
  assert_true(device_line(c.capture, "Framework Name Scope") == NULL ||
              device_line(c.capture, "Framework Name Scope")->count == 0);
  captured_free(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(every_instruction_has_the_scope_of_its_call_and_the_backward_pass_that_of_the_forward,
                                end_lazy),
      cmocka_unit_test_teardown(a_backward_pass_outside_of_traces_has_the_forward_scopes, end_lazy),
      cmocka_unit_test_teardown(a_closed_gate_gives_no_names_and_no_error, end_lazy),
      cmocka_unit_test_teardown(a_program_says_where_in_the_source_an_operation_was_called, end_lazy),
      cmocka_unit_test_teardown(another_name_is_another_program, end_lazy),
      cmocka_unit_test_teardown(colons_of_a_name_become_underlines, end_lazy),
      cmocka_unit_test_teardown(a_custom_prefix_stands_in_place_of_the_scope, end_lazy),
      cmocka_unit_test_teardown(numbers_of_scopes_are_written_on_request_as_torch_xla_does, end_lazy),
      cmocka_unit_test_teardown(a_capture_has_the_scopes_and_the_step_on_the_device, end_lazy),
      cmocka_unit_test_teardown(steps_with_the_same_number_are_different_steps_on_the_device, end_lazy),
      cmocka_unit_test_teardown(a_capture_links_runs_to_their_launches_and_has_the_wait_for_them, end_lazy),
      cmocka_unit_test_teardown(a_capture_with_a_closed_gate_says_once_how_to_open_it, end_lazy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
