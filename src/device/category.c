/* One function: the words are those of XLA (HloInstruction::ToCategory), so that tools sum them as they do for a TPU.
 */
#include "device/category.h"

static bool is_elementwise(xp_hlo_opcode opcode)
{
  switch (opcode) {
  case XP_HLO_OP_ABS:
  case XP_HLO_OP_ADD:
  case XP_HLO_OP_AND:
  case XP_HLO_OP_ATAN2:
  case XP_HLO_OP_BITCAST_CONVERT:
  case XP_HLO_OP_CBRT:
  case XP_HLO_OP_CEIL:
  case XP_HLO_OP_CLAMP:
  case XP_HLO_OP_COMPARE:
  case XP_HLO_OP_CONVERT:
  case XP_HLO_OP_COSINE:
  case XP_HLO_OP_COUNT_LEADING_ZEROS:
  case XP_HLO_OP_DIVIDE:
  case XP_HLO_OP_ERF:
  case XP_HLO_OP_EXPONENTIAL:
  case XP_HLO_OP_EXPONENTIAL_MINUS_ONE:
  case XP_HLO_OP_FLOOR:
  case XP_HLO_OP_IS_FINITE:
  case XP_HLO_OP_LOG:
  case XP_HLO_OP_LOG_PLUS_ONE:
  case XP_HLO_OP_LOGISTIC:
  case XP_HLO_OP_MAXIMUM:
  case XP_HLO_OP_MINIMUM:
  case XP_HLO_OP_MULTIPLY:
  case XP_HLO_OP_NEGATE:
  case XP_HLO_OP_NOT:
  case XP_HLO_OP_OR:
  case XP_HLO_OP_POPCNT:
  case XP_HLO_OP_POWER:
  case XP_HLO_OP_REDUCE_PRECISION:
  case XP_HLO_OP_REMAINDER:
  case XP_HLO_OP_ROUND_NEAREST_AFZ:
  case XP_HLO_OP_ROUND_NEAREST_EVEN:
  case XP_HLO_OP_RSQRT:
  case XP_HLO_OP_SELECT:
  case XP_HLO_OP_SHIFT_LEFT:
  case XP_HLO_OP_SHIFT_RIGHT_ARITHMETIC:
  case XP_HLO_OP_SHIFT_RIGHT_LOGICAL:
  case XP_HLO_OP_SIGN:
  case XP_HLO_OP_SINE:
  case XP_HLO_OP_SQRT:
  case XP_HLO_OP_SUBTRACT:
  case XP_HLO_OP_TAN:
  case XP_HLO_OP_TANH:
  case XP_HLO_OP_XOR:
    return true;
  default:
    return false;
  }
}

xp_str xp_dev_category(const xp_hlo_instruction *instruction)
{
  xp_hlo_opcode opcode = instruction->opcode;
  if (opcode == XP_HLO_OP_TRANSPOSE || opcode == XP_HLO_OP_COPY || opcode == XP_HLO_OP_RESHAPE) {
    return xp_str_c("data formatting");
  }
  return is_elementwise(opcode) ? xp_str_c("non-fusion elementwise") : instruction->opcode_text;
}
