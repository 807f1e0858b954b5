/* Making op descriptors.  The op name comes from tf_op, else from the HLO proto of the program, else from the stat
 * `name` with its prefix (GPU annotations leave out what the names of a module have in common).
 */
#include "analyze/ops_table.h"

#include "analyze/op_names.h"

void xp_device_stats_read(xp_stats stats, xp_device_stats *out)
{
  *out = (xp_device_stats){.ordinal = -1};
  xp_stat s;
  while (xp_stats_next(&stats, &s)) {
    xp_str text = xp_stat_text(&s);
    switch (s.key) {
    case XP_KEY_HLO_OP:
      out->hlo_op = out->hlo_op.len ? out->hlo_op : text;
      break;
    case XP_KEY_TF_OP:
      out->tf_op = out->tf_op.len ? out->tf_op : text;
      break;
    case XP_KEY_NAME:
      out->name = out->name.len ? out->name : text;
      break;
    case XP_KEY_PREFIX:
      out->prefix = out->prefix.len ? out->prefix : text;
      break;
    case XP_KEY_HLO_CATEGORY:
      out->category = out->category.len ? out->category : text;
      break;
    case XP_KEY_SOURCE:
      out->source = out->source.len ? out->source : text;
      break;
    case XP_KEY_HLO_MODULE:
      out->hlo_module = out->hlo_module.len ? out->hlo_module : text;
      break;
    case XP_KEY_MEMCPY_DETAILS:
      out->has_memcpy = true;
      break;
    case XP_KEY_PROGRAM_ID:
      out->program = out->has_program ? out->program : (uint64_t)xp_stat_int(&s, 0);
      out->has_program = true;
      break;
    case XP_KEY_RUN_ID:
      out->run_id = out->has_run_id ? out->run_id : (uint64_t)xp_stat_int(&s, 0);
      out->has_run_id = true;
      break;
    case XP_KEY_CORRELATION_ID:
      out->correlation = out->has_correlation ? out->correlation : (uint64_t)xp_stat_int(&s, 0);
      out->has_correlation = true;
      break;
    case XP_KEY_PRODUCER:
      out->producer = out->has_producer ? out->producer : s.bits;
      out->has_producer = true;
      break;
    case XP_KEY_CONSUMER:
      out->consumer = out->has_consumer ? out->consumer : s.bits;
      out->has_consumer = true;
      break;
    case XP_KEY_CONSUMER_TYPE:
      out->consumer_type = xp_stat_int(&s, 0);
      break;
    case XP_KEY_DEVICE_ORDINAL:
      out->ordinal = out->ordinal < 0 ? xp_stat_int(&s, -1) : out->ordinal;
      break;
    default:
      break;
    }
  }
}

/* "%fusion.1 = f32[..] fusion(..)" -> "fusion.1"; other names stay. */
static xp_str instruction_of(xp_str name)
{
  if (name.len > 1 && name.ptr[0] == '%') {
    size_t end = xp_str_find_text(name, " = ");
    return xp_str_skip(xp_str_take(name, end), 1);
  }
  return name;
}

static bool is_leaf_input(xp_str opcode)
{
  return xp_str_is(opcode, "parameter") || xp_str_is(opcode, "constant");
}

/* hlo_op may hold "a::b" levels on GPUs; the innermost one is the instruction. */
static const xp_hlo_op *find_instruction(xp_devices *devices, uint32_t host, const xp_device_stats *stats, xp_str op)
{
  if (!stats->has_program) {
    return NULL;
  }
  const xp_hlo_op *found = xp_hlo_op_find(devices->hlo[host], stats->program, op);
  if (!found) {
    for (size_t i = op.len; i > 1; i--) {
      if (op.ptr[i - 1] == ':' && op.ptr[i - 2] == ':') {
        return xp_hlo_op_find(devices->hlo[host], stats->program, xp_str_skip(op, i));
      }
    }
  }
  return found;
}

static xp_str op_name_of(xp_devices *devices, const xp_device_stats *stats, const xp_hlo_op *instruction)
{
  if (stats->tf_op.len && !xp_str_is(stats->tf_op, "XlaModule:")) {
    return stats->tf_op;
  }
  if (instruction && instruction->op_name.len) {
    return instruction->op_name;
  }
  if (stats->name.len && stats->prefix.len) {
    return xp_arena_format(devices->arena, "%.*s%.*s", XP_STR_ARG(stats->prefix), XP_STR_ARG(stats->name));
  }
  return stats->name;
}

static xp_str source_of(xp_devices *devices, const xp_device_stats *stats, const xp_hlo_op *instruction)
{
  if (stats->source.len || !instruction || !instruction->source_file.len) {
    return stats->source;
  }
  size_t slash = xp_str_rfind(instruction->source_file, '/');
  xp_str file = slash < instruction->source_file.len ? xp_str_skip(instruction->source_file, slash + 1)
                                                     : instruction->source_file;
  return xp_arena_format(devices->arena, "%.*s:%lld", XP_STR_ARG(file), (long long)instruction->source_line);
}

uint32_t xp_ops_table_add(xp_devices *devices, uint32_t host, const xp_event_meta *meta, const xp_device_stats *stats,
                          xp_role role, bool ops_line)
{
  xp_str event = meta->display_name.len ? meta->display_name : meta->name;
  xp_str key = stats->hlo_op.len ? stats->hlo_op : instruction_of(event);
  const xp_hlo_op *instruction = find_instruction(devices, host, stats, key);
  xp_str op_name = op_name_of(devices, stats, instruction);
  xp_op_scope scope = xp_op_scope_of(op_name, devices->lazy, devices->raw_names, devices->arena);
  xp_op op = {
      .role = role, .op = key, .op_name = op_name, .scope = scope.scope, .folded = scope.scope, .base = scope.base};
  if (devices->raw_names) {
    op.folded = xp_op_scope_of(op_name, devices->lazy, false, devices->arena).scope;
  }
  op.category = stats->category.len ? stats->category : instruction ? instruction->opcode : op.category;
  op.module = stats->hlo_module;
  op.program = stats->program;
  op.has_program = stats->has_program;
  const xp_hlo_program *program =
      stats->has_program && !op.module.len ? xp_hlo_program_find(devices->hlo[host], stats->program) : NULL;
  op.module = program ? program->module : op.module;
  op.source = source_of(devices, stats, instruction);
  op.names_op = ops_line || stats->hlo_op.len > 0;
  op.scoped = scope.scoped;
  op.mixed = scope.mixed;
  op.leaf_input = instruction && is_leaf_input(instruction->opcode);
  op.collective = xp_op_is_collective(op.category.len ? op.category : key) || xp_op_is_collective(event);
  devices->ops =
      xp_arena_grow(devices->arena, devices->ops, devices->op_count, &devices->op_capacity, sizeof *devices->ops);
  devices->ops[devices->op_count] = op;
  return (uint32_t)devices->op_count++;
}
