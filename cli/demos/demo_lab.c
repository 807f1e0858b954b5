/* demo lab: how many programs the same training loop compiles and executes, lazily and eagerly, and why.
 *
 * Everything that is printed was counted in this run; what the lesson says is there to be compared with, and decides
 * the exit status.  With --capture a third count comes from the capture of the run, as `xlaprof counters` has it.
 */
#include <math.h>

#include "analyze/analyze.h"
#include "commands.h"
#include "demo.h"
#include "lab.h"
#include "report/table.h"
#include "report/view.h"
#include "terminal.h"
#include "xlaprof/session.h"

enum { LAZY, EAGER, MODES };

#define TOLERANCE 1e-5 /* of a loss: f32 keeps 7 digits */

static const struct {
  const char *name;
  size_t steps;
  lab_counts lesson[LAB_MOST_STEPS]; /* torch_xla 2.9 on the same loop */
} modes[MODES] = {
    [LAZY] = {"lazy", 2, {{1, 1}, {1, 2}}},
    [EAGER] = {"eager", 3, {{23, 27}, {23, 58}, {23, 89}}},
};

typedef struct {
  const options *o;
  const char *device;
  lab_step steps[MODES][LAB_MOST_STEPS];
  double losses[LAB_MOST_STEPS]; /* by plain loops */
  lab_counts captured[MODES][LAB_MOST_STEPS];
  char path[4096]; /* of the capture */
} result;

static bool are_equal(lab_counts a, lab_counts b)
{
  return a.compiles == b.compiles && a.executes == b.executes;
}

/* ---------------------------------------------------------------- checks */

static bool is_lesson(const result *r)
{
  bool same = true;
  for (int m = 0; m < MODES; m++) {
    for (size_t i = 0; i < modes[m].steps; i++) {
      same = same && are_equal(r->steps[m][i].sum, modes[m].lesson[i]);
    }
  }
  return same;
}

static bool has_right_losses(const result *r)
{
  bool right = true;
  for (int m = 0; m < MODES; m++) {
    for (size_t i = 0; i < modes[m].steps; i++) {
      right = right && fabs(r->steps[m][i].loss - r->losses[i]) <= TOLERANCE;
    }
  }
  return right;
}

static bool is_captured(const result *r)
{
  bool same = true;
  for (int m = 0; m < MODES; m++) {
    for (size_t i = 0; i < modes[m].steps; i++) {
      same = same && are_equal(r->steps[m][i].sum, r->captured[m][i]);
    }
  }
  return same;
}

/* ---------------------------------------------------------------- running */

static xp_status run_modes(result *r, xp_error *err)
{
  lab_model model;
  xp_status status = XP_OK;
  lab_fill(&model);
  if (r->o->program != NULL) {
    status = lab_save_program(&model, !r->o->is_plain, r->o->program, err);
  }
  for (int m = 0; m < MODES && status == XP_OK; m++) {
    status = lab_run(&model, m == EAGER, modes[m].steps, r->steps[m], err);
  }
  lab_reference(&model, LAB_MOST_STEPS, r->losses);
  return status;
}

static xp_status run_in_session(result *r, xp_error *err)
{
  xp_session_options session = XP_SESSION_OPTIONS_INIT;
  session.logdir = r->o->capture_dir;
  xp_status status = xp_session_start(&session, err);
  if (status != XP_OK) {
    return status;
  }
  status = run_modes(r, err);
  xp_export *writing;
  xp_error own;
  xp_status saved = xp_session_save(NULL, &writing, &own);
  saved = saved == XP_OK ? xp_export_wait(writing, r->path, sizeof r->path, &own) : saved;
  if (status == XP_OK && saved != XP_OK) {
    *err = own;
    return saved;
  }
  return status;
}

/* Adds what a reading counted in the steps of the lab. */
static void take_counts(result *r, const xp_reading *reading)
{
  for (size_t s = 0; s < reading->step_count; s++) {
    const xp_step *step = &reading->steps[s];
    for (int m = 0; m < MODES; m++) {
      const bool is_ours = xp_str_eq(step->name, xp_str_c(modes[m].name)) && step->has_num && step->num >= 0;
      for (size_t i = is_ours ? (size_t)step->num : SIZE_MAX; i < modes[m].steps; i++) {
        r->captured[m][i].compiles += step->counters[XP_COMPILES];
        r->captured[m][i].executes += step->counters[XP_EXECUTES];
      }
    }
  }
}

