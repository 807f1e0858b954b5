/* The one place that writes error texts.
 *
 * A text that does not fit is cut; it stays NUL-terminated.  Nothing here allocates, so "out of memory" can be told.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

xp_status xp_fail(xp_error *err, xp_status status, const char *format, ...)
{
  if (err == NULL) {
    return status;
  }
  va_list args;
  va_start(args, format);
  err->status = status;
  if (vsnprintf(err->text, sizeof err->text, format, args) < 0) {
    err->text[0] = '\0';
  }
  va_end(args);
  return status;
}
