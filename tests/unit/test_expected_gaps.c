/* Files of predictions: what is read, and what is refused with which words. */
#include "testing.h"

#include "analyze/expected_gaps.h"

static xp_arena *arena;
static xp_expected_gap *rows;
static size_t count;

static int begin(void **state)
{
  (void)state;
  arena = xp_arena_create();
  return arena == NULL;
}

static int end(void **state)
{
  (void)state;
  xp_arena_destroy(arena);
  return 0;
}

static void read_text(const char *text)
{
  xp_error err = {0};
  if (xp_expected_gaps_read(xp_str_c(text), "gaps.json", arena, &rows, &count, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
}

/* The text is refused, and the message has both parts. */
static void assert_refused(const char *text, const char *where, const char *why)
{
  xp_error err = {0};
  assert_int_equal(xp_expected_gaps_read(xp_str_c(text), "gaps.json", arena, &rows, &count, &err), XP_ERR_FORMAT);
  assert_contains(err.text, where);
  assert_contains(err.text, why);
}

static void a_row_has_what_its_keys_say(void **state)
{
  (void)state;
  read_text(
      "[{\"scope\": \"watermark\", \"cause\": \"host\", \"trigger\": \"value_request\", \"trigger_scope\": \"read\","
      "\"count\": 3, \"min_ps\": 5, \"max_ps\": 9223372036854775807}]");
  assert_int_equal(count, 1);
  assert_true(rows->has_scope && rows->has_cause && rows->has_trigger && rows->has_trigger_scope);
  assert_str(rows->scope, "watermark");
  assert_str(rows->trigger_scope, "read");
  assert_int_equal(rows->cause, XP_CAUSE_HOST);
  assert_int_equal(rows->trigger, XP_TRIGGER_VALUE_REQUEST);
  assert_int_equal(rows->least, 3);
  assert_int_equal(rows->most, 3);
  assert_int_equal(rows->min_ps, 5);
  assert_int_equal(rows->max_ps, INT64_MAX);
}

static void a_row_without_keys_is_for_one_gap_or_more_of_any_kind(void **state)
{
  (void)state;
  read_text("[{}]");
  assert_int_equal(count, 1);
  assert_false(rows->has_scope || rows->has_cause || rows->has_trigger || rows->has_trigger_scope);
  assert_int_equal(rows->least, 1);
  assert_int_equal(rows->most, INT64_MAX);
  assert_int_equal(rows->min_ps, 0);
  assert_int_equal(rows->max_ps, INT64_MAX);
}

static void there_may_be_no_rows(void **state)
{
  (void)state;
  read_text(" [ ] \n");
  assert_int_equal(count, 0);
}

static void a_count_may_be_a_range(void **state)
{
  (void)state;
  read_text("[{\"count\": [0, 7]}, {\"count\": 0}]");
  assert_int_equal(rows[0].least, 0);
  assert_int_equal(rows[0].most, 7);
  assert_int_equal(rows[1].least, 0);
  assert_int_equal(rows[1].most, 0);
}

static void a_range_may_have_no_upper_end(void **state)
{
  (void)state;
  read_text("[{\"count\": [2, null]}]");
  assert_int_equal(rows[0].least, 2);
  assert_true(rows[0].most == INT64_MAX);
  assert_refused("[{\"count\": null}]", "line 1", "[least, most]");
  assert_refused("[{\"count\": [null, 2]}]", "line 1", "[least, most]");
  assert_refused("[{\"count\": [2, null, null]}]", "line 1", "[least, most]");
  assert_refused("[{\"min_ps\": null}]", "line 1", "picoseconds");
}

static void null_is_for_gaps_in_no_scope(void **state)
{
  (void)state;
  read_text("[{\"scope\": null, \"trigger_scope\": null}]");
  assert_true(rows->has_scope && rows->has_trigger_scope);
  assert_int_equal(rows->scope.len + rows->trigger_scope.len, 0);
}

static void escapes_in_names_are_resolved(void **state)
{
  (void)state;
  read_text("[{\"scope\": \"caf\\u00e9 \\\"1\\\"\\n\"}]");
  assert_str(rows->scope, "caf\xc3\xa9 \"1\"\n");
}

static void rows_know_their_lines(void **state)
{
  (void)state;
  read_text("[\n {},\n\n {\"count\": 1},\n {}]");
  assert_int_equal(count, 3);
  assert_int_equal(rows[0].line, 2);
  assert_int_equal(rows[1].line, 4);
  assert_int_equal(rows[2].line, 5);
}

static void a_key_that_is_unknown_is_refused(void **state)
{
  (void)state;
  assert_refused("[{\"count\": 1},\n {\"scop\": \"x\"}]", "gaps.json, line 2", "no key \"scop\"");
}

static void a_key_that_is_given_twice_is_refused(void **state)
{
  (void)state;
  assert_refused("[{\"count\": 1, \"count\": 2}]", "line 1", "twice: \"count\"");
}

static void causes_and_triggers_are_words_of_the_report(void **state)
{
  (void)state;
  assert_refused("[{\"cause\": \"hosts\"}]", "no value of \"cause\": \"hosts\"", "in_program, compile");
  assert_refused("[{\"cause\": \"short\"}]", "no value of \"cause\"", "Write one of");
  assert_refused("[{\"trigger\": \"read\"}]", "no value of \"trigger\": \"read\"", "value_request");
  assert_refused("[{\"trigger\": null}]", "line 1", "Write one of none");
}

static void numbers_are_whole_and_not_negative(void **state)
{
  (void)state;
  assert_refused("[{\"count\": -1}]", "\"count\": \"-1\"", "Write a whole number");
  assert_refused("[{\"min_ps\": 1.5}]", "\"min_ps\": \"1.5\"", "picoseconds");
  assert_refused("[{\"max_ps\": 9223372036854775808}]", "9223372036854775808", "picoseconds");
  assert_refused("[{\"min_ps\": \"5ms\"}]", "\"min_ps\": \"5ms\"", "picoseconds");
  assert_refused("[{\"scope\": 3}]", "\"scope\": \"3\"", "a text");
}

static void a_range_has_two_numbers_in_order(void **state)
{
  (void)state;
  assert_refused("[{\"count\": [2]}]", "line 1", "[least, most]");
  assert_refused("[{\"count\": [1, 2, 3]}]", "line 1", "[least, most]");
  assert_refused("[{\"count\": []}]", "line 1", "[least, most]");
  assert_refused("[{\"count\": [[1, 2]]}]", "line 1", "[least, most]");
  assert_refused("[{\"count\": [3, 2]}]", "line 1", "wrong way round");
  assert_refused("[{\"min_ps\": 3, \"max_ps\": 2}]", "line 1", "min_ps is above max_ps");
}

static void other_json_is_refused_with_an_example(void **state)
{
  (void)state;
  static const char *const texts[] = {"{}", "3", "\"x\"", "null", "true", "[3]", "[[]]", "[null]", "[\"x\"]"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    assert_refused(texts[i], "no list of rows", "Write [{");
  }
  assert_refused("[{\"scope\": {}}]", "line 1", "a text");
  assert_refused("[{\"scope\": [1]}]", "line 1", "a text");
  assert_refused("[{\"count\": true}]", "line 1", "a whole number");
}

static void what_is_no_json_is_refused_with_its_line(void **state)
{
  (void)state;
  static const char *const texts[] = {"",    " \n", "[{\"count\": 1}", "[{\"count\": 1},]", "[] []", "[{'count': 1}]",
                                      "\xff"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    assert_refused(texts[i], "gaps.json, line", "this is no JSON");
  }
  assert_refused("[\n{}\n,,\n]", "line 3", "this is no JSON");
}

static void rows_are_limited(void **state)
{
  (void)state;
  char *text = calloc(1, 3 * (XP_MOST_EXPECTED + 1) + 2);
  size_t n = 0;
  text[n++] = '[';
  for (int i = 0; i < XP_MOST_EXPECTED; i++) {
    memcpy(text + n, "{},", 3);
    n += 3;
  }
  text[n - 1] = ']';
  read_text(text);
  assert_int_equal(count, XP_MOST_EXPECTED);
  memcpy(text + n - 1, ",{}]", 4);
  assert_refused(text, "line 1", "more than 4096 rows");
  free(text);
}

static void nesting_ends_before_it_costs_memory(void **state)
{
  (void)state;
  const size_t depth = 1 << 20;
  char *text = malloc(depth + 1);
  memset(text, '[', depth);
  text[depth] = '\0';
  assert_refused(text, "line 1", "no list of rows");
  free(text);
}

static void a_file_may_be_large_but_not_huge(void **state)
{
  (void)state;
  xp_error err = {0};
  char *text = malloc(XP_MOST_EXPECTED_BYTES + 1);
  memset(text, ' ', XP_MOST_EXPECTED_BYTES + 1);
  memcpy(text, "[]", 2);
  assert_int_equal(xp_expected_gaps_read(xp_str_from(text, XP_MOST_EXPECTED_BYTES), "g", arena, &rows, &count, &err),
                   XP_OK);
  assert_int_equal(
      xp_expected_gaps_read(xp_str_from(text, XP_MOST_EXPECTED_BYTES + 1), "g", arena, &rows, &count, &err),
      XP_ERR_FORMAT);
  assert_contains(err.text, "16 MiB");
  free(text);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(a_row_has_what_its_keys_say),
      CASE(a_row_without_keys_is_for_one_gap_or_more_of_any_kind),
      CASE(there_may_be_no_rows),
      CASE(a_count_may_be_a_range),
      CASE(a_range_may_have_no_upper_end),
      CASE(null_is_for_gaps_in_no_scope),
      CASE(escapes_in_names_are_resolved),
      CASE(rows_know_their_lines),
      CASE(a_key_that_is_unknown_is_refused),
      CASE(a_key_that_is_given_twice_is_refused),
      CASE(causes_and_triggers_are_words_of_the_report),
      CASE(numbers_are_whole_and_not_negative),
      CASE(a_range_has_two_numbers_in_order),
      CASE(other_json_is_refused_with_an_example),
      CASE(what_is_no_json_is_refused_with_its_line),
      CASE(rows_are_limited),
      CASE(nesting_ends_before_it_costs_memory),
      CASE(a_file_may_be_large_but_not_huge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
