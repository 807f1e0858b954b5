/* Counters and metrics by name, and the short report.  Samples and texts are those of torch_xla 2.9, of a run in which
 * three small products were computed and read: metric_data gave the samples, short_metrics_report the lines. */
#include "testing.h"

#include "xlaprof/metrics.h"

typedef struct {
  int64_t time_ns;
  double value;
} sample;

static const sample inbound[] = {
    {0, 4}, {315638781, 4}, {325318575, 4}, {409274101, 4096}, {409948349, 32576}, {522075891, 4096}};
static const sample graph_size[] = {{0, 6}, {753588438, 6}, {760553360, 6}, {849059105, 3}, {959603071, 3}};
static const sample to_device[] = {{0, 16595}, {315479755, 13670}, {409315586, 17487}};

#define INBOUND                                                                                                        \
  "Metric: InboundData\n  TotalSamples: 6\n  Accumulator: 39.82KB\n  ValueRate: 76.28KB / second\n"                    \
  "  Rate: 11.4926 / second\n  Percentiles: 1%=4.00B; 5%=4.00B; 10%=4.00B; 20%=4.00B; 50%=4.00KB; 80%=4.00KB; "        \
  "90%=31.81KB; 95%=31.81KB; 99%=31.81KB\n"
#define GRAPH_SIZE                                                                                                     \
  "Metric: TensorsGraphSize\n  TotalSamples: 5\n  Accumulator: 24.00\n  ValueRate: 25.01 / second\n"                   \
  "  Rate: 5.21049 / second\n  Percentiles: 1%=3.00; 5%=3.00; 10%=3.00; 20%=3.00; 50%=6.00; 80%=6.00; 90%=6.00; "      \
  "95%=6.00; 99%=6.00\n"
#define TO_DEVICE                                                                                                      \
  "Metric: TransferToDeviceTime\n  TotalSamples: 3\n  Accumulator: 047.752us\n  ValueRate: 116.663us / second\n"       \
  "  Rate: 7.32931 / second\n  Percentiles: 1%=013.670us; 5%=013.670us; 10%=013.670us; 20%=013.670us; "                \
  "50%=016.595us; 80%=017.487us; 90%=017.487us; 95%=017.487us; 99%=017.487us\n"
#define FALLBACKS "Counter: aten::_local_scalar_dense\n  Value: 3\nCounter: aten::nonzero\n  Value: 1\n"

static void add_all(const char *name, xp_metric_unit unit, const sample *samples, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    xp_metric_add_at(xp_metric_get(name, unit), samples[i].value, samples[i].time_ns);
  }
}

/* The process as torch_xla's was, and a counter and a metric that nothing raised. */
static int run_again(void **state)
{
  (void)state;
  xp_metrics_clear_all();
  add_all("InboundData", XP_METRIC_BYTES, inbound, 6);
  add_all("TensorsGraphSize", XP_METRIC_VALUE, graph_size, 5);
  add_all("TransferToDeviceTime", XP_METRIC_TIME, to_device, 3);
  xp_counter_add(xp_counter_get("MarkStep"), 3);
  xp_counter_add(xp_counter_get("UncachedCompile"), 4);
  xp_counter_add(xp_counter_get("aten::nonzero"), 1);
  xp_counter_add(xp_counter_get("aten::_local_scalar_dense"), 3);
  xp_counter_get("CachedCompile");
  xp_metric_get("CompileTime", XP_METRIC_TIME);
  return 0;
}

static void assert_short(const char *const *counters, const char *const *metrics, const char *want)
{
  char *text = xp_metrics_report_short(counters, metrics);
  assert_non_null(text);
  assert_string_equal(text, want);
  free(text);
}

/* ---------------------------------------------------------------- the short report */

static void the_short_report_has_what_torch_xla_takes_for_the_most_important(void **state)
{
  (void)state;
  static const char *const none[] = {NULL};
  assert_short(NULL, NULL, TO_DEVICE "Counter: MarkStep\n  Value: 3\n" FALLBACKS);
  assert_short(none, none, TO_DEVICE "Counter: MarkStep\n  Value: 3\n" FALLBACKS);
}

