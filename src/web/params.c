/* Parameters that make no sense are answered with a sentence that names them. */
#include <inttypes.h>

#include "web/handlers.h"
#include "web/kinds.h"

/* Far more than any session, and small enough that sums of two do not overflow. */
static const int64_t MOST_PS = INT64_MAX / 4;

bool xp_param_int_or(const xp_query *query, const char *name, int64_t least, int64_t most, int64_t *value,
                     xp_reply *reply)
{
  if (xp_query_int(query, name, least, most, value)) {
    return true;
  }
  xp_reply_fail(reply, 400, "The parameter %s has to be a whole number from %" PRId64 " to %" PRId64, name, least,
                most);
  return false;
}

bool xp_param_int(const xp_query *query, const char *name, int64_t least, int64_t most, int64_t *value, xp_reply *reply)
{
  if (xp_query_get(query, name).ptr == NULL) {
    xp_reply_fail(reply, 400, "The parameter %s is missing", name);
    return false;
  }
  return xp_param_int_or(query, name, least, most, value, reply);
}

bool xp_param_time(const xp_query *query, const char *name, int64_t *time_ps, xp_reply *reply)
{
  return xp_param_int(query, name, -MOST_PS, MOST_PS, time_ps, reply);
}

bool xp_param_span(const xp_query *query, xp_times *span, xp_reply *reply)
{
  if (!xp_param_time(query, "from", &span->start_ps, reply) || !xp_param_time(query, "to", &span->end_ps, reply)) {
    return false;
  }
  if (span->start_ps >= span->end_ps) {
    xp_reply_fail(reply, 400, "The parameter from has to be before to");
    return false;
  }
  return true;
}

bool xp_param_direction(const xp_query *query, bool *forward, xp_reply *reply)
{
  xp_str dir = xp_query_get(query, "dir");
  *forward = xp_str_is(dir, "next");
  if (*forward || xp_str_is(dir, "prev")) {
    return true;
  }
  xp_reply_fail(reply, 400, "The parameter dir has to be next or prev");
  return false;
}

bool xp_param_cause(const xp_query *query, int *cause, xp_reply *reply)
{
  xp_str key = xp_query_get(query, "cause");
  *cause = key.ptr != NULL ? xp_kind_find(key) : -1;
  if (key.ptr != NULL && (*cause < 0 || *cause >= XP_CAUSE_COUNT)) {
    xp_reply_fail(reply, 400, "The parameter cause has to be a cause, such as host or value_request");
    return false;
  }
  return true;
}

const xp_track *xp_param_track(const xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  int64_t track;
  if (!xp_param_int(query, "track", 0, UINT32_MAX - 1, &track, reply)) {
    return NULL;
  }
  if (track >= viewer->tracks.count) {
    xp_reply_fail(reply, 404, "There is no track %" PRId64 "; the capture has %u", track, viewer->tracks.count);
    return NULL;
  }
  return &viewer->tracks.tracks[track];
}

/* Takes a number from the front of *s. */
static bool take_number(xp_str *s, uint32_t *number)
{
  size_t digits = 0;
  int64_t value;
  while (digits < s->len && digits < 10 && s->ptr[digits] >= '0' && s->ptr[digits] <= '9') {
    digits++;
  }
  if (digits == 0 || !xp_str_to_int64(xp_str_take(*s, digits), &value) || value > UINT32_MAX - 1) {
    return false;
  }
  *number = (uint32_t)value;
  *s = xp_str_skip(*s, digits);
  return true;
}

static bool take_char(xp_str *s, char c)
{
  if (s->len == 0 || s->ptr[0] != c) {
    return false;
  }
  *s = xp_str_skip(*s, 1);
  return true;
}

/* TRACK[:FIRST[-LAST]] from the front of *s. */
static bool take_rows(const xp_viewer *viewer, xp_str *s, xp_row_ref *rows, size_t *count)
{
  uint32_t track, first = 0, last = XP_MOST_ROWS;
  if (!take_number(s, &track) || track >= viewer->tracks.count) {
    return false;
  }
  if (take_char(s, ':')) {
    if (!take_number(s, &first)) {
      return false;
    }
    last = first;
    if (take_char(s, '-') && !take_number(s, &last)) {
      return false;
    }
  }
  uint32_t depth = viewer->tracks.tracks[track].row_count;
  for (uint32_t row = first; row <= last && row < depth; row++) {
    if (*count == XP_MOST_ROWS_ASKED) {
      return false;
    }
    rows[(*count)++] = (xp_row_ref){track, row};
  }
  return true;
}

bool xp_param_rows(const xp_viewer *viewer, const xp_query *query, xp_row_ref rows[XP_MOST_ROWS_ASKED], size_t *count,
                   xp_reply *reply)
{
  xp_str list = xp_query_get(query, "tracks");
  *count = 0;
  bool good = list.len > 0;
  while (good && list.len > 0) {
    good = take_rows(viewer, &list, rows, count) && (list.len == 0 || (take_char(&list, ',') && list.len > 0));
  }
  if (!good) {
    xp_reply_fail(reply, 400,
                  "The parameter tracks has to be a list like 0,4:0-7,9:2 of tracks and their rows, at most %d rows",
                  XP_MOST_ROWS_ASKED);
  }
  return good;
}
