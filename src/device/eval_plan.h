/* The inside of a plan: what the families of operations fill in, and what a run reads.
 *
 * A plan has a program for each computation that the entry reaches.  A program is a list of steps, each an instruction
 * with work of its own.  Values lie in slots: every array that an instruction makes gets one, and a slot is resolved to
 * a place in temporary memory, an input, an output or a constant once all its uses are known.  Tuples are lists of
 * slots, so tuple, get-tuple-element, reshape, bitcast and opt-barrier only pass slots on.
 *
 * A program's temporary memory is a frame: a table of slot pointers, then its arrays and the scratch of its steps.  The
 * frame of a called program is scratch of the calling step, so the memory of a run is one block, known beforehand.
 */
#ifndef XP_DEVICE_EVAL_PLAN_H
#define XP_DEVICE_EVAL_PLAN_H

#include <stdatomic.h>

#include "base/arena.h"
#include "device/eval.h"
#include "device/kernels/kernels.h"

#define XP_DEV_ALIGN 64

typedef enum { XP_DEV_IN_TEMP, XP_DEV_IN_INPUT, XP_DEV_IN_OUTPUT, XP_DEV_IN_CONSTANT } xp_dev_place;

typedef struct {
  xp_dev_place place;
  size_t bytes;
  size_t offset;   /* in temp */
  uint32_t number; /* input or output */
  const void *constant;
  uint32_t first, last; /* steps that write it first and use it last; XP_NONE as last: never used */
} xp_dev_slot;

/* An array: what it is and where. */
typedef struct {
  const xp_hlo_shape *shape;
  xp_dev_type type;
  uint32_t slot;
  int64_t count; /* elements */
} xp_dev_leaf;

/* The arrays of an instruction's value. */
typedef struct {
  xp_dev_leaf *leaves;
  uint32_t count;
} xp_dev_value;

typedef struct xp_dev_step xp_dev_step;
typedef struct xp_dev_frame xp_dev_frame;
typedef struct xp_dev_program xp_dev_program;

struct xp_dev_step {
  const xp_hlo_instruction *instruction;
  xp_status (*run)(const xp_dev_step *step, const xp_dev_frame *frame);
  const void *detail;    /* of the family */
  const xp_dev_leaf *in; /* operands, flat; the family may replace some */
  xp_dev_leaf *out;
  uint32_t in_count, out_count;
  size_t scratch_bytes; /* set by the family */
  uint32_t scratch;     /* slot, XP_NONE if there is none */
  uint32_t in_place;    /* out[0] may lie where this operand lies, if that dies here; XP_NONE: no operand */
  bool is_pointwise; /* each element of out[0] is written after its operands' elements of the same number were read */
  bool has_effect;   /* stays although nobody uses what it makes */
  double flops, bytes;
};

/* From one slot to another. */
typedef struct {
  uint32_t from, to;
} xp_dev_copy;

struct xp_dev_program {
  const xp_hlo_computation *computation;
  xp_dev_value *values; /* by instruction */
  xp_dev_step *steps;
  uint32_t step_count;
  xp_dev_slot *slots;
  uint32_t slot_count;
  size_t slot_capacity;
  xp_dev_value root, inputs;
  xp_dev_copy *copies; /* results that could not be written where they go, copied at the end, in this order */
  uint32_t copy_count;
  size_t frame_bytes;
  double flops, bytes; /* of all steps */
  bool has_effect;
  uint32_t depth; /* of the calls below it: 0 if it calls none */
};

struct xp_dev_plan {
  xp_arena *arena;
  const xp_hlo_module *module;
  const xp_dev_kernels *kernels;
  xp_dev_program **programs; /* by computation; NULL where none was asked for */
  xp_dev_program *entry;
  int64_t *aliases; /* by output */
  size_t constant_bytes;
  atomic_uint_least64_t *random; /* numbers handed out so far */
};

/* A program while it runs. */
struct xp_dev_frame {
  const xp_dev_plan *plan;
  const xp_dev_program *program;
  const xp_dev_run *run;
  void **slots;
};

static inline void *xp_dev_at(const xp_dev_frame *frame, xp_dev_leaf leaf)
{
  return frame->slots[leaf.slot];
}

/* NULL if the step asked for none. */
static inline void *xp_dev_scratch(const xp_dev_frame *frame, const xp_dev_step *step)
{
  return step->scratch_bytes == 0 ? NULL : frame->slots[step->scratch];
}

/* ---------------------------------------------------------------- while a plan is made */

/* What a prepare function gets. */
typedef struct {
  xp_dev_plan *plan;
  xp_dev_program *program; /* that the step belongs to */
  const xp_hlo_instruction *instruction;
  xp_error *err;
} xp_dev_context;

/* Checks an instruction and fills in a step.  Memory comes from plan->arena, which jumps out when memory is out. */
typedef xp_status (*xp_dev_prepare)(xp_dev_context *context, xp_dev_step *step);

/* The one to call for an opcode; NULL if it is not supported. */
xp_dev_prepare xp_dev_prepare_of(xp_hlo_opcode opcode);

/* Fails with XP_ERR_USAGE and "<opcode> %name: <problem>". */
xp_status xp_dev_reject(xp_dev_context *context, const char *problem);

/* The program of a computation that the instruction calls, planned already since callees stand in front. */
xp_dev_program *xp_dev_program_of(xp_dev_context *context, uint32_t computation);

/* A new slot in temporary memory. */
uint32_t xp_dev_slot_add(xp_dev_context *context, size_t bytes);

/* The leaf of an operand that is an array. */
static inline xp_dev_leaf xp_dev_operand_leaf(const xp_dev_context *context, size_t operand)
{
  return context->program->values[context->instruction->operands[operand]].leaves[0];
}

/* Rounds up to what slots are aligned to. */
static inline size_t xp_dev_round_up(size_t bytes)
{
  return (bytes + XP_DEV_ALIGN - 1) / XP_DEV_ALIGN * XP_DEV_ALIGN;
}

/* The sum and the product, or SIZE_MAX when they do not fit: planning fails for that in the end. */
size_t xp_dev_add_sizes(size_t a, size_t b);
size_t xp_dev_multiply_sizes(size_t a, size_t b);

/* Sets `count` elements of scratch aside behind *total bytes, which grow, and returns where they begin. */
size_t xp_dev_reserve(size_t *total, size_t count, size_t size);

/* Runs a program in memory for its frame. */
xp_status xp_dev_program_run(const xp_dev_frame *caller, const xp_dev_program *program, const void *const *inputs,
                             void *const *outputs, void *memory);

/* ---------------------------------------------------------------- types */

/* False if the device does not compute with a type. */
bool xp_dev_type_of(xp_hlo_type type, xp_dev_type *found);

extern const uint8_t xp_dev_type_sizes[XP_DEV_TYPE_COUNT];

static inline bool xp_dev_type_is_half(xp_dev_type type)
{
  return type == XP_DEV_F16 || type == XP_DEV_BF16;
}

static inline bool xp_dev_type_is_float(xp_dev_type type)
{
  return type >= XP_DEV_F32;
}

static inline size_t xp_dev_leaf_bytes(xp_dev_leaf leaf)
{
  return (size_t)leaf.count * xp_dev_type_sizes[leaf.type];
}

#endif
