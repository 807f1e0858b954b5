/* What demo sd21 and demo sdxl are made of: running (demo_diffusion.c), and telling what was found (diffusion_told.c).
 */
#ifndef XLAPROF_DIFFUSION_DEMO_H
#define XLAPROF_DIFFUSION_DEMO_H

#include "analyze/check.h"
#include "demo_run.h"
#include "diffusion.h"
#include "session/run_files.h"

#define DEMO_FLOOR_PERCENT 2 /* of a step's period: gaps count from here on, as `xlaprof check` has it */

typedef struct {
  uint64_t compiles, executes, reads;
} run_counts;

/* One way to run the pipeline, and what must be found. */
typedef struct {
  diffusion_options options;
  run_counts counts; /* of a run for which all is compiled */
  const char *gap;   /* keys of the large gap, as `xlaprof check --expect` reads them; NULL: there is none */
  const char *small; /* the row of the small ones; NULL: there are none */
  double gap_share;  /* the large gap is at least this share of the host's work */
  const char *story;
} demo_variant;

typedef struct {
  const char *name, *title;
  demo_variant usual, fixed;
  const char *next; /* what to try now */
} demo_kind;

typedef struct {
  demo_run run;
  const demo_kind *kind;
  const demo_variant *variant;
  diffusion *pipeline;
  uint8_t pixels[PIXELS];
  char predictions[1024];      /* of gaps, as `xlaprof check --expect` reads them */
  char expected[XP_PATH_ROOM]; /* the file that has them */
  run_counts first, second, captured;
} diffusion_demo;

/* Before the capture: the story and the counters of two runs; for text only. */
xp_status tell_counters(diffusion_demo *d, xp_error *err);

/* The reading of the capture, and what was predicted beside what was found; or all of it as JSON.  Sets `captured`
 * and `run.ok`. */
xp_status tell_capture(diffusion_demo *d, xp_reading *reading, xp_error *err);

#endif
