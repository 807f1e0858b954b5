/* One lock guards everything.  Devices seldom meet there: an operation holds it for the time of a store.
 *
 * A run gets a row when its first event is recorded, so runs without events cost nothing.  Rows and events lie in
 * chunks of one reservation, which has as many as both can need.
 */
#include "device/tracer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ORDINALS = 1024 };

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

/* Takes the next chunk of the pool for element `index` if it has none yet; false if there is none. */
static bool make_room(xp_dev_trace *trace, xp_chunk **chunks, size_t index, size_t per_chunk)
{
  if (index == trace->event_limit) {
    return false;
  }
  if (chunks[index / per_chunk] == NULL) {
    chunks[index / per_chunk] = xp_pool_take(&trace->pool, NULL);
  }
  return chunks[index / per_chunk] != NULL;
}

/* The row of a run, new at its first event; false if there is no room for it. */
static bool row_of(xp_dev_trace *trace, const xp_dev_traced_run *run, uint32_t *row)
{
  for (size_t i = trace->run_count; i > 0 && i + 2 * XP_DEV_MAX_DEVICES > trace->run_count; i--) {
    if (xp_dev_trace_run_at(trace, i - 1)->run_id == run->run_id) { /* a running one is among the last */
      *row = (uint32_t)(i - 1);
      return true;
    }
  }
  if (!make_room(trace, trace->run_chunks, trace->run_count, XP_DEV_RUNS_A_CHUNK)) {
    return false;
  }
  *xp_dev_trace_run_at(trace, trace->run_count) = (xp_dev_trace_run){.program = xp_dev_program_ref(run->program),
                                                                     .ordinal = run->ordinal,
                                                                     .run_id = run->run_id,
                                                                     .step = run->step,
                                                                     .flow = run->flow,
                                                                     .step_id = run->step_id};
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
  if (!make_room(trace, trace->event_chunks, trace->event_count, XP_DEV_EVENTS_A_CHUNK) || !row_of(trace, run, &row)) {
    trace->dropped++;
    return;
  }
  *xp_dev_trace_event_at(trace, trace->event_count++) =
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

/* The child has neither the threads nor the memory of the session. */
static void after_fork_in_child(void)
{
  xp_dev_trace *trace = tracer.trace;
  pthread_mutex_init(&tracer.lock, NULL);
  __atomic_store_n(&xp_dev_tracer_is_on, false, __ATOMIC_RELAXED);
  tracer.running = NULL;
  tracer.trace = NULL;
  if (trace != NULL) {
    xp_feeder_forget(trace->feeder);
    trace->feeder = NULL;
    trace->run_count = 0; /* its memory is empty here */
    xp_dev_trace_free(trace);
  }
}

static xp_dev_trace *create_trace(size_t event_limit)
{
  size_t run_chunks = event_limit / XP_DEV_RUNS_A_CHUNK + 1, event_chunks = event_limit / XP_DEV_EVENTS_A_CHUNK + 1;
  xp_dev_trace *trace = calloc(1, sizeof *trace);
  if (trace == NULL) {
    return NULL;
  }
  trace->event_limit = event_limit;
  trace->run_chunks = calloc(run_chunks, sizeof(xp_chunk *));
  trace->event_chunks = calloc(event_chunks, sizeof(xp_chunk *));
  if (trace->run_chunks == NULL || trace->event_chunks == NULL ||
      !xp_pool_open(&trace->pool, (uint64_t)(run_chunks + event_chunks) * XP_CHUNK_BYTES)) {
    xp_dev_trace_free(trace);
    return NULL;
  }
  return trace;
}

xp_status xp_dev_tracer_start(size_t event_limit, xp_error *err)
{
  static bool has_fork_handler; /* under the lock */
  xp_dev_trace *trace = create_trace(event_limit);
  if (trace == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for tracing %zu events of the device.", event_limit);
  }
  trace->feeder = xp_feeder_start(&trace->pool);
  pthread_mutex_lock(&tracer.lock);
  bool is_free = tracer.trace == NULL;
  if (is_free) {
    has_fork_handler = has_fork_handler || pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
    trace->started = xp_clock_pair_read();
    trace->started_unix_ns = xp_clock_unix_ns_at(trace->started);
    tracer.trace = trace;
    __atomic_store_n(&xp_dev_tracer_is_on, true, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&tracer.lock);
  if (!is_free) {
    xp_dev_trace_free(trace);
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
  if (trace != NULL) {
    xp_feeder_stop(trace->feeder);
    trace->feeder = NULL;
  }
  return trace;
}

void xp_dev_trace_free(xp_dev_trace *trace)
{
  if (trace == NULL) {
    return;
  }
  xp_feeder_stop(trace->feeder);
  for (size_t i = 0; i < trace->run_count; i++) {
    xp_dev_program_unref(xp_dev_trace_run_at(trace, i)->program);
  }
  xp_pool_close(&trace->pool);
  free(trace->run_chunks);
  free(trace->event_chunks);
  free(trace);
}
