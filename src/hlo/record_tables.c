/* The messages of HLO as tables: HloModuleProto, HloComputationProto, HloInstructionProto and the records inside of
 * them.
 *
 * Numbers and names of fields are those of XLA's hlo.proto and xla_data.proto.  An attribute that has no line here
 * stays in the `rest` of its instruction.  Records that say what an operation computes are closed: a field that XLA
 * adds to them may change the result, so such a program is refused.  What records for people get in addition is
 * dropped.
 */
#include "hlo/record.h"

#define SIZE_OF(list) (sizeof(list) / sizeof(list)[0])

/* Lines of tables: number, name in the message, structure and member. */
#define PLAIN(number, kind, name, structure, member)                                                                   \
  {                                                                                                                    \
    number, XP_HLO_FIELD_##kind, offsetof(structure, member), 0, {NULL}, name                                          \
  }
#define COUNTED(number, kind, name, structure, member, count, record)                                                  \
  {                                                                                                                    \
    number, XP_HLO_FIELD_##kind, offsetof(structure, member), offsetof(structure, count), {record}, name               \
  }
#define NESTED(number, kind, name, structure, member, record)                                                          \
  {                                                                                                                    \
    number, XP_HLO_FIELD_##kind, offsetof(structure, member), 0, {record}, name                                        \
  }
/* A message around one repeated field, whose array stands in the outer structure. */
#define WRAPPED(number, name, record)                                                                                  \
  {                                                                                                                    \
    number, XP_HLO_FIELD_INLINE, 0, 0, {record}, name                                                                  \
  }
#define ENUM(number, name, structure, member, count)                                                                   \
  {                                                                                                                    \
    number, XP_HLO_FIELD_ENUM, offsetof(structure, member), count, {NULL}, name                                        \
  }
#define NAMED(number, name, structure, member, texts)                                                                  \
  {                                                                                                                    \
    number, XP_HLO_FIELD_NAME, offsetof(structure, member), SIZE_OF(texts), {.names = (texts)}, name                   \
  }
#define CLOSED(name, fields, structure)                                                                                \
  {                                                                                                                    \
    name, fields, SIZE_OF(fields), sizeof(structure), XP_HLO_REFUSE_REST                                               \
  }
#define LOOSE(name, fields, structure)                                                                                 \
  {                                                                                                                    \
    name, fields, SIZE_OF(fields), sizeof(structure), XP_HLO_DROP_REST                                                 \
  }
#define OPEN(name, fields, structure, rest)                                                                            \
  {                                                                                                                    \
    name, fields, SIZE_OF(fields), sizeof(structure), offsetof(structure, rest)                                        \
  }

const char *const xp_hlo_compare_names[XP_HLO_COMPARE_COUNT] = {"", "EQ", "NE", "GE", "GT", "LE", "LT"};
const char *const xp_hlo_order_names[XP_HLO_ORDER_COUNT] = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};

/* ---------------------------------------------------------------- attributes */

static const xp_hlo_field slice_fields[] = {
    PLAIN(1, INT64, "start", xp_hlo_slice_dim, start),
    PLAIN(2, INT64, "limit", xp_hlo_slice_dim, limit),
    PLAIN(3, INT64, "stride", xp_hlo_slice_dim, stride),
};
static const xp_hlo_record slice_record = CLOSED("slice_dimensions", slice_fields, xp_hlo_slice_dim);

static const xp_hlo_field pad_dim_fields[] = {
    PLAIN(1, INT64, "edge_padding_low", xp_hlo_pad_dim, low),
    PLAIN(2, INT64, "edge_padding_high", xp_hlo_pad_dim, high),
    PLAIN(3, INT64, "interior_padding", xp_hlo_pad_dim, interior),
};
static const xp_hlo_record pad_dim_record = CLOSED("padding dimension", pad_dim_fields, xp_hlo_pad_dim);
static const xp_hlo_field padding_fields[] = {
    COUNTED(1, ARRAY, "dimensions", xp_hlo_raw_instruction, in.padding, in.padding_count, &pad_dim_record),
};
static const xp_hlo_record padding_record = CLOSED("padding_config", padding_fields, xp_hlo_raw_instruction);

