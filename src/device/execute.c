/* Launching.
 *
 * A launch checks everything, takes references to its inputs, makes its outputs, and joins the queue.  It holds the
 * device's launch lock meanwhile: so of two launches one is wholly before the other, and a buffer that the second one
 * is given to overwrite is read by the first one earlier in the queue.  Everything that can fail fails before the first
 * buffer is given away.
 */
#include "device/execute.h"

#include <string.h>

#include "base/clock.h"

/* What the host asks for, read from arguments of any age. */
typedef struct {
  xp_abi_loaded_executable *executable;
  xp_abi_buffer *const *arguments;
  xp_abi_buffer **results;
  const int64_t *kept; /* inputs that must not be donated */
  size_t kept_count;
  int64_t step, flow;
  uint64_t step_id;
} request;

/* ---------------------------------------------------------------- arguments */

static void read_step(const xp_abi_extension *extension, request *wanted)
{
  const xp_device_step *step = (const xp_device_step *)(const void *)extension;
  wanted->step = step->number;
  wanted->step_id = extension->struct_size >= sizeof *step ? step->id : 0;
}

static void read_extensions(const xp_abi_extension *extension, request *wanted)
{
  for (; extension != NULL; extension = extension->next) {
    if (extension->type == XP_DEVICE_EXTENSION_STEP && extension->struct_size >= XP_DEVICE_STEP_NUMBER_SIZE) {
      read_step(extension, wanted);
    } else if (extension->type == XP_ABI_EXTENSION_PROFILER &&
               extension->struct_size >= sizeof(xp_abi_profiler_extension)) {
      wanted->flow = ((const xp_abi_profiler_extension *)(const void *)extension)->traceme_context_id;
    }
  }
}

static xp_abi_error *read_options(const xp_abi_execute_options *options, request *wanted)
{
  if (options == NULL) {
    return NULL;
  }
  if (options->num_send_ops > 0 || options->num_recv_ops > 0) {
    return xp_dev_fail(XP_ABI_UNIMPLEMENTED,
                       "PJRT_LoadedExecutable_Execute: the device has no send and recv operations with the host.");
  }
  if (XP_ABI_HAS(options, num_non_donatable)) {
    wanted->kept = options->non_donatable;
    wanted->kept_count = options->num_non_donatable;
  }
  return NULL;
}

static xp_abi_error *read_request(const xp_abi_execute_args *args, request *wanted)
{
  const xp_abi_loaded_executable *executable = args->executable;
  *wanted = (request){.executable = args->executable, .step = -1, .flow = -1};
  if (args->num_devices != 1) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "PJRT_LoadedExecutable_Execute: %zu lists of arguments for one device.",
                       args->num_devices);
  }
  if (XP_ABI_HAS(args, device) && args->device != NULL && args->device != executable->device) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT,
                       "PJRT_LoadedExecutable_Execute: the program was compiled for device %d, not for device %d.",
                       executable->device->ordinal, args->device->ordinal);
  }
  if (__atomic_load_n(&executable->is_deleted, __ATOMIC_RELAXED)) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "PJRT_LoadedExecutable_Execute: the executable has been deleted.");
  }
  if (executable->device->queue == NULL) {
    return xp_dev_fail(XP_ABI_FAILED_PRECONDITION,
                       "PJRT_LoadedExecutable_Execute: the client of the executable has been destroyed.");
  }
  if (args->num_arguments != executable->program->input_count) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT,
                       "PJRT_LoadedExecutable_Execute: program %.*s has %zu parameters, the launch has %zu arguments.",
                       XP_STR_ARG(executable->program->name), executable->program->input_count, args->num_arguments);
  }
  wanted->arguments = args->num_arguments > 0 ? args->argument_lists[0] : NULL;
  wanted->results = executable->program->output_count > 0 ? args->output_lists[0] : NULL;
  read_extensions(args->extension_start, wanted);
  return read_options(args->options, wanted);
}

/* ---------------------------------------------------------------- inputs */

static bool is_kept(const request *wanted, size_t input)
{
  for (size_t i = 0; i < wanted->kept_count; i++) {
    if (wanted->kept[i] == (int64_t)input) {
      return true;
    }
  }
  return false;
}

static bool is_given_away(const request *wanted, size_t input)
{
  return wanted->executable->program->inputs[input].is_given_away && !is_kept(wanted, input);
}

