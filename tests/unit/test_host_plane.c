/* The plane of the host out of recordings and planes that the test gives; read by the reader of captures. */
#define _GNU_SOURCE /* memmem */
#include <pthread.h>

#include "fake_recorder.h"
#include "session/host_plane.h"

static const xp_plane_frame frame = {.start_unix_ns = 1000000, .process_id = 77};

typedef struct {
  xp_arena *arena;
  xp_rope space;
  xp_str bytes;
  xp_capture *capture;
  const xp_plane *plane;
} host;

static host make_host(const fake_recording *recording, const xp_str *planes, size_t count)
{
  host h = {.arena = xp_arena_create()};
  bool damaged[4] = {false};
  xp_rope_init(&h.space, h.arena);
  xp_host_plane_append(&h.space, recording != NULL ? &recording->head : NULL, planes, count, damaged, &frame);
  for (size_t i = 0; i < count; i++) {
    assert_false(damaged[i]);
  }
  h.capture = load_rope(&h.space, &h.bytes);
  h.plane = plane_of(h.capture, "/host:CPU");
  assert_int_equal(h.capture->hosts[0].plane_count, 1);
  assert_int_equal(fake_cursors, 0);
  return h;
}

static void end_host(host *h)
{
  xp_capture_free(h->capture);
  free((void *)(uintptr_t)h->bytes.ptr);
  xp_arena_destroy(h->arena);
}

#define NAME(text) XP_STR_INIT(text)

static fake_recording recording_at(int64_t start_unix_ns)
{
  return (fake_recording){.head = {.start_unix_ns = start_unix_ns, .stop_unix_ns = start_unix_ns + 1000}};
}

static void an_empty_recording_gives_the_plane_without_lines(void **state)
{
  (void)state;
  fake_recording r = recording_at(1000000);
  fake_thread(&r, 5, "idle", NULL, 0);
  host h = make_host(&r, NULL, 0);
  assert_int_equal(h.plane->line_count, 0);
  assert_int_equal(stat_of(xp_plane_stats(h.plane), "process_id").bits, 77);
  assert_int_equal(count_stats(xp_plane_stats(h.plane), "dropped_events"), 0);
  end_host(&h);
  h = make_host(NULL, NULL, 0);
  assert_int_equal(h.plane->line_count, 0);
  end_host(&h);
}

static const xp_recorded_event two_events[] = {{.name = NAME("outer"), .start_ps = 1000, .dur_ps = 500},
                                               {.name = NAME("inner"), .start_ps = 1200, .dur_ps = 0}};

static void lines_are_sorted_by_name(void **state)
{
  (void)state;
  fake_recording r = recording_at(1000002);
  fake_thread(&r, 5, "worker", two_events, 2);
  fake_thread(&r, 9, "main", two_events, 1);
  fake_thread(&r, 4, "main", two_events + 1, 1);
  host h = make_host(&r, NULL, 0);
  assert_int_equal(h.plane->line_count, 3);
  static const int64_t ids[] = {4, 9, 5};
  static const char *const names[] = {"main", "main", "worker"};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(h.plane->lines[i].id, ids[i]);
    assert_str(h.plane->lines[i].name, names[i]);
    assert_str(h.plane->lines[i].display_name, names[i]);
    assert_int_equal(h.plane->lines[i].timestamp_ns, 0); /* the recorder began 2 ns after the session */
  }
  assert_events(&h.plane->lines[2], "outer 3000 500;inner 3200 0;");
  end_host(&h);
}

static void a_recorder_that_began_before_the_session_begins_with_it(void **state)
{
  (void)state;
  fake_recording r = recording_at(999000); /* the clock was put back */
  fake_thread(&r, 5, "t", two_events, 1);
  host h = make_host(&r, NULL, 0);
  assert_int_equal(h.plane->lines[0].timestamp_ns, 0);
  assert_events(&h.plane->lines[0], "outer 1000 500;");
  end_host(&h);
}

/* A plane of a plugin: a line with the event "theirs" at so many ps after a base. */
static xp_str plugin_plane(xp_arena *arena, const char *plane_name, int64_t line_id, const char *name, int64_t base_ns,
                           int64_t offset_ps)
{
  xp_wire_writer plane = {0}, line = {0};
  put_text(&plane, 2, plane_name);
  xp_wire_put_varint(&line, 1, (uint64_t)line_id);
  put_text(&line, 2, name);
  xp_wire_put_varint(&line, 3, (uint64_t)base_ns);
  put_event(&line, 6, offset_ps, 7);
  xp_wire_put_message(&plane, 3, &line);
  put_name(&plane, 4, 6, "theirs");
  xp_wire_writer_free(&line);
  return owned(&plane, arena);
}

