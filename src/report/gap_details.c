/* Single gaps, each as a short story: what happened, the parts, the work on both sides, the events that show it. */
#include <stdlib.h>

#include "report/extent.h"
#include "report/format.h"
#include "report/pieces.h"
#include "report/text.h"
#include "report/view.h"
#include "report/words.h"

enum { PARTS_SHOWN = 3, EVIDENCE_SHOWN = 4, INDENT = 5, NAME_WIDTH = 48 };

static int longer(const void *a, const void *b)
{
  const xp_gap *x = *(const xp_gap *const *)a, *y = *(const xp_gap *const *)b;
  if (x->dur_ps != y->dur_ps) {
    return x->dur_ps > y->dur_ps ? -1 : 1;
  }
  return x < y ? -1 : x > y; /* pointers into one array */
}

const xp_gap **xp_gaps_by_length(const xp_view *view, bool edges_only, size_t *count)
{
  const xp_reading *r = view->reading;
  *count = 0;
  for (size_t i = 0; i < r->gap_count; i++) {
    *count += !edges_only || r->gaps[i].where != XP_WHERE_INSIDE;
  }
  const xp_gap **gaps = xp_arena_array(view->printer->arena, *count, sizeof *gaps);
  *count = 0;
  for (size_t i = 0; i < r->gap_count; i++) {
    if (!edges_only || r->gaps[i].where != XP_WHERE_INSIDE) {
      gaps[(*count)++] = &r->gaps[i];
    }
  }
  if (*count > 1) {
    qsort(gaps, *count, sizeof *gaps, longer);
  }
  return gaps;
}

/* ": 93 % of the idle time"; of lead-ins and tails ": 1.2 % of the session", nothing for those that are in no sum. */
static xp_str share_words(const xp_view *view, const xp_gap *gap)
{
  const xp_reading *r = view->reading;
  bool inside = gap->where == XP_WHERE_INSIDE;
  int64_t whole = inside ? r->idle_ps : r->devices[gap->device].session_ps;
  if (whole <= 0 || (!inside && !xp_edge_counts(gap))) {
    return xp_str_c("");
  }
  xp_str share = xp_format_share(view->printer->scratch, (double)gap->dur_ps / (double)whole);
  return xp_arena_format(view->printer->scratch, ": %.*s of the %s", XP_STR_ARG(share),
                         inside ? "idle time" : "session");
}

/* ---- the parts */

/* Parts with the same cause and scope, as one. */
typedef struct {
  const xp_part *largest;
  int64_t ps;
} merged_part;

static int more(const void *a, const void *b)
{
  const merged_part *x = a, *y = b;
  if (x->ps != y->ps) {
    return x->ps > y->ps ? -1 : 1;
  }
  return x->largest < y->largest ? -1 : x->largest > y->largest;
}

static merged_part *merge_parts(xp_arena *arena, const xp_gap_details *d, size_t *count)
{
  merged_part *merged = xp_arena_array(arena, d->part_count, sizeof *merged);
  *count = 0;
  for (size_t i = 0; i < d->part_count; i++) {
    size_t k = 0;
    while (k < *count &&
           (merged[k].largest->cause != d->parts[i].cause || !xp_str_eq(merged[k].largest->scope, d->parts[i].scope))) {
      k++;
    }
    if (k == *count) {
      merged[(*count)++] = (merged_part){&d->parts[i], 0}; /* parts come longest first */
    }
    merged[k].ps += d->parts[i].ps;
  }
  if (*count > 1) {
    qsort(merged, *count, sizeof *merged, more);
  }
  return merged;
}

/* "in watermark: numpy.dot (may be tracing)"; the event only if it makes up most of the part. */
static xp_str part_words(xp_arena *arena, const merged_part *m)
{
  const xp_part *part = m->largest;
  xp_str scope = xp_text_fit(arena, xp_text_printable(arena, part->scope), NAME_WIDTH);
  xp_str event = xp_text_fit(arena, xp_text_printable(arena, part->event), NAME_WIDTH);
  xp_str detail = xp_text_printable(arena, part->detail);
  bool says_event = event.len > 0 && !xp_str_eq(part->event, part->scope) && part->ps > m->ps / 2;
  return xp_arena_format(arena, "%s%.*s%s%.*s%s%.*s%s%s", scope.len > 0 ? "in " : "", XP_STR_ARG(scope),
                         scope.len > 0 && says_event ? ": " : "", says_event ? (int)event.len : 0,
                         event.len > 0 ? event.ptr : "", detail.len > 0 ? " (" : "", XP_STR_ARG(detail),
                         detail.len > 0 ? ")" : "", part->maybe_tracing ? ", may be tracing" : "");
}

