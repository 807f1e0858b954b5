/* Splitting op names.  A name is a path; components are split at '/' outside of parentheses, since JAX writes
 * "jvp(a/b)" for a scope that itself holds a slash.
 */
#include "analyze/op_names.h"

/* Length of the first component of a path.  *balanced turns false where a bracket does not close: every slash counts
 * from there on, so that the rest is not searched again for each component. */
static size_t component_length(xp_str path, bool *balanced)
{
  int depth = 0;
  for (size_t i = 0; *balanced && i < path.len; i++) {
    char c = path.ptr[i];
    if (c == '(') {
      depth++;
    } else if (c == ')' && depth > 0) {
      depth--;
    } else if (c == '/' && depth == 0) {
      return i;
    }
  }
  *balanced = *balanced && depth == 0;
  return *balanced ? path.len : xp_str_find(path, '/', 0);
}

static bool unwrap(xp_str *s, const char *prefix, const char *suffix)
{
  size_t n = strlen(prefix), m = strlen(suffix);
  if (s->len < n + m || !xp_str_starts(*s, prefix) || !xp_str_ends(*s, suffix)) {
    return false;
  }
  *s = xp_str_from(s->ptr + n, s->len - n - m);
  return true;
}

/* A component as it is shown; empty if it is dropped. */
static xp_str shown(xp_str c, bool lazy)
{
  while (unwrap(&c, "transpose(jvp(", "))") || unwrap(&c, "jvp(", ")")) {
  }
  if ((xp_str_starts(c, "jit(") || xp_str_starts(c, "pjit(")) && c.ptr[c.len - 1] == ')') {
    return xp_str_from(NULL, 0);
  }
  if (lazy) {
    size_t digits = 0;
    while (digits < c.len && c.ptr[c.len - 1 - digits] >= '0' && c.ptr[c.len - 1 - digits] <= '9') {
      digits++;
    }
    if (digits && digits < c.len && c.ptr[c.len - 1 - digits] == '.') {
      c.len -= digits + 1;
    }
  }
  return c;
}

/* tf_op ends in ":type"; a colon before the last slash belongs to the name. */
static xp_str without_type(xp_str name)
{
  size_t colon = xp_str_rfind(name, ':'), slash = xp_str_rfind(name, '/');
  return colon < name.len && (slash == name.len || colon > slash) ? xp_str_take(name, colon) : name;
}

static xp_str scope_of_name(xp_str name, bool lazy, bool raw, xp_arena *arena, xp_str *base)
{
  name = without_type(name);
  char *text = xp_arena_alloc(arena, name.len + 1);
  size_t len = 0;
  bool balanced = true;
  for (;;) {
    size_t n = component_length(name, &balanced);
    if (n >= name.len) {
      *base = name;
      return xp_str_from(text, len);
    }
    xp_str c = xp_str_take(name, n);
    c = raw ? c : shown(c, lazy);
    if (c.len) {
      if (len) {
        text[len++] = '/';
      }
      memcpy(text + len, c.ptr, c.len);
      len += c.len;
    }
    name = xp_str_skip(name, n + 1);
  }
}

/* The components that two scopes begin with. */
static xp_str common(xp_str a, xp_str b)
{
  size_t end = 0;
  for (size_t i = 0;; i++) {
    bool a_ends = i == a.len || a.ptr[i] == '/', b_ends = i == b.len || b.ptr[i] == '/';
    if (a_ends && b_ends) {
      end = i;
    }
    if (i == a.len || i == b.len || a.ptr[i] != b.ptr[i]) {
      return xp_str_take(a, end);
    }
  }
}

xp_op_scope xp_op_scope_of(xp_str op_name, bool lazy, bool raw, xp_arena *arena)
{
  xp_op_scope out = {.scoped = false};
  bool first = true;
  while (op_name.len) {
    size_t n = xp_str_find(op_name, ';', 0);
    xp_str name = xp_str_trim(xp_str_take(op_name, n)), base;
    op_name = xp_str_skip(op_name, n + 1);
    if (name.len == 0) {
      continue;
    }
    xp_str scope = scope_of_name(name, lazy, raw, arena, &base);
    if (first) {
      out.scope = scope;
      out.base = base;
      out.scoped = scope.len > 0;
    } else {
      out.scoped = out.scoped && scope.len > 0;
      out.mixed = out.mixed || !xp_str_eq(scope, out.scope);
      out.scope = common(out.scope, scope);
    }
    first = false;
  }
  return out;
}

xp_op_components xp_op_components_of(xp_str op_name, bool lazy)
{
  return (xp_op_components){.rest = op_name, .lazy = lazy, .balanced = true};
}

bool xp_op_components_next(xp_op_components *c, xp_str *raw, xp_str *folded)
{
  c->begins = false;
  for (;;) {
    size_t n = component_length(c->name, &c->balanced);
    if (n < c->name.len) {
      *raw = xp_str_take(c->name, n);
      *folded = shown(*raw, c->lazy);
      c->name = xp_str_skip(c->name, n + 1);
      return true;
    }
    if (c->rest.len == 0) {
      return false;
    }
    n = xp_str_find(c->rest, ';', 0);
    c->name = without_type(xp_str_trim(xp_str_take(c->rest, n)));
    c->rest = xp_str_skip(c->rest, n + 1);
    c->balanced = c->begins = true;
  }
}
