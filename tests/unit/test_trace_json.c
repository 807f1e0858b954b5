/* trace.json.gz: what is in it, and what is left out when there are too many events.  The right text follows the
 * format of Chrome's trace viewer as upstream writes it. */
#define _GNU_SOURCE
#include "session/trace_json.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "decimal_comma.h"

/* The unpacked file; the caller frees it. */
static char *trace_of(xp_wire_writer *space, uint64_t most)
{
  enum { ROOM = 1 << 20 };
  xp_capture *capture = load_bytes(written(space));
  char name[] = "/tmp/xlaprof-test-XXXXXX";
  int fd = mkstemp(name);
  assert_true(fd >= 0);
  xp_error err;
  if (xp_trace_json_write(capture, fd, most, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(lseek(fd, 0, SEEK_CUR), lseek(fd, 0, SEEK_END)); /* open, and at its end */
  gzFile packed = gzopen(name, "rb");
  char *text = malloc(ROOM);
  int len = gzread(packed, text, ROOM - 1);
  assert_true(len > 0);
  text[len] = '\0';
  gzclose(packed);
  close(fd);
  unlink(name);
  xp_capture_free(capture);
  xp_wire_writer_free(space);
  return text;
}

static void assert_lacks(const char *text, const char *part)
{
  if (strstr(text, part) != NULL) {
    fail_msg("\"%s\" contains \"%s\"", text, part);
  }
}

static size_t count_of(const char *text, const char *part)
{
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at++) {
    count++;
  }
  return count;
}

static int64_t event(xp_plane_writer *plane, const char *name)
{
  return xp_plane_writer_event(plane, xp_str_c(name), xp_str_c(""));
}

static int64_t stat(xp_plane_writer *plane, const char *name)
{
  return xp_plane_writer_stat(plane, xp_str_c(name));
}

static void finish(xp_plane_writer *plane, xp_wire_writer *space)
{
  assert_true(xp_plane_writer_finish(plane, space));
}

static void a_small_capture_is_written_to_the_letter(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  xp_plane_writer *host = xp_plane_writer_create(xp_str_c("/host:CPU"), 0);
  xp_plane_writer_line(host, 5, xp_str_c("main"), 0);
  xp_plane_writer_add(host, event(host, "fwd"), 1500000, 2000001);
  xp_plane_writer_int(host, stat(host, "step_num"), 3);
  finish(host, &space);
  char *text = trace_of(&space, 0);
  static const char *const want[] = {
      "\"displayTimeUnit\": \"ns\"",
      "\"metadata\": {\"highres-ticks\": true}",
      "{\"ph\": \"M\", \"pid\": 701, \"name\": \"process_name\", \"args\": {\"name\": \"/host:CPU\"}}",
      "{\"ph\": \"M\", \"pid\": 701, \"name\": \"process_sort_index\", \"args\": {\"sort_index\": 701}}",
      "{\"ph\": \"M\", \"pid\": 701, \"tid\": 5, \"name\": \"thread_name\", \"args\": {\"name\": \"main\"}}",
      "{\"ph\": \"M\", \"pid\": 701, \"tid\": 5, \"name\": \"thread_sort_index\", \"args\": {\"sort_index\": 1}}",
      ("{\"ph\": \"X\", \"pid\": 701, \"tid\": 5, \"ts\": 1.5, \"dur\": 2.000001, \"name\": \"fwd\", "
       "\"args\": {\"step_num\": \"3\"}}"),
      "{}"};
  const char *at = text;
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    const char *found = strstr(at, want[i]);
    if (found == NULL) {
      fail_msg("%s\nlacks, or has too early, %s", text, want[i]);
    }
    at = found + strlen(want[i]);
  }
  assert_int_equal(count_of(text, "\"ph\""), 5);
  free(text);
}

