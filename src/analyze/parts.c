/* Where the time of one gap went: a walk along the chain of threads that led to the next launch.
 *
 * The gap is cut where the one to blame can change: bounds of program runs, ops in which the device waits, the return of
 * the launch call, hand-overs between threads.  Within such a piece either the device alone decides, or the events of one
 * thread do, cut again at their bounds.
 */
#include "analyze/internal.h"

#include <stdlib.h>

enum { NOTABLE_WAIT_PS = 50000000 }; /* 50 us */

typedef struct {
  const xp_analysis *an;
  uint32_t device;
  const xp_device_data *d;
  const xp_launch *launch; /* NULL: unknown */
  xp_parts *out;
} walk;

/* What a stretch of time is put down to. */
typedef struct {
  xp_cause cause;
  xp_str scope, event, detail;
  bool maybe;
  uint32_t thread, entry; /* XP_NONE: no event */
} verdict;

static bool is_same(const xp_part *p, const verdict *v)
{
  return p->cause == v->cause && p->maybe_tracing == v->maybe && xp_str_eq(p->scope, v->scope) &&
         xp_str_eq(p->event, v->event) && xp_str_eq(p->detail, v->detail);
}

static void book(walk *w, int64_t from, int64_t to, const verdict *v)
{
  xp_parts *out = w->out;
  if (to <= from) {
    return;
  }
  size_t i = 0;
  while (i < out->count && !is_same(&out->parts[i], v)) {
    i++;
  }
  if (i == out->count) {
    out->parts = xp_arena_grow(out->arena, out->parts, out->count, &out->capacity, sizeof *out->parts);
    out->parts[out->count++] = (xp_part){v->cause, 0, v->scope, v->event, v->detail, v->maybe};
  }
  out->parts[i].ps += to - from;
  if (v->cause != XP_CAUSE_PROFILER && to - from > out->longest_ps) {
    out->longest_ps = to - from;
    out->longest_at_ps = from;
    out->longest_thread = v->thread;
    out->longest_entry = v->entry;
  }
}

/* ---- one thread */

static const char *const pool_lines[] = {"tf_XLA*", "tf_pjrt*", "tf_pytorchxla*", "tf_Pj*", "py_xla_execute*"};

/* The event of a pool thread that lasts longest within a time. */
static xp_str longest_pool_event(const xp_analysis *an, uint32_t host, int64_t from, int64_t to)
{
  xp_str best = {NULL, 0};
  int64_t best_ps = 0;
  for (size_t i = 0; i < an->threads.count; i++) {
    const xp_thread *t = &an->threads.threads[i];
    bool pool = false;
    for (size_t p = 0; p < sizeof pool_lines / sizeof *pool_lines; p++) {
      pool = pool || xp_str_glob(t->line->name, pool_lines[p]);
    }
    if (!pool || t->host != host) {
      continue;
    }
    uint32_t e = xp_thread_innermost(t, from);
    for (uint32_t next = xp_thread_first_from(t, from + 1);; e = next++) {
      if (e != XP_NONE) {
        int64_t start = xp_entry_start(t, e), end = xp_entry_end(t, e);
        int64_t overlap = (end < to ? end : to) - (start > from ? start : from);
        if (overlap > best_ps) {
          best_ps = overlap;
          best = xp_entry_name(t, e);
        }
      }
      if (next >= t->count || xp_entry_start(t, next) >= to) {
        break;
      }
    }
  }
  return best;
}

/* What a wait is for: the devices that work meanwhile. */
static xp_str wait_detail(const walk *w, int64_t from, int64_t to)
{
  const xp_analysis *an = w->an;
  int64_t middle = from + (to - from) / 2;
  xp_str names = {NULL, 0};
  size_t working = 0;
  for (uint32_t i = 0; i < an->devices.count; i++) {
    if (i != w->device && an->devices.devices[i].host == w->d->host && xp_device_works_at(an, i, middle)) {
      xp_str name = an->devices.devices[i].name;
      working++;
      if (working <= 3) {
        names = names.len ? xp_arena_format(w->out->arena, "%.*s, %.*s", XP_STR_ARG(names), XP_STR_ARG(name)) : name;
      }
    }
  }
  if (working > 3) {
    return xp_arena_format(w->out->arena, "for %.*s and %zu more devices, at work", XP_STR_ARG(names), working - 3);
  }
  if (working) {
    return xp_arena_format(w->out->arena, "for %.*s, at work", XP_STR_ARG(names));
  }
  xp_str longest = to - from >= NOTABLE_WAIT_PS ? longest_pool_event(an, w->d->host, from, to) : (xp_str){NULL, 0};
  if (longest.len) {
    return xp_arena_format(w->out->arena,
                           "no device was working: the runtime was slow to notice (longest meanwhile: %.*s)",
                           XP_STR_ARG(longest));
  }
  return xp_str_c("no device was working: the runtime was slow to notice");
}

static bool is_wait_or_read(uint8_t cause)
{
  return cause == XP_CAUSE_VALUE_REQUEST || cause == XP_CAUSE_WAIT;
}

