/* Products of matrices, on tensors. */
#ifndef XL_OP_PRODUCTS_H
#define XL_OP_PRODUCTS_H

#include "lazy/apply.h"

xl_var *xl_op_mm(xl_var *x, xl_var *y);
xl_var *xl_op_addmm(xl_var *bias, xl_var *x, xl_var *y);

#endif