static void numbers_have_a_point_whatever_the_locale(void **state)
{
  (void)state;
  bool is_set = set_decimal_comma();
  xp_wire_writer space = {0};
  xp_plane_writer *host = xp_plane_writer_create(xp_str_c("/host:CPU"), 0);
  xp_plane_writer_line(host, 5, xp_str_c("main"), 0);
  xp_plane_writer_add(host, event(host, "fwd"), 1500000, 2000001);
  xp_plane_writer_double(host, stat(host, "loss"), 0.25);
  finish(host, &space);
  char *text = trace_of(&space, 0);
  assert_contains(text, "\"ts\": 1.5, \"dur\": 2.000001");
  assert_contains(text, "{\"loss\": \"0.25\"}");
  free(text);
  end_decimal_comma(is_set);
}

static void an_instant_gets_the_shortest_length(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  xp_plane_writer *host = xp_plane_writer_create(xp_str_c("/host:CPU"), 0);
  xp_plane_writer_line(host, 5, xp_str_c("main"), 0);
  xp_plane_writer_add(host, event(host, "now"), 7, 0);
  finish(host, &space);
  char *text = trace_of(&space, 0);
  assert_contains(text, "\"ts\": 0.000007, \"dur\": 0.000001, \"name\": \"now\"}");
  free(text);
}

static void only_the_host_and_one_family_of_devices_are_there(void **state)
{
  (void)state;
  static const char *const planes[] = {"/device:CUSTOM:0", "/device:TPU:3", "/host:metadata", "/host:CPU",
                                       "Task Environment"};
  xp_wire_writer space = {0};
  for (int64_t i = 0; i < 5; i++) {
    xp_plane_writer *plane = xp_plane_writer_create(xp_str_c(planes[i]), i + 10);
    xp_plane_writer_line(plane, 70 + i, xp_str_c("line"), 0);
    xp_plane_writer_add(plane, event(plane, planes[i]), 0, 5);
    finish(plane, &space);
  }
  char *text = trace_of(&space, 0);
  assert_contains(text, "\"ph\": \"X\", \"pid\": 12, \"tid\": 71,"); /* 1 and the id of the plane */
  assert_contains(text, "\"ph\": \"X\", \"pid\": 701, \"tid\": 73,");
  assert_contains(text, "\"tid\": 71, \"name\": \"thread_sort_index\", \"args\": {\"sort_index\": 71}");
  assert_int_equal(count_of(text, "\"ph\": \"X\""), 2);
  assert_lacks(text, "CUSTOM");
  assert_lacks(text, "metadata(");
  assert_lacks(text, "Task");
  free(text);
}

static void a_plane_without_lines_is_named(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  finish(xp_plane_writer_create(xp_str_c("/host:CPU"), 0), &space);
  char *text = trace_of(&space, 0);
  assert_contains(text, "process_name");
  assert_lacks(text, "thread_name");
  free(text);
}

static void ids_of_threads_are_cut_to_32_bits(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  xp_plane_writer *host = xp_plane_writer_create(xp_str_c("/host:CPU"), 0);
  xp_plane_writer_line(host, -1, xp_str_c("a"), 0);
  xp_plane_writer_add(host, event(host, "e"), 0, 5);
  xp_plane_writer_line(host, (int64_t)1 << 40 | 9, xp_str_c("b"), 0);
  xp_plane_writer_add(host, event(host, "e"), 0, 5);
  finish(host, &space);
  char *text = trace_of(&space, 0);
  assert_contains(text, "\"ph\": \"X\", \"pid\": 701, \"tid\": 4294967295,");
  assert_contains(text, "\"ph\": \"X\", \"pid\": 701, \"tid\": 9,");
  free(text);
}

