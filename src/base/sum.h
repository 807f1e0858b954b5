/* Sums of times that stop at the ends of their range instead of overflowing.
 *
 * 64 bits of picoseconds are 106 days.  A damaged capture may hold many durations of that size.
 */
#ifndef XP_BASE_SUM_H
#define XP_BASE_SUM_H

#include <stdint.h>

static inline int64_t xp_add_saturating(int64_t a, int64_t b)
{
  int64_t sum;
  return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t xp_sub_saturating(int64_t a, int64_t b)
{
  int64_t difference;
  return !__builtin_sub_overflow(a, b, &difference) ? difference : a < 0 ? INT64_MIN : INT64_MAX;
}

/* *sum += ps */
static inline void xp_sum_add(int64_t *sum, int64_t ps)
{
  *sum = xp_add_saturating(*sum, ps);
}

#endif
