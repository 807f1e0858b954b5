/* data/table/NAME: what the commands print, with their own writers; and the gaps in pages.
 *
 * Tables are made under the viewer's lock: the analysis gives some of their rows to one thread at a time.  Rows of
 * operations come from memory of the reading, so that each grouping is made once and kept.
 */
#include <stdlib.h>

#include "report/fields.h"
#include "report/words.h"
#include "web/handlers.h"

enum { ROWS = 100, MOST_GAPS_SHOWN = 1000 };

/* ---- tables of the commands */

typedef struct {
  const char *name, *file;
  xp_section section;
} table_kind;

static const table_kind *find_table(xp_str name)
{
  static const table_kind tables[] = {
      {"steps", "steps.csv", XP_SECTION_STEPS},          {"ops", "ops.csv", XP_SECTION_OPS},
      {"names", "names.csv", XP_SECTION_NAMES},          {"info", "info.csv", XP_SECTION_INFO},
      {"counters", "counters.csv", XP_SECTION_COUNTERS}, {"gaps", "gaps.csv", XP_SECTION_GAPS},
  };
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    if (xp_str_is(name, tables[i].name)) {
      return &tables[i];
    }
  }
  return NULL;
}

static void write_section(xp_viewer *viewer, xp_section section, xp_ops_by by, bool csv, xp_reply *reply)
{
  xp_error err = {0};
  FILE *out = xp_reply_open(reply, csv ? "text/csv; charset=utf-8" : "application/json");
  if (out == NULL) {
    return;
  }
  const xp_output output = {
      .out = out, .form = csv ? XP_FORM_CSV : XP_FORM_JSON, .ops_by = by, .path = viewer->options.path};
  pthread_mutex_lock(&viewer->lock);
  xp_status status = xp_section_write(section, &output, viewer->reading, &err);
  pthread_mutex_unlock(&viewer->lock);
  xp_reply_finish(reply, out);
  if (status != XP_OK) {
    xp_reply_fail(reply, 500, "%s", err.text);
  }
}

static bool read_by(const xp_query *query, xp_ops_by *by, xp_reply *reply)
{
  xp_str text = xp_query_get(query, "by");
  *by = XP_OPS_BY_OP;
  for (int i = XP_OPS_BY_OP; text.ptr != NULL && i <= XP_OPS_BY_SOURCE; i++) {
    if (xp_str_is(text, xp_ops_by_name((xp_ops_by)i))) {
      *by = (xp_ops_by)i;
      return true;
    }
  }
  if (text.ptr != NULL) {
    xp_reply_fail(reply, 400, "The parameter by has to be op, scope, category, module or source");
  }
  return text.ptr == NULL;
}

/* ---- gaps */

typedef struct {
  const xp_viewer *viewer;
  bool by_start;
  int64_t limit, skip, device;
  int cause;
  int64_t from_ps, to_ps;
} gap_query;

static bool is_wanted(const gap_query *q, const xp_gap *gap)
{
  return (q->device < 0 || gap->device == (uint32_t)q->device) && (q->cause < 0 || (int)gap->cause == q->cause) &&
         gap->start_ps < q->to_ps && xp_add_saturating(gap->start_ps, gap->dur_ps) > q->from_ps;
}

static int longer(const void *a, const void *b)
{
  const xp_gap *x = *(const xp_gap *const *)a, *y = *(const xp_gap *const *)b;
  if (x->dur_ps != y->dur_ps) {
    return x->dur_ps > y->dur_ps ? -1 : 1;
  }
  return (x > y) - (x < y);
}

static int earlier(const void *a, const void *b)
{
  const xp_gap *x = *(const xp_gap *const *)a, *y = *(const xp_gap *const *)b;
  if (x->start_ps != y->start_ps) {
    return x->start_ps < y->start_ps ? -1 : 1;
  }
  return (x > y) - (x < y);
}

static void gaps_json(void *context, xp_json *json, const xp_view *view)
{
  const gap_query *q = context;
  const xp_reading *r = q->viewer->reading;
  const xp_gap **gaps = xp_arena_array(view->printer->arena, r->gap_count, sizeof *gaps);
  size_t count = 0;
  int64_t total_ps = 0;
  for (size_t i = 0; i < r->gap_count; i++) {
    if (is_wanted(q, &r->gaps[i])) {
      gaps[count++] = &r->gaps[i];
      xp_sum_add(&total_ps, r->gaps[i].dur_ps);
    }
  }
  if (count > 1) {
    qsort(gaps, count, sizeof *gaps, q->by_start ? earlier : longer);
  }
  xp_field_uint(json, "total", count);
  xp_field_int(json, "total_ps", total_ps);
  xp_json_key(json, "rows");
  xp_json_array(json);
  for (size_t i = (size_t)q->skip; i < count && i < (size_t)(q->skip + q->limit); i++) {
    xp_json_object(json);
    xp_field_place(json, "place", q->viewer, xp_gap_track(q->viewer, gaps[i]), xp_gap_item(q->viewer, gaps[i]));
    xp_field_str(json, "words", xp_gap_words(view->printer->arena, gaps[i]));
    xp_json_key(json, "gap");
    xp_gap_json(view, json, gaps[i]);
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
}

static bool read_gap_query(const xp_viewer *viewer, const xp_query *query, gap_query *q, xp_reply *reply)
{
  xp_str sort = xp_query_get(query, "sort");
  *q = (gap_query){.viewer = viewer, .limit = ROWS, .device = -1, .from_ps = INT64_MIN, .to_ps = INT64_MAX};
  q->by_start = xp_str_is(sort, "start");
  if (sort.ptr != NULL && !q->by_start && !xp_str_is(sort, "length")) {
    xp_reply_fail(reply, 400, "The parameter sort has to be length or start");
    return false;
  }
  return xp_param_int_or(query, "limit", 0, MOST_GAPS_SHOWN, &q->limit, reply) &&
         xp_param_int_or(query, "skip", 0, INT32_MAX, &q->skip, reply) &&
         xp_param_int_or(query, "device", 0, (int64_t)viewer->reading->device_count - 1, &q->device, reply) &&
         xp_param_cause(query, &q->cause, reply) &&
         (xp_query_get(query, "from").ptr == NULL || xp_param_time(query, "from", &q->from_ps, reply)) &&
         (xp_query_get(query, "to").ptr == NULL || xp_param_time(query, "to", &q->to_ps, reply));
}

static void write_gaps(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  gap_query q;
  if (read_gap_query(viewer, query, &q, reply)) {
    pthread_mutex_lock(&viewer->lock);
    xp_reply_json(reply, viewer, "xlaprof.view.gaps/1", gaps_json, &q);
    pthread_mutex_unlock(&viewer->lock);
  }
}

void xp_web_table(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  const table_kind *table = find_table(xp_str_skip(query->path, xp_str_rfind(query->path, '/') + 1));
  xp_str format = xp_query_get(query, "format");
  bool csv = xp_str_is(format, "csv");
  xp_ops_by by;
  if (table == NULL) {
    xp_reply_fail(reply, 404, "There is no table of this name; there are steps, gaps, ops, names, counters and info");
  } else if (format.ptr != NULL && !csv && !xp_str_is(format, "json")) {
    xp_reply_fail(reply, 400, "The parameter format has to be json or csv");
  } else if (table->section == XP_SECTION_GAPS && !csv) {
    write_gaps(viewer, query, reply);
  } else if (read_by(query, &by, reply)) {
    write_section(viewer, table->section, by, csv, reply);
    reply->save_as = csv ? table->file : NULL;
  }
}
