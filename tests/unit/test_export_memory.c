/* Sessions that start, stop and are written while memory runs out: nothing crashes, nothing half written has a name,
 * and the next session is as good as any. */
#include "failing_links.h"

#include "folders.h"
#include "xlaprof/annotate.h"
#include "xlaprof/session.h"

static char folder[256], run[512];
static int saved, in_vain;

static void empty_run(void)
{
  DIR *dir = opendir(run);
  char path[800];
  for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      assert_int_not_equal(entry->d_name[0], '.'); /* no temporary file is left */
      snprintf(path, sizeof path, "%s/%s", run, entry->d_name);
      assert_int_equal(unlink(path), 0);
    }
  }
  if (dir != NULL) {
    closedir(dir);
  }
}

/* What has the name of the capture is whole: it has the event, or says why it has not. */
static void check_capture(void)
{
  char path[600];
  int failing = first_to_fail;
  first_to_fail = 0;
  snprintf(path, sizeof path, "%s/h.xplane.pb", run);
  xp_capture *capture = load_path(path);
  assert_false(capture->partial);
  bool tells_why = capture->hosts[0].message_count > 0;
  assert_true(capture->events == 1 || tells_why);
  xp_capture_free(capture);
  first_to_fail = failing;
}

static void record_and_save(void)
{
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  xp_export_options export_options = XP_EXPORT_OPTIONS_INIT;
  xp_error err = {0};
  const char *const advanced[] = {"key", "value", NULL};
  options.logdir = folder;
  options.buffer_limit_bytes = 1 << 20;
  options.advanced = advanced;
  export_options.run = "run";
  export_options.host = "h";
  xp_status status = xp_session_start(&options, &err);
  if (status == XP_OK) {
    XP_REGION("event") {
    }
    status = xp_session_save(&export_options, NULL, &err);
  }
  assert_false(xp_session_is_running());
  assert_true(status == XP_OK || status == XP_ERR_MEMORY || strstr(err.text, "Cannot allocate memory") != NULL);
  if (status == XP_OK) {
    check_capture();
  }
  saved += status == XP_OK;
  in_vain += status != XP_OK;
  empty_run();
}

static void sessions_survive_any_failing_allocation(void **state)
{
  (void)state;
  folder_make(folder);
  snprintf(run, sizeof run, "%s/plugins/profile/run", folder);
  record_and_save(); /* what the first use allocates for good */
  assert_int_equal(saved, 1);
  fail_each(record_and_save);
  assert_true(saved > 6 && in_vain > 20);
  folder_remove(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(sessions_survive_any_failing_allocation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
