/* What the host may ask of a program. */
#include "device/executable.h"

#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

xp_abi_error *xp_dev_executable_destroy(xp_abi_object_args *args)
{
  xp_dev_program_unref(args->object);
  return NULL;
}

xp_abi_error *xp_dev_executable_name(xp_abi_text_args *args)
{
  const xp_abi_executable *program = args->object;
  args->text = program->name.ptr;
  args->text_size = program->name.len;
  return NULL;
}

/* Replicas, and partitions. */
xp_abi_error *xp_dev_executable_one(xp_abi_uint64_args *args)
{
  args->value = 1;
  return NULL;
}

xp_abi_error *xp_dev_executable_output_count(xp_abi_uint64_args *args)
{
  args->value = ((const xp_abi_executable *)args->object)->output_count;
  return NULL;
}

/* There is no code: the program itself is interpreted. */
xp_abi_error *xp_dev_executable_code_size(xp_abi_uint64_args *args)
{
  args->value = ((const xp_abi_executable *)args->object)->message.len;
  return NULL;
}

xp_abi_error *xp_dev_executable_cost(xp_abi_values_args *args)
{
  args->items = ((const xp_abi_executable *)args->object)->cost;
  args->count = XP_DEV_COST_COUNT;
  return NULL;
}

static xp_abi_error *answer_kinds(xp_abi_memory_kinds_args *args, size_t count)
{
  const xp_abi_executable *program = args->executable;
  args->kinds = program->memory_kinds;
  args->kind_sizes = program->memory_kind_sizes;
  args->count = count;
  return NULL;
}

xp_abi_error *xp_dev_executable_output_kinds(xp_abi_memory_kinds_args *args)
{
  return answer_kinds(args, args->executable->output_count);
}

xp_abi_error *xp_dev_executable_parameter_kinds(xp_abi_memory_kinds_args *args)
{
  return answer_kinds(args, args->executable->input_count);
}

xp_abi_error *xp_dev_executable_optimized(xp_abi_optimized_program_args *args)
{
  xp_str message = args->executable->with_config;
  xp_abi_program *program = args->program;
  program->format = "hlo_with_config";
  program->format_size = strlen(program->format);
  if (program->code != NULL) {
    if (program->code_size < message.len) {
      return xp_dev_fail(XP_ABI_INVALID_ARGUMENT,
                         "PJRT_Executable_OptimizedProgram: there is room for %zu bytes, the program has %zu.",
                         program->code_size, message.len);
    }
    memcpy(program->code, message.ptr, message.len);
  }
  program->code_size = message.len;
  return NULL;
}

xp_abi_error *xp_dev_executable_output_types(xp_abi_list_args *args)
{
  const xp_abi_executable *program = args->object;
  args->items = program->output_types;
  args->count = program->output_count;
  return NULL;
}

xp_abi_error *xp_dev_executable_output_dims(xp_abi_output_dimensions_args *args)
{
  const xp_abi_executable *program = args->executable;
  args->num_outputs = program->output_count;
  args->dimensions = program->output_dims;
  args->ranks = program->output_ranks;
  return NULL;
}

static xp_abi_error *answer_fingerprint(xp_abi_text_args *args, const xp_abi_executable *program)
{
  args->text = program->fingerprint;
  args->text_size = strlen(program->fingerprint);
  return NULL;
}

xp_abi_error *xp_dev_executable_fingerprint(xp_abi_text_args *args)
{
  return answer_fingerprint(args, args->object);
}

xp_abi_error *xp_dev_executable_memory_stats(xp_abi_compiled_memory_stats_args *args)
{
  const xp_abi_executable *program = args->executable;
  int64_t temp = (int64_t)xp_dev_plan_temp_bytes(program->plan);
  int64_t total = program->input_bytes + program->output_bytes - program->alias_bytes + temp;
  args->generated_code_bytes = (int64_t)program->message.len;
  args->argument_bytes = program->input_bytes;
  args->output_bytes = program->output_bytes;
  args->alias_bytes = program->alias_bytes;
  args->temp_bytes = temp;
  args->host_generated_code_bytes = 0;
  args->host_argument_bytes = 0;
  args->host_output_bytes = 0;
  args->host_alias_bytes = 0;
  args->host_temp_bytes = 0;
  if (XP_ABI_HAS(args, peak_memory_bytes)) {
    args->peak_memory_bytes = total;
  }
  if (XP_ABI_HAS(args, peak_unpadded_heap_bytes)) {
    args->total_bytes = total;
    args->total_allocation_bytes = total;
    args->indefinite_allocations = 0;
    args->peak_unpadded_heap_bytes = temp;
  }
  return NULL;
}

