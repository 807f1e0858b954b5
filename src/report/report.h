/* The result of an analysis, for people and for programs.
 *
 * Every section exists as text, as JSON (keys: docs/formats.md) and, where it is a table, as CSV; the report as HTML,
 * too.  Nothing here reads
 * files or the environment, and nothing is written but to the stream that the caller passes; whether the stream took
 * everything is for the caller to ask (ferror).
 */
#ifndef XP_REPORT_REPORT_H
#define XP_REPORT_REPORT_H

#include "analyze/analyze.h"
#include "report/print.h"

typedef enum {
  XP_SECTION_REPORT, /* everything, shortened; no CSV */
  XP_SECTION_INFO,
  XP_SECTION_COUNTERS,
  XP_SECTION_STEPS,
  XP_SECTION_GAPS,
  XP_SECTION_OPS,
  XP_SECTION_NAMES,
  XP_SECTION_COUNT
} xp_section;

typedef struct {
  FILE *out;
  xp_form form;
  size_t width; /* columns of text; 0: 80 */
  bool colour;
  size_t top;         /* most rows of a text table; 0: each section's own choice; SIZE_MAX: all */
  xp_ops_by ops_by;   /* of XP_SECTION_OPS */
  const char *path;   /* the capture as the user named it, for hints; NULL */
  const char *filter; /* what the reading was limited to, to be shown; NULL: nothing */
} xp_output;

/* Writes a section.  XP_ERR_USAGE for CSV of a section without a table, or HTML of one other than the report;
 * XP_ERR_MEMORY. */
xp_status xp_section_write(xp_section section, const xp_output *output, xp_reading *reading, xp_error *err);

/* The counters of a metrics report alone, without a capture. */
xp_status xp_metrics_write(const xp_metrics_report *report, const xp_output *output, xp_error *err);

/* "op", "scope", ..: names for --by, in the order of xp_ops_by. */
const char *xp_ops_by_name(xp_ops_by by);

#endif
