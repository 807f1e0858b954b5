/* Runs of programs and the calls that launched them.
 *
 * A run is linked to its launch by run_id, on GPUs by correlation ids (done while kernels are read), by the id that its
 * event consumes and the launch produces, else by order: the k-th execute call that a program made is the k-th run of
 * the device.  A run that began before the first call cannot be its run and stays without launch.
 */
#include "analyze/internal.h"

#include <stdlib.h>

/* The waits in which XLA CPU finishes runs, by start.  They may last no time at all. */
static xp_span *completions(xp_analysis *an, uint32_t host, size_t *count)
{
  xp_span *spans = NULL;
  size_t capacity = 0;
  *count = 0;
  for (size_t i = 0; i < an->threads.count; i++) {
    const xp_thread *t = &an->threads.threads[i];
    const xp_line *line = t->line;
    for (size_t e = 0; t->host == host && e < line->count; e++) {
      if ((xp_thread_class(t, e).flags & XP_NAME_COMPLETION) && xp_event_has_time(line, e)) {
        spans = xp_arena_grow(an->arena, spans, *count, &capacity, sizeof *spans);
        spans[(*count)++] = (xp_span){line->start_ps[e], xp_event_end(line, e)};
      }
    }
  }
  if (*count) {
    qsort(spans, *count, sizeof *spans, xp_span_by_start);
  }
  return spans;
}

/* The execute calls of a host, in order. */
static uint32_t *calls_of(xp_analysis *an, uint32_t host, size_t *count)
{
  uint32_t *calls = xp_arena_array(an->arena, an->links.asked_count, sizeof *calls);
  *count = 0;
  for (size_t i = 0; i < an->links.asked_count; i++) {
    if (xp_launch_host(&an->links, &an->links.launches[an->links.asked[i]]) == host) {
      calls[(*count)++] = an->links.asked[i];
    }
  }
  return calls;
}

static uint32_t new_run(xp_analysis *an, xp_device_data *d, const xp_work *work, int64_t end_ps)
{
  const xp_op *op = &an->devices.ops[work->op];
  uint32_t module = xp_devices_module(&an->devices, (xp_module){op->module, op->program, op->has_program});
  xp_device_run run = {.start_ps = work->start_ps, .end_ps = end_ps, .module = module};
  return xp_device_add_run(&an->devices, d, run);
}

/* From the first op after an execute call to the end of the wait in which the run finishes. */
static void cpu_runs(xp_analysis *an, xp_device_data *d)
{
  size_t wait_count, call_count;
  xp_span *waits = completions(an, d->host, &wait_count);
  uint32_t *calls = calls_of(an, d->host, &call_count);
  size_t k = 0;
  uint32_t run = XP_NONE;
  for (size_t at = 0, count = xp_work_count(d); at < count; at++) {
    xp_work work = xp_work_at(d, at);
    bool over = run == XP_NONE || work.start_ps >= d->runs[run].end_ps;
    while (over && k < wait_count && waits[k].end_ps <= work.start_ps) {
      k++; /* a program without ops that were seen */
    }
    if (over && k < wait_count) {
      bool asked = call_count != wait_count || an->links.launches[calls[k]].start_ps <= work.start_ps;
      run = asked ? new_run(an, d, &work, waits[k].end_ps) : run;
      k += asked;
    } else if (over) {
      run = run == XP_NONE || d->runs[run].end_ps < INT64_MAX ? new_run(an, d, &work, INT64_MAX) : run;
    }
    if (run != XP_NONE) {
      d->lanes[work.lane].run[work.index] = run;
    }
  }
  if (run != XP_NONE && d->runs[run].end_ps == INT64_MAX) { /* the capture ends inside it */
    d->runs[run].end_ps = d->runs[run].start_ps;
    for (size_t at = 0, count = xp_work_count(d); at < count; at++) {
      xp_work work = xp_work_at(d, at);
      if (d->lanes[work.lane].run[work.index] == run && work.end_ps > d->runs[run].end_ps) {
        d->runs[run].end_ps = work.end_ps;
      }
    }
  }
}

static size_t link_by_id(xp_analysis *an, xp_device_data *d)
{
  size_t linked = 0;
  for (size_t i = 0; i < d->run_count; i++) {
    xp_device_run *run = &d->runs[i];
    if (run->launch == XP_NONE && run->has_run_id) {
      run->launch = xp_links_by_run_id(&an->links, d->host, run->run_id, d->ordinal);
    }
    if (run->launch == XP_NONE && run->has_flow) {
      run->launch = xp_links_by_flow(&an->links, d->host, run->flow_type, run->flow, run->start_ps);
    }
    linked += run->launch != XP_NONE;
  }
  return linked;
}

static void link_by_order(xp_analysis *an, xp_device_data *d)
{
  size_t call_count, k = 0;
  uint32_t *calls = calls_of(an, d->host, &call_count);
  for (size_t i = 0; i < d->run_count && k < call_count; i++) {
    if (call_count == d->run_count || an->links.launches[calls[k]].start_ps <= d->runs[i].start_ps) {
      d->runs[i].launch = calls[k++];
    }
  }
}

void xp_runs_build(xp_analysis *an)
{
  for (size_t i = 0; i < an->devices.count; i++) {
    xp_device_data *d = &an->devices.devices[i];
    if (d->kind == XP_DEVICE_CPU && d->run_count == 0) {
      cpu_runs(an, d);
    }
    if (link_by_id(an, d) == 0) {
      link_by_order(an, d);
    }
  }
}
