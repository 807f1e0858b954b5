/* Softmax, normalisations and losses, on tensors. */
#ifndef XL_OP_LAYERS_H
#define XL_OP_LAYERS_H

#include "lazy/apply.h"

/* is_safe: a row of which every element is minus infinity becomes 0, and not NaN. */
xl_var *xl_op_softmax(xl_var *x, int dim, bool is_safe);
xl_var *xl_op_log_softmax(xl_var *x, int dim);

/* Attributes of all that sums over dimensions and keeps its shape: bit i of dims is dimension i. */
typedef struct {
  int64_t dims, is_safe;
} xl_softmax_attrs;

typedef struct {
  int64_t dims;
  double epsilon;
} xl_norm_attrs;

/* A tensor that may not be there. */
typedef struct {
  xl_var *var; /* NULL: an error, if it is given */
  bool is_given;
} xl_optional;

/* xl_arg_or_none as one value. */
xl_optional xl_optional_arg(xl_tensor tensor);

static inline bool xl_optional_failed(xl_optional x)
{
  return x.is_given && x.var == NULL;
}

#endif
