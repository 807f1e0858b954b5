/* The order in which XLA prints. */
#ifndef XP_HLO_TEXT_ORDER_H
#define XP_HLO_TEXT_ORDER_H

#include "hlo/hlo.h"

/* Indices of all instructions of a computation, and of all computations of a module: operands and callees first.  The
 * arena has an escape. */
const uint32_t *xp_hlo_instruction_order(xp_arena *arena, const xp_hlo_computation *computation);
const uint32_t *xp_hlo_computation_order(xp_arena *arena, const xp_hlo_module *module);

#endif
