/* What a session collected, laid out as an XSpace: a recording and captures of plugins that the test gives, read by the
 * reader of captures. */
#include <unistd.h>

#include "fake_recorder.h"
#include "session/profile.h"

/* ---- profiles */

enum { START = 1700000000 };

static xp_profile *new_profile(void)
{
  xp_profile *p = xp_profile_create();
  assert_non_null(p);
  p->start_unix_ns = START;
  p->stop_unix_ns = START + 5000;
  p->plugins = xp_arena_array(p->arena, 4, sizeof *p->plugins);
  return p;
}

/* What a plugin collected; the records are freed. */
static void add_plugin(xp_profile *p, xp_wire_writer *space)
{
  p->plugins[p->plugin_count++] = (xp_collected){NULL, owned(space, p->arena)};
}

typedef struct {
  xp_str bytes;
  xp_capture *capture;
} laid_out;

static laid_out lay_out(xp_profile *p)
{
  laid_out l;
  xp_error err;
  const xp_rope *space = xp_profile_space(p, &err);
  assert_non_null(space);
  l.capture = load_rope(space, &l.bytes);
  assert_false(l.capture->partial);
  return l;
}

static void end(xp_profile *p, laid_out *l)
{
  xp_capture_free(l->capture);
  free((void *)(uintptr_t)l->bytes.ptr);
  xp_profile_free(p);
}

/* Appends a plane with one line (of id 1) with one event to a space. */
static void put_device(xp_wire_writer *space, const char *name, const char *event, int64_t offset_ps)
{
  xp_wire_writer plane = {0}, line = {0};
  put_text(&plane, 2, name);
  xp_wire_put_varint(&line, 1, 1);
  put_text(&line, 2, "L");
  xp_wire_put_varint(&line, 3, START);
  put_event(&line, 1, offset_ps, 1);
  xp_wire_put_message(&plane, 3, &line);
  put_name(&plane, 4, 1, event);
  xp_wire_put_message(space, 1, &plane);
  xp_wire_writer_free(&line);
  xp_wire_writer_free(&plane);
}

static void assert_planes(const laid_out *l, const char *want)
{
  char text[512] = "";
  for (size_t i = 0; i < l->capture->hosts[0].plane_count; i++) {
    snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s;", XP_STR_ARG(l->capture->hosts[0].planes[i].name));
  }
  assert_string_equal(text, want);
}

/* Errors and warnings, each with ';' behind. */
static void assert_messages(const laid_out *l, const char *want)
{
  char text[1024] = "";
  for (size_t i = 0; i < l->capture->hosts[0].message_count; i++) {
    snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s;", XP_STR_ARG(l->capture->hosts[0].messages[i]));
  }
  assert_string_equal(text, want);
}

static void give_program(xp_profile *p, uint64_t id, const char *module, const char *proto)
{
  assert_int_equal(xp_session_add_program(module, id, proto, strlen(proto), NULL), XP_OK);
  assert_true(xp_programs_take(&p->programs));
  xp_session_drop_program(id);
}

/* ---- tests */

static void nothing_at_all_gives_the_two_planes_that_are_always_there(void **state)
{
  (void)state;
  xp_profile *p = new_profile();
  laid_out l = lay_out(p);
  assert_planes(&l, "/host:CPU;Task Environment;");
  assert_messages(&l, "");
  end(p, &l);
}

static void devices_come_before_programs_host_and_environment(void **state)
{
  (void)state;
  xp_profile *p = new_profile();
  xp_wire_writer space = {0};
  put_device(&space, "/host:CPU", "a", 0);
  put_device(&space, "/device:TPU:0", "b", 0);
  put_device(&space, "/host:TPU-runtime", "c", 0);
  put_device(&space, "/device:TPU:1", "d", 0);
  add_plugin(p, &space);
  give_program(p, 3, "m", "proto");
  laid_out l = lay_out(p);
  assert_planes(&l, "/device:TPU:0;/device:TPU:1;/host:metadata;/host:CPU;Task Environment;");
  assert_events(&plane_of(l.capture, "/host:CPU")->lines[0], "a 0 1;c 0 1;");
  end(p, &l);
}

