/* Copying arrays with strides: the one primitive behind transpose, slice, pad, broadcast and their relatives. */
#ifndef XP_DEVICE_EVAL_MOVE_H
#define XP_DEVICE_EVAL_MOVE_H

#include "device/eval_plan.h"

/* to[sum i_d * to[d]] = from[sum i_d * from[d]] for all i_d < dims[d]; strides in elements, may be 0 (from) or
 * negative. */
typedef struct {
  int rank;
  size_t size; /* of an element: 1, 2, 4, 8 */
  int64_t dims[XP_HLO_MAX_RANK], to[XP_HLO_MAX_RANK], from[XP_HLO_MAX_RANK];
} xp_dev_move;

/* Strides of a dense array with these extents. */
void xp_dev_strides(const xp_hlo_shape *shape, int64_t strides[XP_HLO_MAX_RANK]);

/* Makes a move with fewer, longer dimensions that does the same. */
void xp_dev_move_simplify(xp_dev_move *move);

void xp_dev_move_run(const xp_dev_move *move, void *to, const void *from);

#endif
