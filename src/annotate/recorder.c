/* Starting and stopping.
 *
 * Stop.  (1) Threads that have not recorded in this session have the same open traces as at its start, since the first
 * begin or end would have made them join.  Their stacks are read while the session still runs.  (2) The mode loses its
 * bit.  The kernel makes every running thread of the process order its memory (membarrier), so that the recording
 * threads need no fence of their own.  (3) Whoever is recording at this moment is waited for.  (4) What each thread has
 * is taken: pointers to its chunks, which nobody writes any more; of those who joined during (1), what was read is
 * thrown away.
 *
 * The list of threads is locked all the time: who wants to come or go waits for some milliseconds.
 */
#define _GNU_SOURCE
#include "annotate/recorder.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "annotate/fork.h"
#include "annotate/record.h"
#include "annotate/recording.h"

static struct {
  bool is_running;
  bool needs_fence;
  int64_t start_unix_ns;
  xp_clock_pair start;
  xp_feeder *feeder;
} session;

static pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---------------------------------------------------------------- start */

static long membarrier(int command)
{
  return syscall(SYS_membarrier, command, 0, 0);
}

static xp_status start_locked(const xp_recorder_options *options, xp_error *err)
{
  if (session.is_running) {
    return xp_fail(err, XP_ERR_BUSY, "Annotations are being recorded already. Stop that recording first.");
  }
  if (!xp_pool_open(&xp_record_pool, options->limit_bytes)) {
    return xp_fail(err, XP_ERR_MEMORY, "Cannot reserve %llu bytes for events. Give a lower buffer_limit_bytes.",
                   (unsigned long long)options->limit_bytes);
  }
  xp_fork_prepare();
  session.feeder = xp_feeder_start(&xp_record_pool);
  session.needs_fence = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
  session.start = xp_clock_pair_read();
  session.start_unix_ns = xp_clock_unix_ns_at(session.start);
  session.is_running = true;
  xp_record_keeps_newest = options->keep_newest;
  xp_record_first_ticks = session.start.ticks;
  __atomic_add_fetch(&xp_scope_mode, XP_MODE_SESSION, __ATOMIC_RELAXED);
  __atomic_fetch_or(&xp_scope_mode, XP_MODE_RECORD | (session.needs_fence ? XP_MODE_FENCE : 0), __ATOMIC_RELEASE);
  XP_SET(xp_recording_level, options->level);
  return XP_OK;
}

xp_status xp_recorder_start(const xp_recorder_options *options, xp_error *err)
{
  if (options->level < XP_LEVEL_USER || options->level > XP_LEVEL_VERBOSE) {
    return xp_fail(err, XP_ERR_USAGE, "The host level is %d; it must be 1 (user), 2 (info) or 3 (verbose).",
                   options->level);
  }
  pthread_mutex_lock(&session_lock);
  xp_status status = start_locked(options, err);
  pthread_mutex_unlock(&session_lock);
  return status;
}

/* ---------------------------------------------------------------- stop: what threads without events have open */

static bool has_joined(const xp_tracer *tracer, uint64_t mode)
{
  return XP_GET(tracer->joined) == mode;
}

/* Writes events for the open traces of a stack into `room` bytes.  Returns how many fitted: all, unless the thread
 * joins just now and its stack changes; then what is read is thrown away. */
static uint32_t write_open(xp_chunk *chunk, size_t room, const xp_tracer *tracer, uint32_t depth)
{
  uint32_t count = 0;
  chunk->end = xp_chunk_begin(chunk);
  while (count < depth) {
    xp_record_open_trace open = xp_record_open_read(tracer, &tracer->stack[count + 1]);
    size_t bytes = xp_record_open_bytes(&open);
    if (bytes > room) {
      break;
    }
    xp_record_open(chunk->end, &open, session.start.ticks);
    chunk->end += bytes;
    room -= bytes;
    count++;
  }
  return count;
}

/* Takes the open traces of one thread; without memory for that they count as dropped. */
static void take_open(xp_recording_part *part, const xp_tracer *tracer, uint32_t depth)
{
  size_t room = 0;
  for (uint32_t i = 1; i <= depth; i++) {
    xp_record_open_trace open = xp_record_open_read(tracer, &tracer->stack[i]);
    room += xp_record_open_bytes(&open);
  }
  part->own = calloc(1, sizeof *part->own + room);
  part->first = part->own;
  if (part->own != NULL) {
    part->count = write_open(part->own, room, tracer, depth);
  } else {
    part->dropped = depth;
  }
  part->order = UINT64_MAX; /* behind all who recorded something */
}

/* Reads the stacks of those who have not joined. */
static void take_unjoined(xp_recording_data *data, const xp_tracer *list, uint64_t mode)
{
  xp_recording_part *part = data->parts;
  for (const xp_tracer *tracer = list; tracer != NULL; tracer = tracer->next, part++) {
    uint32_t depth = __atomic_load_n(&tracer->depth, __ATOMIC_ACQUIRE);
    if (!has_joined(tracer, mode) && depth > 0) {
      take_open(part, tracer, depth);
    }
  }
}

