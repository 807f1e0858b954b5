/* Element-wise operations.
 *
 * A kernel runs over whole arrays.  Where an operand is f16 or bf16, has to be put into total order, or is one element
 * that stands for many, the arrays are taken in chunks that stay in the first cache: operands are converted into
 * buffers, the kernel runs there, and its result is converted back.  A broadcast scalar never becomes an array.
 */
#include "device/eval_element.h"

#include "base/map.h"
#include "device/eval_ops.h"

void xp_dev_fill(void *out, const void *value, size_t size, int64_t n)
{
#define FILL_AS(T)                                                                                                     \
  {                                                                                                                    \
    T v, *y = out;                                                                                                     \
    memcpy(&v, value, sizeof v);                                                                                       \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      y[i] = v;                                                                                                        \
    }                                                                                                                  \
    break;                                                                                                             \
  }
  switch (size) {
  case 1:
    FILL_AS(uint8_t)
  case 2:
    FILL_AS(uint16_t)
  case 4:
    FILL_AS(uint32_t)
  default:
    FILL_AS(uint64_t)
  }
#undef FILL_AS
}

/* ---------------------------------------------------------------- finding the kernel */

static bool find_convert(const xp_dev_kernels *kernels, xp_dev_type from, xp_dev_type to, xp_dev_element *element)
{
  if (xp_dev_type_is_half(from) && to != XP_DEV_F32) {
    element->before[0] = kernels->convert[from][XP_DEV_F32];
    from = XP_DEV_F32;
  }
  element->kernel = kernels->convert[from][to];
  return element->kernel != NULL;
}

static bool find_compare(const xp_dev_kernels *kernels, const xp_hlo_instruction *instruction, xp_dev_type type,
                         xp_dev_element *element)
{
  static const uint8_t directions[XP_HLO_COMPARE_COUNT] = {
      [XP_HLO_COMPARE_EQ] = XP_DEV_EQ, [XP_HLO_COMPARE_NE] = XP_DEV_NE, [XP_HLO_COMPARE_GE] = XP_DEV_GE,
      [XP_HLO_COMPARE_GT] = XP_DEV_GT, [XP_HLO_COMPARE_LE] = XP_DEV_LE, [XP_HLO_COMPARE_LT] = XP_DEV_LT,
  };
  if (instruction->compare == XP_HLO_COMPARE_NONE || instruction->compare >= XP_HLO_COMPARE_COUNT) {
    return false;
  }
  if (xp_dev_type_is_float(type) && instruction->order == XP_HLO_ORDER_TOTAL) {
    element->before[0] = element->before[1] = kernels->total_order[type];
    type = type == XP_DEV_F64 ? XP_DEV_S64 : type == XP_DEV_F32 ? XP_DEV_S32 : XP_DEV_S16;
  } else if (xp_dev_type_is_half(type)) {
    element->before[0] = element->before[1] = kernels->convert[type][XP_DEV_F32];
    type = XP_DEV_F32;
  }
  element->kernel = kernels->compare[directions[instruction->compare]][type];
  return element->kernel != NULL;
}

/* All operands and the result have one type, but for what the opcode says. */
static bool find_same(const xp_dev_kernels *kernels, xp_hlo_opcode opcode, xp_dev_type type, xp_dev_type out,
                      xp_dev_element *element)
{
  bool is_test = opcode == XP_HLO_OP_IS_FINITE;
  if (out != (is_test ? XP_DEV_PRED : type)) {
    return false;
  }
  if (xp_dev_type_is_half(type)) {
    for (int i = 0; i < 3; i++) {
      element->before[i] = kernels->convert[type][XP_DEV_F32];
    }
    element->after = is_test ? NULL : kernels->convert[XP_DEV_F32][type];
    type = XP_DEV_F32;
  }
  element->kernel = kernels->elementwise[opcode][type];
  return element->kernel != NULL;
}

