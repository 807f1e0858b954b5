/* Building the outlines of host threads: one pass over the events of every line.
 *
 * Events are sorted by (start, longest first), so a stack gives the nesting: before an event is pushed, what ended at
 * or before its start is popped.  An entry that outlives its parent (which happens where two recorders share a line)
 * keeps that parent; whoever walks outwards skips entries that ended.
 *
 * What lies around an entry is known while it is pushed, and some of it never again: whether it is an annotation of the
 * user, or of the runtime's own making; which execute event is the outermost one.
 */
#include "analyze/threads.h"

enum { MOST_NESTED = 1024 };

typedef struct {
  int64_t end_ps;
  uint32_t entry;
  uint32_t dispatch; /* the outermost execute event around it, or itself; XP_NONE */
  uint32_t scope;    /* the innermost scope around it, or itself, else the step; XP_NONE */
  bool in_runtime;   /* it is something that the runtime does, or lies in it */
} open_entry;

typedef struct {
  xp_threads *all;
  xp_thread *t;
  uint8_t *is_op; /* by event metadata: 0 not looked at, 1 an op, 2 an API call */
  size_t region_capacity, scope_capacity, call_capacity, linked_capacity;
  size_t scopes;       /* annotations of the user on the thread */
  uint32_t last_scope; /* the scope of the last entry */
  open_entry *stack;
  size_t depth, stack_capacity;
} builder;

static void add_region(builder *b, xp_event_cursor *cursor, size_t i)
{
  xp_thread *t = b->t;
  xp_stat id;
  if (!xp_stats_find(xp_event_stats(cursor, i), XP_KEY_CONSUMER, &id)) {
    return;
  }
  t->regions = xp_arena_grow(b->all->arena, t->regions, t->region_count, &b->region_capacity, sizeof *t->regions);
  t->regions[t->region_count++] = (xp_region){t->line->start_ps[i], INT64_MAX, id.bits};
}

static void end_region(builder *b, size_t i)
{
  xp_thread *t = b->t;
  if (t->region_count && t->regions[t->region_count - 1].end_ps == INT64_MAX) {
    t->regions[t->region_count - 1].end_ps = t->line->start_ps[i];
  }
}

/* Links between threads: pool tasks, and events that carry a producer's id. */
static void note_flow(builder *b, xp_event_cursor *cursor, size_t i, xp_name_class class)
{
  if (class.flags & XP_NAME_REGION) {
    add_region(b, cursor, i);
  } else if (class.flags & XP_NAME_REGION_END) {
    end_region(b, i);
  } else if (b->t->line->meta[i] & XP_EVENT_FLOW) {
    xp_stat id, type;
    if (xp_stats_find(xp_event_stats(cursor, i), XP_KEY_PRODUCER, &id)) {
      xp_stats_find(xp_event_stats(cursor, i), XP_KEY_PRODUCER_TYPE, &type);
      xp_threads_add_producer(b->all, b->t, xp_stat_int(&type, 0), id.bits, i);
    }
  }
}

static void add_step_mark(xp_threads *all, const xp_thread *t, uint32_t entry, xp_event_cursor *cursor)
{
  xp_stat num, unfinished;
  xp_step_mark mark = {.thread = t->index, .entry = entry};
  mark.is_unfinished = xp_stats_find(xp_event_stats(cursor, t->event[entry]), XP_KEY_UNFINISHED, &unfinished);
  mark.has_num = xp_stats_find(xp_event_stats(cursor, t->event[entry]), XP_KEY_STEP_NUM, &num);
  mark.num = xp_stat_int(&num, 0);
  all->steps = xp_arena_grow(all->arena, all->steps, all->step_count, &all->step_capacity, sizeof *all->steps);
  all->steps[all->step_count++] = mark;
}

/* ---- entries */

/* The flags that an entry has by itself. */
static uint8_t own_flags(xp_name_class class, bool step)
{
  return (uint8_t)((step ? XP_ENTRY_STEP : 0) | (class.flags & XP_NAME_PROFILER ? XP_ENTRY_PROFILER : 0) |
                   (class.flags & XP_NAME_PJIT ? XP_ENTRY_PJIT : 0) |
                   (!step && class.cause != XP_CAUSE_COUNT ? XP_ENTRY_LISTED : 0));
}

/* Inside of something that the runtime does, names are the runtime's. */
static bool is_runtime(uint8_t flags, xp_cause cause)
{
  bool listed = (flags & XP_ENTRY_LISTED) && cause != XP_CAUSE_INPUT && cause != XP_CAUSE_WAIT;
  return listed || (flags & XP_ENTRY_PJIT);
}

