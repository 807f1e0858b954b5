/* Annotations: names for what the program does, on the host's time line and, as scopes, on the device's operations.
 *
 * A *trace* opens an event on the calling thread and pushes a scope; a *step* is a trace that marks one iteration.  A
 * *region* is an event without a scope.  Recording costs nothing but a comparison until a session (session.h) runs.
 *
 *   XP_STEP("train", i) {
 *     XP_TRACE("forward") { forward(batch); }
 *     XP_TRACE("load", XP_INT("batch", i)) { next_batch(); }
 *   }
 *
 * Threads: every function may be called from any thread, but from no signal handler; a trace ends on the thread that
 * began it.  After fork the child records nothing until it starts a session of its own.
 *
 * Names and keys given as `const char *` must live until the process ends (literals); the *_copy forms take any text.
 * An empty name is written as "(no name)".  '#' is replaced by '_' in what is written, since readers of captures split
 * names there.
 *
 * With XP_DISABLE defined before the first include, macros and functions compile to nothing.
 *
 * Behaviour follows torch_xla.debug.profiler (Trace, StepTrace) and TSL's TraceMe (xla/tsl/profiler/lib/traceme.h).
 */
#ifndef XLAPROF_ANNOTATE_H
#define XLAPROF_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xlaprof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- arguments */

typedef enum { XP_ARG_INT, XP_ARG_UINT, XP_ARG_DOUBLE, XP_ARG_BOOL, XP_ARG_STR, XP_ARG_STR_COPY } xp_arg_type;

/* One argument of an event; becomes a stat of it.  Build them with XP_INT and the like. */
typedef struct {
  const char *key; /* static */
  xp_arg_type type;
  uint32_t len; /* of XP_ARG_STR_COPY; texts are cut at 65535 bytes */
  union {
    int64_t i;
    uint64_t u;
    double d;
    const char *s; /* XP_ARG_STR: static; XP_ARG_STR_COPY: copied by the call that takes it */
  } value;
} xp_arg;

static inline xp_arg xp_arg_int(const char *key, int64_t value);
static inline xp_arg xp_arg_uint(const char *key, uint64_t value);
static inline xp_arg xp_arg_double(const char *key, double value);
static inline xp_arg xp_arg_bool(const char *key, bool value);
static inline xp_arg xp_arg_str(const char *key, const char *static_text);
static inline xp_arg xp_arg_str_copy(const char *key, const char *text, size_t len);

#define XP_INT(key, value)    xp_arg_int(key, value)
#define XP_UINT(key, value)   xp_arg_uint(key, value)
#define XP_DOUBLE(key, value) xp_arg_double(key, value)
#define XP_BOOL(key, value)   xp_arg_bool(key, value)
#define XP_TEXT(key, value)   xp_arg_str(key, value)

/* ---------------------------------------------------------------- places */

/* Where in a program's source something stands; it lives as long as the process. */
typedef struct {
  const char *file, *function;
  int line;
} xp_location;

#define XP_HERE                                                                                                        \
  __extension__({                                                                                                      \
    static const xp_location xp_here = {__FILE__, __func__, __LINE__};                                                 \
    &xp_here;                                                                                                          \
  })

/* ---------------------------------------------------------------- traces and steps */

/* A trace that was begun: give it back to xp_trace_end.  An unset one ({0}) ends without effect. */
typedef struct {
  void *thread;    /* whose it is */
  uint32_t depth;  /* place in the thread's stack, from 1 */
  uint32_t serial; /* tells it from others that were at this place */
} xp_trace;

/* Begins a trace of level 1: pushes scope `name` and, if a session records, opens an event.  args (may be NULL):
 * copied; those beyond 127 are only counted, by the stat args_dropped.  Without memory for the thread's first trace, or
 * with 32768 open ones, the trace is not begun, which counts as misuse (xp_misuse_count). */
XP_API xp_trace xp_trace_begin(const char *name);
XP_API xp_trace xp_trace_begin_args(const char *name, const xp_arg *args, size_t arg_count);

/* The same for a name that may change or go away after the call.  It is cut at 65535 bytes; all open names of a thread
 * together have 1 MiB. */
XP_API xp_trace xp_trace_begin_copy(const char *name, size_t len, const xp_arg *args, size_t arg_count);

/* Begins a step: a trace with the stats _r=1 and step_num=number; at (may be NULL) is its place, XP_HERE.  Its end pops
 * the scope, calls the barrier (xp_set_step_barrier), and only then closes the event: what the barrier waits for
 * belongs to the step. */
XP_API xp_trace xp_step_begin(const char *name, int64_t number);
XP_API xp_trace xp_step_begin_at(const xp_location *at, const char *name, int64_t number);
XP_API xp_trace xp_step_begin_copy(const char *name, size_t len, int64_t number);

/* Ends a trace or step.  If it is not the innermost open one of the calling thread, or belongs to another thread,
 * nothing is ended: XP_ERR_USAGE, with the names of both traces in err.  A step's barrier that fails gives its status;
 * the step is ended all the same. */
XP_API xp_status xp_trace_end(xp_trace trace, xp_error *err);

/* Adds an argument to an open trace (any depth, calling thread only).  Ignored when nothing is recorded.  One that
 * finds no room is counted by the stat args_dropped. */
XP_API void xp_trace_add(xp_trace trace, xp_arg arg);

