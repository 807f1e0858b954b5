/* What the parts of the server share: the server, its connections, and the streams (requests) on them.
 *
 * All of it belongs to the server's thread.  Other threads reach it through the mailbox only (call.h).
 */
#ifndef XP_RPC_SERVER_H
#define XP_RPC_SERVER_H

#include <nghttp2/nghttp2.h>

#include "rpc/call.h"
#include "rpc/message.h"

typedef struct xp_grpc_connection xp_grpc_connection;

enum {
  XP_GRPC_MAX_STREAMS = 100,             /* at the same time on a connection */
  XP_GRPC_MAX_HEADER_BYTES = 16 * 1024,  /* of a request, counted as HTTP/2 does: 32 more for each header */
  XP_GRPC_MAX_FRAME_BYTES = 64 * 1024,   /* of DATA that we send */
  XP_GRPC_SCRATCH_BYTES = 2 * 64 * 1024, /* for reading and for writing; shared by all connections */
  XP_GRPC_MIN_REQUEST_BUDGET = 16 << 20  /* for all requests that are arriving, at least */
};

/* ---------------------------------------------------------------- server (server.c) */

struct xp_grpc_server {
  xp_grpc_server_options options; /* patience without zeros */
  pthread_t thread;
  pid_t pid;
  atomic_bool is_stopping;
  uint16_t port;
  xp_grpc_mailbox *mailbox;
  nghttp2_session_callbacks *callbacks;
  nghttp2_option *http2_options;
  char *scratch; /* XP_GRPC_SCRATCH_BYTES */

  /* Every descriptor, -1 where there is none: [0] epoll, [1] eventfd, [2] and [3] listeners, then the connections'.
   * The one thing that a child after fork can rely on, as no list is. */
  atomic_int *fds;
  size_t fd_count;
  size_t listener_count;
  bool is_paused;          /* no more accept for now: out of descriptors or memory */
  int64_t accept_again_ns; /* when it is */

  xp_grpc_connection **slots; /* max_connections; NULL where free */
  size_t connection_count;
  xp_grpc_connection *closed; /* to be freed at the end of a round */
  uint64_t request_bytes;     /* in the buffers of requests that are arriving */
  int64_t alarm_ns;           /* something may be due then, nothing is before */
  int64_t stop_by_ns;
};

enum { XP_GRPC_FD_EPOLL, XP_GRPC_FD_WAKE, XP_GRPC_FD_LISTEN, XP_GRPC_FD_CONNECTIONS = XP_GRPC_FD_LISTEN + 2 };

/* Makes sure that deadlines are looked at when at_ns has come. */
static inline void xp_grpc_server_alarm(xp_grpc_server *server, int64_t at_ns)
{
  if (at_ns < server->alarm_ns) {
    server->alarm_ns = at_ns;
  }
}

/* ---------------------------------------------------------------- listeners (listen.c) */

/* Opens the sockets into server->fds, and sets port and listener_count. */
xp_status xp_grpc_listen(xp_grpc_server *server, xp_error *err);

/* ---------------------------------------------------------------- accepting (accept.c) */

/* Takes new connections from a listener. */
void xp_grpc_accept(xp_grpc_server *server, int listener);

/* Starts (or stops) waiting for connections. */
void xp_grpc_accept_watch(xp_grpc_server *server, bool is_on);

/* ---------------------------------------------------------------- connection (connection.c) */

typedef enum {
  XP_GRPC_GREETING, /* the client has not said yet that it speaks HTTP/2 */
  XP_GRPC_OPEN,
  XP_GRPC_DRAINING,  /* GOAWAY is sent; its streams may end */
  XP_GRPC_LINGERING, /* we have written our last; the client's bytes are thrown away until it closes */
  XP_GRPC_CLOSED     /* to be freed */
} xp_grpc_connection_state;

struct xp_grpc_connection {
  xp_grpc_server *server;
  size_t slot;
  int fd;
  xp_grpc_connection_state state;
  bool is_watching_output; /* the socket was full */
  nghttp2_session *session;
  size_t preface_len; /* bytes of the client's preface that were right */
  int64_t limit_ns;   /* for the greeting, and for lingering */
  int64_t idle_since_ns;
  char *rest; /* malloc'd: bytes of frames that the socket did not take yet */
  size_t rest_len, rest_sent;
  double tokens;     /* for frames that cost us work and the client nothing: see http2.c */
  int64_t tokens_ns; /* when they were counted */
  xp_grpc_stream *streams;
  size_t stream_count;
  xp_grpc_connection *next_closed;
};

