/* Every gap: where, how long, and why. */
#include "base/sum.h"
#include "report/fields.h"
#include "report/format.h"
#include "report/pieces.h"
#include "report/table.h"
#include "report/view.h"
#include "report/words.h"

/* ---- JSON */

static void part_json(xp_json *json, const xp_part *part)
{
  xp_json_object_line(json);
  xp_field_text(json, "cause", xp_cause_name(part->cause));
  xp_field_int(json, "ps", part->ps);
  xp_field_str(json, "scope", part->scope);
  xp_field_str(json, "event", part->event);
  if (part->detail.len > 0) {
    xp_field_str(json, "detail", part->detail);
  }
  if (part->maybe_tracing) {
    xp_field_text(json, "maybe", "tracing");
  }
  xp_json_object_end(json);
}

static void work_json(xp_json *json, const char *key, const xp_work_name *work)
{
  xp_json_key(json, key);
  if (work->op.len + work->scope.len + work->program.len == 0) {
    xp_json_null(json);
    return;
  }
  xp_json_object_line(json);
  xp_field_str(json, "op", work->op);
  xp_field_str(json, "scope", work->scope);
  xp_field_str(json, "program", work->program);
  xp_json_object_end(json);
}

static void evidence_json(xp_json *json, const xp_evidence *e)
{
  xp_json_object_line(json);
  xp_field_text(json, "role", e->role);
  xp_field_str(json, "event", e->event);
  xp_field_str(json, "thread", e->thread);
  xp_field_str(json, "frame", e->frame);
  xp_field_int(json, "start_ps", e->start_ps);
  xp_field_int(json, "dur_ps", e->dur_ps);
  xp_json_object_end(json);
}

static void step_json(xp_json *json, const xp_reading *r, uint32_t step)
{
  xp_json_key(json, "step");
  if (step == XP_NONE) {
    xp_json_null(json);
    return;
  }
  xp_json_object_line(json);
  xp_field_str(json, "name", r->steps[step].name);
  xp_field_int_or_null(json, "num", r->steps[step].has_num, r->steps[step].num);
  xp_json_object_end(json);
}

void xp_gap_json(const xp_view *view, xp_json *json, const xp_gap *gap)
{
  const xp_reading *r = view->reading;
  xp_gap_details d = xp_view_details(view, gap);
  const xp_device *device = &r->devices[gap->device];
  xp_json_object(json);
  xp_field_str(json, "host", r->capture->hosts[device->host].name);
  xp_field_str(json, "device", device->name);
  xp_field_text(json, "where", xp_where_name(gap->where));
  xp_field_int(json, "start_ps", gap->start_ps);
  xp_field_int(json, "dur_ps", gap->dur_ps);
  xp_field_text(json, "cause", xp_cause_name(gap->cause));
  xp_field_text(json, "trigger", xp_trigger_name(gap->trigger));
  xp_field_str(json, "trigger_scope", gap->trigger_scope);
  xp_field_str(json, "scope", gap->scope);
  xp_field_bool(json, "ranked", gap->ranked);
  xp_field_bool(json, "tracing_bound", gap->tracing_bound);
  step_json(json, r, gap->step);
  work_json(json, "before", &d.before);
  work_json(json, "after", &d.after);
  xp_json_key(json, "parts");
  xp_json_array(json);
  for (size_t i = 0; i < d.part_count; i++) {
    part_json(json, &d.parts[i]);
  }
  xp_json_array_end(json);
  xp_json_key(json, "evidence");
  xp_json_array(json);
  for (size_t i = 0; i < d.evidence_count; i++) {
    evidence_json(json, &d.evidence[i]);
  }
  xp_json_array_end(json);
  xp_json_object_end(json);
}

static const char *clock_name(xp_clock_status status)
{
  static const char *const names[] = {"ok", "shifted", "inconsistent"};
  return names[status];
}

void xp_coverage_json(const xp_view *view, xp_json *json)
{
  const xp_reading *r = view->reading;
  xp_json_key(json, "coverage");
  xp_json_object_line(json);
  xp_field_int(json, "idle_ps", r->idle_ps);
  xp_field_int(json, "explained_ps", r->explained_ps);
  xp_json_object_end(json);
  xp_json_key(json, "clock");
  xp_json_object_line(json);
  xp_field_text(json, "status", clock_name(r->clock));
  xp_field_int(json, "aligned_ps", r->clock_aligned_ps);
  xp_json_object_end(json);
  xp_field_strs(json, "warnings", r->warnings, r->warning_count);
}

/* The array of gaps that is being written. */
typedef struct {
  const xp_view *view;
  const xp_json *json;
} gap_array;

static void gaps_piece(const void *context, const xp_printer *printer, size_t first, size_t end)
{
  const gap_array *array = context;
  xp_view view = *array->view;
  xp_json piece;
  view.printer = printer;
  xp_json_fork(array->json, &piece, printer->out, first == 0);
  for (size_t i = first; i < end; i++) {
    xp_gap_json(&view, &piece, &view.reading->gaps[i]);
  }
  xp_json_flush(&piece);
}

static void all_gaps_json(const xp_view *view, xp_json *json)
{
  const gap_array array = {view, json};
  size_t count = view->reading->gap_count;
  xp_json_array(json);
  if (count > 0) {
    xp_json_flush(json);
    xp_pieces_write(view->printer, count, gaps_piece, &array);
    xp_json_joined(json);
  }
  xp_json_array_end(json);
}

