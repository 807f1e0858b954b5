/* A connection: bytes between its socket and its HTTP/2 session, never waiting for either.
 *
 * Frames are made only when the last ones are with the kernel, so that what a client does not read costs at most
 * XP_GRPC_SCRATCH_BYTES (and what the kernel holds).  One turn reads and writes a limited amount; epoll is
 * level-triggered and gives the next turn after all others.
 *
 * A connection that we end lingers: a close with bytes unread would reset it, and the client would lose our last words.
 */
#include "rpc/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sum.h"
#include "rpc/monotonic.h"

enum {
  READS_A_TURN = 4,
  WRITES_A_TURN = 16,
  MOST_QUEUED_FRAMES = 2000 /* a client that makes us answer and does not read */
};
static const int64_t LINGER_NS = XP_NS_IN_S;

static const char PREFACE[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/* What a browser shows, or curl. */
static const char NOT_HTTP2[] = "This port speaks gRPC (HTTP/2 without TLS): it is the profiler server of a program.\n"
                                "Ask it with: xlaprof capture HOST:PORT LOGDIR\n";

/* ---------------------------------------------------------------- begin and end */

static bool watch(xp_grpc_connection *connection, int operation, bool output)
{
  xp_grpc_server *server = connection->server;
  struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | (output ? EPOLLOUT : 0)};
  event.data.u64 = XP_GRPC_FD_CONNECTIONS + connection->slot;
  connection->is_watching_output = output;
  return epoll_ctl(server->fds[XP_GRPC_FD_EPOLL], operation, connection->fd, &event) == 0;
}

xp_grpc_connection *xp_grpc_connection_create(xp_grpc_server *server, size_t slot, int fd)
{
  xp_grpc_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL) {
    close(fd);
    return NULL;
  }
  connection->server = server;
  connection->slot = slot;
  connection->fd = fd;
  connection->idle_since_ns = xp_monotonic_ns();
  connection->limit_ns = xp_add_saturating(connection->idle_since_ns, server->options.patience.greeting_ns);
  if (!xp_grpc_http2_open(connection) || !watch(connection, EPOLL_CTL_ADD, false)) {
    nghttp2_session_del(connection->session);
    free(connection);
    close(fd);
    return NULL;
  }
  server->slots[slot] = connection;
  server->connection_count++;
  atomic_store(&server->fds[XP_GRPC_FD_CONNECTIONS + slot], fd);
  xp_grpc_server_alarm(server, connection->limit_ns);
  return connection;
}

static void end_streams(xp_grpc_connection *connection)
{
  while (connection->streams != NULL) {
    xp_grpc_stream_close(connection->streams);
  }
}

void xp_grpc_connection_close(xp_grpc_connection *connection)
{
  if (connection->state == XP_GRPC_CLOSED) {
    return;
  }
  connection->state = XP_GRPC_CLOSED;
  end_streams(connection);
  nghttp2_session_del(connection->session);
  connection->session = NULL;
  free(connection->rest);
  connection->rest = NULL;
  xp_grpc_server *server = connection->server;
  /* A child after fork may hold the socket, too: without these two, epoll would go on to report it, and the client
   * would never see its end. */
  epoll_ctl(server->fds[XP_GRPC_FD_EPOLL], EPOLL_CTL_DEL, connection->fd, NULL);
  shutdown(connection->fd, SHUT_RDWR);
  atomic_store(&server->fds[XP_GRPC_FD_CONNECTIONS + connection->slot], -1);
  close(connection->fd);
  server->slots[connection->slot] = NULL;
  server->connection_count--;
  connection->next_closed = server->closed;
  server->closed = connection;
}

/* We have nothing more to say but the rest.  The session is not used any more. */
static void linger(xp_grpc_connection *connection)
{
  if (connection->state != XP_GRPC_LINGERING) {
    connection->state = XP_GRPC_LINGERING;
    connection->limit_ns = xp_monotonic_ns() + LINGER_NS;
    xp_grpc_server_alarm(connection->server, connection->limit_ns);
    end_streams(connection);
  }
}

/* ---------------------------------------------------------------- writing */

