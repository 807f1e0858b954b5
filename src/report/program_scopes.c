/* The answer first: does the compiled program carry scopes?  Then a row for each scope.
 */
#include "report/program_scopes.h"

#include "report/fields.h"
#include "report/table.h"
#include "report/view.h"

enum { USUAL_ROWS = 30 };

static size_t count_lost(const xp_program_scopes *scopes)
{
  size_t lost = 0;
  for (size_t i = 0; i < scopes->count; i++) {
    lost += scopes->scopes[i].scope.len > 0 && xp_program_scope_is_lost(&scopes->scopes[i]);
  }
  return lost;
}

static const char *fate(const xp_program_scope *row)
{
  if (xp_program_scope_is_lost(row)) {
    return "lost";
  }
  return row->compiled == 0 && row->fused > 0 ? "in fusions only" : "";
}

/* ---- text and CSV */

static void verdict(const xp_printer *printer, const xp_program_scopes_view *view)
{
  const xp_program_scopes *s = view->scopes;
  if (s->compiled_scoped == 0) {
    xp_print_line(printer, "",
                  "No instruction of the compiled program carries a scope: a profile of it has no names. %s",
                  s->has_source && s->source_scoped == 0
                      ? "The program had none itself: in torch_xla set XLA_HLO_DEBUG=1 before it starts; in JAX use "
                        "jax.named_scope."
                      : "");
    return;
  }
  xp_print_line(printer, "",
                "The names reach the device: %llu of the %llu instructions that it executes carry a scope.",
                (unsigned long long)s->compiled_scoped, (unsigned long long)s->compiled);
  size_t lost = count_lost(s);
  if (lost > 0) {
    xp_print_line(
        printer, "",
        "%zu scope%s of the program %s lost: the compiler removed %s instructions, or merged them into others.", lost,
        lost == 1 ? "" : "s", lost == 1 ? "is" : "are", lost == 1 ? "its" : "their");
  }
}

static void table(const xp_printer *printer, const xp_program_scopes *s)
{
  const xp_column columns[] = {
      {"scope", "scope", XP_COLUMN_TEXT, 0, 20},
      {"in the program", "source", XP_COLUMN_COUNT, s->has_source ? 0 : XP_ONLY_CSV, 0},
      {"executed", "compiled", XP_COLUMN_COUNT, 0, 0},
      {"inside fusions", "fused", XP_COLUMN_COUNT, 0, 0},
      {"", "fate", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 8},
  };
  xp_table *t = xp_table_create(printer, columns, 5);
  size_t rows = printer->form == XP_FORM_CSV ? s->count : xp_print_rows(printer, USUAL_ROWS, s->count);
  for (size_t i = 0; i < rows; i++) {
    const xp_program_scope *row = &s->scopes[i];
    xp_table_text(t, row->scope.len > 0 || printer->form == XP_FORM_CSV ? row->scope : xp_str_c("(in no scope)"));
    if (s->has_source) {
      xp_table_int(t, (int64_t)row->source);
    } else {
      xp_table_none(t);
    }
    xp_table_int(t, (int64_t)row->compiled);
    xp_table_int(t, (int64_t)row->fused);
    xp_table_text(t, xp_str_c(row->scope.len > 0 ? fate(row) : ""));
  }
  xp_table_print(t, printer->form == XP_FORM_CSV ? 0 : 2);
  if (rows < s->count) {
    xp_print_line(printer, "  ", "... and %zu more scopes (--top 0 shows all)", s->count - rows);
  }
}

static void write_text(const xp_printer *printer, const xp_program_scopes_view *view)
{
  verdict(printer, view);
  fputc('\n', printer->out);
  xp_print_line(printer, "", "%.*s: module %.*s compiled for %.*s by %.*s in %.2f s; no device was used.",
                XP_STR_ARG(view->path), XP_STR_ARG(view->module), XP_STR_ARG(view->topology), XP_STR_ARG(view->plugin),
                (double)view->compile_ps / 1e12);
  xp_print_heading(printer, "Instructions by scope (work only: without parameters, constants and tuples)");
  table(printer, view->scopes);
}

/* ---- JSON */

static void write_json(const xp_printer *printer, const xp_program_scopes_view *view)
{
  const xp_program_scopes *s = view->scopes;
  xp_json json;
  xp_json_begin(&json, printer->out);
  xp_json_object(&json);
  xp_field_text(&json, "schema", "xlaprof.aot/1");
  xp_field_str(&json, "path", view->path);
  xp_field_str(&json, "module", view->module);
  xp_field_str(&json, "plugin", view->plugin);
  xp_field_str(&json, "topology", view->topology);
  xp_json_key(&json, "compile_ps");
  xp_json_int(&json, view->compile_ps);
  xp_json_key(&json, "executed");
  xp_json_uint(&json, s->compiled);
  xp_json_key(&json, "executed_with_scope");
  xp_json_uint(&json, s->compiled_scoped);
  xp_json_key(&json, "scopes");
  xp_json_array(&json);
  for (size_t i = 0; i < s->count; i++) {
    const xp_program_scope *row = &s->scopes[i];
    xp_json_object_line(&json);
    if (row->scope.len > 0) {
      xp_field_str(&json, "scope", row->scope);
    } else {
      xp_field_null(&json, "scope");
    }
    xp_json_key(&json, "source");
    if (s->has_source) {
      xp_json_uint(&json, row->source);
    } else {
      xp_json_null(&json);
    }
    xp_json_key(&json, "compiled");
    xp_json_uint(&json, row->compiled);
    xp_json_key(&json, "fused");
    xp_json_uint(&json, row->fused);
    xp_json_key(&json, "lost");
    xp_json_bool(&json, row->scope.len > 0 && xp_program_scope_is_lost(row));
    xp_json_object_end(&json);
  }
  xp_json_array_end(&json);
  xp_json_object_end(&json);
  xp_json_finish(&json);
}

static void write(void *context, const xp_printer *printer)
{
  const xp_program_scopes_view *view = context;
  if (printer->form == XP_FORM_JSON) {
    write_json(printer, view);
  } else if (printer->form == XP_FORM_CSV) {
    table(printer, view->scopes);
  } else {
    write_text(printer, view);
  }
}

xp_status xp_program_scopes_write(const xp_program_scopes_view *view, const xp_output *output, xp_error *err)
{
  return xp_print_with(output, write, (void *)(uintptr_t)view, err);
}
