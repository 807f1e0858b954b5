/* Planes of one name made into one.  Each plane is written by hand, with ids of its own; the merged one is read by the
 * reader of captures. */
#define _GNU_SOURCE /* memmem */
#include "ropes.h"
#include "session/plane_merge.h"

typedef struct {
  xp_arena *arena;
  xp_plane_merge merge;
  xp_str bytes;
  xp_capture *capture;
  const xp_plane *plane;
} merging;

static merging begin(void)
{
  merging m = {.arena = xp_arena_create()};
  m.merge = (xp_plane_merge){.arena = m.arena,
                             .lines = {.arena = m.arena},
                             .tables = xp_plane_writer_create(xp_str_c("P"), 0),
                             .frame = {1000, 77}};
  return m;
}

static void add(merging *m, xp_wire_writer *plane)
{
  assert_true(xp_plane_merge_add(&m->merge, written(plane)));
  xp_wire_writer_free(plane); /* nothing is borrowed */
}

/* Writes all lines, in the order in which they came, and reads the plane. */
static void finish(merging *m)
{
  xp_rope plane, space;
  xp_wire_writer tables = {0};
  xp_rope_init(&plane, m->arena);
  xp_rope_init(&space, m->arena);
  xp_rope_borrow(&plane, xp_str_c("\x12\x01P"));
  for (size_t i = 0; i < m->merge.lines.count; i++) {
    xp_merged_line_write(&m->merge.lines, &m->merge.lines.lines[i], &plane);
  }
  xp_plane_merge_stats(&m->merge);
  assert_true(xp_plane_writer_tables(m->merge.tables, &tables));
  xp_rope_records(&plane, &tables);
  xp_rope_nest(&space, 1, &plane);
  assert_false(m->merge.failed || m->merge.lines.failed);
  m->capture = load_rope(&space, &m->bytes);
  m->plane = &m->capture->hosts[0].planes[0];
}

static void end(merging *m)
{
  xp_capture_free(m->capture);
  free((void *)(uintptr_t)m->bytes.ptr);
  xp_plane_writer_free(m->merge.tables);
  xp_arena_destroy(m->arena);
}

static void put_head(xp_wire_writer *line, int64_t id, const char *name, int64_t timestamp_ns)
{
  xp_wire_put_varint(line, 1, (uint64_t)id);
  put_text(line, 2, name);
  xp_wire_put_varint(line, 3, (uint64_t)timestamp_ns);
}

/* A plane with one line of one event: name of the event, its metadata id, offset and duration. */
static void put_one(xp_wire_writer *plane, int64_t line_id, const char *line_name, int64_t timestamp_ns,
                    const char *name, int64_t id, int64_t offset_ps)
{
  xp_wire_writer line = {0};
  put_head(&line, line_id, line_name, timestamp_ns);
  put_event(&line, (uint64_t)id, offset_ps, 1);
  xp_wire_put_message(plane, 3, &line);
  put_name(plane, 4, id, name);
  xp_wire_writer_free(&line);
}

static void equal_names_share_one_id(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer a = {0}, b = {0};
  put_one(&a, 1, "A", 0, "same", 5, 0);
  put_one(&b, 2, "B", 0, "same", 9, 0);
  put_name(&b, 4, 5, "other");
  add(&m, &a);
  add(&m, &b);
  finish(&m);
  assert_int_equal(m.plane->event_meta_count, 3); /* and [0], for ids that are missing */
  assert_events(line_of(m.plane, "A"), "same 0 1;");
  assert_events(line_of(m.plane, "B"), "same 0 1;");
  end(&m);
}

