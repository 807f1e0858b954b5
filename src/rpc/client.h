/* What the parts of the client share: connecting, the HTTP/2 session, and the loop that moves bytes between them. */
#ifndef XP_RPC_CLIENT_H
#define XP_RPC_CLIENT_H

#include <nghttp2/nghttp2.h>

#include "rpc/grpc_client.h"
#include "rpc/message.h"

enum { XP_GRPC_CANCEL_MS = 100 }; /* so long nobody looks at the cancel flag */

/* ---------------------------------------------------------------- connecting (client_connect.c) */

/* Connects to the target.  Returns the socket, non-blocking; -1 with answer filled in if there is none by by_ns. */
int xp_grpc_connect(const xp_grpc_request *request, int64_t by_ns, xp_grpc_answer *answer);

/* Somebody has set the cancel flag. */
bool xp_grpc_is_cancelled(const xp_grpc_request *request);

/* Fills an answer in that says why there is none. */
void xp_grpc_end_with(xp_grpc_answer *answer, xp_grpc_end end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---------------------------------------------------------------- the call in HTTP/2 (client_http2.c) */

typedef struct {
  const xp_grpc_request *request;
  xp_grpc_answer *answer;
  bool is_done; /* the answer is filled in */
  char target[XP_GRPC_TARGET_ROOM];
  int64_t deadline_ns; /* INT64_MAX: none */
  nghttp2_session *session;
  int32_t stream_id;
  bool is_greeted; /* the server's SETTINGS came */

  uint8_t prefix[XP_GRPC_PREFIX_BYTES];
  size_t request_sent; /* with the prefix */

  int http_status;
  bool is_grpc_content, has_status;
  int code;
  char content_type[64];
  xp_grpc_reader reader;
  char farewell[160]; /* what its GOAWAY said; empty if there was none */
} xp_grpc_exchange;

/* Makes the session and puts the request into it.  False, with the answer filled in, when memory is out. */
bool xp_grpc_exchange_begin(xp_grpc_exchange *exchange);

/* Gives the answer that the call has ended with; only the first one counts. */
void xp_grpc_exchange_end(xp_grpc_exchange *exchange, xp_grpc_end end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
