/* Steps: how long they are, how far apart, and what the devices did for each. */
#include "report/fields.h"
#include "report/format.h"
#include "report/table.h"
#include "report/text.h"
#include "report/view.h"

/* ---- JSON */

static void step_json(const xp_view *view, xp_json *json, const xp_step *step)
{
  const xp_reading *r = view->reading;
  bool has_device = step->device_end_ps > step->device_start_ps;
  xp_json_object_line(json);
  xp_field_str(json, "host", r->capture->hosts[step->host].name);
  xp_field_str(json, "name", step->name);
  xp_field_int_or_null(json, "num", step->has_num, step->num);
  xp_field_int(json, "start_ps", step->start_ps);
  xp_field_int(json, "dur_ps", step->dur_ps);
  xp_field_bool(json, "complete", step->complete);
  xp_field_int(json, "busy_ps", step->busy_ps);
  xp_field_int_or_null(json, "device_start_ps", has_device, step->device_start_ps);
  xp_field_int_or_null(json, "device_end_ps", has_device, step->device_end_ps);
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    xp_field_uint(json, xp_counter_name(i), step->counters[i]);
  }
  xp_json_key(json, "device_busy_ps");
  xp_json_array_line(json);
  for (size_t i = 0; i < r->device_count && step->device_busy_ps != NULL; i++) {
    if (r->devices[i].host == step->host && r->devices[i].has_window) {
      xp_json_object_line(json);
      xp_field_str(json, "device", r->devices[i].name);
      xp_field_int(json, "busy_ps", step->device_busy_ps[i]);
      xp_json_object_end(json);
    }
  }
  xp_json_array_end(json);
  xp_json_object_end(json);
}

static void summary_json(const xp_view *view, xp_json *json, const xp_step_summary *s)
{
  xp_json_object(json);
  xp_field_str(json, "host", view->reading->capture->hosts[s->host].name);
  xp_field_str(json, "name", s->name);
  xp_field_uint(json, "complete", s->complete);
  xp_field_uint(json, "partial", s->partial);
  xp_field_int_or_null(json, "period_ps", s->has_period, s->period_ps);
  xp_field_int_or_null(json, "period_median_ps", s->has_period, s->period_median_ps);
  xp_field_int_or_null(json, "period_max_ps", s->has_period, s->period_max_ps);
  xp_field_int_or_null(json, "duration_ps", s->has_duration, s->duration_ps);
  xp_field_int_or_null(json, "duration_median_ps", s->has_duration, s->duration_median_ps);
  xp_field_int_or_null(json, "duration_max_ps", s->has_duration, s->duration_max_ps);
  xp_field_int_or_null(json, "busy_ps", s->complete > 0, s->busy_ps);
  xp_json_object_end(json);
}

void xp_steps_json(const xp_view *view, xp_json *json)
{
  const xp_reading *r = view->reading;
  xp_field_text(json, "source", xp_step_source_name(r->step_source));
  xp_field_str(json, "reason", r->step_reason);
  xp_json_key(json, "steps");
  xp_json_array(json);
  for (size_t i = 0; i < r->step_count; i++) {
    step_json(view, json, &r->steps[i]);
  }
  xp_json_array_end(json);
  xp_json_key(json, "summary");
  xp_json_array(json);
  for (size_t i = 0; i < r->summary_count; i++) {
    summary_json(view, json, &r->summaries[i]);
  }
  xp_json_array_end(json);
  xp_json_key(json, "outside_steps");
  xp_json_object_line(json);
  xp_field_int(json, "host_ps", r->outside_steps_ps);
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    xp_field_uint(json, xp_counter_name(i), r->outside_steps_counters[i]);
  }
  xp_json_object_end(json);
  xp_field_strs(json, "warnings", r->warnings, r->warning_count);
}

/* ---- tables */

