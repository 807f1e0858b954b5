/* One table, as text and as CSV. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/table.h"
#include "report/text.h"

typedef struct {
  xp_printer printer;
  char *text;
  size_t len;
} page;

static page open_page(xp_form form, size_t width)
{
  page p = {0};
  p.printer.form = form;
  p.printer.width = width;
  p.printer.arena = xp_arena_create();
  p.printer.scratch = xp_arena_create();
  assert_non_null(p.printer.arena);
  assert_non_null(p.printer.scratch);
  return p;
}

static void close_page(page *p)
{
  free(p->text);
  xp_arena_destroy(p->printer.arena);
  xp_arena_destroy(p->printer.scratch);
}

/* Prints the table and compares. */
static void assert_page(page *p, xp_table *table, const char *want)
{
  p->printer.out = open_memstream(&p->text, &p->len);
  assert_non_null(p->printer.out);
  xp_table_print(table, 0);
  fclose(p->printer.out);
  assert_string_equal(p->text, want);
  close_page(p);
}

static const xp_column columns[] = {
    {"name", "name", XP_COLUMN_TEXT, 0, 8},
    {"time", "time_ps", XP_COLUMN_TIME, 0, 0},
    {"share", "share", XP_COLUMN_SHARE, 0, 0},
    {"raw", "raw", XP_COLUMN_COUNT, XP_ONLY_CSV, 0},
    {"cut", "cut", XP_COLUMN_COUNT, XP_HIDE_EMPTY, 0},
    {"why", "why", XP_COLUMN_TEXT, XP_HIDE_EMPTY, 4},
};

static xp_table *sample(page *p, xp_str name, int64_t ps, const char *why)
{
  xp_table *table = xp_table_create(&p->printer, columns, 6);
  xp_table_text(table, xp_str_c("watermark"));
  xp_table_int(table, 211589000000);
  xp_table_real(table, 0.93);
  xp_table_int(table, 7);
  xp_table_int(table, 0);
  xp_table_text(table, xp_str_c(why));
  xp_table_text(table, name);
  xp_table_int(table, ps);
  xp_table_none(table);
  xp_table_int(table, -8);
  xp_table_int(table, 0);
  xp_table_text(table, xp_str_c(""));
  return table;
}

static void test_text_is_aligned_and_times_share_a_unit(void **state)
{
  (void)state;
  page p = open_page(XP_FORM_TEXT, 80);
  assert_page(&p, sample(&p, xp_str_c("opt"), 14958000000, "a read"),
              "name       time ms  share  why\n"
              "watermark    211.6   93 %  a read\n"
              "opt           15.0      -\n");
}

static void test_times_of_very_different_size_keep_their_own_units(void **state)
{
  (void)state;
  page p = open_page(XP_FORM_TEXT, 80);
  assert_page(&p, sample(&p, xp_str_c("opt"), 14958000, ""),
              "name           time  share\n"
              "watermark  211.6 ms   93 %\n"
              "opt         15.0 us      -\n");
}

static void test_names_shrink_to_the_width(void **state)
{
  (void)state;
  page p = open_page(XP_FORM_TEXT, 34);
  assert_page(&p, sample(&p, xp_str_c("SyncTensorsGraph.12/fused_computation"), 14958000000, "a read"),
              "name        time ms  share  why\n"
              "watermark     211.6   93 %  a read\n"
              "Sync...ion     15.0      -\n");
}

static void test_csv_is_raw_and_quoted(void **state)
{
  (void)state;
  page p = open_page(XP_FORM_CSV, 80);
  assert_page(&p, sample(&p, xp_str_from("a,\"b\"\n\0\xff", 8), 1, "x"),
              "name,time_ps,share,raw,cut,why\r\n"
              "watermark,211589000000,0.93,7,0,x\r\n"
              "\"a,\"\"b\"\"\\n\\x00\\xff\",1,,-8,0,\r\n");
}

static void test_hostile_names_stay_on_their_line(void **state)
{
  (void)state;
  page p = open_page(XP_FORM_TEXT, 80);
  assert_page(&p, sample(&p, xp_str_from("\x1b[31m\n\0z", 8), 14958000000, ""),
              "name             time ms  share\n"
              "watermark          211.6   93 %\n"
              "\\x1b[31m\\n\\x00z     15.0      -\n");
}

static void test_columns_that_may_go_are_dropped_last_first(void **state)
{
  static const xp_column droppable[] = {{"device", "d", XP_COLUMN_TEXT, 0, 10},
                                        {"first", "f", XP_COLUMN_COUNT, XP_DROP_NARROW, 0},
                                        {"second", "s", XP_COLUMN_COUNT, XP_DROP_NARROW, 0}};
  (void)state;
  page p = open_page(XP_FORM_TEXT, 24);
  xp_table *table = xp_table_create(&p.printer, droppable, 3);
  xp_table_text(table, xp_str_c("/device:TPU:0"));
  xp_table_int(table, 12);
  xp_table_int(table, 345);
  assert_page(&p, table, "device         first\n/device:TPU:0     12\n");
}

static void test_an_empty_table_has_its_headings(void **state)
{
  (void)state;
  page p = open_page(XP_FORM_TEXT, 80);
  assert_page(&p, xp_table_create(&p.printer, columns, 6), "name  time  share\n");
}

