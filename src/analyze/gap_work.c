/* Finding the work at the ends of a gap: a binary search, and some steps back, since events nest and lanes interleave.
 */
#include "analyze/gaps.h"

enum { LOOK_BACK = 512, MOST_LANES = 64 };

static bool starts_by(const xp_device_data *d, size_t i, int64_t time, bool strict)
{
  int64_t start = xp_work_at(d, i).start_ps;
  return start < time || (!strict && start == time);
}

/* Number of pieces of work that start at or before a time (strict: before).  Whoever goes from gap to gap looks close
 * to where it was, in steps that double. */
static size_t started(const xp_device_data *d, int64_t time, bool strict, size_t *hint)
{
  size_t low = 0, high = xp_work_count(d);
  if (hint && *hint < high && (*hint == 0 || starts_by(d, *hint - 1, time, strict))) {
    low = *hint;
    for (size_t step = 1; step < high - low; step *= 2) {
      if (!starts_by(d, low + step, time, strict)) {
        high = low + step;
        break;
      }
      low += step + 1;
    }
  }
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (starts_by(d, mid, time, strict)) {
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

/* The latest work to start that ends at a time (ended), or that is running then; of equals the first lane's. */
static xp_work latest(const xp_device_data *d, int64_t time, bool ended, size_t *hint)
{
  xp_work best = {.lane = XP_NONE, .start_ps = INT64_MIN};
  size_t limit = LOOK_BACK * (d->lane_count < MOST_LANES ? d->lane_count : MOST_LANES);
  size_t i = started(d, time, ended, hint);
  for (size_t back = 0; i > 0 && back < limit; i--, back++) {
    xp_work w = xp_work_at(d, i - 1);
    if (best.lane != XP_NONE && w.start_ps != best.start_ps) {
      break;
    }
    bool fits = ended ? w.end_ps == time : w.end_ps > time;
    best = fits && w.lane < best.lane ? w : best;
  }
  best.start_ps = best.lane == XP_NONE ? time : best.start_ps;
  return best;
}

/* The run of what `latest` found, or of the time at which it found nothing. */
static uint32_t run_of(const xp_device_data *d, const xp_work *work)
{
  return work->lane == XP_NONE ? xp_device_run_at(d, work->start_ps) : xp_work_run(d, work);
}

xp_work xp_work_from(const xp_device_data *device, int64_t time_ps, size_t *hint)
{
  return latest(device, time_ps, false, hint);
}

xp_work xp_work_before(const xp_device_data *device, int64_t time_ps, size_t *hint)
{
  return latest(device, time_ps, true, hint);
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
  name.program = run == XP_NONE ? name.program : an->devices.modules[device->runs[run].module].name;
  if (work->lane != XP_NONE) {
    const xp_op *op = &an->devices.ops[work->op];
    name.op = op->op;
    name.scope = op->scope;
    name.program = name.program.len ? name.program : op->module;
  }
  return name;
}
