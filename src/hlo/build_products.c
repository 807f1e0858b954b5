/* Matrix products and convolutions. */
#include "hlo/build_body.h"

/* The same precision for both operands; NULL for the default. */
static const xp_hlo_precision_config *keep_precision(xp_hlo_body *body, xp_hlo_precision precision)
{
  const int64_t both[] = {precision, precision};
  if (precision == XP_HLO_PRECISION_DEFAULT) {
    return NULL;
  }
  const xp_hlo_precision_config config = {.operands = xp_hlo_keep_list(body->builder, both, 2)};
  return xp_hlo_keep(body->builder, &config, 1, sizeof config);
}

/* Two arrays of one type of numbers; the type of the result in *type. */
static bool are_factors(xp_hlo_body *body, xp_hlo_opcode opcode, xp_hlo_value x, xp_hlo_value y, xp_hlo_type *type)
{
  if (!xp_hlo_is_array_value(body, opcode, x) || !xp_hlo_is_array_value(body, opcode, y)) {
    return false;
  }
  const xp_hlo_shape *a = xp_hlo_shape_in(body, x), *b = xp_hlo_shape_in(body, y);
  *type = *type == XP_HLO_TYPE_INVALID ? a->type : *type;
  if (a->type != b->type) {
    xp_hlo_cannot_pair(body, opcode, a, b, "convert one to the type of the other first");
    return false;
  }
  if (!xp_hlo_type_is_array(*type) || xp_hlo_type_is_float(*type) != xp_hlo_type_is_float(a->type)) {
    xp_hlo_cannot(body, opcode, "a product of %s has no elements of type %s", xp_hlo_type_name(a->type),
                  xp_hlo_type_name(*type));
    return false;
  }
  return true;
}

/* ---------------------------------------------------------------- dot */

/* True if the dimensions stand in pairs of the same extent. */
static bool are_pairs(const xp_hlo_shape *a, const xp_hlo_list *of_a, const xp_hlo_shape *b, const xp_hlo_list *of_b)
{
  if (of_a->count != of_b->count || !xp_hlo_are_dimensions(of_a->values, of_a->count, a->rank) ||
      !xp_hlo_are_dimensions(of_b->values, of_b->count, b->rank)) {
    return false;
  }
  for (size_t i = 0; i < of_a->count; i++) {
    if (a->dims[of_a->values[i]] != b->dims[of_b->values[i]]) {
      return false;
    }
  }
  return true;
}

static bool are_apart(const xp_hlo_list *a, const xp_hlo_list *b)
{
  for (size_t i = 0; i < a->count; i++) {
    if (xp_hlo_list_has(b, a->values[i])) {
      return false;
    }
  }
  return true;
}

/* Appends the extents of the dimensions that are neither batch nor contracted; false if there are too many. */
static bool append_free(const xp_hlo_shape *s, const xp_hlo_list *batch, const xp_hlo_list *contracting, int64_t *dims,
                        size_t *rank)
{
  for (int64_t i = 0; i < s->rank; i++) {
    if (xp_hlo_list_has(batch, i) || xp_hlo_list_has(contracting, i)) {
      continue;
    }
    if (*rank == XP_HLO_MAX_RANK) {
      return false;
    }
    dims[(*rank)++] = s->dims[i];
  }
  return true;
}

xp_hlo_value xp_hlo_build_dot(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value y, const xp_hlo_dot *d, xp_hlo_type type,
                              xp_hlo_precision precision)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_DOT;
  const xp_hlo_value operands[] = {x, y};
  if (!are_factors(body, opcode, x, y, &type)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *a = xp_hlo_shape_in(body, x), *b = xp_hlo_shape_in(body, y);
  int64_t dims[XP_HLO_MAX_RANK];
  size_t rank = 0;
  if (!are_pairs(a, &d->lhs_contracting, b, &d->rhs_contracting) || !are_pairs(a, &d->lhs_batch, b, &d->rhs_batch) ||
      !are_apart(&d->lhs_batch, &d->lhs_contracting) || !are_apart(&d->rhs_batch, &d->rhs_contracting)) {
    return xp_hlo_cannot_pair(body, opcode, a, b, "batch and contracted dimensions must pair, with the same extents");
  }
  for (size_t i = 0; i < d->lhs_batch.count; i++) {
    dims[rank++] = a->dims[d->lhs_batch.values[i]];
  }
  if (!append_free(a, &d->lhs_batch, &d->lhs_contracting, dims, &rank) ||
      !append_free(b, &d->rhs_batch, &d->rhs_contracting, dims, &rank)) {
    return xp_hlo_cannot_pair(body, opcode, a, b, "the result would have more than 8 dimensions");
  }
  const xp_hlo_dot copy = {xp_hlo_keep_copy(body, &d->lhs_contracting), xp_hlo_keep_copy(body, &d->rhs_contracting),
                           xp_hlo_keep_copy(body, &d->lhs_batch), xp_hlo_keep_copy(body, &d->rhs_batch)};
  xp_hlo_instruction in = {.opcode = opcode,
                           .shape = xp_hlo_shape_array(type, rank, dims),
                           .dot = xp_hlo_keep(body->builder, &copy, 1, sizeof copy),
                           .precision = keep_precision(body, precision)};
  return xp_hlo_append(body, &in, operands, 2);
}

