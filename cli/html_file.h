/* The file that --html names: written beside its place under a temporary name, and named when it is whole. */
#ifndef XLAPROF_HTML_FILE_H
#define XLAPROF_HTML_FILE_H

#include "report/report.h"

/* Writes the report of a reading as a page to a path that does not exist yet.  XP_ERR_IO says what the system said;
 * then there is no file. */
xp_status html_file_write(const char *path, const xp_output *output, xp_reading *reading, xp_error *err);

#endif
