/* XLA CPU devices: there is no plane; ops are host events with hlo_op.
 *
 * An op hands its work to a thread pool and goes on until its marker "end: <op>" (whose _c is the _p of the op) starts,
 * if that is later than the end of its event.  Ops of programs that also run on a device plane are launches, not work.
 * A run of a program is what shares a run_id; without run ids (torch_xla) it begins with the first op after an execute
 * call and ends with its "ThunkExecutor::Execute (wait for completion)".
 *
 * Ops and markers are read in one pass, since their stats lie all over the file; ends are put in behind it.
 */
#include "analyze/lanes.h"

#include <stdlib.h>

typedef struct {
  uint64_t key; /* hash of op name and id */
  int64_t start_ps;
} end_marker;

/* An op that waits for its marker. */
typedef struct {
  uint64_t key;
  int64_t start_ps;
  uint32_t device, lane, index;
} pending_op;

/* What is known of the ops of a name: the last program that it was seen in. */
typedef struct {
  uint64_t program;
  uint32_t op, module;
  bool is_set, has_program;
  bool is_launch; /* the program runs on a device plane */
} known_op;

typedef struct {
  xp_device_builder *b;
  uint32_t host;
  const xp_plane *plane;
  known_op *known;          /* by event metadata of the plane */
  uint32_t device;          /* of the last op */
  uint32_t run, run_device; /* of the last op that had one */
  end_marker *ends;
  size_t end_count, end_capacity;
  pending_op *ops;
  size_t op_count, op_capacity;
  xp_id_map run_of; /* ordinal and run id -> run */
} reader;

static uint64_t marker_key(xp_str op, uint64_t id)
{
  return xp_str_hash(op) * 31 + id * 0x9e3779b97f4a7c15u;
}

/* The op goes on until its marker. */
static void put_end(reader *r, const pending_op *op, int64_t marked)
{
  xp_device_data *d = &r->b->all->devices[op->device];
  xp_lane *lane = &d->lanes[op->lane];
  if (marked > lane->end_ps[op->index]) {
    lane->end_ps[op->index] = marked;
    if (lane->run[op->index] != XP_NONE) {
      xp_device_run_extend(&d->runs[lane->run[op->index]], INT64_MAX, marked);
    }
  }
}

/* Most markers follow their op at once: no table is needed for these. */
static bool ends_recent_op(reader *r, uint64_t key, int64_t marked)
{
  enum { RECENT = 8 };
  for (size_t i = r->op_count; i > 0 && r->op_count - i < RECENT; i--) {
    const pending_op *op = &r->ops[i - 1];
    if (op->key == key && op->start_ps <= marked) {
      put_end(r, op, marked);
      r->ops[i - 1] = r->ops[--r->op_count];
      return true;
    }
  }
  return false;
}

static void add_marker(reader *r, const xp_line *line, xp_event_cursor *cursor, size_t i)
{
  static const xp_stat_picker consumer = {.slot = {[XP_KEY_CONSUMER] = 1}};
  xp_stat id;
  xp_stats_pick(cursor, i, &consumer, &id, 1);
  if (id.type == XP_STAT_NONE || !xp_event_has_time(line, i)) {
    return;
  }
  uint64_t key = marker_key(xp_str_skip(xp_event_name(line, i), 5), id.bits); /* behind "end: " */
  if (ends_recent_op(r, key, line->start_ps[i])) {
    return;
  }
  r->ends = xp_arena_grow(r->b->all->arena, r->ends, r->end_count, &r->end_capacity, sizeof *r->ends);
  r->ends[r->end_count++] = (end_marker){key, line->start_ps[i]};
}

