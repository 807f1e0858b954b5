/* The rows of lazy/op.h, by family; each family has a file op_<family>.c (tensors), lower_<family>.c (instructions) and
 * gradient_<family>.c. */
#ifndef XL_OP_LIST_H
#define XL_OP_LIST_H

#define XL_SOURCE_OPS(X)                                                                                               \
  X(DEVICE_DATA, "xla::device_data", device_data, 0, none, 0)                                                          \
  X(CONSTANT, "prim::Constant", constant, 0, none, 0)                                                                  \
  X(ARANGE, "aten::arange", arange, 0, none, 0)                                                                        \
  X(EYE, "aten::eye", eye, 0, none, 0)                                                                                 \
  X(CLONE, "aten::clone", cast, 0, cast, 0)

/* The first operand is a seed (lazy/random.h). */
#define XL_RANDOM_OPS(X)                                                                                               \
  X(RAND, "aten::uniform", rand, 0, none, 0)                                                                           \
  X(RANDN, "aten::normal", randn, 0, none, 0)                                                                          \
  X(RANDINT, "aten::randint", randint, 0, none, 0)                                                                     \
  X(DROPOUT_MASK, "aten::bernoulli", dropout_mask, 0, none, 0)

/* Element by element.  One operand takes the result's type; two take the wider of theirs. */
#define XL_ELEMENT_OPS(X)                                                                                              \
  X(CAST, "xla::cast", cast, 0, cast, 0)                                                                               \
  X(NEG, "xla::negate", unary, XP_HLO_OP_NEGATE, neg, 0)                                                               \
  X(ABS, "aten::abs", abs, 0, abs, 1)                                                                                  \
  X(SIGN, "aten::sign", sign, 0, zero, 0)                                                                              \
  X(EXP, "aten::exp", unary, XP_HLO_OP_EXPONENTIAL, exp, XL_SAVE_OUTPUT)                                               \
  X(EXPM1, "aten::expm1", unary, XP_HLO_OP_EXPONENTIAL_MINUS_ONE, expm1, XL_SAVE_OUTPUT)                               \
  X(LOG, "aten::log", unary, XP_HLO_OP_LOG, log, 1)                                                                    \
  X(LOG1P, "aten::log1p", unary, XP_HLO_OP_LOG_PLUS_ONE, log1p, 1)                                                     \
  X(SQRT, "aten::sqrt", unary, XP_HLO_OP_SQRT, sqrt, XL_SAVE_OUTPUT)                                                   \
  X(RSQRT, "aten::rsqrt", unary, XP_HLO_OP_RSQRT, rsqrt, XL_SAVE_OUTPUT)                                               \
  X(SIN, "aten::sin", unary, XP_HLO_OP_SINE, sin, 1)                                                                   \
  X(COS, "aten::cos", unary, XP_HLO_OP_COSINE, cos, 1)                                                                 \
  X(TANH, "aten::tanh", unary, XP_HLO_OP_TANH, tanh, XL_SAVE_OUTPUT)                                                   \
  X(ERF, "aten::erf", unary, XP_HLO_OP_ERF, erf, 1)                                                                    \
  X(FLOOR, "aten::floor", rounding, XP_HLO_OP_FLOOR, zero, 0)                                                          \
  X(CEIL, "aten::ceil", rounding, XP_HLO_OP_CEIL, zero, 0)                                                             \
  X(ROUND, "aten::round", rounding, XP_HLO_OP_ROUND_NEAREST_EVEN, zero, 0)                                             \
  X(RELU, "aten::relu", relu, 0, relu, XL_SAVE_OUTPUT)                                                                 \
  X(THRESHOLD_BACKWARD, "aten::threshold_backward", threshold_backward, 0, none, 0)                                    \
  X(SIGMOID, "aten::sigmoid", unary, XP_HLO_OP_LOGISTIC, sigmoid, XL_SAVE_OUTPUT)                                      \
  X(SILU, "aten::silu", silu, 0, silu, 1)                                                                              \
  X(SILU_BACKWARD, "aten::silu_backward", silu_backward, 0, none, 0)                                                   \
  X(GELU, "aten::gelu", gelu, 0, gelu, 1)                                                                              \
  X(GELU_BACKWARD, "aten::gelu_backward", gelu_backward, 0, none, 0)                                                   \
  X(ADD, "xla::add", binary, XP_HLO_OP_ADD, add, 0)                                                                    \
  X(ADD_SCALED, "aten::add", add_scaled, 0, add_scaled, 1 << 2)                                                        \
  X(SUB, "xla::subtract", binary, XP_HLO_OP_SUBTRACT, sub, 0)                                                          \
  X(MUL, "xla::multiply", binary, XP_HLO_OP_MULTIPLY, mul, XL_SAVE_FOR_OTHERS | 3)                                     \
  X(DIV, "xla::divide", binary, XP_HLO_OP_DIVIDE, div, 3)                                                              \
  X(FLOOR_DIV, "aten::floor_divide", floor_div, 0, none, 0)                                                            \
  X(REMAINDER, "aten::remainder", remainder, 0, remainder, 3)                                                          \
  X(POW, "aten::pow", binary, XP_HLO_OP_POWER, pow, 3 | XL_SAVE_OUTPUT)

