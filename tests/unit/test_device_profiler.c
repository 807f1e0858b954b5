/* The profiler of the embedded device, called as hosts call it, and the planes that it gives. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/tracer.h"
#include "device_programs.h"

/* ProfileOptions: device_tracer_level (3) 1, version (5) 1, enable_hlo_proto (7) 1 */
static const char usual_options[] = "\x18\x01\x28\x01\x38\x01";

static const xp_abi_profiler_api *profiler_api(void)
{
  const xp_abi_extension *extension = api()->extension_start;
  while (extension != NULL && extension->type != XP_ABI_EXTENSION_PROFILER) {
    extension = extension->next;
  }
  assert_non_null(extension);
  assert_int_equal(extension->struct_size, 40);
  return ((const xp_abi_profiler_extension *)(const void *)extension)->profiler_api;
}

/* ---------------------------------------------------------------- a host: sizes of arguments are garbage */

static xp_abi_profiler_error *try_start(xp_str options, xp_abi_profiler **profiler)
{
  xp_abi_profiler_create_args create = {0xdeadbeefdeadbeef, options.ptr, options.len, NULL};
  assert_null(profiler_api()->create(&create));
  *profiler = create.profiler;
  xp_abi_profiler_args start = {0xdeadbeefdeadbeef, create.profiler};
  return profiler_api()->start(&start);
}

static xp_abi_profiler *start_profiler(xp_str options)
{
  xp_abi_profiler *profiler = NULL;
  assert_null(try_start(options, &profiler));
  return profiler;
}

static xp_str stop_and_collect(xp_abi_profiler *profiler)
{
  xp_abi_profiler_args stop = {0xdeadbeefdeadbeef, profiler};
  assert_null(profiler_api()->stop(&stop));
  xp_abi_profiler_collect_args collect = {0xdeadbeefdeadbeef, profiler, NULL, 0};
  assert_null(profiler_api()->collect_data(&collect)); /* once, without a buffer */
  assert_non_null(collect.buffer);
  return xp_str_from((const char *)collect.buffer, collect.buffer_size);
}

static void destroy_profiler(xp_abi_profiler *profiler)
{
  xp_abi_profiler_args args = {0xdeadbeefdeadbeef, profiler};
  assert_null(profiler_api()->destroy(&args));
}

static xp_str usual(void)
{
  return xp_str_from(usual_options, sizeof usual_options - 1);
}

/* ---------------------------------------------------------------- programs to trace */

typedef struct {
  xp_abi_client *client;
  xp_abi_loaded_executable *executable;
  xp_abi_buffer *inputs[2];
} bench;

static bench set_up(const hlo_program *program, const xp_abi_named_value *options, size_t count)
{
  bench b = {.client = make_client(options, count)};
  b.executable = compile(b.client, program);
  float *data = calloc(192 * 192, sizeof *data);
  for (int i = 0; i < 2; i++) {
    b.inputs[i] = upload_to(b.client, device_of(b.client, 0), data, program->rank, program->dims);
  }
  free(data);
  return b;
}

/* Launches once and waits; step and flow are left out where they are NULL and negative. */
static void run_in_step(const bench *b, xp_device_step *step, int64_t flow)
{
  xp_abi_profiler_extension flow_extension = {
      {sizeof flow_extension, XP_ABI_EXTENSION_PROFILER, step != NULL ? &step->base : NULL}, NULL, flow};
  xp_abi_buffer *output = NULL, **outputs = &output;
  xp_abi_buffer *const *inputs = b->inputs;
  xp_abi_event *done = NULL;
  xp_abi_execute_args args = {.struct_size = sizeof args,
                              .extension_start = &flow_extension.base,
                              .executable = b->executable,
                              .argument_lists = &inputs,
                              .num_devices = 1,
                              .num_arguments = 2,
                              .output_lists = &outputs,
                              .device_complete_events = &done};
  assert_done(api()->loaded_executable_execute(&args));
  await_and_destroy(done);
  on(api()->buffer_destroy, output);
}

