/* The reading of a capture: what the devices did, where they waited, and why.
 *
 * xp_analyze computes everything in one go; the commands print parts of it.  All times are integer picoseconds from the
 * session start; all strings are slices of the capture or of the analysis and live as long as it does.
 * Definitions: docs/reading.md.
 */
#ifndef XP_ANALYZE_ANALYZE_H
#define XP_ANALYZE_ANALYZE_H

#include "metrics/report.h"
#include "xspace/xspace.h"

/* Why an interval passed without work; in the order in which ties are decided. */
typedef enum {
  XP_CAUSE_IN_PROGRAM,
  XP_CAUSE_COMPILE,
  XP_CAUSE_VALUE_REQUEST,
  XP_CAUSE_WAIT,
  XP_CAUSE_UPLOAD,
  XP_CAUSE_TRACING,
  XP_CAUSE_INPUT,
  XP_CAUSE_DISPATCH,
  XP_CAUSE_HOST,
  XP_CAUSE_LAUNCH,
  XP_CAUSE_UNKNOWN,
  XP_CAUSE_PROFILER, /* the profiler itself starting or stopping: shown, never ranked */
  XP_CAUSE_SHORT,    /* row of folded gaps in xp_reading.causes */
  XP_CAUSE_COUNT
} xp_cause;

/* "in_program", "compile", ..: the name in JSON and text. */
const char *xp_cause_name(xp_cause cause);

/* Why the host was late with the next launch. */
typedef enum { XP_TRIGGER_NONE, XP_TRIGGER_VALUE_REQUEST, XP_TRIGGER_WAIT, XP_TRIGGER_COMPILE } xp_trigger;

const char *xp_trigger_name(xp_trigger trigger);

typedef enum { XP_WHERE_INSIDE, XP_WHERE_LEAD_IN, XP_WHERE_TAIL } xp_where;

const char *xp_where_name(xp_where where);

typedef enum { XP_DEVICE_TPU, XP_DEVICE_SPARSE_CORE, XP_DEVICE_GPU, XP_DEVICE_CUSTOM, XP_DEVICE_CPU } xp_device_kind;

/* A stretch of a gap with one cause.  Parts of a gap are disjoint and add up to it; equal (cause, scope, event, maybe,
 * detail) are one part.  Longest first. */
typedef struct {
  xp_cause cause;
  int64_t ps;
  xp_str scope;       /* innermost user scope, else step, open on the thread that was looked at; for cause host without
                         either: the event's name */
  xp_str event;       /* the event that gave the class; empty for launch, unknown, in_program */
  xp_str detail;      /* of a wait: what for; else empty */
  bool maybe_tracing; /* cause host, names are off on the device: it may be tracing */
} xp_part;

/* One piece of device work, as it is shown beside a gap. */
typedef struct {
  xp_str op, scope, program; /* empty: unknown, or no such work (before a lead-in, after a tail) */
} xp_work_name;

/* An event that shows why; `role` says what it stands for. */
typedef struct {
  const char *role; /* "trigger", "cause", "launch", "asked" */
  xp_str event, thread;
  xp_str frame; /* innermost Python frame outside of site-packages around it; may be empty */
  int64_t start_ps, dur_ps;
} xp_evidence;

/* What there is to tell of one gap beside its cause; computed when it is asked for, since there can be very many gaps.
 */
typedef struct {
  xp_work_name before, after;
  xp_part *parts;
  size_t part_count;
  xp_evidence evidence[3];
  size_t evidence_count;
} xp_gap_details;

typedef struct {
  int64_t start_ps, dur_ps;
  xp_str scope;                           /* of the largest part with the cause */
  xp_str trigger_scope;                   /* in which the read or wait began; empty without a trigger */
  int64_t unknown_ps;                     /* of its parts, those of cause unknown */
  int64_t profiler_ps;                    /* and those of the profiler itself: no part of the run */
  uint32_t device;                        /* index into xp_reading.devices */
  uint32_t step;                          /* index into xp_reading.steps, XP_NONE if none */
  uint32_t launch;                        /* of the work that follows (tail: that came before); XP_NONE if not known */
  uint32_t trigger_thread, trigger_entry; /* the read, wait or compile; XP_NONE without a trigger */
  xp_where where : 8;
  xp_cause cause : 8;
  xp_trigger trigger : 8;
  bool ranked : 1;               /* false: a lead-in or tail that says nothing about the program */
  bool tracing_bound : 1;        /* cause tracing, trigger none, and no read or wait since the previous launch */
  const xp_gap_details *details; /* NULL: xp_gap_explain computes them */
} xp_gap;

