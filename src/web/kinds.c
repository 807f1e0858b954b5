/* A host event has the class that the reading gave it; device work what its operation is. */
#include "web/kinds.h"

#include "report/words.h"

static const struct {
  const char *key, *words;
} more_kinds[XP_KIND_COUNT - XP_CAUSE_COUNT] = {
    {"work", "work of a device"},
    {"copy", "a copy to, from or between devices"},
    {"infeed", "the device waits for input"},
    {"transfer", "the device sends to or receives from somebody else"},
    {"collective", "an operation of several devices together"},
    {"step", "a step of the program"},
    {"program", "a run of a program on a device"},
    {"scope", "an annotation of the user"},
    {"python", "a Python function"},
    {"other", "an event without a class"},
};

const char *xp_kind_key(int kind)
{
  return kind < XP_CAUSE_COUNT ? xp_cause_name((xp_cause)kind) : more_kinds[kind - XP_CAUSE_COUNT].key;
}

const char *xp_kind_words(int kind)
{
  return kind < XP_CAUSE_COUNT ? xp_cause_words((xp_cause)kind) : more_kinds[kind - XP_CAUSE_COUNT].words;
}

int xp_kind_find(xp_str key)
{
  for (int kind = 0; kind < XP_KIND_COUNT; kind++) {
    if (xp_str_is(key, xp_kind_key(kind))) {
      return kind;
    }
  }
  return -1;
}

/* ---- device work */

/* The place of an event in a list of rising ones, out of `events` in all; XP_NONE.  Most lists are spread evenly, so
 * the search begins where the event would be then and goes away from there in steps that double. */
static uint32_t find_event(const uint32_t *list, size_t count, size_t events, uint32_t event)
{
  size_t guess = events > 0 ? (size_t)((double)event / (double)events * (double)count) : 0;
  guess = guess < count ? guess : count;
  size_t low = guess, high = guess;
  for (size_t step = 1; low > 0 && list[low - 1] >= event; step *= 2) {
    high = low;
    low = low > step ? low - step : 0;
  }
  for (size_t step = 1; high < count && list[high] < event; step *= 2) {
    low = high;
    high = count - high > step ? high + step : count;
  }
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (list[mid] < event) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low < count && list[low] == event ? (uint32_t)low : XP_NONE;
}

xp_work xp_item_work(const xp_track *track, uint32_t item)
{
  xp_work none = {.lane = XP_NONE};
  if (track->kind == XP_TRACK_WORK) {
    return xp_work_at(track->data, item);
  }
  if (track->lane == NULL) {
    return none;
  }
  uint32_t i = find_event(track->lane->event, track->lane->count, track->count, item);
  if (i == XP_NONE) {
    return none;
  }
  return (xp_work){(uint32_t)(track->lane - track->data->lanes), i, track->lane->op[i],
                   xp_lane_start(track->data, track->lane, i), xp_lane_end(track->data, track->lane, i)};
}

static int kind_of_op(const xp_op *op)
{
  static const int kinds[] = {[XP_ROLE_WORK] = XP_KIND_WORK,
                              [XP_ROLE_COPY] = XP_KIND_COPY,
                              [XP_ROLE_INFEED] = XP_KIND_INFEED,
                              [XP_ROLE_TRANSFER] = XP_KIND_TRANSFER};
  return op->role == XP_ROLE_WORK && op->collective ? XP_KIND_COLLECTIVE : kinds[op->role];
}

static int kind_of_device_event(const xp_tracks *tracks, const xp_track *track, uint32_t item)
{
  xp_work work = xp_item_work(track, item);
  if (work.lane != XP_NONE) {
    return kind_of_op(&tracks->an->devices.ops[work.op]);
  }
  if (track->line != NULL && xp_str_is(track->line->name, "XLA Modules")) {
    return XP_KIND_PROGRAM;
  }
  return track->line != NULL && xp_str_is(track->line->name, "Steps") ? XP_KIND_STEP : XP_KIND_OTHER;
}

