/* The answers to data/..: one function for each address.  They read the viewer and write the reply; any number of them
 * may run at once.  The caller has checked that the state which the answer needs is reached. */
#ifndef XP_WEB_HANDLERS_H
#define XP_WEB_HANDLERS_H

#include "report/view.h"
#include "web/query.h"
#include "web/reply.h"
#include "web/viewer.h"

typedef void xp_web_handler(xp_viewer *viewer, const xp_query *query, xp_reply *reply);

xp_web_handler xp_web_meta, xp_web_summary, xp_web_tracks, xp_web_window, xp_web_minimap, xp_web_item, xp_web_next,
    xp_web_sums, xp_web_search, xp_web_table;

/* ---- what several of them share (params.c) */

/* An integer that has to be there.  False, and a reply of status 400, if it is missing or outside of the bounds. */
bool xp_param_int(const xp_query *query, const char *name, int64_t least, int64_t most, int64_t *value,
                  xp_reply *reply);

/* The same for one that may be missing; *value stays as it is then. */
bool xp_param_int_or(const xp_query *query, const char *name, int64_t least, int64_t most, int64_t *value,
                     xp_reply *reply);

/* A time that has to be there. */
bool xp_param_time(const xp_query *query, const char *name, int64_t *time_ps, xp_reply *reply);

/* dir: next or prev.  cause: a cause of gaps, -1 if it is not given. */
bool xp_param_direction(const xp_query *query, bool *forward, xp_reply *reply);
bool xp_param_cause(const xp_query *query, int *cause, xp_reply *reply);

/* from, to: a span of time. */
bool xp_param_span(const xp_query *query, xp_times *span, xp_reply *reply);

/* track: a track; NULL after a reply of status 400 or 404. */
const xp_track *xp_param_track(const xp_viewer *viewer, const xp_query *query, xp_reply *reply);

/* Rows of tracks: "4:0-7,9". */
enum { XP_MOST_ROWS_ASKED = 1024 };

typedef struct {
  uint32_t track, row;
} xp_row_ref;

bool xp_param_rows(const xp_viewer *viewer, const xp_query *query, xp_row_ref rows[XP_MOST_ROWS_ASKED], size_t *count,
                   xp_reply *reply);

/* ---- writing (place.c) */

/* Runs write(context, json, view) between an opened object with this schema and its end.  The view is that of the
 * viewer's reading (NULL before there is one), with a printer whose arenas have an escape: all memory of `write` must
 * come from them. */
typedef void xp_json_body(void *context, xp_json *json, const xp_view *view);
void xp_reply_json(xp_reply *reply, const xp_viewer *viewer, const char *schema, xp_json_body *write, void *context);

/* The place of an item, or null for XP_NONE. */
void xp_place_json(xp_json *json, const xp_viewer *viewer, uint32_t track, uint32_t item);
void xp_field_place(xp_json *json, const char *key, const xp_viewer *viewer, uint32_t track, uint32_t item);

/* The track and item of a gap of the reading. */
uint32_t xp_gap_track(const xp_viewer *viewer, const xp_gap *gap);
uint32_t xp_gap_item(const xp_viewer *viewer, const xp_gap *gap);

#endif
