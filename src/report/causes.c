/* What the waiting was for, summed over all gaps. */
#include "report/fields.h"
#include "report/format.h"
#include "report/table.h"
#include "report/view.h"
#include "report/words.h"

void xp_causes_json(const xp_view *view, xp_json *json)
{
  const xp_reading *r = view->reading;
  xp_json_array(json);
  for (size_t i = 0; i < r->cause_count; i++) {
    const xp_cause_row *row = &r->causes[i];
    xp_json_object_line(json);
    xp_field_text(json, "cause", xp_cause_name(row->cause));
    xp_field_text(json, "trigger", xp_trigger_name(row->trigger));
    xp_field_str(json, "scope", row->scope);
    xp_field_str(json, "trigger_scope", row->trigger_scope);
    xp_field_text(json, "where", xp_where_name(row->where));
    xp_field_uint(json, "gaps", row->gaps);
    xp_field_int(json, "ps", row->ps);
    xp_field_real(json, "share", row->share);
    xp_field_int(json, "longest_ps", row->longest_ps);
    xp_field_int(json, "median_ps", row->median_ps);
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
}

/* ---- text: gaps inside the window */

/* The rows of causes that are shown, by index. */
typedef struct {
  const xp_view *view;
  size_t *shown, count;
} cause_list;

static void add_cause(const void *context, xp_table *table, size_t i)
{
  const cause_list *list = context;
  const xp_view *view = list->view;
  const xp_cause_row *row = &view->reading->causes[list->shown[i]];
  xp_table_int(table, row->ps);
  xp_table_real(table, row->share);
  xp_table_int(table, (int64_t)row->gaps);
  if (row->cause == XP_CAUSE_SHORT) {
    xp_table_none(table);
  } else {
    xp_table_int(table, row->longest_ps);
  }
  xp_table_text(table, xp_str_c(xp_cause_name(row->cause)));
  xp_table_text(table, row->scope);
  xp_table_text(table, xp_trigger_words(view->printer->scratch, row->trigger, row->trigger_scope));
}

/* One line for each cause in the rows that were shown. */
static void glossary(const xp_view *view, const bool seen[XP_CAUSE_COUNT])
{
  for (int cause = 0; cause < XP_CAUSE_COUNT; cause++) {
    if (seen[cause]) {
      xp_str line = xp_arena_format(view->printer->arena, "%s: %s", xp_cause_name((xp_cause)cause),
                                    xp_cause_words((xp_cause)cause));
      xp_print_text(view->printer, "  ", "    ", line);
    }
  }
}

void xp_causes_text(const xp_view *view, size_t rows, double least_share)
{
  static const xp_column columns[] = {
      {"time", "", XP_COLUMN_TIME, 0, 0},
      {"of idle", "", XP_COLUMN_SHARE, XP_DROP_LAST, 0},
      {"gaps", "", XP_COLUMN_COUNT, XP_DROP_LAST, 0},
      {"longest", "", XP_COLUMN_TIME, XP_DROP_NARROW, 0},
      {"cause", "", XP_COLUMN_TEXT, 0, 10},
      {"in", "", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 12},
      {"after", "", XP_COLUMN_TEXT, 0, 16},
  };
  const xp_reading *r = view->reading;
  size_t most = xp_print_rows(view->printer, rows, r->cause_count), left = 0;
  bool seen[XP_CAUSE_COUNT] = {false};
  int64_t rest = 0;
  cause_list list = {view, xp_arena_array(view->printer->arena, most, sizeof *list.shown), 0};
  for (size_t i = 0; i < r->cause_count; i++) {
    const xp_cause_row *row = &r->causes[i];
    if (row->where != XP_WHERE_INSIDE) {
      continue;
    }
    if (list.count < most && (list.count == 0 || row->share >= least_share)) {
      list.shown[list.count++] = i;
      seen[row->cause] = true;
    } else {
      rest += row->ps;
      left++;
    }
  }
  if (list.count == 0) {
    bool has_work = false;
    for (size_t i = 0; i < r->device_count; i++) {
      has_work = has_work || r->devices[i].has_window;
    }
    xp_print_line(view->printer, "  ",
                  has_work ? "The devices never waited between their first and their last work."
                           : "No device work was recorded.");
    return;
  }
  xp_table *table = xp_table_create(view->printer, columns, sizeof columns / sizeof columns[0]);
  xp_table_rows(table, list.count, add_cause, &list);
  xp_table_print(table, 2);
  xp_view_rest(view, left, "row", rest);
  glossary(view, seen);
}

/* ---- text: before the first and after the last work */

static xp_str edge_cause(const xp_view *view, const xp_gap *gap)
{
  return xp_arena_format(view->printer->scratch, "%s%s", xp_cause_name(gap->cause),
                         xp_edge_counts(gap) ? "" : ", not ranked");
}

typedef struct {
  const xp_view *view;
  const xp_gap **gaps;
} edge_list;

static void add_edge(const void *context, xp_table *table, size_t row)
{
  const edge_list *list = context;
  const xp_view *view = list->view;
  const xp_gap *gap = list->gaps[row];
  bool narrow = view->printer->width < 60, before = gap->where == XP_WHERE_LEAD_IN;
  const xp_device *device = &view->reading->devices[gap->device];
  xp_table_text(table, xp_view_host(view, device->host));
  xp_table_text(table, device->name);
  xp_table_text(table, xp_str_c(before ? narrow ? "before" : "before first" : narrow ? "after" : "after last"));
  xp_table_int(table, gap->dur_ps);
  if (device->session_ps > 0 && xp_edge_counts(gap)) {
    xp_table_real(table, (double)gap->dur_ps / (double)device->session_ps);
  } else {
    xp_table_none(table);
  }
  xp_table_text(table, edge_cause(view, gap));
  xp_table_text(table, gap->scope);
}

void xp_edges_text(const xp_view *view, size_t rows)
{
  static const xp_column columns[] = {
      {"host", "", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 6},
      {"device", "", XP_COLUMN_TEXT, 0, 8},
      {"work", "", XP_COLUMN_TEXT, 0, 12},
      {"time", "", XP_COLUMN_TIME, 0, 0},
      {"of session", "", XP_COLUMN_SHARE, XP_DROP_LAST, 0},
      {"cause", "", XP_COLUMN_TEXT, 0, 19},
      {"in", "", XP_COLUMN_TEXT, XP_HIDE_EMPTY | XP_DROP_LAST, 8},
  };
  size_t edges;
  int64_t rest = 0;
  const xp_gap **sorted = xp_gaps_by_length(view, true, &edges);
  size_t shown = xp_print_rows(view->printer, rows, edges);
  xp_table *table = xp_table_create(view->printer, columns, sizeof columns / sizeof columns[0]);
  const edge_list list = {view, sorted};
  xp_table_rows(table, shown, add_edge, &list);
  for (size_t i = shown; i < edges; i++) {
    rest += sorted[i]->dur_ps;
  }
  if (edges == 0) {
    return;
  }
  xp_print_heading(view->printer, "Before the first work and after the last");
  xp_table_print(table, 2);
  xp_view_rest(view, edges - shown, "row", rest);
}