/* Takes over an accepted socket and a free slot.  NULL when memory or epoll has no room; the socket is closed then. */
xp_grpc_connection *xp_grpc_connection_create(xp_grpc_server *server, size_t slot, int fd);

/* Reads and writes what can be, as epoll says. */
void xp_grpc_connection_event(xp_grpc_connection *connection, uint32_t events);

/* Sends what there is to send, as far as the socket takes it. */
void xp_grpc_connection_flush(xp_grpc_connection *connection);

/* Ends what is overdue, and sets the alarm for what is not. */
void xp_grpc_connection_tick(xp_grpc_connection *connection, int64_t now_ns);

/* Tells the client to make no more calls: GOAWAY.  The connection ends with its last stream. */
void xp_grpc_connection_drain(xp_grpc_connection *connection);

/* Ends it at once; its calls are cancelled. */
void xp_grpc_connection_close(xp_grpc_connection *connection);

/* ---------------------------------------------------------------- HTTP/2 (http2.c) */

/* Callbacks and options of all sessions.  False when memory is out. */
bool xp_grpc_http2_setup(xp_grpc_server *server);

/* The session of a connection, with our SETTINGS in its queue.  False when memory is out. */
bool xp_grpc_http2_open(xp_grpc_connection *connection);

/* ---------------------------------------------------------------- stream (stream.c, reply.c) */

struct xp_grpc_stream {
  xp_grpc_connection *connection;
  xp_grpc_stream *next, **link; /* link: what points to this stream */
  int32_t id;

  /* the request */
  const xp_grpc_method *method;
  bool is_post, has_path, is_grpc_content, has_te, is_encoded, has_bad_timeout;
  bool is_header_list_too_long;
  char path[128]; /* for the message about an unknown one */
  uint32_t header_bytes;
  int64_t deadline_ns; /* the client's; INT64_MAX: none */
  int64_t request_by_ns;
  xp_grpc_reader reader;
  char *request;
  size_t request_len, request_capacity;
  xp_grpc_call *call; /* while its method has it */

  /* the reply */
  bool is_answered;    /* there is a reply, or a status without one, in the session's queue */
  int64_t progress_ns; /* when the client last let us send some of it */
  xp_grpc_body body;
  uint64_t body_sent;
  size_t prefix_sent;
};

/* A request begins; attached to the HTTP/2 stream.  NULL when memory is out. */
xp_grpc_stream *xp_grpc_stream_create(xp_grpc_connection *connection, int32_t id);

/* One header of it. */
void xp_grpc_stream_header(xp_grpc_stream *stream, xp_str name, xp_str value);

/* All headers are there. */
void xp_grpc_stream_headers_end(xp_grpc_stream *stream);

/* Some of the body. */
void xp_grpc_stream_data(xp_grpc_stream *stream, xp_str bytes);

/* The whole request is there: the method begins. */
void xp_grpc_stream_request_end(xp_grpc_stream *stream);

/* The HTTP/2 stream is gone: cancels the call if it is not answered, and frees the stream. */
void xp_grpc_stream_close(xp_grpc_stream *stream);

/* Ends the stream if it is overdue, and sets the alarm if it is not.  False if the connection is of no use any more. */
bool xp_grpc_stream_tick(xp_grpc_stream *stream, int64_t now_ns);

/* Frees the request's bytes. */
void xp_grpc_stream_forget_request(xp_grpc_stream *stream);

/* Sends what the method answered; takes the answer. */
void xp_grpc_stream_answer(xp_grpc_stream *stream, xp_grpc_answer_box *answer);

/* Sends an error instead of a reply, and cancels the call if there is one.  Does nothing if there is an answer. */
void xp_grpc_stream_fail(xp_grpc_stream *stream, xp_grpc_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same as HTTP, for clients that do not speak gRPC. */
void xp_grpc_stream_refuse(xp_grpc_stream *stream, const char *http_status);

#endif
