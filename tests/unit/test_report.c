/* The sections, from a reading made by hand: every field that they show, hostile names, nothing at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/report.h"
#include "report/text.h"

#define S(text) XP_STR_INIT(text)
#define MS(x)   ((int64_t)(x)*1000000000)

static const char hostile[] = "evil\x1b[2J\n\0\xff\xe2\x80\xae name";
#define HOSTILE                                                                                                        \
  {                                                                                                                    \
    hostile, sizeof hostile - 1                                                                                        \
  }

static xp_part parts[] = {
    {.cause = XP_CAUSE_HOST, .ps = MS(207), .scope = S("watermark"), .event = S("watermark"), .maybe_tracing = true},
    {.cause = XP_CAUSE_WAIT, .ps = MS(3), .scope = HOSTILE, .event = HOSTILE, .detail = HOSTILE},
    {.cause = XP_CAUSE_LAUNCH, .ps = MS(2)},
};
static const xp_gap_details read_details = {
    .before = {.op = S("dot.5"), .scope = S("unet"), .program = HOSTILE},
    .parts = parts,
    .part_count = 3,
    .evidence = {{.role = "trigger", .event = HOSTILE, .thread = HOSTILE, .frame = HOSTILE, .dur_ps = MS(9)}},
    .evidence_count = 1,
};
static const xp_gap_details tail_details = {.parts = parts + 2, .part_count = 1}, no_details;
static xp_device devices[] = {
    {.name = S("CPU:0"),
     .kind = XP_DEVICE_CPU,
     .has_window = true,
     .window_ps = {MS(1), MS(274)},
     .busy_ps = MS(45),
     .idle_ps = MS(228),
     .lead_in_ps = MS(1),
     .tail_ps = MS(2),
     .has_lead_in = true,
     .has_tail = true,
     .session_ps = MS(276),
     .gap_count = 1,
     .work_count = 3,
     .launches = 2,
     .runs = 2},
    {.host = 1, .name = HOSTILE, .kind = XP_DEVICE_TPU, .model = HOSTILE},
};
static xp_gap gaps[] = {
    {.where = XP_WHERE_LEAD_IN, .dur_ps = MS(1), .cause = XP_CAUSE_UNKNOWN, .step = XP_NONE, .details = &no_details},
    {.start_ps = MS(59),
     .dur_ps = MS(212),
     .cause = XP_CAUSE_HOST,
     .trigger = XP_TRIGGER_VALUE_REQUEST,
     .scope = S("watermark"),
     .trigger_scope = HOSTILE,
     .ranked = true,
     .details = &read_details},
    {.where = XP_WHERE_TAIL,
     .start_ps = MS(274),
     .dur_ps = MS(2),
     .cause = XP_CAUSE_TRACING,
     .ranked = true,
     .tracing_bound = true,
     .step = XP_NONE,
     .details = &tail_details},
};
static xp_cause_row causes[] = {
    {.cause = XP_CAUSE_HOST,
     .trigger = XP_TRIGGER_VALUE_REQUEST,
     .scope = S("watermark"),
     .trigger_scope = HOSTILE,
     .gaps = 1,
     .ps = MS(212),
     .longest_ps = MS(212),
     .median_ps = MS(212),
     .share = 0.92},
    {.cause = XP_CAUSE_SHORT, .gaps = 9, .ps = 4000000, .longest_ps = 900000, .median_ps = 400000, .share = 0.00002},
};
static int64_t device_busy[] = {MS(20), 0};
static xp_step steps[] = {
    {.name = S("denoise"),
     .has_num = true,
     .num = -3,
     .start_ps = MS(2),
     .dur_ps = MS(20),
     .complete = true,
     .busy_ps = MS(20),
     .device_busy_ps = device_busy,
     .device_start_ps = MS(3),
     .device_end_ps = MS(25),
     .counters = {0, 3, 2, 1, 1}},
    {.host = 1, .name = HOSTILE, .start_ps = MS(100), .dur_ps = MS(20), .device_busy_ps = device_busy},
};
static xp_step_summary summaries[] = {
    {.name = S("denoise"),
     .complete = 1,
     .has_duration = true,
     .duration_ps = MS(20),
     .duration_median_ps = MS(20),
     .duration_max_ps = MS(20),
     .busy_ps = MS(20)},
    {.host = 1, .name = HOSTILE, .partial = 1},
};
static xp_scope_counters by_scope[] = {{.scope = HOSTILE, .counters = {1, 2, 3, 4, 5}}, {.counters = {0, 1, 0, 0, 0}}};
static xp_cut_point cuts[] = {{.kind = XP_CUT_READ, .scope = HOSTILE, .count = 16, .per_step = 2}};
static xp_scope_row scopes[] = {{S("unet"), MS(30), MS(10), 20}, {S("unet/attn"), MS(20), MS(20), 10}};
static xp_str host_only[] = {HOSTILE}, device_only[] = {HOSTILE};
static xp_advice advice[] = {{S("Read the value after the loop."), HOSTILE, 0.07}, {HOSTILE, {NULL, 0}, -1}};
static xp_str warnings[] = {HOSTILE};
static xp_line lines[] = {{.name = HOSTILE, .count = 3, .untimed = 1, .stray = 1, .first_ps = 5, .last_ps = 7}};
static xp_plane planes[] = {{.name = HOSTILE, .lines = lines, .line_count = 1}};
static xp_host hosts[] = {
    {.path = HOSTILE, .name = HOSTILE, .bytes = 280000, .planes = planes, .plane_count = 1},
    {.index = 1, .path = S("b.xplane.pb"), .name = S("beta"), .status = XP_FILE_TRUNCATED, .problem = HOSTILE},
};
static xp_metric metrics[] = {{S("ExecuteTime"), 25, XP_METRIC_TIME, 77e6}, {HOSTILE, 1, XP_METRIC_TIME, 1e30}};
static xp_metric_counter metric_counters[] = {{S("MarkStep"), 9}, {S("aten::nonzero"), 8}, {HOSTILE, -1}};
static const xp_metrics_report metrics_report = {HOSTILE, -1, metrics, 2, metric_counters, 3};

static xp_capture capture = {.run = HOSTILE,
                             .hosts = hosts,
                             .host_count = 2,
                             .events = 3,
                             .has_session = true,
                             .start_unix_ns = 1750000000000000000,
                             .dur_ps = MS(276),
                             .partial = true};

static xp_reading full_reading(void)
{
  planes[0].host = &hosts[0];
  lines[0].plane = &planes[0];
  hosts[0].capture = hosts[1].capture = &capture;
  xp_reading r = {
      .capture = &capture,
      .min_gap_ps = 1000000,
      .devices = devices,
      .device_count = 2,
      .gaps = gaps,
      .gap_count = 3,
      .causes = causes,
      .cause_count = 2,
      .idle_ps = MS(228),
      .explained_ps = MS(227),
      .clock = XP_CLOCK_SHIFTED,
      .clock_aligned_ps = 1500000,
      .steps = steps,
      .step_count = 2,
      .step_source = XP_STEPS_ANNOTATION,
      .summaries = summaries,
      .summary_count = 2,
      .outside_steps_ps = MS(9),
      .metrics = &metrics_report,
      .verdict = HOSTILE,
      .advice = advice,
      .advice_count = 2,
      .warnings = warnings,
      .warning_count = 1,
  };
  r.counters = (xp_counters){.totals = {0, 25, 26, 11, 9},
                             .per_step_totals = {0, 25, 26, 11, 9},
                             .steps = 9,
                             .programs_per_step = 2.8,
                             .by_scope = by_scope,
                             .by_scope_count = 2,
                             .cuts = cuts,
                             .cut_count = 1,
                             .launches = 26,
                             .executions = 25,
                             .launches_without_execution = 1};
  r.names = (xp_names){.device_ps = MS(45),
                       .named_ps = MS(40),
                       .unnamed_ps = MS(5),
                       .mixed_ps = MS(2),
                       .scopes = scopes,
                       .scope_count = 2,
                       .host_only = host_only,
                       .device_only = device_only,
                       .host_only_count = 1,
                       .device_only_count = 1,
                       .gate = XP_GATE_OFF};
  return r;
}

static xp_reading empty_reading(void)
{
  static xp_capture nothing;
  return (xp_reading){.capture = &nothing, .min_gap_ps = 1000000};
}

static xp_status write_section(xp_section section, xp_reading *reading, xp_form form, size_t width, char **text)
{
  size_t len = 0;
  xp_error err = {0};
  FILE *file = open_memstream(text, &len);
  assert_non_null(file);
  xp_output output = {.out = file, .form = form, .width = width, .path = hostile};
  xp_status status = xp_section_write(section, &output, reading, &err);
  fclose(file);
  return status;
}

/* Sections that need no table of work, which only an analysis makes. */
static const xp_section plain[] = {XP_SECTION_INFO, XP_SECTION_COUNTERS, XP_SECTION_STEPS, XP_SECTION_GAPS,
                                   XP_SECTION_NAMES};
