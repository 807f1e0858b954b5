/* demo sd21 and demo sdxl: a diffusion pipeline that captures itself, and whose gaps are those that it was built to
 * have.
 *
 * The pipeline runs once to compile, and once more for the counters.  Then it is captured through its own profiler
 * server.  What is printed comes in the order in which a program should be looked at: counters, reading, and what was
 * predicted beside what was found.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands.h"
#include "demo.h"
#include "diffusion_demo.h"
#include "png.h"
#include "self_capture.h"
#include "session/run_files.h"
#include "terminal.h"
#include "xlaprof/metrics.h"

/* A device made of processors stands still, or starts late, when they do something else. */
#define PAUSES                                                                                                         \
  "  {\"cause\": \"in_program\", \"count\": [0, null]},\n"                                                             \
  "  {\"cause\": \"launch\", \"count\": [0, null]},\n"                                                                 \
  "  {\"cause\": \"wait\", \"count\": [0, null]}\n"

/* How many steps of the device the tokenising takes.  The device still has about one to do when it begins. */
static const double HOST_STEPS = 2.2;

/* The large gap of sdxl, which no scheduler moves away. */
#define WATERMARK                                                                                                      \
  "  {\"scope\": \"watermark\", \"cause\": \"host\", \"trigger\": \"value_request\", "                                 \
  "\"trigger_scope\": \"watermark\",\n   \"count\": 1},\n"

static const demo_kind kinds[] = {
    {.name = "sd21",
     .title = "Stable Diffusion 2.1 in small: one image in 8 steps",
     .usual = {.options = {.edits = true, .images = 1},
               .counts = {0, 9, 1}, /* the end of each step; the image */
               .expected =
                   "[\n  {\"scope\": \"tokenize\", \"cause\": \"host\", \"trigger\": \"none\", \"count\": 1},\n" PAUSES
                   "]\n",
               .gap_share = 0.1,
               .story =
                   "The host prepares a step while the device is at the one before, so the device always has work, but "
                   "for one gap in the middle: half way the prompt changes, and the host splits the new one into "
                   "tokens, which takes longer than the steps that the device still has to do."},
     .fixed = {.options = {.edits = true, .edits_ahead = true, .images = 1},
               .counts = {0, 9, 1},
               .expected = "[\n" PAUSES "]\n",
               .story = "Half way the prompt changes, but the new one was split into tokens before, on another thread, "
                        "while the device worked: no gap is left."},
     .next = "the tokens are made ahead, and the gap is gone"},
    {.name = "sdxl",
     .title = "Stable Diffusion XL in small: two images in 8 steps each",
     .usual = {.options = {.reads = true, .marks = true, .images = 2},
               .counts = {0, 2 * (9 + 16), 2 * (16 + 1)}, /* and two reads in each of eight scheduler steps */
               .expected = "[\n" WATERMARK
                           "  {\"trigger\": \"value_request\", \"trigger_scope\": \"scheduler.step\", \"count\": [28, "
                           "36]},\n" PAUSES "]\n",
               .gap_share = 0.4,
               .story =
                   "Between the images is one large gap: the first image is read, and gets a watermark on the host. In "
                   "every step are two small ones: the scheduler reads a value (item), and the places of values that "
                   "are not 0 (nonzero), to decide on the host what to do."},
     .fixed = {.options = {.marks = true, .images = 2},
               .counts = {0, 2 * 9, 2},
               .expected = "[\n" WATERMARK "  {\"trigger_scope\": \"scheduler.step\", \"count\": 0},\n" PAUSES "]\n",
               .gap_share = 0.4,
               .story =
                   "The scheduler decides on the device, so the small gaps are gone. The large one between the images "
                   "stays: the watermark needs the image on the host."},
     .next = "the scheduler decides on the device, and the small gaps are gone"},
};

/* ---------------------------------------------------------------- where results go */

static xp_status make_logdir(diffusion_demo *d, xp_error *err)
{
  const char *folder = getenv("TMPDIR");
  if (d->o->capture_dir == NULL) {
    folder = folder != NULL && *folder != '\0' ? folder : "/tmp";
    snprintf(d->logdir, sizeof d->logdir, "%s/xlaprof-%s-XXXXXX", folder, d->kind->name);
    if (mkdtemp(d->logdir) == NULL) {
      return xp_fail(err, XP_ERR_IO,
                     "No folder for the capture can be made in %s: %m. Name one with --capture LOGDIR, or set the "
                     "variable TMPDIR.",
                     folder);
    }
  } else if ((size_t)snprintf(d->logdir, sizeof d->logdir, "%s", d->o->capture_dir) >= sizeof d->logdir) {
    return xp_fail(err, XP_ERR_USAGE, "The path %.80s.. is too long.", d->o->capture_dir);
  }
  return xp_logdir_check(d->logdir, err);
}

