/* Traces and steps.
 *
 * A thread's stack has an entry for every open trace.  Without a session and a hook, a begin writes an entry and an end
 * compares a serial: that is the short way, with one look at the mode.  A trace ends only as the innermost of its own
 * thread, so what is popped is always what was pushed.
 *
 * The slot of a trace's event is written before the entry is counted: a chunk that is taken again looks for the open
 * events among the entries.
 */
#include "annotate/trace.h"

#include <pthread.h>
#include <string.h>

#include "annotate/fork.h"
#include "annotate/record.h"

/* What a begin was called with. */
typedef struct {
  const char *name;
  uint32_t len;
  uint64_t flags;
  int64_t step_number;
  const xp_arg *args;
  size_t arg_count;
  const xp_location *place;
} beginning;

static xp_scope_hook scope_hook;
static xp_step_barrier step_barrier;
static bool has_barrier; /* so that steps without one need no lock */
static pthread_mutex_t settings_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---------------------------------------------------------------- begin */

static inline xp_trace push(xp_tracer *self, const char *name, uint64_t flags)
{
  return xp_scope_push((xp_scope_stack *)(void *)self, name, flags);
}

static xp_trace refuse(void)
{
  xp_misuse_add();
  xp_trace none = {NULL, 0, 0};
  return none;
}

/* A copy of the name that stays until the trace ends; NULL if there is no room. */
static const char *keep_name(xp_tracer *self, const char *name, uint32_t len)
{
  if (len > XP_STACK_TEXT_BYTES - self->texts_len) {
    return NULL;
  }
  char *copy = self->texts + self->texts_len;
  memcpy(copy, name, len);
  self->texts_len += len;
  return copy;
}

/* The whole of a begin, for every case. */
static xp_trace begin_slow(const beginning *b)
{
  xp_tracer *self = xp_tracer_get();
  if (self == NULL || self->depth >= XP_STACK_ENTRIES) {
    return refuse();
  }
  const char *name = b->len == XP_NAME_STATIC ? b->name : keep_name(self, b->name, b->len);
  if (name == NULL && b->name != NULL) {
    return refuse();
  }
  xp_slot *slot = NULL;
  bool is_recording = xp_tracer_enter(self);
  if (is_recording) {
    slot = xp_record_event(self, name, b->len, self->serial + 1, b->args, b->arg_count);
  }
  xp_entry *entry = &self->stack[self->depth + 1];
  entry->slot = slot;
  entry->generation = slot != NULL ? self->generation : 0;
  XP_SET(entry->len, b->len);
  XP_SET(entry->step_number, b->step_number);
  entry->place = b->place;
  xp_trace trace = push(self, name, b->flags);
  if (slot != NULL) {
    slot->start = xp_clock_read();
  }
  if (is_recording) {
    xp_tracer_leave(self);
  }
  if (__atomic_load_n(&xp_scope_mode, __ATOMIC_ACQUIRE) & XP_MODE_HOOK && scope_hook.enter != NULL) {
    xp_str text = xp_entry_text(entry);
    scope_hook.enter(scope_hook.context, text.ptr, text.len);
  }
  return trace;
}

/* The short way of a thread that takes part in a session, with no hook and a name that need not be copied. */
static inline bool enter_short(xp_tracer *self)
{
  return self != NULL && XP_GET(xp_scope_mode) == self->joined && self->depth < XP_STACK_ENTRIES &&
         xp_tracer_enter(self);
}

static inline xp_trace begin_short(xp_tracer *self, const char *name, uint64_t flags, int64_t step_number,
                                   const xp_arg *args, size_t arg_count)
{
  xp_slot *slot = xp_record_event(self, name, XP_NAME_STATIC, self->serial + 1, args, arg_count);
  xp_entry *entry = &self->stack[self->depth + 1];
  xp_trace trace = push(self, name, flags);
  XP_SET(entry->step_number, step_number);
  entry->slot = slot;
  entry->generation = 0;
  if (__builtin_expect(slot != NULL, 1)) {
    entry->generation = self->generation;
    slot->start = xp_clock_read();
  }
  xp_tracer_leave(self);
  return trace;
}

__attribute__((noinline)) static xp_trace begin_recorded(const char *name)
{
  xp_tracer *self = xp_tracer_here();
  if (__builtin_expect(enter_short(self), 1)) {
    return begin_short(self, name, 0, 0, NULL, 0);
  }
  const beginning b = {name, XP_NAME_STATIC, 0, 0, NULL, 0, NULL};
  return begin_slow(&b);
}

/* Whether a trace can begin by a push alone: neither session nor hook wants it. */
static inline bool is_plain_begin(const xp_tracer *self)
{
  return self != NULL && self->depth < XP_STACK_ENTRIES && !(XP_GET(xp_scope_mode) & (XP_MODE_RECORD | XP_MODE_HOOK));
}

xp_trace xp_trace_begin(const char *name)
{
  xp_tracer *self = xp_tracer_here();
  if (__builtin_expect(is_plain_begin(self), 1)) {
    return push(self, name, 0);
  }
  return begin_recorded(name);
}

