/* From the bytes of a program to what can be run.
 *
 * The program stays as it was sent: names, metadata and the entry computation.  Only its id becomes a new one, so that
 * what captures say of it cannot be taken for another program.  A second record of the same field at the end of a
 * message overrides the first one, so nothing has to be rewritten for that.
 */
#include "device/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hlo/read.h"
#include "wire/wire.h"

enum {
  MODULE_HOST_PROGRAM_SHAPE = 4,
  MODULE_ID = 5,
  MODULE_BUFFER_DONOR = 18,
  DONOR_ENTRIES = 1,
  DONOR_PARAMETER = 1,
  WITH_CONFIG_MODULE = 1,
  WITH_CONFIG_CONFIG = 2,
  CONFIG_ENTRY_LAYOUT = 1,
  CONFIG_REPLICAS = 4,
  CONFIG_PARTITIONS = 5,
};

static int64_t next_program_id;

/* ---------------------------------------------------------------- messages */

static xp_str keep(xp_abi_executable *program, xp_wire_writer *w)
{
  xp_str copy = {NULL, 0};
  if (!w->failed) {
    copy = xp_arena_copy(program->arena, xp_str_from((const char *)w->data, w->len));
  }
  xp_wire_writer_free(w);
  return copy;
}

/* The first field of a number in a message that is known to be sound. */
static xp_str bytes_field(xp_str message, uint32_t number)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field field; xp_wire_next(&r, &field);) {
    if (field.number == number && field.type == XP_WIRE_BYTES) {
      return field.bytes;
    }
  }
  return xp_str_from(NULL, 0);
}

static xp_str message_with_id(xp_abi_executable *program, xp_str module_message)
{
  xp_wire_writer tail = {0};
  xp_wire_put_varint(&tail, MODULE_ID, (uint64_t)program->program_id);
  char *whole = tail.failed ? NULL : xp_arena_alloc(program->arena, module_message.len + tail.len);
  xp_str message = {NULL, 0};
  if (whole != NULL) {
    memcpy(whole, module_message.ptr, module_message.len);
    memcpy(whole + module_message.len, tail.data, tail.len);
    message = xp_str_from(whole, module_message.len + tail.len);
  }
  xp_wire_writer_free(&tail);
  return message;
}

/* A config that says as much as a reader needs to make a module of it again. */
static void put_config(xp_wire_writer *w, xp_str message)
{
  xp_str layout = bytes_field(message, MODULE_HOST_PROGRAM_SHAPE);
  if (layout.len > 0) {
    xp_wire_put_bytes(w, CONFIG_ENTRY_LAYOUT, layout);
  }
  xp_wire_put_varint(w, CONFIG_REPLICAS, 1);
  xp_wire_put_varint(w, CONFIG_PARTITIONS, 1);
}

static xp_str wrap(xp_abi_executable *program, xp_str config)
{
  xp_wire_writer own = {0}, whole = {0};
  if (config.len == 0) {
    put_config(&own, program->message);
    config = xp_str_from((const char *)own.data, own.len);
  }
  xp_wire_put_bytes(&whole, WITH_CONFIG_MODULE, program->message);
  xp_wire_put_bytes(&whole, WITH_CONFIG_CONFIG, config);
  whole.failed = whole.failed || own.failed;
  xp_wire_writer_free(&own);
  return keep(program, &whole);
}

/* Sets message and with_config. */
static xp_abi_error *take_messages(xp_abi_executable *program, const xp_abi_program *source)
{
  xp_str format = xp_str_from(source->format, source->format_size);
  xp_str code = xp_str_from(source->code, source->code_size), module_message = code, config = {NULL, 0};
  if (xp_str_is(format, "hlo_with_config")) {
    xp_error err;
    if (xp_hlo_unwrap(code, &module_message, &err) != XP_OK) {
      return xp_dev_fail_as(&err);
    }
    config = bytes_field(code, WITH_CONFIG_CONFIG);
  } else if (!xp_str_is(format, "hlo")) {
    return xp_dev_fail(
        XP_ABI_UNIMPLEMENTED,
        "The device compiles programs of format \"hlo\" (a serialized HloModuleProto) or "
        "\"hlo_with_config\" (HloModuleProtoWithConfig), not \"%.*s\".  torch_xla sends \"hlo\"; JAX sends "
        "\"mlir\" only.",
        XP_STR_ARG(xp_str_take(format, 40)));
  }
  program->message = message_with_id(program, module_message);
  if (program->message.ptr == NULL) {
    return xp_dev_fail_memory();
  }
  snprintf(program->fingerprint, sizeof program->fingerprint, "%016llx",
           (unsigned long long)xp_str_hash(module_message));
  program->with_config = wrap(program, config);
  return program->with_config.ptr == NULL ? xp_dev_fail_memory() : NULL;
}

