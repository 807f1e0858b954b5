/* Planning: every instruction is checked and becomes a step, and every array gets its place.
 *
 * Computations are planned in the order of the module, so that a callee is done before its callers; only those that the
 * entry reaches.  Within one, steps come in order, then four passes fix the memory: steps whose values nobody uses go;
 * the life of each slot is taken from its uses; results move to the place of an operand that dies where they are made;
 * and slots get offsets, first fit over those alive.  Everything here is linear in the size of the module but for the
 * last pass, which looks at the slots alive at a time.
 *
 * What always holds afterwards: no two slots overlap while both are alive, and a step's result overlaps an operand only
 * if the step said it may.
 */
#include "device/eval_plan.h"

#include <stdlib.h>

#include "base/map.h"
#include "device/eval_memory.h"
#include "device/eval_values.h"

#define MAX_CALL_DEPTH 256 /* a call takes a piece of the thread's stack */

xp_status xp_dev_reject(xp_dev_context *context, const char *problem)
{
  const xp_hlo_instruction *instruction = context->instruction;
  return xp_fail(context->err, XP_ERR_USAGE, "%.*s of instruction %%%.*s: %s", XP_STR_ARG(instruction->opcode_text),
                 XP_STR_ARG(instruction->name), problem);
}

xp_dev_program *xp_dev_program_of(xp_dev_context *context, uint32_t computation)
{
  xp_dev_program *called = context->plan->programs[computation];
  if (context->program->depth <= called->depth) {
    context->program->depth = called->depth + 1;
  }
  return called;
}

uint32_t xp_dev_slot_add(xp_dev_context *context, size_t bytes)
{
  xp_dev_program *program = context->program;
  program->slots = xp_arena_grow(context->plan->arena, program->slots, program->slot_count, &program->slot_capacity,
                                 sizeof *program->slots);
  program->slots[program->slot_count] =
      (xp_dev_slot){.place = XP_DEV_IN_TEMP, .bytes = bytes, .first = XP_NONE, .last = XP_NONE};
  return program->slot_count++;
}

