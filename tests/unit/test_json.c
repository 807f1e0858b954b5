/* The JSON writer: escapes, numbers, layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

#include "json/utf8.h"
#include "json/writer.h"

typedef struct {
  xp_json json;
  FILE *file;
  char *text;
  size_t len;
} sink;

static sink *open_sink(void)
{
  sink *s = calloc(1, sizeof *s);
  assert_non_null(s);
  s->file = open_memstream(&s->text, &s->len);
  assert_non_null(s->file);
  xp_json_begin(&s->json, s->file);
  return s;
}

static void assert_written(sink *s, const char *want)
{
  xp_json_flush(&s->json);
  fclose(s->file);
  assert_string_equal(s->text, want);
  free(s->text);
  free(s);
}

static void assert_string_becomes(xp_str value, const char *want)
{
  sink *s = open_sink();
  xp_json_str(&s->json, value);
  assert_written(s, want);
}

static void test_control_characters_and_quotes_are_escaped(void **state)
{
  (void)state;
  assert_string_becomes(xp_str_c("a\"b\\c\n\r\t\b\f\x01\x1b"), "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\\u001b\"");
  assert_string_becomes(xp_str_from("a\0b", 3), "\"a\\u0000b\"");
  assert_string_becomes(xp_str_c("\x7f\xc2\x85\xe2\x80\xa8"), "\"\\u007f\\u0085\\u2028\"");
  assert_string_becomes(xp_str_c(""), "\"\"");
}

static void test_valid_utf8_stays(void **state)
{
  (void)state;
  assert_string_becomes(xp_str_c("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
                        "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

static void test_invalid_utf8_becomes_the_replacement_character(void **state)
{
  (void)state;
#define BAD "\xef\xbf\xbd"
  assert_string_becomes(xp_str_c("a\xff"
                                 "b"),
                        "\"a" BAD "b\"");
  assert_string_becomes(xp_str_c("\xc3"), "\"" BAD "\"");         /* cut */
  assert_string_becomes(xp_str_c("\xc0\xaf"), "\"" BAD BAD "\""); /* overlong */
  assert_string_becomes(xp_str_c("\xe0\x80\xaf"), "\"" BAD BAD BAD "\"");
  assert_string_becomes(xp_str_c("\xed\xa0\x80"), "\"" BAD BAD BAD "\""); /* surrogate */
  assert_string_becomes(xp_str_c("\xf4\x90\x80\x80"), "\"" BAD BAD BAD BAD "\"");
#undef BAD
}

static void test_integers_are_written_in_full(void **state)
{
  (void)state;
  sink *s = open_sink();
  xp_json_array_line(&s->json);
  xp_json_int(&s->json, INT64_MIN);
  xp_json_int(&s->json, INT64_MAX);
  xp_json_uint(&s->json, UINT64_MAX);
  xp_json_int(&s->json, 0);
  xp_json_array_end(&s->json);
  assert_written(s, "[-9223372036854775808, 9223372036854775807, 18446744073709551615, 0]");
}

static void test_doubles_read_back_the_same_with_few_digits(void **state)
{
  (void)state;
  sink *s = open_sink();
  xp_json_array_line(&s->json);
  xp_json_double(&s->json, 0.1);
  xp_json_double(&s->json, 25.0 / 9);
  xp_json_double(&s->json, 3);
  xp_json_double(&s->json, -1e300);
  xp_json_double(&s->json, 5e-324);
  xp_json_double(&s->json, NAN);
  xp_json_double(&s->json, -INFINITY);
  xp_json_array_end(&s->json);
  assert_written(s, "[0.1, 2.7777777777777777, 3, -1e+300, 5e-324, null, null]");
}

static void test_layout_of_nested_values(void **state)
{
  (void)state;
  sink *s = open_sink();
  xp_json_object(&s->json);
  xp_json_key(&s->json, "empty");
  xp_json_array(&s->json);
  xp_json_array_end(&s->json);
  xp_json_key(&s->json, "rows");
  xp_json_array(&s->json);
  for (int i = 0; i < 2; i++) {
    xp_json_object_line(&s->json);
    xp_json_key_str(&s->json, xp_str_c("k\n"));
    xp_json_array(&s->json); /* on the same line, since its object is */
    xp_json_bool(&s->json, i == 0);
    xp_json_null(&s->json);
    xp_json_array_end(&s->json);
    xp_json_object_end(&s->json);
  }
  xp_json_array_end(&s->json);
  xp_json_key(&s->json, "none");
  xp_json_text(&s->json, NULL);
  xp_json_object_end(&s->json);
  xp_json_finish(&s->json);
  assert_written(s, "{\n \"empty\": [],\n \"rows\": [\n  {\"k\\n\": [true, null]},\n  {\"k\\n\": [false, null]}\n ],\n"
                    " \"none\": null\n}\n");
}

static void test_deep_nesting_is_written_on_one_line(void **state)
{
  (void)state;
  sink *s = open_sink();
  for (int i = 0; i < 200; i++) {
    xp_json_array(&s->json);
  }
  xp_json_int(&s->json, 1);
  for (int i = 0; i < 200; i++) {
    xp_json_array_end(&s->json);
  }
  xp_json_flush(&s->json);
  fclose(s->file);
  size_t brackets = 0;
  for (size_t i = 0; i < s->len; i++) {
    brackets += s->text[i] == '[' || s->text[i] == ']';
  }
  assert_int_equal(brackets, 400);
  free(s->text);
  free(s);
}

