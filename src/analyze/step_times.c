/* What the devices did in each step, and the summary of every name of steps. */
#include "analyze/internal.h"

#include <stdlib.h>

/* Adds the work of a device to the steps that asked for it: the union, for each step, less what is idle by nature. */
static void measure_device(xp_analysis *an, uint32_t device, int64_t *until)
{
  xp_reading *r = an->reading;
  const xp_device_data *d = &an->devices.devices[device];
  const xp_timeline *t = &an->timelines[device];
  for (size_t s = 0; s < r->step_count; s++) {
    until[s] = INT64_MIN;
  }
  size_t idle = 0;
  xp_work_iter iter = xp_work_begin(d, an->arena);
  for (xp_work work; xp_work_next(&iter, &work);) {
    uint32_t run = an->devices.ops[work.op].role == XP_ROLE_WORK ? xp_work_run(d, &work) : XP_NONE;
    uint32_t step = run == XP_NONE ? XP_NONE : d->runs[run].step;
    if (step == XP_NONE) {
      continue;
    }
    xp_step *s = &r->steps[step];
    if (s->device_start_ps == s->device_end_ps) {
      s->device_start_ps = work.start_ps;
      s->device_end_ps = work.end_ps;
    }
    s->device_start_ps = work.start_ps < s->device_start_ps ? work.start_ps : s->device_start_ps;
    s->device_end_ps = work.end_ps > s->device_end_ps ? work.end_ps : s->device_end_ps;
    int64_t from = work.start_ps > until[step] ? work.start_ps : until[step];
    while (idle < t->idle_op_count && t->idle_ops[idle].end_ps <= work.start_ps) {
      idle++;
    }
    for (size_t i = idle; i < t->idle_op_count && t->idle_ops[i].start_ps < work.end_ps; i++) {
      if (t->idle_ops[i].start_ps > from) {
        s->device_busy_ps[device] += t->idle_ops[i].start_ps - from;
      }
      from = t->idle_ops[i].end_ps > from ? t->idle_ops[i].end_ps : from;
    }
    s->device_busy_ps[device] += work.end_ps > from ? work.end_ps - from : 0;
    until[step] = work.end_ps > until[step] ? work.end_ps : until[step];
  }
}

static int by_value(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

typedef struct {
  int64_t mean, median, max;
} numbers;

static numbers summarise(int64_t *values, size_t count)
{
  numbers n = {0, 0, 0};
  if (count) {
    qsort(values, count, sizeof *values, by_value);
    __int128 sum = 0;
    for (size_t i = 0; i < count; i++) {
      sum += values[i];
    }
    n.mean = (int64_t)((sum + (__int128)(count / 2)) / (__int128)count);
    n.median = count % 2 ? values[count / 2] : values[count / 2 - 1] + (values[count / 2] - values[count / 2 - 1]) / 2;
    n.max = values[count - 1];
  }
  return n;
}

static void summarise_name(xp_analysis *an, xp_step_summary *summary, int64_t *durations, int64_t *periods)
{
  const xp_reading *r = an->reading;
  size_t n = 0, p = 0;
  const xp_step *last = NULL;
  __int128 busy = 0;
  for (size_t i = 0; i < r->step_count; i++) {
    const xp_step *s = &r->steps[i];
    if (s->host != summary->host || !xp_str_eq(s->name, summary->name)) {
      continue;
    }
    summary->partial += !s->complete;
    if (s->complete) {
      durations[n++] = s->dur_ps;
      busy += s->busy_ps;
      if (last) {
        periods[p++] = s->start_ps - last->start_ps;
      }
      last = s;
    }
  }
  numbers d = summarise(durations, n), q = summarise(periods, p);
  summary->complete = n;
  summary->has_duration = n > 0;
  summary->has_period = p > 0;
  summary->duration_ps = d.mean;
  summary->duration_median_ps = d.median;
  summary->duration_max_ps = d.max;
  summary->period_ps = q.mean;
  summary->period_median_ps = q.median;
  summary->period_max_ps = q.max;
  summary->busy_ps = n ? (int64_t)(busy / (__int128)n) : 0;
}

static void summarise_all(xp_analysis *an)
{
  xp_reading *r = an->reading;
  size_t capacity = 0;
  int64_t *durations = xp_arena_array(an->arena, r->step_count, sizeof *durations);
  int64_t *periods = xp_arena_array(an->arena, r->step_count, sizeof *periods);
  xp_intern seen; /* "host/name" */
  xp_intern_init(&seen, an->arena);
  for (size_t i = 0; i < r->step_count; i++) {
    const xp_step *s = &r->steps[i];
    xp_str key = xp_arena_format(an->arena, "%u/%.*s", s->host, XP_STR_ARG(s->name));
    if (xp_intern_add(&seen, key) < r->summary_count) {
      continue;
    }
    r->summaries = xp_arena_grow(an->arena, r->summaries, r->summary_count, &capacity, sizeof *r->summaries);
    r->summaries[r->summary_count] = (xp_step_summary){.host = s->host, .name = s->name};
    summarise_name(an, &r->summaries[r->summary_count++], durations, periods);
  }
}

/* Host time before the first and after the last annotated step. */
static void measure_outside(xp_analysis *an)
{
  xp_reading *r = an->reading;
  for (uint32_t h = 0; r->step_source == XP_STEPS_ANNOTATION && h < an->capture->host_count; h++) {
    const xp_host *host = &an->capture->hosts[h];
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < r->step_count; i++) {
      if (r->steps[i].host == h) {
        int64_t end = r->steps[i].start_ps + r->steps[i].dur_ps;
        first = r->steps[i].start_ps < first ? r->steps[i].start_ps : first;
        last = end > last ? end : last;
      }
    }
    if (host->has_session && first <= last) {
      r->outside_steps_ps += first > host->start_ps ? first - host->start_ps : 0;
      r->outside_steps_ps += last < host->stop_ps ? host->stop_ps - last : 0;
    }
  }
}

void xp_steps_measure(xp_analysis *an)
{
  xp_reading *r = an->reading;
  int64_t *until = xp_arena_array(an->arena, r->step_count, sizeof *until);
  for (size_t s = 0; s < r->step_count; s++) {
    r->steps[s].device_busy_ps = xp_arena_array(an->arena, an->devices.count, sizeof(int64_t));
  }
  for (uint32_t d = 0; r->step_count && d < an->devices.count; d++) {
    measure_device(an, d, until);
  }
  for (size_t s = 0; s < r->step_count; s++) {
    xp_step *step = &r->steps[s];
    int64_t sum = 0, devices = 0;
    for (uint32_t d = 0; d < an->devices.count; d++) {
      bool mine = an->devices.devices[d].host == step->host && r->devices[d].has_window;
      sum += mine ? step->device_busy_ps[d] : 0;
      devices += mine;
    }
    step->busy_ps = devices ? sum / devices : 0;
  }
  summarise_all(an);
  measure_outside(an);
}