enum { PLAIN = sizeof plain / sizeof plain[0] };

static void assert_tame(const char *text, size_t width)
{
  for (xp_str rest = xp_str_c(text); rest.len > 0;) {
    xp_str line = xp_str_take(rest, xp_str_find(rest, '\n', 0));
    for (size_t i = 0; i < line.len; i++) {
      assert_true((uint8_t)line.ptr[i] >= 0x20 && (uint8_t)line.ptr[i] != 0x7f);
    }
    if (width > 0 && xp_text_width(line) > width) {
      fail_msg("wider than %zu: %.*s", width, XP_STR_ARG(line));
    }
    rest = xp_str_skip(rest, line.len + 1);
  }
}

static void test_hostile_names_never_reach_the_terminal(void **state)
{
  (void)state;
  xp_reading reading = full_reading();
  for (size_t i = 0; i < PLAIN; i++) {
    char *text = NULL;
    assert_int_equal(write_section(plain[i], &reading, XP_FORM_TEXT, 0, &text), XP_OK);
    assert_tame(text, 80);
    free(text);
  }
}

static void test_text_fits_every_width(void **state)
{
  (void)state;
  xp_reading reading = full_reading();
  for (size_t width = 40; width <= 200; width += 10) {
    for (size_t i = 0; i < PLAIN; i++) {
      char *text = NULL;
      assert_int_equal(write_section(plain[i], &reading, XP_FORM_TEXT, width, &text), XP_OK);
      assert_tame(text, width);
      free(text);
    }
  }
}

