/* The order of the analysis. */
#define _GNU_SOURCE
#include "analyze/internal.h"

#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/work_table.h"
#include "base/thread.h"

enum { DEFAULT_MIN_GAP_PS = 1000000 }; /* 1 us */

xp_str xp_text_v(xp_analysis *an, const char *format, va_list args)
{
  char text[1024];
  int n = vsnprintf(text, sizeof text, format, args);
  xp_str s = xp_str_from(text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
  uint32_t number = xp_intern_find(&an->texts, s);
  if (number == XP_NONE) {
    number = xp_intern_add(&an->texts, xp_arena_copy(an->arena, s));
  }
  return an->texts.strings[number];
}

xp_str xp_text(xp_analysis *an, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  xp_str text = xp_text_v(an, format, args);
  va_end(args);
  return text;
}

/* ---- order */

static int in_device_order(const void *a, const void *b)
{
  const xp_device_data *x = a, *y = b;
  bool x_empty = x->work_count + x->copy_count == 0, y_empty = y->work_count + y->copy_count == 0;
  if (x_empty != y_empty) {
    return x_empty - y_empty; /* devices without work and copies go last */
  }
  if (x->host != y->host) {
    return x->host < y->host ? -1 : 1;
  }
  if (x->kind != y->kind) {
    return x->kind < y->kind ? -1 : 1;
  }
  if (x->ordinal != y->ordinal) {
    return x->ordinal < y->ordinal ? -1 : 1;
  }
  return xp_str_cmp(x->name, y->name);
}

static bool has_device_plane(const xp_capture *capture)
{
  for (size_t h = 0; h < capture->host_count; h++) {
    for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
      if (xp_str_starts(capture->hosts[h].planes[p].name, "/device:")) {
        return true;
      }
    }
  }
  return false;
}

/* ---- two things at once
 *
 * Each of the two allocates in an arena of its own.  A task that runs out of memory ends, and the analysis with it.
 * With one thread the second may need what the first makes, and is not begun without it.
 */

typedef struct {
  xp_analysis *an;
  void (*run[2])(void *an);
  bool failed[2], in_turn;
} pair;

static void run_half(void *context, size_t half, int worker)
{
  pair *p = context;
  (void)worker;
  if (p->in_turn && half == 1 && p->failed[0]) {
    return;
  }
  p->failed[half] = !xp_arena_guard(half == 0 ? p->an->arena : p->an->device_arena, p->run[half], p->an);
}

static void run_both(xp_analysis *an, void (*first)(void *an), void (*second)(void *an), int threads)
{
  pair p = {an, {first, second}, {false, false}, threads == 1};
  xp_parallel(2, threads, run_half, &p);
  if (p.failed[0] || p.failed[1]) {
    longjmp(*an->escape, 1);
  }
}

static void read_hosts(void *context)
{
  xp_analysis *an = context;
  xp_threads_build(&an->threads);
  xp_links_build(&an->links, &an->threads, an->arena);
  if (!xp_classes_need_work(an)) {
    xp_classify(an);
  }
}

static void read_devices(void *context)
{
  xp_analysis *an = context;
  xp_devices_build(&an->devices, &an->links);
}

static void measure_devices(void *context)
{
  xp_analysis *an = context;
  xp_timelines_build(an, an->device_arena);
  xp_collectives_measure(an, an->device_arena);
}

static void index_frames(void *context)
{
  xp_analysis *an = context;
  for (size_t i = 0; i < an->threads.count; i++) {
    xp_thread_index_frames(&an->threads.threads[i], an->arena);
  }
}

static void count_and_sum(void *context)
{
  xp_analysis *an = context;
  xp_counters_count(an);
  xp_coverage_sum(an);
  xp_causes_sum(an);
}

static void measure_work(void *context)
{
  xp_analysis *an = context;
  xp_work_table_build(an, an->device_arena);
  xp_steps_measure(an, an->device_arena);
}

/* Verdict and advice are of the whole capture; gaps, their causes and steps are of what was asked for. */
static xp_status keep_wanted(xp_analysis *an, xp_error *err)
{
  const xp_analyze_options *o = an->options;
  if (!o->step && !o->has_from && !o->has_to) {
    return XP_OK;
  }
  xp_status status = xp_filter_gaps(an, err);
  if (status == XP_OK) {
    xp_causes_sum(an);
    xp_filter_steps(an);
  }
  return status;
}

