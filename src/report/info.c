/* What a capture holds: files, session, planes, lines, and what is wrong with it. */
#include <stdlib.h>

#include "report/fields.h"
#include "report/format.h"
#include "report/table.h"
#include "report/text.h"
#include "report/view.h"

typedef struct {
  uint64_t events, untimed, stray;
  bool has_times;
  int64_t first_ps, last_ps;
} totals;

static void add_line(totals *t, const xp_line *line)
{
  t->events += line->count;
  t->untimed += line->untimed;
  t->stray += line->stray;
  if (line->count <= line->untimed + line->stray) {
    return;
  }
  if (!t->has_times || line->first_ps < t->first_ps) {
    t->first_ps = line->first_ps;
  }
  if (!t->has_times || line->last_ps > t->last_ps) {
    t->last_ps = line->last_ps;
  }
  t->has_times = true;
}

static totals plane_totals(const xp_plane *plane)
{
  totals t = {0};
  for (size_t i = 0; i < plane->line_count; i++) {
    add_line(&t, &plane->lines[i]);
  }
  return t;
}

static const char *file_status_name(xp_file_status status)
{
  static const char *const names[] = {"ok", "empty", "truncated", "damaged", "unreadable"};
  return names[status];
}

static xp_str line_name(const xp_line *line)
{
  return line->display_name.len > 0 ? line->display_name : line->name;
}

/* ---- JSON */

static void totals_json(xp_json *json, const totals *t)
{
  xp_field_uint(json, "events", t->events);
  xp_field_uint(json, "untimed", t->untimed);
  xp_field_uint(json, "stray", t->stray);
  xp_field_int_or_null(json, "first_ps", t->has_times, t->first_ps);
  xp_field_int_or_null(json, "last_ps", t->has_times, t->last_ps);
}

static void line_json(xp_json *json, const xp_line *line)
{
  totals t = {0};
  add_line(&t, line);
  xp_json_object_line(json);
  xp_field_str(json, "name", line_name(line));
  xp_field_int(json, "id", line->id);
  totals_json(json, &t);
  xp_json_object_end(json);
}

static void plane_json(xp_json *json, const xp_plane *plane)
{
  totals t = plane_totals(plane);
  xp_json_object(json);
  xp_field_str(json, "host", plane->host->name);
  xp_field_str(json, "name", plane->name);
  xp_field_uint(json, "lines", plane->line_count);
  totals_json(json, &t);
  xp_json_key(json, "line_list");
  xp_json_array(json);
  for (size_t i = 0; i < plane->line_count; i++) {
    line_json(json, &plane->lines[i]);
  }
  xp_json_array_end(json);
  xp_json_object_end(json);
}

static void file_json(xp_json *json, const xp_host *host)
{
  xp_json_object_line(json);
  xp_field_str(json, "path", host->path);
  xp_field_str(json, "host", host->name);
  xp_field_uint(json, "bytes", host->bytes);
  xp_field_text(json, "status", file_status_name(host->status));
  xp_field_str(json, "problem", host->problem);
  xp_json_object_end(json);
}

static void session_json(xp_json *json, const xp_capture *capture)
{
  xp_json_key(json, "session");
  xp_json_object_line(json);
  xp_field_int_or_null(json, "start_unix_ns", capture->start_unix_ns != 0, capture->start_unix_ns);
  xp_field_int(json, "dur_ps", capture->dur_ps);
  xp_field_bool(json, "recorded", capture->has_session);
  xp_json_object_end(json);
}

void xp_info_json(const xp_view *view, xp_json *json)
{
  const xp_capture *capture = view->reading->capture;
  xp_field_str(json, "run", capture->run);
  xp_json_key(json, "files");
  xp_json_array(json);
  for (size_t i = 0; i < capture->host_count; i++) {
    file_json(json, &capture->hosts[i]);
  }
  xp_json_array_end(json);
  xp_json_key(json, "planes");
  xp_json_array(json);
  for (size_t i = 0; i < capture->host_count; i++) {
    for (size_t k = 0; k < capture->hosts[i].plane_count; k++) {
      plane_json(json, &capture->hosts[i].planes[k]);
    }
  }
  xp_json_array_end(json);
  xp_field_uint(json, "events", capture->events);
  session_json(json, capture);
  xp_field_strs(json, "warnings", view->reading->warnings, view->reading->warning_count);
}