/* What compares and chooses, element by element; truth is bool. */
#define XL_CHOICE_OPS(X)                                                                                               \
  X(MAXIMUM, "aten::maximum", binary, XP_HLO_OP_MAXIMUM, maximum, 3)                                                   \
  X(MINIMUM, "aten::minimum", binary, XP_HLO_OP_MINIMUM, minimum, 3)                                                   \
  X(CLAMP, "aten::clamp", clamp, 0, clamp, 7)                                                                          \
  X(WHERE, "aten::where", where, 0, where, 1)                                                                          \
  X(EQ, "aten::eq", compare, XP_HLO_COMPARE_EQ, none, 0)                                                               \
  X(NE, "aten::ne", compare, XP_HLO_COMPARE_NE, none, 0)                                                               \
  X(LT, "aten::lt", compare, XP_HLO_COMPARE_LT, none, 0)                                                               \
  X(LE, "aten::le", compare, XP_HLO_COMPARE_LE, none, 0)                                                               \
  X(GT, "aten::gt", compare, XP_HLO_COMPARE_GT, none, 0)                                                               \
  X(GE, "aten::ge", compare, XP_HLO_COMPARE_GE, none, 0)                                                               \
  X(ISNAN, "aten::isnan", isnan, 0, none, 0)                                                                           \
  X(ISFINITE, "aten::isfinite", isfinite, 0, none, 0)                                                                  \
  X(LOGICAL_NOT, "aten::logical_not", logical_not, 0, none, 0)                                                         \
  X(LOGICAL_AND, "aten::logical_and", logical, XP_HLO_OP_AND, none, 0)                                                 \
  X(LOGICAL_OR, "aten::logical_or", logical, XP_HLO_OP_OR, none, 0)                                                    \
  X(LOGICAL_XOR, "aten::logical_xor", logical, XP_HLO_OP_XOR, none, 0)

/* What an update leaves behind that overwrites all of a tensor has no node: only its history, which gives 0. */
#define XL_VIEW_OPS(X)                                                                                                 \
  X(EXPAND, "aten::expand", expand, 0, expand, 0)                                                                      \
  X(PERMUTE, "aten::permute", permute, 0, permute, 0)                                                                  \
  X(RESHAPE, "aten::view", reshape, 0, reshape, 0)                                                                     \
  X(SLICE, "aten::slice", slice, 0, slice, 0)                                                                          \
  X(SELECT, "aten::select", select, 0, select, 0)                                                                      \
  X(SLICE_PUT, "xla::update_slice", slice_put, 0, slice_put, 0)                                                        \
  X(SELECT_PUT, "xla::update_select", select_put, 0, select_put, 0)                                                    \
  X(OVERWRITE, "aten::fill_", cast, 0, zero, 0)

/* Elements at other places.  Those that take indices keep them for the gradient, which adds to the places they name. */
#define XL_MOVE_OPS(X)                                                                                                 \
  X(CAT, "aten::cat", cat, 0, cat, 0)                                                                                  \
  X(STACK, "aten::stack", stack, 0, stack, 0)                                                                          \
  X(FLIP, "aten::flip", flip, 0, flip, 0)                                                                              \
  X(PAD, "aten::constant_pad_nd", pad, 0, pad, 0)                                                                      \
  X(TRIL, "aten::tril", tril, 0, tril, 0)                                                                              \
  X(UPSAMPLE_NEAREST2D, "aten::upsample_nearest2d", upsample_nearest2d, 0, upsample_nearest2d, 0)                      \
  X(INDEX_SELECT, "aten::index_select", index_select, 0, index_select, 1 << 1)                                         \
  X(EMBEDDING, "aten::embedding", index_select, 0, index_select, 1 << 1)                                               \
  X(INDEX_ADD, "aten::index_add", index_add, 0, none, 0)                                                               \
  X(GATHER, "aten::gather", gather, 0, gather, 1 << 1)                                                                 \
  X(SCATTER_ADD, "aten::scatter_add", scatter_add, 0, none, 0)                                                         \
  X(ONE_HOT, "aten::one_hot", one_hot, 0, none, 0)

