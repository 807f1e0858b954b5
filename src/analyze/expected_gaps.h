/* Predictions of gaps, as a file of JSON tells them: a list of rows with the keys `scope`, `trigger_scope`, `cause`,
 * `trigger`, `count`, `min_ps` and `max_ps`, each of which may be missing.
 *
 *   [{"scope": "watermark", "trigger": "value_request", "count": 1},
 *    {"trigger_scope": "scheduler.step", "count": [14, 18], "max_ps": 5000000000}]
 */
#ifndef XP_ANALYZE_EXPECTED_GAPS_H
#define XP_ANALYZE_EXPECTED_GAPS_H

#include "analyze/analyze.h"

/* What gaps of a row have in common, and how many there are. */
typedef struct {
  bool has_scope, has_trigger_scope, has_cause, has_trigger;
  xp_str scope, trigger_scope; /* empty: gaps without one */
  xp_cause cause;
  xp_trigger trigger;
  int64_t least, most;    /* gaps; without `count` 1 and INT64_MAX */
  int64_t min_ps, max_ps; /* lengths; 0 and INT64_MAX if they are not given */
  size_t line;            /* of the text, from 1 */
} xp_expected_gap;

enum { XP_MOST_EXPECTED = 4096, XP_MOST_EXPECTED_BYTES = 1 << 24 };

/* Reads a text that came from `name` (for messages).  The rows and their texts lie in the arena.  XP_ERR_FORMAT, with
 * the line and what belongs there; XP_ERR_MEMORY. */
xp_status xp_expected_gaps_read(xp_str text, const char *name, xp_arena *arena, xp_expected_gap **rows, size_t *count,
                                xp_error *err);

#endif
