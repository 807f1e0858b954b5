/* demo sd21 and demo sdxl: a diffusion pipeline that captures itself, and whose gaps are those that it was built to
 * have.
 *
 * The pipeline runs once to compile and once to be timed; then it is captured through its own profiler server.  What is
 * printed is the reading of that capture, and what was predicted beside what was found.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands.h"
#include "demo.h"
#include "diffusion.h"
#include "png.h"
#include "report/check.h"
#include "report/view.h"
#include "self_capture.h"
#include "terminal.h"

static const double FLOOR_PERCENT = 5; /* of a step's period */

/* A device made of processors stands still when they do something else. */
#define PAUSES "  {\"cause\": \"in_program\", \"count\": [0, 1000000]}\n"

/* What the captured run must count; nothing is compiled in it any more. */
typedef struct {
  uint64_t executes, reads;
} counts;

typedef struct {
  const char *name;
  diffusion_options usual, fixed;
  counts counts, counts_fixed;
  const char *expected, *expected_fixed;
  const char *story, *story_fixed; /* what it was built to show */
} kind;

static const kind kinds[] = {
    {"sd21",
     {.edits = true, .images = 1},
     {.edits = true, .edits_ahead = true, .images = 1},
     {9, 1}, /* the end of each step; the image */
     {9, 1},
     "[\n"
     "  {\"scope\": \"tokenize\", \"cause\": \"host\", \"trigger\": \"none\", \"count\": 1},\n" PAUSES "]\n",
     "[\n" PAUSES "]\n",
     "One image. The scheduler works on the device, and the host runs two steps ahead, so the device has always work. "
     "Half "
     "way the prompt changes, and the host tokenises the new one: that takes longer than two steps, which leaves one "
     "gap "
     "in the middle.",
     "One image. Half way the prompt changes, but the new one was tokenised on another thread while the device worked: "
     "no "
     "gap is left."},
    {"sdxl",
     {.reads = true, .marks = true, .images = 2},
     {.marks = true, .images = 2},
     {2 * (9 + 16), 2 * (16 + 1)}, /* and two reads in each of eight scheduler steps */
     {2 * 9, 2},
     "[\n"
     "  {\"scope\": \"watermark\", \"cause\": \"host\", \"trigger\": \"value_request\", \"trigger_scope\": "
     "\"watermark\", "
     "\"count\": 1},\n"
     "  {\"trigger\": \"value_request\", \"trigger_scope\": \"scheduler.step\", \"count\": [28, 36]},\n" PAUSES "]\n",
     "[\n"
     "  {\"scope\": \"watermark\", \"cause\": \"host\", \"trigger\": \"value_request\", \"trigger_scope\": "
     "\"watermark\", "
     "\"count\": 1},\n"
     "  {\"trigger_scope\": \"scheduler.step\", \"count\": 0},\n" PAUSES "]\n",
     "Two images. Between them one large gap: the first image is read, and gets a watermark on the host. In every step "
     "two "
     "small gaps: the scheduler reads a value, and the places of a nonzero, to decide on the host what to do.",
     "Two images. The scheduler works on the device, so the small gaps are gone. The large one stays: the watermark "
     "needs "
     "the image on the host."},
};

typedef struct {
  const options *o;
  const kind *kind;
  diffusion *pipeline;
  uint8_t pixels[PIXELS];
  char logdir[4096], path[4096];
  uint64_t found[XP_COUNTER_COUNT];
  bool is_counted, ok;
} demo;

static bool is_asked_for_text(const demo *d)
{
  return !d->o->json;
}

/* ---------------------------------------------------------------- running */

static xp_status run_pipeline(void *context, xp_error *err)
{
  demo *d = context;
  return diffusion_run(d->pipeline, d->pixels, err);
}

/* The embedded device is slowed, so that what else the processors do matters less. */
static xp_status open_device(const demo *d, xp_error *err)
{
  xl_device_options wanted = XL_DEVICE_OPTIONS_INIT;
  wanted.plugin = d->o->plugin;
  wanted.options = d->o->plugin == NULL ? (const char *const[]){"slowdown", "4", NULL} : NULL;
  return xl_device_open(&wanted, NULL, err);
}

static xp_status make_logdir(demo *d, xp_error *err)
{
  if (d->o->capture_dir != NULL) {
    snprintf(d->logdir, sizeof d->logdir, "%s", d->o->capture_dir);
    return XP_OK;
  }
  const char *folder = getenv("TMPDIR");
  snprintf(d->logdir, sizeof d->logdir, "%s/xlaprof-%s-XXXXXX", folder != NULL ? folder : "/tmp", d->kind->name);
  return mkdtemp(d->logdir) != NULL ? XP_OK : xp_fail(err, XP_ERR_IO, "%s: the folder can't be made: %m.", d->logdir);
}

