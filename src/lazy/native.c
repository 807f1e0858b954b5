/* torch_xla counts the functions that PyTorch's dispatcher gives it, so an operation that PyTorch composes of others
 * counts as those, an update in place as the operation without its "_", and a view as a copy.  Here such calls are one
 * function, whose parts are counted where their nodes are built.
 *
 * Names: torch_xla 2.9, from its report of each operation (torch_xla/csrc/aten_xla_type.cpp).
 */
#include "lazy/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { FUNCTION, PARTS, NOTHING } counted_as;

/* Calls whose function has another name, or that are no function.  What is not here is called as in torch_xla, or is
 * not there. */
static const struct {
  const char *call, *function;
  counted_as as;
} others[] = {
    {"add_", "add", FUNCTION},
    {"add_scalar", "add", FUNCTION},
    {"add_scalar_", "add", FUNCTION},
    {"add_scaled", "add", FUNCTION},
    {"add_scaled_", "add", FUNCTION},
    {"addcdiv_", "addcdiv", FUNCTION},
    {"addcmul_", "addcmul", FUNCTION},
    {"arange", "arange_out", FUNCTION},
    {"attention", NULL, PARTS},
    {"backward", NULL, PARTS},
    {"backward_from", NULL, PARTS},
    {"cast", "_to_copy", FUNCTION},
    {"clamp_", "clamp", FUNCTION},
    {"conv2d", "convolution_overrideable", FUNCTION},
    {"copy_", "copy", FUNCTION},
    {"cross_entropy", NULL, PARTS},
    {"detach", "detach_copy", FUNCTION},
    {"div_", "div", FUNCTION},
    {"div_scalar", "div", FUNCTION},
    {"embedding", "embedding_symint", FUNCTION},
    {"eq_scalar", "eq", FUNCTION},
    {"expand", "expand_copy_symint", FUNCTION},
    {"eye", "eye_out", FUNCTION},
    {"flatten", "view_copy_symint", FUNCTION},
    {"floor_div", "div", FUNCTION},
    {"grad", NULL, NOTHING},
    {"gt_scalar", "gt", FUNCTION},
    {"linear", NULL, PARTS},
    {"loader_next", NULL, NOTHING},
    {"log_softmax", "_log_softmax", FUNCTION},
    {"lt_scalar", "lt", FUNCTION},
    {"matmul", NULL, PARTS},
    {"mean_dims", "mean", FUNCTION},
    {"mul_", "mul", FUNCTION},
    {"mul_scalar", "mul", FUNCTION},
    {"mul_scalar_", "mul", FUNCTION},
    {"nll_loss", "nll_loss_forward", FUNCTION},
    {"ones", "fill_", FUNCTION},
    {"ones_like", "fill_", FUNCTION},
    {"pad", "constant_pad_nd", FUNCTION},
    {"permute", "permute_copy", FUNCTION},
    {"pow_scalar", "pow", FUNCTION},
    {"rand", "uniform_", FUNCTION},
    {"randint", "random_", FUNCTION},
    {"randn", "normal_", FUNCTION},
    {"relu_", "relu", FUNCTION},
    {"requires_grad", NULL, NOTHING},
    {"reshape", "view_copy_symint", FUNCTION},
    {"select", "select_copy", FUNCTION},
    {"set_op_name_prefix", NULL, NOTHING},
    {"slice", "slice_copy", FUNCTION},
    {"softmax", "_softmax", FUNCTION},
    {"square", "pow", FUNCTION},
    {"squeeze", "squeeze_copy", FUNCTION},
    {"sub_", "sub", FUNCTION},
    {"sub_scalar", "sub", FUNCTION},
    {"sum_dims", "sum", FUNCTION},
    {"t", "t_copy", FUNCTION},
    {"transpose", "transpose_copy", FUNCTION},
    {"unsqueeze", "unsqueeze_copy", FUNCTION},
    {"var_dims", "var", FUNCTION},
    {"zero_grad", NULL, NOTHING},
    {"zeros", "zero_", FUNCTION},
    {"zeros_like", "zero_", FUNCTION},
};

static xp_counter_handle *counter_of(const char *function)
{
  char name[64];
  snprintf(name, sizeof name, "xla::%s", function);
  return xp_counter_get(name);
}

const xl_native *xl_native_of(const char *call)
{
  static const xl_native uncounted = {NULL, false, true}; /* when memory is out */
  const char *function = call;
  counted_as as = FUNCTION;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    if (strcmp(call, others[i].call) == 0) {
      function = others[i].function;
      as = others[i].as;
    }
  }
  xl_native *native = malloc(sizeof *native); /* kept by the operation, for the life of the process */
  if (native == NULL) {
    return &uncounted;
  }
  *native = (xl_native){as == FUNCTION ? counter_of(function) : NULL, as == PARTS, as != NOTHING};
  return native;
}

/* ---------------------------------------------------------------- parts */

static const char *function_of(xl_op op)
{
  static const char *const names[XL_OP_COUNT] = {
      [XL_OP_CAST] = "_to_copy",
      [XL_OP_NEG] = "neg",
      [XL_OP_SUB] = "sub",
      [XL_OP_MUL] = "mul",
      [XL_OP_DIV] = "div",
      [XL_OP_FLOOR_DIV] = "div",
      [XL_OP_EXPAND] = "expand_copy_symint",
      [XL_OP_RESHAPE] = "view_copy_symint",
      [XL_OP_SLICE] = "slice_copy",
      [XL_OP_SELECT] = "select_copy",
      [XL_OP_EMBEDDING] = "embedding_symint",
      [XL_OP_CONV2D] = "convolution_overrideable",
      [XL_OP_SOFTMAX] = "_softmax",
      [XL_OP_SOFTMAX_BACKWARD] = "_softmax_backward_data",
      [XL_OP_LOG_SOFTMAX] = "_log_softmax",
      [XL_OP_LOG_SOFTMAX_BACKWARD] = "_log_softmax_backward_data",
      [XL_OP_NLL_LOSS] = "nll_loss_forward",
  };
  const char *text = xl_op_facts[op].text;
  return names[op] != NULL ? names[op] : strchr(text, ':') + 2; /* "aten::mm", "xla::add" */
}

/* A permutation: two dimensions that change places have functions of their own. */
static void count_permutation(const int64_t *order, size_t rank)
{
  static const char *const names[] = {"permute_copy", "transpose_copy", "t_copy"};
  static xp_counter_handle *counters[3]; /* under the runtime's lock, as below */
  size_t moved = 0;
  for (size_t i = 0; i < rank; i++) {
    moved += order[i] != (int64_t)i;
  }
  const int kind = moved != 2 ? 0 : rank == 2 ? 2 : 1;
  if (counters[kind] == NULL) {
    counters[kind] = counter_of(names[kind]);
  }
  xp_counter_add_exclusive(counters[kind], 1);
}

void xl_native_count_node(xl_op op, const void *attrs, size_t rank)
{
  static xp_counter_handle *counters[XL_OP_COUNT];
  if (op == XL_OP_PERMUTE) {
    count_permutation(attrs, rank);
    return;
  }
  if (counters[op] == NULL) {
    counters[op] = counter_of(function_of(op));
  }
  xp_counter_add_exclusive(counters[op], 1);
}
