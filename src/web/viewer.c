/* Opening goes through the states in order; each is announced when all that it promises is there. */
#include "web/viewer.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "web/search.h"
#include "xspace/find.h"

const char *xp_view_state_name(xp_view_state state)
{
  static const char *const names[] = {"reading", "analysing", "indexing", "ready", "failed"};
  return names[state];
}

static void set_state(xp_viewer *v, xp_view_state state)
{
  pthread_mutex_lock(&v->state_lock);
  atomic_store(&v->done, 0);
  atomic_store(&v->state, state);
  pthread_cond_broadcast(&v->state_changed);
  pthread_mutex_unlock(&v->state_lock);
}

bool xp_viewer_at(const xp_viewer *v, xp_view_state state)
{
  int now = atomic_load(&v->state);
  return now >= (int)state && now != XP_VIEW_FAILED;
}

static void tell_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
  xp_viewer *v = context;
  (void)what;
  if (total > 0) {
    atomic_store(&v->done, (uint_least32_t)((double)(done < total ? done : total) / (double)total * 1000));
  }
}

/* ---- what stands beside the capture */

/* The names of the runs below the path, for the page to show. */
static void list_runs(void *context)
{
  xp_viewer *v = context;
  xp_run_list list;
  if (strcmp(v->options.path, "-") == 0 || v->capture->run.len == 0 ||
      xp_find_runs(v->options.path, v->arena, &list, NULL) != XP_OK) {
    return;
  }
  v->runs = xp_arena_array(v->arena, list.run_count, sizeof *v->runs);
  for (size_t i = 0; i < list.run_count; i++) {
    v->runs[i] = list.runs[i].name;
  }
  v->run_count = list.run_count;
}

/* ---- the index */

static int by_launch(const void *a, const void *b)
{
  const xp_launched_run *x = a, *y = b;
  if (x->launch != y->launch) {
    return x->launch < y->launch ? -1 : 1;
  }
  return x->device != y->device ? (x->device < y->device ? -1 : 1) : (x->run > y->run) - (x->run < y->run);
}

static void list_launched_runs(xp_viewer *v)
{
  const xp_devices *devices = &v->reading->analysis->devices;
  size_t count = 0, capacity = 0;
  for (uint32_t d = 0; d < devices->count; d++) {
    for (size_t r = 0; r < devices->devices[d].run_count; r++) {
      if (devices->devices[d].runs[r].launch != XP_NONE) {
        v->launched = xp_arena_grow(v->arena, v->launched, count, &capacity, sizeof *v->launched);
        v->launched[count++] = (xp_launched_run){devices->devices[d].runs[r].launch, d, (uint32_t)r};
      }
    }
  }
  if (count > 1) {
    qsort(v->launched, count, sizeof *v->launched, by_launch);
  }
  v->launched_count = count;
}

/* The session, and events outside of it. */
static void find_extent(xp_viewer *v)
{
  v->from_ps = 0;
  v->to_ps = v->capture->dur_ps;
  for (uint32_t i = 0; i < v->tracks.count; i++) {
    const xp_track *t = &v->tracks.tracks[i];
    if (t->timed > 0) {
      v->from_ps = t->first_ps < v->from_ps ? t->first_ps : v->from_ps;
      v->to_ps = t->last_ps > v->to_ps ? t->last_ps : v->to_ps;
    }
  }
  v->to_ps = v->to_ps > v->from_ps ? v->to_ps : v->from_ps + 1;
}

static void list_tracks(void *context)
{
  xp_viewer *v = context;
  xp_tracks_list(&v->tracks, v->reading, v->arena);
}

static void list_findings(void *context)
{
  xp_findings_find(context);
}

static void index_launches(void *context)
{
  xp_viewer *v = context;
  list_launched_runs(v);
  v->searches = xp_searches_create(&v->tracks, v->arena);
}

/* ---- opening */

static xp_status no_memory(xp_viewer *v)
{
  return xp_fail(&v->error, XP_ERR_MEMORY, "Memory ran out while %.300s was opened", v->options.path);
}

