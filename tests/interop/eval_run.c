/* Runs programs of HLO on the embedded device's evaluator: eval_run CASES RESULTS [base | avx2].
 *
 * CASES is a list of cases, RESULTS of their results; numbers are uint64, little-endian.
 *   a case:   bytes of an HloModuleProto (length, bytes), number of inputs, inputs (length, bytes)
 *   a result: status, text of the error (length, bytes), number of outputs, outputs (length, bytes)
 * tests/interop/eval_hlo.py writes one and reads the other.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "device/eval.h"
#include "device/kernels/kernels.h"
#include "hlo/read.h"

typedef struct {
  xp_str rest;
  FILE *out;
} exchange;

static void die(const char *what)
{
  fprintf(stderr, "eval_run: %s\n", what);
  exit(2);
}

static uint64_t take_number(exchange *x)
{
  uint64_t value;
  if (x->rest.len < sizeof value) {
    die("the cases end inside of one");
  }
  memcpy(&value, x->rest.ptr, sizeof value);
  x->rest = xp_str_skip(x->rest, sizeof value);
  return value;
}

static xp_str take_bytes(exchange *x)
{
  uint64_t len = take_number(x);
  if (x->rest.len < len) {
    die("the cases end inside of one");
  }
  xp_str bytes = xp_str_take(x->rest, len);
  x->rest = xp_str_skip(x->rest, len);
  return bytes;
}

static void put(exchange *x, const void *data, size_t len)
{
  uint64_t number = len;
  if (fwrite(&number, sizeof number, 1, x->out) != 1 || (len > 0 && fwrite(data, len, 1, x->out) != 1)) {
    die("the results cannot be written");
  }
}

/* Memory that holds exactly `bytes`, so that a sanitizer sees what lies behind it. */
static void *room(size_t bytes)
{
  void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
  if (memory == NULL) {
    die("no memory");
  }
  return memory;
}

static void put_failure(exchange *x, xp_status status, const xp_error *err)
{
  uint64_t number = (uint64_t)status, none = 0;
  fwrite(&number, sizeof number, 1, x->out);
  put(x, err->text, strlen(err->text));
  fwrite(&none, sizeof none, 1, x->out);
}

static xp_status run(const xp_dev_plan *plan, const xp_str *inputs, exchange *x, xp_error *err)
{
  size_t in_count = xp_dev_plan_input_count(plan), out_count = xp_dev_plan_output_count(plan);
  void **in = room(in_count * sizeof *in), **out = room(out_count * sizeof *out);
  void *temp = room(xp_dev_plan_temp_bytes(plan));
  memset(temp, 0xa5, xp_dev_plan_temp_bytes(plan));
  for (size_t i = 0; i < in_count; i++) {
    in[i] = room(inputs[i].len);
    if (inputs[i].len != (size_t)xp_hlo_shape_bytes(xp_dev_plan_input_shape(plan, i))) {
      die("an input has another size than its parameter");
    }
    memcpy(in[i], inputs[i].ptr, inputs[i].len);
  }
  for (size_t i = 0; i < out_count; i++) {
    int64_t alias = xp_dev_plan_output_alias(plan, i);
    out[i] = alias >= 0 ? in[alias] : room((size_t)xp_hlo_shape_bytes(xp_dev_plan_output_shape(plan, i)));
  }
  xp_dev_run what = {.inputs = (const void *const *)in, .outputs = out, .temp = temp, .seed = 1};
  xp_status status = xp_dev_plan_run(plan, &what, err);
  if (status == XP_OK) {
    uint64_t zero = 0, count = out_count;
    fwrite(&zero, sizeof zero, 1, x->out);
    put(x, "", 0);
    fwrite(&count, sizeof count, 1, x->out);
    for (size_t i = 0; i < out_count; i++) {
      put(x, out[i], (size_t)xp_hlo_shape_bytes(xp_dev_plan_output_shape(plan, i)));
    }
  }
  for (size_t i = 0; i < out_count; i++) {
    if (xp_dev_plan_output_alias(plan, i) < 0) {
      free(out[i]);
    }
  }
  for (size_t i = 0; i < in_count; i++) {
    free(in[i]);
  }
  free(in), free(out), free(temp);
  return status;
}

static void run_case(exchange *x)
{
  xp_error err = {0};
  xp_str message = take_bytes(x);
  uint64_t count = take_number(x);
  xp_str inputs[64];
  if (count > 64) {
    die("a case has more than 64 inputs");
  }
  for (uint64_t i = 0; i < count; i++) {
    inputs[i] = take_bytes(x);
  }
  xp_arena *arena = xp_arena_create();
  const xp_hlo_module *module;
  xp_dev_plan *plan = NULL;
  xp_status status = xp_hlo_read(message, arena, &module, &err);
  if (status == XP_OK) {
    status = xp_dev_plan_prepare(module, &plan, &err);
  }
  if (status == XP_OK && xp_dev_plan_input_count(plan) != count) {
    die("a case has another number of inputs than its program");
  }
  if (status == XP_OK) {
    status = run(plan, inputs, x, &err);
  }
  if (status != XP_OK) {
    put_failure(x, status, &err);
  }
  xp_dev_plan_destroy(plan);
  xp_arena_destroy(arena);
}

int main(int argc, char **argv)
{
  xp_file file;
  xp_error err;
  if (argc < 3) {
    die("usage: eval_run CASES RESULTS [base | avx2]");
  }
  if (argc > 3) { /* the instruction set to use, less than the processor has */
    xp_dev_kernels_limit(strcmp(argv[3], "avx2") == 0 ? XP_DEV_ISA_AVX2 : XP_DEV_ISA_BASE);
  }
  if (xp_file_open(argv[1], &file, &err) != XP_OK) {
    die(err.text);
  }
  exchange x = {file.bytes, fopen(argv[2], "wb")};
  if (x.out == NULL) {
    die("the file of results cannot be written");
  }
  while (x.rest.len > 0) {
    run_case(&x);
  }
  xp_file_close(&file);
  return fclose(x.out) == 0 ? 0 : 2;
}
