/* Modules as text, in the form and the order of XLA's HloModule::ToString.
 *
 * XLA prints the instructions of a computation as a walk in depth finds them, not as they stand.  Text is made for
 * people and tests: nothing reads it back.
 */
#include "hlo/text.h"

#include "hlo/text_order.h"
#include "hlo/text_out.h"

/* ---------------------------------------------------------------- instructions */

static void put_meta_text(xp_hlo_out *out, const char **between, const char *name, xp_str value)
{
  if (value.len > 0) {
    xp_hlo_out_format(out, "%s%s=", *between, name);
    xp_hlo_out_quoted(out, value);
    *between = " ";
  }
}

static void put_meta(xp_hlo_out *out, const xp_hlo_meta *meta)
{
  const char *between = ", metadata={";
  put_meta_text(out, &between, "op_type", meta->op_type);
  put_meta_text(out, &between, "op_name", meta->op_name);
  put_meta_text(out, &between, "source_file", meta->source_file);
  if (meta->source_line != 0) {
    xp_hlo_out_format(out, "%ssource_line=%d", between, meta->source_line);
    between = " ";
  }
  if (meta->stack_frame_id != 0) {
    xp_hlo_out_format(out, "%sstack_frame_id=%d", between, meta->stack_frame_id);
    between = " ";
  }
  xp_hlo_out_text(out, between[0] == ' ' ? "}" : "");
}

static void put_operands(xp_hlo_out *out, const xp_hlo_computation *computation, const xp_hlo_instruction *in)
{
  if (in->opcode == XP_HLO_OP_PARAMETER) {
    xp_hlo_out_format(out, "%lld", (long long)in->parameter_number);
  } else if (in->opcode == XP_HLO_OP_CONSTANT && in->literal != NULL) {
    xp_hlo_out_literal(out, in->literal);
  } else if (in->opcode == XP_HLO_OP_CONSTANT) {
    xp_hlo_out_text(out, "{...}"); /* captures may leave large values out */
  }
  for (size_t i = 0; i < in->operand_count; i++) {
    xp_hlo_out_text(out, i > 0 ? ", " : "");
    if (i > 0 && i % 5 == 0) {
      xp_hlo_out_format(out, "/*index=%zu*/", i);
    }
    xp_hlo_out_text(out, "%");
    xp_hlo_out_str(out, xp_hlo_operand(computation, in, i)->name);
  }
}

static void put_instruction(xp_hlo_out *out, const xp_hlo_module *module, const xp_hlo_computation *computation,
                            const xp_hlo_instruction *in)
{
  xp_hlo_out_text(out, "%");
  xp_hlo_out_str(out, in->name);
  xp_hlo_out_text(out, " = ");
  xp_hlo_out_shape(out, &in->shape, true);
  xp_hlo_out_text(out, " ");
  xp_hlo_out_str(out, in->opcode_text);
  xp_hlo_out_text(out, "(");
  put_operands(out, computation, in);
  xp_hlo_out_text(out, ")");
  xp_hlo_out_attributes(out, module, computation, in);
  put_meta(out, &in->meta);
  if (in->backend_config.len > 0) {
    bool is_json = in->backend_config.ptr[0] == '{';
    xp_hlo_out_text(out, ", backend_config=");
    if (is_json) {
      xp_hlo_out_str(out, in->backend_config);
    } else {
      xp_hlo_out_quoted(out, in->backend_config);
    }
  }
}

/* ---------------------------------------------------------------- computations */

static void put_signature(xp_hlo_out *out, const xp_hlo_module *module, uint32_t index)
{
  const xp_hlo_computation *c = &module->computations[index];
  xp_hlo_out_text(out, index == module->entry ? "ENTRY %" : "%");
  xp_hlo_out_str(out, c->name);
  xp_hlo_out_text(out, " (");
  for (uint32_t i = 0; i < c->parameter_count; i++) {
    const xp_hlo_instruction *parameter = xp_hlo_parameter(c, i);
    xp_hlo_out_text(out, i > 0 ? ", " : "");
    xp_hlo_out_str(out, parameter->name);
    xp_hlo_out_text(out, ": ");
    xp_hlo_out_shape(out, &parameter->shape, false);
  }
  xp_hlo_out_text(out, ") -> ");
  xp_hlo_out_shape(out, &xp_hlo_root(c)->shape, false);
  xp_hlo_out_text(out, " {\n");
}

static void put_computation(xp_hlo_out *out, const xp_hlo_module *module, uint32_t index)
{
  const xp_hlo_computation *c = &module->computations[index];
  const uint32_t *order = xp_hlo_instruction_order(out->arena, c);
  put_signature(out, module, index);
  for (uint32_t i = 0; i < c->instruction_count; i++) {
    xp_hlo_out_text(out, order[i] == c->root ? "  ROOT " : "  ");
    put_instruction(out, module, c, &c->instructions[order[i]]);
    xp_hlo_out_text(out, "\n");
  }
  xp_hlo_out_text(out, "}\n\n");
}

/* ---------------------------------------------------------------- the head of the module */

