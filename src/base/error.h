/* Filling an xp_error (xlaprof/error.h): the one way to fail. */
#ifndef XP_BASE_ERROR_H
#define XP_BASE_ERROR_H

#include "xlaprof/error.h"

/* Stores status and a formatted text in err (which may be NULL) and returns status. */
xp_status xp_fail(xp_error *err, xp_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
