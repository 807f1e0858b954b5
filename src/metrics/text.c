/* Printing counters and metrics as torch_xla.debug.metrics.metrics_report() prints them, so that its tools read ours.
 *
 * One difference is meant.  torch_xla splits a time into parts, prints each part rounded and goes on with what is left
 * over the part cut off: 16.7 ms becomes "017ms700.000us", 59.99 s "60s990ms000.000us".  Here a time is rounded once,
 * to nanoseconds, and split as an integer.  Which of the two wrote a text cannot be seen in it; readers add the parts.
 *
 * The process may have set a locale with a decimal comma; the report has a point.
 */
#define _GNU_SOURCE /* open_memstream, uselocale */

#include "metrics/text.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics/access.h"

static const unsigned percents[] = {1, 5, 10, 20, 50, 80, 90, 95, 99};

/* ---------------------------------------------------------------- names and amounts */

/* A name with white space could look like the lines behind it: "x  Value: 1" to a tool that skips white space. */
static void put_name(FILE *out, xp_str name)
{
  for (size_t i = 0; i < name.len; i++) {
    unsigned char c = (unsigned char)name.ptr[i];
    if (c <= ' ' || c == 0x7f || c == '\\') {
      fprintf(out, "\\x%02x", c);
    } else {
      fputc(c, out);
    }
  }
}

/* "01d02h03m04s005ms006.007us", from the first part that is not 0; us are always there. */
static void put_time(FILE *out, double ns)
{
  uint64_t rest = ns < 0x1p63 ? (uint64_t)llround(ns) : (uint64_t)INT64_MAX; /* 292 years are enough */
  static const struct {
    uint64_t ns;
    int digits;
    const char *name;
  } parts[] = {{UINT64_C(86400000000000), 2, "d"},
               {UINT64_C(3600000000000), 2, "h"},
               {UINT64_C(60000000000), 2, "m"},
               {UINT64_C(1000000000), 2, "s"},
               {UINT64_C(1000000), 3, "ms"}};
  bool has_begun = false;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    uint64_t amount = rest / parts[i].ns;
    rest %= parts[i].ns;
    has_begun = has_begun || amount > 0;
    if (has_begun) {
      fprintf(out, "%0*" PRIu64 "%s", parts[i].digits, amount, parts[i].name);
    }
  }
  fprintf(out, "%03" PRIu64 ".%03" PRIu64 "us", rest / 1000, rest % 1000);
}

static void put_bytes(FILE *out, double bytes)
{
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  size_t i = 0;
  for (; bytes >= 1024 && i + 1 < sizeof units / sizeof units[0]; i++) {
    bytes /= 1024;
  }
  fprintf(out, "%.2f%s", bytes, units[i]);
}

static void put_amount(FILE *out, xp_metric_unit unit, double amount)
{
  if (!isfinite(amount)) {
    amount = copysign(DBL_MAX, amount); /* a rate beyond all numbers */
  }
  if (unit != XP_METRIC_VALUE && amount < 0) { /* nothing that is measured, but it must not be lost */
    fputc('-', out);
    amount = -amount;
  }
  switch (unit) {
  case XP_METRIC_TIME:
    put_time(out, amount);
    break;
  case XP_METRIC_BYTES:
    put_bytes(out, amount);
    break;
  case XP_METRIC_VALUE:
  default:
    fprintf(out, "%.2f", amount);
    break;
  }
}

/* ---------------------------------------------------------------- rows */

static void put_rates(FILE *out, const xp_metric_state *metric)
{
  double samples, sum;
  if (xp_metric_state_rate(metric, &samples, &sum)) {
    fputs("  ValueRate: ", out);
    put_amount(out, metric->unit, sum);
    fprintf(out, " / second\n  Rate: %g / second\n", samples);
  }
}

static void put_percentiles(FILE *out, xp_metric_state *metric)
{
  xp_metric_state_sort(metric);
  fputs("  Percentiles: ", out);
  for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
    fprintf(out, "%s%u%%=", i == 0 ? "" : "; ", percents[i]);
    put_amount(out, metric->unit, xp_metric_state_percentile(metric, percents[i]));
  }
  fputc('\n', out);
}

static void put_metric(FILE *out, xp_metric_state *metric)
{
  fputs("Metric: ", out);
  put_name(out, metric->name);
  fprintf(out, "\n  TotalSamples: %" PRIu64 "\n  Accumulator: ", metric->total);
  put_amount(out, metric->unit, metric->sum);
  fputc('\n', out);
  put_rates(out, metric);
  put_percentiles(out, metric);
}