/* Operands of opcodes that kernels know; 0: not element-wise. */
static uint32_t operands_of(xp_hlo_opcode opcode)
{
  static const uint8_t counts[XP_HLO_OP_COUNT] = {
      [XP_HLO_OP_ABS] = 1,
      [XP_HLO_OP_ACOS] = 1,
      [XP_HLO_OP_ACOSH] = 1,
      [XP_HLO_OP_ASIN] = 1,
      [XP_HLO_OP_ASINH] = 1,
      [XP_HLO_OP_ATANH] = 1,
      [XP_HLO_OP_CBRT] = 1,
      [XP_HLO_OP_CEIL] = 1,
      [XP_HLO_OP_CONVERT] = 1,
      [XP_HLO_OP_COSH] = 1,
      [XP_HLO_OP_COSINE] = 1,
      [XP_HLO_OP_COUNT_LEADING_ZEROS] = 1,
      [XP_HLO_OP_ERF] = 1,
      [XP_HLO_OP_EXPONENTIAL] = 1,
      [XP_HLO_OP_EXPONENTIAL_MINUS_ONE] = 1,
      [XP_HLO_OP_FLOOR] = 1,
      [XP_HLO_OP_IS_FINITE] = 1,
      [XP_HLO_OP_LOG] = 1,
      [XP_HLO_OP_LOG_PLUS_ONE] = 1,
      [XP_HLO_OP_LOGISTIC] = 1,
      [XP_HLO_OP_NEGATE] = 1,
      [XP_HLO_OP_NOT] = 1,
      [XP_HLO_OP_POPCNT] = 1,
      [XP_HLO_OP_ROUND_NEAREST_AFZ] = 1,
      [XP_HLO_OP_ROUND_NEAREST_EVEN] = 1,
      [XP_HLO_OP_RSQRT] = 1,
      [XP_HLO_OP_SIGN] = 1,
      [XP_HLO_OP_SINE] = 1,
      [XP_HLO_OP_SINH] = 1,
      [XP_HLO_OP_SQRT] = 1,
      [XP_HLO_OP_TAN] = 1,
      [XP_HLO_OP_TANH] = 1,
      [XP_HLO_OP_ADD] = 2,
      [XP_HLO_OP_AND] = 2,
      [XP_HLO_OP_ATAN2] = 2,
      [XP_HLO_OP_COMPARE] = 2,
      [XP_HLO_OP_DIVIDE] = 2,
      [XP_HLO_OP_MAXIMUM] = 2,
      [XP_HLO_OP_MINIMUM] = 2,
      [XP_HLO_OP_MULTIPLY] = 2,
      [XP_HLO_OP_OR] = 2,
      [XP_HLO_OP_POWER] = 2,
      [XP_HLO_OP_REMAINDER] = 2,
      [XP_HLO_OP_SHIFT_LEFT] = 2,
      [XP_HLO_OP_SHIFT_RIGHT_ARITHMETIC] = 2,
      [XP_HLO_OP_SHIFT_RIGHT_LOGICAL] = 2,
      [XP_HLO_OP_SUBTRACT] = 2,
      [XP_HLO_OP_XOR] = 2,
      [XP_HLO_OP_CLAMP] = 3,
      [XP_HLO_OP_SELECT] = 3,
  };
  return (unsigned)opcode < XP_HLO_OP_COUNT ? counts[opcode] : 0;
}

bool xp_dev_is_element_op(xp_hlo_opcode opcode)
{
  return operands_of(opcode) > 0;
}

bool xp_dev_element_find(const xp_dev_kernels *kernels, const xp_hlo_instruction *instruction, const xp_dev_type *in,
                         uint32_t in_count, xp_dev_type out, xp_dev_element *element)
{
  xp_hlo_opcode opcode = instruction->opcode;
  *element = (xp_dev_element){.in_count = (uint8_t)in_count, .out_size = xp_dev_type_sizes[out]};
  if (in_count == 0 || in_count != operands_of(opcode)) {
    return false;
  }
  bool is_select = opcode == XP_HLO_OP_SELECT;
  for (uint32_t i = 0; i < in_count; i++) {
    element->in_size[i] = xp_dev_type_sizes[in[i]];
    if (in[i] != (is_select ? i == 0 ? XP_DEV_PRED : in[1] : in[0])) {
      return false;
    }
  }
  switch (opcode) {
  case XP_HLO_OP_CONVERT:
    return find_convert(kernels, in[0], out, element);
  case XP_HLO_OP_COMPARE:
    return out == XP_DEV_PRED && find_compare(kernels, instruction, in[0], element);
  case XP_HLO_OP_SELECT:
    element->kernel = kernels->elementwise[opcode][in[1]];
    return out == in[1];
  default:
    return find_same(kernels, opcode, in[0], out, element);
  }
}

/* ---------------------------------------------------------------- running it */

typedef struct {
  uint64_t in[3][XP_DEV_CHUNK], out[XP_DEV_CHUNK]; /* room for any type */
} buffers;

/* One element, converted and repeated over a buffer. */
static void spread(const xp_dev_element *element, int operand, const void *value, uint64_t *buffer, int64_t n)
{
  if (element->before[operand] == NULL) {
    xp_dev_fill(buffer, value, element->in_size[operand], n);
    return;
  }
  uint64_t same[XP_DEV_CHUNK];
  xp_dev_fill(same, value, element->in_size[operand], n);
  const void *in[1] = {same};
  element->before[operand](buffer, in, n);
}