static void the_environment_tells_times_and_options(void **state)
{
  (void)state;
  xp_profile *p = new_profile();
  p->options = xp_str_c("\x10\x02");
  laid_out l = lay_out(p);
  xp_stats stats = xp_plane_stats(plane_of(l.capture, "Task Environment"));
  assert_int_equal(stat_of(stats, "profile_start_time").type, XP_STAT_UINT64);
  assert_int_equal(stat_of(stats, "profile_start_time").bits, START);
  assert_int_equal(stat_of(stats, "profile_stop_time").bits, START + 5000);
  assert_int_equal(stat_of(stats, "profile_options").type, XP_STAT_BYTES);
  assert_str(stat_of(stats, "profile_options").text, "\x10\x02");
  assert_true(l.capture->has_session);
  end(p, &l);
}

static void planes_of_equal_names_become_one(void **state)
{
  (void)state;
  xp_profile *p = new_profile();
  xp_wire_writer first = {0}, second = {0};
  put_device(&first, "/device:X:0", "a", 50);
  put_device(&second, "/device:X:0", "b", 20);
  add_plugin(p, &first);
  add_plugin(p, &second);
  laid_out l = lay_out(p);
  assert_planes(&l, "/device:X:0;/host:CPU;Task Environment;");
  assert_events(&plane_of(l.capture, "/device:X:0")->lines[0], "b 20 1;a 50 1;");
  end(p, &l);
}

static void programs_of_a_plugin_and_ours_share_a_plane(void **state)
{
  (void)state;
  xp_profile *p = new_profile();
  xp_wire_writer plane = {0}, space = {0};
  put_text(&plane, 2, "/host:metadata");
  put_name(&plane, 4, 0, "theirs(0)");
  xp_wire_put_message(&space, 1, &plane);
  xp_wire_writer_free(&plane);
  add_plugin(p, &space);
  give_program(p, 3, "ours", "proto");
  laid_out l = lay_out(p);
  const xp_plane *metadata = plane_of(l.capture, "/host:metadata");
  assert_planes(&l, "/host:metadata;/host:CPU;Task Environment;");
  assert_int_equal(metadata->event_meta_count, 3);
  assert_str(metadata->event_meta[1].name, "theirs(0)");
  assert_str(metadata->event_meta[2].name, "ours(3)");
  assert_str(stat_of(xp_meta_stats(metadata, &metadata->event_meta[2]), "Hlo Proto").text, "proto");
  assert_int_equal(stat_of(xp_plane_stats(metadata), "process_id").bits, getpid());
  end(p, &l);
}

static void errors_and_warnings_of_plugins_are_kept(void **state)
{
  (void)state;
  xp_profile *p = new_profile();
  xp_wire_writer first = {0}, second = {0};
  put_text(&first, 3, "w1");
  put_text(&first, 2, "e1");
  put_text(&first, 4, "a host that is not ours");
  put_text(&second, 2, "e2");
  add_plugin(p, &first);
  add_plugin(p, &second);
  xp_profile_add_error(p, "our own");
  laid_out l = lay_out(p);
  assert_messages(&l, "e1;e2;w1;our own;");
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  assert_str(l.capture->hosts[0].name, host);
  end(p, &l);
}

static void a_thread_that_dropped_events_is_told_of(void **state)
{
  (void)state;
  static const xp_recorded_event events[] = {{.name = XP_STR_INIT("e")}};
  fake_recording r = {.head = {.start_unix_ns = START, .dropped = 9}};
  fake_thread(&r, 5, "busy\xff", events, 1);
  fake_thread(&r, 6, "other", events, 1);
  r.threads[0].dropped = 9;
  xp_profile *p = new_profile();
  p->recording = &r.head;
  laid_out l = lay_out(p);
  assert_messages(&l, "Thread busy\xef\xbf\xbd (5): 9 events were dropped, the buffers were full; 1 are here;");
  assert_int_equal(xp_profile_dropped(p), 9);
  end(p, &l);
}

static void what_stands_before_the_damage_of_a_capture_is_there(void **state)
{
  (void)state;
  xp_profile *p = new_profile();
  xp_wire_writer space = {0};
  put_device(&space, "/device:X:0", "a", 0);
  put_device(&space, "/device:X:1", "b", 0);
  space.len -= 1;
  add_plugin(p, &space);
  laid_out l = lay_out(p);
  assert_planes(&l, "/device:X:0;/host:CPU;Task Environment;");
  assert_messages(&l, "What a plugin collected is damaged; the capture holds what came before the damage;");
  end(p, &l);
}

/* A plane whose bytes end inside of a record, in a space that is whole. */
static void put_damaged(xp_wire_writer *space, const char *name)
{
  xp_wire_writer plane = {0};
  put_text(&plane, 2, name);
  xp_wire_put_bytes(&plane, 3, xp_str_c("\x22\x05\x08"));
  xp_wire_put_message(space, 1, &plane);
  xp_wire_writer_free(&plane);
}