/* The host knows steps by their numbers alone, as hosts did before steps had ids: what follows the number is not its
 * own.
 */
static void run_once(const bench *b, int64_t step, int64_t flow)
{
  static uint64_t garbage;
  xp_device_step extension = {{XP_DEVICE_STEP_NUMBER_SIZE, XP_DEVICE_EXTENSION_STEP, NULL}, step, ++garbage};
  run_in_step(b, step >= 0 ? &extension : NULL, flow);
}

static void run_with_id(const bench *b, int64_t step, uint64_t id)
{
  xp_device_step extension = {{sizeof extension, XP_DEVICE_EXTENSION_STEP, NULL}, step, id};
  run_in_step(b, &extension, -1);
}

static void tear_down(bench *b)
{
  on(api()->buffer_destroy, b->inputs[0]);
  on(api()->buffer_destroy, b->inputs[1]);
  on(api()->loaded_executable_destroy, b->executable);
  on(api()->client_destroy, b->client);
}

/* ---------------------------------------------------------------- reading */

static const xp_plane *plane_named(const xp_capture *capture, const char *name)
{
  for (size_t i = 0; i < capture->hosts[0].plane_count; i++) {
    if (xp_str_is(capture->hosts[0].planes[i].name, name)) {
      return &capture->hosts[0].planes[i];
    }
  }
  fail_msg("there is no plane %s", name);
  return NULL;
}

static const xp_line *find_line(const xp_plane *plane, const char *name)
{
  for (size_t i = 0; i < plane->line_count; i++) {
    if (xp_str_is(plane->lines[i].name, name)) {
      return &plane->lines[i];
    }
  }
  return NULL;
}

static const xp_line *line_named(const xp_plane *plane, const char *name)
{
  const xp_line *line = find_line(plane, name);
  if (line == NULL) {
    fail_msg("there is no line %s", name);
  }
  return line;
}

static const xp_event_meta *meta_of(const xp_line *line, size_t i)
{
  return &line->plane->event_meta[line->meta[i] & XP_EVENT_META_MASK];
}

static xp_stat stat_of(xp_stats stats, const char *name)
{
  for (xp_stat stat; xp_stats_next(&stats, &stat);) {
    if (xp_str_is(stat.name, name)) {
      return stat;
    }
  }
  fail_msg("there is no stat %s", name);
  return (xp_stat){.type = XP_STAT_NONE};
}

static xp_stat meta_stat(const xp_line *line, size_t i, const char *name)
{
  return stat_of(xp_meta_stats(line->plane, meta_of(line, i)), name);
}

static xp_stat event_stat(const xp_line *line, size_t i, const char *name)
{
  xp_event_cursor cursor = xp_event_cursor_open(line);
  return stat_of(xp_event_stats(&cursor, i), name);
}

static int64_t int_of_stat(xp_stat stat)
{
  return xp_stat_int(&stat, -1);
}

/* ---------------------------------------------------------------- the plane */

