/* HloModuleProtos by hand, good and bad ones. */
#ifndef XP_TESTS_HLO_MESSAGES_H
#define XP_TESTS_HLO_MESSAGES_H

#include "testing.h"

#include "hlo/read.h"

/* f32[dims] without a layout. */
static inline void put_shape(xp_wire_writer *w, uint32_t field, uint64_t type, size_t rank, const uint8_t *dims)
{
  size_t mark = xp_wire_open_message(w, field);
  xp_wire_put_varint(w, 2, type);
  if (rank > 0) {
    xp_wire_put_bytes(w, 3, xp_str_from((const char *)dims, rank));
  }
  xp_wire_close_message(w, mark);
}

/* An f32 scalar instruction, without its end: more fields may follow, then xp_wire_close_message. */
static inline size_t open_instruction(xp_wire_writer *w, uint64_t id, const char *opcode, const char *operands)
{
  size_t mark = xp_wire_open_message(w, 2);
  char name[32];
  snprintf(name, sizeof name, "%s.%llu", opcode, (unsigned long long)id);
  xp_wire_put_bytes(w, 1, xp_str_c(name));
  xp_wire_put_bytes(w, 2, xp_str_c(opcode));
  put_shape(w, 3, XP_HLO_F32, 0, NULL);
  xp_wire_put_varint(w, 35, id);
  xp_wire_put_bytes(w, 36, xp_str_c(operands)); /* ids as bytes: "\1\2" */
  return mark;
}

static inline void put_instruction(xp_wire_writer *w, uint64_t id, const char *opcode, const char *operands)
{
  xp_wire_close_message(w, open_instruction(w, id, opcode, operands));
}

static inline size_t open_computation(xp_wire_writer *w, uint64_t id, uint64_t root, const char *name)
{
  size_t mark = xp_wire_open_message(w, 3);
  xp_wire_put_bytes(w, 1, xp_str_c(name));
  xp_wire_put_varint(w, 5, id);
  xp_wire_put_varint(w, 6, root);
  return mark;
}

/* What reading gives; on success the module is checked by check (may be NULL). */
static inline xp_status read_message(xp_str message, xp_error *err, void (*check)(const xp_hlo_module *module))
{
  xp_arena *arena = xp_arena_create();
  const xp_hlo_module *module;
  xp_status status = xp_hlo_read(message, arena, &module, err);
  assert_true((status == XP_OK) == (module != NULL));
  if (status == XP_OK && check != NULL) {
    check(module);
  }
  xp_arena_destroy(arena);
  return status;
}

/* A module of one computation "main" (id 9), whose instructions `fill` puts, with the given root. */
static inline xp_wire_writer module_of(void (*fill)(xp_wire_writer *w), uint64_t root)
{
  xp_wire_writer w = {0};
  xp_wire_put_bytes(&w, 1, xp_str_c("m"));
  size_t mark = open_computation(&w, 9, root, "main");
  fill(&w);
  xp_wire_close_message(&w, mark);
  xp_wire_put_varint(&w, 6, 9);
  return w;
}

static inline void must_fail(void (*fill)(xp_wire_writer *w), uint64_t root, xp_status status, const char *part)
{
  xp_error err;
  xp_wire_writer w = module_of(fill, root);
  assert_int_equal(read_message(written(&w), &err, NULL), status);
  assert_contains(err.text, part);
  xp_wire_writer_free(&w);
}

static inline void must_read(void (*fill)(xp_wire_writer *w), uint64_t root, void (*check)(const xp_hlo_module *module))
{
  xp_error err;
  xp_wire_writer w = module_of(fill, root);
  if (read_message(written(&w), &err, check) != XP_OK) {
    fail_msg("%s", err.text);
  }
  xp_wire_writer_free(&w);
}

#endif
