/* Which names were looked for, on how many instructions they are, and what to do if they are not.  The remedies go from
 * the general (no name reaches the device) to the single scope.
 */
#include "report/check_view.h"
#include "report/table.h"
#include "report/words.h"

enum { NAMED_STEPS = 8, USUAL_ROWS = 30 };

static const xp_column columns[] = {
    {"name", "name", XP_COLUMN_TEXT, 0, 12},
    {"on the host", "entered", XP_COLUMN_COUNT, XP_DROP_LAST, 0},
    {"instructions", "instructions", XP_COLUMN_COUNT, 0, 0},
    {"", "result", XP_COLUMN_TEXT, 0, 7},
    {"such as", "op_name", XP_COLUMN_TEXT, XP_HIDE_EMPTY | XP_DROP_NARROW, 16},
};

static const char *result_of(const xp_checked_name *name)
{
  return name->instructions > 0 ? "found" : name->is_required ? "MISSING" : "host only";
}

static void add_name(const xp_check_view *v, xp_table *table, const xp_checked_name *name, const char *suffix)
{
  xp_table_text(table, xp_arena_format(v->view.printer->arena, "%.*s%s", XP_STR_ARG(name->name), suffix));
  xp_table_int(table, (int64_t)name->entered);
  xp_table_int(table, (int64_t)name->instructions);
  xp_table_text(table, xp_str_c(result_of(name)));
  xp_table_text(table, name->op_name);
}

static void table_text(const xp_check_view *v)
{
  const xp_names_check *names = &v->check->names;
  xp_table *table = xp_table_create(v->view.printer, columns, sizeof columns / sizeof *columns);
  size_t rows = xp_print_rows(v->view.printer, USUAL_ROWS, names->scope_count);
  add_name(v, table, &names->step, " (step)");
  for (size_t i = 0; i < rows; i++) {
    add_name(v, table, &names->scopes[i], "");
  }
  xp_table_print(table, 2);
  xp_view_rest(&v->view, names->scope_count - rows, "scope", -1);
}

/* "denoise, vae" */
static xp_str steps_of(const xp_check_view *v)
{
  const xp_reading *r = v->view.reading;
  xp_str list = xp_str_c(r->step_source == XP_STEPS_ANNOTATION ? "" : "none");
  for (size_t i = 0; r->step_source == XP_STEPS_ANNOTATION && i < r->summary_count && i < NAMED_STEPS; i++) {
    list = xp_arena_format(v->view.printer->arena, "%.*s%s%.*s", XP_STR_ARG(list), list.len > 0 ? ", " : "",
                           XP_STR_ARG(r->summaries[i].name));
  }
  return list;
}

/* Nothing on the device has any name, though the host has steps or scopes; JAX has names on devices without these. */
static void advise_on_gate(const xp_check_view *v)
{
  static const char *const remedies[] = {
      [XP_FRONTEND_UNKNOWN] = "No instruction carries any name. In torch_xla set XLA_HLO_DEBUG=1 before the program "
                              "starts; in JAX use jax.named_scope inside of the compiled function. Then capture again.",
      [XP_FRONTEND_TORCH_XLA] =
          "No instruction carries any name: names are off. Set XLA_HLO_DEBUG=1 before the program "
          "starts (in Python: before torch_xla is imported), and capture again.",
      [XP_FRONTEND_JAX] = "No instruction carries the name of a scope. Put jax.named_scope around the code inside of "
                          "the compiled function: annotations of the profiler name the host only.",
  };
  xp_check_advise(v, "%s", remedies[v->check->names.frontend]);
}

/* A gate has nothing to let through here. */
static void advise_on_annotations(const xp_check_view *v)
{
  xp_check_advise(v,
                  "The program has no annotations: the host shows no step and no scope either. (One that is open for "
                  "longer than the capture is not in it.) %s",
                  xp_annotate_words);
}

static void advise_on_step(const xp_check_view *v)
{
  const xp_names_check *names = &v->check->names;
  xp_str step = names->step.name;
  if (names->step.entered == 0) {
    xp_str known = steps_of(v);
    xp_check_advise(v,
                    "The host shows no step `%.*s` (steps of the capture: %.*s). Is this how the program calls it? A "
                    "step that is longer than the capture is not in it.",
                    XP_STR_ARG(step), XP_STR_ARG(known));
    return;
  }
  xp_check_advise(v,
                  "Other names reach the device, `%.*s` does not: are the operations built inside of it? A program "
                  "that was compiled before keeps the names of that time; restart, and capture its first steps.",
                  XP_STR_ARG(step));
}

static const char *why_missing(const xp_check_view *v, const xp_checked_name *scope)
{
  if (scope->entered == 0) {
    return "the host never opens this scope inside the step either. Is this how the program calls it?";
  }
  return v->check->names.frontend == XP_FRONTEND_TORCH_XLA
             ? "the host opens it, and no instruction has it. torch_xla names what is built on the same thread only, "
               "so "
               "the backward pass has no names. If the scope holds nothing else, leave it out of --scopes."
             : "the host opens it, and no instruction has it. If its work is on the host alone, leave it out of "
               "--scopes.";
}

static void advise_on_scopes(const xp_check_view *v)
{
  const xp_names_check *names = &v->check->names;
  for (size_t i = 0; i < names->scope_count; i++) {
    const xp_checked_name *scope = &names->scopes[i];
    if (scope->is_required && scope->instructions == 0) {
      xp_check_advise(v, "`%.*s`: %s", XP_STR_ARG(scope->name), why_missing(v, scope));
    }
  }
}

static void advice(const xp_check_view *v)
{
  const xp_names_check *names = &v->check->names;
  bool step_missing = names->step.is_required && names->step.instructions == 0;
  if (names->ok) {
    return;
  }
  if (names->instructions == 0) {
    xp_check_advise(v,
                    "The capture shows no work of a device, so no name can be on it. Capture while the step runs, with "
                    "device_tracer_level 1.");
  } else if (names->scoped == 0 && names->frontend != XP_FRONTEND_JAX && !v->view.reading->names.is_annotated) {
    advise_on_annotations(v);
  } else if (names->scoped == 0) {
    advise_on_gate(v);
    if (names->step.entered == 0) {
      advise_on_step(v);
    }
  } else {
    if (step_missing) {
      advise_on_step(v);
    }
    advise_on_scopes(v);
  }
}

void xp_check_names_text(const xp_check_view *v)
{
  const xp_names_check *names = &v->check->names;
  xp_print_heading(v->view.printer, "1. Names: %s", names->ok ? "ok" : "FAILED");
  xp_print_line(v->view.printer, "  ",
                "%zu of the %zu instructions that ran carry the name of a scope, %zu that of `%.*s`.", names->scoped,
                names->instructions, names->step.instructions, XP_STR_ARG(names->step.name));
  if (!names->step.is_required && names->step.instructions == 0) {
    bool none = names->scope_count > 0 && names->scopes[0].instructions == 0;
    xp_print_line(v->view.printer, "  ", "JAX never puts the name of a step on instructions: its scopes are checked.%s",
                  none ? " None of them is there. jax.named_scope puts them there; --scopes says which must be." : "");
  }
  table_text(v);
  advice(v);
}
