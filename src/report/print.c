/* Small pieces of text output that all sections use. */
#include "report/print.h"

#include <stdarg.h>

#include "report/html.h"
#include "report/text.h"

void xp_print_heading(const xp_printer *printer, const char *format, ...)
{
  char text[2048];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (printer->form == XP_FORM_HTML) {
    fputs("<h2>", printer->out);
    xp_html_prose(printer, xp_str_c(length >= 0 ? text : ""));
    fputs("</h2>\n", printer->out);
    return;
  }
  fputs(printer->colour ? "\n\033[1m" : "\n", printer->out);
  if (length >= 0) {
    xp_print_text(printer, "", "  ", xp_str_c(text));
  }
  fputs(printer->colour ? "\033[0m" : "", printer->out);
}

void xp_print_text(const xp_printer *printer, const char *first, const char *rest, xp_str text)
{
  if (printer->form == XP_FORM_HTML) {
    xp_html_line(printer, first, rest, text, true);
    return;
  }
  xp_str shown = xp_text_printable(printer->scratch, text);
  xp_text_wrap(printer->out, shown, first, rest, printer->width);
}

void xp_print_exact(const xp_printer *printer, const char *first, const char *rest, xp_str text)
{
  if (printer->form == XP_FORM_HTML) {
    xp_html_line(printer, first, rest, text, false);
    return;
  }
  xp_str shown = xp_text_printable(printer->scratch, text);
  xp_text_wrap_exact(printer->out, shown, first, rest, printer->width);
}

void xp_print_line(const xp_printer *printer, const char *indent, const char *format, ...)
{
  char text[2048];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length >= 0) {
    xp_print_text(printer, indent, indent, xp_str_c(text));
  }
}

size_t xp_print_rows(const xp_printer *printer, size_t otherwise, size_t there_are)
{
  size_t most = printer->top > 0 ? printer->top : otherwise;
  return most < there_are ? most : there_are;
}
