/* The page.  Order: the answer, where the time went as a picture, what to do; then what it rests on, as in the text. */
#include "report/html.h"

#include "report/text.h"

void xp_html_text(const xp_printer *printer, xp_str text)
{
  xp_str shown = xp_text_printable(printer->scratch, text);
  for (size_t i = 0; i < shown.len; i++) {
    const char *escape = NULL;
    switch (shown.ptr[i]) {
    case '&':
      escape = "&amp;";
      break;
    case '<':
      escape = "&lt;";
      break;
    case '>':
      escape = "&gt;";
      break;
    case '"':
      escape = "&quot;";
      break;
    case '\'':
      escape = "&#39;";
      break;
    default:
      fputc(shown.ptr[i], printer->out);
    }
    if (escape != NULL) {
      fputs(escape, printer->out);
    }
  }
}

void xp_html_element(const xp_printer *printer, const char *tag, const char *class_name, xp_str text)
{
  fprintf(printer->out, "<%s%s%s%s>", tag, class_name[0] != '\0' ? " class=\"" : "", class_name,
          class_name[0] != '\0' ? "\"" : "");
  xp_html_text(printer, text);
  fprintf(printer->out, "</%s>\n", tag);
}

void xp_html_prose(const xp_printer *printer, xp_str text)
{
  size_t open, close;
  while ((open = xp_str_find(text, '`', 0)) < text.len && (close = xp_str_find(text, '`', open + 1)) < text.len) {
    xp_html_text(printer, xp_str_take(text, open));
    fputs("<code>", printer->out);
    xp_html_text(printer, xp_str_from(text.ptr + open + 1, close - open - 1));
    fputs("</code>", printer->out);
    text = xp_str_skip(text, close + 1);
  }
  xp_html_text(printer, text);
}

void xp_html_line(const xp_printer *printer, const char *first, const char *rest, xp_str text, bool is_prose)
{
  xp_str label = xp_str_trim(xp_str_c(first));
  bool is_head = label.len == 0 ? strlen(rest) > strlen(first) + 2 : xp_str_ends(label, ".");
  if (xp_str_is(label, "-")) { /* a list in text */
    label = xp_str_c("");
  }
  fputs(is_head ? "<p class=\"item\">" : label.len > 0 ? "<p class=\"row\">" : "<p>", printer->out);
  if (label.len > 0) {
    fputs("<b>", printer->out);
    xp_html_text(printer, label);
    fputs("</b> ", printer->out);
  }
  fputs("<span>", printer->out);
  if (is_prose) {
    xp_html_prose(printer, text);
  } else {
    xp_html_text(printer, text);
  }
  fputs("</span></p>\n", printer->out);
}

/* ---- the page */

static xp_str title(const xp_capture *capture)
{
  xp_str path = capture->host_count > 0 ? capture->hosts[0].path : xp_str_c("");
  size_t slash = xp_str_rfind(path, '/');
  return capture->run.len > 0 ? capture->run : slash < path.len ? xp_str_skip(path, slash + 1) : path;
}

static void head(const xp_view *view)
{
  FILE *out = view->printer->out;
  xp_str style = xp_html_style();
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n",
        out);
  fputs("<title>", out);
  xp_html_text(view->printer, title(view->reading->capture));
  fputs(" - xlaprof</title>\n<style>\n", out);
  fwrite(style.ptr, 1, style.len, out);
  fputs("</style>\n</head>\n<body>\n<main>\n", out);
}

void xp_report_html(const xp_view *view)
{
  head(view);
  xp_html_element(view->printer, "h1", "", title(view->reading->capture));
  fputs("<p class=\"verdict\">", view->printer->out);
  xp_html_prose(view->printer, view->reading->verdict);
  fputs("</p>\n", view->printer->out);
  xp_capture_text(view);
  xp_picture_devices(view);
  xp_advice_text(view);
  xp_devices_and_causes_text(view);
  xp_gap_examples_text(view);
  xp_report_steps_text(view);
  xp_picture_steps(view);
  xp_report_scopes_text(view);
  xp_picture_scopes(view);
  xp_report_counters_text(view);
  xp_health_text(view);
  fputs("</main>\n</body>\n</html>\n", view->printer->out);
}
