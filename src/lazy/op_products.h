/* Products of matrices, and what is made of them, on tensors. */
#ifndef XL_OP_PRODUCTS_H
#define XL_OP_PRODUCTS_H

#include "lazy/apply.h"

xl_var *xl_op_mm(xl_var *x, xl_var *y);
xl_var *xl_op_addmm(xl_var *bias, xl_var *x, xl_var *y);
xl_var *xl_op_bmm(xl_var *x, xl_var *y);

/* Of any ranks: leading dimensions are broadcast; a vector is a row on the left and a column on the right. */
xl_var *xl_op_matmul(xl_var *x, xl_var *y);

/* x in another shape of as many elements: a tensor of its own and no view. */
xl_var *xl_op_shaped(xl_var *x, const xl_shape *shape);

/* Whether two can be multiplied: of one type, and no bools.  False with an error. */
bool xl_check_factors(const xl_var *x, const xl_var *y);

/* Keeps an error that has both shapes: "the shapes .. and .. don't fit together".  Gives NULL. */
void *xl_no_fit(const xl_var *x, const xl_var *y);

#endif
