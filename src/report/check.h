/* Prints what xp_check_reading found: the answer, then for each check what was looked for, what was found and where,
 * and what to do about what is missing.
 */
#ifndef XP_REPORT_CHECK_H
#define XP_REPORT_CHECK_H

#include "analyze/check.h"
#include "report/report.h"

/* expect: the path of the file with the predictions; NULL without one. */
xp_status xp_check_write(const xp_check *check, xp_reading *reading, const char *expect, const xp_output *output,
                         xp_error *err);

#endif
