/* An instruction's scope is that of its op name, as everywhere (op_names.h).  A fusion is executed as one, under its
 * own name; what it is made of is counted beside, since a scope that lives on inside of fusions only is not lost.
 *
 * Computations that others call for each element (the body of a reduce) are no work of their own.
 */
#include "analyze/program_scopes.h"

#include <stdlib.h>

#include "analyze/op_names.h"
#include "base/map.h"

typedef struct {
  xp_arena *arena;
  xp_intern names;
  xp_program_scope *scopes;
  size_t count, capacity;
  xp_program_instruction *instructions;
  size_t instruction_capacity;
  bool lazy;
} counting;

static bool is_work(const xp_hlo_instruction *instruction)
{
  switch (instruction->opcode) {
  case XP_HLO_OP_PARAMETER:
  case XP_HLO_OP_CONSTANT:
  case XP_HLO_OP_TUPLE:
  case XP_HLO_OP_GET_TUPLE_ELEMENT:
  case XP_HLO_OP_BITCAST:
  case XP_HLO_OP_AFTER_ALL:
    return false;
  default:
    return true;
  }
}

/* The row of an instruction's scope, new if it was not there. */
static xp_program_scope *row_of(counting *c, const xp_hlo_instruction *instruction)
{
  xp_str scope = xp_op_scope_of(instruction->meta.op_name, c->lazy, false, c->arena).scope;
  uint32_t number = xp_intern_add(&c->names, scope);
  if (number == c->count) {
    c->scopes = xp_arena_grow(c->arena, c->scopes, c->count, &c->capacity, sizeof *c->scopes);
    c->scopes[c->count++] = (xp_program_scope){.scope = scope};
  }
  return &c->scopes[number];
}

/* Where the instructions of a computation are counted. */
typedef enum { NOWHERE, EXECUTED, FUSED } place;

/* The computations that are run as a sequence of instructions: the entry, and what control flow calls. */
static void find_places(const xp_hlo_module *module, place *places)
{
  places[module->entry] = EXECUTED;
  for (uint32_t i = module->computation_count; i-- > 0;) { /* callers stand behind what they call */
    const xp_hlo_computation *computation = &module->computations[i];
    for (uint32_t k = 0; places[i] != NOWHERE && k < computation->instruction_count; k++) {
      const xp_hlo_instruction *instruction = &computation->instructions[k];
      bool is_control = instruction->opcode == XP_HLO_OP_WHILE || instruction->opcode == XP_HLO_OP_CONDITIONAL ||
                        instruction->opcode == XP_HLO_OP_CALL || instruction->opcode == XP_HLO_OP_ASYNC_START;
      bool is_fusion = instruction->opcode == XP_HLO_OP_FUSION;
      for (size_t call = 0; (is_control || is_fusion) && call < instruction->call_count; call++) {
        place *called = &places[instruction->calls[call]];
        *called = is_fusion ? FUSED : places[i];
      }
    }
  }
}

static void count_source(counting *c, const xp_hlo_module *module, const place *places, xp_program_scopes *result)
{
  for (uint32_t i = 0; i < module->computation_count; i++) {
    const xp_hlo_computation *computation = &module->computations[i];
    for (uint32_t k = 0; places[i] != NOWHERE && k < computation->instruction_count; k++) {
      if (is_work(&computation->instructions[k])) {
        xp_program_scope *row = row_of(c, &computation->instructions[k]);
        row->source++;
        result->source++;
        result->source_scoped += row->scope.len > 0;
      }
    }
  }
}

static void list_executed(counting *c, const xp_hlo_instruction *instruction, xp_str scope, size_t count)
{
  c->instructions = xp_arena_grow(c->arena, c->instructions, count, &c->instruction_capacity, sizeof *c->instructions);
  c->instructions[count] =
      (xp_program_instruction){instruction->name, instruction->opcode_text, scope, instruction->meta.op_name};
}

static void count_compiled(counting *c, const xp_hlo_module *module, const place *places, xp_program_scopes *result)
{
  for (uint32_t i = 0; i < module->computation_count; i++) {
    const xp_hlo_computation *computation = &module->computations[i];
    for (uint32_t k = 0; places[i] != NOWHERE && k < computation->instruction_count; k++) {
      if (!is_work(&computation->instructions[k])) {
        continue;
      }
      xp_program_scope *row = row_of(c, &computation->instructions[k]);
      if (places[i] == FUSED) {
        row->fused++;
      } else {
        list_executed(c, &computation->instructions[k], row->scope, result->compiled);
        row->compiled++;
        result->compiled++;
        result->compiled_scoped += row->scope.len > 0;
      }
    }
  }
}

static int by_name(const void *a, const void *b)
{
  xp_str x = ((const xp_program_scope *)a)->scope, y = ((const xp_program_scope *)b)->scope;
  if ((x.len == 0) != (y.len == 0)) {
    return x.len == 0 ? 1 : -1;
  }
  return xp_str_cmp(x, y);
}

void xp_program_scopes_count(const xp_hlo_module *source, const xp_hlo_module *compiled, bool lazy, xp_arena *arena,
                             xp_program_scopes *result)
{
  counting c = {.arena = arena, .lazy = lazy};
  xp_intern_init(&c.names, arena);
  *result = (xp_program_scopes){.has_source = source != NULL};
  if (source != NULL) {
    place *places = xp_arena_array(arena, source->computation_count, sizeof *places);
    find_places(source, places);
    count_source(&c, source, places, result);
  }
  place *places = xp_arena_array(arena, compiled->computation_count, sizeof *places);
  find_places(compiled, places);
  count_compiled(&c, compiled, places, result);
  result->scopes = c.scopes;
  result->instructions = c.instructions;
  result->count = c.count;
  if (result->count > 1) {
    qsort(result->scopes, result->count, sizeof *result->scopes, by_name);
  }
}
