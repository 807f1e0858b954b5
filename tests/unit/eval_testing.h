/* Running small modules on the evaluator, for unit tests. */
#ifndef XP_TESTS_EVAL_TESTING_H
#define XP_TESTS_EVAL_TESTING_H

#include "device/eval.h"
#include "hlo/build.h"
#include "testing.h"

typedef struct {
  xp_arena *arena;
  xp_hlo_builder *builder;
  xp_hlo_body *main;
} eval_program;

static inline eval_program eval_begin(void)
{
  xp_arena *arena = xp_arena_create();
  xp_hlo_builder *builder = xp_hlo_builder_create(arena, "test");
  return (eval_program){arena, builder, NULL};
}

static inline const xp_hlo_module *eval_finish(const eval_program *p, xp_hlo_value root)
{
  const xp_hlo_module *module;
  xp_error err;
  if (xp_hlo_builder_finish(p->builder, xp_hlo_body_end(p->main, root), &module, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return module;
}

static inline xp_dev_plan *eval_prepare(const xp_hlo_module *module)
{
  xp_dev_plan *plan = NULL;
  xp_error err;
  if (xp_dev_plan_prepare(module, &plan, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return plan;
}

/* Temporary memory of exactly the size a plan asks for; the caller frees it. */
static inline void *eval_temp(const xp_dev_plan *plan)
{
  void *memory = NULL;
  assert_int_equal(posix_memalign(&memory, 64, xp_dev_plan_temp_bytes(plan) + 1), 0);
  memset(memory, 0x5a, xp_dev_plan_temp_bytes(plan));
  return memory;
}

static inline void eval_run(const xp_dev_plan *plan, const void *const *in, void *const *out)
{
  void *temp = eval_temp(plan);
  xp_dev_run run = {.inputs = in, .outputs = out, .temp = temp};
  xp_error err;
  if (xp_dev_plan_run(plan, &run, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  free(temp);
}

/* Builds, runs and frees a program of up to two inputs and one output. */
static inline void eval_once(const eval_program *p, xp_hlo_value root, const void *first, const void *second,
                             void *result)
{
  const void *in[2] = {first, second};
  void *out[1] = {result};
  xp_dev_plan *plan = eval_prepare(eval_finish(p, root));
  eval_run(plan, in, out);
  xp_dev_plan_destroy(plan);
  xp_arena_destroy(p->arena);
}

static inline xp_hlo_value eval_parameter(const eval_program *p, int64_t number, xp_hlo_type type, size_t rank,
                                          const int64_t *dims)
{
  xp_hlo_shape shape = xp_hlo_shape_array(type, rank, dims);
  return xp_hlo_build_parameter(p->main, number, &shape, "p");
}

#endif
