/* A launch stands between both sides: a host event leads to the launches that began in it and to what they ran; a piece
 * of work leads back to its launch.  The runs of a launch are in a list that is sorted by launch. */
#include "web/flows.h"

#include "analyze/gaps.h"
#include "web/kinds.h"

static const xp_item_ref NOWHERE = {XP_NONE, XP_NONE};

xp_item_ref xp_entry_item(const xp_viewer *v, uint32_t thread, uint32_t entry)
{
  if (thread == XP_NONE || entry == XP_NONE) {
    return NOWHERE;
  }
  const xp_thread *t = &v->reading->analysis->threads.threads[thread];
  return (xp_item_ref){xp_tracks_of_line(&v->tracks, t->line), t->event[entry]};
}

/* The event that made a launch. */
static xp_item_ref launch_item(const xp_viewer *v, const xp_launch *launch)
{
  if (launch->entry == XP_NONE && launch->call != XP_NONE) {
    const xp_api_call *call = &v->reading->analysis->links.calls[launch->call];
    return xp_entry_item(v, call->thread, call->entry);
  }
  return xp_entry_item(v, launch->thread, launch->entry);
}

/* What the thread that asked was doing when it did; nowhere if it launched the work itself. */
static xp_item_ref asking_item(const xp_viewer *v, const xp_launch *launch)
{
  uint32_t asker = xp_launch_asker(launch);
  if (asker == launch->thread) {
    return NOWHERE;
  }
  const xp_thread *t = &v->reading->analysis->threads.threads[asker];
  return xp_entry_item(v, asker, xp_thread_innermost(t, launch->asked_ps));
}

/* ---- from the host to the devices */

typedef struct {
  xp_viewer *v;
  xp_flow *flows;
  size_t count;
} flow_list;

static void add_flow(flow_list *list, bool is_hop, xp_item_ref from, xp_item_ref to)
{
  if (list->count < XP_MOST_FLOWS && from.track != XP_NONE && to.track != XP_NONE) {
    list->flows[list->count++] = (xp_flow){is_hop, from, to};
  }
}

/* The track that shows what a device runs, and what of it begins with a run: its first work, else the run itself. */
static xp_item_ref run_item(const xp_viewer *v, uint32_t device, uint32_t run)
{
  int64_t start_ps = v->reading->analysis->devices.devices[device].runs[run].start_ps +
                     v->reading->analysis->devices.devices[device].shift_ps;
  for (uint32_t t = v->tracks.gap_track[device] + 1; t < v->tracks.count; t++) {
    const xp_track *track = &v->tracks.tracks[t];
    if (track->device != device) {
      break;
    }
    if (track->kind == XP_TRACK_PROGRAMS) {
      return (xp_item_ref){t, run};
    }
    uint32_t item = xp_track_first_from(track, start_ps);
    if (item < track->count && xp_item_times(track, item).start_ps == start_ps) {
      return (xp_item_ref){t, item};
    }
  }
  return NOWHERE;
}

static size_t first_run_of(const xp_viewer *v, uint32_t launch)
{
  size_t low = 0, high = v->launched_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (v->launched[mid].launch < launch) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

static void add_launch(flow_list *list, uint32_t launch)
{
  const xp_viewer *v = list->v;
  const xp_launch *l = &v->reading->analysis->links.launches[launch];
  xp_item_ref from = launch_item(v, l);
  add_flow(list, true, asking_item(v, l), from);
  for (size_t i = first_run_of(v, launch); i < v->launched_count && v->launched[i].launch == launch; i++) {
    add_flow(list, false, from, run_item(v, v->launched[i].device, v->launched[i].run));
  }
}

/* The launches that a host event asked for or made: those of its thread that began in it. */
static void add_host_flows(flow_list *list, const xp_track *track, xp_times times)
{
  const xp_links *links = &list->v->reading->analysis->links;
  for (uint32_t i = 0; i < links->launch_count && list->count < XP_MOST_FLOWS; i++) {
    const xp_launch *l = &links->launches[i];
    bool made = l->thread == track->thread && l->start_ps >= times.start_ps && l->start_ps < times.end_ps;
    bool asked = xp_launch_asker(l) == track->thread && l->asked_ps >= times.start_ps && l->asked_ps < times.end_ps;
    if (made || asked) {
      add_launch(list, i);
    }
  }
}

/* ---- from the devices to the host */

typedef struct {
  xp_analysis *an;
  const xp_device_data *data;
  xp_work work;
  uint32_t launch;
} launch_question;

static void ask_launch(void *context)
{
  launch_question *q = context;
  uint32_t run;
  q->launch = xp_work_launch(q->an, q->data, &q->work, &run);
}

uint32_t xp_item_launch(xp_viewer *v, const xp_track *track, uint32_t item)
{
  if (track->kind == XP_TRACK_GAPS) {
    return track->gaps[item].where == XP_WHERE_TAIL ? XP_NONE : track->gaps[item].launch;
  }
  if (track->kind == XP_TRACK_PROGRAMS) {
    return track->data->runs[item].launch;
  }
  launch_question q = {v->reading->analysis, track->data, xp_item_work(track, item), XP_NONE};
  if (q.work.lane != XP_NONE) {
    xp_arena_guard(q.an->arena, ask_launch, &q);
    return q.launch;
  }
  uint32_t run = track->data != NULL ? xp_device_run_at(track->data, xp_item_times(track, item).start_ps) : XP_NONE;
  return run != XP_NONE ? track->data->runs[run].launch : XP_NONE;
}

size_t xp_flows_find(xp_viewer *v, uint32_t track, uint32_t item, xp_flow flows[XP_MOST_FLOWS])
{
  flow_list list = {v, flows, 0};
  const xp_track *t = &v->tracks.tracks[track];
  if (t->kind == XP_TRACK_THREAD) {
    if (t->thread != XP_NONE && xp_item_has_time(t, item)) {
      add_host_flows(&list, t, xp_item_times(t, item));
    }
    return list.count;
  }
  uint32_t launch = t->kind == XP_TRACK_STEPS ? XP_NONE : xp_item_launch(v, t, item);
  if (launch == XP_NONE) {
    return 0;
  }
  const xp_launch *l = &v->reading->analysis->links.launches[launch];
  xp_item_ref from = launch_item(v, l), to = {track, item};
  add_flow(&list, true, asking_item(v, l), from);
  if (t->kind == XP_TRACK_GAPS) { /* to the work behind the gap */
    const xp_device_data *data = &v->reading->analysis->devices.devices[t->device];
    xp_work work = xp_work_from(data, xp_item_times(t, item).end_ps, NULL);
    uint32_t run = work.lane != XP_NONE ? xp_work_run(data, &work) : XP_NONE;
    to = run != XP_NONE ? run_item(v, t->device, run) : to;
  }
  add_flow(&list, false, from, to);
  return list.count;
}
