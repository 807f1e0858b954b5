/* Finding launches and the threads behind them.  See links.h for the model.
 *
 * Ids link what they can (see link_ids.c): run_id on host events, correlation_id on API calls, _p/_c between threads.
 */
#include "analyze/link_ids.h"

enum { THREADPOOL = 15, MAX_CALL_ENTRIES = 512, AHEAD = 8 };

static uint64_t entry_key(uint32_t thread, uint32_t entry)
{
  return ((uint64_t)thread << 32) | entry;
}

/* The outermost execute event that is open at a time, or XP_NONE. */
static uint32_t outer_dispatch(const xp_thread *t, int64_t time_ps)
{
  uint32_t found = XP_NONE;
  for (uint32_t e = xp_thread_innermost(t, time_ps); e != XP_NONE; e = xp_thread_outer(t, e, time_ps)) {
    found = xp_entry_is_dispatch(t, e) ? e : found;
  }
  return found;
}

/* ---- hops */

/* An event with _c at or inside the entries open at a time, whose _p stands on another thread. */
static const xp_producer *consumed(const xp_links *links, const xp_thread *t, int64_t time_ps, uint32_t entry,
                                   int64_t *from_ps)
{
  uint32_t outermost = entry;
  if (!(t->line->flags & XP_EVENT_FLOW)) {
    return NULL;
  }
  for (uint32_t e = entry == XP_NONE ? xp_thread_innermost(t, time_ps) : entry; e != XP_NONE;
       e = xp_thread_outer(t, e, time_ps)) {
    if (t->line->meta[t->event[e]] & XP_EVENT_FLOW || xp_entry_is_dispatch(t, e)) {
      outermost = e;
    }
  }
  if (outermost == XP_NONE) {
    return NULL;
  }
  xp_event_cursor cursor = xp_event_cursor_open(t->line);
  int64_t end = xp_entry_end(t, outermost);
  for (uint32_t e = outermost; e < t->count && e - outermost < MAX_CALL_ENTRIES && xp_entry_start(t, e) < end; e++) {
    xp_stat id, type;
    if (!(t->line->meta[t->event[e]] & XP_EVENT_FLOW) ||
        !xp_stats_find(xp_event_stats(&cursor, t->event[e]), XP_KEY_CONSUMER, &id)) {
      continue;
    }
    xp_stats_find(xp_event_stats(&cursor, t->event[e]), XP_KEY_CONSUMER_TYPE, &type);
    const xp_producer *p =
        xp_threads_producer(links->threads, t->host, xp_stat_int(&type, 0), id.bits, xp_entry_start(t, e));
    if (p && p->thread != t->index) {
      *from_ps = xp_entry_start(t, outermost);
      return p;
    }
  }
  return NULL;
}

const xp_producer *xp_links_asker(const xp_links *links, const xp_thread *t, int64_t time_ps, uint32_t entry,
                                  int64_t *from_ps)
{
  const xp_region *region = xp_thread_region(t, time_ps);
  if (region) {
    const xp_producer *p = xp_threads_producer(links->threads, t->host, THREADPOOL, region->id, region->start_ps);
    if (p && p->thread != t->index) {
      *from_ps = region->start_ps;
      return p;
    }
  }
  return consumed(links, t, time_ps, entry, from_ps);
}

/* Follows the chain back from a launch: hops, asked_ps, own. */
static void follow(const xp_links *links, xp_launch *launch)
{
  xp_hop hops[XP_MAX_HOPS];
  uint32_t thread = launch->thread, entry = launch->entry;
  int64_t time = launch->start_ps;
  launch->own = true;
  launch->hop_count = 0;
  for (;;) {
    launch->asked_ps = time;
    xp_hop *hop = &hops[launch->hop_count++];
    *hop = (xp_hop){thread, INT64_MIN};
    int64_t from;
    const xp_producer *p = launch->hop_count < XP_MAX_HOPS
                               ? xp_links_asker(links, &links->threads->threads[thread], time, entry, &from)
                               : NULL;
    if (!p) {
      break;
    }
    hop->from_ps = from;
    thread = p->thread;
    time = p->time_ps;
    entry = XP_NONE;
    launch->own = launch->own && outer_dispatch(&links->threads->threads[thread], time) == XP_NONE;
  }
  launch->hops = NULL;
  if (launch->hop_count > 1) {
    size_t bytes = launch->hop_count * sizeof *hops;
    launch->hops = memcpy(xp_arena_alloc(links->arena, bytes), hops, bytes);
  }
}