static void apply_in_chunks(const xp_dev_element *element, void *out, const void *const *in, unsigned splats, int64_t n)
{
  buffers b;
  for (int k = 0; k < element->in_count; k++) {
    if (splats >> k & 1) {
      spread(element, k, in[k], b.in[k], n < XP_DEV_CHUNK ? n : XP_DEV_CHUNK);
    }
  }
  for (int64_t at = 0; at < n; at += XP_DEV_CHUNK) {
    int64_t count = n - at < XP_DEV_CHUNK ? n - at : XP_DEV_CHUNK;
    const void *from[3];
    for (int k = 0; k < element->in_count; k++) {
      const void *here[1] = {(const char *)in[k] + at * element->in_size[k]};
      from[k] = here[0];
      if (splats >> k & 1) {
        from[k] = b.in[k];
      } else if (element->before[k] != NULL) {
        element->before[k](b.in[k], here, count);
        from[k] = b.in[k];
      }
    }
    void *to = (char *)out + at * element->out_size;
    element->kernel(element->after != NULL ? b.out : to, from, count);
    if (element->after != NULL) {
      const void *made[1] = {b.out};
      element->after(to, made, count);
    }
  }
}

void xp_dev_element_apply(const xp_dev_element *element, void *out, const void *const *in, unsigned splats, int64_t n)
{
  if (splats == 0 && element->before[0] == NULL && element->after == NULL) {
    element->kernel(out, in, n);
  } else {
    apply_in_chunks(element, out, in, splats, n);
  }
}

/* ---------------------------------------------------------------- steps */

typedef struct {
  xp_dev_element element;
  unsigned splats;
} element_step;

static xp_status run_element(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const element_step *detail = step->detail;
  const void *in[3];
  for (uint32_t i = 0; i < step->in_count; i++) {
    in[i] = xp_dev_at(frame, step->in[i]);
  }
  xp_dev_element_apply(&detail->element, xp_dev_at(frame, step->out[0]), in, detail->splats, step->out[0].count);
  return XP_OK;
}

/* The scalar that an operand repeats, if it is a broadcast of one. */
static bool find_splat(const xp_dev_context *context, uint32_t instruction, xp_dev_leaf *leaf)
{
  const xp_dev_program *program = context->program;
  const xp_hlo_instruction *from = &program->computation->instructions[instruction];
  for (int i = 0; i < 4 && (from->opcode == XP_HLO_OP_RESHAPE || from->opcode == XP_HLO_OP_COPY); i++) {
    from = xp_hlo_operand(program->computation, from, 0);
  }
  if (from->opcode != XP_HLO_OP_BROADCAST || program->values[from->operands[0]].leaves[0].count != 1) {
    return false;
  }
  *leaf = program->values[from->operands[0]].leaves[0];
  return true;
}

/* Operands that are scalars where the result is not: their bits, and the leaves in `in`. */
static xp_status find_splats(xp_dev_context *context, xp_dev_step *step, xp_dev_leaf *in, unsigned *splats)
{
  const xp_hlo_instruction *instruction = context->instruction;
  xp_hlo_opcode opcode = instruction->opcode;
  for (uint32_t i = 0; i < step->in_count; i++) {
    bool may_be_scalar = (opcode == XP_HLO_OP_CLAMP && i != 1) || (opcode == XP_HLO_OP_SELECT && i == 0);
    bool is_scalar = may_be_scalar && step->in[i].shape->rank == 0;
    if (!is_scalar && !xp_hlo_shape_same_dims(step->in[i].shape, step->out[0].shape)) {
      return xp_dev_reject(context, "its operands have different shapes");
    }
    in[i] = step->in[i];
    if (step->out[0].count > 1 && (is_scalar || find_splat(context, instruction->operands[i], &in[i]))) {
      *splats |= 1u << i;
    }
  }
  return XP_OK;
}

static double cost_of(xp_hlo_opcode opcode, xp_dev_type type)
{
  return opcode == XP_HLO_OP_CONVERT || opcode == XP_HLO_OP_SELECT || !xp_dev_type_is_float(type) ? 0 : 1;
}

xp_status xp_dev_prepare_element(xp_dev_context *context, xp_dev_step *step)
{
  element_step *detail = xp_arena_alloc(context->plan->arena, sizeof *detail);
  xp_dev_leaf *in = xp_arena_array(context->plan->arena, step->in_count, sizeof *in);
  xp_dev_type types[3];
  if (step->in_count == 0 || step->in_count > 3 || step->in_count != context->instruction->operand_count ||
      step->out_count != 1) {
    return xp_dev_reject(context, "it has a wrong number of operands");
  }
  xp_status status = find_splats(context, step, in, &detail->splats);
  if (status != XP_OK) {
    return status;
  }
  for (uint32_t i = 0; i < step->in_count; i++) {
    types[i] = in[i].type;
  }
  if (!xp_dev_element_find(context->plan->kernels, context->instruction, types, step->in_count, step->out[0].type,
                           &detail->element)) {
    return xp_dev_reject(context, "this device does not have it for these types");
  }
  step->in = in;
  step->detail = detail;
  step->run = run_element;
  step->is_pointwise = true;
  step->flops = cost_of(context->instruction->opcode, step->out[0].type) * (double)step->out[0].count;
  return XP_OK;
}
