/* The tree of scopes, a row for each level: a scope is as wide as its share of all device time, and lies below the one
 * that it is in.  Rows of the reading come parents first, so that one pass knows where every scope begins. */
#include "report/format.h"
#include "report/html.h"
#include "report/text.h"

enum { MOST_LEVELS = 8, ROW_PX = 24 };

static const double LEAST_SHARE = 0.002; /* narrower than a few pixels: shown by its parent */

static size_t level_of(xp_str path)
{
  size_t level = 0;
  for (size_t i = 0; i < path.len; i++) {
    level += path.ptr[i] == '/';
  }
  return level;
}

/* How wide a box is on the screen is known to the browser alone, so that its style sheet shortens the name: SVG cannot.
 */
static void box(const xp_view *view, const char *class_name, xp_str path, size_t level, double x, double width,
                int64_t ps)
{
  FILE *out = view->printer->out;
  xp_arena *arena = view->printer->scratch;
  size_t slash = xp_str_rfind(path, '/');
  xp_arena_clear(arena);
  xp_str time = xp_format_time(arena, ps), share = xp_format_share(arena, width);
  fprintf(out, "<svg x=\"%.3f%%\" y=\"%zu\" width=\"%.3f%%\" height=\"%d\"><title>", 100 * x, level * ROW_PX,
          100 * width, ROW_PX);
  xp_html_text(view->printer, path);
  fprintf(out, ": %.*s, %.*s</title><rect class=\"%s\" width=\"100%%\" height=\"%d\"/>", XP_STR_ARG(time),
          XP_STR_ARG(share), class_name, ROW_PX - 2);
  fprintf(out, "<foreignObject width=\"100%%\" height=\"%d\"><div><span>", ROW_PX - 2);
  xp_html_text(view->printer, slash < path.len ? xp_str_skip(path, slash + 1) : path);
  fputs("</span></div></foreignObject></svg>\n", out);
}

/* Where the next scope of each level begins; a deeper level starts where its parent does. */
static void boxes(const xp_view *view)
{
  const xp_names *n = &view->reading->names;
  double next[MOST_LEVELS + 1] = {0}, whole = (double)n->device_ps;
  for (size_t i = 0; i < n->scope_count; i++) {
    size_t level = level_of(n->scopes[i].scope);
    double width = (double)n->scopes[i].ps / whole;
    if (level >= MOST_LEVELS) {
      continue;
    }
    if (width >= LEAST_SHARE) {
      box(view, "scope", n->scopes[i].scope, level, next[level], width, n->scopes[i].ps);
    }
    next[level + 1] = next[level];
    next[level] += width;
  }
  if (n->unnamed_ps > 0) {
    box(view, "unnamed", xp_str_c("(in no scope)"), 0, next[0], (double)n->unnamed_ps / whole, n->unnamed_ps);
  }
}

/* The height has to stand before the boxes. */
static size_t count_levels(const xp_names *n)
{
  size_t levels = 1;
  for (size_t i = 0; i < n->scope_count; i++) {
    size_t level = level_of(n->scopes[i].scope) + 1;
    bool is_drawn = (double)n->scopes[i].ps / (double)n->device_ps >= LEAST_SHARE;
    levels = is_drawn && level > levels && level <= MOST_LEVELS ? level : levels;
  }
  return levels;
}

void xp_picture_scopes(const xp_view *view)
{
  const xp_names *n = &view->reading->names;
  if (n->device_ps <= 0 || n->scope_count == 0) {
    return;
  }
  fprintf(view->printer->out,
          "<figure class=\"tree\">\n<svg role=\"img\" aria-label=\"Device time by scope, nested\" height=\"%zu\">\n",
          count_levels(n) * ROW_PX);
  boxes(view);
  fputs("</svg>\n</figure>\n", view->printer->out);
}
