/* Lines that follow from the names of operations: the scopes in them, nested, and the framework's operations.
 *
 * The name `step/fwd/aten__addmm` says that the framework's operation aten__addmm was called within the scopes step and
 * fwd.  Operations that follow each other within a scope make one event of it; an event never reaches from one
 * execution into another, nor over a pause of more than twice its last operation.
 */
#ifndef XP_DEVICE_TRACE_SCOPES_H
#define XP_DEVICE_TRACE_SCOPES_H

#include "base/arena.h"

typedef struct {
  xp_str name;    /* one scope, or a whole operation's name */
  xp_str display; /* the last part of an operation's name */
  int64_t start_ps, end_ps;
} xp_dev_scope_event;

typedef struct {
  xp_dev_scope_event *events; /* by start; an outer scope before an inner one */
  size_t count, room;
} xp_dev_scope_line;

enum { XP_DEV_MAX_SCOPES = 64 };

/* The two lines, and what is open on them.  Begin with {.arena = arena}; names are borrowed. */
typedef struct {
  xp_arena *arena;
  xp_dev_scope_line scopes, ops;
  size_t open[XP_DEV_MAX_SCOPES]; /* events of the scopes that may go on, from the outermost */
  size_t depth;
  size_t open_op; /* of ops, if has_op */
  bool has_op;
  uint32_t run; /* of the last operation */
  bool failed;  /* memory ran out */
} xp_dev_scopes;

/* The next operation of a device, in the order of time. */
void xp_dev_scopes_add(xp_dev_scopes *scopes, xp_str op_name, uint32_t run, int64_t start_ps, int64_t end_ps);

#endif
