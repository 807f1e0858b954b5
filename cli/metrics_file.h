/* The torch_xla metrics report of a run, given or found beside its capture. */
#ifndef XLAPROF_METRICS_FILE_H
#define XLAPROF_METRICS_FILE_H

#include "options.h"

typedef struct {
  xp_arena *arena;
  xp_file file;
  char path[4096];
  xp_metrics_report report;
  bool found;
} metrics_file;

/* True if a path is a metrics report rather than a capture. */
bool metrics_file_probe(const char *path);

/* Reads the report at a path. */
xp_status metrics_file_read(metrics_file *m, const char *path, xp_error *err);

/* Reads a report in memory (borrowed until the close) that came from `name`. */
xp_status metrics_file_take(metrics_file *m, const char *text, const char *name, xp_error *err);

/* Looks for "<capture>.metrics.txt" and "metrics.txt" beside the first host of the capture, and reads it.  One that
 * cannot be read is complained about and left out. */
void metrics_file_find(metrics_file *m, const xp_capture *capture);

void metrics_file_close(metrics_file *m);

#endif
