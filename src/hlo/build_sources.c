/* Values that come from nothing: parameters, constants, counting and random numbers. */
#include "hlo/build_body.h"
#include "hlo/element.h"

xp_hlo_value xp_hlo_build_parameter(xp_hlo_body *body, int64_t number, const xp_hlo_shape *shape, const char *name)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_PARAMETER;
  if (!xp_hlo_are_values(body, opcode, NULL, 0) || !xp_hlo_is_given_shape(body, opcode, shape)) {
    return XP_HLO_NO_VALUE;
  }
  if (number < 0) {
    return xp_hlo_cannot(body, opcode, "it has the number %lld; count from 0", (long long)number);
  }
  xp_hlo_instruction in = {.opcode = opcode,
                           .shape = xp_hlo_keep_shape(body->builder, shape),
                           .name = xp_hlo_keep_text(body->builder, xp_str_c(name)),
                           .parameter_number = number};
  return xp_hlo_append(body, &in, NULL, 0);
}

xp_hlo_value xp_hlo_build_constant(xp_hlo_body *body, const xp_hlo_shape *shape, xp_str bytes)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_CONSTANT;
  if (!xp_hlo_are_values(body, opcode, NULL, 0) || !xp_hlo_is_given_shape(body, opcode, shape)) {
    return XP_HLO_NO_VALUE;
  }
  if (!xp_hlo_shape_is_array(shape) || (uint64_t)xp_hlo_shape_bytes(shape) != bytes.len) {
    return xp_hlo_cannot(body, opcode, "the shape %.180s needs %lld bytes, and there are %zu", xp_hlo_show(body, shape),
                         (long long)xp_hlo_shape_bytes(shape), bytes.len);
  }
  xp_hlo_literal literal = {.shape = *shape, .bytes = xp_hlo_keep_str(body->builder, bytes)};
  literal.shape.has_layout = true;
  xp_hlo_instruction in = {
      .opcode = opcode, .shape = literal.shape, .literal = xp_hlo_keep(body->builder, &literal, 1, sizeof literal)};
  return xp_hlo_append(body, &in, NULL, 0);
}

xp_hlo_value xp_hlo_build_scalar(xp_hlo_body *body, xp_hlo_type type, double value)
{
  char bytes[16];
  const xp_hlo_shape shape = xp_hlo_shape_scalar(type);
  if (!xp_hlo_element_from_double(type, value, bytes)) {
    return xp_hlo_cannot(body, XP_HLO_OP_CONSTANT, "a number cannot be a constant of type %s; give its bytes",
                         xp_hlo_type_name(type));
  }
  return xp_hlo_build_constant(body, &shape, xp_str_from(bytes, xp_hlo_type_bytes(type)));
}

xp_hlo_value xp_hlo_build_integer(xp_hlo_body *body, xp_hlo_type type, int64_t value)
{
  char bytes[8];
  const xp_hlo_shape shape = xp_hlo_shape_scalar(type);
  if (!xp_hlo_type_is_integer(type) && type != XP_HLO_PRED) {
    return xp_hlo_cannot(body, XP_HLO_OP_CONSTANT, "an integer cannot be a constant of type %s",
                         xp_hlo_type_name(type));
  }
  uint64_t bits = type == XP_HLO_PRED ? value != 0 : (uint64_t)value;
  for (size_t i = 0; i < sizeof bytes; i++) {
    bytes[i] = (char)(bits >> (8 * i));
  }
  return xp_hlo_build_constant(body, &shape, xp_str_from(bytes, xp_hlo_type_bytes(type)));
}

xp_hlo_value xp_hlo_build_iota(xp_hlo_body *body, const xp_hlo_shape *shape, int64_t dimension)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_IOTA;
  if (!xp_hlo_are_values(body, opcode, NULL, 0) || !xp_hlo_is_given_shape(body, opcode, shape)) {
    return XP_HLO_NO_VALUE;
  }
  if (!xp_hlo_shape_is_array(shape) || shape->type == XP_HLO_PRED || dimension < 0 || dimension >= shape->rank) {
    return xp_hlo_cannot(body, opcode, "the shape %.180s does not count along dimension %lld", xp_hlo_show(body, shape),
                         (long long)dimension);
  }
  xp_hlo_instruction in = {.opcode = opcode,
                           .shape = xp_hlo_keep_shape(body->builder, shape),
                           .dimensions = xp_hlo_keep_list(body->builder, &dimension, 1)};
  return xp_hlo_append(body, &in, NULL, 0);
}

xp_hlo_value xp_hlo_build_rng(xp_hlo_body *body, xp_hlo_rng distribution, xp_hlo_value a, xp_hlo_value b,
                              const xp_hlo_shape *shape)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_RNG;
  const xp_hlo_value operands[] = {a, b};
  if (!xp_hlo_are_values(body, opcode, operands, 2) || !xp_hlo_is_given_shape(body, opcode, shape)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape scalar = xp_hlo_shape_scalar(shape->type);
  const xp_hlo_shape *x = xp_hlo_shape_in(body, a), *y = xp_hlo_shape_in(body, b);
  if (!xp_hlo_shape_is_array(shape) || !xp_hlo_shape_same(x, &scalar) || !xp_hlo_shape_same(y, &scalar)) {
    return xp_hlo_cannot_pair(body, opcode, x, y, "they must be scalars of the type of the result");
  }
  bool is_normal = distribution == XP_HLO_RNG_NORMAL;
  if ((!is_normal && distribution != XP_HLO_RNG_UNIFORM) || (is_normal && !xp_hlo_type_is_float(shape->type)) ||
      xp_hlo_type_is_complex(shape->type)) {
    return xp_hlo_cannot(body, opcode, "there is no such distribution of %s", xp_hlo_type_name(shape->type));
  }
  xp_hlo_instruction in = {.opcode = opcode, .shape = xp_hlo_keep_shape(body->builder, shape), .rng = distribution};
  return xp_hlo_append(body, &in, operands, 2);
}

xp_hlo_value xp_hlo_build_random_bits(xp_hlo_body *body, xp_hlo_rng_algorithm algorithm, xp_hlo_value state,
                                      const xp_hlo_shape *shape)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_RNG_BIT_GENERATOR;
  if (!xp_hlo_is_array_value(body, opcode, state) || !xp_hlo_is_given_shape(body, opcode, shape)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, state);
  /* ThreeFry keeps 128 bits of state, Philox 128 or 192. */
  bool is_state = s->type == XP_HLO_U64 && s->rank == 1 && (s->dims[0] == 2 || s->dims[0] == 3) &&
                  (s->dims[0] == 2 || algorithm != XP_HLO_RNG_THREE_FRY);
  if (!is_state || !xp_hlo_type_is_integer(shape->type)) {
    return xp_hlo_cannot(body, opcode,
                         "the state is %.180s and the result %.180s; pass u64[2] (u64[3] for Philox) and integers",
                         xp_hlo_show(body, s), xp_hlo_show(body, shape));
  }
  if ((unsigned)algorithm > XP_HLO_RNG_PHILOX) {
    return xp_hlo_cannot(body, opcode, "there is no algorithm %d", (int)algorithm);
  }
  const xp_hlo_shape parts[] = {*s, *shape};
  const xp_hlo_shape both = xp_hlo_shape_tuple(parts, 2);
  xp_hlo_instruction in = {
      .opcode = opcode, .shape = xp_hlo_keep_shape(body->builder, &both), .rng_algorithm = algorithm};
  return xp_hlo_append(body, &in, &state, 1);
}
