/* Files that are cut, damaged, empty, hostile, or something else. */
#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static xp_status try_bytes(xp_str bytes, xp_capture **capture, xp_error *err)
{
  const xp_load_options options = {.threads = 1};
  return xp_capture_load_memory(bytes, "dir/test.xplane.pb", &options, capture, err);
}

/* Two planes of 10 and 11 bytes: "first" and "second". */
static const char two_planes[] = "\x0a\x07\x12\x05"
                                 "first"
                                 "\x0a\x08\x12\x06"
                                 "second";
enum { TWO_PLANES = sizeof two_planes - 1 };

static void a_cut_file_gives_the_planes_before_the_cut(void **state)
{
  (void)state;
  xp_capture *capture;
  xp_error err;
  assert_int_equal(try_bytes(xp_str_from(two_planes, TWO_PLANES - 1), &capture, &err), XP_OK);
  const xp_host *host = &capture->hosts[0];
  assert_int_equal(host->status, XP_FILE_TRUNCATED);
  assert_str(host->problem,
             "truncated: the file ends at byte 18 inside a record that began at byte 9; the planes before "
             "it were read");
  assert_int_equal(host->plane_count, 1);
  assert_str(host->planes[0].name, "first");
  assert_true(capture->partial);
  xp_capture_free(capture);
}

static void a_cut_inside_of_the_first_plane_is_an_error(void **state)
{
  (void)state;
  xp_capture *capture;
  xp_error err;
  assert_int_equal(try_bytes(xp_str_from(two_planes, 5), &capture, &err), XP_ERR_TRUNCATED);
  assert_contains(err.text, "dir/test.xplane.pb: truncated: the file ends at byte 5");
  assert_null(capture);
}

static void a_bad_key_at_the_top_keeps_the_planes_before_it(void **state)
{
  (void)state;
  char bytes[TWO_PLANES];
  memcpy(bytes, two_planes, sizeof bytes);
  bytes[9] = 0x0b; /* a group */
  xp_capture *capture;
  xp_error err;
  assert_int_equal(try_bytes(xp_str_from(bytes, sizeof bytes), &capture, &err), XP_OK);
  assert_int_equal(capture->hosts[0].status, XP_FILE_DAMAGED);
  assert_str_contains(capture->hosts[0].problem, "byte 9");
  assert_int_equal(capture->hosts[0].plane_count, 1);
  xp_capture_free(capture);
}

