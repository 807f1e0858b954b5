/* What demo sd21 and demo sdxl print: counters first, since they are exact and cost nothing; then the reading of the
 * capture; then what was predicted beside what was found.
 */
#include <inttypes.h>

#include "analyze/expected_gaps.h"
#include "diffusion_demo.h"
#include "report/check.h"
#include "report/check_view.h"
#include "report/fields.h"
#include "report/format.h"
#include "report/table.h"

/* ---------------------------------------------------------------- what was found */

typedef struct {
  diffusion_demo *d;
  xp_reading *reading;
  xp_check *check;
  const xp_gap *longest; /* between two works of the device, pauses left out; NULL: none */
} found;

static bool are_equal(run_counts a, run_counts b)
{
  return a.compiles == b.compiles && a.executes == b.executes && a.reads == b.reads;
}

static bool counters_are_right(const diffusion_demo *d)
{
  return are_equal(d->second, d->variant->counts) && are_equal(d->captured, d->variant->counts);
}

/* The causes of gaps of a device made of processors which others want, too. */
static bool is_pause(xp_cause cause)
{
  return cause == XP_CAUSE_IN_PROGRAM || cause == XP_CAUSE_LAUNCH || cause == XP_CAUSE_WAIT;
}

static const xp_gap *longest_gap(const xp_reading *reading)
{
  const xp_gap *longest = NULL;
  for (size_t i = 0; i < reading->gap_count; i++) {
    const xp_gap *gap = &reading->gaps[i];
    if (gap->where == XP_WHERE_INSIDE && !is_pause(gap->cause) && (longest == NULL || gap->dur_ps > longest->dur_ps)) {
      longest = gap;
    }
  }
  return longest;
}

static int64_t host_work_ps(const diffusion_demo *d)
{
  return diffusion_host_ns(d->pipeline) * 1000;
}

/* Without annotations no instruction has a name, and the gap that the host's work leaves lies in no scope. */
static bool is_as_plain_as_predicted(const found *f)
{
  const double share = f->d->variant->gap_share, work = (double)host_work_ps(f->d);
  const double gap = f->longest != NULL ? (double)f->longest->dur_ps : 0;
  const bool has_name = f->longest != NULL && f->longest->scope.len > 0;
  return f->check->names.scoped == 0 && !has_name && (share > 0 ? gap >= share * work : gap < work / 10);
}

/* ---------------------------------------------------------------- part 1: counters */

static void counts_row(xp_table *t, const char *name, run_counts counts)
{
  xp_table_text(t, xp_str_c(name));
  xp_table_int(t, (int64_t)counts.compiles);
  xp_table_int(t, (int64_t)counts.executes);
  xp_table_int(t, (int64_t)counts.reads);
}

static void write_counts(const xp_printer *printer, const diffusion_demo *d)
{
  static const xp_column columns[] = {
      {"run", "run", XP_COLUMN_TEXT, 0, 0},
      {"compiles", "compiles", XP_COLUMN_COUNT, 0, 0},
      {"executes", "executes", XP_COLUMN_COUNT, 0, 0},
      {"reads", "reads", XP_COLUMN_COUNT, 0, 0},
  };
  xp_table *t = xp_table_create(printer, columns, sizeof columns / sizeof columns[0]);
  counts_row(t, "first", d->first);
  counts_row(t, "second", d->second);
  counts_row(t, "predicted", d->variant->counts);
  xp_table_print(t, 2);
}

static void write_counters(void *context, const xp_printer *printer)
{
  const diffusion_demo *d = context;
  const int steps = (DIFFUSION_STEPS + 1) * d->variant->options.images;
  xp_print_line(printer, "", "%s, on %s.", d->kind->title, d->run.device);
  xp_print_line(printer, "", "%s", d->variant->story);
  if (d->run.o->is_plain) {
    xp_print_line(printer, "", "This run has no annotations.");
  }
  demo_part(printer, 1, "the counters");
  xp_print_line(printer, "  ", "They are exact and cost nothing, so they are read before any capture is made.");
  write_counts(printer, d);
  xp_print_line(printer, "  ", "A run has %d steps (%d of `denoise` and one of `decode` for each image)%s", steps,
                DIFFUSION_STEPS,
                d->second.executes > (uint64_t)steps
                    ? ". Each read cuts a step: what comes behind it is a program of its own."
                    : ", and each is one program.");
  xp_print_line(printer, "  ",
                are_equal(d->second, d->variant->counts)
                    ? "The second run compiles nothing, and counts what was predicted. What a clock shows beyond "
                      "that is what a capture is for."
                    : "The second run does not count what was predicted: a capture is a picture of another problem.");
}

