/* The one registry of a process, which any number of threads use at once.
 *
 * Both kinds of rows hang in a table of lists that only grow at their heads and lose nothing, so that finding and
 * adding take no lock, and a handle is the row itself.  A counter is a sum in a cache line of its own.  A
 * metric has a lock for its ring of samples.
 *
 * Fork: a lock that another thread holds would never open in the child, where that thread is not.  So the child makes
 * all locks anew.  Every field of a metric is valid at every moment; a sample that was being added at the fork may be
 * in the child's number of samples and not yet in its sum.
 */
#define _GNU_SOURCE

#include "metrics/registry.h"

#include "base/clock.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { BUCKETS = 1024 };                                     /* some hundred names are usual */
enum { DEFAULT_SAMPLES = 1024, MOST_SAMPLES = 1024 * 1024 }; /* of a metric */
enum { CACHE_LINE = 64 };

/* What both kinds of rows begin with. */
typedef struct row {
  struct row *next;
  uint64_t hash;
  xp_str name; /* behind the row */
} row;

typedef _Atomic(row *) bucket;

struct xp_counter_handle {
  row row;
  atomic_uint_least64_t sum;     /* of all that was added */
  atomic_uint_least64_t cleared; /* what it was at the last clear, which so gets into nobody's way */
};

struct xp_metric_handle {
  row row;
  xp_metric_unit unit;
  size_t capacity;      /* of samples */
  pthread_mutex_t lock; /* of what follows */
  uint64_t total;
  double sum;
  size_t count, next; /* samples in the ring, and where the next one goes */
  xp_metric_sample *samples;
};

/* The library's only state of the process, as the header demands: handles live as long as it. */
static bucket counters[BUCKETS], metrics[BUCKETS];
static pthread_once_t metrics_prepared = PTHREAD_ONCE_INIT;
static int fork_status;                          /* of pthread_atfork */
static size_t sample_capacity = DEFAULT_SAMPLES; /* of metrics to come */

/* ---------------------------------------------------------------- the table */

/* The row of a name in a list, from its head up to `until`, which is not looked at. */
static row *find(row *head, const row *until, xp_str name, uint64_t hash)
{
  for (row *r = head; r != until; r = r->next) {
    if (r->hash == hash && xp_str_eq(r->name, name)) {
      return r;
    }
  }
  return NULL;
}

/* A zeroed row of so many bytes with its name and a NUL behind it, in cache lines of its own; NULL when memory is out.
 */
static row *new_row(size_t bytes, xp_str name, uint64_t hash)
{
  if (name.len > SIZE_MAX / 2) {
    return NULL;
  }
  size_t size = (bytes + name.len + CACHE_LINE) / CACHE_LINE * CACHE_LINE;
  row *r = aligned_alloc(CACHE_LINE, size);
  if (r == NULL) {
    return NULL;
  }
  memset(r, 0, size);
  char *text = (char *)r + bytes;
  memcpy(text, name.ptr, name.len);
  r->hash = hash;
  r->name = xp_str_from(text, name.len);
  return r;
}

/* Puts a new row into its list, unless another thread was first: then that one's row is returned. */
static row *publish(bucket *list, row *fresh)
{
  row *seen = NULL;
  row *head = atomic_load_explicit(list, memory_order_acquire);
  do {
    row *other = find(head, seen, fresh->name, fresh->hash);
    if (other != NULL) {
      return other;
    }
    seen = head;
    fresh->next = head;
  } while (!atomic_compare_exchange_weak_explicit(list, &head, fresh, memory_order_release, memory_order_acquire));
  return fresh;
}

static bucket *bucket_of(bucket *table, uint64_t hash)
{
  return &table[hash % BUCKETS];
}

/* The row of a name, which may be NULL; NULL if there is none. */
static row *look_up(bucket *table, const char *name)
{
  const xp_str text = xp_str_c(name);
  const uint64_t hash = xp_str_hash(text);
  return find(atomic_load_explicit(bucket_of(table, hash), memory_order_acquire), NULL, text, hash);
}

/* Goes through all rows of a table: r = NULL starts, NULL ends. */
static row *next_row(bucket *table, size_t *place, const row *r)
{
  row *next = r == NULL ? NULL : r->next;
  if (r == NULL) {
    *place = 0;
    next = atomic_load_explicit(&table[0], memory_order_acquire);
  }
  while (next == NULL && *place + 1 < BUCKETS) {
    next = atomic_load_explicit(&table[++*place], memory_order_acquire);
  }
  return next;
}

/* ---------------------------------------------------------------- counters */

xp_counter_handle *xp_counter_get(const char *name)
{
  xp_str text = xp_str_c(name);
  if (text.len == 0) {
    return NULL;
  }
  uint64_t hash = xp_str_hash(text);
  bucket *list = bucket_of(counters, hash);
  row *found = find(atomic_load_explicit(list, memory_order_acquire), NULL, text, hash);
  if (found == NULL) {
    row *fresh = new_row(sizeof(xp_counter_handle), text, hash);
    if (fresh == NULL) {
      return NULL;
    }
    found = publish(list, fresh);
    if (found != fresh) {
      free(fresh);
    }
  }
  return (xp_counter_handle *)found;
}