void xp_gaps_json(const xp_view *view, xp_json *json)
{
  const xp_reading *r = view->reading;
  xp_field_int(json, "min_gap_ps", r->min_gap_ps);
  xp_json_key(json, "devices");
  xp_devices_json(view, json);
  xp_json_key(json, "gaps");
  all_gaps_json(view, json);
  xp_json_key(json, "causes");
  xp_causes_json(view, json);
  xp_coverage_json(view, json);
}

/* ---- tables */

static const xp_column gap_columns[] = {
    {"host", "host", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 6},
    {"device", "device", XP_COLUMN_TEXT, 0, 8},
    {"from", "start_ps", XP_COLUMN_TIME, XP_ONE_UNIT, 0},
    {"length", "dur_ps", XP_COLUMN_TIME, 0, 0},
    {"cause", "cause", XP_COLUMN_TEXT, 0, 8},
    {"in", "scope", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 10},
    {"after", "", XP_COLUMN_TEXT, XP_ONLY_TEXT | XP_DROP_LAST, 12},
    {"trigger", "trigger", XP_COLUMN_TEXT, XP_ONLY_CSV, 0},
    {"in", "trigger_scope", XP_COLUMN_TEXT, XP_ONLY_CSV, 0},
    {"step", "step", XP_COLUMN_TEXT, XP_HIDE_EMPTY | XP_DROP_NARROW, 8},
    {"where", "where", XP_COLUMN_TEXT, XP_ONLY_CSV, 0},
};

/* What came before: the trigger, or for a lead-in and a tail the edge that they begin at. */
static xp_str after_words(xp_arena *arena, const xp_gap *gap)
{
  switch (gap->where) {
  case XP_WHERE_LEAD_IN:
    return xp_str_c("the session start");
  case XP_WHERE_TAIL:
    return xp_str_c("the last work");
  default:
    return xp_trigger_words(arena, gap->trigger, gap->trigger_scope);
  }
}

/* Gaps in the order in which they are listed; NULL: in that of the reading. */
typedef struct {
  const xp_view *view;
  const xp_gap **gaps;
} gap_list;

static void add_gap(const void *context, xp_table *table, size_t row)
{
  const gap_list *list = context;
  const xp_view *view = list->view;
  const xp_gap *gap = list->gaps != NULL ? list->gaps[row] : &view->reading->gaps[row];
  const xp_reading *r = view->reading;
  const xp_device *device = &r->devices[gap->device];
  bool csv = view->printer->form == XP_FORM_CSV;
  xp_table_text(table, csv ? r->capture->hosts[device->host].name : xp_view_host(view, device->host));
  xp_table_text(table, device->name);
  xp_table_int(table, gap->start_ps);
  xp_table_int(table, gap->dur_ps);
  xp_table_text(table, xp_str_c(xp_cause_name(gap->cause)));
  xp_table_text(table, gap->scope);
  xp_table_text(table, after_words(view->printer->scratch, gap));
  xp_table_text(table, xp_str_c(xp_trigger_name(gap->trigger)));
  xp_table_text(table, gap->trigger_scope);
  xp_table_text(table, gap->step == XP_NONE ? xp_str_c("") : xp_step_label(view, &r->steps[gap->step]));
  xp_table_text(table, xp_str_c(xp_where_name(gap->where)));
}

void xp_gaps_csv(const xp_view *view)
{
  const gap_list list = {view, NULL};
  xp_table *table = xp_table_create(view->printer, gap_columns, sizeof gap_columns / sizeof gap_columns[0]);
  xp_table_rows(table, view->reading->gap_count, add_gap, &list);
  xp_table_print(table, 0);
}

/* ---- text */

static void coverage_text(const xp_view *view)
{
  const xp_reading *r = view->reading;
  xp_arena *arena = view->printer->arena;
  if (r->idle_ps == 0) {
    return;
  }
  xp_str share = xp_format_share(arena, (double)r->explained_ps / (double)r->idle_ps);
  xp_str idle = xp_format_time(arena, r->idle_ps);
  xp_print_line(view->printer, "  ", "%.*s of the idle time (%.*s) has a known cause.", XP_STR_ARG(share),
                XP_STR_ARG(idle));
}

void xp_gap_list_text(const xp_view *view, const xp_gap **gaps, size_t count, size_t rows)
{
  size_t shown = xp_print_rows(view->printer, rows, count);
  int64_t rest = 0;
  const gap_list list = {view, gaps};
  xp_table *table = xp_table_create(view->printer, gap_columns, sizeof gap_columns / sizeof gap_columns[0]);
  xp_table_rows(table, shown, add_gap, &list);
  xp_table_print(table, 2);
  for (size_t i = shown; i < count; i++) {
    xp_sum_add(&rest, gaps[i]->dur_ps);
  }
  xp_view_rest(view, count - shown, "gap", rest);
}

static void list_text(const xp_view *view)
{
  size_t count;
  const xp_gap **sorted = xp_gaps_by_length(view, false, &count);
  if (count > 0) {
    xp_print_heading(view->printer, "Gaps, longest first");
    xp_gap_list_text(view, sorted, count, 20);
  }
}

void xp_gaps_text(const xp_view *view)
{
  xp_str idle = xp_format_time(view->printer->arena, view->reading->idle_ps);
  xp_print_heading(view->printer, "Devices (window: first to last work)");
  xp_devices_text(view);
  xp_print_heading(view->printer, "Why they waited (%.*s idle between their first and last work)", XP_STR_ARG(idle));
  xp_causes_text(view, 20, 0);
  coverage_text(view);
  xp_edges_text(view, 16);
  list_text(view);
  if (view->reading->gap_count > 0) {
    xp_print_heading(view->printer, "The longest, one by one");
    xp_gap_details_text(view, xp_print_rows(view->printer, 5, SIZE_MAX));
  }
}
