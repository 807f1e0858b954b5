/* A program that captures itself as somebody outside would: through its own profiler server, by the client. */
#ifndef XLAPROF_SELF_CAPTURE_H
#define XLAPROF_SELF_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "xlaprof/error.h"

/* Starts a server, asks it for a capture into logdir, calls run once the session records, ends the session when run
 * returns, and waits for the file.  path: of the file, cut at room bytes.  Leaves no empty folder after an error. */
xp_status self_capture(const char *logdir, xp_status (*run)(void *context, xp_error *err), void *context, char *path,
                       size_t room, xp_error *err);

/* Removes the folder of a run, LOGDIR/plugins/profile/RUN, and those above it below LOGDIR, as far as they are empty;
 * what stays of the text is the first that was not removed. */
void self_capture_remove(char *directory);

#endif
