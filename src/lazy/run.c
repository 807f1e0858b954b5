/* The path of every computation, lazy and eager.  Regions are those of torch_xla's sync (docs/lazy.md has the tree), so
 * that readers of captures know them. */
#include "lazy/run.h"

#include <stdlib.h>

#include "base/clock.h"
#include "device/plugin.h"
#include "hlo/write.h"
#include "lazy/explain.h"
#include "lazy/lower.h"
#include "lazy/runtime.h"
#include "lazy/ticks.h"

/* The walk of the call that holds the lock. */
static xl_graph graph;

/* ---------------------------------------------------------------- compiling */

xp_status xl_run_lower(const xl_graph *walked, const xl_root *roots, size_t count, xp_arena *arena,
                       const xp_hlo_module **module, xp_error *err)
{
  const char *name = xl_rt.graph_name != NULL ? xl_rt.graph_name : "SyncTensorsGraph";
  return xl_lower(walked, roots, count, name, xl_rt.names_are_open, arena, module, err);
}

static xp_status compile_module(xl_device *device, const xp_hlo_module *module, xp_pjrt_executable **executable,
                                xp_error *err)
{
  xp_wire_writer bytes = {0};
  xp_hlo_write(module, &bytes);
  xp_status status = XP_ERR_MEMORY;
  if (bytes.failed) {
    xp_fail(err, status, "There is no memory for a program.");
  } else {
    const xp_region region = xp_region_begin(XP_LEVEL_INFO, "PjRtComputationClient::Compile");
    const xp_pjrt_program program = {xp_str_c("hlo"), xp_str_from((const char *)bytes.data, bytes.len)};
    status = xp_pjrt_compile(device->client, device->handle, program, executable, err);
    xp_region_end(region);
  }
  xp_wire_writer_free(&bytes);
  return status;
}

static xp_status lower_and_compile(xl_device *device, const xl_root *roots, size_t count,
                                   xp_pjrt_executable **executable, xp_error *err)
{
  xp_arena *arena = xp_arena_create();
  if (arena == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for a program.");
  }
  const xp_hlo_module *module;
  xp_status status = xl_run_lower(&graph, roots, count, arena, &module, err);
  if (status == XP_OK) {
    status = compile_module(device, module, executable, err);
  }
  xp_arena_destroy(arena);
  return status;
}

/* Tells why, if XL_DEBUG asks for that. */
static void explain(const xl_program *program, const xl_run_options *options, int level,
                    void (*tell)(const xl_explanation *why))
{
  if (options->is_eager || xl_explain_level() < level) {
    return;
  }
  xp_open_step step;
  const bool has_step = xp_step_current(&step);
  const xl_explanation why = {options->cause,     xl_rt.graph_name, program->hash,          graph.parameter_count,
                              graph.output_count, options->place,   has_step ? &step : NULL};
  tell(&why);
}

static xl_program *compile(xl_device *device, const xl_root *roots, size_t count, const xl_run_options *options,
                           xp_error *err)
{
  char hash[33];
  xl_key_text(graph.key, hash);
  const int64_t start_ns = xp_monotonic_ns();
  const xp_arg args[] = {xp_arg_str_copy("graph_hash", hash, strlen(hash))};
  const xp_region region = xp_region_begin_args(XP_LEVEL_INFO, "XLAGraphExecutor::Compile", args, 1);
  xp_pjrt_executable *executable;
  const xp_status status = lower_and_compile(device, roots, count, &executable, err);
  xp_region_end(region);
  if (status != XP_OK) {
    return NULL;
  }
  xl_sample(options->is_eager ? XL_METRIC_EAGER_COMPILE : XL_METRIC_COMPILE, (double)(xp_monotonic_ns() - start_ns));
  xl_sample(XL_METRIC_ALIASES, (double)graph.alias_count);
  xl_count(XL_COUNT_CREATE_COMPILE_HANDLES, 1);
  xl_program *program = xl_program_add(graph.key, device, executable, err);
  if (program != NULL) {
    explain(program, options, 1, xl_explain_compile);
  }
  return program;
}

