/* Building the outlines of host threads: one pass over the events of every line.
 *
 * Events are sorted by (start, longest first), so a stack gives the nesting: before an event is pushed, what ended at
 * or before its start is popped.  An entry that outlives its parent (which happens where two recorders share a line)
 * keeps that parent; whoever walks outwards skips entries that ended.
 */
#define _GNU_SOURCE
#include "analyze/threads.h"

#include <regex.h>

enum { MOST_NESTED = 1024 };

typedef struct {
  xp_threads *all;
  xp_thread *t;
  uint8_t *is_op; /* by event metadata: 0 not looked at, 1 an op, 2 an API call */
  size_t region_capacity;
  uint32_t *stack;
  size_t depth, stack_capacity;
} builder;

static bool is_host_plane(xp_str name)
{
  return xp_str_starts(name, "/host:") && !xp_str_is(name, "/host:metadata") && !xp_str_is(name, "/host:tfstreamz") &&
         !xp_str_starts(name, "/host:__");
}

static bool regex_matches(const void *regex, xp_str name, xp_arena *arena)
{
  regmatch_t match = {0, (regoff_t)name.len};
  const char *text = xp_arena_copy(arena, name).ptr; /* some regexec look for a NUL, although they are told the end */
  return name.len < INT32_MAX && regexec(regex, text, 1, &match, REG_STARTEND) == 0 && match.rm_so == 0 &&
         match.rm_eo == (regoff_t)name.len;
}

static xp_name_class *classify_plane(const xp_plane *plane, const void *input_regex, xp_arena *arena)
{
  xp_name_class *classes = xp_arena_array(arena, plane->event_meta_count, sizeof *classes);
  for (size_t i = 0; i < plane->event_meta_count; i++) {
    xp_str name = plane->event_meta[i].name;
    classes[i] = xp_name_classify(name);
    if (input_regex && classes[i].cause == XP_CAUSE_COUNT && regex_matches(input_regex, name, arena)) {
      classes[i].cause = XP_CAUSE_INPUT;
      classes[i].flags |= XP_NAME_INPUT_SCOPE;
    }
  }
  return classes;
}

static uint64_t producer_key(uint32_t host, int64_t type, uint64_t id)
{
  return (id * 0x9e3779b97f4a7c15u) ^ ((uint64_t)type << 48) ^ ((uint64_t)host << 56);
}

static void add_producer(xp_threads *all, const xp_thread *t, int64_t type, uint64_t id, size_t event)
{
  xp_producer p = {t->index, t->line->start_ps[event], xp_event_end(t->line, event)};
  all->producers =
      xp_arena_grow(all->arena, all->producers, all->producer_count, &all->producer_capacity, sizeof *all->producers);
  all->older = xp_arena_grow(all->arena, all->older, all->producer_count, &all->older_capacity, sizeof *all->older);
  uint64_t key = producer_key(t->host, type, id);
  all->producers[all->producer_count] = p;
  all->older[all->producer_count] = xp_map_get(&all->producer_of, key);
  xp_map_put(&all->producer_of, key, (uint32_t)all->producer_count);
  all->producer_count++;
}

const xp_producer *xp_threads_producer(const xp_threads *threads, uint32_t host, int64_t type, uint64_t id,
                                       int64_t not_after_ps)
{
  const xp_producer *best = NULL;
  uint32_t i = xp_map_get(&threads->producer_of, producer_key(host, type, id));
  for (int steps = 0; i != XP_NONE && steps < 64; i = threads->older[i], steps++) {
    const xp_producer *p = &threads->producers[i];
    if (p->time_ps <= not_after_ps && (!best || p->time_ps > best->time_ps)) {
      best = p;
    }
  }
  return best;
}

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
      add_producer(b->all, b->t, xp_stat_int(&type, 0), id.bits, i);
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

static void push_entry(builder *b, xp_event_cursor *cursor, size_t i, xp_name_class class)
{
  xp_thread *t = b->t;
  int64_t start = t->line->start_ps[i];
  while (b->depth && xp_entry_end(t, b->stack[b->depth - 1]) <= start) {
    b->depth--;
  }
  bool step = t->line->meta[i] & XP_EVENT_STEP;
  size_t n = t->count++;
  t->overlaps |= b->depth && xp_event_end(t->line, i) > xp_entry_end(t, b->stack[b->depth - 1]);
  t->event[n] = (uint32_t)i;
  t->parent[n] = b->depth ? b->stack[b->depth - 1] : XP_NONE;
  t->cause[n] = step || class.cause == XP_CAUSE_COUNT ? XP_CAUSE_HOST : (uint8_t) class.cause;
  t->flags[n] = (uint8_t)((step ? XP_ENTRY_STEP : 0) | (class.flags & XP_NAME_PROFILER ? XP_ENTRY_PROFILER : 0) |
                          (class.flags & XP_NAME_PJIT ? XP_ENTRY_PJIT : 0) |
                          (!step && class.cause != XP_CAUSE_COUNT ? XP_ENTRY_LISTED : 0));
  if (step) {
    t->has_step = true;
    add_step_mark(b->all, t, (uint32_t)n, cursor);
  }
  t->has_profiler |= (class.flags & XP_NAME_PROFILER) != 0;
  b->all->any_flags |= class.flags;
  if (b->depth == MOST_NESTED) {
    return; /* what lies deeper hangs on the last entry that fits, so that no walk outwards is long */
  }
  if (b->depth == b->stack_capacity) {
    b->stack = xp_arena_grow(b->all->arena, b->stack, b->depth, &b->stack_capacity, sizeof *b->stack);
  }
  b->stack[b->depth++] = (uint32_t)n;
}

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