static uint32_t add_launch(xp_links *links, xp_launch launch)
{
  follow(links, &launch);
  links->launches = xp_arena_grow(links->arena, links->launches, links->launch_count, &links->launch_capacity,
                                  sizeof *links->launches);
  links->launches[links->launch_count] = launch;
  return (uint32_t)links->launch_count++;
}

static uint32_t find_launch(const xp_links *links, uint32_t thread, uint32_t entry)
{
  size_t low = links->first_launch[thread], end = links->first_launch[thread + 1], high = end;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (links->launches[mid].entry < entry) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  if (low < end && links->launches[low].entry == entry) {
    return (uint32_t)low;
  }
  return xp_map_get(&links->launch_of_entry, entry_key(thread, entry));
}

static xp_launch launch_at(const xp_thread *t, uint32_t entry, int64_t start_ps)
{
  return (xp_launch){
      .thread = t->index, .call = XP_NONE, .entry = entry, .start_ps = start_ps, .return_ps = xp_entry_end(t, entry)};
}

/* The launch of the execute event around an event of a thread; of the event itself if there is none. */
static uint32_t launch_around(xp_links *links, const xp_thread *t, uint32_t entry)
{
  uint32_t outer = outer_dispatch(t, xp_entry_start(t, entry));
  outer = outer == XP_NONE ? entry : outer;
  uint32_t found = find_launch(links, t->index, outer);
  if (found == XP_NONE) {
    found = add_launch(links, launch_at(t, outer, xp_entry_start(t, entry)));
    xp_map_put(&links->launch_of_entry, entry_key(t->index, outer), found);
  }
  return found;
}

static bool asked_in_order(const xp_links *links)
{
  for (size_t i = 1; i < links->asked_count; i++) {
    if (links->launches[links->asked[i - 1]].start_ps > links->launches[links->asked[i]].start_ps) {
      return false;
    }
  }
  return true;
}

/* Merge sort by start: stable, and qsort has no context in C11. */
static void sort_asked(xp_links *links)
{
  if (asked_in_order(links)) {
    return; /* as those of one thread are */
  }
  size_t n = links->asked_count;
  uint32_t *from = links->asked, *to = xp_arena_array(links->arena, n, sizeof *to);
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t left = 0; left < n; left += 2 * width) {
      size_t mid = left + width < n ? left + width : n, right = left + 2 * width < n ? left + 2 * width : n;
      size_t i = left, j = mid;
      for (size_t k = left; k < right; k++) {
        bool take_left =
            i < mid && (j >= right || links->launches[from[i]].start_ps <= links->launches[from[j]].start_ps);
        to[k] = take_left ? from[i++] : from[j++];
      }
    }
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  links->asked = from;
}

/* The launches of all execute calls, in order, and those of them that nobody else asked for. */
static void find_asked(xp_links *links)
{
  size_t capacity = 0;
  links->first_launch = xp_arena_array(links->arena, links->threads->count + 1, sizeof *links->first_launch);
  for (size_t i = 0; i < links->threads->count; i++) {
    xp_thread *t = &links->threads->threads[i];
    links->first_launch[i] = (uint32_t)links->launch_count;
    for (size_t k = 0; k < t->call_count; k++) {
      uint32_t e = t->calls[k];
      xp_entry_prefetch(t, t->calls[k + AHEAD < t->call_count ? k + AHEAD : k]);
      uint32_t launch = add_launch(links, launch_at(t, e, xp_entry_start(t, e)));
      if (links->launches[launch].own) {
        links->asked = xp_arena_grow(links->arena, links->asked, links->asked_count, &capacity, sizeof *links->asked);
        links->asked[links->asked_count++] = launch;
      }
    }
  }
  links->first_launch[links->threads->count] = (uint32_t)links->launch_count;
  sort_asked(links);
}

void xp_links_build(xp_links *links, xp_threads *threads, xp_arena *arena)
{
  *links = (xp_links){.arena = arena, .threads = threads};
  xp_map_init(&links->launch_of_entry, arena);
  xp_id_map_init(&links->call_of_id, arena);
  xp_id_map_init(&links->run_event_of_id, arena);
  for (size_t i = 0; i < threads->count; i++) {
    xp_link_ids_collect(links, &threads->threads[i]);
  }
  xp_api_partners_find(links);
  find_asked(links);
}