static xl_program *program_of(xl_device *device, const xl_root *roots, size_t count, const xl_run_options *options,
                              xp_error *err)
{
  xl_program *program = xl_program_find(graph.key, device);
  xl_count(program != NULL ? XL_COUNT_CACHED_COMPILE : XL_COUNT_UNCACHED_COMPILE, 1);
  xl_sample(XL_METRIC_GRAPH_SIZE, (double)graph.node_count);
  return program != NULL ? program : compile(device, roots, count, options, err);
}

/* ---------------------------------------------------------------- launching */

/* What is told when the device is done. */
typedef struct {
  xl_in_flight *flight;
  int64_t start_ns;
  xl_metric_id metric;
} launch;

static void on_done(void *context, xp_status status, const xp_error *err)
{
  launch *l = context;
  if (status == XP_OK) {
    xl_sample(l->metric, (double)(xp_monotonic_ns() - l->start_ns));
  }
  xl_flight_end(l->flight, err);
  free(l);
}

/* Has the end of an execution told; where that fails for lack of memory, waits for it. */
static void follow(xl_device *device, xp_pjrt_event *done, int64_t start_ns, bool is_eager)
{
  xp_error err = {0};
  launch *l = malloc(sizeof *l);
  xl_flight_begin(&device->flight);
  if (l != NULL) {
    *l = (launch){&device->flight, start_ns, is_eager ? XL_METRIC_EAGER_EXECUTE : XL_METRIC_EXECUTE_TIME};
  }
  if (l == NULL || xp_pjrt_event_on_ready(done, on_done, l, &err) != XP_OK) {
    memset(&err, 0, sizeof err);
    xp_pjrt_event_wait(done, &err);
    xl_flight_end(&device->flight, &err);
    free(l);
  }
  xp_pjrt_event_destroy(done);
}

/* The step that a launch belongs to, as the device is told: serials are those of a thread, ids those of the process. */
static bool step_of_launch(xp_device_step *step)
{
  static uint64_t last_id;
  xl_thread *thread = xl_rt.thread;
  xp_open_step open;
  if (!xp_step_current(&open) || open.number < 0) {
    return false;
  }
  if (open.serial != thread->sent_step) {
    thread->sent_step = open.serial;
    thread->sent_id = ++last_id;
  }
  step->number = open.number;
  step->id = thread->sent_id;
  return true;
}

static xp_status execute(xl_device *device, const xl_program *program, const xl_run_options *options,
                         xp_pjrt_buffer *const *arguments, xp_pjrt_buffer **outputs, xp_error *err)
{
  static int32_t last_launch;
  last_launch = last_launch < INT32_MAX ? last_launch + 1 : 1;
  xp_device_step step = {{sizeof step, XP_DEVICE_EXTENSION_STEP, NULL}, 0, 0};
  const bool has_step = step_of_launch(&step);
  const xp_abi_profiler_extension linkage = {
      {sizeof linkage, XP_ABI_EXTENSION_PROFILER, has_step ? &step.base : NULL}, NULL, last_launch};
  const xp_pjrt_execute_options execute_options = {.launch_id = last_launch, .extension = &linkage.base};
  const xp_arg args[] = {xp_arg_int("_pt", 14), xp_arg_int("_p", last_launch)};
  const int64_t start_ns = xp_monotonic_ns();
  const xp_region region = xp_region_begin_args(XP_LEVEL_INFO, "PjRtComputationClient::ExecuteComputation", args, 2);
  xp_pjrt_event *done = NULL;
  const xp_status status =
      xp_pjrt_execute(program->executable, arguments, graph.parameter_count, &execute_options, outputs, &done, err);
  xp_region_end(region);
  if (status == XP_OK) {
    follow(device, done, start_ns, options->is_eager);
    xl_count(XL_COUNT_EXECUTE, 1);
    xl_count(XL_COUNT_CREATE_DATA_HANDLES, (int64_t)graph.output_count);
  }
  return status;
}

