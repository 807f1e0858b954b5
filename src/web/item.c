/* All about one item: what it is called, what is around it, what it belongs to. */
#include "analyze/gaps.h"
#include "report/events.h"
#include "report/fields.h"
#include "report/select.h"
#include "report/words.h"
#include "web/flows.h"
#include "web/handlers.h"
#include "web/kinds.h"

enum { MOST_PARENTS = 64 };

typedef struct {
  xp_viewer *v;
  const xp_view *view;
  xp_json *json;
  uint32_t track_id, item;
  const xp_track *track;
  xp_times times;
  xp_work work; /* lane is XP_NONE without */
} detail;

/* ---- names */

static void names_json(const detail *d)
{
  const xp_track *t = d->track;
  const xp_event_meta *meta = t->line != NULL ? xp_event_meta_of(t->line, d->item) : NULL;
  xp_field_text(d->json, "kind", xp_kind_key(xp_item_kind(&d->v->tracks, t, d->item)));
  xp_field_str(d->json, "name", xp_item_label(&d->v->tracks, t, d->item, d->view->printer->arena));
  xp_field_str(d->json, "full_name", meta != NULL ? meta->name : xp_str_c(""));
  xp_field_str(d->json, "display_name", meta != NULL ? meta->display_name : xp_str_c(""));
  xp_field_str(d->json, "host", d->v->capture->hosts[t->host].name);
  xp_field_str(d->json, "plane", t->line != NULL ? t->line->plane->name : xp_str_c(""));
  xp_field_str(d->json, "line", t->line != NULL ? xp_line_label(t->line) : xp_str_c(""));
  xp_field_bool(d->json, "has_time", xp_item_has_time(t, d->item));
  xp_json_key(d->json, "args");
  if (t->line != NULL) {
    xp_event_args_json(d->json, t->line, d->item);
  } else {
    xp_json_null(d->json);
  }
}

/* ---- what it belongs to */

static const xp_op *op_of(const detail *d)
{
  return d->work.lane != XP_NONE ? &d->v->reading->analysis->devices.ops[d->work.op] : NULL;
}

static const xp_thread *thread_of(const detail *d)
{
  return d->track->kind == XP_TRACK_THREAD && d->track->thread != XP_NONE
             ? &d->v->reading->analysis->threads.threads[d->track->thread]
             : NULL;
}

static xp_str scope_of(const detail *d)
{
  const xp_thread *thread = thread_of(d);
  if (d->track->kind == XP_TRACK_GAPS) {
    return d->track->gaps[d->item].scope;
  }
  if (op_of(d) != NULL) {
    return op_of(d)->scope;
  }
  return thread != NULL && xp_item_has_time(d->track, d->item) ? xp_thread_scope(thread, d->times.start_ps)
                                                               : xp_str_c("");
}

static xp_str frame_of(const detail *d)
{
  const xp_thread *thread = thread_of(d);
  return thread != NULL && xp_item_has_time(d->track, d->item) ? xp_thread_frame(thread, d->times.start_ps)
                                                               : xp_str_c("");
}

static void op_json(const detail *d)
{
  static const char *const roles[] = {"work", "copy", "infeed", "transfer"};
  const xp_op *op = op_of(d);
  xp_json_key(d->json, "op");
  if (op == NULL) {
    xp_json_null(d->json);
    return;
  }
  xp_work_name names = xp_work_names(d->v->reading->analysis, d->track->data, &d->work);
  xp_json_object_line(d->json);
  xp_field_str(d->json, "op", op->op);
  xp_field_str(d->json, "category", op->category);
  xp_field_str(d->json, "module", op->module);
  xp_field_str(d->json, "program", names.program);
  xp_field_text(d->json, "role", roles[op->role]);
  xp_json_object_end(d->json);
}

