/* XLA walks in depth, instructions in the order of their ids, and prints what it leaves: so a value stands close before
 * its first use, whatever the order of the message was.  (Where there are control predecessors, XLA's order differs: it
 * takes an instruction without users for an end even if another one waits for it.)
 */
#include "hlo/text_order.h"

#include <stdlib.h>

#include "hlo/order.h"

typedef struct {
  int64_t id;
  uint32_t index;
} numbered;

static int compare_ids(const void *a, const void *b)
{
  const numbered *x = a, *y = b;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Indices of the instructions, by id. */
static const uint32_t *by_id(xp_arena *arena, const xp_hlo_computation *c)
{
  numbered *list = xp_arena_array(arena, c->instruction_count, sizeof *list);
  uint32_t *indices = xp_arena_array(arena, c->instruction_count, sizeof *indices);
  for (uint32_t i = 0; i < c->instruction_count; i++) {
    list[i] = (numbered){c->instructions[i].id, i};
  }
  qsort(list, c->instruction_count, sizeof *list, compare_ids);
  for (uint32_t i = 0; i < c->instruction_count; i++) {
    indices[i] = list[i].index;
  }
  return indices;
}

/* Sorts what is known to have no cycle. */
static const uint32_t *sorted(xp_arena *arena, const xp_hlo_graph *graph)
{
  uint32_t *order = xp_arena_array(arena, graph->count, sizeof *order);
  xp_hlo_sort(arena, graph, order);
  return order;
}

const uint32_t *xp_hlo_instruction_order(xp_arena *arena, const xp_hlo_computation *c)
{
  size_t edges = 0;
  for (uint32_t i = 0; i < c->instruction_count; i++) {
    edges += c->instructions[i].operand_count + c->instructions[i].predecessor_count;
  }
  uint32_t *needs = xp_arena_array(arena, edges, sizeof *needs), *to = needs;
  uint32_t *first = xp_arena_array(arena, (size_t)c->instruction_count + 1, sizeof *first);
  for (uint32_t i = 0; i < c->instruction_count; i++) {
    const xp_hlo_instruction *in = &c->instructions[i];
    for (size_t k = 0; k < in->operand_count; k++) {
      *to++ = in->operands[k];
    }
    for (size_t k = 0; k < in->predecessor_count; k++) {
      *to++ = in->predecessors[k];
    }
    first[i + 1] = (uint32_t)(to - needs);
  }
  const xp_hlo_graph graph = {c->instruction_count, first, needs, by_id(arena, c)};
  return sorted(arena, &graph);
}

static uint32_t *add_calls(xp_arena *arena, const xp_hlo_computation *c, uint32_t *to)
{
  const uint32_t *order = by_id(arena, c);
  for (uint32_t i = 0; i < c->instruction_count; i++) {
    const xp_hlo_instruction *in = &c->instructions[order[i]];
    for (size_t k = 0; k < in->call_count; k++) {
      *to++ = in->calls[k];
    }
  }
  return to;
}

const uint32_t *xp_hlo_computation_order(xp_arena *arena, const xp_hlo_module *module)
{
  size_t calls = 0;
  for (uint32_t c = 0; c < module->computation_count; c++) {
    for (uint32_t i = 0; i < module->computations[c].instruction_count; i++) {
      calls += module->computations[c].instructions[i].call_count;
    }
  }
  uint32_t *needs = xp_arena_array(arena, calls, sizeof *needs), *to = needs;
  uint32_t *first = xp_arena_array(arena, (size_t)module->computation_count + 1, sizeof *first);
  for (uint32_t c = 0; c < module->computation_count; c++) {
    to = add_calls(arena, &module->computations[c], to);
    first[c + 1] = (uint32_t)(to - needs);
  }
  const xp_hlo_graph graph = {module->computation_count, first, needs, NULL};
  return sorted(arena, &graph);
}
