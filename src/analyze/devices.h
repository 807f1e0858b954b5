/* The devices of a capture and their work, as lanes over the columns of the capture.
 *
 * A lane is what one line holds for one device: indices of events, sorted by start, with the op that each of them ran.
 * 12 bytes an event (20 on XLA CPU, where ops end later than their events).
 */
#ifndef XP_ANALYZE_DEVICES_H
#define XP_ANALYZE_DEVICES_H

#include "analyze/links.h"
#include "xspace/hlo_names.h"

typedef enum {
  XP_ROLE_WORK,
  XP_ROLE_COPY,
  XP_ROLE_INFEED,  /* the device waits for input */
  XP_ROLE_TRANSFER /* outfeed, send, recv: the device waits for somebody else */
} xp_role;

/* What all executions of one instruction share. */
typedef struct {
  xp_role role;
  xp_str op;       /* HLO instruction, or the kernel's name */
  xp_str op_name;  /* as the capture has it; several of a fusion are joined by ';' */
  xp_str scope;    /* as shown; empty: none */
  xp_str folded;   /* the same without numbers and wrappers, whatever is shown: compared with scopes of the host */
  xp_str base;     /* last component of the op name */
  xp_str category; /* hlo_category, else opcode; empty */
  xp_str module, source;
  uint64_t program;
  bool has_program, names_op, scoped, mixed, collective;
  bool leaf_input; /* parameter or constant: does not count as an instruction that ran */
} xp_op;

typedef struct {
  const xp_line *line;
  size_t count;
  uint32_t *event;
  uint32_t *op;
  uint32_t *run;   /* XP_NONE: none; NULL: look the run up by time */
  int64_t *end_ps; /* NULL: the events' own ends */
  size_t event_capacity, op_capacity, run_capacity, end_capacity;
} xp_lane;

typedef struct {
  uint32_t lane, index;
} xp_work_ref;

/* A program as its runs name it. */
typedef struct {
  xp_str name; /* without "(program id)" */
  uint64_t program;
  bool has_program;
} xp_module;

/* One execution of a program on a device. */
typedef struct {
  int64_t start_ps, end_ps;
  uint64_t run_id;
  uint64_t flow; /* the id that the launch has as a producer */
  int64_t flow_type;
  uint32_t module; /* index into xp_devices.modules */
  uint32_t launch; /* index into xp_links.launches, XP_NONE */
  uint32_t step;   /* index into the steps of the reading, XP_NONE */
  bool has_run_id, has_flow;
} xp_device_run;

typedef struct {
  uint32_t host;
  xp_str name, model;
  xp_device_kind kind;
  int64_t ordinal;
  xp_lane *lanes;
  size_t lane_count, lane_capacity;
  xp_work_ref *order;  /* of all lanes by start; NULL with one lane */
  xp_device_run *runs; /* by start */
  size_t run_count, run_capacity;
  bool module_line; /* the runs are events of "XLA Modules" */
  size_t untimed, stray, work_count, copy_count;
  bool clock_bad;   /* no shift makes its clock agree with the host's */
  int64_t shift_ps; /* added to every time of the device (see clock.c); 0 while lanes are built */
} xp_device_data;

typedef struct {
  xp_arena *arena;
  const xp_capture *capture;
  const xp_threads *threads;
  xp_device_data *devices;
  size_t count, capacity;
  xp_map device_of; /* hash of host and name (XLA CPU: ordinal) -> device */
  xp_module *modules;
  size_t module_count, module_capacity;
  xp_map module_of; /* hash of a module -> its index */
  xp_op *ops;
  size_t op_count, op_capacity;
  xp_hlo_names **hlo; /* by host */
  bool lazy;          /* modules SyncTensorsGraph* */
  bool raw_names;
} xp_devices;

/* Prepares for xp_devices_build, and tells whether the program is lazy. */
void xp_devices_open(xp_devices *devices, const xp_capture *capture, const xp_threads *threads, bool raw_names,
                     xp_arena *arena);

/* Finds devices and their work.  Links must hold the API calls already where there are device planes (copies and runs
 * of GPUs depend on them). */
void xp_devices_build(xp_devices *devices, xp_links *links);

/* The index of a module, new if it was not there. */
uint32_t xp_devices_module(xp_devices *devices, xp_module module);

/* Appends a run without launch and step; returns its index. */
uint32_t xp_device_add_run(xp_devices *devices, xp_device_data *device, xp_device_run run);

static inline int64_t xp_lane_start(const xp_device_data *d, const xp_lane *lane, size_t i)
{
  return lane->line->start_ps[lane->event[i]] + d->shift_ps;
}

static inline int64_t xp_lane_end(const xp_device_data *d, const xp_lane *lane, size_t i)
{
  int64_t end = lane->end_ps ? lane->end_ps[i] : xp_event_end(lane->line, lane->event[i]);
  return end + d->shift_ps;
}

typedef struct {
  uint32_t lane, index, op;
  int64_t start_ps, end_ps;
} xp_work;

/* Puts the work of all lanes in one order (by start, then lane).  A device with one lane needs none. */
void xp_device_order(xp_device_data *device, xp_arena *arena);

/* Number of pieces of work, and piece i in the order of start. */
size_t xp_work_count(const xp_device_data *device);
xp_work xp_work_at(const xp_device_data *device, size_t i);

/* The run that holds a piece of work; XP_NONE if none. */
uint32_t xp_work_run(const xp_device_data *device, const xp_work *work);

/* The latest run that began at or before a time and is not over; XP_NONE. */
uint32_t xp_device_run_at(const xp_device_data *device, int64_t time_ps);

#endif
