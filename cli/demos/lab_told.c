/* What demo lab prints: the counts by the metrics, with the reasons for them; then the reading of the capture; then
 * what was predicted beside what the capture has.
 *
 * Everything that is printed was counted in this run; what is predicted is there to be compared with.
 */
#include <math.h>

#include "commands.h"
#include "lab_demo.h"
#include "report/table.h"
#include "report/view.h"
#include "terminal.h"

#define TOLERANCE 1e-5 /* of a loss: f32 keeps 7 digits */

/* ---------------------------------------------------------------- checks */

static bool are_equal(lab_counts a, lab_counts b)
{
  return a.compiles == b.compiles && a.executes == b.executes;
}

static bool is_counted_as_predicted(const lab_demo *d)
{
  bool same = true;
  for (int m = 0; m < LAB_MODES; m++) {
    for (size_t i = 0; i < lab_modes[m].steps; i++) {
      same = same && are_equal(d->steps[m][i].sum, lab_modes[m].predicted[i]);
    }
  }
  return same;
}

static bool is_captured_as_predicted(const lab_demo *d)
{
  bool same = true;
  for (int m = 0; m < LAB_MODES; m++) {
    for (size_t i = 0; i < lab_modes[m].steps; i++) {
      same = same && are_equal(d->captured[m][i], lab_modes[m].predicted[i]);
    }
  }
  return same;
}

static bool has_right_losses(const lab_demo *d)
{
  bool right = true;
  for (int m = 0; m < LAB_MODES; m++) {
    for (size_t i = 0; i < lab_modes[m].steps; i++) {
      right = right && fabs(d->steps[m][i].loss - d->losses[i]) <= TOLERANCE;
    }
  }
  return right;
}

/* Adds what a reading counted in the steps of the lab. */
static void take_counts(lab_demo *d, const xp_reading *reading)
{
  for (size_t s = 0; s < reading->step_count; s++) {
    const xp_step *step = &reading->steps[s];
    for (int m = 0; m < LAB_MODES; m++) {
      const bool is_ours = xp_str_eq(step->name, xp_str_c(lab_modes[m].name)) && step->has_num && step->num >= 0;
      for (size_t i = is_ours ? (size_t)step->num : SIZE_MAX; i < lab_modes[m].steps; i++) {
        d->captured[m][i].compiles += step->counters[XP_COMPILES];
        d->captured[m][i].executes += step->counters[XP_EXECUTES];
      }
    }
  }
}

/* ---------------------------------------------------------------- part 1: counters */

