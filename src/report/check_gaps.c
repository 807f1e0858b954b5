/* Each prediction with what was found for it, then the gaps that nobody predicted.
 */
#include "base/sum.h"
#include "report/check_view.h"
#include "report/format.h"
#include "report/table.h"
#include "report/words.h"

enum { USUAL_ROWS = 20 };

/* ---- predictions */

/* "host in watermark": what is said of the gap itself. */
static xp_str gap_words(xp_arena *arena, const xp_expected_gap *e)
{
  const char *cause = e->has_cause ? xp_cause_name(e->cause) : "any cause";
  if (!e->has_scope) {
    return xp_str_c(cause);
  }
  return e->scope.len > 0 ? xp_arena_format(arena, "%s in %.*s", cause, XP_STR_ARG(e->scope))
                          : xp_arena_format(arena, "%s in no scope", cause);
}

/* ", after a read in scheduler.step" */
static xp_str after_words(xp_arena *arena, const xp_expected_gap *e)
{
  static const char *const words[] = {"nothing", "a read", "a wait", "a compile"};
  const char *what = e->has_trigger ? words[e->trigger] : "a read, wait or compile";
  if (!e->has_trigger && !e->has_trigger_scope) {
    return xp_str_c("");
  }
  if (!e->has_trigger_scope) {
    return xp_arena_format(arena, ", after %s", what);
  }
  return e->trigger_scope.len > 0 ? xp_arena_format(arena, ", after %s in %.*s", what, XP_STR_ARG(e->trigger_scope))
                                  : xp_arena_format(arena, ", after %s in no scope", what);
}

static xp_str length_words(xp_arena *arena, const xp_expected_gap *e)
{
  xp_str least = xp_format_time(arena, e->min_ps), most = xp_format_time(arena, e->max_ps);
  if (e->max_ps == INT64_MAX) {
    return e->min_ps == 0 ? xp_str_c("") : xp_arena_format(arena, ", %.*s or more", XP_STR_ARG(least));
  }
  return e->min_ps == 0 ? xp_arena_format(arena, ", %.*s at most", XP_STR_ARG(most))
                        : xp_arena_format(arena, ", %.*s to %.*s", XP_STR_ARG(least), XP_STR_ARG(most));
}

static xp_str count_words(xp_arena *arena, const xp_expected_gap *e)
{
  long long least = (long long)e->least, most = (long long)e->most;
  if (e->most == INT64_MAX && least == 0) {
    return xp_str_c("any number");
  }
  if (e->most == INT64_MAX) {
    return xp_arena_format(arena, "%lld or more", least);
  }
  return least == most ? xp_arena_format(arena, "%lld", least) : xp_arena_format(arena, "%lld to %lld", least, most);
}

/* "211.6 ms, from 59.0 ms on CPU:0" */
static xp_str place_words(const xp_check_view *v, const xp_gap *gap)
{
  xp_arena *arena = v->view.printer->arena;
  xp_str length = xp_format_time(arena, gap->dur_ps), from = xp_format_time(arena, gap->start_ps);
  return xp_arena_format(arena, "%.*s, from %.*s on %.*s", XP_STR_ARG(length), XP_STR_ARG(from),
                         XP_STR_ARG(v->view.reading->devices[gap->device].name));
}

/* Where too few were found: the gap that was perhaps meant. */
static void nearest_text(const xp_check_view *v, const xp_expected_result *row)
{
  xp_arena *arena = v->view.printer->arena;
  const xp_gap *gap = row->nearest;
  if (gap == NULL) {
    return;
  }
  const xp_expected_gap found = {.has_scope = true,
                                 .scope = gap->scope,
                                 .has_cause = true,
                                 .cause = gap->cause,
                                 .has_trigger = true,
                                 .trigger = gap->trigger,
                                 .has_trigger_scope = gap->trigger != XP_TRIGGER_NONE,
                                 .trigger_scope = gap->trigger_scope};
  xp_str what = gap_words(arena, &found), after = after_words(arena, &found), place = place_words(v, gap);
  xp_check_advise(v, "One gap differs in `%s` alone: %.*s%.*s; %.*s.", row->differs, XP_STR_ARG(what),
                  XP_STR_ARG(after), XP_STR_ARG(place));
}

static void prediction_text(const xp_check_view *v, size_t i)
{
  const xp_expected_result *row = &v->check->gaps.rows[i];
  const xp_expected_gap *e = row->expected;
  xp_arena *arena = v->view.printer->arena;
  bool too_few = (int64_t)row->found < e->least;
  xp_str what = gap_words(arena, e), after = after_words(arena, e), length = length_words(arena, e);
  xp_str predicted = count_words(arena, e), found = xp_format_things(arena, row->found, "gap");
  xp_str place = row->longest != NULL ? place_words(v, row->longest) : xp_str_c("");
  xp_str first = xp_arena_format(arena, "  row %zu ", i + 1);
  xp_str text =
      xp_arena_format(arena, "%s: %.*s (predicted: %.*s), %.*s%.*s%.*s%s%.*s%s",
                      row->ok   ? "ok"
                      : too_few ? "TOO FEW"
                                : "TOO MANY",
                      XP_STR_ARG(found), XP_STR_ARG(predicted), XP_STR_ARG(what), XP_STR_ARG(after), XP_STR_ARG(length),
                      place.len > 0 ? "; the longest " : "", XP_STR_ARG(place), row->ok ? "" : ".");
  xp_print_text(v->view.printer, first.ptr, "     ", text);
  if (too_few) {
    nearest_text(v, row);
  }
}