/* ---- host events */

uint32_t xp_thread_entry_of(const xp_thread *thread, uint32_t event)
{
  return find_event(thread->event, thread->count, thread->line->count, event);
}

static int kind_of_entry(const xp_thread *thread, uint32_t entry)
{
  uint8_t flags = thread->flags[entry];
  if (flags & XP_ENTRY_STEP) {
    return XP_KIND_STEP;
  }
  if (flags & XP_ENTRY_PROFILER) {
    return XP_CAUSE_PROFILER;
  }
  if (thread->cause[entry] != XP_CAUSE_HOST) {
    return thread->cause[entry];
  }
  return flags & XP_ENTRY_SCOPE ? XP_KIND_SCOPE : XP_KIND_OTHER;
}

static int kind_of_host_event(const xp_tracks *tracks, const xp_track *track, uint32_t item)
{
  if (track->line->meta[item] & XP_EVENT_HLO_OP) {
    return XP_KIND_WORK;
  }
  if (track->thread == XP_NONE) {
    return XP_KIND_OTHER;
  }
  const xp_thread *thread = &tracks->an->threads.threads[track->thread];
  xp_name_class class = xp_thread_class(thread, item);
  if (class.flags & XP_NAME_FRAME) {
    return XP_KIND_PYTHON;
  }
  uint32_t entry = xp_thread_entry_of(thread, item);
  if (entry != XP_NONE) {
    return kind_of_entry(thread, entry);
  }
  return class.cause < XP_CAUSE_COUNT ? (int)class.cause : XP_KIND_OTHER;
}

int xp_item_kind(const xp_tracks *tracks, const xp_track *track, uint32_t item)
{
  switch (track->kind) {
  case XP_TRACK_GAPS:
    return track->gaps[item].cause;
  case XP_TRACK_PROGRAMS:
    return XP_KIND_PROGRAM;
  case XP_TRACK_STEPS:
    return XP_KIND_STEP;
  case XP_TRACK_THREAD:
    return kind_of_host_event(tracks, track, item);
  default:
    return kind_of_device_event(tracks, track, item);
  }
}

/* ---- labels */

/* "%fusion.1 = bf16[2,4096]{1,0} fusion(..": an operation is known by its name. */
static xp_str short_name(const xp_event_meta *meta)
{
  if (meta->display_name.len > 0) {
    return meta->display_name;
  }
  size_t equals = xp_str_starts(meta->name, "%") ? xp_str_find_text(meta->name, " = ") : meta->name.len;
  return equals < meta->name.len ? xp_str_skip(xp_str_take(meta->name, equals), 1) : meta->name;
}

static xp_str gap_label(const xp_gap *gap, xp_arena *arena)
{
  const char *cause = xp_cause_name(gap->cause);
  if (gap->scope.len == 0 || gap->cause == XP_CAUSE_UNKNOWN) {
    return xp_str_c(cause);
  }
  return xp_arena_format(arena, "%s: %.*s", cause, XP_STR_ARG(gap->scope));
}

xp_str xp_item_label(const xp_tracks *tracks, const xp_track *track, uint32_t item, xp_arena *arena)
{
  const xp_devices *devices = &tracks->an->devices;
  switch (track->kind) {
  case XP_TRACK_GAPS:
    return gap_label(&track->gaps[item], arena);
  case XP_TRACK_WORK:
    return devices->ops[xp_work_at(track->data, item).op].op;
  case XP_TRACK_PROGRAMS:
    return devices->modules[track->data->runs[item].module].name;
  case XP_TRACK_STEPS: {
    const xp_step *step = track->steps[item];
    return step->has_num ? xp_arena_format(arena, "%.*s %lld", XP_STR_ARG(step->name), (long long)step->num)
                         : step->name;
  }
  default:
    return short_name(xp_event_meta_of(track->line, item));
  }
}
