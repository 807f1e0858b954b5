/* One pass over the lines.  "Metric: NAME" and "Counter: NAME" at the start of a line open a row; the indented lines
 * behind it fill it in; "[MetricsData; step=k]" starts a new report, which replaces what was read before.  Every other
 * line is somebody else's (logs are often mixed in) and is passed over. */
#include "metrics/report.h"

#include <stdlib.h>

typedef struct {
  xp_arena *arena;
  xp_metrics_report *report;
  size_t metric_capacity, counter_capacity;
  enum { IN_NOTHING, IN_METRIC, IN_COUNTER } in;
  size_t line;
  xp_status status;
  xp_error *err;
} reader;

/* The first line of a text without its end; *rest is what follows. */
static xp_str next_line(xp_str *rest)
{
  size_t end = xp_str_find(*rest, '\n', 0);
  xp_str line = xp_str_take(*rest, end);
  *rest = xp_str_skip(*rest, end + 1);
  if (xp_str_ends(line, "\r")) {
    line.len--;
  }
  return line;
}

/* What follows the key in an indented line "  Key: value"; false if the line is another one. */
static bool value_of(xp_str line, const char *key, xp_str *value)
{
  xp_str text = xp_str_trim(line);
  if (!xp_str_starts(text, key)) {
    return false;
  }
  text = xp_str_skip(text, strlen(key));
  if (!xp_str_starts(text, ":")) {
    return false;
  }
  *value = xp_str_trim(xp_str_skip(text, 1));
  return true;
}

/* A decimal number at the start of a text, without sign, exponent, or the words that strtod takes. */
static bool take_number(xp_str *text, double *value)
{
  char digits[512]; /* the largest double has 309 before the point */
  size_t n = 0;
  while (n < text->len && n < sizeof digits - 1 &&
         ((text->ptr[n] >= '0' && text->ptr[n] <= '9') || text->ptr[n] == '.')) {
    n++;
  }
  if (n == 0) {
    return false;
  }
  memcpy(digits, text->ptr, n);
  digits[n] = '\0';
  char *end;
  *value = strtod(digits, &end);
  *text = xp_str_skip(*text, n);
  return end == digits + n;
}

/* Letters at the start of a text. */
static xp_str take_letters(xp_str *text)
{
  size_t n = 0;
  while (n < text->len && ((text->ptr[n] | 0x20) >= 'a' && (text->ptr[n] | 0x20) <= 'z')) {
    n++;
  }
  xp_str letters = xp_str_take(*text, n);
  *text = xp_str_skip(*text, n);
  return letters;
}

/* What one unit is worth in ns or bytes, and which kind it is. */
static bool find_unit(xp_str name, double *factor, xp_metric_unit *kind)
{
  static const struct {
    const char *name;
    double factor;
    xp_metric_unit kind;
  } units[] = {
      {"d", 86400e9, XP_METRIC_TIME},
      {"h", 3600e9, XP_METRIC_TIME},
      {"m", 60e9, XP_METRIC_TIME},
      {"s", 1e9, XP_METRIC_TIME},
      {"ms", 1e6, XP_METRIC_TIME},
      {"us", 1e3, XP_METRIC_TIME},
      {"ns", 1, XP_METRIC_TIME},
      {"B", 1, XP_METRIC_BYTES},
      {"KB", 1024.0, XP_METRIC_BYTES},
      {"MB", 1048576.0, XP_METRIC_BYTES},
      {"GB", 1073741824.0, XP_METRIC_BYTES},
      {"TB", 1099511627776.0, XP_METRIC_BYTES},
      {"PB", 1125899906842624.0, XP_METRIC_BYTES},
  };
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (xp_str_is(name, units[i].name)) {
      *factor = units[i].factor;
      *kind = units[i].kind;
      return true;
    }
  }
  return false;
}

/* "427.00", "98.16KB" or a duration in parts, "01m03s441ms563.912us". */
static bool read_amount(xp_str text, double *amount, xp_metric_unit *unit)
{
  double value;
  bool negative = xp_str_starts(text, "-");
  text = xp_str_skip(text, negative ? 1 : 0);
  *amount = 0;
  *unit = XP_METRIC_VALUE;
  if (!take_number(&text, &value)) {
    return false;
  }
  if (text.len == 0) {
    *amount = negative ? -value : value;
    return true;
  }
  for (bool more = true; more; more = text.len > 0 && take_number(&text, &value)) {
    double factor;
    xp_metric_unit kind;
    if (!find_unit(take_letters(&text), &factor, &kind) || (*unit != XP_METRIC_VALUE && kind != XP_METRIC_TIME)) {
      return false;
    }
    *unit = kind;
    *amount += value * factor;
  }
  *amount = negative ? -*amount : *amount;
  return text.len == 0;
}

static bool fail_line(reader *r, xp_str line)
{
  xp_str shown = xp_str_take(line, 80);
  r->status = xp_fail(r->err, XP_ERR_FORMAT,
                      "%.*s, line %zu: \"%.*s\" cannot be read as part of a metrics report. Give the whole text of "
                      "torch_xla.debug.metrics.metrics_report()",
                      XP_STR_ARG(r->report->path), r->line, XP_STR_ARG(shown));
  return false;
}

