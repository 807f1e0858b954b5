/* A profile is written by a thread of its own, so that a program goes on while gigabytes are written.  The thread
 * blocks all signals: handlers of the program run on its own threads, and a file that is larger than allowed (SIGXFSZ)
 * is an error here, not the end of the program.
 *
 * The capture is written first.  The trace.json.gz is made from the file that was just written, by the same reader that
 * everybody else uses; if it fails, the capture stays.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/profile_file.h"
#include "session/trace_json.h"

struct xp_export {
  xp_profile *profile;
  char directory[XP_PATH_ROOM]; /* of the run */
  char path[XP_PATH_ROOM];      /* of the capture */
  char host[256];
  bool write_trace_json;
  atomic_uint_fast64_t done_bytes, total_bytes;
  xp_error err;
  xp_status status;
  pthread_t thread;
  bool has_thread;
};

/* ---- the work */

static void tell_progress(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
  xp_export *e = context;
  atomic_store_explicit(&e->total_bytes, total_bytes, memory_order_relaxed);
  atomic_store_explicit(&e->done_bytes, done_bytes, memory_order_release); /* never without the total */
}

/* The name that the capture got, without .xplane.pb: both files have the same. */
static void stem_of(const char *path, char stem[XP_PATH_ROOM])
{
  snprintf(stem, XP_PATH_ROOM, "%s", xp_base_name(path));
  stem[strlen(stem) - strlen(".xplane.pb")] = '\0';
}

static uint64_t most_events(void)
{
  const char *text = getenv("TF_PROFILER_TRACE_VIEWER_MAX_EVENTS");
  int64_t most = 0;
  return text != NULL && xp_str_to_int64(xp_str_c(text), &most) && most > 0 ? (uint64_t)most : 0;
}

static xp_status write_json(xp_export *e, xp_error *err)
{
  char stem[XP_PATH_ROOM];
  xp_capture *capture = NULL;
  xp_new_file file;
  xp_load_options load = {.threads = 1}; /* the program needs the other processors */
  xp_status status = xp_capture_load(e->path, &load, &capture, err);
  if (status != XP_OK) {
    return status;
  }
  status = xp_new_file_open(e->directory, NULL, &file, err);
  if (status == XP_OK) {
    status = xp_trace_json_write(capture, file.fd, most_events(), err);
  }
  if (status == XP_OK) {
    stem_of(e->path, stem);
    status = xp_new_file_publish(&file, stem, ".trace.json.gz", NULL, err);
  }
  xp_new_file_discard(&file);
  xp_capture_free(capture);
  return status;
}

static void *write_all(void *argument)
{
  xp_export *e = argument;
  e->status = xp_profile_write(e->profile, e->directory, e->host, e->path, tell_progress, e, &e->err);
  xp_profile_free(e->profile);
  e->profile = NULL;
  if (e->status == XP_OK && e->write_trace_json) {
    e->status = write_json(e, &e->err);
  }
  if (e->status != XP_OK) {
    rmdir(e->directory); /* only if nothing is in it */
  }
  return NULL;
}

/* Without a thread the caller waits. */
static void start_writing(xp_export *e)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  e->has_thread = pthread_create(&e->thread, NULL, write_all, e) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!e->has_thread) {
    write_all(e);
  }
}

/* ---- the handle */

static xp_status prepare(xp_export *e, const char *logdir, const xp_export_options *o, xp_error *err)
{
  if (o->size < sizeof *o) {
    return xp_fail(err, XP_ERR_USAGE, "xp_export_options.size is %zu, not %zu: begin with XP_EXPORT_OPTIONS_INIT",
                   o->size, sizeof *o);
  }
  if (o->host != NULL) {
    snprintf(e->host, sizeof e->host, "%s", o->host);
  } else if (gethostname(e->host, sizeof e->host - 1) != 0) {
    snprintf(e->host, sizeof e->host, "localhost");
  }
  e->write_trace_json = o->write_trace_json;
  return xp_logdir_run_make(logdir, o->run, e->directory, err);
}

xp_status xp_profile_export(xp_profile *profile, const char *logdir, const xp_export_options *options,
                            xp_export **handle, xp_error *err)
{
  static const xp_export_options defaults = XP_EXPORT_OPTIONS_INIT;
  xp_export *e = calloc(1, sizeof *e);
  xp_status status = e != NULL ? prepare(e, logdir, options != NULL ? options : &defaults, err)
                               : xp_fail(err, XP_ERR_MEMORY, "No memory for writing the capture");
  if (status != XP_OK) {
    xp_profile_free(profile);
    free(e);
    return status;
  }
  e->profile = profile;
  start_writing(e);
  *handle = e;
  return XP_OK;
}

void xp_export_progress(const xp_export *e, uint64_t *done_bytes, uint64_t *total_bytes)
{
  *done_bytes = atomic_load_explicit(&e->done_bytes, memory_order_acquire);
  *total_bytes = atomic_load_explicit(&e->total_bytes, memory_order_relaxed);
}

xp_status xp_export_wait(xp_export *e, char *path, size_t room, xp_error *err)
{
  if (e->has_thread) {
    pthread_join(e->thread, NULL);
  }
  if (path != NULL && room > 0) {
    snprintf(path, room, "%s", e->path);
  }
  xp_status status = e->status;
  if (status != XP_OK && err != NULL) {
    *err = e->err;
  }
  free(e);
  return status;
}
