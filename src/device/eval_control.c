/* while, conditional, call and fusion: programs that run programs.
 *
 * The frame of the called program is part of the step's scratch.  A loop keeps its state in two sets of arrays, one
 * that the body reads and one that it writes, and swaps them.  What the body passes through unchanged, as the weights
 * of a model, is never copied: the loop's result lies where its operand lies.
 */
#include "device/eval_element.h"
#include "device/eval_ops.h"

/* The arrays of a program against those of its caller. */
static bool fits(const xp_dev_value *declared, const xp_dev_leaf *given, uint32_t count)
{
  if (declared->count != count) {
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!xp_hlo_shape_same(declared->leaves[i].shape, given[i].shape)) {
      return false;
    }
  }
  return true;
}

static size_t pointer_bytes(uint32_t count)
{
  return xp_dev_round_up(count * sizeof(void *));
}

static void add_cost(xp_dev_step *step, const xp_dev_program *program)
{
  step->flops += program->flops;
  step->bytes += program->bytes;
  step->has_effect |= program->has_effect;
}

/* ---------------------------------------------------------------- call, fusion */

static xp_status run_call(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const xp_dev_program *program = step->detail;
  const void **in = xp_dev_scratch(frame, step);
  void **out = (void **)((char *)in + pointer_bytes(step->in_count));
  for (uint32_t i = 0; i < step->in_count; i++) {
    in[i] = xp_dev_at(frame, step->in[i]);
  }
  for (uint32_t i = 0; i < step->out_count; i++) {
    out[i] = xp_dev_at(frame, step->out[i]);
  }
  return xp_dev_program_run(frame, program, in, out, (char *)out + pointer_bytes(step->out_count));
}

xp_status xp_dev_prepare_call(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  if (instruction->call_count != 1) {
    return xp_dev_reject(context, "it does not call one computation");
  }
  const xp_dev_program *program = xp_dev_program_of(context, instruction->calls[0]);
  if (!fits(&program->inputs, step->in, step->in_count) || !fits(&program->root, step->out, step->out_count)) {
    return xp_dev_reject(context, "its operands or its shape do not fit the computation it calls");
  }
  step->detail = program;
  step->run = run_call;
  step->scratch_bytes = xp_dev_add_sizes(pointer_bytes(step->in_count) + pointer_bytes(step->out_count) + XP_DEV_ALIGN,
                                         program->frame_bytes);
  add_cost(step, program);
  return XP_OK;
}

/* ---------------------------------------------------------------- conditional */

typedef struct {
  const xp_dev_program *program;
  uint32_t first; /* operand */
} branch;

typedef struct {
  branch *branches;
  int64_t count;
  size_t pointers;
} conditional;

static xp_status run_conditional(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const conditional *d = step->detail;
  const void *choice = xp_dev_at(frame, step->in[0]);
  int64_t index = d->count - 1;
  if (step->in[0].type == XP_DEV_PRED) {
    index = *(const uint8_t *)choice ? 0 : 1;
  } else if (*(const int32_t *)choice >= 0 && *(const int32_t *)choice < d->count) {
    index = *(const int32_t *)choice;
  }
  const branch *b = &d->branches[index];
  const void **in = xp_dev_scratch(frame, step);
  void **out = (void **)((char *)in + d->pointers);
  for (uint32_t i = 0; i < b->program->inputs.count; i++) {
    in[i] = xp_dev_at(frame, step->in[b->first + i]);
  }
  for (uint32_t i = 0; i < step->out_count; i++) {
    out[i] = xp_dev_at(frame, step->out[i]);
  }
  return xp_dev_program_run(frame, b->program, in, out, (char *)out + pointer_bytes(step->out_count));
}

xp_status xp_dev_prepare_conditional(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  conditional *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  size_t count = instruction->call_count, frame = 0;
  bool is_two = step->in_count > 0 && step->in[0].type == XP_DEV_PRED;
  if (count == 0 || instruction->operand_count != count + 1 || step->in_count == 0 || step->in[0].count != 1 ||
      (is_two ? count != 2 : step->in[0].type != XP_DEV_S32)) {
    return xp_dev_reject(context, "its branches do not fit its first operand");
  }
  d->branches = xp_arena_array(context->plan->arena, count, sizeof *d->branches);
  d->count = (int64_t)count;
  d->pointers = pointer_bytes(step->in_count);
  uint32_t first = 1;
  for (size_t i = 0; i < count; i++) {
    const xp_dev_program *program = xp_dev_program_of(context, instruction->calls[i]);
    uint32_t given = context->program->values[instruction->operands[i + 1]].count;
    if (!fits(&program->inputs, step->in + first, given) || !fits(&program->root, step->out, step->out_count)) {
      return xp_dev_reject(context, "its operands or its shape do not fit the computations it calls");
    }
    d->branches[i] = (branch){program, first};
    first += given;
    frame = program->frame_bytes > frame ? program->frame_bytes : frame;
    step->flops = program->flops > step->flops ? program->flops : step->flops;
    step->has_effect |= program->has_effect;
  }
  step->detail = d;
  step->run = run_conditional;
  step->scratch_bytes = xp_dev_add_sizes(d->pointers + pointer_bytes(step->out_count) + XP_DEV_ALIGN, frame);
  return XP_OK;
}

