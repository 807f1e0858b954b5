/* Times that are shown beside each other: do they have one unit? */
#ifndef XP_REPORT_EXTENT_H
#define XP_REPORT_EXTENT_H

#include "report/format.h"

/* The largest and smallest of some times other than 0, without their signs. */
typedef struct {
  uint64_t most, least;
} xp_extent;

#define XP_EXTENT_NONE                                                                                                 \
  {                                                                                                                    \
    0, UINT64_MAX                                                                                                      \
  }

void xp_extent_add(xp_extent *extent, int64_t ps);

/* The unit that suits the largest. */
xp_time_unit xp_extent_unit(const xp_extent *extent);

/* True if the smallest still shows in this unit with two decimals, and the largest has at most five digits before the
 * point. */
bool xp_extent_has_one_unit(const xp_extent *extent);

/* Decimals for times of this extent in a unit. */
int xp_extent_decimals(const xp_extent *extent, xp_time_unit unit);

#endif
