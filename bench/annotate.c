/* What annotations cost, in nanoseconds a pair of begin and end.
 *
 *   annotate [rounds [part of a case's name]]
 *
 * The cases take turns: each of the rounds measures all of them once, so that a slow moment of the machine hits all
 * alike; what is printed is the median.  The buffers' memory is touched before a case is measured, since otherwise the
 * first touch of fresh pages is most of what there is to see.  Cases with a peer's name are what others offer for the
 * same purpose; they are there if the headers of the peer were when this was built.  LTTng's tracepoints are off unless
 * somebody has started a session of LTTng.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "annotate/clock.h"
#include "annotate/recorder.h"

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define HAS_SDT 1
#endif

#ifdef BENCH_LTTNG
#include "lttng_probe.h"
#endif

enum { ROUNDS_MAX = 101, PAIRS = 1000000, RECORDED_PAIRS = 400000 };

/* ---------------------------------------------------------------- cases: one pair each */

/* A loop around one pair; the compiler may not see through its end. */
#define CASE(name, ...)                                                                                                \
  static void name(long pairs)                                                                                         \
  {                                                                                                                    \
    for (long i = 0; i < pairs; i++) {                                                                                 \
      __VA_ARGS__                                                                                                      \
      __asm__ volatile("" ::: "memory");                                                                               \
    }                                                                                                                  \
  }

static volatile uint64_t sink;

static uint64_t system_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

CASE(empty, )
CASE(two_clocks, sink = xp_clock_read(); __asm__ volatile("" ::: "memory"); sink = xp_clock_read();)
CASE(two_gettimes, sink = system_now(); __asm__ volatile("" ::: "memory"); sink = system_now();)
CASE(
    region, XP_REGION("region") {
      __asm__ volatile("" ::: "memory");
    })
CASE(
    region_1, XP_REGION("region", XP_INT("i", i)) {
      __asm__ volatile("" ::: "memory");
    })
CASE(
    region_4, XP_REGION("region", XP_INT("i", i), XP_INT("j", i + 1), XP_INT("k", i + 2), XP_INT("l", i + 3)) {
      __asm__ volatile("" ::: "memory");
    })
CASE(
    trace, XP_TRACE("trace") {
      __asm__ volatile("" ::: "memory");
    })
CASE(
    trace_1, XP_TRACE("trace", XP_INT("i", i)) {
      __asm__ volatile("" ::: "memory");
    })
CASE(
    trace_4, XP_TRACE("trace", XP_INT("i", i), XP_INT("j", i + 1), XP_INT("k", i + 2), XP_INT("l", i + 3)) {
      __asm__ volatile("" ::: "memory");
    })
CASE(trace_copy, xp_trace t = xp_trace_begin_copy("forward", 7, NULL, 0); __asm__ volatile("" ::
                                                                                               : "memory");
     xp_trace_end(t, NULL);)
CASE(
    step, XP_STEP("step", i) {
      __asm__ volatile("" ::: "memory");
    })

/* The least that an event of a single-header recorder is: two clocks and a fixed structure in an array. */
typedef struct {
  const char *name;
  uint64_t start, end;
} plain_event;
static plain_event *plain;
static size_t plain_count;
CASE(plain_array, plain_event *e = &plain[plain_count++]; e->name = "plain"; e->start = xp_clock_read();
     __asm__ volatile("" ::
                          : "memory");
     e->end = xp_clock_read();)

#ifdef HAS_SDT
CASE(sdt_probes, DTRACE_PROBE(xlaprof, begin); __asm__ volatile("" ::: "memory"); DTRACE_PROBE(xlaprof, end);)
#endif
#ifdef BENCH_LTTNG
CASE(lttng, tracepoint(xlaprof_bench, begin, "region"); __asm__ volatile("" ::
                                                                             : "memory");
     tracepoint(xlaprof_bench, end, "region");)
#endif

/* ---------------------------------------------------------------- measuring */

typedef struct {
  const char *name;
  void (*run)(long pairs);
  bool is_recorded;
  double ns[ROUNDS_MAX];
} bench_case;

static bench_case cases[] = {
    {"empty loop", empty, false, {0}},
    {"two reads of the clock", two_clocks, false, {0}},
    {"two clock_gettime", two_gettimes, false, {0}},
    {"region, no session", region, false, {0}},
    {"region, no session, 1 argument", region_1, false, {0}},
    {"region, no session, 4 arguments", region_4, false, {0}},
    {"trace, no session", trace, false, {0}},
    {"step, no session", step, false, {0}},
    {"trace, no session, 1 argument", trace_1, false, {0}},
    {"trace, no session, 4 arguments", trace_4, false, {0}},
#ifdef HAS_SDT
    {"two USDT probes, nobody listens", sdt_probes, false, {0}},
#endif
#ifdef BENCH_LTTNG
    {"two LTTng-UST tracepoints", lttng, false, {0}},
#endif
    {"array of {name, start, end}", plain_array, false, {0}},
    {"region", region, true, {0}},
    {"region, 1 argument", region_1, true, {0}},
    {"region, 4 arguments", region_4, true, {0}},
    {"trace", trace, true, {0}},
    {"trace, 1 argument", trace_1, true, {0}},
    {"trace, 4 arguments", trace_4, true, {0}},
    {"trace, name copied", trace_copy, true, {0}},
    {"step", step, true, {0}},
};

