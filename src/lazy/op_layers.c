/* Shapes of softmax and of normalisations.
 *
 * A normalisation has two nodes: the mean and the variance over some dimensions, in f32 and one behind the other, and
 * what is made of them, the weight and the bias.  So gradients, and the running statistics of a batch, use what was
 * computed once.
 */
#include "lazy/op_layers.h"

#include "lazy/op_elements.h"
#include "lazy/op_products.h"
#include "lazy/op_sums.h"
#include "lazy/op_types.h"
#include "lazy/op_views.h"

xl_optional xl_optional_arg(xl_tensor tensor)
{
  xl_optional found;
  found.var = xl_arg_or_none(tensor, &found.is_given);
  return found;
}

/* ---------------------------------------------------------------- softmax */

/* As in torch, a single value has a dimension 0 here. */
static xl_var *softmax(xl_op op, xl_var *x, int dim, bool is_safe)
{
  if (x == NULL) {
    return NULL;
  }
  const bool is_single = x->shape.rank == 0 && (dim == 0 || dim == -1);
  const int at = is_single ? 0 : xl_dim_of(x, dim, x->shape.rank);
  if (at < 0 || !xl_check_fractions(x)) {
    return NULL;
  }
  const xl_softmax_attrs attrs = {is_single ? 0 : INT64_C(1) << at, is_safe};
  const xl_result result = {.op = op, .type = x->type, .shape = x->shape, .attrs = &attrs, .attr_bytes = sizeof attrs};
  return xl_apply_1(&result, x);
}

xl_var *xl_op_softmax(xl_var *x, int dim, bool is_safe)
{
  return softmax(XL_OP_SOFTMAX, x, dim, is_safe);
}

xl_var *xl_op_log_softmax(xl_var *x, int dim)
{
  return softmax(XL_OP_LOG_SOFTMAX, x, dim, false);
}

/* ---------------------------------------------------------------- normalisations */

/* Mean and variance over the dimensions of a mask: f32 [2, what is left of the shape]. */
static xl_var *statistics(xl_var *x, int64_t dims)
{
  const xl_reduce_attrs attrs = {dims, 0};
  xl_result result = {
      .op = XL_OP_VAR_MEAN, .type = XL_F32, .shape = {1, {2}}, .attrs = &attrs, .attr_bytes = sizeof attrs};
  for (size_t i = 0; i < x->shape.rank; i++) {
    if (!(dims >> i & 1)) {
      result.shape.dims[result.shape.rank++] = x->shape.dims[i];
    }
  }
  return xl_apply_1(&result, x);
}

/* (x - mean) / sqrt(variance + epsilon) weight + bias; weight and bias are of a shape that is broadcast to that of x,
 * or none. */
static xl_var *normalise(xl_op op, xl_var *x, xl_var *stats, int64_t dims, xl_optional weight, xl_optional bias,
                         double epsilon)
{
  if (x == NULL || stats == NULL || xl_optional_failed(weight) || xl_optional_failed(bias)) {
    return NULL;
  }
  const xl_norm_attrs attrs = {dims, epsilon};
  const xl_result result = {.op = op, .type = x->type, .shape = x->shape, .attrs = &attrs, .attr_bytes = sizeof attrs};
  if (!weight.is_given && !bias.is_given) {
    return xl_apply_2(&result, x, stats);
  }
  xl_var *const inputs[] = {x, stats, weight.is_given ? weight.var : xl_number(XL_F32, 1),
                            bias.is_given ? bias.var : xl_number(XL_F32, 0)};
  return xl_apply(&result, inputs, 4);
}

/* True if a tensor that may not be there has a shape; an error names it. */
static bool has_shape(xl_optional x, const xl_shape *shape, const char *what)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  if (xl_optional_failed(x)) {
    return false;
  }
  if (x.is_given && !xl_shape_equal(&x.var->shape, shape)) {
    xl_refuse(XP_ERR_USAGE, "the %s is %s and should be %s", what, xl_shape_text(a, x.var->type, &x.var->shape),
              xl_shape_text(b, x.var->type, shape));
    return false;
  }
  return true;
}

/* As in torch: x has fractions, and what is given beside it has the type of x, or all of it f32.  False with an error.
 */
static bool check_types(const xl_var *x, const xl_optional *others, size_t count)
{
  const xl_var *first = NULL;
  if (!xl_check_fractions(x)) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    const xl_var *other = others[i].var;
    first = first != NULL ? first : other;
    if (other != NULL && (other->type != first->type || (other->type != x->type && other->type != XL_F32))) {
      char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
      return xl_refuse(XP_ERR_USAGE,
                       "%s beside %s: weights, biases and statistics have the type of the input, or all of them f32; "
                       "cast them (xl_cast)",
                       xl_shape_text(b, other->type, &other->shape), xl_shape_text(a, x->type, &x->shape)) != NULL;
    }
  }
  return true;
}

