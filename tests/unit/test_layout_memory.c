/* Laying a capture out and reading it while memory runs out: the answer is "out of memory", or the right bytes. */
#include "failing_links.h"

#include "fake_recorder.h"
#include "session/profile.h"

static const xp_str names[] = {XP_STR_INIT("a#"), XP_STR_INIT("b\xff")};
static xp_recorded_event events[2];
static xp_arg args[3];
static fake_recording recording;
static xp_wire_writer captures[2];
static xp_str right; /* the capture when memory is not out */

/* One line of two events, out of order, with a stat, on a thread that was recorded, too. */
static void put_plugin_plane(xp_wire_writer *space, const char *name)
{
  xp_wire_writer plane = {0}, line = {0}, event = {0};
  put_text(&plane, 2, name);
  xp_wire_put_varint(&line, 1, 5);
  put_text(&line, 2, "L");
  put_event(&line, 1, 50, 1);
  xp_wire_put_varint(&event, 1, 1);
  xp_wire_put_varint(&event, 2, 20);
  put_stat(&event, 4, 1, 7, 1);
  xp_wire_put_message(&line, 4, &event);
  xp_wire_put_message(&plane, 3, &line);
  put_name(&plane, 4, 1, "e");
  put_name(&plane, 5, 1, "s");
  put_stat(&plane, 6, 1, 4, 3);
  xp_wire_put_message(space, 1, &plane);
  xp_wire_writer_free(&event);
  xp_wire_writer_free(&line);
  xp_wire_writer_free(&plane);
}

static int prepare(void **state)
{
  (void)state;
  args[0] = xp_arg_str("k", "v");
  args[1] = xp_arg_str_copy("c\xff", "x\xff", 2);
  args[2] = xp_arg_int("i", 3);
  events[0] = (xp_recorded_event){.name = names[0], .start_ps = 1, .args = args, .arg_count = 3};
  events[1] = (xp_recorded_event){.name = names[1], .start_ps = 2, .unfinished = true};
  recording.head.start_unix_ns = 1000;
  recording.head.dropped = 1;
  fake_thread(&recording, 5, "joined\xff", events, 2);
  fake_thread(&recording, 6, "alone", events, 2);
  recording.threads[0].dropped = 1;
  for (int i = 0; i < 2; i++) {
    put_plugin_plane(&captures[i], "/device:X:0"); /* in both: merged */
    put_plugin_plane(&captures[i], i == 0 ? "/device:Y:0" : "/host:CPU");
    put_plugin_plane(&captures[i], i == 0 ? "/device:Z:0" : "/host:metadata");
    put_text(&captures[i], 2, "an error");
  }
  return 0;
}

static int clean_up(void **state)
{
  (void)state;
  xp_wire_writer_free(&captures[0]);
  xp_wire_writer_free(&captures[1]);
  free((void *)(uintptr_t)right.ptr);
  return 0;
}

/* Reads a rope; what comes is kept the first time and compared later. */
static bool read_all(const xp_rope *space)
{
  char chunk[256];
  size_t done = 0;
  xp_rope_reader reader = xp_rope_open(space);
  bool is_first = right.ptr == NULL;
  char *bytes = is_first ? malloc((size_t)space->bytes) : NULL;
  for (size_t taken; (taken = xp_rope_read(&reader, chunk, sizeof chunk)) > 0; done += taken) {
    assert_true(done + taken <= space->bytes);
    if (is_first) {
      memcpy(bytes + done, chunk, taken);
    } else {
      assert_true(done + taken <= right.len);
      assert_memory_equal(chunk, right.ptr + done, taken);
    }
  }
  xp_rope_close(&reader);
  right = is_first ? xp_str_from(bytes, done) : right;
  return done == space->bytes;
}

static void lay_out_and_read(void)
{
  xp_profile *p = xp_profile_create();
  if (p == NULL) {
    return;
  }
  p->start_unix_ns = 1000;
  p->recording = &recording.head;
  p->plugins = xp_arena_array(p->arena, 2, sizeof *p->plugins);
  bool has_programs = xp_session_add_program("m\xff", 1, "proto", 5, NULL) == XP_OK && xp_programs_take(&p->programs);
  xp_session_drop_program(1);
  if (p->plugins != NULL && has_programs && p->programs.count == 1) {
    p->plugins[0].xspace = written(&captures[0]);
    p->plugins[1].xspace = written(&captures[1]);
    p->plugin_count = 2;
    xp_profile_add_error(p, "error \xff");
    xp_error err = {0};
    const xp_rope *space = xp_profile_space(p, &err);
    if (space == NULL) {
      assert_int_equal(err.status, XP_ERR_MEMORY);
    } else if (read_all(space)) {
      assert_int_equal(space->bytes, right.len);
    } else {
      assert_true(atomic_load(&calls) >= first_to_fail);
    }
  }
  xp_profile_free(p);
  assert_int_equal(fake_cursors, 0);
}

static void a_capture_is_right_or_there_is_none(void **state)
{
  (void)state;
  lay_out_and_read();
  assert_true(right.len > 500);
  xp_capture *capture = load_bytes(right);
  assert_int_equal(capture->events, 16); /* 6 planes and 2 threads, 2 each */
  xp_capture_free(capture);
  fail_each(lay_out_and_read);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_capture_is_right_or_there_is_none)};
  return cmocka_run_group_tests(tests, prepare, clean_up);
}
