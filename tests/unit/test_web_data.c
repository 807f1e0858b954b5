/* What the page asks for: windows as bytes, items, sums, the minimap, tables. */
#include "viewing.h"

#include <math.h>

static void near(double value, double want)
{
  if (fabs(value - want) > 1e-4) {
    fail_msg("%g is not %g", value, want);
  }
}

/* ---- windows */

static void a_window_is_laid_out_as_the_protocol_says(void **state)
{
  show *w = *state;
  thread(w->s, "python");
  event(w->s, "outer", 100, 300);
  event(w->s, "inner", 150, 160);
  open_story(w);
  assert_int_equal(track_of(w, "python"), 0);
  ask(w, "window?from=0&to=400000000&width=400&tracks=0");
  assert_string_equal(w->reply.type, "application/octet-stream");
  assert_int_equal(u32_at(w, 0), 0x57505856);
  assert_int_equal(u32_at(w, 4), 1);
  assert_int_equal(u32_at(w, 8), 2);
  assert_int_equal(u32_at(w, 12), 2);
  assert_int_equal(u32_at(w, 16), 1); /* the second is too narrow for its name */
  near(f64_at(w, 24), 0);
  near(f64_at(w, 32), 1000000);
  const uint32_t rows[] = {0, 0, 0, 1, 0, 1, 1, 1};
  for (size_t i = 0; i < COUNT(rows); i++) {
    assert_int_equal(u32_at(w, 40 + 4 * i), rows[i]);
  }
  near(cell_f32(w, X, 0), 100);
  near(cell_f32(w, WIDTH, 0), 200);
  near(cell_f32(w, BUSY, 0), 200);
  near(cell_f32(w, X, 1), 150);
  near(cell_f32(w, WIDTH, 1), 10);
  assert_int_equal(cell_u32(w, ITEMS, 0), 1);
  assert_int_equal(cell_u32(w, ITEM, 1), 1);
  assert_int_equal(cell_u32(w, NAME, 0), 0);
  assert_int_equal(cell_u32(w, NAME, 1), UINT32_MAX);
  assert_int_equal(cell_u32(w, OFFSETS, 1), 5);
  size_t at[COLUMNS];
  window_columns(w, at);
  assert_memory_equal(body(w) + at[BYTES], "outer", 5);
}

static void what_reaches_beyond_the_edges_is_cut_and_flagged(void **state)
{
  show *w = *state;
  thread(w->s, "python");
  event(w->s, "long", 0, 1000000);
  open_story(w);
  ask(w, "window?from=1000000&to=2000000&width=100&tracks=0");
  near(cell_f32(w, X, 0), 0);
  near(cell_f32(w, WIDTH, 0), 100);
  assert_int_equal(cell_u32(w, STYLE, 0) >> 16, 3);
}

static void short_events_of_one_pixel_are_one_block(void **state)
{
  show *w = *state;
  thread(w->s, "python");
  for (int i = 0; i < 40; i++) {
    event_ps(w->s, i == 7 ? "longest" : "f", 1000 + i * 20, 1000 + i * 20 + (i == 7 ? 15 : 10));
  }
  open_story(w);
  ask(w, "window?from=0&to=100000&width=100&tracks=0");
  assert_int_equal(u32_at(w, 12), 1);
  near(cell_f32(w, X, 0), 1);
  near(cell_f32(w, WIDTH, 0), 0.79);
  near(cell_f32(w, BUSY, 0), 0.405);
  assert_int_equal(cell_u32(w, ITEMS, 0), 40);
  assert_int_equal(cell_u32(w, ITEM, 0), 7);
  assert_int_equal(cell_u32(w, STYLE, 0) >> 16, 4);
}

static void gaps_carry_cause_trigger_and_place(void **state)
{
  show *w = *state;
  two_runs(w->s);
  event(w->s, "PjRtComputationClient::TransferFromDevice", 15, 40);
  event(w->s, "ExtractIRAndPrepareXlaData_", 40, 95);
  session(w->s, 200);
  open_story(w);
  uint32_t gaps = track_of(w, "waiting");
  assert_int_equal(gaps, 0);
  ask(w, "window?from=0&to=200000000&width=200&tracks=0");
  assert_int_equal(u32_at(w, 12), 3);
  assert_int_equal(cell_u32(w, STYLE, 0) >> 22, XP_WHERE_LEAD_IN);
  near(cell_f32(w, X, 1), 20);
  near(cell_f32(w, WIDTH, 1), 100);
  assert_int_equal(cell_u32(w, STYLE, 1) & 0xff, XP_CAUSE_TRACING);
  assert_int_equal(cell_u32(w, STYLE, 1) >> 20, XP_TRIGGER_VALUE_REQUEST);
  assert_int_equal(cell_u32(w, STYLE, 2) >> 22, XP_WHERE_TAIL);
}

