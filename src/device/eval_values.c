/* Values while a plan is made.
 *
 * The leaves of a value always carry the shapes that its instruction declares.  Where an instruction passes arrays on,
 * each declared leaf is held against the array it gets: same type and extents, or as many elements for a reshape.  So a
 * module that contradicts itself is refused here, and no later code sees an array that is shorter than its shape.
 */
#include "device/eval_values.h"

#include "base/map.h"

#define MAX_DEPTH 32

const uint8_t xp_dev_type_sizes[XP_DEV_TYPE_COUNT] = {
    [XP_DEV_PRED] = 1, [XP_DEV_S8] = 1,  [XP_DEV_S16] = 2,  [XP_DEV_S32] = 4, [XP_DEV_S64] = 8,
    [XP_DEV_U8] = 1,   [XP_DEV_U16] = 2, [XP_DEV_U32] = 4,  [XP_DEV_U64] = 8, [XP_DEV_F32] = 4,
    [XP_DEV_F64] = 8,  [XP_DEV_F16] = 2, [XP_DEV_BF16] = 2,
};

bool xp_dev_type_of(xp_hlo_type type, xp_dev_type *found)
{
  static const uint8_t types[XP_HLO_TYPE_COUNT] = {
      [XP_HLO_PRED] = XP_DEV_PRED + 1, [XP_HLO_S8] = XP_DEV_S8 + 1,   [XP_HLO_S16] = XP_DEV_S16 + 1,
      [XP_HLO_S32] = XP_DEV_S32 + 1,   [XP_HLO_S64] = XP_DEV_S64 + 1, [XP_HLO_U8] = XP_DEV_U8 + 1,
      [XP_HLO_U16] = XP_DEV_U16 + 1,   [XP_HLO_U32] = XP_DEV_U32 + 1, [XP_HLO_U64] = XP_DEV_U64 + 1,
      [XP_HLO_F16] = XP_DEV_F16 + 1,   [XP_HLO_F32] = XP_DEV_F32 + 1, [XP_HLO_F64] = XP_DEV_F64 + 1,
      [XP_HLO_BF16] = XP_DEV_BF16 + 1,
  };
  unsigned found_plus_1 = (unsigned)type < XP_HLO_TYPE_COUNT ? types[type] : 0;
  *found = (xp_dev_type)(found_plus_1 > 0 ? found_plus_1 - 1 : 0);
  return found_plus_1 > 0;
}

bool xp_dev_calls_programs(xp_hlo_opcode opcode)
{
  return opcode == XP_HLO_OP_WHILE || opcode == XP_HLO_OP_CONDITIONAL || opcode == XP_HLO_OP_CALL ||
         opcode == XP_HLO_OP_FUSION;
}

/* False if the extents, those of 0 left out, are more than indices can count: later code multiplies them freely. */
static bool are_countable(const xp_hlo_shape *shape)
{
  int64_t product = 8;
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dims[i] > 0 && __builtin_mul_overflow(product, shape->dims[i], &product)) {
      return false;
    }
  }
  return true;
}

/* Counts the leaves of a shape, and writes them if `leaves` is not NULL.  0 with an error in *status. */
static xp_status flatten(xp_dev_context *context, const xp_hlo_shape *shape, xp_dev_leaf *leaves, uint32_t *count,
                         int depth)
{
  if (shape->type == XP_HLO_TUPLE) {
    xp_status status = depth >= MAX_DEPTH ? xp_dev_reject(context, "its tuple is nested too deeply") : XP_OK;
    for (size_t i = 0; status == XP_OK && i < shape->part_count; i++) {
      status = flatten(context, &shape->parts[i], leaves, count, depth + 1);
    }
    return status;
  }
  xp_dev_type type;
  bool is_token = shape->type == XP_HLO_TOKEN;
  if (!xp_dev_type_of(shape->type, &type) && !is_token) {
    return xp_fail(context->err, XP_ERR_USAGE, "type %s of instruction %%%.*s is not supported by this device",
                   xp_hlo_type_name(shape->type), XP_STR_ARG(context->instruction->name));
  }
  if (shape->dynamic != 0) {
    return xp_dev_reject(context, "this device has no arrays of dynamic size");
  }
  if (!is_token && !are_countable(shape)) {
    return xp_dev_reject(context, "its extents are too large");
  }
  if (leaves != NULL) {
    leaves[*count] = (xp_dev_leaf){shape, type, XP_NONE, is_token ? 0 : xp_hlo_shape_elements(shape)};
  }
  ++*count;
  return XP_OK;
}

static xp_status leaves_of(xp_dev_context *context, const xp_hlo_shape *shape, xp_dev_value *value)
{
  uint32_t count = 0;
  xp_status status = flatten(context, shape, NULL, &count, 0);
  if (status != XP_OK) {
    return status;
  }
  value->leaves = xp_arena_array(context->plan->arena, count, sizeof *value->leaves);
  value->count = 0;
  return flatten(context, shape, value->leaves, &value->count, 0);
}

