/* The two halves of xp_check_reading.  The arena has an escape. */
#ifndef XP_ANALYZE_CHECK_PARTS_H
#define XP_ANALYZE_CHECK_PARTS_H

#include "analyze/check.h"

void xp_names_check_run(const xp_reading *reading, const xp_check_options *options, xp_arena *arena,
                        xp_names_check *check);

void xp_gaps_check_run(const xp_reading *reading, const xp_check_options *options, xp_arena *arena,
                       xp_gaps_check *check);

#endif
