/* Counters and metrics of a process, and their report.  Texts are worked out by hand from torch_xla's rules. */
#define _GNU_SOURCE

#include "metrics/registry.h"
#include "metrics/report.h"
#include "metrics/text.h"
#include "testing.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decimal_comma.h"

enum { THREADS = 4 };
#define SECOND INT64_C(1000000000)

/* Handles stay for the life of the process, so each test begins with none that shows. */
static int clear_all(void **state)
{
  (void)state;
  xp_counters_clear();
  xp_metrics_clear();
  return 0;
}

static void assert_report(const char *want)
{
  char *text = xp_metrics_report_text();
  assert_non_null(text);
  assert_string_equal(text, want);
  free(text);
}

/* The amount behind "Accumulator:" for a metric with one sample. */
static void assert_amount(xp_metric_unit unit, double amount, const char *want)
{
  static const char *const names[] = {"amount of value", "amount of time", "amount of bytes"};
  char line[512];
  xp_metrics_clear();
  xp_metric_add(xp_metric_get(names[unit], unit), amount);
  char *text = xp_metrics_report_text();
  assert_non_null(text);
  snprintf(line, sizeof line, "\n  Accumulator: %s\n", want);
  assert_contains(text, line);
  free(text);
}

/* ---------------------------------------------------------------- handles */

static void a_name_has_one_handle(void **state)
{
  (void)state;
  char name[] = "handle one";
  xp_counter_handle *counter = xp_counter_get(name);
  xp_metric_handle *metric = xp_metric_get(name, XP_METRIC_BYTES);
  assert_non_null(counter);
  assert_non_null(metric);
  name[0] = 'H'; /* the name was copied */
  assert_ptr_not_equal(xp_counter_get(name), counter);
  assert_ptr_equal(xp_counter_get("handle one"), counter);
  assert_ptr_equal(xp_metric_get("handle one", XP_METRIC_TIME), metric);
  xp_metric_add(metric, 4);
  xp_counter_add(counter, 7);
  assert_report("Metric: handle\\x20one\n  TotalSamples: 1\n  Accumulator: 4.00B\n" /* the first unit stays */
                "  Percentiles: 1%=4.00B; 5%=4.00B; 10%=4.00B; 20%=4.00B; 50%=4.00B; 80%=4.00B; 90%=4.00B; 95%=4.00B; "
                "99%=4.00B\nCounter: handle\\x20one\n  Value: 7\n");
}

static void no_name_has_no_handle_and_no_handle_does_nothing(void **state)
{
  (void)state;
  assert_null(xp_counter_get(""));
  assert_null(xp_counter_get(NULL));
  assert_null(xp_metric_get("", XP_METRIC_VALUE));
  assert_null(xp_metric_get(NULL, XP_METRIC_VALUE));
  xp_counter_add(NULL, 1);
  xp_metric_add(NULL, 1);
  assert_int_equal(xp_counter_value(NULL), 0);
  assert_int_equal(xp_metric_samples(NULL), 0);
  assert_true(xp_metric_sum(NULL) == 0);
  assert_report("");
}

static void thousands_of_names_are_told_apart(void **state)
{
  (void)state;
  char name[32];
  for (int i = 0; i < 5000; i++) {
    snprintf(name, sizeof name, "many %d", i);
    xp_counter_add(xp_counter_get(name), i);
  }
  for (int i = 0; i < 5000; i++) {
    snprintf(name, sizeof name, "many %d", i);
    assert_int_equal(xp_counter_value(xp_counter_get(name)), i);
  }
}

/* ---------------------------------------------------------------- the text */

