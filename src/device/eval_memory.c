/* Where the arrays of a program lie: lives of slots, results in the place of operands, outputs, offsets.
 *
 * A slot is alive from the step that writes it to the last one that reads it, both included.  Slots of results that
 * leave the program are written where the caller wants them, if that memory is free by then: an output that shares
 * memory with an input must not be written before the input is dead.  Where it is not, the result is copied at the end;
 * all copies that read inputs come before those that write outputs which share memory with inputs.
 */
#include "device/eval_memory.h"

#include "base/map.h"

/* Drops steps none of whose results is used, last first. */
static void drop_unused(xp_dev_program *program, bool *is_used)
{
  for (uint32_t i = 0; i < program->root.count; i++) {
    is_used[program->root.leaves[i].slot] = true;
  }
  bool *is_needed = is_used + program->slot_count;
  for (uint32_t k = program->step_count; k-- > 0;) {
    const xp_dev_step *step = &program->steps[k];
    is_needed[k] = step->has_effect;
    for (uint32_t i = 0; i < step->out_count; i++) {
      is_needed[k] |= is_used[step->out[i].slot];
    }
    for (uint32_t i = 0; is_needed[k] && i < step->in_count; i++) {
      is_used[step->in[i].slot] = true;
    }
  }
  uint32_t kept = 0;
  for (uint32_t k = 0; k < program->step_count; k++) {
    if (is_needed[k]) {
      program->steps[kept++] = program->steps[k];
    }
  }
  program->step_count = kept;
}

static void find_lives(xp_dev_program *program)
{
  for (uint32_t k = 0; k < program->step_count; k++) {
    xp_dev_step *step = &program->steps[k];
    for (uint32_t i = 0; i < step->in_count; i++) {
      program->slots[step->in[i].slot].last = k;
    }
    for (uint32_t i = 0; i < step->out_count; i++) {
      xp_dev_slot *slot = &program->slots[step->out[i].slot];
      slot->first = slot->first == XP_NONE ? k : slot->first;
      slot->last = k;
    }
    if (step->scratch != XP_NONE) {
      program->slots[step->scratch].first = program->slots[step->scratch].last = k;
    }
    program->flops += step->flops;
    program->bytes += step->bytes;
    program->has_effect |= step->has_effect;
  }
  for (uint32_t i = 0; i < program->root.count; i++) {
    program->slots[program->root.leaves[i].slot].last = program->step_count;
  }
}

/* True if no other operand of the step lies in the slot of operand `which`. */
static bool is_only_operand(const xp_dev_step *step, uint32_t which)
{
  for (uint32_t i = 0; i < step->in_count; i++) {
    if (i != which && step->in[i].slot == step->in[which].slot) {
      return false;
    }
  }
  return true;
}

/* Gives a result the slot of an operand, if that dies at step k. */
static bool take_place(xp_dev_program *program, uint32_t k, uint32_t operand, uint32_t *moved)
{
  const xp_dev_step *step = &program->steps[k];
  uint32_t from = moved[step->in[operand].slot], to = step->out[0].slot;
  xp_dev_slot *dying = &program->slots[from], *made = &program->slots[to];
  bool is_fit = from != to && dying->place == XP_DEV_IN_TEMP && dying->first != XP_NONE && dying->last == k &&
                dying->bytes == made->bytes && made->first == k;
  if (is_fit) {
    dying->last = made->last;
    made->first = made->last = XP_NONE;
    moved[to] = from;
  }
  return is_fit;
}

/* Results take over the slots of operands that die where they are made: moved[slot] is the slot it became. */
static void take_places(xp_dev_program *program, uint32_t *moved)
{
  for (uint32_t s = 0; s < program->slot_count; s++) {
    moved[s] = s;
  }
  for (uint32_t k = 0; k < program->step_count; k++) {
    const xp_dev_step *step = &program->steps[k];
    if (step->is_pointwise) {
      bool is_taken = false;
      for (uint32_t i = 0; i < step->in_count && !is_taken; i++) {
        is_taken = step->in[i].count == step->out[0].count && take_place(program, k, i, moved);
      }
    } else if (step->in_place != XP_NONE && is_only_operand(step, step->in_place)) {
      take_place(program, k, step->in_place, moved);
    }
  }
}

