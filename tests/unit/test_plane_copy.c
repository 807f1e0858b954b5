/* Planes of plugins as they go into the capture.  Messages are written by hand; what comes out is read by the reader of
 * captures, or held against bytes. */
#define _GNU_SOURCE /* memmem */
#include "ropes.h"
#include "session/plane_copy.h"

static const xp_plane_frame frame = {.start_unix_ns = 1000000, .process_id = 77};

typedef struct {
  xp_arena *arena, *scratch;
  xp_rope space;
  bool is_copied;
} copying;

static copying copy_plane(xp_str plane)
{
  copying c = {xp_arena_create(), xp_arena_create(), {0}, false};
  xp_rope_init(&c.space, c.arena);
  c.is_copied = xp_plane_copy(&c.space, plane, &frame, c.scratch);
  return c;
}

static void end_copying(copying *c)
{
  xp_arena_destroy(c->arena);
  xp_arena_destroy(c->scratch);
}

/* Copies a plane that must be good, frees it, and reads the result back. */
typedef struct {
  copying copying;
  xp_str bytes;
  xp_capture *capture;
  const xp_plane *plane;
} copied;

static copied copy_and_load(xp_wire_writer *plane)
{
  copied c = {.copying = copy_plane(written(plane))};
  assert_true(c.copying.is_copied);
  c.capture = load_rope(&c.copying.space, &c.bytes);
  xp_wire_writer_free(plane);
  assert_int_equal(c.capture->hosts[0].plane_count, 1);
  c.plane = &c.capture->hosts[0].planes[0];
  return c;
}

static void end_copied(copied *c)
{
  xp_capture_free(c->capture);
  free((void *)(uintptr_t)c->bytes.ptr);
  end_copying(&c->copying);
}

static void put_line(xp_wire_writer *plane, const char *name, int64_t timestamp_ns, const char *events, size_t len)
{
  xp_wire_writer line = {0};
  put_text(&line, 2, name);
  xp_wire_put_varint(&line, 3, (uint64_t)timestamp_ns);
  xp_wire_writer raw = {.data = (uint8_t *)(uintptr_t)events, .len = len};
  xp_wire_put_raw(&line, &raw);
  xp_wire_put_message(plane, 3, &line);
  xp_wire_writer_free(&line);
}

static void bases_at_or_after_the_start_become_relative_to_it(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    int64_t before, after;
  } lines[] = {
      {"before", 999999, 999999}, {"at", 1000000, 0}, {"after", 1000009, 9}, {"none", 0, 0}, {"minus", -5, -5}};
  xp_wire_writer plane = {0};
  put_text(&plane, 2, "/device:GPU:0");
  for (size_t i = 0; i < 5; i++) {
    put_line(&plane, lines[i].name, lines[i].before, "", 0);
  }
  copied c = copy_and_load(&plane);
  assert_str(c.plane->name, "/device:GPU:0");
  assert_int_equal(c.plane->line_count, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_str(c.plane->lines[i].name, lines[i].name);
    assert_int_equal(c.plane->lines[i].timestamp_ns, lines[i].after);
  }
  end_copied(&c);
}

/* Events: id 1, offset, duration. */
#define EVENT(offset, duration) "\x22\x06\x08\x01\x10" offset "\x18" duration

static void sorted_events_stay_where_they_are(void **state)
{
  (void)state;
  xp_wire_writer plane = {0};
  put_line(&plane, "L", 0, EVENT("\1", "\5") EVENT("\1", "\4") EVENT("\2", "\1"), 24);
  copying c = copy_plane(written(&plane));
  assert_true(c.is_copied);
  bool is_borrowed = false;
  for (size_t i = 0; i < c.space.count; i++) {
    const uint8_t *piece = c.space.pieces[i].data;
    is_borrowed |= piece > plane.data && piece < plane.data + plane.len && c.space.pieces[i].bytes == 24;
  }
  assert_true(is_borrowed);
  end_copying(&c);
  xp_wire_writer_free(&plane);
}

static void events_out_of_order_are_sorted(void **state)
{
  (void)state;
  xp_wire_writer plane = {0};
  put_name(&plane, 4, 1, "e");
  put_line(&plane, "L", 0, EVENT("\7", "\1") EVENT("\2", "\1") EVENT("\2", "\4"), 24);
  copying c = copy_plane(written(&plane));
  assert_true(c.is_copied);
  xp_str bytes = read_rope(&c.space, 7);
  static const char want[] = EVENT("\2", "\4") EVENT("\2", "\1") EVENT("\7", "\1");
  assert_non_null(memmem(bytes.ptr, bytes.len, want, 24));
  free((void *)(uintptr_t)bytes.ptr);
  end_copying(&c);
  xp_wire_writer_free(&plane);
}

static void fields_between_events_are_kept(void **state)
{
  (void)state;
  xp_wire_writer plane = {0};
  put_name(&plane, 4, 1, "e");
  /* display name "D" and an unknown field (12: 5) between the events */
  put_line(&plane, "L", 3,
           EVENT("\1", "\1") "\x5a\x01"
                             "D" EVENT("\2", "\1") "\x60\x05" EVENT("\3", "\1"),
           29);
  copied c = copy_and_load(&plane);
  const xp_line *line = line_of(c.plane, "L");
  assert_str(line->display_name, "D");
  assert_events(line, "e 3001 1;e 3002 1;e 3003 1;");
  assert_non_null(memmem(line->message.ptr, line->message.len, "\x60\x05", 2));
  assert_int_equal(line->message.len, 3 + 2 + 29); /* name, base, and what was between: each once */
  end_copied(&c);
}

