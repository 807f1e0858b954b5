/* Sums and their kin, on tensors. */
#ifndef XL_OP_SUMS_H
#define XL_OP_SUMS_H

#include "lazy/apply.h"

/* Attributes of all that reduces: bit i of dims is dimension i. */
typedef struct {
  int64_t dims, keeps;
} xl_reduce_attrs;

/* The same of a variance; divisor: elements without the correction. */
typedef struct {
  xl_reduce_attrs reduce;
  double divisor;
} xl_var_attrs;

typedef struct {
  int64_t dim, is_reverse; /* from the end to the start */
} xl_cumsum_attrs;

/* Over the dimensions of a bit mask, which go, or stay with extent 1. */
xl_var *xl_op_reduce(xl_op op, xl_var *x, xl_type type, int64_t dims, bool keeps);

/* The mask of some dimensions; none are all, as in torch.  A single value has the dimensions 0 and -1, which change
 * nothing.  -1 with an error.  All: those of x. */
int64_t xl_dims_mask(const xl_var *x, const int *dims, size_t count);
int64_t xl_dims_all(const xl_var *x);

/* Sums up to each element. */
xl_var *xl_op_cumsum(xl_var *x, xl_type type, int64_t dim, bool is_reverse);

#endif
