/* What demo lab is made of: running (demo_lab.c), and telling what was counted (lab_told.c). */
#ifndef XLAPROF_LAB_DEMO_H
#define XLAPROF_LAB_DEMO_H

#include "demo_run.h"
#include "lab.h"

enum { LAB_LAZY, LAB_EAGER, LAB_MODES };

typedef struct {
  const char *name;
  size_t steps;
  lab_counts predicted[LAB_MOST_STEPS]; /* sums after each step */
} lab_mode;

extern const lab_mode lab_modes[LAB_MODES];

typedef struct {
  demo_run run;
  lab_step steps[LAB_MODES][LAB_MOST_STEPS];      /* by the metrics */
  lab_counts captured[LAB_MODES][LAB_MOST_STEPS]; /* sums in the capture */
  double losses[LAB_MOST_STEPS];                  /* by plain loops */
} lab_demo;

/* Prints the counters, the reading of the capture, and what was predicted beside what was found; or the counts as JSON.
 * Sets `captured` and `run.ok`. */
xp_status lab_tell(lab_demo *d, xp_reading *reading, xp_error *err);

#endif