/* Stats 1 "alpha" and 2 "beta" in one plane, 1 "beta" and 2 "alpha" in the other. */
static void put_stats_plane(xp_wire_writer *plane, int64_t line_id, const char *first, const char *second)
{
  xp_wire_writer line = {0}, event = {0};
  put_head(&line, line_id, first, 0);
  xp_wire_put_varint(&event, 1, 4);
  xp_wire_put_varint(&event, 2, 0);
  put_stat(&event, 4, 1, 4, 100);
  put_stat(&event, 4, 2, 7, 1); /* a reference: the name of stat 1 */
  xp_wire_put_message(&line, 4, &event);
  xp_wire_put_message(plane, 3, &line);
  put_name(plane, 4, 4, "e");
  put_name(plane, 5, 1, first);
  put_name(plane, 5, 2, second);
  xp_wire_writer_free(&event);
  xp_wire_writer_free(&line);
}

static void stats_and_references_keep_their_names(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer a = {0}, b = {0};
  put_stats_plane(&a, 1, "alpha", "beta");
  put_stats_plane(&b, 2, "beta", "alpha");
  add(&m, &a);
  add(&m, &b);
  finish(&m);
  xp_event_cursor first = xp_event_cursor_open(line_of(m.plane, "alpha"));
  xp_event_cursor second = xp_event_cursor_open(line_of(m.plane, "beta"));
  assert_int_equal(stat_of(xp_event_stats(&first, 0), "alpha").bits, 100);
  assert_str(stat_of(xp_event_stats(&first, 0), "beta").text, "alpha");
  assert_int_equal(stat_of(xp_event_stats(&second, 0), "beta").bits, 100);
  assert_str(stat_of(xp_event_stats(&second, 0), "alpha").text, "beta");
  end(&m);
}

static void stats_of_every_type_come_through(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer plane = {0}, line = {0}, event = {0}, stat = {0};
  xp_wire_put_varint(&event, 1, 1);
  xp_wire_put_varint(&stat, 1, 1);
  xp_wire_put_double(&stat, 2, -0.5);
  xp_wire_put_message(&event, 4, &stat);
  put_stat(&event, 4, 2, 3, UINT64_MAX);
  put_stat(&event, 4, 3, 4, (uint64_t)INT64_MIN);
  stat.len = 0;
  xp_wire_put_varint(&stat, 1, 4);
  put_text(&stat, 5, "text");
  xp_wire_put_message(&event, 4, &stat);
  stat.len = 0;
  xp_wire_put_varint(&stat, 1, 5);
  xp_wire_put_bytes(&stat, 6, xp_str_from("\0\xff", 2));
  xp_wire_put_message(&event, 4, &stat);
  xp_wire_put_message(&line, 4, &event);
  xp_wire_put_message(&plane, 3, &line);
  for (int64_t id = 1; id <= 5; id++) {
    put_name(&plane, 5, id, (const char *[]){"d", "u", "i", "s", "b"}[id - 1]);
  }
  xp_wire_writer_free(&stat);
  xp_wire_writer_free(&event);
  xp_wire_writer_free(&line);
  add(&m, &plane);
  finish(&m);
  xp_event_cursor cursor = xp_event_cursor_open(&m.plane->lines[0]);
  assert_true(stat_of(xp_event_stats(&cursor, 0), "d").real == -0.5);
  assert_true(stat_of(xp_event_stats(&cursor, 0), "u").bits == UINT64_MAX);
  assert_int_equal((int64_t)stat_of(xp_event_stats(&cursor, 0), "i").bits, INT64_MIN);
  assert_str(stat_of(xp_event_stats(&cursor, 0), "s").text, "text");
  xp_stat bytes = stat_of(xp_event_stats(&cursor, 0), "b");
  assert_int_equal(bytes.type, XP_STAT_BYTES);
  assert_memory_equal(bytes.text.ptr, "\0\xff", 2);
  end(&m);
}