static xp_status read_capture(result *r, xp_error *err)
{
  const xp_load_options load = {0};
  const xp_analyze_options analyze = {0};
  xp_capture *capture = NULL;
  xp_reading *reading = NULL;
  xp_status status = xp_capture_load(r->path, &load, &capture, err);
  if (status == XP_OK) {
    status = xp_analyze(capture, &analyze, &reading, err);
  }
  if (status == XP_OK) {
    take_counts(r, reading);
    xp_reading_free(reading);
  }
  xp_capture_free(capture);
  return status;
}

/* ---------------------------------------------------------------- text */

static void table(const xp_printer *printer, const result *r)
{
  static const xp_column columns[] = {
      {"mode", "mode", XP_COLUMN_TEXT, 0, 0},
      {"after step", "step", XP_COLUMN_COUNT, 0, 0},
      {"compiles", "compiles", XP_COLUMN_COUNT, 0, 0},
      {"executes", "executes", XP_COLUMN_COUNT, 0, 0},
  };
  xp_table *t = xp_table_create(printer, columns, sizeof columns / sizeof columns[0]);
  for (int m = 0; m < MODES; m++) {
    for (size_t i = 0; i < modes[m].steps; i++) {
      xp_table_text(t, xp_str_c(modes[m].name));
      xp_table_int(t, (int64_t)i + 1);
      xp_table_int(t, (int64_t)r->steps[m][i].sum.compiles);
      xp_table_int(t, (int64_t)r->steps[m][i].sum.executes);
    }
  }
  xp_table_print(t, 2);
}

/* What a step did alone. */
static lab_counts of_step(const lab_step *steps, size_t i)
{
  const lab_counts sum = steps[i].sum, before = i > 0 ? steps[i - 1].sum : (lab_counts){0, 0};
  return (lab_counts){sum.compiles - before.compiles, sum.executes - before.executes};
}

static unsigned long long in_phase(const lab_step *step, lab_phase phase)
{
  return step->phases[phase].executes;
}

static void explain_lazy(const xp_printer *printer, const lab_step *steps)
{
  const lab_counts first = of_step(steps, 0), second = of_step(steps, 1);
  xp_print_heading(printer, "Lazy: a step is one program");
  xp_print_line(printer, "  ", "The operations of a step only build a graph.");
  xp_print_line(printer, "  ",
                "The end of the step is a barrier: it compiles the graph (%llu in step 1) and executes it (%llu).",
                (unsigned long long)first.compiles, (unsigned long long)first.executes);
  xp_print_line(printer, "  ",
                "Step 2 builds an equal graph, with other values: %llu compiles, since the program is there, and %llu "
                "execute%s.",
                (unsigned long long)second.compiles, (unsigned long long)second.executes,
                second.executes == 1 ? "" : "s");
}

static void explain_eager(const xp_printer *printer, const lab_step *steps)
{
  const lab_counts first = of_step(steps, 0), second = of_step(steps, 1), third = of_step(steps, 2);
  const lab_step *a = &steps[0], *b = &steps[1];
  xp_print_heading(printer, "Eager: every operation is a program");
  xp_print_line(printer, "  ", "Step 1 executes %llu: %llu in fwd, %llu in bwd, %llu in opt.",
                (unsigned long long)first.executes, in_phase(a, LAB_FORWARD), in_phase(a, LAB_BACKWARD),
                in_phase(a, LAB_UPDATE));
  xp_print_line(printer, "  ",
                "It compiles %llu of them; %llu are the same operation on the same shapes as one before.",
                (unsigned long long)first.compiles, (unsigned long long)(first.executes - first.compiles));
  xp_print_line(printer, "  ", "Step 2 executes %llu, %llu more: %llu in fwd, %llu in bwd.",
                (unsigned long long)second.executes, (unsigned long long)(second.executes - first.executes),
                in_phase(b, LAB_FORWARD) - in_phase(a, LAB_FORWARD),
                in_phase(b, LAB_BACKWARD) - in_phase(a, LAB_BACKWARD));
  xp_print_line(printer, "  ",
                "The update of step 1 changed both weights in place, and a view of a tensor that was updated (here "
                "the transposed weight) is computed a second time at its first use.");
  xp_print_line(printer, "  ", "Step 3 executes %llu. Neither compiles anything: all their programs are there.",
                (unsigned long long)third.executes);
}