static void arguments_are_sorted_texts_and_own_ones_count_first(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  xp_plane_writer *host = xp_plane_writer_create(xp_str_c("/host:CPU"), 0);
  int64_t e = event(host, "e");
  xp_plane_writer_meta_uint(host, e, stat(host, "both"), 1);
  xp_plane_writer_meta_uint(host, e, stat(host, "meta"), 18446744073709551615u);
  xp_plane_writer_line(host, 5, xp_str_c("main"), 0);
  xp_plane_writer_add(host, e, 0, 5);
  xp_plane_writer_int(host, stat(host, "z"), -4);
  xp_plane_writer_double(host, stat(host, "d"), 1234567.0);
  xp_plane_writer_bytes(host, stat(host, "raw"), xp_str_c("xyz"));
  xp_plane_writer_text(host, stat(host, "a"), xp_str_from("q\"\0u", 4));
  xp_plane_writer_ref(host, stat(host, "r"), xp_str_c("referred"));
  xp_plane_writer_int(host, stat(host, "both"), 2);
  xp_plane_writer_int(host, stat(host, "_pt"), 2); /* internal, as the next two */
  xp_plane_writer_int(host, stat(host, "flops"), 2);
  xp_plane_writer_int(host, stat(host, "_r"), 1);
  finish(host, &space);
  char *text = trace_of(&space, 0);
  assert_contains(text, "\"args\": {\"a\": \"q\\\"\\u0000u\", \"both\": \"2\", \"d\": \"1.23457e+06\", "
                        "\"meta\": \"18446744073709551615\", \"r\": \"referred\", \"raw\": \"<opaque bytes>\", "
                        "\"z\": \"-4\"}}");
  free(text);
}

static void a_stat_without_a_value_is_left_out(void **state)
{
  (void)state;
  xp_wire_writer space = {0}, line = {0}, plane = {0};
  /* event: metadata 1, offset 0, a stat with a metadata id only */
  xp_wire_put_bytes(&line, 4, xp_str_from("\x08\x01\x10\0\x22\x02\x08\x01", 8));
  xp_wire_put_bytes(&plane, 2, xp_str_c("/host:CPU"));
  xp_wire_put_message(&plane, 3, &line);
  xp_wire_put_bytes(&plane, 5, xp_str_c("\x08\x01\x12\x05\x08\x01\x12\x01s"));
  xp_wire_put_message(&space, 1, &plane);
  xp_wire_writer_free(&line);
  xp_wire_writer_free(&plane);
  char *text = trace_of(&space, 0);
  assert_int_equal(count_of(text, "\"ph\": \"X\""), 1);
  assert_lacks(text, "opaque");
  free(text);
}

static void a_display_name_is_shown_and_the_long_name_is_an_argument(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  xp_plane_writer *host = xp_plane_writer_create(xp_str_c("/host:CPU"), 0);
  xp_plane_writer_line(host, 5, xp_str_c("main"), 0);
  xp_plane_writer_add(host, xp_plane_writer_event(host, xp_str_c("%add.1 = f32[] .."), xp_str_c("add.1")), 0, 5);
  finish(host, &space);
  char *text = trace_of(&space, 0);
  assert_contains(text, "\"name\": \"add.1\", \"args\": {\"long_name\": \"%add.1 = f32[] ..\"}}");
  free(text);
}

static void the_stat_step_name_stands_above_other_names(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  xp_plane_writer *host = xp_plane_writer_create(xp_str_c("/host:CPU"), 0);
  xp_plane_writer_line(host, 5, xp_str_c("main"), 0);
  xp_plane_writer_add(host, event(host, "e"), 0, 5);
  xp_plane_writer_text(host, stat(host, "step_name"), xp_str_c("step 7"));
  finish(host, &space);
  char *text = trace_of(&space, 0);
  assert_contains(text, "\"name\": \"step 7\", \"args\": {\"step_name\": \"step 7\"}}");
  free(text);
}