static const xp_hlo_field window_dim_fields[] = {
    PLAIN(1, INT64, "size", xp_hlo_window_dim, size),
    PLAIN(2, INT64, "stride", xp_hlo_window_dim, stride),
    PLAIN(3, INT64, "padding_low", xp_hlo_window_dim, padding_low),
    PLAIN(4, INT64, "padding_high", xp_hlo_window_dim, padding_high),
    PLAIN(5, INT64, "window_dilation", xp_hlo_window_dim, window_dilation),
    PLAIN(6, INT64, "base_dilation", xp_hlo_window_dim, base_dilation),
    PLAIN(7, BOOL, "window_reversal", xp_hlo_window_dim, is_reversed),
};
static const xp_hlo_record window_dim_record = CLOSED("window dimension", window_dim_fields, xp_hlo_window_dim);
static const xp_hlo_field window_fields[] = {
    COUNTED(1, ARRAY, "dimensions", xp_hlo_window, dims, count, &window_dim_record),
};
static const xp_hlo_record window_record = CLOSED("window", window_fields, xp_hlo_window);

static const xp_hlo_field dot_fields[] = {
    PLAIN(1, LIST, "lhs_contracting_dimensions", xp_hlo_dot, lhs_contracting),
    PLAIN(2, LIST, "rhs_contracting_dimensions", xp_hlo_dot, rhs_contracting),
    PLAIN(3, LIST, "lhs_batch_dimensions", xp_hlo_dot, lhs_batch),
    PLAIN(4, LIST, "rhs_batch_dimensions", xp_hlo_dot, rhs_batch),
};
static const xp_hlo_record dot_record = CLOSED("dot_dimension_numbers", dot_fields, xp_hlo_dot);

static const xp_hlo_field convolution_fields[] = {
    PLAIN(3, INT64, "kernel_input_feature_dimension", xp_hlo_convolution, kernel_input_feature),
    PLAIN(4, INT64, "kernel_output_feature_dimension", xp_hlo_convolution, kernel_output_feature),
    PLAIN(6, LIST, "kernel_spatial_dimensions", xp_hlo_convolution, kernel_spatial),
    PLAIN(7, INT64, "input_batch_dimension", xp_hlo_convolution, input_batch),
    PLAIN(8, INT64, "input_feature_dimension", xp_hlo_convolution, input_feature),
    PLAIN(9, INT64, "output_batch_dimension", xp_hlo_convolution, output_batch),
    PLAIN(10, INT64, "output_feature_dimension", xp_hlo_convolution, output_feature),
    PLAIN(11, LIST, "input_spatial_dimensions", xp_hlo_convolution, input_spatial),
    PLAIN(12, LIST, "output_spatial_dimensions", xp_hlo_convolution, output_spatial),
};
static const xp_hlo_record convolution_record =
    CLOSED("convolution_dimension_numbers", convolution_fields, xp_hlo_convolution);

static const xp_hlo_field gather_fields[] = {
    PLAIN(1, LIST, "offset_dims", xp_hlo_gather, offset_dims),
    PLAIN(2, LIST, "collapsed_slice_dims", xp_hlo_gather, collapsed_slice_dims),
    PLAIN(3, LIST, "start_index_map", xp_hlo_gather, start_index_map),
    PLAIN(4, INT64, "index_vector_dim", xp_hlo_gather, index_vector_dim),
    PLAIN(5, LIST, "operand_batching_dims", xp_hlo_gather, operand_batching_dims),
    PLAIN(6, LIST, "start_indices_batching_dims", xp_hlo_gather, start_indices_batching_dims),
};
static const xp_hlo_record gather_record = CLOSED("gather_dimension_numbers", gather_fields, xp_hlo_gather);

