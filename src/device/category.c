/* One function: the words are those of XLA (HloInstruction::ToCategory), so that tools sum them as they do for a TPU.
 */
#include "device/category.h"

#include "device/eval_element.h"

static bool is_elementwise(xp_hlo_opcode opcode)
{
  return xp_dev_is_element_op(opcode) || opcode == XP_HLO_OP_BITCAST_CONVERT || opcode == XP_HLO_OP_REDUCE_PRECISION;
}

xp_str xp_dev_category(const xp_hlo_instruction *instruction)
{
  xp_hlo_opcode opcode = instruction->opcode;
  if (opcode == XP_HLO_OP_TRANSPOSE || opcode == XP_HLO_OP_COPY || opcode == XP_HLO_OP_RESHAPE) {
    return xp_str_c("data formatting");
  }
  return is_elementwise(opcode) ? xp_str_c("non-fusion elementwise") : instruction->opcode_text;
}
