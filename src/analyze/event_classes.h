/* What the names of host events mean: the one place that knows the vocabulary of torch_xla, JAX, TensorFlow and XLA.
 *
 * Every table is data: anchored patterns in which '*' stands for any run of bytes, the first that matches wins.  A new
 * runtime is taught by adding lines to event_classes.c; tests/unit/test_event_classes.c has an example for every line.
 */
#ifndef XP_ANALYZE_EVENT_CLASSES_H
#define XP_ANALYZE_EVENT_CLASSES_H

#include "analyze/analyze.h"

/* What a name is beside its class. */
enum {
  XP_NAME_FRAME = 1u << 0,       /* "$file.py:12 function": a Python frame */
  XP_NAME_PJIT = 1u << 1,        /* PjitFunction(f) */
  XP_NAME_LOWERING = 1u << 2,    /* its presence makes a PjitFunction around it tracing */
  XP_NAME_INPUT_SCOPE = 1u << 3, /* an annotation of the user that is called data, load, .. */
  XP_NAME_QUALIFIED = 1u << 4,   /* holds "::": a name of the runtime, never an annotation of the user */
  XP_NAME_RECORD = 1u << 5,      /* a task was handed to a thread pool */
  XP_NAME_REGION = 1u << 6,      /* a pool thread began a task */
  XP_NAME_REGION_END = 1u << 7,
  XP_NAME_OP_END = 1u << 8,      /* "end: op": where an XLA CPU op really ended */
  XP_NAME_PROFILER = 1u << 9,    /* the profiler starting or stopping */
  XP_NAME_MEMCPY = 1u << 10,     /* an API call that copies */
  XP_NAME_THUNKS = 1u << 11,     /* *::ExecuteThunks */
  XP_NAME_COMPLETION = 1u << 12, /* the wait in which XLA CPU finishes a run */
  XP_NAME_SYNC = 1u << 13,       /* StepMarker: the program asked for a cut */
  XP_NAME_LAZY_SYNC = 1u << 14,  /* SyncTensorsGraph*: a graph is cut, by whoever */
  XP_NAME_LAUNCH = 1u << 15,     /* an execute call of a program, for counting */
  XP_NAME_EXECUTES = 1u << 16,   /* counted as execute of torch_xla's client */
  XP_NAME_COMPILES = 1u << 17,
  XP_NAME_CLIENT_COMPILES = 1u << 18, /* counted only where XP_NAME_COMPILES never occurs */
  XP_NAME_READS = 1u << 19,
  XP_NAME_LITERAL_READS = 1u << 20, /* counted only where XP_NAME_READS never occurs */
  XP_NAME_UPLOADS = 1u << 21,
  XP_NAME_TORCH = 1u << 22,     /* only torch_xla has it */
  XP_NAME_POOL_TASK = 1u << 23, /* a pool task of the PJRT client around a copy */
  XP_NAME_LIBRARY = 1u << 24    /* a frame of a library: see xp_frame_is_library */
};

typedef struct {
  xp_cause cause; /* XP_CAUSE_COUNT: in no list */
  uint32_t flags;
} xp_name_class;

/* The class and flags of an event name. */
xp_name_class xp_name_classify(xp_str name);

/* True for a Python frame of a library that a user does not edit: "$pjit.py:331 cache_miss", "$builtins len". */
bool xp_frame_is_library(xp_str name);

/* True for the threads that the runtime makes for itself: no annotation of a user stands there. */
bool xp_thread_is_runtime(xp_str line_name);

/* True for a device op that is waiting by nature: infeed, outfeed, send, recv and their "-done". */
bool xp_op_is_idle(xp_str op);

/* True for the one of them that fetches input. */
bool xp_op_is_infeed(xp_str op);

/* True for a collective, by HLO category, opcode or kernel name. */
bool xp_op_is_collective(xp_str name);

/* Device events that are neither work nor copy: allocations and what the tracer does itself. */
bool xp_device_event_is_ignored(xp_str name);

/* Device events that copy, by their name. */
bool xp_device_event_is_copy(xp_str name);

/* The tables, for tests and documentation. */
typedef struct {
  const char *pattern;
  xp_cause cause; /* XP_CAUSE_COUNT: flags only */
  uint32_t flags;
} xp_name_pattern;

const xp_name_pattern *xp_name_patterns(size_t *count);

#endif
