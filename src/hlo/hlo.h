/* A program of XLA in memory: a module of computations, each a list of instructions.
 *
 * What always holds for a module that xp_hlo_read or a builder (hlo/build.h) made:
 *  - The instructions of a computation stand in topological order: operands and control predecessors come first.
 * Operands are indices into the computation, called computations indices into the module.
 *  - A computation comes behind the computations that it calls, so the calls have no cycle.
 *  - Ids are unique in their computation, and parameter i of a computation is instructions[parameters[i]].
 *  - There is a parameter shape of the program for each parameter of the entry.
 *  - Every shape is sound (xp_hlo_shape_is_sound), and a literal has as many bytes as its shape says.
 *
 * Shapes of operands against results are inferred and checked by the builder only.  A reader of a module from outside
 * checks what it depends on.
 *
 * A module lies in the arena it was made in, as a whole, and does not change afterwards: any number of threads may read
 * it.  What the structures do not model (shardings, replica groups) is kept as records of the message, in the members
 * named `rest`, and written again as it was.
 */
#ifndef XP_HLO_HLO_H
#define XP_HLO_HLO_H

#include "hlo/opcode.h"
#include "hlo/shape.h"

/* ---------------------------------------------------------------- attributes */

/* Numbers of an attribute: dimensions, sizes, indices. */
typedef struct {
  const int64_t *values;
  size_t count;
} xp_hlo_list;

/* A constant's value.  An array's elements stand in the order of the layout of `shape`, little-endian, each in a whole
 * number of bytes; PRED as bytes 0 and 1.  A tuple has parts instead. */
typedef struct xp_hlo_literal xp_hlo_literal;
struct xp_hlo_literal {
  xp_hlo_shape shape;
  xp_str bytes;
  const xp_hlo_literal *parts; /* shape.part_count of them */
};

typedef struct {
  int64_t start, limit, stride;
} xp_hlo_slice_dim;

typedef struct {
  int64_t low, high, interior; /* low and high may be negative: elements are taken away */
} xp_hlo_pad_dim;

/* One dimension of the window of a convolution, reduce-window or select-and-scatter. */
typedef struct {
  int64_t size, stride, padding_low, padding_high, window_dilation, base_dilation;
  bool is_reversed;
} xp_hlo_window_dim;

typedef struct {
  const xp_hlo_window_dim *dims;
  size_t count;
} xp_hlo_window;

typedef struct {
  xp_hlo_list lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
} xp_hlo_dot;

typedef struct {
  int64_t input_batch, input_feature;
  xp_hlo_list input_spatial;
  int64_t kernel_input_feature, kernel_output_feature;
  xp_hlo_list kernel_spatial;
  int64_t output_batch, output_feature;
  xp_hlo_list output_spatial;
} xp_hlo_convolution;

typedef struct {
  xp_hlo_list offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim;
  xp_hlo_list slice_sizes;
} xp_hlo_gather;

typedef struct {
  xp_hlo_list update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, input_batching_dims,
      scatter_indices_batching_dims;
  int64_t index_vector_dim;
} xp_hlo_scatter;

typedef enum {
  XP_HLO_COMPARE_NONE = 0,
  XP_HLO_COMPARE_EQ,
  XP_HLO_COMPARE_NE,
  XP_HLO_COMPARE_GE,
  XP_HLO_COMPARE_GT,
  XP_HLO_COMPARE_LE,
  XP_HLO_COMPARE_LT,
  XP_HLO_COMPARE_COUNT
} xp_hlo_compare;

/* How a comparison takes its operands; NONE: as their type says. */
typedef enum {
  XP_HLO_ORDER_NONE = 0,
  XP_HLO_ORDER_FLOAT,
  XP_HLO_ORDER_TOTAL, /* -NaN < -inf < .. < -0 < +0 < .. < +inf < +NaN */
  XP_HLO_ORDER_SIGNED,
  XP_HLO_ORDER_UNSIGNED,
  XP_HLO_ORDER_COUNT
} xp_hlo_order;

