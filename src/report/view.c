/* Dispatch from a section to its writers, and the small pieces that several sections print.
 *
 * The text of a section is made in an arena that ends with it; an allocation that fails there jumps back to
 * xp_print_with. */
#include "report/view.h"

#include "report/fields.h"
#include "report/format.h"
#include "report/html.h"
#include "report/text.h"

typedef struct {
  const char *name;
  void (*text)(const xp_view *view);
  void (*json)(const xp_view *view, xp_json *json);
  void (*csv)(const xp_view *view);
} section;

static const section sections[XP_SECTION_COUNT] = {
    [XP_SECTION_REPORT] = {"report", xp_report_text, xp_report_json, NULL},
    [XP_SECTION_INFO] = {"info", xp_info_text, xp_info_json, xp_info_csv},
    [XP_SECTION_COUNTERS] = {"counters", xp_counters_text, xp_counters_json, xp_counters_csv},
    [XP_SECTION_STEPS] = {"steps", xp_steps_text, xp_steps_json, xp_steps_csv},
    [XP_SECTION_GAPS] = {"gaps", xp_gaps_text, xp_gaps_json, xp_gaps_csv},
    [XP_SECTION_OPS] = {"ops", xp_ops_text, xp_ops_json, xp_ops_csv},
    [XP_SECTION_NAMES] = {"names", xp_names_text, xp_names_json, xp_names_csv},
};

/* Writing with two arenas: each guards what is below it, so that memory that runs out in either ends the writing. */
typedef struct {
  const xp_output *output;
  xp_arena *arena, *scratch;
  void (*write)(void *context, const xp_printer *printer);
  void *context;
  bool done;
} printing;

static void write_guarded(void *context)
{
  printing *p = context;
  const xp_printer printer = {
      .out = p->output->out,
      .form = p->output->form,
      .width = p->output->width > 0 ? p->output->width : 80,
      .colour = p->output->colour,
      .top = p->output->top,
      .arena = p->arena,
      .scratch = p->scratch,
  };
  p->write(p->context, &printer);
  p->done = true;
}

static void guard_scratch(void *context)
{
  printing *p = context;
  xp_arena_guard(p->scratch, write_guarded, p);
}

xp_status xp_print_with(const xp_output *output, void (*write)(void *context, const xp_printer *printer), void *context,
                        xp_error *err)
{
  printing p = {output, xp_arena_create(), xp_arena_create(), write, context, false};
  if (p.arena != NULL && p.scratch != NULL) {
    xp_arena_guard(p.arena, guard_scratch, &p);
  }
  xp_arena_destroy(p.scratch);
  xp_arena_destroy(p.arena);
  return p.done ? XP_OK : xp_fail(err, XP_ERR_MEMORY, "Memory ran out while the result was written");
}

void xp_section_json(const xp_view *view, xp_section which, xp_json *json)
{
  xp_str schema = xp_arena_format(view->printer->arena, "xlaprof.%s/1", sections[which].name);
  xp_json_object(json);
  xp_field_str(json, "schema", schema);
  sections[which].json(view, json);
  xp_json_object_end(json);
}

static void write_section(const xp_view *view, xp_section which)
{
  xp_json json;
  switch (view->printer->form) {
  case XP_FORM_JSON:
    xp_json_begin(&json, view->printer->out);
    xp_section_json(view, which, &json);
    xp_json_finish(&json);
    break;
  case XP_FORM_CSV:
    sections[which].csv(view);
    break;
  case XP_FORM_HTML:
    xp_report_html(view);
    break;
  default:
    if (which != XP_SECTION_REPORT && which != XP_SECTION_INFO) { /* these two say it in their own way */
      xp_capture_text(view);
    }
    sections[which].text(view);
  }
}

/* Rows of operations for the sections that show them. */
static xp_status find_ops(xp_section which, xp_reading *reading, xp_ops_by by, xp_op_row **rows, size_t *count,
                          xp_error *err)
{
  *rows = NULL;
  *count = 0;
  return which == XP_SECTION_OPS || which == XP_SECTION_REPORT ? xp_reading_ops(reading, by, rows, count, err) : XP_OK;
}

typedef struct {
  xp_section which;
  xp_view view;
} section_job;

static void write_job(void *context, const xp_printer *printer)
{
  section_job *job = context;
  job->view.printer = printer;
  write_section(&job->view, job->which);
}

