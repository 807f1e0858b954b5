/* What stands behind the operands of an instruction: the attributes of its opcode, then the computations that it calls.
 *
 * The form and the order are XLA's, so that two dumps can be compared line by line.  Attributes that a module keeps as
 * records (shardings, replica groups) are not printed.
 */
#include "hlo/record.h"
#include "hlo/text_out.h"

/* ", name={1,2}" */
static void put_list(xp_hlo_out *out, const char *name, const xp_hlo_list *list)
{
  xp_hlo_out_format(out, ", %s={", name);
  xp_hlo_out_list(out, list, ",");
  xp_hlo_out_text(out, "}");
}

static void put_list_if_any(xp_hlo_out *out, const char *name, const xp_hlo_list *list)
{
  if (list->count > 0) {
    put_list(out, name, list);
  }
}

static void put_int(xp_hlo_out *out, const char *name, int64_t value)
{
  xp_hlo_out_format(out, ", %s=%lld", name, (long long)value);
}

static void put_flag(xp_hlo_out *out, const char *name, bool is_set)
{
  if (is_set) {
    xp_hlo_out_format(out, ", %s=true", name);
  }
}

/* ---------------------------------------------------------------- windows and dimension numbers */

typedef int64_t (*window_part)(const xp_hlo_window_dim *dim);

static int64_t size_of(const xp_hlo_window_dim *dim)
{
  return dim->size;
}

static int64_t stride_of(const xp_hlo_window_dim *dim)
{
  return dim->stride;
}

static int64_t base_dilation_of(const xp_hlo_window_dim *dim)
{
  return dim->base_dilation;
}

static int64_t window_dilation_of(const xp_hlo_window_dim *dim)
{
  return dim->window_dilation;
}

static int64_t reversal_of(const xp_hlo_window_dim *dim)
{
  return dim->is_reversed;
}

/* " stride=2x2", unless all are `usual`. */
static void put_window_part(xp_hlo_out *out, const xp_hlo_window *window, const char *name, window_part part,
                            int64_t usual)
{
  bool is_usual = true;
  for (size_t i = 0; i < window->count; i++) {
    is_usual = is_usual && part(&window->dims[i]) == usual;
  }
  if (is_usual) {
    return;
  }
  for (size_t i = 0; i < window->count; i++) {
    xp_hlo_out_format(out, "%s%s%lld", i == 0 ? name : "", i == 0 ? "=" : "x", (long long)part(&window->dims[i]));
  }
}

static void put_window(xp_hlo_out *out, const xp_hlo_window *window)
{
  bool is_padded = false;
  if (window == NULL || window->count == 0) {
    return;
  }
  xp_hlo_out_text(out, ", window={");
  put_window_part(out, window, "size", size_of, INT64_MIN);
  put_window_part(out, window, " stride", stride_of, 1);
  for (size_t i = 0; i < window->count; i++) {
    is_padded = is_padded || window->dims[i].padding_low != 0 || window->dims[i].padding_high != 0;
  }
  for (size_t i = 0; i < window->count && is_padded; i++) {
    xp_hlo_out_format(out, "%s%lld_%lld", i == 0 ? " pad=" : "x", (long long)window->dims[i].padding_low,
                      (long long)window->dims[i].padding_high);
  }
  put_window_part(out, window, " lhs_dilate", base_dilation_of, 1);
  put_window_part(out, window, " rhs_dilate", window_dilation_of, 1);
  put_window_part(out, window, " rhs_reversal", reversal_of, 0);
  xp_hlo_out_text(out, "}");
}

/* One side of dim_labels: a letter for each dimension, digits for the spatial ones. */
static void put_labels(xp_hlo_out *out, int64_t first, char first_label, int64_t second, char second_label,
                       const xp_hlo_list *spatial)
{
  for (int64_t dim = 0; dim < (int64_t)spatial->count + 2; dim++) {
    size_t at = 0;
    while (at < spatial->count && spatial->values[at] != dim) {
      at++;
    }
    if (dim == first || dim == second) {
      xp_hlo_out_format(out, "%c", dim == first ? first_label : second_label);
    } else if (at < spatial->count) {
      xp_hlo_out_format(out, "%zu", at);
    } else {
      xp_hlo_out_text(out, "?");
    }
  }
}

