/* Random numbers, on tensors. */
#ifndef XL_OP_RANDOM_H
#define XL_OP_RANDOM_H

#include "lazy/apply.h"

/* Each element with probability 1 - p and divided by that, or 0.  Its gradient is the same choice: the product with the
 * mask keeps it. */
xl_var *xl_op_dropout(xl_var *x, double p);

#endif
