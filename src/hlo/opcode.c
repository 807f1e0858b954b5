/* Opcodes and their texts.  The list in the header is sorted by text, so a text is found by halving. */
#include "hlo/opcode.h"

static const xp_str names[XP_HLO_OP_COUNT + 1] = {
#define NAME(identifier, text) XP_STR_INIT(text),
    XP_HLO_OPCODES(NAME)
#undef NAME
        XP_STR_INIT("unknown")};

const char *xp_hlo_opcode_name(xp_hlo_opcode opcode)
{
  return names[(unsigned)opcode < XP_HLO_OP_COUNT ? opcode : XP_HLO_OP_UNKNOWN].ptr;
}

xp_hlo_opcode xp_hlo_opcode_find(xp_str text)
{
  unsigned low = 0, high = XP_HLO_OP_COUNT;
  while (low < high) {
    unsigned middle = (low + high) / 2;
    int order = xp_str_cmp(names[middle], text);
    if (order == 0) {
      return (xp_hlo_opcode)middle;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return XP_HLO_OP_UNKNOWN;
}
