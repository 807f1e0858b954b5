/* Captures of a few events, written in microseconds, and what the analysis makes of them, in words.
 *
 * A test gets a story (setup: story_begin), adds planes, lines and events to it, reads it, and compares words.  Every
 * reading is checked on the way: parts add up to their gap, busy + copy + idle to the window, causes to idle.
 */
#ifndef XP_TESTS_READINGS_H
#define XP_TESTS_READINGS_H

#include "testing.h"

#include "analyze/internal.h"

#define US(us)     ((int64_t)(us)*1000000)
#define COUNT(row) (sizeof(row) / sizeof *(row))

/* A list of {from, to} and its length, as two arguments. */
#define TIMES(...) (const int64_t[][2]){__VA_ARGS__}, COUNT(((const int64_t[][2]){__VA_ARGS__}))

#define SESSION_START_NS UINT64_C(1700000000000000000)

typedef struct {
  xp_wire_writer space;
  xp_plane_writer *plane;
  int64_t lines;
  xp_capture *capture;
  xp_reading *reading;
  xp_arena *arena; /* of words, and of what a test builds */
} story;

static inline int story_begin(void **state)
{
  story *s = calloc(1, sizeof *s);
  assert_non_null(s);
  s->arena = xp_arena_create();
  assert_non_null(s->arena);
  *state = s;
  return 0;
}

static inline int story_end(void **state)
{
  story *s = *state;
  xp_reading_free(s->reading);
  xp_capture_free(s->capture);
  xp_plane_writer_free(s->plane);
  xp_wire_writer_free(&s->space);
  xp_arena_destroy(s->arena);
  free(s);
  return 0;
}

#define STORY(test) cmocka_unit_test_setup_teardown(test, story_begin, story_end)

/* ---- telling */

static inline void end_plane(story *s)
{
  if (s->plane != NULL) {
    assert_true(xp_plane_writer_finish(s->plane, &s->space));
    s->plane = NULL;
  }
}

/* The session: from 0 to a time.  Without it there is no lead-in and no tail. */
static inline void session(story *s, int64_t length_us)
{
  end_plane(s);
  put_session(&s->space, SESSION_START_NS, SESSION_START_NS + (uint64_t)length_us * 1000);
}

static inline void plane(story *s, const char *name)
{
  end_plane(s);
  s->plane = xp_plane_writer_create(xp_str_c(name), 0);
  assert_non_null(s->plane);
}

static inline void line(story *s, const char *name)
{
  xp_plane_writer_line(s->plane, ++s->lines, xp_str_c(name), 0);
}

/* The plane of the host, and a line in it. */
static inline void thread(story *s, const char *name)
{
  plane(s, "/host:CPU");
  line(s, name);
}

static inline void event_ps(story *s, const char *name, int64_t from_ps, int64_t to_ps)
{
  int64_t id = xp_plane_writer_event(s->plane, xp_str_c(name), xp_str_c(""));
  xp_plane_writer_add(s->plane, id, from_ps, to_ps - from_ps);
}

static inline void event(story *s, const char *name, int64_t from_us, int64_t to_us)
{
  event_ps(s, name, US(from_us), US(to_us));
}

/* Stats of the event added last. */
static inline void with(story *s, const char *stat, int64_t value)
{
  xp_plane_writer_int(s->plane, xp_plane_writer_stat(s->plane, xp_str_c(stat)), value);
}

/* The event hands something over, or takes it: the flow ids of the profiler. */
static inline void produce(story *s, int64_t type, int64_t id)
{
  with(s, "_pt", type);
  with(s, "_p", id);
}

static inline void consume(story *s, int64_t type, int64_t id)
{
  with(s, "_ct", type);
  with(s, "_c", id);
}

static inline void with_text(story *s, const char *stat, const char *value)
{
  xp_plane_writer_text(s->plane, xp_plane_writer_stat(s->plane, xp_str_c(stat)), xp_str_c(value));
}

