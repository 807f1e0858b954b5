/* The stack of open traces as the files about it share it. */
#ifndef XP_ANNOTATE_TRACE_H
#define XP_ANNOTATE_TRACE_H

#include "annotate/tracer.h"
#include "base/error.h"
#include "base/str.h"

/* The name of an entry of the calling thread. */
xp_str xp_entry_text(const xp_entry *entry);

/* Fails with the names of the trace that should end and of the one that stands in its way. */
xp_status xp_trace_misplaced(const xp_tracer *self, xp_trace trace, xp_error *err);

/* Counts what went wrong where nobody gets a status. */
void xp_misuse_add(void);

#endif