/* ---------------------------------------------------------------- inputs and outputs */

static size_t leaf_count(const xp_hlo_shape *shape)
{
  size_t count = shape->type == XP_HLO_TUPLE ? 0 : 1;
  for (size_t i = 0; i < shape->part_count; i++) {
    count += leaf_count(&shape->parts[i]);
  }
  return count;
}

/* Marks the parameter that a donor entry names.  Parts of tuples stay with the host: nothing would be gained by them.
 */
static void mark_donor(xp_abi_executable *program, xp_str entry)
{
  uint64_t parameter = 0;
  size_t input = 0;
  xp_wire_reader r = xp_wire_open(entry);
  for (xp_wire_field field; xp_wire_next(&r, &field);) {
    parameter = field.number == DONOR_PARAMETER && field.type == XP_WIRE_VARINT ? field.value : parameter;
  }
  if (parameter >= program->module->parameter_shape_count ||
      program->module->parameter_shapes[parameter].type == XP_HLO_TUPLE) {
    return;
  }
  for (uint64_t i = 0; i < parameter; i++) {
    input += leaf_count(&program->module->parameter_shapes[i]);
  }
  if (input < program->input_count) {
    program->inputs[input].is_given_away = true;
  }
}

static void mark_donors(xp_abi_executable *program)
{
  xp_wire_reader r = xp_wire_open(bytes_field(program->message, MODULE_BUFFER_DONOR));
  for (xp_wire_field field; xp_wire_next(&r, &field);) {
    if (field.number == DONOR_ENTRIES && field.type == XP_WIRE_BYTES) {
      mark_donor(program, field.bytes);
    }
  }
}

static xp_abi_error *read_arrays(xp_abi_executable *program)
{
  const xp_dev_plan *plan = program->plan;
  xp_abi_error *error = NULL;
  program->input_count = xp_dev_plan_input_count(plan);
  program->output_count = xp_dev_plan_output_count(plan);
  program->inputs = xp_arena_array(program->arena, program->input_count + 1, sizeof *program->inputs);
  program->outputs = xp_arena_array(program->arena, program->output_count + 1, sizeof *program->outputs);
  if (program->inputs == NULL || program->outputs == NULL) {
    return xp_dev_fail_memory();
  }
  for (size_t i = 0; i < program->input_count && error == NULL; i++) {
    error = xp_dev_shape_of_hlo(xp_dev_plan_input_shape(plan, i), &program->inputs[i].shape);
    program->input_bytes += (int64_t)program->inputs[i].shape.bytes;
  }
  for (size_t i = 0; i < program->output_count && error == NULL; i++) {
    xp_dev_array *output = &program->outputs[i];
    error = xp_dev_shape_of_hlo(xp_dev_plan_output_shape(plan, i), &output->shape);
    output->alias = xp_dev_plan_output_alias(plan, i);
    program->output_bytes += (int64_t)output->shape.bytes;
    if (output->alias >= 0) {
      program->inputs[output->alias].is_given_away = true;
      program->alias_bytes += (int64_t)output->shape.bytes;
    }
  }
  if (error == NULL) {
    mark_donors(program);
  }
  return error;
}

/* ---------------------------------------------------------------- what the C API wants */

