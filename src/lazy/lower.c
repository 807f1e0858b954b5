/* Node by node, in the order of the walk: the lowering function of each operation makes its instructions, under the
 * metadata of the node.
 *
 * Names follow torch_xla/csrc/lowering_context.cpp: op_type is the operation with ':' as '_', op_name what stands in
 * front (a scope and a slash, or a custom prefix as it is) and op_type.  A place in the source is one frame.
 */
#include "lazy/lower.h"

#include "base/map.h"

/* Places in the order of their first use; ids begin at 1. */
typedef struct {
  xp_arena *arena;
  xp_intern files, functions;
  xp_map by_place; /* address of the place -> frame id */
  xp_hlo_file_location *locations;
  size_t count, capacity;
} frame_table;

static int32_t name_id(xp_intern *table, const char *name)
{
  return (int32_t)xp_intern_add(table, xp_str_c(name)) + 1;
}

static int32_t frame_of(frame_table *frames, const xl_location *place)
{
  if (place == NULL || place->file == NULL) {
    return 0;
  }
  uint32_t *entry = xp_map_entry(&frames->by_place, (uint64_t)(uintptr_t)place);
  if (*entry == XP_NONE) {
    frames->locations =
        xp_arena_grow(frames->arena, frames->locations, frames->count, &frames->capacity, sizeof *frames->locations);
    frames->locations[frames->count++] = (xp_hlo_file_location){
        .file_name = name_id(&frames->files, place->file),
        .function_name = name_id(&frames->functions, place->function != NULL ? place->function : ""),
        .line = place->line,
    };
    *entry = (uint32_t)frames->count;
  }
  return (int32_t)*entry;
}

static void set_frames(xp_hlo_builder *builder, const frame_table *table)
{
  xp_hlo_stack_frame *frames = xp_arena_array(table->arena, table->count, sizeof *frames);
  for (size_t i = 0; i < table->count; i++) {
    frames[i] = (xp_hlo_stack_frame){(int32_t)i + 1, 0};
  }
  const xp_hlo_frame_tables tables = {table->files.strings,
                                      table->functions.strings,
                                      table->files.count,
                                      table->functions.count,
                                      table->locations,
                                      table->count,
                                      frames,
                                      table->count};
  xp_hlo_builder_set_frames(builder, &tables);
}

/* "aten__addmm" */
static xp_str type_of(xp_arena *arena, const xl_node *node)
{
  const xp_str text = xp_arena_copy(arena, xp_str_c(xl_op_facts[node->op].text));
  char *changed = (char *)(uintptr_t)text.ptr;
  for (size_t i = 0; i < text.len; i++) {
    changed[i] = changed[i] == ':' ? '_' : changed[i];
  }
  return text;
}

static void set_meta(xl_lowering *to, frame_table *frames, const xl_node *node)
{
  const xp_str type = type_of(to->arena, node);
  const xl_scope *scope = node->scope;
  xp_hlo_meta meta = {.op_type = type, .op_name = type};
  if (scope != NULL) {
    meta.op_name =
        xp_arena_format(to->arena, "%.*s%.*s", (int)scope->text.len, scope->text.ptr, (int)type.len, type.ptr);
  }
  if (node->place != NULL && node->place->file != NULL && (scope == NULL || !scope->has_no_lines)) {
    meta.source_file = xp_str_c(node->place->file);
    meta.source_line = node->place->line;
    meta.stack_frame_id = frame_of(frames, node->place);
  }
  xp_hlo_builder_set_meta(to->builder, &meta);
}

static xp_hlo_value lower_node(xl_lowering *to, const xl_node *node, const xp_hlo_value *values, xp_hlo_value *operands)
{
  for (size_t i = 0; i < node->operand_count; i++) {
    operands[i] = values[xl_node_operands(node)[i]->number];
  }
  return xl_op_facts[node->op].lower(to, node, operands);
}

static void set_aliases(xl_lowering *to, const xl_graph *graph, const xl_root *roots, size_t count)
{
  xp_hlo_alias *aliases = xp_arena_array(to->arena, graph->alias_count, sizeof *aliases);
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    if (roots[i].alias >= 0) {
      int64_t *index = xp_arena_alloc(to->arena, sizeof *index);
      *index = roots[i].output;
      aliases[found++] = (xp_hlo_alias){{index, 1}, roots[i].alias, {NULL, 0}, XP_HLO_ALIAS_MAY};
    }
  }
  xp_hlo_builder_set_aliases(to->builder, aliases, found);
}

typedef struct {
  const xl_graph *graph;
  const xl_root *roots;
  size_t count;
  const char *name;
  bool with_names;
  xp_arena *arena;
  const xp_hlo_module **module;
  xp_status status;
  xp_error *err;
} lower_job;

