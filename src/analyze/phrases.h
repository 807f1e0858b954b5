/* Plain words for causes, shared by the verdict and the advice. */
#ifndef XP_ANALYZE_PHRASES_H
#define XP_ANALYZE_PHRASES_H

#include "analyze/internal.h"

/* "the host worked in `watermark` after a value was read back": what a row of causes means, without a full stop. */
xp_str xp_phrase_cause(xp_analysis *an, const xp_cause_row *row);

/* " in `watermark`, after a value was read back in `step`": the part of it behind the verb; empty if there is none. */
xp_str xp_phrase_place(xp_analysis *an, const xp_cause_row *row);

/* "257,491" */
xp_str xp_phrase_count(xp_analysis *an, uint64_t count);

/* "211.6 ms": four digits and a fitting unit */
xp_str xp_phrase_time(xp_analysis *an, int64_t ps);

#endif
