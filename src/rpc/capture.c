/* Asking several programs at the same time, and asking again while that can help.
 *
 * A program may still be compiling, or be captured by somebody else, when the first request comes; so a round of
 * requests is repeated every interval until the time is over, and somebody is told why and for how long.  What time
 * does not cure (a wrong name, a port of something else, a full disk) ends it at once.
 */
#include "xlaprof/capture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "rpc/capture_request.h"
#include "session/session.h"

enum { TOGETHER_MS = 500 };

typedef struct {
  xp_capture_job *job;
  xp_grpc_target target;
  xp_capture_result *result;
  pthread_mutex_t *telling; /* one message at a time */
  int64_t end_ns;           /* no request after it */
  pthread_t thread;
  bool has_thread;
} asking;

static void tell(const asking *a, const char *text)
{
  const xp_capture_options *o = a->job->options;
  if (o->tell != NULL) {
    pthread_mutex_lock(a->telling);
    o->tell(o->tell_context, text);
    pthread_mutex_unlock(a->telling);
  }
}

static bool is_cancelled(const asking *a)
{
  const volatile int *cancel = a->job->options->cancel;
  return cancel != NULL && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0;
}

/* ---- one program */

static void tell_waiting(const asking *a, int64_t left_ns)
{
  char text[XP_PATH_ROOM];
  const char *message = a->result->message;
  size_t len = strlen(message);
  bool is_sentence = len > 0 && strchr(".?!", message[len - 1]) != NULL;
  snprintf(text, sizeof text, "%s%s Asking again in %.1f s, for another %.0f s", message, is_sentence ? "" : ".",
           (double)a->job->options->interval_ms / 1e3, (double)left_ns / 1e9);
  tell(a, text);
}

/* False if there is no time for another round. */
static bool wait_for_next_round(const asking *a)
{
  int64_t interval_ns = (int64_t)a->job->options->interval_ms * 1000000, now = xp_monotonic_ns();
  if (is_cancelled(a) || now + interval_ns > a->end_ns) {
    return false;
  }
  tell_waiting(a, a->end_ns - now);
  for (int64_t next = now + interval_ns; now < next && !is_cancelled(a); now = xp_monotonic_ns()) {
    struct timespec nap = {0, next - now < 50000000 ? (long)(next - now) : 50000000};
    nanosleep(&nap, NULL);
  }
  return !is_cancelled(a);
}

/* Requests of one round follow each other at once, so they only help against an empty or a broken answer. */
static bool ask_round(asking *a)
{
  bool may_pass = true;
  for (uint32_t i = 0; i < a->job->options->attempts && may_pass && !is_cancelled(a); i++) {
    may_pass = xp_capture_request_once(a->job, &a->target, a->result);
    bool is_worth_it = a->result->outcome == XP_CAPTURE_EMPTY || a->result->outcome == XP_CAPTURE_LOST;
    if (!is_worth_it) {
      break;
    }
  }
  return may_pass;
}

static void *ask(void *context)
{
  asking *a = context;
  while (ask_round(a) && wait_for_next_round(a)) {
  }
  bool is_saved = a->result->outcome == XP_CAPTURE_SAVED || a->result->outcome == XP_CAPTURE_SAVED_THERE;
  if (is_cancelled(a) && !is_saved) {
    a->result->outcome = XP_CAPTURE_CANCELLED;
    xp_capture_result_say(a->result, "%s: given up", a->result->target);
  }
  return NULL;
}

/* ---- all of them */

static void run_all(asking *all, size_t count)
{
  for (size_t i = 1; i < count; i++) {
    all[i].has_thread = pthread_create(&all[i].thread, NULL, ask, &all[i]) == 0;
  }
  ask(&all[0]);
  for (size_t i = 1; i < count; i++) {
    if (all[i].has_thread) {
      pthread_join(all[i].thread, NULL);
    } else {
      ask(&all[i]);
    }
  }
}

static xp_status status_of(xp_capture_outcome outcome)
{
  static const xp_status statuses[] = {
      [XP_CAPTURE_SAVED] = XP_OK,
      [XP_CAPTURE_SAVED_THERE] = XP_OK,
      [XP_CAPTURE_EMPTY] = XP_ERR_EMPTY,
      [XP_CAPTURE_NO_ADDRESS] = XP_ERR_NOT_FOUND,
      [XP_CAPTURE_NO_LISTENER] = XP_ERR_CONNECT,
      [XP_CAPTURE_NO_PROFILER] = XP_ERR_FORMAT,
      [XP_CAPTURE_BUSY] = XP_ERR_BUSY,
      [XP_CAPTURE_SERVER_ERROR] = XP_ERR_PEER,
      [XP_CAPTURE_LOST] = XP_ERR_TIMEOUT,
      [XP_CAPTURE_DISK] = XP_ERR_IO,
      [XP_CAPTURE_CANCELLED] = XP_ERR_CANCELLED,
  };
  return statuses[outcome];
}

static xp_status first_failure(const xp_capture_result *results, size_t count, xp_error *err)
{
  for (size_t i = 0; i < count; i++) {
    xp_status status = status_of(results[i].outcome);
    if (status != XP_OK) {
      return xp_fail(err, status, "%s", results[i].message != NULL ? results[i].message : results[i].target);
    }
  }
  return XP_OK;
}

/* ---- the arguments */

