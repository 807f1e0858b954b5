/* Beginning an execution.
 *
 * Everything that can fail here is done before the plugin is called: once the work has begun, its outputs are there and
 * inputs may be donated, and there is no way back.  So the structures for the outputs and the event are made first and
 * filled in afterwards.  All rows of one call lie in one piece of memory, which is on the stack for most programs.
 */
#include <stdlib.h>

#include "pjrt/objects.h"

enum { ROWS_ON_STACK = 128 };

/* What a call needs beside the caller's arguments. */
typedef struct {
  xp_abi_buffer **arguments, **outputs; /* handles */
  int64_t *kept;
  void *memory; /* to be freed; NULL: on the stack */
} call_rows;

static bool make_rows(call_rows *rows, void **stack, size_t arguments, size_t outputs, size_t kept)
{
  size_t count = arguments + outputs + kept; /* each is the length of an array of pointers in memory */
  rows->memory = count > ROWS_ON_STACK ? calloc(count, sizeof(void *)) : NULL;
  void **start = count > ROWS_ON_STACK ? rows->memory : stack;
  if (start == NULL) {
    return false;
  }
  rows->arguments = (xp_abi_buffer **)start;
  rows->outputs = (xp_abi_buffer **)(start + arguments);
  rows->kept = (int64_t *)(start + arguments + outputs);
  return true;
}

static void free_outputs(xp_pjrt_buffer **outputs, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    free(outputs[i]);
    outputs[i] = NULL;
  }
}

/* Structures without a handle yet. */
static bool make_outputs(const xp_pjrt_executable *executable, xp_pjrt_buffer **outputs)
{
  for (size_t i = 0; i < executable->output_count; i++) {
    outputs[i] = malloc(sizeof *outputs[i]);
    if (outputs[i] == NULL) {
      free_outputs(outputs, i);
      return false;
    }
    *outputs[i] = (xp_pjrt_buffer){executable->plugin, NULL};
  }
  return true;
}

/* True if the plugin filled in what it must; else what it gave is released. */
static bool has_all(const xp_pjrt_executable *executable, const call_rows *rows, xp_abi_event *event, bool wants_event)
{
  const xp_abi_api *api = &executable->plugin->api;
  bool has = !wants_event || event != NULL;
  for (size_t i = 0; i < executable->output_count; i++) {
    has = has && rows->outputs[i] != NULL;
  }
  if (!has) {
    for (size_t i = 0; i < executable->output_count; i++) {
      xp_pjrt_release(executable->plugin, api->buffer_destroy, rows->outputs[i]);
    }
    xp_pjrt_release(executable->plugin, api->event_destroy, event);
  }
  return has;
}

/* Calls the plugin with rows that are filled in; *event is its answer if one is wanted. */
static xp_status begin(const xp_pjrt_executable *executable, const call_rows *rows, size_t argument_count,
                       const xp_pjrt_execute_options *options, xp_abi_event **event, xp_error *err)
{
  const xp_pjrt_plugin *plugin = executable->plugin;
  xp_abi_execute_options abi_options = {.struct_size = sizeof abi_options,
                                        .launch_id = options->launch_id,
                                        .non_donatable = rows->kept,
                                        .num_non_donatable = options->kept_count};
  xp_abi_buffer *const *arguments = rows->arguments;
  xp_abi_buffer **outputs = rows->outputs;
  xp_abi_execute_args args = {.struct_size = sizeof args,
                              .extension_start = (xp_abi_extension *)(uintptr_t)options->extension,
                              .executable = executable->loaded,
                              .options = &abi_options,
                              .argument_lists = &arguments,
                              .num_devices = 1,
                              .num_arguments = argument_count,
                              .output_lists = &outputs,
                              .device_complete_events = event};
  xp_status status =
      xp_pjrt_answer(plugin, plugin->api.loaded_executable_execute(&args), "PJRT_LoadedExecutable_Execute", err);
  if (status == XP_OK && !has_all(executable, rows, event == NULL ? NULL : *event, event != NULL)) {
    return xp_pjrt_gave_nothing(plugin, "PJRT_LoadedExecutable_Execute", err);
  }
  return status;
}

static xp_status execute(const xp_pjrt_executable *executable, const call_rows *rows, size_t argument_count,
                         const xp_pjrt_execute_options *options, xp_pjrt_buffer **outputs, xp_pjrt_event **done,
                         xp_error *err)
{
  xp_pjrt_event *event = done == NULL ? NULL : malloc(sizeof *event);
  if ((done != NULL && event == NULL) || !make_outputs(executable, outputs)) {
    free(event);
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out before an execution with %zu outputs", executable->output_count);
  }
  xp_abi_event *handle = NULL;
  xp_status status = begin(executable, rows, argument_count, options, done == NULL ? NULL : &handle, err);
  if (status != XP_OK) {
    free_outputs(outputs, executable->output_count);
    free(event);
    return status;
  }
  for (size_t i = 0; i < executable->output_count; i++) {
    outputs[i]->handle = rows->outputs[i];
  }
  if (done != NULL) {
    *event = (xp_pjrt_event){executable->plugin, handle};
    *done = event;
  }
  return XP_OK;
}

static xp_status check_call(const xp_pjrt_executable *executable, xp_error *err)
{
  const xp_pjrt_plugin *plugin = executable->plugin;
  if (executable->loaded == NULL) {
    return xp_fail(err, XP_ERR_USAGE,
                   "A program that was compiled ahead of time cannot be executed; compile it with a client");
  }
  return plugin->api.loaded_executable_execute == NULL ? xp_pjrt_lacks(plugin, "PJRT_LoadedExecutable_Execute", err)
                                                       : XP_OK;
}

xp_status xp_pjrt_execute(const xp_pjrt_executable *executable, xp_pjrt_buffer *const *arguments, size_t argument_count,
                          const xp_pjrt_execute_options *options, xp_pjrt_buffer **outputs, xp_pjrt_event **done,
                          xp_error *err)
{
  static const xp_pjrt_execute_options no_options = {0};
  options = options == NULL ? &no_options : options;
  xp_status status = check_call(executable, err);
  if (status != XP_OK) {
    return status;
  }
  void *stack[ROWS_ON_STACK] = {0};
  call_rows rows;
  if (!make_rows(&rows, stack, argument_count, executable->output_count, options->kept_count)) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out before an execution with %zu arguments", argument_count);
  }
  for (size_t i = 0; i < argument_count; i++) {
    rows.arguments[i] = arguments[i]->handle;
  }
  for (size_t i = 0; i < options->kept_count; i++) {
    rows.kept[i] = (int64_t)options->kept[i];
  }
  status = execute(executable, &rows, argument_count, options, outputs, done, err);
  free(rows.memory);
  return status;
}
