/* The computations that an instruction calls, as attributes: "to_apply=%add.1". */
#include "hlo/text_out.h"

static void put_call(xp_hlo_out *out, const xp_hlo_module *module, const xp_hlo_instruction *in, size_t i,
                     const char *name)
{
  xp_hlo_out_format(out, ", %s=%%", name);
  xp_hlo_out_str(out, xp_hlo_call(module, in, i)->name);
}

static void put_all_calls(xp_hlo_out *out, const xp_hlo_module *module, const xp_hlo_instruction *in, const char *name)
{
  xp_hlo_out_format(out, ", %s={", name);
  for (size_t i = 0; i < in->call_count; i++) {
    xp_hlo_out_text(out, i > 0 ? ", %" : "%");
    xp_hlo_out_str(out, xp_hlo_call(module, in, i)->name);
  }
  xp_hlo_out_text(out, "}");
}

static bool chooses_by_pred(const xp_hlo_computation *computation, const xp_hlo_instruction *in)
{
  return in->call_count == 2 && in->operand_count > 0 && xp_hlo_operand(computation, in, 0)->shape.type == XP_HLO_PRED;
}

void xp_hlo_out_calls(xp_hlo_out *out, const xp_hlo_module *module, const xp_hlo_computation *computation,
                      const xp_hlo_instruction *in)
{
  if (in->call_count == 0) {
    return;
  }
  if (in->opcode == XP_HLO_OP_WHILE && in->call_count == 2) {
    put_call(out, module, in, 1, "condition");
    put_call(out, module, in, 0, "body");
  } else if (in->opcode == XP_HLO_OP_SELECT_AND_SCATTER && in->call_count == 2) {
    put_call(out, module, in, 0, "select");
    put_call(out, module, in, 1, "scatter");
  } else if (in->opcode == XP_HLO_OP_CONDITIONAL && chooses_by_pred(computation, in)) {
    put_call(out, module, in, 0, "true_computation");
    put_call(out, module, in, 1, "false_computation");
  } else if (in->opcode == XP_HLO_OP_CONDITIONAL) {
    put_all_calls(out, module, in, "branch_computations");
  } else if (in->opcode == XP_HLO_OP_CUSTOM_CALL) {
    put_all_calls(out, module, in, "called_computations");
  } else {
    put_call(out, module, in, 0, in->opcode == XP_HLO_OP_FUSION ? "calls" : "to_apply");
  }
}
