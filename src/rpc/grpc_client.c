/* One call on one connection: the thread that calls sends, waits in poll, and reads, until the call has an end.
 *
 * What the server says about the call comes through the session (client_http2.c); what happens to the connection, the
 * time and the cancel flag is seen here.  No byte is given to the session before the first ones look like the SETTINGS
 * that every HTTP/2 server begins with, so that other servers are known by their own words.
 */
#include "rpc/grpc_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sum.h"
#include "rpc/client.h"
#include "rpc/monotonic.h"

enum {
  READ_BYTES = 512 * 1024,
  FRAME_HEADER_BYTES = 9,
  FIRST_FRAME_LIMIT = 16384,
  SHOWN_BYTES = 60 /* of the words of a server that does not speak HTTP/2 */
};

typedef struct {
  xp_grpc_exchange exchange;
  int fd;
  int64_t greeting_by_ns;
  bool is_http2;         /* the first frame is SETTINGS */
  bool cannot_send;      /* the other side has closed; it may have said why */
  const uint8_t *unsent; /* of a frame; belongs to the session */
  size_t unsent_len;
  char *buffer; /* READ_BYTES */
  size_t held;  /* bytes in it that wait for more, before is_http2 */
} client;

/* ---------------------------------------------------------------- sending */

static void lose(client *c, int problem)
{
  xp_grpc_exchange_end(&c->exchange, XP_GRPC_END_LOST, "The connection to %s broke: %s%s.", c->exchange.target,
                       strerror(problem), c->exchange.farewell);
}

/* The next frame to send, or none. */
static bool has_unsent(client *c)
{
  if (c->unsent_len == 0) {
    ssize_t n = nghttp2_session_mem_send(c->exchange.session, &c->unsent);
    if (n < 0) {
      xp_grpc_exchange_end(&c->exchange, XP_GRPC_END_MEMORY, "There is no memory for a call to %s.",
                           c->exchange.target);
    }
    c->unsent_len = n > 0 ? (size_t)n : 0;
  }
  return c->unsent_len > 0;
}

/* Sends what the socket takes. */
static void send_frames(client *c)
{
  while (!c->cannot_send && has_unsent(c)) {
    ssize_t n = send(c->fd, c->unsent, c->unsent_len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      c->unsent += n;
      c->unsent_len -= (size_t)n;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno != EINTR) {
      c->cannot_send = true; /* reading says why */
    }
  }
}

/* ---------------------------------------------------------------- who is it? */

/* The printable start of the server's words. */
static void show(xp_str bytes, char text[SHOWN_BYTES + 1])
{
  size_t n = 0;
  while (n < bytes.len && n < SHOWN_BYTES && bytes.ptr[n] >= ' ' && bytes.ptr[n] <= '~') {
    text[n] = bytes.ptr[n];
    n++;
  }
  text[n] = '\0';
}

static void end_not_http2(client *c, xp_str bytes)
{
  char words[SHOWN_BYTES + 1];
  show(bytes, words);
  const char *target = c->exchange.target;
  uint8_t first = (uint8_t)bytes.ptr[0];
  if (xp_str_starts(bytes, "HTTP/")) {
    xp_grpc_exchange_end(&c->exchange, XP_GRPC_END_NOT_GRPC,
                         "%s is an HTTP/1 server, not a profiler server (it says \"%s\"). Is this the profiler's port?",
                         target, words);
  } else if ((first == 0x15 || first == 0x16) && bytes.len > 1 && bytes.ptr[1] == 3) {
    xp_grpc_exchange_end(&c->exchange, XP_GRPC_END_NOT_GRPC,
                         "%s speaks TLS; a profiler server does not. Is this the profiler's port?", target);
  } else if (xp_str_starts(bytes, "SSH-")) {
    xp_grpc_exchange_end(&c->exchange, XP_GRPC_END_NOT_GRPC,
                         "%s is an SSH server (it says \"%s\"). Is this the profiler's port?", target, words);
  } else {
    xp_grpc_exchange_end(&c->exchange, XP_GRPC_END_NOT_GRPC,
                         "%s does not speak gRPC (its answer begins \"%s\"). Is this the profiler's port?", target,
                         words);
  }
}

/* Looks at the first bytes of the server.  False until there are enough, or if they are not HTTP/2. */
static bool check_opening(client *c, xp_str bytes)
{
  enum { LENGTH_BYTES = 3, TYPE_AT = 3, SETTINGS_TYPE = 4 };
  if (bytes.len < LENGTH_BYTES) {
    return false;
  }
  const uint8_t *b = (const uint8_t *)bytes.ptr;
  uint32_t frame_len = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
  if (frame_len > FIRST_FRAME_LIMIT || (bytes.len > TYPE_AT && b[TYPE_AT] != SETTINGS_TYPE)) {
    end_not_http2(c, bytes);
    return false;
  }
  c->is_http2 = bytes.len >= FRAME_HEADER_BYTES;
  return c->is_http2;
}

/* ---------------------------------------------------------------- receiving */

static void take(client *c, xp_str bytes)
{
  ssize_t n = nghttp2_session_mem_recv(c->exchange.session, (const uint8_t *)bytes.ptr, bytes.len);
  if (n == NGHTTP2_ERR_NOMEM) {
    xp_grpc_exchange_end(&c->exchange, XP_GRPC_END_MEMORY, "There is no memory for the reply of %s.",
                         c->exchange.target);
  } else if (n < 0) {
    xp_grpc_exchange_end(&c->exchange, XP_GRPC_END_NOT_GRPC, "%s does not speak HTTP/2 as it should (%s).",
                         c->exchange.target, nghttp2_strerror((int)n));
  }
}