/* The arrays of the results; takes the buffers.  NULL when memory is out. */
static xl_node **leaves_of(xl_device *device, xp_pjrt_buffer **buffers)
{
  xl_node **leaves = calloc(graph.output_count + 1, sizeof *leaves);
  bool failed = leaves == NULL;
  for (size_t i = 0; i < graph.output_count; i++) {
    xl_data *data = xl_data_create(device, buffers[i]);
    const xl_shape shape = xl_node_shape(graph.outputs[i]);
    xl_node *leaf = data != NULL && !failed ? xl_data_leaf(data, (xl_type)graph.outputs[i]->type, &shape) : NULL;
    xl_data_drop(data);
    failed = failed || leaf == NULL;
    if (leaves != NULL) {
      leaves[i] = leaf;
    }
  }
  for (size_t i = 0; failed && leaves != NULL && i < graph.output_count; i++) {
    xl_node_drop(leaves[i]);
  }
  if (failed) {
    free(leaves);
  }
  return failed ? NULL : leaves;
}

static void put_in_place(xl_root *roots, size_t count, xl_node **leaves)
{
  for (size_t i = 0; i < count; i++) {
    xl_node *old = *roots[i].place;
    *roots[i].place = xl_node_hold(leaves[roots[i].output]);
    xl_node_drop(old);
  }
  for (size_t i = 0; i < graph.output_count; i++) {
    xl_node_drop(leaves[i]);
  }
  free(leaves);
}

/* A sample of the time since a reading of the counter. */
static void sample_since(xl_metric_id id, uint64_t start_ticks)
{
  const uint64_t now = xp_clock_ticks();
  xp_metric_add_at(xl_metrics[id], xl_ticks_dur_ns(now - start_ticks), xl_ticks_ns(now));
}

/* The device's handles of the arguments. */
static void unwrap(xp_pjrt_buffer **buffers)
{
  const uint64_t start_ticks = xp_clock_ticks();
  for (size_t i = 0; i < graph.parameter_count; i++) {
    buffers[i] = graph.parameters[i]->buffer;
  }
  sample_since(XL_METRIC_UNWRAP, start_ticks);
}

static xp_status schedule(xl_device *device, const xl_program *program, xl_root *roots, size_t count,
                          const xl_run_options *options, xp_error *err)
{
  const size_t inputs = graph.parameter_count, outputs = graph.output_count;
  xp_pjrt_buffer **buffers = calloc(inputs + outputs + 1, sizeof *buffers);
  if (buffers == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory to launch a program of %zu arguments.", inputs);
  }
  xl_count_lock_wait();
  unwrap(buffers);
  xp_status status = execute(device, program, options, buffers, buffers + inputs, err);
  if (status == XP_OK) {
    const xp_region region = xp_region_begin(XP_LEVEL_INFO, "SetTensorData");
    const uint64_t start_ticks = xp_clock_ticks();
    xl_node **leaves = leaves_of(device, buffers + inputs);
    sample_since(XL_METRIC_WRAP, start_ticks);
    if (leaves != NULL) {
      put_in_place(roots, count, leaves);
    } else {
      status = xp_fail(err, XP_ERR_MEMORY, "There is no memory for the results of a program.");
    }
    xp_region_end(region);
  }
  free(buffers);
  return status;
}

xp_status xl_run(xl_device *device, xl_root *roots, size_t count, const xl_run_options *options, xp_error *err)
{
  const xp_region walk = xp_region_begin(XP_LEVEL_INFO, "RunPostOrder");
  xl_graph_walk(&graph, roots, count, options->may_donate);
  xp_region_end(walk);
  if (graph.failed) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the walk through the graph.");
  }
  graph.key.high ^= xl_rt.names_are_open; /* the same graph with names is another program */
  const xl_program *program = program_of(device, roots, count, options, err);
  if (program == NULL) {
    return err != NULL && err->status != XP_OK ? err->status : XP_ERR_MEMORY;
  }
  explain(program, options, 2, xl_explain_execute);
  const xp_region region = xp_region_begin(XP_LEVEL_INFO, "ScheduleSyncTensorsGraph");
  const xp_status status = schedule(device, program, roots, count, options, err);
  xp_region_end(region);
  return status;
}

void xl_run_end(void)
{
  xl_graph_end(&graph);
}
