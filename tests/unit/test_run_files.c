/* Run directories and how files get into them.  Everything happens below a directory that the test makes. */
#define _GNU_SOURCE
#include "session/run_files.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "folders.h"

static char folder[256]; /* of the test that runs */

static int make_folder(void **state)
{
  (void)state;
  folder_make(folder);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  folder_remove(folder);
  return 0;
}

static const char *below(const char *name)
{
  static char path[4][XP_PATH_ROOM];
  static int next;
  char *text = path[next++ % 4];
  snprintf(text, XP_PATH_ROOM, "%s/%s", folder, name);
  return text;
}

/* ---- directories */

static void other_places_than_file_systems_are_refused(void **state)
{
  (void)state;
  static const char *const paths[] = {"s3://bucket/logs", "gs://bucket", "file:///tmp/x", "https://host/"};
  char path[XP_PATH_ROOM];
  assert_int_equal(chdir(folder), 0);
  for (size_t i = 0; i < 4; i++) {
    xp_error err = {0};
    assert_int_equal(xp_logdir_check(paths[i], &err), XP_ERR_USAGE);
    assert_contains(err.text, paths[i]);
    assert_int_equal(xp_logdir_run_make(paths[i], "run", path, &err), XP_ERR_USAGE);
    assert_int_equal(xp_run_directory_make(paths[i], NULL, path, &err), XP_ERR_USAGE);
  }
  assert_folder(folder, "");
  assert_int_equal(chdir("/"), 0);
}

static void a_colon_in_a_local_path_is_no_scheme(void **state)
{
  (void)state;
  xp_error err = {0};
  assert_int_equal(xp_logdir_check(below("a:b/c://d"), &err), XP_OK);
  assert_folder(folder, "a:b;");
}

static void an_empty_path_is_refused(void **state)
{
  (void)state;
  xp_error err = {0};
  assert_int_equal(xp_logdir_check("", &err), XP_ERR_USAGE);
}

static void the_check_makes_the_directories(void **state)
{
  (void)state;
  xp_error err = {0};
  assert_int_equal(xp_logdir_check(below("a//b/"), &err), XP_OK);
  assert_folder(below("a/b/plugins"), "profile;");
  assert_int_equal(xp_logdir_check(below("a//b/"), &err), XP_OK);
}

static void a_relative_logdir_gives_an_absolute_path(void **state)
{
  (void)state;
  char path[XP_PATH_ROOM];
  xp_error err = {0};
  assert_int_equal(chdir(folder), 0);
  assert_int_equal(xp_logdir_run_make("./x/../logs", "run", path, &err), XP_OK);
  assert_int_equal(chdir("/"), 0);
  assert_string_equal(path, below("logs/plugins/profile/run"));
}

static void a_run_without_a_name_is_called_by_the_time(void **state)
{
  (void)state;
  char path[XP_PATH_ROOM], name[XP_RUN_ROOM];
  xp_error err = {0};
  int y, mon, d, h, min, s, len = 0;
  assert_int_equal(xp_logdir_run_make(folder, NULL, path, &err), XP_OK);
  const char *run = strrchr(path, '/') + 1;
  assert_int_equal(sscanf(run, "%4d_%2d_%2d_%2d_%2d_%2d%n", &y, &mon, &d, &h, &min, &s, &len), 6);
  assert_int_equal(len, 19);
  assert_int_equal(run[len], '\0');
  xp_run_name_now(name);
  assert_int_equal(strlen(name), 19);
  assert_true(strcmp(run, name) <= 0);
}

/* The second may change between two calls, so several are made. */
static void runs_of_one_second_get_numbers(void **state)
{
  (void)state;
  char path[XP_PATH_ROOM], first[XP_PATH_ROOM] = "";
  xp_error err = {0};
  int numbered = 0;
  for (int i = 0; i < 5; i++) {
    assert_int_equal(xp_logdir_run_make(folder, NULL, path, &err), XP_OK);
    assert_string_not_equal(path, first);
    numbered += strcmp(strrchr(path, '/') + 20, "_2") == 0;
    snprintf(first, sizeof first, "%s", path);
  }
  assert_in_range(numbered, 1, 3);
}

static void a_named_run_is_used_again(void **state)
{
  (void)state;
  char first[XP_PATH_ROOM], second[XP_PATH_ROOM];
  xp_error err = {0};
  assert_int_equal(xp_logdir_run_make(folder, "mine", first, &err), XP_OK);
  assert_int_equal(xp_logdir_run_make(folder, "mine", second, &err), XP_OK);
  assert_string_equal(first, second);
  assert_folder(below("plugins/profile"), "mine;");
}