static void end_of_input(client *c)
{
  if (c->held > 0) {
    end_not_http2(c, xp_str_from(c->buffer, c->held));
  } else if (!c->is_http2) {
    xp_grpc_exchange_end(&c->exchange, XP_GRPC_END_LOST,
                         "%s took the connection and closed it without a word. A forwarded port does so when nothing "
                         "listens behind it, a TLS server may, too.",
                         c->exchange.target);
  } else {
    xp_grpc_exchange_end(&c->exchange, XP_GRPC_END_LOST, "%s closed the connection before its answer was whole%s.",
                         c->exchange.target, c->exchange.farewell);
  }
}

static void receive(client *c)
{
  ssize_t n = recv(c->fd, c->buffer + c->held, READ_BYTES - c->held, MSG_DONTWAIT);
  if (n < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      lose(c, errno);
    }
    return;
  }
  if (n == 0) {
    end_of_input(c);
    return;
  }
  xp_str bytes = xp_str_from(c->buffer, c->held + (size_t)n);
  c->held = bytes.len;
  if (c->is_http2 || check_opening(c, bytes)) {
    c->held = 0;
    take(c, bytes);
  }
}

/* ---------------------------------------------------------------- waiting */

/* Ends the call if its time is over or somebody took it back. */
static void check_limits(client *c)
{
  xp_grpc_exchange *exchange = &c->exchange;
  int64_t now = xp_monotonic_ns();
  if (xp_grpc_is_cancelled(exchange->request)) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_CANCELLED, "The call to %s was given up.", exchange->target);
  } else if (now >= exchange->deadline_ns) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_TIMEOUT, "%s did not answer in time.", exchange->target);
  } else if (!exchange->is_greeted && now >= c->greeting_by_ns) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_TIMEOUT,
                         "%s took the connection but says nothing. Is this the profiler's port, and is the program not "
                         "stopped?",
                         exchange->target);
  }
}

static void wait_for_socket(client *c)
{
  int64_t until = c->exchange.deadline_ns;
  if (!c->exchange.is_greeted && c->greeting_by_ns < until) {
    until = c->greeting_by_ns;
  }
  struct pollfd p = {.fd = c->fd, .events = (short)(POLLIN | (c->unsent_len > 0 && !c->cannot_send ? POLLOUT : 0))};
  int timeout = xp_poll_timeout_ms(until, xp_monotonic_ns(), XP_GRPC_CANCEL_MS);
  if (poll(&p, 1, timeout) > 0 && (p.revents & ~POLLOUT) != 0) {
    receive(c);
  }
}

static void converse(client *c)
{
  for (;;) {
    send_frames(c);
    if (!nghttp2_session_want_read(c->exchange.session)) {
      lose(c, EPROTO); /* the session has ended the connection over an error in the server's frames */
    }
    if (!c->exchange.is_done) {
      check_limits(c);
    }
    if (c->exchange.is_done) {
      break;
    }
    wait_for_socket(c);
  }
  /* What the server still does for this call is for nobody: it shall know at once. */
  bool is_open = nghttp2_session_get_stream_remote_close(c->exchange.session, c->exchange.stream_id) >= 0;
  if (is_open) {
    nghttp2_submit_rst_stream(c->exchange.session, NGHTTP2_FLAG_NONE, c->exchange.stream_id, NGHTTP2_CANCEL);
  }
  nghttp2_session_terminate_session(c->exchange.session, NGHTTP2_NO_ERROR);
  send_frames(c);
}

/* ---------------------------------------------------------------- the call */

static int64_t limit(int64_t start_ns, uint64_t timeout_ns)
{
  if (timeout_ns == 0 || timeout_ns > INT64_MAX) {
    return INT64_MAX;
  }
  return xp_add_saturating(start_ns, (int64_t)timeout_ns);
}

void xp_grpc_unary(const xp_grpc_request *request, xp_grpc_answer *answer)
{
  *answer = (xp_grpc_answer){.code = XP_GRPC_UNKNOWN};
  client c = {.exchange = {.request = request, .answer = answer}};
  int64_t start = xp_monotonic_ns();
  c.exchange.deadline_ns = limit(start, request->timeout_ns);
  c.greeting_by_ns = limit(start, request->connect_timeout_ns);
  xp_grpc_target_print(&request->target, c.exchange.target);
  if (request->request.len > UINT32_MAX) {
    xp_grpc_end_with(answer, XP_GRPC_END_LIMIT, "The request is larger than a message of gRPC can be (4 GiB).");
    return;
  }
  bool is_connecting_shorter = c.greeting_by_ns < c.exchange.deadline_ns;
  c.fd = xp_grpc_connect(request, is_connecting_shorter ? c.greeting_by_ns : c.exchange.deadline_ns, answer);
  if (c.fd < 0) {
    return;
  }
  c.buffer = malloc(READ_BYTES);
  if (c.buffer == NULL) {
    xp_grpc_end_with(answer, XP_GRPC_END_MEMORY, "There is no memory for a call to %s.", c.exchange.target);
  } else if (xp_grpc_exchange_begin(&c.exchange)) {
    converse(&c);
  }
  nghttp2_session_del(c.exchange.session);
  free(c.buffer);
  close(c.fd);
}
