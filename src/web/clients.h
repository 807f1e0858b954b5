/* The connections of the server, and which of them go when there are too many: those that have waited longest for a
 * request of theirs.  So clients that connect and say nothing cannot keep the page from being served.
 *
 * Any thread may call these functions.
 */
#ifndef XP_WEB_CLIENTS_H
#define XP_WEB_CLIENTS_H

#include <pthread.h>
#include <stdbool.h>

/* One connection. */
typedef struct xp_client {
  struct xp_client *older, *newer; /* while it waits */
  int fd;
  bool waits, ended;
} xp_client;

typedef struct {
  pthread_mutex_t lock;
  xp_client ends; /* of the list: newer is the client that has waited longest, older the latest */
  int open, most;
} xp_clients;

void xp_clients_init(xp_clients *clients, int most);
void xp_clients_destroy(xp_clients *clients);

/* A connection came, and waits; NULL when memory is out: it is not counted then.  If there are more than `most` now,
 * the one that has waited longest is shut down: whoever reads from its socket sees it end. */
xp_client *xp_client_came(xp_clients *clients, int fd);

/* A whole request has come; its answer is sent.  NULL is allowed here and below. */
void xp_client_asks(xp_clients *clients, xp_client *client);
void xp_client_waits(xp_clients *clients, xp_client *client);

/* The connection is over, but its socket is not closed yet. */
void xp_client_went(xp_clients *clients, xp_client *client);

#endif
