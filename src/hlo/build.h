/* Building a module, with the shapes inferred and checked.
 *
 * A builder makes a module in an arena.  Each computation is a body: values are appended to it, each from values of the
 * same body, and ending the body gives the number by which other bodies call it.  All shapes but those of parameters,
 * constants and custom calls are inferred, by the rules of XLA; operands of different shapes are an error, and
 * nothing is broadcast but where it says so below.
 *
 *     xp_hlo_builder *b = xp_hlo_builder_create(arena, "SyncTensorsGraph");
 *     xp_hlo_body *main = xp_hlo_body_begin(b, "main");
 *     xp_hlo_value x = xp_hlo_build_parameter(main, 0, &shape, "p0");
 *     uint32_t entry = xp_hlo_body_end(main, xp_hlo_build_binary(main, XP_HLO_OP_ADD, x, x));
 *     xp_status status = xp_hlo_builder_finish(b, entry, &module, &err);
 *
 * Errors stick: the first one is kept, every call after it gives XP_HLO_NO_VALUE and does nothing, and finish reports
 * it, with the operation and the shapes.  So a lowering needs no check for each call.  A value of another body, or
 * none, is an error as well.
 *
 * Names are the opcode and the id ("add.3").  Ids count from 1 through the whole module, computations included, and
 * stay small: there are plugins that take none above 2^31.
 *
 * Everything passed in is copied, texts as UTF-8 (bytes that are none become U+FFFD).  One thread at a time uses a
 * builder.
 */
#ifndef XP_HLO_BUILD_H
#define XP_HLO_BUILD_H

#include "base/error.h"
#include "hlo/hlo.h"

typedef struct xp_hlo_builder xp_hlo_builder;
typedef struct xp_hlo_body xp_hlo_body;

typedef uint32_t xp_hlo_value; /* an instruction of a body: its index */

#define XP_HLO_NO_VALUE UINT32_MAX

/* ---------------------------------------------------------------- modules and bodies */

/* Lies in the arena, and so does the module; NULL when memory is out. */
xp_hlo_builder *xp_hlo_builder_create(xp_arena *arena, const char *name);

/* The metadata of every instruction built from now on; NULL: none. */
void xp_hlo_builder_set_meta(xp_hlo_builder *builder, const xp_hlo_meta *meta);

/* The tables that stack_frame_id points into, and the buffers that outputs reuse: taken at the end, once each. */
void xp_hlo_builder_set_frames(xp_hlo_builder *builder, const xp_hlo_frame_tables *tables);
void xp_hlo_builder_set_aliases(xp_hlo_builder *builder, const xp_hlo_alias *aliases, size_t count);

/* Never NULL: when memory is out, a body that takes nothing. */
xp_hlo_body *xp_hlo_body_begin(xp_hlo_builder *builder, const char *name);

/* Ends a body whose result is root: the number of the computation, XP_HLO_NO_VALUE after an error.  The parameters must
 * be numbered 0 .. n-1. */
uint32_t xp_hlo_body_end(xp_hlo_body *body, xp_hlo_value root);

/* The finished module, with `entry` as its entry; the builder is at its end.  All bodies must have ended. */
xp_status xp_hlo_builder_finish(xp_hlo_builder *builder, uint32_t entry, const xp_hlo_module **module, xp_error *err);

/* XP_OK, or the status of the first error. */
xp_status xp_hlo_builder_status(const xp_hlo_builder *builder);

/* The shape of a value; a shape of no type for XP_HLO_NO_VALUE.  Borrowed until the next call that builds. */
const xp_hlo_shape *xp_hlo_value_shape(const xp_hlo_body *body, xp_hlo_value value);

/* ---------------------------------------------------------------- values from nothing */

/* name: as in "p0"; the id is added. */
xp_hlo_value xp_hlo_build_parameter(xp_hlo_body *body, int64_t number, const xp_hlo_shape *shape, const char *name);

/* bytes: the elements of an array in the order of its layout; as many bytes as the shape has. */
xp_hlo_value xp_hlo_build_constant(xp_hlo_body *body, const xp_hlo_shape *shape, xp_str bytes);

