/* One lock guards everything.  Devices seldom meet there: an operation holds it for the time of a store.
 *
 * A run gets a row when its first event is recorded, so runs without events cost nothing.  Rows and events grow by
 * doubling; memory that runs out is the same as room that runs out.
 */
#include "device/tracer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ORDINALS = 1024, FIRST_ROOM = 1024 };

bool xp_dev_tracer_is_on;

static struct {
  pthread_mutex_t lock;
  bool ordinals[MAX_ORDINALS];
  xp_dev_traced_run *running;
  xp_dev_trace *trace; /* of the session */
} tracer = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---------------------------------------------------------------- devices */

int xp_dev_tracer_add_device(void)
{
  int ordinal = 0;
  pthread_mutex_lock(&tracer.lock);
  while (ordinal < MAX_ORDINALS - 1 && tracer.ordinals[ordinal]) { /* the last one is shared by all that are too many */
    ordinal++;
  }
  tracer.ordinals[ordinal] = true;
  pthread_mutex_unlock(&tracer.lock);
  return ordinal;
}

void xp_dev_tracer_drop_device(int ordinal)
{
  pthread_mutex_lock(&tracer.lock);
  tracer.ordinals[ordinal] = false;
  pthread_mutex_unlock(&tracer.lock);
}

/* ---------------------------------------------------------------- events */

/* Doubles an array that is full; false when memory is out or the limit is reached. */
static bool make_room(void **array, size_t count, size_t *room, size_t limit, size_t size)
{
  if (count < *room) {
    return true;
  }
  size_t larger = *room == 0 ? FIRST_ROOM : *room * 2;
  larger = larger > limit ? limit : larger;
  void *grown = count < larger ? realloc(*array, larger * size) : NULL;
  if (grown == NULL) {
    return false;
  }
  *array = grown;
  *room = larger;
  return true;
}

/* The row of a run, new at its first event; false if there is no room for it. */
static bool row_of(xp_dev_trace *trace, const xp_dev_traced_run *run, uint32_t *row)
{
  for (size_t i = trace->run_count; i > 0 && i + 2 * XP_DEV_MAX_DEVICES > trace->run_count; i--) {
    if (trace->runs[i - 1].run_id == run->run_id) { /* a running one is among the last */
      *row = (uint32_t)(i - 1);
      return true;
    }
  }
  if (!make_room((void **)&trace->runs, trace->run_count, &trace->run_room, trace->event_limit, sizeof *trace->runs)) {
    return false;
  }
  trace->runs[trace->run_count] = (xp_dev_trace_run){.program = xp_dev_program_ref(run->program),
                                                     .ordinal = run->ordinal,
                                                     .run_id = run->run_id,
                                                     .step = run->step,
                                                     .flow = run->flow};
  *row = (uint32_t)trace->run_count++;
  return true;
}

static void record(const xp_dev_traced_run *run, uint32_t plan_step, uint64_t start, uint64_t end)
{
  xp_dev_trace *trace = tracer.trace;
  uint32_t row = 0;
  if (trace == NULL) {
    return; /* it ended meanwhile */
  }
  if (!make_room((void **)&trace->events, trace->event_count, &trace->event_room, trace->event_limit,
                 sizeof *trace->events) ||
      !row_of(trace, run, &row)) {
    trace->dropped++;
    return;
  }
  trace->events[trace->event_count++] =
      (xp_dev_trace_event){.start = start, .end = end, .run = row, .plan_step = plan_step};
}

void xp_dev_tracer_op(const xp_dev_traced_run *run, size_t plan_step, uint64_t start, uint64_t end)
{
  pthread_mutex_lock(&tracer.lock);
  if (tracer.trace != NULL && start >= tracer.trace->started.ticks) {
    record(run, (uint32_t)plan_step, start, end);
  }
  pthread_mutex_unlock(&tracer.lock);
}

void xp_dev_tracer_run_begin(xp_dev_traced_run *run)
{
  pthread_mutex_lock(&tracer.lock);
  run->start = xp_clock_read();
  run->next = tracer.running;
  run->from = &tracer.running;
  if (run->next != NULL) {
    run->next->from = &run->next;
  }
  tracer.running = run;
  pthread_mutex_unlock(&tracer.lock);
}

void xp_dev_tracer_run_end(xp_dev_traced_run *run)
{
  pthread_mutex_lock(&tracer.lock);
  *run->from = run->next;
  if (run->next != NULL) {
    run->next->from = run->from;
  }
  record(run, XP_DEV_WHOLE_RUN, run->start, xp_clock_read());
  pthread_mutex_unlock(&tracer.lock);
}

/* ---------------------------------------------------------------- the session */

xp_status xp_dev_tracer_start(size_t event_limit, xp_error *err)
{
  xp_dev_trace *trace = calloc(1, sizeof *trace);
  if (trace == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for tracing the device.");
  }
  trace->event_limit = event_limit;
  pthread_mutex_lock(&tracer.lock);
  bool is_free = tracer.trace == NULL;
  if (is_free) {
    trace->started = xp_clock_pair_read();
    trace->started_unix_ns = xp_clock_unix_ns_at(trace->started);
    tracer.trace = trace;
    __atomic_store_n(&xp_dev_tracer_is_on, true, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&tracer.lock);
  if (!is_free) {
    free(trace);
    return xp_fail(err, XP_ERR_BUSY, "The device is being traced by another session; stop that one first.");
  }
  return XP_OK;
}

xp_dev_trace *xp_dev_tracer_stop(void)
{
  pthread_mutex_lock(&tracer.lock);
  xp_dev_trace *trace = tracer.trace;
  if (trace != NULL) {
    uint64_t now = xp_clock_read();
    for (const xp_dev_traced_run *run = tracer.running; run != NULL; run = run->next) {
      record(run, XP_DEV_WHOLE_RUN, run->start, now);
    }
    tracer.trace = NULL;
    __atomic_store_n(&xp_dev_tracer_is_on, false, __ATOMIC_RELAXED);
    trace->stopped = xp_clock_pair_read();
  }
  pthread_mutex_unlock(&tracer.lock);
  return trace;
}

void xp_dev_trace_free(xp_dev_trace *trace)
{
  if (trace == NULL) {
    return;
  }
  for (size_t i = 0; i < trace->run_count; i++) {
    xp_dev_program_unref(trace->runs[i].program);
  }
  free(trace->runs);
  free(trace->events);
  free(trace);
}