static const xp_hlo_field scatter_fields[] = {
    PLAIN(1, LIST, "update_window_dims", xp_hlo_scatter, update_window_dims),
    PLAIN(2, LIST, "inserted_window_dims", xp_hlo_scatter, inserted_window_dims),
    PLAIN(3, LIST, "scatter_dims_to_operand_dims", xp_hlo_scatter, scatter_dims_to_operand_dims),
    PLAIN(4, INT64, "index_vector_dim", xp_hlo_scatter, index_vector_dim),
    PLAIN(5, LIST, "input_batching_dims", xp_hlo_scatter, input_batching_dims),
    PLAIN(6, LIST, "scatter_indices_batching_dims", xp_hlo_scatter, scatter_indices_batching_dims),
};
static const xp_hlo_record scatter_record = CLOSED("scatter_dimension_numbers", scatter_fields, xp_hlo_scatter);

static const xp_hlo_field precision_fields[] = {
    PLAIN(1, LIST, "operand_precision", xp_hlo_precision_config, operands),
    PLAIN(2, INT64, "algorithm", xp_hlo_precision_config, algorithm),
};
static const xp_hlo_record precision_record = OPEN("precision_config", precision_fields, xp_hlo_precision_config, rest);

static const xp_hlo_field pair_fields[] = {
    PLAIN(1, STR, "key", xp_hlo_pair, key),
    PLAIN(2, STR, "value", xp_hlo_pair, value),
};
static const xp_hlo_record pair_record = LOOSE("attribute", pair_fields, xp_hlo_pair);
static const xp_hlo_field instruction_pairs_fields[] = {
    COUNTED(1, ARRAY, "map", xp_hlo_raw_instruction, in.frontend_attributes, in.frontend_attribute_count, &pair_record),
};
static const xp_hlo_record instruction_pairs_record =
    LOOSE("frontend_attributes", instruction_pairs_fields, xp_hlo_raw_instruction);

static const xp_hlo_field meta_fields[] = {
    PLAIN(1, STR, "op_type", xp_hlo_meta, op_type),
    PLAIN(2, STR, "op_name", xp_hlo_meta, op_name),
    PLAIN(3, STR, "source_file", xp_hlo_meta, source_file),
    PLAIN(4, INT32, "source_line", xp_hlo_meta, source_line),
    PLAIN(15, INT32, "stack_frame_id", xp_hlo_meta, stack_frame_id),
};
static const xp_hlo_record meta_record = OPEN("metadata", meta_fields, xp_hlo_meta, rest);

/* ---------------------------------------------------------------- instruction and computation */

#define RAW xp_hlo_raw_instruction