static void assert_first_plane_left_out(const char *plane, size_t size, size_t damaged_at)
{
  xp_wire_writer space = {0};
  xp_wire_put_bytes(&space, 1, xp_str_from(plane, size));
  xp_wire_put_bytes(&space, 1, xp_str_c("\x12\x04good"));
  xp_capture *capture;
  xp_error err;
  assert_int_equal(try_bytes(written(&space), &capture, &err), XP_OK);
  const xp_host *host = &capture->hosts[0];
  char place[40];
  snprintf(place, sizeof place, "at byte %zu ", damaged_at + 2);
  assert_int_equal(host->status, XP_FILE_DAMAGED);
  assert_str_contains(host->problem, place);
  assert_str_contains(host->problem, "was left out");
  assert_int_equal(host->plane_count, 1);
  assert_str(host->planes[0].name, "good");
  assert_int_equal(host->planes[0].index, 0);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

#define LEFT_OUT(bytes, at) assert_first_plane_left_out(bytes, sizeof(bytes) - 1, at)

static void a_damaged_plane_is_left_out_and_the_next_is_read(void **state)
{
  (void)state;
  LEFT_OUT("\x12\x03"
           "abc\x0b",
           5); /* bad key in the plane */
  LEFT_OUT("\x12\x09"
           "abc",
           0);                                             /* name longer than the plane */
  LEFT_OUT("\x1a\x04\x08\x01\x12\x09", 4);                 /* name longer than the line */
  LEFT_OUT("\x1a\x04\x22\x02\x08\x80", 4);                 /* varint in an event cut off */
  LEFT_OUT("\x1a\x06\x22\x04\x08\x01\x22\x7f", 6);         /* stat longer than the event */
  LEFT_OUT("\x1a\x08\x22\x06\x08\x01\x22\x02\x2a\x09", 8); /* text longer than its stat */
  LEFT_OUT("\x22\x04\x08\x01\x12\x7f", 4);                 /* metadata longer than its entry */
  LEFT_OUT("\x22\x06\x08\x01\x12\x02\x12\x7f", 6);         /* name longer than its metadata */
  LEFT_OUT("\x2a\x06\x08\x01\x12\x02\x12\x7f", 6);         /* the same of a stat name */
}

static void a_line_that_claims_a_terabyte_costs_nothing(void **state)
{
  (void)state;
  static const char plane[] = "\x1a\x80\x80\x80\x80\x80\x20\x08\x01"; /* a line of 2^40 bytes */
  xp_wire_writer space = {0};
  xp_wire_put_bytes(&space, 1, xp_str_from(plane, sizeof plane - 1));
  xp_capture *capture;
  xp_error err;
  assert_int_equal(try_bytes(written(&space), &capture, &err), XP_ERR_FORMAT);
  assert_contains(err.text, "byte 2");
  xp_wire_writer_free(&space);
}

static void zero_bytes_at_the_end_are_tolerated(void **state)
{
  (void)state;
  char bytes[TWO_PLANES + 500] = {0};
  memcpy(bytes, two_planes, TWO_PLANES);
  xp_capture *capture = load_bytes(xp_str_from(bytes, sizeof bytes));
  assert_int_equal(capture->hosts[0].status, XP_FILE_OK);
  assert_int_equal(capture->hosts[0].plane_count, 2);
  xp_capture_free(capture);
  bytes[sizeof bytes - 1] = 1; /* but not zeros with something behind them */
  xp_error err;
  assert_int_equal(try_bytes(xp_str_from(bytes, sizeof bytes), &capture, &err), XP_OK);
  assert_int_equal(capture->hosts[0].status, XP_FILE_DAMAGED);
  xp_capture_free(capture);
}

static void an_empty_file_is_an_error_of_its_own(void **state)
{
  (void)state;
  xp_capture *capture;
  xp_error err;
  assert_int_equal(try_bytes(xp_str_from(NULL, 0), &capture, &err), XP_ERR_EMPTY);
  assert_contains(err.text, "0 bytes");
}

static void an_empty_plane_is_a_plane(void **state)
{
  (void)state;
  xp_capture *capture = load_bytes(xp_str_from("\x0a\x00", 2));
  assert_int_equal(capture->hosts[0].plane_count, 1);
  assert_int_equal(capture->hosts[0].planes[0].event_meta_count, 1);
  assert_int_equal(capture->hosts[0].planes[0].stat_count, 1);
  xp_capture_free(capture);
}

static void errors_and_warnings_of_the_profiler_are_kept(void **state)
{
  (void)state;
  xp_capture *capture = load_bytes(xp_str_c("\x12\x03"
                                            "bad\x1a\x05"
                                            "later\"\x04"
                                            "host"));
  assert_int_equal(capture->hosts[0].message_count, 2);
  assert_str(capture->hosts[0].messages[0], "bad");
  assert_str(capture->hosts[0].messages[1], "later");
  assert_str(capture->hosts[0].name, "host");
  assert_int_equal(capture->hosts[0].status, XP_FILE_OK);
  xp_capture_free(capture);
}

static void what_is_no_xspace_is_called_by_its_name(void **state)
{
  (void)state;
  static const struct {
    const char *bytes, *want;
  } files[] = {{"{\"traceEvents\":[]}", "this is a Chrome trace (JSON), not an XSpace"},
               {"[{\"ph\":\"X\"}]", "this is a Chrome trace (JSON)"},
               {"{\"a\":1}", "this is JSON"},
               {"\x7f"
                "ELF\x02\x01\x01",
                "ELF"},
               {"\x83\xaf\x70\xd1\x0d\x88\x4a\x3f", "Riegeli"},
               {"PK\x03\x04zip", "ZIP"},
               {"HloModule main, entry", "HLO module as text"},
               {"hello world, this is text", "this is text"},
               {"\n\n{\"traceEvents\": []}", "this is a Chrome trace (JSON)"},
               {"<html>", "HTML"},
               {"\xff\xfe\xfd\xfc", "it begins with the bytes ff fe fd fc"}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    xp_capture *capture;
    xp_error err;
    assert_int_equal(try_bytes(xp_str_c(files[i].bytes), &capture, &err), XP_ERR_FORMAT);
    assert_contains(err.text, files[i].want);
    assert_contains(err.text, "xlaprof reads *.xplane.pb");
  }
}

static void every_prefix_of_a_capture_loads_or_fails_cleanly(void **state)
{
  (void)state;
  static const char *const paths[] = {SCENARIOS "s13_untimed_events.xplane.pb", SCENARIOS "s10_cpu_thunks.xplane.pb"};
  for (size_t p = 0; p < 2; p++) {
    xp_str whole = read_file(paths[p]);
    size_t planes = 0;
    for (size_t n = 0; n <= whole.len; n++) {
      char *copy = malloc(n + 1); /* of exact size, so that a sanitizer sees reads behind the end */
      copy = realloc(copy, n > 0 ? n : 1);
      memcpy(copy, whole.ptr, n);
      xp_capture *capture;
      xp_error err;
      xp_status status = try_bytes(xp_str_from(copy, n), &capture, &err);
      if (status == XP_OK) {
        touch_capture(capture);
        assert_true(capture->hosts[0].plane_count >= planes); /* a longer prefix never gives less */
        planes = capture->hosts[0].plane_count;
      } else {
        assert_true(status == (n == 0 ? XP_ERR_EMPTY : XP_ERR_TRUNCATED) && err.text[0] != '\0');
      }
      xp_capture_free(capture);
      free(copy);
    }
    free((void *)(uintptr_t)whole.ptr);
  }
}

static uint64_t next_random(uint64_t *seed)
{
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

static void flipped_bytes_never_break_the_reader(void **state)
{
  (void)state;
  static const char *const paths[] = {SCENARIOS "s01_sd21_one_gap.xplane.pb", SCENARIOS "s11_names_on_tpu.xplane.pb",
                                      CAPTURES "torch_lab_lazy.xplane.pb"};
  uint64_t seed = 42;
  for (size_t p = 0; p < 3; p++) {
    xp_str whole = read_file(paths[p]);
    char *copy = malloc(whole.len);
    for (int round = 0; round < 200; round++) {
      memcpy(copy, whole.ptr, whole.len);
      for (uint64_t flips = next_random(&seed) % 4 + 1; flips > 0; flips--) {
        copy[next_random(&seed) % whole.len] = (char)next_random(&seed);
      }
      xp_capture *capture;
      xp_error err;
      if (try_bytes(xp_str_from(copy, whole.len), &capture, &err) == XP_OK) {
        touch_capture(capture);
        xp_capture_free(capture);
      } else {
        assert_true(err.text[0] != '\0');
      }
    }
    free(copy);
    free((void *)(uintptr_t)whole.ptr);
  }
}

/* ---- files */

static char folder[] = "/tmp/xp_test_damage_XXXXXX";

static const char *in_folder(const char *name)
{
  static char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static int make_folder(void **state)
{
  (void)state;
  return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

static void an_unreadable_host_does_not_stop_the_others(void **state)
{
  (void)state;
  write_file(in_folder("a.xplane.pb"), "{\"traceEvents\":[]}", 18);
  write_file(in_folder("b.xplane.pb"), two_planes, TWO_PLANES);
  write_file(in_folder("c.xplane.pb"), "", 0);
  write_file(in_folder("d.xplane.pb"), two_planes, 7);
  xp_capture *capture = load_path(folder);
  assert_int_equal(capture->host_count, 4);
  assert_int_equal(capture->hosts[0].status, XP_FILE_UNREADABLE);
  assert_int_equal(capture->hosts[1].status, XP_FILE_OK);
  assert_int_equal(capture->hosts[2].status, XP_FILE_EMPTY);
  assert_int_equal(capture->hosts[3].status, XP_FILE_TRUNCATED);
  assert_int_equal(capture->hosts[1].plane_count, 2);
  assert_true(capture->partial);
  xp_capture_free(capture);
  for (const char *name = "abcd"; *name != '\0'; name++) {
    unlink(in_folder((char[]){*name, '.', 'x', 'p', 'l', 'a', 'n', 'e', '.', 'p', 'b', '\0'}));
  }
}

static void hosts_of_equal_names_get_their_file_names(void **state)
{
  (void)state;
  static const char named[] = "\x0a\x00\"\x01h";
  write_file(in_folder("a.xplane.pb"), named, sizeof named - 1);
  write_file(in_folder("b.xplane.pb"), named, sizeof named - 1);
  write_file(in_folder("c.xplane.pb"), "\x0a\x00", 2);
  xp_capture *capture = load_path(folder);
  assert_str(capture->hosts[0].name, "h (a.xplane.pb)");
  assert_str(capture->hosts[1].name, "h (b.xplane.pb)");
  assert_str(capture->hosts[2].name, "c");
  xp_capture_free(capture);
}

static void a_packed_capture_that_is_cut_is_truncated(void **state)
{
  (void)state;
  xp_str whole = read_file(CAPTURES "jax_small.xplane.pb");
  gzFile gz = gzopen(in_folder("z.xplane.pb.gz"), "wb");
  assert_int_equal(gzwrite(gz, whole.ptr, (unsigned)whole.len), whole.len);
  gzclose(gz);
  xp_capture *capture = load_path(in_folder("z.xplane.pb.gz"));
  assert_int_equal(capture->hosts[0].status, XP_FILE_OK);
  xp_capture *plain = load_path(CAPTURES "jax_small.xplane.pb");
  assert_true(touch_line(&capture->hosts[0].planes[1].lines[0]) == touch_line(&plain->hosts[0].planes[1].lines[0]));
  assert_int_equal(capture->events, plain->events);
  xp_capture_free(plain);
  xp_capture_free(capture);
  xp_str packed = read_file(in_folder("z.xplane.pb.gz"));
  write_file(in_folder("z.xplane.pb.gz"), packed.ptr, packed.len - packed.len / 50);
  capture = load_path(in_folder("z.xplane.pb.gz"));
  assert_int_equal(capture->hosts[0].status, XP_FILE_TRUNCATED);
  assert_str_contains(capture->hosts[0].problem, "gzip stream ends early");
  assert_int_equal(capture->hosts[0].bytes, packed.len - packed.len / 50);
  xp_capture_free(capture);
  free((void *)(uintptr_t)packed.ptr);
  free((void *)(uintptr_t)whole.ptr);
}

static void a_scenario_that_was_cut_is_read_in_part(void **state)
{
  (void)state;
  xp_capture *capture = load_path(SCENARIOS "s20_truncated.xplane.pb");
  assert_int_equal(capture->hosts[0].status, XP_FILE_TRUNCATED);
  assert_true(capture->hosts[0].plane_count > 0);
  xp_capture_free(capture);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cut_file_gives_the_planes_before_the_cut),
      cmocka_unit_test(a_cut_inside_of_the_first_plane_is_an_error),
      cmocka_unit_test(a_bad_key_at_the_top_keeps_the_planes_before_it),
      cmocka_unit_test(a_damaged_plane_is_left_out_and_the_next_is_read),
      cmocka_unit_test(a_line_that_claims_a_terabyte_costs_nothing),
      cmocka_unit_test(zero_bytes_at_the_end_are_tolerated),
      cmocka_unit_test(an_empty_file_is_an_error_of_its_own),
      cmocka_unit_test(an_empty_plane_is_a_plane),
      cmocka_unit_test(errors_and_warnings_of_the_profiler_are_kept),
      cmocka_unit_test(what_is_no_xspace_is_called_by_its_name),
      cmocka_unit_test(every_prefix_of_a_capture_loads_or_fails_cleanly),
      cmocka_unit_test(flipped_bytes_never_break_the_reader),
      cmocka_unit_test(an_unreadable_host_does_not_stop_the_others),
      cmocka_unit_test(hosts_of_equal_names_get_their_file_names),
      cmocka_unit_test(a_packed_capture_that_is_cut_is_truncated),
      cmocka_unit_test(a_scenario_that_was_cut_is_read_in_part),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
