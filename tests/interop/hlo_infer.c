/* Builds modules of XLA again and compares the shapes: those that our builder infers with those that XLA wrote.
 *
 *   hlo_infer FILE...      HloModuleProtos; prints "N instructions, M of other opcodes", and a line for each difference
 *
 * Instructions that the builder does not make stand in the new module as parameters of the shape that they have.
 */
#include <stdio.h>

#include "base/file.h"
#include "device/eval_element.h"
#include "hlo/build.h"
#include "hlo/read.h"

static size_t inferred, taken, different;

/* One computation that is being built again. */
typedef struct {
  const xp_hlo_computation *from;
  const uint32_t *computations; /* new numbers of those before it */
  xp_hlo_body *b;
  xp_hlo_value *values;
  int64_t parameters;
} copying;

static xp_hlo_value operand(const copying *c, const xp_hlo_instruction *in, size_t i)
{
  return c->values[in->operands[i]];
}

/* Operands from `first` on; good until the next call. */
static const xp_hlo_value *operands(const copying *c, const xp_hlo_instruction *in, size_t first)
{
  static xp_hlo_value list[4096];
  for (size_t i = first; i < in->operand_count && i - first < 4096; i++) {
    list[i - first] = operand(c, in, i);
  }
  return list;
}

static uint32_t called(const copying *c, const xp_hlo_instruction *in, size_t i)
{
  return c->computations[in->calls[i]];
}

static xp_hlo_value convolution(const copying *c, const xp_hlo_instruction *in)
{
  const xp_hlo_convolution_options options = {.numbers = *in->convolution,
                                              .windows = in->window->dims,
                                              .feature_groups = in->feature_group_count,
                                              .batch_groups = in->batch_group_count,
                                              .type = in->shape.type};
  return xp_hlo_build_convolution(c->b, operand(c, in, 0), operand(c, in, 1), &options);
}

static xp_hlo_value scatter(const copying *c, const xp_hlo_instruction *in)
{
  const xp_hlo_scatter_options options = {.numbers = *in->scatter, .combine = called(c, in, 0)};
  return xp_hlo_build_scatter(c->b, operand(c, in, 0), operand(c, in, 1), operand(c, in, 2), &options);
}

static xp_hlo_value reduce(const copying *c, const xp_hlo_instruction *in)
{
  size_t half = in->operand_count / 2;
  const xp_hlo_value *all = operands(c, in, 0);
  return xp_hlo_build_reduce(c->b, all, all + half, half, in->dimensions.values, in->dimensions.count,
                             called(c, in, 0));
}

static xp_hlo_value conditional(const copying *c, const xp_hlo_instruction *in)
{
  uint32_t branches[16];
  size_t count = in->call_count < 16 ? in->call_count : 0;
  for (size_t i = 0; i < count; i++) {
    branches[i] = called(c, in, i);
  }
  return xp_hlo_build_conditional(c->b, operand(c, in, 0), branches, operands(c, in, 1), count);
}

