/* Which tracks there are, and in which order: devices first, those with work before the others; then the steps; the
 * host threads that say something about the waiting; all else. */
#include "web/track.h"

typedef struct {
  xp_tracks *t;
  size_t capacity, group_capacity;
  bool *matters; /* by thread of the analysis */
} builder;

const char *xp_track_kind_name(xp_track_kind kind)
{
  static const char *const names[] = {"gaps", "work", "programs", "line", "steps", "thread"};
  return names[kind];
}

const char *xp_group_kind_name(xp_group_kind kind)
{
  static const char *const names[] = {"device", "steps", "threads", "rest"};
  return names[kind];
}

/* Items are numbered with 32 bits; what a line has beyond is not shown. */
static uint32_t cut(size_t count)
{
  return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX - 1;
}

/* ---- growing */

static void add_track(builder *b, xp_track track)
{
  xp_tracks *t = b->t;
  t->tracks = xp_arena_grow(t->arena, t->tracks, t->count, &b->capacity, sizeof *t->tracks);
  if (track.line != NULL) {
    xp_map_put(&t->track_of_line, (uint64_t)(uintptr_t)track.line, t->count);
  }
  t->tracks[t->count++] = track;
}

static void open_group(builder *b, xp_group_kind kind, xp_str name, uint32_t host, uint32_t device)
{
  xp_tracks *t = b->t;
  t->groups = xp_arena_grow(t->arena, t->groups, t->group_count, &b->group_capacity, sizeof *t->groups);
  t->groups[t->group_count++] =
      (xp_track_group){.kind = kind, .name = name, .host = host, .device = device, .first = t->count};
}

/* A group without tracks is none. */
static void close_group(builder *b)
{
  xp_track_group *group = &b->t->groups[b->t->group_count - 1];
  group->count = b->t->count - group->first;
  b->t->group_count -= group->count == 0;
}

static xp_str label_of(const xp_line *line)
{
  return line->display_name.len > 0 ? line->display_name : line->name;
}

/* ---- devices */

static void add_gaps(builder *b, uint32_t device)
{
  const xp_reading *r = b->t->reading;
  size_t first = b->t->an->timelines[device].first_gap, end = first;
  while (end < r->gap_count && r->gaps[end].device == device) {
    end++;
  }
  b->t->gap_track[device] = b->t->count;
  add_track(b, (xp_track){.kind = XP_TRACK_GAPS,
                          .name = xp_str_c("waiting"),
                          .host = r->devices[device].host,
                          .device = device,
                          .thread = XP_NONE,
                          .gaps = r->gaps + first,
                          .count = cut(end - first)});
}

static const xp_lane *lane_of(const xp_device_data *data, const xp_line *line)
{
  for (size_t i = 0; i < data->lane_count; i++) {
    if (data->lanes[i].line == line) {
      return &data->lanes[i];
    }
  }
  return NULL;
}

static void add_device_lines(builder *b, uint32_t device)
{
  const xp_device_data *data = &b->t->an->devices.devices[device];
  const xp_host *host = &b->t->an->capture->hosts[data->host];
  for (size_t p = 0; p < host->plane_count; p++) {
    const xp_plane *plane = &host->planes[p];
    for (size_t l = 0; xp_str_eq(plane->name, data->name) && l < plane->line_count; l++) {
      const xp_line *line = &plane->lines[l];
      add_track(b, (xp_track){.kind = XP_TRACK_LINE,
                              .name = label_of(line),
                              .host = data->host,
                              .device = device,
                              .thread = XP_NONE,
                              .line = line,
                              .data = data,
                              .lane = lane_of(data, line),
                              .shift_ps = data->shift_ps,
                              .count = cut(line->count)});
    }
  }
}

static void add_device_items(builder *b, uint32_t device, xp_track_kind kind, const char *name, size_t count)
{
  const xp_device_data *data = &b->t->an->devices.devices[device];
  add_track(b, (xp_track){.kind = kind,
                          .name = xp_str_c(name),
                          .host = data->host,
                          .device = device,
                          .thread = XP_NONE,
                          .data = data,
                          .count = cut(count)});
}

static void add_devices(builder *b)
{
  const xp_reading *r = b->t->reading;
  for (uint32_t i = 0; i < r->device_count; i++) {
    const xp_device_data *data = &b->t->an->devices.devices[i];
    open_group(b, XP_GROUP_DEVICE, r->devices[i].name, r->devices[i].host, i);
    add_gaps(b, i);
    if (!data->module_line && data->run_count > 0) {
      add_device_items(b, i, XP_TRACK_PROGRAMS, "programs", data->run_count);
    }
    if (data->kind == XP_DEVICE_CPU) {
      add_device_items(b, i, XP_TRACK_WORK, "work", xp_work_count(data));
    } else {
      add_device_lines(b, i);
    }
    close_group(b);
  }
}

/* ---- steps */

static void add_steps(builder *b, uint32_t host)
{
  const xp_reading *r = b->t->reading;
  size_t count = 0;
  for (size_t i = 0; i < r->step_count; i++) {
    count += r->steps[i].host == host;
  }
  b->t->step_track[host] = XP_NONE;
  if (count == 0) {
    return;
  }
  const xp_step **steps = xp_arena_array(b->t->arena, count, sizeof *steps);
  count = 0;
  for (size_t i = 0; i < r->step_count; i++) {
    if (r->steps[i].host == host) {
      steps[count++] = &r->steps[i];
    }
  }
  b->t->step_track[host] = b->t->count;
  open_group(b, XP_GROUP_STEPS, xp_str_c("steps"), host, XP_NONE);
  add_track(b, (xp_track){.kind = XP_TRACK_STEPS,
                          .name = xp_str_c("steps"),
                          .host = host,
                          .device = XP_NONE,
                          .thread = XP_NONE,
                          .steps = steps,
                          .count = cut(count)});
  close_group(b);
}