static bool list_outputs(xp_abi_executable *program)
{
  size_t n = program->output_count, most = n > program->input_count ? n : program->input_count;
  program->output_types = xp_arena_array(program->arena, n + 1, sizeof *program->output_types);
  program->output_ranks = xp_arena_array(program->arena, n + 1, sizeof *program->output_ranks);
  program->output_dims = xp_arena_array(program->arena, n * XP_HLO_MAX_RANK + 1, sizeof *program->output_dims);
  program->memory_kinds = xp_arena_array(program->arena, most + 1, sizeof *program->memory_kinds);
  program->memory_kind_sizes = xp_arena_array(program->arena, most + 1, sizeof *program->memory_kind_sizes);
  if (program->output_types == NULL || program->output_ranks == NULL || program->output_dims == NULL ||
      program->memory_kinds == NULL || program->memory_kind_sizes == NULL) {
    return false;
  }
  int64_t *dims = program->output_dims;
  for (size_t i = 0; i < n; i++) {
    const xp_dev_shape *shape = &program->outputs[i].shape;
    program->output_types[i] = (int32_t)shape->type;
    program->output_ranks[i] = shape->rank;
    memcpy(dims, shape->dims, shape->rank * sizeof *dims);
    dims += shape->rank;
  }
  for (size_t i = 0; i < most; i++) {
    program->memory_kinds[i] = "device";
    program->memory_kind_sizes[i] = strlen("device");
  }
  return true;
}

static xp_abi_named_value property(const char *name, double value)
{
  return (xp_abi_named_value){.struct_size = sizeof(xp_abi_named_value),
                              .name = name,
                              .name_size = strlen(name),
                              .type = XP_ABI_VALUE_FLOAT,
                              .value.real = (float)value,
                              .value_size = 1};
}

static void sum_costs(xp_abi_executable *program)
{
  double flops = 0, bytes = 0;
  for (size_t i = 0; i < xp_dev_plan_step_count(program->plan); i++) {
    xp_dev_step_info step = xp_dev_plan_step(program->plan, i);
    flops += step.flops;
    bytes += step.bytes;
  }
  program->cost[0] = property("flops", flops);
  program->cost[1] = property("bytes accessed", bytes);
}

/* ---------------------------------------------------------------- programs */

static xp_abi_error *compile(xp_abi_executable *program, const xp_abi_program *source, xp_str options)
{
  xp_error err;
  xp_abi_error *error = take_messages(program, source);
  if (error != NULL) {
    return error;
  }
  if (xp_hlo_read(program->message, program->arena, &program->module, &err) != XP_OK ||
      xp_dev_plan_prepare(program->module, &program->plan, &err) != XP_OK) {
    return xp_dev_fail_as(&err);
  }
  program->name = program->module->name;
  program->options = xp_arena_copy(program->arena, options);
  error = read_arrays(program);
  if (error == NULL && (program->options.ptr == NULL || !list_outputs(program))) {
    error = xp_dev_fail_memory();
  }
  if (error == NULL) {
    sum_costs(program);
  }
  return error;
}

xp_abi_error *xp_dev_program_create(const xp_abi_program *source, xp_str options, xp_abi_executable **program)
{
  xp_abi_executable *made = calloc(1, sizeof *made);
  xp_arena *arena = xp_arena_create();
  if (made == NULL || arena == NULL) {
    free(made);
    xp_arena_destroy(arena);
    return xp_dev_fail_memory();
  }
  made->refs = 1;
  made->arena = arena;
  made->program_id = __atomic_add_fetch(&next_program_id, 1, __ATOMIC_RELAXED);
  xp_abi_error *error = compile(made, source, options);
  if (error != NULL) {
    xp_dev_program_unref(made);
    return error;
  }
  *program = made;
  return NULL;
}

xp_abi_executable *xp_dev_program_ref(xp_abi_executable *program)
{
  __atomic_fetch_add(&program->refs, 1, __ATOMIC_RELAXED);
  return program;
}

void xp_dev_program_unref(xp_abi_executable *program)
{
  if (program == NULL || __atomic_sub_fetch(&program->refs, 1, __ATOMIC_ACQ_REL) > 0) {
    return;
  }
  xp_dev_plan_destroy(program->plan);
  xp_arena_destroy(program->arena);
  free(program);
}
