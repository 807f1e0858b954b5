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

/* XP_ERR_USAGE says what is wrong with the text. */
xp_status xp_grpc_target_parse(xp_str text, xp_grpc_target *target, xp_error *err);

typedef struct {
  xp_grpc_target target;
  const char *path;
  xp_str request;
  uint64_t connect_timeout_ns; /* for finding the address and connecting */
  uint64_t timeout_ns;         /* for all; also sent as grpc-timeout */
  uint64_t max_reply_bytes;    /* larger replies are given up: XP_GRPC_END_LIMIT */
  /* The reply's bytes in order; total is the size of the message.  False gives the call up: XP_GRPC_END_SINK. */
  bool (*sink)(void *context, uint64_t total, xp_str bytes);
  void *context;
  const volatile int
      *cancel; /* NULL, or set to non-zero (from a signal handler, or another thread) to give the call up */
} xp_grpc_request;

typedef enum {
  XP_GRPC_END_STATUS,      /* the server answered: see code */
  XP_GRPC_END_NO_ADDRESS,  /* the host's name has no address */
  XP_GRPC_END_NO_LISTENER, /* refused, or no route, at every address */
  XP_GRPC_END_NOT_GRPC,    /* something answered that does not speak gRPC: HTTP/1.1, another protocol, or HTTP/2 without
                              gRPC */
  XP_GRPC_END_LOST,        /* the connection broke before the answer was whole */
  XP_GRPC_END_TIMEOUT,     /* not connected, or no whole answer, in time */
  XP_GRPC_END_LIMIT,
  XP_GRPC_END_SINK,
  XP_GRPC_END_CANCELLED,
  XP_GRPC_END_MEMORY
} xp_grpc_end;

typedef struct {
  xp_grpc_end end;
  int code;             /* of XP_GRPC_END_STATUS: an xp_grpc_code */
  char message[1024];   /* the server's, decoded; or what happened, for a person */
  uint64_t reply_bytes; /* of the message, as far as it arrived */
} xp_grpc_answer;

/* Makes the call.  Leaves no descriptor or thread behind. */
void xp_grpc_unary(const xp_grpc_request *request, xp_grpc_answer *answer);

#endif