xp_status tell_counters(diffusion_demo *d, xp_error *err)
{
  if (d->run.output.form != XP_FORM_TEXT) {
    return XP_OK;
  }
  const xp_status status = xp_print_with(&d->run.output, write_counters, d, err);
  fflush(d->run.output.out);
  return status;
}

/* ---------------------------------------------------------------- part 3: predicted and found */

static void write_plain(const found *f, const xp_printer *printer)
{
  const xp_names_check *names = &f->check->names;
  const xp_str work = xp_format_time(printer->arena, host_work_ps(f->d));
  xp_print_heading(printer, "1. Names: %s",
                   names->scoped == 0 ? "none, as predicted" : "there are some, and none were predicted");
  xp_print_line(printer, "  ", "%zu of the %zu instructions that ran carry the name of a scope.", names->scoped,
                names->instructions);
  xp_print_heading(printer, "2. Gaps: %s", is_as_plain_as_predicted(f) ? "ok" : "FAILED");
  if (f->longest != NULL) {
    const xp_str gap = xp_format_time(printer->arena, f->longest->dur_ps);
    xp_print_line(printer, "  ", "The longest gap takes %.*s, and lies in %s%.*s.", XP_STR_ARG(gap),
                  f->longest->scope.len > 0 ? "" : "no scope", XP_STR_ARG(f->longest->scope));
  }
  xp_print_line(printer, "  ",
                "The program knows that it worked for %.*s on the host; the capture does not tell at what.",
                XP_STR_ARG(work));
}

static void write_unseen(const xp_printer *printer)
{
  xp_print_heading(printer, "1. Names: not checked");
  xp_print_line(printer, "  ",
                "Names are on the instructions of a device, and the capture shows none. `xlaprof names` of a "
                "capture by a plugin with a profiler tells whether they arrive.");
  xp_print_heading(printer, "2. Gaps: not checked");
  xp_print_line(printer, "  ", "A gap is the time between two works of a device, and the capture shows none.");
}

static void write_captured_counts(const found *f, const xp_printer *printer)
{
  const diffusion_demo *d = f->d;
  const run_counts wanted = d->variant->counts, got = d->captured;
  xp_print_heading(printer, "3. Counters: %s", counters_are_right(d) ? "ok" : "FAILED");
  xp_print_line(printer, "  ",
                "In the capture: compiles %" PRIu64 ", executes %" PRIu64 ", reads %" PRIu64 " (predicted: %" PRIu64
                ", %" PRIu64 ", %" PRIu64 ").",
                got.compiles, got.executes, got.reads, wanted.compiles, wanted.executes, wanted.reads);
}

static void write_next(const found *f, const xp_printer *printer)
{
  const diffusion_demo *d = f->d;
  FILE *out = printer->out;
  xp_print_heading(printer, "Next");
  demo_tell_view(printer, &d->run);
  if (d->run.is_device_seen) {
    fprintf(out, "  xlaprof check %s --step denoise \\\n      --expect %s\n", d->run.logdir, d->expected);
    xp_print_line(printer, "      ",
                  d->run.o->is_plain ? "fails, and says why nothing has a name"
                                     : "the same check again; edit the predictions, and it fails");
  }
  if (d->run.o->is_fixed || d->run.o->is_plain) {
    fprintf(out, "  xlaprof demo %s\n", d->kind->name);
    xp_print_line(printer, "      ", d->run.o->is_plain ? "the same with annotations" : "the same as it was before");
  } else {
    fprintf(out, "  xlaprof demo %s --fixed\n", d->kind->name);
    xp_print_line(printer, "      ", "%s", d->kind->next);
  }
  if (d->run.o->image != NULL) {
    xp_print_line(printer, "  ", "The picture is in %s.", d->run.o->image);
  }
}

static void write_end(void *context, const xp_printer *printer)
{
  const found *f = context;
  if (!f->d->run.is_device_seen) {
    write_unseen(printer);
  } else if (f->d->run.o->is_plain) {
    write_plain(f, printer);
  }
  write_captured_counts(f, printer);
  write_next(f, printer);
}

