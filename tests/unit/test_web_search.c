/* Searching every event: what matches, how many, and where the next one is. */
#include "viewing.h"

#include "web/search.h"

/* Two threads; names and times in us: alpha 10, beta 20, Alpha 30, beta 40, alphabet 50. */
static void tell_names(show *w)
{
  thread(w->s, "one");
  event(w->s, "alpha", 10, 12);
  event(w->s, "beta", 20, 22);
  event(w->s, "alphabet", 50, 52);
  line(w->s, "two");
  event(w->s, "Alpha", 30, 32);
  event(w->s, "beta", 40, 42);
  event(w->s, "lost alpha", 0, 0);
  open_story(w);
}

/* The starts of the matches in us, in their order. */
static const char *matches_of(show *w, const char *parameters)
{
  const char *text = ask(w, WORDS(w->s, "search?%s", parameters)), *at = strstr(text, "\"matches\"");
  xp_str words = xp_str_c("");
  while ((at = strstr(at, "\"start_ps\": ")) != NULL) {
    at += strlen("\"start_ps\": ");
    words = xp_arena_format(w->s->arena, "%.*s %lld", XP_STR_ARG(words), atoll(at) / 1000000);
  }
  return words.len > 0 ? words.ptr + 1 : "";
}

static void a_text_is_found_anywhere_in_a_name(void **state)
{
  show *w = *state;
  tell_names(w);
  assert_string_equal(matches_of(w, "q=alpha"), "10 30 50");
  assert_string_equal(matches_of(w, "q=alpha&case=1"), "10 50");
  assert_string_equal(matches_of(w, "q=BET"), "20 40 50");
  assert_string_equal(matches_of(w, "q=nothing"), "");
}

static void events_without_a_time_are_counted_and_not_listed(void **state)
{
  show *w = *state;
  tell_names(w);
  const char *text = ask(w, "search?q=alpha");
  assert_contains(text, "\"total\": 4");
  assert_contains(text, "{\"name\": \"lost alpha\", \"count\": 1}");
}

static void signs_of_expressions_are_plain_in_a_text(void **state)
{
  show *w = *state;
  thread(w->s, "one");
  event(w->s, "jit(f)", 10, 12);
  event(w->s, "a.b*c[0]{x}|^$\\", 20, 22);
  event(w->s, "axbbc0", 30, 32);
  open_story(w);
  assert_string_equal(matches_of(w, "q=jit(f)"), "10");
  assert_string_equal(matches_of(w, "q=a.b*c[0]{x}|^$\\"), "20");
  assert_string_equal(matches_of(w, "q=a.b"), "20");
  assert_string_equal(matches_of(w, "q=%28"), "10");
}

static void an_expression_is_a_posix_one(void **state)
{
  show *w = *state;
  tell_names(w);
  assert_string_equal(matches_of(w, "q=^(alpha|beta)$&mode=regex"), "10 20 30 40");
  assert_string_equal(matches_of(w, "q=a{1}$&mode=regex&case=1"), "10 20 30 40");
}

static void expressions_that_could_take_all_memory_or_time_are_refused(void **state)
{
  show *w = *state;
  tell_names(w);
  assert_int_equal(status_of(w, "search?mode=regex&q=((a{1,255}){1,255}){1,255}"), 400);
  assert_int_equal(status_of(w, "search?mode=regex&q=(abcdefgh){1,32767}"), 400);
  assert_int_equal(status_of(w, "search?mode=regex&q=a{99999999999999999999}"), 400);
  assert_int_equal(status_of(w, "search?mode=regex&q=a{2,255}"), 200);
  assert_int_equal(status_of(w, "search?mode=regex&q=(.*)(.*)(.*)\\3\\2\\1x"), 400);
  assert_int_equal(status_of(w, "search?mode=regex&q=a\\{\\{\\{"), 200);
}

