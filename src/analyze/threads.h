/* The host threads of a capture, as the analysis sees them.
 *
 * A thread is a line of a host plane.  Its *outline* holds the events that can say why a device waited: all but plain
 * Python frames (which are many and never set a class), device ops, their end markers, and events without a duration.
 * The outline knows nesting: every entry has its parent, the innermost earlier entry that was still open at its start.
 *
 * Everything lives in the arena of the reading.
 */
#ifndef XP_ANALYZE_THREADS_H
#define XP_ANALYZE_THREADS_H

#include "analyze/event_classes.h"

/* What an entry of an outline is. */
enum {
  XP_ENTRY_STEP = 1u << 0,     /* a step annotation */
  XP_ENTRY_SCOPE = 1u << 1,    /* an annotation of the user (also one of input) */
  XP_ENTRY_LOWERS = 1u << 2,   /* it holds events that lower a program */
  XP_ENTRY_PROFILER = 1u << 3, /* the profiler starting or stopping */
  XP_ENTRY_LISTED = 1u << 4,   /* its class comes from the lists alone */
  XP_ENTRY_PJIT = 1u << 5      /* PjitFunction(..) */
};

/* A task that a pool thread ran: from StartRegion to StopRegion. */
typedef struct {
  int64_t start_ps, end_ps;
  uint64_t id;
} xp_region;

/* Something that another thread goes on with: ThreadpoolListener::Record, or an event with _p. */
typedef struct {
  uint32_t thread;
  int64_t time_ps;
  int64_t end_ps;
} xp_producer;

/* An entry that is a step, with its number; kept while its stats are at hand. */
typedef struct {
  uint32_t thread, entry;
  int64_t num;
  bool has_num;
  bool is_unfinished; /* it was still open when the session stopped */
} xp_step_mark;

/* Entries from `first` on, up to the next of these, have one scope. */
typedef struct {
  uint32_t first, scope;
} xp_scope_run;

typedef struct {
  const xp_line *line;
  const xp_name_class *classes; /* by event metadata of its plane */
  uint32_t index;               /* of the thread */
  uint32_t host;
  size_t count;
  uint32_t *event;  /* index of the event in the line */
  uint32_t *parent; /* entry, XP_NONE at the top */
  uint8_t *cause;   /* xp_cause; XP_CAUSE_HOST for what has no class; refined by xp_classify */
  uint8_t *flags;   /* XP_ENTRY_* */
  uint32_t *calls;  /* execute calls: the outermost dispatch entries that are or hold one */
  size_t call_count;
  uint32_t *linked; /* entries whose events carry a run_id or correlation_id */
  size_t linked_count;
  xp_scope_run *scopes; /* by entry; see xp_thread_scope_of */
  size_t scope_count;
  bool overlaps;      /* some entry outlives its parent, as where two recorders share a line */
  xp_region *regions; /* by start */
  size_t region_count;
  bool has_step, has_frame, has_profiler, is_autograd, is_api, is_runtime;
  /* For an API thread ("Host Threads/N"): the thread whose execute events contain its calls, else itself. */
  uint32_t partner;
  /* Latest end of blocks of 64 events, then of 64 blocks, ..; see xp_thread_index_frames. */
  int64_t *frame_ends[6];
  size_t frame_end_count[6];
  int frame_levels;
} xp_thread;

typedef struct {
  xp_arena *arena;
  const xp_capture *capture;
  xp_thread *threads;
  size_t count;
  xp_producer *producers;
  size_t producer_count, producer_capacity;
  xp_map producer_of; /* hash of (host, type, id) -> latest producer; chained by `older` */
  uint32_t *older;
  size_t older_capacity;
  xp_step_mark *steps; /* by thread and entry */
  size_t step_count, step_capacity;
  uint32_t *step_threads, *autograd_threads; /* those with steps, and those that build gradients */
  size_t step_thread_count, autograd_thread_count;
  bool torch;         /* torch_xla's client occurs */
  uint32_t any_flags; /* XP_NAME_* of all names that occur in an outline */
} xp_threads;

