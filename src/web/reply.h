/* The answer to a request while it is made: status, type, bytes. */
#ifndef XP_WEB_REPLY_H
#define XP_WEB_REPLY_H

#include <stdio.h>

#include "json/writer.h"

typedef struct {
  unsigned status;     /* of HTTP */
  const char *type;    /* MIME type */
  const char *save_as; /* file name for the browser; NULL: show it */
  char *bytes;         /* of malloc; NULL: `fixed` */
  const char *fixed;   /* bytes that live as long as the program */
  size_t size;
} xp_reply;

/* Gives the bytes back. */
void xp_reply_clear(xp_reply *reply);

/* An answer other than 200: {"error": "a sentence"}. */
void xp_reply_fail(xp_reply *reply, unsigned status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Opens a stream whose bytes become the answer; NULL when memory is out (the reply says so then).  xp_reply_finish
 * closes it and sets status 200. */
FILE *xp_reply_open(xp_reply *reply, const char *type);
void xp_reply_finish(xp_reply *reply, FILE *out);

#endif
