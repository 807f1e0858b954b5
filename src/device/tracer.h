/* Recording what the devices do, while a session of the profiler runs.
 *
 * There is one session a process.  Devices of all clients record into it: an event for each executed operation, and one
 * for each execution of a program.  Its room is reserved when it starts, and touched by a thread ahead of the devices:
 * a device that waited for memory behind an operation would be idle because it is watched.  What does not fit is
 * counted.  When no session runs, an execution costs two short locks, and an operation one load.
 */
#ifndef XP_DEVICE_TRACER_H
#define XP_DEVICE_TRACER_H

#include "annotate/clock.h"
#include "annotate/pool.h"
#include "base/error.h"
#include "device/program.h"

/* A number for a new device, the lowest that no other has, and its return. */
int xp_dev_tracer_add_device(void);
void xp_dev_tracer_drop_device(int ordinal);

/* An execution that is running.  It belongs to the device's thread, which begins and ends it. */
typedef struct xp_dev_traced_run {
  struct xp_dev_traced_run *next, **from; /* all that are running */
  xp_abi_executable *program;
  int ordinal;
  int64_t run_id;
  int64_t step;     /* -1: none */
  uint64_t step_id; /* of steps with one number; 0: the host sent none */
  int64_t flow;     /* the id that the host gave for its launch; -1: none */
  uint64_t start;
} xp_dev_traced_run;

void xp_dev_tracer_run_begin(xp_dev_traced_run *run);
void xp_dev_tracer_run_end(xp_dev_traced_run *run);

/* True while a session records. */
extern bool xp_dev_tracer_is_on;

/* One executed operation of a run, in ticks of annotate/clock.h. */
void xp_dev_tracer_op(const xp_dev_traced_run *run, size_t plan_step, uint64_t start, uint64_t end);

/* ---------------------------------------------------------------- a session */

/* An event: an operation, or (plan_step XP_DEV_WHOLE_RUN) an execution as a whole. */
#define XP_DEV_WHOLE_RUN UINT32_MAX

typedef struct {
  uint64_t start, end;
  uint32_t run; /* into the runs */
  uint32_t plan_step;
} xp_dev_trace_event;

typedef struct {
  xp_abi_executable *program; /* a reference */
  int ordinal;
  int64_t run_id, step, flow;
  uint64_t step_id;
} xp_dev_trace_run;

typedef struct {
  xp_clock_pair started, stopped;
  int64_t started_unix_ns;
  xp_pool pool;
  xp_feeder *feeder; /* while the session runs */
  xp_chunk **run_chunks, **event_chunks;
  size_t run_count;   /* by the time of their first event */
  size_t event_count; /* of each device by end */
  size_t event_limit;
  uint64_t dropped; /* events for which there was no room */
} xp_dev_trace;

enum {
  XP_DEV_RUNS_A_CHUNK = XP_CHUNK_ROOM / (int)sizeof(xp_dev_trace_run),
  XP_DEV_EVENTS_A_CHUNK = XP_CHUNK_ROOM / (int)sizeof(xp_dev_trace_event),
};

static inline xp_dev_trace_run *xp_dev_trace_run_at(const xp_dev_trace *trace, size_t i)
{
  return (xp_dev_trace_run *)(void *)xp_chunk_begin(trace->run_chunks[i / XP_DEV_RUNS_A_CHUNK]) +
         i % XP_DEV_RUNS_A_CHUNK;
}

static inline xp_dev_trace_event *xp_dev_trace_event_at(const xp_dev_trace *trace, size_t i)
{
  return (xp_dev_trace_event *)(void *)xp_chunk_begin(trace->event_chunks[i / XP_DEV_EVENTS_A_CHUNK]) +
         i % XP_DEV_EVENTS_A_CHUNK;
}

enum { XP_DEV_TRACE_EVENTS = 1 << 21 }; /* room of a session, unless it asks for another */

/* Starts a session with room for event_limit events.  XP_ERR_BUSY while another one runs, XP_ERR_MEMORY.  A fork has no
 * session in its child. */
xp_status xp_dev_tracer_start(size_t event_limit, xp_error *err);

/* Ends it and hands over what it recorded; executions that are running count as far as they have come.  NULL if none
 * runs. */
xp_dev_trace *xp_dev_tracer_stop(void);

/* NULL is allowed. */
void xp_dev_trace_free(xp_dev_trace *trace);

#endif
