/* Builders: from the first body to the finished module. */
#include "hlo/build_body.h"

xp_hlo_builder *xp_hlo_builder_create(xp_arena *arena, const char *name)
{
  xp_hlo_builder *builder = xp_arena_alloc(arena, sizeof *builder);
  xp_hlo_body *none = xp_arena_alloc(arena, sizeof *none);
  if (builder == NULL || none == NULL) {
    return NULL;
  }
  *none = (xp_hlo_body){.builder = builder};
  *builder = (xp_hlo_builder){.arena = arena, .next_id = 1, .none = none};
  builder->name = xp_hlo_keep_text(builder, xp_str_c(name));
  return builder;
}

void xp_hlo_builder_set_meta(xp_hlo_builder *builder, const xp_hlo_meta *meta)
{
  if (meta == NULL) {
    builder->meta = (xp_hlo_meta){.source_line = 0};
    return;
  }
  builder->meta = (xp_hlo_meta){.op_type = xp_hlo_keep_text(builder, meta->op_type),
                                .op_name = xp_hlo_keep_text(builder, meta->op_name),
                                .source_file = xp_hlo_keep_text(builder, meta->source_file),
                                .source_line = meta->source_line,
                                .stack_frame_id = meta->stack_frame_id,
                                .rest = xp_hlo_keep_str(builder, meta->rest)};
}

static const xp_str *keep_texts(xp_hlo_builder *builder, const xp_str *texts, size_t count)
{
  xp_str *copies = xp_hlo_keep(builder, texts, count, sizeof *texts);
  for (size_t i = 0; copies != NULL && i < count; i++) {
    copies[i] = xp_hlo_keep_text(builder, texts[i]);
  }
  return copies;
}

void xp_hlo_builder_set_frames(xp_hlo_builder *builder, const xp_hlo_frame_tables *t)
{
  builder->frames = *t;
  builder->frames.file_names = keep_texts(builder, t->file_names, t->file_name_count);
  builder->frames.function_names = keep_texts(builder, t->function_names, t->function_name_count);
  builder->frames.locations = xp_hlo_keep(builder, t->locations, t->location_count, sizeof *t->locations);
  builder->frames.frames = xp_hlo_keep(builder, t->frames, t->frame_count, sizeof *t->frames);
}

void xp_hlo_builder_set_aliases(xp_hlo_builder *builder, const xp_hlo_alias *aliases, size_t count)
{
  xp_hlo_alias *copies = xp_hlo_keep(builder, aliases, count, sizeof *aliases);
  for (size_t i = 0; copies != NULL && i < count; i++) {
    copies[i].output_index = xp_hlo_keep_list(builder, aliases[i].output_index.values, aliases[i].output_index.count);
    copies[i].parameter_index =
        xp_hlo_keep_list(builder, aliases[i].parameter_index.values, aliases[i].parameter_index.count);
  }
  builder->aliases = copies;
  builder->alias_count = copies != NULL ? count : 0;
}

xp_status xp_hlo_builder_status(const xp_hlo_builder *builder)
{
  return builder->error.status;
}

const xp_hlo_shape *xp_hlo_value_shape(const xp_hlo_body *body, xp_hlo_value value)
{
  static const xp_hlo_shape no_shape = {.type = XP_HLO_TYPE_INVALID};
  return value < body->count ? xp_hlo_shape_in(body, value) : &no_shape;
}

/* ---------------------------------------------------------------- bodies */

xp_hlo_body *xp_hlo_body_begin(xp_hlo_builder *builder, const char *name)
{
  xp_hlo_body *body = xp_hlo_keep(builder, builder->none, 1, sizeof *body);
  if (body == NULL) {
    return builder->none; /* the builder has failed: nothing is appended to it */
  }
  body->name = xp_hlo_keep_text(builder, xp_str_c(name));
  builder->open_bodies++;
  return body;
}

