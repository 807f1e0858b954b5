/* Device time by operation, scope, category, module or source line. */
#include "report/fields.h"
#include "report/format.h"
#include "report/table.h"
#include "report/view.h"

const char *xp_ops_by_name(xp_ops_by by)
{
  static const char *const names[] = {"op", "scope", "category", "module", "source"};
  return names[by];
}

void xp_ops_json(const xp_view *view, xp_json *json)
{
  const xp_reading *r = view->reading;
  xp_field_text(json, "by", xp_ops_by_name(view->by));
  xp_field_int(json, "total_ps", r->ops_total_ps);
  xp_field_int(json, "attributed_ps", r->ops_attributed_ps);
  xp_json_key(json, "rows");
  xp_json_array(json);
  for (size_t i = 0; i < view->op_count; i++) {
    xp_json_object_line(json);
    xp_field_str(json, "key", view->ops[i].key);
    xp_field_uint(json, "count", view->ops[i].count);
    xp_field_int(json, "total_ps", view->ops[i].total_ps);
    xp_field_int(json, "self_ps", view->ops[i].self_ps);
    xp_field_real(json, "share", view->ops[i].share);
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
  xp_field_strs(json, "warnings", r->warnings, r->warning_count);
}

static void add_op(const void *context, xp_table *table, size_t i)
{
  const xp_view *view = context;
  const xp_op_row *row = &view->ops[i];
  bool csv = view->printer->form == XP_FORM_CSV;
  xp_table_text(table, row->key.len > 0 || csv ? row->key : xp_str_c("(without a name)"));
  xp_table_int(table, (int64_t)row->count);
  xp_table_int(table, row->total_ps);
  xp_table_int(table, row->self_ps);
  xp_table_real(table, row->share);
}

/* Rows 0 .. rows-1 as a table in the printer's form. */
static void ops_table(const xp_view *view, size_t rows)
{
  xp_column columns[] = {{xp_ops_by_name(view->by), "key", XP_COLUMN_TEXT, 0, 20},
                         {"times", "count", XP_COLUMN_COUNT, XP_DROP_LAST, 0},
                         {"total", "total_ps", XP_COLUMN_TIME, XP_DROP_LAST, 0},
                         {"self", "self_ps", XP_COLUMN_TIME, 0, 0},
                         {"share", "share", XP_COLUMN_SHARE, 0, 0}};
  xp_table *table = xp_table_create(view->printer, columns, 5);
  xp_table_rows(table, rows, add_op, view);
  xp_table_print(table, view->printer->form == XP_FORM_CSV ? 0 : 2);
}

void xp_ops_csv(const xp_view *view)
{
  ops_table(view, view->op_count);
}

static void total_text(const xp_view *view)
{
  const xp_reading *r = view->reading;
  xp_arena *arena = view->printer->arena;
  xp_str total = xp_format_time(arena, r->ops_total_ps);
  if (r->ops_total_ps == 0) {
    xp_print_line(view->printer, "", "The capture shows no device work.");
    return;
  }
  xp_str share = xp_format_share(arena, (double)r->ops_attributed_ps / (double)r->ops_total_ps);
  xp_print_line(view->printer, "", "Device work of %.*s in all; %.*s of it names its operation.", XP_STR_ARG(total),
                XP_STR_ARG(share));
}

/* On XLA CPU operations go on in the thread pool when their events are over. */
static void pool_text(const xp_view *view)
{
  int64_t busy = 0, cpu = 0;
  for (size_t i = 0; i < view->reading->device_count; i++) {
    busy += view->reading->devices[i].busy_ps;
    cpu += view->reading->devices[i].kind == XP_DEVICE_CPU ? view->reading->devices[i].busy_ps : 0;
  }
  if (cpu > 0 && view->reading->ops_total_ps < busy) {
    xp_arena *arena = view->printer->arena;
    xp_str sum = xp_format_time(arena, busy);
    xp_print_text(view->printer, "", "",
                  xp_arena_format(arena,
                                  "The devices were busy for %.*s: on XLA CPU operations go on in the thread pool when "
                                  "their events are over, and that time is in no row.",
                                  XP_STR_ARG(sum)));
  }
}

void xp_ops_text(const xp_view *view)
{
  size_t shown = xp_print_rows(view->printer, 30, view->op_count);
  int64_t rest = 0;
  for (size_t i = shown; i < view->op_count; i++) {
    rest += view->ops[i].self_ps;
  }
  total_text(view);
  pool_text(view);
  if (view->op_count == 0) {
    return;
  }
  xp_print_heading(view->printer, "Device time by %s (self: without what runs inside; share of all self time)",
                   xp_ops_by_name(view->by));
  ops_table(view, shown);
  xp_view_rest(view, view->op_count - shown, "row", rest);
}
