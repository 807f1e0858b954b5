/* What the parts of the analysis hand to one another.  analyze.c calls them in this order. */
#ifndef XP_ANALYZE_INTERNAL_H
#define XP_ANALYZE_INTERNAL_H

#include <stdarg.h>

#include "analyze/devices.h"

typedef struct {
  int64_t start_ps, end_ps;
} xp_span;

/* A device's time, and what its gaps need. */
typedef struct {
  xp_span *gaps; /* inside the window, at least the minimum */
  size_t gap_count, gap_capacity;
  size_t first_gap;  /* of the device in the gaps of the reading: lead-in, those inside, tail */
  xp_span *idle_ops; /* infeed, outfeed, send, recv: by start, disjoint */
  uint32_t *idle_op; /* the op of each */
  size_t idle_op_count;
} xp_timeline;

/* Rows of xp_reading_ops, made when they are asked for first. */
typedef struct {
  xp_op_row *rows; /* NULL: not yet */
  size_t count;
} xp_op_rows;

typedef struct xp_analysis {
  xp_arena *arena;
  const xp_capture *capture;
  const xp_analyze_options *options; /* only while xp_analyze runs */
  xp_threads threads;
  xp_links links;
  xp_devices devices;
  xp_timeline *timelines; /* by device */
  xp_span *profiler;      /* time under start_trace and stop_trace, by host: profiler[host_first[h]] .. */
  size_t *profiler_first; /* host_count + 1 entries */
  xp_reading *reading;
  size_t warning_capacity, advice_capacity;
  xp_arena *device_arena;            /* what is built beside something that uses `arena` */
  xp_arena *scratch;                 /* NULL outside of xp_timelines_build */
  jmp_buf *escape;                   /* where allocations that fail go */
  xp_intern texts;                   /* of xp_text */
  struct xp_trigger_lists *triggers; /* by thread */
  xp_op_rows ops[XP_OPS_BY_SOURCE + 1];
  bool names_on; /* some device work has a scope; found where classes need it */
} xp_analysis;

/* runs.c: runs of XLA CPU without run ids, and the launch of every run. */
void xp_runs_build(xp_analysis *an);

/* clock.c: shifts of device clocks. */
void xp_clock_check(xp_analysis *an);

/* steps.c: finds steps, and gives every run its step; xp_steps_measure fills in what the devices did (after gaps). */
void xp_steps_find(xp_analysis *an);
void xp_steps_measure(xp_analysis *an, xp_arena *arena);
uint32_t xp_steps_before(const xp_analysis *an, uint32_t host, int64_t time_ps); /* the latest that began */

/* The step of a host at a time.  *hint (0 at first; hint may be NULL) is where the last call looked. */
uint32_t xp_steps_at(const xp_analysis *an, uint32_t host, int64_t time_ps, size_t *hint);

/* classify.c: which calls and annotations of the host are tracing.  Where classes need the work, it comes behind the
 * devices and steps; else it may run beside them. */
bool xp_classes_need_work(const xp_analysis *an);
void xp_classify(xp_analysis *an);

/* timeline.c: window, busy, copies, gaps of every device. */
void xp_profiler_time_find(xp_analysis *an);
void xp_timelines_build(xp_analysis *an, xp_arena *arena);
int xp_span_by_start(const void *a, const void *b); /* for qsort */

/* collectives.c: collective_ps and collective_wait_ps of every device. */
void xp_collectives_measure(xp_analysis *an, xp_arena *arena);

/* gaps.c: cause and trigger of every gap, lead-in and tail. */
void xp_gaps_explain(xp_analysis *an);

/* parts.c: where the time of one gap went. */
typedef struct {
  xp_arena *arena;             /* of what is booked */
  bool details;                /* tell events and what waits were for; else parts differ by cause and scope alone */
  uint32_t *hints;             /* by thread: where the last walk was; NULL: none */
  size_t run_hint;             /* the same for the runs of the device */
  size_t last[XP_CAUSE_COUNT]; /* the part of each cause that was booked last */
  xp_str scope;                /* the last scope that was shown, and for what, in whatever gap */
  xp_scope_stretch scoped;
  uint32_t scope_thread;
  xp_part *parts;
  size_t count, capacity;
  xp_map index; /* of walk.c */
  int64_t *cuts;
  size_t cut_count, cut_capacity;
  /* the longest stretch of one part, for evidence */
  uint32_t longest_thread, longest_entry;
  int64_t longest_ps, longest_at_ps;
} xp_parts;

/* Parts of a gap before work with a launch (NULL: unknown), into parts->parts, longest first.  Reads the analysis only:
 * any number of threads, each with parts of its own. */
void xp_parts_compute(const xp_analysis *an, uint32_t device, xp_span gap, const xp_launch *launch, xp_parts *parts);

/* The device is at work at a time (as far as its gaps of at least the minimum tell). */
bool xp_device_works_at(const xp_analysis *an, uint32_t device, int64_t time_ps);

/* trigger.c: what made the host late. */
typedef struct {
  uint32_t *entries; /* outermost ones of a kind, by start */
  size_t count, capacity;
  int64_t longest_ps;
} xp_entry_list;

typedef struct xp_trigger_lists {
  xp_entry_list reads, waits, compiles;
} xp_trigger_lists;

typedef struct {
  xp_trigger trigger;
  uint32_t thread, entry; /* the read, wait or compile */
} xp_trigger_found;

void xp_triggers_index(xp_analysis *an);
xp_trigger_found xp_trigger_find(const xp_analysis *an, xp_span gap, const xp_launch *launch);

/* True if the threads of a launch were in no read, and in no wait of 50 us, between two times. */
bool xp_trigger_free(const xp_analysis *an, const xp_launch *launch, int64_t from_ps, int64_t to_ps);

/* causes.c, counters.c, cuts.c, names.c, health.c, verdict.c, advice.c */
void xp_coverage_sum(xp_analysis *an);       /* idle_ps and explained_ps */
void xp_causes_sum(xp_analysis *an);         /* the rows, of the gaps that are there now */
void xp_counters_count(xp_analysis *an);     /* totals, scopes, and each step */
void xp_counters_sum_steps(xp_analysis *an); /* what needs the summaries of steps */
void xp_cuts_find(xp_analysis *an);
void xp_names_build(xp_analysis *an);
void xp_health_check(xp_analysis *an);
void xp_verdict_write(xp_analysis *an);
void xp_advice_write(xp_analysis *an);

/* filters.c: what the options keep.  Steps go last, since gaps refer to them by index. */
xp_status xp_filter_device(xp_analysis *an, xp_error *err);
xp_status xp_filter_gaps(xp_analysis *an, xp_error *err);
void xp_filter_steps(xp_analysis *an);

/* Appends a whole sentence to the reading's warnings. */
void xp_warn(xp_analysis *an, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A formatted text of at most 1023 bytes; equal texts are one. */
xp_str xp_text(xp_analysis *an, const char *format, ...) __attribute__((format(printf, 2, 3)));
xp_str xp_text_v(xp_analysis *an, const char *format, va_list args);

/* Index of the step with the launch, or XP_NONE.  hint: see xp_steps_at. */
uint32_t xp_launch_step(const xp_analysis *an, const xp_launch *launch, size_t *hint);

#endif