static void test_csv_is_one_line_a_row(void **state)
{
  (void)state;
  xp_reading reading = full_reading();
  static const size_t rows[] = {1, 2, 2, 3, 2};
  for (size_t i = 0; i < PLAIN; i++) {
    char *text = NULL;
    size_t lines_found = 0;
    assert_int_equal(write_section(plain[i], &reading, XP_FORM_CSV, 0, &text), XP_OK);
    for (const char *p = strstr(text, "\r\n"); p != NULL; p = strstr(p + 2, "\r\n")) {
      lines_found++;
    }
    assert_int_equal(lines_found, rows[i] + 1);
    free(text);
  }
}

static void test_an_empty_reading_is_no_problem(void **state)
{
  static const xp_form forms[] = {XP_FORM_TEXT, XP_FORM_JSON, XP_FORM_CSV};
  (void)state;
  xp_reading reading = empty_reading();
  for (size_t i = 0; i < PLAIN; i++) {
    for (size_t form = 0; form < 3; form++) {
      char *text = NULL;
      assert_int_equal(write_section(plain[i], &reading, forms[form], 0, &text), XP_OK);
      assert_non_null(strchr(text, '\n'));
      assert_null(strstr(text, "nan"));
      free(text);
    }
  }
}

static void assert_holds(const char *text, const char *part)
{
  if (strstr(text, part) == NULL) {
    fail_msg("%s\nis not in\n%s", part, text);
  }
}