static void names_that_are_no_text_arrive_as_text(void **state)
{
  char name[300];
  show *w = *state;
  memset(name, 'a', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  memcpy(name + 117, "\xc3\xa9", 2); /* would end in the middle of a character */
  name[3] = '\xff';
  thread(w->s, "python");
  event(w->s, name, 0, 100);
  open_story(w);
  ask(w, "window?from=0&to=100000000&width=100&tracks=0");
  assert_int_equal(u32_at(w, 20), 119); /* three bytes for the bad one, and no half of the character */
  size_t at[COLUMNS];
  window_columns(w, at);
  assert_memory_equal(body(w) + at[BYTES],
                      "aaa\xef\xbf\xbd"
                      "aaa",
                      9);
}

static void parameters_that_make_no_sense_are_refused(void **state)
{
  static const char *const bad[] = {"window",
                                    "window?from=0&to=0&width=10&tracks=0",
                                    "window?from=1&to=0&width=10&tracks=0",
                                    "window?from=0&to=10&width=0&tracks=0",
                                    "window?from=0&to=10&width=8193&tracks=0",
                                    "window?from=0&to=10&width=10",
                                    "window?from=0&to=10&width=10&tracks=",
                                    "window?from=0&to=10&width=10&tracks=0,",
                                    "window?from=0&to=10&width=10&tracks=0:1-",
                                    "window?from=0&to=10&width=10&tracks=0;1",
                                    "window?from=0&to=10&width=10&tracks=99",
                                    "window?from=0&to=10&width=10&tracks=99999999999999999999",
                                    "window?from=0&to=9223372036854775807&width=10&tracks=0",
                                    "window?from=0&to=1e9&width=10&tracks=0",
                                    "item?track=0",
                                    "item?track=0&item=-1",
                                    "next?track=0&at=0&dir=up",
                                    "next?track=0&at=0&dir=next&cause=work",
                                    "minimap?from=0&to=10",
                                    "minimap?from=0&to=10&width=10&device=7",
                                    "sums?from=0&to=10&tracks=0&limit=1001",
                                    "table/ops?by=colour",
                                    "table/steps?format=xml",
                                    "table/gaps?sort=cause",
                                    "table/gaps?limit=1001",
                                    "search",
                                    "search?q=",
                                    "search?q=a&mode=glob",
                                    "search?q=a&at=0",
                                    "search?q=(&mode=regex"};
  show *w = *state;
  two_runs(w->s);
  open_story(w);
  for (size_t i = 0; i < COUNT(bad); i++) {
    if (status_of(w, bad[i]) != 400 || strncmp(body(w), "{\"error\": \"", 11) != 0) {
      fail_msg("%s: status %u, %s", bad[i], w->reply.status, body(w));
    }
  }
  assert_int_equal(status_of(w, "item?track=99&item=0"), 404);
  assert_int_equal(status_of(w, "item?track=0&item=99"), 404);
  assert_int_equal(status_of(w, "search?id=5"), 404);
  assert_int_equal(status_of(w, "table/none"), 404);
}

/* ---- items */

static void an_event_tells_what_is_around_it(void **state)
{
  show *w = *state;
  thread(w->s, "python");
  step(w->s, "train", 3, 0, 500);
  event(w->s, "$model.py:12 forward", 100, 400);
  event(w->s, "user_scope", 150, 300);
  event(w->s, "inner", 200, 250);
  with(w->s, "bytes", 77);
  open_story(w);
  const char *text = ask(w, "item?track=1&item=3");
  assert_contains(
      text, "\"place\": {\"track\": 1, \"item\": 3, \"depth\": 3, \"start_ps\": 200000000, \"dur_ps\": 50000000}");
  assert_contains(text, "\"args\": {\"bytes\": 77}");
  assert_contains(text, "\"frame\": \"$model.py:12 forward\"");
  assert_contains(text, "\"step\": {\"name\": \"train\", \"num\": 3, \"place\": {\"track\": 0, \"item\": 0,");
  assert_contains(text, "{\"name\": \"user_scope\", \"place\": {\"track\": 1, \"item\": 2,");
  text = ask(w, "item?track=1&item=2");
  assert_contains(text, "\"self_ps\": 100000000"); /* 150 us without the 50 us inside */
}

static void a_flow_goes_from_the_call_to_the_work_and_back(void **state)
{
  show *w = *state;
  two_runs(w->s);
  open_story(w);
  uint32_t python = track_of(w, "python"), modules = track_of(w, "XLA Modules"), ops = track_of(w, "XLA Ops");
  const char *text = ask(w, WORDS(w->s, "item?track=%u&item=1", python));
  assert_contains(text, WORDS(w->s, "\"to\": {\"track\": %u, \"item\": 1,", modules < ops ? modules : ops));
  text = ask(w, WORDS(w->s, "item?track=%u&item=1", ops));
  assert_contains(text, WORDS(w->s, "\"from\": {\"track\": %u, \"item\": 1,", python));
  assert_contains(text, "\"before\": {\"place\": {\"track\": 0, \"item\": 0,");
}

static void a_gap_tells_its_story(void **state)
{
  show *w = *state;
  two_runs(w->s);
  event(w->s, "PjRtComputationClient::TransferFromDevice", 15, 40);
  event(w->s, "ExtractIRAndPrepareXlaData_", 40, 95);
  open_story(w);
  const char *text = ask(w, "item?track=0&item=0");
  assert_contains(text, "\"cause\": \"tracing\"");
  assert_contains(text, "\"parts\": [");
  assert_contains(text, "\"words\": \"The host was building");
  assert_contains(text, WORDS(w->s, "\"trigger_place\": {\"track\": %u, \"item\": 1,", track_of(w, "python")));
}

static void the_next_item_is_found_in_both_directions(void **state)
{
  show *w = *state;
  tpu(w->s, "/device:TPU:0", TIMES({0, 10}, {20, 30}, {40, 50}, {60, 70}));
  open_story(w);
  assert_contains(ask(w, "next?track=0&at=10000000&dir=next"), "\"item\": 1,");
  assert_contains(ask(w, "next?track=0&at=30000000&dir=prev"), "\"item\": 0,");
  assert_contains(ask(w, "next?track=0&at=50000000&dir=next"), "\"place\": null");
  assert_contains(ask(w, "next?track=0&at=0&dir=next&cause=compile"), "\"place\": null");
}

/* ---- sums, the minimap, tables */

static void sums_are_of_the_span_and_the_rows(void **state)
{
  show *w = *state;
  thread(w->s, "python");
  event(w->s, "a", 0, 100);
  event(w->s, "b", 10, 30);
  event(w->s, "b", 40, 90);
  event(w->s, "a", 100, 110);
  open_story(w);
  const char *text = ask(w, "sums?from=20000000&to=105000000&tracks=0");
  assert_contains(text, "\"total\": 4");
  assert_contains(text, "\"names\": 2");
  assert_contains(text,
                  "{\"name\": \"a\", \"count\": 2, \"total_ps\": 85000000, \"mean_ps\": 42500000, \"min_ps\": 5000000, "
                  "\"max_ps\": 80000000, \"longest\": {\"track\": 0, \"item\": 0,");
  assert_contains(text, "{\"name\": \"b\", \"count\": 2, \"total_ps\": 60000000,");
  text = ask(w, "sums?from=20000000&to=105000000&tracks=0:1");
  assert_contains(text, "\"total\": 2");
}

static void the_minimap_shares_out_the_waiting(void **state)
{
  show *w = *state;
  two_runs(w->s);
  event(w->s, "ExtractIRAndPrepareXlaData_", 20, 95);
  open_story(w);
  ask(w, "minimap?from=0&to=160000000&width=4"); /* pixels of 40 us: work 10..20, the gap 20..120, work 120..130 */
  assert_int_equal(u32_at(w, 0), 0x4d505856);
  assert_int_equal(u32_at(w, 8), 13);
  assert_int_equal(u32_at(w, 12), 4);
  const double tracing[] = {0.5, 1, 1, 0}, busy[] = {0.25, 0, 0, 0.25};
  for (size_t i = 0; i < 4; i++) {
    near(f32_at(w, 32 + 4 * (XP_CAUSE_TRACING * 4 + i)), tracing[i]);
    near(f32_at(w, 32 + 4 * (13 * 4 + i)), busy[i]);
  }
  assert_int_equal(w->reply.size, 32 + 4 * 14 * 4);
}

static void the_bar_of_a_device_adds_up(void **state)
{
  show *w = *state;
  session(w->s, 200);
  two_runs(w->s);
  open_story(w);
  const char *text = ask(w, "summary");
  assert_contains(text, "\"total_ps\": 200000000");
  assert_contains(text, "\"busy_ps\": 20000000");
  assert_contains(text, "\"where\": \"lead_in\", \"ps\": 10000000");
  assert_contains(text, "\"where\": \"inside\", \"ps\": 100000000");
  assert_contains(text, "\"where\": \"tail\", \"ps\": 70000000");
}

static void tables_are_those_of_the_commands(void **state)
{
  show *w = *state;
  two_runs_in_a_step(w->s);
  open_story(w);
  assert_contains(ask(w, "table/steps"), "\"schema\": \"xlaprof.steps/1\"");
  assert_contains(ask(w, "table/ops?by=module"), "\"by\": \"module\"");
  assert_contains(ask(w, "table/info"), "\"schema\": \"xlaprof.info/1\"");
  assert_contains(ask(w, "table/names?format=csv"), "\r\n");
  assert_string_equal(w->reply.save_as, "names.csv");
  const char *text = ask(w, "table/gaps?sort=start&limit=1");
  assert_contains(text, "\"total\": 1");
  assert_contains(text, "\"place\": {\"track\": 0, \"item\": 0,");
  assert_contains(ask(w, "table/gaps?skip=1"), "\"rows\": []");
  assert_contains(ask(w, "table/gaps?to=10000000"), "\"total\": 0");
}

static void tracks_stand_in_the_order_of_the_timeline(void **state)
{
  show *w = *state;
  two_runs_in_a_step(w->s);
  line(w->s, "other");
  event(w->s, "x", 0, 1);
  open_story(w);
  assert_int_equal(track_of(w, "waiting"), 0);
  assert_true(track_of(w, "XLA Ops") < track_of(w, "steps"));
  assert_true(track_of(w, "steps") < track_of(w, "python"));
  assert_true(track_of(w, "python") < track_of(w, "other"));
  const char *text = ask(w, "tracks");
  assert_contains(
      text,
      "{\"name\": \"other threads\", \"kind\": \"rest\", \"host\": \"test\", \"device\": null, \"folded\": true,");
  assert_contains(text,
                  "\"kind\": \"device\", \"host\": \"test\", \"device\": 0, \"folded\": false, \"tracks\": [0, 1, 2]");
}

static void a_capture_without_events_has_a_page_too(void **state)
{
  show *w = *state;
  session(w->s, 10);
  open_story(w);
  assert_contains(ask(w, "meta"), "\"to_ps\": 10000000");
  assert_contains(ask(w, "summary"), "\"devices\": []");
  assert_contains(ask(w, "tracks"), "\"tracks\": []");
  ask(w, "minimap?from=0&to=10&width=4");
  assert_contains(ask(w, "search?q=x"), "\"total\": 0");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      SHOW(a_window_is_laid_out_as_the_protocol_says),
      SHOW(what_reaches_beyond_the_edges_is_cut_and_flagged),
      SHOW(short_events_of_one_pixel_are_one_block),
      SHOW(gaps_carry_cause_trigger_and_place),
      SHOW(names_that_are_no_text_arrive_as_text),
      SHOW(parameters_that_make_no_sense_are_refused),
      SHOW(an_event_tells_what_is_around_it),
      SHOW(a_flow_goes_from_the_call_to_the_work_and_back),
      SHOW(a_gap_tells_its_story),
      SHOW(the_next_item_is_found_in_both_directions),
      SHOW(sums_are_of_the_span_and_the_rows),
      SHOW(the_minimap_shares_out_the_waiting),
      SHOW(the_bar_of_a_device_adds_up),
      SHOW(tables_are_those_of_the_commands),
      SHOW(tracks_stand_in_the_order_of_the_timeline),
      SHOW(a_capture_without_events_has_a_page_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
