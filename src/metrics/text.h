/* The text of a metrics report, in the format of torch_xla. */
#ifndef XP_METRICS_TEXT_H
#define XP_METRICS_TEXT_H

#include "metrics/registry.h"

/* The report of what was taken, as xp_metrics_report_text says; NULL when memory is out.  The caller frees it.  Sorts
 * the samples of the state by value. */
char *xp_metrics_state_text(xp_metrics_state *state);

#endif
