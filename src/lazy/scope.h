/* Names of nodes: scopes as they were when the node was built, each text once for the life of the process.
 *
 * A thread's scope is asked for at every node while the gate is open, so the last answer is kept and is good as long as
 * the same trace is on top of the stack.
 */
#ifndef XL_SCOPE_H
#define XL_SCOPE_H

#include "base/str.h"
#include "xlaprof/annotate.h"

typedef struct {
  uint64_t hash;
  bool is_prefix;    /* a custom prefix: goes in front of the op type as it stands */
  bool has_no_lines; /* no source lines are written */
  xp_str text;       /* with ':' as '_', and for a scope with a '/' at the end: what stands before the op type */
} xl_scope;

/* What a thread knows of its scope. */
typedef struct {
  uint32_t depth;
  uint64_t tag;
  uint32_t lifetime; /* of the table that the scope is in */
  const xl_scope *scope;
} xl_scope_memory;

/* The scope that is open on the calling thread; NULL: none, or memory is out.  Under the runtime's lock. */
const xl_scope *xl_scope_here(xl_scope_memory *memory);

/* The scope of a node that belongs to the gradient of one in `forward`, while `here` is open: what the two begin with
 * is written once.  Both may be NULL. */
const xl_scope *xl_scope_join(const xl_scope *here, const xl_scope *forward);

/* A custom prefix; NULL when memory is out. */
const xl_scope *xl_scope_prefix(const char *text, bool has_no_lines);

void xl_scopes_end(void);

#endif
