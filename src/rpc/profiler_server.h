/* The inside of a profiler server: what its calls share. */
#ifndef XP_RPC_PROFILER_SERVER_H
#define XP_RPC_PROFILER_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "rpc/grpc_server.h"
#include "rpc/messages.h"
#include "session/session.h"
#include "xlaprof/server.h"

typedef struct xp_profile_call xp_profile_call;

struct xp_server {
  xp_grpc_server *grpc;
  xp_session_buffers buffers;
  pid_t pid;
  pthread_mutex_t lock; /* of the calls */
  pthread_cond_t idle;  /* the last call ended */
  xp_profile_call *calls;
  atomic_uint replies; /* captures that are being sent; each keeps its buffers until its client has taken all */
};

/* The method Profile. */
void xp_profile_call_begin(void *server, xp_grpc_call *call, xp_str request);

/* Ends the collecting of the calls with a session id; they answer as if their time were over. */
void xp_profile_calls_terminate(xp_server *server, xp_str session_id);

/* Waits until no call is left; they have been cancelled. */
void xp_profile_calls_wait(xp_server *server);

#endif