static void put_counter(FILE *out, const xp_counter_state *counter)
{
  fputs("Counter: ", out);
  put_name(out, counter->name);
  fprintf(out, "\n  Value: %" PRId64 "\n", counter->value);
}

/* ---------------------------------------------------------------- the report */

static void put_report(FILE *out, xp_metrics_state *state)
{
  for (size_t i = 0; i < state->metric_count; i++) {
    put_metric(out, &state->metrics[i]);
  }
  for (size_t i = 0; i < state->counter_count; i++) {
    put_counter(out, &state->counters[i]);
  }
}

char *xp_metrics_state_text(xp_metrics_state *state)
{
  char *text = NULL;
  size_t size = 0;
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  FILE *out = plain == (locale_t)0 ? NULL : open_memstream(&text, &size);
  bool failed = out == NULL;
  if (!failed) {
    locale_t callers = uselocale(plain);
    put_report(out, state);
    uselocale(callers);
    failed = ferror(out) != 0;
    failed = fclose(out) != 0 || failed;
  }
  if (plain != (locale_t)0) {
    freelocale(plain);
  }
  if (failed) {
    free(text);
    return NULL;
  }
  return text;
}

/* ---------------------------------------------------------------- of this process */

static const char *const usual_counters[] = {"CachedCompile", "MarkStep", "DynamoSyncInputExecuteTime", NULL};
static const char *const usual_metrics[] = {
    "CompileTime", "ExecuteTime", "ExecuteReplicatedTime", "TransferToDeviceTime", "TransferFromDeviceTime", NULL};

typedef struct {
  xp_arena *arena;
  const char *const *named_counters, *const *named_metrics; /* of the short report; lists that end with NULL */
  xp_metrics_state state;
} taking;

static void take_all(void *context)
{
  taking *t = context;
  t->state = xp_metrics_state_take(t->arena);
}

/* True if a list has a name among the first n; as many as there are: SIZE_MAX. */
static bool has_name(const char *const *names, size_t n, xp_str name)
{
  for (size_t i = 0; i < n && names[i] != NULL; i++) {
    if (xp_str_is(name, names[i])) {
      return true;
    }
  }
  return false;
}

static size_t length_of(const char *const *names)
{
  size_t n = 0;
  while (names[n] != NULL) {
    n++;
  }
  return n;
}

static void take_named_metrics(taking *t)
{
  const char *const *names = t->named_metrics;
  xp_metrics_state *some = &t->state;
  some->metrics = xp_arena_array(t->arena, length_of(names) + 1, sizeof *some->metrics);
  for (size_t i = 0; names[i] != NULL; i++) {
    xp_metric_state *next = &some->metrics[some->metric_count];
    const bool is_new = !has_name(names, i, xp_str_c(names[i]));
    some->metric_count += is_new && xp_metric_state_take(names[i], t->arena, next);
  }
}

/* Those that are named, each once, and behind them the fallbacks that are not. */
static void take_named(void *context)
{
  taking *t = context;
  const char *const *names = t->named_counters;
  xp_metrics_state *some = &t->state;
  take_named_metrics(t);
  const xp_metrics_state all = xp_metrics_state_take(t->arena);
  some->counters = xp_arena_array(t->arena, length_of(names) + all.counter_count + 1, sizeof *some->counters);
  for (size_t i = 0; names[i] != NULL; i++) {
    const bool is_new = !has_name(names, i, xp_str_c(names[i]));
    some->counter_count += is_new && xp_counter_state_take(names[i], &some->counters[some->counter_count]);
  }
  for (size_t i = 0; i < all.counter_count; i++) {
    const xp_str name = all.counters[i].name;
    if (xp_counter_is_fallback(name) && !has_name(names, SIZE_MAX, name)) {
      some->counters[some->counter_count++] = all.counters[i];
    }
  }
}

static char *text_of(taking *t, void (*take)(void *))
{
  char *text = NULL;
  t->arena = xp_arena_create();
  if (t->arena != NULL && xp_arena_guard(t->arena, take, t)) {
    text = xp_metrics_state_text(&t->state);
  }
  xp_arena_destroy(t->arena);
  return text;
}

char *xp_metrics_report_text(void)
{
  taking t = {0};
  return text_of(&t, take_all);
}

/* The list of the caller, or the usual one. */
static const char *const *list_of(const char *const *names, const char *const *usual)
{
  return names != NULL && names[0] != NULL ? names : usual;
}

char *xp_metrics_report_short(const char *const *counter_names, const char *const *metric_names)
{
  taking t = {.named_counters = list_of(counter_names, usual_counters),
              .named_metrics = list_of(metric_names, usual_metrics)};
  return text_of(&t, take_named);
}