static void put_convolution(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  const xp_hlo_convolution *c = in->convolution;
  put_window(out, in->window);
  if (c != NULL) {
    xp_hlo_out_text(out, ", dim_labels=");
    put_labels(out, c->input_batch, 'b', c->input_feature, 'f', &c->input_spatial);
    xp_hlo_out_text(out, "_");
    put_labels(out, c->kernel_input_feature, 'i', c->kernel_output_feature, 'o', &c->kernel_spatial);
    xp_hlo_out_text(out, "->");
    put_labels(out, c->output_batch, 'b', c->output_feature, 'f', &c->output_spatial);
  }
  if (in->feature_group_count != 1) {
    put_int(out, "feature_group_count", in->feature_group_count);
  }
  if (in->batch_group_count != 1) {
    put_int(out, "batch_group_count", in->batch_group_count);
  }
}

static void put_dot(xp_hlo_out *out, const xp_hlo_dot *dot)
{
  if (dot != NULL) {
    put_list_if_any(out, "lhs_batch_dims", &dot->lhs_batch);
    put_list(out, "lhs_contracting_dims", &dot->lhs_contracting);
    put_list_if_any(out, "rhs_batch_dims", &dot->rhs_batch);
    put_list(out, "rhs_contracting_dims", &dot->rhs_contracting);
  }
}

static void put_precision(xp_hlo_out *out, const xp_hlo_precision_config *precision)
{
  static const char *const names[] = {"default", "high", "highest"};
  bool is_default = true;
  for (size_t i = 0; precision != NULL && i < precision->operands.count; i++) {
    is_default = is_default && precision->operands.values[i] == XP_HLO_PRECISION_DEFAULT;
  }
  if (is_default) {
    return;
  }
  xp_hlo_out_text(out, ", operand_precision={");
  for (size_t i = 0; i < precision->operands.count; i++) {
    uint64_t p = (uint64_t)precision->operands.values[i];
    xp_hlo_out_format(out, "%s%s", i > 0 ? "," : "", p < 3 ? names[p] : "?");
  }
  xp_hlo_out_text(out, "}");
}

static void put_gather(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  const xp_hlo_gather *g = in->gather;
  if (g != NULL) {
    put_list(out, "offset_dims", &g->offset_dims);
    put_list(out, "collapsed_slice_dims", &g->collapsed_slice_dims);
    put_list(out, "start_index_map", &g->start_index_map);
    put_list_if_any(out, "operand_batching_dims", &g->operand_batching_dims);
    put_list_if_any(out, "start_indices_batching_dims", &g->start_indices_batching_dims);
    put_int(out, "index_vector_dim", g->index_vector_dim);
    put_list(out, "slice_sizes", &g->slice_sizes);
  }
  put_flag(out, "indices_are_sorted", in->indices_are_sorted);
}

static void put_scatter(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  const xp_hlo_scatter *s = in->scatter;
  if (s != NULL) {
    put_list(out, "update_window_dims", &s->update_window_dims);
    put_list(out, "inserted_window_dims", &s->inserted_window_dims);
    put_list(out, "scatter_dims_to_operand_dims", &s->scatter_dims_to_operand_dims);
    put_list_if_any(out, "input_batching_dims", &s->input_batching_dims);
    put_list_if_any(out, "scatter_indices_batching_dims", &s->scatter_indices_batching_dims);
    put_int(out, "index_vector_dim", s->index_vector_dim);
  }
  put_flag(out, "indices_are_sorted", in->indices_are_sorted);
  put_flag(out, "unique_indices", in->unique_indices);
}

/* ---------------------------------------------------------------- the rest of the opcodes */

static void put_slice(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  bool has_strides = false;
  for (size_t i = 0; i < in->slice_count; i++) {
    has_strides = has_strides || in->slice[i].stride != 1;
  }
  xp_hlo_out_text(out, ", slice={");
  for (size_t i = 0; i < in->slice_count; i++) {
    const xp_hlo_slice_dim *d = &in->slice[i];
    xp_hlo_out_format(out, "%s[%lld:%lld", i > 0 ? ", " : "", (long long)d->start, (long long)d->limit);
    if (has_strides) {
      xp_hlo_out_format(out, ":%lld", (long long)d->stride);
    }
    xp_hlo_out_text(out, "]");
  }
  xp_hlo_out_text(out, "}");
}

