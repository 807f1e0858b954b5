/* From a module to HloModuleProto.
 *
 * The tables write what they can.  Here are the ids in place of indices, and what follows from the rest of the module:
 * the program shape of each computation with the names of its parameters.  XLA takes the records of a message in any
 * order, so what the tables write comes first.
 */
#include "hlo/write.h"

#include "hlo/record.h"

enum {
  OPERAND_IDS = 36,
  PREDECESSOR_IDS = 37,
  CALLED_IDS = 38,
  INSTRUCTIONS = 2,
  PROGRAM_SHAPE = 4, /* of a computation, and host_program_shape of the module */
  COMPUTATIONS = 3
};

/* ids[indices[i]], packed. */
static void put_instruction_ids(xp_wire_writer *w, uint32_t field, const xp_hlo_computation *computation,
                                const uint32_t *indices, size_t count)
{
  if (count == 0) {
    return;
  }
  size_t mark = xp_wire_open_message(w, field);
  for (size_t i = 0; i < count; i++) {
    xp_wire_append_varint(w, (uint64_t)computation->instructions[indices[i]].id);
  }
  xp_wire_close_message(w, mark);
}

static void put_called_ids(xp_wire_writer *w, const xp_hlo_module *module, const xp_hlo_instruction *in)
{
  if (in->call_count == 0) {
    return;
  }
  size_t mark = xp_wire_open_message(w, CALLED_IDS);
  for (size_t i = 0; i < in->call_count; i++) {
    xp_wire_append_varint(w, (uint64_t)xp_hlo_call(module, in, i)->id);
  }
  xp_wire_close_message(w, mark);
}

static void put_instruction(xp_wire_writer *w, const xp_hlo_module *module, const xp_hlo_computation *computation,
                            const xp_hlo_instruction *in)
{
  xp_hlo_raw_instruction raw = {.in = *in};
  if (in->custom_call != NULL) {
    raw.custom = *in->custom_call;
  }
  if (in->gather != NULL) {
    raw.gather_slice_sizes = in->gather->slice_sizes;
  }
  size_t mark = xp_wire_open_message(w, INSTRUCTIONS);
  xp_hlo_record_write(w, &xp_hlo_instruction_record, &raw);
  put_instruction_ids(w, OPERAND_IDS, computation, in->operands, in->operand_count);
  put_instruction_ids(w, PREDECESSOR_IDS, computation, in->predecessors, in->predecessor_count);
  put_called_ids(w, module, in);
  xp_wire_close_message(w, mark);
}

/* One shape as a message of its own. */
static void put_shape(xp_wire_writer *w, uint32_t field, const xp_hlo_shape *shape)
{
  size_t mark = xp_wire_open_message(w, field);
  xp_hlo_shape_write(w, shape);
  xp_wire_close_message(w, mark);
}

/* A ProgramShapeProto: what goes into a computation and what comes out, with the names of its parameters.  The layouts
 * are those that the module promises its caller for the entry, or those of the instructions if `module` is NULL. */
static void put_program_shape(xp_wire_writer *w, const xp_hlo_module *module, const xp_hlo_computation *computation)
{
  size_t mark = xp_wire_open_message(w, PROGRAM_SHAPE);
  for (uint32_t i = 0; i < computation->parameter_count; i++) {
    put_shape(w, 1, module != NULL ? &module->parameter_shapes[i] : &xp_hlo_parameter(computation, i)->shape);
  }
  put_shape(w, 2, module != NULL ? &module->result_shape : &xp_hlo_root(computation)->shape);
  for (uint32_t i = 0; i < computation->parameter_count; i++) {
    xp_wire_put_bytes(w, 3, xp_hlo_parameter(computation, i)->name);
  }
  xp_wire_close_message(w, mark);
}

static void put_computation(xp_wire_writer *w, const xp_hlo_module *module, const xp_hlo_computation *computation)
{
  xp_hlo_raw_computation raw = {.in = *computation, .root_id = xp_hlo_root(computation)->id};
  size_t mark = xp_wire_open_message(w, COMPUTATIONS);
  xp_hlo_record_write(w, &xp_hlo_computation_record, &raw);
  for (uint32_t i = 0; i < computation->instruction_count; i++) {
    put_instruction(w, module, computation, &computation->instructions[i]);
  }
  put_program_shape(w, NULL, computation);
  xp_wire_close_message(w, mark);
}

void xp_hlo_write(const xp_hlo_module *module, xp_wire_writer *out)
{
  const xp_hlo_computation *entry = xp_hlo_entry(module);
  xp_hlo_raw_module raw = {.in = *module, .entry_id = entry->id, .entry_name = entry->name};
  xp_hlo_record_write(out, &xp_hlo_module_record, &raw);
  put_program_shape(out, module, entry);
  for (uint32_t i = 0; i < module->computation_count; i++) {
    put_computation(out, module, &module->computations[i]);
  }
}