xp_status xp_dev_value_make(xp_dev_context *context, xp_dev_value *value)
{
  xp_status status = leaves_of(context, &context->instruction->shape, value);
  for (uint32_t i = 0; status == XP_OK && i < value->count; i++) {
    value->leaves[i].slot = xp_dev_slot_add(context, xp_dev_leaf_bytes(value->leaves[i]));
  }
  return status;
}

void xp_dev_values_of_operands(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  uint32_t count = 0;
  for (size_t i = 0; i < instruction->operand_count; i++) {
    count += context->program->values[instruction->operands[i]].count;
  }
  xp_dev_leaf *in = xp_arena_array(context->plan->arena, count, sizeof *in);
  for (size_t i = 0; i < instruction->operand_count; i++) {
    const xp_dev_value *value = &context->program->values[instruction->operands[i]];
    if (value->count > 0) {
      memcpy(in + step->in_count, value->leaves, value->count * sizeof *in);
    }
    step->in_count += value->count;
  }
  step->in = in;
}

/* ---------------------------------------------------------------- inputs */

xp_status xp_dev_values_of_inputs(xp_dev_context *context)
{
  xp_dev_program *program = context->program;
  const xp_hlo_computation *computation = program->computation;
  uint32_t total = 0;
  for (uint32_t i = 0; i < computation->parameter_count; i++) {
    xp_dev_value *value = &program->values[computation->parameters[i]];
    context->instruction = &computation->instructions[computation->parameters[i]];
    xp_status status = xp_dev_value_make(context, value);
    if (status != XP_OK) {
      return status;
    }
    total += value->count;
  }
  program->inputs.leaves = xp_arena_array(context->plan->arena, total, sizeof *program->inputs.leaves);
  for (uint32_t i = 0; i < computation->parameter_count; i++) {
    const xp_dev_value *value = &program->values[computation->parameters[i]];
    for (uint32_t k = 0; k < value->count; k++) {
      xp_dev_slot *slot = &program->slots[value->leaves[k].slot];
      slot->place = XP_DEV_IN_INPUT;
      slot->number = program->inputs.count;
      program->inputs.leaves[program->inputs.count++] = value->leaves[k];
    }
  }
  return XP_OK;
}

static xp_status pass_constant(xp_dev_context *context, xp_dev_value *value)
{
  uint32_t next = 0;
  xp_status status = xp_dev_value_make(context, value);
  if (status == XP_OK && context->instruction->literal == NULL) {
    status = xp_dev_reject(context, "it has no literal");
  }
  if (status == XP_OK) {
    status = xp_dev_constant_place(context, context->instruction->literal, value, &next);
  }
  return status == XP_OK && next != value->count ? xp_dev_reject(context, "its literal is not of its shape") : status;
}

/* ---------------------------------------------------------------- passing on */

/* How strictly a passed array must be of the declared shape. */
typedef enum { SAME_SHAPE, SAME_COUNT, SAME_BYTES } sameness;

static bool is_as_declared(const xp_dev_leaf *declared, const xp_dev_leaf *passed, sameness how)
{
  switch (how) {
  case SAME_SHAPE:
    return xp_hlo_shape_same(declared->shape, passed->shape);
  case SAME_COUNT:
    return declared->shape->type == passed->shape->type && declared->count == passed->count;
  default:
    return xp_dev_leaf_bytes(*declared) == xp_dev_leaf_bytes(*passed);
  }
}

static xp_status pass(xp_dev_context *context, const xp_dev_leaf *from, uint32_t count, sameness how,
                      xp_dev_value *value)
{
  xp_status status = leaves_of(context, &context->instruction->shape, value);
  if (status == XP_OK && value->count != count) {
    status = xp_dev_reject(context, "its shape is not that of its operands");
  }
  for (uint32_t i = 0; status == XP_OK && i < count; i++) {
    if (!is_as_declared(&value->leaves[i], &from[i], how)) {
      return xp_dev_reject(context, "its shape is not that of its operands");
    }
    value->leaves[i].slot = from[i].slot;
  }
  return status;
}

static xp_status pass_element(xp_dev_context *context, xp_dev_value *value)
{
  const xp_hlo_instruction *instruction = context->instruction;
  const xp_hlo_instruction *operand = xp_hlo_operand(context->program->computation, instruction, 0);
  if (operand->shape.type != XP_HLO_TUPLE || instruction->tuple_index < 0 ||
      (size_t)instruction->tuple_index >= operand->shape.part_count) {
    return xp_dev_reject(context, "its operand has no such element");
  }
  uint32_t first = 0, count = 0;
  xp_status status = XP_OK;
  for (size_t i = 0; status == XP_OK && i < (size_t)instruction->tuple_index; i++) {
    status = flatten(context, &operand->shape.parts[i], NULL, &first, 0);
  }
  if (status == XP_OK) {
    status = flatten(context, &operand->shape.parts[instruction->tuple_index], NULL, &count, 0);
  }
  const xp_dev_value *tuple = &context->program->values[instruction->operands[0]];
  return status != XP_OK ? status : pass(context, tuple->leaves + first, count, SAME_SHAPE, value);
}