static void put_padding(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  bool has_interior = false;
  for (size_t i = 0; i < in->padding_count; i++) {
    has_interior = has_interior || in->padding[i].interior != 0;
  }
  xp_hlo_out_text(out, ", padding=");
  for (size_t i = 0; i < in->padding_count; i++) {
    const xp_hlo_pad_dim *d = &in->padding[i];
    xp_hlo_out_format(out, "%s%lld_%lld", i > 0 ? "x" : "", (long long)d->low, (long long)d->high);
    if (has_interior) {
      xp_hlo_out_format(out, "_%lld", (long long)d->interior);
    }
  }
}

/* The order that a comparison of this type has when nothing is said. */
static xp_hlo_order usual_order(xp_hlo_type type)
{
  switch (xp_hlo_type_kind(type)) {
  case XP_HLO_KIND_SIGNED:
    return XP_HLO_ORDER_SIGNED;
  case XP_HLO_KIND_UNSIGNED:
  case XP_HLO_KIND_PRED:
    return XP_HLO_ORDER_UNSIGNED;
  default:
    return XP_HLO_ORDER_FLOAT;
  }
}

static void put_compare(xp_hlo_out *out, const xp_hlo_computation *computation, const xp_hlo_instruction *in)
{
  xp_hlo_order usual =
      in->operand_count > 0 ? usual_order(xp_hlo_operand(computation, in, 0)->shape.type) : XP_HLO_ORDER_NONE;
  xp_hlo_out_format(out, ", direction=%s", xp_hlo_compare_names[in->compare]);
  if (in->order != XP_HLO_ORDER_NONE && in->order != usual) {
    xp_hlo_out_format(out, ", type=%s", xp_hlo_order_names[in->order]);
  }
}

static void put_custom_call(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  static const char *const versions[] = {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
                                         "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
                                         "API_VERSION_TYPED_FFI"};
  const xp_hlo_custom_call *c = in->custom_call;
  if (c == NULL) {
    return;
  }
  xp_hlo_out_text(out, ", custom_call_target=");
  xp_hlo_out_quoted(out, c->target);
  if (c->constrains_layout) {
    xp_hlo_out_text(out, ", operand_layout_constraints={");
    for (size_t i = 0; i < c->operand_shape_count; i++) {
      xp_hlo_out_text(out, i > 0 ? ", " : "");
      xp_hlo_out_shape(out, &c->operand_shapes[i], true);
    }
    xp_hlo_out_text(out, "}");
  }
  put_flag(out, "custom_call_has_side_effect", c->has_side_effect);
  if (c->schedule == 1 || c->schedule == 2) {
    xp_hlo_out_format(out, ", schedule=%s", c->schedule == 1 ? "SCHEDULE_LATEST" : "SCHEDULE_EARLIEST");
  }
  if (c->api_version > 1 && c->api_version < 5) {
    xp_hlo_out_format(out, ", api_version=%s", versions[c->api_version]);
  }
}

static void put_random(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  static const char *const distributions[] = {"rng_invalid", "rng_uniform", "rng_normal"};
  static const char *const algorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
  if (in->opcode == XP_HLO_OP_RNG) {
    xp_hlo_out_format(out, ", distribution=%s", distributions[in->rng]);
  } else if (in->opcode == XP_HLO_OP_RNG_BIT_GENERATOR) {
    xp_hlo_out_format(out, ", algorithm=%s", algorithms[in->rng_algorithm]);
  } else {
    put_int(out, "delta", in->delta);
  }
}