/* The name of the PjitFunction around an entry; empty without one. */
static xp_str pjit_around(const xp_thread *t, uint32_t entry, int64_t time)
{
  for (uint32_t e = entry; e != XP_NONE; e = xp_thread_outer(t, e, time)) {
    if (t->flags[e] & XP_ENTRY_PJIT) {
      return xp_entry_name(t, e);
    }
  }
  return xp_str_from(NULL, 0);
}

static verdict classed(const walk *w, const xp_thread *t, uint32_t innermost, uint32_t entry, int64_t from, int64_t to)
{
  xp_cause cause = (xp_cause)t->cause[entry];
  verdict v = {
      .cause = cause, .scope = xp_thread_scope_from(t, innermost, from), .thread = t->index, .entry = entry};
  if (!w->out->details) {
    return v;
  }
  v.event = xp_entry_name(t, cause == XP_CAUSE_DISPATCH ? innermost : entry);
  if (cause == XP_CAUSE_COMPILE || cause == XP_CAUSE_TRACING) {
    xp_str pjit = pjit_around(t, entry, from);
    v.event = pjit.len ? pjit : v.event;
  }
  if (cause == XP_CAUSE_WAIT) {
    v.detail = wait_detail(w, from, to);
  }
  return v;
}

static verdict plain_host(const walk *w, const xp_thread *t, uint32_t innermost, int64_t from)
{
  verdict v = {.cause = XP_CAUSE_HOST,
               .scope = xp_thread_scope_from(t, innermost, from),
               .thread = t->index,
               .entry = innermost};
  xp_str event = xp_entry_name(t, innermost);
  v.scope = v.scope.len ? v.scope : event;
  if (!w->out->details) {
    return v;
  }
  v.event = event;
  bool in_scope = false;
  for (uint32_t e = innermost; e != XP_NONE && !in_scope; e = xp_thread_outer(t, e, from)) {
    in_scope = (t->flags[e] & XP_ENTRY_SCOPE) != 0;
  }
  v.maybe = in_scope && !w->an->names_on && (w->an->devices.lazy || w->an->threads.torch);
  return v;
}

typedef struct {
  walk *w;
  const xp_thread *t;
} frame_walk;

static void book_frame(void *context, int64_t from, int64_t to, xp_str frame)
{
  frame_walk *f = context;
  verdict v = {.cause = frame.len ? XP_CAUSE_HOST : XP_CAUSE_UNKNOWN,
               .scope = frame,
               .event = f->w->out->details ? frame : (xp_str){NULL, 0},
               .thread = frame.len ? f->t->index : XP_NONE,
               .entry = XP_NONE};
  book(f->w, from, to, &v);
}

/* Another thread on which a step is open: the program's own thread. */
static const xp_thread *thread_with_step(const walk *w, const xp_thread *not_this, int64_t time, int64_t *until)
{
  for (size_t i = 0; i < w->an->threads.count; i++) {
    const xp_thread *t = &w->an->threads.threads[i];
    bool held = t == not_this;
    for (int h = 0; w->launch && h < w->launch->hop_count; h++) {
      held = held || xp_launch_hop(w->launch, h).thread == t->index;
    }
    if (held || !t->has_step || t->host != w->d->host) {
      continue;
    }
    for (uint32_t e = xp_thread_innermost(t, time); e != XP_NONE; e = xp_thread_outer(t, e, time)) {
      if (t->flags[e] & XP_ENTRY_STEP) {
        *until = xp_entry_end(t, e);
        return t;
      }
    }
  }
  return NULL;
}

static void walk_thread(walk *w, uint32_t thread, int64_t from, int64_t to, bool returned, bool borrowed);

static bool has_frame_at(walk *w, uint32_t thread, int64_t time)
{
  const xp_thread *t = &w->an->threads.threads[thread];
  return t->has_frame && xp_thread_frame(&w->an->threads, t, time).len > 0;
}

/* A stretch in which no event of the thread is open. */
static void uncovered(walk *w, uint32_t thread, int64_t from, int64_t to, bool borrowed)
{
  const xp_thread *t = &w->an->threads.threads[thread];
  while (from < to) {
    int64_t until = to;
    const xp_thread *other = borrowed || has_frame_at(w, thread, from) ? NULL : thread_with_step(w, t, from, &until);
    until = until < to ? until : to;
    if (other) {
      walk_thread(w, other->index, from, until, false, true);
    } else {
      frame_walk f = {w, t};
      until = to;
      xp_thread_frames(&w->an->threads, t, from, to, book_frame, &f);
    }
    from = until;
  }
}

/* End of the stretch from `time` on in which the same entries are open. */
static int64_t stretch_end(const xp_thread *t, uint32_t innermost, uint32_t next, int64_t time, int64_t limit)
{
  int64_t end = limit;
  if (next < t->count && xp_entry_start(t, next) < end) {
    end = xp_entry_start(t, next);
  }
  for (uint32_t e = innermost; e != XP_NONE; e = t->overlaps ? xp_thread_outer(t, e, time) : XP_NONE) {
    end = xp_entry_end(t, e) < end ? xp_entry_end(t, e) : end; /* where events nest, the innermost ends first */
  }
  return end;
}

