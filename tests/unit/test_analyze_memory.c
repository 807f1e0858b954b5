/* Analysing with every allocation failing once. */
#include "failing.h"

#include "analyze/check.h"

static xp_status check(const xp_reading *reading, xp_arena *arena, xp_error *err)
{
  static const char text[] = "[{\"scope\": \"a\\u00e9\", \"count\": [0, 2]}, {\"cause\": \"host\"}]";
  xp_check_options options = {.step = xp_str_c("denoise"), .scopes = xp_str_c("unet,a/b"), .has_expected = true};
  xp_expected_gap *rows = NULL;
  xp_check result;
  xp_status status = xp_expected_gaps_read(xp_str_c(text), "gaps.json", arena, &rows, &options.expected_count, err);
  options.expected = rows;
  return status == XP_OK ? xp_check_reading(reading, &options, arena, &result, err) : status;
}

/* What a reading can be asked for, in an arena of its own. */
static xp_status ask(xp_reading *reading, xp_arena *arena)
{
  xp_error err;
  xp_status status = XP_OK;
  for (size_t i = 0; i < reading->gap_count && status == XP_OK; i++) {
    xp_gap_details details;
    status = xp_gap_explain(reading, &reading->gaps[i], arena, &details, &err);
    for (size_t k = 0; k < details.part_count && status == XP_OK; k++) {
      touch_bytes(details.parts[k].scope);
      touch_bytes(details.parts[k].event);
      touch_bytes(details.parts[k].detail);
    }
  }
  for (xp_ops_by by = XP_OPS_BY_OP; by <= XP_OPS_BY_SOURCE && status == XP_OK; by++) {
    xp_op_row *rows;
    size_t count;
    status = xp_reading_ops(reading, by, &rows, &count, &err);
    for (size_t i = 0; i < count && status == XP_OK; i++) {
      touch_bytes(rows[i].key);
    }
  }
  if (status == XP_OK) {
    status = check(reading, arena, &err);
  }
  assert_true(status == XP_OK || err.text[0] != '\0');
  return status;
}

static xp_status analyse(const xp_capture *capture)
{
  xp_reading *reading;
  xp_error err;
  xp_status status = xp_analyze(capture, NULL, &reading, &err);
  if (status != XP_OK) {
    assert_null(reading);
    assert_true(err.text[0] != '\0');
    return status;
  }
  xp_arena *arena = xp_arena_create();
  status = arena == NULL ? XP_ERR_MEMORY : ask(reading, arena);
  xp_arena_destroy(arena);
  xp_reading_free(reading);
  return status;
}

static xp_status load_and_analyse(const char *path)
{
  xp_capture *capture;
  xp_error err;
  xp_status status = xp_capture_load(path, NULL, &capture, &err);
  if (status == XP_OK) {
    status = analyse(capture);
    xp_capture_free(capture);
  }
  return status;
}

static const xp_capture *analysed;

static xp_status analyse_again(const char *unused)
{
  (void)unused;
  return analyse(analysed);
}

/* The whole way with blocks failing, then the analysis alone with every piece of an arena failing. */
static void try_all(const char *path)
{
  fail_each(load_and_analyse, path);
  xp_capture *capture = load_path(path);
  analysed = capture;
  int held = atomic_exchange(&live, 0);
  pieces_fail = true;
  fail_each(analyse_again, NULL);
  pieces_fail = false;
  atomic_store(&live, held);
  xp_capture_free(capture);
  assert_int_equal(atomic_load(&live), 0);
}

static void reading_a_tpu_survives_any_failing_allocation(void **state)
{
  (void)state;
  try_all(SCENARIOS "s03_sdxl_item_nonzero.xplane.pb");
}

static void reading_streams_of_a_gpu_survives_any_failing_allocation(void **state)
{
  (void)state;
  try_all(SCENARIOS "s09_two_streams_gpu.xplane.pb");
}

static void reading_xla_cpu_survives_any_failing_allocation(void **state)
{
  (void)state;
  try_all(SCENARIOS "s10_cpu_thunks.xplane.pb");
}

static void reading_two_hosts_survives_any_failing_allocation(void **state)
{
  (void)state;
  try_all(SCENARIOS "s26_two_hosts");
}

static void reading_a_capture_of_a_gpu_survives_any_failing_allocation(void **state)
{
  (void)state;
  try_all(CAPTURES "rocm_attention_1gpu.xplane.pb");
}

static void reading_a_capture_of_torch_xla_survives_any_failing_allocation(void **state)
{
  (void)state;
  try_all(CAPTURES "torch_lab_lazy.xplane.pb");
}

static void a_reading_can_be_asked_again_after_memory_was_out(void **state)
{
  (void)state;
  xp_capture *capture = load_path(SCENARIOS "s03_sdxl_item_nonzero.xplane.pb");
  xp_reading *other, *reading;
  xp_error err;
  assert_int_equal(xp_analyze(capture, NULL, &other, &err), XP_OK);
  assert_int_equal(xp_analyze(capture, NULL, &reading, &err), XP_OK);
  xp_op_row *rows, *again;
  size_t count;
  assert_int_equal(xp_reading_ops(other, XP_OPS_BY_OP, &rows, &count, &err), XP_OK);
  pieces_fail = true;
  atomic_store(&calls, 0);
  first_to_fail = 1;
  last_to_fail = INT32_MAX;
  size_t none = 1;
  assert_int_equal(xp_reading_ops(reading, XP_OPS_BY_OP, &again, &none, &err), XP_ERR_MEMORY);
  assert_null(again);
  assert_int_equal(none, 0);
  first_to_fail = 0;
  pieces_fail = false;
  size_t same;
  assert_int_equal(xp_reading_ops(reading, XP_OPS_BY_OP, &again, &same, &err), XP_OK);
  assert_int_equal(same, count);
  for (size_t i = 0; i < count; i++) {
    assert_true(xp_str_eq(again[i].key, rows[i].key));
    assert_int_equal(again[i].self_ps, rows[i].self_ps);
  }
  rows = again;
  assert_int_equal(xp_reading_ops(reading, XP_OPS_BY_OP, &again, &same, &err), XP_OK);
  assert_ptr_equal(again, rows); /* made once */
  xp_reading_free(reading);
  xp_reading_free(other);
  xp_capture_free(capture);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading_a_tpu_survives_any_failing_allocation),
      cmocka_unit_test(reading_streams_of_a_gpu_survives_any_failing_allocation),
      cmocka_unit_test(reading_xla_cpu_survives_any_failing_allocation),
      cmocka_unit_test(reading_two_hosts_survives_any_failing_allocation),
      cmocka_unit_test(reading_a_capture_of_a_gpu_survives_any_failing_allocation),
      cmocka_unit_test(reading_a_capture_of_torch_xla_survives_any_failing_allocation),
      cmocka_unit_test(a_reading_can_be_asked_again_after_memory_was_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