xp_trace xp_trace_begin_args(const char *name, const xp_arg *args, size_t arg_count)
{
  if (!(XP_GET(xp_scope_mode) & XP_MODE_RECORD)) {
    return xp_trace_begin(name);
  }
  xp_tracer *self = xp_tracer_here();
  if (__builtin_expect(enter_short(self), 1)) {
    return begin_short(self, name, 0, 0, args, arg_count);
  }
  const beginning b = {name, XP_NAME_STATIC, 0, 0, args, arg_count, NULL};
  return begin_slow(&b);
}

static uint32_t cut_len(size_t len)
{
  return len < XP_NAME_BYTES_MAX ? (uint32_t)len : XP_NAME_BYTES_MAX;
}

xp_trace xp_trace_begin_copy(const char *name, size_t len, const xp_arg *args, size_t arg_count)
{
  const beginning b = {
      name != NULL ? name : "", name != NULL ? cut_len(len) : 0, XP_ENTRY_COPIED, 0, args, arg_count, NULL};
  return begin_slow(&b);
}

static inline xp_trace begin_step(const xp_location *at, const char *name, uint32_t len, int64_t number)
{
  xp_tracer *self = xp_tracer_here();
  if (len == XP_NAME_STATIC && is_plain_begin(self)) {
    XP_SET(self->stack[self->depth + 1].step_number, number);
    self->stack[self->depth + 1].place = at;
    return push(self, name, XP_ENTRY_STEP);
  }
  const xp_arg args[] = {xp_arg_int("_r", 1), xp_arg_int("step_num", number)};
  if (len == XP_NAME_STATIC && enter_short(self)) {
    self->stack[self->depth + 1].place = at;
    return begin_short(self, name, XP_ENTRY_STEP, number, args, 2);
  }
  const uint64_t copied = len != XP_NAME_STATIC ? XP_ENTRY_COPIED : 0;
  const beginning b = {name, len, XP_ENTRY_STEP | copied, number, args, 2, at};
  return begin_slow(&b);
}

xp_trace xp_step_begin(const char *name, int64_t number)
{
  return begin_step(NULL, name, XP_NAME_STATIC, number);
}

xp_trace xp_step_begin_at(const xp_location *at, const char *name, int64_t number)
{
  return begin_step(at, name, XP_NAME_STATIC, number);
}

xp_trace xp_step_begin_copy(const char *name, size_t len, int64_t number)
{
  return name != NULL ? begin_step(NULL, name, cut_len(len), number) : begin_step(NULL, "", 0, number);
}

/* ---------------------------------------------------------------- end */

/* Closes the event of an entry, if it has one in this session. */
static inline void end_event(const xp_tracer *self, const xp_entry *entry, uint64_t now)
{
  if (__builtin_expect(entry->generation == self->generation, 1) ||
      xp_record_is_here(self, entry->slot, entry->generation)) {
    entry->slot->end = now;
  }
}

/* Whether the trace is the innermost open one of the calling thread. */
static inline bool is_innermost(const xp_tracer *self, xp_trace trace)
{
  return self != NULL && trace.thread == self && trace.depth == self->depth &&
         (uint32_t)self->stack[trace.depth].tag == trace.serial;
}

/* Tells the hook that the scope ends. */
static void leave_scope(void)
{
  if (__atomic_load_n(&xp_scope_mode, __ATOMIC_ACQUIRE) & XP_MODE_HOOK && scope_hook.leave != NULL) {
    scope_hook.leave(scope_hook.context);
  }
}

static xp_status wait_for_step(xp_error *err)
{
  pthread_mutex_lock(&settings_lock);
  xp_step_barrier barrier = step_barrier;
  pthread_mutex_unlock(&settings_lock);
  return barrier.wait != NULL ? barrier.wait(barrier.context, err) : XP_OK;
}

/* Closes the event and takes the entry off the stack. */
static void drop_entry(xp_tracer *self, xp_entry *entry)
{
  uint64_t now = xp_clock_read();
  if (xp_tracer_enter(self)) {
    end_event(self, entry, now);
    xp_tracer_leave(self);
  }
  if (entry->tag & XP_ENTRY_COPIED) {
    self->texts_len = (uint64_t)(entry->name - self->texts);
  }
  if (entry->tag & XP_ENTRY_NO_SCOPE) {
    /* What the barrier opened, it opened in the parent's scope. */
    entry[-1].numbers = entry[-1].numbers % XP_ENTRY_CHILD + entry->numbers / XP_ENTRY_CHILD * XP_ENTRY_CHILD;
  }
  __atomic_store_n(&self->depth, self->depth - 1, __ATOMIC_RELEASE);
}

/* Pops the scope of a step and waits. */
static xp_status end_step_scope(xp_entry *entry, xp_error *err)
{
  XP_SET(entry->tag, entry->tag | XP_ENTRY_NO_SCOPE);
  entry->numbers = entry->numbers % XP_ENTRY_CHILD + entry[-1].numbers / XP_ENTRY_CHILD * XP_ENTRY_CHILD;
  return wait_for_step(err);
}

