/* Causes and triggers in plain words, for readers who have not read the manual. */
#ifndef XP_REPORT_WORDS_H
#define XP_REPORT_WORDS_H

#include "analyze/analyze.h"

/* What a cause means, as half a sentence: "the host was building the graph of the next program". */
const char *xp_cause_words(xp_cause cause);

/* What a program can do that has no steps and scopes, neither on the host nor on a device. */
extern const char xp_annotate_words[];

/* Why a gap happened, as a whole sentence: what the host did, where, and what made it late. */
xp_str xp_gap_words(xp_arena *arena, const xp_gap *gap);

/* "read in scheduler.step", "-" for none; for tables. */
xp_str xp_trigger_words(xp_arena *arena, xp_trigger trigger, xp_str scope);

#endif