static void a_report_has_the_format_of_torch_xla(void **state)
{
  (void)state;
  xp_metric_handle *time = xp_metric_get("ExecuteTime", XP_METRIC_TIME);
  xp_metric_add_at(time, 16.7e6, 100 * SECOND);
  xp_metric_add_at(time, 1.9e9, 101 * SECOND);
  xp_metric_add_at(time, 400, 102 * SECOND);
  xp_metric_add_at(xp_metric_get("InboundData", XP_METRIC_BYTES), 100517, 0);
  xp_metric_handle *size = xp_metric_get("Graph::Size", XP_METRIC_VALUE);
  xp_metric_add_at(size, 37, 1000);
  xp_metric_add_at(size, 4, 2620); /* 41 and 2 in 1.62 us */
  xp_counter_add(xp_counter_get("aten::nonzero"), 8);
  xp_counter_add(xp_counter_get("MarkStep"), 9);
  xp_counter_add(xp_counter_get("Below"), -3);
  assert_report("Metric: ExecuteTime\n"
                "  TotalSamples: 3\n"
                "  Accumulator: 01s916ms700.400us\n"
                "  ValueRate: 958ms350.200us / second\n"
                "  Rate: 1.5 / second\n"
                "  Percentiles: 1%=000.400us; 5%=000.400us; 10%=000.400us; 20%=000.400us; 50%=016ms700.000us; "
                "80%=01s900ms000.000us; 90%=01s900ms000.000us; 95%=01s900ms000.000us; 99%=01s900ms000.000us\n"
                "Metric: Graph::Size\n"
                "  TotalSamples: 2\n"
                "  Accumulator: 41.00\n"
                "  ValueRate: 25308641.98 / second\n"
                "  Rate: 1.23457e+06 / second\n"
                "  Percentiles: 1%=4.00; 5%=4.00; 10%=4.00; 20%=4.00; 50%=37.00; 80%=37.00; 90%=37.00; 95%=37.00; "
                "99%=37.00\n"
                "Metric: InboundData\n"
                "  TotalSamples: 1\n"
                "  Accumulator: 98.16KB\n" /* one sample has no rate */
                "  Percentiles: 1%=98.16KB; 5%=98.16KB; 10%=98.16KB; 20%=98.16KB; 50%=98.16KB; 80%=98.16KB; "
                "90%=98.16KB; 95%=98.16KB; 99%=98.16KB\n"
                "Counter: Below\n  Value: -3\n"
                "Counter: MarkStep\n  Value: 9\n"
                "Counter: aten::nonzero\n  Value: 8\n");
}

static void times_are_printed_to_the_nanosecond(void **state)
{
  (void)state;
  assert_amount(XP_METRIC_TIME, 0, "000.000us");
  assert_amount(XP_METRIC_TIME, 400, "000.400us");
  assert_amount(XP_METRIC_TIME, 0.4, "000.000us");
  assert_amount(XP_METRIC_TIME, 999999.6, "001ms000.000us"); /* rounded once, before it is split */
  assert_amount(XP_METRIC_TIME, 746917, "746.917us");
  assert_amount(XP_METRIC_TIME, 63441563912.0, "01m03s441ms563.912us");
  assert_amount(XP_METRIC_TIME, 93784005006000.0, "01d02h03m04s005ms006.000us");
  assert_amount(XP_METRIC_TIME, 3600e9, "01h00m00s000ms000.000us");
  /* where torch_xla prints 02s900ms, 017ms700 and 60s990ms */
  assert_amount(XP_METRIC_TIME, 1.9e9, "01s900ms000.000us");
  assert_amount(XP_METRIC_TIME, 16.7e6, "016ms700.000us");
  assert_amount(XP_METRIC_TIME, 59.99e9, "59s990ms000.000us");
  assert_amount(XP_METRIC_TIME, -1.5e6, "-001ms500.000us");
  assert_amount(XP_METRIC_TIME, 1e300, "106751d23h47m16s854ms775.807us"); /* 2^63 - 1 ns */
}

static void bytes_and_values_have_two_decimals(void **state)
{
  (void)state;
  assert_amount(XP_METRIC_BYTES, 0, "0.00B");
  assert_amount(XP_METRIC_BYTES, 1023, "1023.00B");
  assert_amount(XP_METRIC_BYTES, 1024, "1.00KB");
  assert_amount(XP_METRIC_BYTES, 1.5 * 1048576, "1.50MB");
  assert_amount(XP_METRIC_BYTES, 1.25 * 1073741824, "1.25GB");
  assert_amount(XP_METRIC_BYTES, 1099511627776.0, "1.00TB");
  assert_amount(XP_METRIC_BYTES, 2048.0 * 1125899906842624.0, "2048.00PB");
  assert_amount(XP_METRIC_VALUE, 0.125, "0.12"); /* half to even, as C prints */
  assert_amount(XP_METRIC_VALUE, 427, "427.00");
  assert_amount(XP_METRIC_VALUE, -3.5, "-3.50");
}

