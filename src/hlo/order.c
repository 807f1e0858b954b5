/* Topological order by a walk in depth with a stack of its own: messages may chain as many instructions as they like.
 */
#include "hlo/order.h"

enum { NOBODY_NEEDS = 0, UNSEEN, OPEN, PLACED };

typedef struct {
  uint32_t node, next; /* next: index of the need to follow */
} level;

bool xp_hlo_is_sorted(const xp_hlo_graph *graph)
{
  for (uint32_t i = 0; i < graph->count; i++) {
    for (uint32_t k = graph->first[i]; k < graph->first[i + 1]; k++) {
      if (graph->needs[k] >= i) {
        return false;
      }
    }
  }
  return true;
}

/* Places a node and all that it needs; returns a node of a cycle, or XP_NONE. */
static uint32_t place(const xp_hlo_graph *graph, uint32_t root, uint8_t *states, level *stack, uint32_t *order,
                      uint32_t *placed)
{
  size_t depth = 0;
  stack[depth++] = (level){root, graph->first[root]};
  states[root] = OPEN;
  while (depth > 0) {
    level *top = &stack[depth - 1];
    if (top->next == graph->first[top->node + 1]) {
      states[top->node] = PLACED;
      order[(*placed)++] = top->node;
      depth--;
      continue;
    }
    uint32_t need = graph->needs[top->next++];
    if (states[need] == OPEN) {
      return need;
    }
    if (states[need] == UNSEEN) {
      states[need] = OPEN;
      stack[depth++] = (level){need, graph->first[need]};
    }
  }
  return XP_NONE;
}

static uint32_t place_all(const xp_hlo_graph *graph, uint8_t *states, level *stack, uint32_t *order)
{
  uint32_t placed = 0, cycle = XP_NONE;
  for (uint32_t i = 0; i < graph->count && cycle == XP_NONE; i++) {
    uint32_t node = graph->starts != NULL ? graph->starts[i] : i;
    cycle = states[node] == NOBODY_NEEDS ? place(graph, node, states, stack, order, &placed) : XP_NONE;
  }
  for (uint32_t i = 0; i < graph->count && cycle == XP_NONE && placed < graph->count; i++) {
    cycle = states[i] != PLACED ? i : XP_NONE; /* a cycle that hangs on nothing */
  }
  return cycle;
}

uint32_t xp_hlo_sort(xp_arena *arena, const xp_hlo_graph *graph, uint32_t *order)
{
  uint8_t *states = xp_arena_alloc(arena, graph->count);             /* zeroed: NOBODY_NEEDS */
  level *stack = xp_arena_array(arena, graph->count, sizeof *stack); /* an open node stands on it once */
  for (uint32_t k = 0; k < graph->first[graph->count]; k++) {
    states[graph->needs[k]] = UNSEEN;
  }
  return place_all(graph, states, stack, order);
}
