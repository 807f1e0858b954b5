/* Putting things behind what they need. */
#ifndef XP_HLO_ORDER_H
#define XP_HLO_ORDER_H

#include "base/map.h"

/* Node i needs the nodes needs[first[i]] .. needs[first[i + 1] - 1]. */
typedef struct {
  uint32_t count;
  const uint32_t *first; /* count + 1 of them */
  const uint32_t *needs;
} xp_hlo_graph;

/* order[0 .. count-1]: all nodes, each behind those it needs.  A graph that is in order already stays as it is; else
 * nodes come as a walk in depth from node 0, 1, .. finds them.  Returns XP_NONE, or a node of a cycle.  Takes memory
 * from the arena (which has an escape) and does not recurse. */
uint32_t xp_hlo_sort(xp_arena *arena, const xp_hlo_graph *graph, uint32_t *order);

#endif