static void put_of_opcode(xp_hlo_out *out, const xp_hlo_computation *computation, const xp_hlo_instruction *in)
{
  switch (in->opcode) {
  case XP_HLO_OP_BROADCAST:
  case XP_HLO_OP_TRANSPOSE:
  case XP_HLO_OP_REVERSE:
  case XP_HLO_OP_CONCATENATE:
  case XP_HLO_OP_REDUCE:
  case XP_HLO_OP_MAP:
  case XP_HLO_OP_GET_DIMENSION_SIZE:
  case XP_HLO_OP_SET_DIMENSION_SIZE:
    put_list(out, "dimensions", &in->dimensions);
    break;
  case XP_HLO_OP_SORT:
    put_list(out, "dimensions", &in->dimensions);
    put_flag(out, "is_stable", in->is_stable);
    break;
  case XP_HLO_OP_IOTA:
    put_int(out, "iota_dimension", in->dimensions.count > 0 ? in->dimensions.values[0] : 0);
    break;
  case XP_HLO_OP_GET_TUPLE_ELEMENT:
    put_int(out, "index", in->tuple_index);
    break;
  case XP_HLO_OP_SLICE:
    put_slice(out, in);
    break;
  case XP_HLO_OP_DYNAMIC_SLICE:
    put_list(out, "dynamic_slice_sizes", &in->dynamic_slice_sizes);
    break;
  case XP_HLO_OP_PAD:
    put_padding(out, in);
    break;
  case XP_HLO_OP_COMPARE:
    put_compare(out, computation, in);
    break;
  case XP_HLO_OP_REDUCE_WINDOW:
  case XP_HLO_OP_SELECT_AND_SCATTER:
    put_window(out, in->window);
    break;
  case XP_HLO_OP_CONVOLUTION:
    put_convolution(out, in);
    put_precision(out, in->precision);
    break;
  case XP_HLO_OP_DOT:
    put_dot(out, in->dot);
    put_precision(out, in->precision);
    break;
  case XP_HLO_OP_GATHER:
    put_gather(out, in);
    break;
  case XP_HLO_OP_SCATTER:
    put_scatter(out, in);
    break;
  case XP_HLO_OP_RNG:
  case XP_HLO_OP_RNG_BIT_GENERATOR:
  case XP_HLO_OP_RNG_GET_AND_UPDATE_STATE:
    put_random(out, in);
    break;
  case XP_HLO_OP_REDUCE_PRECISION:
    put_int(out, "exponent_bits", in->exponent_bits);
    put_int(out, "mantissa_bits", in->mantissa_bits);
    break;
  case XP_HLO_OP_BATCH_NORM_TRAINING:
  case XP_HLO_OP_BATCH_NORM_INFERENCE:
  case XP_HLO_OP_BATCH_NORM_GRAD:
    xp_hlo_out_format(out, ", epsilon=%g", (double)in->epsilon);
    put_int(out, "feature_index", in->feature_index);
    break;
  case XP_HLO_OP_FUSION:
    xp_hlo_out_text(out, ", kind=");
    xp_hlo_out_str(out, in->fusion_kind);
    break;
  case XP_HLO_OP_CUSTOM_CALL:
    put_custom_call(out, in);
    break;
  default:
    break;
  }
}

static void put_frontend_attributes(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  if (in->frontend_attribute_count > 0) {
    xp_hlo_out_text(out, ", frontend_attributes={");
    xp_hlo_out_pairs(out, in->frontend_attributes, in->frontend_attribute_count);
    xp_hlo_out_text(out, "}");
  }
}

static void put_predecessors(xp_hlo_out *out, const xp_hlo_computation *computation, const xp_hlo_instruction *in)
{
  for (size_t i = 0; i < in->predecessor_count; i++) {
    xp_hlo_out_text(out, i == 0 ? ", control-predecessors={%" : ", %");
    xp_hlo_out_str(out, computation->instructions[in->predecessors[i]].name);
  }
  xp_hlo_out_text(out, in->predecessor_count > 0 ? "}" : "");
}

void xp_hlo_out_attributes(xp_hlo_out *out, const xp_hlo_module *module, const xp_hlo_computation *computation,
                           const xp_hlo_instruction *in)
{
  put_of_opcode(out, computation, in);
  xp_hlo_out_calls(out, module, computation, in);
  put_frontend_attributes(out, in);
  put_predecessors(out, computation, in);
}
