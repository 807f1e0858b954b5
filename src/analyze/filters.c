/* Keeping only what a command was asked for: one device, a time, a step. */
#include "analyze/internal.h"
#include "base/sum.h"

static xp_str comma_list(xp_analysis *an, xp_str list, xp_str name)
{
  return list.len ? xp_arena_format(an->arena, "%.*s, %.*s", XP_STR_ARG(list), XP_STR_ARG(name)) : name;
}

static xp_str or_none(xp_str list)
{
  return list.len ? list : xp_str_c("none");
}

/* The name of the plane, or what people call the device: "GPU:0" for "/device:GPU:0". */
static bool is_called(xp_str name, const char *wanted)
{
  static const char prefix[] = "/device:";
  return xp_str_is(name, wanted) ||
         (xp_str_starts(name, prefix) && xp_str_is(xp_str_skip(name, sizeof prefix - 1), wanted));
}

xp_status xp_filter_device(xp_analysis *an, xp_error *err)
{
  enum { NAMED = 16 };
  const char *wanted = an->options->device;
  xp_str names = {NULL, 0};
  size_t kept = 0;
  if (!wanted) {
    return XP_OK;
  }
  for (size_t i = 0; i < an->devices.count; i++) {
    const xp_device_data *d = &an->devices.devices[i];
    names = i < NAMED ? comma_list(an, names, d->name) : names;
    if (is_called(d->name, wanted)) {
      an->devices.devices[kept++] = *d;
    }
  }
  if (kept == 0) {
    return xp_fail(err, XP_ERR_USAGE, "no device is called \"%s\". Devices of this capture: %.*s.", wanted,
                   XP_STR_ARG(or_none(names)));
  }
  an->devices.count = kept;
  return XP_OK;
}

/* "NAME" or "NAME:NUM". */
typedef struct {
  xp_str name;
  bool has_num;
  int64_t num;
} step_name;

static bool is_step(const xp_step *s, const step_name *wanted)
{
  return xp_str_eq(s->name, wanted->name) && (!wanted->has_num || (s->has_num && s->num == wanted->num));
}

static bool any_step(const xp_reading *r, const step_name *wanted)
{
  for (size_t i = 0; i < r->step_count; i++) {
    if (is_step(&r->steps[i], wanted)) {
      return true;
    }
  }
  return false;
}

/* What the option means: a name may hold colons itself, so the whole text is tried first.  False if there is no such
 * step. */
static bool read_step_name(const xp_analysis *an, step_name *wanted)
{
  xp_str text = xp_str_c(an->options->step);
  *wanted = (step_name){.name = text};
  if (any_step(an->reading, wanted)) {
    return true;
  }
  size_t colon = xp_str_rfind(text, ':');
  if (colon < text.len && xp_str_to_int64(xp_str_skip(text, colon + 1), &wanted->num)) {
    wanted->has_num = true;
    wanted->name = xp_str_take(text, colon);
  }
  return any_step(an->reading, wanted);
}

static bool is_in_time(const xp_analyze_options *o, int64_t start_ps, int64_t dur_ps)
{
  return (!o->has_from || xp_add_saturating(start_ps, dur_ps) > o->from_ps) && (!o->has_to || start_ps < o->to_ps);
}

xp_status xp_filter_gaps(xp_analysis *an, xp_error *err)
{
  enum { NAMED = 8 };
  xp_reading *r = an->reading;
  const xp_analyze_options *o = an->options;
  step_name wanted;
  if (o->step && !read_step_name(an, &wanted)) {
    xp_str names = {NULL, 0};
    for (size_t i = 0; i < r->summary_count && i < NAMED; i++) {
      names = comma_list(an, names, r->summaries[i].name);
    }
    return xp_fail(err, XP_ERR_USAGE,
                   "no step is called \"%s\" (write NAME or NAME:NUMBER). Steps of this capture: %.*s.", o->step,
                   XP_STR_ARG(or_none(names)));
  }
  size_t kept = 0;
  for (size_t i = 0; i < r->gap_count; i++) {
    const xp_gap *g = &r->gaps[i];
    bool in_step = !o->step || (g->step != XP_NONE && is_step(&r->steps[g->step], &wanted));
    if (in_step && is_in_time(o, g->start_ps, g->dur_ps)) {
      r->gaps[kept++] = *g;
    }
  }
  r->gap_count = kept;
  return XP_OK;
}

void xp_filter_steps(xp_analysis *an)
{
  xp_reading *r = an->reading;
  const xp_analyze_options *o = an->options;
  uint32_t *now = xp_arena_array(an->arena, r->step_count, sizeof *now);
  step_name wanted;
  size_t kept = 0;
  if (o->step) {
    read_step_name(an, &wanted);
  }
  for (size_t i = 0; i < r->step_count; i++) {
    const xp_step *s = &r->steps[i];
    bool keep = (!o->step || is_step(s, &wanted)) && is_in_time(o, s->start_ps, s->dur_ps);
    now[i] = keep ? (uint32_t)kept : XP_NONE;
    if (keep) {
      r->steps[kept++] = *s;
    }
  }
  for (size_t g = 0; g < r->gap_count; g++) {
    r->gaps[g].step = r->gaps[g].step == XP_NONE ? XP_NONE : now[r->gaps[g].step];
  }
  r->step_count = kept;
}
