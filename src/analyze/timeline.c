/* Busy time, copies and gaps of a device.
 *
 * spans  = union of the work on all lanes, less what the device only waits in (infeed, outfeed, send, recv), also where
 * an op such as a while loop covers that wait; cover  = spans and copies together; gaps are the holes of the cover.
 * Spans are held in an arena of their own that is given back after each device: there can be as many as events.
 */
#include "analyze/internal.h"

#include <stdlib.h>

typedef struct {
  xp_span *rows; /* disjoint, by start */
  size_t count, capacity;
} spans;

/* Appends a span whose start is not before that of the last one, merging what touches. */
static void add_span(xp_arena *arena, spans *s, int64_t start, int64_t end)
{
  if (end <= start) {
    return;
  }
  if (s->count && start <= s->rows[s->count - 1].end_ps) {
    s->rows[s->count - 1].end_ps = end > s->rows[s->count - 1].end_ps ? end : s->rows[s->count - 1].end_ps;
    return;
  }
  s->rows = xp_arena_grow(arena, s->rows, s->count, &s->capacity, sizeof *s->rows);
  s->rows[s->count++] = (xp_span){start, end};
}

static int64_t length(const spans *s)
{
  int64_t sum = 0;
  for (size_t i = 0; i < s->count; i++) {
    sum += s->rows[i].end_ps - s->rows[i].start_ps;
  }
  return sum;
}

/* a without b. */
static spans subtract(xp_arena *arena, const spans *a, const spans *b)
{
  spans out = {0};
  size_t j = 0;
  for (size_t i = 0; i < a->count; i++) {
    int64_t from = a->rows[i].start_ps, end = a->rows[i].end_ps;
    while (j < b->count && b->rows[j].end_ps <= from) {
      j++;
    }
    for (size_t k = j; k < b->count && b->rows[k].start_ps < end; k++) {
      add_span(arena, &out, from, b->rows[k].start_ps);
      from = b->rows[k].end_ps > from ? b->rows[k].end_ps : from;
    }
    add_span(arena, &out, from, end);
  }
  return out;
}

static spans unite(xp_arena *arena, const spans *a, const spans *b)
{
  spans out = {0};
  size_t i = 0, j = 0;
  while (i < a->count || j < b->count) {
    bool left = j == b->count || (i < a->count && a->rows[i].start_ps <= b->rows[j].start_ps);
    const xp_span *next = left ? &a->rows[i++] : &b->rows[j++];
    add_span(arena, &out, next->start_ps, next->end_ps);
  }
  return out;
}

static void collect(const xp_analysis *an, xp_arena *arena, const xp_device_data *d, xp_timeline *t, spans *work,
                    spans *copies, spans *idle)
{
  xp_arena *scratch = an->scratch;
  size_t capacity = 0, op_capacity = 0;
  for (size_t at = 0, count = xp_work_count(d); at < count; at++) {
    xp_work w = xp_work_at(d, at);
    xp_role role = an->devices.ops[w.op].role;
    if (role == XP_ROLE_WORK) {
      add_span(scratch, work, w.start_ps, w.end_ps);
    } else if (role == XP_ROLE_COPY) {
      add_span(scratch, copies, w.start_ps, w.end_ps);
    } else {
      add_span(scratch, idle, w.start_ps, w.end_ps);
      int64_t before = t->idle_op_count ? t->idle_ops[t->idle_op_count - 1].end_ps : INT64_MIN;
      if (before >= w.end_ps) {
        continue; /* inside another one */
      }
      t->idle_ops = xp_arena_grow(arena, t->idle_ops, t->idle_op_count, &capacity, sizeof *t->idle_ops);
      t->idle_op = xp_arena_grow(arena, t->idle_op, t->idle_op_count, &op_capacity, sizeof *t->idle_op);
      t->idle_ops[t->idle_op_count] = (xp_span){before > w.start_ps ? before : w.start_ps, w.end_ps};
      t->idle_op[t->idle_op_count++] = w.op;
    }
  }
}

static void find_gaps(const xp_analysis *an, xp_arena *arena, const spans *cover, xp_timeline *t, xp_device *out)
{
  for (size_t i = 1; i < cover->count; i++) {
    xp_span gap = {cover->rows[i - 1].end_ps, cover->rows[i].start_ps};
    if (gap.end_ps - gap.start_ps < an->reading->min_gap_ps) {
      out->short_count++;
      out->short_ps += gap.end_ps - gap.start_ps;
      continue;
    }
    t->gaps = xp_arena_grow(arena, t->gaps, t->gap_count, &t->gap_capacity, sizeof *t->gaps);
    t->gaps[t->gap_count++] = gap;
  }
  out->gap_count = t->gap_count;
}

static void measure(xp_analysis *an, xp_arena *arena, uint32_t device)
{
  xp_arena *scratch = an->scratch;
  const xp_device_data *d = &an->devices.devices[device];
  xp_timeline *t = &an->timelines[device];
  xp_device *out = &an->reading->devices[device];
  spans work = {0}, copies = {0}, idle = {0};
  collect(an, arena, d, t, &work, &copies, &idle);
  spans busy = idle.count ? subtract(scratch, &work, &idle) : work;
  spans cover = copies.count ? unite(scratch, &busy, &copies) : busy;
  if (cover.count == 0) {
    return;
  }
  out->has_window = true;
  out->window_ps[0] = cover.rows[0].start_ps;
  out->window_ps[1] = cover.rows[cover.count - 1].end_ps;
  out->busy_ps = length(&busy);
  out->copy_ps = length(&cover) - out->busy_ps;
  out->idle_ps = out->window_ps[1] - out->window_ps[0] - out->busy_ps - out->copy_ps;
  find_gaps(an, arena, &cover, t, out);
}