static inline void step(story *s, const char *name, int64_t num, int64_t from_us, int64_t to_us)
{
  event(s, name, from_us, to_us);
  with(s, "_r", 1);
  with(s, "step_num", num);
}

/* An execute call that starts a run. */
static inline void call(story *s, int64_t run_id, int64_t from_us, int64_t to_us)
{
  event(s, "PJRT_LoadedExecutable_Execute", from_us, to_us);
  with(s, "run_id", run_id);
}

/* A device with a line of programs, whose run ids are 1, 2, .., and a line of ops, one op for each program. */
static inline void tpu(story *s, const char *name, const int64_t (*runs)[2], size_t count)
{
  plane(s, name);
  line(s, "XLA Modules");
  for (size_t i = 0; i < count; i++) {
    event(s, "jit_step(7)", runs[i][0], runs[i][1]);
    with(s, "run_id", (int64_t)i + 1);
  }
  line(s, "XLA Ops");
  for (size_t i = 0; i < count; i++) {
    event(s, "%fusion.1 = f32[] fusion()", runs[i][0], runs[i][1]);
  }
}

/* One thread, two runs (10..20 and 120..130), and a gap of 100 us between them.  The second run is called at 100..110,
 * so that 10 us are dispatch and 10 us launch; a test tells what the thread did from 20 to 100. */
static inline void two_runs(story *s)
{
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 100, 110);
}

/* The same in an open step. */
static inline void two_runs_in_a_step(story *s)
{
  two_runs(s);
  step(s, "train", 1, 0, 200);
}

/* An op of XLA CPU. */
static inline void op(story *s, const char *name, int64_t id, int64_t from_us, int64_t to_us)
{
  event(s, name, from_us, to_us);
  with_text(s, "hlo_op", name);
  with(s, "_pt", 0);
  with(s, "_p", id);
}

/* ---- reading */

static inline xp_capture *loaded(story *s)
{
  end_plane(s);
  if (s->capture == NULL) {
    s->capture = load_bytes(written(&s->space));
  }
  return s->capture;
}

static inline xp_gap_details explained(story *s, const xp_gap *gap)
{
  xp_gap_details details;
  xp_error err;
  assert_int_equal(xp_gap_explain(s->reading, gap, s->arena, &details, &err), XP_OK);
  int64_t sum = 0;
  for (size_t i = 0; i < details.part_count; i++) {
    assert_true(details.parts[i].ps > 0);
    assert_true(i == 0 || details.parts[i].ps <= details.parts[i - 1].ps);
    sum += details.parts[i].ps;
  }
  assert_int_equal(sum, gap->dur_ps);
  return details;
}

/* What must hold for every reading without filters. */
static inline void check_sums(story *s)
{
  const xp_reading *r = s->reading;
  int64_t idle = 0, ranked = 0, unknown = 0, folded = 0;
  for (size_t i = 0; i < r->device_count; i++) {
    const xp_device *d = &r->devices[i];
    assert_int_equal(d->window_ps[1] - d->window_ps[0], d->busy_ps + d->copy_ps + d->idle_ps);
    int64_t gaps = d->short_ps;
    for (size_t g = 0; g < r->gap_count; g++) {
      gaps += r->gaps[g].device == i && r->gaps[g].where == XP_WHERE_INSIDE ? r->gaps[g].dur_ps : 0;
    }
    assert_int_equal(d->idle_ps, gaps);
    idle += d->ranked ? d->idle_ps : 0;
    folded += d->ranked ? d->short_ps : 0;
  }
  for (size_t g = 0; g < r->gap_count; g++) {
    xp_gap_details details = explained(s, &r->gaps[g]);
    bool inside = r->gaps[g].where == XP_WHERE_INSIDE && r->devices[r->gaps[g].device].ranked;
    for (size_t p = 0; p < details.part_count; p++) {
      bool counts = inside && details.parts[p].cause == XP_CAUSE_UNKNOWN;
      unknown += counts ? details.parts[p].ps : 0;
    }
  }
  for (size_t c = 0; c < r->cause_count; c++) {
    ranked += r->causes[c].where == XP_WHERE_INSIDE ? r->causes[c].ps : 0;
  }
  assert_int_equal(r->idle_ps, idle);
  assert_int_equal(ranked, idle);
  assert_int_equal(r->explained_ps, idle - unknown - folded);
}

