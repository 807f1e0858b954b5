/* The client runs on a thread of its own, since it blocks until the capture is there. */
#include "self_capture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "xlaprof/annotate.h"
#include "xlaprof/capture.h"
#include "xlaprof/server.h"

enum { START_LIMIT_S = 10 };

typedef struct {
  const char *logdir;
  char target[32];
  uint64_t duration_ms;
  xp_capture_result *results;
  xp_status status;
  xp_error err;
  bool is_done;
} client;

static void *run_client(void *context)
{
  client *c = context;
  const char *const targets[] = {c->target};
  xp_capture_options options = XP_CAPTURE_OPTIONS_INIT;
  options.duration_ms = c->duration_ms;
  options.attempts = 1;
  c->status = xp_capture_run(targets, 1, c->logdir, &options, &c->results, &c->err);
  __atomic_store_n(&c->is_done, true, __ATOMIC_RELEASE);
  return NULL;
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

xp_status self_capture(const char *logdir, uint64_t duration_ms, xp_status (*run)(void *context, xp_error *err),
                       void *context, char *path, size_t room, xp_error *err)
{
  client c = {.logdir = logdir, .duration_ms = duration_ms};
  const xp_server_options options = XP_SERVER_OPTIONS_INIT;
  xp_server *server;
  pthread_t thread;
  xp_status status = xp_server_start(&options, &server, err);
  if (status != XP_OK) {
    return status;
  }
  snprintf(c.target, sizeof c.target, "localhost:%u", xp_server_port(server));
  if (pthread_create(&thread, NULL, run_client, &c) != 0) {
    xp_server_stop(server);
    memset(err, 0, sizeof *err);
    snprintf(err->text, sizeof err->text, "A thread for the capture can't be started.");
    return err->status = XP_ERR_MEMORY;
  }
  status = session_began(&c) ? run(context, err) : XP_OK; /* else the client tells why */
  pthread_join(thread, NULL);
  xp_server_stop(server);
  const xp_status captured = finish(&c, path, room, status == XP_OK ? err : &c.err);
  return status != XP_OK ? status : captured;
}
