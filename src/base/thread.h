/* Doing the same thing to many items on all cores. */
#ifndef XP_BASE_THREAD_H
#define XP_BASE_THREAD_H

#include <stddef.h>

/* Number of processors that this process may run on, at least 1, at most 64. */
int xp_cpu_count(void);

/* Calls run(context, item, worker) for item = 0 .. count-1, each once, on up to `threads` threads (0: xp_cpu_count).
 * `worker` is 0 .. threads-1 and names the thread.  Items start in order.  Returns when all are done.  If no thread can
 * be started, the calling thread does everything (it always takes part). */
void xp_parallel(size_t count, int threads, void (*run)(void *context, size_t item, int worker), void *context);

#endif