static const xp_column step_columns[] = {
    {"host", "host", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 8},
    {"step", "label", XP_COLUMN_TEXT, XP_ONLY_TEXT, 14},
    {"name", "name", XP_COLUMN_TEXT, XP_ONLY_CSV, 0},
    {"num", "num", XP_COLUMN_COUNT, XP_ONLY_CSV, 0},
    {"start", "start_ps", XP_COLUMN_TIME, XP_ONE_UNIT, 0},
    {"length", "dur_ps", XP_COLUMN_TIME, 0, 0},
    {"complete", "complete", XP_COLUMN_COUNT, XP_ONLY_CSV, 0},
    {"busy", "busy_ps", XP_COLUMN_TIME, 0, 0},
    {"work from", "device_start_ps", XP_COLUMN_TIME, XP_ONE_UNIT | XP_DROP_NARROW | XP_HIDE_EMPTY, 0},
    {"work to", "device_end_ps", XP_COLUMN_TIME, XP_ONE_UNIT | XP_DROP_NARROW | XP_HIDE_EMPTY, 0},
    {"compiles", "compiles", XP_COLUMN_COUNT, XP_HIDE_EMPTY | XP_DROP_LAST, 0},
    {"executes", "executes", XP_COLUMN_COUNT, XP_HIDE_EMPTY | XP_DROP_LAST, 0},
    {"reads", "reads", XP_COLUMN_COUNT, XP_HIDE_EMPTY | XP_DROP_LAST, 0},
    {"uploads", "uploads", XP_COLUMN_COUNT, XP_HIDE_EMPTY | XP_DROP_NARROW, 0},
    {"syncs", "syncs", XP_COLUMN_COUNT, XP_ONLY_CSV, 0},
    {"", "", XP_COLUMN_TEXT, XP_ONLY_TEXT | XP_HIDE_EMPTY, 3},
};

static void add_time_if(xp_table *table, bool known, int64_t ps)
{
  if (known) {
    xp_table_int(table, ps);
  } else {
    xp_table_none(table);
  }
}

static void add_step(const void *context, xp_table *table, size_t row)
{
  const xp_view *view = context;
  const xp_step *step = &view->reading->steps[row];
  bool csv = view->printer->form == XP_FORM_CSV;
  xp_table_text(table, csv ? view->reading->capture->hosts[step->host].name : xp_view_host(view, step->host));
  xp_table_text(table, xp_step_label(view, step));
  xp_table_text(table, step->name);
  if (step->has_num) {
    xp_table_int(table, step->num);
  } else {
    xp_table_none(table);
  }
  xp_table_int(table, step->start_ps);
  xp_table_int(table, step->dur_ps);
  xp_table_int(table, step->complete ? 1 : 0);
  xp_table_int(table, step->busy_ps);
  add_time_if(table, step->device_end_ps > step->device_start_ps, step->device_start_ps);
  add_time_if(table, step->device_end_ps > step->device_start_ps, step->device_end_ps);
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    xp_table_int(table, (int64_t)step->counters[i]);
  }
  xp_table_text(table, xp_str_c(step->complete ? "" : "cut"));
}

static void steps_table(const xp_view *view, size_t rows)
{
  xp_table *table = xp_table_create(view->printer, step_columns, sizeof step_columns / sizeof step_columns[0]);
  xp_table_rows(table, rows, add_step, view);
  xp_table_print(table, view->printer->form == XP_FORM_CSV ? 0 : 2);
}

void xp_steps_csv(const xp_view *view)
{
  steps_table(view, view->reading->step_count);
}

/* ---- text */

static void source_text(const xp_view *view)
{
  const xp_reading *r = view->reading;
  if (r->step_source == XP_STEPS_DEVICE) {
    xp_print_line(view->printer, "  ", "From the Steps line of the devices.");
  }
  if (r->step_source == XP_STEPS_MODULE) {
    xp_print_line(view->printer, "  ",
                  "Inferred: no step is marked in the capture, so each run of the main program counts as one.");
  }
  if (r->step_source == XP_STEPS_NONE && r->step_reason.len == 0) {
    xp_print_line(view->printer, "  ", "No steps in this capture.");
  }
  if (r->step_source == XP_STEPS_NONE && r->step_reason.len > 0) {
    xp_print_text(view->printer, "  None: ", "  ", r->step_reason);
  }
}

