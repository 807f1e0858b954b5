/* From HloComputationProto to a computation.
 *
 * The message names operands by id and may hold the instructions in any order.  They are read one after the other, then
 * the ids are looked up, then all are put in order if they are not.  What comes out keeps the promises of hlo/hlo.h,
 * but for the called computations, which the reader of the module looks up.
 */
#include "hlo/read_computation.h"

#include "hlo/order.h"

/* What is known while a computation is read. */
typedef struct {
  xp_hlo_reader *r;
  xp_hlo_instruction *instructions;
  xp_hlo_ids *ids;
  uint32_t count;
  xp_map by_id;
} building;

/* The name of an instruction, for the errors of its other fields. */
static xp_str name_in(xp_str message)
{
  xp_wire_field f;
  for (xp_wire_reader wire = xp_wire_open(message); xp_wire_next(&wire, &f);) {
    if (f.number == 1 && f.type == XP_WIRE_BYTES && f.bytes.len > 0) {
      return f.bytes;
    }
  }
  return xp_str_c("without a name");
}

/* ---------------------------------------------------------------- one instruction */

/* The members that the message has in another place than the structure. */
static bool finish_instruction(xp_hlo_reader *r, xp_hlo_raw_instruction *raw)
{
  xp_hlo_instruction *in = &raw->in;
  if (in->opcode_text.len == 0) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, "opcode", "it is missing");
  }
  if (in->shape.type == XP_HLO_TYPE_INVALID) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, "shape", "it is missing");
  }
  in->opcode = xp_hlo_opcode_find(in->opcode_text);
  if (in->gather != NULL) {
    ((xp_hlo_gather *)(uintptr_t)in->gather)->slice_sizes = raw->gather_slice_sizes;
  }
  bool has_custom = raw->custom.target.len > 0 || raw->custom.constrains_layout ||
                    raw->custom.operand_shape_count > 0 || raw->custom.has_side_effect || raw->custom.schedule != 0 ||
                    raw->custom.api_version != 0;
  if (in->opcode == XP_HLO_OP_CUSTOM_CALL || has_custom) {
    xp_hlo_custom_call *custom = xp_arena_alloc(r->arena, sizeof *custom);
    *custom = raw->custom;
    in->custom_call = custom;
  }
  if (in->opcode == XP_HLO_OP_CONVOLUTION) {
    in->feature_group_count = in->feature_group_count == 0 ? 1 : in->feature_group_count;
    in->batch_group_count = in->batch_group_count == 0 ? 1 : in->batch_group_count;
  }
  if (in->literal != NULL && !xp_hlo_shape_same(&in->literal->shape, &in->shape)) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, "literal", "its shape is not the shape of the instruction");
  }
  return true;
}

static bool read_instruction(building *b, xp_str message, uint32_t i)
{
  xp_hlo_raw_instruction raw = {.gather_slice_sizes = {NULL, 0}};
  b->r->instruction = name_in(message);
  if (!xp_hlo_record_read(b->r, &xp_hlo_instruction_record, message, &raw) || !finish_instruction(b->r, &raw)) {
    return false;
  }
  b->instructions[i] = raw.in;
  b->ids[i] = (xp_hlo_ids){raw.operand_ids, raw.predecessor_ids, raw.call_ids};
  uint32_t *entry = xp_map_entry(&b->by_id, (uint64_t)raw.in.id);
  if (*entry != XP_NONE) {
    return xp_hlo_refuse(b->r, XP_ERR_FORMAT, "id", "the id %lld stands twice", (long long)raw.in.id);
  }
  *entry = i;
  return true;
}

/* ---------------------------------------------------------------- ids to indices */

static bool look_up(building *b, const char *field, const xp_hlo_list *ids, uint32_t *indices)
{
  for (size_t i = 0; i < ids->count; i++) {
    indices[i] = xp_map_get(&b->by_id, (uint64_t)ids->values[i]);
    if (indices[i] == XP_NONE) {
      return xp_hlo_refuse(b->r, XP_ERR_FORMAT, field, "the computation has no instruction with the id %lld",
                           (long long)ids->values[i]);
    }
  }
  return true;
}

/* Operands and control predecessors of all instructions, side by side: the edges of the graph. */
static bool resolve(building *b, xp_hlo_graph *graph)
{
  size_t edges = 0;
  for (uint32_t i = 0; i < b->count; i++) {
    edges += b->ids[i].operands.count + b->ids[i].predecessors.count;
  }
  uint32_t *needs = xp_arena_array(b->r->arena, edges, sizeof *needs);
  uint32_t *first = xp_arena_array(b->r->arena, (size_t)b->count + 1, sizeof *first);
  *graph = (xp_hlo_graph){b->count, first, needs, NULL};
  for (uint32_t i = 0; i < b->count; i++) {
    xp_hlo_instruction *in = &b->instructions[i];
    b->r->instruction = in->name;
    in->operands = needs;
    in->operand_count = b->ids[i].operands.count;
    in->predecessors = needs + in->operand_count;
    in->predecessor_count = b->ids[i].predecessors.count;
    if (!look_up(b, "operand_ids", &b->ids[i].operands, needs) ||
        !look_up(b, "control_predecessor_ids", &b->ids[i].predecessors, needs + in->operand_count)) {
      return false;
    }
    needs += in->operand_count + in->predecessor_count;
    first[i + 1] = first[i] + (uint32_t)(in->operand_count + in->predecessor_count);
  }
  return true;
}

