/* Computations of scalars, as reduce, scatter, sort and map call them: translated once, run for many elements at a
 * time.
 *
 * All operations of such a computation are element-wise, so it is the same whether it gets one element or a row of
 * them: its registers hold up to XP_DEV_LANES elements each.
 */
#ifndef XP_DEVICE_EVAL_SCALAR_H
#define XP_DEVICE_EVAL_SCALAR_H

#include "device/eval_element.h"

#define XP_DEV_LANES 128

typedef struct xp_dev_scalar_op xp_dev_scalar_op;
typedef struct xp_dev_scalar_constant xp_dev_scalar_constant;

typedef struct {
  const xp_dev_scalar_op *ops;
  uint32_t op_count, register_count, parameter_count, result_count;
  const xp_dev_scalar_constant *constants;
  uint32_t constant_count;
  const xp_dev_type *parameter_types;
  const uint32_t *results; /* registers */
  const xp_dev_type *result_types;
  /* For short ways: the one operation on parameters 0 and 1 that it is; XP_HLO_OP_PARAMETER: it gives parameter 1;
   * XP_HLO_OP_UNKNOWN: it is more. */
  xp_hlo_opcode only;
  const xp_hlo_instruction *only_instruction;
} xp_dev_scalar;

/* Translates a computation whose parameters and results are scalars of these types, or rejects the instruction. */
xp_status xp_dev_scalar_prepare(xp_dev_context *context, uint32_t computation, const xp_dev_type *parameters,
                                uint32_t parameter_count, const xp_dev_type *results, uint32_t result_count,
                                const xp_dev_scalar **scalar);

/* Memory that a running computation needs, aligned to 64. */
size_t xp_dev_scalar_bytes(const xp_dev_scalar *scalar);

/* Puts constants into the memory; once before the first run. */
void xp_dev_scalar_open(const xp_dev_scalar *scalar, void *memory);

/* Runs it for n elements, at most XP_DEV_LANES, of each parameter. */
void xp_dev_scalar_run(const xp_dev_scalar *scalar, void *memory, const void *const *parameters, int64_t n);

/* The elements of a result of the last run; may be those of a parameter. */
const void *xp_dev_scalar_result(const xp_dev_scalar *scalar, const void *memory, uint32_t result);

#endif
