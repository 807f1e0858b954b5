/* The first view: the answer in words, the largest findings with their places, and the time of every device by cause.
 */
#include <stdlib.h>

#include "analyze/phrases.h"
#include "report/fields.h"
#include "web/handlers.h"

/* ---- findings */

static bool is_of_row(const xp_gap *gap, const xp_cause_row *row)
{
  return gap->cause == row->cause && gap->trigger == row->trigger && gap->where == row->where &&
         xp_str_eq(gap->scope, row->scope) && xp_str_eq(gap->trigger_scope, row->trigger_scope);
}

static const xp_gap *longest_gap(const xp_reading *r, const xp_cause_row *row)
{
  const xp_gap *longest = NULL;
  for (size_t i = 0; i < r->gap_count; i++) {
    if (is_of_row(&r->gaps[i], row) && (longest == NULL || r->gaps[i].dur_ps > longest->dur_ps)) {
      longest = &r->gaps[i];
    }
  }
  return longest;
}

void xp_findings_find(xp_viewer *v)
{
  const xp_reading *r = v->reading;
  v->finding_count = 0;
  for (size_t i = 0; i < r->cause_count && v->finding_count < XP_MOST_FINDINGS; i++) {
    const xp_cause_row *row = &r->causes[i];
    const xp_gap *longest = row->cause == XP_CAUSE_PROFILER ? NULL : longest_gap(r, row);
    if (longest != NULL) { /* short gaps are folded, there is no place to show */
      v->findings[v->finding_count++] = (xp_finding){xp_phrase_cause(r->analysis, row), row, longest};
    }
  }
}

static void finding_json(xp_json *json, const xp_viewer *v, const xp_finding *finding)
{
  const xp_cause_row *row = finding->row;
  xp_json_object(json);
  xp_field_str(json, "words", finding->words);
  xp_field_text(json, "cause", xp_cause_name(row->cause));
  xp_field_text(json, "trigger", xp_trigger_name(row->trigger));
  xp_field_text(json, "where", xp_where_name(row->where));
  xp_field_str(json, "scope", row->scope);
  xp_field_str(json, "trigger_scope", row->trigger_scope);
  xp_field_uint(json, "gaps", row->gaps);
  xp_field_int(json, "ps", row->ps);
  xp_field_real(json, "share", row->share);
  xp_field_int(json, "longest_ps", row->longest_ps);
  xp_field_place(json, "place", v, xp_gap_track(v, finding->longest), xp_gap_item(v, finding->longest));
  xp_json_object_end(json);
}

static void findings_json(xp_json *json, const xp_viewer *v)
{
  xp_json_key(json, "findings");
  xp_json_array(json);
  for (size_t i = 0; i < v->finding_count; i++) {
    finding_json(json, v, &v->findings[i]);
  }
  xp_json_array_end(json);
}

/* ---- idle time by cause */

typedef struct {
  int64_t ps;
  uint64_t gaps;
  xp_cause cause;
  xp_where where;
} idle_sum;

enum { WHERES = XP_WHERE_TAIL + 1, SUMS = XP_CAUSE_COUNT * WHERES };

static int more_time(const void *a, const void *b)
{
  const idle_sum *x = a, *y = b;
  if (x->ps != y->ps) {
    return x->ps > y->ps ? -1 : 1;
  }
  return x->cause != y->cause ? (x->cause < y->cause ? -1 : 1) : (x->where > y->where) - (x->where < y->where);
}

/* Sums of one device; returns what lies before and after its window. */
static int64_t sum_gaps(const xp_reading *r, uint32_t device, idle_sum sums[SUMS])
{
  int64_t edges_ps = 0;
  for (int i = 0; i < SUMS; i++) {
    sums[i] = (idle_sum){0, 0, (xp_cause)(i / WHERES), (xp_where)(i % WHERES)};
  }
  for (size_t g = r->analysis->timelines[device].first_gap; g < r->gap_count && r->gaps[g].device == device; g++) {
    idle_sum *sum = &sums[r->gaps[g].cause * WHERES + r->gaps[g].where];
    xp_sum_add(&sum->ps, r->gaps[g].dur_ps);
    sum->gaps++;
    xp_sum_add(&edges_ps, r->gaps[g].where == XP_WHERE_INSIDE ? 0 : r->gaps[g].dur_ps);
  }
  idle_sum *folded = &sums[XP_CAUSE_SHORT * WHERES + XP_WHERE_INSIDE];
  folded->ps = r->devices[device].short_ps;
  folded->gaps = r->devices[device].short_count;
  qsort(sums, SUMS, sizeof *sums, more_time);
  return edges_ps;
}

static void idle_json(xp_json *json, const xp_viewer *v, uint32_t device)
{
  idle_sum sums[SUMS];
  const xp_device *d = &v->reading->devices[device];
  int64_t edges_ps = sum_gaps(v->reading, device, sums);
  xp_json_object(json);
  xp_field_uint(json, "device", device);
  xp_field_uint(json, "track", v->tracks.gap_track[device]);
  xp_field_int(json, "total_ps", d->has_window ? xp_add_saturating(d->window_ps[1] - d->window_ps[0], edges_ps) : 0);
  xp_field_int(json, "busy_ps", d->busy_ps);
  xp_field_int(json, "copy_ps", d->copy_ps);
  xp_json_key(json, "causes");
  xp_json_array(json);
  for (int i = 0; i < SUMS && sums[i].ps > 0; i++) {
    xp_json_object_line(json);
    xp_field_text(json, "cause", xp_cause_name(sums[i].cause));
    xp_field_text(json, "where", xp_where_name(sums[i].where));
    xp_field_int(json, "ps", sums[i].ps);
    xp_field_uint(json, "gaps", sums[i].gaps);
    xp_json_object_end(json);
  }
  xp_json_array_end(json);
  xp_json_object_end(json);
}

static void steps_json(xp_json *json, const xp_reading *r)
{
  xp_json_key(json, "steps");
  xp_json_object_line(json);
  xp_field_text(json, "source", xp_step_source_name(r->step_source));
  xp_field_uint(json, "count", r->step_count);
  xp_json_object_end(json);
}

static void summary_json(void *context, xp_json *json, const xp_view *view)
{
  const xp_viewer *v = context;
  xp_field_str(json, "verdict", v->reading->verdict);
  xp_advice_json(view, json);
  findings_json(json, v);
  xp_json_key(json, "devices");
  xp_devices_json(view, json);
  xp_json_key(json, "idle");
  xp_json_array(json);
  for (uint32_t i = 0; i < v->reading->device_count; i++) {
    idle_json(json, v, i);
  }
  xp_json_array_end(json);
  xp_coverage_json(view, json);
  xp_health_json(view, json);
  steps_json(json, v->reading);
}

void xp_web_summary(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  (void)query;
  xp_reply_json(reply, viewer, "xlaprof.view.summary/1", summary_json, viewer);
}
