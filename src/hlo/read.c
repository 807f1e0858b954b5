/* From HloModuleProto to a module.
 *
 * The computations are read first, then their calls are looked up and the computations put in order, callees first: a
 * program that calls itself has no such order and is refused.  Memory comes from the caller's arena with an escape, so
 * there are no checks for memory below the entry point.
 */
#include "hlo/read.h"

#include "hlo/order.h"
#include "hlo/read_computation.h"

typedef struct {
  xp_hlo_reader r;
  xp_str message;
  xp_hlo_read_part *parts;
  uint32_t count;
  xp_map by_id;
  const xp_hlo_module *module; /* the result */
} job;

/* ---------------------------------------------------------------- calls */

static bool look_up_calls(job *j, xp_hlo_instruction *in, const xp_hlo_list *ids, uint32_t *indices)
{
  in->calls = indices;
  in->call_count = ids->count;
  for (size_t i = 0; i < ids->count; i++) {
    indices[i] = xp_map_get(&j->by_id, (uint64_t)ids->values[i]);
    if (indices[i] == XP_NONE) {
      j->r.instruction = in->name;
      return xp_hlo_refuse(&j->r, XP_ERR_FORMAT, "called_computation_ids", "there is no computation with the id %lld",
                           (long long)ids->values[i]);
    }
  }
  return true;
}

static size_t count_calls(const job *j)
{
  size_t n = 0;
  for (uint32_t c = 0; c < j->count; c++) {
    for (uint32_t i = 0; i < j->parts[c].in.instruction_count; i++) {
      n += j->parts[c].ids[i].calls.count;
    }
  }
  return n;
}

/* The calls of all instructions, side by side: the edges of the graph of computations. */
static bool resolve_calls(job *j, xp_hlo_graph *graph)
{
  uint32_t *needs = xp_arena_array(j->r.arena, count_calls(j), sizeof *needs);
  uint32_t *first = xp_arena_array(j->r.arena, (size_t)j->count + 1, sizeof *first);
  *graph = (xp_hlo_graph){j->count, first, needs, NULL};
  for (uint32_t c = 0; c < j->count; c++) {
    const xp_hlo_read_part *part = &j->parts[c];
    j->r.computation = part->in.name;
    for (uint32_t i = 0; i < part->in.instruction_count; i++) {
      xp_hlo_instruction *in = (xp_hlo_instruction *)(uintptr_t)&part->in.instructions[i];
      if (!look_up_calls(j, in, &part->ids[i].calls, needs)) {
        return false;
      }
      needs += in->call_count;
    }
    first[c + 1] = (uint32_t)(needs - graph->needs);
  }
  return true;
}

/* ---------------------------------------------------------------- order of the computations */

static bool order_computations(job *j, const xp_hlo_graph *graph, xp_hlo_module *module, uint32_t entry)
{
  uint32_t *order = xp_arena_array(j->r.arena, j->count, sizeof *order);
  uint32_t *place = xp_arena_array(j->r.arena, j->count, sizeof *place);
  uint32_t cycle = XP_NONE;
  if (xp_hlo_is_sorted(graph)) {
    for (uint32_t i = 0; i < j->count; i++) {
      order[i] = i;
    }
  } else {
    cycle = xp_hlo_sort(j->r.arena, graph, order);
  }
  if (cycle != XP_NONE) {
    j->r.computation = j->parts[cycle].in.name;
    j->r.instruction = xp_str_c(NULL);
    return xp_hlo_refuse(&j->r, XP_ERR_FORMAT, "called_computation_ids", "the computation calls itself");
  }
  xp_hlo_computation *computations = xp_arena_array(j->r.arena, j->count, sizeof *computations);
  for (uint32_t i = 0; i < j->count; i++) {
    computations[i] = j->parts[order[i]].in;
    place[order[i]] = i;
  }
  uint32_t *needs = (uint32_t *)(uintptr_t)graph->needs;
  for (uint32_t k = 0; k < graph->first[j->count]; k++) {
    needs[k] = place[needs[k]];
  }
  module->computations = computations;
  module->computation_count = j->count;
  module->entry = place[entry];
  return true;
}

/* ---------------------------------------------------------------- the module */

static bool read_computations(job *j, const xp_hlo_raw_module *raw)
{
  if (raw->computation_count == 0) {
    return xp_hlo_refuse(&j->r, XP_ERR_FORMAT, "computations", "there are none");
  }
  j->count = (uint32_t)raw->computation_count;
  j->parts = xp_arena_array(j->r.arena, j->count, sizeof *j->parts);
  xp_map_init(&j->by_id, j->r.arena);
  for (uint32_t i = 0; i < j->count; i++) {
    if (!xp_hlo_computation_read(&j->r, raw->computations[i], &j->parts[i])) {
      return false;
    }
    uint32_t *entry = xp_map_entry(&j->by_id, (uint64_t)j->parts[i].in.id);
    if (*entry != XP_NONE) {
      return xp_hlo_refuse(&j->r, XP_ERR_FORMAT, "id", "the id %lld stands twice", (long long)j->parts[i].in.id);
    }
    *entry = i;
  }
  j->r.computation = j->r.instruction = xp_str_c(NULL);
  return true;
}

