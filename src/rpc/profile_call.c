/* One call of Profile: claim the session, begin, wait, end, answer.
 *
 * The claim is made on the server's thread, so that a second client is told at once that the profiler is busy;
 * everything else happens on a thread of the call's own.  Whoever waits there is woken by the client going away (the
 * session is free at once then) and by Terminate (which is an early end).  A call that follows a cancelled one so
 * closely that this one still holds the session waits on its own thread until it has let go.
 * Upstream: xla/tsl/profiler/rpc/profiler_service_impl.cc.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "rpc/profile_answer.h"
#include "rpc/profiler_server.h"

enum { MOST_REPLIES = 4 };

struct xp_profile_call {
  xp_server *server;
  xp_profile_call *next;
  xp_grpc_call *call;
  xp_session *session; /* NULL: it waits for a cancelled call to let go of it */
  xp_arena *arena;     /* of the request */
  xp_profile_request request;
  pthread_mutex_t lock;
  pthread_cond_t woken;
  bool is_cancelled, is_terminated;
};

/* ---- the list of calls */

static void add_to_server(xp_profile_call *c)
{
  pthread_mutex_lock(&c->server->lock);
  c->next = c->server->calls;
  c->server->calls = c;
  pthread_mutex_unlock(&c->server->lock);
}

static void remove_from_server(xp_profile_call *c)
{
  xp_server *server = c->server;
  pthread_mutex_lock(&server->lock);
  xp_profile_call **link = &server->calls;
  while (*link != c) {
    link = &(*link)->next;
  }
  *link = c->next;
  pthread_cond_broadcast(&server->idle);
  pthread_mutex_unlock(&server->lock);
}

void xp_profile_calls_wait(xp_server *server)
{
  pthread_mutex_lock(&server->lock);
  while (server->calls != NULL) {
    pthread_cond_wait(&server->idle, &server->lock);
  }
  pthread_mutex_unlock(&server->lock);
}

/* ---- waking */

static void wake(xp_profile_call *c, bool *why)
{
  pthread_mutex_lock(&c->lock);
  *why = true;
  pthread_cond_signal(&c->woken);
  pthread_mutex_unlock(&c->lock);
}

static void cancelled(void *context)
{
  xp_profile_call *c = context;
  wake(c, &c->is_cancelled);
}

void xp_profile_calls_terminate(xp_server *server, xp_str session_id)
{
  pthread_mutex_lock(&server->lock);
  for (xp_profile_call *c = server->calls; c != NULL; c = c->next) {
    if (xp_str_eq(c->request.session_id, session_id)) {
      wake(c, &c->is_terminated);
    }
  }
  pthread_mutex_unlock(&server->lock);
}

static bool is_cancelled(xp_profile_call *c)
{
  pthread_mutex_lock(&c->lock);
  bool is = c->is_cancelled;
  pthread_mutex_unlock(&c->lock);
  return is;
}

/* True if a cancelled call holds the session, for some milliseconds more.  The server's lock is held. */
static bool is_being_freed(const xp_server *server)
{
  for (xp_profile_call *c = server->calls; c != NULL; c = c->next) {
    if (c->session != NULL && is_cancelled(c)) {
      return true;
    }
  }
  return false;
}

/* Waits until a time of the monotonic clock.  False if the client went away meanwhile. */
static bool wait_until(xp_profile_call *c, int64_t end_ns)
{
  struct timespec end = {.tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000};
  pthread_mutex_lock(&c->lock);
  while (!c->is_cancelled && !c->is_terminated && xp_monotonic_ns() < end_ns) {
    pthread_cond_timedwait(&c->woken, &c->lock, &end);
  }
  bool is_wanted = !c->is_cancelled;
  pthread_mutex_unlock(&c->lock);
  return is_wanted;
}

/* now + ms, without overflow: a year at most. */
static int64_t after_ms(uint64_t ms)
{
  const uint64_t year_ms = (uint64_t)366 * 24 * 3600 * 1000;
  return xp_monotonic_ns() + (int64_t)((ms < year_ms ? ms : year_ms) * 1000000);
}

/* ---- one call */

static void destroy(xp_profile_call *c)
{
  pthread_cond_destroy(&c->woken);
  pthread_mutex_destroy(&c->lock);
  xp_arena_destroy(c->arena);
  free(c);
}

static xp_status claim(const xp_profile_call *c, xp_session **session, xp_error *err)
{
  xp_error busy;
  uint64_t duration_ms = c->request.options.duration_ms;
  uint64_t expected_ns = duration_ms < UINT64_MAX / 1000000 ? duration_ms * 1000000 : UINT64_MAX / 2;
  xp_status status = xp_session_claim("a remote capture", expected_ns, session, &busy);
  if (status == XP_ERR_BUSY) { /* as upstream words it for clients, and who holds it */
    char holder[256];
    xp_session_describe_holder(holder, sizeof holder);
    return xp_fail(err, status, "Another profiling session active. %s", holder);
  }
  return status == XP_OK ? XP_OK : xp_fail(err, status, "%s", busy.text);
}

