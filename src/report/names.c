/* Device time by the scopes of the program: do the names reach the device, and where is the time. */
#include "report/fields.h"
#include "report/format.h"
#include "report/table.h"
#include "report/text.h"
#include "report/view.h"
#include "report/words.h"

static const char *gate_name(const xp_names *names)
{
  return names->gate == XP_GATE_ON ? "on" : names->gate == XP_GATE_OFF ? "off" : "unknown";
}

static double share_of_device(const xp_names *n, int64_t ps)
{
  return n->device_ps > 0 ? (double)ps / (double)n->device_ps : 0;
}

/* In sentences: how much has a name, and what to do where names do not reach the device. */
enum { MOST_SENTENCES = 3 };

static size_t sentences_of(const xp_view *view, xp_str sentences[MOST_SENTENCES])
{
  const xp_names *n = &view->reading->names;
  xp_arena *arena = view->printer->arena;
  if (n->device_ps == 0) {
    sentences[0] = xp_str_c("The capture shows no device work, so there is nothing to name.");
    return 1;
  }
  size_t count = 0;
  xp_str share = xp_format_share(arena, share_of_device(n, n->named_ps)), device = xp_format_time(arena, n->device_ps);
  sentences[count++] = xp_arena_format(arena, "%.*s of the device time (%.*s) lies in a scope of the program.",
                                       XP_STR_ARG(share), XP_STR_ARG(device));
  if (n->mixed_ps > 0) {
    xp_str mixed = xp_format_time(arena, n->mixed_ps);
    sentences[count++] = xp_arena_format(
        arena, "%.*s are fusions of operations from several scopes; they are not split by a guess.", XP_STR_ARG(mixed));
  }
  if (n->gate == XP_GATE_OFF) {
    sentences[count++] = xp_str_c("Names are off: the host has scopes that never reach the device. Set "
                                  "XLA_HLO_DEBUG=1 before the program starts, and capture again.");
  } else if (n->named_ps == 0 && !n->is_annotated) {
    sentences[count++] =
        xp_arena_format(arena, "The program has no annotations, on the host either. %s", xp_annotate_words);
  }
  return count;
}