xp_status xp_section_write(xp_section which, const xp_output *output, xp_reading *reading, xp_error *err)
{
  xp_op_row *ops;
  size_t op_count;
  if (output->form == XP_FORM_CSV && sections[which].csv == NULL) {
    return xp_fail(err, XP_ERR_USAGE,
                   "The %s has no single table for CSV. Use gaps, steps, ops, names or counters with --csv, or --json",
                   sections[which].name);
  }
  if (output->form == XP_FORM_HTML && which != XP_SECTION_REPORT) {
    return xp_fail(err, XP_ERR_USAGE, "Only the report is a page of HTML, not the %s. Use report with --html",
                   sections[which].name);
  }
  xp_status status = find_ops(which, reading, output->ops_by, &ops, &op_count, err);
  if (status != XP_OK) {
    return status;
  }
  section_job job = {which, {NULL, reading, output->ops_by, ops, op_count, output->path, output->filter}};
  return xp_print_with(output, write_job, &job, err);
}

xp_gap_details xp_view_details(const xp_view *view, const xp_gap *gap)
{
  xp_gap_details details = {0};
  xp_arena_clear(view->printer->scratch);
  if (xp_gap_explain(view->reading, gap, view->printer->scratch, &details, NULL) != XP_OK) {
    xp_arena_give_up(view->printer->arena);
  }
  return details;
}

void xp_capture_text(const xp_view *view)
{
  const xp_capture *capture = view->reading->capture;
  xp_arena *arena = view->printer->arena;
  size_t working = 0;
  for (size_t i = 0; i < view->reading->device_count; i++) {
    working += view->reading->devices[i].has_window;
  }
  xp_str name = capture->run.len > 0 ? capture->run : capture->host_count > 0 ? capture->hosts[0].path : xp_str_c("");
  xp_str shown = xp_text_fit(arena, xp_text_printable(arena, name), 60);
  xp_str hosts = xp_format_things(arena, capture->host_count, "host");
  xp_str devices = xp_format_things(arena, working, "device");
  xp_str events = xp_format_things(arena, capture->events, "event"), length = xp_format_time(arena, capture->dur_ps);
  xp_print_line(view->printer, "", "%.*s: %.*s, %.*s with work, %.*s, %s of %.*s.", XP_STR_ARG(shown),
                XP_STR_ARG(hosts), XP_STR_ARG(devices), XP_STR_ARG(events),
                capture->has_session ? "a session" : "a span", XP_STR_ARG(length));
  if (view->filter != NULL) {
    xp_str filter = xp_text_printable(arena, xp_str_c(view->filter));
    xp_print_line(view->printer, "", "Gaps and steps of %.*s only; all else, and every share, is of the whole capture.",
                  XP_STR_ARG(filter));
  }
}

xp_str xp_view_host(const xp_view *view, uint32_t host)
{
  const xp_capture *capture = view->reading->capture;
  return capture->host_count > 1 ? capture->hosts[host].name : xp_str_c("");
}

xp_str xp_step_label(const xp_view *view, const xp_step *step)
{
  if (!step->has_num) {
    return step->name;
  }
  xp_str name = xp_text_printable(view->printer->scratch, step->name); /* formats end at a NUL */
  return xp_arena_format(view->printer->scratch, "%.*s %lld", XP_STR_ARG(name), (long long)step->num);
}

void xp_view_rest(const xp_view *view, size_t count, const char *what, int64_t ps)
{
  xp_arena *arena = view->printer->arena;
  if (count == 0) {
    return;
  }
  xp_str number = xp_format_count(arena, count);
  xp_str sum = ps < 0 ? xp_str_c("") : xp_format_time(arena, ps);
  xp_print_line(view->printer, "  ", "... and %.*s more %s%s%s%.*s%s", XP_STR_ARG(number), what, count == 1 ? "" : "s",
                ps < 0 ? "" : ", ", XP_STR_ARG(sum), ps < 0 || count == 1 ? "" : " in all");
}

void xp_warnings_text(const xp_view *view, size_t most)
{
  const xp_reading *r = view->reading;
  size_t shown = r->warning_count < most ? r->warning_count : most;
  if (r->warning_count == 0) {
    xp_print_line(view->printer, "  ", "none");
  }
  for (size_t i = 0; i < shown; i++) {
    xp_print_exact(view->printer, "  - ", "    ", r->warnings[i]);
  }
  xp_view_rest(view, r->warning_count - shown, "warning", -1);
}
