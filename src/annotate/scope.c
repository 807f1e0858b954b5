/* The scope as text, numbered as torch_xla does.
 *
 * A scope's number counts the scopes that were opened inside one instance of its parent, whatever their names.  So
 * every entry counts its children, and entry 0 those of the thread (trace.c).  A step whose barrier runs has no scope
 * any more, though its entry is there and counts in place of its parent.
 */
#include "annotate/trace.h"

#include <stdio.h>

static bool has_scope(const xp_entry *entry)
{
  return !(entry->tag & XP_ENTRY_NO_SCOPE);
}

xp_str xp_entry_text(const xp_entry *entry)
{
  xp_str text = entry->tag & XP_ENTRY_COPIED ? xp_str_from(entry->name, entry->len) : xp_str_c(entry->name);
  return text.len > 0 ? text : xp_str_c("(no name)");
}

/* A text that is cut where its room ends and still knows its whole length. */
typedef struct {
  char *text;
  size_t room, len;
} cut_text;

static void append(cut_text *to, xp_str part)
{
  if (to->len < to->room) {
    size_t free_bytes = to->room - to->len;
    memcpy(to->text + to->len, part.ptr, part.len < free_bytes ? part.len : free_bytes);
  }
  to->len += part.len;
}

static size_t write_scope(char *text, size_t room, bool is_numbered)
{
  const xp_tracer *self = xp_tracer_here();
  cut_text scope = {text, room > 0 ? room - 1 : 0, 0};
  for (uint32_t i = 1; self != NULL && i <= self->depth; i++) {
    const xp_entry *entry = &self->stack[i];
    if (has_scope(entry)) {
      if (scope.len > 0) {
        append(&scope, xp_str_c("/"));
      }
      append(&scope, xp_entry_text(entry));
    }
    if (has_scope(entry) && is_numbered) {
      char number[16];
      int digits = snprintf(number, sizeof number, ".%u", (uint32_t)entry->numbers);
      append(&scope, xp_str_from(number, (size_t)digits));
    }
  }
  if (room > 0) {
    text[scope.len < room ? scope.len : room - 1] = '\0';
  }
  return scope.len;
}

size_t xp_scope_current(char *text, size_t room)
{
  return write_scope(text, room, true);
}

size_t xp_scope_names(char *text, size_t room)
{
  return write_scope(text, room, false);
}

bool xp_step_current(xp_open_step *step)
{
  const xp_tracer *self = xp_tracer_here();
  for (uint32_t i = self != NULL ? self->depth : 0; i > 0; i--) {
    const xp_entry *entry = &self->stack[i];
    if (entry->tag & XP_ENTRY_STEP) {
      const xp_str name = xp_entry_text(entry);
      *step = (xp_open_step){name.ptr, name.len, entry->step_number, (uint32_t)entry->tag, entry->place};
      return true;
    }
  }
  return false;
}

size_t xp_scope_depth(void)
{
  const xp_tracer *self = xp_tracer_here();
  size_t depth = 0;
  for (uint32_t i = 1; self != NULL && i <= self->depth; i++) {
    depth += has_scope(&self->stack[i]);
  }
  return depth;
}

xp_status xp_scope_reset(xp_error *err)
{
  if (xp_scope_depth() > 0) {
    char scope[512];
    xp_scope_current(scope, sizeof scope);
    return xp_fail(err, XP_ERR_USAGE, "Expecting scope to be empty but it is %s", scope);
  }
  xp_tracer *self = xp_tracer_here();
  for (uint32_t i = 0; self != NULL && i <= self->depth; i++) {
    self->stack[i].numbers %= XP_ENTRY_CHILD;
  }
  return XP_OK;
}
