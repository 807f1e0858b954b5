/* The server's thread: one loop over epoll, the mailbox and the alarm; and its beginning and end.
 *
 * Nothing in the loop waits but epoll_wait.  The alarm is the earliest time at which anything may be due.  It may ring
 * too early, never too late; then everything is looked at, which is cheap as it happens seldom.
 *
 * Only the stop flag and the mailbox are shared with other threads.  A child after fork has a copy of the server that
 * its thread may have been changing at that moment, so it trusts nothing but the table of descriptors.
 */
#define _GNU_SOURCE
#include "rpc/grpc_server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rpc/monotonic.h"
#include "rpc/server.h"

enum {
  EVENTS_A_ROUND = 64,
  MOST_SLEEP_MS = 60 * 1000,
  LOST_EPOLL_MS =
      100, /* a program that closes all descriptors closes ours, too: then wait for the stop, and not spin */
  MOST_CONNECTIONS = 65536
};
static const int64_t STOP_NS = XP_NS_IN_S;

/* ---------------------------------------------------------------- loop */

static void tick(xp_grpc_server *server, int64_t now_ns)
{
  server->alarm_ns = INT64_MAX;
  for (size_t i = 0; i < server->options.max_connections; i++) {
    if (server->slots[i] != NULL) {
      xp_grpc_connection_tick(server->slots[i], now_ns);
    }
  }
  if (server->is_paused && server->accept_again_ns <= now_ns) {
    xp_grpc_accept_watch(server, true);
  } else if (server->is_paused) {
    xp_grpc_server_alarm(server, server->accept_again_ns);
  }
}

/* Sends what has been answered.  A connection may break by that and cancel others, whose owners may answer more. */
static void deliver_answers(xp_grpc_server *server)
{
  for (xp_grpc_call *call; (call = xp_grpc_mailbox_take(server->mailbox)) != NULL;) {
    for (xp_grpc_call *next; call != NULL; call = next) {
      next = call->next;
      xp_grpc_stream *stream = call->stream;
      if (stream != NULL) {
        call->stream = NULL;
        stream->call = NULL;
        xp_grpc_stream_answer(stream, &call->answer);
        xp_grpc_call_release(call); /* the stream's */
        xp_grpc_connection_flush(stream->connection);
      } else {
        xp_grpc_answer_discard(&call->answer);
      }
      xp_grpc_call_release(call);
    }
  }
}

static void free_closed(xp_grpc_server *server)
{
  while (server->closed != NULL) {
    xp_grpc_connection *connection = server->closed;
    server->closed = connection->next_closed;
    free(connection);
  }
}

static void handle(xp_grpc_server *server, const struct epoll_event *event)
{
  uint64_t index = event->data.u64;
  if (index == XP_GRPC_FD_WAKE) {
    eventfd_t count;
    eventfd_read(server->fds[XP_GRPC_FD_WAKE], &count);
  } else if (index < XP_GRPC_FD_CONNECTIONS) {
    int listener = server->fds[index];
    if (listener >= 0) {
      xp_grpc_accept(server, listener);
    }
  } else if (server->slots[index - XP_GRPC_FD_CONNECTIONS] != NULL) {
    /* The slot may have a new connection since the event was reported: it finds nothing to read then. */
    xp_grpc_connection_event(server->slots[index - XP_GRPC_FD_CONNECTIONS], event->events);
  }
}

/* No new connections and calls; what is kept is cancelled, what is on its way has STOP_NS. */
static void begin_stop(xp_grpc_server *server)
{
  server->stop_by_ns = xp_monotonic_ns() + STOP_NS;
  xp_grpc_server_alarm(server, server->stop_by_ns);
  while (server->listener_count > 0) {
    int fd = atomic_exchange(&server->fds[XP_GRPC_FD_LISTEN + --server->listener_count], -1);
    epoll_ctl(server->fds[XP_GRPC_FD_EPOLL], EPOLL_CTL_DEL, fd, NULL);
    close(fd);
  }
  server->is_paused = false;
  for (size_t i = 0; i < server->options.max_connections; i++) {
    if (server->slots[i] != NULL) {
      xp_grpc_connection_drain(server->slots[i]);
    }
  }
}

