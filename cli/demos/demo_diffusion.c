/* demo sd21 and demo sdxl: a diffusion pipeline that captures itself, and whose gaps are those that it was built to
 * have.
 *
 * The pipeline runs once to compile, and once more for the counters.  Then it is captured through its own profiler
 * server.  What is printed comes in the order in which a program should be looked at: counters, reading, and what was
 * predicted beside what was found.
 */
#include <string.h>

#include "base/clock.h"
#include "commands.h"
#include "demo.h"
#include "diffusion_demo.h"
#include "png.h"
#include "self_capture.h"
#include "session/run_files.h"
#include "terminal.h"
#include "xlaprof/metrics.h"

/* How many steps of the device the tokenising takes.  The device still has about one to do when it begins. */
static const double HOST_STEPS = 2.2;

/* The large gap of sdxl, which no scheduler moves away. */
#define WATERMARK                                                                                                      \
  "\"scope\": \"watermark\", \"cause\": \"host\", \"trigger\": \"value_request\", \"trigger_scope\": \"watermark\""

static const demo_kind kinds[] = {
    {.name = "sd21",
     .title = "Stable Diffusion 2.1 in small: one image in 8 steps",
     .usual = {.options = {.edits = true, .images = 1},
               .counts = {0, 9, 1}, /* the end of each step; the image */
               .gap = "\"scope\": \"tokenize\", \"cause\": \"host\", \"trigger\": \"none\"",
               .gap_share = 0.02, /* the device still works for most of it */
               .story =
                   "The host prepares a step while the device is at the one before, so the device always has work, but "
                   "for one gap in the middle: half way the prompt changes, and the host splits the new one into "
                   "tokens, which takes longer than the steps that the device still has to do."},
     .fixed = {.options = {.edits = true, .edits_ahead = true, .images = 1},
               .counts = {0, 9, 1},
               .story = "Half way the prompt changes, but the new one was split into tokens before, on another thread, "
                        "while the device worked: no gap is left."},
     .next = "the tokens are made ahead, and the gap is gone"},
    {.name = "sdxl",
     .title = "Stable Diffusion XL in small: two images in 8 steps each",
     .usual =
         {.options = {.reads = true, .marks = true, .images = 2},
          .counts = {0, 2 * (9 + 16), 2 * (16 + 1)}, /* and two reads in each of eight scheduler steps */
          .gap = WATERMARK,
          .small = "  {\"trigger\": \"value_request\", \"trigger_scope\": \"scheduler.step\", \"count\": 32},\n",
          .gap_share = 0.05, /* of two watermarks */
          .story =
              "Between the images is one large gap: the first image is read, and gets a watermark on the host. Two "
              "small ones come with each step of the scheduler, which decides on the host what to do with the "
              "noise of the step before: it reads a value (item), and the places of values that are not 0 "
              "(nonzero). The first step of an image has none, and its decode the last two."},
     .fixed = {.options = {.marks = true, .images = 2},
               .counts = {0, 2 * 9, 2},
               .gap = WATERMARK,
               .small = "  {\"trigger_scope\": \"scheduler.step\", \"count\": 0},\n",
               .gap_share = 0.05, /* of two watermarks */
               .story =
                   "The scheduler decides on the device, so the small gaps are gone. The large one between the images "
                   "stays: the watermark needs the image on the host."},
     .next = "the scheduler decides on the device, and the small gaps are gone"},
};

/* ---------------------------------------------------------------- where results go */

/* What must be found.  A device made of processors stands still when they do something else, inside a program or
 * between two of them, of which there are one less than programs. */
static void predict(diffusion_demo *d, int64_t work_ns)
{
  const demo_variant *v = d->variant;
  const unsigned long long between = v->counts.executes - 1;
  char gap[300] = "";
  if (v->gap != NULL) {
    const double least_ns = v->gap_share * (double)work_ns;
    snprintf(gap, sizeof gap, "  {%s,\n   \"min_ps\": %lld, \"count\": 1},\n", v->gap, (long long)least_ns * 1000);
  }
  snprintf(d->predictions, sizeof d->predictions,
           "[\n%s%s  {\"cause\": \"launch\", \"count\": [0, %llu]},\n  {\"cause\": \"wait\", \"count\": [0, %llu]},\n"
           "  {\"cause\": \"in_program\", \"count\": [0, null]}\n]\n",
           gap, v->small != NULL ? v->small : "", between, between);
}

