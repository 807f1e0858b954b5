/* Programs: what compiling gives.
 *
 * A program is checked and planned once, and does not change afterwards; those that hold it share it by counting.  The
 * host's PJRT_Executable is a reference to it, and so is every PJRT_LoadedExecutable and every execution in a queue.
 */
#ifndef XP_DEVICE_PROGRAM_H
#define XP_DEVICE_PROGRAM_H

#include "device/client.h"
#include "device/eval.h"
#include "device/shape.h"

enum { XP_DEV_COST_COUNT = 2 };

typedef struct {
  xp_dev_shape shape;
  bool is_given_away; /* inputs: donated by the program, whether an output takes its memory or not */
  int64_t alias;      /* outputs: the input whose memory it may take, or -1 */
} xp_dev_array;

struct xp_abi_executable {
  unsigned refs;
  int64_t program_id; /* from 1, in the order of compiling; no two programs of a process share it */
  xp_arena *arena;    /* everything below */
  xp_str name, options;
  xp_str message;     /* the HloModuleProto as it was sent, with the program_id as its id */
  xp_str with_config; /* the HloModuleProtoWithConfig around it */
  const xp_hlo_module *module;
  xp_dev_plan *plan;
  char fingerprint[17];
  xp_dev_array *inputs, *outputs;
  size_t input_count, output_count;
  /* outputs and inputs once more, as the C API wants them */
  int32_t *output_types;
  int64_t *output_dims;
  size_t *output_ranks;
  const char **memory_kinds; /* as many as there are inputs or outputs, whichever are more */
  size_t *memory_kind_sizes;
  xp_abi_named_value cost[XP_DEV_COST_COUNT];
  int64_t input_bytes, output_bytes, alias_bytes;
};

/* Compiles a program in format "hlo" or "hlo_with_config"; everything is copied. */
xp_abi_error *xp_dev_program_create(const xp_abi_program *source, xp_str options, xp_abi_executable **program);

xp_abi_executable *xp_dev_program_ref(xp_abi_executable *program);
void xp_dev_program_unref(xp_abi_executable *program);

#endif