/* ---------------------------------------------------------------- convolution */

/* The two special dimensions and the spatial ones are all dimensions, each once. */
static bool are_all_dimensions(int64_t first, int64_t second, const xp_hlo_list *spatial, size_t rank)
{
  int64_t all[XP_HLO_MAX_RANK] = {first, second};
  if (spatial->count + 2 != rank) {
    return false;
  }
  for (size_t i = 0; i < spatial->count; i++) {
    all[i + 2] = spatial->values[i];
  }
  return xp_hlo_are_dimensions(all, rank, rank);
}

static const char *problem_with_numbers(const xp_hlo_convolution *c, const xp_hlo_shape *a, const xp_hlo_shape *k)
{
  size_t rank = a->rank;
  if (rank < 2 || k->rank != rank || !are_all_dimensions(c->input_batch, c->input_feature, &c->input_spatial, rank) ||
      !are_all_dimensions(c->kernel_input_feature, c->kernel_output_feature, &c->kernel_spatial, rank) ||
      !are_all_dimensions(c->output_batch, c->output_feature, &c->output_spatial, rank)) {
    return "the dimension numbers must name every dimension of input, kernel and output once";
  }
  return NULL;
}

static const char *problem_with_groups(const xp_hlo_convolution_options *o, const xp_hlo_shape *a,
                                       const xp_hlo_shape *k)
{
  const xp_hlo_convolution *c = &o->numbers;
  int64_t features = a->dims[c->input_feature], taken = k->dims[c->kernel_input_feature],
          out = k->dims[c->kernel_output_feature];
  if (o->feature_groups < 1 || o->batch_groups < 1 || (o->feature_groups > 1 && o->batch_groups > 1)) {
    return "group counts must be 1 or more, and only one of them more";
  }
  if (features % o->feature_groups != 0 || features / o->feature_groups != taken || out % o->feature_groups != 0) {
    return "features of input and kernel do not fit the number of groups";
  }
  if (a->dims[c->input_batch] % o->batch_groups != 0 || out % o->batch_groups != 0) {
    return "the batch does not fit the number of groups";
  }
  return NULL;
}

/* The shape of the result; NULL, or what is wrong with the windows. */
static const char *convolved(const xp_hlo_convolution_options *o, const xp_hlo_shape *a, const xp_hlo_shape *k,
                             xp_hlo_type type, xp_hlo_shape *out)
{
  const xp_hlo_convolution *c = &o->numbers;
  int64_t dims[XP_HLO_MAX_RANK];
  dims[c->output_batch] = a->dims[c->input_batch] / o->batch_groups;
  dims[c->output_feature] = k->dims[c->kernel_output_feature];
  for (size_t i = 0; i < c->input_spatial.count; i++) {
    const xp_hlo_window_dim *w = &o->windows[i];
    int64_t places = xp_hlo_window_places(a->dims[c->input_spatial.values[i]], w);
    if (w->size != k->dims[c->kernel_spatial.values[i]] || places < 0) {
      return "the window must have the kernel's size, and strides and dilations of 1 and more";
    }
    dims[c->output_spatial.values[i]] = places;
  }
  *out = xp_hlo_shape_array(type, a->rank, dims);
  return NULL;
}

xp_hlo_value xp_hlo_build_convolution(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value kernel,
                                      const xp_hlo_convolution_options *options)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_CONVOLUTION;
  const xp_hlo_value operands[] = {x, kernel};
  const size_t count = options->numbers.input_spatial.count;
  xp_hlo_type type = options->type;
  if (!are_factors(body, opcode, x, kernel, &type)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *a = xp_hlo_shape_in(body, x), *k = xp_hlo_shape_in(body, kernel);
  xp_hlo_instruction in = {.opcode = opcode};
  const char *problem = problem_with_numbers(&options->numbers, a, k);
  problem = problem != NULL ? problem : problem_with_groups(options, a, k);
  problem = problem != NULL ? problem : convolved(options, a, k, type, &in.shape);
  if (problem != NULL) {
    return xp_hlo_cannot_pair(body, opcode, a, k, problem);
  }
  xp_hlo_convolution copy = options->numbers;
  copy.input_spatial = xp_hlo_keep_copy(body, &copy.input_spatial);
  copy.kernel_spatial = xp_hlo_keep_copy(body, &copy.kernel_spatial);
  copy.output_spatial = xp_hlo_keep_copy(body, &copy.output_spatial);
  const xp_hlo_window window = {xp_hlo_keep(body->builder, options->windows, count, sizeof *options->windows), count};
  in.window = xp_hlo_keep(body->builder, &window, 1, sizeof window);
  in.convolution = xp_hlo_keep(body->builder, &copy, 1, sizeof copy);
  in.feature_group_count = options->feature_groups;
  in.batch_group_count = options->batch_groups;
  in.precision = keep_precision(body, options->precision);
  return xp_hlo_append(body, &in, operands, 2);
}
