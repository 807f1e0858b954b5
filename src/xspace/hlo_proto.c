/* From the bytes of an HloProto to instructions with names.
 *
 * Computations are collected first, because an instruction may call one that stands behind it.  The distinct op_names
 * of a computation are listed once, and only if a fusion calls it.
 */
#include "xspace/hlo_proto.h"

#include "wire/wire.h"
#include "xspace/hlo_frames.h"

typedef struct {
  uint64_t id;
  xp_str name, message;
  size_t first, count; /* its instructions */
  bool has_names;
  xp_str *op_names; /* distinct; room for one more behind them */
  size_t op_name_count;
  bool is_taken; /* that one more is in use */
} computation;

typedef struct {
  xp_arena *arena;
  xp_hlo_program *program;
  computation *computations;
  size_t computation_count, computation_room;
  uint64_t entry_id;
  xp_str entry_name;
  xp_map by_id;
  uint64_t *called; /* by instruction: id of the computation that a fusion calls, plus 1; 0 if it is no fusion */
  uint64_t *frame;  /* by instruction: number of its stack frame, 0 if it has none */
  xp_hlo_frames frames;
  size_t copied; /* names that were copied because a computation is called more than once */
} reader;

static void note_status(reader *h, const xp_wire_reader *r)
{
  h->program->damaged |= r->status != XP_WIRE_OK;
}

static void read_metadata(reader *h, xp_str message, xp_hlo_op *to, uint64_t *frame)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type == XP_WIRE_VARINT && f.number == 4) {
      to->source_line = (int64_t)f.value;
    } else if (f.type == XP_WIRE_VARINT && f.number == 15) {
      *frame = f.value;
    }
    if (f.type != XP_WIRE_BYTES) {
      continue;
    }
    if (f.number == 1) {
      to->op_type = f.bytes;
    } else if (f.number == 2) {
      to->op_name = f.bytes;
    } else if (f.number == 3) {
      to->source_file = f.bytes;
    }
  }
  note_status(h, &r);
}

/* The first of the called computations: a field of its own, or packed. */
static bool first_called(const xp_wire_field *f, uint64_t *id)
{
  if (f->type == XP_WIRE_VARINT) {
    *id = f->value;
    return true;
  }
  const uint8_t *p = (const uint8_t *)f->bytes.ptr;
  return f->type == XP_WIRE_BYTES && xp_wire_varint(&p, p + f->bytes.len, id);
}

static void read_instruction(reader *h, xp_str message, size_t index)
{
  xp_hlo_op *to = &h->program->instructions[index];
  uint64_t called = 0;
  bool has_called = false;
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == 38 && !has_called) {
      has_called = first_called(&f, &called);
    }
    if (f.type != XP_WIRE_BYTES) {
      continue;
    }
    if (f.number == 1) {
      to->name = f.bytes;
    } else if (f.number == 2) {
      to->opcode = f.bytes;
    } else if (f.number == 7) {
      read_metadata(h, f.bytes, to, &h->frame[index]);
    }
  }
  note_status(h, &r);
  h->called[index] = has_called && xp_str_is(to->opcode, "fusion") ? called + 1 : 0;
}

static void add_computation(reader *h, xp_str message)
{
  h->computations =
      xp_arena_grow(h->arena, h->computations, h->computation_count, &h->computation_room, sizeof *h->computations);
  computation *c = &h->computations[h->computation_count];
  *c = (computation){.message = message, .first = h->program->count};
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type == XP_WIRE_VARINT && f.number == 5) {
      c->id = f.value;
    } else if (f.type == XP_WIRE_BYTES && f.number == 1) {
      c->name = f.bytes;
    } else if (f.type == XP_WIRE_BYTES && f.number == 2) {
      c->count++;
    }
  }
  note_status(h, &r);
  h->program->count += c->count;
  xp_map_put(&h->by_id, c->id, (uint32_t)h->computation_count++);
}

static void read_module(reader *h, xp_str module)
{
  xp_wire_reader r = xp_wire_open(module);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type == XP_WIRE_VARINT && f.number == 6) {
      h->entry_id = f.value;
    }
    if (f.type != XP_WIRE_BYTES) {
      continue;
    }
    if (f.number == 1) {
      h->program->module = f.bytes;
    } else if (f.number == 2) {
      h->entry_name = f.bytes;
    } else if (f.number == 3) {
      add_computation(h, f.bytes);
    } else if (f.number == 17) {
      h->program->damaged |= !xp_hlo_frames_read(&h->frames, f.bytes, h->arena);
    }
  }
  note_status(h, &r);
}

