/* The HTTP server of the viewer: the loopback interface, a few threads, limits on everything.
 *
 * Answers are made whole before they are sent, and every thread serves many connections, so a client that reads or
 * writes slowly holds memory for its answer and no thread.
 */
#ifndef XP_WEB_SERVER_H
#define XP_WEB_SERVER_H

#include "web/site.h"

typedef struct xp_web_server xp_web_server;

typedef struct {
  uint16_t port;      /* 0: 8080, or the next one that is free */
  const char *assets; /* folder of the page; NULL: the files in the program */
} xp_web_options;

/* Starts to serve a viewer, which is borrowed.  The caller ends it with xp_web_server_stop.  XP_ERR_IO: the port is in
 * use, or the system refused; XP_ERR_NOT_FOUND, XP_ERR_USAGE: the folder. */
xp_status xp_web_server_start(xp_viewer *viewer, const xp_web_options *options, xp_web_server **server, xp_error *err);

/* Ends all connections and gives everything back; NULL is allowed. */
void xp_web_server_stop(xp_web_server *server);

/* "http://127.0.0.1:8080/0123..cdef/" */
const char *xp_web_server_address(const xp_web_server *server);

#endif