/* Lists the threads, with the classes of their names.  input_regex (may be NULL): further names of class input, a
 * compiled POSIX regex. */
void xp_threads_open(xp_threads *threads, const xp_capture *capture, const void *input_regex, xp_arena *arena);

/* Builds the outlines. */
void xp_threads_build(xp_threads *threads);

/* Adds an event that another thread goes on with. */
void xp_threads_add_producer(xp_threads *threads, const xp_thread *t, int64_t type, uint64_t id, size_t event);

static inline int64_t xp_entry_start(const xp_thread *t, uint32_t entry)
{
  return t->line->start_ps[t->event[entry]];
}

static inline int64_t xp_entry_end(const xp_thread *t, uint32_t entry)
{
  return xp_event_end(t->line, t->event[entry]);
}

/* The class of the name of an event, and of an entry. */
static inline xp_name_class xp_thread_class(const xp_thread *t, size_t event)
{
  return t->classes[t->line->meta[event] & XP_EVENT_META_MASK];
}

static inline xp_name_class xp_entry_class(const xp_thread *t, uint32_t entry)
{
  return xp_thread_class(t, t->event[entry]);
}

/* Asks for the times of an entry that is looked at soon: whoever goes through a few of many entries waits for them. */
static inline void xp_entry_prefetch(const xp_thread *t, uint32_t entry)
{
  __builtin_prefetch(&t->line->start_ps[t->event[entry]]);
  __builtin_prefetch(&t->line->dur[t->event[entry]]);
}

static inline xp_str xp_entry_name(const xp_thread *t, uint32_t entry)
{
  return xp_event_name(t->line, t->event[entry]);
}

/* The first entry that starts at or after a time; count if there is none. */
uint32_t xp_thread_first_from(const xp_thread *t, int64_t time_ps);

/* The innermost entry that is open at a time (start <= time < end), or XP_NONE; xp_thread_outer goes on outwards. */
uint32_t xp_thread_innermost(const xp_thread *t, int64_t time_ps);
uint32_t xp_thread_outer(const xp_thread *t, uint32_t entry, int64_t time_ps);

/* The innermost scope of the user around (or at) an entry of a thread without overlaps, else the step, else XP_NONE;
 * and the entries [first, stop) that share it. */
typedef struct {
  uint32_t first, stop, scope;
} xp_scope_stretch;

xp_scope_stretch xp_thread_scope_of(const xp_thread *t, uint32_t entry);

/* The scope shown for an instant: innermost scope of the user, else step; empty without either. */
xp_str xp_thread_scope(const xp_thread *t, int64_t time_ps);

/* The same for an instant at which the innermost entry is known. */
xp_str xp_thread_scope_from(const xp_thread *t, uint32_t innermost, int64_t time_ps);

/* Prepares a thread for the two functions below; without it they find no frames. */
void xp_thread_index_frames(xp_thread *t, xp_arena *arena);

/* The innermost Python frame open at a time, of the user's files if there is one; empty without frames. */
xp_str xp_thread_frame(const xp_thread *t, int64_t time_ps);

/* Calls visit(context, from, to, frame) for the stretches of [from_ps, to_ps) by innermost user frame (innermost frame
 * of any kind where no user's is open; empty where there is none). */
void xp_thread_frames(const xp_thread *t, int64_t from_ps, int64_t to_ps,
                      void (*visit)(void *context, int64_t from_ps, int64_t to_ps, xp_str frame), void *context);

/* The producer with an id, the latest that is not after a time; NULL if none. */
const xp_producer *xp_threads_producer(const xp_threads *threads, uint32_t host, int64_t type, uint64_t id,
                                       int64_t not_after_ps);

/* The pool task of a thread that is running at a time; NULL if none. */
const xp_region *xp_thread_region(const xp_thread *t, int64_t time_ps);

#endif
