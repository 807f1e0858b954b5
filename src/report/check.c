/* The answer first; it is one sentence for each check. */
#include "report/check.h"

#include <stdarg.h>

#include "report/check_view.h"

void xp_check_advise(const xp_check_view *v, const char *format, ...)
{
  char text[1024];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length >= 0) {
    xp_print_text(v->view.printer, "  -> ", "     ", xp_str_c(text));
  }
}

static void verdict(const xp_check_view *v)
{
  const xp_names_check *names = &v->check->names;
  const xp_gaps_check *gaps = &v->check->gaps;
  const char *of_names = !names->ok                           ? "names are missing on the device"
                         : names->step.instructions > 0       ? "the name of the step is on the device"
                         : names->frontend == XP_FRONTEND_JAX ? "nothing is missing of the names that JAX writes"
                                                              : "";
  const char *of_gaps = !gaps->asked ? "no gaps were predicted (--expect)"
                        : gaps->ok   ? "the gaps are those that were predicted"
                                     : "the gaps are not those that were predicted";
  bool ok = names->ok && gaps->ok;
  xp_print_line(v->view.printer, "", "%s: %s, %s %s.", ok ? "OK" : "FAILED", of_names,
                !gaps->asked || names->ok == gaps->ok ? "and" : "but", of_gaps);
}

static void write(void *context, const xp_printer *printer)
{
  xp_check_view *v = context;
  v->view.printer = printer;
  if (printer->form == XP_FORM_JSON) {
    xp_json json;
    xp_json_begin(&json, printer->out);
    xp_check_json(v, &json);
    xp_json_finish(&json);
    return;
  }
  verdict(v);
  fputc('\n', printer->out);
  xp_capture_text(&v->view);
  xp_check_names_text(v);
  xp_check_gaps_text(v);
  if (v->view.reading->warning_count > 0) {
    xp_print_heading(printer, "Warnings of the capture");
    xp_warnings_text(&v->view, 5);
  }
}

xp_status xp_check_write(const xp_check *check, xp_reading *reading, const char *expect, const xp_output *output,
                         xp_error *err)
{
  xp_check_view v = {.view = {.reading = reading, .path = output->path}, .check = check, .expect = expect};
  return xp_print_with(output, write, &v, err);
}