static void events_of_a_plugin_on_a_recorded_thread_join_its_line(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  fake_recording r = recording_at(1000002);
  fake_thread(&r, 5, "recorded", two_events, 2);
  fake_thread(&r, 6, "other", two_events, 1);
  xp_str plane = plugin_plane(arena, "/host:TPU-runtime", 5, "tpu", 1000001, 2100);
  host h = make_host(&r, &plane, 1);
  assert_int_equal(h.plane->line_count, 2);
  const xp_line *line = line_of(h.plane, "tpu");
  assert_int_equal(line->id, 5);
  assert_int_equal(line->timestamp_ns, 0);
  assert_events(line, "outer 3000 500;theirs 3100 7;inner 3200 0;");
  assert_true(line->sorted_in_file);
  assert_events(line_of(h.plane, "other"), "outer 3000 500;");
  end_host(&h);
  xp_arena_destroy(arena);
}

static void a_line_of_a_plugin_without_a_name_gets_that_of_the_thread(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  fake_recording r = recording_at(1000002);
  fake_thread(&r, 5, "recorded", two_events, 2);
  xp_str plane = plugin_plane(arena, "/host:CPU", 5, "", 0, 0);
  host h = make_host(&r, &plane, 1);
  assert_int_equal(h.plane->line_count, 1);
  assert_str(h.plane->lines[0].name, "recorded");
  assert_str(h.plane->lines[0].display_name, "recorded");
  end_host(&h);
  xp_arena_destroy(arena);
}

/* Thread 5 is recorded, thread 2 another plugin's; the ranges of both and of thread 8 get lines of their own. */
static void ranges_of_nvtx_stand_beside_their_threads(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  fake_recording r = recording_at(1000002);
  fake_thread(&r, 5, "recorded", two_events, 1);
  xp_str planes[] = {plugin_plane(arena, "/host:NVTX-CUPTI", 5, "5/NVTX", 1000000, 1),
                     plugin_plane(arena, "/host:NVTX-CUPTI", 2, "2/NVTX", 1000000, 2),
                     plugin_plane(arena, "/host:NVTX-CUPTI", 8, "8/NVTX", 1000000, 3),
                     plugin_plane(arena, "/host:CUPTI", 2, "cupti", 1000000, 4)};
  host h = make_host(&r, planes, 4);
  assert_int_equal(h.plane->line_count, 5);
  assert_int_equal(line_of(h.plane, "recorded")->id, 5);
  assert_int_equal(line_of(h.plane, "cupti")->id, 2);
  assert_int_equal(line_of(h.plane, "8/NVTX")->id, 8);
  assert_int_equal(line_of(h.plane, "5/NVTX")->id, (int64_t)1 << 32);
  assert_int_equal(line_of(h.plane, "2/NVTX")->id, ((int64_t)1 << 32) + 1);
  assert_events(line_of(h.plane, "5/NVTX"), "theirs 1 7;");
  assert_events(line_of(h.plane, "cupti"), "theirs 4 7;");
  end_host(&h);
  xp_arena_destroy(arena);
}

static void planes_of_plugins_become_one_without_a_recording(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_str planes[] = {plugin_plane(arena, "/host:CUPTI", 2, "b", 1000000, 5),
                     plugin_plane(arena, "/host:python-tracer", 1, "a", 1000000, 6)};
  host h = make_host(NULL, planes, 2);
  assert_int_equal(h.plane->line_count, 2);
  assert_str(h.plane->lines[0].name, "a");
  assert_events(&h.plane->lines[1], "theirs 5 7;");
  end_host(&h);
  xp_arena_destroy(arena);
}

static void dropped_events_are_a_stat_of_the_plane(void **state)
{
  (void)state;
  fake_recording r = recording_at(1000000);
  fake_thread(&r, 5, "t", two_events, 1);
  r.head.dropped = 12345;
  host h = make_host(&r, NULL, 0);
  xp_stat stat = stat_of(xp_plane_stats(h.plane), "dropped_events");
  assert_int_equal(stat.type, XP_STAT_UINT64);
  assert_int_equal(stat.bits, 12345);
  end_host(&h);
}