/* A scalar with the value rounded to the type. */
xp_hlo_value xp_hlo_build_scalar(xp_hlo_body *body, xp_hlo_type type, double value);

/* A scalar of an integer type or pred, all 64 bits of which count. */
xp_hlo_value xp_hlo_build_integer(xp_hlo_body *body, xp_hlo_type type, int64_t value);

xp_hlo_value xp_hlo_build_iota(xp_hlo_body *body, const xp_hlo_shape *shape, int64_t dimension);
xp_hlo_value xp_hlo_build_rng(xp_hlo_body *body, xp_hlo_rng distribution, xp_hlo_value a, xp_hlo_value b,
                              const xp_hlo_shape *shape);

/* A tuple of the new state and random bits of `shape`, whose type is an unsigned integer. */
xp_hlo_value xp_hlo_build_random_bits(xp_hlo_body *body, xp_hlo_rng_algorithm algorithm, xp_hlo_value state,
                                      const xp_hlo_shape *shape);

/* ---------------------------------------------------------------- element by element */

/* abs, exponential, negate, not, copy, is-finite, real, .. and binary: add, power, and, shift-left, complex, .. */
xp_hlo_value xp_hlo_build_unary(xp_hlo_body *body, xp_hlo_opcode opcode, xp_hlo_value x);
xp_hlo_value xp_hlo_build_binary(xp_hlo_body *body, xp_hlo_opcode opcode, xp_hlo_value x, xp_hlo_value y);
xp_hlo_value xp_hlo_build_compare(xp_hlo_body *body, xp_hlo_compare direction, xp_hlo_value x, xp_hlo_value y);

/* Floats in total order (see XP_HLO_ORDER_TOTAL): what sorting needs. */
xp_hlo_value xp_hlo_build_compare_total(xp_hlo_body *body, xp_hlo_compare direction, xp_hlo_value x, xp_hlo_value y);

/* pred: of the extents of the others, or a scalar, which is broadcast. */
xp_hlo_value xp_hlo_build_select(xp_hlo_body *body, xp_hlo_value pred, xp_hlo_value on_true, xp_hlo_value on_false);

/* min and max: of the shape of x, or scalars, which are broadcast. */
xp_hlo_value xp_hlo_build_clamp(xp_hlo_body *body, xp_hlo_value min, xp_hlo_value x, xp_hlo_value max);
xp_hlo_value xp_hlo_build_convert(xp_hlo_body *body, xp_hlo_value x, xp_hlo_type type);

/* To a type of another size, the last dimension goes or comes. */
xp_hlo_value xp_hlo_build_bitcast_convert(xp_hlo_body *body, xp_hlo_value x, xp_hlo_type type);
xp_hlo_value xp_hlo_build_reduce_precision(xp_hlo_body *body, xp_hlo_value x, int32_t exponent_bits,
                                           int32_t mantissa_bits);

/* ---------------------------------------------------------------- moving elements */

/* Dimension i of x becomes dimension mapping[i] of the result, of the same extent; mapping rises and has rank(x)
 * entries. */
xp_hlo_value xp_hlo_build_broadcast(xp_hlo_body *body, xp_hlo_value x, size_t rank, const int64_t *dims,
                                    const int64_t *mapping);
xp_hlo_value xp_hlo_build_reshape(xp_hlo_body *body, xp_hlo_value x, size_t rank, const int64_t *dims);

/* Dimension i of the result is dimension permutation[i] of x. */
xp_hlo_value xp_hlo_build_transpose(xp_hlo_body *body, xp_hlo_value x, const int64_t *permutation);
xp_hlo_value xp_hlo_build_reverse(xp_hlo_body *body, xp_hlo_value x, size_t count, const int64_t *dimensions);

/* One entry for each dimension of x. */
xp_hlo_value xp_hlo_build_slice(xp_hlo_body *body, xp_hlo_value x, const xp_hlo_slice_dim *slices);
xp_hlo_value xp_hlo_build_pad(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value value, const xp_hlo_pad_dim *padding);

/* starts: an integer scalar for each dimension of x. */
xp_hlo_value xp_hlo_build_dynamic_slice(xp_hlo_body *body, xp_hlo_value x, const xp_hlo_value *starts,
                                        const int64_t *sizes);
