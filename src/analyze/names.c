/* Names on the device: time by scope as a tree, and whether the scopes of the host arrived there. */
#include "analyze/work_table.h"

#include <stdlib.h>

#include "base/sum.h"

typedef struct {
  xp_intern paths;
  xp_scope_row *rows;
  size_t capacity;
} tree;

static xp_scope_row *row_of(xp_analysis *an, tree *t, xp_str path)
{
  size_t known = t->paths.count;
  uint32_t i = xp_intern_add(&t->paths, path);
  if (i == known) {
    t->rows = xp_arena_grow(an->arena, t->rows, known, &t->capacity, sizeof *t->rows);
    t->rows[i] = (xp_scope_row){.scope = path};
  }
  return &t->rows[i];
}

static void add_scope(xp_analysis *an, tree *t, xp_str scope, int64_t self_ps, uint64_t count)
{
  enum { MOST_LEVELS = 128 };
  size_t level = 0;
  for (size_t end = 0; end < scope.len; end++) {
    end = ++level < MOST_LEVELS ? xp_str_find(scope, '/', end) : scope.len;
    xp_scope_row *row = row_of(an, t, xp_str_take(scope, end));
    xp_sum_add(&row->ps, self_ps);
    row->ops += count;
    xp_sum_add(&row->self_ps, end == scope.len ? self_ps : 0);
  }
}

typedef struct {
  xp_scope_row row;
  const tree *t;
} sortable;

static int64_t time_of(const tree *t, xp_str path)
{
  uint32_t i = xp_intern_find(&t->paths, path);
  return i == XP_NONE ? 0 : t->rows[i].ps;
}

/* A parent before its children; siblings (and the subtrees below them) by time. */
static int in_tree_order(const void *a, const void *b)
{
  const sortable *x = a, *y = b;
  xp_str p = x->row.scope, q = y->row.scope;
  for (size_t at = 0;;) {
    size_t pe = xp_str_find(p, '/', at), qe = xp_str_find(q, '/', at);
    xp_str pc = xp_str_take(p, pe), qc = xp_str_take(q, qe);
    if (!xp_str_eq(pc, qc)) {
      int64_t pt = time_of(x->t, pc), qt = time_of(y->t, qc);
      return pt != qt ? (pt > qt ? -1 : 1) : xp_str_cmp(pc, qc);
    }
    if (pe == p.len || qe == q.len) {
      return (pe != p.len) - (qe != q.len);
    }
    at = pe + 1;
  }
}

static void sort_tree(xp_analysis *an, tree *t)
{
  size_t n = t->paths.count;
  sortable *order = xp_arena_array(an->arena, n, sizeof *order);
  for (size_t i = 0; i < n; i++) {
    order[i] = (sortable){t->rows[i], t};
  }
  if (n) {
    qsort(order, n, sizeof *order, in_tree_order);
  }
  xp_names *out = &an->reading->names;
  out->scopes = xp_arena_array(an->arena, n, sizeof *out->scopes);
  out->scope_count = n;
  for (size_t i = 0; i < n; i++) {
    out->scopes[i] = order[i].row;
  }
}

static void add_components(xp_intern *set, xp_str scope)
{
  while (scope.len) {
    size_t n = xp_str_find(scope, '/', 0);
    xp_intern_add(set, xp_str_take(scope, n));
    scope = xp_str_skip(scope, n + 1);
  }
}

static xp_str sanitized(xp_analysis *an, xp_str name)
{
  if (xp_str_find(name, ':', 0) == name.len) {
    return name;
  }
  xp_str copy = xp_arena_copy(an->arena, name);
  for (char *p = (char *)(uintptr_t)copy.ptr; p < copy.ptr + copy.len; p++) {
    *p = *p == ':' ? '_' : *p;
  }
  return copy;
}

static xp_str *only_in(xp_analysis *an, const xp_intern *a, const xp_intern *b, size_t *count)
{
  xp_str *out = xp_arena_array(an->arena, a->count, sizeof *out);
  *count = 0;
  for (size_t i = 0; i < a->count; i++) {
    if (xp_intern_find(b, a->strings[i]) == XP_NONE) {
      out[(*count)++] = a->strings[i];
    }
  }
  return out;
}

static void compare_sides(xp_analysis *an, const xp_intern *device)
{
  xp_names *out = &an->reading->names;
  xp_intern scopes, entered; /* without and with steps */
  xp_intern_init(&scopes, an->arena);
  xp_intern_init(&entered, an->arena);
  for (size_t i = 0; i < an->threads.count; i++) {
    const xp_thread *t = &an->threads.threads[i];
    for (uint32_t e = 0; e < t->count; e++) {
      if (t->flags[e] & (XP_ENTRY_SCOPE | XP_ENTRY_STEP)) {
        xp_str name = sanitized(an, xp_entry_name(t, e));
        xp_intern_add(&entered, name);
        if (t->flags[e] & XP_ENTRY_SCOPE) {
          xp_intern_add(&scopes, name);
        }
      }
    }
  }
  out->host_only = only_in(an, &scopes, device, &out->host_only_count);
  out->device_only = only_in(an, device, &entered, &out->device_only_count);
  out->is_annotated = entered.count > 0;
  if (out->named_ps) {
    out->gate = XP_GATE_ON;
  } else if (out->device_ps && out->is_annotated && (an->devices.lazy || an->threads.torch)) {
    out->gate = XP_GATE_OFF;
  }
}

void xp_names_build(xp_analysis *an)
{
  const xp_work_table *table = an->reading->work;
  xp_names *out = &an->reading->names;
  tree t = {0};
  xp_intern device;
  xp_intern_init(&t.paths, an->arena);
  xp_intern_init(&device, an->arena);
  for (size_t o = 0; o < an->devices.op_count; o++) {
    const xp_op *op = &an->devices.ops[o];
    if (op->role != XP_ROLE_WORK) {
      continue;
    }
    xp_sum_add(&out->device_ps, table->self_ps[o]);
    xp_sum_add(&out->named_ps, op->scoped ? table->self_ps[o] : 0);
    xp_sum_add(&out->mixed_ps, op->mixed ? table->self_ps[o] : 0);
    if (op->scoped) {
      add_scope(an, &t, op->scope, table->self_ps[o], table->count[o]);
      add_components(&device, op->folded);
    }
  }
  out->unnamed_ps = out->device_ps - out->named_ps;
  sort_tree(an, &t);
  compare_sides(an, &device);
}