static xl_var *layer_norm(xl_var *x, size_t count, xl_optional weight, xl_optional bias, double epsilon)
{
  char text[XL_SHAPE_TEXT];
  if (x == NULL) {
    return NULL;
  }
  if (count < 1 || count > x->shape.rank) {
    return xl_refuse(XP_ERR_USAGE, "%s does not have %zu dimensions to normalise over",
                     xl_shape_text(text, x->type, &x->shape), count);
  }
  const size_t kept = x->shape.rank - count;
  xl_shape last = {count, {0}};
  memcpy(last.dims, x->shape.dims + kept, count * sizeof *last.dims);
  if (!has_shape(weight, &last, "weight") || !has_shape(bias, &last, "bias") ||
      !check_types(x, (const xl_optional[]){weight, bias}, 2)) {
    return NULL;
  }
  const int64_t dims = xl_dims_all(x) & ~((INT64_C(1) << kept) - 1);
  return normalise(XL_OP_LAYER_NORM, x, statistics(x, dims), dims, weight, bias, epsilon);
}

static xl_optional reshaped(xl_optional x, const xl_shape *shape)
{
  return (xl_optional){x.is_given ? xl_op_reshape(x.var, shape) : NULL, x.is_given};
}

/* False with an error if x has no channels. */
static bool has_channels(const xl_var *x)
{
  char text[XL_SHAPE_TEXT];
  if (x->shape.rank < 2) {
    xl_refuse(XP_ERR_USAGE, "x is [N, C, ..], but it is %s", xl_shape_text(text, x->type, &x->shape));
    return false;
  }
  return true;
}

/* x as [N, groups, C / groups, rest], normalised over the last two. */
static xl_var *group_norm(xl_var *x, int64_t groups, xl_optional weight, xl_optional bias, double epsilon)
{
  char text[XL_SHAPE_TEXT];
  if (x == NULL || !has_channels(x)) {
    return NULL;
  }
  const xl_shape whole = x->shape, features = {1, {whole.dims[1]}};
  if (groups < 1 || whole.dims[1] % groups != 0) {
    return xl_refuse(XP_ERR_USAGE, "the channels of %s are no multiple of %lld groups",
                     xl_shape_text(text, x->type, &x->shape), (long long)groups);
  }
  if (!has_shape(weight, &features, "weight") || !has_shape(bias, &features, "bias") ||
      !check_types(x, (const xl_optional[]){weight, bias}, 2)) {
    return NULL;
  }
  xl_shape split = {4, {whole.dims[0], groups, whole.dims[1] / groups, 1}};
  for (size_t i = 2; i < whole.rank; i++) {
    split.dims[3] *= whole.dims[i];
  }
  const xl_shape each = {3, {groups, split.dims[2], 1}};
  const int64_t dims = 1 << 2 | 1 << 3;
  xl_var *parts = xl_op_reshape(x, &split), *stats = parts != NULL ? statistics(parts, dims) : NULL;
  const xl_optional scale = reshaped(weight, &each), offset = reshaped(bias, &each);
  return xl_op_shaped(normalise(XL_OP_GROUP_NORM, parts, stats, dims, scale, offset, epsilon), &whole);
}

/* ---------------------------------------------------------------- statistics of batches */

typedef struct {
  xl_optional weight, bias, mean, var;
  double momentum, epsilon;
} batch_norm;

/* running + momentum (scale value - running), in place and without gradients. */
static bool follow(xl_optional running, xl_var *value, double momentum, double scale)
{
  if (!running.is_given) {
    return true;
  }
  xl_var *kept = xl_op_binary_number(XL_OP_MUL, running.var, 1 - momentum);
  xl_var *sum = xl_op_add_scaled(kept, value, momentum * scale);
  return xl_update(running.var, xl_op_cast(sum, running.var->type)) != NULL;
}

/* The running variance is that of a sample: divided by one less than the number of elements. */
static bool follow_batch(const batch_norm *how, xl_var *stats, double elements)
{
  xl_thread *thread = xl_rt.thread;
  const bool was_off = thread->grad_is_off;
  thread->grad_is_off = true;
  const bool is_fine =
      (!how->mean.is_given || follow(how->mean, xl_op_select(stats, 0, 0), how->momentum, 1)) &&
      (!how->var.is_given || follow(how->var, xl_op_select(stats, 0, 1), how->momentum, elements / (elements - 1)));
  thread->grad_is_off = was_off;
  return is_fine;
}

