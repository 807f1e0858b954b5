/* Running an execution, on the device's thread.
 *
 * In this order: wait until the launch is old enough (the latency that was asked for), until the inputs are there, and
 * until the host reads no more what will be overwritten; run; drop the inputs; tell.  Whoever has waited for the event
 * therefore finds the inputs' memory free and the run in the capture.
 *
 * A slow device is a pause behind each operation, which counts as part of it.  A device that pauses inside its programs
 * (option pause_us) does so between two operations.  Pauses sleep, so the host's processors are free meanwhile.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "device/execute.h"

enum { SPIN_NS = 80000 };

static int64_t next_run_id;

/* ---------------------------------------------------------------- time */

void xp_dev_pause_until(int64_t ns)
{
  int64_t left = ns - xp_monotonic_ns();
  if (left > SPIN_NS) {
    int64_t until = ns - SPIN_NS;
    struct timespec wake = {.tv_sec = (time_t)(until / XP_NS_IN_S), .tv_nsec = (long)(until % XP_NS_IN_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR) {
      /* a signal came in between */
    }
  }
  while (xp_monotonic_ns() < ns) {
    /* the rest is shorter than a sleep can be */
  }
}

/* ---------------------------------------------------------------- executions */

xp_dev_execution *xp_dev_execution_create(const xp_abi_loaded_executable *executable)
{
  xp_abi_executable *program = executable->program;
  xp_dev_execution *execution = calloc(1, sizeof *execution);
  if (execution == NULL) {
    return NULL;
  }
  execution->device = executable->device;
  execution->program = xp_dev_program_ref(program);
  execution->done = xp_dev_event_create();
  execution->inputs = calloc(program->input_count + 1, sizeof(xp_dev_content *));
  execution->is_donated = calloc(program->input_count + 1, sizeof *execution->is_donated);
  execution->input_data = calloc(program->input_count + 1, sizeof *execution->input_data);
  execution->outputs = calloc(program->output_count + 1, sizeof(xp_dev_block *));
  execution->output_data = calloc(program->output_count + 1, sizeof *execution->output_data);
  if (execution->done == NULL || execution->inputs == NULL || execution->is_donated == NULL ||
      execution->input_data == NULL || execution->outputs == NULL || execution->output_data == NULL) {
    xp_dev_execution_free(execution);
    return NULL;
  }
  return execution;
}

static void drop_memory(xp_dev_execution *execution)
{
  for (size_t i = 0; execution->inputs != NULL && i < execution->program->input_count; i++) {
    xp_dev_content_unref(execution->inputs[i]);
    execution->inputs[i] = NULL;
  }
  for (size_t i = 0; execution->outputs != NULL && i < execution->program->output_count; i++) {
    xp_dev_block_unref(execution->outputs[i]);
    execution->outputs[i] = NULL;
  }
}

void xp_dev_execution_free(xp_dev_execution *execution)
{
  if (execution == NULL) {
    return;
  }
  drop_memory(execution);
  xp_dev_event_unref(execution->done);
  xp_dev_program_unref(execution->program);
  free(execution->inputs);
  free(execution->is_donated);
  free(execution->input_data);
  free(execution->outputs);
  free(execution->output_data);
  free(execution);
}

/* ---------------------------------------------------------------- running */

/* The operation that is being executed. */
typedef struct {
  const xp_dev_traced_run *traced;
  double slowdown;
  int64_t pause_ns, pause_before; /* a pause before a step */
  uint64_t start;
  int64_t start_ns, start_work_ns;
} op_clock;

/* What this thread has computed.  A slowed operation takes a multiple of its own work, not of the time in which other
 * programs had the processor: so the device keeps its pace on a busy machine. */
static int64_t work_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return xp_timespec_ns(t);
}

static int before_op(void *context, size_t step)
{
  op_clock *clock = context;
  if (clock->pause_ns > 0 && (int64_t)step == clock->pause_before) {
    xp_dev_pause_until(xp_monotonic_ns() + clock->pause_ns);
  }
  if (clock->slowdown > 1) {
    clock->start_ns = xp_monotonic_ns();
    clock->start_work_ns = work_ns();
  }
  clock->start = xp_clock_read();
  return 0;
}