/* Runs with an escape in the arena. */
static void lower_all(void *context)
{
  lower_job *job = context;
  const xl_graph *graph = job->graph;
  xl_lowering to = {.arena = job->arena, .builder = xp_hlo_builder_create(job->arena, job->name)};
  to.body = xp_hlo_body_begin(to.builder, "main");
  frame_table frames = {.arena = job->arena};
  xp_intern_init(&frames.files, job->arena);
  xp_intern_init(&frames.functions, job->arena);
  xp_map_init(&frames.by_place, job->arena);
  size_t most = 0;
  for (size_t i = 0; i < graph->node_count; i++) {
    most = graph->nodes[i]->operand_count > most ? graph->nodes[i]->operand_count : most;
  }
  xp_hlo_value *values = xp_arena_array(job->arena, graph->node_count + 1, sizeof *values);
  xp_hlo_value *operands = xp_arena_array(job->arena, most + 1, sizeof *operands);
  for (size_t i = 0; i < graph->node_count; i++) {
    if (job->with_names) {
      set_meta(&to, &frames, graph->nodes[i]);
    }
    values[i] = lower_node(&to, graph->nodes[i], values, operands);
  }
  xp_hlo_builder_set_meta(to.builder, NULL);
  xp_hlo_value *outputs = xp_arena_array(job->arena, graph->output_count + 1, sizeof *outputs);
  for (size_t i = 0; i < graph->output_count; i++) {
    outputs[i] = values[graph->outputs[i]->number];
  }
  const uint32_t entry = xp_hlo_body_end(to.body, xp_hlo_build_tuple(to.body, outputs, graph->output_count));
  set_frames(to.builder, &frames);
  set_aliases(&to, graph, job->roots, job->count);
  job->status = xp_hlo_builder_finish(to.builder, entry, job->module, job->err);
}

xp_status xl_lower(const xl_graph *graph, const xl_root *roots, size_t count, const char *name, bool with_names,
                   xp_arena *arena, const xp_hlo_module **module, xp_error *err)
{
  lower_job job = {graph, roots, count, name, with_names, arena, module, XP_OK, err};
  if (!xp_arena_guard(arena, lower_all, &job)) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for a program of %zu operations.", graph->node_count);
  }
  return job.status;
}

/* ---------------------------------------------------------------- for lowering functions */

uint32_t xl_lower_combiner(xl_lowering *to, xp_hlo_opcode opcode, xp_hlo_type type)
{
  for (size_t i = 0; i < to->combiner_count; i++) {
    if (to->combiners[i].opcode == opcode && to->combiners[i].type == type) {
      return to->combiners[i].computation;
    }
  }
  const xp_hlo_shape scalar = xp_hlo_shape_scalar(type);
  xp_hlo_body *body = xp_hlo_body_begin(to->builder, "combine");
  const xp_hlo_value x = xp_hlo_build_parameter(body, 0, &scalar, "x");
  const xp_hlo_value y = xp_hlo_build_parameter(body, 1, &scalar, "y");
  const uint32_t made = xp_hlo_body_end(body, xp_hlo_build_binary(body, opcode, x, y));
  if (to->combiner_count < XL_COMBINERS) {
    to->combiners[to->combiner_count++] = (xl_combiner){opcode, type, made};
  }
  return made;
}

xp_hlo_value xl_lower_as(xl_lowering *to, xp_hlo_value x, xp_hlo_type type)
{
  return xp_hlo_value_shape(to->body, x)->type == type ? x : xp_hlo_build_convert(to->body, x, type);
}

xp_hlo_value xl_lower_broadcast(xl_lowering *to, xp_hlo_value x, const xl_shape *shape)
{
  const xp_hlo_shape from = *xp_hlo_value_shape(to->body, x);
  if (from.rank == shape->rank && memcmp(from.dims, shape->dims, shape->rank * sizeof *shape->dims) == 0) {
    return x;
  }
  int64_t kept[XL_MAX_RANK], mapping[XL_MAX_RANK];
  size_t rank = 0;
  const size_t missing = shape->rank - from.rank;
  for (size_t i = 0; i < from.rank; i++) {
    if (from.dims[i] == shape->dims[missing + i]) {
      kept[rank] = from.dims[i];
      mapping[rank++] = (int64_t)(missing + i);
    }
  }
  if (rank < from.rank) {
    x = xp_hlo_build_reshape(to->body, x, rank, kept);
  }
  return xp_hlo_build_broadcast(to->body, x, shape->rank, shape->dims, mapping);
}

xp_hlo_value xl_lower_filled(xl_lowering *to, double value, xp_hlo_type type, const xl_shape *shape)
{
  return xl_lower_broadcast(to, xp_hlo_build_scalar(to->body, type, value), shape);
}

xp_hlo_value xl_lower_number_like(xl_lowering *to, double number, xp_hlo_value like)
{
  const xp_hlo_shape of = *xp_hlo_value_shape(to->body, like);
  xl_shape shape = {of.rank, {0}};
  memcpy(shape.dims, of.dims, of.rank * sizeof *shape.dims);
  return xl_lower_filled(to, number, of.type, &shape);
}

xp_hlo_value xl_lower_truth_of(xl_lowering *to, xp_hlo_value x)
{
  return xp_hlo_value_shape(to->body, x)->type == XP_HLO_PRED
             ? x
             : xp_hlo_build_compare(to->body, XP_HLO_COMPARE_NE, x, xl_lower_number_like(to, 0, x));
}

xp_hlo_value xl_lower_reduce(xl_lowering *to, xp_hlo_value x, xp_hlo_opcode opcode, double start, const int64_t *dims,
                             size_t count)
{
  const xp_hlo_type type = xp_hlo_value_shape(to->body, x)->type;
  const xp_hlo_value initial = xp_hlo_build_scalar(to->body, type, start);
  return xp_hlo_build_reduce(to->body, &x, &initial, 1, dims, count, xl_lower_combiner(to, opcode, type));
}
