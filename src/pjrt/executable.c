/* Programs: compiling them, and what can be asked of what comes out.
 *
 * A plugin has two objects for a program: the executable (what it is) and the loaded executable (it, on its device).
 * One of ours holds both, so that callers need not know which of them answers which question.
 */
#include <stdlib.h>

#include "pjrt/objects.h"

/* Fields of CompileOptionsProto, ExecutableBuildOptionsProto, DeviceAssignmentProto and its ComputationDevice. */
enum { EXECUTABLE_BUILD_OPTIONS = 3 };
enum { DEVICE_ORDINAL = 1, NUM_REPLICAS = 4, NUM_PARTITIONS = 5, DEVICE_ASSIGNMENT = 9 };
enum { REPLICA_COUNT = 1, COMPUTATION_COUNT = 2, COMPUTATION_DEVICES = 3 };
enum { REPLICA_DEVICE_IDS = 1 };

/* ---------------------------------------------------------------- compiling */

static void put_assignment(xp_wire_writer *build, int32_t device_id)
{
  xp_wire_writer computation = {0};
  xp_wire_writer assignment = {0};
  xp_wire_put_varint(&computation, REPLICA_DEVICE_IDS, (uint64_t)device_id);
  xp_wire_put_varint(&assignment, REPLICA_COUNT, 1);
  xp_wire_put_varint(&assignment, COMPUTATION_COUNT, 1);
  xp_wire_put_message(&assignment, COMPUTATION_DEVICES, &computation);
  xp_wire_put_message(build, DEVICE_ASSIGNMENT, &assignment);
  xp_wire_writer_free(&assignment);
  xp_wire_writer_free(&computation);
}

/* Numbers of replicas and partitions must be there.  A device_ordinal of -1 means that none is given, and leaving the
 * field out would give device 0; plugins choose the device by the assignment. */
void xp_pjrt_put_compile_options(xp_wire_writer *w, int32_t device_id)
{
  xp_wire_writer build = {0};
  xp_wire_put_varint(&build, DEVICE_ORDINAL, (uint64_t)INT64_C(-1));
  xp_wire_put_varint(&build, NUM_REPLICAS, 1);
  xp_wire_put_varint(&build, NUM_PARTITIONS, 1);
  if (device_id >= 0) {
    put_assignment(&build, device_id);
  }
  xp_wire_put_message(w, EXECUTABLE_BUILD_OPTIONS, &build);
  xp_wire_writer_free(&build);
}

xp_abi_program xp_pjrt_program_argument(xp_pjrt_program program)
{
  return (xp_abi_program){.struct_size = sizeof(xp_abi_program),
                          .code = (char *)(uintptr_t)program.bytes.ptr, /* that plugins only read */
                          .code_size = program.bytes.len,
                          .format = program.format.ptr,
                          .format_size = program.format.len};
}

xp_status xp_pjrt_executable_take(const xp_pjrt_plugin *plugin, xp_abi_executable *handle,
                                  xp_abi_loaded_executable *loaded, xp_pjrt_executable **executable, xp_error *err)
{
  xp_pjrt_executable *taken = malloc(sizeof *taken);
  if (taken == NULL) {
    xp_pjrt_release(plugin, plugin->api.executable_destroy, handle);
    xp_pjrt_release(plugin, plugin->api.loaded_executable_destroy, loaded);
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out for a program of the plugin %s", plugin->name);
  }
  uint64_t count = 0;
  *taken = (xp_pjrt_executable){.plugin = plugin, .handle = handle, .loaded = loaded};
  xp_status status = xp_pjrt_call_uint64(plugin, plugin->api.executable_num_outputs, "PJRT_Executable_NumOutputs",
                                         handle, &count, err);
  taken->output_count = (size_t)count;
  if (status != XP_OK) {
    xp_pjrt_executable_destroy(taken);
    return status;
  }
  *executable = taken;
  return XP_OK;
}

static xp_status compile(xp_pjrt_client *client, const xp_abi_program *program, const xp_wire_writer *options,
                         xp_pjrt_executable **executable, xp_error *err)
{
  const xp_pjrt_plugin *plugin = client->plugin;
  if (plugin->api.client_compile == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Client_Compile", err);
  }
  if (options->failed) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while a program was compiled");
  }
  xp_abi_client_compile_args args = {.struct_size = sizeof args,
                                     .client = client->handle,
                                     .program = program,
                                     .options = (const char *)options->data,
                                     .options_size = options->len};
  xp_status status = xp_pjrt_answer(plugin, plugin->api.client_compile(&args), "PJRT_Client_Compile", err);
  if (status == XP_OK && args.executable == NULL) {
    return xp_pjrt_gave_nothing(plugin, "PJRT_Client_Compile", err);
  }
  if (status != XP_OK) {
    return status;
  }
  void *handle = NULL;
  status = xp_pjrt_call_pointer(plugin, plugin->api.loaded_executable_get_executable,
                                "PJRT_LoadedExecutable_GetExecutable", args.executable, &handle, err);
  if (status != XP_OK) {
    xp_pjrt_release(plugin, plugin->api.loaded_executable_destroy, args.executable);
    return status;
  }
  return xp_pjrt_executable_take(plugin, handle, args.executable, executable, err);
}

xp_status xp_pjrt_compile(xp_pjrt_client *client, const xp_pjrt_device *device, xp_pjrt_program program,
                          xp_pjrt_executable **executable, xp_error *err)
{
  xp_wire_writer options = {0};
  xp_pjrt_put_compile_options(&options, (device == NULL ? client->devices : device)->id);
  xp_abi_program argument = xp_pjrt_program_argument(program);
  xp_status status = compile(client, &argument, &options, executable, err);
  xp_wire_writer_free(&options);
  return status;
}