/* By id; old writers gave a name only. */
static uint32_t find_entry(const job *j, const xp_hlo_raw_module *raw)
{
  uint32_t entry = xp_map_get(&j->by_id, (uint64_t)raw->entry_id);
  for (uint32_t i = 0; i < j->count && entry == XP_NONE && raw->entry_id == 0; i++) {
    entry = xp_str_eq(j->parts[i].in.name, raw->entry_name) ? i : XP_NONE;
  }
  return entry;
}

/* The shapes of the program, from its message or from the entry. */
static bool set_program_shape(job *j, const xp_hlo_raw_module *raw, xp_hlo_module *module)
{
  const xp_hlo_computation *entry = xp_hlo_entry(module);
  if (raw->program == NULL) {
    xp_hlo_shape *shapes = xp_arena_array(j->r.arena, entry->parameter_count, sizeof *shapes);
    for (uint32_t i = 0; i < entry->parameter_count; i++) {
      shapes[i] = xp_hlo_parameter(entry, i)->shape;
    }
    module->parameter_shapes = shapes;
    module->parameter_shape_count = entry->parameter_count;
    module->result_shape = xp_hlo_root(entry)->shape;
    return true;
  }
  if (raw->program->parameter_count != entry->parameter_count) {
    return xp_hlo_refuse(&j->r, XP_ERR_FORMAT, "host_program_shape", "%zu parameters, and the entry has %u",
                         raw->program->parameter_count, entry->parameter_count);
  }
  if (raw->program->result.type == XP_HLO_TYPE_INVALID) {
    return xp_hlo_refuse(&j->r, XP_ERR_FORMAT, "host_program_shape", "it has no result");
  }
  module->parameter_shapes = raw->program->parameters;
  module->parameter_shape_count = raw->program->parameter_count;
  module->result_shape = raw->program->result;
  return true;
}

static bool check_frames(job *j, const xp_hlo_frame_tables *t)
{
  for (size_t i = 0; i < t->location_count; i++) {
    const xp_hlo_file_location *l = &t->locations[i];
    if (l->file_name < 0 || (size_t)l->file_name > t->file_name_count || l->function_name < 0 ||
        (size_t)l->function_name > t->function_name_count) {
      return xp_hlo_refuse(&j->r, XP_ERR_FORMAT, "file_locations", "location %zu names a text that is not there",
                           i + 1);
    }
  }
  for (size_t i = 0; i < t->frame_count; i++) {
    const xp_hlo_stack_frame *f = &t->frames[i];
    if (f->location < 0 || (size_t)f->location > t->location_count || f->parent < 0 ||
        (size_t)f->parent > t->frame_count) {
      return xp_hlo_refuse(&j->r, XP_ERR_FORMAT, "stack_frames", "frame %zu names what is not there", i + 1);
    }
  }
  return true;
}

static void read_module(void *context)
{
  job *j = context;
  xp_hlo_raw_module raw = {.entry_id = 0};
  xp_hlo_graph graph;
  if (!xp_hlo_record_read(&j->r, &xp_hlo_module_record, j->message, &raw) || !read_computations(j, &raw) ||
      !resolve_calls(j, &graph) || !check_frames(j, &raw.in.frames)) {
    return;
  }
  j->r.computation = xp_str_c(NULL);
  uint32_t entry = find_entry(j, &raw);
  if (entry == XP_NONE) {
    xp_hlo_refuse(&j->r, XP_ERR_FORMAT, "entry_computation_id", "there is no computation with the id %lld",
                  (long long)raw.entry_id);
    return;
  }
  xp_hlo_module *module = xp_arena_alloc(j->r.arena, sizeof *module);
  *module = raw.in;
  if (order_computations(j, &graph, module, entry) && set_program_shape(j, &raw, module)) {
    j->module = module;
  }
}

xp_status xp_hlo_read(xp_str message, xp_arena *arena, const xp_hlo_module **module, xp_error *err)
{
  job j = {.r = {.arena = arena, .err = err}, .message = message};
  *module = NULL;
  if (message.len > INT32_MAX) { /* which bounds every count below to 31 bits */
    return xp_fail(err, XP_ERR_LIMIT, "The HLO program has %zu bytes; protobuf messages have at most 2 GiB.",
                   message.len);
  }
  if (!xp_arena_guard(arena, read_module, &j)) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the HLO program (%zu bytes of message).", message.len);
  }
  *module = j.module;
  return j.r.status;
}

/* HloProto has the fields 1 and 3, HloModuleProtoWithConfig 1 and 2; a module has 2 and 3, or others. */
xp_status xp_hlo_unwrap(xp_str message, xp_str *module_message, xp_error *err)
{
  xp_wire_reader wire = xp_wire_open(message);
  xp_str first = {NULL, 0};
  bool has_second = false, has_third = false, has_more = false;
  for (xp_wire_field f; xp_wire_next(&wire, &f);) {
    first = f.number == 1 && f.type == XP_WIRE_BYTES ? f.bytes : first;
    has_second = has_second || f.number == 2;
    has_third = has_third || f.number == 3;
    has_more = has_more || f.number > 3;
  }
  *module_message = first.len == 0 || has_more || (has_second && has_third) ? message : first;
  return xp_wire_finish(&wire, "The HLO program", err);
}