static void an_operation_has_its_text_names_costs_and_run(void **state)
{
  (void)state;
  bench b = set_up(&add_then_multiply, NULL, 0);
  xp_abi_profiler *profiler = start_profiler(usual());
  run_once(&b, -1, 77);
  run_once(&b, -1, -1);
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  const xp_plane *plane = plane_named(capture, "/device:CUSTOM:xlaprof:0");
  const xp_line *ops = line_named(plane, "XLA Ops"), *modules = line_named(plane, "XLA Modules");
  assert_int_equal(ops->count, 4);
  assert_int_equal(modules->count, 2);
  assert_str(meta_of(ops, 0)->display_name, "add.3");
  assert_str_contains(meta_of(ops, 0)->name, "%add.3 = f32[4]{0} add(%parameter.1, %parameter.2)");
  assert_str(meta_stat(ops, 0, "tf_op").text, "fwd/inner/aten__add:");
  assert_str(meta_stat(ops, 0, "hlo_category").text, "non-fusion elementwise");
  assert_str(meta_stat(ops, 0, "source").text, "model.py:7");
  assert_str(meta_stat(ops, 0, "hlo_module").text, "jit_small");
  assert_int_equal(int_of_stat(meta_stat(ops, 0, "flops")), 4);
  assert_int_equal(int_of_stat(meta_stat(ops, 0, "bytes_accessed")), 48);
  int64_t program = int_of_stat(meta_stat(ops, 0, "program_id"));
  int64_t run = int_of_stat(event_stat(modules, 0, "run_id"));
  assert_int_equal(int_of_stat(meta_stat(modules, 0, "program_id")), program);
  char title[40];
  snprintf(title, sizeof title, "jit_small(%lld)", (long long)program);
  assert_str(meta_of(modules, 0)->name, title);
  assert_int_equal(int_of_stat(event_stat(ops, 1, "run_id")), run);
  assert_int_equal(int_of_stat(event_stat(modules, 1, "run_id")), run + 1);
  assert_int_equal(int_of_stat(event_stat(modules, 0, "_c")), 77);
  for (size_t i = 0; i < 4; i++) { /* each operation lies in its module's event */
    assert_true(ops->start_ps[i] >= modules->start_ps[i / 2]);
    assert_true(xp_event_end(ops, i) <= xp_event_end(modules, i / 2));
  }
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
}

static void assert_event(const xp_line *line, size_t i, const char *name, int64_t start, int64_t end)
{
  assert_str(meta_of(line, i)->name, name);
  assert_int_equal(line->start_ps[i], start);
  assert_int_equal(xp_event_end(line, i), end);
}

/* Three products in step/fwd, three in step/bwd. */
static void scopes_nest_and_operations_of_one_name_are_one(void **state)
{
  (void)state;
  bench b = set_up(&long_one, NULL, 0);
  xp_abi_profiler *profiler = start_profiler(usual());
  run_once(&b, -1, -1);
  run_once(&b, -1, -1);
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  const xp_plane *plane = plane_named(capture, "/device:CUSTOM:xlaprof:0");
  const xp_line *ops = line_named(plane, "XLA Ops"), *scopes = line_named(plane, "Framework Name Scope");
  const xp_line *framework = line_named(plane, "Framework Ops");
  assert_int_equal(ops->count, 12);
  assert_int_equal(scopes->count, 6);
  assert_event(scopes, 0, "step", ops->start_ps[0], xp_event_end(ops, 5));
  assert_event(scopes, 1, "fwd", ops->start_ps[0], xp_event_end(ops, 2));
  assert_event(scopes, 2, "bwd", ops->start_ps[3], xp_event_end(ops, 5));
  assert_event(scopes, 3, "step", ops->start_ps[6], xp_event_end(ops, 11));
  assert_int_equal(framework->count, 4);
  assert_event(framework, 1, "step/bwd/aten__mm:", ops->start_ps[3], xp_event_end(ops, 5));
  assert_str(meta_of(framework, 1)->display_name, "aten__mm");
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
}

static void steps_come_from_the_launches(void **state)
{
  (void)state;
  bench b = set_up(&add_then_multiply, NULL, 0);
  xp_abi_profiler *profiler = start_profiler(usual());
  run_once(&b, 4, -1);
  run_once(&b, 4, -1);
  run_once(&b, -1, -1);
  run_once(&b, 5, -1);
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  const xp_plane *plane = plane_named(capture, "/device:CUSTOM:xlaprof:0");
  const xp_line *steps = line_named(plane, "Steps"), *modules = line_named(plane, "XLA Modules");
  assert_int_equal(steps->count, 2);
  assert_event(steps, 0, "4", modules->start_ps[0], xp_event_end(modules, 1));
  assert_event(steps, 1, "5", modules->start_ps[3], xp_event_end(modules, 3));
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
}