/* Claims it once the cancelled calls have let go. */
static xp_status claim_later(xp_profile_call *c, xp_error *err)
{
  xp_server *server = c->server;
  xp_session *session = NULL;
  pthread_mutex_lock(&server->lock);
  while (is_being_freed(server)) {
    pthread_cond_wait(&server->idle, &server->lock);
  }
  xp_status status = claim(c, &session, err);
  c->session = session;
  pthread_mutex_unlock(&server->lock);
  return status;
}

/* Clients ask for a start in the future so that several hosts begin together. */
static bool wait_for_start(xp_profile_call *c)
{
  uint64_t start_ns = c->request.options.start_timestamp_ns;
  int64_t left_ns = start_ns > INT64_MAX ? 0 : (int64_t)start_ns - xp_unix_ns();
  return left_ns <= 0 || wait_until(c, after_ms((uint64_t)left_ns / 1000000));
}

/* What the session collected; NULL if the call is over (it was answered, or nobody wants an answer). */
static xp_profile *collect(xp_profile_call *c)
{
  xp_profile_options options = xp_profile_options_of_session(&c->request.options);
  xp_profile *profile = NULL;
  xp_error err;
  if (c->session == NULL && claim_later(c, &err) != XP_OK) {
    xp_grpc_fail(c->call, XP_GRPC_INTERNAL, err.text);
  } else if (!wait_for_start(c)) {
    xp_session_discard(c->session);
    xp_grpc_fail(c->call, XP_GRPC_CANCELLED, "The client went away");
  } else if (xp_session_begin(c->session, &options, &c->server->buffers, &err) != XP_OK) {
    xp_session_discard(c->session);
    xp_grpc_fail(c->call, XP_GRPC_INTERNAL, err.text);
  } else if (!wait_until(c, after_ms(c->request.options.duration_ms))) {
    xp_session_discard(c->session);
    xp_grpc_fail(c->call, XP_GRPC_CANCELLED, "The client went away");
  } else if (xp_session_end(c->session, &profile, &err) != XP_OK) {
    xp_grpc_fail(c->call, XP_GRPC_INTERNAL, err.text);
    profile = NULL;
  }
  return profile;
}

static void *serve(void *context)
{
  xp_profile_call *c = context;
  xp_profile *profile = collect(c);
  if (profile != NULL) {
    xp_profile_answer(c->call, &c->request, profile, &c->server->replies);
  }
  remove_from_server(c);
  destroy(c);
  return NULL;
}

/* ---- the beginning, on the server's thread */

static xp_profile_call *create(xp_server *server, xp_grpc_call *call, xp_str request, xp_error *err)
{
  xp_profile_call *c = calloc(1, sizeof *c);
  xp_arena *arena = xp_arena_create();
  xp_str copy = arena != NULL ? xp_arena_copy(arena, request) : xp_str_from(NULL, 0);
  if (c == NULL || copy.ptr == NULL) {
    xp_arena_destroy(arena);
    free(c);
    xp_fail(err, XP_ERR_MEMORY, "No memory for a profiling session");
    return NULL;
  }
  *c = (xp_profile_call){.server = server, .call = call, .arena = arena};
  if (xp_profile_request_read(copy, arena, &c->request, err) != XP_OK) {
    xp_arena_destroy(arena);
    free(c);
    return NULL;
  }
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->woken, &monotonic);
  pthread_condattr_destroy(&monotonic);
  return c;
}

static bool start_thread(xp_profile_call *c)
{
  pthread_t thread;
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  add_to_server(c);
  bool is_started = pthread_create(&thread, &detached, serve, c) == 0;
  pthread_attr_destroy(&detached);
  return is_started;
}

/* Captures stay in the memory of this program until their clients have taken them; slow ones must not fill it. */
static bool has_room_for_reply(const xp_profile_call *c, xp_error *err)
{
  unsigned count = atomic_load(&c->server->replies);
  if (!c->request.emit_xspace || count < MOST_REPLIES) {
    return true;
  }
  xp_fail(
      err, XP_ERR_BUSY,
      "Another profiling session active. Its capture is still being sent, and so are %u others, to clients that read "
      "slowly",
      count - 1);
  return false;
}

void xp_profile_call_begin(void *server, xp_grpc_call *call, xp_str request)
{
  xp_error err;
  xp_profile_call *c = create(server, call, request, &err);
  if (c == NULL) {
    xp_grpc_fail(call, err.status == XP_ERR_MEMORY ? XP_GRPC_RESOURCE_EXHAUSTED : XP_GRPC_INVALID_ARGUMENT, err.text);
    return;
  }
  pthread_mutex_lock(&c->server->lock);
  bool is_soon_free = is_being_freed(c->server);
  pthread_mutex_unlock(&c->server->lock);
  if (!has_room_for_reply(c, &err) || (!is_soon_free && claim(c, &c->session, &err) != XP_OK)) {
    xp_grpc_fail(call, XP_GRPC_INTERNAL, err.text); /* the code that upstream has for every error of Profile */
    destroy(c);
    return;
  }
  xp_grpc_call_on_cancel(call, cancelled, c);
  if (!start_thread(c)) {
    remove_from_server(c);
    if (c->session != NULL) {
      xp_session_discard(c->session);
    }
    xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, "No thread for a profiling session could be started");
    destroy(c);
  }
}
