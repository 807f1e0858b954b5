/* Events of a line put in order.  The order is checked against its definition: by start, longer first, equal ones as
 * they came. */
#include "session/event_rows.h"
#include "testing.h"

/* Adds events whose messages tell the order in which they came: "0", "1", .. */
static xp_event_rows rows_of(xp_arena *arena, const int64_t (*times)[2], size_t count)
{
  xp_event_rows rows = {0};
  for (size_t i = 0; i < count; i++) {
    xp_str number = xp_arena_format(arena, "%zu", i);
    assert_true(xp_event_rows_add(&rows, arena, (xp_event_row){times[i][0], times[i][1], number}));
  }
  return rows;
}

static void assert_order(const xp_event_rows *rows, const char *want)
{
  char text[256] = "";
  for (size_t i = 0; i < rows->count; i++) {
    snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s ", XP_STR_ARG(rows->rows[i].message));
  }
  assert_string_equal(text, want);
}

static void events_are_sorted_by_start_and_longer_ones_come_first(void **state)
{
  (void)state;
  static const int64_t times[][2] = {{30, 1}, {10, 2}, {10, 5}, {-4, 0}, {20, 0}};
  xp_arena *arena = xp_arena_create();
  xp_event_rows rows = rows_of(arena, times, 5);
  assert_false(rows.is_sorted);
  assert_true(xp_event_rows_sort(&rows, arena));
  assert_true(rows.is_sorted);
  assert_order(&rows, "3 2 1 4 0 ");
  xp_arena_destroy(arena);
}

static void equal_events_keep_their_order(void **state)
{
  (void)state;
  static const int64_t times[][2] = {{9, 1}, {5, 5}, {5, 5}, {5, 5}, {9, 1}, {5, 5}, {9, 1}};
  xp_arena *arena = xp_arena_create();
  xp_event_rows rows = rows_of(arena, times, 7);
  assert_true(xp_event_rows_sort(&rows, arena));
  assert_order(&rows, "1 2 3 5 0 4 6 ");
  xp_arena_destroy(arena);
}

static void events_that_come_in_order_are_known_to_be_sorted(void **state)
{
  (void)state;
  static const int64_t times[][2] = {{1, 9}, {1, 4}, {1, 4}, {2, 0}, {2, 0}};
  xp_arena *arena = xp_arena_create();
  xp_event_rows rows = rows_of(arena, times, 5);
  assert_true(rows.is_sorted);
  const xp_event_row *before = rows.rows;
  assert_true(xp_event_rows_sort(&rows, arena));
  assert_ptr_equal(rows.rows, before);
  xp_arena_destroy(arena);
}

static void a_longer_event_behind_a_shorter_one_is_not_sorted(void **state)
{
  (void)state;
  static const int64_t times[][2] = {{1, 4}, {1, 9}};
  xp_arena *arena = xp_arena_create();
  xp_event_rows rows = rows_of(arena, times, 2);
  assert_false(rows.is_sorted);
  assert_true(xp_event_rows_sort(&rows, arena));
  assert_order(&rows, "1 0 ");
  xp_arena_destroy(arena);
}

/* Every number of events up to 70, shuffled: the result is held against the definition. */
static void any_number_of_events_can_be_sorted_and_added_to(void **state)
{
  (void)state;
  uint32_t random = 1;
  for (size_t count = 0; count < 70; count++) {
    xp_arena *arena = xp_arena_create();
    xp_event_rows rows = {0};
    for (size_t i = 0; i < count; i++) {
      random = random * 1664525 + 1013904223;
      xp_event_row row = {random >> 29, random >> 27 & 3, xp_arena_format(arena, "%02zu", i)};
      assert_true(xp_event_rows_add(&rows, arena, row));
      if (i == count / 2) {
        assert_true(xp_event_rows_sort(&rows, arena));
      }
    }
    assert_true(xp_event_rows_sort(&rows, arena));
    assert_int_equal(rows.count, count);
    bool seen[70] = {false};
    for (size_t i = 0; i < count; i++) {
      const xp_event_row *a = &rows.rows[i > 0 ? i - 1 : 0], *b = &rows.rows[i];
      seen[(b->message.ptr[0] - '0') * 10 + b->message.ptr[1] - '0'] = true;
      assert_true(a->offset_ps <= b->offset_ps);
      assert_true(a->offset_ps < b->offset_ps || a->dur_ps >= b->dur_ps);
      if (i > 0 && a->offset_ps == b->offset_ps && a->dur_ps == b->dur_ps) {
        assert_true(xp_str_cmp(a->message, b->message) < 0);
      }
    }
    for (size_t i = 0; i < count; i++) {
      assert_true(seen[i]);
    }
    xp_arena_destroy(arena);
  }
}

static void times_of_an_event_are_read_and_the_last_counts(void **state)
{
  (void)state;
  xp_event_row row;
  /* id 7, offset 5, duration 3, offset -1 */
  xp_str message = xp_str_c("\x08\x07\x10\x05\x18\x03\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  assert_true(xp_event_row_read(message, &row));
  assert_int_equal(row.offset_ps, -1);
  assert_int_equal(row.dur_ps, 3);
  assert_ptr_equal(row.message.ptr, message.ptr);
}

static void an_event_without_times_begins_at_zero(void **state)
{
  (void)state;
  xp_event_row row;
  assert_true(xp_event_row_read(xp_str_c("\x08\x07\x28\x09"), &row)); /* num_occurrences 9 */
  assert_int_equal(row.offset_ps, 0);
  assert_int_equal(row.dur_ps, 0);
  assert_true(xp_event_row_read(xp_str_c(""), &row));
}

static void a_damaged_event_is_told(void **state)
{
  (void)state;
  xp_event_row row;
  assert_false(xp_event_row_read(xp_str_c("\x08\x07\x10"), &row)); /* cut */
  assert_false(xp_event_row_read(xp_str_c("\x22\x05\x08"), &row)); /* a stat of 5 bytes, of which one is there */
  assert_false(xp_event_row_read(xp_str_c("\x0b\x07\x0c"), &row)); /* a group */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_are_sorted_by_start_and_longer_ones_come_first),
      cmocka_unit_test(equal_events_keep_their_order),
      cmocka_unit_test(events_that_come_in_order_are_known_to_be_sorted),
      cmocka_unit_test(a_longer_event_behind_a_shorter_one_is_not_sorted),
      cmocka_unit_test(any_number_of_events_can_be_sorted_and_added_to),
      cmocka_unit_test(times_of_an_event_are_read_and_the_last_counts),
      cmocka_unit_test(an_event_without_times_begins_at_zero),
      cmocka_unit_test(a_damaged_event_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