/* ---- asking */

uint32_t xp_links_around(xp_links *links, uint32_t thread, uint32_t entry)
{
  return launch_around(links, &links->threads->threads[thread], entry);
}

/* What is known of a run on a device of an ordinal, or of a run on any device (ordinal -1); NULL. */
static const xp_run_event *run_event(const xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal)
{
  uint32_t i = xp_id_map_get(&links->run_event_of_id, xp_run_key(host, run_id, ordinal));
  const xp_run_event *e = i == XP_NONE ? NULL : &links->run_events[i];
  return e && e->run_id == run_id && e->ordinal == ordinal && e->host == host ? e : NULL;
}

static int64_t launch_start(const xp_links *links, const xp_run_event *e)
{
  return e && e->entry != XP_NONE ? xp_entry_start(&links->threads->threads[e->thread], e->entry) : INT64_MAX;
}

/* The event that launched a run first; NULL. */
static const xp_run_event *launching_event(const xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal)
{
  const xp_run_event *own = run_event(links, host, run_id, ordinal), *any = run_event(links, host, run_id, -1);
  const xp_run_event *first = launch_start(links, own) <= launch_start(links, any) ? own : any;
  return launch_start(links, first) == INT64_MAX ? NULL : first;
}

uint32_t xp_links_by_run_id(xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal)
{
  const xp_run_event *e = launching_event(links, host, run_id, ordinal);
  return e ? launch_around(links, &links->threads->threads[e->thread], e->entry) : XP_NONE;
}

uint32_t xp_links_by_flow(xp_links *links, uint32_t host, int64_t type, uint64_t id, int64_t time_ps)
{
  const xp_producer *p = xp_threads_producer(links->threads, host, type, id, time_ps);
  p = p ? p : xp_threads_producer(links->threads, host, type, id, INT64_MAX); /* clocks may differ */
  if (!p) {
    return XP_NONE;
  }
  const xp_thread *t = &links->threads->threads[p->thread];
  uint32_t outer = outer_dispatch(t, p->time_ps);
  return outer == XP_NONE ? XP_NONE : launch_around(links, t, outer);
}

int64_t xp_links_run_start(const xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal)
{
  const xp_run_event *e = launching_event(links, host, run_id, ordinal);
  return e ? launch_start(links, e) : INT64_MIN;
}

int64_t xp_links_wait_end(const xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal)
{
  const xp_run_event *own = run_event(links, host, run_id, ordinal), *any = run_event(links, host, run_id, -1);
  int64_t x = own ? own->wait_end_ps : INT64_MIN, y = any ? any->wait_end_ps : INT64_MIN;
  return x > y ? x : y;
}

const xp_api_call *xp_links_call(const xp_links *links, uint32_t host, uint64_t correlation_id)
{
  uint32_t i = xp_id_map_get(&links->call_of_id, xp_link_key(host, correlation_id));
  return i == XP_NONE ? NULL : &links->calls[i];
}

uint32_t xp_links_by_correlation(xp_links *links, uint32_t host, uint64_t correlation_id)
{
  const xp_api_call *call = xp_links_call(links, host, correlation_id);
  if (!call) {
    return XP_NONE;
  }
  const xp_thread *api = &links->threads->threads[call->thread];
  int64_t start = xp_entry_start(api, call->entry);
  const xp_thread *t = &links->threads->threads[api->partner];
  uint32_t outer = outer_dispatch(t, start);
  if (outer != XP_NONE) {
    return launch_around(links, t, outer);
  }
  uint64_t key = entry_key(api->index, call->entry) | (uint64_t)1 << 63;
  uint32_t found = xp_map_get(&links->launch_of_entry, key);
  if (found == XP_NONE) {
    found = add_launch(links, (xp_launch){.thread = t->index,
                                          .call = (uint32_t)(call - links->calls),
                                          .entry = XP_NONE,
                                          .start_ps = start,
                                          .return_ps = xp_entry_end(api, call->entry)});
    xp_map_put(&links->launch_of_entry, key, found);
  }
  return found;
}
