/* Writing a profile: names, progress, trace.json.gz, and what is left when it fails. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

#include "folders.h"
#include "ropes.h"
#include "session/run_files.h"
#include "xlaprof/annotate.h"
#include "xlaprof/session.h"

static char folder[256];

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

/* A profile of so many events. */
static xp_profile *record(int64_t count)
{
  xp_profile *profile;
  assert_int_equal(xp_session_start(NULL, NULL), XP_OK);
  for (int64_t i = 0; i < count; i++) {
    XP_REGION("event", XP_INT("i", i)) {
    }
  }
  assert_int_equal(xp_session_stop(&profile, NULL), XP_OK);
  return profile;
}

static xp_export_options options_of(const char *run, const char *host, bool write_trace_json)
{
  xp_export_options options = XP_EXPORT_OPTIONS_INIT;
  options.run = run;
  options.host = host;
  options.write_trace_json = write_trace_json;
  return options;
}

static const char *run_path(const char *name)
{
  static char path[600];
  snprintf(path, sizeof path, "%s/plugins/profile/%s", folder, name);
  return path;
}

/* Exports and waits; the path of the capture. */
static const char *export_it(xp_profile *profile, const xp_export_options *options)
{
  static char path[600];
  xp_export *handle;
  xp_error err;
  if (xp_profile_export(profile, folder, options, &handle, &err) != XP_OK ||
      xp_export_wait(handle, path, sizeof path, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return path;
}

static void the_file_holds_the_profile(void **state)
{
  (void)state;
  xp_profile *profile = record(100);
  uint64_t bytes = xp_profile_bytes(profile);
  const xp_export_options options = options_of("run", "h", false);
  const char *path = export_it(profile, &options);
  assert_string_equal(path, run_path("run/h.xplane.pb"));
  assert_folder(run_path("run"), "h.xplane.pb;");
  xp_str content = read_file(path);
  assert_int_equal(content.len, bytes);
  free((void *)(uintptr_t)content.ptr);
  xp_capture *capture = load_path(path);
  assert_int_equal(capture->events, 100);
  xp_capture_free(capture);
}

static void without_options_files_are_called_after_the_machine_and_the_time(void **state)
{
  (void)state;
  char host[256] = "", want[600];
  gethostname(host, sizeof host - 1);
  const char *path = export_it(record(1), NULL);
  snprintf(want, sizeof want, "/%s.xplane.pb", host);
  assert_string_equal(strrchr(path, '/'), want);
  snprintf(want, sizeof want, "%.*s", (int)(strrchr(path, '/') - path), path);
  char both[600];
  snprintf(both, sizeof both, "%s.trace.json.gz;%s.xplane.pb;", host, host);
  assert_folder(want, both);
}

static void both_files_of_a_second_host_of_one_name_get_a_number(void **state)
{
  (void)state;
  const xp_export_options options = options_of("run", "h:80", true);
  export_it(record(1), &options);
  export_it(record(2), &options);
  assert_folder(run_path("run"), "h_80.trace.json.gz;h_80.xplane.pb;h_80_2.trace.json.gz;h_80_2.xplane.pb;");
  xp_capture *capture = load_path(run_path("run/h_80.xplane.pb"));
  assert_int_equal(capture->events, 1);
  xp_capture_free(capture);
}

static void exports_of_one_second_get_runs_of_their_own(void **state)
{
  (void)state;
  char first[600];
  const xp_export_options options = options_of(NULL, "h", false);
  snprintf(first, sizeof first, "%s", export_it(record(1), &options));
  assert_string_not_equal(first, export_it(record(1), &options));
}

static void progress_ends_at_the_size(void **state)
{
  (void)state;
  xp_profile *profile = record(200000); /* several chunks */
  uint64_t bytes = xp_profile_bytes(profile), done = 0, total = 0, before = 0;
  const xp_export_options options = options_of("run", "h", false);
  xp_export *handle;
  assert_true(bytes > 2 << 20);
  assert_int_equal(xp_profile_export(profile, folder, &options, &handle, NULL), XP_OK);
  while (done < bytes) {
    xp_export_progress(handle, &done, &total);
    assert_true(done >= before);
    assert_true(done == 0 || total == bytes);
    before = done;
    usleep(200);
  }
  assert_int_equal(done, bytes);
  assert_int_equal(xp_export_wait(handle, NULL, 0, NULL), XP_OK);
}

static void a_path_longer_than_its_room_is_cut(void **state)
{
  (void)state;
  char path[8];
  xp_export *handle;
  const xp_export_options options = options_of("run", "h", false);
  assert_int_equal(xp_profile_export(record(1), folder, &options, &handle, NULL), XP_OK);
  assert_int_equal(xp_export_wait(handle, path, sizeof path, NULL), XP_OK);
  assert_int_equal(strlen(path), 7);
  assert_memory_equal(path, folder, 7);
}

static void saving_can_go_on_in_the_background(void **state)
{
  (void)state;
  xp_export *handle;
  char path[600];
  xp_session_options session = XP_SESSION_OPTIONS_INIT;
  session.logdir = folder;
  assert_int_equal(xp_session_start(&session, NULL), XP_OK);
  const xp_export_options options = options_of("run", "h", true);
  assert_int_equal(xp_session_save(&options, &handle, NULL), XP_OK);
  assert_int_equal(xp_session_start(&session, NULL), XP_OK); /* at once */
  assert_int_equal(xp_export_wait(handle, path, sizeof path, NULL), XP_OK);
  assert_string_equal(path, run_path("run/h.xplane.pb"));
  assert_int_equal(xp_session_save(&options, NULL, NULL), XP_OK);
  assert_folder(run_path("run"), "h.trace.json.gz;h.xplane.pb;h_2.trace.json.gz;h_2.xplane.pb;");
}

static void places_that_are_no_directories_are_refused_at_once(void **state)
{
  (void)state;
  xp_export *handle;
  xp_error err = {0};
  assert_int_equal(xp_profile_export(record(1), "gs://bucket", NULL, &handle, &err), XP_ERR_USAGE);
  const xp_export_options options = options_of("a/b", "h", true);
  assert_int_equal(xp_profile_export(record(1), folder, &options, &handle, &err), XP_ERR_USAGE);
}

static size_t count_events(const char *path)
{
  static char text[1 << 20];
  gzFile packed = gzopen(path, "rb");
  assert_non_null(packed);
  int len = gzread(packed, text, sizeof text - 1);
  assert_int_equal(gzclose(packed), Z_OK);
  assert_true(len >= 0);
  text[len] = '\0';
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, "\"ph\": \"X\"")) != NULL; at++) {
    count++;
  }
  return count;
}