static void part_line(const xp_view *view, int64_t ps, const char *cause, xp_str words)
{
  enum { TEXT_AT = INDENT + 10 + 2 + 15, NARROW_TEXT_AT = INDENT + 10 + 2, NARROW = 60 };
  xp_arena *arena = view->printer->scratch;
  xp_str time = xp_format_time(arena, ps);
  if (view->printer->form == XP_FORM_HTML) {
    xp_str first = xp_arena_format(arena, "%.*s %s", XP_STR_ARG(time), cause);
    xp_print_text(view->printer, first.ptr, "", words);
    return;
  }
  if (words.len == 0) {
    fprintf(view->printer->out, "%*s%10.*s  %s\n", INDENT, "", XP_STR_ARG(time), cause);
    return;
  }
  xp_str first = xp_arena_format(arena, "%*s%10.*s  %-15s", INDENT, "", XP_STR_ARG(time), cause);
  xp_str rest = xp_arena_format(arena, "%*s", view->printer->width < NARROW ? NARROW_TEXT_AT : TEXT_AT, "");
  xp_text_wrap(view->printer->out, words, first.ptr, rest.ptr, view->printer->width);
}

static void parts(const xp_view *view, const xp_gap_details *d)
{
  size_t count;
  const merged_part *merged = merge_parts(view->printer->scratch, d, &count);
  size_t shown = count <= PARTS_SHOWN + 1 ? count : PARTS_SHOWN;
  int64_t rest = 0;
  for (size_t i = 0; i < shown; i++) {
    part_line(view, merged[i].ps, xp_cause_name(merged[i].largest->cause),
              part_words(view->printer->scratch, &merged[i]));
  }
  for (size_t i = shown; i < count; i++) {
    rest += merged[i].ps;
  }
  if (shown < count) {
    part_line(view, rest, xp_arena_format(view->printer->scratch, "%zu smaller parts", count - shown).ptr,
              xp_str_c(""));
  }
}

/* ---- the rest */

static void title(const xp_view *view, size_t number, const xp_gap *gap, size_t such)
{
  static const char *const where[] = {"", ", before its first work", ", after its last work"};
  const xp_reading *r = view->reading;
  xp_arena *arena = view->printer->scratch;
  xp_str length = xp_format_time(arena, gap->dur_ps), start = xp_format_place(arena, gap->start_ps, gap->dur_ps);
  xp_str share = share_words(view, gap);
  xp_str device = xp_text_printable(arena, r->devices[gap->device].name);
  xp_str host = xp_text_printable(arena, xp_view_host(view, r->devices[gap->device].host));
  xp_str step = gap->step == XP_NONE ? xp_str_c("") : xp_step_label(view, &r->steps[gap->step]);
  xp_str text = xp_arena_format(arena, "%zu. %.*s on %.*s%s%.*s, from %.*s%s%s%.*s%.*s", number, XP_STR_ARG(length),
                                XP_STR_ARG(device), host.len > 0 ? " of " : "", XP_STR_ARG(host), XP_STR_ARG(start),
                                where[gap->where], step.len > 0 ? ", step " : "", XP_STR_ARG(step), XP_STR_ARG(share));
  if (such > 1) {
    xp_str count = xp_format_things(arena, such, "such gap");
    text = xp_arena_format(arena, "%.*s (the longest of %.*s)", XP_STR_ARG(text), XP_STR_ARG(count));
  }
  xp_print_text(view->printer, "  ", "     ", text);
}

/* "dot.5 (vae/decode)", or "dot.5 (program SyncTensorsGraph.12)" without a scope; empty if nothing is known */
static xp_str work_words(xp_arena *arena, const xp_work_name *work)
{
  xp_str op = xp_text_fit(arena, xp_text_printable(arena, work->op), 40);
  xp_str scope = xp_text_printable(arena, work->scope);
  xp_str program = scope.len > 0 ? xp_str_c("") : xp_text_printable(arena, work->program);
  const char *open = scope.len + program.len > 0 ? " (" : "", *close = scope.len + program.len > 0 ? ")" : "";
  if (op.len == 0) {
    op = xp_str_c(program.len > 0 ? "work without a name" : "");
  }
  return xp_arena_format(arena, "%.*s%s%.*s%s%.*s%s", XP_STR_ARG(op), open, XP_STR_ARG(scope),
                         program.len > 0 ? "program " : "", XP_STR_ARG(program), close);
}

