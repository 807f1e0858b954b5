/* The inline parts of annotate.h: arguments, the question whether anything is recorded, and the blocks.
 *
 * Do not include this file; annotate.h does.
 *
 * A block is a for loop that runs once, around a variable whose cleanup ends the trace: the compiler calls that on
 * every way out of the block.  Names of variables are made unique, so that nested blocks hide nothing.
 */
#ifndef XLAPROF_ANNOTATE_INLINE_H
#define XLAPROF_ANNOTATE_INLINE_H

#ifdef __cplusplus
#define XP_TO_UINT32(value) static_cast<uint32_t>(value)
#define XP_NULL             nullptr
#else
#define XP_TO_UINT32(value) ((uint32_t)(value))
#define XP_NULL             NULL
#endif

/* ---------------------------------------------------------------- arguments */

static inline xp_arg xp_arg_int(const char *key, int64_t value)
{
  xp_arg arg;
  arg.key = key;
  arg.type = XP_ARG_INT;
  arg.len = 0;
  arg.value.i = value;
  return arg;
}

static inline xp_arg xp_arg_uint(const char *key, uint64_t value)
{
  xp_arg arg;
  arg.key = key;
  arg.type = XP_ARG_UINT;
  arg.len = 0;
  arg.value.u = value;
  return arg;
}

static inline xp_arg xp_arg_double(const char *key, double value)
{
  xp_arg arg;
  arg.key = key;
  arg.type = XP_ARG_DOUBLE;
  arg.len = 0;
  arg.value.d = value;
  return arg;
}

static inline xp_arg xp_arg_bool(const char *key, bool value)
{
  xp_arg arg;
  arg.key = key;
  arg.type = XP_ARG_BOOL;
  arg.len = 0;
  arg.value.i = value ? 1 : 0;
  return arg;
}

static inline xp_arg xp_arg_str(const char *key, const char *static_text)
{
  xp_arg arg;
  arg.key = key;
  arg.type = XP_ARG_STR;
  arg.len = 0;
  arg.value.s = static_text;
  return arg;
}

static inline xp_arg xp_arg_str_copy(const char *key, const char *text, size_t len)
{
  xp_arg arg;
  arg.key = key;
  arg.type = XP_ARG_STR_COPY;
  arg.len = len < 65535 ? XP_TO_UINT32(len) : 65535;
  arg.value.s = text;
  return arg;
}

/* Stands behind the arguments of a block, so that there is always one; it is not recorded. */
static inline xp_arg xp_arg_last(void)
{
  return xp_arg_int("", 0);
}

#ifndef XP_DISABLE

/* ---------------------------------------------------------------- regions and instants */

/* What the inline functions call while a session runs. */
XP_API xp_region xp_region_begin_recorded(const char *name, const xp_arg *args, size_t arg_count);
XP_API void xp_region_end_recorded(xp_region region);
XP_API void xp_instant_recorded(const char *name, const xp_arg *args, size_t arg_count);

/* xp_trace_end for those who look at no status: counts what went wrong (xp_misuse_count). */
XP_API void xp_trace_end_block(xp_trace trace);

/* What a block writes itself, so that a trace costs no call while nothing is recorded.  Private: the layout is that of
 * this version of the library, and may be another one in the next. */
typedef struct {
  const char *name;
  uint64_t tag;     /* serial, and flags in the high half: 0 of a plain trace */
  uint64_t numbers; /* the scope's number in its parent, and in the high half how many it opened inside */
  uint64_t of_library[5];
} xp_open_scope;

typedef struct {
  uint32_t depth;
  xp_open_scope *open; /* 1 to depth; 0 stands for the thread */
  uint32_t serial;     /* not beside depth: the two would be loaded as one, and wait for their two stores */
} xp_scope_stack;

enum { XP_SCOPES_OPEN_MAX = 32768 };

/* The calling thread's; NULL before its first trace or event. */
extern __thread xp_scope_stack *xp_scopes_of_thread __attribute__((tls_model("initial-exec"), visibility("default")));

/* Whether a session or a hook wants to know of traces (bits 0 and 1). */
extern XP_API uint64_t xp_scope_mode;

/* The stack, if a trace can begin or end by a push or pop alone. */
static inline xp_scope_stack *xp_plain_scopes(void)
{
  const bool is_plain = !(__atomic_load_n(&xp_scope_mode, __ATOMIC_RELAXED) & 3);
  return __builtin_expect(is_plain, 1) ? xp_scopes_of_thread : XP_NULL;
}

/* Pushes a scope; there is room.  Other threads read the stack when a session starts: a scope is whole before depth
 * counts it. */
static inline xp_trace xp_scope_push(xp_scope_stack *stack, const char *name, uint64_t flags)
{
  const uint32_t depth = stack->depth + 1;
  uint32_t serial = stack->serial + 1;
  __asm__("" : "+r"(serial)); /* else compilers make one vector of the two, which costs more than all the rest */
  xp_open_scope *scope = &stack->open[depth];
  const uint64_t one_more = UINT64_C(1) << 32, parent = scope[-1].numbers + one_more, tag = serial | flags;
  stack->serial = serial;
  scope[-1].numbers = parent;
  __atomic_store_n(&scope->name, name, __ATOMIC_RELAXED);
  __atomic_store_n(&scope->tag, tag, __ATOMIC_RELAXED);
  scope->numbers = parent >> 32;
  __atomic_store_n(&stack->depth, depth, __ATOMIC_RELEASE);
  xp_trace trace = {stack, depth, serial};
  return trace;
}