enum { CASES = (int)(sizeof cases / sizeof cases[0]) };

static void fail(const xp_error *err)
{
  fprintf(stderr, "%s\n", err->text);
  exit(1);
}

static double time_pairs(const bench_case *c, long pairs)
{
  uint64_t start = system_now();
  c->run(pairs);
  return (double)(system_now() - start) / (double)pairs;
}

/* Twice in one session that keeps the newest: the first run has touched the memory that the second one uses again. */
static double time_recorded(const bench_case *c)
{
  const xp_recorder_options options = {XP_LEVEL_USER, true, (uint64_t)8 << 20};
  xp_recording *recording;
  xp_error err;
  if (xp_recorder_start(&options, &err) != XP_OK) {
    fail(&err);
  }
  c->run(RECORDED_PAIRS);
  double ns = time_pairs(c, RECORDED_PAIRS);
  if (xp_recorder_stop(&recording, &err) != XP_OK) {
    fail(&err);
  }
  xp_recording_free(recording);
  return ns;
}

/* The first two are always measured: they are the floors. */
static bool is_wanted(int i, const char *part)
{
  return i < 2 || strstr(cases[i].name, part) != NULL;
}

static void run_round(int round, const char *part)
{
  for (int i = 0; i < CASES; i++) {
    if (!is_wanted(i, part)) {
      continue;
    }
    if (cases[i].is_recorded) {
      cases[i].ns[round] = time_recorded(&cases[i]);
    } else {
      cases[i].run(PAIRS / 10);
      plain_count = 0;
      cases[i].ns[round] = time_pairs(&cases[i], PAIRS);
    }
  }
}

static int by_value(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static double median(const double *values, int count)
{
  double sorted[ROUNDS_MAX];
  for (int i = 0; i < count; i++) {
    sorted[i] = values[i];
  }
  qsort(sorted, (size_t)count, sizeof *sorted, by_value);
  return sorted[count / 2];
}

/* Median over the rounds of the difference to the case `base` in the same round. */
static double median_above(int i, int base, int count)
{
  double differences[ROUNDS_MAX];
  for (int r = 0; r < count; r++) {
    differences[r] = cases[i].ns[r] - cases[base].ns[r];
  }
  return median(differences, count);
}

/* ---------------------------------------------------------------- a large session */

enum { LARGE_THREADS = 2, LARGE_EVENTS = 5000000 };

static void *record_share(void *context)
{
  double *ns = context;
  const bench_case c = {"", region, true, {0}};
  *ns = time_pairs(&c, LARGE_EVENTS / LARGE_THREADS);
  return NULL;
}

static uint64_t read_events(const xp_recording *recording)
{
  uint64_t count = 0;
  for (size_t i = 0; i < recording->thread_count; i++) {
    xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, i);
    for (xp_recorded_event event; cursor != NULL && xp_recorded_cursor_next(cursor, &event);) {
      count++;
    }
    xp_recorded_cursor_close(cursor);
  }
  return count;
}

/* Five million events as fast as two threads can, in fresh memory: what that costs, the stop, and reading them. */
static void run_large(void)
{
  const xp_recorder_options options = {XP_LEVEL_USER, false, (uint64_t)512 << 20};
  pthread_t ids[LARGE_THREADS];
  double ns[LARGE_THREADS] = {0};
  xp_recording *recording;
  xp_error err;
  uint64_t times[5];
  times[0] = system_now();
  if (xp_recorder_start(&options, &err) != XP_OK) {
    fail(&err);
  }
  times[1] = system_now();
  for (int i = 0; i < LARGE_THREADS; i++) {
    if (pthread_create(&ids[i], NULL, record_share, &ns[i]) != 0) {
      exit(1);
    }
  }
  for (int i = 0; i < LARGE_THREADS; i++) {
    pthread_join(ids[i], NULL);
  }
  times[2] = system_now();
  if (xp_recorder_stop(&recording, &err) != XP_OK) {
    fail(&err);
  }
  times[3] = system_now();
  uint64_t count = read_events(recording);
  times[4] = system_now();
  printf("\n%llu events of %d threads in fresh memory, %llu dropped: start %.1f ms, %.0f and %.0f ns an event, stop "
         "%.1f ms, reading %.1f ns an event\n",
         (unsigned long long)count, LARGE_THREADS, (unsigned long long)recording->dropped,
         (double)(times[1] - times[0]) / 1e6, ns[0], ns[1], (double)(times[3] - times[2]) / 1e6,
         (double)(times[4] - times[3]) / (double)count);
  xp_recording_free(recording);
}

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 21;
  rounds = rounds < 1 ? 1 : rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
  plain = calloc(PAIRS + 1, sizeof *plain);
  if (plain == NULL) {
    return 1;
  }
  const char *part = argc > 2 ? argv[2] : "";
  for (int r = 0; r < rounds; r++) {
    run_round(r, part);
  }
  printf("%-40s %10s %14s\n", "pair of", "median ns", "above its floor");
  for (int i = 0; i < CASES; i++) {
    if (!is_wanted(i, part)) {
      continue;
    }
    printf("%-40s %10.2f %14.2f\n", cases[i].name, median(cases[i].ns, rounds),
           median_above(i, cases[i].is_recorded ? 1 : 0, rounds));
  }
  free(plain);
  if (part[0] == '\0') {
    run_large();
  }
  return 0;
}
