/* The lab: a small training loop, run lazily and eagerly, whose compiles and executes are counted.
 *
 * Sequential(Linear(16, 16), ReLU, Linear(16, 4)), SGD with 0.1, loss = mean of the output, a batch of 16.  Everything
 * is on the device before the counting begins, and is the same in both modes.
 */
#ifndef XLAPROF_LAB_H
#define XLAPROF_LAB_H

#include "xlaprof/lazy.h"

#define LAB_RATE 0.1

enum { LAB_BATCH = 16, LAB_IN = 16, LAB_HIDDEN = 16, LAB_OUT = 4, LAB_MOST_STEPS = 3 };

/* What a linear layer has, [out, in], and the inputs of the model; on the host. */
typedef struct {
  float x[LAB_BATCH * LAB_IN];
  float w1[LAB_HIDDEN * LAB_IN], b1[LAB_HIDDEN];
  float w2[LAB_OUT * LAB_HIDDEN], b2[LAB_OUT];
} lab_model;

typedef struct {
  uint64_t compiles, executes;
} lab_counts;

typedef enum { LAB_FORWARD, LAB_BACKWARD, LAB_UPDATE, LAB_PHASE_COUNT } lab_phase;

typedef struct {
  lab_counts sum;                     /* since the mode began, as the metrics have it */
  lab_counts phases[LAB_PHASE_COUNT]; /* of this step */
  double loss;
} lab_step;

/* Numbers between -0.25 and 0.25, which torch's initialisation gives a layer of 16 inputs; the same every time. */
void lab_fill(lab_model *model);

/* The scope of a phase. */
const char *lab_phase_name(lab_phase phase);

/* Runs some steps (XP_STEP "lazy" or "eager", numbered from 0) on the device in use, and counts after each. */
xp_status lab_run(const lab_model *model, bool is_eager, size_t steps, lab_step *done, xp_error *err);

/* Writes the program of a step of the lazy loop (HloModuleProto), in which operations carry the names of their scopes
 * or none.  Nothing is executed. */
xp_status lab_save_program(const lab_model *model, bool has_names, const char *path, xp_error *err);

/* The losses of the same steps by plain loops in double. */
void lab_reference(const lab_model *model, size_t steps, double *losses);

#endif
