/* The client runs on a thread of its own, since it blocks until the capture is there.  How long the program takes is
 * not known before: a second request, Terminate, ends the session when it is through. */
#include "self_capture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "rpc/grpc_client.h"
#include "rpc/messages.h"
#include "session/run_files.h"
#include "xlaprof/annotate.h"
#include "xlaprof/capture.h"
#include "xlaprof/server.h"

enum { START_LIMIT_S = 10, END_LIMIT_S = 10, LONGEST_MS = 3600 * 1000, FOLDERS = 3 };

typedef struct {
  const char *logdir;
  const char *session; /* the name of the run */
  char target[32];
  xp_capture_result *results;
  xp_status status;
  xp_error err;
  int cancel;
  bool is_done;
} client;

static void *run_client(void *context)
{
  client *c = context;
  const char *const targets[] = {c->target};
  xp_capture_options options = XP_CAPTURE_OPTIONS_INIT;
  options.duration_ms = LONGEST_MS;
  options.attempts = 1;
  options.session_id = c->session;
  options.cancel = &c->cancel;
  c->status = xp_capture_run(targets, 1, c->logdir, &options, &c->results, &c->err);
  __atomic_store_n(&c->is_done, true, __ATOMIC_RELEASE);
  return NULL;
}

/* False if the server does not answer. */
static bool end_session(const client *c)
{
  xp_wire_writer request = {0};
  xp_grpc_answer answer;
  xp_grpc_request call = {.path = XP_RPC_TERMINATE, .timeout_ns = END_LIMIT_S * XP_NS_IN_S};
  xp_terminate_request_put(&request, xp_str_c(c->session));
  call.request = xp_str_from((const char *)request.data, request.len);
  bool is_ended = !request.failed && xp_grpc_target_parse(xp_str_c(c->target), &call.target, NULL) == XP_OK;
  if (is_ended) {
    xp_grpc_unary(&call, &answer);
    is_ended = answer.end == XP_GRPC_END_STATUS && answer.code == XP_GRPC_OK;
  }
  xp_wire_writer_free(&request);
  return is_ended;
}

/* Waits until the session that the client asked for records, or the client is at its end. */
static bool session_began(const client *c)
{
  const int64_t limit_ns = xp_monotonic_ns() + START_LIMIT_S * XP_NS_IN_S;
  while (!xp_is_recording(XP_LEVEL_INFO)) {
    if (__atomic_load_n(&c->is_done, __ATOMIC_ACQUIRE) || xp_monotonic_ns() > limit_ns) {
      return false;
    }
    nanosleep(&(struct timespec){0, XP_NS_IN_MS}, NULL);
  }
  return true;
}

static xp_status finish(client *c, char *path, size_t room, xp_error *err)
{
  if (c->status != XP_OK) {
    *err = c->err;
  } else {
    snprintf(path, room, "%s", c->results[0].path);
  }
  xp_capture_results_free(c->results, c->results != NULL ? 1 : 0);
  return c->status;
}

static xp_status run_with_client(client *c, xp_status (*run)(void *context, xp_error *err), void *context,
                                 xp_error *err)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_client, c) != 0) {
    return c->status = xp_fail(err, XP_ERR_MEMORY, "A thread for the capture can't be started.");
  }
  const bool has_begun = session_began(c);
  const xp_status status = has_begun ? run(context, err) : XP_OK; /* else the client tells why */
  if (!has_begun || !end_session(c)) {
    __atomic_store_n(&c->cancel, 1, __ATOMIC_RELAXED); /* nobody else ends what the client waits for */
  }
  pthread_join(thread, NULL);
  return status;
}

static xp_status capture_into(const char *logdir, const char *directory, xp_status (*run)(void *context, xp_error *err),
                              void *context, char *path, size_t room, xp_error *err)
{
  const xp_server_options options = XP_SERVER_OPTIONS_INIT;
  xp_server *server;
  xp_status status = xp_server_start(&options, &server, err);
  if (status != XP_OK) {
    return status;
  }
  client c = {.logdir = logdir, .session = strrchr(directory, '/') + 1};
  snprintf(c.target, sizeof c.target, "localhost:%u", xp_server_port(server));
  status = run_with_client(&c, run, context, err);
  xp_server_stop(server);
  const xp_status captured = finish(&c, path, room, status == XP_OK ? err : &c.err);
  return status != XP_OK ? status : captured;
}

xp_status self_capture(const char *logdir, xp_status (*run)(void *context, xp_error *err), void *context, char *path,
                       size_t room, xp_error *err)
{
  char directory[XP_PATH_ROOM];
  xp_status status = xp_logdir_run_make(logdir, NULL, directory, err);
  if (status == XP_OK) {
    status = capture_into(logdir, directory, run, context, path, room, err);
    if (status != XP_OK) {
      self_capture_remove(directory);
    }
  }
  return status;
}

void self_capture_remove(char *directory)
{
  for (int i = 0; i < FOLDERS && rmdir(directory) == 0; i++) {
    *strrchr(directory, '/') = '\0';
  }
}
