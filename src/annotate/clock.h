/* The recorder's clock: the processor's counter where it runs evenly, else the monotonic clock of the system.
 *
 * Reading the counter costs half of what clock_gettime does.  Its rate is measured against CLOCK_MONOTONIC between two
 * moments, the start and the stop of a recording, so an error of a reading (tens of nanoseconds) is never larger than
 * itself, however short the recording.  Steps of the system's clock move nothing: CLOCK_REALTIME is read once.
 */
#ifndef XP_ANNOTATE_CLOCK_H
#define XP_ANNOTATE_CLOCK_H

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#define XP_HAS_COUNTER 1
static inline uint64_t xp_clock_counter(void)
{
  return __rdtsc();
}
#elif defined(__aarch64__)
#define XP_HAS_COUNTER 1
static inline uint64_t xp_clock_counter(void)
{
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#else
#define XP_HAS_COUNTER 0
static inline uint64_t xp_clock_counter(void)
{
  return 0;
}
#endif

enum { XP_CLOCK_UNKNOWN, XP_CLOCK_COUNTER, XP_CLOCK_SYSTEM };

/* Which of them; found out at the first reading. */
extern int xp_clock_source;

uint64_t xp_clock_read_slow(void);

/* Now, in ticks. */
static inline uint64_t xp_clock_read(void)
{
  if (__builtin_expect(__atomic_load_n(&xp_clock_source, __ATOMIC_RELAXED) == XP_CLOCK_COUNTER, 1)) {
    return xp_clock_counter();
  }
  return xp_clock_read_slow();
}

/* One moment by both clocks. */
typedef struct {
  uint64_t ticks;
  int64_t monotonic_ns;
} xp_clock_pair;

xp_clock_pair xp_clock_pair_read(void);

/* What the system's clock (nanoseconds since 1970) showed at a pair that was just read. */
int64_t xp_clock_unix_ns_at(xp_clock_pair pair);

/* Turns ticks into picoseconds since `origin`. */
typedef struct {
  uint64_t origin;
  uint64_t ps_per_tick_32; /* times 2^32 */
} xp_clock_scale;

xp_clock_scale xp_clock_scale_between(xp_clock_pair first, xp_clock_pair last);

/* 0 for ticks before the origin; stops at the end of its range. */
static inline int64_t xp_clock_ps(const xp_clock_scale *scale, uint64_t ticks)
{
  if (ticks <= scale->origin) {
    return 0;
  }
  __extension__ typedef unsigned __int128 wide;
  wide ps = ((wide)(ticks - scale->origin) * scale->ps_per_tick_32) >> 32;
  return ps > INT64_MAX ? INT64_MAX : (int64_t)ps;
}

#endif