static const xp_hlo_field instruction_fields[] = {
    PLAIN(1, STR, "name", RAW, in.name),
    PLAIN(2, STR, "opcode", RAW, in.opcode_text),
    PLAIN(3, SHAPE, "shape", RAW, in.shape),
    NESTED(7, INLINE, "metadata", RAW, in.meta, &meta_record),
    PLAIN(8, LITERAL, "literal", RAW, in.literal),
    PLAIN(9, INT64, "parameter_number", RAW, in.parameter_number),
    PLAIN(11, STR, "fusion_kind", RAW, in.fusion_kind),
    PLAIN(13, INT64, "tuple_index", RAW, in.tuple_index),
    PLAIN(14, LIST, "dimensions", RAW, in.dimensions),
    NESTED(15, POINTER, "window", RAW, in.window, &window_record),
    NESTED(16, POINTER, "convolution_dimension_numbers", RAW, in.convolution, &convolution_record),
    COUNTED(17, ARRAY, "slice_dimensions", RAW, in.slice, in.slice_count, &slice_record),
    PLAIN(18, INT32, "exponent_bits", RAW, in.exponent_bits),
    PLAIN(19, INT32, "mantissa_bits", RAW, in.mantissa_bits),
    PLAIN(20, LIST, "dynamic_slice_sizes", RAW, in.dynamic_slice_sizes),
    WRAPPED(21, "padding_config", &padding_record),
    ENUM(23, "distribution", RAW, in.rng, XP_HLO_RNG_NORMAL + 1),
    PLAIN(24, FLOAT, "epsilon", RAW, in.epsilon),
    PLAIN(25, INT64, "feature_index", RAW, in.feature_index),
    PLAIN(28, STR, "custom_call_target", RAW, custom.target),
    NESTED(30, POINTER, "dot_dimension_numbers", RAW, in.dot, &dot_record),
    NESTED(33, POINTER, "gather_dimension_numbers", RAW, in.gather, &gather_record),
    PLAIN(34, LIST, "gather_slice_sizes", RAW, gather_slice_sizes),
    PLAIN(35, INT64, "id", RAW, in.id),
    PLAIN(36, LIST, "operand_ids", RAW, operand_ids),
    PLAIN(37, LIST, "control_predecessor_ids", RAW, predecessor_ids),
    PLAIN(38, LIST, "called_computation_ids", RAW, call_ids),
    PLAIN(43, STR, "backend_config", RAW, in.backend_config),
    NESTED(48, POINTER, "scatter_dimension_numbers", RAW, in.scatter, &scatter_record),
    PLAIN(50, INT64, "feature_group_count", RAW, in.feature_group_count),
    NESTED(51, POINTER, "precision_config", RAW, in.precision, &precision_record),
    PLAIN(56, BOOL, "constrain_layout", RAW, custom.constrains_layout),
    COUNTED(57, SHAPES, "operand_shapes_with_layout", RAW, custom.operand_shapes, custom.operand_shape_count, NULL),
    PLAIN(58, INT64, "batch_group_count", RAW, in.batch_group_count),
    PLAIN(60, BOOL, "is_stable", RAW, in.is_stable),
    NAMED(63, "comparison_direction", RAW, in.compare, xp_hlo_compare_names),
    PLAIN(65, BOOL, "custom_call_has_side_effect", RAW, custom.has_side_effect),
    PLAIN(66, INT64, "delta", RAW, in.delta),
    PLAIN(67, BOOL, "indices_are_sorted", RAW, in.indices_are_sorted),
    WRAPPED(68, "frontend_attributes", &instruction_pairs_record),
    PLAIN(69, BOOL, "unique_indices", RAW, in.unique_indices),
    ENUM(70, "rng_algorithm", RAW, in.rng_algorithm, XP_HLO_RNG_PHILOX + 1),
    NAMED(72, "comparison_type", RAW, in.order, xp_hlo_order_names),
    PLAIN(76, INT64, "custom_call_schedule", RAW, custom.schedule),
    PLAIN(77, INT64, "custom_call_api_version", RAW, custom.api_version),
};
const xp_hlo_record xp_hlo_instruction_record = OPEN("instruction", instruction_fields, RAW, in.rest);
_Static_assert(SIZE_OF(instruction_fields) <= XP_HLO_MAX_FIELDS, "the reader counts fields in an array of this size");

#undef RAW
#define RAW xp_hlo_raw_computation

static const xp_hlo_field computation_fields[] = {
    PLAIN(1, STR, "name", RAW, in.name),
    COUNTED(2, STRS, "instructions", RAW, instructions, instruction_count, NULL),
    PLAIN(4, DERIVED, "program_shape", RAW, in), /* follows from the parameters and the root */
    PLAIN(5, INT64, "id", RAW, in.id),
    PLAIN(6, INT64, "root_id", RAW, root_id),
    PLAIN(7, BOOL, "is_fusion_computation", RAW, in.is_fusion),
};
const xp_hlo_record xp_hlo_computation_record = OPEN("computation", computation_fields, RAW, in.rest);

/* ---------------------------------------------------------------- module */