/* Runs to compile, runs to be timed, and runs to be captured. */
static xp_status run_and_capture(demo *d, xp_error *err)
{
  xp_status status = run_pipeline(d, err);
  const int64_t start_ns = xp_monotonic_ns();
  if (status == XP_OK) {
    status = run_pipeline(d, err);
  }
  const int64_t dur_ms = (xp_monotonic_ns() - start_ns) / XP_NS_IN_MS;
  if (status == XP_OK) {
    status =
        self_capture(d->logdir, (uint64_t)(dur_ms + dur_ms / 2 + 200), run_pipeline, d, d->path, sizeof d->path, err);
  }
  return status;
}

static xp_status run(demo *d, xp_error *err)
{
  diffusion_options wanted = d->o->is_fixed ? d->kind->fixed : d->kind->usual;
  wanted.is_plain = d->o->is_plain;
  xl_set_ir_debug(!wanted.is_plain);
  xl_set_most_in_flight(1); /* the host prepares one step while the device is at another */
  xp_status status = make_logdir(d, err);
  if (status == XP_OK) {
    status = open_device(d, err);
  }
  if (status == XP_OK) {
    status = diffusion_create(&wanted, &d->pipeline, err);
  }
  if (status == XP_OK) {
    status = run_and_capture(d, err);
  }
  diffusion_free(d->pipeline);
  xl_shutdown();
  if (status == XP_OK && d->o->image != NULL) {
    status = png_write(d->o->image, d->pixels, IMAGE, IMAGE, err);
  }
  return status;
}

/* ---------------------------------------------------------------- reading */

/* The predictions, also as a file beside the capture, for `xlaprof check`. */
static xp_status predict(const demo *d, xp_arena *arena, xp_check_options *check, xp_error *err)
{
  const char *text = d->o->is_fixed ? d->kind->expected_fixed : d->kind->expected;
  char path[4200];
  snprintf(path, sizeof path, "%s/expected.json", d->logdir);
  FILE *file = fopen(path, "w");
  const bool is_written = file != NULL && fputs(text, file) >= 0;
  if (file == NULL || fclose(file) != 0 || !is_written) {
    return xp_fail(err, XP_ERR_IO, "%s: it can't be written: %m.", path);
  }
  xp_expected_gap *rows = NULL;
  const xp_status status = xp_expected_gaps_read(xp_str_c(text), path, arena, &rows, &check->expected_count, err);
  check->expected = rows;
  return status;
}

/* Without annotations nothing has a name: the longest gap lies in no scope. */
static bool has_nameless_gap(const xp_reading *reading)
{
  const xp_gap *longest = NULL;
  for (size_t i = 0; i < reading->gap_count; i++) {
    const xp_gap *gap = &reading->gaps[i];
    if (gap->where == XP_WHERE_INSIDE && (longest == NULL || gap->dur_ps > longest->dur_ps)) {
      longest = gap;
    }
  }
  return longest != NULL && longest->scope.len == 0;
}

static xp_status check_names_and_gaps(demo *d, xp_reading *reading, const xp_output *output, xp_error *err)
{
  xp_arena *arena = xp_arena_create();
  xp_check_options wanted = {.step = xp_str_c("denoise"),
                             .scopes = xp_str_c("text,unet,scheduler.step,vae"),
                             .has_expected = true,
                             .floor_percent = FLOOR_PERCENT};
  xp_check check;
  if (arena == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out");
  }
  xp_status status = predict(d, arena, &wanted, err);
  if (status == XP_OK) {
    status = xp_check_reading(reading, &wanted, arena, &check, err);
  }
  if (status == XP_OK) {
    char expected[4200];
    snprintf(expected, sizeof expected, "%s/expected.json", d->logdir);
    d->ok = check.names.ok && check.gaps.ok;
    status = xp_check_write(&check, reading, expected, output, err);
  }
  xp_arena_destroy(arena);
  return status;
}

static bool counters_are_right(const demo *d, const xp_reading *reading)
{
  const counts wanted = d->o->is_fixed ? d->kind->counts_fixed : d->kind->counts;
  const uint64_t *found = reading->counters.totals;
  return found[XP_COMPILES] == 0 && found[XP_EXECUTES] == wanted.executes && found[XP_READS] == wanted.reads;
}