static bool is_scope(uint8_t flags, xp_name_class class)
{
  if (flags & (XP_ENTRY_STEP | XP_ENTRY_PROFILER | XP_ENTRY_PJIT) ||
      class.flags & (XP_NAME_FRAME | XP_NAME_QUALIFIED)) {
    return false;
  }
  return class.cause == XP_CAUSE_COUNT || (class.cause == XP_CAUSE_INPUT && class.flags & XP_NAME_INPUT_SCOPE);
}

/* Of scopes that lie in each other the innermost is shown, and a step only outside of them. */
static uint32_t scope_of(const xp_thread *t, uint32_t entry, uint32_t around)
{
  if (t->flags[entry] & XP_ENTRY_STEP) {
    return around != XP_NONE && (t->flags[around] & XP_ENTRY_SCOPE) ? around : entry;
  }
  return t->flags[entry] & XP_ENTRY_SCOPE ? entry : around;
}

/* The scope of an entry, where it is not that of the entry before. */
static void note_scope(builder *b, uint32_t entry, uint32_t scope)
{
  xp_thread *t = b->t;
  if (scope != b->last_scope) {
    t->scopes = xp_arena_grow(b->all->arena, t->scopes, t->scope_count, &b->scope_capacity, sizeof *t->scopes);
    t->scopes[t->scope_count++] = (xp_scope_run){entry, scope};
    b->last_scope = scope;
  }
}

/* Outermost events do not lie in each other, so that calls are noted in their order. */
static void note_call(builder *b, uint32_t entry)
{
  xp_thread *t = b->t;
  if (t->call_count == 0 || t->calls[t->call_count - 1] != entry) {
    t->calls = xp_arena_grow(b->all->arena, t->calls, t->call_count, &b->call_capacity, sizeof *t->calls);
    t->calls[t->call_count++] = entry;
  }
}

static void note_link(builder *b, uint32_t entry)
{
  xp_thread *t = b->t;
  t->linked = xp_arena_grow(b->all->arena, t->linked, t->linked_count, &b->linked_capacity, sizeof *t->linked);
  t->linked[t->linked_count++] = entry;
}

/* What lies around a lowering event traces. */
static void mark_lowering(xp_thread *t, uint32_t entry)
{
  for (uint32_t p = t->parent[entry]; p != XP_NONE && !(t->flags[p] & XP_ENTRY_LOWERS); p = t->parent[p]) {
    t->flags[p] |= XP_ENTRY_LOWERS;
  }
}

/* Completes an entry by what lies around it (NULL: nothing). */
static open_entry look_around(builder *b, uint32_t entry, xp_name_class class, const open_entry *around)
{
  xp_thread *t = b->t;
  uint8_t flags = t->flags[entry];
  open_entry e = around ? *around : (open_entry){.dispatch = XP_NONE, .scope = XP_NONE};
  e.entry = entry;
  if (!t->is_runtime && !e.in_runtime && is_scope(flags, class)) {
    t->flags[entry] |= XP_ENTRY_SCOPE;
    b->scopes++;
  }
  e.scope = scope_of(t, entry, e.scope);
  if ((flags & XP_ENTRY_LISTED) && class.cause == XP_CAUSE_DISPATCH) {
    e.dispatch = e.dispatch == XP_NONE ? entry : e.dispatch;
    if (class.flags & (XP_NAME_LAUNCH | XP_NAME_EXECUTES)) {
      note_call(b, e.dispatch);
    }
  }
  e.in_runtime = e.in_runtime || is_runtime(flags, class.cause);
  return e;
}

static void push_entry(builder *b, xp_event_cursor *cursor, size_t i, xp_name_class class)
{
  xp_thread *t = b->t;
  int64_t start = t->line->start_ps[i], end = xp_event_end(t->line, i);
  while (b->depth && b->stack[b->depth - 1].end_ps <= start) {
    b->depth--;
  }
  const open_entry *around = b->depth ? &b->stack[b->depth - 1] : NULL;
  bool step = t->line->meta[i] & XP_EVENT_STEP;
  uint32_t n = (uint32_t)t->count++;
  t->overlaps |= around && end > around->end_ps;
  t->event[n] = (uint32_t)i;
  t->parent[n] = around ? around->entry : XP_NONE;
  t->cause[n] = step || class.cause == XP_CAUSE_COUNT ? XP_CAUSE_HOST : (uint8_t) class.cause;
  t->flags[n] = own_flags(class, step);
  open_entry e = look_around(b, n, class, around);
  e.end_ps = end;
  note_scope(b, n, e.scope);
  if (t->line->meta[i] & XP_EVENT_LINK) {
    note_link(b, n);
  }
  if (step) {
    t->has_step = true;
    add_step_mark(b->all, t, n, cursor);
  }
  if (class.flags & XP_NAME_LOWERING) {
    mark_lowering(t, n);
  }
  if (class.flags & XP_NAME_PROFILER) {
    t->has_profiler = true;
  }
  b->all->any_flags |= class.flags;
  if (b->depth == MOST_NESTED) {
    return; /* what lies deeper hangs on the last entry that fits, so that no walk outwards is long */
  }
  if (b->depth == b->stack_capacity) {
    b->stack = xp_arena_grow(b->all->arena, b->stack, b->depth, &b->stack_capacity, sizeof *b->stack);
  }
  b->stack[b->depth++] = e;
}

