/* Explaining gaps, lead-ins and tails.
 *
 * There can be hundreds of thousands of gaps, so only what every table needs is kept of each: its launch, cause,
 * trigger and scope.  The rest (xp_gap_explain) is computed again when somebody looks at a gap.
 *
 * Where looking for a launch may add to the table of launches, one thread does it first.  Causes are found in parallel:
 * nothing is written then but the gaps themselves.
 */
#include "analyze/gaps.h"

#include "base/thread.h"

enum { GAPS_A_PIECE = 1024 };

/* Where gap n of a device is, and what it spans. */
static xp_span span_of(const xp_analysis *an, uint32_t device, size_t n, xp_where *where)
{
  const xp_device *d = &an->reading->devices[device];
  const xp_timeline *t = &an->timelines[device];
  const xp_host *host = &an->capture->hosts[d->host];
  if (d->has_lead_in && n == 0) {
    *where = XP_WHERE_LEAD_IN;
    return (xp_span){host->start_ps, d->window_ps[0]};
  }
  n -= d->has_lead_in;
  *where = n < t->gap_count ? XP_WHERE_INSIDE : XP_WHERE_TAIL;
  return n < t->gap_count ? t->gaps[n] : (xp_span){d->window_ps[1], host->stop_ps};
}

static void describe_gap(xp_analysis *an, uint32_t device, size_t i)
{
  xp_where where;
  xp_span span = span_of(an, device, i - an->timelines[device].first_gap, &where);
  an->reading->gaps[i] = (xp_gap){.device = device,
                                  .where = where,
                                  .start_ps = span.start_ps,
                                  .dur_ps = span.end_ps - span.start_ps,
                                  .step = XP_NONE,
                                  .launch = XP_NONE,
                                  .trigger_thread = XP_NONE,
                                  .trigger_entry = XP_NONE,
                                  .ranked = an->reading->devices[device].ranked};
}

static void find_launch(xp_analysis *an, xp_gap *gap, size_t *hint)
{
  const xp_device_data *d = &an->devices.devices[gap->device];
  bool tail = gap->where == XP_WHERE_TAIL;
  xp_work work = tail ? xp_work_before(d, gap->start_ps, hint) : xp_work_from(d, gap->start_ps + gap->dur_ps, hint);
  uint32_t run;
  gap->launch = xp_work_launch(an, d, &work, &run);
  if (tail) {
    return;
  }
  bool of_run = run != XP_NONE && d->runs[run].launch == gap->launch;
  if (of_run || (run != XP_NONE && an->reading->step_source != XP_STEPS_ANNOTATION)) {
    gap->step = d->runs[run].step;
  } else if (gap->launch != XP_NONE) {
    gap->step = xp_launch_step(an, &an->links.launches[gap->launch], NULL);
  }
}

/* On GPUs the launch of a single call may be new to the table of launches. */
static bool may_add_launch(const xp_analysis *an, uint32_t device)
{
  return an->devices.devices[device].kind == XP_DEVICE_GPU;
}

/* Numbers the gaps.  Those whose launch may be added are described here, by one thread. */
static void list_gaps(xp_analysis *an)
{
  xp_reading *r = an->reading;
  for (uint32_t i = 0; i < an->devices.count; i++) {
    an->timelines[i].first_gap = r->gap_count;
    r->gap_count += an->timelines[i].gap_count + r->devices[i].has_lead_in + r->devices[i].has_tail;
  }
  r->gaps = xp_arena_array(an->arena, r->gap_count, sizeof *r->gaps);
  size_t hint = 0;
  for (uint32_t i = 0; i < an->devices.count; i++) {
    size_t end = i + 1 < an->devices.count ? an->timelines[i + 1].first_gap : r->gap_count;
    for (size_t g = an->timelines[i].first_gap; may_add_launch(an, i) && g < end; g++) {
      describe_gap(an, i, g);
      find_launch(an, &r->gaps[g], &hint);
    }
  }
}

/* The device of a gap, from the device of a gap before it on. */
static uint32_t device_of(const xp_analysis *an, size_t gap, uint32_t device)
{
  while (device + 1 < an->devices.count && an->timelines[device + 1].first_gap <= gap) {
    device++;
  }
  return device;
}

/* ---- causes */