static void steps_of_one_number_are_told_apart_by_their_ids(void **state)
{
  (void)state;
  bench b = set_up(&add_then_multiply, NULL, 0);
  xp_abi_profiler *profiler = start_profiler(usual());
  run_with_id(&b, 0, 1); /* step 0 of a loop, of two executions, */
  run_with_id(&b, 0, 1);
  run_with_id(&b, 0, 2); /* step 0 of another one, */
  run_with_id(&b, 1, 3); /* and step 1 of both */
  run_with_id(&b, 1, 4);
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  const xp_plane *plane = plane_named(capture, "/device:CUSTOM:xlaprof:0");
  const xp_line *steps = line_named(plane, "Steps"), *modules = line_named(plane, "XLA Modules");
  assert_int_equal(steps->count, 4);
  assert_event(steps, 0, "0", modules->start_ps[0], xp_event_end(modules, 1));
  assert_event(steps, 1, "0", modules->start_ps[2], xp_event_end(modules, 2));
  assert_event(steps, 2, "1", modules->start_ps[3], xp_event_end(modules, 3));
  assert_event(steps, 3, "1", modules->start_ps[4], xp_event_end(modules, 4));
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
}

static void programs_are_there_with_their_protos(void **state)
{
  (void)state;
  bench b = set_up(&add_then_multiply, NULL, 0);
  xp_abi_profiler *profiler = start_profiler(usual());
  run_once(&b, -1, -1);
  run_once(&b, -1, -1);
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  const xp_plane *plane = plane_named(capture, "/host:metadata");
  size_t found = 0;
  for (size_t i = 0; i < plane->event_meta_count; i++) {
    if (xp_str_starts(plane->event_meta[i].name, "jit_small(")) {
      xp_stat proto = stat_of(xp_meta_stats(plane, &plane->event_meta[i]), "Hlo Proto");
      assert_str_contains(proto.text, "fwd/inner/aten__add");
      found++;
    }
  }
  assert_int_equal(found, 1);
  assert_null(find_line(plane_named(capture, "/device:CUSTOM:xlaprof:0"), "Steps"));
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
}

static int64_t unix_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Lines stand at Unix time: what ran between two readings of that clock lies between them. */
static void times_are_those_of_the_systems_clock(void **state)
{
  (void)state;
  const int64_t slack_ns = 2000; /* between the clocks */
  bench b = set_up(&add_then_multiply, NULL, 0);
  int64_t began = unix_ns();
  xp_abi_profiler *profiler = start_profiler(usual());
  int64_t before = unix_ns();
  run_once(&b, -1, -1);
  int64_t after = unix_ns();
  xp_str own = stop_and_collect(profiler);
  xp_wire_writer session = {0}, both = {0}, copy = {.data = (uint8_t *)(uintptr_t)own.ptr, .len = own.len};
  put_session(&session, (uint64_t)began, (uint64_t)unix_ns());
  xp_wire_put_raw(&both, &session);
  xp_wire_put_raw(&both, &copy);
  xp_capture *capture = load_bytes(written(&both)); /* its times begin with the session */
  const xp_line *modules = line_named(plane_named(capture, "/device:CUSTOM:xlaprof:0"), "XLA Modules");
  assert_in_range(modules->start_ps[0], (before - began - slack_ns) * 1000, (after - began + slack_ns) * 1000);
  assert_in_range(xp_event_end(modules, 0), modules->start_ps[0], (after - began + slack_ns) * 1000);
  xp_capture_free(capture);
  xp_wire_writer_free(&session);
  xp_wire_writer_free(&both);
  destroy_profiler(profiler);
  tear_down(&b);
}

/* ---------------------------------------------------------------- sessions */

