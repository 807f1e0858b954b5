/* Both checks are done whatever the first one says. */
#include "analyze/check_parts.h"

#include "base/error.h"

const char *xp_frontend_name(xp_frontend frontend)
{
  static const char *const names[] = {"unknown", "torch_xla", "jax"};
  return names[frontend];
}

typedef struct {
  const xp_reading *reading;
  const xp_check_options *options;
  xp_arena *arena;
  xp_check *check;
} job;

static void run(void *context)
{
  job *j = context;
  xp_names_check_run(j->reading, j->options, j->arena, &j->check->names);
  xp_gaps_check_run(j->reading, j->options, j->arena, &j->check->gaps);
}

xp_status xp_check_reading(const xp_reading *reading, const xp_check_options *options, xp_arena *arena, xp_check *check,
                           xp_error *err)
{
  job j = {reading, options, arena, check};
  *check = (xp_check){.names.ok = false};
  return xp_arena_guard(arena, run, &j) ? XP_OK
                                        : xp_fail(err, XP_ERR_MEMORY, "Memory ran out while the capture was checked");
}