static void choose_cause(xp_gap *gap, const xp_parts *parts)
{
  int64_t sums[XP_CAUSE_COUNT] = {0}, best = 0, largest = 0;
  for (size_t i = 0; i < parts->count; i++) {
    sums[parts->parts[i].cause] += parts->parts[i].ps;
  }
  gap->cause = XP_CAUSE_UNKNOWN;
  for (int c = 0; c <= XP_CAUSE_PROFILER; c++) {
    if (sums[c] > best) {
      best = sums[c];
      gap->cause = (xp_cause)c;
    }
  }
  gap->profiler_ps = sums[XP_CAUSE_PROFILER];
  gap->unknown_ps = sums[XP_CAUSE_UNKNOWN];
  for (size_t i = 0; i < parts->count; i++) { /* parts differ by cause and scope alone */
    if (parts->parts[i].cause == gap->cause && parts->parts[i].ps > largest) {
      largest = parts->parts[i].ps;
      gap->scope = parts->parts[i].scope;
    }
  }
}

/* The launch that a gap is read with; *tail is room for that of a tail, which no launch follows: the thread that asked
 * for the last work is looked at all the time. */
static const xp_launch *reading_launch(const xp_analysis *an, const xp_gap *gap, xp_launch *tail)
{
  if (gap->launch == XP_NONE || gap->where != XP_WHERE_TAIL) {
    return gap->launch == XP_NONE ? NULL : &an->links.launches[gap->launch];
  }
  *tail = an->links.launches[gap->launch];
  tail->thread = xp_launch_asker(tail);
  tail->hop_count = 1;
  tail->hops = NULL;
  tail->return_ps = INT64_MAX;
  return tail;
}

static void find_cause(const xp_analysis *an, xp_gap *gap, xp_parts *parts)
{
  xp_span span = {gap->start_ps, gap->start_ps + gap->dur_ps};
  xp_launch tail;
  const xp_launch *launch = reading_launch(an, gap, &tail);
  xp_parts_compute(an, gap->device, span, launch, parts);
  choose_cause(gap, parts);
  xp_trigger_found found = xp_trigger_find(an, span, launch);
  gap->trigger = found.trigger;
  gap->trigger_thread = found.thread;
  gap->trigger_entry = found.entry;
  if (found.trigger != XP_TRIGGER_NONE) {
    const xp_thread *t = &an->threads.threads[found.thread];
    gap->trigger_scope = xp_thread_scope_from(t, found.entry, xp_entry_start(t, found.entry));
  }
  if (gap->where != XP_WHERE_INSIDE) { /* an edge without launch, or that says nothing, is shown and not ranked */
    gap->ranked = gap->ranked && launch && gap->cause != XP_CAUSE_UNKNOWN && gap->cause != XP_CAUSE_PROFILER;
  }
}

/* ---- in parallel */

typedef struct {
  xp_parts parts;
  xp_analysis *an;
  size_t item;
  size_t hint; /* where the last gap was in the order of work */
  bool failed;
} worker;

typedef struct {
  xp_analysis *an;
  worker *workers;
} job;

static void explain_piece(void *context)
{
  worker *w = context;
  xp_reading *r = w->an->reading;
  size_t end = (w->item + 1) * GAPS_A_PIECE < r->gap_count ? (w->item + 1) * GAPS_A_PIECE : r->gap_count;
  if (!w->parts.hints) {
    w->parts.hints = xp_arena_array(w->parts.arena, w->an->threads.count, sizeof *w->parts.hints);
  }
  uint32_t device = 0;
  for (size_t i = w->item * GAPS_A_PIECE; i < end; i++) {
    device = device_of(w->an, i, device);
    if (!may_add_launch(w->an, device)) {
      describe_gap(w->an, device, i);
      find_launch(w->an, &r->gaps[i], &w->hint);
    }
    find_cause(w->an, &r->gaps[i], &w->parts);
  }
}

static void run_piece(void *context, size_t item, int number)
{
  worker *w = &((job *)context)->workers[number];
  w->item = item;
  w->failed = w->failed || !w->parts.arena || !xp_arena_guard(w->parts.arena, explain_piece, w);
}

static void find_causes(xp_analysis *an)
{
  size_t pieces = (an->reading->gap_count + GAPS_A_PIECE - 1) / GAPS_A_PIECE;
  int threads = xp_cpu_count();
  threads = (size_t)threads > pieces ? (int)pieces : threads;
  job j = {an, xp_arena_array(an->arena, (size_t)threads, sizeof *j.workers)};
  for (int i = 0; i < threads; i++) {
    j.workers[i] = (worker){.an = an, .parts = {.arena = xp_arena_create()}};
  }
  if (threads) {
    xp_parallel(pieces, threads, run_piece, &j);
  }
  bool failed = false;
  for (int i = 0; i < threads; i++) {
    failed = failed || j.workers[i].failed;
    xp_arena_destroy(j.workers[i].parts.arena);
  }
  if (failed) {
    longjmp(*an->escape, 1);
  }
}