static void names_that_lead_elsewhere_are_no_runs(void **state)
{
  (void)state;
  static const char *const names[] = {"", ".", "..", "a/b", "../x", "/"};
  char path[XP_PATH_ROOM];
  for (size_t i = 0; i < 6; i++) {
    xp_error err = {0};
    assert_int_equal(xp_logdir_run_make(folder, names[i], path, &err), XP_ERR_USAGE);
    assert_contains(err.text, "name of a run");
  }
}

static void a_file_where_a_directory_should_be_is_told(void **state)
{
  (void)state;
  char path[XP_PATH_ROOM];
  xp_error err = {0};
  write_file(below("file"), "x", 1);
  assert_int_equal(xp_logdir_check(below("file"), &err), XP_ERR_IO);
  assert_contains(err.text, "Not a directory");
  assert_int_equal(xp_logdir_check(below("dir"), &err), XP_OK);
  write_file(below("dir/plugins/profile/run"), "x", 1);
  assert_int_equal(xp_logdir_run_make(below("dir"), "run", path, &err), XP_ERR_IO);
  assert_contains(err.text, "Not a directory");
}

static void a_path_that_is_too_long_is_told(void **state)
{
  (void)state;
  static char path[2 * XP_PATH_ROOM];
  char made[XP_PATH_ROOM];
  xp_new_file file;
  for (size_t len = XP_PATH_ROOM - 300; len < XP_PATH_ROOM + 300; len += 7) {
    xp_error err = {0};
    memset(path, 'x', len);
    for (size_t i = 0; i < len; i += 100) {
      path[i] = '/';
    }
    memcpy(path, "/proc/", 6); /* nothing can be made there */
    path[len] = '\0';
    assert_int_not_equal(xp_logdir_check(path, &err), XP_OK);
    assert_int_not_equal(xp_logdir_run_make(path, "run", made, &err), XP_OK);
    assert_int_not_equal(xp_run_directory_make(path, NULL, made, &err), XP_OK);
    assert_int_not_equal(xp_new_file_open(path, NULL, &file, &err), XP_OK);
    xp_new_file_discard(&file);
  }
  xp_error err = {0};
  assert_int_equal(xp_logdir_check(path, &err), XP_ERR_USAGE);
  assert_contains(err.text, "too long");
}

