/* Single events of a capture, or all of them summed by name. */
#ifndef XP_REPORT_EVENTS_H
#define XP_REPORT_EVENTS_H

#include "report/report.h"

typedef struct {
  const char *match; /* POSIX extended regular expression that the name has to contain; NULL: any */
  const char *plane; /* the name of a plane, or a part of it; NULL: any */
  const char *line;  /* the same for lines */
  bool has_from, has_to;
  int64_t from_ps, to_ps; /* only events that overlap this time; those without a time are left out then */
  uint64_t limit;         /* most rows; UINT64_MAX: all */
  bool by_name;
  int threads;
} xp_event_query;

/* True if the answer needs the times of events: a capture loaded with no_events will not do. */
bool xp_event_query_needs_times(const xp_event_query *query);

/* Writes the events that the query selects.  Order: host, plane, line, time; by name: longest total first.
 * XP_ERR_USAGE for a bad expression, XP_ERR_MEMORY. */
xp_status xp_events_write(const xp_capture *capture, const xp_event_query *query, const xp_output *output,
                          xp_error *err);

#endif
