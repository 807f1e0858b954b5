/* What is open and how far the server is; and which tracks the timeline has. */
#include "report/fields.h"
#include "web/handlers.h"
#include "web/kinds.h"

/* ---- meta */

static void hosts_json(xp_json *json, const xp_capture *capture)
{
  static const char *const states[] = {"ok", "empty", "truncated", "damaged", "unreadable"};
  xp_json_key(json, "hosts");
  xp_json_array(json);
  for (size_t i = 0; capture != NULL && i < capture->host_count; i++) {
    const xp_host *host = &capture->hosts[i];
    xp_json_object_line(json);
    xp_field_str(json, "name", host->name);
    xp_field_str(json, "path", host->path);
    xp_field_text(json, "status", states[host->status]);
    xp_field_str(json, "problem", host->problem);
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
}

static void kinds_json(xp_json *json)
{
  xp_json_key(json, "kinds");
  xp_json_array(json);
  for (int kind = 0; kind < XP_KIND_COUNT; kind++) {
    xp_json_object_line(json);
    xp_field_text(json, "key", xp_kind_key(kind));
    xp_field_text(json, "words", xp_kind_words(kind));
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
}

static void meta_json(void *context, xp_json *json, const xp_view *view)
{
  const xp_viewer *v = context;
  xp_view_state state = (xp_view_state)atomic_load(&v->state);
  bool ready = state == XP_VIEW_READY, failed = state == XP_VIEW_FAILED;
  const xp_capture *c = state >= XP_VIEW_ANALYSING && !failed ? v->capture : NULL;
  bool has_extent = ready || c != NULL;
  (void)view;
  xp_field_text(json, "version", v->options.version);
  xp_field_text(json, "state", xp_view_state_name(state));
  xp_field_text(json, "error", failed ? v->error.text : NULL);
  xp_field_real(json, "done", ready ? 1 : (double)atomic_load(&v->done) / 1000);
  xp_field_text(json, "path", v->options.path);
  xp_field_str(json, "run", c != NULL ? c->run : xp_str_c(""));
  xp_field_strs(json, "runs", v->runs, c != NULL ? v->run_count : 0);
  xp_field_int_or_null(json, "from_ps", has_extent, ready ? v->from_ps : 0);
  xp_field_int_or_null(json, "to_ps", has_extent, ready ? v->to_ps : c != NULL ? c->dur_ps : 0);
  xp_field_int_or_null(json, "session_ps", c != NULL && c->has_session, c != NULL ? c->dur_ps : 0);
  xp_field_int_or_null(json, "start_unix_ns", c != NULL && c->start_unix_ns != 0, c != NULL ? c->start_unix_ns : 0);
  xp_field_int_or_null(json, "events", c != NULL, c != NULL ? (int64_t)c->events : 0);
  hosts_json(json, c);
  xp_field_bool(json, "partial", c != NULL && c->partial);
  kinds_json(json);
}

void xp_web_meta(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  (void)query;
  xp_reply_json(reply, viewer, "xlaprof.view.meta/1", meta_json, viewer);
}

/* ---- tracks */

static void device_field(xp_json *json, uint32_t device)
{
  xp_field_int_or_null(json, "device", device != XP_NONE, device);
}

static void group_json(xp_json *json, const xp_viewer *v, const xp_track_group *group)
{
  xp_json_object_line(json);
  xp_field_str(json, "name", group->name);
  xp_field_text(json, "kind", xp_group_kind_name(group->kind));
  xp_field_str(json, "host", v->capture->hosts[group->host].name);
  device_field(json, group->device);
  xp_field_bool(json, "folded", group->kind == XP_GROUP_REST);
  xp_json_key(json, "tracks");
  xp_json_array_line(json);
  for (uint32_t i = 0; i < group->count; i++) {
    xp_json_uint(json, group->first + i);
  }
  xp_json_array_end(json);
  xp_json_object_end(json);
}

static void track_json(xp_json *json, const xp_viewer *v, uint32_t id)
{
  const xp_track *t = &v->tracks.tracks[id];
  xp_json_object_line(json);
  xp_field_uint(json, "id", id);
  xp_field_text(json, "kind", xp_track_kind_name(t->kind));
  xp_field_str(json, "name", t->name);
  xp_field_str(json, "host", v->capture->hosts[t->host].name);
  device_field(json, t->device);
  xp_field_uint(json, "depth", t->row_count);
  xp_field_uint(json, "items", t->count);
  xp_field_int_or_null(json, "first_ps", t->timed > 0, t->first_ps);
  xp_field_int_or_null(json, "last_ps", t->timed > 0, t->last_ps);
  xp_json_object_end(json);
}

static void tracks_json(void *context, xp_json *json, const xp_view *view)
{
  const xp_viewer *v = context;
  (void)view;
  xp_json_key(json, "groups");
  xp_json_array(json);
  for (uint32_t i = 0; i < v->tracks.group_count; i++) {
    group_json(json, v, &v->tracks.groups[i]);
  }
  xp_json_array_end(json);
  xp_json_key(json, "tracks");
  xp_json_array(json);
  for (uint32_t i = 0; i < v->tracks.count; i++) {
    track_json(json, v, i);
  }
  xp_json_array_end(json);
}

void xp_web_tracks(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  (void)query;
  xp_reply_json(reply, viewer, "xlaprof.view.tracks/1", tracks_json, viewer);
}
