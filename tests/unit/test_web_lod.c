/* Rows of a track, and what a window shows of them, against the events one by one. */
#include "viewing.h"

#include <math.h>

/* ---- rows */

/* The rows of the items of a track: "0 1 1 -". */
static const char *rows_of(const show *w, const char *name)
{
  const xp_track *track = &w->site.viewer->tracks.tracks[track_of(w, name)];
  xp_str text = xp_str_c("");
  for (uint32_t i = 0; i < track->count; i++) {
    uint32_t row = xp_item_row(track, i);
    text = row == XP_NO_ROW ? xp_arena_format(w->s->arena, "%.*s -", XP_STR_ARG(text))
                            : xp_arena_format(w->s->arena, "%.*s %u", XP_STR_ARG(text), row);
  }
  return text.len > 0 ? text.ptr + 1 : "";
}

static void events_lie_below_those_that_hold_them(void **state)
{
  show *w = *state;
  thread(w->s, "python");
  event(w->s, "a", 0, 100);
  event(w->s, "b", 10, 50);
  event(w->s, "c", 20, 30);
  event(w->s, "d", 30, 40);
  event(w->s, "e", 60, 100);
  event(w->s, "f", 100, 110);
  open_story(w);
  assert_string_equal(rows_of(w, "python"), "0 1 2 2 1 0");
}

static void a_chain_of_overlapping_events_takes_two_rows(void **state)
{
  show *w = *state;
  thread(w->s, "python");
  event(w->s, "a", 0, 10);
  event(w->s, "b", 8, 18);
  event(w->s, "c", 16, 26);
  event(w->s, "d", 24, 34);
  open_story(w);
  assert_string_equal(rows_of(w, "python"), "0 1 0 1");
}

static void an_event_within_an_overlapping_one_lies_below_it(void **state)
{
  show *w = *state;
  thread(w->s, "python");
  event(w->s, "a", 0, 10);
  event(w->s, "b", 5, 30);
  event(w->s, "c", 12, 20);
  open_story(w);
  assert_string_equal(rows_of(w, "python"), "0 1 2");
}

static void very_deep_nesting_ends_in_the_last_row(void **state)
{
  show *w = *state;
  thread(w->s, "python");
  for (int64_t i = 0; i < 70; i++) {
    event(w->s, "f", i, 200 - i);
  }
  open_story(w);
  const xp_track *track = &w->site.viewer->tracks.tracks[track_of(w, "python")];
  assert_int_equal(track->row_count, 64);
  assert_int_equal(xp_item_row(track, 62), 62);
  assert_int_equal(xp_item_row(track, 69), 63);
  assert_int_equal(track->rows[63].count, 7);
}

static void an_event_without_a_time_has_no_row(void **state)
{
  show *w = *state;
  thread(w->s, "python");
  event(w->s, "lost", 0, 0);
  event(w->s, "a", 1, 2);
  open_story(w);
  assert_string_equal(rows_of(w, "python"), "- 0");
}

/* ---- the walk */

typedef struct {
  xp_lod_block blocks[8192];
  size_t count;
} block_list;

static void keep(void *context, const xp_lod_block *block)
{
  block_list *list = context;
  assert_true(list->count < COUNT(list->blocks));
  list->blocks[list->count++] = *block;
}