static xp_status check_options(const xp_capture_options *o, size_t count, xp_error *err)
{
  if (o->size < sizeof *o) {
    return xp_fail(err, XP_ERR_USAGE, "xp_capture_options.size is %zu, not %zu: begin with XP_CAPTURE_OPTIONS_INIT",
                   o->size, sizeof *o);
  }
  if (count == 0) {
    return xp_fail(err, XP_ERR_USAGE, "Nobody to ask: give HOST:PORT");
  }
  if (o->duration_ms == 0 || o->attempts == 0) {
    return xp_fail(err, XP_ERR_USAGE, "The duration and the number of attempts must be at least 1");
  }
  if (o->timeout_ms > (uint64_t)INT32_MAX * 1000 || o->interval_ms > (uint64_t)INT32_MAX * 1000) {
    return xp_fail(err, XP_ERR_USAGE, "The timeout and the interval must be below 68 years");
  }
  return XP_OK;
}

/* The run's directory is made first, so that nobody else takes its name; it goes again if nothing comes. */
static xp_status prepare_job(xp_capture_job *job, const char *logdir, const xp_capture_options *o, xp_error *err)
{
  xp_status status = xp_logdir_check(logdir, err);
  if (status == XP_OK) {
    status = xp_logdir_run_make(logdir, o->session_id, job->directory, err);
  }
  if (status != XP_OK) {
    return status;
  }
  const char *slash = strrchr(job->directory, '/');
  if (strlen(slash + 1) >= sizeof job->session_id) {
    return xp_fail(err, XP_ERR_USAGE, "The name of the run is too long");
  }
  snprintf(job->session_id, sizeof job->session_id, "%s", slash + 1);
  snprintf(job->root, sizeof job->root, "%.*s", (int)(slash - job->directory), job->directory);
  job->options = o;
  return XP_OK;
}

static xp_status parse_targets(const char *const *targets, size_t count, asking *all, xp_error *err)
{
  xp_status status = XP_OK;
  for (size_t i = 0; i < count && status == XP_OK; i++) {
    status = xp_grpc_target_parse(xp_str_c(targets[i]), &all[i].target, err);
  }
  return status;
}

static xp_status make_options(const xp_capture_options *o, xp_arena *arena, xp_profile_options *options, xp_error *err)
{
  *options = xp_profile_options_default();
  options->include_dataset_ops = false; /* as torch_xla's client */
  options->host_tracer_level = o->host_tracer_level;
  options->device_tracer_level = o->device_tracer_level;
  if (o->python_tracer_level >= 0) {
    options->python_tracer_level = (uint32_t)o->python_tracer_level;
  }
  return xp_advanced_options_from_text(o->advanced, arena, options, err);
}

/* ---- the call */

typedef struct {
  xp_capture_job job;
  xp_profile_options options;
  pthread_mutex_t telling;
  asking *all;
  xp_arena *arena;
} whole;

static xp_status prepare(whole *w, const char *const *targets, size_t count, const char *logdir,
                         const xp_capture_options *o, xp_error *err)
{
  xp_status status = check_options(o, count, err);
  if (status == XP_OK && (w->all == NULL || w->arena == NULL)) {
    status = xp_fail(err, XP_ERR_MEMORY, "No memory for %zu captures", count);
  }
  if (status == XP_OK) {
    status = parse_targets(targets, count, w->all, err);
  }
  if (status == XP_OK) {
    status = make_options(o, w->arena, &w->options, err);
  }
  return status == XP_OK ? prepare_job(&w->job, logdir, o, err) : status;
}

static xp_status run(whole *w, const char *const *targets, size_t count, xp_capture_result **results, xp_error *err)
{
  xp_capture_result *rows = calloc(count, sizeof *rows);
  if (rows == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "No memory for %zu captures", count);
  }
  int64_t end_ns = xp_monotonic_ns() + (int64_t)w->job.options->timeout_ms * 1000000;
  w->job.profile_options = &w->options;
  if (count > 1) { /* together: late enough for the last request to arrive */
    uint64_t delay_ms = w->job.options->delay_ms;
    w->job.first_start_ns = xp_unix_time_after_ms(delay_ms > TOGETHER_MS ? delay_ms : TOGETHER_MS);
  }
  for (size_t i = 0; i < count; i++) {
    rows[i].target = targets[i];
    rows[i].outcome = XP_CAPTURE_CANCELLED; /* until somebody asks */
    w->all[i].job = &w->job;
    w->all[i].result = &rows[i];
    w->all[i].telling = &w->telling;
    w->all[i].end_ns = end_ns;
  }
  run_all(w->all, count);
  *results = rows;
  return first_failure(rows, count, err);
}

xp_status xp_capture_run(const char *const *targets, size_t count, const char *logdir,
                         const xp_capture_options *options, xp_capture_result **results, xp_error *err)
{
  static const xp_capture_options defaults = XP_CAPTURE_OPTIONS_INIT;
  whole w = {.telling = PTHREAD_MUTEX_INITIALIZER};
  w.all = calloc(count > 0 ? count : 1, sizeof *w.all);
  w.arena = xp_arena_create();
  *results = NULL;
  xp_status status = prepare(&w, targets, count, logdir, options != NULL ? options : &defaults, err);
  if (status == XP_OK) {
    status = run(&w, targets, count, results, err);
    rmdir(w.job.directory); /* only if nothing is in it */
  }
  xp_arena_destroy(w.arena);
  free(w.all);
  return status;
}

void xp_capture_results_free(xp_capture_result *results, size_t count)
{
  for (size_t i = 0; results != NULL && i < count; i++) {
    free(results[i].path);
    free(results[i].message);
  }
  free(results);
}