static inline xp_trace xp_trace_block_begin(const char *name)
{
  xp_scope_stack *stack = xp_plain_scopes();
  if (__builtin_expect(stack == XP_NULL || stack->depth >= XP_SCOPES_OPEN_MAX, 0)) {
    return xp_trace_begin(name);
  }
  return xp_scope_push(stack, name, 0);
}

static inline void xp_trace_block_finish(xp_trace trace)
{
  xp_scope_stack *stack = xp_plain_scopes();
  if (__builtin_expect(stack != XP_NULL && trace.thread == stack && trace.depth == stack->depth &&
                           stack->open[trace.depth].tag == trace.serial,
                       1)) {
    __atomic_store_n(&stack->depth, trace.depth - 1, __ATOMIC_RELEASE);
  } else {
    xp_trace_end_block(trace);
  }
}

static inline bool xp_is_recording(int level)
{
  return __builtin_expect(__atomic_load_n(&xp_recording_level, __ATOMIC_RELAXED) >= level, 0);
}

static inline xp_region xp_region_begin_args(int level, const char *name, const xp_arg *args, size_t arg_count)
{
  xp_region region = {XP_NULL, 0};
  if (xp_is_recording(level)) {
    region = xp_region_begin_recorded(name, args, arg_count);
  }
  return region;
}

static inline xp_region xp_region_begin(int level, const char *name)
{
  return xp_region_begin_args(level, name, XP_NULL, 0);
}

static inline void xp_region_end(xp_region region)
{
  if (__builtin_expect(region.generation != 0, 0)) {
    xp_region_end_recorded(region);
  }
}

static inline void xp_instant(int level, const char *name, const xp_arg *args, size_t arg_count)
{
  if (xp_is_recording(level)) {
    xp_instant_recorded(name, args, arg_count);
  }
}

#else

#include "xlaprof/annotate_off.h"

#endif

/* ---------------------------------------------------------------- blocks */

#define XP_JOIN_WORDS(a, b)     a##b
#define XP_UNIQUE_OF(prefix, n) XP_JOIN_WORDS(prefix, n)
#define XP_UNIQUE(prefix)       XP_UNIQUE_OF(prefix, __COUNTER__)

typedef struct {
  xp_trace trace;
  bool is_done;
} xp_trace_block;

typedef struct {
  xp_region region;
  bool is_done;
} xp_region_block;

static inline xp_trace_block xp_trace_block_of(xp_trace trace)
{
  xp_trace_block block;
  block.trace = trace;
  block.is_done = false;
  return block;
}

static inline void xp_trace_block_end(xp_trace_block *block)
{
  xp_trace_block_finish(block->trace);
}

static inline xp_region_block xp_region_block_of(xp_region region)
{
  xp_region_block block;
  block.region = region;
  block.is_done = false;
  return block;
}

static inline xp_region xp_region_block_begin_args(const char *name, const xp_arg *args, size_t arg_count)
{
  return xp_region_begin_args(XP_LEVEL_USER, name, args, arg_count);
}

static inline xp_region xp_region_block_begin(const char *name)
{
  return xp_region_begin(XP_LEVEL_USER, name);
}

static inline void xp_region_block_end(xp_region_block *block)
{
  xp_region_end(block->region);
}

/* Calls one of two functions: with the name and an array of the arguments while a session records, else with the name
 * alone.  The arguments are evaluated for the first only. */
#define XP_BLOCK_BEGIN(with_args, without, name, ...)                                                                  \
  __extension__({                                                                                                      \
    const char *xp_block_name = name;                                                                                  \
    xp_is_recording(XP_LEVEL_USER) ? __extension__({                                                                   \
      const xp_arg xp_block_args[] = {__VA_ARGS__};                                                                    \
      const size_t xp_block_arg_count = sizeof xp_block_args / sizeof xp_block_args[0] - 1;                            \
      xp_block_arg_count > 0 ? with_args(xp_block_name, xp_block_args, xp_block_arg_count) : without(xp_block_name);   \
    })                                                                                                                 \
                                   : without(xp_block_name);                                                           \
  })

#define XP_BLOCK(kind, block, value)                                                                                   \
  for (kind block __attribute__((cleanup(kind##_end))) = kind##_of(value); !block.is_done; block.is_done = true)

#define XP_TRACE_BLOCK(block, ...)                                                                                     \
  XP_BLOCK(xp_trace_block, block, XP_BLOCK_BEGIN(xp_trace_begin_args, xp_trace_block_begin, __VA_ARGS__, xp_arg_last()))
#define XP_STEP_BLOCK(block, name, number) XP_BLOCK(xp_trace_block, block, xp_step_begin_at(XP_HERE, name, number))
#define XP_REGION_BLOCK(block, ...)                                                                                    \
  XP_BLOCK(xp_region_block, block,                                                                                     \
           XP_BLOCK_BEGIN(xp_region_block_begin_args, xp_region_block_begin, __VA_ARGS__, xp_arg_last()))

#endif
