/* Every function and macro of annotate.h once, for a look at what is left of them when they are compiled out. */
#include "xlaprof/annotate.h"

static xp_status wait(void *context, xp_error *err)
{
  (void)context;
  (void)err;
  return XP_OK;
}

int work(int value);

int work(int value)
{
  xp_error err;
  char scope[8];
  const xp_arg arg = xp_arg_str_copy("k", "text", 4);
  const xp_scope_hook hook = {0, 0, 0};
  const xp_step_barrier barrier = {wait, 0};
  xp_set_scope_hook(&hook);
  xp_set_step_barrier(&barrier);
  XP_STEP("step", value) {
    XP_TRACE("trace", XP_INT("i", value), XP_UINT("u", 1), XP_DOUBLE("d", 0.5), XP_BOOL("b", 1), XP_TEXT("t", "x")) {
      XP_REGION("region", XP_FLOW_OUT(xp_flow_new())) {
        value++;
      }
    }
  }
  const xp_trace traces[] = {
      xp_trace_begin("a"),   xp_trace_begin_args("b", &arg, 1), xp_trace_begin_copy("c", 1, &arg, 1),
      xp_step_begin("d", 1), xp_step_begin_copy("e", 1, 1),     xp_step_begin_at(XP_HERE, "f", 1)};
  for (int i = 5; i >= 0; i--) {
    xp_trace_add(traces[i], arg);
    value += xp_trace_end(traces[i], &err) != XP_OK;
  }
  const xp_region region = xp_region_begin(1, "f");
  xp_region_end(region);
  xp_region_end(xp_region_begin_args(1, "g", &arg, 1));
  xp_instant(1, "h", &arg, 1);
  xp_record(1, "i", xp_clock_ticks(), xp_clock_ticks(), &arg, 1);
  value += xp_scope_reset(&err) != XP_OK || xp_is_recording(1) || xp_misuse_count() > 0;
  xp_open_step step;
  value += xp_step_current(&step) + (int)xp_scope_names(scope, sizeof scope);
  return value + (int)xp_scope_current(scope, sizeof scope) + (int)xp_scope_depth();
}