/* ---------------------------------------------------------------- bytes that the host frees */

static xp_abi_error *answer_bytes(xp_abi_bytes_args *args, xp_str bytes)
{
  char *copy = malloc(bytes.len + 1);
  if (copy == NULL) {
    return xp_dev_fail_memory();
  }
  memcpy(copy, bytes.ptr != NULL ? bytes.ptr : "", bytes.len);
  args->bytes = copy;
  args->bytes_size = bytes.len;
  args->storage = copy;
  args->deleter = free;
  return NULL;
}

xp_abi_error *xp_dev_executable_options(xp_abi_bytes_args *args)
{
  return answer_bytes(args, ((const xp_abi_executable *)args->object)->options);
}

/* A DeviceAssignmentProto: one replica of one computation on the one device. */
xp_abi_error *xp_dev_loaded_assignment(xp_abi_bytes_args *args)
{
  const xp_abi_loaded_executable *loaded = args->object;
  xp_wire_writer devices = {0}, assignment = {0};
  xp_wire_put_varint(&devices, 1, (uint64_t)loaded->device->ordinal);
  xp_wire_put_varint(&assignment, 1, 1);
  xp_wire_put_varint(&assignment, 2, 1);
  xp_wire_put_message(&assignment, 3, &devices);
  bool failed = devices.failed || assignment.failed;
  xp_abi_error *error =
      failed ? xp_dev_fail_memory() : answer_bytes(args, xp_str_from((const char *)assignment.data, assignment.len));
  xp_wire_writer_free(&devices);
  xp_wire_writer_free(&assignment);
  return error;
}

/* ---------------------------------------------------------------- PJRT_LoadedExecutable_* */

xp_abi_error *xp_dev_loaded_destroy(xp_abi_object_args *args)
{
  xp_abi_loaded_executable *loaded = args->object;
  if (loaded != NULL) {
    xp_dev_program_unref(loaded->program);
    xp_dev_client_unref(loaded->device->client);
    free(loaded);
  }
  return NULL;
}

xp_abi_error *xp_dev_loaded_executable(xp_abi_pointer_args *args)
{
  args->value = xp_dev_program_ref(((const xp_abi_loaded_executable *)args->object)->program);
  return NULL;
}

xp_abi_error *xp_dev_loaded_devices(xp_abi_list_args *args)
{
  const xp_abi_device *device = ((const xp_abi_loaded_executable *)args->object)->device;
  args->items = &device->client->device_list[device->ordinal];
  args->count = 1;
  return NULL;
}

xp_abi_error *xp_dev_loaded_logical_ids(xp_abi_list_args *args)
{
  static const int32_t first_of_first[2] = {0, 0}; /* replica, partition */
  args->items = first_of_first;
  args->count = 1;
  return NULL;
}

xp_abi_error *xp_dev_loaded_delete(xp_abi_object_args *args)
{
  __atomic_store_n(&((xp_abi_loaded_executable *)args->object)->is_deleted, true, __ATOMIC_RELAXED);
  return NULL;
}

xp_abi_error *xp_dev_loaded_is_deleted(xp_abi_bool_args *args)
{
  args->value = __atomic_load_n(&((xp_abi_loaded_executable *)args->object)->is_deleted, __ATOMIC_RELAXED);
  return NULL;
}

xp_abi_error *xp_dev_loaded_fingerprint(xp_abi_text_args *args)
{
  return answer_fingerprint(args, ((const xp_abi_loaded_executable *)args->object)->program);
}
