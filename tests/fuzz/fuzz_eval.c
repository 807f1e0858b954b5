/* Fuzz target: programs of HLO for the embedded device.
 *
 * Whatever message can be read is planned, and run on zeros if its plan is small and its steps cannot loop for long.
 * Inputs, outputs and temporary memory have exactly the sizes that the plan names.
 */
#include <stdlib.h>

#include "device/eval.h"
#include "hlo/read.h"

enum { MOST_BYTES = 1 << 20, MOST_ARRAYS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_loop(const xp_hlo_module *module)
{
  for (uint32_t c = 0; c < module->computation_count; c++) {
    for (uint32_t i = 0; i < module->computations[c].instruction_count; i++) {
      if (module->computations[c].instructions[i].opcode == XP_HLO_OP_WHILE) {
        return true;
      }
    }
  }
  return false;
}

static bool is_small(const xp_dev_plan *plan)
{
  double work = 0, bytes = (double)xp_dev_plan_temp_bytes(plan);
  for (size_t i = 0; i < xp_dev_plan_step_count(plan); i++) {
    work += xp_dev_plan_step(plan, i).flops + xp_dev_plan_step(plan, i).bytes;
  }
  for (size_t i = 0; i < xp_dev_plan_input_count(plan) && i < MOST_ARRAYS; i++) {
    bytes += (double)xp_hlo_shape_bytes(xp_dev_plan_input_shape(plan, i));
  }
  for (size_t i = 0; i < xp_dev_plan_output_count(plan) && i < MOST_ARRAYS; i++) {
    bytes += (double)xp_hlo_shape_bytes(xp_dev_plan_output_shape(plan, i));
  }
  return xp_dev_plan_input_count(plan) <= MOST_ARRAYS && xp_dev_plan_output_count(plan) <= MOST_ARRAYS &&
         bytes <= 8.0 * MOST_BYTES && work <= 16.0 * MOST_BYTES;
}

static void run(const xp_dev_plan *plan)
{
  void *in[MOST_ARRAYS], *out[MOST_ARRAYS], *temp = NULL;
  size_t in_count = xp_dev_plan_input_count(plan), out_count = xp_dev_plan_output_count(plan);
  if (posix_memalign(&temp, 64, xp_dev_plan_temp_bytes(plan) + 1) != 0) {
    return;
  }
  for (size_t i = 0; i < in_count; i++) {
    in[i] = calloc(1, (size_t)xp_hlo_shape_bytes(xp_dev_plan_input_shape(plan, i)) + 1);
  }
  for (size_t i = 0; i < out_count; i++) {
    out[i] = calloc(1, (size_t)xp_hlo_shape_bytes(xp_dev_plan_output_shape(plan, i)) + 1);
  }
  xp_dev_run what = {.inputs = (const void *const *)in, .outputs = out, .temp = temp};
  if (xp_dev_plan_run(plan, &what, NULL) != XP_OK) {
    abort();
  }
  for (size_t i = 0; i < in_count; i++) {
    free(in[i]);
  }
  for (size_t i = 0; i < out_count; i++) {
    free(out[i]);
  }
  free(temp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  xp_arena *arena = xp_arena_create();
  const xp_hlo_module *module;
  xp_dev_plan *plan;
  if (xp_hlo_read(xp_str_from((const char *)data, size), arena, &module, NULL) == XP_OK &&
      xp_dev_plan_prepare(module, &plan, NULL) == XP_OK) {
    if (is_small(plan) && !has_loop(module)) {
      run(plan);
    }
    xp_dev_plan_destroy(plan);
  }
  xp_arena_destroy(arena);
  return 0;
}
