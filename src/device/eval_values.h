/* Values while a plan is made: the arrays of a shape, and instructions that only pass arrays on. */
#ifndef XP_DEVICE_EVAL_VALUES_H
#define XP_DEVICE_EVAL_VALUES_H

#include "device/eval_plan.h"

/* Makes the leaves of the instruction's shape, each with a new slot. */
xp_status xp_dev_value_make(xp_dev_context *context, xp_dev_value *value);

/* If the instruction has no work of its own, makes its value from its operands' slots and sets *is_passed. */
xp_status xp_dev_value_pass(xp_dev_context *context, xp_dev_value *value, bool *is_passed);

/* The inputs of the program, each with a slot. */
xp_status xp_dev_values_of_inputs(xp_dev_context *context);

/* Puts the arrays of a literal into the slots of value's leaves from *next on, and counts *next up. */
xp_status xp_dev_constant_place(xp_dev_context *context, const xp_hlo_literal *literal, xp_dev_value *value,
                                uint32_t *next);

/* Puts the arrays of all operands into step->in. */
void xp_dev_values_of_operands(xp_dev_context *context, xp_dev_step *step);

/* Fills plan->aliases: which output may lie in which input. */
xp_status xp_dev_aliases_read(xp_dev_context *context);

/* True for opcodes whose called computations run as programs. */
bool xp_dev_calls_programs(xp_hlo_opcode opcode);

#endif