/* Index of the step in the reading, XP_NONE. */
static uint32_t step_of(const detail *d)
{
  const xp_analysis *an = d->v->reading->analysis;
  if (d->track->kind == XP_TRACK_GAPS) {
    return d->track->gaps[d->item].step;
  }
  if (d->track->kind == XP_TRACK_STEPS) {
    return (uint32_t)(d->track->steps[d->item] - d->v->reading->steps);
  }
  if (d->track->kind == XP_TRACK_PROGRAMS) {
    return d->track->data->runs[d->item].step;
  }
  if (d->work.lane != XP_NONE) {
    uint32_t run = xp_work_run(d->track->data, &d->work);
    return run != XP_NONE ? d->track->data->runs[run].step : XP_NONE;
  }
  bool on_host = d->track->kind == XP_TRACK_THREAD && xp_item_has_time(d->track, d->item);
  return on_host ? xp_steps_at(an, d->track->host, d->times.start_ps, NULL) : XP_NONE;
}

/* The item of a step in the track of its host. */
static uint32_t step_item(const xp_viewer *v, uint32_t step)
{
  const xp_step *wanted = &v->reading->steps[step];
  const xp_track *track = &v->tracks.tracks[v->tracks.step_track[wanted->host]];
  uint32_t item = xp_track_first_from(track, wanted->start_ps);
  while (item < track->count && track->steps[item] != wanted) {
    item++;
  }
  return item < track->count ? item : XP_NONE;
}

static void step_json(const detail *d)
{
  uint32_t step = step_of(d);
  xp_json_key(d->json, "step");
  if (step == XP_NONE) {
    xp_json_null(d->json);
    return;
  }
  const xp_step *s = &d->v->reading->steps[step];
  xp_json_object_line(d->json);
  xp_field_str(d->json, "name", s->name);
  xp_field_int_or_null(d->json, "num", s->has_num, s->num);
  xp_field_place(d->json, "place", d->v, d->v->tracks.step_track[s->host], step_item(d->v, step));
  xp_json_object_end(d->json);
}

/* ---- what is around it */