static bool is_over(xp_grpc_server *server)
{
  if (!atomic_load(&server->is_stopping)) {
    return false;
  }
  if (server->stop_by_ns == 0) {
    deliver_answers(server); /* those that came before the stop are on their way */
    begin_stop(server);
    deliver_answers(server);
  }
  xp_grpc_server_alarm(server, server->stop_by_ns);
  return server->connection_count == 0 || xp_monotonic_ns() >= server->stop_by_ns;
}

static void *serve(void *argument)
{
  xp_grpc_server *server = argument;
  struct epoll_event events[EVENTS_A_ROUND];
  for (;;) {
    int64_t now = xp_monotonic_ns();
    if (server->alarm_ns <= now) {
      tick(server, now);
    }
    deliver_answers(server);
    bool is_end = is_over(server);
    free_closed(server);
    if (is_end) {
      break;
    }
    int timeout = xp_poll_timeout_ms(server->alarm_ns, xp_monotonic_ns(), MOST_SLEEP_MS);
    int count = epoll_wait(server->fds[XP_GRPC_FD_EPOLL], events, EVENTS_A_ROUND, timeout);
    if (count < 0 && errno != EINTR) {
      poll(NULL, 0, LOST_EPOLL_MS);
    }
    for (int i = 0; i < count; i++) {
      handle(server, &events[i]);
    }
  }
  xp_grpc_mailbox_close(server->mailbox);
  for (size_t i = 0; i < server->options.max_connections; i++) {
    if (server->slots[i] != NULL) {
      xp_grpc_connection_close(server->slots[i]);
    }
  }
  deliver_answers(server);
  free_closed(server);
  return NULL;
}

/* ---------------------------------------------------------------- beginning and end */

static void close_descriptors(xp_grpc_server *server)
{
  for (size_t i = 0; i < server->fd_count; i++) {
    int fd = atomic_exchange(&server->fds[i], -1);
    if (fd >= 0) {
      close(fd);
    }
  }
}

/* Frees what the thread does not change while it runs. */
static void destroy_frame(xp_grpc_server *server)
{
  if (server->fds != NULL) {
    close_descriptors(server);
  }
  nghttp2_session_callbacks_del(server->callbacks);
  nghttp2_option_del(server->http2_options);
  free(server->slots);
  free(server->fds);
  free(server->scratch);
  free(server);
}

/* Frees a server whose thread has ended or never began. */
static void destroy(xp_grpc_server *server)
{
  if (server->mailbox != NULL) {
    xp_grpc_mailbox_release(server->mailbox);
  }
  destroy_frame(server);
}

static int64_t or_default(int64_t ns, int64_t seconds)
{
  return ns > 0 ? ns : seconds * XP_NS_IN_S;
}

static void copy_options(xp_grpc_server *server, const xp_grpc_server_options *options)
{
  server->options = *options;
  xp_grpc_patience *patience = &server->options.patience;
  patience->greeting_ns = or_default(patience->greeting_ns, 10);
  patience->idle_ns = or_default(patience->idle_ns, 600);
  patience->request_ns = or_default(patience->request_ns, 60);
  patience->stall_ns = or_default(patience->stall_ns, 60);
}

static xp_grpc_server *create(const xp_grpc_server_options *options)
{
  xp_grpc_server *server = calloc(1, sizeof *server);
  if (server == NULL) {
    return NULL;
  }
  copy_options(server, options);
  server->pid = getpid();
  server->alarm_ns = INT64_MAX;
  server->fd_count = XP_GRPC_FD_CONNECTIONS + options->max_connections;
  server->fds = malloc(server->fd_count * sizeof *server->fds);
  for (size_t i = 0; server->fds != NULL && i < server->fd_count; i++) {
    atomic_init(&server->fds[i], -1);
  }
  server->slots = calloc(options->max_connections, sizeof *server->slots);
  server->scratch = malloc(XP_GRPC_SCRATCH_BYTES);
  if (server->fds == NULL || server->slots == NULL || server->scratch == NULL || !xp_grpc_http2_setup(server)) {
    destroy(server);
    return NULL;
  }
  return server;
}

