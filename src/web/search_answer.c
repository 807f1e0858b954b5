/* data/search: the matches from some time on, of all tracks together in order of start.  Each track has a position; the
 * track whose match is next gives the next one. */
#include "report/fields.h"
#include "web/handlers.h"
#include "web/kinds.h"
#include "web/search.h"

enum { ROWS = 100, MOST_MATCHES_SHOWN = 1000 };

typedef struct {
  const xp_viewer *viewer;
  const xp_search *search;
  bool forward;
  int64_t from_ps, to_ps; /* starts that are shown */
  uint32_t only_track;    /* XP_NONE: all */
  size_t limit;
  uint32_t *next; /* by track: the match to come, XP_NONE */
} matches;

/* The next match of a track that has a time, from an item on. */
static uint32_t next_match(const matches *m, uint32_t track, uint32_t from)
{
  const xp_track *t = &m->viewer->tracks.tracks[track];
  uint32_t item = xp_search_next(m->search, track, from, m->forward);
  while (item != XP_NONE && !xp_item_has_time(t, item)) {
    item = xp_search_next(m->search, track, m->forward ? item + 1 : item, m->forward);
  }
  return item;
}

static void begin(matches *m, xp_arena *arena)
{
  const xp_tracks *tracks = &m->viewer->tracks;
  m->next = xp_arena_array(arena, tracks->count, sizeof *m->next);
  for (uint32_t t = 0; t < tracks->count; t++) {
    bool wanted = m->search->counts[t] > 0 && (m->only_track == XP_NONE || m->only_track == t);
    m->next[t] = wanted ? next_match(m, t, xp_track_first_from(&tracks->tracks[t], m->forward ? m->from_ps : m->to_ps))
                        : XP_NONE;
  }
}

/* The track whose next match comes first within the bounds; XP_NONE at the end. */
static uint32_t choose(const matches *m)
{
  uint32_t best = XP_NONE;
  int64_t best_ps = 0;
  for (uint32_t t = 0; t < m->viewer->tracks.count; t++) {
    if (m->next[t] == XP_NONE) {
      continue;
    }
    int64_t start_ps = xp_item_times(&m->viewer->tracks.tracks[t], m->next[t]).start_ps;
    bool inside = start_ps >= m->from_ps && start_ps < m->to_ps;
    if (inside && (best == XP_NONE || (m->forward ? start_ps < best_ps : start_ps > best_ps))) {
      best = t;
      best_ps = start_ps;
    }
  }
  return best;
}

static void match_json(const matches *m, xp_json *json, uint32_t track)
{
  xp_json_object_line(json);
  xp_json_key(json, "name");
  xp_json_str(json, xp_event_name(m->viewer->tracks.tracks[track].line, m->next[track]));
  xp_field_place(json, "place", m->viewer, track, m->next[track]);
  xp_json_object_end(json);
}

static void matches_json(matches *m, xp_json *json, xp_arena *arena)
{
  begin(m, arena);
  xp_json_key(json, "matches");
  xp_json_array(json);
  uint32_t track = choose(m);
  for (size_t n = 0; n < m->limit && track != XP_NONE; n++) {
    match_json(m, json, track);
    m->next[track] = next_match(m, track, m->forward ? m->next[track] + 1 : m->next[track]);
    track = choose(m);
  }
  xp_json_array_end(json);
  xp_field_bool(json, "more", track != XP_NONE);
}

