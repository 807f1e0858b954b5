/* Putting things behind what they need. */
#ifndef XP_HLO_ORDER_H
#define XP_HLO_ORDER_H

#include "base/map.h"

/* Node i needs the nodes needs[first[i]] .. needs[first[i + 1] - 1]. */
typedef struct {
  uint32_t count;
  const uint32_t *first; /* count + 1 of them */
  const uint32_t *needs;
  const uint32_t *starts; /* all nodes, in the order in which a walk tries them; NULL: 0, 1, .. */
} xp_hlo_graph;

/* True if every node stands behind those it needs. */
bool xp_hlo_is_sorted(const xp_hlo_graph *graph);

/* order[0 .. count-1]: all nodes, each behind those it needs, as a walk in depth finds them that begins at the nodes
 * which nobody needs and follows the needs from the first to the last: the order in which XLA prints a computation.
 * Returns XP_NONE, or a node of a cycle.  Takes memory from the arena (which has an escape) and does not recurse. */
uint32_t xp_hlo_sort(xp_arena *arena, const xp_hlo_graph *graph, uint32_t *order);

#endif