/* Bases: 1000 is the start of the session.  Line 7 in three planes, at 50, 3 and 0 ns after it. */
static void lines_of_one_id_become_one_in_order(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer a = {0}, b = {0}, c = {0};
  put_one(&a, 7, "first", 1050, "a", 1, 0);    /* at 50000 ps */
  put_one(&b, 7, "second", 1003, "b", 1, 200); /* at 3200 ps */
  put_one(&c, 7, "third", 2, "c", 1, 60000);   /* relative already: at 62000 ps */
  add(&m, &a);
  add(&m, &b);
  add(&m, &c);
  finish(&m);
  assert_int_equal(m.plane->line_count, 1);
  assert_int_equal(m.plane->lines[0].timestamp_ns, 2);
  assert_str(m.plane->lines[0].name, "first");
  assert_str(m.plane->lines[0].display_name, "first");
  assert_events(&m.plane->lines[0], "b 3200 1;a 50000 1;c 62000 1;");
  assert_true(m.plane->lines[0].sorted_in_file);
  end(&m);
}

static void a_name_that_a_first_line_lacks_comes_from_the_next(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer a = {0}, b = {0};
  put_one(&a, 7, "", 0, "a", 1, 0);
  put_one(&b, 7, "thread", 0, "b", 1, 5);
  add(&m, &a);
  add(&m, &b);
  finish(&m);
  assert_str(m.plane->lines[0].name, "thread");
  assert_str(m.plane->lines[0].display_name, "thread");
  end(&m);
}

static void lines_keep_their_other_fields(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer plane = {0}, line = {0};
  put_head(&line, -3, "n", 5);
  xp_wire_put_varint(&line, 9, 1234);
  xp_wire_put_varint(&line, 10, 42);
  put_text(&line, 11, "shown");
  xp_wire_put_message(&plane, 3, &line);
  xp_wire_writer_free(&line);
  add(&m, &plane);
  finish(&m);
  assert_int_equal(m.plane->lines[0].id, -3);
  assert_str(m.plane->lines[0].display_name, "shown");
  xp_str message = m.plane->lines[0].message;
  assert_non_null(memmem(message.ptr, message.len, "\x48\xd2\x09", 3)); /* field 9: 1234 = 9 * 128 + 82 */
  assert_non_null(memmem(message.ptr, message.len, "\x50\x2a", 2));     /* field 10: 42 */
  end(&m);
}

static void ids_without_a_name_make_one_without_a_name(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer a = {0}, line = {0}, event = {0};
  put_head(&line, 1, "L", 0);
  put_event(&line, 99, 0, 1);
  xp_wire_put_varint(&event, 1, 1);
  xp_wire_put_varint(&event, 2, 5);
  put_stat(&event, 4, 55, 4, 8);
  xp_wire_put_message(&line, 4, &event);
  xp_wire_put_message(&a, 3, &line);
  put_name(&a, 4, 1, "known");
  xp_wire_writer_free(&event);
  xp_wire_writer_free(&line);
  add(&m, &a);
  finish(&m);
  assert_events(&m.plane->lines[0], " 0 1;known 5 0;");
  xp_event_cursor cursor = xp_event_cursor_open(&m.plane->lines[0]);
  assert_int_equal(stat_of(xp_event_stats(&cursor, 1), "").bits, 8);
  end(&m);
}

static void ids_may_be_any_64_bit_number(void **state)
{
  (void)state;
  merging m = begin();
  static const int64_t ids[] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)1 << 40};
  xp_wire_writer plane = {0}, line = {0};
  put_head(&line, INT64_MAX, "L", 0);
  for (size_t i = 0; i < 5; i++) {
    char name[2] = {(char)('a' + i), '\0'};
    put_event(&line, (uint64_t)ids[i], (int64_t)i, 1);
    put_name(&plane, 4, ids[i], name);
  }
  xp_wire_put_message(&plane, 3, &line);
  xp_wire_writer_free(&line);
  add(&m, &plane);
  finish(&m);
  assert_int_equal(m.plane->lines[0].id, INT64_MAX);
  assert_events(&m.plane->lines[0], "a 0 1;b 1 1;c 2 1;d 3 1;e 4 1;");
  end(&m);
}

