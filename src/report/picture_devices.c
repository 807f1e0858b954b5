/* Where the window of each device went: one bar a device, all as wide as their own window.
 *
 * A bar is drawn in percent of its window, from left to right: busy, copies alone, then idle by cause, largest first of
 * all devices.  So a colour stands in one place in all bars.  What is not in a listed gap is the row "short". */
#include "report/format.h"
#include "report/html.h"
#include "report/words.h"

enum { MOST_BARS = 64 };

typedef struct {
  int64_t total[XP_CAUSE_COUNT];        /* of all devices that are shown */
  xp_cause order[XP_CAUSE_COUNT];       /* largest first */
  int64_t (*of_device)[XP_CAUSE_COUNT]; /* for every device of the reading */
} idle_sums;

static idle_sums sum_idle(const xp_view *view)
{
  const xp_reading *r = view->reading;
  idle_sums sums = {.of_device = xp_arena_array(view->printer->arena, r->device_count, sizeof *sums.of_device)};
  for (size_t i = 0; i < r->gap_count; i++) {
    if (r->gaps[i].where == XP_WHERE_INSIDE) {
      sums.of_device[r->gaps[i].device][r->gaps[i].cause] += r->gaps[i].dur_ps;
    }
  }
  for (size_t i = 0; i < r->device_count; i++) {
    sums.of_device[i][XP_CAUSE_SHORT] += r->devices[i].short_ps;
    for (int cause = 0; cause < XP_CAUSE_COUNT && r->devices[i].ranked; cause++) {
      sums.total[cause] += sums.of_device[i][cause];
    }
  }
  for (int n = 0; n < XP_CAUSE_COUNT; n++) { /* insertion */
    int at = n;
    while (at > 0 && sums.total[sums.order[at - 1]] < sums.total[n]) {
      sums.order[at] = sums.order[at - 1];
      at--;
    }
    sums.order[at] = (xp_cause)n;
  }
  return sums;
}

/* One piece of a bar; returns where the next begins. */
static double piece(const xp_view *view, double x, int64_t ps, int64_t window, const char *class_name)
{
  double width = 100.0 * (double)ps / (double)window;
  if (ps <= 0) {
    return x;
  }
  xp_str time = xp_format_time(view->printer->scratch, ps);
  xp_str share = xp_format_share(view->printer->scratch, (double)ps / (double)window);
  fprintf(view->printer->out,
          "<rect class=\"%s\" x=\"%.3f%%\" width=\"%.3f%%\" height=\"100%%\"><title>%s: %.*s, %.*s</title></rect>\n",
          class_name, x, width, class_name, XP_STR_ARG(time), XP_STR_ARG(share));
  return x + width;
}

static void bar(const xp_view *view, const xp_device *d, const idle_sums *sums, const int64_t *idle)
{
  int64_t window = d->window_ps[1] - d->window_ps[0];
  double x = piece(view, 0, d->busy_ps, window, "busy");
  x = piece(view, x, window - d->busy_ps - d->idle_ps, window, "copies");
  for (int n = 0; n < XP_CAUSE_COUNT; n++) {
    x = piece(view, x, idle[sums->order[n]], window, xp_cause_name(sums->order[n]));
  }
}

static void device_row(const xp_view *view, const xp_device *d, const idle_sums *sums, const int64_t *idle)
{
  FILE *out = view->printer->out;
  xp_arena *arena = view->printer->scratch;
  xp_str host = xp_view_host(view, d->host);
  int64_t window = d->window_ps[1] - d->window_ps[0];
  xp_arena_clear(arena);
  xp_str busy = xp_format_share(arena, window > 0 ? (double)d->busy_ps / (double)window : 1);
  xp_str length = xp_format_time(arena, window), waited = xp_format_time(arena, d->idle_ps);
  fputs("<figure class=\"device\">\n<figcaption>", out);
  fputs("<b>", out);
  xp_html_text(view->printer, d->name);
  fputs("</b> ", out);
  if (host.len > 0) {
    fputs("of ", out);
    xp_html_text(view->printer, host);
    fputs(" ", out);
  }
  fprintf(out, "<span>busy %.*s of %.*s, idle %.*s</span></figcaption>\n", XP_STR_ARG(busy), XP_STR_ARG(length),
          XP_STR_ARG(waited));
  fputs("<svg class=\"bar\" role=\"img\" aria-label=\"Busy, and idle by cause\">\n", out);
  bar(view, d, sums, idle);
  fputs("</svg>\n</figure>\n", out);
}

static void key_row(const xp_view *view, const char *class_name, const char *words, int64_t ps, int64_t of)
{
  FILE *out = view->printer->out;
  xp_arena *arena = view->printer->scratch;
  xp_arena_clear(arena);
  xp_str time = xp_format_time(arena, ps), share = xp_format_share(arena, of > 0 ? (double)ps / (double)of : 0);
  fprintf(out,
          "<tr><td><svg class=\"key\" aria-hidden=\"true\"><rect class=\"%s\" width=\"100%%\" height=\"100%%\"/>"
          "</svg> %s</td><td class=\"n\">%.*s</td><td class=\"n\">%.*s</td><td class=\"minor\">",
          class_name, class_name, XP_STR_ARG(time), XP_STR_ARG(share));
  xp_html_text(view->printer, xp_str_c(words));
  fputs("</td></tr>\n", out);
}

/* Shares of the windows of all devices that are ranked. */
static void key(const xp_view *view, const idle_sums *sums)
{
  const xp_reading *r = view->reading;
  int64_t window = 0, busy = 0, copies = 0;
  for (size_t i = 0; i < r->device_count; i++) {
    const xp_device *d = &r->devices[i];
    if (d->has_window && d->ranked) {
      window += d->window_ps[1] - d->window_ps[0];
      busy += d->busy_ps;
      copies += d->window_ps[1] - d->window_ps[0] - d->busy_ps - d->idle_ps;
    }
  }
  fputs("<div class=\"table\"><table class=\"key\">\n<thead><tr><th>colour</th><th class=\"n\">time</th>"
        "<th class=\"n\">of windows</th><th class=\"minor\">meaning</th></tr></thead>\n<tbody>\n",
        view->printer->out);
  key_row(view, "busy", "the device worked", busy, window);
  if (copies > 0) {
    key_row(view, "copies", "only copies ran", copies, window);
  }
  for (int n = 0; n < XP_CAUSE_COUNT; n++) {
    xp_cause cause = sums->order[n];
    if (sums->total[cause] > 0) {
      key_row(view, xp_cause_name(cause), xp_cause_words(cause), sums->total[cause], window);
    }
  }
  fputs("</tbody>\n</table></div>\n", view->printer->out);
}

void xp_picture_devices(const xp_view *view)
{
  const xp_reading *r = view->reading;
  size_t working = 0;
  while (working < r->device_count && r->devices[working].has_window) {
    working++;
  }
  if (working == 0) {
    xp_html_element(view->printer, "p", "empty",
                    xp_str_c("No device work was recorded in this capture, so there is no waiting to explain. "
                             "The health of the capture below says what is there."));
    return;
  }
  const idle_sums sums = sum_idle(view);
  size_t shown = xp_print_rows(view->printer, MOST_BARS, working);
  xp_print_heading(view->printer, "Busy, and idle by cause");
  for (size_t i = 0; i < shown; i++) {
    device_row(view, &r->devices[i], &sums, sums.of_device[i]);
  }
  xp_view_rest(view, working - shown, "device", -1);
  key(view, &sums);
}
