/* What the files of the builder share: appending an instruction, copying its attributes, and refusing. */
#ifndef XP_HLO_BUILD_BODY_H
#define XP_HLO_BUILD_BODY_H

#include "hlo/build.h"

struct xp_hlo_builder {
  xp_arena *arena;
  xp_error error; /* the first one */
  int64_t next_id;
  xp_str name;
  xp_hlo_meta meta; /* of what is built next */
  xp_hlo_computation *computations;
  size_t computation_count, computation_capacity, open_bodies;
  xp_hlo_frame_tables frames;
  const xp_hlo_alias *aliases;
  size_t alias_count;
  xp_hlo_body *none; /* what a caller gets when memory is out */
};

struct xp_hlo_body {
  xp_hlo_builder *builder;
  xp_str name;
  xp_hlo_instruction *instructions;
  size_t count, capacity;
  bool is_ended;
};

/* Keeps the first error: "add: what is wrong." with up to two shapes printed by xp_hlo_show.  Returns XP_HLO_NO_VALUE.
 */
xp_hlo_value xp_hlo_cannot(xp_hlo_body *body, xp_hlo_opcode opcode, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for two operands: "add: the operands have the shapes f32[2] and f32[3]; what to do". */
xp_hlo_value xp_hlo_cannot_pair(xp_hlo_body *body, xp_hlo_opcode opcode, const xp_hlo_shape *a, const xp_hlo_shape *b,
                                const char *advice);

/* Keeps the error that memory is out, if it is the first one. */
void xp_hlo_out_of_memory(xp_hlo_builder *builder);

/* The text of a shape without its layout, for an error; NUL-terminated, in the arena. */
const char *xp_hlo_show(const xp_hlo_body *body, const xp_hlo_shape *shape);

/* True if the body takes instructions and all values are its own; else the error is kept. */
bool xp_hlo_are_values(xp_hlo_body *body, xp_hlo_opcode opcode, const xp_hlo_value *values, size_t count);

/* True if value is an array of the body. */
bool xp_hlo_is_array_value(xp_hlo_body *body, xp_hlo_opcode opcode, xp_hlo_value value);

/* The shape of a checked value. */
static inline const xp_hlo_shape *xp_hlo_shape_in(const xp_hlo_body *body, xp_hlo_value value)
{
  return &body->instructions[value].shape;
}

/* Appends an instruction whose opcode, shape and attributes are set; operands, name, id and metadata are added here.
 * The operands were checked by xp_hlo_are_values. */
xp_hlo_value xp_hlo_append(xp_hlo_body *body, xp_hlo_instruction *in, const xp_hlo_value *operands, size_t count);

/* The same with called computations. */
xp_hlo_value xp_hlo_append_calling(xp_hlo_body *body, xp_hlo_instruction *in, const xp_hlo_value *operands,
                                   size_t count, const uint32_t *calls, size_t call_count);

/* Copies in the arena.  When memory is out, the error is kept and appending fails. */
void *xp_hlo_keep(xp_hlo_builder *builder, const void *from, size_t count, size_t size);
xp_hlo_list xp_hlo_keep_list(xp_hlo_builder *builder, const int64_t *values, size_t count);
xp_str xp_hlo_keep_str(xp_hlo_builder *builder, xp_str s);

static inline xp_hlo_list xp_hlo_keep_copy(xp_hlo_body *body, const xp_hlo_list *list)
{
  return xp_hlo_keep_list(body->builder, list->values, list->count);
}

/* A text for a field that must be UTF-8, repaired where it is not: XLA refuses the whole program otherwise. */
xp_str xp_hlo_keep_text(xp_hlo_builder *builder, xp_str s);

/* A shape with its parts. */
xp_hlo_shape xp_hlo_keep_shape(xp_hlo_builder *builder, const xp_hlo_shape *shape);

/* True if a shape that comes from a caller can be one: types, extents, layout. */
bool xp_hlo_is_given_shape(xp_hlo_body *body, xp_hlo_opcode opcode, const xp_hlo_shape *shape);

/* A computation by its number; NULL, and the error kept, if there is none. */
const xp_hlo_computation *xp_hlo_called(xp_hlo_body *body, xp_hlo_opcode opcode, uint32_t computation);

/* True if the computation takes `count` scalars of the types and gives what `result` says. */
bool xp_hlo_is_called_right(xp_hlo_body *body, xp_hlo_opcode opcode, uint32_t computation,
                            const xp_hlo_shape *const *takes, size_t count, const xp_hlo_shape *gives);

/* The extents that a window leaves of `shape`, into out; NULL, or what is wrong with the window. */
const char *xp_hlo_window_result(const xp_hlo_shape *shape, const xp_hlo_window_dim *windows, xp_hlo_shape *out);

/* One dimension of the same: the number of places of the window, -1 if the numbers make no sense. */
int64_t xp_hlo_window_places(int64_t extent, const xp_hlo_window_dim *window);

/* Marks dimensions: true if all are in 0 .. rank-1 and none stands twice. */
bool xp_hlo_are_dimensions(const int64_t *dimensions, size_t count, size_t rank);

#endif
