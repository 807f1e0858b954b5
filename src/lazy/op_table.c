/* The table of operations, made of the list. */
#include "lazy/op.h"

#define xl_gradient_none NULL
#define ROW(id, text, lower, code, gradient, saves)                                                                    \
  [XL_OP_##id] = {text, xl_lower_##lower, code, xl_gradient_##gradient, saves},
const xl_op_fact xl_op_facts[XL_OP_COUNT] = {XL_OPS(ROW)};
#undef ROW
