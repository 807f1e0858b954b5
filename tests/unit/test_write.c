/* Writing planes, and reading them back. */
#include "testing.h"

static xp_str nasty(void)
{
  static const char bytes[] = "a\"b\nc\0d\xff\xfe";
  return xp_str_from(bytes, sizeof bytes - 1);
}

static void the_bytes_are_those_of_the_format(void **state)
{
  (void)state;
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("P"), 5);
  int64_t op = xp_plane_writer_event(plane, xp_str_c("op"), xp_str_c("Op"));
  int64_t run = xp_plane_writer_stat(plane, xp_str_c("r"));
  xp_plane_writer_line(plane, 9, xp_str_c("L"), 3);
  xp_plane_writer_add(plane, op, 0, 7);
  xp_plane_writer_int(plane, run, -1);
  xp_wire_writer space = {0};
  assert_true(xp_plane_writer_finish(plane, &space));
  static const char want[] = "\x0a\x40"                                 /* planes, 64 bytes */
                             "\x08\x05\x12\x01P"                        /* id, name */
                             "\x1a\x1e\x08\x09\x12\x01L\x18\x03"        /* line: id, name, timestamp */
                             "\x22\x15\x08\x01\x10\x00\x18\x07"         /* event: metadata id, offset, duration */
                             "\x22\x0d\x08\x01\x20"                     /* stat: metadata id, int64 */
                             "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" /* -1 */
                             "\x22\x0e\x08\x01\x12\x0a\x08\x01\x12\x02op\x22\x02Op" /* event metadata */
                             "\x2a\x09\x08\x01\x12\x05\x08\x01\x12\x01r";           /* stat metadata */
  assert_int_equal(space.len, sizeof want - 1);
  assert_memory_equal(space.data, want, sizeof want - 1);
  xp_wire_writer_free(&space);
}

static void equal_names_share_an_entry(void **state)
{
  (void)state;
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("P"), 0);
  assert_int_equal(xp_plane_writer_event(plane, xp_str_c("a"), xp_str_c("")), 1);
  assert_int_equal(xp_plane_writer_event(plane, xp_str_c("b"), xp_str_c("")), 2);
  assert_int_equal(xp_plane_writer_event(plane, xp_str_c("a"), xp_str_c("")), 1);
  assert_int_equal(xp_plane_writer_stat(plane, xp_str_c("a")), 1);
  xp_plane_writer_free(plane);
}

static void entries_of_one_name_may_have_stats_of_their_own(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("P"), 0);
  int64_t stat = xp_plane_writer_stat(plane, xp_str_c("source"));
  int64_t first = xp_plane_writer_event_of(plane, xp_str_c("key 1"), xp_str_c("add"), xp_str_c("shown"));
  int64_t second = xp_plane_writer_event_of(plane, xp_str_c("key 2"), xp_str_c("add"), xp_str_c(""));
  assert_int_equal(xp_plane_writer_event_of(plane, xp_str_c("key 1"), xp_str_c("other"), xp_str_c("")), first);
  assert_int_not_equal(first, second);
  xp_plane_writer_meta_text(plane, first, stat, xp_str_c("one.py:1"));
  xp_plane_writer_meta_text(plane, second, stat, xp_str_c("two.py:2"));
  xp_plane_writer_line(plane, 1, xp_str_c("L"), 1);
  xp_plane_writer_add(plane, second, 1, 1);
  xp_plane_writer_add(plane, first, 3, 1);
  assert_true(xp_plane_writer_finish(plane, &space));
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *line = &capture->hosts[0].planes[0].lines[0];
  xp_event_cursor cursor = xp_event_cursor_open(line);
  xp_stat s;
  assert_str(xp_event_name(line, 0), "add");
  assert_true(xp_stats_find(xp_event_stats(&cursor, 0), XP_KEY_SOURCE, &s));
  assert_str(s.text, "two.py:2");
  assert_str(xp_event_name(line, 1), "add");
  assert_str(xp_event_meta_of(line, 1)->display_name, "shown");
  assert_true(xp_stats_find(xp_event_stats(&cursor, 1), XP_KEY_SOURCE, &s));
  assert_str(s.text, "one.py:1");
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

