/* What demo sd21 and demo sdxl are made of: running (demo_diffusion.c), and telling what was found (diffusion_told.c).
 */
#ifndef XLAPROF_DIFFUSION_DEMO_H
#define XLAPROF_DIFFUSION_DEMO_H

#include "analyze/check.h"
#include "diffusion.h"
#include "options.h"
#include "report/report.h"

#define DEMO_FLOOR_PERCENT 5 /* of a step's period: gaps count from here on */

typedef struct {
  uint64_t compiles, executes, reads;
} run_counts;

/* One way to run the pipeline, and what must be found. */
typedef struct {
  diffusion_options options;
  run_counts counts;    /* of a run for which all is compiled */
  const char *expected; /* gaps, as `xlaprof check --expect` reads them */
  double gap_share;     /* the longest gap is at least this share of the host's work; 0: no gap is near it */
  const char *story;
} demo_variant;

typedef struct {
  const char *name, *title;
  demo_variant usual, fixed;
  const char *next; /* what to try now */
} demo_kind;

typedef struct {
  const options *o;
  xp_output output;
  const demo_kind *kind;
  const demo_variant *variant;
  const char *device;
  diffusion *pipeline;
  uint8_t pixels[PIXELS];
  char logdir[4096], path[4096], expected[4200]; /* of the capture's folder, its file, and the predictions */
  run_counts first, second, captured;
  bool is_device_seen; /* the capture has work of a device */
  bool ok;
} diffusion_demo;

/* Before the capture: the story and the counters of two runs; for text only. */
xp_status tell_counters(diffusion_demo *d, xp_error *err);

/* The reading of the capture, and what was predicted beside what was found; or all of it as JSON.  Sets `captured`,
 * `is_device_seen` and `ok`. */
xp_status tell_capture(diffusion_demo *d, xp_reading *reading, xp_error *err);

#endif
