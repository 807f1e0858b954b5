/* Fuzz target: a program for the embedded device.
 *
 * What can be compiled tells its inputs, outputs and costs, and runs with inputs of zeros if it is small.  Loops may
 * have no end, so what has one is not run. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "device/plugin.h"

enum { MAX_ARRAYS = 16, MAX_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_good(xp_abi_error *error)
{
  xp_abi_object_args args = {.struct_size = sizeof args, .object = error};
  if (error != NULL) {
    xp_device_api()->error_destroy(&args);
  }
  return error == NULL;
}

static void must(bool is_true)
{
  if (!is_true) {
    abort();
  }
}

static void destroy(xp_abi_object_function *function, void *object)
{
  xp_abi_object_args args = {.struct_size = sizeof args, .object = object};
  must(is_good(function(&args)));
}

static xp_abi_client *client(void)
{
  static xp_abi_client *only;
  if (only == NULL) {
    xp_abi_named_value limit = {.struct_size = sizeof limit,
                                .name = "memory_limit_bytes",
                                .name_size = strlen("memory_limit_bytes"),
                                .type = XP_ABI_VALUE_INT64,
                                .value.number = 64 * MAX_BYTES,
                                .value_size = 1};
    xp_abi_client_create_args args = {.struct_size = sizeof args, .create_options = &limit, .num_options = 1};
    must(is_good(xp_device_api()->client_create(&args)));
    only = args.client;
  }
  return only;
}

/* True if what the program needs and does is little. */
static bool is_small(xp_abi_executable *executable)
{
  xp_abi_compiled_memory_stats_args memory = {.struct_size = sizeof memory, .executable = executable};
  xp_abi_values_args cost = {.struct_size = sizeof cost, .object = executable};
  xp_abi_uint64_args outputs = {.struct_size = sizeof outputs, .object = executable};
  must(is_good(xp_device_api()->executable_get_compiled_memory_stats(&memory)));
  must(is_good(xp_device_api()->executable_get_cost_analysis(&cost)));
  must(is_good(xp_device_api()->executable_num_outputs(&outputs)));
  return memory.peak_memory_bytes < MAX_BYTES && outputs.value <= MAX_ARRAYS && cost.items[0].value.real < 1e6f &&
         cost.items[1].value.real < 1e7f;
}

/* Launches without arguments: programs with parameters are refused, others run. */
static void run(xp_abi_loaded_executable *loaded)
{
  xp_abi_buffer *results[MAX_ARRAYS] = {NULL}, **outputs = results;
  xp_abi_buffer *const *inputs = NULL;
  xp_abi_event *done = NULL;
  xp_abi_execute_args args = {.struct_size = sizeof args,
                              .executable = loaded,
                              .argument_lists = &inputs,
                              .num_devices = 1,
                              .output_lists = &outputs,
                              .device_complete_events = &done};
  if (!is_good(xp_device_api()->loaded_executable_execute(&args))) {
    return;
  }
  xp_abi_object_args await = {.struct_size = sizeof await, .object = done};
  is_good(xp_device_api()->event_await(&await));
  destroy(xp_device_api()->event_destroy, done);
  for (size_t i = 0; i < MAX_ARRAYS; i++) {
    destroy(xp_device_api()->buffer_destroy, results[i]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *code = malloc(size + 1); /* its end is where a sanitizer looks */
  must(code != NULL);
  memcpy(code, data, size);
  xp_abi_program program = {
      .struct_size = sizeof program, .code = code, .code_size = size, .format = "hlo", .format_size = 3};
  xp_abi_client_compile_args args = {.struct_size = sizeof args,
                                     .client = client(),
                                     .program = &program,
                                     .options = code,
                                     .options_size = size < 32 ? size : 0};
  if (is_good(xp_device_api()->client_compile(&args))) {
    xp_abi_pointer_args executable = {.struct_size = sizeof executable, .object = args.executable};
    must(is_good(xp_device_api()->loaded_executable_get_executable(&executable)));
    if (is_small(executable.value) && memmem(code, size, "while", 5) == NULL) {
      run(args.executable);
    }
    destroy(xp_device_api()->executable_destroy, executable.value);
    destroy(xp_device_api()->loaded_executable_destroy, args.executable);
  }
  free(code);
  return 0;
}
