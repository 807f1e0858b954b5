/* The clock that deadlines are kept on: it never jumps. */
#ifndef XP_RPC_MONOTONIC_H
#define XP_RPC_MONOTONIC_H

#include <stdint.h>
#include <time.h>

#define XP_NS_IN_MS ((int64_t)1000000)
#define XP_NS_IN_S  ((int64_t)1000000000)

static inline int64_t xp_monotonic_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * XP_NS_IN_S + t.tv_nsec;
}

/* Milliseconds for poll and epoll_wait until a time, rounded up so that nobody wakes too early; at most `most`. */
static inline int xp_poll_timeout_ms(int64_t until_ns, int64_t now_ns, int most)
{
  if (until_ns <= now_ns) {
    return 0;
  }
  int64_t ms = (until_ns - now_ns - 1) / XP_NS_IN_MS + 1;
  return ms < most ? (int)ms : most;
}

#endif
