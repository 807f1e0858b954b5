/* Which events of a capture a query is about. */
#ifndef XP_REPORT_SELECT_H
#define XP_REPORT_SELECT_H

#include <regex.h>

#include "report/events.h"

/* A name to compare with: whole names if the capture has one that is equal, else parts of names. */
typedef struct {
  const char *text; /* NULL: everything */
  bool exact;
} xp_name_filter;

typedef struct {
  const xp_event_query *query;
  xp_name_filter plane, line;
  regex_t regex;
  bool has_regex;
  xp_arena *arena; /* for xp_selection_each; with an escape, set by the caller */
} xp_selection;

/* Prepares a selection; ended with xp_selection_close, also after an error. */
xp_status xp_selection_open(xp_selection *selection, const xp_capture *capture, const xp_event_query *query,
                            xp_error *err);
void xp_selection_close(xp_selection *selection);

bool xp_selection_line(const xp_selection *selection, const xp_line *line);
bool xp_selection_name(const xp_selection *selection, xp_str name);
bool xp_selection_time(const xp_selection *selection, const xp_line *line, size_t event);

/* The name of an event as it is shown in text: of HLO text ("%fusion.1 = bf16[2,4096]{1,0} fusion(..") the beginning.
 */
xp_str xp_event_label(xp_arena *arena, xp_str name);

/* The name of a line that people see. */
xp_str xp_line_label(const xp_line *line);

/* Calls each(context, line, event) for every selected event in order. */
void xp_selection_each(const xp_selection *selection, const xp_capture *capture,
                       void (*each)(void *context, const xp_line *line, size_t event), void *context);

#endif
