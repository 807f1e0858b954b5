/* How functions of libxlaprof fail: a status as the return value, and a text in a structure that the caller owns.
 *
 * The text is a whole sentence for a person: what went wrong, where, and what to do.  The library never prints, exits
 * or aborts.  Every `xp_error *` argument may be NULL.
 */
#ifndef XLAPROF_ERROR_H
#define XLAPROF_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared library exports; everything else in it is hidden. */
#define XP_API __attribute__((visibility("default")))

typedef enum {
  XP_OK = 0,
  XP_ERR_MEMORY,    /* an allocation failed */
  XP_ERR_IO,        /* the system refused: open, read, map, write */
  XP_ERR_NOT_FOUND, /* no such file, run, device or name */
  XP_ERR_EMPTY,     /* a file of zero bytes, a directory or a capture without data */
  XP_ERR_FORMAT,    /* bytes that are not what they should be */
  XP_ERR_TRUNCATED, /* the data end inside a record */
  XP_ERR_LIMIT,     /* larger than this build can hold */
  XP_ERR_USAGE,     /* an argument of the caller makes no sense */
  XP_ERR_BUSY,      /* a session is running already */
  XP_ERR_IDLE,      /* there is no session to stop */
  XP_ERR_CONNECT,   /* nobody listens there, or the connection broke */
  XP_ERR_PEER,      /* the other side answered with an error */
  XP_ERR_TIMEOUT,   /* it took longer than it may */
  XP_ERR_CANCELLED  /* the caller took it back */
} xp_status;

typedef struct {
  xp_status status;
  char text[768]; /* always NUL-terminated; empty when status is XP_OK */
} xp_error;

#ifdef __cplusplus
}
#endif

#endif