/* ---------------------------------------------------------------- order */

/* Moves the instructions to their places and renames the edges. */
static void move(building *b, const xp_hlo_graph *graph, const uint32_t *order, uint32_t *place)
{
  xp_hlo_instruction *moved = xp_arena_array(b->r->arena, b->count, sizeof *moved);
  xp_hlo_ids *ids = xp_arena_array(b->r->arena, b->count, sizeof *ids);
  for (uint32_t i = 0; i < b->count; i++) {
    moved[i] = b->instructions[order[i]];
    ids[i] = b->ids[order[i]];
    place[order[i]] = i;
  }
  uint32_t *needs = (uint32_t *)(uintptr_t)graph->needs;
  for (uint32_t k = 0; k < graph->first[b->count]; k++) {
    needs[k] = place[needs[k]];
  }
  b->instructions = moved;
  b->ids = ids;
}

/* place[i]: where instruction i of the message stands in the end. */
static bool sort(building *b, const xp_hlo_graph *graph, uint32_t *place)
{
  for (uint32_t i = 0; i < b->count; i++) {
    place[i] = i;
  }
  if (xp_hlo_is_sorted(graph)) {
    return true;
  }
  uint32_t *order = xp_arena_array(b->r->arena, b->count, sizeof *order);
  uint32_t cycle = xp_hlo_sort(b->r->arena, graph, order);
  if (cycle != XP_NONE) {
    b->r->instruction = b->instructions[cycle].name;
    return xp_hlo_refuse(b->r, XP_ERR_FORMAT, "operand_ids", "the instruction needs itself, through a cycle");
  }
  move(b, graph, order, place);
  return true;
}

/* ---------------------------------------------------------------- parameters */

static bool find_parameters(building *b, xp_hlo_computation *to)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < b->count; i++) {
    count += b->instructions[i].opcode == XP_HLO_OP_PARAMETER;
  }
  uint32_t *parameters = xp_arena_array(b->r->arena, count, sizeof *parameters);
  memset(parameters, 0xff, count * sizeof *parameters);
  for (uint32_t i = 0; i < b->count; i++) {
    const xp_hlo_instruction *in = &b->instructions[i];
    if (in->opcode != XP_HLO_OP_PARAMETER) {
      continue;
    }
    b->r->instruction = in->name;
    if (in->parameter_number < 0 || in->parameter_number >= count || parameters[in->parameter_number] != XP_NONE) {
      return xp_hlo_refuse(b->r, XP_ERR_FORMAT, "parameter_number",
                           "%lld stands twice, or is not below the number of parameters (%u)",
                           (long long)in->parameter_number, count);
    }
    parameters[in->parameter_number] = i;
  }
  to->parameters = parameters;
  to->parameter_count = count;
  return true;
}

/* ---------------------------------------------------------------- the computation */

static bool read_all(building *b, const xp_hlo_raw_computation *raw)
{
  for (uint32_t i = 0; i < b->count; i++) {
    if (!read_instruction(b, raw->instructions[i], i)) {
      return false;
    }
  }
  return true;
}

bool xp_hlo_computation_read(xp_hlo_reader *r, xp_str message, xp_hlo_read_part *part)
{
  xp_hlo_raw_computation raw = {.root_id = 0};
  r->computation = name_in(message);
  r->instruction = xp_str_c(NULL);
  if (!xp_hlo_record_read(r, &xp_hlo_computation_record, message, &raw)) {
    return false;
  }
  if (raw.instruction_count == 0) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, "instructions", "there are none");
  }
  building b = {.r = r, .count = (uint32_t)raw.instruction_count};
  b.instructions = xp_arena_array(r->arena, b.count, sizeof *b.instructions);
  b.ids = xp_arena_array(r->arena, b.count, sizeof *b.ids);
  uint32_t *place = xp_arena_array(r->arena, b.count, sizeof *place);
  xp_map_init(&b.by_id, r->arena);
  xp_hlo_graph graph;
  if (!read_all(&b, &raw) || !resolve(&b, &graph) || !sort(&b, &graph, place) || !find_parameters(&b, &raw.in)) {
    return false;
  }
  r->instruction = xp_str_c(NULL);
  uint32_t root = xp_map_get(&b.by_id, (uint64_t)raw.root_id);
  if (root == XP_NONE) {
    return xp_hlo_refuse(r, XP_ERR_FORMAT, "root_id", "there is no instruction with the id %lld",
                         (long long)raw.root_id);
  }
  part->in = raw.in;
  part->in.root = place[root];
  part->in.instructions = b.instructions;
  part->in.instruction_count = b.count;
  part->ids = b.ids;
  return true;
}