/* XP_HLO_NO_VALUE without an error in the builder: an opcode that it has no function for. */
static xp_hlo_value rebuild(const copying *c, const xp_hlo_instruction *in)
{
  xp_hlo_body *b = c->b;
  const xp_hlo_shape *s = &in->shape;
  switch (in->opcode) {
  case XP_HLO_OP_BROADCAST:
    return xp_hlo_build_broadcast(b, operand(c, in, 0), s->rank, s->dims, in->dimensions.values);
  case XP_HLO_OP_BITCAST_CONVERT:
    return xp_hlo_build_bitcast_convert(b, operand(c, in, 0), s->type);
  case XP_HLO_OP_CLAMP:
    return xp_hlo_build_clamp(b, operand(c, in, 0), operand(c, in, 1), operand(c, in, 2));
  case XP_HLO_OP_COMPARE:
    return xp_hlo_build_compare(b, in->compare, operand(c, in, 0), operand(c, in, 1));
  case XP_HLO_OP_CONCATENATE:
    return xp_hlo_build_concatenate(b, operands(c, in, 0), in->operand_count, in->dimensions.values[0]);
  case XP_HLO_OP_CONSTANT:
    return xp_hlo_build_constant(b, &in->literal->shape, in->literal->bytes);
  case XP_HLO_OP_CONVERT:
    return xp_hlo_build_convert(b, operand(c, in, 0), s->type);
  case XP_HLO_OP_CONVOLUTION:
    return convolution(c, in);
  case XP_HLO_OP_DOT:
    return xp_hlo_build_dot(b, operand(c, in, 0), operand(c, in, 1), in->dot, s->type, XP_HLO_PRECISION_DEFAULT);
  case XP_HLO_OP_DYNAMIC_SLICE:
    return xp_hlo_build_dynamic_slice(b, operand(c, in, 0), operands(c, in, 1), in->dynamic_slice_sizes.values);
  case XP_HLO_OP_DYNAMIC_UPDATE_SLICE:
    return xp_hlo_build_dynamic_update_slice(b, operand(c, in, 0), operand(c, in, 1), operands(c, in, 2));
  case XP_HLO_OP_GATHER:
    return xp_hlo_build_gather(b, operand(c, in, 0), operand(c, in, 1), in->gather, false);
  case XP_HLO_OP_GET_TUPLE_ELEMENT:
    return xp_hlo_build_element(b, operand(c, in, 0), in->tuple_index);
  case XP_HLO_OP_IOTA:
    return xp_hlo_build_iota(b, s, in->dimensions.values[0]);
  case XP_HLO_OP_PAD:
    return xp_hlo_build_pad(b, operand(c, in, 0), operand(c, in, 1), in->padding);
  case XP_HLO_OP_REDUCE:
    return reduce(c, in);
  case XP_HLO_OP_REDUCE_WINDOW:
    return in->operand_count == 2
               ? xp_hlo_build_reduce_window(b, operand(c, in, 0), operand(c, in, 1), in->window->dims, called(c, in, 0))
               : XP_HLO_NO_VALUE;
  case XP_HLO_OP_RESHAPE:
    return xp_hlo_build_reshape(b, operand(c, in, 0), s->rank, s->dims);
  case XP_HLO_OP_REVERSE:
    return xp_hlo_build_reverse(b, operand(c, in, 0), in->dimensions.count, in->dimensions.values);
  case XP_HLO_OP_RNG_BIT_GENERATOR:
    return xp_hlo_build_random_bits(b, in->rng_algorithm, operand(c, in, 0), &s->parts[1]);
  case XP_HLO_OP_SCATTER:
    return in->operand_count == 3 ? scatter(c, in) : XP_HLO_NO_VALUE;
  case XP_HLO_OP_SELECT:
    return xp_hlo_build_select(b, operand(c, in, 0), operand(c, in, 1), operand(c, in, 2));
  case XP_HLO_OP_SELECT_AND_SCATTER:
    return xp_hlo_build_select_and_scatter(b, operand(c, in, 0), called(c, in, 0), in->window->dims, operand(c, in, 1),
                                           operand(c, in, 2), called(c, in, 1));
  case XP_HLO_OP_SLICE:
    return xp_hlo_build_slice(b, operand(c, in, 0), in->slice);
  case XP_HLO_OP_SORT:
    return xp_hlo_build_sort(b, operands(c, in, 0), in->operand_count, in->dimensions.values[0], false,
                             called(c, in, 0));
  case XP_HLO_OP_TRANSPOSE:
    return xp_hlo_build_transpose(b, operand(c, in, 0), in->dimensions.values);
  case XP_HLO_OP_TUPLE:
    return xp_hlo_build_tuple(b, operands(c, in, 0), in->operand_count);
  case XP_HLO_OP_WHILE:
    return xp_hlo_build_while(b, called(c, in, 1), called(c, in, 0), operand(c, in, 0));
  case XP_HLO_OP_CALL:
    return xp_hlo_build_call(b, called(c, in, 0), operands(c, in, 0), in->operand_count);
  case XP_HLO_OP_CONDITIONAL:
    return conditional(c, in);
  default:
    return XP_HLO_NO_VALUE;
  }
}