static const xp_hlo_field location_fields[] = {
    PLAIN(1, INT32, "file_name_id", xp_hlo_file_location, file_name),
    PLAIN(2, INT32, "function_name_id", xp_hlo_file_location, function_name),
    PLAIN(3, INT32, "line", xp_hlo_file_location, line),
    PLAIN(4, INT32, "column", xp_hlo_file_location, column),
    PLAIN(5, INT32, "end_line", xp_hlo_file_location, end_line),
    PLAIN(6, INT32, "end_column", xp_hlo_file_location, end_column),
};
static const xp_hlo_record location_record = LOOSE("file_locations", location_fields, xp_hlo_file_location);

static const xp_hlo_field frame_fields[] = {
    PLAIN(1, INT32, "file_location_id", xp_hlo_stack_frame, location),
    PLAIN(2, INT32, "parent_frame_id", xp_hlo_stack_frame, parent),
};
static const xp_hlo_record frame_record = LOOSE("stack_frames", frame_fields, xp_hlo_stack_frame);

#define FRAMES xp_hlo_frame_tables
static const xp_hlo_field frames_fields[] = {
    COUNTED(1, STRS, "file_names", FRAMES, file_names, file_name_count, NULL),
    COUNTED(2, STRS, "function_names", FRAMES, function_names, function_name_count, NULL),
    COUNTED(3, ARRAY, "file_locations", FRAMES, locations, location_count, &location_record),
    COUNTED(4, ARRAY, "stack_frames", FRAMES, frames, frame_count, &frame_record),
};
static const xp_hlo_record frames_record = LOOSE("stack_frame_index", frames_fields, FRAMES);

static const xp_hlo_field alias_fields[] = {
    PLAIN(1, LIST, "output_shape_index", xp_hlo_alias, output_index),
    PLAIN(2, INT64, "parameter_number", xp_hlo_alias, parameter_number),
    PLAIN(3, LIST, "parameter_shape_index", xp_hlo_alias, parameter_index),
    ENUM(4, "kind", xp_hlo_alias, kind, XP_HLO_ALIAS_MUST + 1),
};
static const xp_hlo_record alias_record = CLOSED("alias entry", alias_fields, xp_hlo_alias);
static const xp_hlo_field aliases_fields[] = {
    COUNTED(1, ARRAY, "entries", xp_hlo_raw_module, in.aliases, in.alias_count, &alias_record),
};
static const xp_hlo_record aliases_record = CLOSED("input_output_alias", aliases_fields, xp_hlo_raw_module);

static const xp_hlo_field module_pairs_fields[] = {
    COUNTED(1, ARRAY, "map", xp_hlo_raw_module, in.frontend_attributes, in.frontend_attribute_count, &pair_record),
};
static const xp_hlo_record module_pairs_record = LOOSE("frontend_attributes", module_pairs_fields, xp_hlo_raw_module);

/* The names of parameters (3) are those of the entry's instructions. */
static const xp_hlo_field program_shape_fields[] = {
    COUNTED(1, SHAPES, "parameters", xp_hlo_program_shape, parameters, parameter_count, NULL),
    PLAIN(2, SHAPE, "result", xp_hlo_program_shape, result),
};
static const xp_hlo_record program_shape_record = LOOSE("program_shape", program_shape_fields, xp_hlo_program_shape);

#undef RAW
#define RAW xp_hlo_raw_module

static const xp_hlo_field module_fields[] = {
    PLAIN(1, STR, "name", RAW, in.name),
    PLAIN(2, STR, "entry_computation_name", RAW, entry_name),
    COUNTED(3, STRS, "computations", RAW, computations, computation_count, NULL),
    NESTED(4, POINTER, "host_program_shape", RAW, program, &program_shape_record),
    PLAIN(5, INT64, "id", RAW, in.id),
    PLAIN(6, INT64, "entry_computation_id", RAW, entry_id),
    WRAPPED(8, "input_output_alias", &aliases_record),
    PLAIN(11, BOOL, "is_dynamic", RAW, in.is_dynamic),
    NESTED(17, INLINE, "stack_frame_index", RAW, in.frames, &frames_record),
    WRAPPED(19, "frontend_attributes", &module_pairs_record),
};
const xp_hlo_record xp_hlo_module_record = OPEN("module", module_fields, RAW, in.rest);