static void nothing_is_recorded_outside_of_a_session_or_at_level_0(void **state)
{
  (void)state;
  bench b = set_up(&add_then_multiply, NULL, 0);
  run_once(&b, -1, -1);
  xp_abi_profiler *profiler = start_profiler(usual());
  assert_int_equal(stop_and_collect(profiler).len, 0);
  run_once(&b, -1, -1);
  destroy_profiler(profiler);
  profiler = start_profiler(xp_str_c("\x28\x01\x38\x01")); /* a version, and no level */
  run_once(&b, -1, -1);
  assert_int_equal(stop_and_collect(profiler).len, 0);
  destroy_profiler(profiler);
  tear_down(&b);
}

static void a_second_session_is_refused_until_the_first_has_ended(void **state)
{
  (void)state;
  xp_abi_profiler *first = start_profiler(usual()), *second = NULL;
  xp_abi_profiler_error *error = try_start(usual(), &second);
  assert_non_null(error);
  xp_abi_profiler_error_message_args message = {.struct_size = XP_ABI_PROFILER_ERROR_MESSAGE_SIZE, .error = error};
  profiler_api()->error_message(&message);
  assert_str_contains(xp_str_from(message.message, message.message_size), "another session");
  xp_abi_profiler_error_code_args code = {.struct_size = XP_ABI_PROFILER_ERROR_CODE_SIZE, .error = error};
  assert_null(profiler_api()->error_get_code(&code));
  assert_int_equal(code.code, XP_ABI_ALREADY_EXISTS);
  xp_abi_profiler_error_destroy_args destroy = {.struct_size = XP_ABI_PROFILER_ERROR_DESTROY_SIZE, .error = error};
  profiler_api()->error_destroy(&destroy);
  destroy_profiler(first); /* which ends it */
  destroy_profiler(second);
  first = start_profiler(usual());
  destroy_profiler(first);
}

/* 12 events in a session with room for 5: the others are counted, and the count is written. */
static void what_does_not_fit_is_counted(void **state)
{
  (void)state;
  /* advanced_configuration (12): "xlaprof_device_max_events" -> int64 (3) 5 */
  static const char five[] = "\x18\x01\x28\x01\x62\x1f\x0a\x19xlaprof_device_max_events\x12\x02\x18\x05";
  bench b = set_up(&add_then_multiply, NULL, 0);
  xp_abi_profiler *profiler = start_profiler(xp_str_from(five, sizeof five - 1));
  for (int i = 0; i < 4; i++) { /* 3 events each */
    run_once(&b, -1, -1);
  }
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  const xp_plane *plane = plane_named(capture, "/device:CUSTOM:xlaprof:0");
  assert_int_equal(int_of_stat(stat_of(xp_plane_stats(plane), "dropped_events")), 7);
  assert_int_equal(line_named(plane, "XLA Ops")->count + line_named(plane, "XLA Modules")->count, 5);
  assert_int_equal(capture->hosts[0].message_count, 1);
  assert_str_contains(capture->hosts[0].messages[0], "dropped 7 events");
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
}

/* Rows and events lie in chunks of memory; these fill several of both. */
static void a_session_of_many_runs_is_whole(void **state)
{
  (void)state;
  enum { RUNS = 2 * XP_DEV_RUNS_A_CHUNK + 100 };
  bench b = set_up(&add_then_multiply, NULL, 0);
  xp_abi_profiler *profiler = start_profiler(usual());
  for (int i = 0; i < RUNS; i++) {
    run_once(&b, i, -1);
  }
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  const xp_plane *plane = plane_named(capture, "/device:CUSTOM:xlaprof:0");
  const xp_line *ops = line_named(plane, "XLA Ops"), *modules = line_named(plane, "XLA Modules");
  assert_int_equal(ops->count, 2 * RUNS);
  assert_int_equal(modules->count, RUNS);
  assert_int_equal(line_named(plane, "Steps")->count, RUNS);
  for (size_t i = 0; i < RUNS; i++) { /* every run holds its two operations, one behind the other */
    const int64_t first = ops->start_ps[2 * i], second = ops->start_ps[2 * i + 1];
    assert_true(first >= modules->start_ps[i]);
    if (first == second) { /* one tick of the clock: the first took no time, and so stands behind the second */
      assert_int_equal(xp_event_end(ops, 2 * i + 1), second);
    } else {
      assert_true(xp_event_end(ops, 2 * i) <= second);
    }
    assert_true(xp_event_end(ops, 2 * i + 1) <= xp_event_end(modules, i));
  }
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
}

