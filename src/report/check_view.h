/* The check as it is about to be shown. */
#ifndef XP_REPORT_CHECK_VIEW_H
#define XP_REPORT_CHECK_VIEW_H

#include "analyze/check.h"
#include "report/view.h"

typedef struct {
  xp_view view;
  const xp_check *check;
  const char *expect; /* path of the predictions; NULL */
} xp_check_view;

/* "-> what to do" */
void xp_check_advise(const xp_check_view *view, const char *format, ...) __attribute__((format(printf, 2, 3)));

void xp_check_names_text(const xp_check_view *view);
void xp_check_gaps_text(const xp_check_view *view);
void xp_check_json(const xp_check_view *view, xp_json *json);

#endif