static void a_percentile_is_one_of_the_samples(void **state)
{
  (void)state;
  xp_metric_handle *metric = xp_metric_get("percentiles", XP_METRIC_VALUE);
  for (int i = 199; i >= 0; i--) { /* p% of 200 sorted samples: number 2 p */
    xp_metric_add_at(metric, i, SECOND);
  }
  char *text = xp_metrics_report_text();
  assert_contains(text, "Percentiles: 1%=2.00; 5%=10.00; 10%=20.00; 20%=40.00; 50%=100.00; 80%=160.00; 90%=180.00; "
                        "95%=190.00; 99%=198.00\n");
  free(text);
}

static void the_latest_1024_samples_are_kept_and_all_are_counted(void **state)
{
  (void)state;
  xp_metric_handle *metric = xp_metric_get("ring", XP_METRIC_VALUE);
  for (int i = 0; i < 1536; i++) { /* 512 .. 1535 stay; they sum up to 1024 * 1023.5 */
    xp_metric_add_at(metric, i, i * SECOND);
  }
  assert_int_equal(xp_metric_samples(metric), 1536);
  assert_true(xp_metric_sum(metric) == 1536 * 1535 / 2);
  char *text = xp_metrics_report_text();
  assert_contains(text, "TotalSamples: 1536\n  Accumulator: 1178880.00\n  ValueRate: 1024.50 / second\n"
                        "  Rate: 1.00098 / second\n  Percentiles: 1%=522.00; ");
  free(text);
}

static void names_are_one_word_and_never_alike(void **state)
{
  (void)state;
  xp_counter_add(xp_counter_get("a\n  Value: 5\nCounter: b"), 1);
  xp_counter_add(xp_counter_get("a\\x0a"), 2);
  xp_counter_add(xp_counter_get(" two words "), 3);
  xp_counter_add(xp_counter_get("colon:\xc3\xa9\x7f"), 4);
  assert_report("Counter: \\x20two\\x20words\\x20\n  Value: 3\n"
                "Counter: a\\x0a\\x20\\x20Value:\\x205\\x0aCounter:\\x20b\n  Value: 1\n"
                "Counter: a\\x5cx0a\n  Value: 2\n"
                "Counter: colon:\xc3\xa9\\x7f\n  Value: 4\n");
}

static void what_is_no_number_is_ignored_and_sums_stay_numbers(void **state)
{
  (void)state;
  xp_metric_handle *metric = xp_metric_get("extremes", XP_METRIC_VALUE);
  xp_metric_add(metric, NAN);
  xp_metric_add(metric, INFINITY);
  assert_int_equal(xp_metric_samples(metric), 0);
  xp_metric_add(metric, DBL_MAX);
  xp_metric_add(metric, DBL_MAX);
  assert_true(xp_metric_sum(metric) == DBL_MAX);
}

static void a_sample_from_before_the_last_one_counts_as_of_its_time(void **state)
{
  (void)state;
  xp_metric_handle *metric = xp_metric_get("backwards", XP_METRIC_VALUE);
  xp_metric_add_at(metric, 1, 4 * SECOND);
  xp_metric_add_at(metric, 2, 3 * SECOND);
  xp_metric_add_at(metric, 3, 6 * SECOND); /* 6 in 2 seconds, 3 samples */
  assert_report(
      "Metric: backwards\n  TotalSamples: 3\n  Accumulator: 6.00\n  ValueRate: 3.00 / second\n  Rate: 1.5 / second\n"
      "  Percentiles: 1%=1.00; 5%=1.00; 10%=1.00; 20%=1.00; 50%=2.00; 80%=3.00; 90%=3.00; 95%=3.00; "
      "99%=3.00\n");
}

