/* A name is held against the expression once for its plane, not once for each event: `verdicts` remembers what came
 * out. */
#include "report/select.h"

#include <stdlib.h>

#include "report/text.h"

static bool matches(const xp_name_filter *filter, xp_str name)
{
  if (filter->text == NULL) {
    return true;
  }
  return filter->exact ? xp_str_is(name, filter->text) : xp_str_find_text(name, filter->text) < name.len;
}

xp_str xp_line_label(const xp_line *line)
{
  return line->display_name.len > 0 ? line->display_name : line->name;
}

xp_str xp_event_label(xp_arena *arena, xp_str name)
{
  enum { BEGINNING = 24 };
  if (!xp_str_starts(name, "%") || name.len <= BEGINNING || xp_str_find_text(name, " = ") == name.len) {
    return name;
  }
  xp_str start = xp_text_printable(arena, xp_str_take(name, BEGINNING));
  return xp_arena_format(arena, "%.*s...", XP_STR_ARG(start));
}

/* Sets `exact` where a plane or line has exactly the name that was asked for. */
static void settle_filters(xp_selection *s, const xp_capture *capture)
{
  for (size_t h = 0; h < capture->host_count; h++) {
    for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
      const xp_plane *plane = &capture->hosts[h].planes[p];
      if (s->plane.text != NULL && xp_str_is(plane->name, s->plane.text)) {
        s->plane.exact = true;
      }
      for (size_t l = 0; l < plane->line_count && s->line.text != NULL; l++) {
        if (xp_str_is(xp_line_label(&plane->lines[l]), s->line.text)) {
          s->line.exact = true;
        }
      }
    }
  }
}

xp_status xp_selection_open(xp_selection *s, const xp_capture *capture, const xp_event_query *query, xp_error *err)
{
  memset(s, 0, sizeof *s);
  s->query = query;
  s->plane.text = query->plane;
  s->line.text = query->line;
  settle_filters(s, capture);
  if (query->match == NULL) {
    return XP_OK;
  }
  int problem = regcomp(&s->regex, query->match, REG_EXTENDED | REG_NOSUB | (query->any_case ? REG_ICASE : 0));
  if (problem != 0) {
    char text[200];
    regerror(problem, &s->regex, text, sizeof text);
    return xp_fail(err, XP_ERR_USAGE,
                   "\"%s\" is no regular expression: %s. Put a backslash before ( ) [ ] { } . * + ? | "
                   "to look for the character itself",
                   query->match, text);
  }
  s->has_regex = true;
  return XP_OK;
}

void xp_selection_close(xp_selection *s)
{
  if (s->has_regex) {
    regfree(&s->regex);
  }
  s->has_regex = false;
}

bool xp_selection_line(const xp_selection *s, const xp_line *line)
{
  return matches(&s->plane, line->plane->name) && matches(&s->line, xp_line_label(line));
}

/* Names go to regexec as C strings; long ones by way of the heap. */
bool xp_selection_name(const xp_selection *s, xp_str name)
{
  char buffer[512];
  if (!s->has_regex) {
    return true;
  }
  char *text = name.len < sizeof buffer ? buffer : malloc(name.len + 1);
  if (text == NULL) {
    return false;
  }
  if (name.len > 0) {
    memcpy(text, name.ptr, name.len);
  }
  text[name.len] = '\0';
  for (size_t i = 0; i < name.len; i++) { /* a NUL inside would hide what follows */
    if (text[i] == '\0') {
      text[i] = ' ';
    }
  }
  bool found = regexec(&s->regex, text, 0, NULL, 0) == 0;
  if (text != buffer) {
    free(text);
  }
  return found;
}

bool xp_selection_time(const xp_selection *s, const xp_line *line, size_t event)
{
  const xp_event_query *q = s->query;
  if (!q->has_from && !q->has_to) {
    return true;
  }
  if (line->meta[event] & (XP_EVENT_UNTIMED | XP_EVENT_STRAY)) {
    return false;
  }
  int64_t start = line->start_ps[event], end = xp_event_end(line, event);
  if (q->has_from && (end < q->from_ps || (end == q->from_ps && start < end))) {
    return false;
  }
  return !q->has_to || start < q->to_ps || (start == q->to_ps && start == end);
}

enum { NOT_ASKED, WANTED, UNWANTED };

static void each_of_line(const xp_selection *s, const xp_line *line, uint8_t *verdicts,
                         void (*each)(void *context, const xp_line *line, size_t event), void *context)
{
  for (size_t i = 0; i < line->count; i++) {
    uint32_t meta = line->meta[i] & XP_EVENT_META_MASK;
    if (verdicts[meta] == NOT_ASKED) {
      verdicts[meta] = xp_selection_name(s, line->plane->event_meta[meta].name) ? WANTED : UNWANTED;
    }
    if (verdicts[meta] == WANTED && xp_selection_time(s, line, i)) {
      each(context, line, i);
    }
  }
}

void xp_selection_each(const xp_selection *s, const xp_capture *capture,
                       void (*each)(void *context, const xp_line *line, size_t event), void *context)
{
  for (size_t h = 0; h < capture->host_count; h++) {
    for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
      const xp_plane *plane = &capture->hosts[h].planes[p];
      uint8_t *verdicts = xp_arena_alloc(s->arena, plane->event_meta_count);
      for (size_t l = 0; l < plane->line_count; l++) {
        if (xp_selection_line(s, &plane->lines[l])) {
          each_of_line(s, &plane->lines[l], verdicts, each, context);
        }
      }
    }
  }
}
