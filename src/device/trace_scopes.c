/* Events are written at their start and made longer while they go on, so they lie in the order of their starts.  For
 * each operation the open scopes are compared with its own, from the outermost on: as far as both agree they go on,
 * behind that new ones begin.
 */
#include "device/trace_scopes.h"

/* Takes the next part of a name; false at its end. */
static bool next_part(xp_str *rest, xp_str *part)
{
  if (rest->len == 0) {
    return false;
  }
  size_t slash = xp_str_find(*rest, '/', 0);
  *part = xp_str_take(*rest, slash);
  *rest = xp_str_skip(*rest, slash + 1);
  return true;
}

static bool add_event(xp_dev_scopes *scopes, xp_dev_scope_line *line, xp_dev_scope_event event, size_t *index)
{
  xp_dev_scope_event *events = xp_arena_grow(scopes->arena, line->events, line->count, &line->room, sizeof *events);
  if (events == NULL) {
    scopes->failed = true;
    return false;
  }
  line->events = events;
  *index = line->count;
  events[line->count++] = event;
  return true;
}

static void add_scopes(xp_dev_scopes *scopes, xp_str names, uint32_t run, int64_t start_ps, int64_t end_ps)
{
  xp_str part;
  size_t depth = 0;
  bool agrees = scopes->run == run;
  while (depth < XP_DEV_MAX_SCOPES && next_part(&names, &part)) {
    xp_dev_scope_event *open = depth < scopes->depth ? &scopes->scopes.events[scopes->open[depth]] : NULL;
    agrees = agrees && open != NULL && xp_str_eq(open->name, part);
    if (agrees) {
      open->end_ps = end_ps;
    } else if (!add_event(scopes, &scopes->scopes, (xp_dev_scope_event){part, part, start_ps, end_ps},
                          &scopes->open[depth])) {
      return;
    }
    depth++;
  }
  scopes->depth = depth;
}

static void add_op(xp_dev_scopes *scopes, xp_str name, xp_str display, uint32_t run, int64_t start_ps, int64_t end_ps)
{
  xp_dev_scope_event *open = scopes->has_op ? &scopes->ops.events[scopes->open_op] : NULL;
  if (open != NULL && scopes->run == run && xp_str_eq(open->name, name)) {
    open->end_ps = end_ps;
    return;
  }
  scopes->has_op =
      add_event(scopes, &scopes->ops, (xp_dev_scope_event){name, display, start_ps, end_ps}, &scopes->open_op);
}

void xp_dev_scopes_add(xp_dev_scopes *scopes, xp_str op_name, uint32_t run, int64_t start_ps, int64_t end_ps)
{
  if (op_name.len == 0) { /* nameless: nothing goes on over it */
    scopes->depth = 0;
    scopes->has_op = false;
    return;
  }
  size_t slash = xp_str_rfind(op_name, '/');
  bool has_scopes = slash < op_name.len;
  add_scopes(scopes, has_scopes ? xp_str_take(op_name, slash) : xp_str_from(NULL, 0), run, start_ps, end_ps);
  add_op(scopes, op_name, has_scopes ? xp_str_skip(op_name, slash + 1) : op_name, run, start_ps, end_ps);
  scopes->run = run;
}