/* What two spans share. */
static int64_t overlap(int64_t from_ps, int64_t to_ps, const xp_span *with)
{
  int64_t from = from_ps > with->start_ps ? from_ps : with->start_ps;
  int64_t to = to_ps < with->end_ps ? to_ps : with->end_ps;
  return to > from ? to - from : 0;
}

/* The profiler's own time on the host of a device, but for the window of the device: what ran there did run. */
static int64_t profiler_time(const xp_analysis *an, const xp_device *d)
{
  int64_t sum = 0;
  for (size_t i = an->profiler_first[d->host]; i < an->profiler_first[d->host + 1]; i++) {
    const xp_span *span = &an->profiler[i];
    sum += span->end_ps - span->start_ps - (d->has_window ? overlap(d->window_ps[0], d->window_ps[1], span) : 0);
  }
  return sum;
}

static void bound_by_session(xp_analysis *an, xp_device *out)
{
  const xp_host *h = &an->capture->hosts[out->host];
  if (!h->has_session) {
    return;
  }
  out->session_ps = h->stop_ps - h->start_ps - profiler_time(an, out);
  if (out->has_window) {
    /* work may go on past the session: no share of it shall be above one */
    out->session_ps += out->window_ps[0] < h->start_ps ? h->start_ps - out->window_ps[0] : 0;
    out->session_ps += out->window_ps[1] > h->stop_ps ? out->window_ps[1] - h->stop_ps : 0;
    out->has_lead_in = out->window_ps[0] > h->start_ps;
    out->has_tail = out->window_ps[1] < h->stop_ps;
    out->lead_in_ps = out->has_lead_in ? out->window_ps[0] - h->start_ps : 0;
    out->tail_ps = out->has_tail ? h->stop_ps - out->window_ps[1] : 0;
  }
}

int xp_span_by_start(const void *a, const void *b)
{
  const xp_span *x = a, *y = b;
  return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

/* Time under start_trace and stop_trace: the union over the threads of each host, within the session. */
void xp_profiler_time_find(xp_analysis *an)
{
  size_t total = 0, capacity = 0;
  an->profiler_first = xp_arena_array(an->arena, an->capture->host_count + 1, sizeof *an->profiler_first);
  for (uint32_t h = 0; h < an->capture->host_count; h++) {
    const xp_host *host = &an->capture->hosts[h];
    spans found = {0};
    size_t count = 0, room = 0;
    xp_span *all = NULL;
    for (size_t i = 0; i < an->threads.count; i++) {
      const xp_thread *t = &an->threads.threads[i];
      for (uint32_t e = 0; t->host == h && t->has_profiler && e < t->count; e++) {
        if (t->flags[e] & XP_ENTRY_PROFILER) {
          all = xp_arena_grow(an->arena, all, count, &room, sizeof *all);
          all[count++] = (xp_span){xp_entry_start(t, e), xp_entry_end(t, e)};
        }
      }
    }
    if (count) {
      qsort(all, count, sizeof *all, xp_span_by_start);
    }
    for (size_t i = 0; i < count; i++) {
      int64_t from = all[i].start_ps, to = all[i].end_ps;
      from = host->has_session && from < host->start_ps ? host->start_ps : from;
      to = host->has_session && to > host->stop_ps ? host->stop_ps : to;
      add_span(an->arena, &found, from, to);
    }
    for (size_t i = 0; i < found.count; i++) {
      an->profiler = xp_arena_grow(an->arena, an->profiler, total, &capacity, sizeof *an->profiler);
      an->profiler[total++] = found.rows[i];
    }
    an->profiler_first[h + 1] = total;
  }
}

void xp_timelines_build(xp_analysis *an, xp_arena *arena)
{
  xp_reading *r = an->reading;
  an->timelines = xp_arena_array(arena, an->devices.count, sizeof *an->timelines);
  r->devices = xp_arena_array(arena, an->devices.count, sizeof *r->devices);
  r->device_count = an->devices.count;
  for (uint32_t i = 0; i < an->devices.count; i++) {
    const xp_device_data *d = &an->devices.devices[i];
    r->devices[i] = (xp_device){.host = d->host,
                                .name = d->name,
                                .model = d->model,
                                .kind = d->kind,
                                .ranked = d->kind != XP_DEVICE_SPARSE_CORE,
                                .ordinal = d->ordinal,
                                .work_count = d->work_count,
                                .copy_count = d->copy_count,
                                .untimed = d->untimed,
                                .stray = d->stray};
    an->scratch = xp_arena_create();
    if (!an->scratch) {
      xp_arena_give_up(arena);
    }
    xp_arena_share_escape(an->scratch, arena);
    measure(an, arena, i);
    xp_arena_destroy(an->scratch);
    an->scratch = NULL;
    bound_by_session(an, &r->devices[i]);
  }
}

bool xp_device_works_at(const xp_analysis *an, uint32_t device, int64_t time_ps)
{
  const xp_device *d = &an->reading->devices[device];
  const xp_timeline *t = &an->timelines[device];
  if (!d->has_window || time_ps < d->window_ps[0] || time_ps >= d->window_ps[1]) {
    return false;
  }
  size_t low = 0, high = t->gap_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (t->gaps[mid].start_ps <= time_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low == 0 || t->gaps[low - 1].end_ps <= time_ps;
}
