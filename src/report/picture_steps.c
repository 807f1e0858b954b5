/* Steps side by side in order of time: which were long, and did the devices work in them?
 *
 * A strip for each name of steps and host.  Thousands of steps do not fit beside each other, so that a column then
 * stands for a few that follow each other, and shows the longest of them: a slow step cannot hide. */
#include "report/format.h"
#include "report/html.h"
#include "report/text.h"

enum { MOST_STRIPS = 8, MOST_COLUMNS = 240, WIDEST = 8 /* percent of the strip */ };

typedef struct {
  const xp_step **steps; /* by start */
  size_t count;
  int64_t longest_ps;
} strip;

static strip steps_of(const xp_view *view, const xp_step_summary *s)
{
  const xp_reading *r = view->reading;
  strip found = {xp_arena_array(view->printer->arena, s->complete + s->partial, sizeof *found.steps), 0, 0};
  for (size_t i = 0; i < r->step_count && found.count < s->complete + s->partial; i++) {
    const xp_step *step = &r->steps[i];
    if (step->host == s->host && xp_str_eq(step->name, s->name)) {
      found.steps[found.count++] = step;
      found.longest_ps = step->dur_ps > found.longest_ps ? step->dur_ps : found.longest_ps;
    }
  }
  return found;
}

static const xp_step *longest_in(const strip *s, size_t first, size_t stop)
{
  const xp_step *longest = s->steps[first];
  for (size_t i = first + 1; i < stop; i++) {
    longest = s->steps[i]->dur_ps > longest->dur_ps ? s->steps[i] : longest;
  }
  return longest;
}

/* A part of a column, from its foot up to a share of the longest step. */
static void pillar(FILE *out, const char *class_name, double x, double width, double share)
{
  fprintf(out, "<rect class=\"%s\" x=\"%.3f%%\" y=\"%.2f%%\" width=\"%.3f%%\" height=\"%.2f%%\"/>\n", class_name, x,
          100 - 100 * share, width, 100 * share);
}

static void column(const xp_view *view, const strip *s, const xp_step *step, size_t at, size_t columns)
{
  FILE *out = view->printer->out;
  xp_arena *arena = view->printer->scratch;
  double room = columns * WIDEST < 100 ? WIDEST : 100.0 / (double)columns, longest = (double)s->longest_ps;
  int64_t busy_ps = step->busy_ps < step->dur_ps ? step->busy_ps : step->dur_ps; /* work may go on behind the step */
  xp_arena_clear(arena);
  xp_str length = xp_format_time(arena, step->dur_ps), busy = xp_format_time(arena, step->busy_ps);
  fputs("<g><title>", out);
  xp_html_text(view->printer, xp_step_label(view, step));
  fprintf(out, ": %.*s, busy %.*s%s</title>\n", XP_STR_ARG(length), XP_STR_ARG(busy),
          step->complete ? "" : ", cut by the session");
  pillar(out, step->complete ? "step" : "step cut", (double)at * room, room * 0.85, (double)step->dur_ps / longest);
  pillar(out, "busy", (double)at * room, room * 0.85, (double)busy_ps / longest);
  fputs("</g>\n", out);
}

static void draw(const xp_view *view, const xp_step_summary *summary, const strip *s)
{
  FILE *out = view->printer->out;
  size_t columns = s->count < MOST_COLUMNS ? s->count : MOST_COLUMNS;
  xp_str host = xp_view_host(view, summary->host), longest = xp_format_time(view->printer->arena, s->longest_ps);
  fputs("<figure class=\"strip\">\n<figcaption><b>", out);
  xp_html_text(view->printer, summary->name);
  fputs("</b> ", out);
  xp_html_text(view->printer, host);
  fprintf(out, " <span>%zu step%s, the longest %.*s%s</span></figcaption>\n", s->count, s->count == 1 ? "" : "s",
          XP_STR_ARG(longest), columns < s->count ? "; a column is the longest of several" : "");
  fputs("<svg role=\"img\" aria-label=\"Length of each step, and how much of it the devices worked\">\n", out);
  for (size_t i = 0; i < columns; i++) {
    column(view, s, longest_in(s, i * s->count / columns, (i + 1) * s->count / columns), i, columns);
  }
  fputs("</svg>\n</figure>\n", out);
}

void xp_picture_steps(const xp_view *view)
{
  const xp_reading *r = view->reading;
  size_t shown = xp_print_rows(view->printer, MOST_STRIPS, r->summary_count), drawn = 0;
  for (size_t i = 0; i < shown; i++) {
    strip s = steps_of(view, &r->summaries[i]);
    if (s.count > 0 && s.longest_ps > 0) {
      draw(view, &r->summaries[i], &s);
      drawn++;
    }
  }
  if (drawn > 0) {
    fputs("<p class=\"legend\"><svg class=\"key\" aria-hidden=\"true\"><rect class=\"step\" width=\"100%\" "
          "height=\"100%\"/>"
          "</svg> length of the step <svg class=\"key\" aria-hidden=\"true\"><rect class=\"busy\" width=\"100%\" "
          "height=\"100%\"/></svg> device work that it launched (mean of the devices)</p>\n",
          view->printer->out);
  }
}