static void internal_events_and_async_lines_are_left_out(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  xp_plane_writer *host = xp_plane_writer_create(xp_str_c("/host:CPU"), 0);
  xp_plane_writer_line(host, 5, xp_str_c("main"), 0);
  xp_plane_writer_add(host, event(host, "MemoryAllocation"), 0, 5);
  xp_plane_writer_add(host, event(host, "ParallelMapConsume"), 0, 5);
  xp_plane_writer_add(host, event(host, "ParallelBatchConsume"), 1, 5); /* not one of them */
  xp_plane_writer_line(host, 6, xp_str_c("Async XLA Ops"), 0);
  xp_plane_writer_add(host, event(host, "copy-start"), 0, 5);
  finish(host, &space);
  char *text = trace_of(&space, 0);
  assert_int_equal(count_of(text, "\"ph\": \"X\""), 1);
  assert_contains(text, "\"name\": \"ParallelBatchConsume\"");
  assert_contains(text, "\"name\": \"Async XLA Ops\"");
  free(text);
}

/* Two lines; starts 0..9 on the first, 5 five times on the second, and one internal event that counts for nothing. */
static void put_crowd(xp_wire_writer *space)
{
  xp_plane_writer *host = xp_plane_writer_create(xp_str_c("/host:CPU"), 0);
  xp_plane_writer_line(host, 1, xp_str_c("a"), 0);
  xp_plane_writer_add(host, event(host, "MemoryAllocation"), 0, 100);
  for (int64_t i = 0; i < 10; i++) {
    xp_plane_writer_add(host, event(host, "a"), i, 1);
  }
  xp_plane_writer_line(host, 2, xp_str_c("b"), 0);
  for (int64_t i = 0; i < 5; i++) {
    xp_plane_writer_add(host, event(host, "b"), 5, 1);
  }
  finish(host, space);
}

static void assert_kept(uint64_t most, size_t a, size_t b)
{
  xp_wire_writer space = {0};
  put_crowd(&space);
  char *text = trace_of(&space, most);
  assert_int_equal(count_of(text, "\"name\": \"a\"}") - 1, a); /* but for the name of the thread */
  assert_int_equal(count_of(text, "\"name\": \"b\"}") - 1, b);
  free(text);
}

static void when_there_are_too_many_the_earliest_stay_and_their_number_is_exact(void **state)
{
  (void)state;
  assert_kept(0, 10, 5);
  assert_kept(16, 10, 5);
  assert_kept(15, 10, 5);
  assert_kept(14, 9, 5);
  assert_kept(11, 6, 5); /* 0 to 5, and the five that start at 5 */
  assert_kept(10, 6, 4); /* of six that start at 5, five have room: the first */
  assert_kept(6, 6, 0);
  assert_kept(5, 5, 0);
  assert_kept(1, 1, 0);
}

static void a_full_disk_is_told_and_the_descriptor_stays_open(void **state)
{
  (void)state;
  int fd = open("/dev/full", O_WRONLY);
  assert_true(fd >= 0);
  xp_wire_writer space = {0};
  put_crowd(&space);
  xp_capture *capture = load_bytes(written(&space));
  xp_error err = {0};
  assert_int_equal(xp_trace_json_write(capture, fd, 0, &err), XP_ERR_IO);
  assert_contains(err.text, "disk");
  assert_int_equal(close(fd), 0);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_small_capture_is_written_to_the_letter),
      cmocka_unit_test(numbers_have_a_point_whatever_the_locale),
      cmocka_unit_test(an_instant_gets_the_shortest_length),
      cmocka_unit_test(only_the_host_and_one_family_of_devices_are_there),
      cmocka_unit_test(a_plane_without_lines_is_named),
      cmocka_unit_test(ids_of_threads_are_cut_to_32_bits),
      cmocka_unit_test(arguments_are_sorted_texts_and_own_ones_count_first),
      cmocka_unit_test(a_stat_without_a_value_is_left_out),
      cmocka_unit_test(a_display_name_is_shown_and_the_long_name_is_an_argument),
      cmocka_unit_test(the_stat_step_name_stands_above_other_names),
      cmocka_unit_test(internal_events_and_async_lines_are_left_out),
      cmocka_unit_test(when_there_are_too_many_the_earliest_stay_and_their_number_is_exact),
      cmocka_unit_test(a_full_disk_is_told_and_the_descriptor_stays_open),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