/* ---------------------------------------------------------------- while */

typedef struct {
  const xp_dev_program *condition, *body;
  bool *is_kept;    /* by array of the state: the body passes it through */
  size_t *other_at; /* the second array, in the scratch */
  size_t frame_at;
} loop;

/* The pointers of the state: read, written. */
static void open_state(const loop *d, const xp_dev_step *step, const xp_dev_frame *frame, void **now, void **next)
{
  char *scratch = xp_dev_scratch(frame, step);
  for (uint32_t i = 0; i < step->out_count; i++) {
    now[i] = next[i] = xp_dev_at(frame, step->out[i]);
    if (!d->is_kept[i]) {
      const void *initial = xp_dev_at(frame, step->in[i]);
      next[i] = scratch + d->other_at[i];
      if (now[i] != initial && step->out[i].count > 0) {
        memcpy(now[i], initial, xp_dev_leaf_bytes(step->out[i]));
      }
    }
  }
}

static xp_status run_while(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const loop *d = step->detail;
  char *scratch = xp_dev_scratch(frame, step);
  void **now = (void **)scratch, **next = (void **)(scratch + pointer_bytes(step->out_count));
  uint8_t goes_on = 0;
  void *answer[1] = {&goes_on};
  open_state(d, step, frame, now, next);
  for (;;) {
    xp_status status = xp_dev_program_run(frame, d->condition, (const void *const *)now, answer, scratch + d->frame_at);
    if (status != XP_OK || !goes_on) {
      break;
    }
    status = xp_dev_program_run(frame, d->body, (const void *const *)now, next, scratch + d->frame_at);
    if (status != XP_OK) {
      return status;
    }
    void **old = now;
    now = next;
    next = old;
  }
  for (uint32_t i = 0; i < step->out_count; i++) {
    void *out = xp_dev_at(frame, step->out[i]);
    if (now[i] != out && step->out[i].count > 0) {
      memcpy(out, now[i], xp_dev_leaf_bytes(step->out[i]));
    }
  }
  return XP_OK;
}

static bool is_passed_through(const xp_dev_program *body, uint32_t i)
{
  const xp_dev_slot *slot = &body->slots[body->root.leaves[i].slot];
  return slot->place == XP_DEV_IN_INPUT && slot->number == i;
}

static void plan_state(xp_dev_context *context, xp_dev_step *step, loop *d)
{
  size_t at = 2 * pointer_bytes(step->out_count);
  d->is_kept = xp_arena_alloc(context->plan->arena, step->out_count);
  d->other_at = xp_arena_array(context->plan->arena, step->out_count, sizeof *d->other_at);
  for (uint32_t i = 0; i < step->out_count; i++) {
    d->is_kept[i] = is_passed_through(d->body, i);
    if (d->is_kept[i]) {
      step->out[i].slot = step->in[i].slot;
    } else {
      d->other_at[i] = at;
      at = xp_dev_add_sizes(at, xp_dev_round_up(xp_dev_leaf_bytes(step->out[i])));
    }
  }
  size_t condition = d->condition->frame_bytes, body = d->body->frame_bytes;
  d->frame_at = at;
  step->scratch_bytes = xp_dev_add_sizes(at, (condition > body ? condition : body) + XP_DEV_ALIGN);
}

xp_status xp_dev_prepare_while(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_instruction *instruction = context->instruction;
  if (instruction->call_count != 2) {
    return xp_dev_reject(context, "it does not call a body and a condition");
  }
  loop *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  d->body = xp_dev_program_of(context, instruction->calls[0]);
  d->condition = xp_dev_program_of(context, instruction->calls[1]);
  bool is_condition = d->condition->root.count == 1 && d->condition->root.leaves[0].type == XP_DEV_PRED &&
                      d->condition->root.leaves[0].count == 1;
  if (!is_condition || !fits(&d->condition->inputs, step->in, step->in_count) ||
      !fits(&d->body->inputs, step->in, step->in_count) || !fits(&d->body->root, step->in, step->in_count) ||
      step->out_count != step->in_count || !fits(&d->body->root, step->out, step->out_count)) {
    return xp_dev_reject(context, "its operands or its shape do not fit the computations it calls");
  }
  plan_state(context, step, d);
  step->detail = d;
  step->run = run_while;
  add_cost(step, d->body);
  return XP_OK;
}
