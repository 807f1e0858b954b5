/* Rows are written as they are found, so that millions of them take no memory.  In text the events of one line stand
 * under its name. */
#include "report/events.h"

#include <inttypes.h>

#include "report/csv.h"
#include "report/events_by_name.h"
#include "report/fields.h"
#include "report/format.h"
#include "report/select.h"
#include "report/text.h"
#include "report/view.h"

enum { ARGS_MOST = 64 };

typedef struct {
  const xp_printer *printer;
  const xp_event_query *query;
  xp_json *json;
  uint64_t total, written;
  xp_event_cursor cursor;
} rows;

bool xp_event_query_needs_times(const xp_event_query *query)
{
  return !query->by_name || query->has_from || query->has_to;
}

/* ---- arguments of an event: its stats, the first of equal names */

static bool is_new(const xp_str *names, size_t count, xp_str name)
{
  for (size_t i = 0; i < count; i++) {
    if (xp_str_eq(names[i], name)) {
      return false;
    }
  }
  return true;
}

static size_t find_args(xp_event_cursor *cursor, const xp_line *line, size_t event, xp_stat args[ARGS_MOST])
{
  xp_str names[ARGS_MOST];
  size_t count = 0;
  if (cursor->line != line) {
    *cursor = xp_event_cursor_open(line);
  }
  xp_stats stats = xp_event_stats(cursor, event);
  while (count < ARGS_MOST && xp_stats_next(&stats, &args[count])) {
    if (is_new(names, count, args[count].name)) {
      names[count] = args[count].name;
      count++;
    }
  }
  return count;
}

static void arg_json(xp_json *json, const xp_stat *arg)
{
  char text[40];
  xp_json_key_str(json, arg->name);
  switch (arg->type) {
  case XP_STAT_DOUBLE:
    xp_json_double(json, arg->real);
    break;
  case XP_STAT_UINT64:
    xp_json_uint(json, arg->bits);
    break;
  case XP_STAT_INT64:
    xp_json_int(json, (int64_t)arg->bits);
    break;
  case XP_STAT_STRING:
    xp_json_str(json, arg->text);
    break;
  case XP_STAT_BYTES:
    snprintf(text, sizeof text, "(%zu bytes)", arg->text.len);
    xp_json_text(json, text);
    break;
  default:
    xp_json_null(json);
  }
}

static void args_json(xp_json *json, const xp_stat *args, size_t count)
{
  xp_json_object_line(json);
  for (size_t i = 0; i < count; i++) {
    arg_json(json, &args[i]);
  }
  xp_json_object_end(json);
}

void xp_event_args_json(xp_json *json, const xp_line *line, size_t event)
{
  xp_stat args[ARGS_MOST];
  xp_event_cursor cursor = {.line = NULL};
  size_t count = find_args(&cursor, line, event, args);
  args_json(json, args, count);
}

static xp_str arg_text(xp_arena *arena, const xp_stat *arg)
{
  xp_str name = xp_text_printable(arena, arg->name), text = xp_text_printable(arena, arg->text);
  switch (arg->type) {
  case XP_STAT_DOUBLE:
    return xp_arena_format(arena, "%.*s=%g", XP_STR_ARG(name), arg->real);
  case XP_STAT_UINT64:
    return xp_arena_format(arena, "%.*s=%" PRIu64, XP_STR_ARG(name), arg->bits);
  case XP_STAT_INT64:
    return xp_arena_format(arena, "%.*s=%" PRId64, XP_STR_ARG(name), (int64_t)arg->bits);
  case XP_STAT_BYTES:
    return xp_arena_format(arena, "%.*s=(%zu bytes)", XP_STR_ARG(name), arg->text.len);
  default:
    return xp_arena_format(arena, "%.*s=%.*s", XP_STR_ARG(name), XP_STR_ARG(text));
  }
}

static xp_str args_text(xp_arena *arena, const xp_stat *args, size_t count)
{
  xp_str all = {NULL, 0};
  for (size_t i = 0; i < count; i++) {
    all =
        xp_arena_format(arena, "%.*s%s%.*s", XP_STR_ARG(all), i > 0 ? " " : "", XP_STR_ARG(arg_text(arena, &args[i])));
  }
  return all;
}

/* ---- rows */

static void row_json(rows *r, const xp_line *line, size_t event)
{
  xp_stat args[ARGS_MOST];
  size_t count = find_args(&r->cursor, line, event, args);
  xp_json_object_line(r->json);
  xp_field_str(r->json, "host", line->plane->host->name);
  xp_field_str(r->json, "plane", line->plane->name);
  xp_field_str(r->json, "line", xp_line_label(line));
  xp_json_key(r->json, "name");
  xp_json_str(r->json, xp_event_name(line, event));
  xp_field_int(r->json, "start_ps", line->start_ps[event]);
  xp_field_int(r->json, "dur_ps", xp_event_dur(line, event));
  if (line->meta[event] & XP_EVENT_UNTIMED) {
    xp_field_bool(r->json, "untimed", true);
  }
  if (line->meta[event] & XP_EVENT_STRAY) {
    xp_field_bool(r->json, "stray", true);
  }
  xp_json_key(r->json, "args");
  args_json(r->json, args, count);
  xp_json_object_end(r->json);
}

