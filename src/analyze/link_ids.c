/* Ids on host events, and the two lines of one thread.
 *
 * API calls of a GPU stand on a line of their own ("Host Threads/N", numbered by the kernel) beside the line of the
 * same thread that the runtime writes (numbered by a hash); the two belong together when the execute events of the one
 * contain the program calls of the other.
 */
#include "analyze/link_ids.h"

#include <stdlib.h>

#include "base/sum.h"

/* It ends after what it is about: it launches nothing. */
static bool is_wait_or_read(const xp_thread *t, uint32_t entry)
{
  return t->cause[entry] == XP_CAUSE_WAIT || t->cause[entry] == XP_CAUSE_VALUE_REQUEST;
}

static void add_run_event(xp_links *links, const xp_thread *t, uint32_t entry, uint64_t run_id, int64_t ordinal)
{
  uint32_t *known = xp_id_map_entry(&links->run_event_of_id, xp_run_key(t->host, run_id, ordinal));
  if (*known == XP_NONE) {
    links->run_events = xp_arena_grow(links->arena, links->run_events, links->run_event_count,
                                      &links->run_event_capacity, sizeof *links->run_events);
    *known = (uint32_t)links->run_event_count++;
    links->run_events[*known] = (xp_run_event){run_id, t->host, ordinal, XP_NONE, XP_NONE, INT64_MIN};
  }
  xp_run_event *e = &links->run_events[*known];
  if (is_wait_or_read(t, entry)) {
    int64_t end = xp_entry_end(t, entry);
    e->wait_end_ps = end > e->wait_end_ps ? end : e->wait_end_ps;
  } else if (e->entry == XP_NONE ||
             xp_entry_start(t, entry) < xp_entry_start(&links->threads->threads[e->thread], e->entry)) {
    e->thread = t->index;
    e->entry = entry;
  }
}

static void add_call(xp_links *links, const xp_thread *t, uint32_t entry, uint64_t id)
{
  links->calls =
      xp_arena_grow(links->arena, links->calls, links->call_count, &links->call_capacity, sizeof *links->calls);
  bool copies = (xp_entry_class(t, entry).flags & XP_NAME_MEMCPY) != 0;
  links->calls[links->call_count] = (xp_api_call){id, t->index, entry, copies};
  *xp_id_map_entry(&links->call_of_id, xp_link_key(t->host, id)) = (uint32_t)links->call_count;
  links->call_count++;
}

/* Some device has a plane, so that its clock is not the host's and waits bound it. */
static bool has_device_plane(const xp_host *host)
{
  for (size_t p = 0; p < host->plane_count; p++) {
    if (xp_str_starts(host->planes[p].name, "/device:")) {
      return true;
    }
  }
  return false;
}

void xp_link_ids_collect(xp_links *links, const xp_thread *t)
{
  xp_event_cursor cursor = xp_event_cursor_open(t->line);
  bool waits_count = has_device_plane(t->line->plane->host);
  for (size_t i = 0; i < t->linked_count; i++) {
    uint32_t e = t->linked[i];
    if (!waits_count && is_wait_or_read(t, e)) {
      continue;
    }
    xp_stat run = {0}, correlation = {0}, ordinal = {0}, stat;
    xp_stats stats = xp_event_stats(&cursor, t->event[e]);
    while (xp_stats_next(&stats, &stat)) {
      if (stat.key == XP_KEY_RUN_ID && !run.type) {
        run = stat;
      } else if (stat.key == XP_KEY_CORRELATION_ID && !correlation.type) {
        correlation = stat;
      } else if (stat.key == XP_KEY_DEVICE_ORDINAL && !ordinal.type) {
        ordinal = stat;
      }
    }
    if (run.type) {
      add_run_event(links, t, e, (uint64_t)xp_stat_int(&run, 0), xp_stat_int(&ordinal, -1));
    }
    if (correlation.type) {
      add_call(links, t, e, (uint64_t)xp_stat_int(&correlation, 0));
    }
  }
}

/* ---- API threads */

/* A call made for a program: it carries the instruction, or launches a kernel. */
static bool is_program_call(const xp_thread *t, uint32_t entry)
{
  xp_str name = xp_entry_name(t, entry);
  return (t->line->meta[t->event[entry]] & XP_EVENT_HLO_OP) ||
         (xp_str_find_text(name, "Launch") < name.len && xp_str_find_text(name, "Kernel") < name.len);
}