/* Numbers of xla.RandomDistribution and xla.RandomAlgorithm. */
typedef enum { XP_HLO_RNG_INVALID = 0, XP_HLO_RNG_UNIFORM = 1, XP_HLO_RNG_NORMAL = 2 } xp_hlo_rng;
typedef enum { XP_HLO_RNG_DEFAULT = 0, XP_HLO_RNG_THREE_FRY = 1, XP_HLO_RNG_PHILOX = 2 } xp_hlo_rng_algorithm;

/* Numbers of xla.PrecisionConfig.Precision. */
typedef enum { XP_HLO_PRECISION_DEFAULT = 0, XP_HLO_PRECISION_HIGH = 1, XP_HLO_PRECISION_HIGHEST = 2 } xp_hlo_precision;

typedef struct {
  xp_hlo_list operands; /* xp_hlo_precision of each operand; may be empty */
  int64_t algorithm;    /* xla.PrecisionConfig.Algorithm; 0 if unset */
  xp_str rest;
} xp_hlo_precision_config;

typedef struct {
  xp_str target;
  bool has_side_effect;
  int64_t api_version; /* xla.CustomCallApiVersion */
  int64_t schedule;    /* xla.CustomCallSchedule */
  bool constrains_layout;
  const xp_hlo_shape *operand_shapes; /* with layouts, if constrains_layout */
  size_t operand_shape_count;
} xp_hlo_custom_call;

/* Text pairs that a frontend put on an instruction. */
typedef struct {
  xp_str key, value;
} xp_hlo_pair;

/* Where an instruction comes from. */
typedef struct {
  xp_str op_type, op_name, source_file;
  int32_t source_line;
  int32_t stack_frame_id; /* a frame of the module's tables, from 1; 0 for none */
  xp_str rest;            /* records of the OpMetadata that are not modelled */
} xp_hlo_meta;

/* ---------------------------------------------------------------- instructions */

typedef struct {
  int64_t id;
  xp_str name; /* "add.3" */
  xp_hlo_opcode opcode;
  xp_str opcode_text; /* as XLA writes it, and as the file has it where the opcode is unknown */
  xp_hlo_shape shape;
  const uint32_t *operands; /* indices into the computation, all below this instruction's */
  size_t operand_count;
  const uint32_t *predecessors; /* control predecessors, likewise */
  size_t predecessor_count;
  const uint32_t *calls; /* called computations, indices into the module; while: body, condition; select-and-scatter:
                            select, scatter; conditional: one a branch, true before false */
  size_t call_count;
  xp_hlo_meta meta;

  /* What belongs to a few opcodes each.  Pointers are NULL, lists empty and numbers 0 where they do not apply. */
  int64_t parameter_number; /* parameter */
  int64_t tuple_index;      /* get-tuple-element */
  xp_hlo_list dimensions;   /* broadcast, transpose, reduce, reverse, concatenate, iota, sort, .. */
  const xp_hlo_literal *literal;
  const xp_hlo_slice_dim *slice; /* slice: operand's rank of them */
  size_t slice_count;
  xp_hlo_list dynamic_slice_sizes;
  const xp_hlo_pad_dim *padding; /* pad */
  size_t padding_count;
  const xp_hlo_window *window;
  const xp_hlo_dot *dot;
  const xp_hlo_convolution *convolution;
  int64_t feature_group_count, batch_group_count; /* convolution; 1 where the message has 0 */
  const xp_hlo_precision_config *precision;       /* dot, convolution; NULL for the default */
  const xp_hlo_gather *gather;
  const xp_hlo_scatter *scatter;
  bool indices_are_sorted, unique_indices; /* gather, scatter */
  bool is_stable;                          /* sort */
  xp_hlo_compare compare;
  xp_hlo_order order;
  xp_hlo_rng rng;
  xp_hlo_rng_algorithm rng_algorithm;
  int64_t delta;                        /* rng-get-and-update-state */
  int32_t exponent_bits, mantissa_bits; /* reduce-precision */
  float epsilon;                        /* batch-norm-* */
  int64_t feature_index;                /* batch-norm-* */
  const xp_hlo_custom_call *custom_call;
  xp_str fusion_kind;    /* "kLoop" */
  xp_str backend_config; /* any opcode */
  const xp_hlo_pair *frontend_attributes;
  size_t frontend_attribute_count;
  xp_str rest; /* records of the HloInstructionProto that are not modelled */
} xp_hlo_instruction;

