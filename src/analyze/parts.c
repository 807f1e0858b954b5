/* Where the time of one gap went: a walk along the chain of threads that led to the next launch.
 *
 * The gap is cut where the one to blame can change: bounds of program runs, ops in which the device waits, the return
 * of the launch call, hand-overs between threads.  Within such a piece either the device alone decides, or the events
 * of one thread do, cut again at their bounds.
 */
#include "analyze/walk.h"

#include <stdlib.h>

static void cut(xp_walk *w, xp_span gap, int64_t time)
{
  xp_parts *out = w->out;
  if (time > gap.start_ps && time < gap.end_ps) {
    out->cuts = xp_arena_grow(out->arena, out->cuts, out->cut_count, &out->cut_capacity, sizeof *out->cuts);
    out->cuts[out->cut_count++] = time;
  }
}

static int by_time(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t run_return(const xp_walk *w, const xp_device_run *run)
{
  return run->launch == XP_NONE ? INT64_MIN : w->an->links.launches[run->launch].return_ps;
}

/* Number of runs that began before a time, found from where the last gap was. */
static size_t runs_before(const xp_walk *w, int64_t time)
{
  const xp_device_data *d = w->d;
  size_t low = w->out->run_hint < d->run_count ? w->out->run_hint : 0, step = 1;
  if (low && d->runs[low - 1].start_ps + d->shift_ps >= time) {
    low = 0;
  }
  size_t high = low;
  while (high < d->run_count && d->runs[high].start_ps + d->shift_ps < time) { /* gallop */
    low = high + 1;
    high = d->run_count - high > step ? high + step : d->run_count;
    step *= 2;
  }
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (d->runs[mid].start_ps + d->shift_ps < time) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return w->out->run_hint = low;
}

enum { RUNS_BACK = 8 };

/* Bounds and returns of the runs that can lie in the gap: from the last one that began before its end backwards.  Runs
 * of a device overlap little, so a few that ended before the gap are enough to stop at. */
static void cut_at_runs(xp_walk *w, xp_span gap)
{
  size_t i = runs_before(w, gap.end_ps);
  for (int ended = 0; i > 0 && ended < RUNS_BACK; i--) {
    const xp_device_run *run = &w->d->runs[i - 1];
    cut(w, gap, run->start_ps + w->d->shift_ps);
    cut(w, gap, run->end_ps + w->d->shift_ps);
    cut(w, gap, run_return(w, run));
    ended += run->end_ps + w->d->shift_ps <= gap.start_ps;
  }
}

/* The device stands inside a run whose launch call has returned. */
static bool is_in_program(const xp_walk *w, int64_t time)
{
  size_t i = runs_before(w, time + 1);
  for (int back = 0; i > 0 && back < RUNS_BACK; i--, back++) {
    const xp_device_run *run = &w->d->runs[i - 1];
    if (run->end_ps + w->d->shift_ps > time) {
      return time >= run_return(w, run);
    }
  }
  return false;
}

static size_t first_idle_op(const xp_timeline *t, int64_t time)
{
  size_t low = 0, high = t->idle_op_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (t->idle_ops[mid].end_ps <= time) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

/* What the device alone, or the profiler, decides about a piece without cuts. */
static bool decided(const xp_walk *w, int64_t from, int64_t to, xp_stretch *v)
{
  const xp_analysis *an = w->an;
  const xp_timeline *t = &an->timelines[w->device];
  *v = (xp_stretch){.thread = XP_NONE, .entry = XP_NONE};
  for (size_t i = an->profiler_first[w->d->host]; i < an->profiler_first[w->d->host + 1]; i++) {
    if (an->profiler[i].start_ps <= from && an->profiler[i].end_ps >= to) {
      v->cause = XP_CAUSE_PROFILER;
      return true;
    }
  }
  for (size_t i = first_idle_op(t, from); i < t->idle_op_count && t->idle_ops[i].start_ps <= from; i++) {
    if (t->idle_ops[i].end_ps >= to) {
      const xp_op *op = &an->devices.ops[t->idle_op[i]];
      v->cause = op->role == XP_ROLE_INFEED ? XP_CAUSE_INPUT : XP_CAUSE_HOST;
      v->scope = op->op;
      v->event = w->out->details ? op->op : v->event;
      return true;
    }
  }
  v->cause = XP_CAUSE_IN_PROGRAM;
  return is_in_program(w, from);
}

static void walk_piece(xp_walk *w, int64_t from, int64_t to)
{
  xp_stretch v;
  if (decided(w, from, to, &v)) {
    xp_walk_book(w, from, to, &v);
    return;
  }
  if (!w->launch) {
    v = (xp_stretch){.cause = XP_CAUSE_UNKNOWN, .thread = XP_NONE, .entry = XP_NONE};
    xp_walk_book(w, from, to, &v);
    return;
  }
  int hop = 0;
  while (hop + 1 < w->launch->hop_count && from < xp_launch_hop(w->launch, hop).from_ps) {
    hop++;
  }
  xp_walk_thread(w, xp_launch_hop(w->launch, hop).thread, from, to, from >= w->launch->return_ps, false);
}

static int longest_first(const void *x, const void *y)
{
  const xp_part *a = x, *b = y;
  if (a->ps != b->ps) {
    return a->ps > b->ps ? -1 : 1;
  }
  if (a->cause != b->cause) {
    return (int)a->cause - (int)b->cause;
  }
  int order = xp_str_cmp(a->scope, b->scope);
  return order ? order : xp_str_cmp(a->event, b->event);
}

static void cut_gap(xp_walk *w, xp_span gap)
{
  const xp_analysis *an = w->an;
  const xp_timeline *t = &an->timelines[w->device];
  w->out->cut_count = 0;
  cut_at_runs(w, gap);
  for (size_t i = first_idle_op(t, gap.start_ps); i < t->idle_op_count && t->idle_ops[i].start_ps < gap.end_ps; i++) {
    cut(w, gap, t->idle_ops[i].start_ps);
    cut(w, gap, t->idle_ops[i].end_ps);
  }
  for (size_t i = an->profiler_first[w->d->host]; i < an->profiler_first[w->d->host + 1]; i++) {
    cut(w, gap, an->profiler[i].start_ps);
    cut(w, gap, an->profiler[i].end_ps);
  }
  for (int h = 0; w->launch && h < w->launch->hop_count; h++) {
    cut(w, gap, xp_launch_hop(w->launch, h).from_ps);
  }
  if (w->launch) {
    cut(w, gap, w->launch->return_ps);
  }
  if (w->out->cut_count > 1) {
    qsort(w->out->cuts, w->out->cut_count, sizeof *w->out->cuts, by_time);
  }
}

void xp_parts_compute(const xp_analysis *an, uint32_t device, xp_span gap, const xp_launch *launch, xp_parts *parts)
{
  xp_walk w = {.an = an, .device = device, .d = &an->devices.devices[device], .launch = launch, .out = parts};
  parts->count = 0;
  if (!parts->index.arena || parts->index.count) {
    xp_map_discard(&parts->index);
    xp_map_init(&parts->index, parts->arena);
  }
  parts->longest_ps = 0;
  parts->longest_thread = parts->longest_entry = XP_NONE;
  cut_gap(&w, gap);
  int64_t from = gap.start_ps;
  for (size_t i = 0; i < parts->cut_count; i++) {
    if (parts->cuts[i] > from) {
      walk_piece(&w, from, parts->cuts[i]);
      from = parts->cuts[i];
    }
  }
  walk_piece(&w, from, gap.end_ps);
  if (parts->count > 1) {
    qsort(parts->parts, parts->count, sizeof *parts->parts, longest_first);
  }
}
