/* Computations of scalars, translated to operations on registers.
 *
 * Calls are translated in place.  Tuples, reshapes and the like only rename registers.  The numbers of operations and
 * of instructions looked at are bounded, since computations that call each other twice double them at each level.
 */
#include "device/eval_scalar.h"

#include "base/map.h"

#define MAX_OPS          4096
#define MAX_DEPTH        64
#define MAX_INSTRUCTIONS (1 << 16)

struct xp_dev_scalar_op {
  xp_dev_element element;
  uint32_t out, in[3];
};

struct xp_dev_scalar_constant {
  uint32_t number; /* register */
  const void *value;
  size_t size;
};

/* The registers of an instruction's value. */
typedef struct {
  uint32_t *registers;
  size_t count;
} names;

typedef struct {
  xp_dev_context *context;
  xp_arena *arena;
  xp_dev_scalar_op *ops;
  xp_dev_scalar_constant *constants;
  xp_dev_type *types; /* of registers */
  size_t op_count, op_capacity, constant_count, constant_capacity, register_count, register_capacity;
  size_t instruction_count; /* looked at so far */
  int depth;                /* of calls */
} translation;

static xp_status reject(translation *t)
{
  return xp_dev_reject(t->context, "it calls a computation that is more than operations on scalars");
}

static uint32_t new_register(translation *t, xp_dev_type type)
{
  t->types = xp_arena_grow(t->arena, t->types, t->register_count, &t->register_capacity, sizeof *t->types);
  t->types[t->register_count] = type;
  return (uint32_t)t->register_count++;
}

static names one_name(translation *t, uint32_t number)
{
  names value = {xp_arena_alloc(t->arena, sizeof(uint32_t)), 1};
  value.registers[0] = number;
  return value;
}

static xp_status translate_constant(translation *t, const xp_hlo_instruction *instruction, names *value)
{
  xp_dev_type type;
  const xp_hlo_literal *literal = instruction->literal;
  if (literal == NULL || !xp_dev_type_of(literal->shape.type, &type) || literal->bytes.len != xp_dev_type_sizes[type]) {
    return reject(t);
  }
  uint64_t *copy = xp_arena_alloc(t->arena, sizeof *copy);
  memcpy(copy, literal->bytes.ptr, literal->bytes.len);
  *value = one_name(t, new_register(t, type));
  t->constants = xp_arena_grow(t->arena, t->constants, t->constant_count, &t->constant_capacity, sizeof *t->constants);
  t->constants[t->constant_count++] = (xp_dev_scalar_constant){value->registers[0], copy, literal->bytes.len};
  return XP_OK;
}

static xp_status translate_op(translation *t, const xp_hlo_instruction *instruction, const names *values, names *value)
{
  xp_dev_type types[3], out;
  xp_dev_scalar_op op = {0};
  if (instruction->operand_count > 3 || !xp_dev_type_of(instruction->shape.type, &out) ||
      xp_hlo_shape_elements(&instruction->shape) != 1 || t->op_count >= MAX_OPS) {
    return reject(t);
  }
  for (size_t i = 0; i < instruction->operand_count; i++) {
    const names *operand = &values[instruction->operands[i]];
    if (operand->count != 1) {
      return reject(t);
    }
    op.in[i] = operand->registers[0];
    types[i] = t->types[op.in[i]];
  }
  if (!xp_dev_element_find(t->context->plan->kernels, instruction, types, (uint32_t)instruction->operand_count, out,
                           &op.element)) {
    return reject(t);
  }
  op.out = new_register(t, out);
  *value = one_name(t, op.out);
  t->ops = xp_arena_grow(t->arena, t->ops, t->op_count, &t->op_capacity, sizeof *t->ops);
  t->ops[t->op_count++] = op;
  return XP_OK;
}

/* One element, seen as another type of the same size, or as it is. */
static xp_status translate_pass(translation *t, const xp_hlo_instruction *instruction, const names *values,
                                names *value)
{
  xp_dev_type type;
  const names *from = instruction->operand_count > 0 ? &values[instruction->operands[0]] : NULL;
  if (from == NULL || from->count != 1 || !xp_dev_type_of(instruction->shape.type, &type) ||
      xp_hlo_shape_elements(&instruction->shape) != 1 ||
      xp_dev_type_sizes[type] != xp_dev_type_sizes[t->types[from->registers[0]]]) {
    return reject(t);
  }
  if (type == t->types[from->registers[0]]) {
    *value = *from;
    return XP_OK;
  }
  /* A register has one type.  Moving bits is what select does when both choices are the same. */
  xp_dev_scalar_op op = {0};
  op.element =
      (xp_dev_element){.kernel = t->context->plan->kernels->elementwise[XP_HLO_OP_SELECT][type], .in_count = 3};
  op.element.in_size[0] = 1;
  op.element.in_size[1] = op.element.in_size[2] = op.element.out_size = xp_dev_type_sizes[type];
  op.in[0] = op.in[1] = op.in[2] = from->registers[0];
  op.out = new_register(t, type);
  if (t->op_count >= MAX_OPS) {
    return reject(t);
  }
  t->ops = xp_arena_grow(t->arena, t->ops, t->op_count, &t->op_capacity, sizeof *t->ops);
  t->ops[t->op_count++] = op;
  *value = one_name(t, op.out);
  return XP_OK;
}