static void row(const xp_view *view, const char *label, xp_str text)
{
  char first[32];
  snprintf(first, sizeof first, "%*s%-8s ", INDENT, "", label);
  if (text.len > 0) {
    xp_print_text(view->printer, first, "              ", text);
  }
}

static void evidence(const xp_view *view, const xp_evidence *e)
{
  xp_arena *arena = view->printer->scratch;
  xp_str name = xp_text_fit(arena, xp_text_printable(arena, e->event), 60);
  xp_str start = xp_format_place(arena, e->start_ps, e->dur_ps), length = xp_format_time(arena, e->dur_ps);
  xp_str thread = xp_text_printable(arena, e->thread);
  xp_str frame = xp_text_printable(arena, xp_str_skip(e->frame, xp_str_starts(e->frame, "$") ? 1 : 0));
  xp_str text = xp_arena_format(arena, "%.*s, %.*s long, from %.*s%s%.*s%s%.*s", XP_STR_ARG(name), XP_STR_ARG(length),
                                XP_STR_ARG(start), thread.len > 0 ? ", thread " : "", XP_STR_ARG(thread),
                                frame.len > 0 ? ", Python " : "", XP_STR_ARG(frame));
  row(view, e->role, text);
}

/* `such`: how many gaps this one stands for; 0: only for itself, with all its evidence. */
static void detail(const xp_view *view, size_t number, const xp_gap *gap, size_t such)
{
  xp_arena *arena = view->printer->scratch;
  xp_gap_details d = xp_view_details(view, gap);
  title(view, number, gap, such);
  xp_print_text(view->printer, "     ", "     ", xp_gap_words(arena, gap));
  parts(view, &d);
  row(view, "before", work_words(arena, &d.before));
  row(view, "after", work_words(arena, &d.after));
  for (size_t i = 0; i < d.evidence_count && i < EVIDENCE_SHOWN; i++) {
    bool tells_more = d.evidence[i].frame.len > 0 || strcmp(d.evidence[i].role, "trigger") == 0;
    if (such == 0 || tells_more) {
      evidence(view, &d.evidence[i]);
    }
  }
}

/* Gaps in the order in which they are told. */
typedef struct {
  const xp_view *view;
  const xp_gap **gaps;
} story;

static void details_piece(const void *context, const xp_printer *printer, size_t first, size_t end)
{
  const story *s = context;
  xp_view view = *s->view;
  view.printer = printer;
  for (size_t i = first; i < end; i++) {
    detail(&view, i + 1, s->gaps[i], 0);
  }
}

void xp_gap_details_text(const xp_view *view, size_t gaps)
{
  size_t count;
  const xp_gap **sorted = xp_gaps_by_length(view, false, &count);
  size_t shown = count < gaps ? count : gaps;
  int64_t rest = 0;
  xp_pieces_write(view->printer, shown, details_piece, &(story){view, sorted});
  for (size_t i = shown; i < count; i++) {
    rest += sorted[i]->dur_ps;
  }
  xp_view_rest(view, count - shown, "gap", rest);
}

static bool is_of_kind(const xp_gap *gap, const xp_cause_row *row)
{
  return gap->cause == row->cause && gap->trigger == row->trigger && gap->where == row->where &&
         xp_str_eq(gap->scope, row->scope) && xp_str_eq(gap->trigger_scope, row->trigger_scope);
}

static const xp_gap *longest_of_kind(const xp_reading *r, const xp_cause_row *row)
{
  const xp_gap *longest = NULL;
  for (size_t i = 0; i < r->gap_count; i++) {
    if (is_of_kind(&r->gaps[i], row) && (longest == NULL || r->gaps[i].dur_ps > longest->dur_ps)) {
      longest = &r->gaps[i];
    }
  }
  return longest;
}

void xp_gap_kinds_text(const xp_view *view, size_t gaps, double least_share)
{
  const xp_reading *r = view->reading;
  size_t shown = 0;
  for (size_t i = 0; i < r->cause_count && shown < gaps; i++) {
    const xp_cause_row *row = &r->causes[i];
    const xp_gap *gap =
        row->cause == XP_CAUSE_SHORT || (shown > 0 && row->share < least_share) ? NULL : longest_of_kind(r, row);
    if (gap != NULL) {
      detail(view, ++shown, gap, row->gaps);
    }
  }
  if (shown == 0) {
    xp_print_line(view->printer, "  ", "None.");
  }
}
