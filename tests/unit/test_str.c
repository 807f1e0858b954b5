/* Slices: searching, comparing, converting. */
#include "testing.h"

static void a_byte_is_found_from_an_offset_on(void **state)
{
  (void)state;
  assert_int_equal(xp_str_find(xp_str_c("a=b=c"), '=', 0), 1);
  assert_int_equal(xp_str_find(xp_str_c("a=b=c"), '=', 2), 3);
  assert_int_equal(xp_str_find(xp_str_c("a=b=c"), '=', 4), 5);
  assert_int_equal(xp_str_find(xp_str_c("a=b=c"), '=', 9), 5);
  assert_int_equal(xp_str_rfind(xp_str_c("a=b=c"), '='), 3);
  assert_int_equal(xp_str_rfind(xp_str_c("abc"), '='), 3);
}

static void a_text_is_found_behind_a_false_start(void **state)
{
  (void)state;
  assert_int_equal(xp_str_find_text(xp_str_c("aaab"), "aab"), 1);
  assert_int_equal(xp_str_find_text(xp_str_c("aaa"), "aab"), 3);
  assert_int_equal(xp_str_find_text(xp_str_c("ab"), "abc"), 2);
  assert_int_equal(xp_str_find_text(xp_str_from(NULL, 0), "a"), 0);
}

static void trimming_takes_white_space_off_both_ends_only(void **state)
{
  (void)state;
  assert_str(xp_str_trim(xp_str_c(" \t a b\r\n")), "a b");
  assert_str(xp_str_trim(xp_str_c("  ")), "");
}

static void a_prefix_comes_before_the_longer_text(void **state)
{
  (void)state;
  assert_true(xp_str_cmp(xp_str_c("ab"), xp_str_c("abc")) < 0);
  assert_true(xp_str_cmp(xp_str_c("b"), xp_str_c("abc")) > 0);
  assert_int_equal(xp_str_cmp(xp_str_c(""), xp_str_from(NULL, 0)), 0);
  assert_true(xp_str_cmp(xp_str_c("\xff"), xp_str_c("a")) > 0); /* bytes are unsigned */
}

static void integers_are_read_up_to_both_limits(void **state)
{
  (void)state;
  int64_t n;
  assert_true(xp_str_to_int64(xp_str_c("9223372036854775807"), &n) && n == INT64_MAX);
  assert_true(xp_str_to_int64(xp_str_c("-9223372036854775808"), &n) && n == INT64_MIN);
  assert_false(xp_str_to_int64(xp_str_c("9223372036854775808"), &n));
  assert_false(xp_str_to_int64(xp_str_c("-9223372036854775809"), &n));
}

static void what_is_not_wholly_a_number_is_refused(void **state)
{
  (void)state;
  static const char *const texts[] = {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "--1"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    int64_t n;
    assert_false(xp_str_to_int64(xp_str_c(texts[i]), &n));
  }
}

static void stars_match_any_run_and_other_bytes_themselves(void **state)
{
  (void)state;
  assert_true(xp_str_glob(xp_str_c("/device:GPU:0"), "/device:*"));
  assert_true(xp_str_glob(xp_str_c("abcbc"), "a*bc"));
  assert_true(xp_str_glob(xp_str_c(""), "*"));
  assert_true(xp_str_glob(xp_str_c("x?y"), "x?y"));
  assert_false(xp_str_glob(xp_str_c("xzy"), "x?y"));
  assert_false(xp_str_glob(xp_str_c("abcd"), "a*bc"));
  assert_false(xp_str_glob(xp_str_c("a"), ""));
  assert_false(xp_str_glob(xp_str_from("a\0b", 3), "a"));
}

static void a_glob_of_many_stars_ends_soon(void **state)
{
  (void)state;
  char text[4096];
  memset(text, 'a', sizeof text);
  assert_false(xp_str_glob(xp_str_from(text, sizeof text), "*a*a*a*a*a*a*a*a*a*b"));
}

static void hashes_depend_on_every_byte_and_on_the_length(void **state)
{
  (void)state;
  char text[40] = {0};
  uint64_t seen[41];
  for (size_t n = 0; n <= 40; n++) {
    seen[n] = xp_str_hash(xp_str_from(text, n));
    for (size_t k = 0; k < n; k++) {
      assert_true(seen[k] != seen[n]);
    }
  }
  for (size_t i = 0; i < sizeof text; i++) {
    text[i] = 1;
    assert_true(xp_str_hash(xp_str_from(text, sizeof text)) != seen[40]);
    text[i] = 0;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_byte_is_found_from_an_offset_on),
      cmocka_unit_test(a_text_is_found_behind_a_false_start),
      cmocka_unit_test(trimming_takes_white_space_off_both_ends_only),
      cmocka_unit_test(a_prefix_comes_before_the_longer_text),
      cmocka_unit_test(integers_are_read_up_to_both_limits),
      cmocka_unit_test(what_is_not_wholly_a_number_is_refused),
      cmocka_unit_test(stars_match_any_run_and_other_bytes_themselves),
      cmocka_unit_test(a_glob_of_many_stars_ends_soon),
      cmocka_unit_test(hashes_depend_on_every_byte_and_on_the_length),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