static void the_usual_names_of_the_short_report_are_those_of_torch_xla(void **state)
{
  (void)state;
  static const char *const metrics[] = {
      "CompileTime",       "ExecuteTime", "ExecuteReplicatedTime", "TransferToDeviceTime", "TransferFromDeviceTime",
      "EagerOpExecuteTime"};
  static const char *const counters[] = {"CachedCompile", "MarkStep", "DynamoSyncInputExecuteTime", "CreateXlaTensor"};
  xp_metrics_clear_all();
  for (size_t i = 0; i < 6; i++) {
    xp_metric_add(xp_metric_get(metrics[i], XP_METRIC_TIME), 1);
  }
  for (size_t i = 0; i < 4; i++) {
    xp_counter_add(xp_counter_get(counters[i]), 1);
  }
  char *text = xp_metrics_report_short(NULL, NULL);
  const char *at = text;
  for (size_t i = 0; i < 8; i++) { /* in this order */
    char line[64];
    snprintf(line, sizeof line, "%s: %s\n", i < 5 ? "Metric" : "Counter", i < 5 ? metrics[i] : counters[i - 5]);
    at = strstr(at, line);
    assert_non_null(at);
  }
  assert_null(strstr(text, metrics[5]));
  assert_null(strstr(text, counters[3]));
  free(text);
}

static void a_list_replaces_the_usual_one_of_its_kind(void **state)
{
  (void)state;
  static const char *const counters[] = {"UncachedCompile", NULL}, *const metrics[] = {"TensorsGraphSize", NULL};
  assert_short(counters, metrics, GRAPH_SIZE "Counter: UncachedCompile\n  Value: 4\n" FALLBACKS);
  assert_short(counters, NULL, TO_DEVICE "Counter: UncachedCompile\n  Value: 4\n" FALLBACKS);
}

static void names_stand_in_their_order_and_once(void **state)
{
  (void)state;
  static const char *const counters[] = {"MarkStep", "NoSuch", "MarkStep", "aten::nonzero", NULL};
  static const char *const metrics[] = {"TransferToDeviceTime", "InboundData", "NoSuch", "InboundData", NULL};
  assert_short(counters, metrics,
               TO_DEVICE INBOUND "Counter: MarkStep\n  Value: 3\nCounter: aten::nonzero\n  Value: 1\n"
                                 "Counter: aten::_local_scalar_dense\n  Value: 3\n");
  assert_false(xp_counter_read("NoSuch", &(int64_t){0})); /* asking made none */
}

/* ---------------------------------------------------------------- by name */

static void assert_names(const char **names, size_t count, const char *const *want)
{
  assert_non_null(names);
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(names[i], want[i]);
  }
  assert_null(names[count]);
  assert_null(want[count]);
  free(names);
}

static void names_are_those_of_the_report(void **state)
{
  (void)state;
  size_t count;
  const char **names = xp_counter_names(&count);
  assert_names(
      names, count,
      (const char *const[]){"MarkStep", "UncachedCompile", "aten::_local_scalar_dense", "aten::nonzero", NULL});
  names = xp_metric_names(&count);
  assert_names(names, count, (const char *const[]){"InboundData", "TensorsGraphSize", "TransferToDeviceTime", NULL});
  names = xp_fallback_names(&count);
  assert_names(names, count, (const char *const[]){"aten::_local_scalar_dense", "aten::nonzero", NULL});
  xp_metrics_clear_all();
  assert_names(xp_counter_names(NULL), 0, (const char *const[]){NULL});
  assert_names(xp_metric_names(NULL), 0, (const char *const[]){NULL});
  assert_names(xp_fallback_names(NULL), 0, (const char *const[]){NULL});
}

static void a_counter_is_read_without_being_made(void **state)
{
  (void)state;
  int64_t value = 9;
  assert_true(xp_counter_read("UncachedCompile", &value));
  assert_true(xp_counter_read("UncachedCompile", NULL));
  assert_int_equal(value, 4);
  assert_false(xp_counter_read("CachedCompile", &value)); /* 0 is not there, as in torch_xla */
  assert_int_equal(value, 0);
  assert_false(xp_counter_read("NoSuch", &value));
  assert_false(xp_counter_read("", &value));
  assert_false(xp_counter_read(NULL, &value));
}