/* Root may write everywhere, so a child of another user tries. */
static void a_directory_that_cannot_be_written_to_is_told(void **state)
{
  (void)state;
  assert_int_equal(xp_logdir_check(below("logs"), NULL), XP_OK);
  assert_int_equal(chmod(below("logs/plugins/profile"), 0555), 0);
  assert_int_equal(chmod(folder, 0755), 0);
  pid_t child = fork();
  if (child == 0) {
    xp_error err = {0};
    char path[XP_PATH_ROOM];
    if (getuid() == 0 && setuid(65534) != 0) {
      _exit(9);
    }
    bool is_right = xp_logdir_check(below("logs"), &err) == XP_ERR_IO && strstr(err.text, "Permission denied") != NULL;
    is_right &= xp_logdir_run_make(below("logs"), NULL, path, &err) == XP_ERR_IO;
    is_right &= xp_logdir_check(below("logs/plugins/profile/deep/er"), &err) == XP_ERR_IO;
    _exit(is_right ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(chmod(below("logs/plugins/profile"), 0755), 0);
}

/* ---- files */

/* Writes a file of this text; the status of what failed. */
static xp_status put_file(const char *directory, const char *stem, const char *text, char path[XP_PATH_ROOM],
                          xp_error *err)
{
  xp_new_file file;
  xp_status status = xp_new_file_open(directory, NULL, &file, err);
  if (status == XP_OK) {
    status = xp_new_file_write(&file, text, strlen(text), err);
  }
  if (status == XP_OK) {
    status = xp_new_file_publish(&file, stem, ".xplane.pb", path, err);
  }
  xp_new_file_discard(&file);
  return status;
}

static void assert_file(const char *path, const char *want)
{
  xp_str content = read_file(path);
  assert_str(content, want);
  free((void *)(uintptr_t)content.ptr);
}

static void a_file_has_its_name_when_it_is_whole(void **state)
{
  (void)state;
  xp_new_file file;
  xp_error err = {0};
  char path[XP_PATH_ROOM];
  assert_int_equal(xp_new_file_open(folder, NULL, &file, &err), XP_OK);
  assert_int_equal(xp_new_file_write(&file, "abc", 3, &err), XP_OK);
  assert_int_equal(access(below("host.xplane.pb"), F_OK), -1);
  assert_int_equal(xp_new_file_write(&file, "def", 3, &err), XP_OK);
  assert_int_equal(xp_new_file_publish(&file, "host", ".xplane.pb", path, &err), XP_OK);
  assert_string_equal(path, below("host.xplane.pb"));
  assert_file(path, "abcdef");
  assert_folder(folder, "host.xplane.pb;");
  xp_new_file_discard(&file); /* published: nothing happens */
  assert_folder(folder, "host.xplane.pb;");
}

static void what_exists_is_not_overwritten(void **state)
{
  (void)state;
  char path[XP_PATH_ROOM];
  write_file(below("host.xplane.pb"), "old", 3);
  assert_int_equal(put_file(folder, "host", "new", path, NULL), XP_OK);
  assert_string_equal(path, below("host_2.xplane.pb"));
  assert_int_equal(put_file(folder, "host", "newer", path, NULL), XP_OK);
  assert_string_equal(path, below("host_3.xplane.pb"));
  assert_file(below("host.xplane.pb"), "old");
  assert_file(below("host_2.xplane.pb"), "new");
}

static void a_path_that_somebody_chose_is_taken_or_refused(void **state)
{
  (void)state;
  xp_new_file file;
  xp_error err = {0};
  char path[XP_PATH_ROOM];
  snprintf(path, sizeof path, "%s", below("page: one.html"));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(xp_new_file_open(folder, path, &file, &err), XP_OK);
    assert_int_equal(xp_new_file_write(&file, i == 0 ? "first" : "second", i == 0 ? 5 : 6, &err), XP_OK);
    assert_int_equal(xp_new_file_publish_chosen(&file, &err), i == 0 ? XP_OK : XP_ERR_IO);
  }
  assert_non_null(strstr(err.text, "exists"));
  assert_file(path, "first");
  assert_folder(folder, "page: one.html;"); /* nothing is left behind */
}

/* What a message names is what the caller knows: the file that he chose, or the directory. */
static void messages_do_not_name_temporary_files(void **state)
{
  (void)state;
  xp_new_file file;
  xp_error err = {0};
  char directory[XP_PATH_ROOM], path[XP_PATH_ROOM], want[2 * XP_PATH_ROOM];
  snprintf(directory, sizeof directory, "%s", below("missing"));
  snprintf(path, sizeof path, "%s", below("missing/page.html"));
  assert_int_equal(xp_new_file_open(directory, path, &file, &err), XP_ERR_IO);
  snprintf(want, sizeof want, "Cannot write %s: No such file or directory", path);
  assert_string_equal(err.text, want);
  assert_int_equal(xp_new_file_open(directory, NULL, &file, &err), XP_ERR_IO);
  snprintf(want, sizeof want, "Cannot write into %s: No such file or directory", directory);
  assert_string_equal(err.text, want);
}

static void a_link_to_nowhere_is_not_overwritten(void **state)
{
  (void)state;
  char path[XP_PATH_ROOM];
  assert_int_equal(symlink("nowhere", below("host.xplane.pb")), 0);
  assert_int_equal(put_file(folder, "host", "new", path, NULL), XP_OK);
  assert_string_equal(path, below("host_2.xplane.pb"));
  assert_int_equal(access(below("nowhere"), F_OK), -1);
}

static void hosts_whose_names_become_equal_do_not_collide(void **state)
{
  (void)state;
  static const char *const hosts[] = {"h:1", "h_1", "h/1", "h\n1"};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(put_file(folder, hosts[i], hosts[i], NULL, NULL), XP_OK);
  }
  assert_folder(folder, "h_1.xplane.pb;h_1_2.xplane.pb;h_1_3.xplane.pb;h_1_4.xplane.pb;");
  assert_file(below("h_1_2.xplane.pb"), "h_1");
}

