/* How often the program compiled, ran, read back, uploaded and synchronised; and what cut it into pieces. */
#include "report/fields.h"
#include "report/format.h"
#include "report/table.h"
#include "report/text.h"
#include "report/view.h"

/* Only annotated steps hold the calls of the host; those of a device are in its own time. */
static bool has_step_counts(const xp_reading *r)
{
  return r->step_source == XP_STEPS_ANNOTATION && r->counters.steps > 0;
}

static double per_step(const xp_counters *c, int counter)
{
  return c->steps > 0 ? (double)c->per_step_totals[counter] / (double)c->steps : 0;
}

/* ---- JSON */

static void scope_json(xp_json *json, const xp_scope_counters *row)
{
  xp_json_object_line(json);
  xp_field_str(json, "scope", row->scope);
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    xp_field_uint(json, xp_counter_name(i), row->counters[i]);
  }
  xp_json_object_end(json);
}

void xp_cut_points_json(const xp_view *view, xp_json *json)
{
  const xp_counters *c = &view->reading->counters;
  xp_json_array(json);
  for (size_t i = 0; i < c->cut_count; i++) {
    xp_json_object_line(json);
    xp_field_text(json, "kind", xp_cut_kind_name(c->cuts[i].kind));
    xp_field_str(json, "scope", c->cuts[i].scope);
    xp_field_uint(json, "count", c->cuts[i].count);
    xp_json_key(json, "per_step");
    if (has_step_counts(view->reading)) {
      xp_json_double(json, c->cuts[i].per_step);
    } else {
      xp_json_null(json);
    }
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
}

static void launches_json(xp_json *json, const xp_counters *c)
{
  xp_field_uint(json, "launches", c->launches);
  xp_field_uint(json, "executions", c->executions);
  xp_field_uint(json, "launches_without_execution", c->launches_without_execution);
  xp_field_uint(json, "executions_without_launch", c->executions_without_launch);
}

void xp_counters_json(const xp_view *view, xp_json *json)
{
  const xp_counters *c = &view->reading->counters;
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    xp_field_uint(json, xp_counter_name(i), c->totals[i]);
  }
  xp_json_key(json, "per_step");
  xp_json_object_line(json);
  for (int i = 0; i < XP_COUNTER_COUNT && has_step_counts(view->reading); i++) {
    xp_field_real(json, xp_counter_name(i), per_step(c, i));
  }
  xp_json_object_end(json);
  xp_field_uint(json, "steps", c->steps);
  xp_field_uint(json, "compiles_after_first", c->compiles_after_first);
  xp_json_key(json, "by_scope");
  xp_json_array(json);
  for (size_t i = 0; i < c->by_scope_count; i++) {
    scope_json(json, &c->by_scope[i]);
  }
  xp_json_array_end(json);
  xp_field_str(json, "main_step", has_step_counts(view->reading) ? c->main_step : xp_str_c(""));
  xp_json_key(json, "programs_per_step");
  if (has_step_counts(view->reading)) {
    xp_json_double(json, c->programs_per_step);
  } else {
    xp_json_null(json);
  }
  xp_json_key(json, "cut_points");
  xp_cut_points_json(view, json);
  launches_json(json, c);
  xp_field_text(json, "source", view->reading->metrics != NULL ? "both" : "capture");
  xp_field_text(json, "covers", "session");
  if (view->reading->metrics != NULL) {
    xp_json_key(json, "report");
    xp_metrics_json(json, c, view->reading->metrics);
  }
}

/* ---- text and CSV */

enum { NARROW = 60, COLUMNS = 1 + XP_COUNTER_COUNT };

static bool is_narrow(const xp_view *view)
{
  return view->printer->form == XP_FORM_TEXT && view->printer->width < NARROW;
}

