/* First the names that matter: the step, the scopes that the caller lists, and the scopes that threads of the host open
 * inside the step.  Then one walk over what ran looks each component of each op name up among them.
 */
#include "analyze/check_parts.h"

#include <stdlib.h>

#include "analyze/op_names.h"
#include "analyze/work_table.h"
#include "base/sum.h"

typedef struct {
  const xp_analysis *an;
  xp_arena *arena;
  bool lazy;
  xp_intern known; /* names as they stand in op names: ':' is '_' */
  xp_checked_name *names;
  uint32_t *last_op; /* that was counted for a name, plus 1 */
  int64_t *most_ps;  /* of one instruction */
  size_t most_parts; /* components of the longest name */
  size_t capacity, last_capacity, most_capacity;
} table;

enum {
  MOST_PARTS = 16
}; /* components of a name that are looked for; without a limit deep names would cost the square */

/* ---- which names */

static xp_str as_in_op_names(xp_str name, xp_arena *arena)
{
  xp_str copy = xp_arena_copy(arena, name);
  for (char *p = (char *)(uintptr_t)copy.ptr; p < copy.ptr + copy.len; p++) {
    *p = *p == ':' ? '_' : *p;
  }
  return copy;
}

static size_t count_parts(xp_str name)
{
  size_t parts = 1;
  for (size_t at = xp_str_find(name, '/', 0); at < name.len; at = xp_str_find(name, '/', at + 1)) {
    parts++;
  }
  return parts;
}

static xp_checked_name *row_of(table *t, xp_str name)
{
  size_t count = t->known.count;
  uint32_t i = xp_intern_add(&t->known, as_in_op_names(name, t->arena));
  if (i == count) {
    t->names = xp_arena_grow(t->arena, t->names, count, &t->capacity, sizeof *t->names);
    t->last_op = xp_arena_grow(t->arena, t->last_op, count, &t->last_capacity, sizeof *t->last_op);
    t->most_ps = xp_arena_grow(t->arena, t->most_ps, count, &t->most_capacity, sizeof *t->most_ps);
    t->names[i] = (xp_checked_name){.name = name};
    t->last_op[i] = 0;
    t->most_ps[i] = INT64_MIN;
    size_t parts = count_parts(name);
    t->most_parts = parts > t->most_parts && parts <= MOST_PARTS ? parts : t->most_parts;
  }
  return &t->names[i];
}

static void add_listed(table *t, xp_str list)
{
  while (list.len > 0) {
    size_t end = xp_str_find(list, ',', 0);
    xp_str name = xp_str_trim(xp_str_take(list, end));
    if (name.len > 0) {
      row_of(t, name)->is_required = true;
    }
    list = xp_str_skip(list, end + 1);
  }
}

/* Scopes of a thread whose parents reach up to the step.  The name of the step is the first of the table. */
static void add_thread(table *t, const xp_thread *thread)
{
  bool *inside = xp_arena_array(t->arena, thread->count, sizeof *inside);
  for (uint32_t e = 0; e < thread->count; e++) {
    uint32_t parent = thread->parent[e];
    bool is_named = thread->flags[e] & (XP_ENTRY_SCOPE | XP_ENTRY_STEP);
    xp_str name = is_named ? xp_str_trim(xp_entry_name(thread, e)) : xp_str_c("");
    bool is_step = is_named && xp_str_eq(name, t->names[0].name);
    inside[e] = is_step || (parent != XP_NONE && inside[parent]);
    if (is_step) {
      t->names[0].entered++;
    } else if (inside[e] && (thread->flags[e] & XP_ENTRY_SCOPE)) {
      row_of(t, name)->entered++;
    }
  }
  xp_arena_discard(t->arena, inside, thread->count * sizeof *inside);
}

/* ---- who carries them */

static void count_for(table *t, uint32_t name, uint32_t o)
{
  const xp_op *op = &t->an->devices.ops[o];
  const xp_work_table *work = t->an->reading->work;
  xp_checked_name *row = &t->names[name];
  if (t->last_op[name] == o + 1) {
    return;
  }
  t->last_op[name] = o + 1;
  row->instructions++;
  row->runs += work->count[o];
  xp_sum_add(&row->ps, work->self_ps[o]);
  if (work->self_ps[o] > t->most_ps[name]) {
    t->most_ps[name] = work->self_ps[o];
    row->op = op->op;
    row->op_name = op->op_name;
  }
}

/* The components of one name so far, with slashes between them. */
typedef struct {
  char *text;
  size_t len;
  size_t *starts;
  size_t count;
} path;

