/* Count, total, shortest and longest duration of the events of every name, without building columns.
 *
 * One pass over the file; memory does not grow with the number of events.  This is what `xlaprof events --by-name`
 * prints when no filter needs the time of an event.
 */
#ifndef XP_XSPACE_AGGREGATE_H
#define XP_XSPACE_AGGREGATE_H

#include "xspace/xspace.h"

typedef struct {
  xp_str name;
  uint64_t count;
  int64_t total_ps, min_ps, max_ps; /* saturating */
} xp_name_total;

/* Sums over all lines of a capture that was loaded with no_events, or over those that `wanted` accepts (NULL: all).
 * Equal names of different planes are one row.  Rows are sorted by total, then name.  Memory comes from the arena (with
 * its escape). */
void xp_aggregate_by_name(const xp_capture *capture, bool (*wanted)(void *context, const xp_line *line), void *context,
                          int threads, xp_arena *arena, xp_name_total **rows, size_t *count);

#endif