static void a_fork_in_a_session_has_none_and_may_start_its_own(void **state)
{
  (void)state;
  skip_if_emulated("cannot start threads in a child of a program that has some");
  bench b = set_up(&add_then_multiply, NULL, 0);
  xp_abi_profiler *profiler = start_profiler(usual());
  run_once(&b, -1, -1);
  const pid_t child = fork();
  if (child == 0) {
    xp_error err;
    const bool is_alone = !xp_dev_tracer_is_on && xp_dev_tracer_stop() == NULL;
    const bool starts = xp_dev_tracer_start(XP_DEV_TRACE_EVENTS, &err) == XP_OK;
    xp_dev_trace *trace = xp_dev_tracer_stop();
    const bool is_empty = trace != NULL && trace->run_count == 0;
    xp_dev_trace_free(trace);
    _exit(is_alone && starts && is_empty ? 0 : 1);
  }
  int how = -1;
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_int_equal(how, 0);
  run_once(&b, -1, -1);
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  assert_int_equal(line_named(plane_named(capture, "/device:CUSTOM:xlaprof:0"), "XLA Modules")->count, 2);
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
}

static void a_host_with_a_buffer_of_its_own_gets_a_copy(void **state)
{
  (void)state;
  bench b = set_up(&add_then_multiply, NULL, 0);
  xp_abi_profiler *profiler = start_profiler(usual());
  run_once(&b, -1, -1);
  xp_str own = stop_and_collect(profiler);
  uint8_t *room = malloc(own.len);
  xp_abi_profiler_collect_args collect = {0, profiler, room, own.len};
  assert_null(profiler_api()->collect_data(&collect));
  assert_ptr_equal(collect.buffer, room);
  assert_memory_equal(room, own.ptr, own.len);
  free(room);
  destroy_profiler(profiler);
  tear_down(&b);
}

/* ---------------------------------------------------------------- times, by the device's own log */

static void a_launch_waits_for_its_latency_on_an_idle_device(void **state)
{
  (void)state;
  const xp_abi_named_value options[] = {int_option("launch_latency_us", 30000)};
  bench b = set_up(&add_then_multiply, options, 1);
  xp_abi_profiler *profiler = start_profiler(usual());
  run_once(&b, -1, -1);
  run_once(&b, -1, -1);
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  const xp_line *modules = line_named(plane_named(capture, "/device:CUSTOM:xlaprof:0"), "XLA Modules");
  int64_t gap_ps = modules->start_ps[1] - xp_event_end(modules, 0); /* launched as soon as the first had ended */
  assert_true(gap_ps >= (int64_t)30000 * 1000000);
  assert_true(gap_ps < (int64_t)200000 * 1000000);
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
}

/* Where the pause of 30 ms is in a program of two operations: before the first, between both, or nowhere. */
static void pause_before(int64_t op, int64_t gaps_ps[2])
{
  const xp_abi_named_value options[] = {int_option("pause_us", 30000), int_option("pause_before", op)};
  bench b = set_up(&add_then_multiply, options, 2);
  xp_abi_profiler *profiler = start_profiler(usual());
  run_once(&b, -1, -1);
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  const xp_plane *plane = plane_named(capture, "/device:CUSTOM:xlaprof:0");
  const xp_line *ops = line_named(plane, "XLA Ops"), *modules = line_named(plane, "XLA Modules");
  assert_int_equal(ops->count, 2);
  gaps_ps[0] = ops->start_ps[0] - modules->start_ps[0];
  gaps_ps[1] = ops->start_ps[1] - xp_event_end(ops, 0);
  assert_true(xp_event_end(modules, 0) >= xp_event_end(ops, 1));
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
}

