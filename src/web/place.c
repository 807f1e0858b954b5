/* Where something is on the timeline, and the frame around every JSON answer. */
#include "web/handlers.h"

#include "report/fields.h"

typedef struct {
  const char *schema;
  xp_json_body *write;
  void *context;
  xp_reading *reading;
  const char *path;
} json_job;

static void write_object(void *context, const xp_printer *printer)
{
  const json_job *job = context;
  const xp_view view = {.printer = printer, .reading = job->reading, .path = job->path};
  xp_json json;
  xp_json_begin(&json, printer->out);
  xp_json_object(&json);
  xp_field_text(&json, "schema", job->schema);
  job->write(job->context, &json, &view);
  xp_json_object_end(&json);
  xp_json_finish(&json);
}

void xp_reply_json(xp_reply *reply, const xp_viewer *viewer, const char *schema, xp_json_body *write, void *context)
{
  FILE *out = xp_reply_open(reply, "application/json");
  if (out == NULL) {
    return;
  }
  bool has_reading = xp_viewer_at(viewer, XP_VIEW_INDEXING);
  json_job job = {schema, write, context, has_reading ? viewer->reading : NULL, viewer->options.path};
  const xp_output output = {.out = out, .form = XP_FORM_JSON};
  xp_status status = xp_print_with(&output, write_object, &job, NULL);
  xp_reply_finish(reply, out);
  if (status != XP_OK) {
    xp_reply_fail(reply, 500, "Memory ran out while the answer was written");
  }
}

void xp_place_json(xp_json *json, const xp_viewer *viewer, uint32_t track, uint32_t item)
{
  if (track == XP_NONE || item == XP_NONE) {
    xp_json_null(json);
    return;
  }
  const xp_track *t = &viewer->tracks.tracks[track];
  xp_times times = xp_item_times(t, item);
  uint32_t row = t->kind == XP_TRACK_GAPS ? 0 : xp_item_row(t, item); /* they may be placed before rows are found */
  xp_json_object_line(json);
  xp_field_uint(json, "track", track);
  xp_field_uint(json, "item", item);
  xp_field_int_or_null(json, "depth", row != XP_NO_ROW, row);
  xp_field_int(json, "start_ps", times.start_ps);
  xp_field_int(json, "dur_ps", xp_sub_saturating(times.end_ps, times.start_ps));
  xp_json_object_end(json);
}

void xp_field_place(xp_json *json, const char *key, const xp_viewer *viewer, uint32_t track, uint32_t item)
{
  xp_json_key(json, key);
  xp_place_json(json, viewer, track, item);
}

uint32_t xp_gap_track(const xp_viewer *viewer, const xp_gap *gap)
{
  return viewer->tracks.gap_track[gap->device];
}

uint32_t xp_gap_item(const xp_viewer *viewer, const xp_gap *gap)
{
  return (uint32_t)(gap - viewer->tracks.tracks[xp_gap_track(viewer, gap)].gaps);
}
