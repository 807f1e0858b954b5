/* The profiler server: captures this process when somebody asks over the network, as
 * torch_xla.debug.profiler.start_server and jax.profiler.start_server do.  Their clients, XProf's and `xlaprof capture`
 * can ask it.
 *
 *   xp_server_options options = XP_SERVER_OPTIONS_INIT;
 *   options.port = 9012;
 *   xp_server *server;
 *   if (xp_server_start(&options, &server, &err) != XP_OK) ..
 *   ..
 *   xp_server_stop(server);
 *
 * It speaks gRPC over HTTP/2 without TLS: whoever reaches the port can capture.  It listens on the loopback address
 * unless told otherwise.  One thread serves; the program's own threads never wait for it. Services:
 * tensorflow.ProfilerService Profile, Terminate and Monitor (xla/tsl/profiler/protobuf/profiler_service.proto).
 */
#ifndef XLAPROF_SERVER_H
#define XLAPROF_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "xlaprof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t size;                 /* sizeof(xp_server_options) */
  const char *address;         /* NULL: both loopback addresses; "0.0.0.0" or "::" for all networks */
  uint16_t port;               /* 0: one that is free */
  const char *port_file;       /* NULL, or a file that gets the port as text (written whole, then renamed) */
  uint64_t buffer_limit_bytes; /* of the sessions; 0: the session's default */
} xp_server_options;

#define XP_SERVER_OPTIONS_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(xp_server_options), NULL, 0, NULL, 0                                                                        \
  }

typedef struct xp_server xp_server;

/* Binds the port and starts the thread.  XP_ERR_IO names the address and port that cannot be bound.  A second server in
 * one process is allowed on another port; both share the process's one session. */
XP_API xp_status xp_server_start(const xp_server_options *options, xp_server **server, xp_error *err);

/* The port that it listens on. */
XP_API uint16_t xp_server_port(const xp_server *server);

/* Ends the running call (its client is told UNAVAILABLE), closes all connections and frees the server; NULL is allowed.
 * In a child after fork it frees memory only. */
XP_API void xp_server_stop(xp_server *server);

#ifdef __cplusplus
}
#endif

#endif
