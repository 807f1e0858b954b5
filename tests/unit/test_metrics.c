/* Reading torch_xla metrics reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "metrics/report.h"

#define SAMPLE "tests/data/captures/torch_denoise.metrics.txt"

static int open_arena(void **state)
{
  *state = xp_arena_create();
  return *state == NULL;
}

static int close_arena(void **state)
{
  xp_arena_destroy(*state);
  return 0;
}

static xp_status read_text(void **state, const char *text, xp_metrics_report *report, xp_error *err)
{
  return xp_metrics_report_read(xp_str_c(text), xp_str_c("m.txt"), *state, report, err);
}

/* The amount behind "Accumulator:". */
static double amount(void **state, const char *text, xp_metric_unit unit)
{
  char report_text[256];
  xp_metrics_report report;
  xp_error err = {0};
  snprintf(report_text, sizeof report_text, "Metric: M\n  TotalSamples: 2\n  Accumulator: %s\n", text);
  assert_int_equal(read_text(state, report_text, &report, &err), XP_OK);
  assert_int_equal(report.metric_count, 1);
  assert_int_equal(report.metrics[0].unit, unit);
  return report.metrics[0].accumulator;
}

static void assert_near(double got, double want)
{
  double difference = got - want;
  assert_true(difference < 1e-6 * (want + 1) && -difference < 1e-6 * (want + 1));
}

static void test_a_real_report(void **state)
{
  xp_file file;
  xp_error err = {0};
  xp_metrics_report report;
  assert_int_equal(xp_file_open(SAMPLE, &file, &err), XP_OK);
  assert_true(xp_metrics_report_probe(file.bytes));
  assert_int_equal(xp_metrics_report_read(file.bytes, xp_str_c(SAMPLE), *state, &report, &err), XP_OK);
  assert_int_equal(xp_metrics_report_samples(&report, "ExecuteTime"), 25);
  assert_int_equal(xp_metrics_report_samples(&report, "TransferFromDeviceTime"), 26);
  assert_int_equal(xp_metrics_report_samples(&report, "TransferToDeviceTime"), 11);
  assert_int_equal(xp_metrics_report_samples(&report, "CompileTime"), 0);
  assert_int_equal(xp_metrics_report_counter(&report, "MarkStep"), 9);
  assert_int_equal(xp_metrics_report_counter(&report, "CachedCompile"), 25);
  assert_int_equal(xp_metrics_report_counter(&report, "aten::_local_scalar_dense"), 16);
  assert_int_equal(xp_metrics_report_counter(&report, "aten::nonzero"), 8);
  assert_int_equal(report.metric_count, 12);
  assert_int_equal(report.counter_count, 24);
  assert_int_equal(report.step, -1);
  for (size_t i = 0; i < report.metric_count; i++) {
    const xp_metric *m = &report.metrics[i];
    if (xp_str_is(m->name, "ExecuteTime")) {
      assert_near(m->accumulator, 77418147);
    }
    if (xp_str_is(m->name, "InboundData")) {
      assert_near(m->accumulator, 98.16 * 1024);
    }
    if (xp_str_is(m->name, "TensorsGraphSize")) {
      assert_near(m->accumulator, 427);
    }
  }
  xp_file_close(&file);
}

static void test_durations_in_parts(void **state)
{
  assert_near(amount(state, "746.917us", XP_METRIC_TIME), 746917);
  assert_near(amount(state, "085ms328.534us", XP_METRIC_TIME), 85328534);
  assert_near(amount(state, "01m03s441ms563.912us", XP_METRIC_TIME), 63441563912.0);
  assert_near(amount(state, " 1d02h03m04s005ms006.000us", XP_METRIC_TIME), 93784005006000.0);
  assert_near(amount(state, "60s990ms000.000us", XP_METRIC_TIME), 60.99e9);
  assert_near(amount(state, "427.00", XP_METRIC_VALUE), 427);
  assert_near(amount(state, "-3.50", XP_METRIC_VALUE) + 10, 6.5);
  assert_near(amount(state, "4.00B", XP_METRIC_BYTES), 4);
  assert_near(amount(state, "1.50PB", XP_METRIC_BYTES), 1.5 * 1024 * 1024 * 1024 * 1024 * 1024);
}

