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
  X(RELU, "aten::relu", relu, 0, relu, XL_SAVE_OUTPUT)                                                                 \
  X(THRESHOLD_BACKWARD, "aten::threshold_backward", threshold_backward, 0, none, 0)                                    \
  X(ADD, "xla::add", binary, XP_HLO_OP_ADD, add, 0)                                                                    \
  X(ADD_SCALED, "aten::add", add_scaled, 0, add_scaled, 1 << 2)                                                        \
  X(SUB, "xla::subtract", binary, XP_HLO_OP_SUBTRACT, sub, 0)                                                          \
  X(MUL, "xla::multiply", binary, XP_HLO_OP_MULTIPLY, mul, 3)                                                          \
  X(DIV, "xla::divide", binary, XP_HLO_OP_DIVIDE, div, 3)

#define XL_VIEW_OPS(X)                                                                                                 \
  X(EXPAND, "aten::expand", expand, 0, expand, 0)                                                                      \
  X(PERMUTE, "aten::permute", permute, 0, permute, 0)                                                                  \
  X(RESHAPE, "aten::view", reshape, 0, reshape, 0)                                                                     \
  X(SLICE, "aten::slice", slice, 0, slice, 0)                                                                          \
  X(SELECT, "aten::select", select, 0, select, 0)                                                                      \
  X(SLICE_PUT, "xla::update_slice", slice_put, 0, none, 0)                                                             \
  X(SELECT_PUT, "xla::update_select", select_put, 0, none, 0)

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
  X(MEAN, "aten::mean", mean, 0, mean, 0)

#define XL_PRODUCT_OPS(X)                                                                                              \
  X(MM, "aten::mm", mm, 0, mm, 3)                                                                                      \
  X(ADDMM, "aten::addmm", addmm, 0, addmm, 6)                                                                          \
  X(BMM, "aten::bmm", bmm, 0, bmm, 3)

/* Windows over images. */
#define XL_WINDOW_OPS(X)                                                                                               \
  X(CONV2D, "aten::convolution", conv2d, 0, conv2d, 3)                                                                 \
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
  XL_ELEMENT_OPS(X) XL_VIEW_OPS(X) XL_MOVE_OPS(X) XL_SUM_OPS(X) XL_PRODUCT_OPS(X) XL_WINDOW_OPS(X) XL_LAYER_OPS(X)

#endif
