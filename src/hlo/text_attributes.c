/* What stands behind the operands of an instruction: the attributes of its opcode, then the computations that it calls.
 *
 * The form and the order are XLA's, so that two dumps can be compared line by line.  Attributes that a module keeps as
 * records (shardings, replica groups) are not printed.
 */
#include "hlo/record.h"
#include "hlo/text_out.h"

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

static void put_compare(xp_hlo_out *out, const xp_hlo_computation *computation, const xp_hlo_instruction *in)
{
  xp_hlo_order usual =
      in->operand_count > 0 ? xp_hlo_usual_order(xp_hlo_operand(computation, in, 0)->shape.type) : XP_HLO_ORDER_NONE;
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
  xp_hlo_out_flag(out, "custom_call_has_side_effect", c->has_side_effect);
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
    xp_hlo_out_int(out, "delta", in->delta);
  }
}

static void put_dimensions(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  xp_hlo_out_dims(out, "dimensions", &in->dimensions);
}

static void put_sort(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  put_dimensions(out, in);
  xp_hlo_out_flag(out, "is_stable", in->is_stable);
}

static void put_iota(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  xp_hlo_out_int(out, "iota_dimension", in->dimensions.count > 0 ? in->dimensions.values[0] : 0);
}

static void put_index(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  xp_hlo_out_int(out, "index", in->tuple_index);
}

static void put_dynamic_slice(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  xp_hlo_out_dims(out, "dynamic_slice_sizes", &in->dynamic_slice_sizes);
}

static void put_window(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  xp_hlo_out_window(out, in->window);
}

static void put_bits(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  xp_hlo_out_int(out, "exponent_bits", in->exponent_bits);
  xp_hlo_out_int(out, "mantissa_bits", in->mantissa_bits);
}

static void put_batch_norm(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  xp_hlo_out_format(out, ", epsilon=%g", (double)in->epsilon);
  xp_hlo_out_int(out, "feature_index", in->feature_index);
}

static void put_fusion(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  xp_hlo_out_text(out, ", kind=");
  xp_hlo_out_str(out, in->fusion_kind);
}

/* What prints the attributes of an opcode; NULL: it has none. */
static void (*const printers[XP_HLO_OP_COUNT])(xp_hlo_out *out, const xp_hlo_instruction *in) = {
    [XP_HLO_OP_BATCH_NORM_GRAD] = put_batch_norm,
    [XP_HLO_OP_BATCH_NORM_INFERENCE] = put_batch_norm,
    [XP_HLO_OP_BATCH_NORM_TRAINING] = put_batch_norm,
    [XP_HLO_OP_BROADCAST] = put_dimensions,
    [XP_HLO_OP_CONCATENATE] = put_dimensions,
    [XP_HLO_OP_CONVOLUTION] = xp_hlo_out_convolution,
    [XP_HLO_OP_CUSTOM_CALL] = put_custom_call,
    [XP_HLO_OP_DOT] = xp_hlo_out_dot,
    [XP_HLO_OP_DYNAMIC_SLICE] = put_dynamic_slice,
    [XP_HLO_OP_FUSION] = put_fusion,
    [XP_HLO_OP_GATHER] = xp_hlo_out_gather,
    [XP_HLO_OP_GET_DIMENSION_SIZE] = put_dimensions,
    [XP_HLO_OP_GET_TUPLE_ELEMENT] = put_index,
    [XP_HLO_OP_IOTA] = put_iota,
    [XP_HLO_OP_MAP] = put_dimensions,
    [XP_HLO_OP_PAD] = put_padding,
    [XP_HLO_OP_REDUCE] = put_dimensions,
    [XP_HLO_OP_REDUCE_PRECISION] = put_bits,
    [XP_HLO_OP_REDUCE_WINDOW] = put_window,
    [XP_HLO_OP_REVERSE] = put_dimensions,
    [XP_HLO_OP_RNG] = put_random,
    [XP_HLO_OP_RNG_BIT_GENERATOR] = put_random,
    [XP_HLO_OP_RNG_GET_AND_UPDATE_STATE] = put_random,
    [XP_HLO_OP_SCATTER] = xp_hlo_out_scatter,
    [XP_HLO_OP_SELECT_AND_SCATTER] = put_window,
    [XP_HLO_OP_SET_DIMENSION_SIZE] = put_dimensions,
    [XP_HLO_OP_SLICE] = put_slice,
    [XP_HLO_OP_SORT] = put_sort,
    [XP_HLO_OP_TRANSPOSE] = put_dimensions,
};

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
  if (in->opcode == XP_HLO_OP_COMPARE) {
    put_compare(out, computation, in); /* the only one that asks for an operand */
  } else if (in->opcode < XP_HLO_OP_COUNT && printers[in->opcode] != NULL) {
    printers[in->opcode](out, in);
  }
  xp_hlo_out_calls(out, module, computation, in);
  put_frontend_attributes(out, in);
  put_predecessors(out, computation, in);
}
