/* The session as the program itself starts and stops it: options of C into those of the protocol, and the one object
 * that start leaves for stop.
 *
 * A session that the profiler server holds is not this one: stopping it from here is refused.  Nor is one whose start
 * has not returned.
 *
 * Locks here and in session.c are held for a few assignments, never while plugins or the recorder are called: those
 * have locks of their own, and all are taken around a fork, in an order that nobody chooses.
 */
#include <pthread.h>
#include <stdlib.h>

#include "session/run_files.h"
#include "session/session.h"

static struct {
  pthread_mutex_t lock;
  pthread_once_t once;
  xp_session *session;
  char *logdir;
} own = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* ---- fork: the child has no session */

static void lock_for_fork(void)
{
  pthread_mutex_lock(&own.lock);
}

static void unlock_in_parent(void)
{
  pthread_mutex_unlock(&own.lock);
}

static void forget_in_child(void)
{
  own.session = NULL;
  pthread_mutex_init(&own.lock, NULL);
}

static void watch_forks(void)
{
  pthread_atfork(lock_for_fork, unlock_in_parent, forget_in_child);
}

/* ---- options */

/* "true", "12" and "text" as the types that plugins look for. */
static xp_advanced_option advanced_option(const char *key, const char *text)
{
  xp_advanced_option option = {.key = xp_str_c(key), .text = xp_str_c(text)};
  bool is_true = strcmp(text, "true") == 0;
  if (is_true || strcmp(text, "false") == 0) {
    option.type = XP_ADVANCED_BOOL;
    option.number = is_true;
  } else if (xp_str_to_int64(option.text, &option.number)) {
    option.type = XP_ADVANCED_INT;
  } else {
    option.type = XP_ADVANCED_STR;
  }
  return option;
}

xp_status xp_advanced_options_from_text(const char *const *pairs, xp_arena *arena, xp_profile_options *options,
                                        xp_error *err)
{
  size_t count = 0;
  while (pairs != NULL && pairs[2 * count] != NULL) {
    if (pairs[2 * count + 1] == NULL) {
      return xp_fail(err, XP_ERR_USAGE, "The option \"%.100s\" has no value", pairs[2 * count]);
    }
    count++;
  }
  options->advanced = xp_arena_array(arena, count, sizeof *options->advanced);
  if (options->advanced == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "No memory for %zu options", count);
  }
  for (size_t i = 0; i < count; i++) {
    options->advanced[options->advanced_count++] = advanced_option(pairs[2 * i], pairs[2 * i + 1]);
  }
  return XP_OK;
}

/* ---- start */

static xp_status begin(const xp_session_options *o, xp_arena *arena, xp_session **session, xp_error *err)
{
  xp_profile_options options = xp_profile_options_default();
  options.host_tracer_level = o->host_tracer_level;
  options.device_tracer_level = o->device_tracer_level;
  options.python_tracer_level = o->python_tracer_level;
  options.enable_hlo_proto = o->enable_hlo_proto;
  xp_session_buffers buffers = {o->keep, o->buffer_limit_bytes};
  xp_status status = xp_advanced_options_from_text(o->advanced, arena, &options, err);
  if (status == XP_OK) {
    status = xp_session_claim(o->holder != NULL ? o->holder : "an in-process session", o->expected_ns, session, err);
  }
  if (status != XP_OK) {
    return status;
  }
  status = xp_session_begin(*session, &options, &buffers, err);
  if (status != XP_OK) {
    xp_session_discard(*session);
  }
  return status;
}

static xp_status check_options(const xp_session_options *o, xp_error *err)
{
  if (o->size < sizeof *o) {
    return xp_fail(err, XP_ERR_USAGE, "xp_session_options.size is %zu, not %zu: begin with XP_SESSION_OPTIONS_INIT",
                   o->size, sizeof *o);
  }
  return o->logdir != NULL ? xp_logdir_check(o->logdir, err) : XP_OK;
}