/* A table with a column for each counter behind the first; titles are short where their names take too much room. */
static xp_table *counter_table(const xp_view *view, xp_column columns[COLUMNS], xp_column first, xp_column_kind kind)
{
  static const char *const short_titles[XP_COUNTER_COUNT] = {"comp", "exec", "read", "upl", "sync"};
  columns[0] = first;
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    const char *name = xp_counter_name(i);
    columns[1 + i] = (xp_column){is_narrow(view) ? short_titles[i] : name, name, kind, 0, 0};
  }
  return xp_table_create(view->printer, columns, COLUMNS);
}

static const xp_column scope_column = {"scope", "scope", XP_COLUMN_TEXT, 0, 16};

static void add_counters(xp_table *table, const uint64_t counters[XP_COUNTER_COUNT])
{
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    xp_table_int(table, (int64_t)counters[i]);
  }
}

/* Text has words for the row without a scope. */
static void add_scope(const void *context, xp_table *table, size_t row)
{
  const xp_view *view = context;
  const xp_scope_counters *c = &view->reading->counters.by_scope[row];
  bool csv = view->printer->form == XP_FORM_CSV;
  xp_table_text(table, c->scope.len > 0 || csv ? c->scope : xp_str_c("(in no scope or step)"));
  add_counters(table, c->counters);
}

void xp_counters_csv(const xp_view *view)
{
  xp_column columns[COLUMNS];
  xp_table *table = counter_table(view, columns, scope_column, XP_COLUMN_COUNT);
  xp_table_rows(table, view->reading->counters.by_scope_count, add_scope, view);
  xp_table_print(table, 0);
}

void xp_scope_counters_text(const xp_view *view, size_t rows)
{
  const xp_counters *c = &view->reading->counters;
  size_t shown = xp_print_rows(view->printer, rows, c->by_scope_count);
  xp_column columns[COLUMNS];
  xp_table *table = counter_table(view, columns, scope_column, XP_COLUMN_COUNT);
  if (c->by_scope_count == 0) {
    return;
  }
  xp_table_rows(table, shown, add_scope, view);
  xp_table_print(table, 2);
  xp_view_rest(view, c->by_scope_count - shown, "scope", -1);
}

void xp_counters_heading(const xp_view *view)
{
  if (has_step_counts(view->reading)) {
    xp_print_heading(view->printer, "Counters (%zu whole steps)", view->reading->counters.steps);
  } else {
    xp_print_heading(view->printer, "Counters");
  }
}

void xp_counter_line(const xp_view *view)
{
  xp_column columns[COLUMNS];
  const xp_counters *c = &view->reading->counters;
  xp_table *table = counter_table(view, columns, (xp_column){"", "", XP_COLUMN_TEXT, 0, 14}, XP_COLUMN_RATE);
  xp_table_text(table, xp_str_c(is_narrow(view) ? "session" : "whole session"));
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    xp_table_real(table, (double)c->totals[i]);
  }
  if (has_step_counts(view->reading)) {
    xp_table_text(table, xp_str_c(is_narrow(view) ? "a step" : "mean of all steps"));
    for (int i = 0; i < XP_COUNTER_COUNT; i++) {
      xp_table_real(table, per_step(c, i));
    }
  }
  xp_table_print(table, 2);
}

static const char *cut_words(xp_cut_kind kind)
{
  switch (kind) {
  case XP_CUT_STEP_END:
    return "end of step";
  case XP_CUT_SYNC:
    return "sync";
  case XP_CUT_READ:
    return "value read";
  default:
    return "operation of its own";
  }
}

/* "value read in scheduler.step" */
static xp_str cut_label(const xp_view *view, const xp_cut_point *cut)
{
  const char *in = cut->scope.len == 0 ? "" : cut->kind == XP_CUT_STEP_END ? " " : " in ";
  xp_str scope = xp_text_printable(view->printer->arena, cut->scope);
  return xp_arena_format(view->printer->arena, "%s%s%.*s", cut_words(cut->kind), in, XP_STR_ARG(scope));
}