static void row_csv(rows *r, const xp_line *line, size_t event)
{
  xp_stat args[ARGS_MOST];
  FILE *out = r->printer->out;
  size_t count = find_args(&r->cursor, line, event, args);
  const xp_str texts[] = {line->plane->host->name, line->plane->name, xp_line_label(line), xp_event_name(line, event)};
  for (size_t i = 0; i < 4; i++) {
    xp_csv_text(out, texts[i]);
    fputc(',', out);
  }
  fprintf(out, "%" PRId64 ",%" PRId64 ",", line->start_ps[event], xp_event_dur(line, event));
  xp_csv_text(out, args_text(r->printer->scratch, args, count));
  xp_csv_end(out);
}

static void line_heading(rows *r, const xp_line *line)
{
  const xp_printer *p = r->printer;
  xp_str host = xp_text_printable(r->printer->scratch, line->plane->host->name);
  xp_str plane = xp_text_printable(r->printer->scratch, line->plane->name),
         name = xp_text_printable(r->printer->scratch, xp_line_label(line));
  bool many = line->plane->host->capture->host_count > 1;
  xp_print_heading(p, "%.*s%s%.*s, line %.*s", many ? (int)host.len : 0, host.ptr, many ? " " : "", XP_STR_ARG(plane),
                   XP_STR_ARG(name));
  fprintf(p->out, "%14s  %9s  name\n", "start ms", "length");
}

static void row_text(rows *r, const xp_line *line, size_t event)
{
  xp_stat args[ARGS_MOST];
  FILE *out = r->printer->out;
  if (r->written == 0 || r->cursor.line != line) {
    line_heading(r, line);
  }
  size_t count = find_args(&r->cursor, line, event, args);
  bool untimed = line->meta[event] & XP_EVENT_UNTIMED;
  xp_str start = untimed ? xp_str_c("-") : xp_format_time_in(r->printer->scratch, line->start_ps[event], XP_UNIT_MS, 6);
  xp_str length = untimed ? xp_str_c("-") : xp_format_time(r->printer->scratch, xp_event_dur(line, event));
  xp_str name = xp_text_printable(r->printer->scratch, xp_event_label(r->printer->scratch, xp_event_name(line, event)));
  xp_str words = args_text(r->printer->scratch, args, count);
  size_t before = (start.len > 14 ? start.len : 14) + 2 + (length.len > 9 ? length.len : 9) + 2;
  size_t room = r->printer->width > before ? r->printer->width - before : 0, width = xp_text_width(name);
  name = xp_text_fit(r->printer->scratch, name, room);
  fprintf(out, "%14.*s  %9.*s  %.*s", XP_STR_ARG(start), XP_STR_ARG(length), XP_STR_ARG(name));
  if (words.len > 0 && width + 10 < room) {
    xp_str shown = xp_text_fit(r->printer->scratch, words, room - width - 2);
    fprintf(out, "  %.*s", XP_STR_ARG(shown));
  }
  fputc('\n', out);
}

static void add_row(void *context, const xp_line *line, size_t event)
{
  rows *r = context;
  r->total++;
  if (r->written >= r->query->limit) {
    return;
  }
  xp_arena_clear(r->printer->scratch);
  if (r->printer->form == XP_FORM_JSON) {
    row_json(r, line, event);
  } else if (r->printer->form == XP_FORM_CSV) {
    row_csv(r, line, event);
  } else {
    row_text(r, line, event);
  }
  r->written++;
}

static void write_json(rows *r, const xp_capture *capture, const xp_selection *selection)
{
  xp_json json;
  r->json = &json;
  xp_json_begin(&json, r->printer->out);
  xp_json_object(&json);
  xp_field_text(&json, "schema", "xlaprof.events/1");
  xp_json_key(&json, "rows");
  xp_json_array(&json);
  xp_selection_each(selection, capture, add_row, r);
  xp_json_array_end(&json);
  xp_field_uint(&json, "total", r->total); /* known only now */
  xp_json_object_end(&json);
  xp_json_finish(&json);
}

static void write_rows(rows *r, const xp_capture *capture, const xp_selection *selection)
{
  const xp_printer *p = r->printer;
  if (p->form == XP_FORM_JSON) {
    write_json(r, capture, selection);
    return;
  }
  if (p->form == XP_FORM_CSV) {
    fputs("host,plane,line,name,start_ps,dur_ps,args", p->out);
    xp_csv_end(p->out);
  }
  xp_selection_each(selection, capture, add_row, r);
  if (p->form != XP_FORM_TEXT) {
    return;
  }
  xp_str total = xp_format_things(p->arena, r->total, "event");
  fputs(r->total > 0 ? "\n" : "", p->out);
  if (r->written < r->total) {
    xp_print_line(p, "",
                  "%.*s; the first %" PRIu64 " are shown (--limit N shows N, --limit 0 all; --by-name sums them)",
                  XP_STR_ARG(total), r->written);
  } else {
    xp_print_line(p, "", "%.*s", XP_STR_ARG(total));
  }
}

/* The regular expression is no memory of the arenas, so it is made and freed outside of the call that may jump. */
typedef struct {
  const xp_capture *capture;
  xp_selection selection;
} job;

static void write_job(void *context, const xp_printer *printer)
{
  job *j = context;
  j->selection.arena = printer->arena;
  if (j->selection.query->by_name) {
    xp_events_by_name(printer, j->capture, &j->selection);
    return;
  }
  rows r = {.printer = printer, .query = j->selection.query};
  write_rows(&r, j->capture, &j->selection);
}

xp_status xp_events_write(const xp_capture *capture, const xp_event_query *query, const xp_output *output,
                          xp_error *err)
{
  job j = {.capture = capture};
  xp_status status = xp_selection_open(&j.selection, capture, query, err);
  if (status == XP_OK) {
    status = xp_print_with(output, write_job, &j, err);
  }
  xp_selection_close(&j.selection);
  return status;
}