static void set_own(xp_session *session, char *logdir)
{
  pthread_mutex_lock(&own.lock);
  char *old = own.logdir;
  own.session = session;
  own.logdir = logdir;
  pthread_mutex_unlock(&own.lock);
  free(old);
}

static xp_status start(const xp_session_options *o, xp_error *err)
{
  xp_arena *arena = xp_arena_create();
  char *logdir = o->logdir != NULL ? strdup(o->logdir) : NULL;
  xp_session *session = NULL;
  xp_status status = XP_OK;
  if (arena == NULL || (o->logdir != NULL && logdir == NULL)) {
    status = xp_fail(err, XP_ERR_MEMORY, "No memory for a profiling session");
  } else {
    status = begin(o, arena, &session, err);
  }
  xp_arena_destroy(arena);
  if (status != XP_OK) {
    free(logdir);
    return status;
  }
  set_own(session, logdir);
  return XP_OK;
}

xp_status xp_session_start(const xp_session_options *options, xp_error *err)
{
  static const xp_session_options defaults = XP_SESSION_OPTIONS_INIT;
  const xp_session_options *o = options != NULL ? options : &defaults;
  xp_status status = check_options(o, err);
  if (status != XP_OK) {
    return status;
  }
  pthread_once(&own.once, watch_forks);
  return start(o, err);
}

/* ---- stop */

/* Takes the session and its logdir (the caller frees it), once. */
static xp_session *take(char **logdir)
{
  pthread_mutex_lock(&own.lock);
  xp_session *session = own.session;
  *logdir = own.logdir;
  own.session = NULL;
  own.logdir = NULL;
  pthread_mutex_unlock(&own.lock);
  return session;
}

/* The same for a session that has a logdir; others stay. */
static xp_session *take_with_logdir(char **logdir, bool *has_no_logdir)
{
  pthread_mutex_lock(&own.lock);
  *has_no_logdir = own.session != NULL && own.logdir == NULL;
  xp_session *session = own.logdir != NULL ? own.session : NULL;
  *logdir = NULL;
  if (session != NULL) {
    *logdir = own.logdir;
    own.session = NULL;
    own.logdir = NULL;
  }
  pthread_mutex_unlock(&own.lock);
  return session;
}

static xp_status fail_idle(xp_error *err)
{
  char holder[256];
  xp_session_describe_holder(holder, sizeof holder);
  return xp_fail(err, XP_ERR_IDLE, "No profile started%s%s", holder[0] != '\0' ? ". " : "", holder);
}

xp_status xp_session_stop(xp_profile **profile, xp_error *err)
{
  char *logdir;
  xp_session *session = take(&logdir);
  free(logdir);
  return session == NULL ? fail_idle(err) : xp_session_end(session, profile, err);
}

static xp_status save(xp_session *session, const char *logdir, const xp_export_options *options, xp_export **handle,
                      xp_error *err)
{
  xp_profile *profile;
  xp_export *own_handle = NULL;
  xp_status status = xp_session_end(session, &profile, err);
  if (status == XP_OK) {
    status = xp_profile_export(profile, logdir, options, handle != NULL ? handle : &own_handle, err);
  }
  return status != XP_OK || handle != NULL ? status : xp_export_wait(own_handle, NULL, 0, err);
}

xp_status xp_session_save(const xp_export_options *options, xp_export **handle, xp_error *err)
{
  bool has_no_logdir;
  char *logdir;
  xp_session *session = take_with_logdir(&logdir, &has_no_logdir);
  if (has_no_logdir) {
    return xp_fail(err, XP_ERR_USAGE,
                   "The session was started without a logdir: stop it with xp_session_stop, and export the profile");
  }
  if (session == NULL) {
    return fail_idle(err);
  }
  xp_status status = save(session, logdir, options, handle, err);
  free(logdir);
  return status;
}
