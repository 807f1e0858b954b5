/* `xlaprof events --by-name`: one row for every name. */
#ifndef XP_REPORT_EVENTS_BY_NAME_H
#define XP_REPORT_EVENTS_BY_NAME_H

#include "report/select.h"

/* Sums the selected events by name and prints the rows. */
void xp_events_by_name(const xp_printer *printer, const xp_capture *capture, const xp_selection *selection);

#endif