static void test_utf8_next_never_reads_behind_the_end(void **state)
{
  (void)state;
  char *tail = malloc(1); /* the address sanitizer watches its end */
  uint32_t code;
  assert_non_null(tail);
  for (int byte = 0; byte < 256; byte++) {
    tail[0] = (char)byte;
    assert_int_equal(xp_utf8_next(xp_str_from(tail, 1), 0, &code), 1);
    assert_int_equal(code, byte < 0x80 ? (uint32_t)byte : XP_UTF8_BAD);
  }
  free(tail);
}

static void put_numbers(xp_json *json, int first, int end)
{
  for (int i = first; i < end; i++) {
    xp_json_object_line(json);
    xp_json_key(json, "n");
    xp_json_int(json, i);
    xp_json_object_end(json);
  }
}

static void test_elements_of_other_writers_continue_an_array(void **state)
{
  (void)state;
  xp_json piece;
  sink *whole = open_sink(), *parts = open_sink();
  xp_json_array(&whole->json);
  put_numbers(&whole->json, 0, 5);
  xp_json_array_end(&whole->json);
  xp_json_flush(&whole->json);
  fflush(whole->file);

  xp_json_array(&parts->json);
  xp_json_flush(&parts->json);
  xp_json_fork(&parts->json, &piece, parts->file, true);
  put_numbers(&piece, 0, 2);
  xp_json_flush(&piece);
  xp_json_fork(&parts->json, &piece, parts->file, false);
  put_numbers(&piece, 2, 4);
  xp_json_flush(&piece);
  xp_json_joined(&parts->json);
  put_numbers(&parts->json, 4, 5);
  xp_json_array_end(&parts->json);
  assert_written(parts, whole->text);
  assert_written(whole, "[\n {\"n\": 0},\n {\"n\": 1},\n {\"n\": 2},\n {\"n\": 3},\n {\"n\": 4}\n]");
}

static void test_strings_longer_than_the_room_of_the_writer_are_whole(void **state)
{
  enum { LONG = 10000 };
  (void)state;
  char *text = malloc(LONG + 1), *want = malloc(LONG + 8);
  assert_true(text != NULL && want != NULL);
  for (int i = 0; i < LONG; i++) {
    text[i] = (char)('a' + i % 26);
  }
  text[LONG] = '\0';
  sprintf(want, "[\"%s\"]", text);
  sink *s = open_sink();
  xp_json_array_line(&s->json);
  xp_json_text(&s->json, text);
  xp_json_array_end(&s->json);
  assert_written(s, want);
  free(text);
  free(want);
}

/* The time goes with the length: with its square, this one would not end while a test may run. */
static void test_long_strings_of_many_quotes_are_escaped(void **state)
{
  enum { QUOTES = 2 << 20 };
  static const char piece[] = "seven..\"", wanted[] = "seven..\\\"";
  (void)state;
  char *text = malloc((size_t)QUOTES * 8), *want = malloc((size_t)QUOTES * 9 + 3);
  assert_true(text != NULL && want != NULL);
  want[0] = '"';
  for (size_t i = 0; i < QUOTES; i++) {
    memcpy(text + 8 * i, piece, 8);
    memcpy(want + 1 + 9 * i, wanted, 9);
  }
  memcpy(want + 1 + (size_t)QUOTES * 9, "\"", 2);
  assert_string_becomes(xp_str_from(text, (size_t)QUOTES * 8), want);
  free(text);
  free(want);
}

static void test_every_byte_ends_a_plain_run_or_goes_on(void **state)
{
  char text[] = "abcdefghijklmnopqrstuvwxyz";
  (void)state;
  for (size_t at = 0; at < sizeof text - 1; at++) {
    char was = text[at];
    for (int byte = 0; byte < 256; byte++) {
      text[at] = (char)byte;
      xp_str s = xp_str_from(text, sizeof text - 1);
      assert_int_equal(xp_utf8_plain(s, 0), byte >= ' ' && byte <= '~' ? s.len : at);
      assert_int_equal(xp_utf8_plain(s, s.len), 0);
    }
    text[at] = was;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_control_characters_and_quotes_are_escaped),
      cmocka_unit_test(test_valid_utf8_stays),
      cmocka_unit_test(test_invalid_utf8_becomes_the_replacement_character),
      cmocka_unit_test(test_integers_are_written_in_full),
      cmocka_unit_test(test_doubles_read_back_the_same_with_few_digits),
      cmocka_unit_test(test_layout_of_nested_values),
      cmocka_unit_test(test_deep_nesting_is_written_on_one_line),
      cmocka_unit_test(test_every_byte_ends_a_plain_run_or_goes_on),
      cmocka_unit_test(test_elements_of_other_writers_continue_an_array),
      cmocka_unit_test(test_strings_longer_than_the_room_of_the_writer_are_whole),
      cmocka_unit_test(test_long_strings_of_many_quotes_are_escaped),
      cmocka_unit_test(test_utf8_next_never_reads_behind_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