static void a_clear_hides_what_was_and_handles_go_on(void **state)
{
  (void)state;
  xp_counter_handle *counter = xp_counter_get("cleared");
  xp_metric_handle *metric = xp_metric_get("cleared", XP_METRIC_VALUE);
  xp_counter_add(counter, 5);
  xp_metric_add_at(metric, 5, SECOND);
  xp_metric_add_at(metric, 6, 2 * SECOND);
  xp_metrics_clear();
  assert_report("Counter: cleared\n  Value: 5\n");
  xp_counters_clear();
  assert_report("");
  assert_int_equal(xp_metric_samples(metric), 0);
  assert_true(xp_metric_sum(metric) == 0);
  xp_metric_add_at(metric, 7, 3 * SECOND); /* no rate: the samples before are gone */
  assert_report("Metric: cleared\n  TotalSamples: 1\n  Accumulator: 7.00\n  Percentiles: 1%=7.00; 5%=7.00; 10%=7.00; "
                "20%=7.00; 50%=7.00; 80%=7.00; 90%=7.00; 95%=7.00; 99%=7.00\n");
}

static void the_decimal_point_stays_whatever_the_locale(void **state)
{
  (void)state;
  bool is_set = set_decimal_comma();
  if (is_set) {
    assert_amount(XP_METRIC_VALUE, 1.5, "1.50");
  }
  end_decimal_comma(is_set);
}

/* ---------------------------------------------------------------- reading it again */

