/* Single events of a capture, or all of them summed by name. */
#ifndef XP_REPORT_EVENTS_H
#define XP_REPORT_EVENTS_H

#include "json/writer.h"
#include "report/report.h"

typedef struct {
  const char *match; /* POSIX extended regular expression that the name has to contain; NULL: any */
  bool any_case;     /* upper and lower case are the same to it */
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

/* The arguments of an event (its stats, the first of equal names) as an object. */
void xp_event_args_json(xp_json *json, const xp_line *line, size_t event);

#endif