static xp_status tell_check(found *f, xp_error *err)
{
  diffusion_demo *d = f->d;
  xp_status status = demo_tell_verdict(
      &d->run, "pipeline",
      d->run.o->plugin == NULL ? "Gaps are times: on a machine that others keep busy, run it again." : NULL, err);
  if (status == XP_OK && d->run.is_device_seen && !d->run.o->is_plain) {
    fputc('\n', d->run.output.out);
    status = xp_check_write(f->check, f->reading, d->expected, &d->run.output, err);
  }
  return status == XP_OK ? xp_print_with(&d->run.output, write_end, f, err) : status;
}

/* ---------------------------------------------------------------- JSON */

static void counts_json(xp_json *json, const char *key, run_counts counts)
{
  xp_json_key(json, key);
  xp_json_object_line(json);
  xp_field_uint(json, "compiles", counts.compiles);
  xp_field_uint(json, "executes", counts.executes);
  xp_field_uint(json, "reads", counts.reads);
  xp_json_object_end(json);
}

static void longest_json(xp_json *json, const xp_gap *gap)
{
  xp_json_key(json, "longest_gap");
  if (gap == NULL) {
    xp_json_null(json);
    return;
  }
  xp_json_object_line(json);
  xp_field_int(json, "dur_ps", gap->dur_ps);
  xp_field_str(json, "scope", gap->scope);
  xp_json_object_end(json);
}

static void write_json(void *context, const xp_printer *printer)
{
  const found *f = context;
  const diffusion_demo *d = f->d;
  const xp_check_view view = {
      .view = {.printer = printer, .reading = f->reading}, .check = f->check, .expect = d->expected};
  xp_json json;
  xp_json_begin(&json, printer->out);
  xp_json_object(&json);
  xp_field_text(&json, "schema", "xlaprof.demo/1");
  xp_field_text(&json, "demo", d->kind->name);
  xp_field_bool(&json, "ok", d->run.ok);
  xp_field_text(&json, "device", d->run.device);
  xp_field_bool(&json, "device_seen", d->run.is_device_seen);
  xp_field_text(&json, "logdir", d->run.logdir);
  xp_field_text(&json, "expected", d->expected);
  xp_json_key(&json, "counters");
  xp_json_object(&json);
  counts_json(&json, "first", d->first);
  counts_json(&json, "second", d->second);
  counts_json(&json, "captured", d->captured);
  counts_json(&json, "predicted", d->variant->counts);
  xp_json_object_end(&json);
  longest_json(&json, f->longest);
  xp_field_int(&json, "host_work_ps", host_work_ps(d));
  xp_json_key(&json, "check");
  xp_check_json(&view, &json);
  xp_json_object_end(&json);
  xp_json_finish(&json);
}

/* ---------------------------------------------------------------- all of it */

static xp_status check_capture(found *f, xp_arena *arena, xp_error *err)
{
  diffusion_demo *d = f->d;
  xp_check_options wanted = {.step = xp_str_c("denoise"),
                             .scopes = xp_str_c("text,unet,scheduler.step,vae"),
                             .has_expected = true,
                             .floor_percent = DEMO_FLOOR_PERCENT};
  xp_expected_gap *rows = NULL;
  xp_status status =
      xp_expected_gaps_read(xp_str_c(d->predictions), d->expected, arena, &rows, &wanted.expected_count, err);
  wanted.expected = rows;
  if (status == XP_OK) {
    status = xp_check_reading(f->reading, &wanted, arena, f->check, err);
  }
  if (status == XP_OK) {
    const bool is_found = !d->run.is_device_seen ? true
                          : d->run.o->is_plain   ? is_as_plain_as_predicted(f)
                                                 : f->check->names.ok && f->check->gaps.ok;
    d->run.ok = is_found && counters_are_right(d);
  }
  return status;
}

xp_status tell_capture(diffusion_demo *d, xp_reading *reading, xp_error *err)
{
  const uint64_t *totals = reading->counters.totals;
  xp_arena *arena = xp_arena_create();
  xp_check check;
  found f = {d, reading, &check, longest_gap(reading)};
  if (arena == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out");
  }
  d->captured = (run_counts){totals[XP_COMPILES], totals[XP_EXECUTES], totals[XP_READS]};
  xp_status status = check_capture(&f, arena, err);
  if (status == XP_OK && d->run.output.form == XP_FORM_JSON) {
    status = xp_print_with(&d->run.output, write_json, &f, err);
  } else if (status == XP_OK) {
    status = demo_tell_reading(&d->run, "The third run", reading, err);
    status = status == XP_OK ? tell_check(&f, err) : status;
  }
  xp_arena_destroy(arena);
  return status;
}