static xp_status run(xp_analysis *an, const void *input_regex, xp_error *err)
{
  xp_threads_open(&an->threads, an->capture, input_regex, an->arena);
  xp_devices_open(&an->devices, an->capture, &an->threads, an->options->raw_names, an->device_arena);
  run_both(an, read_hosts, read_devices, has_device_plane(an->capture) ? 1 : 2); /* planes need the host's links */
  if (an->devices.count) {
    qsort(an->devices.devices, an->devices.count, sizeof *an->devices.devices, in_device_order);
  }
  xp_status status = xp_filter_device(an, err);
  if (status != XP_OK) {
    return status;
  }
  xp_runs_build(an);
  xp_clock_check(an);
  xp_steps_find(an);
  xp_profiler_time_find(an);
  if (xp_classes_need_work(an)) {
    xp_classify(an);
  }
  run_both(an, index_frames, measure_devices, 2);
  xp_gaps_explain(an);
  run_both(an, count_and_sum, measure_work, 2);
  xp_counters_sum_steps(an);
  xp_cuts_find(an);
  xp_names_build(an);
  xp_health_check(an);
  xp_verdict_write(an);
  xp_advice_write(an);
  return keep_wanted(an, err);
}

/* Runs with an escape for allocations that fail: they end up here. */
static xp_status run_guarded(xp_analysis *an, const void *input_regex, xp_error *err)
{
  jmp_buf escape;
  if (setjmp(escape)) {
    return xp_fail(err, XP_ERR_MEMORY, "out of memory while analysing the capture");
  }
  an->escape = &escape;
  xp_arena_set_escape(an->arena, &escape);
  xp_arena_set_escape(an->device_arena, &escape);
  xp_intern_init(&an->texts, an->arena);
  xp_status status = run(an, input_regex, err);
  xp_arena_set_escape(an->arena, NULL);
  xp_arena_set_escape(an->device_arena, NULL);
  return status;
}

static xp_status compile_input(const char *pattern, regex_t *regex, xp_error *err)
{
  int code = regcomp(regex, pattern, REG_EXTENDED);
  if (code == 0) {
    return XP_OK;
  }
  char why[256];
  regerror(code, regex, why, sizeof why);
  return xp_fail(err, code == REG_ESPACE ? XP_ERR_MEMORY : XP_ERR_USAGE,
                 "\"%s\" is no regular expression (%s); write a POSIX extended one, as for grep -E", pattern, why);
}

xp_status xp_analyze(const xp_capture *capture, const xp_analyze_options *options, xp_reading **reading, xp_error *err)
{
  static const xp_analyze_options defaults = {0};
  *reading = NULL;
  options = options ? options : &defaults;
  regex_t regex;
  if (options->input_regex) {
    xp_status status = compile_input(options->input_regex, &regex, err);
    if (status != XP_OK) {
      return status;
    }
  }
  xp_arena *arena = xp_arena_create();
  xp_analysis *an = arena ? xp_arena_alloc(arena, sizeof *an) : NULL;
  xp_reading *out = an ? xp_arena_alloc(arena, sizeof *out) : NULL;
  xp_arena *device_arena = xp_arena_create();
  xp_status status;
  if (!out || !device_arena) {
    status = xp_fail(err, XP_ERR_MEMORY, "out of memory while analysing the capture");
  } else {
    *an = (xp_analysis){.arena = arena, .capture = capture, .options = options, .reading = out};
    an->device_arena = device_arena;
    *out = (xp_reading){.arena = arena, .capture = capture, .metrics = options->metrics};
    out->min_gap_ps = options->min_gap_ps > 0 ? options->min_gap_ps : DEFAULT_MIN_GAP_PS;
    status = run_guarded(an, options->input_regex ? &regex : NULL, err);
    xp_arena_destroy(an->scratch);
  }
  if (options->input_regex) {
    regfree(&regex);
  }
  if (status != XP_OK) {
    xp_arena_destroy(device_arena);
    xp_arena_destroy(arena);
    return status;
  }
  out->analysis = an;
  an->options = NULL;
  an->escape = NULL;
  *reading = out;
  return XP_OK;
}

void xp_reading_free(xp_reading *reading)
{
  if (reading) {
    xp_arena_destroy(reading->analysis->device_arena);
    xp_arena_destroy(reading->arena);
  }
}