void xp_names_json(const xp_view *view, xp_json *json)
{
  const xp_names *n = &view->reading->names;
  xp_str sentences[MOST_SENTENCES];
  xp_field_int(json, "device_ps", n->device_ps);
  xp_field_int(json, "named_ps", n->named_ps);
  xp_field_int(json, "unnamed_ps", n->unnamed_ps);
  xp_field_int(json, "mixed_ps", n->mixed_ps);
  xp_json_key(json, "scopes");
  xp_json_array(json);
  for (size_t i = 0; i < n->scope_count; i++) {
    xp_json_object_line(json);
    xp_field_str(json, "scope", n->scopes[i].scope);
    xp_field_int(json, "ps", n->scopes[i].ps);
    xp_field_int(json, "self_ps", n->scopes[i].self_ps);
    xp_field_uint(json, "ops", n->scopes[i].ops);
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
  xp_field_strs(json, "host_only_scopes", n->host_only, n->host_only_count);
  xp_field_strs(json, "device_only_scopes", n->device_only, n->device_only_count);
  xp_field_text(json, "gate", gate_name(n));
  xp_field_strs(json, "words", sentences, sentences_of(view, sentences));
  xp_field_strs(json, "warnings", view->reading->warnings, view->reading->warning_count);
}

/* ---- tables */

static const xp_column scope_columns[] = {
    {"scope", "scope", XP_COLUMN_TEXT, 0, 20},
    {"time", "ps", XP_COLUMN_TIME, 0, 0},
    {"self", "self_ps", XP_COLUMN_TIME, XP_DROP_LAST, 0},
    {"share", "share", XP_COLUMN_SHARE, 0, 0},
    {"ops run", "ops", XP_COLUMN_COUNT, XP_DROP_LAST, 0},
};

/* The last component of a path, indented by the number of those before it. */
static xp_str tree_label(const xp_view *view, xp_str path)
{
  size_t depth = 0, last = 0;
  for (size_t i = 0; i < path.len; i++) {
    if (path.ptr[i] == '/') {
      depth++;
      last = i + 1;
    }
  }
  xp_str name = xp_text_printable(view->printer->scratch, xp_str_skip(path, last));
  depth = depth < 8 ? depth : 8;
  return xp_arena_format(view->printer->scratch, "%*s%.*s", (int)(2 * depth), "", XP_STR_ARG(name));
}

/* Rows of scopes; `shown`: their indices, NULL for all as they are. */
typedef struct {
  const xp_view *view;
  const size_t *shown;
  size_t count;
} scope_list;

/* Behind the rows of scopes: the time outside of all. */
static void add_unnamed(const xp_names *n, xp_table *table)
{
  xp_table_text(table, xp_str_c("(in no scope)"));
  xp_table_int(table, n->unnamed_ps);
  xp_table_int(table, n->unnamed_ps);
  xp_table_real(table, share_of_device(n, n->unnamed_ps));
  xp_table_none(table);
}

static void add_scope(const void *context, xp_table *table, size_t i)
{
  const scope_list *list = context;
  const xp_view *view = list->view;
  if (i == list->count) {
    add_unnamed(&view->reading->names, table);
    return;
  }
  const xp_scope_row *row = &view->reading->names.scopes[list->shown != NULL ? list->shown[i] : i];
  xp_table_text(table, list->shown != NULL ? tree_label(view, row->scope) : row->scope);
  xp_table_int(table, row->ps);
  xp_table_int(table, row->self_ps);
  xp_table_real(table, share_of_device(&view->reading->names, row->ps));
  xp_table_int(table, (int64_t)row->ops);
}

void xp_names_csv(const xp_view *view)
{
  const xp_names *n = &view->reading->names;
  const scope_list list = {view, NULL, n->scope_count};
  xp_table *table = xp_table_create(view->printer, scope_columns, 5);
  xp_table_rows(table, n->scope_count, add_scope, &list);
  xp_table_print(table, 0);
}

/* True if all parents of scope i were shown, too: the rows of a tree that is cut in depth. */
static bool is_deep(xp_str path, size_t most)
{
  size_t depth = 0;
  for (size_t i = 0; i < path.len; i++) {
    depth += path.ptr[i] == '/';
  }
  return depth > most;
}

/* The deepest level at which the tree has at most `rows` rows; the first level is always shown. */
static size_t depth_for(const xp_names *n, size_t rows)
{
  for (size_t depth = 8; depth > 0; depth--) {
    size_t count = 0;
    for (size_t i = 0; i < n->scope_count; i++) {
      count += !is_deep(n->scopes[i].scope, depth);
    }
    if (count <= rows) {
      return depth;
    }
  }
  return 0;
}

void xp_scopes_text(const xp_view *view, size_t rows, double least_share)
{
  const xp_names *n = &view->reading->names;
  size_t most = xp_print_rows(view->printer, rows, n->scope_count), depth = depth_for(n, most), hidden = 0;
  size_t *shown = xp_arena_array(view->printer->arena, most, sizeof *shown);
  int64_t rest = 0;
  scope_list list = {view, shown, 0};
  for (size_t i = 0; i < n->scope_count; i++) {
    bool is_large = share_of_device(n, n->scopes[i].ps) >= least_share;
    if (is_large && list.count < most && !is_deep(n->scopes[i].scope, depth)) {
      shown[list.count++] = i;
    } else {
      hidden++;
      rest += n->scopes[i].self_ps;
    }
  }
  if (n->device_ps > 0) {
    xp_table *table = xp_table_create(view->printer, scope_columns, 5);
    xp_table_rows(table, list.count + (n->unnamed_ps > 0), add_scope, &list);
    xp_table_print(table, 2);
  }
  xp_view_rest(view, hidden, "scope", rest);
}

/* ---- text */

static void list_text(const xp_view *view, const char *heading, const xp_str *scopes, size_t count)
{
  size_t shown = xp_print_rows(view->printer, 12, count);
  if (count == 0) {
    return;
  }
  xp_print_heading(view->printer, "%s", heading);
  for (size_t i = 0; i < shown; i++) {
    xp_print_text(view->printer, "  ", "    ", scopes[i]);
  }
  xp_view_rest(view, count - shown, "scope", -1);
}

void xp_names_text(const xp_view *view)
{
  const xp_names *n = &view->reading->names;
  xp_str sentences[MOST_SENTENCES];
  size_t count = sentences_of(view, sentences);
  for (size_t i = 0; i < count; i++) {
    xp_print_text(view->printer, "", "", sentences[i]);
  }
  if (n->device_ps > 0) {
    xp_print_heading(view->printer, "Device time by scope (a scope holds those indented below it; share of all)");
    xp_scopes_text(view, 40, 0);
  }
  list_text(view, "Scopes of the host that name no work of a device", n->host_only, n->host_only_count);
  list_text(view, "Scopes on devices that the host never entered (perhaps from a cached program)", n->device_only,
            n->device_only_count);
}