static void test_nonsense_is_an_error_with_its_line(void **state)
{
  static const char *const bad[] = {
      "Metric: M\n  TotalSamples: many\n",     "Metric: M\n  TotalSamples: -1\n",
      "Metric: M\n  Accumulator: 12parsecs\n", "Metric: M\n  Accumulator: 4.00B2.00B\n",
      "Metric: M\n  Accumulator: 1.2.3\n",     "Metric: M\n  Accumulator:\n",
      "Metric: M\n  Accumulator: inf\n",       "Counter: C\n  Value: 99999999999999999999\n",
      "Counter: C\n[MetricsData; step=x]\n",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    xp_metrics_report report;
    xp_error err = {0};
    assert_int_equal(read_text(state, bad[i], &report, &err), XP_ERR_FORMAT);
    assert_non_null(strstr(err.text, "m.txt, line 2"));
  }
}

static void test_the_last_of_several_reports_counts(void **state)
{
  xp_metrics_report report;
  xp_error err = {0};
  const char *text =
      "[MetricsData; step=0]\nCounter: MarkStep\n  Value: 1\n\n[MetricsData; step=7]\n"
      "Metric: ExecuteTime\n  TotalSamples: 4\n  Accumulator: 001ms000.000us\nCounter: MarkStep\r\n  Value: 8\r\n";
  assert_int_equal(read_text(state, text, &report, &err), XP_OK);
  assert_int_equal(report.step, 7);
  assert_int_equal(report.counter_count, 1);
  assert_int_equal(xp_metrics_report_counter(&report, "MarkStep"), 8);
  assert_int_equal(xp_metrics_report_samples(&report, "ExecuteTime"), 4);
}

static void test_foreign_lines_and_old_keys(void **state)
{
  xp_metrics_report report;
  xp_error err = {0};
  const char *text = "I0000 00:00 some log\nMetric: CompileTime\n  TotalSamples: 2\n  Counter: 002s005ms000.000us\n"
                     "W0000 another log\n  TotalSamples: 77\nCounter: Counter: odd\n  Value: -3\n";
  assert_int_equal(read_text(state, text, &report, &err), XP_OK);
  assert_int_equal(xp_metrics_report_samples(&report, "CompileTime"), 2); /* not 77: the log ended the row */
  assert_near(report.metrics[0].accumulator, 2.005e9);
  assert_int_equal(xp_metrics_report_counter(&report, "Counter: odd"), -3);
}

static void test_other_texts_are_no_report(void **state)
{
  xp_metrics_report report;
  xp_error err = {0};
  assert_false(xp_metrics_report_probe(xp_str_c("")));
  assert_false(xp_metrics_report_probe(xp_str_c(" Metric: indented\nMetrics: x\n")));
  assert_false(xp_metrics_report_probe(xp_str_from("\x0a\x03 Metric: \0", 12)));
  assert_int_equal(read_text(state, "hello\n", &report, &err), XP_ERR_FORMAT);
  assert_non_null(strstr(err.text, "metrics_report()"));
}

/* Cuts and changed bytes may be errors, never crashes. */
static void test_damaged_reports(void **state)
{
  xp_file file;
  xp_error err = {0};
  assert_int_equal(xp_file_open(SAMPLE, &file, &err), XP_OK);
  char *copy = malloc(file.bytes.len);
  assert_non_null(copy);
  for (size_t i = 0; i < file.bytes.len; i += 7) {
    xp_metrics_report report;
    memcpy(copy, file.bytes.ptr, file.bytes.len);
    xp_metrics_report_read(xp_str_from(copy, i), xp_str_c("cut"), *state, &report, &err);
    copy[i] = (char)(i * 31);
    xp_metrics_report_read(xp_str_from(copy, file.bytes.len), xp_str_c("changed"), *state, &report, &err);
  }
  free(copy);
  xp_file_close(&file);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_real_report, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(test_durations_in_parts, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(test_nonsense_is_an_error_with_its_line, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(test_the_last_of_several_reports_counts, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(test_foreign_lines_and_old_keys, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(test_other_texts_are_no_report, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(test_damaged_reports, open_arena, close_arena),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
