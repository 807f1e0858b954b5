/* One session a process: who may start and stop it, what it collects with the real recorder, and how it is written. */
#define _GNU_SOURCE
#include "session/session.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "fake_plugins.h"
#include "folders.h"
#include "ropes.h"
#include "xlaprof/annotate.h"

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
  assert_false(xp_session_is_running());
  folder_remove(folder);
  return 0;
}

static void start_with(const xp_session_options *options)
{
  xp_error err;
  if (xp_session_start(options, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
}

static xp_session_options options_with_logdir(void)
{
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.logdir = folder;
  return options;
}

static void start(void)
{
  const xp_session_options options = options_with_logdir();
  start_with(&options);
}

static xp_profile *stop(void)
{
  xp_profile *profile;
  xp_error err;
  if (xp_session_stop(&profile, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return profile;
}

static xp_capture *load_profile(xp_profile *profile, xp_str *bytes)
{
  const xp_rope *space = xp_profile_space(profile, NULL);
  assert_non_null(space);
  return load_rope(space, bytes);
}

/* Saves into run "run" as host "h"; the capture. */
static xp_capture *save_and_load(void)
{
  xp_export_options options = XP_EXPORT_OPTIONS_INIT;
  xp_error err;
  char path[512];
  options.run = "run";
  options.host = "h";
  if (xp_session_save(&options, NULL, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  snprintf(path, sizeof path, "%s/plugins/profile/run/h.xplane.pb", folder);
  return load_path(path);
}

/* ---- who may start and stop */

static void a_second_start_is_told_who_holds_the_session_since_when(void **state)
{
  (void)state;
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.holder = "the test";
  options.expected_ns = 60000000000;
  start_with(&options);
  xp_error err = {0};
  int hour, minute, second;
  double left;
  assert_int_equal(xp_session_start(NULL, &err), XP_ERR_BUSY);
  assert_contains(err.text, "Profile has already been started. Only one profile may be run at a time. ");
  const char *holder = strstr(err.text, "Held by the test since ");
  assert_non_null(holder);
  assert_int_equal(
      sscanf(holder, "Held by the test since %2d:%2d:%2d, for another %lf s", &hour, &minute, &second, &left), 4);
  assert_true(left > 30 && left <= 60);
  assert_true(xp_session_is_running());
  xp_profile_free(stop());
  assert_false(xp_session_is_running());
}

static void a_session_of_unknown_length_tells_no_time_that_is_left(void **state)
{
  (void)state;
  xp_error err = {0};
  start_with(NULL);
  assert_int_equal(xp_session_start(NULL, &err), XP_ERR_BUSY);
  assert_contains(err.text, "Held by an in-process session since ");
  assert_null(strstr(err.text, "another"));
  xp_profile_free(stop());
}

static void a_session_over_its_time_is_collecting(void **state)
{
  (void)state;
  xp_error err = {0};
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.expected_ns = 1;
  start_with(&options);
  assert_int_equal(xp_session_start(NULL, &err), XP_ERR_BUSY);
  assert_contains(err.text, "it is collecting now");
  xp_profile_free(stop());
}

static void nothing_can_be_stopped_that_was_not_started(void **state)
{
  (void)state;
  xp_profile *profile;
  xp_error err = {0};
  assert_int_equal(xp_session_stop(&profile, &err), XP_ERR_IDLE);
  assert_string_equal(err.text, "No profile started");
  assert_int_equal(xp_session_save(NULL, NULL, &err), XP_ERR_IDLE);
  assert_string_equal(err.text, "No profile started");
}

static void a_session_of_the_server_is_not_stopped_by_the_program(void **state)
{
  (void)state;
  xp_session *session;
  xp_profile *profile;
  xp_error err = {0};
  char text[256];
  assert_int_equal(xp_session_claim("the server", 0, &session, &err), XP_OK);
  assert_true(xp_session_is_running());
  assert_int_equal(xp_session_stop(&profile, &err), XP_ERR_IDLE);
  assert_contains(err.text, "No profile started. Held by the server since ");
  assert_int_equal(xp_session_save(NULL, NULL, &err), XP_ERR_IDLE);
  xp_session_describe_holder(text, sizeof text);
  assert_contains(text, "Held by the server since ");
  xp_session_discard(session);
  xp_session_describe_holder(text, sizeof text);
  assert_string_equal(text, "");
}

static void a_discarded_session_leaves_the_next_one_clean(void **state)
{
  (void)state;
  xp_session *session;
  const xp_profile_options options = xp_profile_options_default();
  const xp_session_buffers buffers = {XP_KEEP_OLDEST, 16 << 20};
  assert_int_equal(xp_session_claim("the server", 0, &session, NULL), XP_OK);
  assert_int_equal(xp_session_begin(session, &options, &buffers, NULL), XP_OK);
  XP_REGION("thrown away") {
  }
  xp_session_discard(session);
  assert_false(xp_session_is_running());
  start();
  xp_profile *profile = stop();
  assert_true(xp_profile_is_empty(profile));
  xp_profile_free(profile);
}

static void a_session_that_never_began_cannot_end(void **state)
{
  (void)state;
  xp_session *session;
  xp_profile *profile;
  assert_int_equal(xp_session_claim("the server", 0, &session, NULL), XP_OK);
  assert_int_equal(xp_session_end(session, &profile, NULL), XP_ERR_IDLE);
  assert_false(xp_session_is_running());
}

static void options_of_another_size_are_refused(void **state)
{
  (void)state;
  xp_error err = {0};
  xp_session_options options = {0};
  assert_int_equal(xp_session_start(&options, &err), XP_ERR_USAGE);
  assert_contains(err.text, "XP_SESSION_OPTIONS_INIT");
  xp_export_options export_options = {0};
  xp_export *handle;
  start();
  assert_int_equal(xp_profile_export(stop(), folder, &export_options, &handle, &err), XP_ERR_USAGE);
  assert_contains(err.text, "XP_EXPORT_OPTIONS_INIT");
}

static void a_start_that_is_refused_leaves_no_session(void **state)
{
  (void)state;
  xp_error err = {0};
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.logdir = "s3://bucket/logs";
  assert_int_equal(xp_session_start(&options, &err), XP_ERR_USAGE);
  assert_contains(err.text, "s3://bucket/logs");
  const char *const odd[] = {"key", NULL};
  options = options_with_logdir();
  options.advanced = odd;
  assert_int_equal(xp_session_start(&options, &err), XP_ERR_USAGE);
  assert_contains(err.text, "\"key\" has no value");
  options.advanced = NULL;
  options.buffer_limit_bytes = UINT64_MAX / 2;
  assert_int_not_equal(xp_session_start(&options, &err), XP_OK);
  assert_false(xp_session_is_running());
  start();
  xp_profile_free(stop());
}

static void saving_without_a_logdir_is_refused_and_the_session_goes_on(void **state)
{
  (void)state;
  xp_error err = {0};
  start_with(NULL);
  assert_int_equal(xp_session_save(NULL, NULL, &err), XP_ERR_USAGE);
  assert_contains(err.text, "without a logdir");
  assert_true(xp_session_is_running());
  xp_profile_free(stop());
}

static void a_session_can_start_after_an_export_that_failed(void **state)
{
  (void)state;
  xp_error err = {0};
  char profile_dir[300];
  start();
  snprintf(profile_dir, sizeof profile_dir, "%s/plugins/profile", folder);
  assert_int_equal(rmdir(profile_dir), 0);
  write_file(profile_dir, "in the way", 10);
  assert_int_equal(xp_session_save(NULL, NULL, &err), XP_ERR_IO);
  assert_false(xp_session_is_running());
  assert_int_equal(unlink(profile_dir), 0);
  start();
  xp_capture_free(save_and_load());
}

static void *start_in_thread(void *wins)
{
  xp_error err;
  xp_status status = xp_session_start(NULL, &err);
  if (status == XP_OK) {
    __atomic_add_fetch((int *)wins, 1, __ATOMIC_RELAXED);
  } else if (status != XP_ERR_BUSY) {
    return wins;
  }
  return NULL;
}

static void of_two_threads_that_start_exactly_one_wins(void **state)
{
  (void)state;
  for (int i = 0; i < 30; i++) {
    pthread_t threads[2];
    int wins = 0;
    for (int k = 0; k < 2; k++) {
      assert_int_equal(pthread_create(&threads[k], NULL, start_in_thread, &wins), 0);
    }
    for (int k = 0; k < 2; k++) {
      void *failed;
      pthread_join(threads[k], &failed);
      assert_null(failed);
    }
    assert_int_equal(wins, 1);
    xp_profile_free(stop());
  }
}

static void sessions_follow_each_other_fifty_times(void **state)
{
  (void)state;
  for (int i = 0; i < 50; i++) {
    start();
    XP_REGION("cycle") {
    }
    xp_str bytes;
    xp_profile *profile = stop();
    xp_capture *capture = load_profile(profile, &bytes);
    assert_int_equal(capture->events, 1);
    xp_capture_free(capture);
    free((void *)(uintptr_t)bytes.ptr);
    xp_profile_free(profile);
  }
}

/* ---- fork */

static int run_in_child(int (*task)(void))
{
  pid_t child = fork();
  if (child == 0) {
    _exit(task());
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static int child_has_no_session(void)
{
  xp_profile *profile;
  xp_error err;
  return !xp_session_is_running() && xp_session_stop(&profile, &err) == XP_ERR_IDLE ? 0 : 1;
}

/* The thread sanitizer cannot follow a thread that begins in a child with the number of one of the parent's. */
#if defined(__SANITIZE_THREAD__)
enum { CHILD_CAN_START = 0 };
#else
enum { CHILD_CAN_START = 1 };
#endif

static int child_records_its_own(void)
{
  xp_profile *profile;
  if (child_has_no_session() != 0) {
    return 1;
  }
  if (!CHILD_CAN_START) {
    return 0;
  }
  if (xp_session_start(NULL, NULL) != XP_OK) {
    return 1;
  }
  XP_REGION("of the child") {
  }
  if (xp_session_stop(&profile, NULL) != XP_OK || xp_profile_is_empty(profile)) {
    return 2;
  }
  xp_profile_free(profile);
  return 0;
}

/* As programs end; the address sanitizer looks for what was lost then. */
static void a_child_that_ends_normally_has_lost_no_memory(void **state)
{
  (void)state;
  start();
  pid_t child = fork();
  if (child == 0) {
    exit(child_has_no_session());
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  xp_capture_free(save_and_load());
}

static void a_child_has_no_session_and_can_start_its_own(void **state)
{
  (void)state;
  skip_if_emulated("cannot start threads in a child of a program that has some");
  start();
  XP_REGION("of the parent") {
  }
  assert_int_equal(run_in_child(child_records_its_own), 0);
  assert_true(xp_session_is_running());
  xp_capture *capture = save_and_load();
  assert_int_equal(capture->events, 1);
  xp_capture_free(capture);
}

static void *cycle_until_told(void *end)
{
  while (!__atomic_load_n((int *)end, __ATOMIC_ACQUIRE)) {
    xp_profile *profile = NULL;
    assert_int_equal(xp_session_start(NULL, NULL), XP_OK);
    assert_int_equal(xp_session_stop(&profile, NULL), XP_OK);
    xp_profile_free(profile);
  }
  return NULL;
}

/* Who forks while another thread starts and stops must not wait forever, nor must the child. */
static void forks_while_another_thread_starts_and_stops_sessions_come_through(void **state)
{
  (void)state;
  skip_if_emulated("has locks of its own, which a child may find taken");
  int end = 0;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, cycle_until_told, &end), 0);
  for (int i = 0; i < 40; i++) {
    assert_int_equal(run_in_child(child_has_no_session), 0);
  }
  __atomic_store_n(&end, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
}

/* ---- what is recorded */

static void what_was_recorded_comes_back_from_the_file(void **state)
{
  (void)state;
  start();
  XP_STEP("train", 7) {
    XP_TRACE("load", XP_INT("batch", 3), XP_TEXT("kind", "image")) {
    }
  }
  char name[] = "made up";
  xp_trace copied = xp_trace_begin_copy(name, strlen(name), NULL, 0);
  memset(name, '?', strlen(name));
  assert_int_equal(xp_trace_end(copied, NULL), XP_OK);
  xp_trace open = xp_trace_begin("open");
  xp_capture *capture = save_and_load();
  assert_int_equal(xp_trace_end(open, NULL), XP_OK);
  assert_true(capture->has_session);
  const xp_plane *host = plane_of(capture, "/host:CPU");
  assert_int_equal(host->line_count, 1);
  const xp_line *line = &host->lines[0];
  assert_int_equal(line->id, gettid());
  static const char *const names[] = {"train", "load", "made up", "open"};
  assert_int_equal(line->count, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_str(xp_event_name(line, i), names[i]);
  }
  xp_event_cursor cursor = xp_event_cursor_open(line);
  assert_int_equal(stat_of(xp_event_stats(&cursor, 0), "_r").bits, 1);
  assert_int_equal(stat_of(xp_event_stats(&cursor, 0), "step_num").bits, 7);
  assert_int_equal(stat_of(xp_event_stats(&cursor, 1), "batch").bits, 3);
  assert_str(stat_of(xp_event_stats(&cursor, 1), "kind").text, "image");
  assert_int_equal(stat_of(xp_event_stats(&cursor, 3), "unfinished").bits, 1);
  assert_true(line->start_ps[0] >= 0 && line->start_ps[1] >= line->start_ps[0]);
  assert_true(xp_event_end(line, 0) >= xp_event_end(line, 1));
  assert_true(xp_event_end(line, 3) <= capture->dur_ps);
  xp_capture_free(capture);
}

enum { RECORDERS = 3 };

static void *record_until_told(void *end)
{
  for (int64_t i = 0; !__atomic_load_n((int *)end, __ATOMIC_ACQUIRE); i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", (int)(i % 7));
    xp_trace trace = xp_trace_begin_copy(name, strlen(name), NULL, 0);
    xp_trace_add(trace, xp_arg_int("i", i));
    if (xp_trace_end(trace, NULL) != XP_OK) {
      return end;
    }
  }
  return NULL;
}

/* Every event has a name of those above, and one argument; the numbers of a thread rise by one. */
static void check_recorded(const xp_capture *capture)
{
  const xp_plane *host = plane_of(capture, "/host:CPU");
  for (size_t l = 0; l < host->line_count; l++) {
    const xp_line *line = &host->lines[l];
    assert_true(line->sorted_in_file);
    xp_event_cursor cursor = xp_event_cursor_open(line);
    for (size_t i = 0, last = line->count - 1; i < line->count; i++) {
      xp_stat number;
      if (!find_stat(xp_event_stats(&cursor, i), "i", &number)) {
        assert_true(i == 0 || i == last); /* cut by the start or the stop */
        continue;
      }
      char name[16];
      snprintf(name, sizeof name, "n%d", (int)(number.bits % 7));
      assert_str(xp_event_name(line, i), name);
    }
  }
}

static void a_profile_does_not_change_while_threads_go_on_recording(void **state)
{
  (void)state;
  int end = 0;
  pthread_t threads[RECORDERS];
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.buffer_limit_bytes = 8 << 20;
  for (int i = 0; i < RECORDERS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, record_until_told, &end), 0);
  }
  for (int i = 0; i < 6; i++) {
    xp_str first, again;
    start_with(&options);
    usleep(3000);
    xp_profile *profile = stop();
    xp_capture *capture = load_profile(profile, &first);
    again = read_rope(xp_profile_space(profile, NULL), 1 << 16);
    assert_int_equal(again.len, first.len);
    assert_memory_equal(again.ptr, first.ptr, first.len);
    check_recorded(capture);
    xp_capture_free(capture);
    free((void *)(uintptr_t)first.ptr);
    free((void *)(uintptr_t)again.ptr);
    xp_profile_free(profile);
  }
  __atomic_store_n(&end, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < RECORDERS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
}

static void level_zero_records_nothing_of_the_host(void **state)
{
  (void)state;
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.host_tracer_level = 0;
  start_with(&options);
  XP_REGION("unseen") {
  }
  xp_profile *profile = stop();
  assert_true(xp_profile_is_empty(profile));
  assert_int_equal(xp_profile_dropped(profile), 0);
  xp_profile_free(profile);
}

/* Records until a megabyte is full; the number of each event is an argument. */
static xp_profile *overflow(xp_keep keep, int64_t count)
{
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.keep = keep;
  options.buffer_limit_bytes = 1 << 20;
  start_with(&options);
  for (int64_t i = 0; i < count; i++) {
    XP_REGION("e", XP_INT("i", i)) {
    }
  }
  return stop();
}

static void full_buffers_keep_the_oldest_or_the_newest_and_count_the_rest(void **state)
{
  (void)state;
  enum { COUNT = 100000 };
  for (int keep = XP_KEEP_OLDEST; keep <= XP_KEEP_NEWEST; keep++) {
    xp_str bytes;
    xp_profile *profile = overflow((xp_keep)keep, COUNT);
    xp_capture *capture = load_profile(profile, &bytes);
    const xp_line *line = &plane_of(capture, "/host:CPU")->lines[0];
    assert_in_range(line->count, 1, COUNT - 1);
    assert_int_equal(xp_profile_dropped(profile) + line->count, COUNT);
    xp_event_cursor cursor = xp_event_cursor_open(line);
    uint64_t first = stat_of(xp_event_stats(&cursor, 0), "i").bits;
    assert_int_equal(first, keep == XP_KEEP_OLDEST ? 0 : COUNT - line->count);
    xp_stat dropped = stat_of(xp_plane_stats(line->plane), "dropped_events");
    assert_int_equal(dropped.bits, xp_profile_dropped(profile));
    assert_int_equal(capture->hosts[0].message_count, 1);
    assert_str_contains(capture->hosts[0].messages[0], "events were dropped");
    xp_capture_free(capture);
    free((void *)(uintptr_t)bytes.ptr);
    xp_profile_free(profile);
  }
}

static void programs_that_ran_are_in_the_capture_unless_nobody_wants_them(void **state)
{
  (void)state;
  xp_session_options options = options_with_logdir();
  assert_int_equal(xp_session_add_program("before", 1, "p1", 2, NULL), XP_OK);
  start_with(&options);
  assert_int_equal(xp_session_add_program("during", 2, "p2", 2, NULL), XP_OK);
  xp_session_drop_program(1);
  xp_session_drop_program(2);
  xp_capture *capture = save_and_load();
  const xp_plane *metadata = plane_of(capture, "/host:metadata");
  assert_int_equal(metadata->event_meta_count, 3);
  assert_str(metadata->event_meta[1].name, "before(1)");
  assert_str(metadata->event_meta[2].name, "during(2)");
  xp_capture_free(capture);

  assert_int_equal(xp_session_add_program("m", 3, "p", 1, NULL), XP_OK);
  options.enable_hlo_proto = false;
  start_with(&options);
  xp_profile *profile = stop();
  assert_int_equal(profile->programs.count, 0);
  xp_profile_free(profile);
  xp_session_drop_program(3);
}

/* ---- plugins; last, since they stay */

static fake_plugin good, bad;

static void plugins_are_started_stopped_collected_and_ended(void **state)
{
  (void)state;
  xp_error err = {0};
  xp_wire_writer space = {0}, line = {0};
  xp_wire_put_varint(&line, 3, 5);
  put_event(&line, 1, 10, 20);
  put_plane(&space, "/device:X:0", &line);
  good.capture = written(&space);
  bad.has_no_profiler = true;
  assert_int_equal(xp_session_add_plugin(&bad, &err), XP_ERR_NOT_FOUND);
  bad.has_no_profiler = false;
  assert_int_equal(xp_session_add_plugin(&good, &err), XP_OK);
  assert_int_equal(xp_session_add_plugin(&good, &err), XP_OK); /* no effect */
  const char *const advanced[] = {"tpu_trace_mode", "x", "flag", "true", "number", "-12", NULL};
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.device_tracer_level = 0;
  options.python_tracer_level = 3;
  options.advanced = advanced;
  start_with(&options);
  assert_string_equal(good.calls, "start ");
  xp_profile *profile = stop();
  assert_string_equal(good.calls, "start stop collect ");
  xp_str bytes;
  xp_capture *capture = load_profile(profile, &bytes);
  assert_events(&plane_of(capture, "/device:X:0")->lines[0], " 5010 20;");
  /* The options that the plugin was told are those in the capture; 0 is not written. */
  xp_str told = stat_of(xp_plane_stats(plane_of(capture, "Task Environment")), "profile_options").text;
  assert_int_equal(told.len, good.options_len);
  assert_memory_equal(told.ptr, good.options, told.len);
  static const char want[] = "\x08\x01\x10\x02\x20\x03\x28\x01\x38\x01"        /* fields 1, 2, 4, 5, 7 */
                             "\x62\x15\x0a\x0etpu_trace_mode\x12\x03\x0a\x01x" /* 12: a text */
                             "\x62\x0a\x0a\x04"
                             "flag\x12\x02\x10\x01"                                                        /* a bool */
                             "\x62\x15\x0a\x06number\x12\x0b\x18\xf4\xff\xff\xff\xff\xff\xff\xff\xff\x01"; /* -12 */
  assert_int_equal(told.len, sizeof want - 1);
  assert_memory_equal(told.ptr, want, sizeof want - 1);
  xp_capture_free(capture);
  free((void *)(uintptr_t)bytes.ptr);
  xp_profile_free(profile);
  assert_string_equal(good.calls, "start stop collect free ");
  assert_int_equal(good.live, 0);
  good.capture = xp_str_c("");
  xp_wire_writer_free(&space);
  xp_wire_writer_free(&line);
}

/* Runs a session with the bad plugin; its calls, and what the capture tells. */
static void assert_bad_plugin(const char *calls, const char *message)
{
  xp_str bytes;
  good.calls[0] = bad.calls[0] = '\0';
  start_with(NULL);
  xp_profile *profile = stop();
  xp_capture *capture = load_profile(profile, &bytes);
  assert_int_equal(capture->hosts[0].message_count, message != NULL);
  if (message != NULL) {
    assert_str(capture->hosts[0].messages[0], message);
  }
  xp_capture_free(capture);
  free((void *)(uintptr_t)bytes.ptr);
  xp_profile_free(profile);
  assert_string_equal(bad.calls, calls);
  assert_string_equal(good.calls, "start stop collect free ");
  assert_int_equal(bad.live, 0);
}

static void what_a_plugin_cannot_do_is_told_in_the_capture(void **state)
{
  (void)state;
  assert_int_equal(xp_session_add_plugin(&bad, NULL), XP_OK);
  assert_bad_plugin("start stop collect free ", NULL);
  bad.start_fails = true;
  assert_bad_plugin("start ", "the plugin could not start");
  bad.start_fails = false;
  bad.stop_fails = true;
  assert_bad_plugin("start stop free ", "the plugin could not stop");
  bad.stop_fails = false;
  bad.collect_fails = true;
  assert_bad_plugin("start stop collect free ", "the plugin could not collect");
  bad.collect_fails = false;
}

static void a_plugin_that_fails_fails_the_start_if_that_is_wanted(void **state)
{
  (void)state;
  xp_session *session;
  xp_error err = {0};
  xp_profile_options options = xp_profile_options_default();
  const xp_session_buffers buffers = {XP_KEEP_OLDEST, 1 << 20};
  options.raise_error_on_start_failure = true;
  good.calls[0] = '\0';
  bad.start_fails = true;
  assert_int_equal(xp_session_claim("the server", 0, &session, NULL), XP_OK);
  assert_int_equal(xp_session_begin(session, &options, &buffers, &err), XP_ERR_PEER);
  assert_string_equal(err.text, "the plugin could not start");
  xp_session_discard(session);
  bad.start_fails = false;
  assert_string_equal(good.calls, "start stop collect free ");
  assert_false(xp_session_is_running());
}

static int child_leaves_plugins_alone(void)
{
  xp_profile *profile = NULL;
  good.calls[0] = '\0';
  bool is_right = xp_session_start(NULL, NULL) == XP_OK && xp_session_stop(&profile, NULL) == XP_OK;
  is_right = is_right && good.calls[0] == '\0';
  xp_profile_free(profile);
  is_right = is_right && xp_session_add_plugin(&good, NULL) == XP_OK && xp_session_start(NULL, NULL) == XP_OK;
  is_right = is_right && strcmp(good.calls, "start ") == 0;
  return is_right ? 0 : 1;
}

static void a_child_has_no_plugins_until_it_adds_them(void **state)
{
  (void)state;
  assert_int_equal(run_in_child(child_leaves_plugins_alone), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      TEST(a_second_start_is_told_who_holds_the_session_since_when),
      TEST(a_session_of_unknown_length_tells_no_time_that_is_left),
      TEST(a_session_over_its_time_is_collecting),
      TEST(nothing_can_be_stopped_that_was_not_started),
      TEST(a_session_of_the_server_is_not_stopped_by_the_program),
      TEST(a_discarded_session_leaves_the_next_one_clean),
      TEST(a_session_that_never_began_cannot_end),
      TEST(options_of_another_size_are_refused),
      TEST(a_start_that_is_refused_leaves_no_session),
      TEST(saving_without_a_logdir_is_refused_and_the_session_goes_on),
      TEST(a_session_can_start_after_an_export_that_failed),
      TEST(of_two_threads_that_start_exactly_one_wins),
      TEST(sessions_follow_each_other_fifty_times),
      TEST(a_child_that_ends_normally_has_lost_no_memory),
      TEST(a_child_has_no_session_and_can_start_its_own),
      TEST(forks_while_another_thread_starts_and_stops_sessions_come_through),
      TEST(what_was_recorded_comes_back_from_the_file),
      TEST(a_profile_does_not_change_while_threads_go_on_recording),
      TEST(level_zero_records_nothing_of_the_host),
      TEST(full_buffers_keep_the_oldest_or_the_newest_and_count_the_rest),
      TEST(programs_that_ran_are_in_the_capture_unless_nobody_wants_them),
      TEST(plugins_are_started_stopped_collected_and_ended),
      TEST(what_a_plugin_cannot_do_is_told_in_the_capture),
      TEST(a_plugin_that_fails_fails_the_start_if_that_is_wanted),
      TEST(a_child_has_no_plugins_until_it_adds_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
