/* Annotations that are compiled out: with XP_DISABLE, every function of annotate.h is one of these.
 *
 * Do not include this file; annotate.h does.  Arguments are evaluated as they always are; nothing of the library is
 * referred to, so a program need not be linked with it.
 */
#ifndef XLAPROF_ANNOTATE_OFF_H
#define XLAPROF_ANNOTATE_OFF_H

static inline xp_trace xp_off_trace_begin(const char *name)
{
  (void)name;
  xp_trace none = {XP_NULL, 0, 0};
  return none;
}

static inline xp_trace xp_off_trace_begin_args(const char *name, const xp_arg *args, size_t arg_count)
{
  (void)name;
  (void)args;
  (void)arg_count;
  xp_trace none = {XP_NULL, 0, 0};
  return none;
}

static inline xp_trace xp_off_trace_begin_copy(const char *name, size_t len, const xp_arg *args, size_t arg_count)
{
  (void)name;
  (void)len;
  (void)args;
  (void)arg_count;
  xp_trace none = {XP_NULL, 0, 0};
  return none;
}

static inline xp_trace xp_off_step_begin(const char *name, int64_t number)
{
  (void)name;
  (void)number;
  xp_trace none = {XP_NULL, 0, 0};
  return none;
}

static inline xp_trace xp_off_step_begin_at(const xp_location *at, const char *name, int64_t number)
{
  (void)at;
  return xp_off_step_begin(name, number);
}

static inline xp_trace xp_off_step_begin_copy(const char *name, size_t len, int64_t number)
{
  (void)name;
  (void)len;
  (void)number;
  xp_trace none = {XP_NULL, 0, 0};
  return none;
}

static inline xp_status xp_off_trace_end(xp_trace trace, xp_error *err)
{
  (void)trace;
  (void)err;
  return XP_OK;
}

static inline void xp_off_trace_end_block(xp_trace trace)
{
  (void)trace;
}

static inline void xp_off_trace_add(xp_trace trace, xp_arg arg)
{
  (void)trace;
  (void)arg;
}

static inline size_t xp_off_scope_current(char *text, size_t room)
{
  if (room > 0) {
    text[0] = '\0';
  }
  return 0;
}

static inline size_t xp_off_scope_names(char *text, size_t room)
{
  return xp_off_scope_current(text, room);
}

static inline bool xp_off_step_current(xp_open_step *step)
{
  (void)step;
  return false;
}

static inline size_t xp_off_scope_depth(void)
{
  return 0;
}

static inline xp_status xp_off_scope_reset(xp_error *err)
{
  (void)err;
  return XP_OK;
}

static inline void xp_off_set_scope_hook(const xp_scope_hook *hook)
{
  (void)hook;
}

static inline void xp_off_set_step_barrier(const xp_step_barrier *barrier)
{
  (void)barrier;
}

static inline void xp_off_record(int level, const char *name, uint64_t start_ticks, uint64_t end_ticks,
                                 const xp_arg *args, size_t arg_count)
{
  (void)level;
  (void)name;
  (void)start_ticks;
  (void)end_ticks;
  (void)args;
  (void)arg_count;
}

static inline uint64_t xp_off_clock_ticks(void)
{
  return 0;
}

static inline uint64_t xp_off_flow_new(void)
{
  return 0;
}

static inline uint64_t xp_off_misuse_count(void)
{
  return 0;
}

/* These have no body in annotate.h, so they have it here under their own names. */

static inline bool xp_is_recording(int level)
{
  (void)level;
  return false;
}

static inline xp_region xp_region_begin_args(int level, const char *name, const xp_arg *args, size_t arg_count)
{
  (void)level;
  (void)name;
  (void)args;
  (void)arg_count;
  xp_region none = {XP_NULL, 0};
  return none;
}

static inline xp_region xp_region_begin(int level, const char *name)
{
  (void)level;
  (void)name;
  xp_region none = {XP_NULL, 0};
  return none;
}

static inline void xp_region_end(xp_region region)
{
  (void)region;
}

static inline void xp_instant(int level, const char *name, const xp_arg *args, size_t arg_count)
{
  (void)level;
  (void)name;
  (void)args;
  (void)arg_count;
}

static inline xp_trace xp_trace_block_begin(const char *name)
{
  return xp_off_trace_begin(name);
}

static inline void xp_trace_block_finish(xp_trace trace)
{
  (void)trace;
}

#define xp_trace_begin      xp_off_trace_begin
#define xp_trace_begin_args xp_off_trace_begin_args
#define xp_trace_begin_copy xp_off_trace_begin_copy
#define xp_step_begin       xp_off_step_begin
#define xp_step_begin_at    xp_off_step_begin_at
#define xp_step_begin_copy  xp_off_step_begin_copy
#define xp_trace_end        xp_off_trace_end
#define xp_trace_end_block  xp_off_trace_end_block
#define xp_trace_add        xp_off_trace_add
#define xp_scope_current    xp_off_scope_current
#define xp_scope_names      xp_off_scope_names
#define xp_step_current     xp_off_step_current
#define xp_scope_depth      xp_off_scope_depth
#define xp_scope_reset      xp_off_scope_reset
#define xp_set_scope_hook   xp_off_set_scope_hook
#define xp_set_step_barrier xp_off_set_step_barrier
#define xp_record           xp_off_record
#define xp_clock_ticks      xp_off_clock_ticks
#define xp_flow_new         xp_off_flow_new
#define xp_misuse_count     xp_off_misuse_count

#endif
