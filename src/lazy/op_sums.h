/* Sums and their kin, on tensors. */
#ifndef XL_OP_SUMS_H
#define XL_OP_SUMS_H

#include "lazy/apply.h"

/* Attributes of all that reduces: bit i of dims is dimension i. */
typedef struct {
  int64_t dims, keeps;
} xl_reduce_attrs;

/* Over the dimensions of a bit mask, which go, or stay with extent 1. */
xl_var *xl_op_reduce(xl_op op, xl_var *x, xl_type type, int64_t dims, bool keeps);

/* The mask of some dimensions; -1 with an error.  All: those of x. */
int64_t xl_dims_mask(const xl_var *x, const int *dims, size_t count);
int64_t xl_dims_all(const xl_var *x);

#endif
