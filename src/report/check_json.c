/* The same content as the text, for programs.  Rows under gaps.kinds have the keys of a file of predictions. */
#include "report/check_view.h"
#include "report/fields.h"

static void name_json(xp_json *json, const xp_checked_name *name)
{
  xp_json_object_line(json);
  xp_field_str(json, "name", name->name);
  xp_field_bool(json, "required", name->is_required);
  xp_field_uint(json, "entered", name->entered);
  xp_field_uint(json, "instructions", name->instructions);
  xp_field_uint(json, "runs", name->runs);
  xp_field_int(json, "self_ps", name->ps);
  xp_field_str(json, "op", name->op);
  xp_field_str(json, "op_name", name->op_name);
  xp_json_object_end(json);
}

static void names_json(const xp_check_view *v, xp_json *json)
{
  const xp_names_check *names = &v->check->names;
  xp_json_object(json);
  xp_field_bool(json, "ok", names->ok);
  xp_field_text(json, "frontend", xp_frontend_name(names->frontend));
  xp_field_uint(json, "instructions", names->instructions);
  xp_field_uint(json, "scoped", names->scoped);
  xp_json_key(json, "step");
  name_json(json, &names->step);
  xp_json_key(json, "scopes");
  xp_json_array(json);
  for (size_t i = 0; i < names->scope_count; i++) {
    name_json(json, &names->scopes[i]);
  }
  xp_json_array_end(json);
  xp_json_object_end(json);
}

static void gap_json(const xp_check_view *v, xp_json *json, const xp_gap *gap)
{
  const xp_reading *r = v->view.reading;
  const xp_device *device = &r->devices[gap->device];
  xp_json_object_line(json);
  xp_field_str(json, "host", r->capture->hosts[device->host].name);
  xp_field_str(json, "device", device->name);
  xp_field_int(json, "start_ps", gap->start_ps);
  xp_field_int(json, "dur_ps", gap->dur_ps);
  xp_field_str(json, "scope", gap->scope);
  xp_field_str(json, "trigger_scope", gap->trigger_scope);
  xp_field_text(json, "cause", xp_cause_name(gap->cause));
  xp_field_text(json, "trigger", xp_trigger_name(gap->trigger));
  xp_json_object_end(json);
}

static void gap_or_null(const xp_check_view *v, xp_json *json, const char *key, const xp_gap *gap)
{
  xp_json_key(json, key);
  if (gap != NULL) {
    gap_json(v, json, gap);
  } else {
    xp_json_null(json);
  }
}

static void row_json(const xp_check_view *v, xp_json *json, const xp_expected_result *row)
{
  xp_json_object(json);
  xp_field_bool(json, "ok", row->ok);
  xp_field_uint(json, "line", row->expected->line);
  xp_field_int(json, "least", row->expected->least);
  xp_field_int_or_null(json, "most", row->expected->most != INT64_MAX, row->expected->most);
  xp_field_uint(json, "found", row->found);
  xp_field_int(json, "ps", row->ps);
  gap_or_null(v, json, "longest", row->longest);
  bool too_few = (int64_t)row->found < row->expected->least;
  gap_or_null(v, json, "nearest", too_few ? row->nearest : NULL);
  xp_field_text(json, "differs", too_few ? row->differs : NULL);
  xp_json_object_end(json);
}

static void kind_json(xp_json *json, const xp_cause_row *row)
{
  xp_json_object_line(json);
  xp_field_str(json, "scope", row->scope);
  xp_field_str(json, "trigger_scope", row->trigger_scope);
  xp_field_text(json, "cause", xp_cause_name(row->cause));
  xp_field_text(json, "trigger", xp_trigger_name(row->trigger));
  xp_field_uint(json, "count", row->gaps);
  xp_json_object_end(json);
}

static void rows_json(const xp_check_view *v, xp_json *json)
{
  const xp_gaps_check *gaps = &v->check->gaps;
  xp_json_key(json, "rows");
  xp_json_array(json);
  for (size_t i = 0; i < gaps->row_count; i++) {
    row_json(v, json, &gaps->rows[i]);
  }
  xp_json_array_end(json);
  xp_json_key(json, "unexpected");
  xp_json_array(json);
  for (size_t i = 0; i < gaps->unexpected_count; i++) {
    gap_json(v, json, gaps->unexpected[i]);
  }
  xp_json_array_end(json);
  xp_json_key(json, "smaller");
  xp_json_object_line(json);
  xp_field_uint(json, "count", gaps->small_count);
  xp_field_int(json, "ps", gaps->small_ps);
  xp_json_object_end(json);
}

static void gaps_json(const xp_check_view *v, xp_json *json)
{
  static const char *const bases[] = {"period", "length", "window"};
  const xp_gaps_check *gaps = &v->check->gaps;
  xp_json_object(json);
  xp_json_key(json, "ok");
  if (gaps->asked) {
    xp_json_bool(json, gaps->ok);
  } else {
    xp_json_null(json);
  }
  xp_field_int(json, "floor_ps", gaps->floor_ps);
  xp_field_text(json, "floor_of", bases[gaps->base]);
  xp_field_int(json, "floor_of_ps", gaps->base_ps);
  if (gaps->asked) {
    rows_json(v, json);
  }
  xp_json_key(json, "kinds");
  xp_json_array(json);
  for (size_t i = 0; i < gaps->kind_count; i++) {
    kind_json(json, gaps->kinds[i]);
  }
  xp_json_array_end(json);
  xp_json_object_end(json);
}

void xp_check_json(const xp_check_view *v, xp_json *json)
{
  const xp_reading *r = v->view.reading;
  xp_json_object(json);
  xp_field_text(json, "schema", "xlaprof.check/1");
  xp_field_bool(json, "ok", v->check->names.ok && v->check->gaps.ok);
  xp_json_key(json, "names");
  names_json(v, json);
  xp_json_key(json, "gaps");
  gaps_json(v, json);
  xp_field_strs(json, "warnings", r->warnings, r->warning_count);
  xp_json_object_end(json);
}
