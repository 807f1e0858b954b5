/* Prints which scopes a program kept when it was compiled ahead of time. */
#ifndef XP_REPORT_PROGRAM_SCOPES_H
#define XP_REPORT_PROGRAM_SCOPES_H

#include "analyze/program_scopes.h"
#include "report/report.h"

/* What was compiled, and how. */
typedef struct {
  xp_str path, module, plugin, topology; /* module: name of the compiled one */
  int64_t compile_ps;
  const xp_program_scopes *scopes;
} xp_program_scopes_view;

xp_status xp_program_scopes_write(const xp_program_scopes_view *view, const xp_output *output, xp_error *err);

#endif
