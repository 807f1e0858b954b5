/* Numbers for people, and times from people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "report/extent.h"
#include "report/format.h"

static xp_arena *arena;

static int open_arena(void **state)
{
  (void)state;
  arena = xp_arena_create();
  return arena == NULL;
}

static int close_arena(void **state)
{
  (void)state;
  xp_arena_destroy(arena);
  return 0;
}

static void assert_text(xp_str got, const char *want)
{
  xp_str copy = xp_arena_copy(arena, got);
  assert_string_equal(copy.ptr, want);
}

static void test_times_choose_their_unit(void **state)
{
  (void)state;
  assert_text(xp_format_time(arena, 0), "0 s");
  assert_text(xp_format_time(arena, 1), "1 ps");
  assert_text(xp_format_time(arena, 999), "999 ps");
  assert_text(xp_format_time(arena, 1000), "1.00 ns");
  assert_text(xp_format_time(arena, 20000), "20.0 ns");
  assert_text(xp_format_time(arena, 2319000000), "2.32 ms");
  assert_text(xp_format_time(arena, 211589000000), "211.6 ms");
  assert_text(xp_format_time(arena, 75300000000000), "75.3 s");
  assert_text(xp_format_time(arena, -2500000), "-2.50 us");
}

static void test_places_have_digits_for_what_begins_there(void **state)
{
  (void)state;
  assert_text(xp_format_place(arena, 59000000000, 211589000000), "59.0 ms");
  assert_text(xp_format_place(arena, 48091300000, 74100000), "48.091 ms");
  assert_text(xp_format_place(arena, 9720412300000, 70000000), "9,720.412 ms");
  assert_text(xp_format_place(arena, 9720412300000, 5000000000000), "9.72 s");
  assert_text(xp_format_place(arena, -1234567000000, 1000000), "-1,234.5670 ms");
  assert_text(xp_format_place(arena, 9720412300000, 0), "9,720.412 ms");
  assert_text(xp_format_place(arena, 9223372036854775807, 1), "9,223,372,036.854775807 ms");
  assert_text(xp_format_place(arena, 0, 70000000), "0 s");
}

static void test_a_time_that_rounds_up_moves_to_the_next_unit(void **state)
{
  (void)state;
  assert_text(xp_format_time(arena, 999949999), "999.9 us");
  assert_text(xp_format_time(arena, 999960000), "1.00 ms");
  assert_text(xp_format_time(arena, 9994), "9.99 ns");
}

static void test_extreme_times(void **state)
{
  (void)state;
  assert_text(xp_format_time(arena, INT64_MAX), "9223372.0 s");
  assert_text(xp_format_time(arena, INT64_MIN), "-9223372.0 s");
}

static void test_times_in_a_given_unit(void **state)
{
  (void)state;
  assert_text(xp_format_time_in(arena, 262000000, XP_UNIT_MS, 1), "0.3");
  assert_text(xp_format_time_in(arena, 20000, XP_UNIT_MS, 3), "<0.001");
  assert_text(xp_format_time_in(arena, -20000, XP_UNIT_MS, 2), "-<0.01");
  assert_text(xp_format_time_in(arena, 1500, XP_UNIT_NS, 0), "2");
  assert_text(xp_format_time_in(arena, 59020123456, XP_UNIT_MS, 6), "59.020123");
  assert_text(xp_format_time_in(arena, 7, XP_UNIT_PS, 3), "7");
  assert_text(xp_format_time_in(arena, 0, XP_UNIT_S, 2), "0.00");
}

static void test_counts_rates_and_bytes(void **state)
{
  (void)state;
  assert_text(xp_format_count(arena, 0), "0");
  assert_text(xp_format_count(arena, 999), "999");
  assert_text(xp_format_count(arena, 1234567), "1,234,567");
  assert_text(xp_format_count(arena, UINT64_MAX), "18,446,744,073,709,551,615");
  assert_text(xp_format_rate(arena, 25.0 / 9), "2.8");
  assert_text(xp_format_rate(arena, 3), "3");
  assert_text(xp_format_rate(arena, 0), "0");
  assert_text(xp_format_rate(arena, 0.01), "<0.1");
  assert_text(xp_format_rate(arena, 12345), "12,345");
  assert_text(xp_format_rate(arena, NAN), "-");
  assert_text(xp_format_bytes(arena, 1), "1 byte");
  assert_text(xp_format_bytes(arena, 812), "812 bytes");
  assert_text(xp_format_bytes(arena, 98160), "98.2 kB");
  assert_text(xp_format_bytes(arena, 214000000), "214 MB");
  assert_text(xp_format_bytes(arena, 999999), "1.0 MB");
  assert_text(xp_format_things(arena, 1, "gap"), "1 gap");
  assert_text(xp_format_things(arena, 2000, "gap"), "2,000 gaps");
}

static void test_shares_are_never_nothing_for_something_nor_all_for_less(void **state)
{
  (void)state;
  assert_text(xp_format_share(arena, 0.93), "93 %");
  assert_text(xp_format_share(arena, 0.0706), "7.1 %");
  assert_text(xp_format_share(arena, 0.004), "0.4 %");
  assert_text(xp_format_share(arena, 0.00001), "<0.1 %");
  assert_text(xp_format_share(arena, 0), "0 %");
  assert_text(xp_format_share(arena, 1), "100 %");
  assert_text(xp_format_share(arena, 0.9951), "99.5 %");
  assert_text(xp_format_share(arena, 0.99999), ">99.9 %");
  assert_text(xp_format_share(arena, 0.0999), "10 %");
  assert_text(xp_format_share(arena, 1.25), "125 %");
  assert_text(xp_format_share(arena, NAN), "-");
}

static void test_dates(void **state)
{
  (void)state;
  assert_text(xp_format_unix_ns(arena, 1750000000123456789), "2025-06-15 15:06:40.123 UTC");
  assert_text(xp_format_unix_ns(arena, -1), "-");
}

static void assert_time(const char *text, int64_t want)
{
  int64_t ps = -12345;
  assert_true(xp_parse_time(text, &ps));
  assert_int_equal(ps, want);
}

static void test_times_are_read_with_their_unit(void **state)
{
  (void)state;
  assert_time("1.5ms", 1500000000);
  assert_time("200us", 200000000);
  assert_time("3s", 3000000000000);
  assert_time("40ns", 40000);
  assert_time("7000ps", 7000);
  assert_time("0", 0);
  assert_time("-2us", -2000000);
  assert_time("0.0000000000019s", 1);
  assert_time("9,720.412ms", 9720412000000);
  assert_time("1,234,567ns", 1234567000);
}

static void test_other_words_are_no_times(void **state)
{
  static const char *const bad[] = {
      "",      "ms",     "1",        "1.5",         "1m",    "1 ms",     "1.2.3ms",
      ".5ms",  "1e3ms",  "0x1s",     "1msms",       "--1ms", "9300000s", "99999999999999999999s",
      "1,5ms", ",500ms", "1,5000ms", "1.000,000ms", "nan"};
  int64_t ps;
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_false(xp_parse_time(bad[i], &ps));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_times_choose_their_unit),
      cmocka_unit_test(test_places_have_digits_for_what_begins_there),
      cmocka_unit_test(test_a_time_that_rounds_up_moves_to_the_next_unit),
      cmocka_unit_test(test_extreme_times),
      cmocka_unit_test(test_times_in_a_given_unit),
      cmocka_unit_test(test_counts_rates_and_bytes),
      cmocka_unit_test(test_shares_are_never_nothing_for_something_nor_all_for_less),
      cmocka_unit_test(test_dates),
      cmocka_unit_test(test_times_are_read_with_their_unit),
      cmocka_unit_test(test_other_words_are_no_times),
  };
  return cmocka_run_group_tests(tests, open_arena, close_arena);
}