#define XL_SUM_OPS(X)                                                                                                  \
  X(SUM, "aten::sum", sum, 0, sum, 0)                                                                                  \
  X(MEAN, "aten::mean", mean, 0, mean, 0)                                                                              \
  X(VAR, "aten::var", var, 0, var, 1)                                                                                  \
  X(AMAX, "aten::amax", extreme, XP_HLO_OP_MAXIMUM, extreme, 1 | XL_SAVE_OUTPUT)                                       \
  X(AMIN, "aten::amin", extreme, XP_HLO_OP_MINIMUM, extreme, 1 | XL_SAVE_OUTPUT)                                       \
  X(ARGMAX, "aten::argmax", arg_extreme, XP_HLO_OP_MAXIMUM, none, 0)                                                   \
  X(ARGMIN, "aten::argmin", arg_extreme, XP_HLO_OP_MINIMUM, none, 0)                                                   \
  X(ANY, "aten::any", truth, XP_HLO_OP_OR, none, 0)                                                                    \
  X(ALL, "aten::all", truth, XP_HLO_OP_AND, none, 0)                                                                   \
  X(CUMSUM, "aten::cumsum", cumsum, 0, cumsum, 0)

#define XL_PRODUCT_OPS(X)                                                                                              \
  X(MM, "aten::mm", mm, 0, mm, XL_SAVE_FOR_OTHERS | 3)                                                                 \
  X(ADDMM, "aten::addmm", addmm, 0, addmm, 6)                                                                          \
  X(BMM, "aten::bmm", bmm, 0, bmm, XL_SAVE_FOR_OTHERS | 3)

/* Windows over images. */
#define XL_WINDOW_OPS(X)                                                                                               \
  X(CONV2D, "aten::convolution", conv2d, 0, conv2d, XL_SAVE_FOR_OTHERS | 3)                                            \
  X(CONV2D_BACKWARD_INPUT, "aten::convolution_backward_input", conv2d_backward_input, 0, none, 0)                      \
  X(CONV2D_BACKWARD_WEIGHT, "aten::convolution_backward_weight", conv2d_backward_weight, 0, none, 0)                   \
  X(AVG_POOL2D, "aten::avg_pool2d", avg_pool2d, 0, avg_pool2d, 0)                                                      \
  X(AVG_POOL2D_BACKWARD, "aten::avg_pool2d_backward", avg_pool2d_backward, 0, none, 0)

/* Layers and losses.  The code of a normalisation is its gradient. */
#define XL_LAYER_OPS(X)                                                                                                \
  X(SOFTMAX, "aten::softmax", softmax, 0, softmax, XL_SAVE_OUTPUT)                                                     \
  X(SOFTMAX_BACKWARD, "aten::softmax_backward", softmax_backward, 0, none, 0)                                          \
  X(LOG_SOFTMAX, "aten::log_softmax", log_softmax, 0, log_softmax, XL_SAVE_OUTPUT)                                     \
  X(LOG_SOFTMAX_BACKWARD, "aten::log_softmax_backward", log_softmax_backward, 0, none, 0)                              \
  X(VAR_MEAN, "aten::var_mean", var_mean, 0, none, 0)                                                                  \
  X(LAYER_NORM, "aten::native_layer_norm", norm, XL_OP_LAYER_NORM_BACKWARD, norm, 7)                                   \
  X(LAYER_NORM_BACKWARD, "aten::native_layer_norm_backward", norm_backward, 0, none, 0)                                \
  X(GROUP_NORM, "aten::native_group_norm", norm, XL_OP_GROUP_NORM_BACKWARD, norm, 7)                                   \
  X(GROUP_NORM_BACKWARD, "aten::native_group_norm_backward", norm_backward, 0, none, 0)                                \
  X(BATCH_NORM, "aten::native_batch_norm", norm, XL_OP_BATCH_NORM_BACKWARD, norm, 7)                                   \
  X(BATCH_NORM_BACKWARD, "aten::native_batch_norm_backward", norm_backward, 0, none, 0)                                \
  X(NORM_BACKWARD_WEIGHT, "xla::norm_backward_weight", norm_backward_weight, 0, none, 0)                               \
  X(NLL_LOSS, "aten::nll_loss", nll_loss, 0, nll_loss, 1 << 1)                                                         \
  X(NLL_LOSS_BACKWARD, "aten::nll_loss_backward", nll_loss_backward, 0, none, 0)

#define XL_OPS(X)                                                                                                      \
  XL_SOURCE_OPS(X)                                                                                                     \
  XL_RANDOM_OPS(X)                                                                                                     \
  XL_ELEMENT_OPS(X)                                                                                                    \
  XL_CHOICE_OPS(X) XL_VIEW_OPS(X) XL_MOVE_OPS(X) XL_SUM_OPS(X) XL_PRODUCT_OPS(X) XL_WINDOW_OPS(X) XL_LAYER_OPS(X)

#endif