size_t xp_dev_add_sizes(size_t a, size_t b)
{
  size_t sum;
  return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

size_t xp_dev_multiply_sizes(size_t a, size_t b)
{
  size_t product;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

size_t xp_dev_reserve(size_t *total, size_t count, size_t size)
{
  size_t at = *total, bytes = xp_dev_multiply_sizes(count, size);
  *total = xp_dev_add_sizes(at, bytes > SIZE_MAX - XP_DEV_ALIGN ? bytes : xp_dev_round_up(bytes));
  return at;
}

static void count_cost(xp_dev_step *step)
{
  for (uint32_t i = 0; i < step->in_count; i++) {
    step->bytes += (double)xp_dev_leaf_bytes(step->in[i]);
  }
  for (uint32_t i = 0; i < step->out_count; i++) {
    step->bytes += (double)xp_dev_leaf_bytes(step->out[i]);
  }
}

/* An instruction with work of its own. */
static xp_status plan_step(xp_dev_context *context, xp_dev_value *value)
{
  const xp_hlo_instruction *instruction = context->instruction;
  xp_dev_prepare prepare = xp_dev_prepare_of(instruction->opcode);
  if (prepare == NULL) {
    return xp_fail(context->err, XP_ERR_USAGE, "opcode %.*s of instruction %%%.*s is not supported by this device",
                   XP_STR_ARG(instruction->opcode_text), XP_STR_ARG(instruction->name));
  }
  xp_dev_program *program = context->program;
  xp_dev_step *step = &program->steps[program->step_count];
  *step = (xp_dev_step){.instruction = instruction, .scratch = XP_NONE, .in_place = XP_NONE};
  xp_dev_values_of_operands(context, step);
  xp_status status = xp_dev_value_make(context, value);
  if (status != XP_OK) {
    return status;
  }
  step->out = value->leaves;
  step->out_count = value->count;
  status = prepare(context, step);
  if (status == XP_OK && program->depth > MAX_CALL_DEPTH) {
    status = xp_dev_reject(context, "its calls are nested too deeply");
  }
  if (status != XP_OK) {
    return status;
  }
  if (step->scratch_bytes > 0) {
    step->scratch = xp_dev_slot_add(context, step->scratch_bytes);
  }
  count_cost(step);
  program->step_count++;
  return XP_OK;
}

static xp_status plan_instruction(xp_dev_context *context, uint32_t i)
{
  xp_dev_program *program = context->program;
  context->instruction = &program->computation->instructions[i];
  xp_dev_value *value = &program->values[i];
  bool is_passed = false;
  xp_status status = xp_dev_value_pass(context, value, &is_passed);
  return status != XP_OK || is_passed ? status : plan_step(context, value);
}

static xp_status plan_program(xp_dev_plan *plan, uint32_t computation, xp_error *err)
{
  const xp_hlo_computation *source = &plan->module->computations[computation];
  xp_dev_program *program = xp_arena_alloc(plan->arena, sizeof *program);
  xp_dev_context context = {plan, program, NULL, err};
  program->computation = source;
  program->values = xp_arena_array(plan->arena, source->instruction_count, sizeof *program->values);
  program->steps = xp_arena_array(plan->arena, source->instruction_count, sizeof *program->steps);
  xp_status status = xp_dev_values_of_inputs(&context);
  for (uint32_t i = 0; status == XP_OK && i < source->instruction_count; i++) {
    status = plan_instruction(&context, i);
  }
  if (status != XP_OK) {
    return status;
  }
  program->root = program->values[source->root];
  bool is_entry = computation == plan->module->entry;
  if (is_entry) {
    status = xp_dev_aliases_read(&context);
  }
  plan->programs[computation] = program;
  return status != XP_OK ? status : xp_dev_memory_plan(&context, is_entry ? plan->aliases : NULL);
}

/* Marks the computations that the entry reaches by calls that run programs; scalar ones are translated by their callers
 * (eval_scalar.h). */
static bool *find_reached(const xp_dev_plan *plan)
{
  const xp_hlo_module *module = plan->module;
  bool *is_reached = xp_arena_alloc(plan->arena, module->computation_count);
  is_reached[module->entry] = true;
  for (uint32_t c = module->computation_count; c-- > 0;) {
    const xp_hlo_computation *computation = &module->computations[c];
    for (uint32_t i = 0; is_reached[c] && i < computation->instruction_count; i++) {
      const xp_hlo_instruction *instruction = &computation->instructions[i];
      for (size_t k = 0; k < instruction->call_count && xp_dev_calls_programs(instruction->opcode); k++) {
        is_reached[instruction->calls[k]] = true;
      }
    }
  }
  return is_reached;
}

typedef struct {
  xp_dev_plan *plan;
  xp_error *err;
  xp_status status;
} planning;

static void plan_all(void *context)
{
  planning *p = context;
  xp_dev_plan *plan = p->plan;
  const bool *is_reached = find_reached(plan);
  plan->programs = xp_arena_array(plan->arena, plan->module->computation_count, sizeof(xp_dev_program *));
  plan->random = xp_arena_alloc(plan->arena, sizeof *plan->random);
  for (uint32_t c = 0; p->status == XP_OK && c < plan->module->computation_count; c++) {
    if (is_reached[c]) {
      p->status = plan_program(plan, c, p->err);
    }
  }
  plan->entry = plan->programs[plan->module->entry];
}

xp_status xp_dev_plan_prepare(const xp_hlo_module *module, xp_dev_plan **plan, xp_error *err)
{
  xp_arena *arena = xp_arena_create();
  xp_dev_plan *made = arena == NULL ? NULL : xp_arena_alloc(arena, sizeof *made);
  if (made == NULL) {
    xp_arena_destroy(arena);
    return xp_fail(err, XP_ERR_MEMORY, "no memory to plan the program");
  }
  *made = (xp_dev_plan){.arena = arena, .module = module, .kernels = xp_dev_kernels_get()};
  planning p = {made, err, XP_OK};
  if (!xp_arena_guard(arena, plan_all, &p)) {
    p.status = xp_fail(err, XP_ERR_MEMORY, "no memory to plan the program");
  }
  if (p.status == XP_OK && xp_dev_plan_temp_bytes(made) > PTRDIFF_MAX) {
    p.status = xp_fail(err, XP_ERR_LIMIT, "the program needs more temporary memory than a process can have");
  }
  if (p.status != XP_OK) {
    xp_arena_destroy(arena);
    return p.status;
  }
  *plan = made;
  return XP_OK;
}

void xp_dev_plan_destroy(xp_dev_plan *plan)
{
  if (plan != NULL) {
    xp_arena_destroy(plan->arena);
  }
}

size_t xp_dev_plan_input_count(const xp_dev_plan *plan)
{
  return plan->entry->inputs.count;
}

const xp_hlo_shape *xp_dev_plan_input_shape(const xp_dev_plan *plan, size_t input)
{
  return plan->entry->inputs.leaves[input].shape;
}

size_t xp_dev_plan_output_count(const xp_dev_plan *plan)
{
  return plan->entry->root.count;
}

const xp_hlo_shape *xp_dev_plan_output_shape(const xp_dev_plan *plan, size_t output)
{
  return plan->entry->root.leaves[output].shape;
}

int64_t xp_dev_plan_output_alias(const xp_dev_plan *plan, size_t output)
{
  return plan->aliases[output];
}

size_t xp_dev_plan_temp_bytes(const xp_dev_plan *plan)
{
  return plan->entry->frame_bytes;
}

size_t xp_dev_plan_constant_bytes(const xp_dev_plan *plan)
{
  return plan->constant_bytes;
}

size_t xp_dev_plan_step_count(const xp_dev_plan *plan)
{
  return plan->entry->step_count;
}

xp_dev_step_info xp_dev_plan_step(const xp_dev_plan *plan, size_t step)
{
  const xp_dev_step *s = &plan->entry->steps[step];
  return (xp_dev_step_info){s->instruction, s->flops, s->bytes};
}