/* The instructions of parameters 0 .. n-1; NULL if the numbers are others. */
static const uint32_t *find_parameters(xp_hlo_body *body, uint32_t *count)
{
  *count = 0;
  for (size_t i = 0; i < body->count; i++) {
    *count += body->instructions[i].opcode == XP_HLO_OP_PARAMETER;
  }
  uint32_t *parameters = xp_arena_array(body->builder->arena, *count, sizeof *parameters);
  if (parameters == NULL) {
    return NULL;
  }
  memset(parameters, 0xff, *count * sizeof *parameters);
  for (uint32_t i = 0; i < body->count; i++) {
    const xp_hlo_instruction *in = &body->instructions[i];
    if (in->opcode != XP_HLO_OP_PARAMETER) {
      continue;
    }
    if (in->parameter_number >= *count || parameters[in->parameter_number] != UINT32_MAX) {
      xp_hlo_cannot(body, XP_HLO_OP_PARAMETER,
                    "the body %.*s has %u parameters, and number %lld stands twice or is too large",
                    XP_STR_ARG(body->name), *count, (long long)in->parameter_number);
      return NULL;
    }
    parameters[in->parameter_number] = i;
  }
  return parameters;
}

uint32_t xp_hlo_body_end(xp_hlo_body *body, xp_hlo_value root)
{
  xp_hlo_builder *builder = body->builder;
  xp_hlo_computation made = {.root = root};
  if (!xp_hlo_are_values(body, XP_HLO_OP_TUPLE, &root, 1)) {
    return XP_HLO_NO_VALUE;
  }
  made.parameters = find_parameters(body, &made.parameter_count);
  made.id = builder->next_id++;
  made.name = xp_arena_format(builder->arena, "%.*s.%lld", XP_STR_ARG(body->name), (long long)made.id);
  made.instructions = body->instructions;
  made.instruction_count = (uint32_t)body->count;
  xp_hlo_computation *grown = xp_arena_grow(builder->arena, builder->computations, builder->computation_count,
                                            &builder->computation_capacity, sizeof made);
  if (made.parameters == NULL || made.name.ptr == NULL || grown == NULL) {
    xp_hlo_out_of_memory(builder); /* unless the parameters were wrong, which is the first error then */
    return XP_HLO_NO_VALUE;
  }
  builder->computations = grown;
  builder->computations[builder->computation_count] = made;
  body->is_ended = true;
  builder->open_bodies--;
  return (uint32_t)builder->computation_count++;
}

/* ---------------------------------------------------------------- the module */

static const xp_hlo_shape *parameter_shapes(xp_hlo_builder *builder, const xp_hlo_computation *entry)
{
  xp_hlo_shape *shapes = xp_arena_array(builder->arena, entry->parameter_count, sizeof *shapes);
  for (uint32_t i = 0; shapes != NULL && i < entry->parameter_count; i++) {
    shapes[i] = xp_hlo_parameter(entry, i)->shape;
  }
  return shapes;
}

xp_status xp_hlo_builder_finish(xp_hlo_builder *builder, uint32_t entry, const xp_hlo_module **module, xp_error *err)
{
  *module = NULL;
  if (builder->error.status != XP_OK) {
    return xp_fail(err, builder->error.status, "%s", builder->error.text);
  }
  if (entry >= builder->computation_count || builder->open_bodies > 0) {
    return xp_fail(err, XP_ERR_USAGE, "The HLO program %.*s is not complete: end every body, and name the entry.",
                   XP_STR_ARG(builder->name));
  }
  const xp_hlo_computation *main = &builder->computations[entry];
  xp_hlo_module *made = xp_arena_alloc(builder->arena, sizeof *made);
  const xp_hlo_shape *shapes = parameter_shapes(builder, main);
  if (made == NULL || shapes == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the HLO program %.*s.", XP_STR_ARG(builder->name));
  }
  *made = (xp_hlo_module){.name = builder->name,
                          .computations = builder->computations,
                          .computation_count = (uint32_t)builder->computation_count,
                          .entry = entry,
                          .parameter_shapes = shapes,
                          .parameter_shape_count = main->parameter_count,
                          .result_shape = xp_hlo_root(main)->shape,
                          .frames = builder->frames,
                          .aliases = builder->aliases,
                          .alias_count = builder->alias_count};
  *module = made;
  return XP_OK;
}
