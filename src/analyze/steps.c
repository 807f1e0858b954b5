/* Steps: from annotations, else from the Steps line of a device, else from the runs of the main module.
 *
 * Numbers are kept as they are.  A step is complete when the session holds all of it: one that was open before is
 * written from the session's start, one that is open at the end as unfinished, or to the session's stop.  Work belongs
 * to the step in which it was asked for, whenever the device got to it.
 */
#include "analyze/internal.h"

#include <stdlib.h>

#include "base/sum.h"

typedef struct {
  xp_step *rows;
  size_t count, capacity;
} list;

static void add_step(xp_analysis *an, list *steps, xp_step step)
{
  const xp_host *host = &an->capture->hosts[step.host];
  int64_t end = step.start_ps + step.dur_ps;
  step.complete = !host->has_session ? step.start_ps > 0 : step.start_ps > host->start_ps && end < host->stop_ps;
  steps->rows = xp_arena_grow(an->arena, steps->rows, steps->count, &steps->capacity, sizeof *steps->rows);
  steps->rows[steps->count++] = step;
}

static void from_annotations(xp_analysis *an, list *steps)
{
  for (size_t i = 0; i < an->threads.step_count; i++) {
    const xp_step_mark *mark = &an->threads.steps[i];
    const xp_thread *t = &an->threads.threads[mark->thread];
    add_step(an, steps,
             (xp_step){.host = t->host,
                       .name = xp_str_trim(xp_entry_name(t, mark->entry)),
                       .num = mark->num,
                       .has_num = mark->has_num,
                       .start_ps = xp_entry_start(t, mark->entry),
                       .dur_ps = xp_event_dur(t->line, t->event[mark->entry])});
    xp_step *added = &steps->rows[steps->count - 1];
    added->complete = added->complete && !mark->is_unfinished;
  }
}

static int64_t shift_of(const xp_analysis *an, uint32_t host, xp_str device)
{
  for (size_t i = 0; i < an->devices.count; i++) {
    const xp_device_data *d = &an->devices.devices[i];
    if (d->host == host && xp_str_eq(d->name, device)) {
      return d->shift_ps;
    }
  }
  return 0;
}

/* The Steps line of the first device of a host that has one. */
static bool from_device_line(xp_analysis *an, uint32_t host, list *steps)
{
  const xp_host *h = &an->capture->hosts[host];
  for (size_t p = 0; p < h->plane_count; p++) {
    for (size_t l = 0; xp_str_starts(h->planes[p].name, "/device:") && l < h->planes[p].line_count; l++) {
      const xp_line *line = &h->planes[p].lines[l];
      if (!xp_str_is(line->name, "Steps") || line->count == 0) {
        continue;
      }
      int64_t shift_ps = shift_of(an, host, h->planes[p].name);
      for (size_t i = 0; i < line->count; i++) {
        if (!xp_event_has_time(line, i)) {
          continue;
        }
        xp_step step = {.host = host,
                        .name = xp_str_c("step"),
                        .start_ps = line->start_ps[i] + shift_ps,
                        .dur_ps = xp_event_dur(line, i)};
        step.has_num = xp_str_to_int64(xp_str_trim(xp_event_name(line, i)), &step.num);
        add_step(an, steps, step);
      }
      return true;
    }
  }
  return false;
}

/* The module with the most device time among those that ran more than once. */
static xp_str main_module(xp_analysis *an, const xp_device_data *d)
{
  xp_intern names;
  xp_intern_init(&names, an->arena);
  int64_t *time = xp_arena_array(an->arena, d->run_count, sizeof *time);
  size_t *runs = xp_arena_array(an->arena, d->run_count, sizeof *runs);
  for (size_t i = 0; i < d->run_count; i++) {
    xp_str name = an->devices.modules[d->runs[i].module].name;
    if (name.len) {
      uint32_t n = xp_intern_add(&names, name);
      xp_sum_add(&time[n], xp_sub_saturating(d->runs[i].end_ps, d->runs[i].start_ps));
      runs[n]++;
    }
  }
  uint32_t best = XP_NONE;
  for (uint32_t n = 0; n < names.count; n++) {
    if (runs[n] > 1 && (best == XP_NONE || time[n] > time[best])) {
      best = n;
    }
  }
  return best == XP_NONE ? xp_str_from(NULL, 0) : names.strings[best];
}