static void a_device_pauses_inside_a_program_in_front_of_the_operation_that_is_named(void **state)
{
  (void)state;
  const int64_t pause_ps = (int64_t)30000 * 1000000;
  int64_t gaps_ps[2];
  pause_before(0, gaps_ps);
  assert_true(gaps_ps[0] >= pause_ps && gaps_ps[1] < pause_ps);
  pause_before(1, gaps_ps);
  assert_true(gaps_ps[0] < pause_ps && gaps_ps[1] >= pause_ps);
  pause_before(2, gaps_ps);
  assert_true(gaps_ps[0] < pause_ps && gaps_ps[1] < pause_ps);
}

/* What this process has computed, in picoseconds. */
static int64_t computed_ps(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return xp_timespec_ns(t) * 1000;
}

/* The shortest product of several, which other programs disturbed least; and what one took of a processor, on average.
 */
static int64_t shortest_op(const xp_abi_named_value *options, size_t count, int64_t *each_ps)
{
  bench b = set_up(&long_one, options, count);
  run_once(&b, -1, -1);
  const int64_t before_ps = computed_ps(); /* not in the session, which has a thread that touches memory */
  run_once(&b, -1, -1);
  *each_ps = computed_ps() - before_ps;
  xp_abi_profiler *profiler = start_profiler(usual());
  run_once(&b, -1, -1);
  xp_capture *capture = load_bytes(stop_and_collect(profiler));
  const xp_line *ops = line_named(plane_named(capture, "/device:CUSTOM:xlaprof:0"), "XLA Ops");
  *each_ps /= (int64_t)ops->count;
  int64_t shortest = INT64_MAX;
  for (size_t i = 0; i < ops->count; i++) {
    int64_t dur = xp_event_end(ops, i) - ops->start_ps[i];
    shortest = dur < shortest ? dur : shortest;
  }
  xp_capture_free(capture);
  destroy_profiler(profiler);
  tear_down(&b);
  return shortest;
}

static void operations_of_a_slow_device_are_longer_in_its_log(void **state)
{
  (void)state;
  const xp_abi_named_value slow[] = {int_option("slowdown", 10)};
  int64_t each_ps, slowed_each_ps;
  int64_t plain = shortest_op(NULL, 0, &each_ps), slowed = shortest_op(slow, 1, &slowed_each_ps);
  if (slowed < 5 * each_ps || slowed > 25 * plain) { /* wide, for machines with other work */
    fail_msg("10 times %lld to %lld ps are %lld ps", (long long)each_ps, (long long)plain, (long long)slowed);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_operation_has_its_text_names_costs_and_run),
      cmocka_unit_test(scopes_nest_and_operations_of_one_name_are_one),
      cmocka_unit_test(steps_come_from_the_launches),
      cmocka_unit_test(steps_of_one_number_are_told_apart_by_their_ids),
      cmocka_unit_test(programs_are_there_with_their_protos),
      cmocka_unit_test(times_are_those_of_the_systems_clock),
      cmocka_unit_test(nothing_is_recorded_outside_of_a_session_or_at_level_0),
      cmocka_unit_test(a_second_session_is_refused_until_the_first_has_ended),
      cmocka_unit_test(what_does_not_fit_is_counted),
      cmocka_unit_test(a_session_of_many_runs_is_whole),
      cmocka_unit_test(a_fork_in_a_session_has_none_and_may_start_its_own),
      cmocka_unit_test(a_host_with_a_buffer_of_its_own_gets_a_copy),
      cmocka_unit_test(a_launch_waits_for_its_latency_on_an_idle_device),
      cmocka_unit_test(a_device_pauses_inside_a_program_in_front_of_the_operation_that_is_named),
      cmocka_unit_test(operations_of_a_slow_device_are_longer_in_its_log),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
