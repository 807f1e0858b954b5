/* Plans: their steps and memory, aliases, callbacks, threads, and modules that contradict themselves. */
#include <pthread.h>

#include "eval_testing.h"
#include "hlo_samples.h"

/* p0 . p1, its sum with p0, negated; and an instruction that nobody uses. */
static const xp_hlo_module *small_module(eval_program *p)
{
  static const int64_t one = 1, zero = 0, dims[2] = {4, 4};
  *p = eval_begin();
  p->main = xp_hlo_body_begin(p->builder, "main");
  xp_hlo_value x = eval_parameter(p, 0, XP_HLO_F32, 2, dims), y = eval_parameter(p, 1, XP_HLO_F32, 2, dims);
  xp_hlo_dot numbers = {.lhs_contracting = {&one, 1}, .rhs_contracting = {&zero, 1}};
  xp_hlo_value dot = xp_hlo_build_dot(p->main, x, y, &numbers, XP_HLO_TYPE_INVALID, XP_HLO_PRECISION_DEFAULT);
  xp_hlo_build_unary(p->main, XP_HLO_OP_TANH, dot);
  xp_hlo_value sum = xp_hlo_build_binary(p->main, XP_HLO_OP_ADD, dot, x);
  const xp_hlo_value results[2] = {xp_hlo_build_unary(p->main, XP_HLO_OP_NEGATE, sum), x};
  return eval_finish(p, xp_hlo_build_tuple(p->main, results, 2));
}

static void steps_are_the_instructions_with_work_that_somebody_needs(void **state)
{
  (void)state;
  eval_program p;
  xp_dev_plan *plan = eval_prepare(small_module(&p));
  assert_int_equal(xp_dev_plan_step_count(plan), 3);
  assert_int_equal(xp_dev_plan_step(plan, 0).instruction->opcode, XP_HLO_OP_DOT);
  assert_int_equal(xp_dev_plan_step(plan, 2).instruction->opcode, XP_HLO_OP_NEGATE);
  assert_true(xp_dev_plan_step(plan, 0).flops == 2 * 4 * 4 * 4);
  assert_true(xp_dev_plan_step(plan, 0).bytes == 3 * 4 * 4 * 4);
  assert_true(xp_dev_plan_step(plan, 1).flops == 16);
  assert_int_equal(xp_dev_plan_input_count(plan), 2);
  assert_int_equal(xp_dev_plan_output_count(plan), 2);
  assert_int_equal(xp_dev_plan_output_alias(plan, 0), -1);
  xp_dev_plan_destroy(plan);
  xp_arena_destroy(p.arena);
}

/* ---------------------------------------------------------------- callbacks */

typedef struct {
  size_t before[8], after[8], before_count, after_count, end_at;
} seen;

static int note_before(void *context, size_t step)
{
  seen *s = context;
  s->before[s->before_count++] = step;
  return step == s->end_at;
}

static void note_after(void *context, size_t step)
{
  seen *s = context;
  s->after[s->after_count++] = step;
}

static void callbacks_come_around_each_step_and_can_end_the_run(void **state)
{
  (void)state;
  eval_program p;
  xp_dev_plan *plan = eval_prepare(small_module(&p));
  float x[16] = {1}, y[16] = {2}, z[16], copy[16];
  const void *in[2] = {x, y};
  void *out[2] = {z, copy}, *temp = eval_temp(plan);
  seen s = {.end_at = 99};
  xp_dev_run run = {
      .inputs = in, .outputs = out, .temp = temp, .before = note_before, .after = note_after, .context = &s};
  xp_error err;
  assert_int_equal(xp_dev_plan_run(plan, &run, &err), XP_OK);
  assert_int_equal(s.before_count, 3);
  assert_int_equal(s.after_count, 3);
  assert_int_equal(s.after[2], 2);
  assert_true(z[0] == -3 && copy[0] == 1);
  s = (seen){.end_at = 1};
  assert_int_equal(xp_dev_plan_run(plan, &run, &err), XP_ERR_CANCELLED);
  assert_int_equal(s.before_count, 2);
  assert_int_equal(s.after_count, 1);
  run.temp = NULL;
  assert_int_equal(xp_dev_plan_run(plan, &run, &err), XP_ERR_USAGE);
  run.temp = temp;
  out[1] = NULL;
  assert_int_equal(xp_dev_plan_run(plan, &run, &err), XP_ERR_USAGE);
  free(temp);
  xp_dev_plan_destroy(plan);
  xp_arena_destroy(p.arena);
}

/* ---------------------------------------------------------------- memory */

