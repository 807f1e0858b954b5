/* From a graph to a program of HLO. */
#ifndef XL_LOWER_H
#define XL_LOWER_H

#include "lazy/graph.h"

enum { XL_COMBINERS = 8 };

/* A computation of two scalars that reductions use, made once for each opcode and type. */
typedef struct {
  xp_hlo_opcode opcode;
  xp_hlo_type type;
  uint32_t computation;
} xl_combiner;

struct xl_lowering {
  xp_arena *arena;
  xp_hlo_builder *builder;
  xp_hlo_body *body;
  xl_combiner combiners[XL_COMBINERS];
  size_t combiner_count;
};

/* The program of a walked graph, in the arena (which has no escape).  name: of the module.  With names, instructions
 * carry op type, op name and source line. */
xp_status xl_lower(const xl_graph *graph, const xl_root *roots, size_t count, const char *name, bool with_names,
                   xp_arena *arena, const xp_hlo_module **module, xp_error *err);

/* What lowering functions need often. */
uint32_t xl_lower_combiner(xl_lowering *to, xp_hlo_opcode opcode, xp_hlo_type type);

/* x converted to a type, if it is of another. */
xp_hlo_value xl_lower_as(xl_lowering *to, xp_hlo_value x, xp_hlo_type type);

/* x broadcast to a shape by torch's rule: dimensions of extent 1 are repeated, missing ones come in front. */
xp_hlo_value xl_lower_broadcast(xl_lowering *to, xp_hlo_value x, const xl_shape *shape);

/* A scalar repeated over a shape. */
xp_hlo_value xl_lower_filled(xl_lowering *to, double value, xp_hlo_type type, const xl_shape *shape);

/* A number over the shape of a value, and of its type. */
xp_hlo_value xl_lower_number_like(xl_lowering *to, double number, xp_hlo_value like);

/* A value as bool: what is not 0 is true. */
xp_hlo_value xl_lower_truth_of(xl_lowering *to, xp_hlo_value x);

/* The sum over dimensions (those go), of any combining opcode whose neutral element is `start`. */
xp_hlo_value xl_lower_reduce(xl_lowering *to, xp_hlo_value x, xp_hlo_opcode opcode, double start, const int64_t *dims,
                             size_t count);

#endif