/* The same numbers on every machine. */
static uint64_t next_random(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

/* Events that follow each other, some long, with pauses: ps from 1 us on. */
static void tell_many(story *s, size_t count)
{
  uint64_t seed = 7;
  int64_t at = US(1);
  thread(s, "python");
  for (size_t i = 0; i < count; i++) {
    int64_t length = next_random(&seed) % 50 == 0 ? 3000000 : (int64_t)(next_random(&seed) % 20000);
    event_ps(s, "f", at, at + length);
    at += length + (int64_t)(next_random(&seed) % 9000);
  }
}

/* Holds what a row shows against its events: all that overlap are in exactly one block, with the sums that they have.
 */
static void check_window(const xp_track *track, int64_t from_ps, int64_t to_ps, double pixel_ps)
{
  static block_list list;
  list.count = 0;
  xp_lod_walk(track, 0, from_ps, to_ps, pixel_ps, keep, &list);
  uint32_t item = 0;
  while (item < track->count && xp_item_times(track, item).end_ps <= from_ps) {
    item++;
  }
  double cells = 0, last_cell = -1;
  for (size_t b = 0; b < list.count; b++) {
    const xp_lod_block *block = &list.blocks[b];
    int64_t total = 0, end = INT64_MIN, longest = -1, length_of_named = 0;
    assert_int_equal(xp_item_times(track, item).start_ps, block->start_ps);
    for (uint32_t n = 0; n < block->count; n++, item++) {
      xp_times t = xp_item_times(track, item);
      total += t.end_ps - t.start_ps;
      end = t.end_ps > end ? t.end_ps : end;
      longest = t.end_ps - t.start_ps > longest ? t.end_ps - t.start_ps : longest;
      length_of_named = item == block->item ? t.end_ps - t.start_ps : length_of_named;
    }
    assert_int_equal(block->end_ps, end);
    assert_int_equal(block->total_ps, total);
    assert_int_equal(length_of_named, longest);
    if (block->count > 1) {
      assert_true((double)(block->end_ps - block->start_ps) < 2 * pixel_ps);
    }
    double cell = floor((double)block->start_ps / pixel_ps);
    cells += cell != last_cell;
    last_cell = cell;
  }
  bool at_end = item == track->count || xp_item_times(track, item).start_ps >= to_ps;
  assert_true(at_end);
  assert_true((double)list.count <= 2 * cells + 1);
}

static void a_window_holds_every_event_once_with_its_sums(void **state)
{
  show *w = *state;
  tell_many(w->s, 40000);
  open_story(w);
  const xp_track *track = &w->site.viewer->tracks.tracks[track_of(w, "python")];
  assert_int_equal(track->row_count, 1);
  int64_t length = track->last_ps - track->first_ps;
  for (int zoom = 1; zoom < 20000; zoom *= 3) {
    for (int place = 0; place < 7; place++) {
      int64_t width = length / zoom, from = track->first_ps - 5 + (length - width) * place / 6;
      check_window(track, from, from + width, (double)width / 1000);
    }
  }
}

static void far_out_a_window_costs_pixels_and_not_events(void **state)
{
  static block_list list;
  show *w = *state;
  tell_many(w->s, 40000);
  open_story(w);
  const xp_track *track = &w->site.viewer->tracks.tracks[track_of(w, "python")];
  xp_lod_walk(track, 0, track->first_ps, track->last_ps, (double)(track->last_ps - track->first_ps) / 10, keep, &list);
  assert_in_range(list.count, 10, 11);
  list.count = 0;
}

static void panning_by_whole_cells_leaves_blocks_as_they_are(void **state)
{
  static block_list a, b;
  show *w = *state;
  tell_many(w->s, 5000);
  open_story(w);
  const xp_track *track = &w->site.viewer->tracks.tracks[track_of(w, "python")];
  const int64_t pixel = 1000000, width = 50 * pixel;
  a.count = b.count = 0;
  xp_lod_walk(track, 0, 0, width, (double)pixel, keep, &a);
  xp_lod_walk(track, 0, 10 * pixel, width + 10 * pixel, (double)pixel, keep, &b);
  size_t i = 0;
  while (a.blocks[i].start_ps < b.blocks[2].start_ps) {
    i++;
  }
  for (size_t k = 2; i + 1 < a.count; i++, k++) {
    assert_int_equal(a.blocks[i].start_ps, b.blocks[k].start_ps);
    assert_int_equal(a.blocks[i].count, b.blocks[k].count);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      SHOW(events_lie_below_those_that_hold_them),
      SHOW(a_chain_of_overlapping_events_takes_two_rows),
      SHOW(an_event_within_an_overlapping_one_lies_below_it),
      SHOW(very_deep_nesting_ends_in_the_last_row),
      SHOW(an_event_without_a_time_has_no_row),
      SHOW(a_window_holds_every_event_once_with_its_sums),
      SHOW(far_out_a_window_costs_pixels_and_not_events),
      SHOW(panning_by_whole_cells_leaves_blocks_as_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