static bool watch(xp_grpc_server *server, size_t index)
{
  struct epoll_event event = {.events = EPOLLIN};
  event.data.u64 = index;
  return epoll_ctl(server->fds[XP_GRPC_FD_EPOLL], EPOLL_CTL_ADD, server->fds[index], &event) == 0;
}

static xp_status open_descriptors(xp_grpc_server *server, xp_error *err)
{
  atomic_store(&server->fds[XP_GRPC_FD_EPOLL], epoll_create1(EPOLL_CLOEXEC));
  int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  atomic_store(&server->fds[XP_GRPC_FD_WAKE], wake);
  if (server->fds[XP_GRPC_FD_EPOLL] < 0 || wake < 0) {
    return xp_fail(err, XP_ERR_IO, "Cannot start the server: %s.", strerror(errno));
  }
  server->mailbox = xp_grpc_mailbox_create(wake);
  if (server->mailbox == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the server.");
  }
  xp_status status = xp_grpc_listen(server, err);
  if (status != XP_OK) {
    return status;
  }
  bool watched = watch(server, XP_GRPC_FD_WAKE);
  for (size_t i = 0; i < server->listener_count; i++) {
    watched = watch(server, XP_GRPC_FD_LISTEN + i) && watched;
  }
  return watched ? XP_OK : xp_fail(err, XP_ERR_IO, "Cannot start the server: %s.", strerror(errno));
}

/* The program's signals are for its own threads.  Only those stay that a fault of this thread causes: handlers that
 * print where a program crashed want them. */
static int start_thread(xp_grpc_server *server)
{
  static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
    sigdelset(&blocked, FAULTS[i]);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  /* The lock holds the thread at its first look into the mailbox until its name is there. */
  pthread_mutex_lock(&server->mailbox->lock);
  int problem = pthread_create(&server->thread, NULL, serve, server);
  if (problem == 0) {
    server->mailbox->thread = server->thread;
    server->mailbox->has_thread = true;
    pthread_setname_np(server->thread, "xlaprof-server");
  }
  pthread_mutex_unlock(&server->mailbox->lock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return problem;
}

xp_status xp_grpc_server_start(const xp_grpc_server_options *options, xp_grpc_server **server, xp_error *err)
{
  *server = NULL;
  if (options->max_connections < 1 || options->max_connections > MOST_CONNECTIONS) {
    return xp_fail(err, XP_ERR_USAGE, "max_connections is %u; it must be 1 to %d.", options->max_connections,
                   MOST_CONNECTIONS);
  }
  xp_grpc_server *made = create(options);
  if (made == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the server.");
  }
  xp_status status = open_descriptors(made, err);
  if (status != XP_OK) {
    destroy(made);
    return status;
  }
  int problem = start_thread(made);
  if (problem != 0) {
    destroy(made);
    return xp_fail(err, XP_ERR_IO, "Cannot start the server's thread: %s.", strerror(problem));
  }
  *server = made;
  return XP_OK;
}

uint16_t xp_grpc_server_port(const xp_grpc_server *server)
{
  return server->port;
}

void xp_grpc_server_stop(xp_grpc_server *server)
{
  if (server == NULL) {
    return;
  }
  if (getpid() != server->pid) {
    destroy_frame(server); /* its connections stay as they are: half changed, perhaps */
    return;
  }
  atomic_store(&server->is_stopping, true);
  eventfd_write(server->fds[XP_GRPC_FD_WAKE], 1);
  pthread_join(server->thread, NULL);
  destroy(server);
}
