/* What the devices did in each step, and the summary of every name of steps. */
#include "analyze/internal.h"

#include <stdlib.h>

#include "base/sum.h"

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
  for (size_t at = 0, count = xp_work_count(d); at < count; at++) {
    xp_work work = xp_work_at(d, at);
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

/* Steps first .. last of `order` have one host and name. */
static xp_step_summary summarise_name(const xp_reading *r, const uint32_t *order, size_t count, int64_t *durations,
                                      int64_t *periods)
{
  const xp_step *first = &r->steps[order[0]], *last = NULL;
  xp_step_summary out = {.host = first->host, .name = first->name};
  size_t n = 0, p = 0;
  __int128 busy = 0;
  for (size_t i = 0; i < count; i++) {
    const xp_step *s = &r->steps[order[i]];
    if (!s->complete) {
      out.partial++;
      continue;
    }
    durations[n++] = s->dur_ps;
    busy += s->busy_ps;
    if (last) {
      periods[p++] = s->start_ps - last->start_ps;
    }
    last = s;
  }
  numbers d = summarise(durations, n), q = summarise(periods, p);
  out.complete = n;
  out.has_duration = n > 0;
  out.has_period = p > 0;
  out.duration_ps = d.mean;
  out.duration_median_ps = d.median;
  out.duration_max_ps = d.max;
  out.period_ps = q.mean;
  out.period_median_ps = q.median;
  out.period_max_ps = q.max;
  out.busy_ps = n ? (int64_t)(busy / (__int128)n) : 0;
  return out;
}

/* Numbers the (host, name) of every step in the order of first appearance; returns how many there are. */
static size_t number_names(const xp_reading *r, uint32_t *group, xp_arena *arena)
{
  xp_map seen;
  size_t groups = 0;
  xp_map_init(&seen, arena);
  for (size_t i = 0; i < r->step_count; i++) {
    uint64_t key = xp_str_hash(r->steps[i].name) * 31 + r->steps[i].host;
    uint32_t g = xp_map_get(&seen, key);
    if (g == XP_NONE) {
      g = (uint32_t)groups++;
      xp_map_put(&seen, key, g);
    }
    group[i] = g;
  }
  return groups;
}

static void summarise_all(xp_reading *r, xp_arena *arena)
{
  size_t n = r->step_count;
  uint32_t *group = xp_arena_array(arena, n, sizeof *group), *order = xp_arena_array(arena, n, sizeof *order);
  int64_t *durations = xp_arena_array(arena, n, sizeof *durations);
  int64_t *periods = xp_arena_array(arena, n, sizeof *periods);
  size_t groups = number_names(r, group, arena);
  size_t *start = xp_arena_array(arena, groups + 1, sizeof *start); /* of each group in `order`: a counting sort */
  size_t *next = xp_arena_array(arena, groups + 1, sizeof *next);
  for (size_t i = 0; i < n; i++) {
    start[group[i] + 1]++;
  }
  for (size_t g = 0; g < groups; g++) {
    start[g + 1] += start[g];
    next[g] = start[g];
  }
  for (size_t i = 0; i < n; i++) {
    order[next[group[i]]++] = (uint32_t)i;
  }
  r->summaries = xp_arena_array(arena, groups, sizeof *r->summaries);
  r->summary_count = groups;
  for (size_t g = 0; g < groups; g++) {
    r->summaries[g] = summarise_name(r, order + start[g], start[g + 1] - start[g], durations, periods);
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
        int64_t end = xp_add_saturating(r->steps[i].start_ps, r->steps[i].dur_ps);
        first = r->steps[i].start_ps < first ? r->steps[i].start_ps : first;
        last = end > last ? end : last;
      }
    }
    if (host->has_session && first <= last) {
      xp_sum_add(&r->outside_steps_ps, first > host->start_ps ? xp_sub_saturating(first, host->start_ps) : 0);
      xp_sum_add(&r->outside_steps_ps, last < host->stop_ps ? xp_sub_saturating(host->stop_ps, last) : 0);
    }
  }
}

void xp_steps_measure(xp_analysis *an, xp_arena *arena)
{
  xp_reading *r = an->reading;
  int64_t *until = xp_arena_array(arena, r->step_count, sizeof *until);
  int64_t *busy = xp_arena_array(arena, r->step_count, an->devices.count * sizeof *busy);
  for (size_t s = 0; s < r->step_count; s++) {
    r->steps[s].device_busy_ps = busy + s * an->devices.count;
  }
  for (uint32_t d = 0; r->step_count && d < an->devices.count; d++) {
    measure_device(an, d, until);
  }
  for (size_t s = 0; s < r->step_count; s++) {
    xp_step *step = &r->steps[s];
    int64_t sum = 0, devices = 0;
    for (uint32_t d = 0; d < an->devices.count; d++) {
      bool mine = an->devices.devices[d].host == step->host && r->devices[d].has_window;
      xp_sum_add(&sum, mine ? step->device_busy_ps[d] : 0);
      devices += mine;
    }
    step->busy_ps = devices ? sum / devices : 0;
  }
  summarise_all(r, arena);
  measure_outside(an);
}
