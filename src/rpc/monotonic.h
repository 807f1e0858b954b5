/* Waiting with poll for a time of the monotonic clock. */
#ifndef XP_RPC_MONOTONIC_H
#define XP_RPC_MONOTONIC_H

#include "base/clock.h"

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