static void events_that_count_keep_their_number(void **state)
{
  (void)state;
  xp_wire_writer plane = {0};
  put_line(&plane, "L", 0, "\x22\x04\x08\x01\x28\x09" EVENT("\1", "\1"), 14); /* num_occurrences 9 */
  copied c = copy_and_load(&plane);
  xp_event_cursor cursor = xp_event_cursor_open(&c.plane->lines[0]);
  assert_str(xp_event_record(&cursor, 0), "\x08\x01\x28\x09");
  end_copied(&c);
}

static void the_process_is_added_once(void **state)
{
  (void)state;
  xp_wire_writer plane = {0};
  put_text(&plane, 2, "P");
  put_name(&plane, 5, 3, "other");
  put_stat(&plane, 6, 3, 4, 1);
  copied c = copy_and_load(&plane);
  xp_stat stat = stat_of(xp_plane_stats(c.plane), "process_id");
  assert_int_equal(stat.type, XP_STAT_INT64);
  assert_int_equal(stat.bits, 77);
  assert_int_equal(count_stats(xp_plane_stats(c.plane), "process_id"), 1);
  assert_int_equal(stat_of(xp_plane_stats(c.plane), "other").bits, 1);
  end_copied(&c);
}

static void a_name_for_the_process_is_used_again(void **state)
{
  (void)state;
  xp_wire_writer plane = {0};
  put_text(&plane, 2, "P");
  put_name(&plane, 5, 3, "process_id");
  put_name(&plane, 5, 9, "other");
  copied c = copy_and_load(&plane);
  assert_int_equal(stat_of(xp_plane_stats(c.plane), "process_id").bits, 77);
  /* stat id 3, int64 77 */
  assert_non_null(memmem(c.bytes.ptr, c.bytes.len, "\x32\x04\x08\x03\x20\x4d", 6));
  end_copied(&c);
}

static void a_name_with_id_zero_is_used_again(void **state)
{
  (void)state;
  xp_wire_writer plane = {0};
  put_name(&plane, 5, 0, "process_id");
  copied c = copy_and_load(&plane);
  assert_int_equal(count_stats(xp_plane_stats(c.plane), "process_id"), 1);
  assert_non_null(memmem(c.bytes.ptr, c.bytes.len, "\x32\x04\x08\x00\x20\x4d", 6));
  end_copied(&c);
}

static void a_process_that_is_there_stays(void **state)
{
  (void)state;
  xp_wire_writer plane = {0};
  put_stat(&plane, 6, 3, 4, 5); /* before its name */
  put_name(&plane, 5, 3, "process_id");
  copied c = copy_and_load(&plane);
  assert_int_equal(count_stats(xp_plane_stats(c.plane), "process_id"), 1);
  assert_int_equal(stat_of(xp_plane_stats(c.plane), "process_id").bits, 5);
  end_copied(&c);
}

static void the_name_of_a_plane_is_found_wherever_it_stands(void **state)
{
  (void)state;
  assert_str(xp_plane_message_name(xp_str_c("\x08\x01\x12\x02"
                                            "ab")),
             "ab");
  assert_str(xp_plane_message_name(xp_str_c("\x1a\x01\x20\x12\x02"
                                            "ab")),
             "ab");
  assert_str(xp_plane_message_name(xp_str_c("\x08\x01")), "");
  assert_str(xp_plane_message_name(xp_str_c("")), "");
}

/* Every prefix of a plane that does not end between records is damaged. */
static void a_damaged_plane_appends_nothing(void **state)
{
  (void)state;
  xp_wire_writer plane = {0};
  put_text(&plane, 2, "P");
  put_line(&plane, "L", 3, EVENT("\1", "\1") EVENT("\2", "\1"), 16);
  for (size_t len = 1; len < plane.len; len++) {
    copying c = copy_plane(xp_str_take(written(&plane), len));
    bool ends_between_records = len == 3;
    assert_int_equal(c.is_copied, ends_between_records);
    assert_int_equal(c.space.count > 0, ends_between_records);
    end_copying(&c);
  }
  xp_wire_writer_free(&plane);
}

static void a_damaged_event_in_a_whole_line_is_damage(void **state)
{
  (void)state;
  xp_wire_writer plane = {0};
  put_line(&plane, "L", 3, EVENT("\1", "\1") "\x22\x02\x08\xff", 12);
  copying c = copy_plane(written(&plane));
  assert_false(c.is_copied);
  assert_int_equal(c.space.bytes, 0);
  end_copying(&c);
  xp_wire_writer_free(&plane);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bases_at_or_after_the_start_become_relative_to_it),
      cmocka_unit_test(sorted_events_stay_where_they_are),
      cmocka_unit_test(events_out_of_order_are_sorted),
      cmocka_unit_test(fields_between_events_are_kept),
      cmocka_unit_test(events_that_count_keep_their_number),
      cmocka_unit_test(the_process_is_added_once),
      cmocka_unit_test(a_name_for_the_process_is_used_again),
      cmocka_unit_test(a_name_with_id_zero_is_used_again),
      cmocka_unit_test(a_process_that_is_there_stays),
      cmocka_unit_test(the_name_of_a_plane_is_found_wherever_it_stands),
      cmocka_unit_test(a_damaged_plane_appends_nothing),
      cmocka_unit_test(a_damaged_event_in_a_whole_line_is_damage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