/* The item of a row that holds a time; XP_NONE. */
static uint32_t item_at(const xp_track *track, const xp_row *row, int64_t time_ps)
{
  uint32_t low = 0, high = row->count;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (xp_item_times(track, xp_row_item(row, mid)).start_ps <= time_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low > 0 ? xp_row_item(row, low - 1) : XP_NONE;
}

static void parents_json(const detail *d)
{
  uint32_t row = xp_item_row(d->track, d->item);
  xp_json_key(d->json, "parents");
  xp_json_array(d->json);
  for (uint32_t up = row == XP_NO_ROW ? 0 : row; up > 0; up--) {
    uint32_t parent = item_at(d->track, &d->track->rows[up - 1], d->times.start_ps);
    xp_times t = parent != XP_NONE ? xp_item_times(d->track, parent) : (xp_times){0, 0};
    if (parent != XP_NONE && t.start_ps <= d->times.start_ps && t.end_ps >= d->times.end_ps) {
      xp_json_object_line(d->json);
      xp_field_str(d->json, "name", xp_item_label(&d->v->tracks, d->track, parent, d->view->printer->arena));
      xp_field_place(d->json, "place", d->v, d->track_id, parent);
      xp_json_object_end(d->json);
    }
  }
  xp_json_array_end(d->json);
}

static void add_length(void *context, const xp_lod_block *block)
{
  xp_sum_add(context, block->total_ps);
}

/* The length without the row below it. */
static void self_json(const detail *d)
{
  uint32_t row = xp_item_row(d->track, d->item);
  int64_t inside_ps = 0, length_ps = xp_sub_saturating(d->times.end_ps, d->times.start_ps);
  if (row != XP_NO_ROW && row + 1 < d->track->row_count && length_ps > 0) {
    xp_lod_walk(d->track, row + 1, d->times.start_ps, d->times.end_ps, (double)length_ps, add_length, &inside_ps);
  }
  xp_field_int_or_null(d->json, "self_ps", row != XP_NO_ROW, length_ps > inside_ps ? length_ps - inside_ps : 0);
}

static void neighbour_json(const detail *d, const char *key, const xp_track *gaps, uint32_t item)
{
  xp_json_key(d->json, key);
  if (item >= gaps->count) {
    xp_json_null(d->json);
    return;
  }
  xp_json_object_line(d->json);
  xp_field_place(d->json, "place", d->v, d->v->tracks.gap_track[d->track->device], item);
  xp_field_text(d->json, "cause", xp_cause_name(gaps->gaps[item].cause));
  xp_json_object_end(d->json);
}

static void gap_neighbours_json(const detail *d)
{
  xp_json_key(d->json, "gaps");
  if (d->track->data == NULL) {
    xp_json_null(d->json);
    return;
  }
  const xp_track *gaps = &d->v->tracks.tracks[d->v->tracks.gap_track[d->track->device]];
  uint32_t before = xp_track_first_from(gaps, xp_add_saturating(d->times.start_ps, 1));
  xp_json_object_line(d->json);
  neighbour_json(d, "before", gaps, before > 0 ? before - 1 : XP_NONE);
  neighbour_json(d, "after", gaps, xp_track_first_from(gaps, d->times.end_ps));
  xp_json_object_end(d->json);
}

/* A piece of XLA CPU's work is an event of a thread. */
static void event_json(const detail *d)
{
  uint32_t track = XP_NONE, item = XP_NONE;
  if (d->track->kind == XP_TRACK_WORK) {
    const xp_lane *lane = &d->track->data->lanes[d->work.lane];
    track = xp_tracks_of_line(&d->v->tracks, lane->line);
    item = lane->event[d->work.index];
  }
  xp_field_place(d->json, "event", d->v, track, item);
}

static void gap_json(const detail *d)
{
  xp_json_key(d->json, "gap");
  if (d->track->kind != XP_TRACK_GAPS) {
    xp_json_null(d->json);
    xp_field_null(d->json, "words");
    xp_field_null(d->json, "trigger_place");
    return;
  }
  const xp_gap *gap = &d->track->gaps[d->item];
  xp_gap_json(d->view, d->json, gap);
  xp_field_str(d->json, "words", xp_gap_words(d->view->printer->arena, gap));
  xp_item_ref trigger = xp_entry_item(d->v, gap->trigger_thread, gap->trigger_entry);
  xp_field_place(d->json, "trigger_place", d->v, trigger.track, trigger.item);
}

static void flows_json(const detail *d)
{
  xp_flow flows[XP_MOST_FLOWS];
  size_t count = xp_flows_find(d->v, d->track_id, d->item, flows);
  xp_json_key(d->json, "flows");
  xp_json_array(d->json);
  for (size_t i = 0; i < count; i++) {
    xp_json_object_line(d->json);
    xp_field_text(d->json, "kind", flows[i].is_hop ? "hop" : "launch");
    xp_field_place(d->json, "from", d->v, flows[i].from.track, flows[i].from.item);
    xp_field_place(d->json, "to", d->v, flows[i].to.track, flows[i].to.item);
    xp_json_object_end(d->json);
  }
  xp_json_array_end(d->json);
}

static void item_json(void *context, xp_json *json, const xp_view *view)
{
  detail *d = context;
  d->json = json;
  d->view = view;
  xp_field_place(json, "place", d->v, d->track_id, d->item);
  names_json(d);
  xp_field_str(json, "scope", scope_of(d));
  xp_field_str(json, "source", op_of(d) != NULL ? op_of(d)->source : xp_str_c(""));
  xp_field_str(json, "frame", frame_of(d));
  step_json(d);
  op_json(d);
  parents_json(d);
  self_json(d);
  event_json(d);
  gap_neighbours_json(d);
  gap_json(d);
  flows_json(d);
}

void xp_web_item(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  const xp_track *track = xp_param_track(viewer, query, reply);
  int64_t item;
  if (track == NULL || !xp_param_int(query, "item", 0, UINT32_MAX - 1, &item, reply)) {
    return;
  }
  if (item >= track->count) {
    xp_reply_fail(reply, 404, "The track has no item of this number; it has %u", track->count);
    return;
  }
  detail d = {.v = viewer,
              .track_id = (uint32_t)(track - viewer->tracks.tracks),
              .item = (uint32_t)item,
              .track = track,
              .times = xp_item_times(track, (uint32_t)item),
              .work = xp_item_work(track, (uint32_t)item)};
  pthread_mutex_lock(&viewer->lock);
  xp_reply_json(reply, viewer, "xlaprof.view.item/1", item_json, &d);
  pthread_mutex_unlock(&viewer->lock);
}
