/* When the session was, and what has to be added to the offsets of each line.
 *
 * The profiler saves line bases relative to the start of the session of its host; some writers leave Unix times.  The
 * two cannot be confused: a base at or above the start of the session (about 1.7 * 10^18 ns), or without a known start
 * above 10^17 ns (the year 1973), is a Unix time.
 */
#include "xspace/load.h"

#define FIRST_UNIX_NS INT64_C(100000000000000000)
#define MINUTE_NS     INT64_C(60000000000)
#define LONGEST_NS    (3 * 24 * 60 * MINUTE_NS) /* of a session; nobody records for days: such times are damage */
#define MOST_APART_NS (10 * MINUTE_NS)          /* hosts of one run begin to record within seconds */

enum { MINUTES_A_DAY = 24 * 60 };

static int64_t bounded_time(const xp_stat *stat)
{
  int64_t ns = xp_stat_int(stat, 0);
  return ns > 0 ? ns : 0;
}

static void read_task_environment(const xp_plane *plane, xp_host *host)
{
  xp_stat stat;
  if (xp_stats_find(xp_plane_stats(plane), XP_KEY_PROFILE_START_TIME, &stat)) {
    host->start_unix_ns = bounded_time(&stat);
  }
  if (xp_stats_find(xp_plane_stats(plane), XP_KEY_PROFILE_STOP_TIME, &stat)) {
    host->stop_unix_ns = bounded_time(&stat);
  }
  host->has_session = host->start_unix_ns > 0 && host->stop_unix_ns >= host->start_unix_ns &&
                      host->stop_unix_ns - host->start_unix_ns <= LONGEST_NS;
}

/* The earliest line base that is a Unix time; 0 if there is none. */
static int64_t earliest_unix_base(const xp_loader *loader)
{
  int64_t earliest = 0;
  for (size_t i = 0; i < loader->plane_count; i++) {
    const xp_plane *plane = &loader->planes[i]->plane;
    for (size_t k = 0; loader->planes[i]->damage.pos == NULL && k < plane->line_count; k++) {
      int64_t ns = plane->lines[k].timestamp_ns;
      if (ns >= FIRST_UNIX_NS && (earliest == 0 || ns < earliest)) {
        earliest = ns;
      }
    }
  }
  return earliest;
}

static int64_t base_of(const xp_capture *capture, const xp_host *host, int64_t timestamp_ns)
{
  int64_t first_unix = host->start_unix_ns > 0 ? host->start_unix_ns : FIRST_UNIX_NS;
  if (timestamp_ns >= first_unix) {
    return xp_ns_to_ps(timestamp_ns - capture->start_unix_ns);
  }
  return xp_add_saturating(xp_ns_to_ps(timestamp_ns), host->start_ps);
}

void xp_session_find(xp_loader *loader)
{
  xp_capture *capture = &loader->capture;
  for (size_t i = 0; i < loader->plane_count; i++) {
    const xp_plane *plane = &loader->planes[i]->plane;
    if (loader->planes[i]->damage.pos == NULL && xp_str_is(plane->name, "Task Environment")) {
      read_task_environment(plane, plane->host);
    }
  }
  for (size_t i = 0; i < capture->host_count; i++) {
    const xp_host *host = &capture->hosts[i];
    if (host->start_unix_ns > 0 && (capture->start_unix_ns == 0 || host->start_unix_ns < capture->start_unix_ns)) {
      capture->start_unix_ns = host->start_unix_ns;
    }
  }
  if (capture->start_unix_ns == 0) {
    capture->start_unix_ns = earliest_unix_base(loader);
  }
  for (size_t i = 0; i < capture->host_count; i++) {
    xp_host *host = &capture->hosts[i];
    if (host->start_unix_ns > 0) {
      host->start_ps = xp_ns_to_ps(host->start_unix_ns - capture->start_unix_ns);
    }
    if (host->has_session) {
      host->stop_ps = xp_ns_to_ps(host->stop_unix_ns - capture->start_unix_ns);
      capture->has_session = true;
      capture->dur_ps = host->stop_ps > capture->dur_ps ? host->stop_ps : capture->dur_ps;
    }
  }
  for (size_t i = 0; i < loader->plane_count; i++) {
    xp_plane *plane = &loader->planes[i]->plane;
    for (size_t k = 0; loader->planes[i]->damage.pos == NULL && k < plane->line_count; k++) {
      plane->lines[k].base_ps = base_of(capture, plane->host, plane->lines[k].timestamp_ns);
    }
  }
}

xp_status xp_session_check(const xp_loader *loader, xp_error *err)
{
  const xp_capture *capture = &loader->capture;
  const xp_host *first = NULL, *last = NULL;
  for (size_t i = 0; i < capture->host_count; i++) {
    const xp_host *host = &capture->hosts[i];
    if (host->has_session) {
      first = first == NULL || host->start_unix_ns < first->start_unix_ns ? host : first;
      last = last == NULL || host->start_unix_ns > last->start_unix_ns ? host : last;
    }
  }
  if (first == NULL || last->start_unix_ns - first->start_unix_ns < MOST_APART_NS) {
    return XP_OK;
  }
  int64_t minutes = (last->start_unix_ns - first->start_unix_ns) / MINUTE_NS;
  bool days = minutes >= 2 * MINUTES_A_DAY;
  return xp_fail(
      err, XP_ERR_USAGE,
      "these captures are no hosts of one run: %.*s was recorded %lld %s after %.*s; name one file, or choose "
      "with --host",
      XP_STR_ARG(last->path), (long long)(days ? minutes / MINUTES_A_DAY : minutes), days ? "days" : "minutes",
      XP_STR_ARG(first->path));
}

/* The extent of the timed events of a host; false if it has none. */
static bool extent_of(const xp_host *host, int64_t *first_ps, int64_t *last_ps)
{
  bool found = false;
  for (size_t i = 0; i < host->plane_count; i++) {
    for (size_t k = 0; k < host->planes[i].line_count; k++) {
      const xp_line *line = &host->planes[i].lines[k];
      if (line->start_ps == NULL || line->count == line->untimed + line->stray) {
        continue;
      }
      *first_ps = found && *first_ps < line->first_ps ? *first_ps : line->first_ps;
      *last_ps = found && *last_ps > line->last_ps ? *last_ps : line->last_ps;
      found = true;
    }
  }
  return found;
}

void xp_session_extent(xp_loader *loader)
{
  xp_capture *capture = &loader->capture;
  for (size_t i = 0; i < capture->host_count; i++) {
    xp_host *host = &capture->hosts[i];
    int64_t first_ps, last_ps;
    if (!host->has_session && extent_of(host, &first_ps, &last_ps)) {
      host->start_ps = first_ps;
      host->stop_ps = last_ps;
      if (!capture->has_session && last_ps > capture->dur_ps) {
        capture->dur_ps = last_ps;
      }
    }
  }
}