static xl_var *with_batch(xl_var *x, const batch_norm *how, const xl_shape *each)
{
  char text[XL_SHAPE_TEXT];
  const int64_t dims = xl_dims_all(x) & ~INT64_C(2), channels = x->shape.dims[1];
  int64_t elements = x->shape.dims[0];
  for (size_t i = 2; i < x->shape.rank; i++) {
    elements *= x->shape.dims[i];
  }
  if (elements == 1 && channels > 0) {
    return xl_refuse(XP_ERR_USAGE, "%s has one value for each channel, and training needs more",
                     xl_shape_text(text, x->type, &x->shape));
  }
  xl_var *stats = statistics(x, dims);
  const xl_optional scale = reshaped(how->weight, each), offset = reshaped(how->bias, each);
  xl_var *y = normalise(XL_OP_BATCH_NORM, x, stats, dims, scale, offset, how->epsilon);
  return y != NULL && follow_batch(how, stats, (double)elements) ? y : NULL;
}

/* x scale + offset, with both made of the running statistics, [C]. */
static xl_var *with_running(xl_var *x, const batch_norm *how, const xl_shape *each)
{
  if (!how->mean.is_given || !how->var.is_given) {
    return xl_refuse(XP_ERR_USAGE, "outside of training, the running mean and variance are needed");
  }
  xl_var *wide = xl_op_cast(how->var.var, XL_F32);
  xl_var *scale = xl_op_unary(XL_OP_RSQRT, xl_op_binary_number(XL_OP_ADD, wide, how->epsilon));
  scale = how->weight.is_given ? xl_op_binary(XL_OP_MUL, scale, how->weight.var) : scale;
  xl_var *centred = xl_op_binary(XL_OP_SUB, x, xl_op_reshape(xl_op_cast(how->mean.var, XL_F32), each));
  xl_var *y = xl_op_binary(XL_OP_MUL, centred, xl_op_reshape(scale, each));
  y = how->bias.is_given ? xl_op_binary(XL_OP_ADD, y, xl_op_reshape(how->bias.var, each)) : y;
  return xl_op_cast(y, x->type);
}

static xl_var *batch_normed(xl_var *x, const batch_norm *how, bool is_training)
{
  if (x == NULL || !has_channels(x)) {
    return NULL;
  }
  const xl_shape features = {1, {x->shape.dims[1]}};
  if (!has_shape(how->weight, &features, "weight") || !has_shape(how->bias, &features, "bias") ||
      !has_shape(how->mean, &features, "running mean") || !has_shape(how->var, &features, "running variance") ||
      !check_types(x, (const xl_optional[]){how->weight, how->bias, how->mean, how->var}, 4)) {
    return NULL;
  }
  xl_shape each = {x->shape.rank - 1, {features.dims[0]}};
  for (size_t i = 1; i < each.rank; i++) {
    each.dims[i] = 1;
  }
  return is_training ? with_batch(x, how, &each) : with_running(x, how, &each);
}

/* ---------------------------------------------------------------- public */

xl_tensor xl_softmax_at(const xl_location *at, xl_tensor tensor, int dim)
{
  static xl_entry entry = {"softmax", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_softmax(xl_arg(tensor), dim, false));
}

xl_tensor xl_log_softmax_at(const xl_location *at, xl_tensor tensor, int dim)
{
  static xl_entry entry = {"log_softmax", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_log_softmax(xl_arg(tensor), dim));
}

xl_tensor xl_layer_norm_at(const xl_location *at, xl_tensor tensor, size_t dims, xl_tensor weight, xl_tensor bias,
                           double epsilon)
{
  static xl_entry entry = {"layer_norm", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  const xl_optional w = xl_optional_arg(weight), b = xl_optional_arg(bias);
  return xl_end(layer_norm(x, dims, w, b, epsilon));
}

xl_tensor xl_group_norm_at(const xl_location *at, xl_tensor tensor, int64_t groups, xl_tensor weight, xl_tensor bias,
                           double epsilon)
{
  static xl_entry entry = {"group_norm", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  const xl_optional w = xl_optional_arg(weight), b = xl_optional_arg(bias);
  return xl_end(group_norm(x, groups, w, b, epsilon));
}

xl_tensor xl_batch_norm_at(const xl_location *at, xl_tensor tensor, const xl_batch_norm_options *options)
{
  static xl_entry entry = {"batch_norm", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  if (options == NULL) {
    return xl_end(xl_refuse(XP_ERR_USAGE, "the options are NULL"));
  }
  const batch_norm how = {xl_optional_arg(options->weight),
                          xl_optional_arg(options->bias),
                          xl_optional_arg(options->running_mean),
                          xl_optional_arg(options->running_var),
                          options->momentum,
                          options->epsilon};
  return xl_end(batch_normed(x, &how, options->is_training));
}