static void a_long_name_is_not_cut_inside_a_character(void **state)
{
  (void)state;
  char name[256], path[XP_PATH_ROOM];
  memset(name, 'x', sizeof name);
  snprintf(name + 198, sizeof name - 198, "%s", "\xe2\x82\xac\xe2\x82\xac"); /* the euro sign, bytes 198 to 200 */
  assert_int_equal(put_file(folder, name, "a", path, NULL), XP_OK);
  assert_int_equal(strlen(strrchr(path, '/') + 1), 208); /* 198, and .xplane.pb */
  snprintf(name + 197, sizeof name - 197, "%s", "\xe2\x82\xac\xe2\x82\xac");
  assert_int_equal(put_file(folder, name, "b", path, NULL), XP_OK);
  assert_int_equal(strlen(strrchr(path, '/') + 1), 210);
}

static void odd_names_of_hosts_become_names_of_files(void **state)
{
  (void)state;
  static char longest[1000];
  memset(longest, 'x', sizeof longest - 1);
  assert_int_equal(put_file(folder, "", "a", NULL, NULL), XP_OK);
  assert_int_equal(put_file(folder, "..", "b", NULL, NULL), XP_OK);
  assert_int_equal(put_file(folder, "../../up", "c", NULL, NULL), XP_OK);
  assert_folder(folder, "_...xplane.pb;_.._.._up.xplane.pb;_.xplane.pb;");
  char path[XP_PATH_ROOM];
  assert_int_equal(put_file(folder, longest, "d", path, NULL), XP_OK);
  assert_int_equal(strlen(strrchr(path, '/') + 1), 210); /* 200, and .xplane.pb */
}

static void a_discarded_file_leaves_nothing(void **state)
{
  (void)state;
  xp_new_file file;
  assert_int_equal(xp_new_file_open(folder, NULL, &file, NULL), XP_OK);
  assert_int_equal(xp_new_file_write(&file, "abc", 3, NULL), XP_OK);
  xp_new_file_discard(&file);
  xp_new_file_discard(&file);
  assert_folder(folder, "");
}

/* What a program in another container leaves that has the same process id. */
static void temporary_files_of_others_are_no_obstacle(void **state)
{
  (void)state;
  char name[64];
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, ".xlaprof-%ld-%d.tmp", (long)getpid(), i);
    write_file(below(name), "theirs", 6);
  }
  assert_int_equal(put_file(folder, "host", "ours", NULL, NULL), XP_OK);
  assert_file(below("host.xplane.pb"), "ours");
  snprintf(name, sizeof name, ".xlaprof-%ld-99.tmp", (long)getpid());
  assert_file(below(name), "theirs");
}

static void a_directory_that_is_not_there_is_told(void **state)
{
  (void)state;
  xp_error err = {0};
  assert_int_equal(put_file(below("missing"), "host", "x", NULL, &err), XP_ERR_IO);
  assert_contains(err.text, "No such file or directory");
}

enum { WRITERS = 4, EACH = 40 };

static void *publish_many(void *number)
{
  for (int i = 0; i < EACH; i++) {
    char text[32];
    snprintf(text, sizeof text, "%d of %d", i, *(const int *)number);
    if (put_file(folder, "host", text, NULL, NULL) != XP_OK) {
      return number;
    }
  }
  return NULL;
}