void xp_counter_add(xp_counter_handle *counter, int64_t value)
{
  if (counter != NULL) {
    atomic_fetch_add_explicit(&counter->sum, (uint64_t)value, memory_order_relaxed);
  }
}

void xp_counter_add_exclusive(xp_counter_handle *counter, int64_t value)
{
  if (counter != NULL) {
    const uint64_t sum = atomic_load_explicit(&counter->sum, memory_order_relaxed);
    atomic_store_explicit(&counter->sum, sum + (uint64_t)value, memory_order_relaxed);
  }
}

int64_t xp_counter_value(const xp_counter_handle *counter)
{
  if (counter == NULL) {
    return 0;
  }
  const uint64_t cleared = atomic_load_explicit(&counter->cleared, memory_order_acquire); /* a sum is never older */
  return (int64_t)(atomic_load_explicit(&counter->sum, memory_order_relaxed) - cleared);
}

void xp_counters_clear(void)
{
  size_t place;
  for (row *r = next_row(counters, &place, NULL); r != NULL; r = next_row(counters, &place, r)) {
    xp_counter_handle *counter = (xp_counter_handle *)r;
    const uint64_t sum = atomic_load_explicit(&counter->sum, memory_order_relaxed);
    atomic_store_explicit(&counter->cleared, sum, memory_order_release);
  }
}

/* ---------------------------------------------------------------- metrics */

static void make_locks_anew(void)
{
  size_t place;
  for (row *r = next_row(metrics, &place, NULL); r != NULL; r = next_row(metrics, &place, r)) {
    pthread_mutex_init(&((xp_metric_handle *)r)->lock, NULL);
  }
}

static void prepare_metrics(void)
{
  const char *text = getenv("XLAPROF_METRICS_SAMPLES");
  int64_t samples;
  if (text != NULL && xp_str_to_int64(xp_str_c(text), &samples) && samples >= 1 && samples <= MOST_SAMPLES) {
    sample_capacity = (size_t)samples;
  }
  fork_status = pthread_atfork(NULL, NULL, make_locks_anew);
}

static void drop_metric(xp_metric_handle *metric)
{
  pthread_mutex_destroy(&metric->lock);
  free(metric->samples);
  free(metric);
}

static xp_metric_handle *new_metric(xp_str name, uint64_t hash, xp_metric_unit unit)
{
  xp_metric_handle *metric = (xp_metric_handle *)new_row(sizeof *metric, name, hash);
  if (metric == NULL) {
    return NULL;
  }
  metric->unit = unit;
  metric->capacity = sample_capacity;
  metric->samples = calloc(sample_capacity, sizeof *metric->samples);
  if (metric->samples == NULL || pthread_mutex_init(&metric->lock, NULL) != 0) {
    free(metric->samples);
    free(metric);
    return NULL;
  }
  return metric;
}

xp_metric_handle *xp_metric_get(const char *name, xp_metric_unit unit)
{
  xp_str text = xp_str_c(name);
  pthread_once(&metrics_prepared, prepare_metrics);
  if (text.len == 0 || fork_status != 0) {
    return NULL;
  }
  uint64_t hash = xp_str_hash(text);
  bucket *list = bucket_of(metrics, hash);
  row *found = find(atomic_load_explicit(list, memory_order_acquire), NULL, text, hash);
  if (found == NULL) {
    xp_metric_handle *fresh = new_metric(text, hash, unit);
    if (fresh == NULL) {
      return NULL;
    }
    found = publish(list, &fresh->row);
    if (found != &fresh->row) {
      drop_metric(fresh);
    }
  }
  return (xp_metric_handle *)found;
}

static void add_locked(xp_metric_handle *metric, double value, int64_t time_ns)
{
  metric->total++;
  metric->sum += value;
  if (!isfinite(metric->sum)) {
    metric->sum = copysign(DBL_MAX, metric->sum);
  }
  if (metric->count > 0) {
    const int64_t last_ns = metric->samples[metric->next == 0 ? metric->capacity - 1 : metric->next - 1].time_ns;
    time_ns = time_ns > last_ns ? time_ns : last_ns; /* the times in a ring never go back */
  }
  metric->samples[metric->next] = (xp_metric_sample){time_ns, value};
  metric->next = metric->next + 1 == metric->capacity ? 0 : metric->next + 1;
  metric->count += metric->count < metric->capacity;
}

void xp_metric_add_at(xp_metric_handle *metric, double value, int64_t time_ns)
{
  if (metric != NULL && isfinite(value)) {
    pthread_mutex_lock(&metric->lock);
    add_locked(metric, value, time_ns);
    pthread_mutex_unlock(&metric->lock);
  }
}

void xp_metric_add(xp_metric_handle *metric, double value)
{
  xp_metric_add_at(metric, value, xp_monotonic_ns());
}