/* ---- tables */

static void add_totals(xp_table *table, const totals *t)
{
  xp_table_int(table, (int64_t)t->events);
  xp_table_int(table, (int64_t)t->untimed);
  xp_table_int(table, (int64_t)t->stray);
  if (t->has_times) {
    xp_table_int(table, t->first_ps);
    xp_table_int(table, t->last_ps);
  } else {
    xp_table_none(table);
    xp_table_none(table);
  }
}

static void planes_table(const xp_view *view)
{
  static const xp_column columns[] = {
      {"host", "host", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 0},
      {"plane", "plane", XP_COLUMN_TEXT, 0, 0},
      {"lines", "lines", XP_COLUMN_COUNT, 0, 0},
      {"events", "events", XP_COLUMN_COUNT, 0, 0},
      {"untimed", "untimed", XP_COLUMN_COUNT, XP_HIDE_EMPTY, 0},
      {"stray", "stray", XP_COLUMN_COUNT, XP_HIDE_EMPTY, 0},
      {"first", "first_ps", XP_COLUMN_TIME, XP_ONE_UNIT | XP_DROP_LAST, 0},
      {"last", "last_ps", XP_COLUMN_TIME, XP_ONE_UNIT | XP_DROP_LAST, 0},
  };
  const xp_capture *capture = view->reading->capture;
  xp_table *table = xp_table_create(view->printer, columns, sizeof columns / sizeof columns[0]);
  for (size_t i = 0; i < capture->host_count; i++) {
    for (size_t k = 0; k < capture->hosts[i].plane_count; k++) {
      const xp_plane *plane = &capture->hosts[i].planes[k];
      totals t = plane_totals(plane);
      xp_table_text(table, view->printer->form == XP_FORM_CSV ? plane->host->name : xp_view_host(view, (uint32_t)i));
      xp_table_text(table, plane->name);
      xp_table_int(table, (int64_t)plane->line_count);
      add_totals(table, &t);
    }
  }
  xp_table_print(table, 2);
}

void xp_info_csv(const xp_view *view)
{
  planes_table(view);
}

/* ---- text */

static int more_events(const void *a, const void *b)
{
  const xp_line *x = *(const xp_line *const *)a, *y = *(const xp_line *const *)b;
  if (x->count != y->count) {
    return x->count > y->count ? -1 : 1;
  }
  if (x->plane->host != y->plane->host) {
    return x->plane->host->index < y->plane->host->index ? -1 : 1;
  }
  if (x->plane != y->plane) {
    return x->plane->index < y->plane->index ? -1 : 1;
  }
  return x->index < y->index ? -1 : x->index > y->index;
}

/* All lines of the capture, those with most events first. */
static const xp_line **sorted_lines(const xp_view *view, size_t *count)
{
  const xp_capture *capture = view->reading->capture;
  *count = 0;
  for (size_t i = 0; i < capture->host_count; i++) {
    for (size_t k = 0; k < capture->hosts[i].plane_count; k++) {
      *count += capture->hosts[i].planes[k].line_count;
    }
  }
  const xp_line **lines = xp_arena_array(view->printer->arena, *count, sizeof(xp_line *));
  size_t n = 0;
  for (size_t i = 0; i < capture->host_count; i++) {
    for (size_t k = 0; k < capture->hosts[i].plane_count; k++) {
      for (size_t m = 0; m < capture->hosts[i].planes[k].line_count; m++) {
        lines[n++] = &capture->hosts[i].planes[k].lines[m];
      }
    }
  }
  if (n > 1) {
    qsort(lines, n, sizeof *lines, more_events);
  }
  return lines;
}