static void a_plane_merged_with_itself_has_every_event_twice(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer plane = {0};
  put_one(&plane, 7, "L", 1001, "e", 3, 5);
  put_name(&plane, 5, 2, "s");
  put_stat(&plane, 6, 2, 4, 6);
  for (int i = 0; i < 2; i++) {
    assert_true(xp_plane_merge_add(&m.merge, written(&plane)));
  }
  xp_wire_writer_free(&plane);
  finish(&m);
  assert_int_equal(m.plane->line_count, 1);
  assert_events(&m.plane->lines[0], "e 1005 1;e 1005 1;");
  assert_int_equal(m.plane->event_meta_count, 2);
  assert_int_equal(count_stats(xp_plane_stats(m.plane), "s"), 1);
  end(&m);
}

static void the_last_stat_of_a_name_counts_and_the_process_is_there_once(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer a = {0}, b = {0};
  put_name(&a, 5, 1, "s");
  put_name(&a, 5, 2, "process_id");
  put_stat(&a, 6, 1, 4, 10);
  put_stat(&a, 6, 2, 4, 5);
  put_name(&b, 5, 8, "s");
  put_stat(&b, 6, 8, 4, 20);
  add(&m, &a);
  add(&m, &b);
  finish(&m);
  assert_int_equal(count_stats(xp_plane_stats(m.plane), "s"), 1);
  assert_int_equal(stat_of(xp_plane_stats(m.plane), "s").bits, 20);
  assert_int_equal(count_stats(xp_plane_stats(m.plane), "process_id"), 1);
  assert_int_equal(stat_of(xp_plane_stats(m.plane), "process_id").bits, 5);
  end(&m);
}

static void planes_without_process_get_ours(void **state)
{
  (void)state;
  merging m = begin();
  finish(&m);
  assert_int_equal(stat_of(xp_plane_stats(m.plane), "process_id").bits, 77);
  end(&m);
}

/* An event metadata entry with everything: 2 name, 4 display name, 3 metadata, 5 stat, 6 children, packed and not. */
static void put_full_meta(xp_wire_writer *plane, int64_t id, const char *name, const char *display, uint64_t value)
{
  xp_wire_writer message = {0}, entry = {0};
  xp_wire_put_varint(&message, 1, (uint64_t)id);
  put_text(&message, 2, name);
  put_text(&message, 3, "raw");
  put_text(&message, 4, display);
  put_stat(&message, 5, 3, 4, value);
  xp_wire_put_bytes(&message, 6, xp_str_c("\x14\x15"));
  xp_wire_put_varint(&message, 6, 0x14);
  xp_wire_put_varint(&entry, 1, (uint64_t)id);
  xp_wire_put_message(&entry, 2, &message);
  xp_wire_put_message(plane, 4, &entry);
  xp_wire_writer_free(&message);
  xp_wire_writer_free(&entry);
}

static void metadata_of_events_come_through_with_other_ids(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer plane = {0};
  put_full_meta(&plane, 9, "parent", "shown", 30);
  put_name(&plane, 4, 0x14, "kid");
  put_name(&plane, 4, 0x15, "other kid");
  put_name(&plane, 5, 3, "s");
  add(&m, &plane);
  finish(&m);
  const xp_event_meta *meta = &m.plane->event_meta[1];
  assert_str(meta->name, "parent");
  assert_str(meta->display_name, "shown");
  assert_int_equal(stat_of(xp_meta_stats(m.plane, meta), "s").bits, 30);
  assert_int_equal(m.plane->event_meta[2].id, 2);
  assert_str(m.plane->event_meta[2].name, "kid");
  assert_non_null(memmem(meta->message.ptr, meta->message.len, "\x1a\x03raw", 5));
  assert_non_null(memmem(meta->message.ptr, meta->message.len, "\x30\x02\x30\x03\x30\x02", 6));
  end(&m);
}

static void the_first_metadata_of_a_name_that_say_more_count(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer a = {0}, b = {0}, c = {0};
  put_name(&a, 4, 1, "e");
  put_full_meta(&b, 2, "e", "shown", 30);
  put_name(&b, 5, 3, "s");
  put_full_meta(&c, 3, "e", "later", 40);
  put_name(&c, 5, 3, "s");
  add(&m, &a);
  add(&m, &b);
  add(&m, &c);
  finish(&m);
  const xp_event_meta *meta = &m.plane->event_meta[1];
  assert_str(meta->display_name, "shown");
  assert_int_equal(count_stats(xp_meta_stats(m.plane, meta), "s"), 1);
  assert_int_equal(stat_of(xp_meta_stats(m.plane, meta), "s").bits, 30);
  end(&m);
}