/* What all samples come to; reading takes the lock, which is no change that a caller could see. */
static void read_totals(const xp_metric_handle *metric, uint64_t *total, double *sum)
{
  xp_metric_handle *locked = (xp_metric_handle *)(uintptr_t)metric;
  pthread_mutex_lock(&locked->lock);
  *total = metric->total;
  *sum = metric->sum;
  pthread_mutex_unlock(&locked->lock);
}

uint64_t xp_metric_samples(const xp_metric_handle *metric)
{
  uint64_t total = 0;
  double sum;
  if (metric != NULL) {
    read_totals(metric, &total, &sum);
  }
  return total;
}

double xp_metric_sum(const xp_metric_handle *metric)
{
  uint64_t total;
  double sum = 0;
  if (metric != NULL) {
    read_totals(metric, &total, &sum);
  }
  return sum;
}

void xp_metrics_clear(void)
{
  size_t place;
  for (row *r = next_row(metrics, &place, NULL); r != NULL; r = next_row(metrics, &place, r)) {
    xp_metric_handle *metric = (xp_metric_handle *)r;
    pthread_mutex_lock(&metric->lock);
    metric->total = 0;
    metric->sum = 0;
    metric->count = 0;
    metric->next = 0;
    pthread_mutex_unlock(&metric->lock);
  }
}

void xp_metrics_clear_all(void)
{
  xp_metrics_clear();
  xp_counters_clear();
}

/* ---------------------------------------------------------------- all of them */

/* Copies the newest samples, at most `room`, oldest first. */
static size_t copy_samples(const xp_metric_handle *metric, xp_metric_sample *samples, size_t room)
{
  size_t count = metric->count < room ? metric->count : room;
  size_t from = (metric->next + metric->capacity - count) % metric->capacity;
  size_t first = metric->capacity - from < count ? metric->capacity - from : count;
  memcpy(samples, metric->samples + from, first * sizeof *samples);
  memcpy(samples + first, metric->samples, (count - first) * sizeof *samples);
  return count;
}

/* Memory is taken before the lock: a thread that adds a sample must not wait for it. */
static xp_metric_state copy_metric(xp_metric_handle *metric, xp_arena *arena)
{
  pthread_mutex_lock(&metric->lock);
  size_t room = metric->count;
  pthread_mutex_unlock(&metric->lock);
  xp_metric_state state = {.name = metric->row.name, .unit = metric->unit};
  if (room == 0) {
    return state;
  }
  state.samples = xp_arena_array(arena, room, sizeof *state.samples);
  pthread_mutex_lock(&metric->lock);
  state.total = metric->total;
  state.sum = metric->sum;
  state.count = copy_samples(metric, state.samples, room);
  pthread_mutex_unlock(&metric->lock);
  return state;
}

static int by_metric_name(const void *a, const void *b)
{
  return xp_str_cmp(((const xp_metric_state *)a)->name, ((const xp_metric_state *)b)->name);
}

static int by_counter_name(const void *a, const void *b)
{
  return xp_str_cmp(((const xp_counter_state *)a)->name, ((const xp_counter_state *)b)->name);
}

static void take_metrics(xp_metrics_state *state, xp_arena *arena)
{
  size_t place, capacity = 0;
  for (row *r = next_row(metrics, &place, NULL); r != NULL; r = next_row(metrics, &place, r)) {
    xp_metric_state metric = copy_metric((xp_metric_handle *)r, arena);
    if (metric.total > 0) {
      state->metrics = xp_arena_grow(arena, state->metrics, state->metric_count, &capacity, sizeof metric);
      state->metrics[state->metric_count++] = metric;
    }
  }
  if (state->metric_count > 0) {
    qsort(state->metrics, state->metric_count, sizeof *state->metrics, by_metric_name);
  }
}

static void take_counters(xp_metrics_state *state, xp_arena *arena)
{
  size_t place, capacity = 0;
  for (row *r = next_row(counters, &place, NULL); r != NULL; r = next_row(counters, &place, r)) {
    xp_counter_state counter = {r->name, xp_counter_value((const xp_counter_handle *)r)};
    if (counter.value != 0) {
      state->counters = xp_arena_grow(arena, state->counters, state->counter_count, &capacity, sizeof counter);
      state->counters[state->counter_count++] = counter;
    }
  }
  if (state->counter_count > 0) {
    qsort(state->counters, state->counter_count, sizeof *state->counters, by_counter_name);
  }
}

xp_metrics_state xp_metrics_state_take(xp_arena *arena)
{
  xp_metrics_state state = {NULL, 0, NULL, 0};
  take_metrics(&state, arena);
  take_counters(&state, arena);
  return state;
}

bool xp_metric_state_take(const char *name, xp_arena *arena, xp_metric_state *state)
{
  row *found = look_up(metrics, name);
  if (found == NULL) {
    return false;
  }
  *state = copy_metric((xp_metric_handle *)found, arena);
  return state->total > 0;
}

bool xp_counter_state_take(const char *name, xp_counter_state *state)
{
  const row *found = look_up(counters, name);
  if (found == NULL) {
    return false;
  }
  *state = (xp_counter_state){found->name, xp_counter_value((const xp_counter_handle *)found)};
  return state->value != 0;
}