/* Only steps of the main name count here: which one that is stands in the heading, and above the column. */
static void cut_points_heading(const xp_view *view)
{
  const xp_counters *c = &view->reading->counters;
  xp_arena *arena = view->printer->arena;
  xp_str steps = xp_str_c("");
  if (has_step_counts(view->reading)) {
    xp_str programs = xp_format_rate(arena, c->programs_per_step);
    steps = xp_arena_format(arena, " (%.*s program%s per `%.*s` step)", XP_STR_ARG(programs),
                            xp_str_is(programs, "1") ? "" : "s", XP_STR_ARG(c->main_step));
  }
  xp_print_heading(view->printer, "Cut points: what ended a program and sent it to the device%.*s", XP_STR_ARG(steps));
}

static const char *cut_rate_title(const xp_view *view)
{
  enum { TITLE_WIDTH = 16 };
  xp_arena *arena = view->printer->arena;
  if (!has_step_counts(view->reading)) {
    return "per step";
  }
  xp_str name = xp_text_printable(arena, view->reading->counters.main_step);
  xp_str title = xp_arena_format(arena, "per %.*s", XP_STR_ARG(xp_text_fit(arena, name, TITLE_WIDTH)));
  return title.ptr;
}

static void add_cut(const xp_view *view, xp_table *table, const xp_cut_point *cut)
{
  xp_table_text(table, cut_label(view, cut));
  xp_table_int(table, (int64_t)cut->count);
  if (has_step_counts(view->reading)) {
    xp_table_real(table, cut->per_step);
  } else {
    xp_table_none(table);
  }
}

void xp_cut_points_text(const xp_view *view)
{
  const xp_column columns[] = {{"what", "", XP_COLUMN_TEXT, 0, 20},
                               {"times", "", XP_COLUMN_COUNT, 0, 0},
                               {cut_rate_title(view), "", XP_COLUMN_RATE, 0, 0}};
  const xp_counters *c = &view->reading->counters;
  size_t shown = xp_print_rows(view->printer, 6, c->cut_count);
  if (c->cut_count == 0) {
    return;
  }
  xp_table *table = xp_table_create(view->printer, columns, 3);
  for (size_t i = 0; i < shown; i++) {
    add_cut(view, table, &c->cuts[i]);
  }
  cut_points_heading(view);
  xp_table_print(table, 2);
  xp_view_rest(view, c->cut_count - shown, "cut point", -1);
}

static void launches_text(const xp_view *view)
{
  const xp_counters *c = &view->reading->counters;
  xp_arena *arena = view->printer->arena;
  xp_str calls = xp_format_things(arena, c->launches, "call"), runs = xp_format_things(arena, c->executions, "run");
  xp_print_line(view->printer, "  ", "%.*s on the host that launch a program; %.*s of programs on devices.",
                XP_STR_ARG(calls), XP_STR_ARG(runs));
  if (c->launches_without_execution > 0) {
    xp_print_line(view->printer, "  ", "%llu of the calls without a run: the device trace is cut or missing.",
                  (unsigned long long)c->launches_without_execution);
  }
  if (c->executions_without_launch > 0) {
    xp_print_line(view->printer, "  ", "%llu of the runs without a call: launched before the session began.",
                  (unsigned long long)c->executions_without_launch);
  }
}

void xp_counters_text(const xp_view *view)
{
  const xp_counters *c = &view->reading->counters;
  xp_counters_heading(view);
  xp_counter_line(view);
  xp_cut_points_text(view);
  if (c->by_scope_count > 0) {
    xp_print_heading(view->printer, "By scope (a scope counts what is not in a scope inside it)");
  }
  xp_scope_counters_text(view, 30);
  xp_print_heading(view->printer, "Launches");
  launches_text(view);
  if (view->reading->metrics != NULL) {
    xp_metrics_text(view->printer, c, view->reading->metrics);
  }
}
