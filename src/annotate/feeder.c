/* A thread that touches memory ahead of those who record.
 *
 * Touching a piece of 2 MiB takes 0.2 to 4 ms on a virtual machine, and fills at 40 million events a second in 2 ms.
 * The thread keeps AHEAD_BYTES touched beyond what was taken.  It looks every millisecond while memory is being taken
 * and less often while not; it ends when all is touched.  A piece is small enough that a stop does not wait long for
 * it.
 */
#define _GNU_SOURCE
#include "annotate/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static const uint64_t piece_bytes = (uint64_t)2 << 20;
static const uint64_t ahead_bytes = (uint64_t)16 << 20;
static const long min_wait_ns = 1000000, max_wait_ns = 8000000;
enum { PAGE_BYTES = 4096 }; /* of no kernel are they smaller */

struct xp_feeder {
  xp_pool *pool;
  uint64_t touched; /* bytes from the base, by the thread alone once it runs */
  pthread_t id;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool must_stop; /* under the lock */
};

/* Writes to every page without changing it: somebody may be recording there at this moment.  For kernels that do not
 * know MADV_POPULATE_WRITE. */
__attribute__((no_sanitize("thread"))) static void touch_pages(char *at, size_t bytes)
{
  for (size_t i = 0; i < bytes; i += PAGE_BYTES) {
    __atomic_fetch_or(at + i, 0, __ATOMIC_RELAXED);
  }
}

/* Touches the next piece; false if nothing is to do. */
static bool touch_next(xp_feeder *feeder)
{
  xp_pool *pool = feeder->pool;
  uint64_t size = pool->count * XP_CHUNK_BYTES;
  uint64_t taken = __atomic_load_n(&pool->taken, __ATOMIC_RELAXED) * XP_CHUNK_BYTES;
  taken = taken < size ? taken : size;
  if (feeder->touched < taken) {
    feeder->touched = taken / piece_bytes * piece_bytes; /* others were faster */
  }
  if (feeder->touched >= size || feeder->touched >= taken + ahead_bytes) {
    return false;
  }
  char *at = pool->base + feeder->touched;
  uint64_t left = size - feeder->touched;
  size_t bytes = (size_t)(left < piece_bytes ? left : piece_bytes);
  if (madvise(at, bytes, MADV_POPULATE_WRITE) != 0) {
    touch_pages(at, bytes);
  }
  feeder->touched += bytes;
  return true;
}

/* Waits until the time is over or the thread has to stop; true if it has to. */
static bool wait_for_stop(xp_feeder *feeder, long ns)
{
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += ns;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&feeder->lock);
  while (!feeder->must_stop && ns > 0 && pthread_cond_timedwait(&feeder->changed, &feeder->lock, &until) == 0) {
  }
  bool must_stop = feeder->must_stop;
  pthread_mutex_unlock(&feeder->lock);
  return must_stop;
}

static bool is_all_touched(const xp_feeder *feeder)
{
  return feeder->touched >= feeder->pool->count * XP_CHUNK_BYTES;
}

static void *feed(void *context)
{
  xp_feeder *feeder = context;
  long wait_ns = min_wait_ns;
  bool worked = true;
  while (!wait_for_stop(feeder, worked ? 0 : wait_ns) && !is_all_touched(feeder)) {
    worked = touch_next(feeder);
    wait_ns = worked ? min_wait_ns : wait_ns < max_wait_ns ? wait_ns * 2 : max_wait_ns;
  }
  return NULL;
}

/* Starts the thread with all signals blocked: those of the program are for its own threads. */
static bool start_thread(xp_feeder *feeder)
{
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  bool ok = pthread_create(&feeder->id, NULL, feed, feeder) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (ok) {
    pthread_setname_np(feeder->id, "xlaprof-memory");
  }
  return ok;
}

xp_feeder *xp_feeder_start(xp_pool *pool)
{
  xp_feeder *feeder = calloc(1, sizeof *feeder);
  if (feeder == NULL) {
    return NULL;
  }
  feeder->pool = pool;
  touch_next(feeder);
  if (is_all_touched(feeder)) {
    free(feeder);
    return NULL;
  }
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&feeder->lock, NULL);
  pthread_cond_init(&feeder->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  if (!start_thread(feeder)) {
    xp_feeder_forget(feeder);
    return NULL;
  }
  return feeder;
}

void xp_feeder_stop(xp_feeder *feeder)
{
  if (feeder == NULL) {
    return;
  }
  pthread_mutex_lock(&feeder->lock);
  feeder->must_stop = true;
  pthread_cond_signal(&feeder->changed);
  pthread_mutex_unlock(&feeder->lock);
  pthread_join(feeder->id, NULL);
  pthread_cond_destroy(&feeder->changed);
  pthread_mutex_destroy(&feeder->lock);
  free(feeder);
}

void xp_feeder_forget(xp_feeder *feeder)
{
  free(feeder); /* its lock may be held by a thread that is not here */
}