/* The first entry after a time, found from where the last walk was. */
static uint32_t first_after(const walk *w, const xp_thread *t, int64_t time)
{
  uint32_t *hint = w->out->hints ? &w->out->hints[t->index] : NULL;
  uint32_t low = hint ? *hint : 0, step = 1;
  if (!hint || low > t->count || (low && xp_entry_start(t, low - 1) > time)) {
    low = 0;
  }
  uint32_t high = low;
  while (high < t->count && xp_entry_start(t, high) <= time) { /* gallop */
    low = high + 1;
    high = t->count - high > step ? high + step : (uint32_t)t->count;
    step *= 2;
  }
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (xp_entry_start(t, mid) <= time) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  if (hint) {
    *hint = low;
  }
  return low;
}

/* Books [from, to) by the events of one thread.  returned: the launch call is over, only a read or wait that is still open
 * holds the chain.  borrowed: the thread stands in for one without events. */
static void walk_thread(walk *w, uint32_t thread, int64_t from, int64_t to, bool returned, bool borrowed)
{
  const xp_thread *t = &w->an->threads.threads[thread];
  for (uint32_t next = first_after(w, t, from); from < to;) {
    uint32_t innermost = next ? next - 1 : XP_NONE;
    if (innermost != XP_NONE && xp_entry_end(t, innermost) <= from) {
      innermost = xp_thread_outer(t, innermost, from);
    }
    int64_t until = stretch_end(t, innermost, next, from, to);
    uint32_t found = innermost;
    while (found != XP_NONE && (returned ? !is_wait_or_read(t->cause[found]) : t->cause[found] == XP_CAUSE_HOST)) {
      found = xp_thread_outer(t, found, from);
    }
    if (found != XP_NONE) {
      verdict v = classed(w, t, innermost, found, from, until);
      book(w, from, until, &v);
    } else if (returned) {
      verdict v = {.cause = XP_CAUSE_LAUNCH,
                   .scope = xp_thread_scope_from(t, innermost, from),
                   .thread = t->index,
                   .entry = innermost};
      book(w, from, until, &v);
    } else if (innermost != XP_NONE) {
      verdict v = plain_host(w, t, innermost, from);
      book(w, from, until, &v);
    } else {
      uncovered(w, thread, from, until, borrowed);
    }
    from = until;
    while (next < t->count && xp_entry_start(t, next) <= from) {
      next++;
    }
  }
}

/* ---- the device */

static void cut(walk *w, xp_span gap, int64_t time)
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

static int64_t run_return(const walk *w, const xp_device_run *run)
{
  return run->launch == XP_NONE ? INT64_MIN : w->an->links.launches[run->launch].return_ps;
}

/* Number of runs that began before a time, found from where the last gap was. */
static size_t runs_before(const walk *w, int64_t time)
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

/* Bounds and returns of the runs that can lie in the gap: from the last one that began before its end backwards.  Runs of
 * a device overlap little, so a few that ended before the gap are enough to stop at. */
static void cut_at_runs(walk *w, xp_span gap)
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
static bool is_in_program(const walk *w, int64_t time)
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
static bool decided(const walk *w, int64_t from, int64_t to, verdict *v)
{
  const xp_analysis *an = w->an;
  const xp_timeline *t = &an->timelines[w->device];
  *v = (verdict){.thread = XP_NONE, .entry = XP_NONE};
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

static void walk_piece(walk *w, int64_t from, int64_t to)
{
  verdict v;
  if (decided(w, from, to, &v)) {
    book(w, from, to, &v);
    return;
  }
  if (!w->launch) {
    v = (verdict){.cause = XP_CAUSE_UNKNOWN, .thread = XP_NONE, .entry = XP_NONE};
    book(w, from, to, &v);
    return;
  }
  int hop = 0;
  while (hop + 1 < w->launch->hop_count && from < xp_launch_hop(w->launch, hop).from_ps) {
    hop++;
  }
  walk_thread(w, xp_launch_hop(w->launch, hop).thread, from, to, from >= w->launch->return_ps, false);
}

static int longer(const xp_part *a, const xp_part *b)
{
  return a->ps != b->ps ? (a->ps > b->ps ? -1 : 1) : (int)a->cause - (int)b->cause;
}

static void cut_gap(walk *w, xp_span gap)
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
  walk w = {.an = an, .device = device, .d = &an->devices.devices[device], .launch = launch, .out = parts};
  parts->count = 0;
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
  for (size_t i = 1; i < parts->count; i++) { /* few parts: insertion sort, longest first */
    xp_part part = parts->parts[i];
    size_t k = i;
    for (; k > 0 && longer(&part, &parts->parts[k - 1]) < 0; k--) {
      parts->parts[k] = parts->parts[k - 1];
    }
    parts->parts[k] = part;
  }
}
