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
