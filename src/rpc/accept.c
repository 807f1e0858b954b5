/* New connections: room is made for them by ending the one that has been idle for longest.
 *
 * When the process has no descriptor left, accept fails and the connection stays in the kernel's queue, so that the
 * listener stays ready: epoll would report it for ever.  Then nothing is accepted for a while.
 */
#define _GNU_SOURCE
#include "rpc/server.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/monotonic.h"
#include "rpc/socket.h"

enum { ACCEPTS_A_TURN = 32 };
static const int64_t PAUSE_NS = 100 * XP_NS_IN_MS;

void xp_grpc_accept_watch(xp_grpc_server *server, bool is_on)
{
  for (size_t i = 0; i < server->listener_count; i++) {
    struct epoll_event event = {.events = is_on ? EPOLLIN : 0};
    event.data.u64 = XP_GRPC_FD_LISTEN + i;
    epoll_ctl(server->fds[XP_GRPC_FD_EPOLL], EPOLL_CTL_MOD, server->fds[XP_GRPC_FD_LISTEN + i], &event);
  }
  server->is_paused = !is_on;
  if (!is_on) {
    server->accept_again_ns = xp_monotonic_ns() + PAUSE_NS;
    xp_grpc_server_alarm(server, server->accept_again_ns);
  }
}

/* Closes the connection that has had no call for longest; false if all have one. */
static bool end_longest_idle(xp_grpc_server *server)
{
  xp_grpc_connection *longest = NULL;
  for (size_t i = 0; i < server->options.max_connections; i++) {
    xp_grpc_connection *connection = server->slots[i];
    if (connection != NULL && connection->streams == NULL &&
        (longest == NULL || connection->idle_since_ns < longest->idle_since_ns)) {
      longest = connection;
    }
  }
  if (longest == NULL) {
    return false;
  }
  if (longest->state == XP_GRPC_OPEN) {
    nghttp2_session_terminate_session(longest->session, NGHTTP2_NO_ERROR);
    xp_grpc_connection_flush(longest);
  }
  xp_grpc_connection_close(longest);
  return true;
}

static void admit(xp_grpc_server *server, int fd)
{
  bool is_full = server->connection_count == server->options.max_connections;
  if (is_full && !end_longest_idle(server)) {
    close(fd);
    return;
  }
  xp_grpc_socket_set_up(fd);
  size_t slot = 0;
  while (server->slots[slot] != NULL) {
    slot++;
  }
  (void)xp_grpc_connection_create(server, slot, fd);
}

void xp_grpc_accept(xp_grpc_server *server, int listener)
{
  for (int i = 0; i < ACCEPTS_A_TURN; i++) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      admit(server, fd);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      end_longest_idle(server);
      xp_grpc_accept_watch(server, false);
      return;
    } /* else that connection had an error of its own: the next one */
  }
}
