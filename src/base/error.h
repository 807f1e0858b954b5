/* How functions fail: a status as the return value, and a text in a structure that the caller owns.
 *
 * The text is a whole sentence for a person: what went wrong, in which file, at which byte, and what to do.
 * Library code never prints, exits or aborts because of input.
 */
#ifndef XP_BASE_ERROR_H
#define XP_BASE_ERROR_H

typedef enum {
  XP_OK = 0,
  XP_ERR_MEMORY,    /* an allocation failed */
  XP_ERR_IO,        /* the system refused: open, read, map, write */
  XP_ERR_NOT_FOUND, /* no such file, run, device or name */
  XP_ERR_EMPTY,     /* a file of zero bytes, a directory without captures */
  XP_ERR_FORMAT,    /* bytes that are not what they should be */
  XP_ERR_TRUNCATED, /* the data end inside a record */
  XP_ERR_LIMIT,     /* larger than this build can hold */
  XP_ERR_USAGE      /* an argument of the caller makes no sense */
} xp_status;

typedef struct {
  xp_status status;
  char text[768]; /* always NUL-terminated; empty when status is XP_OK */
} xp_error;

/* Stores status and a formatted text in err (which may be NULL) and returns status. */
xp_status xp_fail(xp_error *err, xp_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