/* The predictions, as a file beside the capture.  Predictions that somebody edited stay: these get another name. */
static xp_status write_expected(diffusion_demo *d, xp_error *err)
{
  xp_new_file file;
  xp_status status = xp_new_file_open(d->run.logdir, NULL, &file, err);
  if (status == XP_OK) {
    status = xp_new_file_write(&file, d->predictions, strlen(d->predictions), err);
  }
  if (status == XP_OK) {
    status = xp_new_file_publish(&file, "expected", ".json", d->expected, err);
  }
  xp_new_file_discard(&file);
  return status;
}

/* What cannot be written is told before anything runs. */
static xp_status prepare(diffusion_demo *d, xp_error *err)
{
  xp_status status = XP_OK;
  if (d->run.o->image != NULL) {
    status = xp_new_file_check(d->run.o->image, err);
  }
  return status == XP_OK ? demo_make_logdir(&d->run, err) : status;
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

/* Runs to be counted and timed.  Gives how long the host will work in the next run: where others want the processors,
 * the faster one of two is nearer to that. */
static xp_status run_again(diffusion_demo *d, int64_t *work_ns, xp_error *err)
{
  const demo_variant *v = d->variant;
  const int64_t first_ns = diffusion_host_ns(d->pipeline), start_ns = xp_monotonic_ns();
  const xp_status status = run_counted(d, &d->second, err);
  const int64_t dur_ns = xp_monotonic_ns() - start_ns, second_ns = diffusion_host_ns(d->pipeline);
  const int64_t tokens_ns = (int64_t)(HOST_STEPS * (double)dur_ns / ((DIFFUSION_STEPS + 1) * v->options.images));
  diffusion_set_tokenizing(d->pipeline, tokens_ns);
  *work_ns = v->options.edits ? tokens_ns : first_ns < second_ns ? first_ns : second_ns;
  return status;
}

/* Runs to compile, runs to be counted and timed, and runs to be captured. */
static xp_status run_and_capture(diffusion_demo *d, xp_error *err)
{
  int64_t work_ns = 0;
  xp_status status = run_counted(d, &d->first, err);
  if (status == XP_OK) {
    status = run_again(d, &work_ns, err);
  }
  if (status == XP_OK) {
    status = tell_counters(d, err);
  }
  predict(d, work_ns);
  if (status == XP_OK) {
    status = write_expected(d, err);
  }
  if (status == XP_OK) {
    status = self_capture(d->run.logdir, run_pipeline, d, d->run.path, sizeof d->run.path, err);
  }
  return status;
}

static xp_status run(diffusion_demo *d, xp_error *err)
{
  diffusion_options wanted = d->variant->options;
  wanted.is_plain = d->run.o->is_plain;
  xl_set_ir_debug(!wanted.is_plain);
  xl_set_most_in_flight(1); /* the host prepares one step while the device is at another */
  /* The embedded device is slowed, so that what else the processors do matters less. */
  xp_status status = demo_open_device(&d->run, (const char *const[]){"slowdown", "4", NULL}, err);
  if (status == XP_OK) {
    status = prepare(d, err);
  }
  if (status == XP_OK) {
    status = diffusion_create(&wanted, &d->pipeline, err);
  }
  if (status == XP_OK) {
    status = run_and_capture(d, err);
  }
  if (status == XP_OK && d->run.o->image != NULL) {
    status = png_write(d->run.o->image, d->pixels, IMAGE, IMAGE, err);
  }
  return status;
}

static xp_status tell(void *context, xp_reading *reading, xp_error *err)
{
  return tell_capture(context, reading, err);
}

/* ---------------------------------------------------------------- the command */

static int run_kind(const options *o, const demo_kind *kind)
{
  static diffusion_demo d; /* its picture is too large for the stack */
  d.run.o = o;
  d.run.output = terminal_output(o);
  d.run.name = kind->name;
  d.kind = kind;
  d.variant = o->is_fixed ? &kind->fixed : &kind->usual;
  xp_error err = {0};
  xp_status status = run(&d, &err);
  if (status == XP_OK) {
    status = demo_read_capture(&d.run, tell, &d, &err);
  }
  diffusion_free(d.pipeline);
  xl_shutdown();
  if (status != XP_OK) {
    fflush(stdout);
    return say(&err);
  }
  return !d.run.ok ? 1 : d.run.is_device_seen ? 0 : 5;
}

int demo_sd21(const options *o)
{
  return run_kind(o, &kinds[0]);
}

int demo_sdxl(const options *o)
{
  return run_kind(o, &kinds[1]);
}
