/* Who launched what: execute calls, API calls, and the way back to the thread that asked.
 *
 * A launch is an execute call as the analysis needs it: on which thread it was made, when it returned, and which
 * threads held the chain before.  Time runs backwards along the hops: hop 0 is the launching thread, it holds the chain
 * from its from_ps on; before that hop 1 holds it, and so on; the last one holds it from the beginning.
 */
#ifndef XP_ANALYZE_LINKS_H
#define XP_ANALYZE_LINKS_H

#include "analyze/threads.h"

enum { XP_MAX_HOPS = 6 };

typedef struct {
  uint32_t thread;
  int64_t from_ps; /* INT64_MIN for the last */
} xp_hop;

typedef struct {
  uint32_t thread;
  uint32_t call;      /* the API call, where it lies in no execute event; else XP_NONE */
  uint32_t entry;     /* of the outermost execute event; XP_NONE for an API call outside of one */
  uint16_t hop_count; /* at least 1 */
  bool own;           /* no other thread's execute call asked for it */
  int64_t start_ps;   /* of the event that carries the id, or of the call */
  int64_t return_ps;  /* end of the outermost execute event around it */
  int64_t asked_ps;   /* when the asking thread (last hop) asked */
  const xp_hop *hops; /* NULL if hop_count is 1: the thread itself */
} xp_launch;

static inline xp_hop xp_launch_hop(const xp_launch *launch, int i)
{
  return launch->hops ? launch->hops[i] : (xp_hop){launch->thread, INT64_MIN};
}

/* The thread that asked. */
static inline uint32_t xp_launch_asker(const xp_launch *launch)
{
  return xp_launch_hop(launch, launch->hop_count - 1).thread;
}

/* An API call with a correlation id (cuLaunchKernel, hipMemcpyAsync ..). */
typedef struct {
  uint64_t id;
  uint32_t thread, entry;
  bool memcpy_call;
} xp_api_call;

/* What host events say of a run on a device: who launched it first, and how long something waited for it. */
typedef struct {
  uint64_t run_id;
  uint32_t host;
  int64_t ordinal;        /* -1: any */
  uint32_t thread, entry; /* the earliest event that launches it; XP_NONE */
  int64_t wait_end_ps;    /* the latest end of an event that waits for it; INT64_MIN */
} xp_run_event;

typedef struct {
  xp_arena *arena;
  xp_threads *threads;
  xp_launch *launches;
  size_t launch_count, launch_capacity;
  uint32_t *first_launch; /* by thread: its execute calls are launches first_launch[t] .. first_launch[t + 1] - 1 */
  xp_map launch_of_entry; /* (thread, entry) -> launch, of the others */
  xp_api_call *calls;
  size_t call_count, call_capacity;
  xp_id_map call_of_id; /* host and correlation id -> call */
  xp_run_event *run_events;
  size_t run_event_count, run_event_capacity;
  xp_id_map run_event_of_id; /* host, run id and ordinal -> run event */
  uint32_t *asked;           /* launches of execute calls that no other thread asked for, by start, of all hosts */
  size_t asked_count;
} xp_links;

static inline uint32_t xp_launch_host(const xp_links *links, const xp_launch *launch)
{
  return links->threads->threads[launch->thread].host;
}

/* Collects execute calls, API calls and run ids of all threads, finds the partner of API threads, and the hops. */
void xp_links_build(xp_links *links, xp_threads *threads, xp_arena *arena);

/* The launch that carries a run id on a device of a host; XP_NONE. */
uint32_t xp_links_by_run_id(xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal);

/* The launch whose call, or an event in it, is the producer with an id: the latest that began by a time, else any;
 * XP_NONE. */
uint32_t xp_links_by_flow(xp_links *links, uint32_t host, int64_t type, uint64_t id, int64_t time_ps);

/* Start of the event that launched a run, and the latest end of the events that waited for it; INT64_MIN if none. */
int64_t xp_links_run_start(const xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal);
int64_t xp_links_wait_end(const xp_links *links, uint32_t host, uint64_t run_id, int64_t ordinal);

/* The launch that an API call belongs to: the execute event around it, else the call itself; XP_NONE for an unknown id.
 */
uint32_t xp_links_by_correlation(xp_links *links, uint32_t host, uint64_t correlation_id);

/* Whoever made thread t do what it does at a time, inside an entry (XP_NONE: whatever is open then): an event of
 * another thread, and since when t did it; NULL if nobody is known. */
const xp_producer *xp_links_asker(const xp_links *links, const xp_thread *t, int64_t time_ps, uint32_t entry,
                                  int64_t *from_ps);

/* The launch of the execute event around an entry of a thread, or of the entry itself. */
uint32_t xp_links_around(xp_links *links, uint32_t thread, uint32_t entry);

/* The API call with a correlation id; NULL. */
const xp_api_call *xp_links_call(const xp_links *links, uint32_t host, uint64_t correlation_id);

/* True if the execute event of a launch is one of a program (not a lone API call). */
static inline bool xp_launch_is_execute(const xp_launch *launch)
{
  return launch->entry != XP_NONE;
}

#endif
