/* demo lab: how many programs the same training loop compiles and executes, lazily and eagerly, and why.
 *
 * The loop runs once, while its own profiler server captures it: a program is compiled once, so a second run would
 * count no compiles.  The counts are taken twice, by the metrics of the runtime and from the capture, and either
 * decides the exit status.
 */
#include "commands.h"
#include "demo.h"
#include "lab_demo.h"
#include "self_capture.h"
#include "terminal.h"

/* torch_xla 2.9 on the same loop */
const lab_mode lab_modes[LAB_MODES] = {
    [LAB_LAZY] = {"lazy", 2, {{1, 1}, {1, 2}}},
    [LAB_EAGER] = {"eager", 3, {{23, 27}, {23, 58}, {23, 89}}},
};

/* What is run, and where its counts go. */
typedef struct {
  lab_model model;
  lab_demo demo;
} running;

static xp_status run_modes(void *context, xp_error *err)
{
  running *r = context;
  xp_status status = XP_OK;
  for (int m = 0; m < LAB_MODES && status == XP_OK; m++) {
    status = lab_run(&r->model, m == LAB_EAGER, lab_modes[m].steps, r->demo.steps[m], err);
  }
  return status;
}

static xp_status tell(void *context, xp_reading *reading, xp_error *err)
{
  return lab_tell(context, reading, err);
}

static xp_status run_all(running *r, xp_error *err)
{
  demo_run *run = &r->demo.run;
  const options *o = run->o;
  xp_status status = demo_open_device(run, NULL, err);
  if (status == XP_OK && o->program != NULL) {
    status = xp_new_file_check(o->program, err);
  }
  if (status == XP_OK) {
    status = demo_make_logdir(run, err);
  }
  lab_fill(&r->model);
  lab_reference(&r->model, LAB_MOST_STEPS, r->demo.losses);
  if (status == XP_OK && o->program != NULL) {
    status = lab_save_program(&r->model, !o->is_plain, o->program, err);
  }
  if (status == XP_OK) {
    status = self_capture(run->logdir, run_modes, r, run->path, sizeof run->path, err);
  }
  return status == XP_OK ? demo_read_capture(run, tell, &r->demo, err) : status;
}

int demo_lab(const options *o)
{
  xp_error err = {0};
  running r = {.demo = {.run = {.o = o, .name = "lab", .output = terminal_output(o)}}};
  const xp_status status = run_all(&r, &err);
  xl_shutdown();
  if (o->json || status != XP_OK) {
    demo_remove_capture(&r.demo.run);
  }
  if (status != XP_OK) {
    fflush(stdout);
    return say(&err);
  }
  return r.demo.run.ok ? 0 : 1;
}
