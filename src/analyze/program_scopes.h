/* Which scopes the instructions of a program carry, before and after the compiler.
 *
 * Nothing is run: this looks at op names in HLO modules.
 */
#ifndef XP_ANALYZE_PROGRAM_SCOPES_H
#define XP_ANALYZE_PROGRAM_SCOPES_H

#include "hlo/hlo.h"

typedef struct {
  xp_str scope;      /* as shown ("fwd/attn"); empty: in no scope */
  uint64_t source;   /* instructions of the program as it was given */
  uint64_t compiled; /* instructions that the compiled program executes, a fusion as one */
  uint64_t fused;    /* instructions inside of its fusions */
} xp_program_scope;

/* An instruction that the compiled program executes, a fusion as one. */
typedef struct {
  xp_str name, opcode; /* "fusion.3", "fusion" */
  xp_str scope;        /* as above */
  xp_str op_name;      /* as the module has it */
} xp_program_instruction;

typedef struct {
  xp_program_scope *scopes; /* by name; "in no scope" last, if anything is */
  size_t count;
  bool has_source;
  uint64_t source, source_scoped, compiled, compiled_scoped;
  xp_program_instruction *instructions; /* `compiled` of them, in the order of the module */
} xp_program_scopes;

/* Counts both modules; source may be NULL.  Parameters, constants, tuples and the like, which are no work, are left
 * out. lazy: fold the numbers of torch_xla's scopes.  Memory from the arena, which must have an escape; names are
 * borrowed from the modules. */
void xp_program_scopes_count(const xp_hlo_module *source, const xp_hlo_module *compiled, bool lazy, xp_arena *arena,
                             xp_program_scopes *result);

/* True if the program as given had it and nothing of the compiled one carries it. */
static inline bool xp_program_scope_is_lost(const xp_program_scope *scope)
{
  return scope->source > 0 && scope->compiled == 0 && scope->fused == 0;
}

#endif