/* One event with a stat of every type. */
static xp_wire_writer every_type(void)
{
  xp_plane_writer *plane = xp_plane_writer_create(nasty(), -3);
  int64_t id = xp_plane_writer_event(plane, nasty(), xp_str_c("shown"));
  int64_t stat = xp_plane_writer_stat(plane, xp_str_c("s"));
  xp_plane_writer_text(plane, stat, xp_str_c("of the plane"));
  xp_plane_writer_meta_uint(plane, id, xp_plane_writer_stat(plane, xp_str_c("program_id")), UINT64_MAX);
  xp_plane_writer_meta_bytes(plane, id, stat, nasty());
  xp_plane_writer_line(plane, INT64_MIN, nasty(), 1000);
  xp_plane_writer_add(plane, id, 5, 6);
  xp_plane_writer_int(plane, stat, INT64_MIN);
  xp_plane_writer_uint(plane, stat, UINT64_MAX);
  xp_plane_writer_double(plane, stat, -0.5);
  xp_plane_writer_text(plane, stat, nasty());
  xp_plane_writer_bytes(plane, stat, xp_str_from(NULL, 0));
  xp_plane_writer_ref(plane, stat, nasty());
  xp_wire_writer space = {0};
  assert_true(xp_plane_writer_finish(plane, &space));
  return space;
}

static void names_of_any_bytes_come_back(void **state)
{
  (void)state;
  xp_wire_writer space = every_type();
  xp_capture *capture = load_bytes(written(&space));
  const xp_plane *plane = &capture->hosts[0].planes[0];
  const xp_line *line = &plane->lines[0];
  assert_true(xp_str_eq(plane->name, nasty()) && plane->id == -3);
  assert_true(xp_str_eq(line->name, nasty()) && line->id == INT64_MIN && line->timestamp_ns == 1000);
  assert_true(xp_str_eq(xp_event_name(line, 0), nasty()));
  assert_str(xp_event_meta_of(line, 0)->display_name, "shown");
  assert_int_equal(line->start_ps[0], 1000005);
  assert_int_equal(xp_event_dur(line, 0), 6);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void stats_of_every_type_come_back_in_order(void **state)
{
  (void)state;
  xp_wire_writer space = every_type();
  xp_capture *capture = load_bytes(written(&space));
  const xp_plane *plane = &capture->hosts[0].planes[0];
  xp_event_cursor cursor = xp_event_cursor_open(&plane->lines[0]);
  xp_stats stats = xp_event_stats(&cursor, 0);
  xp_stat s;
  assert_true(xp_stats_next(&stats, &s) && s.type == XP_STAT_INT64 && (int64_t)s.bits == INT64_MIN);
  assert_str(s.name, "s");
  assert_true(xp_stats_next(&stats, &s) && s.type == XP_STAT_UINT64 && s.bits == UINT64_MAX);
  assert_true(xp_stats_next(&stats, &s) && s.type == XP_STAT_DOUBLE && s.real == -0.5);
  assert_true(xp_stats_next(&stats, &s) && s.type == XP_STAT_STRING && xp_str_eq(s.text, nasty()));
  assert_true(xp_stats_next(&stats, &s) && s.type == XP_STAT_BYTES && s.text.len == 0);
  assert_true(xp_stats_next(&stats, &s) && s.type == XP_STAT_STRING && xp_str_eq(s.text, nasty()));
  assert_true(xp_stats_next(&stats, &s) && s.key == XP_KEY_PROGRAM_ID && s.bits == UINT64_MAX); /* of the metadata */
  assert_true(xp_stats_next(&stats, &s) && s.type == XP_STAT_BYTES && xp_str_eq(s.text, nasty()));
  assert_false(xp_stats_next(&stats, &s));
  assert_true(xp_stats_find(xp_plane_stats(plane), XP_KEY_NONE, &s));
  assert_str(xp_stat_text(&s), "of the plane");
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void several_planes_make_one_space(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  for (int64_t i = 0; i < 3; i++) {
    xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("same"), i);
    for (int64_t k = 0; k < i; k++) {
      xp_plane_writer_line(plane, k, xp_str_c("line"), 0);
    }
    assert_true(xp_plane_writer_finish(plane, &space));
  }
  xp_capture *capture = load_bytes(written(&space));
  assert_int_equal(capture->hosts[0].plane_count, 3);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(capture->hosts[0].planes[i].id, i);
    assert_int_equal(capture->hosts[0].planes[i].line_count, i);
  }
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void a_plane_appends_nothing_to_a_failed_space(void **state)
{
  (void)state;
  xp_wire_writer space = {.failed = true};
  assert_false(xp_plane_writer_finish(xp_plane_writer_create(xp_str_c("P"), 0), &space));
  assert_int_equal(space.len, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bytes_are_those_of_the_format),
      cmocka_unit_test(equal_names_share_an_entry),
      cmocka_unit_test(names_of_any_bytes_come_back),
      cmocka_unit_test(stats_of_every_type_come_back_in_order),
      cmocka_unit_test(entries_of_one_name_may_have_stats_of_their_own),
      cmocka_unit_test(several_planes_make_one_space),
      cmocka_unit_test(a_plane_appends_nothing_to_a_failed_space),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
