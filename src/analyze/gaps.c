/* Explaining gaps, lead-ins and tails: find the work that ended the gap and its launch, then parts, cause and trigger. */
#include "analyze/internal.h"

enum { LOOK_BACK = 512 };

/* The work that is running at the end of a gap, the latest to start; lane is XP_NONE if there is none. */
static xp_work work_from(const xp_device_data *d, int64_t time)
{
  xp_work best = {.lane = XP_NONE, .start_ps = INT64_MIN};
  for (uint32_t l = 0; l < d->lane_count; l++) {
    const xp_lane *lane = &d->lanes[l];
    size_t low = 0, high = lane->count;
    while (low < high) {
      size_t mid = low + (high - low) / 2;
      if (xp_lane_start(d, lane, mid) <= time) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    for (size_t back = 0; low > 0 && back < LOOK_BACK; low--, back++) {
      int64_t start = xp_lane_start(d, lane, low - 1), end = xp_lane_end(d, lane, low - 1);
      if (end > time) {
        if (start > best.start_ps) {
          best = (xp_work){l, (uint32_t)(low - 1), lane->op[low - 1], start, end};
        }
        break;
      }
    }
  }
  return best;
}

/* The work that ended when a gap began. */
static xp_work work_before(const xp_device_data *d, int64_t time)
{
  xp_work best = {.lane = XP_NONE, .start_ps = INT64_MIN};
  for (uint32_t l = 0; l < d->lane_count; l++) {
    const xp_lane *lane = &d->lanes[l];
    size_t low = 0, high = lane->count;
    while (low < high) {
      size_t mid = low + (high - low) / 2;
      if (xp_lane_start(d, lane, mid) < time) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    for (size_t back = 0; low > 0 && back < LOOK_BACK; low--, back++) {
      if (xp_lane_end(d, lane, low - 1) == time) {
        int64_t start = xp_lane_start(d, lane, low - 1);
        if (start > best.start_ps) {
          best = (xp_work){l, (uint32_t)(low - 1), lane->op[low - 1], start, time};
        }
        break;
      }
    }
  }
  return best;
}

static uint32_t launch_by_correlation(xp_analysis *an, const xp_device_data *d, const xp_work *work)
{
  xp_event_cursor cursor = xp_event_cursor_open(d->lanes[work->lane].line);
  xp_stat id;
  if (!xp_stats_find(xp_event_stats(&cursor, d->lanes[work->lane].event[work->index]), XP_KEY_CORRELATION_ID, &id)) {
    return XP_NONE;
  }
  return xp_links_by_correlation(&an->links, d->host, (uint64_t)xp_stat_int(&id, 0));
}

/* The launch of a piece of work, and its run. */
static uint32_t launch_of(xp_analysis *an, const xp_device_data *d, const xp_work *work, uint32_t *run)
{
  *run = XP_NONE;
  if (work->lane == XP_NONE || d->clock_bad) {
    return XP_NONE;
  }
  *run = xp_work_run(d, work);
  if (*run != XP_NONE && d->runs[*run].launch != XP_NONE) {
    return d->runs[*run].launch;
  }
  return d->kind == XP_DEVICE_GPU ? launch_by_correlation(an, d, work) : XP_NONE;
}

static xp_work_name name_of(const xp_analysis *an, const xp_device_data *d, const xp_work *work)
{
  xp_work_name name = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
  if (work->lane != XP_NONE) {
    const xp_op *op = &an->devices.ops[work->op];
    uint32_t run = xp_work_run(d, work);
    name.op = op->op;
    name.scope = op->scope;
    name.program = run != XP_NONE && d->runs[run].name.len ? d->runs[run].name : op->module;
  }
  return name;
}

static void choose_cause(xp_gap *gap)
{
  int64_t sums[XP_CAUSE_COUNT] = {0};
  for (size_t i = 0; i < gap->part_count; i++) {
    sums[gap->parts[i].cause] += gap->parts[i].ps;
  }
  gap->cause = XP_CAUSE_UNKNOWN;
  int64_t best = 0;
  for (int c = 0; c < XP_CAUSE_PROFILER; c++) {
    if (sums[c] > best) {
      best = sums[c];
      gap->cause = (xp_cause)c;
    }
  }
  if (best == 0 && sums[XP_CAUSE_PROFILER]) {
    gap->cause = XP_CAUSE_PROFILER;
  }
  int64_t largest = 0;
  for (size_t i = 0; i < gap->part_count; i++) {
    int64_t ps = 0;
    for (size_t k = 0; gap->parts[i].cause == gap->cause && k < gap->part_count; k++) {
      bool same = gap->parts[k].cause == gap->cause && xp_str_eq(gap->parts[k].scope, gap->parts[i].scope);
      ps += same ? gap->parts[k].ps : 0;
    }
    if (ps > largest) {
      largest = ps;
      gap->scope = gap->parts[i].scope;
    }
  }
}

static void add_evidence(xp_analysis *an, xp_gap *gap, const char *role, uint32_t thread, uint32_t entry, int64_t at)
{
  if (thread == XP_NONE || entry == XP_NONE) {
    return;
  }
  xp_thread *t = &an->threads.threads[thread];
  xp_evidence *e = &gap->evidence[gap->evidence_count++];
  *e = (xp_evidence){.role = role,
                     .event = xp_entry_name(t, entry),
                     .thread = t->line->name,
                     .frame = xp_thread_frame(&an->threads, t, at),
                     .start_ps = xp_entry_start(t, entry),
                     .dur_ps = xp_event_dur(t->line, t->event[entry])};
}

static void explain(xp_analysis *an, xp_gap *gap, const xp_launch *launch)
{
  xp_span span = {gap->start_ps, gap->start_ps + gap->dur_ps};
  xp_parts parts;
  xp_parts_compute(an, gap->device, span, launch, &parts);
  gap->parts = parts.parts;
  gap->part_count = parts.count;
  choose_cause(gap);
  xp_trigger_found trigger = xp_trigger_find(an, span, launch);
  gap->trigger = trigger.trigger;
  gap->evidence = xp_arena_array(an->arena, 3, sizeof *gap->evidence);
  if (trigger.trigger != XP_TRIGGER_NONE) {
    const xp_thread *t = &an->threads.threads[trigger.thread];
    int64_t start = xp_entry_start(t, trigger.entry);
    gap->trigger_scope = xp_thread_scope(t, start);
    add_evidence(an, gap, "trigger", trigger.thread, trigger.entry, start);
  }
  add_evidence(an, gap, "cause", parts.longest_thread, parts.longest_entry, parts.longest_at_ps);
  if (launch && gap->where != XP_WHERE_TAIL && launch->entry != XP_NONE) {
    add_evidence(an, gap, "launch", launch->thread, launch->entry, launch->start_ps);
  }
}

/* A lead-in or tail of which nothing is known, or which is the profiler's own, is shown and not ranked. */
static void rank_edge(xp_gap *gap, bool known)
{
  gap->ranked = known && gap->cause != XP_CAUSE_UNKNOWN && gap->cause != XP_CAUSE_PROFILER;
}

static xp_gap *add_gap(xp_analysis *an, uint32_t device, xp_where where, xp_span span)
{
  xp_reading *r = an->reading;
  r->gaps = xp_arena_grow(an->arena, r->gaps, r->gap_count, &an->gap_capacity, sizeof *r->gaps);
  xp_gap *gap = &r->gaps[r->gap_count++];
  *gap = (xp_gap){.device = device,
                  .where = where,
                  .start_ps = span.start_ps,
                  .dur_ps = span.end_ps - span.start_ps,
                  .step = XP_NONE,
                  .ranked = true};
  return gap;
}

static void explain_before_work(xp_analysis *an, uint32_t device, xp_where where, xp_span span)
{
  const xp_device_data *d = &an->devices.devices[device];
  xp_work before = work_before(d, span.start_ps), after = work_from(d, span.end_ps);
  uint32_t run, launch = launch_of(an, d, &after, &run);
  xp_launch copy = {0}; /* linking may grow the table that holds the launch */
  if (launch != XP_NONE) {
    copy = an->links.launches[launch];
  }
  xp_gap *gap = add_gap(an, device, where, span);
  gap->before = name_of(an, d, &before);
  gap->after = name_of(an, d, &after);
  if (run != XP_NONE && (launch == XP_NONE || an->reading->step_source != XP_STEPS_ANNOTATION)) {
    gap->step = d->runs[run].step;
  } else if (launch != XP_NONE) {
    gap->step = xp_launch_step(an, &copy);
  }
  explain(an, gap, launch == XP_NONE ? NULL : &copy);
  if (where == XP_WHERE_LEAD_IN) {
    rank_edge(gap, launch != XP_NONE); /* without a launch the device may have been working before the session */
  }
  if (launch != XP_NONE && where == XP_WHERE_INSIDE && gap->cause == XP_CAUSE_TRACING && gap->trigger == XP_TRIGGER_NONE) {
    uint32_t before_run, previous = launch_of(an, d, &before, &before_run);
    int64_t since = previous == XP_NONE ? span.start_ps : an->links.launches[previous].asked_ps;
    gap->tracing_bound = xp_trigger_free(an, &copy, since, copy.asked_ps);
  }
}

/* After the last work there is no launch to follow: the thread that asked for the last one is looked at. */
static void explain_tail(xp_analysis *an, uint32_t device, xp_span span)
{
  const xp_device_data *d = &an->devices.devices[device];
  xp_work before = work_before(d, span.start_ps);
  uint32_t run, launch = launch_of(an, d, &before, &run);
  xp_gap *gap = add_gap(an, device, XP_WHERE_TAIL, span);
  gap->before = name_of(an, d, &before);
  if (launch == XP_NONE) {
    explain(an, gap, NULL);
    rank_edge(gap, false);
    return;
  }
  xp_launch last = an->links.launches[launch];
  last.hops[0] = (xp_hop){last.hops[last.hop_count - 1].thread, INT64_MIN};
  last.hop_count = 1;
  last.return_ps = INT64_MAX;
  explain(an, gap, &last);
  rank_edge(gap, true);
}

void xp_gaps_explain(xp_analysis *an)
{
  for (uint32_t i = 0; i < an->devices.count; i++) {
    const xp_device *d = &an->reading->devices[i];
    const xp_host *host = &an->capture->hosts[d->host];
    if (d->has_lead_in) {
      explain_before_work(an, i, XP_WHERE_LEAD_IN, (xp_span){host->start_ps, d->window_ps[0]});
    }
    for (size_t g = 0; g < an->timelines[i].gap_count; g++) {
      explain_before_work(an, i, XP_WHERE_INSIDE, an->timelines[i].gaps[g]);
    }
    if (d->has_tail) {
      explain_tail(an, i, (xp_span){d->window_ps[1], host->stop_ps});
    }
  }
}