/* Room for every op name. */
static path path_of(xp_arena *arena, const xp_devices *devices)
{
  size_t longest = 0, most = 0;
  for (uint32_t o = 0; o < devices->op_count; o++) {
    xp_str name = devices->ops[o].op_name;
    size_t parts = count_parts(name);
    longest = name.len > longest ? name.len : longest;
    most = parts > most ? parts : most;
  }
  return (path){.text = xp_arena_alloc(arena, longest), .starts = xp_arena_array(arena, most, sizeof(size_t))};
}

/* Appends a component, and looks up all that end with it. */
static void count_component(table *t, path *p, xp_str component, uint32_t o)
{
  if (component.len == 0) {
    return;
  }
  if (p->count > 0) {
    p->text[p->len++] = '/';
  }
  p->starts[p->count++] = p->len;
  memcpy(p->text + p->len, component.ptr, component.len);
  p->len += component.len;
  for (size_t parts = 1; parts <= t->most_parts && parts <= p->count; parts++) {
    size_t start = p->starts[p->count - parts];
    uint32_t name = xp_intern_find(&t->known, xp_str_from(p->text + start, p->len - start));
    if (name != XP_NONE) {
      count_for(t, name, o);
    }
  }
}

static void count_op(table *t, path *as_is, path *as_shown, uint32_t o)
{
  xp_op_components at = xp_op_components_of(t->an->devices.ops[o].op_name, t->lazy);
  xp_str raw, folded;
  while (xp_op_components_next(&at, &raw, &folded)) {
    if (at.begins) {
      as_is->len = as_is->count = as_shown->len = as_shown->count = 0;
    }
    count_component(t, as_is, raw, o);
    count_component(t, as_shown, folded, o);
  }
}

/* JAX names a program after the function that it compiles. */
static bool is_of_jax(const xp_op *op)
{
  return xp_str_starts(op->op_name, "jit(") || xp_str_starts(op->op_name, "pjit(") ||
         xp_str_starts(op->module, "jit_") || xp_str_starts(op->module, "pjit_");
}

static void count_work(table *t, xp_names_check *check)
{
  const xp_devices *devices = &t->an->devices;
  path as_is = path_of(t->arena, devices), as_shown = path_of(t->arena, devices);
  bool jax = false;
  for (uint32_t o = 0; o < devices->op_count; o++) {
    const xp_op *op = &devices->ops[o];
    if (op->role != XP_ROLE_WORK || op->leaf_input || t->an->reading->work->count[o] == 0) {
      continue;
    }
    check->instructions++;
    check->scoped += op->scoped;
    jax = jax || is_of_jax(op);
    count_op(t, &as_is, &as_shown, o);
  }
  check->frontend = t->lazy ? XP_FRONTEND_TORCH_XLA : jax ? XP_FRONTEND_JAX : XP_FRONTEND_UNKNOWN;
}

/* ---- the result */

static int rank_of(const xp_checked_name *row)
{
  return row->instructions > 0 ? 1 : row->is_required ? 0 : 2;
}

static int in_order(const void *a, const void *b)
{
  const xp_checked_name *x = a, *y = b;
  int rank = rank_of(x) - rank_of(y);
  if (rank == 0 && x->ps != y->ps) {
    return x->ps > y->ps ? -1 : 1;
  }
  return rank != 0 ? rank : xp_str_cmp(x->name, y->name);
}

void xp_names_check_run(const xp_reading *reading, const xp_check_options *options, xp_arena *arena,
                        xp_names_check *check)
{
  const xp_analysis *an = reading->analysis;
  table t = {.an = an, .arena = arena, .lazy = an->devices.lazy || an->threads.torch};
  xp_intern_init(&t.known, arena);
  row_of(&t, xp_str_trim(options->step));
  add_listed(&t, options->scopes);
  for (size_t i = 0; i < an->threads.count; i++) {
    add_thread(&t, &an->threads.threads[i]);
  }
  count_work(&t, check);
  check->step = t.names[0];
  check->step.is_required = check->frontend != XP_FRONTEND_JAX || check->step.entered == 0;
  check->scopes = t.names + 1;
  check->scope_count = t.known.count - 1;
  if (check->scope_count > 0) {
    qsort(check->scopes, check->scope_count, sizeof *check->scopes, in_order);
  }
  check->ok = check->instructions > 0 && (check->step.instructions > 0 || !check->step.is_required) &&
              (check->scope_count == 0 || rank_of(&check->scopes[0]) > 0);
}