static void apply_moves(xp_dev_leaf *leaves, uint32_t count, const uint32_t *moved)
{
  for (uint32_t i = 0; i < count; i++) {
    leaves[i].slot = moved[leaves[i].slot];
  }
}

static void move_all(xp_dev_context *context, const uint32_t *moved)
{
  xp_dev_program *program = context->program;
  for (uint32_t k = 0; k < program->step_count; k++) {
    xp_dev_step *step = &program->steps[k];
    xp_dev_leaf *in = xp_arena_array(context->plan->arena, step->in_count, sizeof *in);
    for (uint32_t i = 0; i < step->in_count; i++) {
      in[i] = step->in[i];
    }
    apply_moves(in, step->in_count, moved);
    step->in = in;
    apply_moves(step->out, step->out_count, moved);
  }
  /* The root's leaves may be those of a step, moved already; moved[moved[s]] is moved[s]. */
  apply_moves(program->root.leaves, program->root.count, moved);
}

/* True if the output may be written when the slot is. */
static bool is_free_then(const xp_dev_program *program, const xp_dev_slot *slot, int64_t alias)
{
  if (alias < 0) {
    return true;
  }
  uint32_t last = program->slots[program->inputs.leaves[alias].slot].last;
  return last == XP_NONE || last < slot->first || (last == slot->first && program->steps[last].is_pointwise);
}

static void add_copy(xp_dev_context *context, uint32_t from, uint32_t to)
{
  xp_dev_program *program = context->program;
  program->copies[program->copy_count++] = (xp_dev_copy){from, to};
}

/* A slot for the memory of an output. */
static uint32_t output_slot(xp_dev_context *context, uint32_t output)
{
  uint32_t slot = xp_dev_slot_add(context, 0);
  xp_dev_slot *made = &context->program->slots[slot];
  made->place = XP_DEV_IN_OUTPUT;
  made->number = output;
  return slot;
}

static void place_outputs(xp_dev_context *context, const int64_t *aliases)
{
  xp_dev_program *program = context->program;
  uint32_t count = program->root.count, late_count = 0;
  xp_dev_copy *late = xp_arena_array(context->plan->arena, count, sizeof *late);
  program->copies = xp_arena_array(context->plan->arena, count * 2ul, sizeof *program->copies);
  for (uint32_t j = 0; j < count; j++) {
    uint32_t from = program->root.leaves[j].slot;
    int64_t alias = aliases == NULL ? -1 : aliases[j];
    xp_dev_slot *slot = &program->slots[from];
    if (slot->place == XP_DEV_IN_TEMP && slot->first != XP_NONE && is_free_then(program, slot, alias)) {
      slot->place = XP_DEV_IN_OUTPUT;
      slot->number = j;
      continue;
    }
    uint32_t to = output_slot(context, j);
    slot = &program->slots[from];
    bool is_same = slot->place == XP_DEV_IN_INPUT && slot->number == alias;
    if (alias < 0 || is_same) {
      add_copy(context, from, to);
    } else if (slot->place != XP_DEV_IN_TEMP) {
      uint32_t between = xp_dev_slot_add(context, program->slots[from].bytes);
      program->slots[between].first = program->slots[between].last = program->step_count;
      add_copy(context, from, between);
      late[late_count++] = (xp_dev_copy){between, to};
    } else {
      late[late_count++] = (xp_dev_copy){from, to};
    }
  }
  for (uint32_t i = 0; i < late_count; i++) {
    add_copy(context, late[i].from, late[i].to);
  }
}

/* ---------------------------------------------------------------- offsets */

/* Slots are put into the first gap that holds them.  Programs of gradients keep what they made first for last, so both
 * the search for a gap and that for a dead block begin where there is something to find. */
typedef struct {
  size_t offset, end;
  uint32_t slot;
} block;

typedef struct {
  xp_dev_program *program;
  block *blocks;    /* those alive, by offset */
  uint32_t count;   /* of them */
  uint32_t dense;   /* so many at the beginning have no gap before or between them */
  uint32_t *dying;  /* [step] a slot whose last step this is; XP_NONE: there is none */
  uint32_t *also;   /* [slot] another one that dies with it */
  size_t base, end; /* of all so far */
} layout;