static void search_json(void *context, xp_json *json, const xp_view *view)
{
  matches *m = context;
  xp_field_uint(json, "id", m->search->id);
  xp_field_uint(json, "total", m->search->total);
  xp_json_key(json, "tracks");
  xp_json_array(json);
  for (uint32_t t = 0; t < m->viewer->tracks.count; t++) {
    if (m->search->counts[t] > 0) {
      xp_json_object_line(json);
      xp_field_uint(json, "track", t);
      xp_field_uint(json, "count", m->search->counts[t]);
      xp_json_object_end(json);
    }
  }
  xp_json_array_end(json);
  xp_json_key(json, "names");
  xp_json_array(json);
  for (size_t i = 0; i < m->search->name_count; i++) {
    xp_json_object_line(json);
    xp_json_key(json, "name");
    xp_json_str(json, m->search->names[i].name);
    xp_field_uint(json, "count", m->search->names[i].count);
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
  matches_json(m, json, view->printer->arena);
}

/* ---- parameters */

/* from, to, at and dir: which starts are shown, and in which order. */
static bool read_bounds(const xp_query *query, matches *m, xp_reply *reply)
{
  int64_t at_ps = 0;
  m->forward = true;
  m->from_ps = INT64_MIN;
  m->to_ps = INT64_MAX;
  if ((xp_query_get(query, "from").ptr != NULL && !xp_param_time(query, "from", &m->from_ps, reply)) ||
      (xp_query_get(query, "to").ptr != NULL && !xp_param_time(query, "to", &m->to_ps, reply))) {
    return false;
  }
  if (xp_query_get(query, "at").ptr == NULL) {
    return true;
  }
  if (!xp_param_time(query, "at", &at_ps, reply) || !xp_param_direction(query, &m->forward, reply)) {
    return false;
  }
  if (m->forward) {
    m->from_ps = at_ps + 1 > m->from_ps ? at_ps + 1 : m->from_ps;
  } else {
    m->to_ps = at_ps < m->to_ps ? at_ps : m->to_ps;
  }
  return true;
}

static bool read_query(const xp_query *query, xp_search_query *wanted, xp_reply *reply)
{
  xp_str text = xp_query_get(query, "q"), mode = xp_query_get(query, "mode");
  if (text.len == 0 || text.len > XP_SEARCH_BYTES) {
    xp_reply_fail(reply, 400, "The parameter q has to be a text of 1 to %d bytes", XP_SEARCH_BYTES);
    return false;
  }
  if (mode.ptr != NULL && !xp_str_is(mode, "text") && !xp_str_is(mode, "regex")) {
    xp_reply_fail(reply, 400, "The parameter mode has to be text or regex");
    return false;
  }
  memset(wanted, 0, sizeof *wanted);
  memcpy(wanted->text, text.ptr, text.len);
  wanted->is_regex = xp_str_is(mode, "regex");
  wanted->any_case = !xp_str_is(xp_query_get(query, "case"), "1");
  return true;
}

/* The search that is meant, held; NULL after a reply. */
static const xp_search *find_search(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  xp_search_query wanted;
  const xp_search *search = NULL;
  xp_error err = {0};
  int64_t id = 0;
  if (!xp_param_int_or(query, "id", 1, UINT32_MAX, &id, reply)) {
    return NULL;
  }
  if (id > 0) {
    search = xp_search_hold(viewer->searches, (uint32_t)id);
    if (search == NULL) {
      xp_reply_fail(reply, 404, "The search is not kept any more; search again with q");
    }
    return search;
  }
  if (read_query(query, &wanted, reply) && xp_search_run(viewer->searches, &wanted, &search, &err) != XP_OK) {
    xp_reply_fail(reply, err.status == XP_ERR_USAGE ? 400 : 500, "%s", err.text);
  }
  return search;
}

void xp_web_search(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  matches m = {.viewer = viewer, .only_track = XP_NONE};
  int64_t limit = ROWS, track = XP_NONE;
  if (!read_bounds(query, &m, reply) || !xp_param_int_or(query, "limit", 0, MOST_MATCHES_SHOWN, &limit, reply) ||
      !xp_param_int_or(query, "track", 0, (int64_t)viewer->tracks.count - 1, &track, reply)) {
    return;
  }
  m.limit = (size_t)limit;
  m.only_track = (uint32_t)track;
  m.search = find_search(viewer, query, reply);
  if (m.search != NULL) {
    xp_reply_json(reply, viewer, "xlaprof.view.search/1", search_json, &m);
    xp_search_release(viewer->searches, m.search);
  }
}
