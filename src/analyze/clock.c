/* Clocks: device work cannot start before the call that launched it, nor end after a wait for it returned.
 *
 * The first rule gives a lower bound for the shift of a host's device clock, the second an upper one.  If the lower
 * bound is above zero, all devices of the host are shifted by it; if it is above the upper bound, no shift is right.
 */
#include "analyze/internal.h"

typedef struct {
  int64_t least, most;
  bool has_most;
} bounds;

static void bound_by_launch(const xp_analysis *an, const xp_device_data *d, const xp_device_run *run, bounds *b)
{
  if (run->launch == XP_NONE) {
    return;
  }
  int64_t start = run->has_run_id ? xp_links_run_start(&an->links, d->host, run->run_id, d->ordinal)
                                  : an->links.launches[run->launch].start_ps;
  if (start != INT64_MIN && start - run->start_ps > b->least) {
    b->least = start - run->start_ps;
  }
}

static void bound_by_wait(const xp_analysis *an, const xp_device_data *d, const xp_device_run *run, bounds *b)
{
  int64_t end = run->has_run_id ? xp_links_wait_end(&an->links, d->host, run->run_id, d->ordinal) : INT64_MIN;
  if (end != INT64_MIN && (!b->has_most || end - run->end_ps < b->most)) {
    b->most = end - run->end_ps;
    b->has_most = true;
  }
}

void xp_clock_check(xp_analysis *an)
{
  xp_reading *reading = an->reading;
  for (uint32_t h = 0; h < an->capture->host_count; h++) {
    bounds b = {0, 0, false};
    for (size_t i = 0; i < an->devices.count; i++) {
      const xp_device_data *d = &an->devices.devices[i];
      for (size_t r = 0; d->host == h && d->kind != XP_DEVICE_CPU && r < d->run_count; r++) {
        bound_by_launch(an, d, &d->runs[r], &b);
        bound_by_wait(an, d, &d->runs[r], &b);
      }
    }
    if (b.least <= 0) {
      continue;
    }
    bool consistent = !b.has_most || b.least <= b.most;
    for (size_t i = 0; i < an->devices.count; i++) {
      xp_device_data *d = &an->devices.devices[i];
      if (d->host == h && d->kind != XP_DEVICE_CPU) {
        d->shift_ps = consistent ? b.least : 0;
        d->clock_bad = !consistent;
      }
    }
    if (!consistent) {
      reading->clock = XP_CLOCK_INCONSISTENT;
    } else if (reading->clock != XP_CLOCK_INCONSISTENT) {
      reading->clock = XP_CLOCK_SHIFTED;
    }
    reading->clock_aligned_ps = b.least > reading->clock_aligned_ps ? b.least : reading->clock_aligned_ps;
  }
}
