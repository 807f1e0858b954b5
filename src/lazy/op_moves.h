/* Elements at other places, on tensors. */
#ifndef XL_OP_MOVES_H
#define XL_OP_MOVES_H

#include "lazy/apply.h"

/* Of the widest type.  As in torch, xl_op_cat passes over vectors without elements beside tensors of other ranks. */
xl_var *xl_op_cat(xl_var *const *parts, size_t count, int dim);
xl_var *xl_op_stack(xl_var *const *parts, size_t count, int dim);

xl_var *xl_op_flip(xl_var *x, int dim);

/* before and after may be negative: elements are taken away. */
xl_var *xl_op_pad(xl_var *x, int dim, int64_t before, int64_t after, double value);
xl_var *xl_op_tril(xl_var *x, int64_t diagonal);
xl_var *xl_op_upsample_nearest2d(xl_var *x, int64_t factor);

/* Indices are whole numbers of any shape, which takes the place of the dimension.  Those outside of the extent are
 * moved to its ends, as XLA does.  op: XL_OP_INDEX_SELECT or XL_OP_EMBEDDING. */
xl_var *xl_op_index_select(xl_op op, xl_var *x, int dim, xl_var *indices);

/* Element [i, j, k] is x[i, indices[i, j, k], k], for dimension 1. */
xl_var *xl_op_gather(xl_var *x, int dim, xl_var *indices);

/* i64, with a new last dimension: 1 at the place that the index names, 0 elsewhere. */
xl_var *xl_op_one_hot(xl_var *indices, int64_t classes);

/* Attributes of what works on one dimension. */
typedef struct {
  int64_t dim;
} xl_dim_attrs;

typedef struct {
  int64_t dim, before, after;
} xl_pad_attrs;

#endif