static void test_every_width_gives_lines_that_fit(void **state)
{
  (void)state;
  for (size_t width = 40; width < 90; width++) {
    page p = open_page(XP_FORM_TEXT, width);
    xp_table *table =
        sample(&p, xp_str_c("a name that is longer than every terminal that anybody would ever want to use"),
               14958000000, "some more text that has to shrink as well, in order to fit");
    p.printer.out = open_memstream(&p.text, &p.len);
    assert_non_null(p.printer.out);
    xp_table_print(table, 0);
    fclose(p.printer.out);
    for (xp_str rest = xp_str_c(p.text); rest.len > 0;) {
      xp_str line = xp_str_take(rest, xp_str_find(rest, '\n', 0));
      assert_true(xp_text_width(line) <= width);
      rest = xp_str_skip(rest, line.len + 1);
    }
    close_page(&p);
  }
}

static void test_columns_that_nobody_wants_to_miss_go_before_names_end(void **state)
{
  static const xp_column droppable[] = {{"device", "d", XP_COLUMN_TEXT, 0, 10},
                                        {"first", "f", XP_COLUMN_COUNT, 0, 0},
                                        {"second", "s", XP_COLUMN_COUNT, XP_DROP_LAST, 0}};
  static const struct {
    size_t width;
    const char *want;
  } cases[] = {{25, "device      first  second\n/dev...U:0     12     345\n"},
               {24, "device         first\n/device:TPU:0     12\n"},
               {13, "device  first\n/d...0     12\n"},
               {11, "device\n/dev...PU:0\n"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    page p = open_page(XP_FORM_TEXT, cases[i].width);
    xp_table *table = xp_table_create(&p.printer, droppable, 3);
    xp_table_text(table, xp_str_c("/device:TPU:0"));
    xp_table_int(table, 12);
    xp_table_int(table, 345);
    assert_page(&p, table, cases[i].want);
  }
}

/* Starts near 9.72 s, lengths of some 70 us. */
static void test_places_have_digits_for_the_shortest_length(void **state)
{
  static const xp_column places[] = {{"from", "f", XP_COLUMN_TIME, XP_ONE_UNIT, 0},
                                     {"length", "l", XP_COLUMN_TIME, 0, 0}};
  (void)state;
  page p = open_page(XP_FORM_TEXT, 80);
  xp_table *table = xp_table_create(&p.printer, places, 2);
  xp_table_int(table, 9720412300000);
  xp_table_int(table, 178000000);
  xp_table_int(table, 9720591000000);
  xp_table_int(table, 70000000);
  assert_page(&p, table, " from ms  length us\n9,720.41      178.0\n9,720.59       70.0\n");
  p = open_page(XP_FORM_TEXT, 80);
  table = xp_table_create(&p.printer, places, 2);
  xp_table_int(table, 9720412300000);
  xp_table_int(table, 2000000000000);
  assert_page(&p, table, "from s  length s\n  9.72      2.00\n");
}

static void count_up(const void *context, xp_table *table, size_t row)
{
  const page *p = context;
  xp_table_text(table, xp_arena_format(p->printer.scratch, "long_name_in_row_%zu", row));
  xp_table_int(table, (int64_t)row);
}

static void test_rows_of_a_callback_are_written_and_forgotten(void **state)
{
  static const xp_column counts[] = {{"name", "name", XP_COLUMN_TEXT, 0, 8}, {"count", "count", XP_COLUMN_COUNT, 0, 0}};
  static const xp_form forms[] = {XP_FORM_TEXT, XP_FORM_CSV};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    page p = open_page(forms[i], 80);
    xp_table *table = xp_table_create(&p.printer, counts, 2);
    xp_table_rows(table, 100001, count_up, &p);
    p.printer.out = open_memstream(&p.text, &p.len);
    assert_non_null(p.printer.out);
    xp_table_print(table, 0);
    fclose(p.printer.out);
    assert_non_null(strstr(p.text, i == 0 ? "long_name_in_row_9       " : "long_name_in_row_9,9\r\n"));
    assert_non_null(strstr(p.text, i == 0 ? "long_name_in_row_100000  100,000\n" : "long_name_in_row_100000,100000"));
    assert_true(xp_arena_bytes(p.printer.arena) + xp_arena_bytes(p.printer.scratch) < 200000);
    close_page(&p);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_is_aligned_and_times_share_a_unit),
      cmocka_unit_test(test_times_of_very_different_size_keep_their_own_units),
      cmocka_unit_test(test_names_shrink_to_the_width),
      cmocka_unit_test(test_csv_is_raw_and_quoted),
      cmocka_unit_test(test_hostile_names_stay_on_their_line),
      cmocka_unit_test(test_columns_that_may_go_are_dropped_last_first),
      cmocka_unit_test(test_columns_that_nobody_wants_to_miss_go_before_names_end),
      cmocka_unit_test(test_places_have_digits_for_the_shortest_length),
      cmocka_unit_test(test_rows_of_a_callback_are_written_and_forgotten),
      cmocka_unit_test(test_an_empty_table_has_its_headings),
      cmocka_unit_test(test_every_width_gives_lines_that_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