/* Gives bytes to the socket.  Returns how many it took; -1 if the connection is broken. */
static ssize_t put(xp_grpc_connection *connection, const char *bytes, size_t len)
{
  size_t sent = 0;
  while (sent < len) {
    ssize_t n = send(connection->fd, bytes + sent, len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += (size_t)n;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return (ssize_t)sent;
}

/* Bytes of the rest go first.  False if the connection is broken. */
static bool put_rest(xp_grpc_connection *connection)
{
  if (connection->rest_len == 0) {
    return true;
  }
  ssize_t n = put(connection, connection->rest + connection->rest_sent, connection->rest_len);
  if (n < 0) {
    return false;
  }
  connection->rest_sent += (size_t)n;
  connection->rest_len -= (size_t)n;
  if (connection->rest_len == 0) {
    free(connection->rest);
    connection->rest = NULL;
  }
  return true;
}

static bool keep_rest(xp_grpc_connection *connection, const char *bytes, size_t len)
{
  if (len == 0) {
    return true;
  }
  connection->rest = malloc(len);
  if (connection->rest == NULL) {
    return false;
  }
  memcpy(connection->rest, bytes, len);
  connection->rest_len = len;
  connection->rest_sent = 0;
  return true;
}

/* Makes frames until the scratch is nearly full.  Returns the bytes; -1 if the session is broken. */
static ssize_t make_frames(xp_grpc_connection *connection)
{
  enum { MOST_FRAME = XP_GRPC_MAX_FRAME_BYTES + 16 }; /* with its header; others have 16 KiB at most */
  char *scratch = connection->server->scratch;
  size_t len = 0;
  while (len + MOST_FRAME <= XP_GRPC_SCRATCH_BYTES) {
    const uint8_t *frame;
    ssize_t n = nghttp2_session_mem_send(connection->session, &frame);
    if (n <= 0) {
      return n < 0 ? n : (ssize_t)len;
    }
    if ((size_t)n > XP_GRPC_SCRATCH_BYTES - len) {
      return -1;
    }
    memcpy(scratch + len, frame, (size_t)n);
    len += (size_t)n;
  }
  return (ssize_t)len;
}

/* Sends frames for one turn.  False if the connection is broken. */
static bool put_frames(xp_grpc_connection *connection)
{
  for (int i = 0; i < WRITES_A_TURN && connection->rest_len == 0; i++) {
    ssize_t len = make_frames(connection);
    if (len <= 0) {
      return len == 0;
    }
    ssize_t sent = put(connection, connection->server->scratch, (size_t)len);
    if (sent < 0 || !keep_rest(connection, connection->server->scratch + sent, (size_t)(len - sent))) {
      return false;
    }
  }
  return true;
}

void xp_grpc_connection_flush(xp_grpc_connection *connection)
{
  if (connection->state == XP_GRPC_CLOSED) {
    return;
  }
  bool is_sound = put_rest(connection);
  /* Our SETTINGS wait for the client's preface, so that others get an answer which they understand. */
  bool speaks_http2 = connection->state != XP_GRPC_LINGERING && connection->preface_len == sizeof PREFACE - 1;
  if (is_sound && speaks_http2) {
    is_sound = put_frames(connection);
  }
  if (!is_sound) {
    xp_grpc_connection_close(connection);
    return;
  }
  bool has_more = connection->rest_len > 0 || (speaks_http2 && nghttp2_session_want_write(connection->session));
  if (has_more != connection->is_watching_output && !watch(connection, EPOLL_CTL_MOD, has_more)) {
    xp_grpc_connection_close(connection);
    return;
  }
  bool is_finished =
      speaks_http2 ? !nghttp2_session_want_read(connection->session) : connection->state == XP_GRPC_LINGERING;
  if (is_finished && !has_more) {
    linger(connection);
    shutdown(connection->fd, SHUT_WR);
  }
}

/* ---------------------------------------------------------------- reading */

/* The client does not speak HTTP/2: the last words for it, if it looks like HTTP/1. */
static void refuse_protocol(xp_grpc_connection *connection, xp_str bytes)
{
  char text[512];
  int len = 0;
  if (connection->preface_len > 0 || (bytes.ptr[0] >= 'A' && bytes.ptr[0] <= 'Z')) {
    len = snprintf(text, sizeof text,
                   "HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Type: text/plain; charset=utf-8\r\n"
                   "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                   sizeof NOT_HTTP2 - 1, NOT_HTTP2);
  }
  linger(connection);
  if (!keep_rest(connection, text, (size_t)len)) {
    xp_grpc_connection_close(connection);
  }
}

/* False if the bytes are not what HTTP/2 begins with. */
static bool check_preface(xp_grpc_connection *connection, xp_str bytes)
{
  xp_str want = xp_str_skip(xp_str_c(PREFACE), connection->preface_len);
  size_t n = want.len < bytes.len ? want.len : bytes.len;
  if (n > 0 && memcmp(want.ptr, bytes.ptr, n) != 0) {
    return false;
  }
  connection->preface_len += n;
  return true;
}

static void take(xp_grpc_connection *connection, xp_str bytes)
{
  if (connection->state == XP_GRPC_LINGERING) {
    return;
  }
  if (!check_preface(connection, bytes)) {
    refuse_protocol(connection, bytes);
    return;
  }
  ssize_t n = nghttp2_session_mem_recv(connection->session, (const uint8_t *)bytes.ptr, bytes.len);
  bool is_flood =
      connection->rest_len > 0 && nghttp2_session_get_outbound_queue_size(connection->session) > MOST_QUEUED_FRAMES;
  if (n == NGHTTP2_ERR_NOMEM || n == NGHTTP2_ERR_CALLBACK_FAILURE || is_flood) {
    xp_grpc_connection_close(connection);
  } else if (n < 0) { /* a flood of frames, in the eyes of nghttp2; errors of protocol have their GOAWAY by now */
    nghttp2_session_terminate_session(connection->session, NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

static void read_socket(xp_grpc_connection *connection)
{
  char *scratch = connection->server->scratch;
  for (int i = 0; i < READS_A_TURN && connection->state != XP_GRPC_CLOSED; i++) {
    ssize_t n = recv(connection->fd, scratch, XP_GRPC_SCRATCH_BYTES, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    }
    if (n <= 0) {
      xp_grpc_connection_close(connection);
      return;
    }
    take(connection, xp_str_from(scratch, (size_t)n));
    if (n < XP_GRPC_SCRATCH_BYTES) {
      return;
    }
  }
}

void xp_grpc_connection_event(xp_grpc_connection *connection, uint32_t events)
{
  if ((events & ~(uint32_t)EPOLLOUT) != 0) {
    read_socket(connection);
  }
  xp_grpc_connection_flush(connection);
}

/* ---------------------------------------------------------------- time */

/* Ends a connection that nobody uses, with a GOAWAY if that gets out. */
static void end_idle(xp_grpc_connection *connection)
{
  nghttp2_session_terminate_session(connection->session, NGHTTP2_NO_ERROR);
  xp_grpc_connection_flush(connection);
  if (connection->state != XP_GRPC_LINGERING) {
    xp_grpc_connection_close(connection);
  }
}

void xp_grpc_connection_tick(xp_grpc_connection *connection, int64_t now_ns)
{
  xp_grpc_server *server = connection->server;
  if (connection->state == XP_GRPC_GREETING || connection->state == XP_GRPC_LINGERING) {
    if (connection->limit_ns <= now_ns) {
      xp_grpc_connection_close(connection);
    } else {
      xp_grpc_server_alarm(server, connection->limit_ns);
    }
    return;
  }
  if (connection->streams == NULL) {
    int64_t idle_until = xp_add_saturating(connection->idle_since_ns, server->options.patience.idle_ns);
    if (idle_until <= now_ns) {
      end_idle(connection);
    } else {
      xp_grpc_server_alarm(server, idle_until);
    }
    return;
  }
  for (xp_grpc_stream *stream = connection->streams, *next; stream != NULL; stream = next) {
    next = stream->next;
    if (!xp_grpc_stream_tick(stream, now_ns)) {
      xp_grpc_connection_close(connection);
      return;
    }
  }
  xp_grpc_connection_flush(connection);
}

void xp_grpc_connection_drain(xp_grpc_connection *connection)
{
  if (connection->state != XP_GRPC_OPEN) {
    if (connection->state == XP_GRPC_GREETING) {
      xp_grpc_connection_close(connection);
    }
    return;
  }
  connection->state = XP_GRPC_DRAINING;
  bool was_idle = connection->streams == NULL;
  for (xp_grpc_stream *stream = connection->streams; stream != NULL; stream = stream->next) {
    xp_grpc_stream_fail(stream, XP_GRPC_UNAVAILABLE, "The server has been stopped.");
  }
  nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(connection->session), NGHTTP2_NO_ERROR, NULL, 0);
  xp_grpc_connection_flush(connection);
  if (was_idle) {
    xp_grpc_connection_close(connection);
  }
}