/* reverse(reverse(..)) cannot be done in place: two arrays take turns, the last result goes to the output. */
static void a_chain_needs_the_memory_of_two_arrays(void **state)
{
  (void)state;
  static const int64_t zero = 0, n = 1 << 20;
  eval_program p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value x = eval_parameter(&p, 0, XP_HLO_F32, 1, &n);
  for (int i = 0; i < 20; i++) {
    x = xp_hlo_build_reverse(p.main, x, 1, &zero);
  }
  xp_dev_plan *plan = eval_prepare(eval_finish(&p, x));
  assert_in_range(xp_dev_plan_temp_bytes(plan), 2 << 22, (2 << 22) + 4096);
  xp_dev_plan_destroy(plan);
  xp_arena_destroy(p.arena);
}

static void element_wise_results_take_the_place_of_operands(void **state)
{
  (void)state;
  static const int64_t n = 1 << 20;
  eval_program p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value x = eval_parameter(&p, 0, XP_HLO_F32, 1, &n);
  for (int i = 0; i < 20; i++) {
    x = xp_hlo_build_unary(p.main, XP_HLO_OP_SINE, x);
  }
  xp_dev_plan *plan = eval_prepare(eval_finish(&p, x));
  assert_in_range(xp_dev_plan_temp_bytes(plan), 0, 4096); /* all of it in the output */
  xp_dev_plan_destroy(plan);
  xp_arena_destroy(p.arena);
}

static void an_output_may_lie_in_its_input(void **state)
{
  (void)state;
  static const int64_t n = 3;
  float weights[3] = {1, 2, 3};
  const float gradient[3] = {0.5f, 0.5f, 1}, want[3] = {0.5f, 1.5f, 2};
  eval_program p = eval_begin();
  const xp_hlo_alias alias = {.parameter_number = 0, .kind = XP_HLO_ALIAS_MAY};
  xp_hlo_builder_set_aliases(p.builder, &alias, 1);
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value w = eval_parameter(&p, 0, XP_HLO_F32, 1, &n), g = eval_parameter(&p, 1, XP_HLO_F32, 1, &n);
  xp_dev_plan *plan = eval_prepare(eval_finish(&p, xp_hlo_build_binary(p.main, XP_HLO_OP_SUBTRACT, w, g)));
  assert_int_equal(xp_dev_plan_output_alias(plan, 0), 0);
  const void *in[2] = {weights, gradient};
  void *out[1] = {weights};
  eval_run(plan, in, out);
  assert_memory_equal(weights, want, sizeof want);
  xp_dev_plan_destroy(plan);
  xp_arena_destroy(p.arena);
}

/* ---------------------------------------------------------------- threads */

static void *run_many(void *plan)
{
  for (int i = 0; i < 50; i++) {
    float x[16] = {(float)i}, y[16] = {2}, z[16], copy[16];
    const void *in[2] = {x, y};
    void *out[2] = {z, copy};
    eval_run(plan, in, out);
    if (z[0] != -3 * (float)i) {
      return plan;
    }
  }
  return NULL;
}

static void threads_run_one_plan_at_the_same_time(void **state)
{
  (void)state;
  eval_program p;
  xp_dev_plan *plan = eval_prepare(small_module(&p));
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, run_many, plan), 0);
  }
  for (int i = 0; i < 4; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    assert_null(wrong);
  }
  xp_dev_plan_destroy(plan);
  xp_arena_destroy(p.arena);
}

/* ---------------------------------------------------------------- what is refused */

static void what_is_not_supported_is_named(void **state)
{
  (void)state;
  static const int64_t n = 4;
  xp_dev_plan *plan = NULL;
  xp_error err;
  eval_program p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  xp_hlo_value x = eval_parameter(&p, 0, XP_HLO_C64, 1, &n);
  const xp_hlo_module *module = eval_finish(&p, x);
  assert_int_equal(xp_dev_plan_prepare(module, &plan, &err), XP_ERR_USAGE);
  assert_string_equal(err.text, "type c64 of instruction %p.1 is not supported by this device");
  assert_null(plan);
  xp_arena_destroy(p.arena);
  p = eval_begin();
  p.main = xp_hlo_body_begin(p.builder, "main");
  x = eval_parameter(&p, 0, XP_HLO_F32, 1, &n);
  module = eval_finish(&p, xp_hlo_build_unary(p.main, XP_HLO_OP_TANH, x));
  ((xp_hlo_instruction *)(uintptr_t)xp_hlo_root(xp_hlo_entry(module)))->opcode = XP_HLO_OP_FFT;
  ((xp_hlo_instruction *)(uintptr_t)xp_hlo_root(xp_hlo_entry(module)))->opcode_text = xp_str_c("fft");
  assert_int_equal(xp_dev_plan_prepare(module, &plan, &err), XP_ERR_USAGE);
  assert_contains(err.text, "opcode fft of instruction %tanh");
  assert_contains(err.text, "is not supported by this device");
  xp_arena_destroy(p.arena);
}