xp_hlo_value xp_hlo_build_dynamic_update_slice(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value update,
                                               const xp_hlo_value *starts);
xp_hlo_value xp_hlo_build_concatenate(xp_hlo_body *body, const xp_hlo_value *values, size_t count, int64_t dimension);
xp_hlo_value xp_hlo_build_gather(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value indices, const xp_hlo_gather *numbers,
                                 bool indices_are_sorted);

typedef struct {
  xp_hlo_scatter numbers;
  bool indices_are_sorted, unique_indices;
  uint32_t combine; /* computation of two scalars */
} xp_hlo_scatter_options;

xp_hlo_value xp_hlo_build_scatter(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value indices, xp_hlo_value updates,
                                  const xp_hlo_scatter_options *options);

/* ---------------------------------------------------------------- sums, windows, products, order */

/* count inputs of the same extents with an initial scalar each; combine takes 2 * count scalars and gives count (a
 * tuple if there are more than one). */
xp_hlo_value xp_hlo_build_reduce(xp_hlo_body *body, const xp_hlo_value *inputs, const xp_hlo_value *initials,
                                 size_t count, const int64_t *dimensions, size_t dimension_count, uint32_t combine);

/* windows: one entry for each dimension of x. */
xp_hlo_value xp_hlo_build_reduce_window(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value initial,
                                        const xp_hlo_window_dim *windows, uint32_t combine);
xp_hlo_value xp_hlo_build_select_and_scatter(xp_hlo_body *body, xp_hlo_value x, uint32_t select,
                                             const xp_hlo_window_dim *windows, xp_hlo_value source,
                                             xp_hlo_value initial, uint32_t scatter);

/* type: of the result, XP_HLO_TYPE_INVALID for that of the operands.  precision: for both operands. */
xp_hlo_value xp_hlo_build_dot(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value y, const xp_hlo_dot *numbers,
                              xp_hlo_type type, xp_hlo_precision precision);

typedef struct {
  xp_hlo_convolution numbers;
  const xp_hlo_window_dim *windows; /* one for each spatial dimension; size is the kernel's */
  int64_t feature_groups, batch_groups;
  xp_hlo_precision precision;
  xp_hlo_type type; /* of the result, XP_HLO_TYPE_INVALID for that of the operands */
} xp_hlo_convolution_options;

xp_hlo_value xp_hlo_build_convolution(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value kernel,
                                      const xp_hlo_convolution_options *options);

/* All of the same extents; less takes two scalars for each, side by side, and gives a pred.  More than one: a tuple. */
xp_hlo_value xp_hlo_build_sort(xp_hlo_body *body, const xp_hlo_value *values, size_t count, int64_t dimension,
                               bool is_stable, uint32_t less);

/* ---------------------------------------------------------------- tuples and calls */

xp_hlo_value xp_hlo_build_tuple(xp_hlo_body *body, const xp_hlo_value *values, size_t count);
xp_hlo_value xp_hlo_build_element(xp_hlo_body *body, xp_hlo_value tuple, int64_t index);
xp_hlo_value xp_hlo_build_opt_barrier(xp_hlo_body *body, xp_hlo_value x);
xp_hlo_value xp_hlo_build_call(xp_hlo_body *body, uint32_t computation, const xp_hlo_value *arguments, size_t count);
xp_hlo_value xp_hlo_build_while(xp_hlo_body *body, uint32_t condition, uint32_t step, xp_hlo_value initial);

/* selector: a pred scalar with two branches (true first), or an s32 scalar; one argument for each branch. */
xp_hlo_value xp_hlo_build_conditional(xp_hlo_body *body, xp_hlo_value selector, const uint32_t *branches,
                                      const xp_hlo_value *arguments, size_t count);

/* custom: its layouts are not taken.  backend_config may be empty. */
xp_hlo_value xp_hlo_build_custom_call(xp_hlo_body *body, const xp_hlo_custom_call *custom, xp_str backend_config,
                                      const xp_hlo_shape *shape, const xp_hlo_value *operands, size_t count);

#endif