/* Whether nothing but tracing stood between two launches. */
static void find_tracing_bound(xp_analysis *an)
{
  size_t hint = 0;
  for (size_t i = 0; i < an->reading->gap_count; i++) {
    xp_gap *gap = &an->reading->gaps[i];
    if (gap->where != XP_WHERE_INSIDE || gap->cause != XP_CAUSE_TRACING || gap->trigger != XP_TRIGGER_NONE ||
        gap->launch == XP_NONE) {
      continue;
    }
    const xp_device_data *d = &an->devices.devices[gap->device];
    xp_work before = xp_work_before(d, gap->start_ps, &hint);
    uint32_t run, previous = xp_work_launch(an, d, &before, &run);
    int64_t since = previous == XP_NONE ? gap->start_ps : an->links.launches[previous].asked_ps;
    const xp_launch *launch = &an->links.launches[gap->launch];
    gap->tracing_bound = xp_trigger_free(an, launch, since, launch->asked_ps);
  }
}

void xp_gaps_explain(xp_analysis *an)
{
  list_gaps(an);
  xp_triggers_index(an);
  find_causes(an);
  find_tracing_bound(an);
}

/* ---- details of one gap */

static void add_evidence(const xp_analysis *an, xp_gap_details *out, const char *role, uint32_t thread, uint32_t entry,
                         int64_t at)
{
  if (thread == XP_NONE || entry == XP_NONE) {
    return;
  }
  const xp_thread *t = &an->threads.threads[thread];
  out->evidence[out->evidence_count++] = (xp_evidence){.role = role,
                                                       .event = xp_entry_name(t, entry),
                                                       .thread = t->line->name,
                                                       .frame = xp_thread_frame(t, at),
                                                       .start_ps = xp_entry_start(t, entry),
                                                       .dur_ps = xp_event_dur(t->line, t->event[entry])};
}

typedef struct {
  const xp_analysis *an;
  const xp_gap *gap;
  xp_arena *arena;
  xp_gap_details *out;
} request;

static void answer(void *context)
{
  const request *q = context;
  const xp_analysis *an = q->an;
  const xp_gap *gap = q->gap;
  const xp_device_data *d = &an->devices.devices[gap->device];
  xp_span span = {gap->start_ps, gap->start_ps + gap->dur_ps};
  xp_parts parts = {.arena = q->arena, .details = true};
  xp_launch tail;
  size_t hint = 0;
  const xp_launch *launch = reading_launch(an, gap, &tail);
  xp_parts_compute(an, gap->device, span, launch, &parts);
  *q->out = (xp_gap_details){.parts = parts.parts, .part_count = parts.count};
  if (gap->where != XP_WHERE_LEAD_IN) {
    xp_work before = xp_work_before(d, span.start_ps, &hint);
    q->out->before = xp_work_names(an, d, &before);
  }
  if (gap->where != XP_WHERE_TAIL) {
    xp_work after = xp_work_from(d, span.end_ps, &hint);
    q->out->after = xp_work_names(an, d, &after);
  }
  if (gap->trigger != XP_TRIGGER_NONE) {
    const xp_thread *t = &an->threads.threads[gap->trigger_thread];
    add_evidence(an, q->out, "trigger", gap->trigger_thread, gap->trigger_entry, xp_entry_start(t, gap->trigger_entry));
  }
  add_evidence(an, q->out, "cause", parts.longest_thread, parts.longest_entry, parts.longest_at_ps);
  if (launch && gap->where != XP_WHERE_TAIL && launch->call != XP_NONE) {
    const xp_api_call *call = &an->links.calls[launch->call];
    add_evidence(an, q->out, "launch", call->thread, call->entry, launch->start_ps);
  } else if (launch && gap->where != XP_WHERE_TAIL) {
    add_evidence(an, q->out, "launch", launch->thread, launch->entry, launch->start_ps);
  }
}

xp_status xp_gap_explain(xp_reading *reading, const xp_gap *gap, xp_arena *arena, xp_gap_details *details,
                         xp_error *err)
{
  request q = {reading->analysis, gap, arena, details};
  if (gap->details) {
    *details = *gap->details;
    return XP_OK;
  }
  if (!xp_arena_guard(arena, answer, &q)) {
    return xp_fail(err, XP_ERR_MEMORY, "out of memory while looking into a gap");
  }
  return XP_OK;
}