static int by_key_and_start(const void *a, const void *b)
{
  const end_marker *x = a, *y = b;
  if (x->key != y->key) {
    return x->key < y->key ? -1 : 1;
  }
  return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

/* Start of the first marker of an op at or after its start; INT64_MIN if there is none.  The markers are sorted. */
static int64_t find_end(const reader *r, const pending_op *op)
{
  const end_marker wanted = {op->key, op->start_ps};
  size_t low = 0, high = r->end_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (by_key_and_start(&r->ends[mid], &wanted) < 0) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low < r->end_count && r->ends[low].key == op->key ? r->ends[low].start_ps : INT64_MIN;
}

/* The run that an op belongs to; that of the last op in most cases. */
static uint32_t run_of(reader *r, xp_device_data *d, const xp_device_stats *s, uint32_t module, int64_t start_ps,
                       int64_t end_ps)
{
  if (!s->has_run_id) {
    return XP_NONE;
  }
  if (r->run != XP_NONE && r->run_device == r->device && d->runs[r->run].run_id == s->run_id) {
    xp_device_run_extend(&d->runs[r->run], start_ps, end_ps);
    return r->run;
  }
  uint32_t *run = xp_id_map_entry(&r->run_of, s->run_id + ((uint64_t)d->ordinal * 0x9e3779b97f4a7c15u << 4));
  if (*run == XP_NONE) {
    *run = xp_device_add_run(
        r->b->all, d,
        (xp_device_run){
            .start_ps = start_ps, .end_ps = end_ps, .run_id = s->run_id, .module = module, .has_run_id = true});
  }
  r->run = *run;
  r->run_device = r->device;
  xp_device_run_extend(&d->runs[*run], start_ps, end_ps);
  return *run;
}

/* The device of an ordinal; that of the last op in most cases. */
static xp_device_data *device_of(reader *r, int64_t ordinal)
{
  xp_devices *all = r->b->all;
  if (r->device == XP_NONE || all->devices[r->device].ordinal != ordinal) {
    r->device = (uint32_t)(xp_cpu_device_of(all, r->host, ordinal) - all->devices);
  }
  return &all->devices[r->device];
}

static bool runs_on_device_plane(const reader *r, const xp_device_stats *s)
{
  return s->has_program ? xp_map_get(&r->b->device_programs, s->program) != XP_NONE
                        : s->hlo_module.len && xp_intern_find(&r->b->device_modules, s->hlo_module) != XP_NONE;
}

/* The numbers of an op; its texts are read only where the op is not known yet. */
static void read_numbers(xp_event_cursor *cursor, size_t i, xp_device_stats *out)
{
  enum { PROGRAM, RUN, ORDINAL, PRODUCER, COUNT };
  static const xp_stat_picker picker = {.slot = {[XP_KEY_PROGRAM_ID] = PROGRAM + 1,
                                                 [XP_KEY_RUN_ID] = RUN + 1,
                                                 [XP_KEY_DEVICE_ORDINAL] = ORDINAL + 1,
                                                 [XP_KEY_PRODUCER] = PRODUCER + 1}};
  xp_stat s[COUNT];
  xp_stats_pick(cursor, i, &picker, s, COUNT);
  *out = (xp_device_stats){.program = (uint64_t)xp_stat_int(&s[PROGRAM], 0),
                           .run_id = (uint64_t)xp_stat_int(&s[RUN], 0),
                           .ordinal = xp_stat_int(&s[ORDINAL], -1),
                           .producer = s[PRODUCER].bits,
                           .has_program = s[PROGRAM].type != XP_STAT_NONE,
                           .has_run_id = s[RUN].type != XP_STAT_NONE,
                           .has_producer = s[PRODUCER].type != XP_STAT_NONE};
}

/* What an op of a name and program is, with the module that its runs are called by. */
static const known_op *look_up(reader *r, const xp_line *line, xp_event_cursor *cursor, size_t i,
                               const xp_device_stats *numbers)
{
  uint32_t meta = line->meta[i] & XP_EVENT_META_MASK;
  known_op *known = &r->known[meta];
  if (known->is_set && known->program == numbers->program && known->has_program == numbers->has_program) {
    return known;
  }
  xp_device_stats s;
  xp_device_stats_read(xp_event_stats(cursor, i), &s);
  *known = (known_op){.is_set = true, .program = s.program, .has_program = s.has_program};
  known->module = xp_devices_module(r->b->all, (xp_module){s.hlo_module, s.program, s.has_program});
  known->is_launch = runs_on_device_plane(r, &s);
  known->op = known->is_launch ? XP_NONE : xp_device_op(r->b, r->host, line, i, &s, XP_ROLE_WORK);
  return known;
}

static void read_op(reader *r, const xp_line *line, xp_event_cursor *cursor, size_t i)
{
  xp_device_stats s;
  read_numbers(cursor, i, &s);
  const known_op *known = look_up(r, line, cursor, i, &s);
  if (known->is_launch) {
    return;
  }
  xp_devices *all = r->b->all;
  xp_device_data *d = device_of(r, s.ordinal < 0 ? 0 : s.ordinal);
  if (xp_device_event_is_lost(d, line, i)) {
    return;
  }
  int64_t start = line->start_ps[i], end = xp_event_end(line, i);
  xp_lane *lane = xp_lane_of(all, d, line);
  if (s.has_producer) {
    r->ops = xp_arena_grow(all->arena, r->ops, r->op_count, &r->op_capacity, sizeof *r->ops);
    r->ops[r->op_count++] = (pending_op){.key = marker_key(xp_event_name(line, i), s.producer),
                                         .start_ps = start,
                                         .device = (uint32_t)(d - all->devices),
                                         .lane = (uint32_t)(lane - d->lanes),
                                         .index = (uint32_t)lane->count};
  }
  xp_device_count_work(d, XP_ROLE_WORK);
  xp_lane_add_end(all, lane, i, known->op, run_of(r, d, &s, known->module, start, end), end);
}

/* Ops are a few of many events: the columns of those that come soon are asked for while others are read. */
static void look_ahead(const xp_line *line, size_t i)
{
  enum { EVENTS_AHEAD = 64 };
  size_t next = i + EVENTS_AHEAD;
  if (next < line->count && (line->meta[next] & (XP_EVENT_HLO_OP | XP_EVENT_FLOW))) {
    __builtin_prefetch(&line->start_ps[next]);
    __builtin_prefetch(&line->dur[next]);
  }
}

static void read_thread(reader *r, const xp_thread *t)
{
  const xp_line *line = t->line;
  xp_event_cursor cursor = xp_event_cursor_open(line);
  if (r->plane != line->plane) {
    r->plane = line->plane;
    r->known = xp_arena_array(r->b->all->arena, line->plane->event_meta_count, sizeof *r->known);
  }
  for (size_t i = 0; (line->flags & (XP_EVENT_HLO_OP | XP_EVENT_FLOW)) && i < line->count; i++) {
    uint32_t flags = line->meta[i];
    look_ahead(line, i);
    if (!(flags & (XP_EVENT_HLO_OP | XP_EVENT_FLOW))) {
      continue;
    }
    if (xp_thread_class(t, i).flags & XP_NAME_OP_END) {
      add_marker(r, line, &cursor, i);
    } else if (flags & XP_EVENT_HLO_OP) {
      read_op(r, line, &cursor, i);
    }
  }
}

static void put_ends(reader *r)
{
  if (r->end_count) {
    qsort(r->ends, r->end_count, sizeof *r->ends, by_key_and_start);
  }
  for (size_t i = 0; i < r->op_count; i++) {
    put_end(r, &r->ops[i], find_end(r, &r->ops[i]));
  }
}

void xp_cpu_devices_read(xp_device_builder *b, uint32_t host)
{
  reader r = {.b = b, .host = host, .device = XP_NONE, .run = XP_NONE};
  xp_id_map_init(&r.run_of, b->all->arena);
  const xp_threads *threads = b->all->threads;
  for (size_t i = 0; i < threads->count; i++) {
    if (threads->threads[i].host == host) {
      read_thread(&r, &threads->threads[i]);
    }
  }
  put_ends(&r);
  xp_id_map_discard(&r.run_of);
  xp_arena_discard(b->all->arena, r.ends, r.end_capacity * sizeof *r.ends);
  xp_arena_discard(b->all->arena, r.ops, r.op_capacity * sizeof *r.ops);
}