/* ---------------------------------------------------------------- stop: the rest */

/* Makes all threads see that nothing is recorded any more, and waits for those that are just doing it. */
static void quiesce(const xp_tracer *list)
{
  XP_SET(xp_recording_level, 0);
  __atomic_fetch_and(&xp_scope_mode, ~(uint64_t)(XP_MODE_RECORD | XP_MODE_FENCE), __ATOMIC_SEQ_CST);
  if (!session.needs_fence) {
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  }
  for (const xp_tracer *tracer = list; tracer != NULL; tracer = tracer->next) {
    for (int tries = 0; __atomic_load_n(&tracer->busy, __ATOMIC_SEQ_CST) != 0; tries++) {
      const struct timespec moment = {0, 50000};
      if (tries < 100) {
        sched_yield();
      } else {
        nanosleep(&moment, NULL);
      }
    }
  }
}

/* Takes what one thread recorded. */
static void take_joined(xp_recording_part *part, xp_tracer *tracer)
{
  free(part->own);
  part->own = NULL;
  part->first = tracer->first;
  if (tracer->current != NULL) {
    tracer->current->end = tracer->pos;
  }
  part->count = tracer->first != NULL ? tracer->written - tracer->first->before : 0;
  part->dropped = tracer->dropped;
  part->order = tracer->order;
  part->last_ticks = tracer->last_ticks;
  memcpy(part->name, tracer->name, sizeof part->name);
}

/* The name of a thread of this process that may be blocked. */
static void read_thread_name(int64_t tid, char *name, size_t room)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%lld/comm", (long long)tid);
  FILE *file = fopen(path, "re");
  if (file != NULL) {
    if (fgets(name, (int)room, file) != NULL) {
      name[strcspn(name, "\n")] = '\0';
    }
    fclose(file);
  }
}

static void take_all(xp_recording_data *data, xp_tracer *list, uint64_t mode, uint64_t now)
{
  size_t i = 0;
  for (xp_tracer *tracer = list; tracer != NULL; tracer = tracer->next, i++) {
    xp_recording_part *part = &data->parts[i];
    part->tid = tracer->tid;
    if (has_joined(tracer, mode)) {
      take_joined(part, tracer);
    } else if (part->count + part->dropped > 0) {
      read_thread_name(part->tid, part->name, sizeof part->name);
    }
    if (part->last_ticks == 0) {
      part->last_ticks = now;
    }
  }
}

static size_t count_tracers(const xp_tracer *list)
{
  size_t count = 0;
  for (; list != NULL; list = list->next) {
    count++;
  }
  return count;
}

static xp_status stop_locked(xp_recording **recording, xp_error *err)
{
  if (!session.is_running) {
    return xp_fail(err, XP_ERR_IDLE, "No annotations are being recorded. Start a recording first.");
  }
  xp_tracer *list = xp_tracer_list_lock();
  uint64_t mode = XP_GET(xp_scope_mode) & ~(uint64_t)XP_MODE_HOOK;
  xp_recording_data *data = xp_recording_create(count_tracers(list));
  if (data != NULL) {
    take_unjoined(data, list, mode);
  }
  quiesce(list);
  xp_clock_pair stop = xp_clock_pair_read();
  if (data != NULL) {
    take_all(data, list, mode, stop.ticks);
  }
  xp_tracer_free_ended();
  xp_tracer_list_unlock();
  xp_feeder_stop(session.feeder);
  session.feeder = NULL;
  session.is_running = false;
  xp_pool pool = xp_record_pool;
  memset(&xp_record_pool, 0, sizeof xp_record_pool);
  if (data == NULL || !xp_recording_finish(data, &pool, session.start, stop, session.start_unix_ns)) {
    xp_pool_close(&pool);
    return xp_fail(err, XP_ERR_MEMORY, "Out of memory while the recording was stopped; its events are lost.");
  }
  *recording = &data->seen;
  return XP_OK;
}

xp_status xp_recorder_stop(xp_recording **recording, xp_error *err)
{
  pthread_mutex_lock(&session_lock);
  xp_status status = stop_locked(recording, err);
  pthread_mutex_unlock(&session_lock);
  return status;
}

/* ---------------------------------------------------------------- fork */

void xp_recorder_fork_lock(void)
{
  pthread_mutex_lock(&session_lock);
}

void xp_recorder_fork_unlock(void)
{
  pthread_mutex_unlock(&session_lock);
}

void xp_recorder_fork_child(void)
{
  XP_SET(xp_recording_level, 0);
  __atomic_fetch_and(&xp_scope_mode, ~(uint64_t)(XP_MODE_RECORD | XP_MODE_FENCE), __ATOMIC_RELAXED);
  xp_feeder_forget(session.feeder);
  xp_pool_close(&xp_record_pool);
  memset(&session, 0, sizeof session);
  pthread_mutex_init(&session_lock, NULL);
}
