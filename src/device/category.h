/* What kind of work an instruction is, in the words of XLA's profiles. */
#ifndef XP_DEVICE_CATEGORY_H
#define XP_DEVICE_CATEGORY_H

#include "hlo/hlo.h"

/* "data formatting", "non-fusion elementwise", or the opcode's own name. */
xp_str xp_dev_category(const xp_hlo_instruction *instruction);

#endif