/* ---- host threads */

/* The threads that launched work or asked for it, made it late, or have steps. */
static void find_threads_that_matter(builder *b)
{
  const xp_analysis *an = b->t->an;
  const xp_reading *r = b->t->reading;
  for (size_t i = 0; i < an->links.asked_count; i++) {
    b->matters[xp_launch_asker(&an->links.launches[an->links.asked[i]])] = true;
  }
  for (size_t i = 0; i < r->gap_count; i++) {
    if (r->gaps[i].trigger_thread != XP_NONE) {
      b->matters[r->gaps[i].trigger_thread] = true;
    }
    if (r->gaps[i].launch != XP_NONE) {
      b->matters[an->links.launches[r->gaps[i].launch].thread] = true;
    }
  }
  for (size_t i = 0; i < an->threads.count; i++) {
    b->matters[i] = b->matters[i] || an->threads.threads[i].has_step;
  }
}

static void add_threads(builder *b, uint32_t host, bool matters)
{
  const xp_analysis *an = b->t->an;
  open_group(b, matters ? XP_GROUP_THREADS : XP_GROUP_REST, xp_str_c(matters ? "threads" : "other threads"), host,
             XP_NONE);
  for (uint32_t i = 0; i < an->threads.count; i++) {
    const xp_thread *thread = &an->threads.threads[i];
    if (thread->host == host && b->matters[i] == matters && thread->line->count > 0) {
      add_track(b, (xp_track){.kind = XP_TRACK_THREAD,
                              .name = label_of(thread->line),
                              .host = host,
                              .device = XP_NONE,
                              .thread = i,
                              .line = thread->line,
                              .count = cut(thread->line->count)});
    }
  }
  close_group(b);
}

/* Lines that are neither of a device of the reading nor of a thread of the analysis. */
static void add_unknown_lines(builder *b, uint32_t host)
{
  const xp_host *h = &b->t->an->capture->hosts[host];
  open_group(b, XP_GROUP_REST, xp_str_c("other lines"), host, XP_NONE);
  for (size_t p = 0; p < h->plane_count; p++) {
    for (size_t l = 0; l < h->planes[p].line_count; l++) {
      const xp_line *line = &h->planes[p].lines[l];
      if (line->count > 0 && xp_tracks_of_line(b->t, line) == XP_NONE) {
        add_track(b, (xp_track){.kind = XP_TRACK_THREAD,
                                .name = label_of(line),
                                .host = host,
                                .device = XP_NONE,
                                .thread = XP_NONE,
                                .line = line,
                                .count = cut(line->count)});
      }
    }
  }
  close_group(b);
}

void xp_tracks_list(xp_tracks *tracks, xp_reading *reading, xp_arena *arena)
{
  uint32_t hosts = (uint32_t)reading->capture->host_count;
  *tracks = (xp_tracks){.arena = arena, .reading = reading, .an = reading->analysis};
  xp_map_init(&tracks->track_of_line, arena);
  tracks->gap_track = xp_arena_array(arena, reading->device_count, sizeof *tracks->gap_track);
  tracks->step_track = xp_arena_array(arena, hosts, sizeof *tracks->step_track);
  builder b = {.t = tracks, .matters = xp_arena_array(arena, tracks->an->threads.count, sizeof(bool))};
  find_threads_that_matter(&b);
  add_devices(&b);
  for (uint32_t h = 0; h < hosts; h++) {
    add_steps(&b, h);
  }
  for (uint32_t h = 0; h < hosts; h++) {
    add_threads(&b, h, true);
  }
  for (uint32_t h = 0; h < hosts; h++) {
    add_threads(&b, h, false);
    add_unknown_lines(&b, h);
  }
}

/* ---- items */

xp_times xp_item_times_read(const xp_track *track, uint32_t item)
{
  switch (track->kind) {
  case XP_TRACK_GAPS:
    return (xp_times){track->gaps[item].start_ps,
                      xp_add_saturating(track->gaps[item].start_ps, track->gaps[item].dur_ps)};
  case XP_TRACK_WORK: {
    xp_work work = xp_work_at(track->data, item);
    return (xp_times){work.start_ps, work.end_ps};
  }
  case XP_TRACK_PROGRAMS: {
    const xp_device_run *run = &track->data->runs[item];
    return (xp_times){xp_add_saturating(run->start_ps, track->data->shift_ps),
                      xp_add_saturating(run->end_ps, track->data->shift_ps)};
  }
  default:
    return (xp_times){track->steps[item]->start_ps,
                      xp_add_saturating(track->steps[item]->start_ps, track->steps[item]->dur_ps)};
  }
}

uint32_t xp_tracks_of_line(const xp_tracks *tracks, const xp_line *line)
{
  return xp_map_get(&tracks->track_of_line, (uint64_t)(uintptr_t)line);
}

uint32_t xp_track_first_from(const xp_track *track, int64_t time_ps)
{
  uint32_t low = 0, high = track->count;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (xp_item_times(track, mid).start_ps < time_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}