static void remove_block(layout *l, uint32_t slot)
{
  const size_t offset = l->program->slots[slot].offset;
  uint32_t low = 0, high = l->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (l->blocks[middle].offset < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  while (l->blocks[low].slot != slot) {
    low++; /* one without bytes lies at the offset of its neighbour */
  }
  l->count--;
  memmove(l->blocks + low, l->blocks + low + 1, (l->count - low) * sizeof *l->blocks);
  l->dense = low < l->dense ? low : l->dense;
}

/* Forgets those whose last step this was. */
static void forget_dead(layout *l, uint32_t step)
{
  for (uint32_t slot = l->dying[step]; slot != XP_NONE; slot = l->also[slot]) {
    remove_block(l, slot);
  }
}

static size_t end_of_dense(const layout *l)
{
  return l->dense > 0 ? l->blocks[l->dense - 1].end : l->base;
}

/* Puts a slot into the first gap that holds it. */
static void place_slot(layout *l, uint32_t number)
{
  xp_dev_slot *slot = &l->program->slots[number];
  size_t at = end_of_dense(l),
         bytes = slot->bytes > SIZE_MAX - XP_DEV_ALIGN ? slot->bytes : xp_dev_round_up(slot->bytes);
  uint32_t i = l->dense;
  while (i < l->count && l->blocks[i].offset - at < bytes) {
    at = l->blocks[i++].end;
  }
  memmove(l->blocks + i + 1, l->blocks + i, (l->count - i) * sizeof *l->blocks);
  l->blocks[i] = (block){at, xp_dev_add_sizes(at, bytes), number};
  l->count++;
  slot->offset = at;
  l->end = l->blocks[i].end > l->end ? l->blocks[i].end : l->end;
  while (l->dense < l->count && l->blocks[l->dense].offset == end_of_dense(l)) {
    l->dense++;
  }
  l->also[number] = l->dying[slot->last];
  l->dying[slot->last] = number;
}

static void place_if_first(layout *l, uint32_t number, uint32_t step)
{
  const xp_dev_slot *slot = &l->program->slots[number];
  if (slot->place == XP_DEV_IN_TEMP && slot->first == step && slot->offset == 0) {
    place_slot(l, number);
  }
}

static void place_temps(xp_dev_context *context)
{
  xp_dev_program *program = context->program;
  xp_arena *arena = context->plan->arena;
  const size_t base = xp_dev_round_up(program->slot_count * sizeof(void *));
  layout l = {.program = program,
              .blocks = xp_arena_array(arena, program->slot_count + 1ul, sizeof(block)),
              .dying = xp_arena_array(arena, program->step_count + 1ul, sizeof(uint32_t)),
              .also = xp_arena_array(arena, program->slot_count + 1ul, sizeof(uint32_t)),
              .base = base,
              .end = base};
  memset(l.dying, 0xff, (program->step_count + 1ul) * sizeof *l.dying);
  for (uint32_t k = 0; k < program->step_count; k++) {
    const xp_dev_step *step = &program->steps[k];
    for (uint32_t i = 0; i < step->out_count; i++) {
      place_if_first(&l, step->out[i].slot, k);
    }
    if (step->scratch != XP_NONE) {
      place_if_first(&l, step->scratch, k);
    }
    forget_dead(&l, k);
  }
  for (uint32_t i = 0; i < program->copy_count; i++) {
    place_if_first(&l, program->copies[i].to, program->step_count);
  }
  program->frame_bytes = l.end;
}

xp_status xp_dev_memory_plan(xp_dev_context *context, const int64_t *aliases)
{
  xp_dev_program *program = context->program;
  drop_unused(program, xp_arena_alloc(context->plan->arena, (size_t)program->slot_count + program->step_count));
  find_lives(program);
  uint32_t *moved = xp_arena_array(context->plan->arena, program->slot_count, sizeof *moved);
  take_places(program, moved);
  move_all(context, moved);
  place_outputs(context, aliases);
  place_temps(context);
  return XP_OK;
}
