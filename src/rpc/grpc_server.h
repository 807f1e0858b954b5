/* gRPC for servers: unary calls over HTTP/2 (nghttp2), one thread, no TLS.
 *
 * The thread reads requests and calls the methods; a method answers at once or keeps the call and answers later, from
 * any thread.  Replies are produced as the connection takes them, so a reply of gigabytes needs no memory.  Whatever a
 * peer sends or fails to read costs the process a bounded amount of memory and no other connection its service.
 * Of a request's headers the deadline is all that matters: metadata are read over.  Compression is not offered.
 * Protocol: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
#ifndef XP_RPC_GRPC_SERVER_H
#define XP_RPC_GRPC_SERVER_H

#include "base/error.h"
#include "base/str.h"
#include "rpc/grpc_status.h"

typedef struct xp_grpc_server xp_grpc_server;
typedef struct xp_grpc_call xp_grpc_call;

/* A message that is produced piece by piece. */
typedef struct {
  uint64_t total_bytes; /* at most UINT32_MAX */
  /* Writes the next bytes, at most room, and returns their number: 0 only when something failed (the call then ends
   * with INTERNAL).  Called on the server's thread; must not block. */
  size_t (*read)(void *context, void *buffer, size_t room);
  /* Called once, when the last byte was read or the message is given up: on the server's thread, or inside the answer
   * when nobody waits for it any more.  May be NULL. */
  void (*end)(void *context);
  void *context;
} xp_grpc_body;

typedef struct {
  const char *path; /* "/tensorflow.ProfilerService/Profile" */
  /* The whole request arrived.  Called on the server's thread; must not block.  Answers with xp_grpc_reply or
   * xp_grpc_fail, now or later; request is gone when this function returns. */
  void (*begin)(void *context, xp_grpc_call *call, xp_str request);
} xp_grpc_method;

/* How long the server waits for a client, in nanoseconds; 0 stands for the default.  While a call is kept by its
 * method, nothing but the client's own deadline ends it. */
typedef struct {
  int64_t greeting_ns; /* from the connection to its first words of HTTP/2; 10 s */
  int64_t idle_ns;     /* a connection without a call; 10 min */
  int64_t request_ns;  /* from the first to the last byte of a request; 60 s */
  int64_t stall_ns;    /* a client that takes nothing of its reply; 60 s */
} xp_grpc_patience;

typedef struct {
  /* NULL: both loopback addresses, 127.0.0.1 and ::1 (one may be missing); else a numeric address.  "0.0.0.0" is every
   * IPv4 network, "::" every network of both kinds. */
  const char *address;
  uint16_t port; /* 0: any */
  const xp_grpc_method *methods;
  size_t method_count;
  void *context;              /* given to the methods */
  uint32_t max_request_bytes; /* larger requests get RESOURCE_EXHAUSTED */
  uint32_t max_connections;   /* above it the longest idle one is closed, or the new one if none is idle */
  xp_grpc_patience patience;
} xp_grpc_server_options;

/* Binds, and starts the thread, which takes no signals.  Borrows methods and context until the stop.  XP_ERR_USAGE if
 * the address is not numeric, XP_ERR_IO if it or the port cannot be had. */
xp_status xp_grpc_server_start(const xp_grpc_server_options *options, xp_grpc_server **server, xp_error *err);

uint16_t xp_grpc_server_port(const xp_grpc_server *server);

/* Tells all calls that they are cancelled and their clients UNAVAILABLE, gives replies that are on their way a second,
 * ends the thread and frees the server.  Calls that were kept must still be answered by their owner (the answer goes
 * nowhere) before or after; xp_grpc_call outlives the server for that.  NULL is allowed.  Not from inside a method.
 * In a child after fork, which has no such thread, it only closes the descriptors; what the thread may have been
 * changing at the fork is left alone, and calls may be answered there but are gone. */
void xp_grpc_server_stop(xp_grpc_server *server);

/* Asks for cancelled(context) when the client goes away or takes the call back, its deadline passes, or the server
 * stops: at once if that happened already.  Called on the server's thread (or inside this function), at most once,
 * never after the answer: an answer that comes while cancelled runs waits for its end.  So cancelled must not take a
 * lock that is held where the call is answered.  It may answer the call itself.  NULL takes an
 * earlier wish back. */
void xp_grpc_call_on_cancel(xp_grpc_call *call, void (*cancelled)(void *context), void *context);

/* Nanoseconds until the client's deadline, 0 if it has passed; INT64_MAX if it has none. */
int64_t xp_grpc_call_time_left_ns(const xp_grpc_call *call);

/* Answers with OK and a message; takes body (its end is called in any case).  The call is gone then.  Any thread. */
void xp_grpc_reply(xp_grpc_call *call, const xp_grpc_body *body);

/* The same with bytes in memory, which are copied.  The client gets RESOURCE_EXHAUSTED if there is no memory for it. */
void xp_grpc_reply_bytes(xp_grpc_call *call, xp_str message);

/* Answers with an error.  The call is gone then.  Any thread. */
void xp_grpc_fail(xp_grpc_call *call, xp_grpc_code code, const char *message);

#endif
