/* The counters of a torch_xla metrics report, alone or held against those of a capture.
 *
 * The report counts calls inside the client by name; the capture shows the same calls as events.  The report covers the
 * time since the program started (or since the metrics were cleared), a capture only its session. */
#include <stdlib.h>

#include "report/fields.h"
#include "report/format.h"
#include "report/table.h"
#include "report/text.h"
#include "report/view.h"

/* Names that add up to a counter. */
static const struct {
  const char *samples[3]; /* metrics */
  const char *counter;    /* or one counter */
} sources[XP_COUNTER_COUNT] = {
    [XP_COMPILES] = {{"CompileTime", "EagerOpCompileTime", NULL}, NULL},
    [XP_EXECUTES] = {{"ExecuteTime", "EagerOpExecuteTime", "ExecuteReplicatedTime"}, NULL},
    [XP_READS] = {{"TransferFromDeviceTime", NULL, NULL}, NULL},
    [XP_UPLOADS] = {{"TransferToDeviceTime", NULL, NULL}, NULL},
    [XP_SYNCS] = {{NULL, NULL, NULL}, "MarkStep"},
};

uint64_t xp_metrics_counter(const xp_metrics_report *report, int counter)
{
  uint64_t sum = 0;
  for (int i = 0; i < 3 && sources[counter].samples[i] != NULL; i++) {
    sum += xp_metrics_report_samples(report, sources[counter].samples[i]);
  }
  if (sources[counter].counter != NULL) {
    int64_t value = xp_metrics_report_counter(report, sources[counter].counter);
    sum += value > 0 ? (uint64_t)value : 0;
  }
  return sum;
}

/* "ExecuteTime 25 + EagerOpExecuteTime 3": the names that the report has. */
static xp_str names_in_report(xp_arena *arena, const xp_metrics_report *report, int counter)
{
  xp_str text = {NULL, 0};
  for (int i = 0; i < 3 && sources[counter].samples[i] != NULL; i++) {
    const char *name = sources[counter].samples[i];
    uint64_t samples = xp_metrics_report_samples(report, name);
    if (samples > 0) {
      text = xp_arena_format(arena, "%.*s%s%s %llu", XP_STR_ARG(text), text.len > 0 ? " + " : "", name,
                             (unsigned long long)samples);
    }
  }
  if (text.len > 0) {
    return text;
  }
  return xp_str_c(sources[counter].counter != NULL ? sources[counter].counter : sources[counter].samples[0]);
}

static bool is_fallback(xp_str name)
{
  return xp_str_starts(name, "aten::");
}

/* Told elsewhere: as a fallback, or in one of the five counters. */
static bool is_told(xp_str name)
{
  bool is_source = false;
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    is_source = is_source || (sources[i].counter != NULL && xp_str_is(name, sources[i].counter));
  }
  return is_source || is_fallback(name);
}

/* How the two compare, in sentences. */
static size_t verdict(const xp_counters *counters, const xp_metrics_report *report, xp_str sentences[2])
{
  size_t count = 0;
  bool more = false, less = false;
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    uint64_t said = xp_metrics_counter(report, i);
    more = more || said > counters->totals[i];
    less = less || said < counters->totals[i];
  }
  if (!more && !less) {
    sentences[count++] = xp_str_c("The two agree.");
  }
  if (more) {
    sentences[count++] = xp_str_c("Where the report has more: it counts since the program started or the metrics were "
                                  "cleared, the capture only within its session.");
  }
  if (less) {
    sentences[count++] = xp_str_c("Where the report has less: it was written before the session ended, or the metrics "
                                  "were cleared within it.");
  }
  return count;
}

/* ---- JSON */

static void counters_object(xp_json *json, const xp_metrics_report *report)
{
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    xp_field_uint(json, xp_counter_name(i), xp_metrics_counter(report, i));
  }
}

static void fallbacks_json(xp_json *json, const xp_metrics_report *report)
{
  xp_json_key(json, "cpu_fallbacks");
  xp_json_object_line(json);
  for (size_t i = 0; i < report->counter_count; i++) {
    if (is_fallback(report->counters[i].name)) {
      xp_json_key_str(json, report->counters[i].name);
      xp_json_int(json, report->counters[i].value);
    }
  }
  xp_json_object_end(json);
}

