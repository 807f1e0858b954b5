/* Compiling: the program itself (program.c), and which device the options name. */
#include <stdlib.h>

#include "device/executable.h"
#include "wire/wire.h"

enum {
  OPTIONS_BUILD = 3,
  BUILD_ORDINAL = 1,
  BUILD_REPLICAS = 4,
  BUILD_PARTITIONS = 5,
  BUILD_ASSIGNMENT = 9,
  ASSIGNMENT_COMPUTATION = 3,
  COMPUTATION_DEVICES = 1,
};

/* What CompileOptionsProto says that matters here. */
typedef struct {
  int64_t replicas, partitions;
  int64_t ordinal;  /* -1: none named */
  int64_t assigned; /* the first device of the assignment; -1: none */
} placement;

/* The first of the device ids, packed or not; -1 if there is none. */
static int64_t first_device(xp_str computation)
{
  xp_wire_reader r = xp_wire_open(computation);
  for (xp_wire_field field; xp_wire_next(&r, &field);) {
    if (field.number != COMPUTATION_DEVICES) {
      continue;
    }
    uint64_t id = field.value;
    const uint8_t *pos = (const uint8_t *)field.bytes.ptr;
    if (field.type == XP_WIRE_VARINT ||
        (field.type == XP_WIRE_BYTES && xp_wire_varint(&pos, pos + field.bytes.len, &id))) {
      return (int64_t)id;
    }
  }
  return -1;
}

static void read_assignment(xp_str message, placement *place)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field field; xp_wire_next(&r, &field);) {
    if (field.number == ASSIGNMENT_COMPUTATION && field.type == XP_WIRE_BYTES && place->assigned < 0) {
      place->assigned = first_device(field.bytes);
    }
  }
}

static void read_build_options(xp_str message, placement *place)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field field; xp_wire_next(&r, &field);) {
    if (field.number == BUILD_ASSIGNMENT && field.type == XP_WIRE_BYTES) {
      read_assignment(field.bytes, place);
    } else if (field.type == XP_WIRE_VARINT) {
      int64_t value = (int64_t)field.value;
      place->ordinal = field.number == BUILD_ORDINAL ? value : place->ordinal;
      place->replicas = field.number == BUILD_REPLICAS ? value : place->replicas;
      place->partitions = field.number == BUILD_PARTITIONS ? value : place->partitions;
    }
  }
}

static xp_abi_error *read_options(xp_str options, placement *place)
{
  *place = (placement){.replicas = 1, .partitions = 1, .ordinal = -1, .assigned = -1};
  xp_wire_reader r = xp_wire_open(options);
  for (xp_wire_field field; xp_wire_next(&r, &field);) {
    if (field.number == OPTIONS_BUILD && field.type == XP_WIRE_BYTES) {
      read_build_options(field.bytes, place);
    }
  }
  xp_error err;
  if (xp_wire_finish(&r, "The message of compile options", &err) != XP_OK) {
    return xp_dev_fail_as(&err);
  }
  if (place->replicas > 1 || place->partitions > 1) {
    return xp_dev_fail(
        XP_ABI_UNIMPLEMENTED,
        "The device runs a program on one device, not %lld replicas of %lld partitions; launch it once for "
        "each device.",
        (long long)place->replicas, (long long)place->partitions);
  }
  return NULL;
}

static xp_abi_error *place_on(xp_abi_client *client, const placement *place, xp_abi_device **device)
{
  int64_t id = place->assigned >= 0 ? place->assigned : place->ordinal >= 0 ? place->ordinal : 0;
  if (id >= client->options.device_count) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "The program is compiled for device %lld; the client has %lld.",
                       (long long)id, (long long)client->options.device_count);
  }
  *device = &client->devices[id];
  return NULL;
}

xp_abi_error *xp_dev_compile(xp_abi_client_compile_args *args)
{
  placement place;
  xp_abi_device *device = NULL;
  xp_abi_executable *program = NULL;
  xp_str options = xp_str_from(args->options, args->options_size);
  xp_abi_error *error = read_options(options, &place);
  if (error == NULL) {
    error = place_on(args->client, &place, &device);
  }
  if (error == NULL) {
    error = xp_dev_program_create(args->program, options, &program);
  }
  if (error != NULL) {
    return error;
  }
  xp_abi_loaded_executable *loaded = malloc(sizeof *loaded);
  if (loaded == NULL) {
    xp_dev_program_unref(program);
    return xp_dev_fail_memory();
  }
  *loaded = (xp_abi_loaded_executable){.program = program, .device = device};
  xp_dev_client_ref(device->client);
  args->executable = loaded;
  return NULL;
}

xp_abi_error *xp_dev_compile_ahead(xp_abi_compile_args *args)
{
  placement place;
  xp_str options = xp_str_from(args->options, args->options_size);
  xp_abi_error *error = read_options(options, &place);
  return error != NULL ? error : xp_dev_program_create(args->program, options, &args->executable);
}
