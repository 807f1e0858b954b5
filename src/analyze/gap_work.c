/* Finding the work at the ends of a gap: a binary search in every lane, and a few steps back, since events nest.  A
 * loop of the device may cover more events than that; its run is found by time all the same.
 */
#include "analyze/gaps.h"

enum { LOOK_BACK = 512 };

/* Number of events of a lane that start at or before a time (strict: before). */
static size_t started(const xp_device_data *d, const xp_lane *lane, int64_t time, bool strict)
{
  size_t low = 0, high = lane->count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    int64_t start = xp_lane_start(d, lane, mid);
    if (start < time || (!strict && start == time)) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

static xp_work latest(const xp_device_data *d, int64_t time, bool ended)
{
  xp_work best = {.lane = XP_NONE, .start_ps = INT64_MIN};
  for (uint32_t l = 0; l < d->lane_count; l++) {
    const xp_lane *lane = &d->lanes[l];
    size_t i = started(d, lane, time, ended);
    for (size_t back = 0; i > 0 && back < LOOK_BACK; i--, back++) {
      int64_t start = xp_lane_start(d, lane, i - 1), end = xp_lane_end(d, lane, i - 1);
      if (ended ? end == time : end > time) {
        if (start > best.start_ps) {
          best = (xp_work){l, (uint32_t)(i - 1), lane->op[i - 1], start, end};
        }
        break;
      }
    }
  }
  best.start_ps = best.lane == XP_NONE ? time : best.start_ps;
  return best;
}

/* The run of what `latest` found, or of the time at which it found nothing. */
static uint32_t run_of(const xp_device_data *d, const xp_work *work)
{
  return work->lane == XP_NONE ? xp_device_run_at(d, work->start_ps) : xp_work_run(d, work);
}

xp_work xp_work_from(const xp_device_data *device, int64_t time_ps)
{
  return latest(device, time_ps, false);
}

xp_work xp_work_before(const xp_device_data *device, int64_t time_ps)
{
  return latest(device, time_ps, true);
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

uint32_t xp_work_launch(xp_analysis *an, const xp_device_data *device, const xp_work *work, uint32_t *run)
{
  *run = XP_NONE;
  if (device->clock_bad) {
    return XP_NONE;
  }
  *run = run_of(device, work);
  if (*run != XP_NONE && device->runs[*run].launch != XP_NONE) {
    return device->runs[*run].launch;
  }
  return device->kind == XP_DEVICE_GPU && work->lane != XP_NONE ? launch_by_correlation(an, device, work) : XP_NONE;
}

xp_work_name xp_work_names(const xp_analysis *an, const xp_device_data *device, const xp_work *work)
{
  xp_work_name name = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
  uint32_t run = run_of(device, work);
  name.program = run == XP_NONE ? name.program : device->runs[run].name;
  if (work->lane != XP_NONE) {
    const xp_op *op = &an->devices.ops[work->op];
    name.op = op->op;
    name.scope = op->scope;
    name.program = name.program.len ? name.program : op->module;
  }
  return name;
}
