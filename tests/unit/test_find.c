/* Finding captures below directories, and what a load does with a choice of runs and hosts. */
#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "xspace/find.h"

static char root[] = "/tmp/xp_test_find_XXXXXX";
static xp_arena *arena;

static const char *at(const char *name)
{
  return xp_arena_format(arena, "%s/%s", root, name).ptr;
}

static void put(const char *name, long age)
{
  static const char plane[] = "\x0a\x04\x12\x02hi";
  write_file(at(name), plane, sizeof plane - 1);
  const struct utimbuf times = {1700000000 - age, 1700000000 - age};
  utime(at(name), &times);
}

/* log/plugins/profile/2026_01_02_03_04_05/{b,a}.xplane.pb, .../2026_01_03_00_00_00/c.xplane.pb.gz, log/own/x.xplane.pb,
 * a link that makes a cycle, and files that are no captures. */
static int make_tree(void **state)
{
  (void)state;
  arena = xp_arena_create();
  static const char *const folders[] = {"log",
                                        "log/plugins",
                                        "log/plugins/profile",
                                        "log/plugins/profile/2026_01_02_03_04_05",
                                        "log/plugins/profile/2026_01_03_00_00_00",
                                        "log/own",
                                        "empty",
                                        "empty/inner"};
  if (mkdtemp(root) == NULL) {
    return -1;
  }
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    mkdir(at(folders[i]), 0777);
  }
  put("log/plugins/profile/2026_01_02_03_04_05/b.xplane.pb", 0);
  put("log/plugins/profile/2026_01_02_03_04_05/a.xplane.pb", 10);
  put("log/plugins/profile/2026_01_03_00_00_00/c.xplane.pb.gz", 20);
  put("log/own/x.xplane.pb", 30);
  put("log/own/notes.pb", 0);
  return symlink("..", at("log/own/cycle"));
}

static int remove_tree(void **state)
{
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -r %s", root);
  xp_arena_destroy(arena);
  return system(command);
}

static void runs_are_found_below_a_log_directory_newest_first(void **state)
{
  (void)state;
  xp_run_list list;
  xp_error err;
  assert_int_equal(xp_find_runs(at("log"), arena, &list, &err), XP_OK);
  assert_int_equal(list.run_count, 3);
  assert_str(list.runs[0].name, "2026_01_03_00_00_00"); /* by name, although its file is older */
  assert_str(list.runs[1].name, "2026_01_02_03_04_05");
  assert_str(list.runs[2].name, "own");
  assert_int_equal(list.runs[1].time, 1700000000);
}

static void files_of_a_run_are_sorted_by_name(void **state)
{
  (void)state;
  xp_run_list list;
  xp_error err;
  assert_int_equal(xp_find_runs(at("log/plugins/profile/2026_01_02_03_04_05"), arena, &list, &err), XP_OK);
  assert_int_equal(list.run_count, 1);
  assert_int_equal(list.runs[0].file_count, 2);
  assert_true(xp_str_ends(list.runs[0].files[0], "/a.xplane.pb"));
  assert_true(xp_str_ends(list.runs[0].files[1], "/b.xplane.pb"));
}

static void a_link_that_leads_up_is_followed_once(void **state)
{
  (void)state;
  xp_run_list list;
  xp_error err;
  assert_int_equal(xp_find_runs(at("log/own/"), arena, &list, &err), XP_OK);
  assert_int_equal(list.run_count, 3); /* its own, and those that the link leads to */
  assert_str(list.runs[2].name, "own");
}

static void a_file_of_any_name_is_a_run(void **state)
{
  (void)state;
  xp_run_list list;
  xp_error err;
  assert_int_equal(xp_find_runs(at("log/own/notes.pb"), arena, &list, &err), XP_OK);
  assert_int_equal(list.run_count, 1);
  assert_str(list.runs[0].name, "own");
  assert_true(xp_str_ends(list.runs[0].files[0], "log/own/notes.pb"));
}

static void a_directory_without_captures_is_empty(void **state)
{
  (void)state;
  xp_run_list list;
  xp_error err;
  assert_int_equal(xp_find_runs(at("empty"), arena, &list, &err), XP_ERR_EMPTY);
  assert_contains(err.text, "2 directories");
  assert_contains(err.text, "*.xplane.pb");
}

static void a_path_that_is_not_there_is_not_found(void **state)
{
  (void)state;
  xp_run_list list;
  xp_error err;
  assert_int_equal(xp_find_runs(at("nothing"), arena, &list, &err), XP_ERR_NOT_FOUND);
  assert_contains(err.text, "nothing");
  assert_int_equal(xp_find_runs("", arena, &list, &err), XP_ERR_USAGE);
}

static void the_newest_run_is_loaded_unless_one_is_named(void **state)
{
  (void)state;
  xp_capture *capture;
  xp_error err;
  const xp_load_options options = {.run = "2026_01_02_03_04_05"};
  assert_int_equal(xp_capture_load(at("log"), NULL, &capture, &err), XP_OK);
  assert_str(capture->run, "2026_01_03_00_00_00");
  assert_str(capture->hosts[0].name, "c");
  xp_capture_free(capture);
  assert_int_equal(xp_capture_load(at("log"), &options, &capture, &err), XP_OK);
  assert_int_equal(capture->host_count, 2);
  assert_str(capture->hosts[0].name, "a");
  xp_capture_free(capture);
}

