/* The operations of lazy tensors.  Do not include this file; lazy.h does.
 *
 * XL_OP(relu, xl_tensor x) declares xl_relu(x).  Each gives a new tensor, or XL_NONE after an error (see lazy.h).
 *
 * Rules for all of them, which are torch's: operands of two tensors are broadcast against each other (a dimension of
 * extent 1, or one that is missing in front, is repeated); of two types the result has the wider one (bool < u8 < i32 <
 * i64 < bf16 < f32), and what needs fractions makes f32 of integers; a number beside a tensor takes the tensor's type,
 * but a number with a fraction makes f32 of integers.  Products, means, layers and losses mix no types, and take what
 * torch takes; what they refuse is to be cast.  Dimensions may be negative: -1 is the last one.
 */
#ifndef XLAPROF_LAZY_OPS_H
#define XLAPROF_LAZY_OPS_H

#ifdef __cplusplus
extern "C" {
#endif

#define XL_OP(name, ...) XP_API xl_tensor xl_##name##_at(const xl_location *at, __VA_ARGS__)

/* ---------------------------------------------------------------- making tensors */

/* Copies an array of the host, row after row, to the device in use; `values` may go when it returns. */
XL_OP(from_host, xl_type type, xl_shape shape, const void *values);

/* One value: xl_scalar(XL_F32, 2.5). */
XL_OP(scalar, xl_type type, double value);

XL_OP(zeros, xl_type type, xl_shape shape);
XL_OP(ones, xl_type type, xl_shape shape);
XL_OP(full, xl_type type, xl_shape shape, double value);
XL_OP(zeros_like, xl_tensor x);
XL_OP(ones_like, xl_tensor x);

/* start, start + step, .. below end. */
XL_OP(arange, xl_type type, double start, double end, double step);

/* A square matrix with ones on its diagonal. */
XL_OP(eye, xl_type type, int64_t n);

/* Random: uniform in [0, 1), normal with mean 0 and deviation 1 (f32, bf16), whole numbers in [low, high).  The same
 * seed gives the same numbers; a program is compiled once for all seeds. */
XL_OP(rand, xl_type type, xl_shape shape);
XL_OP(randn, xl_type type, xl_shape shape);
XL_OP(randint, xl_type type, xl_shape shape, int64_t low, int64_t high);

/* Keeps each element with probability 1-p and divides it by that; the rest becomes 0. */
XL_OP(dropout, xl_tensor x, double p);

/* Starts the random numbers of the device in use anew. */
XP_API void xl_manual_seed(uint64_t seed);

/* A tensor of its own with the same value; the same without gradients; and with another type. */
XL_OP(clone, xl_tensor x);
XL_OP(detach, xl_tensor x);
XL_OP(cast, xl_tensor x, xl_type type);

/* ---------------------------------------------------------------- element by element */

XL_OP(neg, xl_tensor x);
XL_OP(abs, xl_tensor x);
XL_OP(sign, xl_tensor x);
XL_OP(square, xl_tensor x);
XL_OP(reciprocal, xl_tensor x);
XL_OP(exp, xl_tensor x);
XL_OP(expm1, xl_tensor x);
XL_OP(log, xl_tensor x);
XL_OP(log1p, xl_tensor x);
XL_OP(sqrt, xl_tensor x);
XL_OP(rsqrt, xl_tensor x);
XL_OP(sin, xl_tensor x);
XL_OP(cos, xl_tensor x);
XL_OP(tanh, xl_tensor x);
XL_OP(erf, xl_tensor x);
XL_OP(floor, xl_tensor x);
XL_OP(ceil, xl_tensor x);
XL_OP(round, xl_tensor x); /* halves to even */
XL_OP(relu, xl_tensor x);
XL_OP(sigmoid, xl_tensor x);
XL_OP(silu, xl_tensor x); /* f32, bf16 */
XL_OP(gelu, xl_tensor x); /* the same; with erf */
XL_OP(isnan, xl_tensor x);
XL_OP(isfinite, xl_tensor x);
XL_OP(logical_not, xl_tensor x);

XL_OP(add, xl_tensor x, xl_tensor y);
XL_OP(add_scaled, xl_tensor x, xl_tensor y, double alpha); /* x + alpha y */
XL_OP(sub, xl_tensor x, xl_tensor y);
XL_OP(mul, xl_tensor x, xl_tensor y);
XL_OP(div, xl_tensor x, xl_tensor y); /* with a fraction, also of integers */
/* Rounded down, and the rest, which has the sign of y.  Whole numbers divided by 0 give some number, and no error. */
XL_OP(floor_div, xl_tensor x, xl_tensor y);
XL_OP(remainder, xl_tensor x, xl_tensor y);
XL_OP(pow, xl_tensor x, xl_tensor y);
XL_OP(maximum, xl_tensor x, xl_tensor y);
XL_OP(minimum, xl_tensor x, xl_tensor y);
XL_OP(add_scalar, xl_tensor x, double y);
XL_OP(sub_scalar, xl_tensor x, double y);
XL_OP(mul_scalar, xl_tensor x, double y);
XL_OP(div_scalar, xl_tensor x, double y);
XL_OP(pow_scalar, xl_tensor x, double y);
XL_OP(clamp, xl_tensor x, double min, double max); /* an infinite bound is none */

/* Comparisons give bool. */
XL_OP(eq, xl_tensor x, xl_tensor y);
XL_OP(ne, xl_tensor x, xl_tensor y);
XL_OP(lt, xl_tensor x, xl_tensor y);
XL_OP(le, xl_tensor x, xl_tensor y);
XL_OP(gt, xl_tensor x, xl_tensor y);
XL_OP(ge, xl_tensor x, xl_tensor y);
XL_OP(eq_scalar, xl_tensor x, double y);
XL_OP(lt_scalar, xl_tensor x, double y);
XL_OP(gt_scalar, xl_tensor x, double y);

/* Of all types, what is not 0 being true; they give bool. */
XL_OP(logical_and, xl_tensor x, xl_tensor y);
XL_OP(logical_or, xl_tensor x, xl_tensor y);
XL_OP(logical_xor, xl_tensor x, xl_tensor y);

/* x where the condition (bool) holds, else y. */
XL_OP(where, xl_tensor condition, xl_tensor x, xl_tensor y);

/* ---------------------------------------------------------------- in place: give x back */

/* The result is cast to the type of x, unless that cuts off fractions or makes bools of numbers (only xl_copy_ and
 * xl_fill_ do that), and must have its shape.  All views of x see it.  A leaf that wants a gradient,
 * or a view of one, is updated inside XL_NO_GRAD only. */
XL_OP(add_, xl_tensor x, xl_tensor y);
XL_OP(add_scaled_, xl_tensor x, xl_tensor y, double alpha);
XL_OP(add_scalar_, xl_tensor x, double y);
XL_OP(sub_, xl_tensor x, xl_tensor y);
XL_OP(mul_, xl_tensor x, xl_tensor y);
XL_OP(mul_scalar_, xl_tensor x, double y);
XL_OP(div_, xl_tensor x, xl_tensor y);
XL_OP(addcmul_, xl_tensor x, xl_tensor a, xl_tensor b, double scale); /* x + scale a b */
XL_OP(addcdiv_, xl_tensor x, xl_tensor a, xl_tensor b, double scale); /* x + scale a / b */
XL_OP(clamp_, xl_tensor x, double min, double max);
XL_OP(relu_, xl_tensor x);
XL_OP(fill_, xl_tensor x, double value);
XL_OP(zero_, xl_tensor x);
XL_OP(copy_, xl_tensor x, xl_tensor y);

/* ---------------------------------------------------------------- views: share memory with x */

XL_OP(t, xl_tensor x); /* a matrix with rows and columns exchanged */
XL_OP(transpose, xl_tensor x, int a, int b);
XL_OP(permute, xl_tensor x, const int *order); /* as many as x has dimensions */
XL_OP(reshape, xl_tensor x, xl_shape shape);   /* one extent may be -1 */
XL_OP(flatten, xl_tensor x, int first, int last);
XL_OP(squeeze, xl_tensor x, int dim);
XL_OP(unsqueeze, xl_tensor x, int dim);
XL_OP(expand, xl_tensor x, xl_shape shape); /* -1: as it is */
XL_OP(slice, xl_tensor x, int dim, int64_t start, int64_t end, int64_t step);
XL_OP(select, xl_tensor x, int dim, int64_t index); /* the dimension goes */

/* ---------------------------------------------------------------- moving elements */

XL_OP(cat, const xl_tensor *tensors, size_t count, int dim);
XL_OP(stack, const xl_tensor *tensors, size_t count, int dim);
XL_OP(flip, xl_tensor x, int dim);
XL_OP(pad, xl_tensor x, int dim, int64_t before, int64_t after, double value); /* below 0: takes elements away */
XL_OP(tril, xl_tensor x, int64_t diagonal); /* 0 above the diagonal, which is moved to the right by so many columns */

/* Indices are i32, i64 or u8.  As XLA has it, those outside of a dimension are moved to its ends (torch refuses them,
 * which takes a look at the values); one_hot makes zeros of them. */
XL_OP(index_select, xl_tensor x, int dim, xl_tensor indices);
XL_OP(gather, xl_tensor x, int dim, xl_tensor indices);
XL_OP(one_hot, xl_tensor indices, int64_t classes);
XL_OP(embedding, xl_tensor weight, xl_tensor indices);
XL_OP(upsample_nearest2d, xl_tensor x, int64_t factor); /* of [N, C, H, W] */

/* The positions of elements that are not 0, one row each (i64).  The size depends on the values, so the host computes
 * it: it waits for the device. */
XL_OP(nonzero, xl_tensor x);

/* ---------------------------------------------------------------- sums */

/* Over all elements, and over some dimensions (count 0: all), which go or stay with extent 1.  Sums of integers and
 * bools are i64; those of bf16 are formed in f32.  Means and variances are those of f32 and bf16. */
XL_OP(sum, xl_tensor x);
XL_OP(mean, xl_tensor x);
XL_OP(sum_dims, xl_tensor x, const int *dims, size_t count, bool keep);
XL_OP(mean_dims, xl_tensor x, const int *dims, size_t count, bool keep);
XL_OP(var_dims, xl_tensor x, const int *dims, size_t count, bool keep, int64_t correction);
XL_OP(amax, xl_tensor x, int dim, bool keep);
XL_OP(amin, xl_tensor x, int dim, bool keep);
XL_OP(argmax, xl_tensor x, int dim, bool keep); /* i64; the first of equals; a NaN comes before all others */
XL_OP(argmin, xl_tensor x, int dim, bool keep);
XL_OP(any, xl_tensor x); /* bool: whether one, or each, is not 0 */
XL_OP(all, xl_tensor x);
XL_OP(cumsum, xl_tensor x, int dim);

/* ---------------------------------------------------------------- products: of tensors of one type, and of no bools */

XL_OP(mm, xl_tensor x, xl_tensor y); /* [n, k] [k, m] */
XL_OP(addmm, xl_tensor bias, xl_tensor x, xl_tensor y);
XL_OP(bmm, xl_tensor x, xl_tensor y);                         /* [b, n, k] [b, k, m] */
XL_OP(matmul, xl_tensor x, xl_tensor y);                      /* of any ranks, as torch.matmul */
XL_OP(linear, xl_tensor x, xl_tensor weight, xl_tensor bias); /* weight [out, in]; bias may be XL_NONE */

typedef struct {
  int64_t stride[2], padding[2], dilation[2], groups;
} xl_conv2d_options;
#define XL_CONV2D_OPTIONS_INIT                                                                                         \
  {                                                                                                                    \
    {1, 1}, {0, 0}, {1, 1}, 1                                                                                          \
  }

/* x [N, C, H, W], weight [out, C / groups, h, w]; bias [out] may be XL_NONE, options NULL. */
XL_OP(conv2d, xl_tensor x, xl_tensor weight, xl_tensor bias, const xl_conv2d_options *options);
XL_OP(avg_pool2d, xl_tensor x, int64_t size, int64_t stride); /* [.., H, W], without padding */

/* softmax(q k^T / sqrt(d) + mask) v, for [.., n, d] of f32 or bf16; mask may be XL_NONE, bool (true: takes part) or a
 * number to add, of the type of q or f32.
 * Where the mask leaves nothing, the result is 0. */
XL_OP(attention, xl_tensor q, xl_tensor k, xl_tensor v, xl_tensor mask);

/* ---------------------------------------------------------------- layers and losses */

/* All of them take f32 and bf16.  Weights, biases and statistics have the type of x, or all of them f32. */

XL_OP(softmax, xl_tensor x, int dim);
XL_OP(log_softmax, xl_tensor x, int dim);

/* Over the last `dims` dimensions; weight and bias of their shape, or XL_NONE. */
XL_OP(layer_norm, xl_tensor x, size_t dims, xl_tensor weight, xl_tensor bias, double epsilon);

/* x [N, C, ..]; weight and bias [C], or XL_NONE. */
XL_OP(group_norm, xl_tensor x, int64_t groups, xl_tensor weight, xl_tensor bias, double epsilon);

typedef struct {
  xl_tensor weight, bias;              /* [C], or XL_NONE */
  xl_tensor running_mean, running_var; /* [C], updated in place while training; or XL_NONE */
  bool is_training;                    /* takes the batch's own mean and variance */
  double momentum, epsilon;
} xl_batch_norm_options;

XL_OP(batch_norm, xl_tensor x, const xl_batch_norm_options *options);

/* Means over all elements; x or the target has fractions. */
XL_OP(mse_loss, xl_tensor x, xl_tensor target);

/* Of [N, classes, ..] and a target of i64 or i32 [N, ..], or of [classes] and one number.  Targets of -100 do not
 * count; with one that is no class, the loss is NaN. */
XL_OP(nll_loss, xl_tensor log_probabilities, xl_tensor target);
XL_OP(cross_entropy, xl_tensor logits, xl_tensor target);

#include "xlaprof/lazy_here.h"

#ifdef __cplusplus
}
#endif

#endif