/* A broadcast that adds dimensions of 1 only. */
static bool is_reshape(const xp_dev_context *context)
{
  const xp_hlo_instruction *instruction = context->instruction;
  const xp_hlo_shape *from = &xp_hlo_operand(context->program->computation, instruction, 0)->shape;
  if (!xp_hlo_shape_is_array(from) || !xp_hlo_shape_is_array(&instruction->shape) ||
      xp_hlo_shape_elements(from) != xp_hlo_shape_elements(&instruction->shape)) {
    return false;
  }
  for (size_t i = 1; i < instruction->dimensions.count; i++) {
    if (instruction->dimensions.values[i] <= instruction->dimensions.values[i - 1]) {
      return false;
    }
  }
  return true;
}

xp_status xp_dev_value_pass(xp_dev_context *context, xp_dev_value *value, bool *is_passed)
{
  const xp_hlo_instruction *instruction = context->instruction;
  xp_dev_step operands = {0};
  bool has_operand = instruction->operand_count > 0;
  *is_passed = true;
  switch (instruction->opcode) {
  case XP_HLO_OP_PARAMETER:
    return XP_OK;
  case XP_HLO_OP_CONSTANT:
    return pass_constant(context, value);
  case XP_HLO_OP_GET_TUPLE_ELEMENT:
    return has_operand ? pass_element(context, value) : xp_dev_reject(context, "it has no operand");
  case XP_HLO_OP_AFTER_ALL:
    return xp_dev_value_make(context, value);
  case XP_HLO_OP_TUPLE:
  case XP_HLO_OP_DOMAIN:
  case XP_HLO_OP_OPT_BARRIER:
  case XP_HLO_OP_COPY:
  case XP_HLO_OP_REAL: /* of numbers that are not complex */
    xp_dev_values_of_operands(context, &operands);
    return pass(context, operands.in, operands.in_count, SAME_SHAPE, value);
  case XP_HLO_OP_ADD_DEPENDENCY:
  case XP_HLO_OP_RESHAPE:
  case XP_HLO_OP_BITCAST:
  case XP_HLO_OP_BITCAST_CONVERT:
    xp_dev_values_of_operands(context, &operands);
    return pass(context, operands.in, instruction->operand_count > 0 && operands.in_count > 0,
                instruction->opcode == XP_HLO_OP_RESHAPE ? SAME_COUNT : SAME_BYTES, value);
  case XP_HLO_OP_BROADCAST:
    if (has_operand && is_reshape(context)) {
      xp_dev_values_of_operands(context, &operands);
      return pass(context, operands.in, operands.in_count, SAME_COUNT, value);
    }
    break;
  default:
    break;
  }
  *is_passed = false;
  return XP_OK;
}

/* ---------------------------------------------------------------- aliases */

/* The flat number of the array that a path leads to in a shape, counted from `first`; -1 if there is none. */
static int64_t flat_number(xp_dev_context *context, const xp_hlo_shape *shape, xp_hlo_list path, uint32_t first)
{
  for (size_t i = 0; i < path.count; i++) {
    if (shape->type != XP_HLO_TUPLE || path.values[i] < 0 || (size_t)path.values[i] >= shape->part_count) {
      return -1;
    }
    for (int64_t k = 0; k < path.values[i]; k++) {
      if (flatten(context, &shape->parts[k], NULL, &first, 0) != XP_OK) {
        return -1;
      }
    }
    shape = &shape->parts[path.values[i]];
  }
  return shape->type == XP_HLO_TUPLE ? -1 : (int64_t)first;
}

xp_status xp_dev_aliases_read(xp_dev_context *context)
{
  const xp_dev_program *program = context->program;
  const xp_hlo_module *module = context->plan->module;
  int64_t *aliases = xp_arena_array(context->plan->arena, program->root.count, sizeof *aliases);
  bool *is_taken = xp_arena_alloc(context->plan->arena, program->inputs.count);
  for (uint32_t i = 0; i < program->root.count; i++) {
    aliases[i] = -1;
  }
  for (size_t a = 0; a < module->alias_count; a++) {
    const xp_hlo_alias *alias = &module->aliases[a];
    if (alias->parameter_number < 0 || alias->parameter_number >= program->computation->parameter_count) {
      return xp_fail(context->err, XP_ERR_USAGE, "an alias of the module names a parameter that it does not have");
    }
    uint32_t first = 0;
    for (int64_t p = 0; p < alias->parameter_number; p++) {
      first += program->values[program->computation->parameters[p]].count;
    }
    int64_t input =
        flat_number(context, &xp_hlo_parameter(program->computation, (size_t)alias->parameter_number)->shape,
                    alias->parameter_index, first);
    int64_t output = flat_number(context, &xp_hlo_root(program->computation)->shape, alias->output_index, 0);
    if (input < 0 || output < 0 || is_taken[input] ||
        xp_dev_leaf_bytes(program->inputs.leaves[input]) != xp_dev_leaf_bytes(program->root.leaves[output])) {
      return xp_fail(context->err, XP_ERR_USAGE,
                     "an alias of the module joins an output and a parameter that do not fit");
    }
    aliases[output] = input;
    is_taken[input] = true;
  }
  context->plan->aliases = aliases;
  return XP_OK;
}
