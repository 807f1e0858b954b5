/* What the sections share: the reading as it is about to be shown, and pieces that several of them print. */
#ifndef XP_REPORT_VIEW_H
#define XP_REPORT_VIEW_H

#include "json/writer.h"
#include "report/report.h"

typedef struct {
  const xp_printer *printer;
  xp_reading *reading;
  xp_ops_by by;
  const xp_op_row *ops;
  size_t op_count;
  const char *path, *filter;
} xp_view;

void xp_info_text(const xp_view *view);
void xp_info_json(const xp_view *view, xp_json *json);
void xp_info_csv(const xp_view *view);

void xp_counters_text(const xp_view *view);
void xp_counters_json(const xp_view *view, xp_json *json);
void xp_counters_csv(const xp_view *view);
void xp_cut_points_text(const xp_view *view);
void xp_cut_points_json(const xp_view *view, xp_json *json);
void xp_counters_heading(const xp_view *view);
void xp_counter_line(const xp_view *view); /* the five totals, and what they come to in a step */
void xp_scope_counters_text(const xp_view *view, size_t rows);

/* The counters of a capture and of a metrics report side by side. */
void xp_metrics_text(const xp_printer *printer, const xp_counters *counters, const xp_metrics_report *report);
void xp_metrics_json(xp_json *json, const xp_counters *counters, const xp_metrics_report *report);

/* "agrees with m.txt", or in what it differs. */
xp_str xp_metrics_words(xp_arena *arena, const xp_counters *counters, const xp_metrics_report *report);

/* What a metrics report says of a counter. */
uint64_t xp_metrics_counter(const xp_metrics_report *report, int counter);

void xp_steps_text(const xp_view *view);
void xp_steps_json(const xp_view *view, xp_json *json);
void xp_steps_csv(const xp_view *view);
void xp_step_summaries_text(const xp_view *view);

void xp_gaps_text(const xp_view *view);
void xp_gaps_json(const xp_view *view, xp_json *json);
void xp_gap_json(const xp_view *view, xp_json *json, const xp_gap *gap);
void xp_coverage_json(const xp_view *view, xp_json *json); /* with the clock and the warnings */
void xp_gaps_csv(const xp_view *view);
void xp_devices_text(const xp_view *view);
void xp_devices_json(const xp_view *view, xp_json *json);

/* True for a lead-in or tail that is in a sum: not the profiler's own time, and not what came before the session. */
static inline bool xp_edge_counts(const xp_gap *gap)
{
  return gap->ranked && gap->cause != XP_CAUSE_PROFILER;
}

/* Causes of the gaps inside windows, those with at least this share of the idle time; the first in any case. */
void xp_causes_text(const xp_view *view, size_t rows, double least_share);
void xp_causes_json(const xp_view *view, xp_json *json);

/* Lead-ins and tails, under a heading of their own; nothing if there are none. */
void xp_edges_text(const xp_view *view, size_t rows);

/* A table of these gaps, in their order, at most `rows`; a line tells the rest. */
void xp_gap_list_text(const xp_view *view, const xp_gap **gaps, size_t count, size_t rows);

/* The longest gaps, each with its parts and evidence. */
void xp_gap_details_text(const xp_view *view, size_t gaps);

/* The longest gap of each kind (a row of causes) with at least this share; the first in any case. */
void xp_gap_kinds_text(const xp_view *view, size_t gaps, double least_share);

/* Parts, neighbours and evidence of a gap, in the printer's scratch arena, which is cleared first. */
xp_gap_details xp_view_details(const xp_view *view, const xp_gap *gap);

/* All gaps, or only lead-ins and tails, longest first. */
const xp_gap **xp_gaps_by_length(const xp_view *view, bool edges_only, size_t *count);

void xp_ops_text(const xp_view *view);
void xp_ops_json(const xp_view *view, xp_json *json);
void xp_ops_csv(const xp_view *view);

void xp_names_text(const xp_view *view);
void xp_names_json(const xp_view *view, xp_json *json);
void xp_names_csv(const xp_view *view);
/* Scopes with at least this share of the device time. */
void xp_scopes_text(const xp_view *view, size_t rows, double least_share);

/* The parts of the report, each with its heading. */
void xp_report_counters_text(const xp_view *view);
void xp_health_text(const xp_view *view);
void xp_health_json(const xp_view *view, xp_json *json); /* its rows, and no warnings */
void xp_report_steps_text(const xp_view *view);
void xp_devices_and_causes_text(const xp_view *view);
void xp_gap_examples_text(const xp_view *view);
void xp_report_scopes_text(const xp_view *view);
void xp_advice_text(const xp_view *view);

void xp_report_text(const xp_view *view);
void xp_report_json(const xp_view *view, xp_json *json);
void xp_advice_json(const xp_view *view, xp_json *json);

/* Calls write(context, printer) with a printer for the output, whose arenas live as long as the call.  XP_ERR_MEMORY if
 * memory ran out in it; `write` must hold nothing but memory of these arenas. */
xp_status xp_print_with(const xp_output *output, void (*write)(void *context, const xp_printer *printer), void *context,
                        xp_error *err);

/* A section as a JSON object, its schema first. */
void xp_section_json(const xp_view *view, xp_section which, xp_json *json);

/* Where a reading has several hosts, the name of one; else empty, so that the column goes. */
xp_str xp_view_host(const xp_view *view, uint32_t host);

/* What is shown: the capture, its hosts, devices, events and length, in a line or two. */
void xp_capture_text(const xp_view *view);

/* "denoise 3", in the scratch arena. */
xp_str xp_step_label(const xp_view *view, const xp_step *step);

/* "... and 12 more gaps, 0.4 ms in all": what a table left out.  Nothing if count is 0; no sum if ps is below 0. */
void xp_view_rest(const xp_view *view, size_t count, const char *what, int64_t ps);

/* The warnings of the reading, each on a line of its own, at most `most`. */
void xp_warnings_text(const xp_view *view, size_t most);

#endif