void xp_pjrt_executable_destroy(xp_pjrt_executable *executable)
{
  if (executable != NULL) {
    const xp_pjrt_plugin *plugin = executable->plugin;
    xp_pjrt_release(plugin, plugin->api.executable_destroy, executable->handle);
    xp_pjrt_release(plugin, plugin->api.loaded_executable_destroy, executable->loaded);
    free(executable);
  }
}

/* ---------------------------------------------------------------- questions */

size_t xp_pjrt_executable_output_count(const xp_pjrt_executable *executable)
{
  return executable->output_count;
}

static xp_status output_types(const xp_pjrt_executable *executable, xp_pjrt_shape *shapes, xp_error *err)
{
  const char *function = "PJRT_Executable_OutputElementTypes";
  const void *items = NULL;
  size_t count = 0;
  xp_status status = xp_pjrt_call_list(executable->plugin, executable->plugin->api.executable_output_element_types,
                                       function, executable->handle, &items, &count, err);
  if (status == XP_OK && count != executable->output_count) {
    return xp_fail(err, XP_ERR_FORMAT, "%s of the plugin %s tells of %zu outputs, and there are %zu", function,
                   executable->plugin->name, count, executable->output_count);
  }
  for (size_t i = 0; status == XP_OK && i < count; i++) {
    shapes[i].type = (xp_abi_type)((const int32_t *)items)[i];
  }
  return status;
}

static xp_status output_dimensions(const xp_pjrt_executable *executable, xp_pjrt_shape *shapes, xp_error *err)
{
  const xp_pjrt_plugin *plugin = executable->plugin;
  const char *function = "PJRT_Executable_OutputDimensions";
  if (plugin->api.executable_output_dimensions == NULL) {
    return xp_pjrt_lacks(plugin, function, err);
  }
  xp_abi_output_dimensions_args args = {.struct_size = sizeof args, .executable = executable->handle};
  xp_status status = xp_pjrt_answer(plugin, plugin->api.executable_output_dimensions(&args), function, err);
  if (status != XP_OK) {
    return status;
  }
  if (args.num_outputs != executable->output_count || (args.num_outputs > 0 && args.ranks == NULL)) {
    return xp_fail(err, XP_ERR_FORMAT, "%s of the plugin %s tells of %zu outputs, and there are %zu", function,
                   plugin->name, args.num_outputs, executable->output_count);
  }
  const int64_t *dimensions = args.dimensions;
  for (size_t i = 0; i < args.num_outputs; i++) {
    shapes[i].rank = args.ranks[i];
    shapes[i].dimensions = dimensions;
    if (args.ranks[i] > 0) { /* plugins give no address where all outputs are scalars */
      dimensions += args.ranks[i];
    }
  }
  return XP_OK;
}

xp_status xp_pjrt_executable_output_shapes(const xp_pjrt_executable *executable, xp_pjrt_shape *shapes, xp_error *err)
{
  xp_status status = output_types(executable, shapes, err);
  return status == XP_OK ? output_dimensions(executable, shapes, err) : status;
}

xp_status xp_pjrt_executable_name(const xp_pjrt_executable *executable, xp_str *name, xp_error *err)
{
  return xp_pjrt_call_text(executable->plugin, executable->plugin->api.executable_name, "PJRT_Executable_Name",
                           executable->handle, name, err);
}

xp_status xp_pjrt_executable_fingerprint(const xp_pjrt_executable *executable, xp_str *fingerprint, xp_error *err)
{
  return xp_pjrt_call_text(executable->plugin, executable->plugin->api.executable_fingerprint,
                           "PJRT_Executable_Fingerprint", executable->handle, fingerprint, err);
}

/* ---------------------------------------------------------------- the optimised program */

static xp_status optimized(const xp_pjrt_executable *executable, xp_abi_program *program, xp_error *err)
{
  const xp_pjrt_plugin *plugin = executable->plugin;
  xp_abi_optimized_program_args args = {
      .struct_size = sizeof args, .executable = executable->handle, .program = program};
  return xp_pjrt_answer(plugin, plugin->api.executable_optimized_program(&args), "PJRT_Executable_OptimizedProgram",
                        err);
}

/* The format stands behind the bytes, so that one piece holds both. */
xp_status xp_pjrt_executable_optimized(const xp_pjrt_executable *executable, xp_pjrt_program *program, xp_error *err)
{
  const xp_pjrt_plugin *plugin = executable->plugin;
  if (plugin->api.executable_optimized_program == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Executable_OptimizedProgram", err);
  }
  xp_abi_program size = {.struct_size = sizeof size};
  xp_status status = optimized(executable, &size, err);
  if (status != XP_OK) {
    return status;
  }
  size_t room = 0;
  char *bytes = NULL;
  if (!__builtin_add_overflow(size.code_size, size.format_size, &room) && room < SIZE_MAX) {
    bytes = calloc(room + 1, 1);
  }
  if (bytes == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out for an optimised program of %zu bytes", size.code_size);
  }
  xp_abi_program filled = {.struct_size = sizeof filled, .code = bytes, .code_size = size.code_size};
  status = optimized(executable, &filled, err);
  if (status != XP_OK) {
    free(bytes);
    return status;
  }
  if (size.format_size > 0) {
    memcpy(bytes + size.code_size, size.format, size.format_size);
  }
  *program =
      (xp_pjrt_program){xp_str_from(bytes + size.code_size, size.format_size), xp_str_from(bytes, size.code_size)};
  return XP_OK;
}

void xp_pjrt_program_free(xp_pjrt_program *program)
{
  if (program != NULL) {
    free((char *)(uintptr_t)program->bytes.ptr);
    *program = (xp_pjrt_program){{NULL, 0}, {NULL, 0}};
  }
}
