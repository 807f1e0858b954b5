/* How far a capture can be trusted, in rows of a label and its words: the report prints them, the viewer's page shows
 * them. */
#include "report/fields.h"
#include "report/format.h"
#include "report/text.h"
#include "report/view.h"

enum { MOST_ROWS = 5 };

typedef struct {
  const char *label;
  xp_str words;
} health_row;

static xp_str causes_words(const xp_view *view)
{
  const xp_reading *r = view->reading;
  xp_str share = xp_format_share(view->printer->arena, (double)r->explained_ps / (double)r->idle_ps);
  return xp_arena_format(view->printer->arena, "known for %.*s of the idle time", XP_STR_ARG(share));
}

static xp_str clock_words(const xp_view *view)
{
  const xp_reading *r = view->reading;
  xp_str time = xp_format_time(view->printer->arena, r->clock_aligned_ps);
  switch (r->clock) {
  case XP_CLOCK_OK:
    return xp_str_c("fine: no device work begins before its launch");
  case XP_CLOCK_SHIFTED:
    return xp_arena_format(view->printer->arena, "device times were moved by %.*s to agree with the host",
                           XP_STR_ARG(time));
  default:
    return xp_str_c("device and host do not agree; causes of short gaps may be wrong");
  }
}

static xp_str names_words(const xp_view *view)
{
  const xp_names *n = &view->reading->names;
  double share = n->device_ps > 0 ? (double)n->named_ps / (double)n->device_ps : 0;
  xp_str percent = xp_format_share(view->printer->arena, share);
  const char *gate = n->gate == XP_GATE_OFF ? "off: " : n->gate == XP_GATE_ON ? "on: " : "";
  return xp_arena_format(view->printer->arena, "%s%.*s of the device time carries the name of a scope", gate,
                         XP_STR_ARG(percent));
}

static xp_str launches_words(const xp_view *view)
{
  const xp_counters *c = &view->reading->counters;
  xp_arena *arena = view->printer->arena;
  xp_str calls = xp_format_things(arena, c->launches, "call"), runs = xp_format_things(arena, c->executions, "run");
  if (c->launches_without_execution + c->executions_without_launch == 0) {
    return xp_arena_format(arena, "%.*s on the host, %.*s on devices", XP_STR_ARG(calls), XP_STR_ARG(runs));
  }
  return xp_arena_format(arena, "%.*s on the host (%llu without a run), %.*s on devices (%llu without a call)",
                         XP_STR_ARG(calls), (unsigned long long)c->launches_without_execution, XP_STR_ARG(runs),
                         (unsigned long long)c->executions_without_launch);
}

/* Rows that say nothing for this capture are left out. */
static size_t list_rows(const xp_view *view, health_row rows[MOST_ROWS])
{
  const xp_reading *r = view->reading;
  size_t count = 0;
  if (r->idle_ps > 0) {
    rows[count++] = (health_row){"causes", causes_words(view)};
  }
  if (r->device_count > 0 && r->devices[0].has_window) {
    rows[count++] = (health_row){"clock", clock_words(view)};
    rows[count++] = (health_row){"names", names_words(view)};
  }
  rows[count++] = (health_row){"launches", launches_words(view)};
  if (r->metrics != NULL) {
    rows[count++] = (health_row){"metrics", xp_metrics_words(view->printer->arena, &r->counters, r->metrics)};
  }
  return count;
}

void xp_health_json(const xp_view *view, xp_json *json)
{
  health_row rows[MOST_ROWS];
  size_t count = list_rows(view, rows);
  xp_json_key(json, "health");
  xp_json_array(json);
  for (size_t i = 0; i < count; i++) {
    xp_json_object_line(json);
    xp_field_text(json, "label", rows[i].label);
    xp_field_str(json, "words", rows[i].words);
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
}

void xp_health_text(const xp_view *view)
{
  health_row rows[MOST_ROWS];
  size_t count = list_rows(view, rows);
  xp_print_heading(view->printer, "Health of the capture");
  for (size_t i = 0; i < count; i++) {
    char first[32];
    snprintf(first, sizeof first, "  %-10s", rows[i].label);
    xp_print_exact(view->printer, first, "            ", rows[i].words);
  }
  if (view->reading->warning_count > 0) {
    xp_warnings_text(view, 5);
  }
}
