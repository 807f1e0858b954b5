/* The devices of a reading: how long each worked, copied and waited. */
#include "report/fields.h"
#include "report/format.h"
#include "report/table.h"
#include "report/text.h"
#include "report/view.h"

static const char *kind_name(xp_device_kind kind)
{
  static const char *const names[] = {"tpu", "sparse_core", "gpu", "custom", "cpu"};
  return names[kind];
}

static double share_of(int64_t part, int64_t whole)
{
  return whole > 0 ? (double)part / (double)whole : -1;
}

static void share_json(xp_json *json, const char *key, double share)
{
  if (share < 0) {
    xp_field_null(json, key);
  } else {
    xp_field_real(json, key, share);
  }
}

static void window_json(xp_json *json, const xp_device *d)
{
  xp_json_key(json, "window_ps");
  if (!d->has_window) {
    xp_json_null(json);
    return;
  }
  xp_json_array_line(json);
  xp_json_int(json, d->window_ps[0]);
  xp_json_int(json, d->window_ps[1]);
  xp_json_array_end(json);
}

static void device_json(const xp_view *view, xp_json *json, const xp_device *d)
{
  xp_json_object(json);
  xp_field_str(json, "host", view->reading->capture->hosts[d->host].name);
  xp_field_str(json, "name", d->name);
  xp_field_str(json, "model", d->model);
  xp_field_text(json, "kind", kind_name(d->kind));
  window_json(json, d);
  xp_field_int(json, "busy_ps", d->busy_ps);
  xp_field_int(json, "copy_ps", d->copy_ps);
  xp_field_int(json, "idle_ps", d->idle_ps);
  share_json(json, "busy_of_window", d->has_window ? share_of(d->busy_ps, d->window_ps[1] - d->window_ps[0]) : -1);
  share_json(json, "busy_of_session", share_of(d->busy_ps, d->session_ps));
  xp_field_uint(json, "gap_count", d->gap_count);
  xp_field_uint(json, "short_count", d->short_count);
  xp_field_int(json, "short_ps", d->short_ps);
  xp_field_int_or_null(json, "lead_in_ps", d->has_lead_in, d->lead_in_ps);
  xp_field_int_or_null(json, "tail_ps", d->has_tail, d->tail_ps);
  xp_field_int(json, "collective_ps", d->collective_ps);
  xp_field_int(json, "collective_wait_ps", d->collective_wait_ps);
  xp_field_uint(json, "work_count", d->work_count);
  xp_field_uint(json, "copy_count", d->copy_count);
  xp_field_uint(json, "untimed", d->untimed);
  xp_field_uint(json, "stray", d->stray);
  xp_field_uint(json, "launches", d->launches);
  xp_field_uint(json, "runs", d->runs);
  xp_field_uint(json, "runs_without_launch", d->runs_without_launch);
  xp_field_bool(json, "ends_early", d->ends_early);
  xp_json_object_end(json);
}

void xp_devices_json(const xp_view *view, xp_json *json)
{
  xp_json_array(json);
  for (size_t i = 0; i < view->reading->device_count; i++) {
    device_json(view, json, &view->reading->devices[i]);
  }
  xp_json_array_end(json);
}

/* ---- text */

static void add_share(xp_table *table, double share)
{
  if (share < 0) {
    xp_table_none(table);
  } else {
    xp_table_real(table, share);
  }
}

static void add_device(const xp_view *view, xp_table *table, const xp_device *d)
{
  xp_table_text(table, xp_view_host(view, d->host));
  xp_table_text(table, d->name);
  xp_table_int(table, d->window_ps[1] - d->window_ps[0]);
  xp_table_int(table, d->busy_ps);
  add_share(table, share_of(d->busy_ps, d->window_ps[1] - d->window_ps[0]));
  add_share(table, share_of(d->busy_ps, d->session_ps));
  xp_table_int(table, d->copy_ps);
  xp_table_int(table, d->idle_ps);
  xp_table_int(table, (int64_t)d->gap_count);
  xp_table_int(table, d->collective_ps);
  xp_table_int(table, d->collective_wait_ps);
}

/* Devices with work come first in the reading; those without are named in one line. */
static void idle_devices_text(const xp_view *view, size_t first)
{
  const xp_reading *r = view->reading;
  if (first == r->device_count) {
    return;
  }
  xp_arena *arena = view->printer->arena;
  xp_str names = {NULL, 0};
  for (size_t i = first; i < r->device_count && i < first + 8; i++) {
    xp_str name = xp_text_printable(arena, r->devices[i].name);
    names = xp_arena_format(arena, "%.*s%s%.*s", XP_STR_ARG(names), i > first ? ", " : "", XP_STR_ARG(name));
  }
  names = xp_arena_format(arena, "Without any work in the capture: %.*s%s", XP_STR_ARG(names),
                          r->device_count > first + 8 ? ", ..." : "");
  xp_print_text(view->printer, "  ", "    ", names);
}

void xp_devices_text(const xp_view *view)
{
  static const xp_column columns[] = {
      {"host", "", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 6},
      {"device", "", XP_COLUMN_TEXT, 0, 13},
      {"window", "", XP_COLUMN_TIME, 0, 0},
      {"busy", "", XP_COLUMN_TIME, 0, 0},
      {"of window", "", XP_COLUMN_SHARE, XP_DROP_LAST, 0},
      {"of session", "", XP_COLUMN_SHARE, XP_DROP_LAST, 0},
      {"copies", "", XP_COLUMN_TIME, XP_HIDE_EMPTY | XP_DROP_LAST, 0},
      {"idle", "", XP_COLUMN_TIME, 0, 0},
      {"gaps", "", XP_COLUMN_COUNT, XP_DROP_NARROW, 0},
      {"collectives", "", XP_COLUMN_TIME, XP_HIDE_EMPTY | XP_DROP_NARROW, 0},
      {"of it waiting", "", XP_COLUMN_TIME, XP_HIDE_EMPTY | XP_DROP_NARROW, 0},
  };
  const xp_reading *r = view->reading;
  size_t working = 0;
  while (working < r->device_count && r->devices[working].has_window) {
    working++;
  }
  size_t shown = xp_print_rows(view->printer, 16, working);
  int64_t rest = 0;
  xp_table *table = xp_table_create(view->printer, columns, sizeof columns / sizeof columns[0]);
  for (size_t i = 0; i < working; i++) {
    if (i < shown) {
      add_device(view, table, &r->devices[i]);
    } else {
      rest += r->devices[i].idle_ps;
    }
  }
  if (working > 0) {
    xp_table_print(table, 2);
  }
  if (working > shown) {
    xp_str idle = xp_format_time(view->printer->arena, rest);
    xp_print_line(view->printer, "  ", "... and %zu more devices, idle for %.*s in all", working - shown,
                  XP_STR_ARG(idle));
  }
  if (r->device_count == 0) {
    xp_print_line(view->printer, "  ", "No device in this capture.");
  }
  idle_devices_text(view, working);
}
