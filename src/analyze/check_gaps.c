/* Every row stands for itself: it is held against all gaps inside the windows of devices, whatever other rows match.
 * A gap that no row matches is unexpected if it reaches the floor; smaller ones are added up.
 */
#include "analyze/check_parts.h"

#include <stdlib.h>

#include "base/sum.h"

/* Keys of a row that a gap disagrees with; *differs is the last of them. */
static int disagreements(const xp_expected_gap *row, const xp_gap *gap, const char **differs)
{
  const struct {
    const char *key;
    bool holds;
  } all[] = {
      {"scope", !row->has_scope || xp_str_eq(row->scope, gap->scope)},
      {"trigger_scope", !row->has_trigger_scope || xp_str_eq(row->trigger_scope, gap->trigger_scope)},
      {"cause", !row->has_cause || row->cause == gap->cause},
      {"trigger", !row->has_trigger || row->trigger == gap->trigger},
      {"min_ps", row->min_ps <= gap->dur_ps},
      {"max_ps", gap->dur_ps <= row->max_ps},
  };
  int count = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    *differs = all[i].holds ? *differs : all[i].key;
    count += !all[i].holds;
  }
  return count;
}

static bool counts(const xp_gap *gap)
{
  return gap->where == XP_WHERE_INSIDE && gap->ranked;
}

/* Holds all rows against a gap; false if it matches none. */
static bool match(xp_gaps_check *check, const xp_gap *gap)
{
  bool matched = false;
  for (size_t i = 0; i < check->row_count; i++) {
    xp_expected_result *row = &check->rows[i];
    const char *differs = NULL;
    int wrong = disagreements(row->expected, gap, &differs);
    if (wrong == 0) {
      matched = true;
      row->found++;
      xp_sum_add(&row->ps, gap->dur_ps);
      row->longest = row->longest == NULL || gap->dur_ps > row->longest->dur_ps ? gap : row->longest;
    } else if (wrong == 1 && (row->nearest == NULL || gap->dur_ps > row->nearest->dur_ps)) {
      row->nearest = gap;
      row->differs = differs;
    }
  }
  return matched;
}

static void find_floor(const xp_reading *r, const xp_check_options *options, xp_gaps_check *check)
{
  int64_t period = 0, length = 0, window = 0;
  for (size_t i = 0; i < r->summary_count; i++) {
    const xp_step_summary *s = &r->summaries[i];
    bool is_step = xp_str_eq(s->name, options->step);
    period = is_step && s->has_period && s->period_ps > period ? s->period_ps : period;
    length = is_step && s->has_duration && s->duration_ps > length ? s->duration_ps : length;
  }
  for (size_t i = 0; i < r->device_count; i++) {
    int64_t ps = r->devices[i].window_ps[1] - r->devices[i].window_ps[0];
    window = r->devices[i].has_window && ps > window ? ps : window;
  }
  check->base = period > 0 ? XP_BASE_PERIOD : length > 0 ? XP_BASE_LENGTH : XP_BASE_WINDOW;
  check->base_ps = period > 0 ? period : length > 0 ? length : window;
  check->floor_percent = options->floor_percent;
  check->floor_ps = options->floor_percent < 100 ? (int64_t)((double)check->base_ps * (options->floor_percent / 100))
                                                 : check->base_ps;
}

static int longest_first(const void *a, const void *b)
{
  const xp_gap *x = *(const xp_gap *const *)a, *y = *(const xp_gap *const *)b;
  if (x->dur_ps != y->dur_ps) {
    return x->dur_ps > y->dur_ps ? -1 : 1;
  }
  return (x > y) - (x < y);
}

static void match_all(const xp_reading *r, xp_arena *arena, xp_gaps_check *check)
{
  check->unexpected = xp_arena_array(arena, r->gap_count, sizeof(const xp_gap *));
  for (size_t i = 0; i < r->gap_count; i++) {
    const xp_gap *gap = &r->gaps[i];
    if (!counts(gap) || match(check, gap)) {
      continue;
    }
    if (gap->dur_ps >= check->floor_ps) {
      check->unexpected[check->unexpected_count++] = gap;
      xp_sum_add(&check->unexpected_ps, gap->dur_ps);
    } else {
      check->small_count++;
      xp_sum_add(&check->small_ps, gap->dur_ps);
    }
  }
  if (check->unexpected_count > 0) {
    qsort(check->unexpected, check->unexpected_count, sizeof *check->unexpected, longest_first);
  }
}

/* Those below the reading's least length were added up by it; no row can match them. */
static void add_short(const xp_reading *r, xp_gaps_check *check)
{
  for (size_t i = 0; i < r->device_count; i++) {
    check->small_count += r->devices[i].ranked ? r->devices[i].short_count : 0;
    xp_sum_add(&check->small_ps, r->devices[i].ranked ? r->devices[i].short_ps : 0);
  }
}

static void find_kinds(const xp_reading *r, xp_arena *arena, xp_gaps_check *check)
{
  check->kinds = xp_arena_array(arena, r->cause_count, sizeof(const xp_cause_row *));
  for (size_t i = 0; i < r->cause_count; i++) {
    const xp_cause_row *row = &r->causes[i];
    if (row->where == XP_WHERE_INSIDE && row->cause != XP_CAUSE_SHORT && row->longest_ps >= check->floor_ps) {
      check->kinds[check->kind_count++] = row;
    }
  }
}

void xp_gaps_check_run(const xp_reading *reading, const xp_check_options *options, xp_arena *arena,
                       xp_gaps_check *check)
{
  check->asked = options->has_expected;
  check->ok = true;
  find_floor(reading, options, check);
  find_kinds(reading, arena, check);
  if (!check->asked) {
    return;
  }
  check->row_count = options->expected_count;
  check->rows = xp_arena_array(arena, check->row_count, sizeof *check->rows);
  for (size_t i = 0; i < check->row_count; i++) {
    check->rows[i].expected = &options->expected[i];
  }
  match_all(reading, arena, check);
  add_short(reading, check);
  for (size_t i = 0; i < check->row_count; i++) {
    xp_expected_result *row = &check->rows[i];
    row->ok = (int64_t)row->found >= row->expected->least && (int64_t)row->found <= row->expected->most;
    check->ok = check->ok && row->ok;
  }
  check->ok = check->ok && check->unexpected_count == 0;
}
