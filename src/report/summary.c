/* `xlaprof report`: the answer first, then what it rests on, then what to do. */
#include "report/fields.h"
#include "report/format.h"
#include "report/text.h"
#include "report/view.h"

static const double NOTABLE = 0.01; /* rows with a smaller share are added up in one line */

/* ---- JSON */

void xp_advice_json(const xp_view *view, xp_json *json)
{
  const xp_reading *r = view->reading;
  xp_json_key(json, "advice");
  xp_json_array(json);
  for (size_t i = 0; i < r->advice_count; i++) {
    xp_json_object_line(json);
    xp_field_str(json, "text", r->advice[i].text);
    xp_field_str(json, "evidence", r->advice[i].evidence);
    xp_json_key(json, "share");
    if (r->advice[i].share < 0) {
      xp_json_null(json);
    } else {
      xp_json_double(json, r->advice[i].share);
    }
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
}

void xp_report_json(const xp_view *view, xp_json *json)
{
  static const struct {
    const char *key;
    xp_section section;
  } nested[] = {{"info", XP_SECTION_INFO}, {"counters", XP_SECTION_COUNTERS}, {"steps", XP_SECTION_STEPS},
                {"gaps", XP_SECTION_GAPS}, {"ops", XP_SECTION_OPS},           {"names", XP_SECTION_NAMES}};
  xp_field_str(json, "verdict", view->reading->verdict);
  xp_json_key(json, "cut_points");
  xp_cut_points_json(view, json);
  xp_advice_json(view, json);
  for (size_t i = 0; i < sizeof nested / sizeof nested[0]; i++) {
    xp_json_key(json, nested[i].key);
    xp_section_json(view, nested[i].section, json);
  }
}

/* ---- text */

static void verdict(const xp_view *view)
{
  FILE *out = view->printer->out;
  if (view->printer->colour) {
    fputs("\033[1m", out);
  }
  xp_print_text(view->printer, "", "", view->reading->verdict);
  if (view->printer->colour) {
    fputs("\033[0m", out);
  }
}

void xp_report_counters_text(const xp_view *view)
{
  xp_counters_heading(view);
  xp_counter_line(view);
  xp_print_line(view->printer, "  ",
                "(compiles: programs built; executes: programs started; reads: values fetched from "
                "a device; uploads: data sent to it; syncs: torch_xla.sync or the like)");
  xp_cut_points_text(view);
}

void xp_report_steps_text(const xp_view *view)
{
  xp_print_heading(view->printer, "Steps (means of the whole ones; period: from start to start)");
  xp_step_summaries_text(view);
}

void xp_devices_and_causes_text(const xp_view *view)
{
  const xp_reading *r = view->reading;
  xp_str idle = xp_format_time(view->printer->arena, r->idle_ps);
  xp_print_heading(view->printer, "Devices (window: first to last work)");
  xp_devices_text(view);
  if (r->device_count == 0 || !r->devices[0].has_window) {
    return;
  }
  xp_print_heading(view->printer, "Why they waited (%.*s idle between their first and last work)", XP_STR_ARG(idle));
  xp_causes_text(view, 6, NOTABLE);
  xp_edges_text(view, 4);
}

void xp_gap_examples_text(const xp_view *view)
{
  if (view->reading->gap_count == 0) {
    return;
  }
  xp_print_heading(view->printer, "The longest gap of each kind");
  xp_gap_kinds_text(view, xp_print_rows(view->printer, 3, SIZE_MAX), 2 * NOTABLE);
}

void xp_advice_text(const xp_view *view)
{
  const xp_reading *r = view->reading;
  xp_arena *arena = view->printer->arena;
  if (r->advice_count == 0) {
    return;
  }
  xp_print_heading(view->printer, "What to do");
  for (size_t i = 0; i < r->advice_count; i++) {
    const xp_advice *a = &r->advice[i];
    char first[32];
    xp_str text = xp_text_printable(arena, a->text), evidence = xp_text_printable(arena, a->evidence);
    if (a->share >= 0) {
      text = xp_arena_format(arena, "%.*s [%.*s of the run]", XP_STR_ARG(text),
                             XP_STR_ARG(xp_format_share(arena, a->share)));
    }
    snprintf(first, sizeof first, "  %zu. ", i + 1);
    xp_print_text(view->printer, first, "     ", text);
    if (evidence.len > 0) {
      xp_print_text(view->printer, "     Seen: ", "     ", evidence);
    }
  }
}

void xp_report_scopes_text(const xp_view *view)
{
  if (view->reading->names.device_ps > 0) {
    xp_print_heading(view->printer, "Device time by scope (share of all device time)");
    xp_scopes_text(view, 10, NOTABLE);
  }
}

static void hints(const xp_view *view)
{
  xp_str path = xp_text_printable(view->printer->arena, xp_str_c(view->path != NULL ? view->path : "PATH"));
  fputc('\n', view->printer->out);
  xp_print_exact(view->printer, "", "",
                 xp_arena_format(view->printer->arena,
                                 "More: xlaprof gaps %.*s (also steps, counters, ops, names, events, info); "
                                 "xlaprof help",
                                 XP_STR_ARG(path)));
}

void xp_report_text(const xp_view *view)
{
  verdict(view);
  fputc('\n', view->printer->out);
  xp_capture_text(view);
  xp_report_counters_text(view);
  xp_health_text(view);
  xp_report_steps_text(view);
  xp_devices_and_causes_text(view);
  xp_gap_examples_text(view);
  xp_report_scopes_text(view);
  xp_advice_text(view);
  hints(view);
}