static names join(translation *t, const xp_hlo_instruction *instruction, const names *values)
{
  names joined = {0};
  for (size_t i = 0; i < instruction->operand_count; i++) {
    joined.count += values[instruction->operands[i]].count;
  }
  joined.registers = xp_arena_array(t->arena, joined.count, sizeof *joined.registers);
  for (size_t i = 0, at = 0; i < instruction->operand_count; i++) {
    for (size_t k = 0; k < values[instruction->operands[i]].count; k++) {
      joined.registers[at++] = values[instruction->operands[i]].registers[k];
    }
  }
  return joined;
}

static xp_status translate(translation *t, uint32_t computation, names arguments, names *result);

static xp_status translate_instruction(translation *t, const xp_hlo_instruction *instruction, names arguments,
                                       names *values, names *value)
{
  switch (instruction->opcode) {
  case XP_HLO_OP_PARAMETER:
    if ((uint64_t)instruction->parameter_number >= arguments.count || xp_hlo_shape_elements(&instruction->shape) != 1) {
      return reject(t);
    }
    *value = one_name(t, arguments.registers[instruction->parameter_number]);
    return XP_OK;
  case XP_HLO_OP_CONSTANT:
    return translate_constant(t, instruction, value);
  case XP_HLO_OP_TUPLE:
    *value = join(t, instruction, values);
    return XP_OK;
  case XP_HLO_OP_GET_TUPLE_ELEMENT:
    if (instruction->operand_count != 1 ||
        (uint64_t)instruction->tuple_index >= values[instruction->operands[0]].count) {
      return reject(t);
    }
    *value = one_name(t, values[instruction->operands[0]].registers[instruction->tuple_index]);
    return XP_OK;
  case XP_HLO_OP_CALL:
  case XP_HLO_OP_FUSION:
  case XP_HLO_OP_MAP:
    return instruction->call_count == 1 ? translate(t, instruction->calls[0], join(t, instruction, values), value)
                                        : reject(t);
  case XP_HLO_OP_BROADCAST:
  case XP_HLO_OP_RESHAPE:
  case XP_HLO_OP_COPY:
  case XP_HLO_OP_BITCAST:
  case XP_HLO_OP_BITCAST_CONVERT:
  case XP_HLO_OP_TRANSPOSE:
    return translate_pass(t, instruction, values, value);
  default:
    return xp_dev_is_element_op(instruction->opcode) ? translate_op(t, instruction, values, value) : reject(t);
  }
}

static xp_status translate(translation *t, uint32_t computation, names arguments, names *result)
{
  const xp_hlo_computation *source = &t->context->plan->module->computations[computation];
  t->instruction_count += source->instruction_count;
  if (t->depth >= MAX_DEPTH || t->instruction_count > MAX_INSTRUCTIONS || t->constant_count > MAX_OPS) {
    return reject(t);
  }
  t->depth++;
  names *values = xp_arena_array(t->arena, source->instruction_count, sizeof *values);
  xp_status status = XP_OK;
  for (uint32_t i = 0; status == XP_OK && i < source->instruction_count; i++) {
    status = translate_instruction(t, &source->instructions[i], arguments, values, &values[i]);
  }
  t->depth--;
  if (status == XP_OK) {
    *result = values[source->root];
  }
  return status;
}

/* What the computation is, if it is one operation. */
static void find_only(const xp_dev_context *context, uint32_t computation, xp_dev_scalar *scalar)
{
  const xp_hlo_computation *source = &context->plan->module->computations[computation];
  const xp_hlo_instruction *root = xp_hlo_root(source);
  scalar->only = XP_HLO_OP_UNKNOWN;
  if (scalar->parameter_count != 2 || scalar->result_count != 1) {
    return;
  }
  if (scalar->results[0] == 1) {
    scalar->only = XP_HLO_OP_PARAMETER;
  } else if (scalar->op_count == 1 && scalar->ops[0].in[0] == 0 && scalar->ops[0].in[1] == 1 &&
             scalar->ops[0].element.in_count == 2 && scalar->results[0] == scalar->ops[0].out &&
             xp_dev_is_element_op(root->opcode)) {
    scalar->only = root->opcode;
    scalar->only_instruction = root;
  } else if (scalar->op_count == 1 && scalar->ops[0].in[0] == 1 && scalar->ops[0].in[1] == 0 &&
             scalar->results[0] == scalar->ops[0].out &&
             (root->opcode == XP_HLO_OP_ADD || root->opcode == XP_HLO_OP_MULTIPLY ||
              root->opcode == XP_HLO_OP_MAXIMUM || root->opcode == XP_HLO_OP_MINIMUM || root->opcode == XP_HLO_OP_AND ||
              root->opcode == XP_HLO_OP_OR)) {
    scalar->only = root->opcode;
    scalar->only_instruction = root;
  }
}