static void the_number_of_events_in_the_trace_can_be_chosen(void **state)
{
  (void)state;
  const xp_export_options options = options_of("run", "h", true);
  assert_int_equal(setenv("TF_PROFILER_TRACE_VIEWER_MAX_EVENTS", "70", 1), 0);
  export_it(record(100), &options);
  assert_int_equal(setenv("TF_PROFILER_TRACE_VIEWER_MAX_EVENTS", "some", 1), 0);
  export_it(record(100), &options);
  assert_int_equal(unsetenv("TF_PROFILER_TRACE_VIEWER_MAX_EVENTS"), 0);
  assert_int_equal(count_events(run_path("run/h.trace.json.gz")), 70);
  assert_int_equal(count_events(run_path("run/h_2.trace.json.gz")), 100);
}

/* ---- failing.  The limit is that of a child, whose SIGXFSZ would end it. */

static int child_exports_more_than_allowed(uint64_t limit, const char *text)
{
  const struct rlimit most = {limit, limit};
  xp_profile *profile = record(3000);
  xp_export *handle;
  xp_error err = {0};
  char path[600];
  const xp_export_options options = options_of(NULL, "h", true);
  signal(SIGXFSZ, SIG_DFL);
  if (setrlimit(RLIMIT_FSIZE, &most) != 0 || xp_profile_export(profile, folder, &options, &handle, &err) != XP_OK) {
    return 1;
  }
  bool is_right = xp_export_wait(handle, path, sizeof path, &err) == XP_ERR_IO && strstr(err.text, text) != NULL;
  is_right = is_right && xp_session_start(NULL, NULL) == XP_OK && xp_session_stop(&profile, NULL) == XP_OK;
  return is_right ? 0 : 2;
}

static void assert_limited_export(uint64_t limit, const char *text)
{
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    _exit(child_exports_more_than_allowed(limit, text));
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void a_capture_that_finds_no_room_leaves_nothing_and_its_program_alive(void **state)
{
  (void)state;
  assert_limited_export(10000, "File too large");
  assert_folder(run_path(""), ""); /* not even the run */
}

static void a_trace_that_finds_no_name_leaves_the_capture(void **state)
{
  (void)state;
  char name[64], path[XP_PATH_ROOM];
  const xp_export_options options = options_of("run", "h", true);
  xp_export *handle;
  xp_error err = {0};
  assert_int_equal(xp_logdir_run_make(folder, "run", path, NULL), XP_OK);
  write_file(run_path("run/h.trace.json.gz"), "", 0);
  for (int i = 2; i <= 1000; i++) {
    snprintf(name, sizeof name, "run/h_%d.trace.json.gz", i);
    write_file(run_path(name), "", 0);
  }
  assert_int_equal(xp_profile_export(record(3), folder, &options, &handle, NULL), XP_OK);
  assert_int_equal(xp_export_wait(handle, path, sizeof path, &err), XP_ERR_IO);
  assert_contains(err.text, "Too many files of one name");
  xp_capture *capture = load_path(path);
  assert_int_equal(capture->events, 3);
  xp_capture_free(capture);
}

static void the_mask_of_signals_is_as_before_an_export(void **state)
{
  (void)state;
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  const xp_export_options options = options_of("run", "h", false);
  export_it(record(1), &options);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  for (int s = 1; s < 32; s++) {
    assert_int_equal(sigismember(&before, s), sigismember(&after, s));
  }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      TEST(the_file_holds_the_profile),
      TEST(without_options_files_are_called_after_the_machine_and_the_time),
      TEST(both_files_of_a_second_host_of_one_name_get_a_number),
      TEST(exports_of_one_second_get_runs_of_their_own),
      TEST(progress_ends_at_the_size),
      TEST(a_path_longer_than_its_room_is_cut),
      TEST(saving_can_go_on_in_the_background),
      TEST(places_that_are_no_directories_are_refused_at_once),
      TEST(the_number_of_events_in_the_trace_can_be_chosen),
      TEST(a_capture_that_finds_no_room_leaves_nothing_and_its_program_alive),
      TEST(a_trace_that_finds_no_name_leaves_the_capture),
      TEST(the_mask_of_signals_is_as_before_an_export),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