void xp_threads_open(xp_threads *threads, const xp_capture *capture, const void *input_regex, xp_arena *arena)
{
  *threads = (xp_threads){.arena = arena, .capture = capture};
  xp_map_init(&threads->producer_of, arena);
  size_t lines = 0;
  for (size_t h = 0; h < capture->host_count; h++) {
    for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
      lines += capture->hosts[h].planes[p].line_count;
    }
  }
  threads->threads = xp_arena_array(arena, lines, sizeof *threads->threads);
  for (size_t h = 0; h < capture->host_count; h++) {
    for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
      const xp_plane *plane = &capture->hosts[h].planes[p];
      if (!is_host_plane(plane->name)) {
        continue;
      }
      const xp_name_class *classes = classify_plane(plane, input_regex, arena);
      for (size_t l = 0; l < plane->line_count; l++) {
        xp_thread *t = &threads->threads[threads->count];
        *t = (xp_thread){.line = &plane->lines[l],
                         .classes = classes,
                         .index = (uint32_t)threads->count,
                         .host = (uint32_t)h,
                         .partner = (uint32_t)threads->count};
        t->is_autograd = xp_str_starts(t->line->name, "pt_autograd_");
        t->is_api = xp_str_starts(t->line->name, "Host Threads/");
        t->is_runtime = xp_thread_is_runtime(t->line->name);
        threads->count++;
      }
    }
  }
}

void xp_threads_build(xp_threads *threads)
{
  builder b = {.all = threads};
  const xp_plane *plane = NULL;
  for (size_t i = 0; i < threads->count; i++) {
    b.t = &threads->threads[i];
    b.depth = b.region_capacity = 0;
    if (b.t->line->plane != plane) {
      plane = b.t->line->plane;
      b.is_op = xp_arena_array(threads->arena, plane->event_meta_count, 1);
    }
    build_thread(&b);
  }
  threads->torch = (threads->any_flags & XP_NAME_TORCH) != 0;
  list_threads(threads);
}

/* ---- looking things up */

uint32_t xp_thread_first_from(const xp_thread *t, int64_t time_ps)
{
  size_t low = 0, high = t->count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (xp_entry_start(t, (uint32_t)mid) < time_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return (uint32_t)low;
}

uint32_t xp_thread_outer(const xp_thread *t, uint32_t entry, int64_t time_ps)
{
  do {
    entry = t->parent[entry];
  } while (entry != XP_NONE && xp_entry_end(t, entry) <= time_ps);
  return entry;
}

uint32_t xp_thread_innermost(const xp_thread *t, int64_t time_ps)
{
  uint32_t next = xp_thread_first_from(t, time_ps == INT64_MAX ? time_ps : time_ps + 1);
  if (next == 0) {
    return XP_NONE;
  }
  return xp_entry_end(t, next - 1) > time_ps ? next - 1 : xp_thread_outer(t, next - 1, time_ps);
}

xp_str xp_thread_scope(const xp_thread *t, int64_t time_ps)
{
  return xp_thread_scope_from(t, xp_thread_innermost(t, time_ps), time_ps);
}

xp_str xp_thread_scope_from(const xp_thread *t, uint32_t innermost, int64_t time_ps)
{
  xp_str step = {NULL, 0};
  if (innermost == XP_NONE) {
    return step;
  }
  if (!t->overlaps && t->scope) {
    uint32_t scope = t->scope[innermost];
    return scope == XP_NONE ? step : xp_entry_name(t, scope);
  }
  for (uint32_t e = innermost; e != XP_NONE; e = xp_thread_outer(t, e, time_ps)) {
    if (t->flags[e] & XP_ENTRY_SCOPE) {
      return xp_entry_name(t, e);
    }
    if ((t->flags[e] & XP_ENTRY_STEP) && !step.ptr) {
      step = xp_entry_name(t, e);
    }
  }
  return step;
}

const xp_region *xp_thread_region(const xp_thread *t, int64_t time_ps)
{
  size_t low = 0, high = t->region_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (t->regions[mid].start_ps <= time_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low && t->regions[low - 1].end_ps >= time_ps ? &t->regions[low - 1] : NULL;
}