static bool read_metric_line(reader *r, xp_str line)
{
  xp_metric *metric = &r->report->metrics[r->report->metric_count - 1];
  xp_str value;
  int64_t samples;
  if (value_of(line, "TotalSamples", &value)) {
    if (!xp_str_to_int64(value, &samples) || samples < 0) {
      return fail_line(r, line);
    }
    metric->samples = (uint64_t)samples;
  } else if (value_of(line, "Accumulator", &value) || value_of(line, "Counter", &value)) {
    /* older versions of torch_xla print "Counter:" for the accumulator */
    if (!read_amount(value, &metric->accumulator, &metric->unit)) {
      return fail_line(r, line);
    }
  }
  return true;
}

static bool read_counter_line(reader *r, xp_str line)
{
  xp_str value;
  if (value_of(line, "Value", &value) &&
      !xp_str_to_int64(value, &r->report->counters[r->report->counter_count - 1].value)) {
    return fail_line(r, line);
  }
  return true;
}

static bool out_of_memory(reader *r)
{
  r->status = xp_fail(r->err, XP_ERR_MEMORY, "Memory ran out while the metrics report %.*s was read",
                      XP_STR_ARG(r->report->path));
  return false;
}

static bool open_metric(reader *r, xp_str name)
{
  xp_metrics_report *report = r->report;
  report->metrics =
      xp_arena_grow(r->arena, report->metrics, report->metric_count, &r->metric_capacity, sizeof *report->metrics);
  if (report->metrics == NULL) {
    return out_of_memory(r);
  }
  report->metrics[report->metric_count++] = (xp_metric){name, 0, XP_METRIC_VALUE, 0};
  r->in = IN_METRIC;
  return true;
}

static bool open_counter(reader *r, xp_str name)
{
  xp_metrics_report *report = r->report;
  report->counters =
      xp_arena_grow(r->arena, report->counters, report->counter_count, &r->counter_capacity, sizeof *report->counters);
  if (report->counters == NULL) {
    return out_of_memory(r);
  }
  report->counters[report->counter_count++] = (xp_metric_counter){name, 0};
  r->in = IN_COUNTER;
  return true;
}

static bool start_report(reader *r, xp_str line)
{
  size_t at = xp_str_find_text(line, "step=");
  xp_str number = xp_str_skip(line, at + strlen("step="));
  number = xp_str_take(number, xp_str_find(number, ']', 0));
  if (!xp_str_to_int64(number, &r->report->step)) {
    return fail_line(r, line);
  }
  r->report->metric_count = 0;
  r->report->counter_count = 0;
  r->in = IN_NOTHING;
  return true;
}

static bool read_line(reader *r, xp_str line)
{
  bool indented = line.len > 0 && (line.ptr[0] == ' ' || line.ptr[0] == '\t');
  if (xp_str_starts(line, "[MetricsData;")) {
    return start_report(r, line);
  }
  if (xp_str_starts(line, "Metric: ")) {
    return open_metric(r, xp_str_trim(xp_str_skip(line, strlen("Metric: "))));
  }
  if (xp_str_starts(line, "Counter: ")) {
    return open_counter(r, xp_str_trim(xp_str_skip(line, strlen("Counter: "))));
  }
  if (!indented) {
    r->in = IN_NOTHING;
  } else if (r->in == IN_METRIC) {
    return read_metric_line(r, line);
  } else if (r->in == IN_COUNTER) {
    return read_counter_line(r, line);
  }
  return true;
}

bool xp_metrics_report_probe(xp_str text)
{
  while (text.len > 0) {
    xp_str line = next_line(&text);
    if (xp_str_starts(line, "Metric: ") || xp_str_starts(line, "Counter: ")) {
      return true;
    }
  }
  return false;
}

xp_status xp_metrics_report_read(xp_str text, xp_str path, xp_arena *arena, xp_metrics_report *report, xp_error *err)
{
  memset(report, 0, sizeof *report);
  report->path = path;
  report->step = -1;
  reader r = {.arena = arena, .report = report, .err = err};
  if (!xp_metrics_report_probe(text)) {
    return xp_fail(err, XP_ERR_FORMAT,
                   "%.*s holds no metrics report: no line begins with \"Metric: \" or \"Counter: \". Save the text of "
                   "torch_xla.debug.metrics.metrics_report() to the file",
                   XP_STR_ARG(path));
  }
  while (text.len > 0) {
    r.line++;
    if (!read_line(&r, next_line(&text))) {
      return r.status;
    }
  }
  return XP_OK;
}

uint64_t xp_metrics_report_samples(const xp_metrics_report *report, const char *metric)
{
  for (size_t i = 0; i < report->metric_count; i++) {
    if (xp_str_is(report->metrics[i].name, metric)) {
      return report->metrics[i].samples;
    }
  }
  return 0;
}

int64_t xp_metrics_report_counter(const xp_metrics_report *report, const char *counter)
{
  for (size_t i = 0; i < report->counter_count; i++) {
    if (xp_str_is(report->counters[i].name, counter)) {
      return report->counters[i].value;
    }
  }
  return 0;
}
