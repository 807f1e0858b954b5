/* Self times: the events of a lane nest, and what is inside of another one is taken off that one's time. */
#include "analyze/work_table.h"

#include <stdlib.h>

#include "base/sum.h"

typedef struct {
  int64_t end_ps, self_ps;
  uint32_t op;
} open_op;

typedef struct {
  xp_arena *arena;
  xp_work_table *table;
  open_op *stack;
  size_t depth, capacity;
} nesting;

static void close_op(nesting *n)
{
  const open_op *o = &n->stack[--n->depth];
  xp_sum_add(&n->table->self_ps[o->op], o->self_ps);
}

static void add_lane(nesting *n, const xp_lane *lane)
{
  for (size_t i = 0; i < lane->count; i++) {
    int64_t start = lane->line->start_ps[lane->event[i]], dur = xp_event_dur(lane->line, lane->event[i]);
    int64_t end = xp_event_end(lane->line, lane->event[i]);
    while (n->depth && n->stack[n->depth - 1].end_ps <= start) {
      close_op(n);
    }
    if (n->depth && end <= n->stack[n->depth - 1].end_ps) {
      xp_sum_add(&n->stack[n->depth - 1].self_ps, -dur);
    }
    n->stack = xp_arena_grow(n->arena, n->stack, n->depth, &n->capacity, sizeof *n->stack);
    n->stack[n->depth++] = (open_op){end, dur, lane->op[i]};
    n->table->count[lane->op[i]]++;
    xp_sum_add(&n->table->total_ps[lane->op[i]], dur);
  }
  while (n->depth) {
    close_op(n);
  }
}

void xp_work_table_build(xp_analysis *an, xp_arena *arena)
{
  xp_work_table *t = xp_arena_alloc(arena, sizeof *t);
  t->devices = &an->devices;
  t->count = xp_arena_array(arena, an->devices.op_count, sizeof *t->count);
  t->total_ps = xp_arena_array(arena, an->devices.op_count, sizeof *t->total_ps);
  t->self_ps = xp_arena_array(arena, an->devices.op_count, sizeof *t->self_ps);
  nesting n = {.arena = arena, .table = t};
  for (size_t i = 0; i < an->devices.count; i++) {
    for (size_t l = 0; l < an->devices.devices[i].lane_count; l++) {
      add_lane(&n, &an->devices.devices[i].lanes[l]);
    }
  }
  an->reading->work = t;
  for (size_t o = 0; o < an->devices.op_count; o++) {
    if (an->devices.ops[o].role == XP_ROLE_WORK) {
      xp_sum_add(&an->reading->ops_total_ps, t->self_ps[o]);
      xp_sum_add(&an->reading->ops_attributed_ps, an->devices.ops[o].names_op ? t->self_ps[o] : 0);
    }
  }
}

/* ---- tables */

static int by_self(const void *a, const void *b)
{
  const xp_op_row *x = a, *y = b;
  if (x->self_ps != y->self_ps) {
    return x->self_ps > y->self_ps ? -1 : 1;
  }
  return xp_str_cmp(x->key, y->key);
}

static xp_str key_of(const xp_op *op, xp_ops_by by)
{
  static const xp_str none = XP_STR_INIT("(none)");
  xp_str key = op->op;
  switch (by) {
  case XP_OPS_BY_OP:
    return op->op;
  case XP_OPS_BY_SCOPE:
    key = op->scope;
    break;
  case XP_OPS_BY_CATEGORY:
    key = op->category;
    break;
  case XP_OPS_BY_MODULE:
    key = op->module;
    break;
  case XP_OPS_BY_SOURCE:
    key = op->source;
    break;
  }
  return key.len ? key : none;
}

xp_status xp_reading_ops(xp_reading *reading, xp_ops_by by, xp_op_row **rows, size_t *count, xp_error *err)
{
  const xp_work_table *t = reading->work;
  xp_op_rows *made = &reading->analysis->ops[by];
  jmp_buf escape;
  *rows = made->rows;
  *count = made->count;
  if (made->rows != NULL) {
    return XP_OK;
  }
  if (setjmp(escape)) {
    xp_arena_set_escape(reading->arena, NULL);
    return xp_fail(err, XP_ERR_MEMORY, "out of memory while summing device time");
  }
  xp_arena_set_escape(reading->arena, &escape);
  xp_intern keys;
  xp_intern_init(&keys, reading->arena);
  xp_op_row *out = xp_arena_array(reading->arena, t->devices->op_count, sizeof *out);
  for (size_t o = 0; o < t->devices->op_count; o++) {
    const xp_op *op = &t->devices->ops[o];
    if (op->role != XP_ROLE_WORK) {
      continue;
    }
    uint32_t i = xp_intern_add(&keys, key_of(op, by));
    out[i].key = keys.strings[i];
    out[i].count += t->count[o];
    xp_sum_add(&out[i].total_ps, t->total_ps[o]);
    xp_sum_add(&out[i].self_ps, t->self_ps[o]);
  }
  for (size_t i = 0; i < keys.count; i++) {
    out[i].share = reading->ops_total_ps ? (double)out[i].self_ps / (double)reading->ops_total_ps : 0;
  }
  xp_arena_set_escape(reading->arena, NULL);
  if (keys.count) {
    qsort(out, keys.count, sizeof *out, by_self);
  }
  *made = (xp_op_rows){out, keys.count};
  *rows = out;
  *count = keys.count;
  return XP_OK;
}