static void an_unknown_run_or_host_is_answered_with_the_names(void **state)
{
  (void)state;
  xp_capture *capture;
  xp_error err;
  const xp_load_options no_run = {.run = "yesterday"};
  const xp_load_options no_host = {.host = "z", .run = "2026_01_02_03_04_05"};
  assert_int_equal(xp_capture_load(at("log"), &no_run, &capture, &err), XP_ERR_NOT_FOUND);
  assert_contains(err.text, "2026_01_03_00_00_00, 2026_01_02_03_04_05, own");
  assert_null(capture);
  assert_int_equal(xp_capture_load(at("log"), &no_host, &capture, &err), XP_ERR_NOT_FOUND);
  assert_contains(err.text, "the hosts are: a, b");
}

static void one_host_can_be_chosen(void **state)
{
  (void)state;
  xp_capture *capture;
  xp_error err;
  const xp_load_options options = {.host = "b", .run = "2026_01_02_03_04_05"};
  assert_int_equal(xp_capture_load(at("log"), &options, &capture, &err), XP_OK);
  assert_int_equal(capture->host_count, 1);
  assert_str(capture->hosts[0].name, "b");
  assert_int_equal(capture->hosts[0].index, 0);
  assert_int_equal(capture->hosts[0].plane_count, 1);
  xp_capture_free(capture);
}

static void a_pipe_in_a_directory_is_skipped_and_told(void **state)
{
  (void)state;
  xp_run_list list;
  xp_error err;
  mkdir(at("pipes"), 0777);
  assert_int_equal(mkfifo(at("pipes/f.xplane.pb"), 0666), 0);
  assert_int_equal(xp_find_runs(at("pipes"), arena, &list, &err), XP_ERR_EMPTY);
  assert_contains(err.text, "pipes/f.xplane.pb: not a plain file");
  put("pipes/g.xplane.pb", 0);
  assert_int_equal(xp_find_runs(at("pipes"), arena, &list, &err), XP_OK);
  assert_int_equal(list.runs[0].file_count, 1);
  assert_int_equal(list.skipped, 1);
}

static void of_packed_copies_the_unpacked_file_is_taken(void **state)
{
  (void)state;
  static const char *const names[] = {"a.xplane.pb.zst", "a.xplane.pb.gz", "b.xplane.pb.gz",         "c.xplane.pb.zst",
                                      "c.xplane.pb",     "c.xplane.pb.gz", "c.xplane.pb-1.xplane.pb"};
  static const char *const kept[] = {"/a.xplane.pb.gz", "/b.xplane.pb.gz", "/c.xplane.pb", "/c.xplane.pb-1.xplane.pb"};
  xp_run_list list;
  xp_error err;
  mkdir(at("copies"), 0777);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    put(xp_arena_format(arena, "copies/%s", names[i]).ptr, 0);
  }
  assert_int_equal(xp_find_runs(at("copies"), arena, &list, &err), XP_OK);
  assert_int_equal(list.runs[0].file_count, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_true(xp_str_ends(list.runs[0].files[i], kept[i]));
  }
  assert_int_equal(list.runs[0].copy_count, 3);
  xp_capture *capture;
  assert_int_equal(xp_capture_load(at("copies"), NULL, &capture, &err), XP_OK);
  assert_int_equal(capture->note_count, 3);
  assert_true(xp_str_find_text(capture->notes[0], "a.xplane.pb.zst was left out") < capture->notes[0].len);
  xp_capture_free(capture);
}

static void what_cannot_be_entered_is_told(void **state)
{
  (void)state;
  xp_run_list list;
  xp_error err;
  mkdir(at("loops"), 0777);
  assert_int_equal(symlink("self", at("loops/self")), 0);
  assert_int_equal(symlink("nothing", at("loops/dangling")), 0);
  assert_int_equal(xp_find_runs(at("loops"), arena, &list, &err), XP_ERR_EMPTY);
  assert_contains(err.text, "1 could not be looked at");
  assert_contains(err.text, "loops/self: ");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_are_found_below_a_log_directory_newest_first),
      cmocka_unit_test(files_of_a_run_are_sorted_by_name),
      cmocka_unit_test(a_link_that_leads_up_is_followed_once),
      cmocka_unit_test(a_file_of_any_name_is_a_run),
      cmocka_unit_test(a_directory_without_captures_is_empty),
      cmocka_unit_test(a_path_that_is_not_there_is_not_found),
      cmocka_unit_test(the_newest_run_is_loaded_unless_one_is_named),
      cmocka_unit_test(an_unknown_run_or_host_is_answered_with_the_names),
      cmocka_unit_test(one_host_can_be_chosen),
      cmocka_unit_test(a_pipe_in_a_directory_is_skipped_and_told),
      cmocka_unit_test(of_packed_copies_the_unpacked_file_is_taken),
      cmocka_unit_test(what_cannot_be_entered_is_told),
  };
  return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
