// The blocks in C++: they end when an exception leaves them, too.  Exit status 0 if all is so.
#include <stdexcept>
#include <string>

#include "xlaprof/xlaprof.h"

static int waits = 0;

static xp_status wait(void *, xp_error *)
{
  waits++;
  return XP_OK;
}

static void throw_in_blocks(int depth)
{
  XP_STEP("step", depth)
  {
    XP_TRACE("trace", XP_INT("depth", depth), XP_TEXT("why", "test"))
    {
      XP_REGION("region", XP_BOOL("b", true))
      {
        throw std::runtime_error("out of the blocks");
      }
    }
  }
}

static int return_in_blocks()
{
  XP_TRACE("outer") XP_TRACE("inner")
  {
    return 4;
  }
  return 0;
}

int main()
{
  const std::string name = "copied";
  xp_step_barrier barrier = {wait, nullptr};
  xp_set_step_barrier(&barrier);
  for (int i = 0; i < 3; i++) {
    try {
      throw_in_blocks(i);
      return 1;
    } catch (const std::runtime_error &) {
    }
    if (xp_scope_depth() != 0 || waits != i + 1) {
      return 2;
    }
  }
  if (return_in_blocks() != 4 || xp_scope_depth() != 0) {
    return 3;
  }
  xp_trace trace = xp_trace_begin_copy(name.data(), name.size(), nullptr, 0);
  const bool was_open = xp_scope_depth() == 1;
  const xp_status status = xp_trace_end(trace, nullptr);
  xp_region region = xp_region_begin(XP_LEVEL_VERBOSE, "region");
  xp_region_end(region);
  return was_open && status == XP_OK && xp_misuse_count() == 0 ? 0 : 4;
}
