/* Without a limit in time the sums come from one pass over the file (xspace/aggregate.h), which builds no columns; else
 * from the columns, with the names numbered as they come. */
#include "report/events_by_name.h"

#include <stdlib.h>

#include "report/fields.h"
#include "report/format.h"
#include "report/table.h"
#include "xspace/aggregate.h"

typedef struct {
  xp_intern names;
  xp_name_total *rows;
  size_t capacity;
  xp_arena *arena;
} sums;

static void add_event(void *context, const xp_line *line, size_t event)
{
  sums *s = context;
  xp_str name = xp_event_name(line, event);
  int64_t dur = xp_event_dur(line, event);
  size_t known = s->names.count, i = xp_intern_add(&s->names, name);
  if (i == known) {
    s->rows = xp_arena_grow(s->arena, s->rows, known, &s->capacity, sizeof *s->rows);
    s->rows[i] = (xp_name_total){name, 0, 0, dur, dur};
  }
  xp_name_total *row = &s->rows[i];
  row->count++;
  if (__builtin_add_overflow(row->total_ps, dur, &row->total_ps)) {
    row->total_ps = INT64_MAX;
  }
  row->min_ps = dur < row->min_ps ? dur : row->min_ps;
  row->max_ps = dur > row->max_ps ? dur : row->max_ps;
}

static int by_total(const void *a, const void *b)
{
  const xp_name_total *x = a, *y = b;
  if (x->total_ps != y->total_ps) {
    return x->total_ps > y->total_ps ? -1 : 1;
  }
  return xp_str_cmp(x->name, y->name);
}

static void sum_columns(const xp_printer *printer, const xp_capture *capture, const xp_selection *selection,
                        xp_name_total **rows, size_t *count)
{
  sums s = {.arena = printer->arena};
  xp_intern_init(&s.names, printer->arena);
  xp_selection_each(selection, capture, add_event, &s);
  *rows = s.rows;
  *count = s.names.count;
  if (*count > 1) {
    qsort(*rows, *count, sizeof **rows, by_total);
  }
}

static bool wants_line(void *context, const xp_line *line)
{
  return xp_selection_line(context, line);
}

/* Takes rows out that the expression does not match. */
static size_t keep_matching(const xp_selection *selection, xp_name_total *rows, size_t count)
{
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (xp_selection_name(selection, rows[i].name)) {
      rows[kept++] = rows[i];
    }
  }
  return kept;
}

static int64_t mean(const xp_name_total *row)
{
  return row->count > 0 ? (int64_t)((double)row->total_ps / (double)row->count + 0.5) : 0;
}

static void rows_json(const xp_printer *printer, const xp_name_total *rows, size_t shown, uint64_t total, size_t names)
{
  xp_json json;
  xp_json_begin(&json, printer->out);
  xp_json_object(&json);
  xp_field_text(&json, "schema", "xlaprof.events/1");
  xp_field_uint(&json, "total", total);
  xp_field_uint(&json, "names", names);
  xp_json_key(&json, "rows");
  xp_json_array(&json);
  for (size_t i = 0; i < shown; i++) {
    xp_json_object_line(&json);
    xp_json_key(&json, "name");
    xp_json_str(&json, rows[i].name);
    xp_field_uint(&json, "count", rows[i].count);
    xp_field_int(&json, "total_ps", rows[i].total_ps);
    xp_field_int(&json, "mean_ps", mean(&rows[i]));
    xp_field_int(&json, "min_ps", rows[i].min_ps);
    xp_field_int(&json, "max_ps", rows[i].max_ps);
    xp_json_object_end(&json);
  }
  xp_json_array_end(&json);
  xp_json_object_end(&json);
  xp_json_finish(&json);
}

typedef struct {
  const xp_printer *printer;
  const xp_name_total *rows;
} name_list;

static void add_name(const void *context, xp_table *table, size_t i)
{
  const name_list *list = context;
  const xp_name_total *row = &list->rows[i];
  bool text = list->printer->form == XP_FORM_TEXT;
  xp_table_text(table, text ? xp_event_label(list->printer->scratch, row->name) : row->name);
  xp_table_int(table, (int64_t)row->count);
  xp_table_int(table, row->total_ps);
  xp_table_int(table, mean(row));
  xp_table_int(table, row->min_ps);
  xp_table_int(table, row->max_ps);
}

static void rows_table(const xp_printer *printer, const xp_name_total *rows, size_t shown)
{
  static const xp_column columns[] = {{"name", "name", XP_COLUMN_TEXT, 0, 20},
                                      {"count", "count", XP_COLUMN_COUNT, 0, 0},
                                      {"total", "total_ps", XP_COLUMN_TIME, XP_OWN_UNITS, 0},
                                      {"mean", "mean_ps", XP_COLUMN_TIME, XP_OWN_UNITS | XP_DROP_LAST, 0},
                                      {"shortest", "min_ps", XP_COLUMN_TIME, XP_OWN_UNITS | XP_DROP_NARROW, 0},
                                      {"longest", "max_ps", XP_COLUMN_TIME, XP_OWN_UNITS | XP_DROP_LAST, 0}};
  const name_list list = {printer, rows};
  xp_table *table = xp_table_create(printer, columns, 6);
  xp_table_rows(table, shown, add_name, &list);
  xp_table_print(table, 0);
}

static void rows_text(const xp_printer *printer, const xp_name_total *rows, size_t shown, uint64_t total, size_t names)
{
  uint64_t rest = 0;
  for (size_t i = shown; i < names; i++) {
    rest += rows[i].count;
  }
  if (shown > 0) {
    rows_table(printer, rows, shown);
  }
  xp_str events = xp_format_things(printer->arena, total, "event");
  xp_str all = xp_format_things(printer->arena, names, "name");
  xp_print_line(printer, "", "%.*s of %.*s", XP_STR_ARG(events), XP_STR_ARG(all));
  if (shown < names) {
    xp_str left = xp_format_things(printer->arena, rest, "event");
    xp_str rows_left = xp_format_things(printer->arena, names - shown, "name");
    xp_print_line(printer, "", "%.*s with %.*s not shown (--limit 0 shows all)", XP_STR_ARG(rows_left),
                  XP_STR_ARG(left));
  }
}

void xp_events_by_name(const xp_printer *printer, const xp_capture *capture, const xp_selection *selection)
{
  const xp_event_query *query = selection->query;
  xp_name_total *rows;
  size_t count;
  uint64_t total = 0;
  if (xp_event_query_needs_times(query)) {
    sum_columns(printer, capture, selection, &rows, &count);
  } else {
    xp_aggregate_by_name(capture, wants_line, (void *)selection, query->threads, printer->arena, &rows, &count);
    count = keep_matching(selection, rows, count);
  }
  for (size_t i = 0; i < count; i++) {
    total += rows[i].count;
  }
  size_t shown = count < query->limit ? count : (size_t)query->limit;
  if (printer->form == XP_FORM_JSON) {
    rows_json(printer, rows, shown, total, count);
  } else if (printer->form == XP_FORM_CSV) {
    rows_table(printer, rows, shown);
  } else {
    rows_text(printer, rows, shown, total, count);
  }
}
