/* The evaluator: runs a module of HLO on arrays in host memory.
 *
 * xp_dev_plan_prepare checks a module once and fixes where every value lies; xp_dev_plan_run then runs it any number of
 * times, and can only fail when its caller breaks what is said here.  Arrays are dense, with the last dimension running
 * fastest, whatever the layouts in the module say: those speak of memory that this device does not have.  A pred takes
 * one byte, 0 or 1.  Types: pred, s8 to s64, u8 to u64, f16, bf16, f32, f64.
 *
 * Tuples are flat lists here: a parameter that is a tuple of two arrays counts as two inputs, and a result that is a
 * tuple, however nested, as its arrays in order.  Tokens are arrays of 0 bytes.
 */
#ifndef XP_DEVICE_EVAL_H
#define XP_DEVICE_EVAL_H

#include "base/error.h"
#include "hlo/hlo.h"

/* A checked program.  It does not change after xp_dev_plan_prepare (but for the counter of its random numbers, which is
 * atomic), so any number of threads may run it at the same time, each with its own temporary memory. */
typedef struct xp_dev_plan xp_dev_plan;

/* Checks a module and plans its memory.  Borrows the module (constants are read where they lie): it must live as long
 * as the plan.  XP_ERR_USAGE with a text that names the instruction when an opcode, type, custom call or attribute is
 * not supported ("opcode fft of instruction %fft.3 is not supported by this device") or when shapes contradict each
 * other; XP_ERR_LIMIT when memory would not fit 63 bits.  The caller ends the plan with xp_dev_plan_destroy. */
xp_status xp_dev_plan_prepare(const xp_hlo_module *module, xp_dev_plan **plan, xp_error *err);

/* NULL is allowed. */
void xp_dev_plan_destroy(xp_dev_plan *plan);

/* Inputs and outputs of the entry computation, flat: their number and shapes. */
size_t xp_dev_plan_input_count(const xp_dev_plan *plan);
const xp_hlo_shape *xp_dev_plan_input_shape(const xp_dev_plan *plan, size_t input);
size_t xp_dev_plan_output_count(const xp_dev_plan *plan);
const xp_hlo_shape *xp_dev_plan_output_shape(const xp_dev_plan *plan, size_t output);

/* The input whose memory may be passed as the memory of an output (the module's input_output_alias), or -1.  The input
 * holds the output's values then when the run ends. */
int64_t xp_dev_plan_output_alias(const xp_dev_plan *plan, size_t output);

/* Bytes of temporary memory that a run needs, and of the constants that stand in the module. */
size_t xp_dev_plan_temp_bytes(const xp_dev_plan *plan);
size_t xp_dev_plan_constant_bytes(const xp_dev_plan *plan);

/* An instruction of the entry computation that a run executes.  Those without work of their own (parameters, constants,
 * tuples, reshapes) are not in the list. */
typedef struct {
  const xp_hlo_instruction *instruction;
  double flops; /* operations on elements in one execution, two for a multiplication with its addition; bodies of
                   loops count once */
  double bytes; /* of operands and results */
} xp_dev_step_info;

/* Executed instructions, in the order of their execution. */
size_t xp_dev_plan_step_count(const xp_dev_plan *plan);
xp_dev_step_info xp_dev_plan_step(const xp_dev_plan *plan, size_t step);

typedef struct {
  const void *const *inputs; /* xp_dev_plan_input_count pointers, aligned to 8 bytes */
  void *const
      *outputs;  /* xp_dev_plan_output_count pointers; none may overlap an input, except as output_alias allows */
  void *temp;    /* xp_dev_plan_temp_bytes bytes, aligned to 64; need not be zero; NULL if 0 bytes */
  uint64_t seed; /* of the instructions rng and rng-get-and-update-state; the same seed gives other numbers in
                    each run of a plan, but the same numbers in the first run of equal plans */
  /* Called before and after each step; NULL for none.  A value other than 0 of `before` ends the run with
   * XP_ERR_CANCELLED. */
  int (*before)(void *context, size_t step);
  void (*after)(void *context, size_t step);
  void *context;
} xp_dev_run;

/* Runs the program once.  XP_ERR_CANCELLED if `before` says so, XP_ERR_USAGE for missing pointers. */
xp_status xp_dev_plan_run(const xp_dev_plan *plan, const xp_dev_run *run, xp_error *err);

#endif
