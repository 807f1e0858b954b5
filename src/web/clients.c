/* A list of those that wait, from the one that has waited longest on.  A client that is shut down leaves the list and
 * the count at once, though its connection ends only when its thread gets to it. */
#include "web/clients.h"

#include <stdlib.h>
#include <sys/socket.h>

void xp_clients_init(xp_clients *clients, int most)
{
  pthread_mutex_init(&clients->lock, NULL);
  clients->ends = (xp_client){.older = &clients->ends, .newer = &clients->ends, .fd = -1};
  clients->open = 0;
  clients->most = most;
}

void xp_clients_destroy(xp_clients *clients)
{
  pthread_mutex_destroy(&clients->lock);
}

static void leave(xp_client *client)
{
  if (client->waits) {
    client->older->newer = client->newer;
    client->newer->older = client->older;
    client->waits = false;
  }
}

static void join(xp_clients *clients, xp_client *client)
{
  client->newer = &clients->ends;
  client->older = clients->ends.older;
  client->older->newer = clients->ends.older = client;
  client->waits = true;
}

static void end_longest(xp_clients *clients)
{
  xp_client *longest = clients->ends.newer;
  if (longest != &clients->ends) {
    leave(longest);
    longest->ended = true;
    clients->open--;
    shutdown(longest->fd, SHUT_RDWR);
  }
}

xp_client *xp_client_came(xp_clients *clients, int fd)
{
  xp_client *client = calloc(1, sizeof *client);
  if (client == NULL) {
    return NULL;
  }
  client->fd = fd;
  pthread_mutex_lock(&clients->lock);
  if (++clients->open > clients->most) {
    end_longest(clients);
  }
  join(clients, client);
  pthread_mutex_unlock(&clients->lock);
  return client;
}

void xp_client_asks(xp_clients *clients, xp_client *client)
{
  if (client != NULL) {
    pthread_mutex_lock(&clients->lock);
    leave(client);
    pthread_mutex_unlock(&clients->lock);
  }
}

void xp_client_waits(xp_clients *clients, xp_client *client)
{
  if (client != NULL) {
    pthread_mutex_lock(&clients->lock);
    leave(client);
    if (!client->ended) {
      join(clients, client);
    }
    pthread_mutex_unlock(&clients->lock);
  }
}

void xp_client_went(xp_clients *clients, xp_client *client)
{
  if (client != NULL) {
    pthread_mutex_lock(&clients->lock);
    leave(client);
    clients->open -= client->ended ? 0 : 1;
    pthread_mutex_unlock(&clients->lock);
    free(client);
  }
}
