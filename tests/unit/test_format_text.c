/* Hostile names, widths, shortening, wrapping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/text.h"

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

static void assert_printable(xp_str s, const char *want)
{
  char *text = NULL;
  size_t len = 0;
  assert_text(xp_text_printable(arena, s), want);
  FILE *file = open_memstream(&text, &len);
  assert_non_null(file);
  xp_text_write(file, s);
  fclose(file);
  assert_string_equal(text, want);
  free(text);
}

static void test_what_a_terminal_obeys_is_escaped(void **state)
{
  (void)state;
  assert_printable(xp_str_c("plain gr\xc3\xbc\xc3\x9f"), "plain gr\xc3\xbc\xc3\x9f");
  assert_printable(xp_str_c("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  assert_printable(xp_str_c("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  assert_printable(xp_str_from("a\0b", 3), "a\\x00b");
  assert_printable(xp_str_c("\xff\xc3("), "\\xff\\xc3(");
  assert_printable(xp_str_c("\xe2\x80\xae"
                            "evil\xc2\x9b"),
                   "\\u202eevil\\u009b");
  assert_printable(xp_str_c("\xf3\xa0\x81\x81"), "\\U000e0041");
  assert_printable(xp_str_c("\xef\xbf\xbe\xf4\x8f\xbf\xbf\xef\xb7\x90"), "\\ufffe\\U0010ffff\\ufdd0");
  assert_printable(xp_str_c(""), "");
}

static void test_clean_names_are_not_copied(void **state)
{
  (void)state;
  xp_str name = xp_str_c("SyncTensorsGraph.12");
  assert_ptr_equal(xp_text_printable(arena, name).ptr, name.ptr);
}

static void test_a_very_long_name_is_cut(void **state)
{
  (void)state;
  char *name = malloc(1000000);
  assert_non_null(name);
  memset(name, '\x01', 1000000);
  xp_str shown = xp_text_printable(arena, xp_str_from(name, 1000000));
  assert_true(shown.len < 20000);
  free(name);
}

static void test_width_counts_columns(void **state)
{
  (void)state;
  assert_int_equal(xp_text_width(xp_str_c("abc")), 3);
  assert_int_equal(xp_text_width(xp_str_c("gr\xc3\xbc\xc3\x9f")), 4);
  assert_int_equal(xp_text_width(xp_str_c("e\xcc\x81")), 1);                /* e + combining acute */
  assert_int_equal(xp_text_width(xp_str_c("\xe6\xbc\xa2\xe5\xad\x97")), 4); /* two Han characters */
  assert_int_equal(xp_text_width(xp_str_c("\xf0\x9f\x98\x80")), 2);
}

static void test_shortening_keeps_both_ends(void **state)
{
  (void)state;
  assert_text(xp_text_fit(arena, xp_str_c("SyncTensorsGraph.12"), 19), "SyncTensorsGraph.12");
  assert_text(xp_text_fit(arena, xp_str_c("SyncTensorsGraph.12"), 12), "SyncT...h.12");
  assert_text(xp_text_fit(arena, xp_str_c("SyncTensorsGraph.12"), 1), "S...2");
  for (size_t width = 5; width < 12; width++) { /* wide characters are never cut in half */
    assert_true(xp_text_width(xp_text_fit(arena,
                                          xp_str_c("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2"
                                                   "\xe5\xad\x97"),
                                          width)) <= width);
  }
}

typedef void wrap_function(FILE *out, xp_str s, const char *first, const char *rest, size_t width);

static void assert_wrapped_by(wrap_function *wrap, const char *text, size_t width, const char *want)
{
  char *got = NULL;
  size_t len = 0;
  FILE *file = open_memstream(&got, &len);
  assert_non_null(file);
  wrap(file, xp_str_c(text), "- ", "  ", width);
  fclose(file);
  assert_string_equal(got, want);
  free(got);
}

static void assert_wrapped(const char *text, size_t width, const char *want)
{
  assert_wrapped_by(xp_text_wrap, text, width, want);
}

static void test_sentences_are_wrapped_at_blanks(void **state)
{
  (void)state;
  assert_wrapped("one two three", 20, "- one two three\n");
  assert_wrapped("one two three", 9, "- one two\n  three\n");
  assert_wrapped("", 10, "-\n");
}

static void test_words_longer_than_a_line_keep_both_ends(void **state)
{
  (void)state;
  assert_wrapped("supercalifragilistic is long", 14, "- super...stic\n  is long\n");
  assert_wrapped("in `jvp(jvp(jvp(x)))/layer_norm`", 20, "- in\n  `jvp(jvp...r_norm`\n");
  assert_wrapped("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97", 11,
                 "- \xe6\xbc\xa2...\xe5\xad\x97\n");
}

static void test_paths_go_on_in_the_next_line(void **state)
{
  (void)state;
  assert_wrapped_by(xp_text_wrap_exact, "see /logs/plugins/profile/vm.xplane.pb now", 16,
                    "- see\n  /logs/plugins/\n  profile/\n  vm.xplane.pb\n  now\n");
  assert_wrapped_by(xp_text_wrap_exact, "abcdefghijklmnopqrstuvwxyz", 12, "- abcdefghij\n  klmnopqrst\n  uvwxyz\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_a_terminal_obeys_is_escaped),
      cmocka_unit_test(test_clean_names_are_not_copied),
      cmocka_unit_test(test_a_very_long_name_is_cut),
      cmocka_unit_test(test_width_counts_columns),
      cmocka_unit_test(test_shortening_keeps_both_ends),
      cmocka_unit_test(test_sentences_are_wrapped_at_blanks),
      cmocka_unit_test(test_words_longer_than_a_line_keep_both_ends),
      cmocka_unit_test(test_paths_go_on_in_the_next_line),
  };
  return cmocka_run_group_tests(tests, open_arena, close_arena);
}
