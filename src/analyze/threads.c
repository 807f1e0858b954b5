/* Listing the host threads with the classes of their names, and looking things up in their outlines.
 *
 * An entry that outlives its parent keeps that parent, so whoever walks outwards skips entries that ended.
 */
#define _GNU_SOURCE
#include "analyze/threads.h"

#include <regex.h>

static bool is_host_plane(xp_str name)
{
  return xp_str_starts(name, "/host:") && !xp_str_is(name, "/host:metadata") && !xp_str_is(name, "/host:tfstreamz") &&
         !xp_str_starts(name, "/host:__");
}

static bool regex_matches(const void *regex, xp_str name, xp_arena *arena)
{
  regmatch_t match = {0, (regoff_t)name.len};
  const char *text = xp_arena_copy(arena, name).ptr; /* some regexec look for a NUL, although they are told the end */
  return name.len < INT32_MAX && regexec(regex, text, 1, &match, REG_STARTEND) == 0 && match.rm_so == 0 &&
         match.rm_eo == (regoff_t)name.len;
}

static xp_name_class *classify_plane(const xp_plane *plane, const void *input_regex, xp_arena *arena)
{
  xp_name_class *classes = xp_arena_array(arena, plane->event_meta_count, sizeof *classes);
  for (size_t i = 0; i < plane->event_meta_count; i++) {
    xp_str name = plane->event_meta[i].name;
    classes[i] = xp_name_classify(name);
    if (input_regex && classes[i].cause == XP_CAUSE_COUNT && regex_matches(input_regex, name, arena)) {
      classes[i].cause = XP_CAUSE_INPUT;
      classes[i].flags |= XP_NAME_INPUT_SCOPE;
    }
  }
  return classes;
}

static uint64_t producer_key(uint32_t host, int64_t type, uint64_t id)
{
  return (id * 0x9e3779b97f4a7c15u) ^ ((uint64_t)type << 48) ^ ((uint64_t)host << 56);
}

void xp_threads_add_producer(xp_threads *all, const xp_thread *t, int64_t type, uint64_t id, size_t event)
{
  xp_producer p = {t->index, t->line->start_ps[event], xp_event_end(t->line, event)};
  all->producers =
      xp_arena_grow(all->arena, all->producers, all->producer_count, &all->producer_capacity, sizeof *all->producers);
  all->older = xp_arena_grow(all->arena, all->older, all->producer_count, &all->older_capacity, sizeof *all->older);
  uint64_t key = producer_key(t->host, type, id);
  all->producers[all->producer_count] = p;
  all->older[all->producer_count] = xp_map_get(&all->producer_of, key);
  xp_map_put(&all->producer_of, key, (uint32_t)all->producer_count);
  all->producer_count++;
}

const xp_producer *xp_threads_producer(const xp_threads *threads, uint32_t host, int64_t type, uint64_t id,
                                       int64_t not_after_ps)
{
  const xp_producer *best = NULL;
  uint32_t i = xp_map_get(&threads->producer_of, producer_key(host, type, id));
  for (int steps = 0; i != XP_NONE && steps < 64; i = threads->older[i], steps++) {
    const xp_producer *p = &threads->producers[i];
    if (p->time_ps <= not_after_ps && (!best || p->time_ps > best->time_ps)) {
      best = p;
    }
  }
  return best;
}

void xp_threads_open(xp_threads *threads, const xp_capture *capture, const void *input_regex, xp_arena *arena)
{
  *threads = (xp_threads){.arena = arena, .capture = capture};
  xp_map_init(&threads->producer_of, arena);
  size_t lines = 0;
  for (size_t h = 0; h < capture->host_count; h++) {
    for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
      lines += capture->hosts[h].planes[p].line_count;
    }
  }
  threads->threads = xp_arena_array(arena, lines, sizeof *threads->threads);
  for (size_t h = 0; h < capture->host_count; h++) {
    for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
      const xp_plane *plane = &capture->hosts[h].planes[p];
      if (!is_host_plane(plane->name)) {
        continue;
      }
      const xp_name_class *classes = classify_plane(plane, input_regex, arena);
      for (size_t l = 0; l < plane->line_count; l++) {
        xp_thread *t = &threads->threads[threads->count];
        *t = (xp_thread){.line = &plane->lines[l],
                         .classes = classes,
                         .index = (uint32_t)threads->count,
                         .host = (uint32_t)h,
                         .partner = (uint32_t)threads->count};
        t->is_autograd = xp_str_starts(t->line->name, "pt_autograd_");
        t->is_api = xp_str_starts(t->line->name, "Host Threads/");
        t->is_runtime = xp_thread_is_runtime(t->line->name);
        threads->count++;
      }
    }
  }
}

/* ---- looking things up */

uint32_t xp_thread_first_from(const xp_thread *t, int64_t time_ps)
{
  size_t low = 0, high = t->count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (xp_entry_start(t, (uint32_t)mid) < time_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return (uint32_t)low;
}

uint32_t xp_thread_outer(const xp_thread *t, uint32_t entry, int64_t time_ps)
{
  do {
    entry = t->parent[entry];
  } while (entry != XP_NONE && xp_entry_end(t, entry) <= time_ps);
  return entry;
}

uint32_t xp_thread_innermost(const xp_thread *t, int64_t time_ps)
{
  uint32_t next = xp_thread_first_from(t, time_ps == INT64_MAX ? time_ps : time_ps + 1);
  if (next == 0) {
    return XP_NONE;
  }
  return xp_entry_end(t, next - 1) > time_ps ? next - 1 : xp_thread_outer(t, next - 1, time_ps);
}

xp_scope_stretch xp_thread_scope_of(const xp_thread *t, uint32_t entry)
{
  size_t low = 0, high = t->scope_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (t->scopes[mid].first <= entry) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return (xp_scope_stretch){.first = low ? t->scopes[low - 1].first : 0,
                            .stop = low < t->scope_count ? t->scopes[low].first : (uint32_t)t->count,
                            .scope = low ? t->scopes[low - 1].scope : XP_NONE};
}

xp_str xp_thread_scope(const xp_thread *t, int64_t time_ps)
{
  return xp_thread_scope_from(t, xp_thread_innermost(t, time_ps), time_ps);
}

xp_str xp_thread_scope_from(const xp_thread *t, uint32_t innermost, int64_t time_ps)
{
  xp_str step = {NULL, 0};
  if (innermost == XP_NONE) {
    return step;
  }
  if (!t->overlaps) {
    uint32_t scope = xp_thread_scope_of(t, innermost).scope;
    return scope == XP_NONE ? step : xp_entry_name(t, scope);
  }
  for (uint32_t e = innermost; e != XP_NONE; e = xp_thread_outer(t, e, time_ps)) {
    if (t->flags[e] & XP_ENTRY_SCOPE) {
      return xp_entry_name(t, e);
    }
    if ((t->flags[e] & XP_ENTRY_STEP) && !step.ptr) {
      step = xp_entry_name(t, e);
    }
  }
  return step;
}

const xp_region *xp_thread_region(const xp_thread *t, int64_t time_ps)
{
  size_t low = 0, high = t->region_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (t->regions[mid].start_ps <= time_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low && t->regions[low - 1].end_ps >= time_ps ? &t->regions[low - 1] : NULL;
}