static void unfinished_events_have_a_stat_and_others_do_not(void **state)
{
  (void)state;
  static const xp_recorded_event events[] = {{.name = NAME("open"), .start_ps = 0, .dur_ps = 9, .unfinished = true},
                                             {.name = NAME("closed"), .start_ps = 1, .dur_ps = 2}};
  fake_recording r = recording_at(1000000);
  fake_thread(&r, 5, "t", events, 2);
  host h = make_host(&r, NULL, 0);
  xp_event_cursor cursor = xp_event_cursor_open(&h.plane->lines[0]);
  assert_int_equal(stat_of(xp_event_stats(&cursor, 0), "unfinished").bits, 1);
  assert_int_equal(count_stats(xp_event_stats(&cursor, 1), "unfinished"), 0);
  end_host(&h);
}

static void arguments_of_every_type_become_stats(void **state)
{
  (void)state;
  const xp_arg args[] = {xp_arg_int("i", -3),
                         xp_arg_uint("u", UINT64_MAX),
                         xp_arg_double("d", 0.125),
                         xp_arg_bool("yes", true),
                         xp_arg_bool("no", false),
                         xp_arg_str("s", "static"),
                         xp_arg_str_copy("c", "copied and cut", 6),
                         xp_arg_str_copy("e", "", 0)};
  const xp_recorded_event events[] = {{.name = NAME("e"), .args = args, .arg_count = 8}};
  fake_recording r = recording_at(1000000);
  fake_thread(&r, 5, "t", events, 1);
  host h = make_host(&r, NULL, 0);
  xp_event_cursor cursor = xp_event_cursor_open(&h.plane->lines[0]);
  xp_stats stats = xp_event_stats(&cursor, 0);
  assert_int_equal((int64_t)stat_of(stats, "i").bits, -3);
  assert_int_equal(stat_of(stats, "i").type, XP_STAT_INT64);
  assert_true(stat_of(stats, "u").bits == UINT64_MAX);
  assert_int_equal(stat_of(stats, "u").type, XP_STAT_UINT64);
  assert_true(stat_of(stats, "d").real == 0.125);
  assert_int_equal(stat_of(stats, "yes").bits, 1);
  assert_int_equal(stat_of(stats, "yes").type, XP_STAT_INT64);
  assert_int_equal(stat_of(stats, "no").type, XP_STAT_INT64);
  assert_int_equal(stat_of(stats, "no").bits, 0);
  assert_str(stat_of(stats, "s").text, "static");
  assert_str(stat_of(stats, "c").text, "copied");
  assert_int_equal(stat_of(stats, "e").type, XP_STAT_STRING);
  assert_str(stat_of(stats, "e").text, "");
  end_host(&h);
}

/* "\xff" is no UTF-8; "\xef\xbf\xbd" is U+FFFD. */
static void texts_that_are_no_utf8_are_repaired(void **state)
{
  (void)state;
  const xp_arg args[] = {xp_arg_str("k\xff", "v\xff"), xp_arg_str_copy("c", "x\xc3", 2)};
  const xp_recorded_event events[] = {{.name = NAME("n\xff"), .args = args, .arg_count = 2}};
  fake_recording r = recording_at(1000000);
  fake_thread(&r, 5, "t\xff", events, 1);
  host h = make_host(&r, NULL, 0);
  const xp_line *line = line_of(h.plane, "t\xef\xbf\xbd");
  assert_str(line->display_name, "t\xef\xbf\xbd");
  assert_str(xp_event_name(line, 0), "n\xef\xbf\xbd");
  xp_event_cursor cursor = xp_event_cursor_open(line);
  assert_str(stat_of(xp_event_stats(&cursor, 0), "k\xef\xbf\xbd").text, "v\xef\xbf\xbd");
  assert_str(stat_of(xp_event_stats(&cursor, 0), "c").text, "x\xef\xbf\xbd");
  assert_null(memchr(h.bytes.ptr, 0xff, h.bytes.len));
  end_host(&h);
}

static void zero_bytes_stay_in_copied_texts(void **state)
{
  (void)state;
  const xp_arg args[] = {xp_arg_str_copy("c", "a\0b", 3)};
  const xp_recorded_event events[] = {{.name = {"n\0m", 3}, .args = args, .arg_count = 1}};
  fake_recording r = recording_at(1000000);
  fake_thread(&r, 5, "t", events, 1);
  host h = make_host(&r, NULL, 0);
  xp_event_cursor cursor = xp_event_cursor_open(&h.plane->lines[0]);
  xp_str text = stat_of(xp_event_stats(&cursor, 0), "c").text;
  assert_int_equal(text.len, 3);
  assert_memory_equal(text.ptr, "a\0b", 3);
  assert_int_equal(xp_event_name(&h.plane->lines[0], 0).len, 3);
  assert_memory_equal(xp_event_name(&h.plane->lines[0], 0).ptr, "n\0m", 3);
  end_host(&h);
}