static bool from_modules(xp_analysis *an, uint32_t host, list *steps)
{
  for (size_t i = 0; i < an->devices.count; i++) {
    const xp_device_data *d = &an->devices.devices[i];
    xp_str module = d->host == host && d->run_count ? main_module(an, d) : xp_str_from(NULL, 0);
    if (!module.len) {
      continue;
    }
    for (size_t r = 0; r < d->run_count; r++) {
      if (xp_str_eq(an->devices.modules[d->runs[r].module].name, module)) {
        xp_step step = {.host = host,
                        .name = module,
                        .start_ps = d->runs[r].start_ps + d->shift_ps,
                        .dur_ps = d->runs[r].end_ps - d->runs[r].start_ps};
        add_step(an, steps, step);
      }
    }
    return true;
  }
  return false;
}

static int by_start(const void *a, const void *b)
{
  const xp_step *x = a, *y = b;
  if (x->start_ps != y->start_ps) {
    return x->start_ps < y->start_ps ? -1 : 1;
  }
  return (x->dur_ps < y->dur_ps) - (x->dur_ps > y->dur_ps);
}

/* Number of steps that began at or before a time; mostly the same as for the time before. */
static size_t begun(const xp_reading *r, int64_t time_ps, size_t *hint)
{
  size_t low = 0, high = r->step_count;
  if (hint && *hint > 0 && *hint < high && r->steps[*hint - 1].start_ps <= time_ps &&
      time_ps < r->steps[*hint].start_ps) {
    return *hint;
  }
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (r->steps[mid].start_ps <= time_ps) {
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

enum { LOOK_BACK = 256 }; /* steps hardly overlap, but for those of several hosts */

uint32_t xp_steps_at(const xp_analysis *an, uint32_t host, int64_t time_ps, size_t *hint)
{
  size_t i = begun(an->reading, time_ps, hint);
  for (size_t back = 0; i > 0 && back < LOOK_BACK; i--, back++) {
    const xp_step *s = &an->reading->steps[i - 1];
    if (s->host == host && s->start_ps + s->dur_ps > time_ps) {
      return (uint32_t)(i - 1);
    }
  }
  return XP_NONE;
}

uint32_t xp_steps_before(const xp_analysis *an, uint32_t host, int64_t time_ps)
{
  size_t i = begun(an->reading, time_ps, NULL);
  for (size_t back = 0; i > 0 && back < LOOK_BACK; i--, back++) {
    if (an->reading->steps[i - 1].host == host) {
      return (uint32_t)(i - 1);
    }
  }
  return XP_NONE;
}

uint32_t xp_launch_step(const xp_analysis *an, const xp_launch *launch, size_t *hint)
{
  return launch ? xp_steps_at(an, xp_launch_host(&an->links, launch), launch->asked_ps, hint) : XP_NONE;
}

/* Annotated steps are those in which a run was asked for; other steps are the device's own time. */
static void give_runs_steps(xp_analysis *an)
{
  for (size_t i = 0; i < an->devices.count; i++) {
    xp_device_data *d = &an->devices.devices[i];
    size_t hint = 0;
    for (size_t r = 0; r < d->run_count; r++) {
      xp_device_run *run = &d->runs[r];
      if (an->reading->step_source != XP_STEPS_ANNOTATION) {
        run->step = xp_steps_at(an, d->host, run->start_ps + d->shift_ps, &hint);
      } else if (run->launch != XP_NONE) {
        run->step = xp_launch_step(an, &an->links.launches[run->launch], &hint);
      }
    }
  }
}

void xp_steps_find(xp_analysis *an)
{
  xp_reading *reading = an->reading;
  list steps = {0};
  from_annotations(an, &steps);
  reading->step_source = steps.count ? XP_STEPS_ANNOTATION : XP_STEPS_NONE;
  for (uint32_t h = 0; reading->step_source != XP_STEPS_ANNOTATION && h < an->capture->host_count; h++) {
    if (from_device_line(an, h, &steps)) {
      reading->step_source = XP_STEPS_DEVICE;
    }
  }
  for (uint32_t h = 0; reading->step_source == XP_STEPS_NONE && h < an->capture->host_count; h++) {
    from_modules(an, h, &steps);
  }
  if (reading->step_source == XP_STEPS_NONE && steps.count) {
    reading->step_source = XP_STEPS_MODULE;
  }
  if (!steps.count) {
    reading->step_reason = xp_str_c("no step annotation, no Steps line of a device, and no module that ran twice");
  } else {
    qsort(steps.rows, steps.count, sizeof *steps.rows, by_start);
  }
  reading->steps = steps.rows;
  reading->step_count = steps.count;
  give_runs_steps(an);
}