static bool is_entry(const reader *h, const computation *c)
{
  return h->entry_id != 0 ? c->id == h->entry_id : xp_str_eq(c->name, h->entry_name);
}

static void read_computation(reader *h, const computation *c)
{
  size_t index = c->first;
  xp_wire_reader r = xp_wire_open(c->message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == 2 && f.type == XP_WIRE_BYTES) {
      h->program->instructions[index].is_fused = !is_entry(h, c);
      read_instruction(h, f.bytes, index++);
    }
  }
}

/* Instructions that do not say where they come from, but have a stack frame. */
static void resolve_sources(reader *h)
{
  for (size_t i = 0; i < h->program->count; i++) {
    xp_hlo_op *to = &h->program->instructions[i];
    if (to->source_file.len == 0) {
      xp_hlo_frames_find(&h->frames, h->frame[i], &to->source_file, &to->source_line);
    }
  }
}

/* ---- fused names */

static void list_op_names(reader *h, computation *c)
{
  if (c->has_names) {
    return;
  }
  c->has_names = true;
  xp_intern distinct;
  xp_intern_init(&distinct, h->arena);
  for (size_t i = c->first; i < c->first + c->count; i++) {
    const xp_hlo_op *instruction = &h->program->instructions[i];
    bool is_input = xp_str_is(instruction->opcode, "parameter") || xp_str_is(instruction->opcode, "constant");
    if (!is_input && instruction->op_name.len > 0) {
      xp_intern_add(&distinct, instruction->op_name);
    }
  }
  c->op_name_count = distinct.count;
  c->op_names = xp_arena_array(h->arena, distinct.count + 1, sizeof *c->op_names);
  if (distinct.count > 0) {
    memcpy(c->op_names, distinct.strings, distinct.count * sizeof *c->op_names);
  }
}

static bool holds(const xp_str *names, size_t count, xp_str name)
{
  for (size_t i = 0; i < count; i++) {
    if (xp_str_eq(names[i], name)) {
      return true;
    }
  }
  return false;
}

/* The first fusion that calls a computation appends its own name to the shared list; a further one gets a copy, as long
 * as the copies stay below the size of the proto (XLA calls each fused computation once). */
static void set_fused_names(reader *h, xp_hlo_op *fusion, computation *c, size_t most_copied)
{
  list_op_names(h, c);
  fusion->fused_names = c->op_names;
  fusion->fused_count = c->op_name_count;
  if (fusion->op_name.len == 0 || h->copied + c->op_name_count > most_copied) {
    return;
  }
  h->copied += c->op_name_count;
  if (holds(c->op_names, c->op_name_count, fusion->op_name)) {
    return;
  }
  if (c->is_taken) {
    fusion->fused_names = xp_arena_array(h->arena, c->op_name_count + 1, sizeof *fusion->fused_names);
    if (c->op_name_count > 0) {
      memcpy(fusion->fused_names, c->op_names, c->op_name_count * sizeof *fusion->fused_names);
    }
  }
  c->is_taken = true;
  fusion->fused_names[fusion->fused_count++] = fusion->op_name;
}

static void resolve_fusions(reader *h, size_t most_copied)
{
  for (size_t i = 0; i < h->program->count; i++) {
    uint32_t called = h->called[i] == 0 ? XP_NONE : xp_map_get(&h->by_id, h->called[i] - 1);
    if (called != XP_NONE) {
      set_fused_names(h, &h->program->instructions[i], &h->computations[called], most_copied);
    }
  }
}

void xp_hlo_proto_read(xp_arena *arena, xp_str proto, xp_hlo_program *program)
{
  reader h = {.arena = arena, .program = program};
  xp_map_init(&h.by_id, arena);
  xp_wire_reader r = xp_wire_open(proto);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == 1 && f.type == XP_WIRE_BYTES) {
      read_module(&h, f.bytes);
    }
  }
  note_status(&h, &r);
  program->instructions = xp_arena_array(arena, program->count, sizeof *program->instructions);
  h.called = xp_arena_array(arena, program->count, sizeof *h.called);
  h.frame = xp_arena_array(arena, program->count, sizeof *h.frame);
  for (size_t i = 0; i < h.computation_count; i++) {
    read_computation(&h, &h.computations[i]);
  }
  resolve_sources(&h);
  resolve_fusions(&h, proto.len);
}