static void add_summary(const void *context, xp_table *table, size_t row)
{
  const xp_view *view = context;
  const xp_step_summary *s = &view->reading->summaries[row];
  xp_table_text(table, xp_view_host(view, s->host));
  xp_table_text(table, s->name);
  xp_table_int(table, (int64_t)s->complete);
  xp_table_int(table, (int64_t)s->partial);
  add_time_if(table, s->has_period, s->period_ps);
  add_time_if(table, s->has_duration, s->duration_ps);
  add_time_if(table, s->has_duration, s->duration_median_ps);
  add_time_if(table, s->has_duration, s->duration_max_ps);
  add_time_if(table, s->complete > 0, s->busy_ps);
}

void xp_step_summaries_text(const xp_view *view)
{
  static const xp_column columns[] = {
      {"host", "", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 8},
      {"step", "", XP_COLUMN_TEXT, 0, 12},
      {"whole", "", XP_COLUMN_COUNT, XP_DROP_LAST, 0},
      {"cut", "", XP_COLUMN_COUNT, XP_HIDE_EMPTY, 0},
      {"period", "", XP_COLUMN_TIME, XP_DROP_LAST, 0},
      {"length", "", XP_COLUMN_TIME, 0, 0},
      {"median", "", XP_COLUMN_TIME, XP_DROP_LAST, 0},
      {"longest", "", XP_COLUMN_TIME, XP_DROP_NARROW, 0},
      {"busy", "", XP_COLUMN_TIME, 0, 0},
  };
  const xp_reading *r = view->reading;
  source_text(view);
  if (r->summary_count == 0) {
    return;
  }
  size_t shown = xp_print_rows(view->printer, 8, r->summary_count);
  xp_table *table = xp_table_create(view->printer, columns, sizeof columns / sizeof columns[0]);
  xp_table_rows(table, shown, add_summary, view);
  xp_table_print(table, 2);
  xp_view_rest(view, r->summary_count - shown, "step name", -1);
}

static void outside_text(const xp_view *view)
{
  const xp_reading *r = view->reading;
  uint64_t events = 0;
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    events += r->outside_steps_counters[i];
  }
  if (r->step_source != XP_STEPS_ANNOTATION || (r->outside_steps_ps == 0 && events == 0)) {
    return;
  }
  xp_str time = xp_format_time(view->printer->arena, r->outside_steps_ps);
  xp_print_line(view->printer, "  ",
                "Outside steps (before the first and after the last): %.*s of the host, %llu compiles, %llu executes, "
                "%llu reads, %llu uploads, %llu syncs.",
                XP_STR_ARG(time), (unsigned long long)r->outside_steps_counters[XP_COMPILES],
                (unsigned long long)r->outside_steps_counters[XP_EXECUTES],
                (unsigned long long)r->outside_steps_counters[XP_READS],
                (unsigned long long)r->outside_steps_counters[XP_UPLOADS],
                (unsigned long long)r->outside_steps_counters[XP_SYNCS]);
}

void xp_steps_text(const xp_view *view)
{
  const xp_reading *r = view->reading;
  size_t shown = xp_print_rows(view->printer, 40, r->step_count);
  xp_print_heading(view->printer, "Steps by name (means of the whole ones; period: from start to start)");
  xp_step_summaries_text(view);
  if (r->step_count == 0) {
    return;
  }
  xp_print_heading(view->printer, "Every step (busy: device work that the step launched, mean of the devices)");
  steps_table(view, shown);
  xp_view_rest(view, r->step_count - shown, "step", -1);
  outside_text(view);
}