static void test_gaps_json_has_its_keys(void **state)
{
  (void)state;
  xp_reading reading = full_reading();
  char *text = NULL;
  assert_int_equal(write_section(XP_SECTION_GAPS, &reading, XP_FORM_JSON, 0, &text), XP_OK);
  assert_holds(text, "\"schema\": \"xlaprof.gaps/1\"");
  assert_holds(text, "\"window_ps\": [1000000000, 274000000000]");
  assert_holds(text, "\"window_ps\": null");
  assert_holds(text, "\"where\": \"lead_in\"");
  assert_holds(text, "{\"cause\": \"host\", \"ps\": 207000000000, \"scope\": \"watermark\", \"event\": \"watermark\", "
                     "\"maybe\": \"tracing\"}");
  assert_holds(text, "{\"cause\": \"launch\", \"ps\": 2000000000, \"scope\": null, \"event\": null}");
  assert_holds(text, "\"step\": {\"name\": \"denoise\", \"num\": -3}");
  assert_holds(text, "\"coverage\": {\"idle_ps\": 228000000000, \"explained_ps\": 227000000000}");
  assert_holds(text, "\"clock\": {\"status\": \"shifted\", \"aligned_ps\": 1500000}");
  assert_holds(text, "\"after\": null");
  free(text);
}

static void test_steps_json_has_null_for_the_unknown(void **state)
{
  (void)state;
  xp_reading reading = full_reading();
  char *text = NULL;
  assert_int_equal(write_section(XP_SECTION_STEPS, &reading, XP_FORM_JSON, 0, &text), XP_OK);
  assert_holds(text, "\"source\": \"annotation\"");
  assert_holds(text, "\"num\": -3");
  assert_holds(text, "\"num\": null");
  assert_holds(text, "\"period_ps\": null");
  assert_holds(text, "\"duration_ps\": 20000000000");
  free(text);
}

static void test_counters_are_held_against_a_metrics_report(void **state)
{
  (void)state;
  xp_reading reading = full_reading();
  char *text = NULL;
  assert_int_equal(write_section(XP_SECTION_COUNTERS, &reading, XP_FORM_JSON, 0, &text), XP_OK);
  assert_holds(text, "\"source\": \"both\"");
  assert_holds(text, "\"differs\": [\"reads\", \"uploads\"]");
  assert_holds(text, "\"cpu_fallbacks\": {\"aten::nonzero\": 8}");
  assert_holds(text, "\"programs_per_step\": 2.8");
  free(text);
  reading.metrics = NULL;
  assert_int_equal(write_section(XP_SECTION_COUNTERS, &reading, XP_FORM_JSON, 0, &text), XP_OK);
  assert_holds(text, "\"source\": \"capture\"");
  free(text);
}

static void test_a_metrics_report_alone(void **state)
{
  char *text = NULL;
  size_t len = 0;
  xp_error err = {0};
  (void)state;
  for (int form = XP_FORM_TEXT; form <= XP_FORM_CSV; form++) {
    FILE *file = open_memstream(&text, &len);
    assert_non_null(file);
    xp_output output = {.out = file, .form = (xp_form)form};
    assert_int_equal(xp_metrics_write(&metrics_report, &output, &err), XP_OK);
    fclose(file);
    if (form == XP_FORM_TEXT) {
      assert_tame(text, 80);
    }
    if (form == XP_FORM_JSON) {
      assert_holds(text, "\"source\": \"report\"");
    }
    free(text);
  }
}

static void test_the_report_has_no_csv(void **state)
{
  xp_reading reading = full_reading();
  char *text = NULL;
  (void)state;
  assert_int_equal(write_section(XP_SECTION_REPORT, &reading, XP_FORM_CSV, 0, &text), XP_ERR_USAGE);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hostile_names_never_reach_the_terminal),
      cmocka_unit_test(test_text_fits_every_width),
      cmocka_unit_test(test_csv_is_one_line_a_row),
      cmocka_unit_test(test_an_empty_reading_is_no_problem),
      cmocka_unit_test(test_gaps_json_has_its_keys),
      cmocka_unit_test(test_steps_json_has_null_for_the_unknown),
      cmocka_unit_test(test_counters_are_held_against_a_metrics_report),
      cmocka_unit_test(test_a_metrics_report_alone),
      cmocka_unit_test(test_the_report_has_no_csv),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