/* Runs a plan on zeros in memory of exactly the right sizes, so that a sanitizer sees what goes beyond. */
static void run_on_zeros(const xp_dev_plan *plan)
{
  size_t in_count = xp_dev_plan_input_count(plan), out_count = xp_dev_plan_output_count(plan);
  void **in = calloc(in_count + 1, sizeof *in), **out = calloc(out_count + 1, sizeof *out);
  for (size_t i = 0; i < in_count; i++) {
    in[i] = calloc(1, (size_t)xp_hlo_shape_bytes(xp_dev_plan_input_shape(plan, i)) + 1);
  }
  for (size_t i = 0; i < out_count; i++) {
    out[i] = calloc(1, (size_t)xp_hlo_shape_bytes(xp_dev_plan_output_shape(plan, i)) + 1);
  }
  eval_run(plan, (const void *const *)in, out);
  for (size_t i = 0; i < in_count; i++) {
    free(in[i]);
  }
  for (size_t i = 0; i < out_count; i++) {
    free(out[i]);
  }
  free(in);
  free(out);
}

/* Changes one thing of an instruction; false if there is no such change. */
static bool damage(xp_hlo_instruction *instruction, int which)
{
  xp_hlo_shape *shape = &instruction->shape;
  switch (which) {
  case 0:
  case 1:
  case 2:
    return which < shape->rank ? (shape->dims[which]++, true) : false;
  case 3:
    return shape->rank > 0 && shape->dims[0] > 0 ? (shape->dims[0]--, true) : false;
  case 4:
    shape->type = shape->type == XP_HLO_F32 ? XP_HLO_F64 : XP_HLO_F32;
    return shape->rank > 0;
  case 5:
    return shape->rank > 0 ? (shape->rank--, true) : false;
  case 6:
    return instruction->operand_count > 0 ? (instruction->operand_count--, true) : false;
  case 7:
    return instruction->dimensions.count > 0 ? (instruction->dimensions.count--, true) : false;
  case 8:
    return instruction->call_count > 0 ? (instruction->call_count--, true) : false;
  default:
    return instruction->window != NULL ? (instruction->window = NULL, true) : false;
  }
}

static void contradictions_are_refused_or_harmless(void **state)
{
  (void)state;
  size_t refused = 0, planned = 0;
  uint32_t (*const makers[])(xp_hlo_builder *) = {sample_moves, sample_index, sample_sums, sample_products,
                                                  sample_calls};
  for (size_t m = 0; m < SAMPLE_COUNT(makers); m++) {
    for (uint32_t at = 0, count = 1; at < count; at++) {
      for (int which = 0; which < 10; which++) {
        xp_arena *arena = xp_arena_create();
        xp_hlo_builder *builder = xp_hlo_builder_create(arena, "damaged");
        const xp_hlo_module *module;
        xp_dev_plan *plan = NULL;
        xp_error err;
        assert_int_equal(xp_hlo_builder_finish(builder, makers[m](builder), &module, &err), XP_OK);
        count = xp_hlo_entry(module)->instruction_count;
        if (damage((xp_hlo_instruction *)(uintptr_t)&xp_hlo_entry(module)->instructions[at], which)) {
          if (xp_dev_plan_prepare(module, &plan, &err) == XP_OK) {
            planned++;
            run_on_zeros(plan);
            xp_dev_plan_destroy(plan);
          } else {
            assert_int_equal(err.status, XP_ERR_USAGE);
            refused++;
          }
        }
        xp_arena_destroy(arena);
      }
    }
  }
  assert_true(refused > 100 && refused > planned);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_are_the_instructions_with_work_that_somebody_needs),
      cmocka_unit_test(callbacks_come_around_each_step_and_can_end_the_run),
      cmocka_unit_test(a_chain_needs_the_memory_of_two_arrays),
      cmocka_unit_test(element_wise_results_take_the_place_of_operands),
      cmocka_unit_test(an_output_may_lie_in_its_input),
      cmocka_unit_test(threads_run_one_plan_at_the_same_time),
      cmocka_unit_test(what_is_not_supported_is_named),
      cmocka_unit_test(contradictions_are_refused_or_harmless),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
