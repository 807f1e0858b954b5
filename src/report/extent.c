/* A twentieth of the unit is the least that two decimals show as more than noise. */
#include "report/extent.h"

void xp_extent_add(xp_extent *extent, int64_t ps)
{
  uint64_t size = ps < 0 ? 0 - (uint64_t)ps : (uint64_t)ps;
  if (size == 0) {
    return;
  }
  extent->most = size > extent->most ? size : extent->most;
  extent->least = size < extent->least ? size : extent->least;
}

void xp_extent_join(xp_extent *extent, const xp_extent *other)
{
  extent->most = other->most > extent->most ? other->most : extent->most;
  extent->least = other->least < extent->least ? other->least : extent->least;
}

static uint64_t unit_ps(xp_time_unit unit)
{
  uint64_t ps = 1;
  for (int i = 0; i < (int)unit; i++) {
    ps *= 1000;
  }
  return ps;
}

xp_time_unit xp_extent_unit(const xp_extent *extent)
{
  if (extent->most == 0) {
    return XP_UNIT_MS; /* zeros say nothing of a unit: the one that captures are mostly told in */
  }
  return xp_unit_for(extent->most > INT64_MAX ? INT64_MAX : (int64_t)extent->most);
}

bool xp_extent_has_one_unit(const xp_extent *extent)
{
  uint64_t unit = unit_ps(xp_extent_unit(extent));
  return extent->most > 0 && extent->least >= unit / 20 && extent->most / unit < 100000;
}

int xp_extent_decimals(const xp_extent *extent, xp_time_unit unit)
{
  if (unit == XP_UNIT_PS) {
    return 0;
  }
  return extent->most / unit_ps(unit) < 10 || extent->least < unit_ps(unit) ? 2 : 1;
}

void xp_place_refine(int64_t finest_ps, xp_time_unit *unit, int *decimals)
{
  uint64_t digit = unit_ps(*unit);
  int needed = 0;
  while (finest_ps > 0 && digit > (uint64_t)finest_ps) {
    digit /= 10;
    needed++;
  }
  if (needed > 3 && *unit > XP_UNIT_PS) {
    *unit = (xp_time_unit)(*unit - 1);
    *decimals = needed - 3;
  } else if (needed > *decimals) {
    *decimals = needed;
  }
}

/* A tenth of the length is enough to find the thing again. */
xp_str xp_format_place(xp_arena *arena, int64_t ps, int64_t length_ps)
{
  xp_extent extent = XP_EXTENT_NONE;
  if (ps == 0) {
    return xp_format_time(arena, ps);
  }
  xp_extent_add(&extent, ps);
  xp_time_unit unit = xp_extent_unit(&extent);
  int decimals = xp_extent_decimals(&extent, unit);
  xp_place_refine(length_ps > 0 ? length_ps / 10 + 1 : 1000000, &unit, &decimals);
  xp_str number = xp_format_place_in(arena, ps, unit, decimals);
  return xp_arena_format(arena, "%.*s %s", XP_STR_ARG(number), xp_unit_name(unit));
}
