/* gRPC for clients: one unary call over HTTP/2 (nghttp2) on a connection of its own, no TLS.
 *
 * The call blocks its thread.  The reply is handed on as it arrives, so a reply of gigabytes needs no memory.
 */
#ifndef XP_RPC_GRPC_CLIENT_H
#define XP_RPC_GRPC_CLIENT_H

#include "base/error.h"
#include "base/str.h"
#include "rpc/grpc_status.h"

/* HOST:PORT, [IPV6]:PORT or IPV6 in brackets only; grpc:// in front is taken off. */
typedef struct {
  char host[256]; /* without brackets */
  uint16_t port;
} xp_grpc_target;

/* XP_ERR_USAGE says what is wrong with the text, and what to write instead. */
xp_status xp_grpc_target_parse(xp_str text, xp_grpc_target *target, xp_error *err);

enum { XP_GRPC_TARGET_ROOM = 264 }; /* brackets, colon, port, NUL */

/* The target as text: HOST:PORT or [IPV6]:PORT. */
void xp_grpc_target_print(const xp_grpc_target *target, char text[XP_GRPC_TARGET_ROOM]);

typedef struct {
  xp_grpc_target target;
  const char *path;
  xp_str request;
  uint64_t connect_timeout_ns; /* for finding the address, connecting, and the server's greeting; 0: none */
  uint64_t timeout_ns;         /* for all; what is left of it is sent as grpc-timeout; 0: none */
  uint64_t max_reply_bytes;    /* larger replies are given up: XP_GRPC_END_LIMIT */
  /* The reply's bytes in order; total is the size of the message.  Not called for an empty one.  False gives the call
   * up: XP_GRPC_END_SINK.  The bytes are only good if the call ends with XP_GRPC_OK.  NULL: they are thrown away. */
  bool (*sink)(void *context, uint64_t total, xp_str bytes);
  void *context;
  /* NULL, or set to non-zero (from a signal handler, or another thread) to give the call up within 100 ms. */
  const volatile int *cancel;
} xp_grpc_request;

typedef enum {
  XP_GRPC_END_STATUS,      /* the server answered: see code */
  XP_GRPC_END_NO_ADDRESS,  /* the host's name has no address */
  XP_GRPC_END_NO_LISTENER, /* refused, or no route, at every address */
  XP_GRPC_END_NOT_GRPC,    /* something answered that does not speak gRPC: HTTP/1.1, another protocol, or HTTP/2 without
                              gRPC */
  XP_GRPC_END_LOST,        /* the connection broke before the answer was whole */
  XP_GRPC_END_TIMEOUT,     /* not connected, or no whole answer, in time */
  XP_GRPC_END_LIMIT,       /* the reply is larger than max_reply_bytes */
  XP_GRPC_END_SINK,        /* the sink gave the call up */
  XP_GRPC_END_CANCELLED,
  XP_GRPC_END_MEMORY
} xp_grpc_end;

typedef struct {
  xp_grpc_end end;
  int code;             /* of XP_GRPC_END_STATUS: an xp_grpc_code */
  char message[1024];   /* the server's, decoded; or what happened, for a person */
  uint64_t reply_bytes; /* of the message, as far as it arrived */
} xp_grpc_answer;

/* Makes the call.  Leaves no descriptor or thread behind, with one exception: a host's name is looked up on a thread of
 * its own, because nothing can interrupt getaddrinfo.  If that takes longer than the call may, the thread ends by
 * itself when the system's resolver gives up. */
void xp_grpc_unary(const xp_grpc_request *request, xp_grpc_answer *answer);

#endif
