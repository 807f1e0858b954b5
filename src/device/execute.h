/* Launching programs, and running them on the device's thread. */
#ifndef XP_DEVICE_EXECUTE_H
#define XP_DEVICE_EXECUTE_H

#include "device/buffer.h"
#include "device/executable.h"
#include "device/plugin.h"
#include "device/tracer.h"

/* An execution, from its launch to its end: the program, its memory, and the event of its end. */
typedef struct {
  xp_dev_task task;
  xp_abi_device *device;
  xp_abi_executable *program;
  xp_dev_traced_run traced;
  int64_t launched_ns; /* CLOCK_MONOTONIC */
  xp_abi_event *done;
  xp_dev_content **inputs; /* of the program's count */
  bool *is_donated;        /* whose memory an output has now */
  xp_dev_block **outputs;  /* of the program's count */
  const void **input_data;
  void **output_data;
} xp_dev_execution;

/* An execution without memory yet; NULL when memory is out. */
xp_dev_execution *xp_dev_execution_create(const xp_abi_loaded_executable *executable);

/* Drops what it holds, and itself; NULL is allowed. */
void xp_dev_execution_free(xp_dev_execution *execution);

/* Sleeps, and turns in a loop at the end, until a moment of CLOCK_MONOTONIC: no longer than it should be. */
void xp_dev_pause_until(int64_t ns);

/* Gives it to the device's queue, which ends it. */
void xp_dev_execution_launch(xp_dev_execution *execution);

/* PJRT_LoadedExecutable_Execute */
xp_abi_error *xp_dev_execute(xp_abi_execute_args *args);

#endif
