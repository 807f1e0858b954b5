/* Windows, dimension numbers and precision as text. */
#include "hlo/text_out.h"

static void put_list_if_any(xp_hlo_out *out, const char *name, const xp_hlo_list *list)
{
  if (list->count > 0) {
    xp_hlo_out_dims(out, name, list);
  }
}

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

void xp_hlo_out_window(xp_hlo_out *out, const xp_hlo_window *window)
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

/* By xla.PrecisionConfig.Algorithm. */
static const char *const algorithm_names[] = {
    "dot_unset",         "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",   "dot_f16_f16_f32",       "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3",  "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3",  "dot_f32_f32_f32",
    "dot_f64_f64_f64",   "dot_bf16_bf16_f32_x9",
};

static void put_precision(xp_hlo_out *out, const xp_hlo_precision_config *precision)
{
  static const char *const names[] = {"default", "high", "highest"};
  size_t algorithm = precision != NULL ? (size_t)precision->algorithm : 0;
  if (algorithm > 0 && algorithm < sizeof algorithm_names / sizeof algorithm_names[0]) {
    xp_hlo_out_format(out, ", algorithm=%s", algorithm_names[algorithm]);
  }
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

void xp_hlo_out_dot(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  const xp_hlo_dot *dot = in->dot;
  if (dot != NULL) {
    put_list_if_any(out, "lhs_batch_dims", &dot->lhs_batch);
    xp_hlo_out_dims(out, "lhs_contracting_dims", &dot->lhs_contracting);
    put_list_if_any(out, "rhs_batch_dims", &dot->rhs_batch);
    xp_hlo_out_dims(out, "rhs_contracting_dims", &dot->rhs_contracting);
  }
  put_precision(out, in->precision);
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

void xp_hlo_out_convolution(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  const xp_hlo_convolution *c = in->convolution;
  xp_hlo_out_window(out, in->window);
  if (c != NULL) {
    xp_hlo_out_text(out, ", dim_labels=");
    put_labels(out, c->input_batch, 'b', c->input_feature, 'f', &c->input_spatial);
    xp_hlo_out_text(out, "_");
    put_labels(out, c->kernel_input_feature, 'i', c->kernel_output_feature, 'o', &c->kernel_spatial);
    xp_hlo_out_text(out, "->");
    put_labels(out, c->output_batch, 'b', c->output_feature, 'f', &c->output_spatial);
  }
  if (in->feature_group_count != 1) {
    xp_hlo_out_int(out, "feature_group_count", in->feature_group_count);
  }
  if (in->batch_group_count != 1) {
    xp_hlo_out_int(out, "batch_group_count", in->batch_group_count);
  }
  put_precision(out, in->precision);
}

void xp_hlo_out_gather(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  const xp_hlo_gather *g = in->gather;
  if (g != NULL) {
    xp_hlo_out_dims(out, "offset_dims", &g->offset_dims);
    xp_hlo_out_dims(out, "collapsed_slice_dims", &g->collapsed_slice_dims);
    xp_hlo_out_dims(out, "start_index_map", &g->start_index_map);
    put_list_if_any(out, "operand_batching_dims", &g->operand_batching_dims);
    put_list_if_any(out, "start_indices_batching_dims", &g->start_indices_batching_dims);
    xp_hlo_out_int(out, "index_vector_dim", g->index_vector_dim);
    xp_hlo_out_dims(out, "slice_sizes", &g->slice_sizes);
  }
  xp_hlo_out_flag(out, "indices_are_sorted", in->indices_are_sorted);
}

void xp_hlo_out_scatter(xp_hlo_out *out, const xp_hlo_instruction *in)
{
  const xp_hlo_scatter *s = in->scatter;
  if (s != NULL) {
    xp_hlo_out_dims(out, "update_window_dims", &s->update_window_dims);
    xp_hlo_out_dims(out, "inserted_window_dims", &s->inserted_window_dims);
    xp_hlo_out_dims(out, "scatter_dims_to_operand_dims", &s->scatter_dims_to_operand_dims);
    put_list_if_any(out, "input_batching_dims", &s->input_batching_dims);
    put_list_if_any(out, "scatter_indices_batching_dims", &s->scatter_indices_batching_dims);
    xp_hlo_out_int(out, "index_vector_dim", s->index_vector_dim);
  }
  xp_hlo_out_flag(out, "indices_are_sorted", in->indices_are_sorted);
  xp_hlo_out_flag(out, "unique_indices", in->unique_indices);
}