static void write_counts(const xp_printer *printer, const lab_demo *d)
{
  static const xp_column columns[] = {
      {"mode", "mode", XP_COLUMN_TEXT, 0, 0},
      {"after step", "step", XP_COLUMN_COUNT, 0, 0},
      {"compiles", "compiles", XP_COLUMN_COUNT, 0, 0},
      {"executes", "executes", XP_COLUMN_COUNT, 0, 0},
  };
  xp_table *t = xp_table_create(printer, columns, sizeof columns / sizeof columns[0]);
  for (int m = 0; m < LAB_MODES; m++) {
    for (size_t i = 0; i < lab_modes[m].steps; i++) {
      xp_table_text(t, xp_str_c(lab_modes[m].name));
      xp_table_int(t, (int64_t)i + 1);
      xp_table_int(t, (int64_t)d->steps[m][i].sum.compiles);
      xp_table_int(t, (int64_t)d->steps[m][i].sum.executes);
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

static void write_program(const xp_printer *printer, const options *o)
{
  xp_print_heading(printer, "The program of a step");
  xp_print_line(printer, "  ",
                o->is_plain ? "%s has it, without names. A TPU's compiler has none to leave, either:"
                            : "%s has it, with the names of its scopes. What a TPU's compiler leaves of them:",
                o->program);
  fprintf(printer->out, "  xlaprof aot %s --plugin libtpu.so --topology v5e:2x2x1\n", o->program);
}

static void write_counters(void *context, const xp_printer *printer)
{
  const lab_demo *d = context;
  xp_print_line(printer, "",
                "The lab: Linear(%d, %d), ReLU, Linear(%d, %d), loss = mean, SGD %g, a batch of %d, on %s.", LAB_IN,
                LAB_HIDDEN, LAB_HIDDEN, LAB_OUT, LAB_RATE, LAB_BATCH, d->run.device);
  demo_part(printer, 1, "the counters");
  write_counts(printer, d);
  explain_lazy(printer, d->steps[LAB_LAZY]);
  explain_eager(printer, d->steps[LAB_EAGER]);
}

/* ---------------------------------------------------------------- part 3: predicted and found */

static void write_captured(const xp_printer *printer, const lab_demo *d)
{
  static const xp_column columns[] = {
      {"mode", "mode", XP_COLUMN_TEXT, 0, 0},          {"after step", "step", XP_COLUMN_COUNT, 0, 0},
      {"compiles", "compiles", XP_COLUMN_COUNT, 0, 0}, {"predicted", "predicted_compiles", XP_COLUMN_COUNT, 0, 0},
      {"executes", "executes", XP_COLUMN_COUNT, 0, 0}, {"predicted", "predicted_executes", XP_COLUMN_COUNT, 0, 0},
  };
  xp_print_heading(printer, "1. Counts of the capture: %s", is_captured_as_predicted(d) ? "ok" : "FAILED");
  xp_table *t = xp_table_create(printer, columns, sizeof columns / sizeof columns[0]);
  for (int m = 0; m < LAB_MODES; m++) {
    for (size_t i = 0; i < lab_modes[m].steps; i++) {
      const lab_counts found = d->captured[m][i], predicted = lab_modes[m].predicted[i];
      xp_table_text(t, xp_str_c(lab_modes[m].name));
      xp_table_int(t, (int64_t)i + 1);
      xp_table_int(t, (int64_t)found.compiles);
      xp_table_int(t, (int64_t)predicted.compiles);
      xp_table_int(t, (int64_t)found.executes);
      xp_table_int(t, (int64_t)predicted.executes);
    }
  }
  xp_table_print(t, 2);
  xp_print_line(printer, "  ", "Predicted is what torch_xla 2.9 counts on the same loop.");
}

static void write_end(void *context, const xp_printer *printer)
{
  const lab_demo *d = context;
  write_captured(printer, d);
  xp_print_heading(printer, "2. Counters: %s", is_counted_as_predicted(d) ? "ok" : "FAILED");
  xp_print_line(printer, "  ", "Those of part 1, by the metrics of the runtime, %s predicted.",
                is_counted_as_predicted(d) ? "are the same as" : "are not those");
  xp_print_heading(printer, "3. Losses: %s", has_right_losses(d) ? "ok" : "FAILED");
  xp_print_line(printer, "  ", "The losses %s those of plain loops in C (%.6f, %.6f, %.6f), to within %g.",
                has_right_losses(d) ? "are" : "are not", d->losses[0], d->losses[1], d->losses[2], TOLERANCE);
  if (d->run.o->program != NULL) {
    write_program(printer, d->run.o);
  }
  xp_print_heading(printer, "Next");
  demo_tell_view(printer, &d->run);
  fprintf(printer->out, "  xlaprof steps %s\n", d->run.logdir);
  xp_print_line(printer, "      ", "compiles and executes of each step");
}

/* ---------------------------------------------------------------- JSON */

static void write_list(int mode, const lab_demo *d, bool is_compiles)
{
  for (size_t i = 0; i < lab_modes[mode].steps; i++) {
    const lab_counts sum = d->steps[mode][i].sum;
    printf("%s%llu", i > 0 ? "," : "", (unsigned long long)(is_compiles ? sum.compiles : sum.executes));
  }
}

/* One line without blanks, for comparisons as text. */
static void write_json(const lab_demo *d)
{
  for (int m = 0; m < LAB_MODES; m++) {
    printf("%s\"%s\":{\"compiles\":[", m > 0 ? "," : "{", lab_modes[m].name);
    write_list(m, d, true);
    printf("],\"executes\":[");
    write_list(m, d, false);
    printf("]}");
  }
  printf("}\n");
}

/* ---------------------------------------------------------------- all of it */

static xp_status tell_text(lab_demo *d, xp_reading *reading, xp_error *err)
{
  xp_status status = xp_print_with(&d->run.output, write_counters, d, err);
  if (status == XP_OK) {
    status = demo_tell_reading(&d->run, "The same run", reading, err);
  }
  if (status == XP_OK) {
    status = demo_tell_verdict(&d->run, "lab", NULL, err);
  }
  return status == XP_OK ? xp_print_with(&d->run.output, write_end, d, err) : status;
}

static void complain_of(const lab_demo *d)
{
  if (!has_right_losses(d)) {
    complain("", xp_str_c("The losses are not those of plain loops"));
  }
  if (!is_captured_as_predicted(d)) {
    complain("", xp_str_c("The capture has other counts"));
  }
}

xp_status lab_tell(lab_demo *d, xp_reading *reading, xp_error *err)
{
  take_counts(d, reading);
  d->run.ok = is_counted_as_predicted(d) && is_captured_as_predicted(d) && has_right_losses(d);
  if (d->run.output.form == XP_FORM_TEXT) {
    return tell_text(d, reading, err);
  }
  write_json(d);
  complain_of(d);
  return XP_OK;
}