static xp_hlo_value copy_instruction(copying *c, const xp_hlo_instruction *in)
{
  xp_hlo_value value = rebuild(c, in);
  if (value == XP_HLO_NO_VALUE && (xp_dev_is_element_op(in->opcode) || in->opcode == XP_HLO_OP_COPY)) {
    value = in->operand_count == 1 ? xp_hlo_build_unary(c->b, in->opcode, operand(c, in, 0))
                                   : xp_hlo_build_binary(c->b, in->opcode, operand(c, in, 0), operand(c, in, 1));
  }
  inferred += value != XP_HLO_NO_VALUE;
  if (value == XP_HLO_NO_VALUE) {
    bool is_parameter = in->opcode == XP_HLO_OP_PARAMETER;
    taken += !is_parameter;
    value = xp_hlo_build_parameter(c->b, is_parameter ? in->parameter_number : c->parameters++, &in->shape, "p");
  }
  return value;
}

/* The new number of a computation. */
static uint32_t copy_computation(xp_hlo_builder *builder, xp_arena *arena, const xp_hlo_computation *from,
                                 const uint32_t *computations)
{
  copying c = {.from = from, .computations = computations, .b = xp_hlo_body_begin(builder, "c")};
  c.values = xp_arena_array(arena, from->instruction_count, sizeof *c.values);
  c.parameters = from->parameter_count;
  for (uint32_t i = 0; i < from->instruction_count; i++) {
    const xp_hlo_instruction *in = &from->instructions[i];
    c.values[i] = copy_instruction(&c, in);
    const xp_hlo_shape *shape = xp_hlo_value_shape(c.b, c.values[i]);
    if (c.values[i] != XP_HLO_NO_VALUE && !xp_hlo_shape_same(shape, &in->shape)) {
      xp_str ours = xp_hlo_shape_text(arena, shape, false), theirs = xp_hlo_shape_text(arena, &in->shape, false);
      printf("%.*s: %.*s, and XLA has %.*s\n", XP_STR_ARG(in->name), XP_STR_ARG(ours), XP_STR_ARG(theirs));
      different++;
    }
  }
  return xp_hlo_body_end(c.b, c.values[from->root]);
}

static void copy_module(const char *path, const xp_hlo_module *module, xp_arena *arena)
{
  const xp_hlo_module *copy;
  xp_error err;
  uint32_t *computations = xp_arena_array(arena, module->computation_count, sizeof *computations);
  xp_hlo_builder *builder = xp_hlo_builder_create(arena, "copy");
  for (uint32_t i = 0; i < module->computation_count; i++) {
    computations[i] = copy_computation(builder, arena, &module->computations[i], computations);
  }
  if (xp_hlo_builder_finish(builder, computations[module->entry], &copy, &err) != XP_OK) {
    printf("%s: %s\n", path, err.text);
    different++;
  }
}

int main(int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    xp_error err;
    xp_file file;
    xp_str message;
    const xp_hlo_module *module;
    xp_arena *arena = xp_arena_create();
    if (xp_file_open(argv[i], &file, &err) != XP_OK || xp_hlo_unwrap(file.bytes, &message, &err) != XP_OK ||
        xp_hlo_read(message, arena, &module, &err) != XP_OK) {
      fprintf(stderr, "%s\n", err.text);
      return 1;
    }
    copy_module(argv[i], module, arena);
    xp_arena_destroy(arena);
    xp_file_close(&file);
  }
  printf("%zu instructions, %zu of other opcodes\n", inferred, taken);
  return different > 0 ? 1 : 0;
}