/* ---------------------------------------------------------------- computations and modules */

typedef struct {
  int64_t id;
  xp_str name;
  const xp_hlo_instruction *instructions;
  uint32_t instruction_count, root;
  const uint32_t *parameters; /* instruction of parameter i */
  uint32_t parameter_count;
  bool is_fusion;
  xp_str rest;
} xp_hlo_computation;

typedef struct {
  int32_t file_name, function_name; /* from 1, into the tables of names; 0 for none */
  int32_t line, column, end_line, end_column;
} xp_hlo_file_location;

typedef struct {
  int32_t location, parent; /* from 1; parent 0: the outermost frame */
} xp_hlo_stack_frame;

/* The tables that OpMetadata.stack_frame_id points into.  All ids begin at 1. */
typedef struct {
  const xp_str *file_names, *function_names;
  size_t file_name_count, function_name_count;
  const xp_hlo_file_location *locations;
  size_t location_count;
  const xp_hlo_stack_frame *frames;
  size_t frame_count;
} xp_hlo_frame_tables;

typedef enum { XP_HLO_ALIAS_UNDEFINED = 0, XP_HLO_ALIAS_MAY = 1, XP_HLO_ALIAS_MUST = 2 } xp_hlo_alias_kind;

/* The buffer of a parameter that an output may or must reuse. */
typedef struct {
  xp_hlo_list output_index; /* path into the result tuple */
  int64_t parameter_number;
  xp_hlo_list parameter_index;
  xp_hlo_alias_kind kind;
} xp_hlo_alias;

typedef struct {
  int64_t id;
  xp_str name;
  const xp_hlo_computation *computations;
  uint32_t computation_count, entry;
  /* The layouts in which the caller hands parameters in and takes the result: the entry's shapes, if nothing else was
   * said. */
  const xp_hlo_shape *parameter_shapes;
  size_t parameter_shape_count;
  xp_hlo_shape result_shape;
  xp_hlo_frame_tables frames;
  const xp_hlo_alias *aliases;
  size_t alias_count;
  const xp_hlo_pair *frontend_attributes;
  size_t frontend_attribute_count;
  bool is_dynamic;
  xp_str rest;
} xp_hlo_module;

/* ---------------------------------------------------------------- access */

static inline const xp_hlo_computation *xp_hlo_entry(const xp_hlo_module *module)
{
  return &module->computations[module->entry];
}

static inline const xp_hlo_instruction *xp_hlo_root(const xp_hlo_computation *computation)
{
  return &computation->instructions[computation->root];
}

static inline const xp_hlo_instruction *xp_hlo_parameter(const xp_hlo_computation *computation, size_t i)
{
  return &computation->instructions[computation->parameters[i]];
}

static inline bool xp_hlo_list_has(const xp_hlo_list *list, int64_t value)
{
  for (size_t i = 0; i < list->count; i++) {
    if (list->values[i] == value) {
      return true;
    }
  }
  return false;
}

/* The order that a comparison of elements of this type has when nothing is said. */
static inline xp_hlo_order xp_hlo_usual_order(xp_hlo_type type)
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

/* Operand i; i is below operand_count. */
static inline const xp_hlo_instruction *xp_hlo_operand(const xp_hlo_computation *computation,
                                                       const xp_hlo_instruction *instruction, size_t i)
{
  return &computation->instructions[instruction->operands[i]];
}

/* Called computation i; i is below call_count. */
static inline const xp_hlo_computation *xp_hlo_call(const xp_hlo_module *module, const xp_hlo_instruction *instruction,
                                                    size_t i)
{
  return &module->computations[instruction->calls[i]];
}

#endif