static void our_reader_finds_the_same_numbers(void **state)
{
  (void)state;
  static const double times[] = {16.7e6, 1.9e9, 59.99e9, 400, 93784005006000.0};
  double sum = 0;
  for (size_t i = 0; i < 5; i++) {
    xp_metric_add(xp_metric_get("Time", XP_METRIC_TIME), times[i]);
    sum += times[i];
  }
  xp_metric_add(xp_metric_get("Bytes", XP_METRIC_BYTES), 1.5 * 1048576);
  xp_metric_add(xp_metric_get("Value", XP_METRIC_VALUE), 1e100);
  xp_counter_add(xp_counter_get("odd:name"), INT64_MIN);
  char *text = xp_metrics_report_text();
  xp_arena *arena = xp_arena_create();
  xp_metrics_report report;
  xp_error err = {0};
  if (xp_metrics_report_read(xp_str_c(text), xp_str_c("ours"), arena, &report, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(report.metric_count, 3);
  assert_int_equal(report.counter_count, 1);
  assert_int_equal(xp_metrics_report_samples(&report, "Time"), 5);
  assert_true(xp_metrics_report_counter(&report, "odd:name") == INT64_MIN);
  assert_int_equal(report.metrics[0].unit, XP_METRIC_BYTES);
  assert_true(report.metrics[0].accumulator == 1.5 * 1048576);
  assert_int_equal(report.metrics[1].unit, XP_METRIC_TIME);
  assert_true(fabs(report.metrics[1].accumulator - sum) <= 0.5); /* to the nanosecond */
  assert_true(report.metrics[2].accumulator == 1e100);
  xp_arena_destroy(arena);
  free(text);
}

/* ---------------------------------------------------------------- threads and fork */

static pthread_barrier_t together;

static void *race(void *handles)
{
  void **mine = handles;
  pthread_barrier_wait(&together);
  xp_counter_handle *counter = xp_counter_get("raced");
  xp_metric_handle *metric = xp_metric_get("raced", XP_METRIC_VALUE);
  mine[0] = counter;
  mine[1] = metric;
  for (int i = 0; i < 20000; i++) {
    xp_counter_add(counter, 3);
    if (i % 8 == 0) {
      xp_metric_add(metric, 2);
    }
    if (i % 5000 == 0) {
      free(xp_metrics_report_text());
    }
  }
  return NULL;
}

static void threads_lose_nothing(void **state)
{
  (void)state;
  pthread_t threads[THREADS];
  void *handles[THREADS][2];
  assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, race, handles[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_ptr_equal(handles[i][0], handles[0][0]);
    assert_ptr_equal(handles[i][1], handles[0][1]);
  }
  pthread_barrier_destroy(&together);
  assert_int_equal(xp_counter_value(handles[0][0]), THREADS * 20000 * 3);
  assert_int_equal(xp_metric_samples(handles[0][1]), THREADS * 2500);
  assert_true(xp_metric_sum(handles[0][1]) == THREADS * 5000.0);
}

static atomic_bool stopped;

static void *add_always(void *metric)
{
  while (!atomic_load(&stopped)) {
    xp_metric_add(metric, 1);
  }
  return NULL;
}

/* The lock is held most of the time, so a child that inherits it hangs soon, and is ended by its alarm. */
static void a_child_after_fork_is_not_blocked(void **state)
{
  (void)state;
  xp_metric_handle *metric = xp_metric_get("forked", XP_METRIC_VALUE);
  pthread_t thread;
  atomic_store(&stopped, false);
  assert_int_equal(pthread_create(&thread, NULL, add_always, metric), 0);
  for (int i = 0; i < 200; i++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      alarm(10);
      xp_metric_add(metric, 1);
      char *text = xp_metrics_report_text();
      _exit(text != NULL && xp_metric_samples(metric) > 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
  }
  atomic_store(&stopped, true);
  pthread_join(thread, NULL);
}

/* ---------------------------------------------------------------- the variable, in a process of its own */

/* Fills a ring and tells how many samples it keeps: "kept N". */
static int print_kept(void)
{
  xp_metric_handle *metric = xp_metric_get("kept", XP_METRIC_VALUE);
  for (int i = 0; i < 5000; i++) {
    xp_metric_add(metric, i);
  }
  xp_arena *arena = xp_arena_create();
  xp_metrics_state all = xp_metrics_state_take(arena);
  printf("%zu", all.metrics[0].count);
  xp_arena_destroy(arena);
  return 0;
}

static void assert_kept(const char *variable, const char *want)
{
  char program[PATH_MAX], command[PATH_MAX + 256], got[32] = "";
  assert_non_null(realpath("/proc/self/exe", program));
  snprintf(command, sizeof command, "XLAPROF_METRICS_SAMPLES=%s exec %s '%s' kept", variable,
           emulator() != NULL ? emulator() : "", program);
  FILE *child = popen(command, "r");
  assert_non_null(child);
  assert_non_null(fgets(got, sizeof got, child));
  assert_int_equal(pclose(child), 0);
  assert_string_equal(got, want);
}

static void the_variable_says_how_many_samples_are_kept(void **state)
{
  (void)state;
  assert_kept("7", "7");
  assert_kept("1", "1");
  assert_kept("4096", "4096");
  assert_kept("0", "1024"); /* what makes no sense counts as not there */
  assert_kept("-5", "1024");
  assert_kept("1048577", "1024");
  assert_kept("many", "1024");
}

int main(int argc, char **argv)
{
  (void)argv;
  if (argc > 1) {
    return print_kept();
  }
  unsetenv("XLAPROF_METRICS_SAMPLES");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_name_has_one_handle, clear_all),
      cmocka_unit_test_setup(no_name_has_no_handle_and_no_handle_does_nothing, clear_all),
      cmocka_unit_test_setup(thousands_of_names_are_told_apart, clear_all),
      cmocka_unit_test_setup(a_report_has_the_format_of_torch_xla, clear_all),
      cmocka_unit_test_setup(times_are_printed_to_the_nanosecond, clear_all),
      cmocka_unit_test_setup(bytes_and_values_have_two_decimals, clear_all),
      cmocka_unit_test_setup(a_percentile_is_one_of_the_samples, clear_all),
      cmocka_unit_test_setup(the_latest_1024_samples_are_kept_and_all_are_counted, clear_all),
      cmocka_unit_test_setup(names_are_one_word_and_never_alike, clear_all),
      cmocka_unit_test_setup(what_is_no_number_is_ignored_and_sums_stay_numbers, clear_all),
      cmocka_unit_test_setup(a_sample_from_before_the_last_one_counts_as_of_its_time, clear_all),
      cmocka_unit_test_setup(a_clear_hides_what_was_and_handles_go_on, clear_all),
      cmocka_unit_test_setup(the_decimal_point_stays_whatever_the_locale, clear_all),
      cmocka_unit_test_setup(our_reader_finds_the_same_numbers, clear_all),
      cmocka_unit_test_setup(threads_lose_nothing, clear_all),
      cmocka_unit_test_setup(a_child_after_fork_is_not_blocked, clear_all),
      cmocka_unit_test(the_variable_says_how_many_samples_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
