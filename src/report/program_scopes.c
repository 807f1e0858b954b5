/* The answer first: does the compiled program carry scopes?  Then a row for each scope, and one for each instruction:
 * those that kept a scope, and those that have none.
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
    xp_print_line(
        printer, "", "No instruction of the compiled program carries a scope: a profile of it has no names. %s",
        s->has_source && s->source_scoped == 0
            ? "The program had none itself: in torch_xla annotate it (xp.Trace) and set XLA_HLO_DEBUG=1 before it "
              "starts; in JAX use jax.named_scope."
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

/* The end of a table that shows some of its rows. */
static void rest(const xp_printer *printer, size_t hidden, const char *what)
{
  if (hidden > 0) {
    xp_print_line(printer, "  ", "... and %zu more %s%s (--top 0 shows all)", hidden, what, hidden == 1 ? "" : "s");
  }
}

static void scopes_table(const xp_printer *printer, const xp_program_scopes *s)
{
  const xp_column columns[] = {
      {"scope", NULL, XP_COLUMN_TEXT, 0, 20},
      {"in the program", NULL, XP_COLUMN_COUNT, s->has_source ? 0 : XP_ONLY_CSV, 0},
      {"executed", NULL, XP_COLUMN_COUNT, 0, 0},
      {"inside fusions", NULL, XP_COLUMN_COUNT, 0, 0},
      {"", NULL, XP_COLUMN_TEXT, XP_HIDE_EMPTY, 8},
  };
  xp_table *t = xp_table_create(printer, columns, 5);
  size_t rows = xp_print_rows(printer, USUAL_ROWS, s->count);
  for (size_t i = 0; i < rows; i++) {
    const xp_program_scope *row = &s->scopes[i];
    xp_table_text(t, row->scope.len > 0 ? row->scope : xp_str_c("(in no scope)"));
    xp_table_int(t, (int64_t)row->source);
    xp_table_int(t, (int64_t)row->compiled);
    xp_table_int(t, (int64_t)row->fused);
    xp_table_text(t, xp_str_c(row->scope.len > 0 ? fate(row) : ""));
  }
  xp_table_print(t, 2);
  rest(printer, s->count - rows, "scope");
}

enum { SCOPED = 1, UNSCOPED = 2 }; /* which instructions a table has */

static bool is_listed(const xp_program_instruction *instruction, int which)
{
  return (which & (instruction->scope.len > 0 ? SCOPED : UNSCOPED)) != 0;
}

static void instructions_table(const xp_printer *printer, const xp_program_scopes *s, int which, size_t rows)
{
  const xp_column columns[] = {
      {"instruction", "instruction", XP_COLUMN_TEXT, 0, 20},
      {"opcode", "opcode", XP_COLUMN_TEXT, 0, 12},
      {"scope", "scope", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 20},
      {"", "op_name", XP_COLUMN_TEXT, XP_ONLY_CSV, 0},
  };
  xp_table *t = xp_table_create(printer, columns, 4);
  for (size_t i = 0, n = 0; i < s->compiled && n < rows; i++) {
    const xp_program_instruction *row = &s->instructions[i];
    if (is_listed(row, which)) {
      xp_table_text(t, row->name);
      xp_table_text(t, row->opcode);
      xp_table_text(t, row->scope);
      xp_table_text(t, row->op_name);
      n++;
    }
  }
  xp_table_print(t, printer->form == XP_FORM_CSV ? 0 : 2);
}

static void list_instructions(const xp_printer *printer, const xp_program_scopes *s, int which, const char *heading)
{
  const size_t count = (size_t)(which == SCOPED ? s->compiled_scoped : s->compiled - s->compiled_scoped);
  const size_t rows = xp_print_rows(printer, USUAL_ROWS, count);
  if (count > 0) {
    xp_print_heading(printer, "%s", heading);
    instructions_table(printer, s, which, rows);
  }
  rest(printer, count - rows, "instruction");
}

static void write_text(const xp_printer *printer, const xp_program_scopes_view *view)
{
  verdict(printer, view);
  fputc('\n', printer->out);
  xp_print_line(printer, "", "%.*s: module %.*s compiled for %.*s by %.*s in %.2f s; no device was used.",
                XP_STR_ARG(view->path), XP_STR_ARG(view->module), XP_STR_ARG(view->topology), XP_STR_ARG(view->plugin),
                (double)view->compile_ps / 1e12);
  xp_print_heading(printer, "Instructions by scope (work only: without parameters, constants and tuples)");
  scopes_table(printer, view->scopes);
  list_instructions(printer, view->scopes, SCOPED, "Executed instructions that carry a scope");
  list_instructions(printer, view->scopes, UNSCOPED, "Executed instructions in no scope");
}

/* ---- JSON */

static void scope_field(xp_json *json, xp_str scope)
{
  if (scope.len > 0) {
    xp_field_str(json, "scope", scope);
  } else {
    xp_field_null(json, "scope");
  }
}

static void json_scopes(xp_json *json, const xp_program_scopes *s)
{
  xp_json_key(json, "scopes");
  xp_json_array(json);
  for (size_t i = 0; i < s->count; i++) {
    const xp_program_scope *row = &s->scopes[i];
    xp_json_object_line(json);
    scope_field(json, row->scope);
    xp_json_key(json, "source");
    if (s->has_source) {
      xp_json_uint(json, row->source);
    } else {
      xp_json_null(json);
    }
    xp_json_key(json, "compiled");
    xp_json_uint(json, row->compiled);
    xp_json_key(json, "fused");
    xp_json_uint(json, row->fused);
    xp_json_key(json, "lost");
    xp_json_bool(json, row->scope.len > 0 && xp_program_scope_is_lost(row));
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
}

static void json_instructions(xp_json *json, const xp_program_scopes *s)
{
  xp_json_key(json, "instructions");
  xp_json_array(json);
  for (size_t i = 0; i < s->compiled; i++) {
    const xp_program_instruction *row = &s->instructions[i];
    xp_json_object_line(json);
    xp_field_str(json, "name", row->name);
    xp_field_str(json, "opcode", row->opcode);
    scope_field(json, row->scope);
    xp_field_str(json, "op_name", row->op_name);
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
}

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
  json_scopes(&json, s);
  json_instructions(&json, s);
  xp_json_object_end(&json);
  xp_json_finish(&json);
}

static void write(void *context, const xp_printer *printer)
{
  const xp_program_scopes_view *view = context;
  if (printer->form == XP_FORM_JSON) {
    write_json(printer, view);
  } else if (printer->form == XP_FORM_CSV) {
    instructions_table(printer, view->scopes, SCOPED | UNSCOPED, (size_t)view->scopes->compiled);
  } else {
    write_text(printer, view);
  }
}

xp_status xp_program_scopes_write(const xp_program_scopes_view *view, const xp_output *output, xp_error *err)
{
  return xp_print_with(output, write, (void *)(uintptr_t)view, err);
}
