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

#endif
