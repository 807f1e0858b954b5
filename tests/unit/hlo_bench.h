/* A builder with an open body, and what is asked of the values that it makes. */
#ifndef XP_TESTS_HLO_BENCH_H
#define XP_TESTS_HLO_BENCH_H

#include "testing.h"

#include "hlo_short.h"

/* A builder with an open body; one a test. */
typedef struct {
  xp_arena *arena;
  xp_hlo_builder *builder;
  xp_hlo_body *b;
  uint32_t add; /* of two f32 scalars */
} bench;

static inline bench open_bench(void)
{
  bench t;
  t.arena = xp_arena_create();
  t.builder = xp_hlo_builder_create(t.arena, "test");
  t.add = sample_scalars(t.builder, "add", XP_HLO_OP_ADD, XP_HLO_COMPARE_NONE, XP_HLO_F32);
  t.b = xp_hlo_body_begin(t.builder, "main");
  return t;
}

static inline void close_bench(bench *t)
{
  xp_arena_destroy(t->arena);
}

/* The error that finishing reports must hold `part`; the bench is closed. */
static inline void must_refuse(bench *t, xp_hlo_value value, const char *part)
{
  const xp_hlo_module *module;
  xp_error err;
  assert_int_equal(value, XP_HLO_NO_VALUE);
  uint32_t entry = xp_hlo_body_end(t->b, value);
  assert_int_equal(entry, XP_HLO_NO_VALUE);
  assert_int_equal(xp_hlo_builder_finish(t->builder, entry, &module, &err), XP_ERR_USAGE);
  assert_null(module);
  assert_contains(err.text, part);
  close_bench(t);
}

static inline void must_have_shape(const bench *t, xp_hlo_value value, const char *text)
{
  if (value == XP_HLO_NO_VALUE) {
    fail_msg("no value of shape %s", text);
  }
  assert_str(xp_hlo_shape_text(t->arena, xp_hlo_value_shape(t->b, value), false), text);
}

static inline xp_hlo_value array(bench *t, xp_hlo_type type, size_t rank, int64_t a, int64_t b, int64_t c, int64_t d)
{
  static int64_t number;
  const int64_t dims[] = {a, b, c, d};
  return sample_parameter(t->b, number++, type, rank, dims);
}

static inline xp_hlo_value matrix(bench *t, int64_t rows, int64_t columns)
{
  return array(t, XP_HLO_F32, 2, rows, columns, 0, 0);
}

#endif