static void after_op(void *context, size_t step)
{
  op_clock *clock = context;
  if (clock->slowdown > 1) {
    xp_dev_pause_until(clock->start_ns + (int64_t)((double)(work_ns() - clock->start_work_ns) * clock->slowdown));
  }
  if (__atomic_load_n(&xp_dev_tracer_is_on, __ATOMIC_RELAXED)) {
    xp_dev_tracer_op(clock->traced, step, clock->start, xp_clock_read());
  }
}

/* Waits for the inputs; the error of the first that has one. */
static xp_abi_error *await_inputs(const xp_dev_execution *execution)
{
  for (size_t i = 0; i < execution->program->input_count; i++) {
    xp_abi_event *ready = xp_dev_content_ready(execution->inputs[i]);
    xp_dev_event_wait(ready);
    const xp_abi_error *error = xp_dev_event_error(ready);
    if (error != NULL) {
      return xp_dev_fail(xp_dev_error_code(error), "Argument %zu of program %.*s: %s", i,
                         XP_STR_ARG(execution->program->name), xp_dev_error_text(error));
    }
  }
  for (size_t i = 0; i < execution->program->input_count; i++) {
    if (execution->is_donated[i]) {
      xp_dev_content_await_readers(execution->inputs[i]);
    }
  }
  return NULL;
}

/* The device's temporary memory, at least as large as the program needs. */
static xp_abi_error *make_scratch(xp_abi_device *device, size_t bytes)
{
  if (bytes == 0 || (device->scratch != NULL && xp_dev_block_bytes(device->scratch) >= bytes)) {
    return NULL;
  }
  xp_dev_block_unref(device->scratch);
  device->scratch = NULL;
  return xp_dev_block_create(device, bytes, "the temporary memory of a program", &device->scratch);
}

static xp_abi_error *run_plan(xp_dev_execution *execution)
{
  xp_abi_device *device = execution->device;
  const xp_dev_options *options = &device->client->options;
  op_clock clock = {.traced = &execution->traced,
                    .slowdown = options->slowdown,
                    .pause_ns = options->pause_ns,
                    .pause_before = options->pause_before};
  for (size_t i = 0; i < execution->program->input_count; i++) {
    execution->input_data[i] = xp_dev_block_data(xp_dev_content_block(execution->inputs[i]));
  }
  for (size_t i = 0; i < execution->program->output_count; i++) {
    execution->output_data[i] = xp_dev_block_data(execution->outputs[i]);
  }
  xp_dev_run run = {.inputs = execution->input_data,
                    .outputs = execution->output_data,
                    .temp = device->scratch == NULL ? NULL : xp_dev_block_data(device->scratch),
                    .seed = (uint64_t)device->ordinal,
                    .before = before_op,
                    .after = after_op,
                    .context = &clock};
  xp_error err;
  xp_dev_tracer_run_begin(&execution->traced);
  xp_status status = xp_dev_plan_run(execution->program->plan, &run, &err);
  xp_dev_tracer_run_end(&execution->traced);
  return status == XP_OK ? NULL : xp_dev_fail_as(&err);
}

static void run_execution(xp_dev_task *task)
{
  xp_dev_execution *execution = (xp_dev_execution *)(void *)task;
  xp_abi_device *device = execution->device;
  xp_dev_pause_until(execution->launched_ns + device->client->options.launch_latency_ns);
  xp_abi_error *error = await_inputs(execution);
  if (error == NULL) {
    error = make_scratch(device, xp_dev_plan_temp_bytes(execution->program->plan));
  }
  if (error == NULL) {
    error = run_plan(execution);
  }
  drop_memory(execution);
  xp_dev_event_set(execution->done, error);
  xp_dev_execution_free(execution);
}

void xp_dev_execution_launch(xp_dev_execution *execution)
{
  execution->task.run = run_execution;
  execution->traced.program = execution->program;
  execution->traced.ordinal = execution->device->trace_ordinal;
  execution->traced.run_id = __atomic_add_fetch(&next_run_id, 1, __ATOMIC_RELAXED);
  execution->launched_ns = xp_monotonic_ns();
  xp_dev_queue_add(execution->device->queue, &execution->task);
}