static void a_metric_gives_its_samples(void **state)
{
  (void)state;
  xp_metric_data *data = xp_metric_read("InboundData");
  assert_non_null(data);
  assert_int_equal(data->unit, XP_METRIC_BYTES);
  assert_int_equal(data->total, 6);
  assert_true(data->sum == 40780);
  assert_int_equal(data->count, 6);
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(data->samples[i].time_ns, inbound[i].time_ns);
    assert_true(data->samples[i].value == inbound[i].value);
  }
  free(data);
  assert_null(xp_metric_read("CompileTime")); /* no samples */
  assert_null(xp_metric_read("NoSuch"));
  assert_null(xp_metric_read(NULL));
}

static void only_the_latest_samples_of_a_metric_are_kept(void **state)
{
  (void)state;
  for (int i = 0; i < 1536; i++) {
    xp_metric_add_at(xp_metric_get("ring", XP_METRIC_VALUE), i, i);
  }
  xp_metric_data *data = xp_metric_read("ring");
  assert_int_equal(data->total, 1536);
  assert_true(data->sum == 1536 * 1535 / 2);
  assert_int_equal(data->count, 1024);
  assert_true(data->samples[0].value == 512);
  assert_true(data->samples[1023].value == 1535);
  free(data);
}

static void a_percentile_is_the_one_of_the_report(void **state)
{
  (void)state;
  static const double percents[] = {1, 5, 10, 20, 50, 80, 90, 95, 99},
                      want[] = {13670, 13670, 13670, 13670, 16595, 17487, 17487, 17487, 17487};
  double value = 0;
  for (size_t i = 0; i < 9; i++) {
    assert_true(xp_metric_percentile("TransferToDeviceTime", percents[i], &value));
    assert_true(value == want[i]);
  }
  assert_true(xp_metric_percentile("TransferToDeviceTime", 0, &value));
  assert_true(xp_metric_percentile("TransferToDeviceTime", 0, NULL));
  assert_true(value == 13670);
  assert_true(xp_metric_percentile("TransferToDeviceTime", 100, &value));
  assert_true(value == 17487);
  value = -1;
  assert_false(xp_metric_percentile("TransferToDeviceTime", 100.5, &value));
  assert_false(xp_metric_percentile("TransferToDeviceTime", -1, &value));
  assert_false(xp_metric_percentile("CompileTime", 50, &value));
  assert_false(xp_metric_percentile("NoSuch", 50, &value));
  assert_true(value == -1);
}

static void rates_are_those_of_the_report(void **state)
{
  (void)state;
  double samples = -1, sum = -1;
  assert_false(xp_metric_rate("CompileTime", &samples, &sum));
  assert_false(xp_metric_rate("NoSuch", &samples, &sum));
  xp_metric_add_at(xp_metric_get("once", XP_METRIC_VALUE), 1, 1);
  assert_false(xp_metric_rate("once", &samples, &sum));
  assert_true(samples == -1 && sum == -1);
  assert_true(xp_metric_rate("TensorsGraphSize", &samples, &sum));
  assert_true(samples > 5.210485 && samples < 5.210495); /* 5.21049 */
  assert_true(sum > 25.005 && sum < 25.015);             /* 25.01 */
  assert_true(xp_metric_rate("TensorsGraphSize", NULL, NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(the_short_report_has_what_torch_xla_takes_for_the_most_important, run_again),
      cmocka_unit_test_setup(the_usual_names_of_the_short_report_are_those_of_torch_xla, run_again),
      cmocka_unit_test_setup(a_list_replaces_the_usual_one_of_its_kind, run_again),
      cmocka_unit_test_setup(names_stand_in_their_order_and_once, run_again),
      cmocka_unit_test_setup(names_are_those_of_the_report, run_again),
      cmocka_unit_test_setup(a_counter_is_read_without_being_made, run_again),
      cmocka_unit_test_setup(a_metric_gives_its_samples, run_again),
      cmocka_unit_test_setup(only_the_latest_samples_of_a_metric_are_kept, run_again),
      cmocka_unit_test_setup(a_percentile_is_the_one_of_the_report, run_again),
      cmocka_unit_test_setup(rates_are_those_of_the_report, run_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