static xp_abi_error *check_input(const request *wanted, size_t i)
{
  const xp_abi_executable *program = wanted->executable->program;
  const xp_abi_buffer *buffer = wanted->arguments[i];
  char want[XP_DEV_SHAPE_TEXT], got[XP_DEV_SHAPE_TEXT];
  if (!xp_dev_shape_same(&buffer->shape, &program->inputs[i].shape)) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "Argument %zu of program %.*s is %s, but its parameter is %s.", i,
                       XP_STR_ARG(program->name), xp_dev_shape_text(&buffer->shape, got),
                       xp_dev_shape_text(&program->inputs[i].shape, want));
  }
  if (buffer->device != wanted->executable->device) {
    return xp_dev_fail(
        XP_ABI_INVALID_ARGUMENT,
        "Argument %zu of program %.*s is on device %d, but the program runs on device %d; copy it there.", i,
        XP_STR_ARG(program->name), buffer->device->ordinal, wanted->executable->device->ordinal);
  }
  for (size_t k = 0; k < program->input_count && is_given_away(wanted, i); k++) {
    if (k != i && wanted->arguments[k] == buffer) {
      return xp_dev_fail(XP_ABI_INVALID_ARGUMENT,
                         "Argument %zu of program %.*s is donated, but it is argument %zu, too.", i,
                         XP_STR_ARG(program->name), k);
    }
  }
  return NULL;
}

static xp_abi_error *take_inputs(xp_dev_execution *execution, const request *wanted)
{
  for (size_t i = 0; i < execution->program->input_count; i++) {
    xp_abi_error *error = check_input(wanted, i);
    if (error == NULL) {
      error = xp_dev_buffer_use(wanted->arguments[i], false, &execution->inputs[i]);
    }
    if (error != NULL) {
      return error;
    }
  }
  return NULL;
}

/* ---------------------------------------------------------------- outputs */

/* True if the output may have the memory of the input that it aliases. */
static bool takes_memory(const xp_dev_execution *execution, const request *wanted, int64_t alias)
{
  return alias >= 0 && is_given_away(wanted, (size_t)alias) && !execution->is_donated[alias] &&
         !xp_dev_buffer_is_held(wanted->arguments[alias]);
}

static xp_abi_error *make_output(xp_dev_execution *execution, const request *wanted, size_t i)
{
  const xp_dev_array *output = &execution->program->outputs[i];
  char room[XP_DEV_SHAPE_TEXT];
  if (takes_memory(execution, wanted, output->alias)) {
    execution->is_donated[output->alias] = true;
    execution->outputs[i] = xp_dev_block_ref(xp_dev_content_block(execution->inputs[output->alias]));
  } else {
    xp_abi_error *error = xp_dev_block_create(execution->device, output->shape.bytes,
                                              xp_dev_shape_text(&output->shape, room), &execution->outputs[i]);
    if (error != NULL) {
      return error;
    }
  }
  wanted->results[i] = xp_dev_buffer_create(execution->device, &output->shape, xp_dev_block_ref(execution->outputs[i]),
                                            xp_dev_event_ref(execution->done));
  return wanted->results[i] == NULL ? xp_dev_fail_memory() : NULL;
}

static xp_abi_error *make_outputs(xp_dev_execution *execution, const request *wanted)
{
  for (size_t i = 0; i < execution->program->output_count; i++) {
    xp_abi_error *error = make_output(execution, wanted, i);
    if (error != NULL) {
      while (i-- > 0) {
        xp_dev_buffer_free(wanted->results[i]);
        wanted->results[i] = NULL;
      }
      return error;
    }
  }
  return NULL;
}

/* ---------------------------------------------------------------- launching */

static xp_abi_error *launch(xp_dev_execution *execution, const request *wanted)
{
  xp_abi_error *error = take_inputs(execution, wanted);
  if (error == NULL) {
    error = make_outputs(execution, wanted);
  }
  if (error != NULL) {
    return error;
  }
  for (size_t i = 0; i < execution->program->input_count; i++) {
    if (is_given_away(wanted, i)) {
      xp_dev_buffer_give_away(wanted->arguments[i]);
    }
  }
  execution->traced.step = wanted->step;
  execution->traced.step_id = wanted->step_id;
  execution->traced.flow = wanted->flow;
  xp_dev_execution_launch(execution);
  return NULL;
}

xp_abi_error *xp_dev_execute(xp_abi_execute_args *args)
{
  request wanted;
  xp_abi_error *error = read_request(args, &wanted);
  if (error != NULL) {
    return error;
  }
  xp_dev_execution *execution = xp_dev_execution_create(wanted.executable);
  if (execution == NULL) {
    return xp_dev_fail_memory();
  }
  xp_abi_event *done = xp_dev_event_ref(execution->done);
  const int64_t dispatch_ns = execution->device->client->options.dispatch_ns;
  if (dispatch_ns > 0) {
    xp_dev_pause_until(xp_monotonic_ns() + dispatch_ns);
  }
  pthread_mutex_t *lock = &execution->device->launch;
  pthread_mutex_lock(lock);
  error = launch(execution, &wanted);
  pthread_mutex_unlock(lock);
  if (error != NULL) {
    xp_dev_execution_free(execution);
    xp_dev_event_unref(done);
    return error;
  }
  if (args->device_complete_events != NULL) {
    args->device_complete_events[0] = done;
  } else {
    xp_dev_event_unref(done);
  }
  return NULL;
}