static void write_counters(void *context, const xp_printer *printer)
{
  const demo *d = context;
  const counts wanted = d->o->is_fixed ? d->kind->counts_fixed : d->kind->counts;
  fputc('\n', printer->out);
  xp_print_line(printer, "", "3. Counters: %s", d->is_counted ? "ok" : "FAILED");
  xp_print_line(printer, "  ", "Predicted: 0 compiles, %llu executes, %llu reads. Found: %llu, %llu, %llu.",
                (unsigned long long)wanted.executes, (unsigned long long)wanted.reads,
                (unsigned long long)d->found[XP_COMPILES], (unsigned long long)d->found[XP_EXECUTES],
                (unsigned long long)d->found[XP_READS]);
}

static void write_story(void *context, const xp_printer *printer)
{
  const demo *d = context;
  xp_print_line(printer, "", "%s", d->o->is_fixed ? d->kind->story_fixed : d->kind->story);
  fputc('\n', printer->out);
}

static void write_end(void *context, const xp_printer *printer)
{
  const demo *d = context;
  fputc('\n', printer->out);
  xp_print_line(printer, "", "The capture is kept in %s; look at it with xlaprof view %s", d->logdir, d->logdir);
  if (!d->o->is_plain) {
    xp_print_line(printer, "", "The check again: xlaprof check %s --step denoise --expect %s/expected.json --floor %g",
                  d->logdir, d->logdir, FLOOR_PERCENT);
  }
}

static void write_plain(void *context, const xp_printer *printer)
{
  const demo *d = context;
  fputc('\n', printer->out);
  xp_print_line(printer, "",
                d->ok ? "Without annotations the longest gap has no name: there is no telling what the host "
                        "did."
                      : "The longest gap has a name, which it should not have without annotations.");
}

/* Text through the printer, if text is asked for. */
static xp_status tell(demo *d, void (*write)(void *context, const xp_printer *printer), xp_error *err)
{
  const xp_output output = terminal_output(d->o);
  return is_asked_for_text(d) ? xp_print_with(&output, write, d, err) : XP_OK;
}

static xp_status write_reading(demo *d, xp_reading *reading, xp_error *err)
{
  xp_output output = terminal_output(d->o);
  output.path = d->logdir;
  xp_status status = is_asked_for_text(d) ? xp_section_write(XP_SECTION_REPORT, &output, reading, err) : XP_OK;
  if (status != XP_OK) {
    return status;
  }
  if (!d->o->is_plain) {
    if (is_asked_for_text(d)) {
      fputc('\n', output.out);
    }
    status = check_names_and_gaps(d, reading, &output, err);
    memcpy(d->found, reading->counters.totals, sizeof d->found);
    d->is_counted = counters_are_right(d, reading);
    d->ok = d->ok && d->is_counted;
    return status == XP_OK ? tell(d, write_counters, err) : status;
  }
  d->ok = has_nameless_gap(reading);
  if (!is_asked_for_text(d)) {
    printf("{\"schema\":\"xlaprof.demo/1\",\"ok\":%s}\n", d->ok ? "true" : "false");
  }
  return tell(d, write_plain, err);
}

static xp_status read_capture(demo *d, xp_error *err)
{
  const xp_load_options load = {0};
  const xp_analyze_options analyze = {0};
  xp_capture *capture = NULL;
  xp_reading *reading = NULL;
  xp_status status = xp_capture_load(d->path, &load, &capture, err);
  if (status == XP_OK) {
    status = xp_analyze(capture, &analyze, &reading, err);
  }
  if (status == XP_OK) {
    status = write_reading(d, reading, err);
    xp_reading_free(reading);
  }
  xp_capture_free(capture);
  return status;
}

/* ---------------------------------------------------------------- the command */

static int run_kind(const options *o, const kind *k)
{
  static demo d; /* its picture is too large for the stack */
  d.o = o;
  d.kind = k;
  xp_error err = {0};
  xp_status status = tell(&d, write_story, &err);
  fflush(stdout);
  if (status == XP_OK) {
    status = run(&d, &err);
  }
  if (status == XP_OK) {
    status = read_capture(&d, &err);
  }
  if (status == XP_OK) {
    status = tell(&d, write_end, &err);
  }
  if (status != XP_OK) {
    return say(&err);
  }
  return terminal_finish(d.ok ? 0 : 1);
}

int demo_sd21(const options *o)
{
  return run_kind(o, &kinds[0]);
}

int demo_sdxl(const options *o)
{
  return run_kind(o, &kinds[1]);
}
