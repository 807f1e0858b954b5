/* Commands that print a part of the analysis: load, analyse, write. */
#include "commands.h"
#include "html_file.h"
#include "metrics_file.h"
#include "terminal.h"

static const xp_section sections[CMD_COUNT] = {
    [CMD_REPORT] = XP_SECTION_REPORT, [CMD_INFO] = XP_SECTION_INFO, [CMD_COUNTERS] = XP_SECTION_COUNTERS,
    [CMD_STEPS] = XP_SECTION_STEPS,   [CMD_GAPS] = XP_SECTION_GAPS, [CMD_OPS] = XP_SECTION_OPS,
    [CMD_NAMES] = XP_SECTION_NAMES,
};

int say(const xp_error *err)
{
  terminal_progress_end();
  complain("", xp_str_c(err->text));
  return exit_status(err->status);
}

/* "step denoise:3, the time from 20 ms"; NULL if all gaps and steps are wanted. */
static const char *describe_filter(const options *o, char *text, size_t size)
{
  int n = 0;
  text[0] = '\0';
  if (o->step != NULL) {
    n += snprintf(text, size, "step %.100s", o->step);
  }
  if (o->has_from && n >= 0 && (size_t)n < size) {
    n += snprintf(text + n, size - (size_t)n, "%sthe time from %.6g ms", n > 0 ? ", " : "", (double)o->from_ps / 1e9);
  }
  if (o->has_to && n >= 0 && (size_t)n < size) {
    snprintf(text + n, size - (size_t)n, "%s to %.6g ms",
             o->has_from ? ""
             : n > 0     ? ", the time"
                         : "the time",
             (double)o->to_ps / 1e9);
  }
  return text[0] != '\0' ? text : NULL;
}

static int analyse_and_write(const options *o, const xp_capture *capture, const xp_metrics_report *metrics)
{
  xp_error err = {0};
  xp_reading *reading = NULL;
  xp_analyze_options analyze = {
      .min_gap_ps = o->min_gap_ps,
      .input_regex = o->input,
      .device = o->device,
      .has_from = o->has_from,
      .has_to = o->has_to,
      .from_ps = o->from_ps,
      .to_ps = o->to_ps,
      .step = o->step,
      .metrics = metrics,
      .raw_names = o->raw_names,
      .progress = terminal_progress(),
  };
  if (xp_analyze(capture, &analyze, &reading, &err) != XP_OK) {
    return say(&err);
  }
  terminal_progress_end();
  char filter[256];
  xp_output output = terminal_output(o);
  output.filter = describe_filter(o, filter, sizeof filter);
  xp_status status = o->html != NULL ? html_file_write(o->html, &output, reading, &err)
                                     : xp_section_write(sections[o->command], &output, reading, &err);
  xp_reading_free(reading);
  return status == XP_OK ? 0 : say(&err);
}

/* Metrics reports concern the counters; other commands do not look for one. */
static int find_metrics(const options *o, const xp_capture *capture, metrics_file *metrics)
{
  xp_error err = {0};
  if (o->metrics != NULL) {
    return metrics_file_read(metrics, o->metrics, &err) == XP_OK ? 0 : say(&err);
  }
  if (o->command == CMD_COUNTERS || o->command == CMD_REPORT) {
    metrics_file_find(metrics, capture);
  }
  return 0;
}

int run_reading(const options *o)
{
  int status;
  metrics_file metrics = {0};
  xp_capture *capture = load_capture(o, false, &status);
  if (capture == NULL) {
    return status;
  }
  status = find_metrics(o, capture, &metrics);
  if (status == 0) {
    status = analyse_and_write(o, capture, metrics.found ? &metrics.report : NULL);
  }
  status = finish_capture(capture, status);
  metrics_file_close(&metrics);
  xp_capture_free(capture);
  return status;
}