xp_status xp_dev_scalar_prepare(xp_dev_context *context, uint32_t computation, const xp_dev_type *parameters,
                                uint32_t parameter_count, const xp_dev_type *results, uint32_t result_count,
                                const xp_dev_scalar **scalar)
{
  xp_arena *arena = context->plan->arena;
  const xp_hlo_computation *source = &context->plan->module->computations[computation];
  translation t = {.context = context, .arena = arena};
  names arguments = {xp_arena_array(arena, parameter_count, sizeof(uint32_t)), parameter_count}, made = {0};
  for (uint32_t i = 0; i < parameter_count; i++) {
    arguments.registers[i] = new_register(&t, parameters[i]);
    xp_dev_type declared;
    if (parameter_count != source->parameter_count ||
        !xp_dev_type_of(xp_hlo_parameter(source, i)->shape.type, &declared) || declared != parameters[i]) {
      return xp_dev_reject(context, "the parameters of its computation are of other types than its operands");
    }
  }
  xp_status status = translate(&t, computation, arguments, &made);
  if (status != XP_OK) {
    return status;
  }
  bool is_fit = made.count == result_count;
  for (uint32_t i = 0; is_fit && i < result_count; i++) {
    is_fit = t.types[made.registers[i]] == results[i];
  }
  if (!is_fit) {
    return xp_dev_reject(context, "its computation gives other types than it has");
  }
  xp_dev_scalar *s = xp_arena_alloc(arena, sizeof *s);
  xp_dev_type *parameter_types = xp_arena_array(arena, parameter_count, sizeof *parameter_types);
  xp_dev_type *result_types = xp_arena_array(arena, result_count, sizeof *result_types);
  for (uint32_t i = 0; i < parameter_count; i++) {
    parameter_types[i] = parameters[i];
  }
  for (uint32_t i = 0; i < result_count; i++) {
    result_types[i] = results[i];
  }
  *s = (xp_dev_scalar){t.ops,          (uint32_t)t.op_count, (uint32_t)t.register_count, parameter_count,
                       result_count,   t.constants,          (uint32_t)t.constant_count, parameter_types,
                       made.registers, result_types,         XP_HLO_OP_UNKNOWN,          NULL};
  find_only(context, computation, s);
  *scalar = s;
  return XP_OK;
}

/* ---------------------------------------------------------------- running */

/* The memory: a pointer for each register, then the registers. */
static size_t table_bytes(const xp_dev_scalar *scalar)
{
  return xp_dev_round_up(scalar->register_count * sizeof(void *));
}

size_t xp_dev_scalar_bytes(const xp_dev_scalar *scalar)
{
  return table_bytes(scalar) + scalar->register_count * (size_t)XP_DEV_LANES * 8;
}

void xp_dev_scalar_open(const xp_dev_scalar *scalar, void *memory)
{
  void **registers = memory;
  for (uint32_t i = 0; i < scalar->register_count; i++) {
    registers[i] = (char *)memory + table_bytes(scalar) + i * (size_t)XP_DEV_LANES * 8;
  }
  for (uint32_t i = 0; i < scalar->constant_count; i++) {
    const xp_dev_scalar_constant *c = &scalar->constants[i];
    xp_dev_fill(registers[c->number], c->value, c->size, XP_DEV_LANES);
  }
}

void xp_dev_scalar_run(const xp_dev_scalar *scalar, void *memory, const void *const *parameters, int64_t n)
{
  const void **registers = memory;
  for (uint32_t i = 0; i < scalar->parameter_count; i++) {
    registers[i] = parameters[i];
  }
  for (uint32_t i = 0; i < scalar->op_count; i++) {
    const xp_dev_scalar_op *op = &scalar->ops[i];
    const void *in[3] = {registers[op->in[0]], registers[op->in[1]], registers[op->in[2]]};
    xp_dev_element_apply(&op->element, (void *)(uintptr_t)registers[op->out], in, 0, n);
  }
}

const void *xp_dev_scalar_result(const xp_dev_scalar *scalar, const void *memory, uint32_t result)
{
  return ((const void *const *)memory)[scalar->results[result]];
}
