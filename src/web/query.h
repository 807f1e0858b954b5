/* The target of a request: its path, and the parameters behind the question mark.
 *
 * A parser of bytes from outside: every function is total, nothing is allocated, and what is decoded lies in the
 * structure.
 */
#ifndef XP_WEB_QUERY_H
#define XP_WEB_QUERY_H

#include "base/str.h"

enum { XP_QUERY_BYTES = 8192, XP_QUERY_MOST = 32 };

typedef struct {
  char text[XP_QUERY_BYTES]; /* decoded: the path, then names and values */
  size_t used;
  xp_str path; /* begins with a slash */
  struct {
    xp_str name, value;
  } pairs[XP_QUERY_MOST];
  size_t count;
} xp_query;

typedef enum { XP_QUERY_OK, XP_QUERY_BAD, XP_QUERY_LONG } xp_query_status;

/* Reads "/path?name=value&name=value".  BAD: no path, a broken escape, a NUL byte, or more than XP_QUERY_MOST
 * parameters.  LONG: more than XP_QUERY_BYTES.  A plus sign in a value is a space. */
xp_query_status xp_query_read(xp_query *query, xp_str target);

/* The value of a parameter, the first of equal ones; ptr is NULL if it was not given. */
xp_str xp_query_get(const xp_query *query, const char *name);

/* An integer parameter within bounds.  If it was not given *value stays as it is.  False: it is no such number. */
bool xp_query_int(const xp_query *query, const char *name, int64_t least, int64_t most, int64_t *value);

#endif