typedef struct {
  uint32_t host; /* index into capture->hosts */
  xp_str name;   /* plane name, or "CPU:n" */
  xp_str model;  /* "TPU v5 lite", "AMD"; may be empty */
  xp_device_kind kind;
  int64_t ordinal;
  bool has_window; /* false: no work and no copies; the times below are 0 */
  int64_t window_ps[2];
  int64_t busy_ps, copy_ps, idle_ps;
  int64_t lead_in_ps, tail_ps; /* 0 without a session */
  bool has_lead_in, has_tail;
  int64_t session_ps; /* session without the profiler's own time, with the window where it goes on past the session:
                       * the base of shares; 0 without a session */
  size_t gap_count;   /* inside, at least the minimum */
  size_t short_count; /* inside, below the minimum */
  int64_t short_ps;
  size_t work_count, copy_count, untimed, stray;
  int64_t collective_ps, collective_wait_ps;
  size_t launches, runs;      /* as far as they can be counted for the device */
  size_t runs_without_launch; /* began before the session, or launched by what the capture does not show */
  bool ranked;                /* false: a SparseCore, which works for a TensorCore: listed, in no sum of idle time */
  bool ends_early;            /* launches go on, its events do not */
} xp_device;

/* Whole gaps summed by (cause, trigger, scope, trigger_scope, where), less the profiler's own time in lead-ins and
 * tails; inside rows and the short row add up to idle. */
typedef struct {
  xp_cause cause;
  xp_trigger trigger;
  xp_where where;
  xp_str scope, trigger_scope;
  size_t gaps;
  int64_t ps;
  int64_t longest_ps, median_ps;
  double share; /* inside and short: of the idle time of all devices; lead_in, tail: of their sessions */
} xp_cause_row;

enum { XP_COMPILES, XP_EXECUTES, XP_READS, XP_UPLOADS, XP_SYNCS, XP_COUNTER_COUNT };

/* "compiles", "executes", "reads", "uploads", "syncs". */
const char *xp_counter_name(int counter);

typedef struct {
  uint32_t host;
  xp_str name; /* of the annotation, module or device line; empty: the row "outside steps" is not listed here */
  bool has_num;
  int64_t num;
  int64_t start_ps, dur_ps;
  bool complete;                          /* false: the session cuts it */
  int64_t busy_ps;                        /* mean over the devices of its host of the work that it launched */
  int64_t *device_busy_ps;                /* for every device of xp_reading.devices */
  int64_t device_start_ps, device_end_ps; /* first start and last end of the work that it launched; equal: none */
  uint64_t counters[XP_COUNTER_COUNT];
  uint64_t after[XP_COUNTER_COUNT]; /* behind the step, before the next one of the host */
} xp_step;

typedef struct {
  uint32_t host;
  xp_str name;
  size_t complete, partial;
  bool has_period, has_duration;
  int64_t period_ps, period_median_ps, period_max_ps;
  int64_t duration_ps, duration_median_ps, duration_max_ps;
  int64_t busy_ps; /* mean of its complete steps */
} xp_step_summary;

typedef enum { XP_STEPS_NONE, XP_STEPS_ANNOTATION, XP_STEPS_DEVICE, XP_STEPS_MODULE } xp_step_source;

const char *xp_step_source_name(xp_step_source source);

typedef struct {
  xp_str scope; /* empty: outside of every scope and step */
  uint64_t counters[XP_COUNTER_COUNT];
} xp_scope_counters;

typedef enum {
  XP_CUT_STEP_END, /* the end of a step */
  XP_CUT_SYNC,     /* a sync that the program asked for elsewhere */
  XP_CUT_READ,     /* a value was asked for */
  XP_CUT_EAGER     /* an operation that runs on its own (eager mode) */
} xp_cut_kind;

const char *xp_cut_kind_name(xp_cut_kind kind);

/* A place that ended a program and started an execute. */
typedef struct {
  xp_cut_kind kind;
  xp_str scope;
  uint64_t count;
  double per_step; /* those within complete steps of the main name, a step; 0 without steps */
} xp_cut_point;

typedef struct {
  uint64_t totals[XP_COUNTER_COUNT];
  uint64_t per_step_totals[XP_COUNTER_COUNT]; /* within complete steps */
  size_t steps;                               /* complete steps that they are counted over */
  uint64_t compiles_after_first;              /* within steps after the first of each name */
  size_t steps_after_first;
  xp_str main_step;         /* the name of steps that take most time; empty without steps */
  double programs_per_step; /* executes from one complete step of that name to the next, on average */
  double reads_per_step;    /* and reads */
  xp_scope_counters *by_scope;
  size_t by_scope_count;
  xp_cut_point *cuts;
  size_t cut_count;
  uint64_t launches, executions; /* over all hosts: launch calls, runs on devices */
  uint64_t launches_without_execution, executions_without_launch;
} xp_counters;

typedef struct {
  xp_str key;
  uint64_t count;
  int64_t total_ps, self_ps;
  double share; /* self of the total of all rows */
} xp_op_row;

