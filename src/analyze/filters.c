/* Keeping only what a command was asked for: one device, a time, a step. */
#include "analyze/internal.h"

static xp_str names_of_devices(xp_analysis *an)
{
  xp_str list = {NULL, 0};
  for (size_t i = 0; i < an->devices.count && i < 16; i++) {
    list = xp_arena_format(an->arena, "%.*s%s%.*s", XP_STR_ARG(list), i ? ", " : "",
                           XP_STR_ARG(an->devices.devices[i].name));
  }
  return list.len ? list : xp_str_c("none");
}

xp_status xp_filter_device(xp_analysis *an, xp_error *err)
{
  const char *wanted = an->options->device;
  size_t kept = 0;
  if (!wanted) {
    return XP_OK;
  }
  for (size_t i = 0; i < an->devices.count; i++) {
    if (xp_str_is(an->devices.devices[i].name, wanted)) {
      an->devices.devices[kept++] = an->devices.devices[i];
    }
  }
  if (kept == 0) {
    return xp_fail(err, XP_ERR_USAGE, "no device is called \"%s\". Devices of this capture: %.*s.", wanted,
                   XP_STR_ARG(names_of_devices(an)));
  }
  an->devices.count = kept;
  return XP_OK;
}

static bool is_step(const xp_step *s, xp_str name, bool has_num, int64_t num)
{
  return xp_str_eq(s->name, name) && (!has_num || (s->has_num && s->num == num));
}

/* "NAME" or "NAME:NUM"; a name may hold colons itself. */
static xp_status find_wanted_step(xp_analysis *an, xp_str *name, bool *has_num, int64_t *num, xp_error *err)
{
  const xp_reading *r = an->reading;
  xp_str wanted = xp_str_c(an->options->step);
  size_t colon = xp_str_rfind(wanted, ':');
  *name = wanted;
  *has_num = false;
  for (int form = 0; form < 2; form++) {
    for (size_t i = 0; i < r->step_count; i++) {
      if (is_step(&r->steps[i], *name, *has_num, *num)) {
        return XP_OK;
      }
    }
    *has_num = colon < wanted.len && xp_str_to_int64(xp_str_skip(wanted, colon + 1), num);
    *name = *has_num ? xp_str_take(wanted, colon) : wanted;
  }
  xp_str list = {NULL, 0};
  for (size_t i = 0; i < r->summary_count && i < 8; i++) {
    list = xp_arena_format(an->arena, "%.*s%s%.*s", XP_STR_ARG(list), i ? ", " : "", XP_STR_ARG(r->summaries[i].name));
  }
  return xp_fail(err, XP_ERR_USAGE, "no step is called \"%s\" (write NAME or NAME:NUMBER). Steps of this capture: %.*s.",
                 an->options->step, XP_STR_ARG(list.len ? list : xp_str_c("none")));
}

xp_status xp_filter_gaps(xp_analysis *an, xp_error *err)
{
  xp_reading *r = an->reading;
  const xp_analyze_options *o = an->options;
  xp_str name;
  bool has_num = false;
  int64_t num = 0, to = o->to_ps ? o->to_ps : INT64_MAX;
  if (o->step) {
    xp_status status = find_wanted_step(an, &name, &has_num, &num, err);
    if (status != XP_OK) {
      return status;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < r->gap_count; i++) {
    const xp_gap *g = &r->gaps[i];
    bool in_time = g->start_ps < to && g->start_ps + g->dur_ps > o->from_ps;
    bool in_step = !o->step || (g->step != XP_NONE && is_step(&r->steps[g->step], name, has_num, num));
    if ((in_time || (!o->from_ps && !o->to_ps)) && in_step) {
      r->gaps[kept++] = *g;
    }
  }
  r->gap_count = kept;
  return XP_OK;
}

static bool step_is_wanted(const xp_analysis *an, const xp_step *s)
{
  const xp_analyze_options *o = an->options;
  if ((o->from_ps || o->to_ps) && (s->start_ps + s->dur_ps <= o->from_ps || (o->to_ps && s->start_ps >= o->to_ps))) {
    return false;
  }
  if (!o->step) {
    return true;
  }
  xp_str wanted = xp_str_c(o->step);
  int64_t num = 0;
  size_t colon = xp_str_rfind(wanted, ':');
  bool has_num = colon < wanted.len && xp_str_to_int64(xp_str_skip(wanted, colon + 1), &num);
  return xp_str_eq(s->name, wanted) || (has_num && is_step(s, xp_str_take(wanted, colon), true, num));
}

/* Last of all, since gaps refer to steps by index. */
void xp_filter_steps(xp_analysis *an)
{
  xp_reading *r = an->reading;
  uint32_t *now = xp_arena_array(an->arena, r->step_count, sizeof *now);
  size_t kept = 0;
  for (size_t i = 0; i < r->step_count; i++) {
    now[i] = XP_NONE;
    if (step_is_wanted(an, &r->steps[i])) {
      now[i] = (uint32_t)kept;
      r->steps[kept++] = r->steps[i];
    }
  }
  for (size_t g = 0; g < r->gap_count; g++) {
    r->gaps[g].step = r->gaps[g].step == XP_NONE ? XP_NONE : now[r->gaps[g].step];
  }
  r->step_count = kept;
}
