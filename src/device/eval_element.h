/* Element-wise operations: which kernel does one, and how the types that kernels lack are brought to it. */
#ifndef XP_DEVICE_EVAL_ELEMENT_H
#define XP_DEVICE_EVAL_ELEMENT_H

#include "device/eval_plan.h"

#define XP_DEV_CHUNK 512 /* elements at a time where operands are converted or stand for many */

typedef struct {
  xp_dev_kernel kernel;
  xp_dev_kernel before[3]; /* brings an operand to the kernel's type; NULL: it is */
  xp_dev_kernel after;     /* brings the result to its type */
  uint8_t in_count, in_size[3], out_size;
} xp_dev_element;

/* Finds the kernel for an element-wise instruction with operands and a result of these types.  False if there is none.
 */
bool xp_dev_element_find(const xp_dev_kernels *kernels, const xp_hlo_instruction *instruction, const xp_dev_type *in,
                         uint32_t in_count, xp_dev_type out, xp_dev_element *element);

/* True for opcodes that xp_dev_element_find may know. */
bool xp_dev_is_element_op(xp_hlo_opcode opcode);

/* out[i] = f(in[0][i], ..) for i < n.  Bit k of splats: operand k is one element that stands for n. */
void xp_dev_element_apply(const xp_dev_element *element, void *out, const void *const *in, unsigned splats, int64_t n);

/* Writes n copies of an element of 1, 2, 4 or 8 bytes. */
void xp_dev_fill(void *out, const void *value, size_t size, int64_t n);

#endif