static void damaged_planes_are_told_of_and_others_are_there(void **state)
{
  (void)state;
  xp_profile *p = new_profile();
  xp_wire_writer space = {0};
  put_damaged(&space, "/device:X:0");
  put_device(&space, "/device:X:1", "b", 0);
  put_damaged(&space, "/host:CPU");
  add_plugin(p, &space);
  laid_out l = lay_out(p);
  assert_planes(&l, "/device:X:1;/host:CPU;Task Environment;");
  assert_messages(&l, "The plane \"/device:X:0\" that a plugin collected is damaged;"
                      "The plane \"/host:CPU\" that a plugin collected is damaged;");
  end(p, &l);
}

static void errors_are_made_utf8(void **state)
{
  (void)state;
  xp_profile *p = new_profile();
  xp_profile_add_error(p, "bad \xff byte");
  laid_out l = lay_out(p);
  assert_messages(&l, "bad \xef\xbf\xbd byte;");
  end(p, &l);
}

static void the_size_is_that_of_what_is_read(void **state)
{
  (void)state;
  static const xp_recorded_event events[] = {{.name = XP_STR_INIT("e")}};
  fake_recording r = {.head = {.start_unix_ns = START}};
  fake_thread(&r, 5, "t", events, 1);
  xp_profile *p = new_profile();
  p->recording = &r.head;
  laid_out l = lay_out(p);
  assert_int_equal(xp_profile_bytes(p), l.bytes.len);
  assert_ptr_equal(xp_profile_space(p, NULL), xp_profile_space(p, NULL));
  end(p, &l);
}

/* ---- is there any event? */

static bool is_empty_with(xp_wire_writer *space, fake_recording *recording)
{
  xp_profile *p = new_profile();
  p->recording = recording != NULL ? &recording->head : NULL;
  if (space != NULL) {
    add_plugin(p, space);
  }
  bool is_empty = xp_profile_is_empty(p);
  xp_profile_free(p);
  return is_empty;
}

static void a_profile_without_any_event_is_empty(void **state)
{
  (void)state;
  fake_recording r = {0};
  assert_true(is_empty_with(NULL, NULL));
  assert_true(is_empty_with(NULL, &r));
  fake_thread(&r, 5, "t", NULL, 0);
  assert_true(is_empty_with(NULL, &r));
  xp_wire_writer space = {0};
  put_plane(&space, "P", NULL);
  assert_true(is_empty_with(&space, &r));
  xp_wire_writer line = {0};
  put_text(&line, 2, "L");
  put_plane(&space, "P", &line);
  put_text(&space, 2, "error");
  assert_true(is_empty_with(&space, &r));
  xp_wire_writer_free(&line);
}

static void one_event_anywhere_is_enough(void **state)
{
  (void)state;
  static const xp_recorded_event events[] = {{.name = XP_STR_INIT("e")}};
  fake_recording idle = {0}, busy = {0};
  fake_thread(&idle, 5, "t", NULL, 0);
  fake_thread(&busy, 5, "t", NULL, 0);
  fake_thread(&busy, 6, "u", events, 1);
  assert_false(is_empty_with(NULL, &busy));
  xp_wire_writer space = {0};
  put_plane(&space, "P", NULL);
  put_device(&space, "Q", "e", 0);
  assert_false(is_empty_with(&space, &idle));
}

static void an_unset_profile_can_be_freed(void **state)
{
  (void)state;
  xp_profile_free(NULL);
  xp_profile_free(xp_profile_create());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_at_all_gives_the_two_planes_that_are_always_there),
      cmocka_unit_test(devices_come_before_programs_host_and_environment),
      cmocka_unit_test(the_environment_tells_times_and_options),
      cmocka_unit_test(planes_of_equal_names_become_one),
      cmocka_unit_test(programs_of_a_plugin_and_ours_share_a_plane),
      cmocka_unit_test(errors_and_warnings_of_plugins_are_kept),
      cmocka_unit_test(a_thread_that_dropped_events_is_told_of),
      cmocka_unit_test(what_stands_before_the_damage_of_a_capture_is_there),
      cmocka_unit_test(damaged_planes_are_told_of_and_others_are_there),
      cmocka_unit_test(errors_are_made_utf8),
      cmocka_unit_test(the_size_is_that_of_what_is_read),
      cmocka_unit_test(a_profile_without_any_event_is_empty),
      cmocka_unit_test(one_event_anywhere_is_enough),
      cmocka_unit_test(an_unset_profile_can_be_freed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