static void signs_at_which_readers_split_names_are_replaced(void **state)
{
  (void)state;
  const xp_recorded_event events[] = {{.name = NAME("train#_r=1#")}, {.name = NAME("#")}};
  fake_recording r = recording_at(1000000);
  fake_thread(&r, 5, "t", events, 2);
  host h = make_host(&r, NULL, 0);
  assert_events(&h.plane->lines[0], "train__r=1_ 0 0;_ 0 0;");
  end_host(&h);
}

static void equal_names_at_several_addresses_share_one_id(void **state)
{
  (void)state;
  char first[] = "same", second[] = "same";
  const xp_recorded_event events[] = {{.name = {first, 4}}, {.name = {second, 4}}, {.name = {first, 4}}};
  fake_recording r = recording_at(1000000);
  fake_thread(&r, 5, "t", events, 3);
  host h = make_host(&r, NULL, 0);
  assert_events(&h.plane->lines[0], "same 0 0;same 0 0;same 0 0;");
  assert_int_equal(h.plane->event_meta_count, 2);
  end_host(&h);
}

static void recorded_events_are_made_when_they_are_read(void **state)
{
  (void)state;
  fake_recording r = recording_at(1000000);
  fake_thread(&r, 5, "t", two_events, 2);
  host h = make_host(&r, NULL, 0);
  size_t sources = 0;
  for (size_t i = 0; i < h.space.count; i++) {
    sources += h.space.pieces[i].data == NULL;
  }
  assert_int_equal(sources, 1);
  for (size_t chunk = 1; chunk < 40; chunk++) {
    xp_str bytes = read_rope(&h.space, chunk);
    assert_int_equal(bytes.len, h.bytes.len);
    assert_memory_equal(bytes.ptr, h.bytes.ptr, bytes.len);
    free((void *)(uintptr_t)bytes.ptr);
  }
  end_host(&h);
}

static void *read_it(void *context)
{
  const host *h = context;
  for (size_t chunk = 1; chunk < 30; chunk++) {
    xp_str bytes = read_rope(&h->space, chunk);
    assert_memory_equal(bytes.ptr, h->bytes.ptr, bytes.len);
    free((void *)(uintptr_t)bytes.ptr);
  }
  return NULL;
}

static void four_threads_read_recorded_events_at_once(void **state)
{
  (void)state;
  const xp_arg args[] = {xp_arg_str("k", "v"), xp_arg_str_copy("c", "x\xff", 2)};
  const xp_recorded_event events[] = {{.name = NAME("n"), .unfinished = true, .args = args, .arg_count = 2}};
  fake_recording r = recording_at(1000000);
  fake_thread(&r, 5, "t", events, 1);
  fake_thread(&r, 6, "u", two_events, 2);
  host h = make_host(&r, NULL, 0);
  pthread_t threads[4];
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, read_it, &h), 0);
  }
  for (size_t i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
  }
  assert_int_equal(fake_cursors, 0);
  end_host(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_recording_gives_the_plane_without_lines),
      cmocka_unit_test(lines_are_sorted_by_name),
      cmocka_unit_test(a_recorder_that_began_before_the_session_begins_with_it),
      cmocka_unit_test(events_of_a_plugin_on_a_recorded_thread_join_its_line),
      cmocka_unit_test(a_line_of_a_plugin_without_a_name_gets_that_of_the_thread),
      cmocka_unit_test(ranges_of_nvtx_stand_beside_their_threads),
      cmocka_unit_test(planes_of_plugins_become_one_without_a_recording),
      cmocka_unit_test(dropped_events_are_a_stat_of_the_plane),
      cmocka_unit_test(unfinished_events_have_a_stat_and_others_do_not),
      cmocka_unit_test(arguments_of_every_type_become_stats),
      cmocka_unit_test(texts_that_are_no_utf8_are_repaired),
      cmocka_unit_test(zero_bytes_stay_in_copied_texts),
      cmocka_unit_test(signs_at_which_readers_split_names_are_replaced),
      cmocka_unit_test(equal_names_at_several_addresses_share_one_id),
      cmocka_unit_test(recorded_events_are_made_when_they_are_read),
      cmocka_unit_test(four_threads_read_recorded_events_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