static void threads_that_publish_one_name_at_once_lose_nothing(void **state)
{
  (void)state;
  pthread_t threads[WRITERS];
  int numbers[WRITERS];
  for (int i = 0; i < WRITERS; i++) {
    numbers[i] = i;
    assert_int_equal(pthread_create(&threads[i], NULL, publish_many, &numbers[i]), 0);
  }
  for (int i = 0; i < WRITERS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  bool seen[WRITERS][EACH] = {{false}};
  for (int i = 1; i <= WRITERS * EACH; i++) {
    char name[64];
    int writer, text;
    snprintf(name, sizeof name, i == 1 ? "host.xplane.pb" : "host_%d.xplane.pb", i);
    xp_str content = read_file(below(name));
    char copy[32];
    snprintf(copy, sizeof copy, "%.*s", XP_STR_ARG(content));
    assert_int_equal(sscanf(copy, "%d of %d", &text, &writer), 2);
    assert_false(seen[writer][text]);
    seen[writer][text] = true;
    free((void *)(uintptr_t)content.ptr);
  }
}

/* ---- file systems that are poorer; the linker leads the calls here, see tests/CMakeLists.txt */

static int link_errno, rename_errno; /* 0: the call works */

int __real_link(const char *from, const char *to);
int __real_rename(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

int __wrap_link(const char *from, const char *to)
{
  errno = link_errno;
  return link_errno != 0 ? -1 : __real_link(from, to);
}

int __wrap_rename(const char *from, const char *to)
{
  errno = rename_errno;
  return rename_errno != 0 ? -1 : __real_rename(from, to);
}

static void without_links_nothing_is_overwritten_either(void **state)
{
  (void)state;
  static const int codes[] = {EPERM, ENOTSUP, ENOSYS};
  char path[XP_PATH_ROOM];
  write_file(below("host.xplane.pb"), "old", 3);
  for (size_t i = 0; i < 3; i++) {
    link_errno = codes[i];
    assert_int_equal(put_file(folder, "host", "new", path, NULL), XP_OK);
    assert_file(path, "new");
  }
  link_errno = 0;
  assert_file(below("host.xplane.pb"), "old");
  assert_folder(folder, "host.xplane.pb;host_2.xplane.pb;host_3.xplane.pb;host_4.xplane.pb;");
}

static void a_file_that_cannot_get_its_name_leaves_nothing(void **state)
{
  (void)state;
  xp_error err = {0};
  link_errno = EPERM;
  rename_errno = EIO;
  assert_int_equal(put_file(folder, "host", "new", NULL, &err), XP_ERR_IO);
  assert_contains(err.text, "Input/output error");
  link_errno = EDQUOT;
  rename_errno = 0;
  assert_int_equal(put_file(folder, "host", "new", NULL, &err), XP_ERR_IO);
  assert_contains(err.text, "quota");
  link_errno = 0;
  assert_folder(folder, "");
}

/* ---- full disks */

static void a_file_that_is_larger_than_allowed_leaves_nothing(void **state)
{
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    static char block[4096];
    const struct rlimit limit = {10000, 10000};
    xp_new_file file;
    xp_error err = {0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    xp_status status = xp_new_file_open(folder, NULL, &file, &err);
    for (int i = 0; i < 3 && status == XP_OK; i++) {
      status = xp_new_file_write(&file, block, sizeof block, &err);
    }
    xp_new_file_discard(&file);
    _exit(status == XP_ERR_IO && strstr(err.text, "File too large") != NULL ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_folder(folder, "");
}

/* Needs the right to mount. */
static void a_full_disk_leaves_nothing(void **state)
{
  (void)state;
  static char block[1 << 16];
  xp_new_file file;
  xp_error err = {0};
  xp_status status = XP_OK;
  if (mount("none", folder, "tmpfs", 0, "size=256k") != 0) {
    skip();
  }
  assert_int_equal(xp_new_file_open(folder, NULL, &file, &err), XP_OK);
  for (int i = 0; i < 8 && status == XP_OK; i++) {
    status = xp_new_file_write(&file, block, sizeof block, &err);
  }
  assert_int_equal(status, XP_ERR_IO);
  assert_contains(err.text, "No space left on device");
  xp_new_file_discard(&file);
  assert_folder(folder, "");
  assert_int_equal(umount(folder), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      TEST(temporary_files_of_others_are_no_obstacle), /* first: it knows the numbers of temporary files */
      TEST(other_places_than_file_systems_are_refused),
      TEST(a_colon_in_a_local_path_is_no_scheme),
      TEST(an_empty_path_is_refused),
      TEST(the_check_makes_the_directories),
      TEST(a_relative_logdir_gives_an_absolute_path),
      TEST(a_run_without_a_name_is_called_by_the_time),
      TEST(runs_of_one_second_get_numbers),
      TEST(a_named_run_is_used_again),
      TEST(names_that_lead_elsewhere_are_no_runs),
      TEST(a_file_where_a_directory_should_be_is_told),
      TEST(a_path_that_is_too_long_is_told),
      TEST(a_directory_that_cannot_be_written_to_is_told),
      TEST(a_file_has_its_name_when_it_is_whole),
      TEST(what_exists_is_not_overwritten),
      TEST(a_path_that_somebody_chose_is_taken_or_refused),
      TEST(messages_do_not_name_temporary_files),
      TEST(a_link_to_nowhere_is_not_overwritten),
      TEST(hosts_whose_names_become_equal_do_not_collide),
      TEST(a_long_name_is_not_cut_inside_a_character),
      TEST(odd_names_of_hosts_become_names_of_files),
      TEST(a_discarded_file_leaves_nothing),
      TEST(a_directory_that_is_not_there_is_told),
      TEST(threads_that_publish_one_name_at_once_lose_nothing),
      TEST(without_links_nothing_is_overwritten_either),
      TEST(a_file_that_cannot_get_its_name_leaves_nothing),
      TEST(a_file_that_is_larger_than_allowed_leaves_nothing),
      TEST(a_full_disk_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