/* All that fail, and as many others as a table has rows. */
static void predictions_text(const xp_check_view *v)
{
  const xp_gaps_check *gaps = &v->check->gaps;
  size_t most = xp_print_rows(v->view.printer, USUAL_ROWS, gaps->row_count), left_out = 0;
  xp_print_exact(v->view.printer, "  Predicted in ", "  ", xp_str_c(v->expect));
  for (size_t i = 0; i < gaps->row_count; i++) {
    if (gaps->rows[i].ok && i >= most) {
      left_out++;
    } else {
      prediction_text(v, i);
    }
  }
  xp_view_rest(&v->view, left_out, "row", -1);
  if (gaps->row_count == 0) {
    xp_print_line(v->view.printer, "  ", "(no rows: no gap that counts)");
  }
}

/* ---- what nobody predicted */

static void floor_text(const xp_check_view *v)
{
  static const char *const bases[] = {
      [XP_BASE_PERIOD] = "the step's period",
      [XP_BASE_LENGTH] = "the step's length (no two whole steps follow each other)",
      [XP_BASE_WINDOW] = "the time from the first to the last work (no whole step of this name is in the capture)",
  };
  const xp_gaps_check *gaps = &v->check->gaps;
  xp_arena *arena = v->view.printer->arena;
  xp_str floor = xp_format_time(arena, gaps->floor_ps), base = xp_format_time(arena, gaps->base_ps);
  xp_print_line(v->view.printer, "  ", "Gaps count from %.*s on: %g %% of %.*s, %s.", XP_STR_ARG(floor),
                gaps->floor_percent, XP_STR_ARG(base), bases[gaps->base]);
}

/* What to do about gaps that nobody predicted: a command that shows the longest. */
static void look_text(const xp_check_view *v, const xp_gap *gap)
{
  xp_arena *arena = v->view.printer->arena;
  xp_str from = xp_format_place_in(arena, gap->start_ps, XP_UNIT_MS, 3);
  xp_str to = xp_format_place_in(arena, xp_add_saturating(gap->start_ps, gap->dur_ps), XP_UNIT_MS, 3);
  xp_str command = xp_arena_format(arena, "xlaprof gaps %s --from %.*sms --to %.*sms",
                                   v->view.path != NULL ? v->view.path : "PATH", XP_STR_ARG(from), XP_STR_ARG(to));
  xp_print_exact(v->view.printer, "  -> What the host did: ", "     ", command);
  xp_check_advise(v, "If they belong to the program, predict them: `gaps.kinds` of check --json has rows to copy.");
}

static void unexpected_text(const xp_check_view *v)
{
  const xp_gaps_check *gaps = &v->check->gaps;
  xp_arena *arena = v->view.printer->arena;
  xp_str small = xp_format_things(arena, gaps->small_count, "smaller gap");
  xp_str time = xp_format_time(arena, gaps->small_ps), all = xp_format_time(arena, gaps->unexpected_ps);
  if (gaps->unexpected_count > 0) {
    xp_str count = xp_format_things(arena, gaps->unexpected_count, "gap");
    xp_print_line(v->view.printer, "  ", "%.*s that no row predicts (%.*s in all):", XP_STR_ARG(count),
                  XP_STR_ARG(all));
    xp_gap_list_text(&v->view, gaps->unexpected, gaps->unexpected_count, USUAL_ROWS);
    look_text(v, gaps->unexpected[0]);
  } else {
    xp_print_line(v->view.printer, "  ", "Every gap of this length is predicted.");
  }
  if (gaps->small_count > 0) {
    xp_print_line(v->view.printer, "  ", "%.*s that no row predicts: %.*s in all.", XP_STR_ARG(small),
                  XP_STR_ARG(time));
  }
}

/* ---- without predictions */

static const xp_column kind_columns[] = {
    {"cause", "cause", XP_COLUMN_TEXT, 0, 7},        {"in", "scope", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 8},
    {"after", "trigger", XP_COLUMN_TEXT, 0, 8},      {"gaps", "count", XP_COLUMN_COUNT, 0, 0},
    {"longest", "longest_ps", XP_COLUMN_TIME, 0, 0}, {"time", "ps", XP_COLUMN_TIME, 0, 0},
};

static void add_kind(const void *context, xp_table *table, size_t i)
{
  const xp_check_view *v = context;
  const xp_cause_row *row = v->check->gaps.kinds[i];
  xp_table_text(table, xp_str_c(xp_cause_name(row->cause)));
  xp_table_text(table, row->scope);
  xp_table_text(table, xp_trigger_words(v->view.printer->scratch, row->trigger, row->trigger_scope));
  xp_table_int(table, (int64_t)row->gaps);
  xp_table_int(table, row->longest_ps);
  xp_table_int(table, row->ps);
}

static void kinds_text(const xp_check_view *v)
{
  const xp_gaps_check *gaps = &v->check->gaps;
  size_t rows = xp_print_rows(v->view.printer, USUAL_ROWS, gaps->kind_count);
  if (gaps->kind_count == 0) {
    xp_print_line(v->view.printer, "  ", "There is none.");
    return;
  }
  xp_table *table = xp_table_create(v->view.printer, kind_columns, sizeof kind_columns / sizeof *kind_columns);
  xp_table_rows(table, rows, add_kind, v);
  xp_table_print(table, 2);
  xp_view_rest(&v->view, gaps->kind_count - rows, "kind", -1);
  xp_check_advise(v, "Predict them with --expect FILE: `gaps.kinds` of check --json has rows to begin with.");
}

void xp_check_gaps_text(const xp_check_view *v)
{
  const xp_gaps_check *gaps = &v->check->gaps;
  xp_print_heading(v->view.printer, "2. Gaps: %s", !gaps->asked ? "not checked" : gaps->ok ? "ok" : "FAILED");
  if (!gaps->asked) {
    floor_text(v);
    kinds_text(v);
    return;
  }
  predictions_text(v);
  floor_text(v);
  unexpected_text(v);
}