/* ---------------------------------------------------------------- scopes */

/* The calling thread's scope as it stands before an operation's name: "train.1/forward.2"; empty outside of traces.
 * Numbers count the scopes opened inside one parent, whatever their names (as in torch/csrc/lazy/core/ir_metadata.cpp).
 * Writes at most room bytes, NUL-terminated, and returns the length that the whole text has. */
XP_API size_t xp_scope_current(char *text, size_t room);

/* The same without the numbers: "train/forward". */
XP_API size_t xp_scope_names(char *text, size_t room);

/* Number of scopes that are open on the calling thread. */
XP_API size_t xp_scope_depth(void);

/* A step that is open: until its barrier has returned. */
typedef struct {
  const char *name; /* len bytes, without a NUL; they live as long as the step */
  size_t len;
  int64_t number;
  uint32_t serial;          /* tells it from other steps of the thread */
  const xp_location *place; /* where it was begun; NULL: not known */
} xp_open_step;

/* The innermost open step of the calling thread; false if there is none. */
XP_API bool xp_step_current(xp_open_step *step);

/* Starts numbering anew where no scope is open on the calling thread; XP_ERR_USAGE if one is, with the text of
 * torch_xla: "Expecting scope to be empty but it is train.1/forward.2". */
XP_API xp_status xp_scope_reset(xp_error *err);

/* What the library tells a frontend about scopes of every thread: called on the thread, after a push and before a pop.
 * name is not NUL-terminated.  Set it while no trace is open; NULL functions take it away. */
typedef struct {
  void (*enter)(void *context, const char *name, size_t len);
  void (*leave)(void *context);
  void *context;
} xp_scope_hook;
XP_API void xp_set_scope_hook(const xp_scope_hook *hook);

/* What the end of a step waits for: called on the step's thread when its scope is popped.  NULL takes it away. */
typedef struct {
  xp_status (*wait)(void *context, xp_error *err);
  void *context;
} xp_step_barrier;
XP_API void xp_set_step_barrier(const xp_step_barrier *barrier);

/* ---------------------------------------------------------------- regions and instants */

/* How detailed an event is; the session's host level says up to which they are recorded. */
enum { XP_LEVEL_USER = 1, XP_LEVEL_INFO = 2, XP_LEVEL_VERBOSE = 3 };

/* Events up to this level are recorded now; 0: none.  Read it through xp_is_recording. */
extern XP_API int xp_recording_level;

static inline bool xp_is_recording(int level);

/* A region that was begun.  All zero: it is not recorded. */
typedef struct {
  void *slot;
  uint64_t generation;
} xp_region;

static inline xp_region xp_region_begin(int level, const char *name);
static inline xp_region xp_region_begin_args(int level, const char *name, const xp_arg *args, size_t arg_count);

/* Ends a region, on the thread that began it; elsewhere it has no effect. */
static inline void xp_region_end(xp_region region);

/* An event without duration. */
static inline void xp_instant(int level, const char *name, const xp_arg *args, size_t arg_count);

/* Records an event that is over, with times of xp_clock_ticks, on the calling thread's line.  Its end is now at the
 * latest; what was before the session is cut off. */
XP_API void xp_record(int level, const char *name, uint64_t start_ticks, uint64_t end_ticks, const xp_arg *args,
                      size_t arg_count);

/* The recorder's clock: ticks of the processor's counter where it runs evenly, else nanoseconds. */
XP_API uint64_t xp_clock_ticks(void);

/* ---------------------------------------------------------------- flows between threads */

/* A new id, unique in this process, for one producer and its consumers. */
XP_API uint64_t xp_flow_new(void);

/* Arguments that connect events: give XP_FLOW_OUT to the event that hands work over and XP_FLOW_IN to the one that
 * takes it. They stand for two arguments each (_pt and _p, _ct and _c); type is a context type of
 * xla/tsl/profiler/lib/context_types.h, 0 in general. */
#define XP_FLOW_OUT(id) XP_INT("_pt", 0), XP_UINT("_p", id)
#define XP_FLOW_IN(id)  XP_INT("_ct", 0), XP_UINT("_c", id)

/* ---------------------------------------------------------------- blocks */

/* XP_TRACE("name") { .. } and XP_STEP("name", number) { .. }: a block in a trace, left cleanly by its end, break,
 * continue, goto, return, and C++ exceptions.  Further arguments of XP_TRACE are arguments of the event: XP_INT("k",
 * 3).  They are evaluated only while a session records.  break and continue leave the block, not a loop around it.
 * Needs the cleanup attribute (gcc, clang). */
#define XP_TRACE(...)         XP_TRACE_BLOCK(XP_UNIQUE(xp_block_), __VA_ARGS__)
#define XP_STEP(name, number) XP_STEP_BLOCK(XP_UNIQUE(xp_block_), name, number)

/* XP_REGION("name") { .. }: a block in a region of level 1. */
#define XP_REGION(...) XP_REGION_BLOCK(XP_UNIQUE(xp_block_), __VA_ARGS__)

/* What an end in one of these blocks could not do (a trace left open inside it, a barrier that failed), and traces that
 * could not be begun, are counted here, since nobody gets a status. */
XP_API uint64_t xp_misuse_count(void);

#include "xlaprof/annotate_inline.h"

#ifdef __cplusplus
}
#endif

#endif
