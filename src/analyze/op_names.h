/* From the op name of an instruction to the scope that it is shown under.
 *
 *   fwd.2/attn.1/aten__bmm            -> fwd/attn     (torch_xla numbers its scopes; the number is folded)
 *   jit(step)/transpose(jvp(mlp))/dot -> mlp          (what JAX wraps around a scope is taken off)
 *   a/x;a/y                           -> a            (a fusion: what its names have in common)
 */
#ifndef XP_ANALYZE_OP_NAMES_H
#define XP_ANALYZE_OP_NAMES_H

#include "base/arena.h"

typedef struct {
  xp_str scope; /* empty: none */
  xp_str base;  /* last component of the (first) name, "aten__mm" */
  bool mixed;   /* a fusion over different scopes: `scope` is what they share */
  bool scoped;  /* every name has a scope (also where mixed leaves none to show) */
} xp_op_scope;

/* lazy: fold ".N" at the end of components (torch_xla).  raw: keep everything but the last component.  The scope is a
 * slice of the arena or of op_name. */
xp_op_scope xp_op_scope_of(xp_str op_name, bool lazy, bool raw, xp_arena *arena);

/* The components of the names in an op name, one after the other; the last of each name is the operation, and left out.
 */
typedef struct {
  xp_str rest; /* names that follow */
  xp_str name; /* what is left of this one */
  bool lazy, balanced;
  bool begins; /* the component that was given last is the first of its name */
} xp_op_components;

xp_op_components xp_op_components_of(xp_str op_name, bool lazy);

/* The next component as it is, and as it is shown (see above; empty if it is dropped).  False at the end. */
bool xp_op_components_next(xp_op_components *components, xp_str *raw, xp_str *folded);

#endif
