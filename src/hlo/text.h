/* Modules as text for people, in the form in which XLA (of 2026) prints them.
 *
 * What a module keeps as records only (shardings, replica groups, schedules, details of layouts) is not printed. */
#ifndef XP_HLO_TEXT_H
#define XP_HLO_TEXT_H

#include "hlo/hlo.h"

/* The text of a whole module; lies in the arena; empty when memory is out. */
xp_str xp_hlo_module_text(xp_arena *arena, const xp_hlo_module *module);

/* One line, without a newline: `%add.3 = f32[2,3]{1,0} add(%p0, %p1), metadata={op_name="fwd/xla__add"}`. */
xp_str xp_hlo_instruction_text(xp_arena *arena, const xp_hlo_module *module, const xp_hlo_computation *computation,
                               const xp_hlo_instruction *instruction);

#endif
