/* Reading one computation: its instructions, in order, with operands as indices. */
#ifndef XP_HLO_READ_COMPUTATION_H
#define XP_HLO_READ_COMPUTATION_H

#include "hlo/record.h"

/* Ids that an instruction names, before they are looked up. */
typedef struct {
  xp_hlo_list operands, predecessors, calls;
} xp_hlo_ids;

/* A computation whose calls are still ids; ids[i] belongs to instruction i. */
typedef struct {
  xp_hlo_computation in;
  const xp_hlo_ids *ids;
} xp_hlo_read_part;

bool xp_hlo_computation_read(xp_hlo_reader *r, xp_str message, xp_hlo_read_part *part);

#endif
