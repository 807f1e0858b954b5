/* Where the result goes, and the progress line. */
#ifndef XLAPROF_TERMINAL_H
#define XLAPROF_TERMINAL_H

#include "options.h"

/* The output that the options and the terminal ask for.  Gives stdout a large buffer; call it once. */
xp_output terminal_output(const options *o);

/* Flushes stdout.  Returns `status`, or 3 with a message if the result could not be written; a reader that went away is
 * no error. */
int terminal_finish(int status);

/* From here on, a mapped file that another program cuts while it is read ends this one with a message and status 3. */
void terminal_watch_files(void);

/* A progress callback, NULL where stderr is no terminal. */
const xp_progress *terminal_progress(void);

/* Takes the progress line away. */
void terminal_progress_end(void);

/* "xlaprof: <text>." on stderr, hostile bytes escaped. */
void complain(const char *prefix, xp_str text);

/* "xlaprof: warning: <path>: <problem>." */
void complain_of_file(xp_str path, xp_str problem);

#endif
