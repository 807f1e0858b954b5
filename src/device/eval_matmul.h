/* The matrix product that dot and convolution are made of. */
#ifndef XP_DEVICE_EVAL_MATMUL_H
#define XP_DEVICE_EVAL_MATMUL_H

#include "device/eval_plan.h"

/* c[m][n] = sum over k of a[m][k] * b[k][n].  Strides are in elements; c has rows of n elements that are c_row apart.
 */
typedef struct {
  xp_dev_type type;           /* of c, and of a and b as they are multiplied */
  xp_dev_type a_type, b_type; /* as they lie in memory: `type`, or f16 or bf16 when type is f32 */
  int64_t m, n, k, a_row, a_column, b_row, b_column, c_row;
} xp_dev_matmul;

/* Bytes of scratch that a product of this type needs. */
size_t xp_dev_matmul_bytes(const xp_dev_matmul *product);

void xp_dev_matmul_run(const xp_dev_kernels *kernels, const xp_dev_matmul *product, void *c, const void *a,
                       const void *b, void *scratch);

#endif