static void matches_come_page_by_page_in_both_directions(void **state)
{
  show *w = *state;
  tell_names(w);
  assert_string_equal(matches_of(w, "q=a&limit=2"), "10 20");
  assert_contains(body(w), "\"more\": true");
  assert_string_equal(matches_of(w, "q=a&limit=2&at=20000000&dir=next"), "30 40");
  assert_string_equal(matches_of(w, "q=a&limit=2&at=40000000&dir=next"), "50");
  assert_contains(body(w), "\"more\": false");
  assert_string_equal(matches_of(w, "q=a&at=40000000&dir=prev"), "30 20 10");
  assert_string_equal(matches_of(w, "q=a&from=20000000&to=40000000"), "20 30");
  assert_string_equal(matches_of(w, "q=a&limit=0"), "");
}

static void one_track_can_be_searched_alone(void **state)
{
  show *w = *state;
  tell_names(w);
  assert_string_equal(matches_of(w, WORDS(w->s, "q=alpha&track=%u", track_of(w, "two"))), "30");
}

/* The item in the window is flagged in its own row. */
static void windows_flag_what_matches(void **state)
{
  show *w = *state;
  thread(w->s, "one");
  event(w->s, "outer", 0, 100);
  event(w->s, "inner", 10, 20);
  event(w->s, "other", 30, 40);
  open_story(w);
  const char *text = ask(w, "search?q=inner&limit=0");
  assert_contains(text, "\"id\": 1");
  ask(w, "window?from=0&to=100000000&width=100&tracks=0&match=1");
  assert_int_equal(u32_at(w, 12), 3);
  assert_int_equal(cell_u32(w, STYLE, 0) >> 19 & 1, 0);
  assert_int_equal(cell_u32(w, STYLE, 1) >> 19 & 1, 1);
  assert_int_equal(cell_u32(w, STYLE, 2) >> 19 & 1, 0);
  ask(w, "window?from=0&to=100000000&width=100&tracks=0&match=2");
  assert_int_equal(cell_u32(w, STYLE, 1) >> 19 & 1, 0);
}

static void the_last_searches_are_kept_by_number(void **state)
{
  show *w = *state;
  tell_names(w);
  assert_contains(ask(w, "search?q=alpha"), "\"id\": 1");
  assert_contains(ask(w, "search?q=beta"), "\"id\": 2");
  assert_contains(ask(w, "search?q=alpha"), "\"id\": 1");
  assert_string_equal(matches_of(w, "id=2"), "20 40");
  for (int i = 0; i < XP_SEARCHES_KEPT; i++) {
    ask(w, WORDS(w->s, "search?q=%d", i));
  }
  assert_int_equal(status_of(w, "search?id=2"), 404);
}

/* More matches than are listed: the next is found by looking. */
static void very_many_matches_are_walked_as_well(void **state)
{
  enum { EVENTS = 500010 };
  show *w = *state;
  thread(w->s, "one");
  for (int64_t i = 0; i < EVENTS; i++) {
    event_ps(w->s, "many", 1000 * i + 1000, 1000 * i + 1500);
  }
  open_story(w);
  const xp_search *search;
  const xp_search_query query = {.text = "many"};
  xp_error err;
  assert_int_equal(xp_search_run(w->site.viewer->searches, &query, &search, &err), XP_OK);
  assert_int_equal(search->total, EVENTS);
  assert_null(search->lists[0]);
  assert_int_equal(xp_search_next(search, 0, 77, true), 77);
  assert_int_equal(xp_search_next(search, 0, 77, false), 76);
  assert_int_equal(xp_search_next(search, 0, 0, false), XP_NONE);
  assert_int_equal(xp_search_next(search, 0, EVENTS, true), XP_NONE);
  xp_search_release(w->site.viewer->searches, search);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      SHOW(a_text_is_found_anywhere_in_a_name),
      SHOW(events_without_a_time_are_counted_and_not_listed),
      SHOW(signs_of_expressions_are_plain_in_a_text),
      SHOW(an_expression_is_a_posix_one),
      SHOW(expressions_that_could_take_all_memory_or_time_are_refused),
      SHOW(matches_come_page_by_page_in_both_directions),
      SHOW(one_track_can_be_searched_alone),
      SHOW(windows_flag_what_matches),
      SHOW(the_last_searches_are_kept_by_number),
      SHOW(very_many_matches_are_walked_as_well),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