/* A single annotation on a thread without steps and frames is more likely the runtime's. */
static void drop_lone_scope(xp_thread *t, size_t scopes)
{
  if (scopes != 1 || t->has_step || t->has_frame) {
    return;
  }
  t->flags[t->scopes[0].scope] &= (uint8_t)~XP_ENTRY_SCOPE;
  t->scope_count = 0;
}

/* ---- threads */

/* An event with hlo_op is an op, unless it carries a correlation_id, too: then it is the API call that launches one.
 * All events of a name are alike. */
static bool is_device_op(builder *b, xp_event_cursor *cursor, size_t i)
{
  uint32_t flags = b->t->line->meta[i];
  if (!(flags & XP_EVENT_HLO_OP) || !(flags & XP_EVENT_LINK)) {
    return (flags & XP_EVENT_HLO_OP) != 0;
  }
  uint8_t *known = &b->is_op[flags & XP_EVENT_META_MASK];
  if (!*known) {
    xp_stat id;
    *known = xp_stats_find(xp_event_stats(cursor, i), XP_KEY_CORRELATION_ID, &id) ? 2 : 1;
  }
  return *known == 1;
}

static void build_thread(builder *b)
{
  xp_thread *t = b->t;
  const xp_line *line = t->line;
  xp_arena *arena = b->all->arena;
  xp_event_cursor cursor = xp_event_cursor_open(line);
  size_t count = line->count < XP_NONE ? line->count : XP_NONE - 1;
  t->event = xp_arena_array(arena, count, sizeof *t->event); /* what is never touched costs addresses only */
  t->parent = xp_arena_array(arena, count, sizeof *t->parent);
  t->cause = xp_arena_array(arena, count, sizeof *t->cause);
  t->flags = xp_arena_array(arena, count, sizeof *t->flags);
  for (size_t i = 0; i < count; i++) {
    uint32_t flags = line->meta[i];
    xp_name_class class = xp_thread_class(t, i);
    if ((class.flags & XP_NAME_FRAME) && class.cause == XP_CAUSE_COUNT && !(class.flags & XP_NAME_PROFILER)) {
      t->has_frame = true;
      continue;
    }
    if ((class.flags & XP_NAME_OP_END) || !xp_event_has_time(line, i) ||
        ((flags & XP_EVENT_HLO_OP) && is_device_op(b, &cursor, i))) {
      continue;
    }
    if (flags & XP_EVENT_FLOW || class.flags & XP_NAME_REGION_END) {
      note_flow(b, &cursor, i, class);
    }
    if (line->dur[i] > 0) {
      push_entry(b, &cursor, i, class);
    }
  }
  drop_lone_scope(t, b->scopes);
}

/* The threads that some question is asked of again and again. */
static void list_threads(xp_threads *threads)
{
  threads->step_threads = xp_arena_array(threads->arena, threads->count, sizeof *threads->step_threads);
  threads->autograd_threads = xp_arena_array(threads->arena, threads->count, sizeof *threads->autograd_threads);
  for (size_t i = 0; i < threads->count; i++) {
    const xp_thread *t = &threads->threads[i];
    if (t->has_step) {
      threads->step_threads[threads->step_thread_count++] = t->index;
    }
    if (t->is_autograd) {
      threads->autograd_threads[threads->autograd_thread_count++] = t->index;
    }
  }
}

void xp_threads_build(xp_threads *threads)
{
  builder b = {.all = threads};
  const xp_plane *plane = NULL;
  for (size_t i = 0; i < threads->count; i++) {
    b.t = &threads->threads[i];
    b.depth = b.region_capacity = b.scope_capacity = b.call_capacity = b.linked_capacity = b.scopes = 0;
    b.last_scope = XP_NONE;
    if (b.t->line->plane != plane) {
      plane = b.t->line->plane;
      b.is_op = xp_arena_array(threads->arena, plane->event_meta_count, 1);
    }
    build_thread(&b);
  }
  threads->torch = (threads->any_flags & XP_NAME_TORCH) != 0;
  list_threads(threads);
}
