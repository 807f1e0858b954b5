/* Targets of requests: paths, parameters, and bytes that are neither. */
#include "testing.h"

#include "web/query.h"

static xp_query query;

static xp_query_status read_target(const char *target)
{
  return xp_query_read(&query, xp_str_c(target));
}

static void a_target_is_a_path_and_parameters(void **state)
{
  (void)state;
  assert_int_equal(read_target("/a/b?x=1&y=two"), XP_QUERY_OK);
  assert_str(query.path, "/a/b");
  assert_str(xp_query_get(&query, "x"), "1");
  assert_str(xp_query_get(&query, "y"), "two");
  assert_null(xp_query_get(&query, "z").ptr);
}

static void escapes_are_decoded_once(void **state)
{
  (void)state;
  assert_int_equal(read_target("/a%20b?q=1%252%26+%3D+%c3%A9"), XP_QUERY_OK);
  assert_str(query.path, "/a b");
  assert_str(xp_query_get(&query, "q"), "1%2& = \xc3\xa9");
}

static void a_plus_in_a_path_is_a_plus(void **state)
{
  (void)state;
  assert_int_equal(read_target("/a+b"), XP_QUERY_OK);
  assert_str(query.path, "/a+b");
}

static void the_first_of_equal_parameters_counts(void **state)
{
  (void)state;
  assert_int_equal(read_target("/?a=1&a=2"), XP_QUERY_OK);
  assert_str(xp_query_get(&query, "a"), "1");
}

static void a_parameter_without_a_value_is_empty_and_there(void **state)
{
  (void)state;
  assert_int_equal(read_target("/?a&b=&&c"), XP_QUERY_OK);
  assert_non_null(xp_query_get(&query, "a").ptr);
  assert_int_equal(xp_query_get(&query, "b").len, 0);
  assert_int_equal(query.count, 3);
}

static void broken_escapes_and_nul_bytes_are_refused(void **state)
{
  static const char *const bad[] = {"/%",      "/%4",   "/%g1", "/a?x=%", "/a?x=%0", "/%00",
                                    "/?a=%00", "/?%=1", "",     "a",      "?a"};
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    if (read_target(bad[i]) != XP_QUERY_BAD) {
      fail_msg("%s is not refused", bad[i]);
    }
  }
}

static void long_targets_and_very_many_parameters_are_refused(void **state)
{
  static char text[XP_QUERY_BYTES + 2];
  (void)state;
  memset(text, 'a', sizeof text - 1);
  text[0] = '/';
  assert_int_equal(read_target(text), XP_QUERY_LONG);
  text[XP_QUERY_BYTES] = '\0';
  assert_int_equal(read_target(text), XP_QUERY_OK);
  assert_int_equal(query.path.len, XP_QUERY_BYTES);
  strcpy(text, "/?");
  for (int i = 0; i < XP_QUERY_MOST; i++) {
    strcat(text, "a=1&");
  }
  assert_int_equal(read_target(text), XP_QUERY_OK);
  assert_int_equal(read_target(strcat(text, "a=1")), XP_QUERY_BAD);
}

static void a_number_has_to_be_within_its_bounds(void **state)
{
  int64_t value = 7;
  (void)state;
  assert_int_equal(read_target("/?a=-5&b=9223372036854775808&c=1x&d="), XP_QUERY_OK);
  assert_true(xp_query_int(&query, "none", 0, 10, &value));
  assert_int_equal(value, 7);
  assert_true(xp_query_int(&query, "a", -5, 10, &value));
  assert_int_equal(value, -5);
  assert_false(xp_query_int(&query, "a", -4, 10, &value));
  assert_false(xp_query_int(&query, "b", INT64_MIN, INT64_MAX, &value));
  assert_false(xp_query_int(&query, "c", 0, 10, &value));
  assert_false(xp_query_int(&query, "d", 0, 10, &value));
  assert_int_equal(value, -5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_target_is_a_path_and_parameters),
      cmocka_unit_test(escapes_are_decoded_once),
      cmocka_unit_test(a_plus_in_a_path_is_a_plus),
      cmocka_unit_test(the_first_of_equal_parameters_counts),
      cmocka_unit_test(a_parameter_without_a_value_is_empty_and_there),
      cmocka_unit_test(broken_escapes_and_nul_bytes_are_refused),
      cmocka_unit_test(long_targets_and_very_many_parameters_are_refused),
      cmocka_unit_test(a_number_has_to_be_within_its_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
