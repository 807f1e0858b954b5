/* Finding launches and the threads behind them.  See links.h for the model.
 *
 * Ids link what they can: run_id on host events, correlation_id on API calls, _p/_c between threads.  API calls of a GPU
 * stand on a line of their own ("Host Threads/N", numbered by the kernel) beside the line of the same thread that the
 * runtime writes (numbered by a hash); the two belong together when the execute events of the one contain the program
 * calls of the other.
 */
#include "analyze/links.h"

enum { THREADPOOL = 15, MAX_CALL_ENTRIES = 512 };

static uint64_t id_key(uint32_t host, uint64_t id)
{
  return (id + 1) * 0x9e3779b97f4a7c15u ^ ((uint64_t)host << 56);
}

static uint64_t entry_key(uint32_t thread, uint32_t entry)
{
  return ((uint64_t)thread << 32) | entry;
}

static bool is_dispatch(const xp_thread *t, uint32_t entry)
{
  return (t->flags[entry] & XP_ENTRY_LISTED) && t->cause[entry] == XP_CAUSE_DISPATCH;
}

static xp_name_class class_of(const xp_links *links, const xp_thread *t, uint32_t entry)
{
  return xp_threads_class(links->threads, t->line, t->event[entry]);
}

/* The outermost execute event that is open at a time, or XP_NONE. */
static uint32_t outer_dispatch(const xp_thread *t, int64_t time_ps)
{
  uint32_t found = XP_NONE;
  for (uint32_t e = xp_thread_innermost(t, time_ps); e != XP_NONE; e = xp_thread_outer(t, e, time_ps)) {
    found = is_dispatch(t, e) ? e : found;
  }
  return found;
}

/* It ends after what it is about: it launches nothing. */
static bool is_wait_or_read(const xp_thread *t, uint32_t entry)
{
  return t->cause[entry] == XP_CAUSE_WAIT || t->cause[entry] == XP_CAUSE_VALUE_REQUEST;
}

/* ---- collecting */

static void add_run_event(xp_links *links, const xp_thread *t, uint32_t entry, uint64_t run_id, int64_t ordinal)
{
  links->run_events = xp_arena_grow(links->arena, links->run_events, links->run_event_count, &links->run_event_capacity,
                                    sizeof *links->run_events);
  links->next_run_event = xp_arena_grow(links->arena, links->next_run_event, links->run_event_count,
                                        &links->next_capacity, sizeof *links->next_run_event);
  uint32_t n = (uint32_t)links->run_event_count++;
  links->run_events[n] = (xp_run_event){run_id, t->index, entry, ordinal, is_wait_or_read(t, entry)};
  uint64_t key = id_key(t->host, run_id);
  links->next_run_event[n] = xp_map_get(&links->run_event_of_id, key);
  xp_map_put(&links->run_event_of_id, key, n);
}

