/* XLA CPU devices: there is no plane; ops are host events with hlo_op.
 *
 * An op hands its work to a thread pool and goes on until its marker "end: <op>" (whose _c is the _p of the op) starts, if
 * that is later than the end of its event.  Ops of programs that also run on a device plane are launches, not work.
 * A run of a program is what shares a run_id; without run ids (torch_xla) it begins with the first op after an execute
 * call and ends with its "ThunkExecutor::Execute (wait for completion)".
 */
#include "analyze/lanes.h"

#include <stdlib.h>

typedef struct {
  uint64_t key; /* hash of op name and id */
  int64_t start_ps;
} end_marker;

typedef struct {
  xp_device_builder *b;
  uint32_t host;
  end_marker *ends;
  size_t end_count, end_capacity;
  xp_map run_of; /* hash(ordinal, run id) -> run */
} reader;

static uint64_t marker_key(xp_str op, uint64_t id)
{
  return xp_str_hash(op) * 31 + id * 0x9e3779b97f4a7c15u;
}

static int by_key(const void *a, const void *b)
{
  const end_marker *x = a, *y = b;
  if (x->key != y->key) {
    return x->key < y->key ? -1 : 1;
  }
  return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static const xp_threads *threads_of(const reader *r)
{
  return r->b->all->threads;
}

static void collect_ends(reader *r, const xp_line *line)
{
  xp_arena *arena = r->b->all->arena;
  xp_event_cursor cursor = xp_event_cursor_open(line);
  for (size_t i = 0; i < line->count; i++) {
    xp_stat id;
    if (!(line->meta[i] & XP_EVENT_FLOW) || !(xp_threads_class(threads_of(r), line, i).flags & XP_NAME_OP_END) ||
        !xp_stats_find(xp_event_stats(&cursor, i), XP_KEY_CONSUMER, &id)) {
      continue;
    }
    r->ends = xp_arena_grow(arena, r->ends, r->end_count, &r->end_capacity, sizeof *r->ends);
    r->ends[r->end_count++] = (end_marker){marker_key(xp_str_skip(xp_event_name(line, i), 5), id.bits),
                                           line->start_ps[i]};
  }
}

/* Start of the first marker of an op at or after its start; INT64_MIN if there is none. */
static int64_t find_end(const reader *r, xp_str op, uint64_t id, int64_t start_ps)
{
  uint64_t key = marker_key(op, id);
  size_t low = 0, high = r->end_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    const end_marker *m = &r->ends[mid];
    if (m->key < key || (m->key == key && m->start_ps < start_ps)) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low < r->end_count && r->ends[low].key == key ? r->ends[low].start_ps : INT64_MIN;
}

static uint32_t run_of(reader *r, xp_device_data *d, const xp_device_stats *s, int64_t start_ps, int64_t end_ps)
{
  if (!s->has_run_id) {
    return XP_NONE;
  }
  uint64_t key = s->run_id * 0x9e3779b97f4a7c15u + (uint64_t)d->ordinal;
  uint32_t run = xp_map_get(&r->run_of, key);
  if (run == XP_NONE) {
    run = xp_device_add_run(r->b->all, d,
                            (xp_device_run){.start_ps = start_ps,
                                            .end_ps = end_ps,
                                            .run_id = s->run_id,
                                            .has_run_id = true,
                                            .name = s->hlo_module,
                                            .program = s->program,
                                            .has_program = s->has_program,
                                            .has_work = true});
    xp_map_put(&r->run_of, key, run);
  }
  xp_device_run_extend(&d->runs[run], start_ps, end_ps);
  return run;
}

static bool runs_on_device_plane(const reader *r, const xp_device_stats *s)
{
  return s->has_program ? xp_map_get(&r->b->device_programs, s->program) != XP_NONE
                        : s->hlo_module.len && xp_intern_find(&r->b->device_modules, s->hlo_module) != XP_NONE;
}

static void read_op(reader *r, const xp_line *line, xp_event_cursor *cursor, size_t i)
{
  xp_device_stats s;
  xp_device_stats_read(xp_event_stats(cursor, i), &s);
  if (runs_on_device_plane(r, &s)) {
    return;
  }
  int64_t ordinal = s.ordinal < 0 ? 0 : s.ordinal;
  xp_devices *all = r->b->all;
  xp_device_data *d = xp_device_find(all, r->host, XP_DEVICE_CPU, ordinal);
  if (!d) {
    d = xp_device_of(all, r->host, xp_arena_format(all->arena, "CPU:%lld", (long long)ordinal), XP_DEVICE_CPU, ordinal);
  }
  if (xp_device_event_is_lost(d, line, i)) {
    return;
  }
  int64_t start = line->start_ps[i], end = xp_event_end(line, i);
  if (r->end_count && s.has_producer) {
    int64_t marked = find_end(r, xp_event_name(line, i), s.producer, start);
    end = marked > end ? marked : end;
  }
  xp_device_count_work(d, XP_ROLE_WORK);
  uint32_t run = run_of(r, d, &s, start, end);
  xp_lane_add_end(all, xp_lane_of(all, d, line), i, xp_device_op(r->b, r->host, line, i, &s, XP_ROLE_WORK), run, end);
}

static void read_line(reader *r, const xp_line *line)
{
  if (!(line->flags & XP_EVENT_HLO_OP)) {
    return;
  }
  xp_event_cursor cursor = xp_event_cursor_open(line);
  for (size_t i = 0; i < line->count; i++) {
    if ((line->meta[i] & XP_EVENT_HLO_OP) &&
        !(xp_threads_class(threads_of(r), line, i).flags & XP_NAME_OP_END)) {
      read_op(r, line, &cursor, i);
    }
  }
}

void xp_cpu_devices_read(xp_device_builder *b, uint32_t host)
{
  reader r = {.b = b, .host = host};
  xp_map_init(&r.run_of, b->all->arena);
  const xp_threads *threads = b->all->threads;
  for (size_t i = 0; i < threads->count; i++) {
    if (threads->threads[i].host == host) {
      collect_ends(&r, threads->threads[i].line);
    }
  }
  if (r.end_count) {
    qsort(r.ends, r.end_count, sizeof *r.ends, by_key);
  }
  for (size_t i = 0; i < threads->count; i++) {
    if (threads->threads[i].host == host) {
      read_line(&r, threads->threads[i].line);
    }
  }
}
