/* The system's clocks in nanoseconds.  Recording has a faster one (annotate/clock.h). */
#ifndef XP_BASE_CLOCK_H
#define XP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define XP_NS_IN_MS ((int64_t)1000000)
#define XP_NS_IN_S  ((int64_t)1000000000)

static inline int64_t xp_timespec_ns(struct timespec t)
{
  return (int64_t)t.tv_sec * XP_NS_IN_S + t.tv_nsec;
}

/* For lengths of time and deadlines: it never jumps. */
static inline int64_t xp_monotonic_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return xp_timespec_ns(t);
}

/* Since 1970; jumps when somebody sets it. */
static inline int64_t xp_unix_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return xp_timespec_ns(t);
}

#endif
