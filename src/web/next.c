/* From item to item of a track: what the keys n and p do among gaps. */
#include "report/fields.h"
#include "web/handlers.h"

typedef struct {
  const xp_viewer *viewer;
  uint32_t track, item;
} next_answer;

static bool is_wanted(const xp_track *track, uint32_t item, int cause)
{
  return xp_item_has_time(track, item) &&
         (cause < 0 || (track->kind == XP_TRACK_GAPS && (int)track->gaps[item].cause == cause));
}

static uint32_t find_next(const xp_track *track, int64_t at_ps, bool forward, int cause)
{
  uint32_t first = xp_track_first_from(track, forward ? at_ps + 1 : at_ps);
  for (uint32_t i = first; forward && i < track->count; i++) {
    if (is_wanted(track, i, cause)) {
      return i;
    }
  }
  for (uint32_t i = first; !forward && i > 0; i--) {
    if (is_wanted(track, i - 1, cause)) {
      return i - 1;
    }
  }
  return XP_NONE;
}

static void next_json(void *context, xp_json *json, const xp_view *view)
{
  const next_answer *a = context;
  (void)view;
  xp_field_place(json, "place", a->viewer, a->track, a->item);
}

void xp_web_next(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  int64_t at_ps;
  bool forward;
  int cause;
  const xp_track *track = xp_param_track(viewer, query, reply);
  if (track == NULL || !xp_param_time(query, "at", &at_ps, reply) || !xp_param_direction(query, &forward, reply) ||
      !xp_param_cause(query, &cause, reply)) {
    return;
  }
  next_answer a = {viewer, (uint32_t)(track - viewer->tracks.tracks), find_next(track, at_ps, forward, cause)};
  xp_reply_json(reply, viewer, "xlaprof.view.next/1", next_json, &a);
}