/* All that the report has, by its own names. */
static void names_json(xp_json *json, const xp_metrics_report *report)
{
  static const char *const units[] = {
      [XP_METRIC_VALUE] = "value", [XP_METRIC_TIME] = "ns", [XP_METRIC_BYTES] = "bytes"};
  xp_json_key(json, "counters");
  xp_json_object_line(json);
  for (size_t i = 0; i < report->counter_count; i++) {
    xp_json_key_str(json, report->counters[i].name);
    xp_json_int(json, report->counters[i].value);
  }
  xp_json_object_end(json);
  xp_json_key(json, "metrics");
  xp_json_array(json);
  for (size_t i = 0; i < report->metric_count; i++) {
    const xp_metric *m = &report->metrics[i];
    xp_json_object_line(json);
    xp_field_str(json, "name", m->name);
    xp_field_uint(json, "samples", m->samples);
    xp_field_real(json, "sum", m->accumulator);
    xp_field_text(json, "unit", units[m->unit]);
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
}

/* counters: NULL without a capture. */
void xp_metrics_json(xp_json *json, const xp_counters *counters, const xp_metrics_report *report)
{
  xp_str sentences[2];
  xp_json_object(json);
  xp_field_str(json, "path", report->path);
  xp_field_int_or_null(json, "step", report->step >= 0, report->step);
  counters_object(json, report);
  xp_field_strs(json, "words", sentences, counters != NULL ? verdict(counters, report, sentences) : 0);
  xp_json_key(json, "differs");
  xp_json_array_line(json);
  for (int i = 0; i < XP_COUNTER_COUNT && counters != NULL; i++) {
    if (counters->totals[i] != xp_metrics_counter(report, i)) {
      xp_json_text(json, xp_counter_name(i));
    }
  }
  xp_json_array_end(json);
  fallbacks_json(json, report);
  names_json(json, report);
  xp_json_object_end(json);
}

static void alone_json(xp_json *json, const xp_metrics_report *report)
{
  xp_json_object(json);
  xp_field_text(json, "schema", "xlaprof.counters/1");
  counters_object(json, report);
  xp_json_key(json, "per_step");
  xp_json_object_line(json);
  xp_json_object_end(json);
  xp_json_key(json, "by_scope");
  xp_json_array_line(json);
  xp_json_array_end(json);
  xp_field_null(json, "main_step");
  xp_field_null(json, "programs_per_step");
  xp_field_text(json, "source", "report");
  xp_field_text(json, "covers", "process");
  xp_json_key(json, "report");
  xp_metrics_json(json, NULL, report);
  xp_json_object_end(json);
  xp_json_finish(json);
}

/* ---- text and CSV */

static void comparison_table(const xp_printer *printer, const xp_counters *counters, const xp_metrics_report *report)
{
  const xp_column columns[] = {{"counter", "counter", XP_COLUMN_TEXT, 0, 0},
                               {"capture", "capture", XP_COLUMN_COUNT, counters != NULL ? 0 : XP_ONLY_CSV, 0},
                               {"report", "report", XP_COLUMN_COUNT, 0, 0},
                               {"", "differs", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 8},
                               {"in the report", "names", XP_COLUMN_TEXT, 0, 20}};
  xp_table *table = xp_table_create(printer, columns, 5);
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    uint64_t said = xp_metrics_counter(report, i);
    xp_table_text(table, xp_str_c(xp_counter_name(i)));
    if (counters != NULL) {
      xp_table_int(table, (int64_t)counters->totals[i]);
    } else {
      xp_table_none(table);
    }
    xp_table_int(table, (int64_t)said);
    xp_table_text(table, xp_str_c(counters != NULL && counters->totals[i] != said ? "differs" : ""));
    xp_table_text(table, names_in_report(printer->arena, report, i));
  }
  xp_table_print(table, printer->form == XP_FORM_CSV ? 0 : 2);
}

/* Counters that fell back to the CPU, which cuts the program each time. */
static void fallbacks_text(const xp_printer *printer, const xp_metrics_report *report)
{
  xp_str list = {NULL, 0};
  for (size_t i = 0; i < report->counter_count; i++) {
    xp_str name = xp_text_printable(printer->arena, report->counters[i].name);
    if (is_fallback(name)) {
      list = xp_arena_format(printer->arena, "%.*s%s%.*s %lld", XP_STR_ARG(list), list.len > 0 ? ", " : "",
                             XP_STR_ARG(name), (long long)report->counters[i].value);
    }
  }
  if (list.len == 0) {
    return;
  }
  list = xp_arena_format(printer->arena, "Operations that ran on the CPU, each after a read: %.*s", XP_STR_ARG(list));
  xp_print_text(printer, "  ", "    ", list);
}