static xp_status end_slow(xp_trace trace, xp_error *err)
{
  xp_tracer *self = xp_tracer_here();
  if (trace.thread == NULL) {
    return XP_OK;
  }
  if (!is_innermost(self, trace)) {
    return xp_trace_misplaced(self, trace, err);
  }
  xp_entry *entry = &self->stack[trace.depth];
  xp_status status = XP_OK;
  if (!(entry->tag & XP_ENTRY_NO_SCOPE)) {
    leave_scope();
    if (entry->tag & XP_ENTRY_STEP) {
      status = end_step_scope(entry, err);
      if (!is_innermost(self, trace)) {
        return xp_trace_misplaced(self, trace, err); /* the barrier left a trace open */
      }
    }
  }
  drop_entry(self, entry);
  return status;
}

/* Whether an entry has nothing that its end must do beside closing the event. */
static inline bool is_simple(const xp_entry *entry)
{
  uint64_t flags = entry->tag >> 32 << 32;
  return flags == 0 || (flags == XP_ENTRY_STEP && !__atomic_load_n(&has_barrier, __ATOMIC_ACQUIRE));
}

/* The short way of a thread that takes part in a session, and of steps. */
__attribute__((noinline)) static xp_status end_recorded(xp_trace trace, xp_error *err)
{
  xp_tracer *self = xp_tracer_here();
  uint64_t mode = XP_GET(xp_scope_mode);
  if (mode & XP_MODE_HOOK || !is_innermost(self, trace) || !is_simple(&self->stack[trace.depth])) {
    return end_slow(trace, err);
  }
  if (mode & XP_MODE_RECORD) {
    uint64_t now = xp_clock_read();
    if (xp_tracer_enter(self)) {
      end_event(self, &self->stack[trace.depth], now);
      xp_tracer_leave(self);
    }
  }
  __atomic_store_n(&self->depth, trace.depth - 1, __ATOMIC_RELEASE);
  return XP_OK;
}

/* Whether a trace can end by a pop alone: it is the innermost one, and neither session, hook nor barrier wants it. */
static inline bool is_plain_end(const xp_tracer *self, xp_trace trace)
{
  return self != NULL && trace.thread == self && trace.depth == self->depth &&
         self->stack[trace.depth].tag == trace.serial && !(XP_GET(xp_scope_mode) & (XP_MODE_RECORD | XP_MODE_HOOK));
}

xp_status xp_trace_end(xp_trace trace, xp_error *err)
{
  xp_tracer *self = xp_tracer_here();
  if (__builtin_expect(is_plain_end(self, trace), 1)) {
    __atomic_store_n(&self->depth, trace.depth - 1, __ATOMIC_RELEASE);
    return XP_OK;
  }
  return end_recorded(trace, err);
}

__attribute__((noinline)) static void end_block_recorded(xp_trace trace)
{
  if (__builtin_expect(end_recorded(trace, NULL) != XP_OK, 0)) {
    xp_misuse_add();
  }
}

void xp_trace_end_block(xp_trace trace)
{
  xp_tracer *self = xp_tracer_here();
  if (__builtin_expect(is_plain_end(self, trace), 1)) {
    __atomic_store_n(&self->depth, trace.depth - 1, __ATOMIC_RELEASE);
  } else {
    end_block_recorded(trace);
  }
}

void xp_trace_add(xp_trace trace, xp_arg arg)
{
  xp_tracer *self = xp_tracer_here();
  if (!(XP_GET(xp_scope_mode) & XP_MODE_RECORD) || self == NULL || trace.thread != self || trace.depth == 0 ||
      trace.depth > self->depth || !xp_tracer_enter(self)) {
    return;
  }
  xp_entry *entry = &self->stack[trace.depth];
  if ((uint32_t)entry->tag == trace.serial) {
    xp_record_added(self, entry, &arg);
  }
  xp_tracer_leave(self);
}

/* ---------------------------------------------------------------- what frontends set */

void xp_set_scope_hook(const xp_scope_hook *hook)
{
  pthread_mutex_lock(&settings_lock);
  if (hook != NULL) {
    scope_hook = *hook;
    __atomic_fetch_or(&xp_scope_mode, XP_MODE_HOOK, __ATOMIC_RELEASE);
  } else {
    __atomic_fetch_and(&xp_scope_mode, ~(uint64_t)XP_MODE_HOOK, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&settings_lock);
}

void xp_set_step_barrier(const xp_step_barrier *barrier)
{
  const xp_step_barrier none = {NULL, NULL};
  xp_fork_prepare(); /* whoever sets one has locks that are taken before ours, and handlers of forks that come later */
  pthread_mutex_lock(&settings_lock);
  step_barrier = barrier != NULL ? *barrier : none;
  __atomic_store_n(&has_barrier, step_barrier.wait != NULL, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&settings_lock);
}