static void events_that_count_keep_their_number_and_have_no_offset(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer plane = {0}, line = {0};
  put_head(&line, 1, "L", 1005);
  xp_wire_put_bytes(&line, 4, xp_str_c("\x08\x01\x28\x09")); /* num_occurrences 9 */
  xp_wire_put_message(&plane, 3, &line);
  put_name(&plane, 4, 1, "e");
  xp_wire_writer_free(&line);
  add(&m, &plane);
  finish(&m);
  xp_event_cursor cursor = xp_event_cursor_open(&m.plane->lines[0]);
  assert_str(xp_event_record(&cursor, 0), "\x08\x01\x28\x09");
  end(&m);
}

static void fields_of_another_type_are_no_fields_of_a_line(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer plane = {0}, line = {0};
  put_head(&line, 1, "L", 0);
  xp_wire_put_varint(&line, 2, 5); /* a name that is a number */
  xp_wire_put_varint(&line, 11, 5);
  put_text(&line, 1, "an id that is a text");
  xp_wire_put_message(&plane, 3, &line);
  xp_wire_writer_free(&line);
  add(&m, &plane);
  finish(&m);
  assert_int_equal(m.plane->lines[0].id, 1);
  assert_str(m.plane->lines[0].name, "L");
  end(&m);
}

static void what_stands_before_damage_is_kept(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer plane = {0};
  put_name(&plane, 4, 1, "e");
  xp_wire_writer line = {0};
  put_head(&line, 7, "L", 0);
  put_event(&line, 1, 4, 1);
  xp_wire_put_message(&plane, 3, &line);
  put_head(&line, 7, "L", 0);
  xp_wire_put_message(&plane, 3, &line);
  xp_wire_writer_free(&line);
  assert_false(xp_plane_merge_add(&m.merge, xp_str_take(written(&plane), plane.len - 1)));
  xp_wire_writer_free(&plane);
  finish(&m);
  assert_events(&m.plane->lines[0], "e 4 1;");
  end(&m);
}

static void times_that_overflow_are_damage(void **state)
{
  (void)state;
  merging m = begin();
  xp_wire_writer plane = {0};
  put_one(&plane, 7, "L", INT64_MAX, "e", 1, 5);
  assert_false(xp_plane_merge_add(&m.merge, written(&plane)));
  xp_wire_writer_free(&plane);
  finish(&m);
  end(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_names_share_one_id),
      cmocka_unit_test(stats_and_references_keep_their_names),
      cmocka_unit_test(stats_of_every_type_come_through),
      cmocka_unit_test(lines_of_one_id_become_one_in_order),
      cmocka_unit_test(a_name_that_a_first_line_lacks_comes_from_the_next),
      cmocka_unit_test(lines_keep_their_other_fields),
      cmocka_unit_test(ids_without_a_name_make_one_without_a_name),
      cmocka_unit_test(ids_may_be_any_64_bit_number),
      cmocka_unit_test(a_plane_merged_with_itself_has_every_event_twice),
      cmocka_unit_test(the_last_stat_of_a_name_counts_and_the_process_is_there_once),
      cmocka_unit_test(planes_without_process_get_ours),
      cmocka_unit_test(metadata_of_events_come_through_with_other_ids),
      cmocka_unit_test(the_first_metadata_of_a_name_that_say_more_count),
      cmocka_unit_test(events_that_count_keep_their_number_and_have_no_offset),
      cmocka_unit_test(fields_of_another_type_are_no_fields_of_a_line),
      cmocka_unit_test(what_stands_before_damage_is_kept),
      cmocka_unit_test(times_that_overflow_are_damage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
