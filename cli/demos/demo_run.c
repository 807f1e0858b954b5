/* A plugin without a profiler gives a capture of the host alone.  Then the counters can be checked, and nothing else.
 */
#include "demo_run.h"

#include <stdlib.h>
#include <unistd.h>

#include "report/table.h"
#include "report/view.h"
#include "self_capture.h"
#include "session/run_files.h"
#include "xlaprof/lazy.h"

/* ---------------------------------------------------------------- before */

xp_status demo_make_logdir(demo_run *r, xp_error *err)
{
  const char *folder = getenv("TMPDIR");
  if (r->o->capture_dir == NULL) {
    folder = folder != NULL && *folder != '\0' ? folder : "/tmp";
    snprintf(r->logdir, sizeof r->logdir, "%s/xlaprof-%s-XXXXXX", folder, r->name);
    if (mkdtemp(r->logdir) == NULL) {
      return xp_fail(err, XP_ERR_IO,
                     "No folder for the capture can be made in %s: %m. Name one with --capture LOGDIR, or set the "
                     "variable TMPDIR.",
                     folder);
    }
  } else if ((size_t)snprintf(r->logdir, sizeof r->logdir, "%s", r->o->capture_dir) >= sizeof r->logdir) {
    return xp_fail(err, XP_ERR_USAGE, "The path %.80s.. is too long.", r->o->capture_dir);
  }
  return xp_logdir_check(r->logdir, err);
}

xp_status demo_open_device(demo_run *r, const char *const *embedded, xp_error *err)
{
  xl_device_options wanted = XL_DEVICE_OPTIONS_INIT;
  xl_device *device;
  wanted.plugin = r->o->plugin;
  wanted.options = r->o->plugin == NULL ? embedded : NULL;
  const xp_status status = xl_device_open(&wanted, &device, err);
  r->device = status == XP_OK ? xl_device_name(device) : "";
  return status;
}

/* ---------------------------------------------------------------- the capture */

static bool sees_device(const xp_reading *reading)
{
  for (size_t i = 0; i < reading->device_count; i++) {
    if (reading->devices[i].work_count > 0) {
      return true;
    }
  }
  return false;
}

xp_status demo_read_capture(demo_run *r, xp_status (*use)(void *context, xp_reading *reading, xp_error *err),
                            void *context, xp_error *err)
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
    r->is_device_seen = sees_device(reading);
    status = use(context, reading, err);
    xp_reading_free(reading);
  }
  xp_capture_free(capture);
  return status;
}

void demo_remove_capture(demo_run *r)
{
  if (r->o->capture_dir != NULL || r->logdir[0] == '\0') {
    return;
  }
  if (r->path[0] != '\0') {
    unlink(r->path);
    *strrchr(r->path, '/') = '\0';
    self_capture_remove(r->path);
  }
  rmdir(r->logdir);
}

/* ---------------------------------------------------------------- what is told */

void demo_part(const xp_printer *printer, int number, const char *title)
{
  xp_print_heading(printer, "Part %d of 3: %s", number, title);
}

/* A text with the run that it is about. */
typedef struct {
  const demo_run *run;
  const char *text, *advice;
} told;

static void write_reading_title(void *context, const xp_printer *printer)
{
  const told *t = context;
  demo_part(printer, 2, "the reading of a capture");
  xp_print_line(printer, "  ", "%s, as the program's own profiler server captured it. `xlaprof %s` prints this again.",
                t->text, t->run->logdir);
  if (!t->run->is_device_seen) {
    xp_print_line(printer, "  ",
                  "The capture shows the host alone: the plugin records nothing of its device. Where the device waited "
                  "cannot be told from it.");
  }
  fputc('\n', printer->out);
}

xp_status demo_tell_reading(demo_run *r, const char *which, xp_reading *reading, xp_error *err)
{
  told t = {r, which, NULL};
  xp_output output = r->output;
  output.path = r->logdir;
  xp_status status = xp_print_with(&output, write_reading_title, &t, err);
  if (status != XP_OK) {
    return status;
  }
  if (r->is_device_seen) {
    return xp_section_write(XP_SECTION_REPORT, &output, reading, err);
  }
  status = xp_section_write(XP_SECTION_COUNTERS, &output, reading, err);
  fputc('\n', output.out);
  return status == XP_OK ? xp_section_write(XP_SECTION_STEPS, &output, reading, err) : status;
}

static void write_verdict(void *context, const xp_printer *printer)
{
  const told *t = context;
  demo_part(printer, 3, "predicted and found");
  if (t->run->ok) {
    xp_print_line(printer, "  ",
                  t->run->is_device_seen ? "What the %s was built to show is what was found."
                                         : "What could be checked of the %s is what was predicted.",
                  t->text);
    return;
  }
  xp_print_line(printer, "  ", "What was found is not what the %s was built to show.", t->text);
  if (t->advice != NULL) {
    xp_print_line(printer, "  ", "%s", t->advice);
  }
}

xp_status demo_tell_verdict(demo_run *r, const char *built, const char *advice, xp_error *err)
{
  told t = {r, built, advice};
  return xp_print_with(&r->output, write_verdict, &t, err);
}

void demo_tell_view(const xp_printer *printer, const demo_run *r)
{
  fprintf(printer->out, "  xlaprof view %s\n", r->logdir);
  xp_print_line(printer, "      ", "the capture in a browser: %s",
                r->is_device_seen ? "the gaps, and what the host did in them" : "what the host did, and when");
}