static inline const xp_reading *read_with(story *s, const xp_analyze_options *options)
{
  loaded(s);
  xp_error err;
  xp_reading_free(s->reading);
  if (xp_analyze(s->capture, options, &s->reading, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return s->reading;
}

static inline const xp_reading *read_story(story *s)
{
  read_with(s, NULL);
  check_sums(s);
  return s->reading;
}

/* ---- words */

#define WORDS(s, ...) (xp_arena_format((s)->arena, __VA_ARGS__).ptr)

/* "70", or "70.000001": microseconds. */
static inline const char *us_of(story *s, int64_t ps)
{
  return ps % US(1) ? WORDS(s, "%lld.%06lld", (long long)(ps / US(1)), (long long)(ps % US(1)))
                    : WORDS(s, "%lld", (long long)(ps / US(1)));
}

static inline const xp_gap *gap_at(story *s, size_t i)
{
  assert_true(i < s->reading->gap_count);
  return &s->reading->gaps[i];
}

/* The time of each class in a gap, most first: "compile 70, unknown 20". */
static inline const char *parts_of(story *s, size_t gap)
{
  xp_gap_details details = explained(s, gap_at(s, gap));
  int64_t sums[XP_CAUSE_COUNT] = {0};
  for (size_t i = 0; i < details.part_count; i++) {
    sums[details.parts[i].cause] += details.parts[i].ps;
  }
  const char *words = "";
  for (;;) {
    int most = 0;
    for (int c = 1; c < XP_CAUSE_COUNT; c++) {
      most = sums[c] > sums[most] ? c : most;
    }
    if (sums[most] == 0) {
      return words;
    }
    words = WORDS(s, "%s%s%s %s", words, words[0] ? ", " : "", xp_cause_name((xp_cause)most), us_of(s, sums[most]));
    sums[most] = 0;
  }
}

/* Every part with scope and event, longest first: "compile [train] backend_compile 70"; "host? .." where it may be
 * tracing. */
static inline const char *named_parts_of(story *s, size_t gap)
{
  xp_gap_details details = explained(s, gap_at(s, gap));
  const char *words = "";
  for (size_t i = 0; i < details.part_count; i++) {
    const xp_part *p = &details.parts[i];
    words =
        WORDS(s, "%s%s%s%s [%.*s] %.*s%s%s", words, i ? ", " : "", xp_cause_name(p->cause), p->maybe_tracing ? "?" : "",
              XP_STR_ARG(p->scope), XP_STR_ARG(p->event), p->event.len ? " " : "", us_of(s, p->ps));
  }
  return words;
}

/* "host in watermark after value_request in scheduler.step". */
static inline const char *reason_of(story *s, size_t gap)
{
  const xp_gap *g = gap_at(s, gap);
  const char *words = xp_cause_name(g->cause);
  if (g->scope.len > 0) {
    words = WORDS(s, "%s in %.*s", words, XP_STR_ARG(g->scope));
  }
  if (g->trigger != XP_TRIGGER_NONE) {
    words = WORDS(s, "%s after %s", words, xp_trigger_name(g->trigger));
  }
  if (g->trigger_scope.len > 0) {
    words = WORDS(s, "%s in %.*s", words, XP_STR_ARG(g->trigger_scope));
  }
  return words;
}

/* What the longest wait of a gap was for. */
static inline xp_str wait_of(story *s, size_t gap)
{
  xp_gap_details details = explained(s, gap_at(s, gap));
  for (size_t i = 0; i < details.part_count; i++) {
    if (details.parts[i].cause == XP_CAUSE_WAIT) {
      return details.parts[i].detail;
    }
  }
  return xp_str_c("(no wait)");
}

#endif
