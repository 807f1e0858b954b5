/* Items handed out by one atomic counter to threads that live as long as the call.
 *
 * The calling thread is worker 0 and always takes part, so that a process that may not start threads is only slower.
 * Joining the threads orders everything that they wrote before the return.
 */
#define _GNU_SOURCE
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

typedef struct {
  atomic_size_t next;
  size_t count;
  void (*run)(void *context, size_t item, int worker);
  void *context;
} job;

typedef struct {
  job *job;
  int number;
} worker;

int xp_cpu_count(void)
{
  cpu_set_t set;
  /* The set has room for 1024 processors; on larger machines the call fails. */
  long n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (int)n;
}

static void *work(void *argument)
{
  worker *w = argument;
  for (;;) {
    size_t item = atomic_fetch_add_explicit(&w->job->next, 1, memory_order_relaxed);
    if (item >= w->job->count) {
      return NULL;
    }
    w->job->run(w->job->context, item, w->number);
  }
}

void xp_parallel(size_t count, int threads, void (*run)(void *context, size_t item, int worker), void *context)
{
  job j = {.count = count, .run = run, .context = context};
  atomic_init(&j.next, 0);
  int n = threads < 1 ? xp_cpu_count() : threads > MOST_THREADS ? MOST_THREADS : threads;
  if ((size_t)n > count) {
    n = (int)count;
  }
  worker workers[MOST_THREADS] = {{&j, 0}};
  pthread_t ids[MOST_THREADS];
  int started = 1;
  for (; started < n; started++) {
    workers[started] = (worker){&j, started};
    if (pthread_create(&ids[started], NULL, work, &workers[started]) != 0) {
      break;
    }
  }
  work(&workers[0]);
  for (int i = 1; i < started; i++) {
    pthread_join(ids[i], NULL);
  }
}
