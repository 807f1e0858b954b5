/* One static state under a lock says who holds the session; everything that takes time (plugins that start, collecting)
 * is done by the holder without the lock.
 *
 * After fork the child has no session: what the parent's plugins and threads do is not its own.
 */
#include "session/session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "session/plugins.h"

struct xp_session {
  xp_profile *profile;
  bool is_recording;
};

static struct {
  pthread_mutex_t lock;
  pthread_once_t once;
  xp_session *current;
  xp_session *of_parent; /* in a child: who forked in the middle of it does not lose it from sight */
  char holder[128];
  time_t since_wall; /* for people */
  int64_t since_ns;  /* of the monotonic clock, for counting */
  uint64_t expected_ns;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* ---- fork */

static void lock_for_fork(void)
{
  pthread_mutex_lock(&state.lock);
}

static void unlock_in_parent(void)
{
  pthread_mutex_unlock(&state.lock);
}

static void forget_in_child(void)
{
  /* Not freed: a thread of the parent may have been changing it. */
  state.of_parent = state.current != NULL ? state.current : state.of_parent;
  state.current = NULL;
  pthread_mutex_init(&state.lock, NULL);
}

static void watch_forks(void)
{
  pthread_atfork(lock_for_fork, unlock_in_parent, forget_in_child);
}

/* ---- who holds it */

/* The lock is held. */
static void describe_holder(char *text, size_t room)
{
  struct tm local;
  char clock[16] = "";
  localtime_r(&state.since_wall, &local);
  strftime(clock, sizeof clock, "%H:%M:%S", &local);
  int64_t left_ns = (int64_t)state.expected_ns - (xp_monotonic_ns() - state.since_ns);
  if (state.expected_ns == 0) {
    snprintf(text, room, "Held by %s since %s", state.holder, clock);
  } else if (left_ns <= 0) {
    snprintf(text, room, "Held by %s since %s; it is collecting now", state.holder, clock);
  } else {
    snprintf(text, room, "Held by %s since %s, for another %.1f s", state.holder, clock, (double)left_ns / 1e9);
  }
}

void xp_session_describe_holder(char *text, size_t room)
{
  text[0] = '\0';
  pthread_mutex_lock(&state.lock);
  if (state.current != NULL) {
    describe_holder(text, room);
  }
  pthread_mutex_unlock(&state.lock);
}

bool xp_session_is_running(void)
{
  pthread_mutex_lock(&state.lock);
  bool is_running = state.current != NULL;
  pthread_mutex_unlock(&state.lock);
  return is_running;
}

static xp_status claim(xp_session *session, const char *holder, uint64_t expected_ns, xp_error *err)
{
  if (state.current != NULL) {
    char text[256];
    describe_holder(text, sizeof text);
    return xp_fail(err, XP_ERR_BUSY, "Profile has already been started. Only one profile may be run at a time. %s",
                   text);
  }
  state.current = session;
  snprintf(state.holder, sizeof state.holder, "%s", holder);
  state.expected_ns = expected_ns;
  state.since_wall = time(NULL);
  state.since_ns = xp_monotonic_ns();
  return XP_OK;
}

xp_status xp_session_claim(const char *holder, uint64_t expected_ns, xp_session **session, xp_error *err)
{
  pthread_once(&state.once, watch_forks);
  xp_session *s = calloc(1, sizeof *s);
  if (s == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "No memory for a profiling session");
  }
  pthread_mutex_lock(&state.lock);
  xp_status status = claim(s, holder, expected_ns, err);
  pthread_mutex_unlock(&state.lock);
  if (status != XP_OK) {
    free(s);
    return status;
  }
  *session = s;
  return XP_OK;
}

static void give_free(xp_session *s)
{
  pthread_mutex_lock(&state.lock);
  if (state.current == s) {
    state.current = NULL;
  }
  pthread_mutex_unlock(&state.lock);
  free(s);
}

/* ---- begin and end */

static xp_str keep_options(xp_profile *profile, const xp_profile_options *options)
{
  xp_wire_writer w = {0};
  xp_profile_options_put(&w, options);
  profile->options =
      w.failed ? xp_str_from(NULL, 0) : xp_arena_copy(profile->arena, xp_str_from((const char *)w.data, w.len));
  xp_wire_writer_free(&w);
  return profile->options;
}

static xp_status start_recorder(xp_session *s, const xp_profile_options *options, const xp_session_buffers *buffers,
                                xp_error *err)
{
  if (options->host_tracer_level == 0) {
    return XP_OK;
  }
  xp_recorder_options recorder = {.level = options->host_tracer_level > 3 ? 3 : (int)options->host_tracer_level,
                                  .keep_newest = buffers->keep == XP_KEEP_NEWEST,
                                  .limit_bytes = buffers->buffer_limit_bytes};
  xp_status status = xp_recorder_start(&recorder, err);
  s->is_recording = status == XP_OK;
  return status;
}

xp_status xp_session_begin(xp_session *s, const xp_profile_options *options, const xp_session_buffers *buffers,
                           xp_error *err)
{
  s->profile = xp_profile_create();
  if (s->profile == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "No memory for a profiling session");
  }
  xp_programs_keep_dropped();
  s->profile->start_unix_ns = xp_unix_ns();
  xp_plugins_start(s->profile, keep_options(s->profile, options));
  if (options->raise_error_on_start_failure && s->profile->error_count > 0) {
    return xp_fail(err, XP_ERR_PEER, "%.*s", XP_STR_ARG(s->profile->errors[0]));
  }
  return start_recorder(s, options, buffers, err);
}

/* The recorder first: collecting from plugins takes time that is not the program's. */
static void stop_all(xp_session *s)
{
  xp_error err = {0};
  if (s->is_recording && xp_recorder_stop(&s->profile->recording, &err) != XP_OK) {
    xp_profile_add_error(s->profile, err.text);
  }
  s->is_recording = false;
  s->profile->stop_unix_ns = xp_unix_ns();
  xp_plugins_collect(s->profile);
  if (!xp_programs_take(&s->profile->programs)) {
    xp_profile_add_error(s->profile, "No memory for the HLO protos of the programs");
  }
}

/* The HLO protos stay out where nobody asked for them. */
static void drop_programs(xp_profile *profile)
{
  xp_profile_options options = {0};
  if (xp_profile_options_read(profile->options, profile->arena, &options, NULL) == XP_OK && !options.enable_hlo_proto) {
    xp_program_list_free(&profile->programs);
  }
}

xp_status xp_session_end(xp_session *s, xp_profile **profile, xp_error *err)
{
  if (s->profile == NULL) {
    give_free(s);
    return xp_fail(err, XP_ERR_IDLE, "No profile started");
  }
  stop_all(s);
  drop_programs(s->profile);
  *profile = s->profile;
  give_free(s);
  return XP_OK;
}

void xp_session_discard(xp_session *s)
{
  if (s->profile != NULL) {
    stop_all(s);
    xp_profile_free(s->profile);
  }
  give_free(s);
}
