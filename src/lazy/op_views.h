/* Views, on tensors: results that share the memory of their operand. */
#ifndef XL_OP_VIEWS_H
#define XL_OP_VIEWS_H

#include "lazy/apply.h"

/* Dimension dim counted from the front; rank: of x, or one more.  -1 with an error. */
int xl_dim_of(const xl_var *x, int dim, size_t rank);

/* order[i] is the dimension of x that becomes dimension i. */
xl_var *xl_op_permute(xl_var *x, const int *order);
xl_var *xl_op_transpose(xl_var *x, int a, int b);
xl_var *xl_op_reshape(xl_var *x, const xl_shape *shape);
xl_var *xl_op_expand(xl_var *x, const xl_shape *shape);
xl_var *xl_op_unsqueeze(xl_var *x, int dim);

/* Elements start, start + step, .. below end of a dimension; ends are moved into the extent, as Python does. */
xl_var *xl_op_slice(xl_var *x, int dim, int64_t start, int64_t end, int64_t step);
xl_var *xl_op_select(xl_var *x, int dim, int64_t index);

/* What a view was taken of, with the view's part replaced by a value. */
xl_var *xl_view_put_back(const xl_view *view, xl_var *before, xl_var *value);

/* Attributes of slices and selections. */
typedef struct {
  int64_t dim, start, step; /* step 1 and start for a selection */
} xl_slice_attrs;

#endif