static void lines_text(const xp_view *view)
{
  static const xp_column columns[] = {
      {"line", "line", XP_COLUMN_TEXT, 0, 12},
      {"plane", "plane", XP_COLUMN_TEXT, 0, 9},
      {"host", "host", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 8},
      {"events", "events", XP_COLUMN_COUNT, 0, 0},
      {"untimed", "untimed", XP_COLUMN_COUNT, XP_HIDE_EMPTY, 0},
      {"stray", "stray", XP_COLUMN_COUNT, XP_HIDE_EMPTY, 0},
      {"first", "first_ps", XP_COLUMN_TIME, XP_ONE_UNIT | XP_DROP_LAST, 0},
      {"last", "last_ps", XP_COLUMN_TIME, XP_ONE_UNIT | XP_DROP_LAST, 0},
  };
  size_t count;
  const xp_line **lines = sorted_lines(view, &count);
  size_t shown = xp_print_rows(view->printer, 20, count);
  uint64_t rest = 0;
  xp_table *table = xp_table_create(view->printer, columns, sizeof columns / sizeof columns[0]);
  for (size_t i = 0; i < count; i++) {
    totals t = {0};
    if (i >= shown) {
      rest += lines[i]->count;
      continue;
    }
    add_line(&t, lines[i]);
    xp_table_text(table, line_name(lines[i]));
    xp_table_text(table, lines[i]->plane->name);
    xp_table_text(table, xp_view_host(view, lines[i]->plane->host->index));
    add_totals(table, &t);
  }
  xp_print_heading(view->printer, "Lines (threads, streams), those with most events first");
  xp_table_print(table, 2);
  if (count > shown) {
    xp_str events = xp_format_things(view->printer->arena, rest, "event");
    xp_print_line(view->printer, "  ", "... and %zu more with %.*s (--top %zu shows all)", count - shown,
                  XP_STR_ARG(events), count);
  }
}

static void files_text(const xp_view *view)
{
  static const xp_column columns[] = {{"file", "path", XP_COLUMN_TEXT, 0, 24},
                                      {"host", "host", XP_COLUMN_TEXT, 0, 0},
                                      {"size", "bytes", XP_COLUMN_BYTES, 0, 0},
                                      {"state", "status", XP_COLUMN_TEXT, 0, 10}};
  const xp_capture *capture = view->reading->capture;
  xp_table *table = xp_table_create(view->printer, columns, 4);
  for (size_t i = 0; i < capture->host_count; i++) {
    const xp_host *host = &capture->hosts[i];
    xp_table_text(table, host->path);
    xp_table_text(table, host->name);
    xp_table_int(table, (int64_t)host->bytes);
    xp_table_text(table, xp_str_c(file_status_name(host->status)));
  }
  xp_print_heading(view->printer, "Files");
  xp_table_print(table, 2);
}

static void session_text(const xp_view *view)
{
  const xp_capture *capture = view->reading->capture;
  xp_arena *arena = view->printer->arena;
  xp_str length = xp_format_time(arena, capture->dur_ps), events = xp_format_count(arena, capture->events);
  if (capture->has_session && capture->start_unix_ns != 0) {
    xp_str start = xp_format_unix_ns(arena, capture->start_unix_ns);
    xp_print_line(view->printer, "", "Session of %.*s, started %.*s; %.*s events.", XP_STR_ARG(length),
                  XP_STR_ARG(start), XP_STR_ARG(events));
  } else {
    xp_print_line(view->printer, "",
                  "No start and end of the session in the capture; its events span %.*s; %.*s events.",
                  XP_STR_ARG(length), XP_STR_ARG(events));
  }
  if (capture->run.len > 0) {
    xp_print_exact(view->printer, "Run ", "    ", capture->run);
  }
}

void xp_info_text(const xp_view *view)
{
  session_text(view);
  files_text(view);
  xp_print_heading(view->printer, "Planes (devices and parts of the host); times from the session start");
  planes_table(view);
  lines_text(view);
  xp_print_heading(view->printer, "Warnings");
  xp_warnings_text(view, SIZE_MAX);
}
