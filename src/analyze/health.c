/* What is wrong with a capture, in whole sentences: nothing is lost silently. */
#define _GNU_SOURCE
#include "analyze/internal.h"

#include <stdarg.h>

void xp_warn(xp_analysis *an, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  xp_str text = xp_text_v(an, format, args);
  va_end(args);
  xp_reading *r = an->reading;
  r->warnings = xp_arena_grow(an->arena, r->warnings, r->warning_count, &an->warning_capacity, sizeof *r->warnings);
  r->warnings[r->warning_count++] = text;
}

static void check_files(xp_analysis *an)
{
  for (size_t i = 0; i < an->capture->note_count; i++) {
    xp_warn(an, "%.*s", XP_STR_ARG(an->capture->notes[i]));
  }
  for (size_t h = 0; h < an->capture->host_count; h++) {
    const xp_host *host = &an->capture->hosts[h];
    if (host->status != XP_FILE_OK) {
      xp_warn(an, "%.*s: %.*s", XP_STR_ARG(host->path), XP_STR_ARG(host->problem));
    }
    for (size_t m = 0; m < host->message_count; m++) {
      xp_warn(an, "the recorder of %.*s says: %.*s", XP_STR_ARG(host->name), XP_STR_ARG(host->messages[m]));
    }
  }
}

static void check_lines(xp_analysis *an)
{
  size_t untimed = 0, untimed_planes = 0, stray = 0, unnamed = 0;
  xp_str untimed_plane = {NULL, 0};
  for (size_t h = 0; h < an->capture->host_count; h++) {
    for (size_t p = 0; p < an->capture->hosts[h].plane_count; p++) {
      const xp_plane *plane = &an->capture->hosts[h].planes[p];
      size_t here = 0;
      for (size_t l = 0; l < plane->line_count; l++) {
        here += plane->lines[l].untimed;
        stray += plane->lines[l].stray;
      }
      untimed += here;
      untimed_planes += here > 0;
      untimed_plane = here ? plane->name : untimed_plane;
      unnamed += plane->unnamed_events;
    }
  }
  if (untimed) {
    xp_warn(an,
            "%zu untimed events (start 0, duration 0) on %zu plane%s (%.*s): they ran, but nobody knows when; they are "
            "in no time here",
            untimed, untimed_planes, untimed_planes == 1 ? "" : "s", XP_STR_ARG(untimed_plane));
  }
  if (stray) {
    xp_warn(an, "%zu events lie further outside of the session than it is long: left out of all times", stray);
  }
  if (unnamed) {
    xp_warn(an, "%zu events refer to a name that the file does not hold", unnamed);
  }
}

static void check_launches(xp_analysis *an)
{
  const xp_counters *c = &an->reading->counters;
  unsigned long long launches = c->launches, executions = c->executions;
  if (launches && executions == 0) {
    xp_warn(an,
            "%llu launches, 0 executions seen: the device's trace is missing (this is not \"100 %% idle\"); capture "
            "again with device_tracer_level 1",
            launches);
    return;
  }
  if (c->launches_without_execution > 1 || (c->launches_without_execution && executions == 0)) {
    xp_warn(an, "%llu of %llu launches have no execution in the capture: cut off by its end, or lost",
            (unsigned long long)c->launches_without_execution, launches);
  }
  if (c->executions_without_launch) {
    xp_warn(
        an,
        "%llu of %llu executions have no launch in the capture: launched before it began, or by what it does not show",
        (unsigned long long)c->executions_without_launch, executions);
  }
}

/* Launches of a host after a time, and the start of the latest of them.  They are sorted, so only those are looked at.
 */
static size_t launches_after(const xp_analysis *an, uint32_t host, int64_t after, int64_t *latest)
{
  size_t count = 0;
  *latest = after;
  for (size_t i = an->links.asked_count; i > 0; i--) {
    const xp_launch *l = &an->links.launches[an->links.asked[i - 1]];
    if (l->start_ps <= after) {
      break;
    }
    if (xp_launch_host(&an->links, l) == host) {
      *latest = count == 0 ? l->start_ps : *latest;
      count++;
    }
  }
  return count;
}

/* Launches go on long after the last event of the device. */
static void check_early_end(xp_analysis *an)
{
  enum { LEAST_LAUNCHES = 3 };
  for (size_t i = 0; i < an->reading->device_count; i++) {
    xp_device *d = &an->reading->devices[i];
    int64_t latest;
    size_t behind = d->has_window ? launches_after(an, d->host, d->window_ps[1], &latest) : 0;
    if (behind < LEAST_LAUNCHES || (latest - d->window_ps[1]) * 10 < latest - d->window_ps[0]) {
      continue;
    }
    d->ends_early = true;
    xp_warn(
        an,
        "%.*s has no event after %.3f ms although %zu launches follow: its trace ends early and is read to that point",
        XP_STR_ARG(d->name), (double)d->window_ps[1] / 1e9, behind);
    for (size_t g = 0; g < an->reading->gap_count; g++) {
      xp_gap *gap = &an->reading->gaps[g];
      gap->ranked = gap->ranked && !(gap->device == i && gap->where == XP_WHERE_TAIL);
    }
  }
}

static void check_devices(xp_analysis *an)
{
  size_t empty = 0;
  xp_str first = {NULL, 0};
  for (size_t i = 0; i < an->reading->device_count; i++) {
    if (!an->reading->devices[i].has_window) {
      first = empty ? first : an->reading->devices[i].name;
      empty++;
    }
  }
  if (empty) {
    xp_warn(an, "%zu device%s without timed work (%.*s%s)", empty, empty == 1 ? "" : "s", XP_STR_ARG(first),
            empty > 1 ? " .." : "");
  }
  if (an->reading->clock == XP_CLOCK_SHIFTED) {
    xp_warn(an,
            "the device clock runs behind the host's: device times were moved by %.3f us, the least that puts no work "
            "before its launch",
            (double)an->reading->clock_aligned_ps / 1e6);
  } else if (an->reading->clock == XP_CLOCK_INCONSISTENT) {
    xp_warn(an, "the clocks of host and device contradict each other (no single shift helps): no cause that depends on "
                "both is given");
  }
}

void xp_health_check(xp_analysis *an)
{
  check_files(an);
  check_lines(an);
  check_launches(an);
  check_early_end(an);
  check_devices(an);
}
