/* What operations demand of the types of their tensors, which is what torch demands.  Errors name what was passed with
 * shapes and types, and say how to cast it. */
#ifndef XL_OP_TYPES_H
#define XL_OP_TYPES_H

#include "lazy/runtime.h"

/* Keep an error, and give NULL: x (and y, which may be NULL) are bools, for which there is no such operation. */
void *xl_no_bools(const xl_var *x, const xl_var *y);

/* True if x has fractions, and if both have the same type; false with an error. */
bool xl_check_fractions(const xl_var *x);
bool xl_check_same_types(const xl_var *x, const xl_var *y);

/* The value that an update in place gave, if x can take it when it is cast to the type of x: fractions are not cut off,
 * and numbers do not become bools.  NULL with an error, which names the other operands (those that are not NULL), or
 * the number. */
xl_var *xl_kept_with(const xl_var *x, xl_var *value, const xl_var *other, const xl_var *third);
xl_var *xl_kept_with_number(const xl_var *x, xl_var *value, double number);

#endif