/* The innermost entry at a time with any of the name flags, or an execute event if flags is 0. */
static uint32_t containing(const xp_thread *t, int64_t time_ps, uint32_t flags)
{
  for (uint32_t e = xp_thread_innermost(t, time_ps); e != XP_NONE; e = xp_thread_outer(t, e, time_ps)) {
    if (flags ? (xp_entry_class(t, e).flags & flags) != 0 : xp_entry_is_dispatch(t, e)) {
      return e;
    }
  }
  return XP_NONE;
}

/* How well a thread fits an API thread. */
typedef struct {
  uint32_t api, thread;
  double share;    /* of the calls that events of the thread contain */
  int64_t room_ps; /* what those events cover: less of it is a better fit */
} fit;

/* Tries a sample of the API thread's calls of one kind on the events of t. */
static fit try_thread(const xp_thread *api, const xp_thread *t, bool program, uint32_t flags)
{
  enum { SAMPLES = 256 }; /* of many calls: enough to tell threads apart */
  size_t tried = 0, contained = 0, step = api->count / SAMPLES + 1;
  uint32_t last = XP_NONE;
  fit f = {api->index, t->index, 0, 0};
  for (uint32_t e = 0; e < api->count; e += (uint32_t)step) {
    if (is_program_call(api, e) != program) {
      continue;
    }
    tried++;
    uint32_t in = containing(t, xp_entry_start(api, e), flags);
    contained += in != XP_NONE;
    if (in != XP_NONE && in != last) {
      xp_sum_add(&f.room_ps, xp_event_dur(t->line, t->event[in]));
      last = in;
    }
  }
  f.share = tried ? (double)contained / (double)tried : 0;
  return f;
}

static int better_first(const void *x, const void *y)
{
  const fit *a = x, *b = y;
  if (a->share != b->share) {
    return a->share > b->share ? -1 : 1;
  }
  if (a->room_ps != b->room_ps) {
    return a->room_ps < b->room_ps ? -1 : 1;
  }
  return a->api != b->api ? (a->api < b->api ? -1 : 1) : (a->thread > b->thread) - (a->thread < b->thread);
}

typedef struct {
  fit *rows;
  size_t count, capacity;
} fits;

/* Appends the threads of a host that contain more than half of an API thread's calls. */
static void collect_fits(const xp_links *links, const xp_thread *api, fits *all)
{
  bool program = false;
  for (uint32_t e = 0; e < api->count && !program; e++) {
    program = is_program_call(api, e);
  }
  const uint32_t wanted[] = {program ? XP_NAME_THUNKS : XP_NAME_POOL_TASK, 0};
  size_t before = all->count;
  for (size_t w = 0; w < 2 && all->count == before; w++) {
    for (size_t i = 0; i < links->threads->count; i++) {
      const xp_thread *t = &links->threads->threads[i];
      if (t->is_api || t->host != api->host || t->count == 0) {
        continue;
      }
      fit f = try_thread(api, t, program, wanted[w]);
      if (f.share > 0.5) {
        all->rows = xp_arena_grow(links->arena, all->rows, all->count, &all->capacity, sizeof *all->rows);
        all->rows[all->count++] = f;
      }
    }
  }
}

/* A thread has one line of API calls: the best fit takes it, and the others choose among the rest. */
void xp_api_partners_find(xp_links *links)
{
  xp_threads *threads = links->threads;
  fits all = {0};
  for (size_t i = 0; i < threads->count; i++) {
    if (threads->threads[i].is_api) {
      collect_fits(links, &threads->threads[i], &all);
    }
  }
  if (all.count) {
    qsort(all.rows, all.count, sizeof *all.rows, better_first);
  }
  uint8_t *taken = xp_arena_array(links->arena, threads->count, 1);
  for (size_t i = 0; i < all.count; i++) {
    xp_thread *api = &threads->threads[all.rows[i].api];
    if (api->partner == api->index && !taken[all.rows[i].thread]) {
      api->partner = all.rows[i].thread;
      taken[api->partner] = 1;
    }
  }
  for (size_t i = 0; i < all.count; i++) { /* where samples could not tell them apart, a shared partner beats none */
    xp_thread *api = &threads->threads[all.rows[i].api];
    api->partner = api->partner == api->index ? all.rows[i].thread : api->partner;
  }
}
