/* The profiler service: which calls there are, and what those answer that take no time.  Profile is in profile_call.c.
 *
 * A call of Profile has a thread of its own, since starting and collecting may take seconds; the server's thread only
 * hands it over.  The count of such threads keeps the server alive until the last of them is done. Upstream:
 * xla/tsl/profiler/rpc/profiler_service_impl.cc.
 */
#include "rpc/profiler_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/run_files.h"
#include "xlaprof/metrics.h"

enum { MAX_REQUEST_BYTES = 4 << 20, MAX_CONNECTIONS = 256 };

/* ---- the small calls */

static void begin_terminate(void *context, xp_grpc_call *call, xp_str request)
{
  xp_str session_id;
  xp_error err;
  if (xp_terminate_request_read(request, &session_id, &err) != XP_OK) {
    xp_grpc_fail(call, XP_GRPC_INVALID_ARGUMENT, err.text);
    return;
  }
  xp_profile_calls_terminate(context, session_id);
  xp_grpc_reply_bytes(call, xp_str_from(NULL, 0));
}

/* Upstream's servers have no answer to this call; ours is the report of the program's counters. */
static void begin_monitor(void *context, xp_grpc_call *call, xp_str request)
{
  xp_monitor_request asked;
  xp_error err;
  (void)context;
  if (xp_monitor_request_read(request, &asked, &err) != XP_OK) {
    xp_grpc_fail(call, XP_GRPC_INVALID_ARGUMENT, err.text);
    return;
  }
  char *report = xp_metrics_report_text();
  if (report == NULL) {
    xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, "No memory for the metrics report");
    return;
  }
  xp_wire_writer w = {0};
  xp_monitor_response_put(&w, xp_str_c(report));
  if (w.failed) {
    xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, "No memory for the metrics report");
  } else {
    xp_grpc_reply_bytes(call, xp_str_from((const char *)w.data, w.len));
  }
  xp_wire_writer_free(&w);
  free(report);
}

static void begin_continuous(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context;
  (void)request;
  xp_grpc_fail(call, XP_GRPC_UNIMPLEMENTED, "This server does not profile continuously: ask for captures with Profile");
}

static const xp_grpc_method methods[] = {
    {XP_RPC_PROFILE, xp_profile_call_begin},
    {XP_RPC_TERMINATE, begin_terminate},
    {XP_RPC_MONITOR, begin_monitor},
    {XP_RPC_START_CONTINUOUS, begin_continuous},
    {XP_RPC_STOP_CONTINUOUS, begin_continuous},
    {XP_RPC_GET_SNAPSHOT, begin_continuous},
};

/* ---- start */

/* The port as text, for whoever waits for the server. */
static xp_status write_port_file(const char *path, uint16_t port, xp_error *err)
{
  char temporary[XP_PATH_ROOM];
  if (snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid()) >= (int)sizeof temporary) {
    return xp_fail(err, XP_ERR_USAGE, "The path of the port file is too long");
  }
  FILE *file = fopen(temporary, "we");
  bool is_written = file != NULL && fprintf(file, "%u\n", port) > 0;
  is_written = file != NULL && fclose(file) == 0 && is_written && rename(temporary, path) == 0;
  if (!is_written) {
    unlink(temporary);
    return xp_fail(err, XP_ERR_IO, "Cannot write the port into %.500s", path);
  }
  return XP_OK;
}

static xp_status check_options(const xp_server_options *o, xp_error *err)
{
  if (o->size < sizeof *o) {
    return xp_fail(err, XP_ERR_USAGE, "xp_server_options.size is %zu, not %zu: begin with XP_SERVER_OPTIONS_INIT",
                   o->size, sizeof *o);
  }
  return XP_OK;
}

static xp_server *create(const xp_server_options *o)
{
  xp_server *s = calloc(1, sizeof *s);
  if (s == NULL || pthread_mutex_init(&s->lock, NULL) != 0 || pthread_cond_init(&s->idle, NULL) != 0) {
    free(s);
    return NULL;
  }
  s->pid = getpid();
  s->buffers = (xp_session_buffers){XP_KEEP_OLDEST, o->buffer_limit_bytes};
  if (o->buffer_limit_bytes == 0) {
    static const xp_session_options session = XP_SESSION_OPTIONS_INIT;
    s->buffers.buffer_limit_bytes = session.buffer_limit_bytes;
  }
  return s;
}

xp_status xp_server_start(const xp_server_options *options, xp_server **server, xp_error *err)
{
  xp_status status = check_options(options, err);
  xp_server *s = status == XP_OK ? create(options) : NULL;
  if (s == NULL) {
    return status != XP_OK ? status : xp_fail(err, XP_ERR_MEMORY, "No memory for the profiler server");
  }
  xp_grpc_server_options grpc = {.address = options->address,
                                 .port = options->port,
                                 .methods = methods,
                                 .method_count = sizeof methods / sizeof *methods,
                                 .context = s,
                                 .max_request_bytes = MAX_REQUEST_BYTES,
                                 .max_connections = MAX_CONNECTIONS};
  status = xp_grpc_server_start(&grpc, &s->grpc, err);
  if (status == XP_OK && options->port_file != NULL) {
    status = write_port_file(options->port_file, xp_server_port(s), err);
  }
  if (status != XP_OK) {
    xp_server_stop(s);
    return status;
  }
  *server = s;
  return XP_OK;
}

uint16_t xp_server_port(const xp_server *server)
{
  return xp_grpc_server_port(server->grpc);
}

void xp_server_stop(xp_server *s)
{
  if (s == NULL) {
    return;
  }
  xp_grpc_server_stop(s->grpc);
  if (s->pid == getpid()) { /* a child has none of the threads */
    xp_profile_calls_wait(s);
  }
  pthread_cond_destroy(&s->idle);
  pthread_mutex_destroy(&s->lock);
  free(s);
}