static void put_aliases(xp_hlo_out *out, const xp_hlo_module *module)
{
  for (size_t i = 0; i < module->alias_count; i++) {
    const xp_hlo_alias *a = &module->aliases[i];
    xp_hlo_out_text(out, i == 0 ? ", input_output_alias={ {" : ", {");
    xp_hlo_out_list(out, &a->output_index, ",");
    xp_hlo_out_format(out, "}: (%lld, {", (long long)a->parameter_number);
    xp_hlo_out_list(out, &a->parameter_index, ",");
    xp_hlo_out_format(out, "}, %s)", a->kind == XP_HLO_ALIAS_MUST ? "must-alias" : "may-alias");
  }
  xp_hlo_out_text(out, module->alias_count > 0 ? " }" : "");
}

static void put_entry_layout(xp_hlo_out *out, const xp_hlo_module *module)
{
  xp_hlo_out_text(out, ", entry_computation_layout={(");
  for (size_t i = 0; i < module->parameter_shape_count; i++) {
    xp_hlo_out_text(out, i > 0 ? ", " : "");
    if (i > 0 && i % 5 == 0) {
      xp_hlo_out_format(out, "/*index=%zu*/", i);
    }
    xp_hlo_out_shape(out, &module->parameter_shapes[i], true);
  }
  xp_hlo_out_text(out, ")->");
  xp_hlo_out_shape(out, &module->result_shape, true);
  xp_hlo_out_text(out, "}");
}

static void put_names(xp_hlo_out *out, const char *title, const xp_str *names, size_t count)
{
  xp_hlo_out_format(out, "%s\n", title);
  for (size_t i = 0; i < count; i++) {
    xp_hlo_out_format(out, "%zu ", i + 1);
    xp_hlo_out_quoted(out, names[i]);
    xp_hlo_out_text(out, "\n");
  }
  xp_hlo_out_text(out, "\n");
}

/* Parents are printed as XLA prints them: one more than their id in the message, so the outermost frame says 1. */
static void put_frames(xp_hlo_out *out, const xp_hlo_frame_tables *t)
{
  if (t->frame_count == 0) {
    return;
  }
  put_names(out, "FileNames", t->file_names, t->file_name_count);
  put_names(out, "FunctionNames", t->function_names, t->function_name_count);
  xp_hlo_out_text(out, "FileLocations\n");
  for (size_t i = 0; i < t->location_count; i++) {
    const xp_hlo_file_location *l = &t->locations[i];
    xp_hlo_out_format(out, "%zu {file_name_id=%d function_name_id=%d line=%d end_line=%d column=%d end_column=%d}\n",
                      i + 1, l->file_name, l->function_name, l->line, l->end_line, l->column, l->end_column);
  }
  xp_hlo_out_text(out, "\nStackFrames\n");
  for (size_t i = 0; i < t->frame_count; i++) {
    xp_hlo_out_format(out, "%zu {file_location_id=%d parent_frame_id=%d}\n", i + 1, t->frames[i].location,
                      t->frames[i].parent + 1);
  }
  xp_hlo_out_text(out, "\n\n");
}

static void put_module(xp_hlo_out *out, const xp_hlo_module *module)
{
  const uint32_t *order = xp_hlo_computation_order(out->arena, module);
  xp_hlo_out_text(out, "HloModule ");
  xp_hlo_out_str(out, module->name);
  put_aliases(out, module);
  put_entry_layout(out, module);
  if (module->frontend_attribute_count > 0) {
    xp_hlo_out_text(out, ", frontend_attributes={");
    xp_hlo_out_pairs(out, module->frontend_attributes, module->frontend_attribute_count);
    xp_hlo_out_text(out, "}");
  }
  xp_hlo_out_text(out, "\n\n");
  put_frames(out, &module->frames);
  for (uint32_t i = 0; i < module->computation_count; i++) {
    put_computation(out, module, order[i]);
  }
}

/* ---------------------------------------------------------------- entry points */

/* What is to be printed: a shape, an instruction, or a module. */
typedef struct {
  xp_hlo_out out;
  const xp_hlo_module *module;
  const xp_hlo_computation *computation;
  const xp_hlo_instruction *instruction;
  const xp_hlo_shape *shape;
  bool with_layout;
} job;

static void run(void *context)
{
  job *j = context;
  if (j->shape != NULL) {
    xp_hlo_out_shape(&j->out, j->shape, j->with_layout);
  } else if (j->instruction != NULL) {
    put_instruction(&j->out, j->module, j->computation, j->instruction);
  } else {
    put_module(&j->out, j->module);
  }
}

static xp_str text_of(job *j)
{
  return xp_arena_guard(j->out.arena, run, j) ? xp_str_from(j->out.data, j->out.len) : xp_str_c(NULL);
}

xp_str xp_hlo_shape_text(xp_arena *arena, const xp_hlo_shape *shape, bool with_layout)
{
  job j = {.out = {.arena = arena}, .shape = shape, .with_layout = with_layout};
  return text_of(&j);
}

xp_str xp_hlo_instruction_text(xp_arena *arena, const xp_hlo_module *module, const xp_hlo_computation *computation,
                               const xp_hlo_instruction *instruction)
{
  job j = {.out = {.arena = arena}, .module = module, .computation = computation, .instruction = instruction};
  return text_of(&j);
}

xp_str xp_hlo_module_text(xp_arena *arena, const xp_hlo_module *module)
{
  job j = {.out = {.arena = arena}, .module = module};
  return text_of(&j);
}
