/* A thread's own part of the recorder: its stack of traces and the place where it records.
 *
 * Everything in a tracer is written by its thread alone.  Others read two things of it: the stack, at any time (its
 * fields are atomic, and an entry is whole before `depth` counts it); and the rest when the thread is known not to
 * record (recorder.c).
 *
 * The mode is one word for all threads: the number of the session and three bits.  `joined` is that word as it is while
 * the thread takes part in the session, so that one comparison says "recording, and all is prepared".
 */
#ifndef XP_ANNOTATE_TRACER_H
#define XP_ANNOTATE_TRACER_H

#include "annotate/pool.h"
#include "annotate/slot.h"
#include "xlaprof/annotate.h"

/* Fields that other threads may read. */
#define XP_SET(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
#define XP_GET(field)        __atomic_load_n(&(field), __ATOMIC_RELAXED)

enum {
  XP_STACK_ENTRIES = XP_SCOPES_OPEN_MAX,
  XP_STACK_TEXT_BYTES = 1 << 20, /* of names that were copied */
  XP_NAME_BYTES_MAX = 65535,     /* of a copied name; longer ones are cut */
  XP_TRACER_NAME_BYTES = 32
};

#define XP_NAME_STATIC UINT32_MAX /* instead of a length: a NUL-terminated text that lives as long as the process */

/* Flags of an entry; none is the short way. */
#define XP_ENTRY_STEP     ((uint64_t)1 << 32) /* its end calls the barrier */
#define XP_ENTRY_NO_SCOPE ((uint64_t)1 << 33) /* a step whose scope is popped already, while its barrier runs */
#define XP_ENTRY_COPIED   ((uint64_t)1 << 34) /* the name lies in the thread's texts */

#define XP_NO_CHUNK UINT64_MAX /* instead of a generation */

/* An open trace.  Entry 0 stands for the thread itself and has only children. */
typedef struct {
  const char *name;
  uint64_t tag;     /* serial in the low half, flags in the high one: one word, so that one comparison checks both */
  uint64_t numbers; /* the scope's number in its parent in the low half; how many it opened inside in the high one */
  uint32_t len;     /* of a copied name */
  uint32_t added;   /* arguments that xp_trace_add wrote for the event, if its slot says that there are any */
  int64_t step_number;
  xp_slot *slot;            /* where its event is, if */
  uint64_t generation;      /* is that of the chunk; else there is none */
  const xp_location *place; /* of a step; may be NULL */
} xp_entry;

#define XP_ENTRY_CHILD ((uint64_t)1 << 32) /* one more in numbers */

typedef struct xp_tracer {
  /* These three are an xp_scope_stack of annotate_inline.h: blocks write them, too. */
  uint32_t depth;
  xp_entry *stack; /* 1 to depth are open */
  uint32_t serial; /* of the last trace */

  uint32_t busy; /* 1 while the thread records */
  uint64_t joined;
  char *pos, *limit;   /* room in the current chunk */
  uint64_t generation; /* of the current chunk, or XP_NO_CHUNK */
  uint64_t written;    /* events, in this session */

  xp_chunk *first, *current;
  uint64_t dropped;
  uint64_t order;      /* of the first event among those of all threads */
  uint64_t last_ticks; /* when the thread ended, 0 if it has not */
  char *texts;
  uint64_t texts_len;
  int64_t tid;
  char name[XP_TRACER_NAME_BYTES];
  struct xp_tracer *next;  /* of all; under the lock of the list */
  struct xp_tracer **link; /* what points to this one there */
} xp_tracer;

_Static_assert(offsetof(xp_tracer, depth) == offsetof(xp_scope_stack, depth) &&
                   offsetof(xp_tracer, serial) == offsetof(xp_scope_stack, serial) &&
                   offsetof(xp_tracer, stack) == offsetof(xp_scope_stack, open),
               "a tracer begins as a scope stack");
_Static_assert(sizeof(xp_entry) == sizeof(xp_open_scope) && offsetof(xp_entry, name) == offsetof(xp_open_scope, name) &&
                   offsetof(xp_entry, tag) == offsetof(xp_open_scope, tag) &&
                   offsetof(xp_entry, numbers) == offsetof(xp_open_scope, numbers),
               "an entry is an open scope");

/* The calling thread's; NULL before its first trace or event.  In static memory of the thread: no call to find it. */
static inline xp_tracer *xp_tracer_here(void)
{
  return (xp_tracer *)(void *)xp_scopes_of_thread;
}

/* The calling thread's, made if there is none; NULL when memory is out. */
xp_tracer *xp_tracer_make(void);

static inline xp_tracer *xp_tracer_get(void)
{
  xp_tracer *self = xp_tracer_here();
  return __builtin_expect(self != NULL, 1) ? self : xp_tracer_make();
}

/* All tracers, newest first; between lock and unlock nobody comes or goes. */
xp_tracer *xp_tracer_list_lock(void);
void xp_tracer_list_unlock(void);

/* Frees those of threads that ended.  Under the lock. */
void xp_tracer_free_ended(void);

/* ---------------------------------------------------------------- mode */

enum {
  XP_MODE_RECORD = 1,
  XP_MODE_HOOK = 2,  /* scopes have a hook */
  XP_MODE_FENCE = 4, /* the system has no membarrier: recording threads order their memory themselves */
  XP_MODE_BITS = 7,
  XP_MODE_SESSION = 8 /* one session */
};

/* Makes the thread take part in the session that is running: its buffers, and events for its open traces.  Called
 * between enter and leave. */
void xp_tracer_join(xp_tracer *self, uint64_t mode);

static inline void xp_tracer_leave(xp_tracer *self)
{
  __atomic_store_n(&self->busy, 0, __ATOMIC_RELEASE);
}

bool xp_tracer_enter_slow(xp_tracer *self, uint64_t mode);

/* Begins to record; false if there is no session.  A true one is ended by xp_tracer_leave.
 *
 * After the mode has lost its bit, a stop makes every thread order its memory (membarrier) and waits until none is
 * busy.  So either this thread sees the new mode, or the stop sees that it is busy. */
static inline bool xp_tracer_enter(xp_tracer *self)
{
  XP_SET(self->busy, 1);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint64_t mode = XP_GET(xp_scope_mode) & ~(uint64_t)XP_MODE_HOOK;
  if (__builtin_expect(mode == self->joined && !(mode & XP_MODE_FENCE), 1)) {
    return true;
  }
  return xp_tracer_enter_slow(self, mode);
}

#endif
