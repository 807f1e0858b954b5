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

/* Adds what is in another extent. */
void xp_extent_join(xp_extent *extent, const xp_extent *other);

/* The unit that suits the largest. */
xp_time_unit xp_extent_unit(const xp_extent *extent);

/* True if the smallest still shows in this unit with two decimals, and the largest has at most five digits before the
 * point. */
bool xp_extent_has_one_unit(const xp_extent *extent);

/* Decimals for times of this extent in a unit. */
int xp_extent_decimals(const xp_extent *extent, xp_time_unit unit);

/* Unit and decimals for places on an axis: changed, if need be, so that the last digit is at most `finest_ps` (0: as it
 * is).  A place in seconds that takes more than three decimals is given in ms. */
void xp_place_refine(int64_t finest_ps, xp_time_unit *unit, int *decimals);

/* The start of something, with its unit and digits enough for its length: "9.72 s" for seconds, "9,720.412 ms" for 70
 * us. */
xp_str xp_format_place(xp_arena *arena, int64_t ps, int64_t length_ps);

#endif
