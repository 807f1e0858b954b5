/* The operations of graphs: one row has all that is known about one.
 *
 * X(id, text, lower, code, gradient, saves)
 *   text      its name in dumps and, with ':' as '_', on the device.  What ATen has is called as there; arithmetic that
 *             HLO has as it stands is called as in HLO ("xla::add")
 *   lower     xl_lower_<lower> makes its instructions; code tells those that share a function apart (an HLO opcode)
 *   gradient  xl_gradient_<gradient> gives the gradients of its inputs; none: it has none
 *   saves     what that needs: bit i is input i, XL_SAVE_OUTPUT the result; with XL_SAVE_FOR_OTHERS an
 *             input is kept only if another one wants a gradient (factors of a product)
 */
#ifndef XL_OP_H
#define XL_OP_H

#include "hlo/build.h"
#include "lazy/op_list.h"
#include "xlaprof/lazy.h"

typedef struct xl_node xl_node;
typedef struct xl_var xl_var;
typedef struct xl_lowering xl_lowering;
typedef struct xl_gradient xl_gradient;

enum { XL_SAVE_FOR_OTHERS = 1 << 6, XL_SAVE_OUTPUT = 1 << 7 };

#define XL_OP_ID(id, text, lower, code, gradient, saves) XL_OP_##id,
typedef enum { XL_OPS(XL_OP_ID) XL_OP_COUNT } xl_op;
#undef XL_OP_ID

/* Makes the instructions of a node, whose operands are made already. */
typedef xp_hlo_value xl_lower_function(xl_lowering *to, const xl_node *node, const xp_hlo_value *operands);

/* Sets to->result for the inputs that want a gradient. */
typedef void xl_gradient_function(xl_gradient *to);

typedef struct {
  const char *text;
  xl_lower_function *lower;
  int code;
  xl_gradient_function *gradient;
  uint8_t saves;
} xl_op_fact;

/* The functions of all rows; those that several share are declared once for each, which is the same. */
#define XL_OP_FUNCTIONS(id, text, lower, code, gradient, saves)                                                        \
  xl_lower_function xl_lower_##lower;                                                                                  \
  xl_gradient_function xl_gradient_##gradient;
XL_OPS(XL_OP_FUNCTIONS)
#undef XL_OP_FUNCTIONS

extern const xl_op_fact xl_op_facts[XL_OP_COUNT];

#endif