xp_str xp_metrics_words(xp_arena *arena, const xp_counters *counters, const xp_metrics_report *report)
{
  xp_str path = xp_text_printable(arena, report->path), list = {NULL, 0};
  for (int i = 0; i < XP_COUNTER_COUNT; i++) {
    uint64_t said = xp_metrics_counter(report, i);
    if (said != counters->totals[i]) {
      list = xp_arena_format(arena, "%.*s%s%s %llu, not %llu", XP_STR_ARG(list), list.len > 0 ? "; " : "",
                             xp_counter_name(i), (unsigned long long)said, (unsigned long long)counters->totals[i]);
    }
  }
  if (list.len == 0) {
    return xp_arena_format(arena, "%.*s agrees with the counters", XP_STR_ARG(path));
  }
  return xp_arena_format(arena, "%.*s has other counts: %.*s (it may cover a longer time)", XP_STR_ARG(path),
                         XP_STR_ARG(list));
}

void xp_metrics_text(const xp_printer *printer, const xp_counters *counters, const xp_metrics_report *report)
{
  xp_str sentences[2];
  xp_print_heading(printer, "Held against the metrics report");
  xp_print_exact(printer, "  ", "  ", report->path);
  comparison_table(printer, counters, report);
  size_t count = verdict(counters, report, sentences);
  for (size_t i = 0; i < count; i++) {
    xp_print_text(printer, "  ", "  ", sentences[i]);
  }
  fallbacks_text(printer, report);
}

static int by_amount(const void *a, const void *b)
{
  const xp_metric *x = *(const xp_metric *const *)a, *y = *(const xp_metric *const *)b;
  if (x->accumulator != y->accumulator) {
    return x->accumulator > y->accumulator ? -1 : 1;
  }
  return xp_str_cmp(x->name, y->name);
}

/* Times of the report, longest first. */
static void times_text(const xp_printer *printer, const xp_metrics_report *report)
{
  static const xp_column columns[] = {{"time of", "", XP_COLUMN_TEXT, 0, 20},
                                      {"calls", "", XP_COLUMN_COUNT, 0, 0},
                                      {"total", "", XP_COLUMN_TIME, 0, 0}};
  const xp_metric **rows = xp_arena_array(printer->arena, report->metric_count, sizeof *rows);
  size_t count = 0;
  for (size_t i = 0; i < report->metric_count; i++) {
    if (report->metrics[i].unit == XP_METRIC_TIME && report->metrics[i].accumulator < 9e15) {
      rows[count++] = &report->metrics[i];
    }
  }
  if (count == 0) {
    return;
  }
  qsort(rows, count, sizeof *rows, by_amount);
  xp_table *table = xp_table_create(printer, columns, 3);
  for (size_t i = 0; i < count; i++) {
    xp_table_text(table, rows[i]->name);
    xp_table_int(table, (int64_t)rows[i]->samples);
    xp_table_int(table, (int64_t)(rows[i]->accumulator * 1000));
  }
  xp_print_heading(printer, "Times in the report");
  xp_table_print(table, 2);
}

/* What the program counts beside the five, such as its own counters. */
static void others_text(const xp_printer *printer, const xp_metrics_report *report)
{
  static const xp_column columns[] = {{"counter", "", XP_COLUMN_TEXT, 0, 20}, {"value", "", XP_COLUMN_COUNT, 0, 0}};
  xp_table *table = xp_table_create(printer, columns, 2);
  size_t count = 0;
  for (size_t i = 0; i < report->counter_count; i++) {
    if (!is_told(report->counters[i].name)) {
      xp_table_text(table, report->counters[i].name);
      xp_table_int(table, report->counters[i].value);
      count++;
    }
  }
  if (count > 0) {
    xp_print_heading(printer, "Other counters in the report");
    xp_table_print(table, 2);
  }
}

static void alone_text(const xp_printer *printer, const xp_metrics_report *report)
{
  xp_print_exact(printer, "Metrics report ", "  ", report->path);
  xp_print_heading(printer, "Counters (since the program started, or the metrics were cleared)");
  comparison_table(printer, NULL, report);
  fallbacks_text(printer, report);
  others_text(printer, report);
  times_text(printer, report);
}

static void write_alone(void *context, const xp_printer *printer)
{
  const xp_metrics_report *report = context;
  xp_json json;
  if (printer->form == XP_FORM_JSON) {
    xp_json_begin(&json, printer->out);
    alone_json(&json, report);
  } else if (printer->form == XP_FORM_CSV) {
    comparison_table(printer, NULL, report);
  } else {
    alone_text(printer, report);
  }
}

xp_status xp_metrics_write(const xp_metrics_report *report, const xp_output *output, xp_error *err)
{
  return xp_print_with(output, write_alone, (void *)report, err);
}