/* The predictions, as a file beside the capture. */
static xp_status write_expected(diffusion_demo *d, xp_error *err)
{
  snprintf(d->expected, sizeof d->expected, "%s/expected.json", d->logdir);
  FILE *file = fopen(d->expected, "w");
  const bool is_written = file != NULL && fputs(d->variant->expected, file) >= 0;
  if (file == NULL || fclose(file) != 0 || !is_written) {
    return xp_fail(err, XP_ERR_IO, "%s: it can't be written: %m.", d->expected);
  }
  return XP_OK;
}

/* What cannot be written is told before anything runs. */
static xp_status prepare(diffusion_demo *d, xp_error *err)
{
  xp_status status = XP_OK;
  if (d->o->image != NULL) {
    status = png_check(d->o->image, err);
  }
  if (status == XP_OK) {
    status = make_logdir(d, err);
  }
  return status == XP_OK ? write_expected(d, err) : status;
}

/* ---------------------------------------------------------------- running */

static xp_status run_pipeline(void *context, xp_error *err)
{
  diffusion_demo *d = context;
  return diffusion_run(d->pipeline, d->pixels, err);
}

static uint64_t samples(const char *metric)
{
  return xp_metric_samples(xp_metric_get(metric, XP_METRIC_TIME));
}

static run_counts counts_now(void)
{
  return (run_counts){samples("CompileTime"), samples("ExecuteTime"), samples("TransferFromDeviceTime")};
}

static xp_status run_counted(diffusion_demo *d, run_counts *counts, xp_error *err)
{
  const run_counts before = counts_now();
  const xp_status status = run_pipeline(d, err);
  const run_counts after = counts_now();
  *counts =
      (run_counts){after.compiles - before.compiles, after.executes - before.executes, after.reads - before.reads};
  return status;
}

/* The embedded device is slowed, so that what else the processors do matters less. */
static xp_status open_device(diffusion_demo *d, xp_error *err)
{
  xl_device_options wanted = XL_DEVICE_OPTIONS_INIT;
  xl_device *device;
  wanted.plugin = d->o->plugin;
  wanted.options = d->o->plugin == NULL ? (const char *const[]){"slowdown", "4", NULL} : NULL;
  const xp_status status = xl_device_open(&wanted, &device, err);
  d->device = status == XP_OK ? xl_device_name(device) : "";
  return status;
}

/* Runs to compile, runs to be counted and timed, and runs to be captured. */
static xp_status run_and_capture(diffusion_demo *d, xp_error *err)
{
  xp_status status = run_counted(d, &d->first, err);
  const int64_t start_ns = xp_monotonic_ns();
  if (status == XP_OK) {
    status = run_counted(d, &d->second, err);
  }
  const int64_t dur_ns = xp_monotonic_ns() - start_ns, dur_ms = dur_ns / XP_NS_IN_MS;
  diffusion_set_tokenizing(
      d->pipeline, (int64_t)(HOST_STEPS * (double)dur_ns / ((DIFFUSION_STEPS + 1) * d->variant->options.images)));
  if (status == XP_OK) {
    status = tell_counters(d, err);
  }
  if (status == XP_OK) {
    status =
        self_capture(d->logdir, (uint64_t)(dur_ms + dur_ms / 2 + 200), run_pipeline, d, d->path, sizeof d->path, err);
  }
  return status;
}

static xp_status run(diffusion_demo *d, xp_error *err)
{
  diffusion_options wanted = d->variant->options;
  wanted.is_plain = d->o->is_plain;
  xl_set_ir_debug(!wanted.is_plain);
  xl_set_most_in_flight(1); /* the host prepares one step while the device is at another */
  xp_status status = open_device(d, err);
  if (status == XP_OK) {
    status = prepare(d, err);
  }
  if (status == XP_OK) {
    status = diffusion_create(&wanted, &d->pipeline, err);
  }
  if (status == XP_OK) {
    status = run_and_capture(d, err);
  }
  if (status == XP_OK && d->o->image != NULL) {
    status = png_write(d->o->image, d->pixels, IMAGE, IMAGE, err);
  }
  return status;
}

static xp_status read_capture(diffusion_demo *d, xp_error *err)
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
    status = tell_capture(d, reading, err);
    xp_reading_free(reading);
  }
  xp_capture_free(capture);
  return status;
}

/* ---------------------------------------------------------------- the command */

static int run_kind(const options *o, const demo_kind *kind)
{
  static diffusion_demo d; /* its picture is too large for the stack */
  d.o = o;
  d.output = terminal_output(o);
  d.kind = kind;
  d.variant = o->is_fixed ? &kind->fixed : &kind->usual;
  xp_error err = {0};
  xp_status status = run(&d, &err);
  if (status == XP_OK) {
    status = read_capture(&d, &err);
  }
  diffusion_free(d.pipeline);
  xl_shutdown();
  if (status != XP_OK) {
    fflush(stdout);
    return say(&err);
  }
  return terminal_finish(!d.ok ? 1 : d.is_device_seen ? 0 : 5);
}

int demo_sd21(const options *o)
{
  return run_kind(o, &kinds[0]);
}

int demo_sdxl(const options *o)
{
  return run_kind(o, &kinds[1]);
}
