/* Fuzz target: reading an HLO program; writing, reading again and printing what could be read.
 *
 * A module that was read keeps the promises of hlo/hlo.h, and what it is written as is read as the same module. */
#include <stdlib.h>

#include "hlo/read.h"
#include "hlo/text.h"
#include "hlo/write.h"

static void must(bool is_true)
{
  if (!is_true) {
    abort();
  }
}

static void check_literal(const xp_hlo_literal *literal)
{
  if (literal->parts != NULL) {
    for (size_t i = 0; i < literal->shape.part_count; i++) {
      check_literal(&literal->parts[i]);
    }
  } else if (literal->shape.type != XP_HLO_TUPLE) {
    must(literal->bytes.len == (size_t)xp_hlo_shape_bytes(&literal->shape));
  }
}

static void check_instruction(const xp_hlo_instruction *in, uint32_t index, uint32_t computation)
{
  must(xp_hlo_shape_is_sound(&in->shape));
  for (size_t i = 0; i < in->operand_count; i++) {
    must(in->operands[i] < index);
  }
  for (size_t i = 0; i < in->predecessor_count; i++) {
    must(in->predecessors[i] < index);
  }
  for (size_t i = 0; i < in->call_count; i++) {
    must(in->calls[i] < computation);
  }
  if (in->literal != NULL) {
    check_literal(in->literal);
  }
}

static void check_module(const xp_hlo_module *module)
{
  must(module->entry < module->computation_count);
  for (uint32_t c = 0; c < module->computation_count; c++) {
    const xp_hlo_computation *computation = &module->computations[c];
    must(computation->root < computation->instruction_count);
    for (uint32_t i = 0; i < computation->instruction_count; i++) {
      check_instruction(&computation->instructions[i], i, c);
    }
    for (uint32_t i = 0; i < computation->parameter_count; i++) {
      must(xp_hlo_parameter(computation, i)->parameter_number == i);
    }
  }
}

static xp_str written(const xp_wire_writer *w)
{
  must(!w->failed);
  return xp_str_from((const char *)w->data, w->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  xp_arena *arena = xp_arena_create();
  xp_str message = xp_str_from((const char *)data, size), inner;
  const xp_hlo_module *module = NULL, *again = NULL;
  xp_error err = {XP_OK, ""};
  must(arena != NULL);
  if (xp_hlo_unwrap(message, &inner, &err) != XP_OK || xp_hlo_read(inner, arena, &module, &err) != XP_OK) {
    must(module == NULL && err.text[0] != '\0' && err.status != XP_ERR_MEMORY);
    xp_arena_destroy(arena);
    return 0;
  }
  check_module(module);
  xp_wire_writer first = {0}, second = {0};
  xp_hlo_write(module, &first);
  must(xp_hlo_read(written(&first), arena, &again, &err) == XP_OK);
  check_module(again);
  xp_hlo_write(again, &second);
  must(xp_str_eq(written(&first), written(&second)));
  must(xp_str_eq(xp_hlo_module_text(arena, module), xp_hlo_module_text(arena, again)));
  xp_wire_writer_free(&first);
  xp_wire_writer_free(&second);
  xp_arena_destroy(arena);
  return 0;
}