typedef enum { XP_OPS_BY_OP, XP_OPS_BY_SCOPE, XP_OPS_BY_CATEGORY, XP_OPS_BY_MODULE, XP_OPS_BY_SOURCE } xp_ops_by;

typedef struct {
  xp_str scope; /* whole path, "a/b" */
  int64_t ps;   /* with the scopes inside */
  int64_t self_ps;
  uint64_t ops; /* executions, with the scopes inside */
} xp_scope_row;

typedef struct {
  int64_t device_ps, named_ps, unnamed_ps; /* self time of device work */
  int64_t mixed_ps;                        /* of fusions whose names lie in more than one scope: not split by a guess */
  xp_scope_row *scopes;                    /* a parent before its children; siblings by time */
  size_t scope_count;
  xp_str *host_only, *device_only;
  size_t host_only_count, device_only_count;
  bool is_annotated; /* the host entered a scope or step of the program */
  enum { XP_GATE_UNKNOWN, XP_GATE_ON, XP_GATE_OFF } gate;
} xp_names;

typedef enum { XP_CLOCK_OK, XP_CLOCK_SHIFTED, XP_CLOCK_INCONSISTENT } xp_clock_status;

/* One line of "what to do": only where something in the capture supports it. */
typedef struct {
  xp_str text;     /* what to do */
  xp_str evidence; /* what was seen that says so */
  double share;    /* of the run (the sessions of the devices with work, else their windows), 0..1; below 0: there is no
                      run */
} xp_advice;

typedef struct {
  xp_arena *arena;
  const xp_capture *capture;
  int64_t min_gap_ps;
  xp_device *devices; /* of all hosts; those without work and copies last */
  size_t device_count;
  xp_gap *gaps; /* by device, then start; lead-ins and tails where the device has them */
  size_t gap_count;
  xp_cause_row *causes; /* largest first */
  size_t cause_count;
  int64_t idle_ps, explained_ps; /* of all devices */
  xp_clock_status clock;
  int64_t clock_aligned_ps;
  xp_step *steps; /* by start */
  size_t step_count;
  xp_step_source step_source;
  xp_str step_reason; /* why there are none */
  xp_step_summary *summaries;
  size_t summary_count;
  int64_t outside_steps_ps; /* host time before the first and after the last step event within the session */
  uint64_t outside_steps_counters[XP_COUNTER_COUNT];
  xp_counters counters;
  xp_names names;
  int64_t ops_total_ps, ops_attributed_ps;
  const xp_metrics_report *metrics; /* beside the capture or given; NULL */
  xp_str verdict;                   /* one or two sentences */
  xp_advice *advice;
  size_t advice_count;
  xp_str *warnings; /* whole sentences */
  size_t warning_count;
  struct xp_work_table *work;   /* for xp_reading_ops */
  struct xp_analysis *analysis; /* for xp_gap_explain */
} xp_reading;

typedef struct {
  int64_t min_gap_ps;               /* 0: 1 us */
  const char *input_regex;          /* POSIX extended: further event names of class input; NULL */
  const char *device;               /* only devices of this name; NULL */
  bool has_from, has_to;            /* from_ps is given, to_ps is given */
  int64_t from_ps, to_ps;           /* only gaps and steps that overlap this time */
  const char *step;                 /* only what belongs to this step: "NAME" or "NAME:NUM"; NULL */
  const xp_metrics_report *metrics; /* borrowed; NULL: none */
  bool raw_names;                   /* do not fold ".N" and jvp() */
  const xp_progress *progress;
} xp_analyze_options;

/* Reads a capture.  The capture and the options' metrics must outlive the reading; the caller frees with
 * xp_reading_free.  Errors: XP_ERR_MEMORY; XP_ERR_USAGE for a bad regex or an unknown device or step (the text lists
 * the known ones). */
xp_status xp_analyze(const xp_capture *capture, const xp_analyze_options *options, xp_reading **reading, xp_error *err);

void xp_reading_free(xp_reading *reading);

/* The details of a gap: gap->details, or computed into an arena that the caller owns (and may clear for the next gap).
 * Parts add up to gap->dur_ps.  XP_ERR_MEMORY when memory is out.  Any number of threads, each with its own arena. */
xp_status xp_gap_explain(xp_reading *reading, const xp_gap *gap, xp_arena *arena, xp_gap_details *details,
                         xp_error *err);

/* Device work grouped; rows by self time.  Memory comes from the reading's arena, once for each grouping;
 * XP_ERR_MEMORY when it is out.  total = sum of the self times of all rows.  One thread at a time. */
xp_status xp_reading_ops(xp_reading *reading, xp_ops_by by, xp_op_row **rows, size_t *count, xp_error *err);

#endif