static void write_checks(const xp_printer *printer, const result *r)
{
  xp_print_heading(printer, "Checked");
  xp_print_line(printer, "  ", "The losses %s those of plain loops in C (%.6f, %.6f, %.6f), to within %g.",
                has_right_losses(r) ? "are" : "are not", r->losses[0], r->losses[1], r->losses[2], TOLERANCE);
  xp_print_line(printer, "  ", "The counts %s those of torch_xla 2.9 on the same loop.",
                is_lesson(r) ? "are" : "are not");
  if (r->path[0] != '\0') {
    xp_print_line(printer, "  ", "Counted from the capture they are %s.", is_captured(r) ? "the same" : "not the same");
    xp_print_line(printer, "  ", "More: xlaprof counters %s", r->o->capture_dir);
  }
}

static void write_program(const xp_printer *printer, const options *o)
{
  xp_print_heading(printer, "The program of a step");
  xp_print_line(printer, "  ",
                o->is_plain ? "%s has it, without names. A TPU's compiler has none to leave, either:"
                            : "%s has it, with the names of its scopes. What a TPU's compiler leaves of them:",
                o->program);
  fprintf(printer->out, "  xlaprof aot %s --plugin libtpu.so --topology v5e:2x2x1\n", o->program);
}

static void write_text(void *context, const xp_printer *printer)
{
  const result *r = context;
  xp_print_line(printer, "",
                "The lab: Linear(%d, %d), ReLU, Linear(%d, %d), loss = mean, SGD %g, a batch of %d, on %s.", LAB_IN,
                LAB_HIDDEN, LAB_HIDDEN, LAB_OUT, LAB_RATE, LAB_BATCH, r->device);
  fputc('\n', printer->out);
  table(printer, r);
  explain_lazy(printer, r->steps[LAZY]);
  explain_eager(printer, r->steps[EAGER]);
  write_checks(printer, r);
  if (r->o->program != NULL) {
    write_program(printer, r->o);
  }
}

/* ---------------------------------------------------------------- JSON */

static void write_list(int mode, const result *r, bool is_compiles)
{
  for (size_t i = 0; i < modes[mode].steps; i++) {
    const lab_counts sum = r->steps[mode][i].sum;
    printf("%s%llu", i > 0 ? "," : "", (unsigned long long)(is_compiles ? sum.compiles : sum.executes));
  }
}

/* One line without blanks, for comparisons as text. */
static void write_json(const result *r)
{
  for (int m = 0; m < MODES; m++) {
    printf("%s\"%s\":{\"compiles\":[", m > 0 ? "," : "{", modes[m].name);
    write_list(m, r, true);
    printf("],\"executes\":[");
    write_list(m, r, false);
    printf("]}");
  }
  printf("}\n");
}

/* ---------------------------------------------------------------- the command */

static xp_status run_all(result *r, xp_error *err)
{
  const options *o = r->o;
  xl_device_options device_options = XL_DEVICE_OPTIONS_INIT;
  xl_device *device;
  device_options.plugin = o->plugin;
  xp_status status = xl_device_open(&device_options, &device, err);
  if (status != XP_OK) {
    return status;
  }
  r->device = xl_device_name(device);
  status = o->capture_dir != NULL ? run_in_session(r, err) : run_modes(r, err);
  if (status == XP_OK && o->capture_dir != NULL) {
    status = read_capture(r, err);
  }
  if (status == XP_OK && o->json) {
    write_json(r);
  } else if (status == XP_OK) {
    const xp_output output = terminal_output(o);
    status = xp_print_with(&output, write_text, r, err);
  }
  return status;
}

int demo_lab(const options *o)
{
  xp_error err = {0};
  result r = {.o = o};
  const xp_status status = run_all(&r, &err);
  xl_shutdown();
  if (status != XP_OK) {
    return say(&err);
  }
  if (o->json && !has_right_losses(&r)) {
    complain("", xp_str_c("The losses are not those of plain loops"));
  }
  if (o->json && r.path[0] != '\0' && !is_captured(&r)) {
    complain("", xp_str_c("The capture has other counts"));
  }
  const bool is_right = is_lesson(&r) && has_right_losses(&r) && (r.path[0] == '\0' || is_captured(&r));
  return is_right ? 0 : 1;
}