static void add_call(xp_links *links, const xp_thread *t, uint32_t entry, uint64_t id)
{
  links->calls =
      xp_arena_grow(links->arena, links->calls, links->call_count, &links->call_capacity, sizeof *links->calls);
  bool copies = (class_of(links, t, entry).flags & XP_NAME_MEMCPY) != 0;
  links->calls[links->call_count] = (xp_api_call){id, t->index, entry, copies};
  xp_map_put(&links->call_of_id, id_key(t->host, id), (uint32_t)links->call_count);
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

static void collect_ids(xp_links *links, const xp_thread *t)
{
  xp_event_cursor cursor = xp_event_cursor_open(t->line);
  bool waits_count = has_device_plane(t->line->plane->host);
  for (uint32_t e = 0; (t->line->flags & XP_EVENT_LINK) && e < t->count; e++) {
    if (!(t->line->meta[t->event[e]] & XP_EVENT_LINK) || (!waits_count && is_wait_or_read(t, e))) {
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

/* Marks outermost execute events, and those of them that count as execute calls. */
static void mark_calls(xp_links *links, xp_thread *t)
{
  for (uint32_t e = 0; e < t->count; e++) {
    if (!is_dispatch(t, e)) {
      continue;
    }
    uint32_t outer = e;
    for (uint32_t p = t->parent[e]; p != XP_NONE; p = t->parent[p]) {
      outer = is_dispatch(t, p) && xp_entry_end(t, p) > xp_entry_start(t, e) ? p : outer;
    }
    t->flags[outer] |= XP_ENTRY_OUTER_DISPATCH;
    if (class_of(links, t, e).flags & (XP_NAME_LAUNCH | XP_NAME_EXECUTES)) {
      t->flags[outer] |= XP_ENTRY_CALL;
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
static uint32_t containing(const xp_links *links, const xp_thread *t, int64_t time_ps, uint32_t flags)
{
  for (uint32_t e = xp_thread_innermost(t, time_ps); e != XP_NONE; e = xp_thread_outer(t, e, time_ps)) {
    if (flags ? (class_of(links, t, e).flags & flags) != 0 : is_dispatch(t, e)) {
      return e;
    }
  }
  return XP_NONE;
}

/* How many of the API thread's calls the events of t contain; *room is the time that those events cover. */
static size_t contained_calls(const xp_links *links, const xp_thread *api, const xp_thread *t, bool program,
                              uint32_t flags, int64_t *room)
{
  size_t count = 0;
  uint32_t last = XP_NONE;
  *room = 0;
  for (uint32_t e = 0; e < api->count; e++) {
    if (is_program_call(api, e) != program) {
      continue;
    }
    uint32_t in = containing(links, t, xp_entry_start(api, e), flags);
    count += in != XP_NONE;
    if (in != XP_NONE && in != last) {
      *room += xp_event_dur(t->line, t->event[in]);
      last = in;
    }
  }
  return count;
}

static void find_partner(xp_links *links, xp_thread *api)
{
  size_t program_calls = 0;
  for (uint32_t e = 0; e < api->count; e++) {
    program_calls += is_program_call(api, e);
  }
  bool program = program_calls > 0;
  size_t all = program ? program_calls : api->count, best = 0;
  int64_t best_room = 0;
  const uint32_t wanted[] = {program ? XP_NAME_THUNKS : XP_NAME_POOL_TASK, 0};
  for (size_t w = 0; w < 2 && best * 2 <= all; w++) {
    for (size_t i = 0; i < links->threads->count; i++) {
      const xp_thread *t = &links->threads->threads[i];
      if (t->is_api || t->host != api->host || t->count == 0) {
        continue;
      }
      int64_t room;
      size_t count = contained_calls(links, api, t, program, wanted[w], &room);
      if (count > best || (count == best && count && room < best_room)) {
        best = count;
        best_room = room;
        api->partner = t->index;
      }
    }
  }
  if (best * 2 <= all) {
    api->partner = api->index;
  }
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
  for (uint32_t e = entry == XP_NONE ? xp_thread_innermost(t, time_ps) : entry; e != XP_NONE; e = xp_thread_outer(t, e, time_ps)) {
    if (t->line->meta[t->event[e]] & XP_EVENT_FLOW || is_dispatch(t, e)) {
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

/* Whoever made thread t do what it does at a time: another thread, and since when t did it. */
static const xp_producer *asker(const xp_links *links, const xp_thread *t, int64_t time_ps, uint32_t entry,
                                int64_t *from_ps)
{
  const xp_region *region = xp_thread_region(t, time_ps);
  if (region) {
    const xp_producer *p =
        xp_threads_producer(links->threads, t->host, THREADPOOL, region->id, region->start_ps);
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
                               ? asker(links, &links->threads->threads[thread], time, entry, &from)
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
  launch.host = links->threads->threads[launch.thread].host;
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
  return (xp_launch){.thread = t->index, .entry = entry, .start_ps = start_ps, .return_ps = xp_entry_end(t, entry)};
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

/* Merge sort by start: stable, and qsort has no context in C11. */
static void sort_asked(xp_links *links)
{
  size_t n = links->asked_count;
  uint32_t *from = links->asked, *to = xp_arena_array(links->arena, n, sizeof *to);
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t left = 0; left < n; left += 2 * width) {
      size_t mid = left + width < n ? left + width : n, right = left + 2 * width < n ? left + 2 * width : n;
      size_t i = left, j = mid;
      for (size_t k = left; k < right; k++) {
        bool take_left = i < mid && (j >= right || links->launches[from[i]].start_ps <= links->launches[from[j]].start_ps);
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
    for (uint32_t e = 0; e < t->count; e++) {
      if (!(t->flags[e] & XP_ENTRY_CALL)) {
        continue;
      }
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
  xp_map_init(&links->call_of_id, arena);
  xp_map_init(&links->run_event_of_id, arena);
  for (size_t i = 0; i < threads->count; i++) {
    mark_calls(links, &threads->threads[i]);
    collect_ids(links, &threads->threads[i]);
  }
  for (size_t i = 0; i < threads->count; i++) {
    if (threads->threads[i].is_api) {
      find_partner(links, &threads->threads[i]);
    }
  }
  find_asked(links);
}

/* ---- asking */

uint32_t xp_links_around(xp_links *links, uint32_t thread, uint32_t entry)
{
  return launch_around(links, &links->threads->threads[thread], entry);
}

static const xp_run_event *launching_event(const xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal)
{
  const xp_run_event *best = NULL;
  int64_t best_start = INT64_MAX;
  for (uint32_t i = xp_map_get(&links->run_event_of_id, id_key(host, run_id)); i != XP_NONE;
       i = links->next_run_event[i]) {
    const xp_run_event *e = &links->run_events[i];
    int64_t start = xp_entry_start(&links->threads->threads[e->thread], e->entry);
    if (!e->is_wait && e->run_id == run_id && (e->ordinal < 0 || e->ordinal == ordinal) && start < best_start) {
      best = e;
      best_start = start;
    }
  }
  return best;
}

uint32_t xp_links_by_run_id(xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal)
{
  const xp_run_event *e = launching_event(links, host, run_id, ordinal);
  return e ? launch_around(links, &links->threads->threads[e->thread], e->entry) : XP_NONE;
}

int64_t xp_links_run_start(const xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal)
{
  const xp_run_event *e = launching_event(links, host, run_id, ordinal);
  return e ? xp_entry_start(&links->threads->threads[e->thread], e->entry) : INT64_MIN;
}

int64_t xp_links_wait_end(const xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal)
{
  int64_t latest = INT64_MIN;
  for (uint32_t i = xp_map_get(&links->run_event_of_id, id_key(host, run_id)); i != XP_NONE;
       i = links->next_run_event[i]) {
    const xp_run_event *e = &links->run_events[i];
    if (e->is_wait && e->run_id == run_id && (e->ordinal < 0 || e->ordinal == ordinal)) {
      int64_t end = xp_entry_end(&links->threads->threads[e->thread], e->entry);
      latest = end > latest ? end : latest;
    }
  }
  return latest;
}

const xp_api_call *xp_links_call(const xp_links *links, uint32_t host, uint64_t correlation_id)
{
  uint32_t i = xp_map_get(&links->call_of_id, id_key(host, correlation_id));
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
                                          .entry = XP_NONE,
                                          .start_ps = start,
                                          .return_ps = xp_entry_end(api, call->entry)});
    xp_map_put(&links->launch_of_entry, key, found);
  }
  return found;
}