static xp_status read_capture(xp_viewer *v)
{
  const xp_progress progress = {tell_progress, v};
  const xp_load_options load = {
      .run = v->options.run, .host = v->options.host, .threads = v->options.threads, .progress = &progress};
  xp_status status = v->options.bytes.ptr != NULL
                         ? xp_capture_load_memory(v->options.bytes, v->options.path, &load, &v->capture, &v->error)
                         : xp_capture_load(v->options.path, &load, &v->capture, &v->error);
  return status != XP_OK || xp_arena_guard(v->arena, list_runs, v) ? status : no_memory(v);
}

static xp_status analyse(xp_viewer *v)
{
  const xp_progress progress = {tell_progress, v};
  xp_analyze_options options = {.progress = &progress,
                                .metrics = v->options.metrics,
                                .min_gap_ps = v->options.min_gap_ps,
                                .input_regex = v->options.input_regex};
  if (options.metrics == NULL && v->options.find_metrics != NULL) {
    options.metrics = v->options.find_metrics(v->options.context, v->capture);
  }
  xp_status status = xp_analyze(v->capture, &options, &v->reading, &v->error);
  if (status != XP_OK) {
    return status;
  }
  bool done = xp_arena_guard(v->arena, list_tracks, v) && xp_arena_guard(v->reading->arena, list_findings, v);
  return done ? XP_OK : no_memory(v);
}

static xp_status index_tracks(xp_viewer *v)
{
  bool done = xp_lod_build(&v->tracks, v->index_arenas, v->options.threads) &&
              xp_arena_guard(v->arena, index_launches, v) && v->searches != NULL;
  if (done) {
    find_extent(v);
  }
  return done ? XP_OK : no_memory(v);
}

static void *open_capture(void *context)
{
  static xp_status (*const steps[])(xp_viewer *) = {read_capture, analyse, index_tracks};
  xp_viewer *v = context;
  for (int i = 0; i < 3; i++) {
    if (steps[i](v) != XP_OK) {
      set_state(v, XP_VIEW_FAILED);
      return NULL;
    }
    set_state(v, (xp_view_state)(i + 1));
  }
  return NULL;
}

xp_status xp_viewer_open(const xp_viewer_options *options, xp_viewer **viewer, xp_error *err)
{
  xp_viewer *v = calloc(1, sizeof *v);
  *viewer = NULL;
  if (v == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out");
  }
  v->options = *options;
  v->arena = xp_arena_create();
  pthread_mutex_init(&v->lock, NULL);
  pthread_mutex_init(&v->state_lock, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&v->state_changed, &attributes);
  pthread_condattr_destroy(&attributes);
  v->has_thread = v->arena != NULL && pthread_create(&v->thread, NULL, open_capture, v) == 0;
  if (!v->has_thread) {
    xp_viewer_close(v);
    return xp_fail(err, XP_ERR_MEMORY, "No thread could be started to open the capture");
  }
  *viewer = v;
  return XP_OK;
}

void xp_viewer_close(xp_viewer *v)
{
  if (v == NULL) {
    return;
  }
  if (v->has_thread) {
    pthread_join(v->thread, NULL);
  }
  xp_searches_destroy(v->searches);
  for (int i = 0; i < XP_LOD_ARENAS; i++) {
    xp_arena_destroy(v->index_arenas[i]);
  }
  xp_reading_free(v->reading);
  xp_arena_destroy(v->arena);
  xp_capture_free(v->capture);
  pthread_cond_destroy(&v->state_changed);
  pthread_mutex_destroy(&v->state_lock);
  pthread_mutex_destroy(&v->lock);
  free(v);
}

void xp_viewer_abandon(xp_viewer *v)
{
  pthread_detach(v->thread);
}

xp_view_state xp_viewer_wait(xp_viewer *v, xp_view_state state, int timeout_ms)
{
  int64_t until = xp_monotonic_ns() + timeout_ms * XP_NS_IN_MS;
  const struct timespec deadline = {until / XP_NS_IN_S, until % XP_NS_IN_S};
  pthread_mutex_lock(&v->state_lock);
  while (atomic_load(&v->state) < (int)state) {
    int result = timeout_ms < 0 ? pthread_cond_wait(&v->state_changed, &v->state_lock)
                                : pthread_cond_timedwait(&v->state_changed, &v->state_lock, &deadline);
    if (result == ETIMEDOUT) {
      break;
    }
  }
  pthread_mutex_unlock(&v->state_lock);
  return (xp_view_state)atomic_load(&v->state);
}
