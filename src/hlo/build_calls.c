/* Tuples, and instructions that run other computations. */
#include "hlo/build_body.h"

/* ---------------------------------------------------------------- tuples */

xp_hlo_value xp_hlo_build_tuple(xp_hlo_body *body, const xp_hlo_value *values, size_t count)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_TUPLE;
  if (!xp_hlo_are_values(body, opcode, values, count)) {
    return XP_HLO_NO_VALUE;
  }
  xp_hlo_shape *parts = xp_arena_array(body->builder->arena, count, sizeof *parts);
  if (parts == NULL) {
    xp_hlo_out_of_memory(body->builder);
    return XP_HLO_NO_VALUE;
  }
  for (size_t i = 0; i < count; i++) {
    parts[i] = *xp_hlo_shape_in(body, values[i]);
  }
  xp_hlo_instruction in = {.opcode = opcode, .shape = xp_hlo_shape_tuple(parts, count)};
  if (!xp_hlo_is_given_shape(body, opcode, &in.shape)) { /* nested too deep, or too large */
    return XP_HLO_NO_VALUE;
  }
  return xp_hlo_append(body, &in, values, count);
}

xp_hlo_value xp_hlo_build_element(xp_hlo_body *body, xp_hlo_value tuple, int64_t index)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_GET_TUPLE_ELEMENT;
  if (!xp_hlo_are_values(body, opcode, &tuple, 1)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, tuple);
  if (s->type != XP_HLO_TUPLE || index < 0 || (uint64_t)index >= s->part_count) {
    return xp_hlo_cannot(body, opcode, "%.180s has no part %lld", xp_hlo_show(body, s), (long long)index);
  }
  xp_hlo_instruction in = {.opcode = opcode, .shape = s->parts[index], .tuple_index = index};
  return xp_hlo_append(body, &in, &tuple, 1);
}

xp_hlo_value xp_hlo_build_opt_barrier(xp_hlo_body *body, xp_hlo_value x)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_OPT_BARRIER;
  if (!xp_hlo_are_values(body, opcode, &x, 1)) {
    return XP_HLO_NO_VALUE;
  }
  xp_hlo_instruction in = {.opcode = opcode, .shape = *xp_hlo_shape_in(body, x)};
  return xp_hlo_append(body, &in, &x, 1);
}

/* ---------------------------------------------------------------- calls */

/* Pointers to the shapes of values, in the arena; NULL when memory is out. */
static const xp_hlo_shape *const *shapes_of(xp_hlo_body *body, const xp_hlo_value *values, size_t count)
{
  const xp_hlo_shape **shapes = xp_arena_array(body->builder->arena, count, sizeof(xp_hlo_shape *));
  if (shapes == NULL) {
    xp_hlo_out_of_memory(body->builder);
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    shapes[i] = xp_hlo_shape_in(body, values[i]);
  }
  return shapes;
}

xp_hlo_value xp_hlo_build_call(xp_hlo_body *body, uint32_t computation, const xp_hlo_value *arguments, size_t count)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_CALL;
  if (!xp_hlo_are_values(body, opcode, arguments, count)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *const *takes = shapes_of(body, arguments, count);
  if (takes == NULL || !xp_hlo_is_called_right(body, opcode, computation, takes, count, NULL)) {
    return XP_HLO_NO_VALUE;
  }
  xp_hlo_instruction in = {.opcode = opcode, .shape = xp_hlo_root(&body->builder->computations[computation])->shape};
  return xp_hlo_append_calling(body, &in, arguments, count, &computation, 1);
}

xp_hlo_value xp_hlo_build_while(xp_hlo_body *body, uint32_t condition, uint32_t step, xp_hlo_value initial)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_WHILE;
  const uint32_t calls[] = {step, condition};
  const xp_hlo_shape pred = xp_hlo_shape_scalar(XP_HLO_PRED);
  if (!xp_hlo_are_values(body, opcode, &initial, 1)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *state = xp_hlo_shape_in(body, initial);
  if (!xp_hlo_is_called_right(body, opcode, condition, &state, 1, &pred) ||
      !xp_hlo_is_called_right(body, opcode, step, &state, 1, state)) {
    return XP_HLO_NO_VALUE;
  }
  xp_hlo_instruction in = {.opcode = opcode, .shape = *state};
  return xp_hlo_append_calling(body, &in, &initial, 1, calls, 2);
}

/* A pred with two branches, or an s32 with any number. */
static bool is_selector(const xp_hlo_shape *s, size_t count)
{
  return s->rank == 0 && ((s->type == XP_HLO_PRED && count == 2) || (s->type == XP_HLO_S32 && count > 0));
}

xp_hlo_value xp_hlo_build_conditional(xp_hlo_body *body, xp_hlo_value selector, const uint32_t *branches,
                                      const xp_hlo_value *arguments, size_t count)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_CONDITIONAL;
  if (!xp_hlo_is_array_value(body, opcode, selector) || !xp_hlo_are_values(body, opcode, arguments, count)) {
    return XP_HLO_NO_VALUE;
  }
  if (!is_selector(xp_hlo_shape_in(body, selector), count)) {
    return xp_hlo_cannot(body, opcode, "%.180s does not select one of %zu branches; pass a pred or s32 scalar",
                         xp_hlo_show(body, xp_hlo_shape_in(body, selector)), count);
  }
  const xp_hlo_computation *first = xp_hlo_called(body, opcode, branches[0]);
  xp_hlo_value *operands = xp_arena_array(body->builder->arena, count + 1, sizeof *operands);
  if (first == NULL || operands == NULL) {
    xp_hlo_out_of_memory(body->builder); /* unless there is no such computation, which is the first error then */
    return XP_HLO_NO_VALUE;
  }
  operands[0] = selector;
  for (size_t i = 0; i < count; i++) {
    const xp_hlo_shape *takes = xp_hlo_shape_in(body, arguments[i]);
    if (!xp_hlo_is_called_right(body, opcode, branches[i], &takes, 1, &xp_hlo_root(first)->shape)) {
      return XP_HLO_NO_VALUE;
    }
    operands[i + 1] = arguments[i];
  }
  xp_hlo_instruction in = {.opcode = opcode, .shape = xp_hlo_root(first)->shape};
  return xp_hlo_append_calling(body, &in, operands, count + 1, branches, count);
}

xp_hlo_value xp_hlo_build_custom_call(xp_hlo_body *body, const xp_hlo_custom_call *custom, xp_str backend_config,
                                      const xp_hlo_shape *shape, const xp_hlo_value *operands, size_t count)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_CUSTOM_CALL;
  if (!xp_hlo_are_values(body, opcode, operands, count) || !xp_hlo_is_given_shape(body, opcode, shape)) {
    return XP_HLO_NO_VALUE;
  }
  if (custom->target.len == 0) {
    return xp_hlo_cannot(body, opcode, "it has no target; name the function to call");
  }
  const xp_hlo_custom_call copy = {.target = xp_hlo_keep_text(body->builder, custom->target),
                                   .has_side_effect = custom->has_side_effect,
                                   .api_version = custom->api_version,
                                   .schedule = custom->schedule};
  xp_hlo_instruction in = {.opcode = opcode,
                           .shape = xp_hlo_keep_shape(body->builder, shape),
                           .custom_call = xp_hlo_keep(body->builder, &copy, 1, sizeof copy),
                           .backend_config = xp_hlo_keep_str(body->builder, backend_config)};
  return xp_hlo_append(body, &in, operands, count);
}
