/* The capture client against servers that answer in every way a server can: rpc/capture.c, capture_request.c,
 * capture_reply_file.c, capture_metrics.c. */
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "testing.h"

#include "rpc/grpc_server.h"
#include "rpc/messages.h"
#include "xlaprof/capture.h"

/* ---------------------------------------------------------------- a server that answers as it is told */

/* One answer; the last one is given again and again. */
typedef struct {
  xp_grpc_code code;
  const char *text;        /* of an error */
  xp_wire_writer *message; /* of a reply */
} answer;

typedef struct {
  xp_grpc_server *server;
  char target[32], folder[64];
  answer answers[4];
  atomic_uint asked;
  xp_profile_request request; /* the last one */
  xp_arena *arena;
  xp_str request_bytes;
} fixture;

static void answer_profile(void *context, xp_grpc_call *call, xp_str request)
{
  fixture *f = context;
  unsigned number = atomic_fetch_add(&f->asked, 1);
  const answer *a = &f->answers[number < 3 ? number : 3];
  while (a > f->answers && a->message == NULL && a->text == NULL) {
    a--;
  }
  f->request_bytes = xp_arena_copy(f->arena, request);
  xp_profile_request_read(f->request_bytes, f->arena, &f->request, NULL);
  if (a->code == XP_GRPC_OK) {
    xp_grpc_reply_bytes(call, a->message != NULL ? written(a->message) : xp_str_from(NULL, 0));
  } else {
    xp_grpc_fail(call, a->code, a->text);
  }
}

static const xp_grpc_method methods[] = {{XP_RPC_PROFILE, answer_profile}};

static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  xp_grpc_server_options options = {
      .methods = methods, .method_count = 1, .context = f, .max_request_bytes = 1 << 20, .max_connections = 16};
  f->arena = xp_arena_create();
  snprintf(f->folder, sizeof f->folder, "/tmp/xlaprof-test-XXXXXX");
  if (mkdtemp(f->folder) == NULL || xp_grpc_server_start(&options, &f->server, NULL) != XP_OK) {
    return -1;
  }
  snprintf(f->target, sizeof f->target, "127.0.0.1:%u", xp_grpc_server_port(f->server));
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  char command[128];
  xp_grpc_server_stop(f->server);
  snprintf(command, sizeof command, "rm -rf %s", f->folder);
  int status = system(command);
  xp_arena_destroy(f->arena);
  free(f);
  return status;
}

static xp_capture_options quick_options(void)
{
  xp_capture_options options = XP_CAPTURE_OPTIONS_INIT;
  options.duration_ms = 10;
  options.timeout_ms = 0;
  options.interval_ms = 20;
  options.session_id = "a_run";
  return options;
}

/* Captures the server and checks how it ended. */
static xp_capture_result *capture(fixture *f, const xp_capture_options *options, xp_capture_outcome outcome)
{
  const char *targets[] = {f->target};
  xp_capture_result *results;
  xp_error err = {0};
  xp_capture_run(targets, 1, f->folder, options, &results, &err);
  if (results == NULL) {
    fail_msg("%s", err.text);
  }
  if (results->outcome != outcome) {
    fail_msg("outcome %d, not %d: %s", results->outcome, outcome, results->message);
  }
  return results;
}

/* ---------------------------------------------------------------- replies */

static void put_xspace(xp_wire_writer *reply, const char *bytes)
{
  xp_wire_put_bytes(reply, 8, xp_str_c(bytes));
}

static void put_tool(xp_wire_writer *reply, const char *name, const char *data)
{
  xp_wire_writer tool = {0};
  xp_wire_put_bytes(&tool, 1, xp_str_c(name));
  xp_wire_put_bytes(&tool, 2, xp_str_c(data));
  xp_wire_put_message(reply, 6, &tool);
  xp_wire_writer_free(&tool);
}

static void assert_file(const fixture *f, const char *name, const char *content)
{
  char path[512], got[64] = "";
  snprintf(path, sizeof path, "%s/plugins/profile/a_run/%s", f->folder, name);
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    fail_msg("no file %s", path);
  }
  size_t len = fread(got, 1, sizeof got - 1, file);
  fclose(file);
  got[len] = '\0';
  assert_string_equal(got, content);
}

/* "127_0_0_1_4711" for the target, as the files are called. */
static const char *file_of(const fixture *f, const char *suffix)
{
  static char name[128];
  snprintf(name, sizeof name, "%s%s", f->target, suffix);
  name[strcspn(name, ":")] = '_';
  return name;
}

static int files_in(const fixture *f)
{
  char path[512];
  int count = 0;
  snprintf(path, sizeof path, "%s/plugins/profile/a_run", f->folder);
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
  }
  if (folder != NULL) {
    closedir(folder);
  }
  return folder == NULL ? -1 : count;
}

static void a_capture_in_the_reply_is_written_here(void **state)
{
  fixture *f = *state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  put_xspace(&reply, "the capture");
  f->answers[0].message = &reply;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_SAVED);
  assert_int_equal(r->bytes, 11);
  assert_int_equal(r->tries, 1);
  assert_file(f, file_of(f, ".xplane.pb"), "the capture");
  assert_contains(r->path, file_of(f, ".xplane.pb"));
  assert_int_equal(r->path[0], '/');
  assert_int_equal(files_in(f), 1);
  xp_capture_results_free(r, 1);
  xp_wire_writer_free(&reply);
}

static void a_capture_in_pieces_becomes_one_file(void **state)
{
  fixture *f = *state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  put_xspace(&reply, "the ");
  put_xspace(&reply, "capture");
  f->answers[0].message = &reply;
  xp_capture_results_free(capture(f, &options, XP_CAPTURE_SAVED), 1);
  assert_file(f, file_of(f, ".xplane.pb"), "the capture");
  xp_wire_writer_free(&reply);
}

/* As servers with a runtime of their own answer. */
static void data_of_tools_become_files_of_their_names(void **state)
{
  fixture *f = *state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  put_tool(&reply, "overview_page.json", "{}");
  put_tool(&reply, "xplane.pb", "the capture");
  put_tool(&reply, "a_tf_stats_helper_result", "nobody reads it");
  put_tool(&reply, "../../escape", "x");
  f->answers[0].message = &reply;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_SAVED);
  assert_file(f, file_of(f, ".overview_page.json"), "{}");
  assert_file(f, file_of(f, ".xplane.pb"), "the capture");
  assert_int_equal(files_in(f), 3);
  assert_int_equal(r->bytes, 11);
  xp_capture_results_free(r, 1);
  xp_wire_writer_free(&reply);
}

static void nothing_that_exists_is_overwritten(void **state)
{
  fixture *f = *state;
  xp_wire_writer first = {0}, second = {0};
  xp_capture_options options = quick_options();
  put_xspace(&first, "the first");
  put_xspace(&second, "the second");
  f->answers[0].message = &first;
  f->answers[1].message = &second;
  xp_capture_results_free(capture(f, &options, XP_CAPTURE_SAVED), 1);
  xp_capture_results_free(capture(f, &options, XP_CAPTURE_SAVED), 1);
  assert_file(f, file_of(f, ".xplane.pb"), "the first");
  assert_file(f, file_of(f, "_2.xplane.pb"), "the second");
  xp_wire_writer_free(&first);
  xp_wire_writer_free(&second);
}

static void a_reply_without_a_capture_was_saved_by_the_server(void **state)
{
  fixture *f = *state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  f->answers[0].message = &reply;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_SAVED_THERE);
  assert_contains(r->path, "/plugins/profile/a_run/");
  assert_contains(r->message, "on the server's own disk");
  assert_int_equal(files_in(f), -1); /* the run's directory is gone */
  xp_capture_results_free(r, 1);
}

static void an_empty_trace_is_asked_for_again_within_the_round(void **state)
{
  fixture *f = *state;
  xp_wire_writer empty = {0}, reply = {0};
  xp_capture_options options = quick_options();
  xp_wire_put_varint(&empty, 7, 1);
  put_xspace(&reply, "the capture");
  f->answers[0].message = &empty;
  f->answers[1].message = &empty;
  f->answers[2].message = &reply;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_SAVED);
  assert_int_equal(r->tries, 3);
  xp_capture_results_free(r, 1);
  xp_wire_writer_free(&empty);
  xp_wire_writer_free(&reply);
}

static void empty_traces_only_are_told_and_leave_nothing_behind(void **state)
{
  fixture *f = *state;
  xp_wire_writer empty = {0};
  xp_capture_options options = quick_options();
  put_xspace(&empty, "planes without events");
  xp_wire_put_varint(&empty, 7, 1);
  f->answers[0].message = &empty;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_EMPTY);
  assert_int_equal(r->tries, 3);
  assert_int_equal(files_in(f), -1);
  xp_capture_results_free(r, 1);
  xp_wire_writer_free(&empty);
}

/* ---------------------------------------------------------------- errors */

static void a_busy_profiler_is_asked_again_until_it_is_free(void **state)
{
  fixture *f = *state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  put_xspace(&reply, "the capture");
  f->answers[0] = (answer){XP_GRPC_INTERNAL, "Another profiling session active.", NULL};
  f->answers[1].message = &reply;
  options.timeout_ms = 2000;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_SAVED);
  assert_int_equal(r->tries, 2);
  xp_capture_results_free(r, 1);
  xp_wire_writer_free(&reply);
}

static void a_profiler_that_stays_busy_is_told_apart_from_an_error(void **state)
{
  fixture *f = *state;
  xp_capture_options options = quick_options();
  f->answers[0] = (answer){XP_GRPC_INTERNAL, "Another profiling session active. Held by X", NULL};
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_BUSY);
  assert_contains(r->message, "Held by X");
  xp_capture_results_free(r, 1);
}

static void an_error_that_time_does_not_cure_is_not_asked_again(void **state)
{
  fixture *f = *state;
  xp_capture_options options = quick_options();
  f->answers[0] = (answer){XP_GRPC_INTERNAL, "no such tracer", NULL};
  options.timeout_ms = 5000;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_SERVER_ERROR);
  assert_int_equal(r->tries, 1);
  assert_contains(r->message, "INTERNAL: no such tracer");
  xp_capture_results_free(r, 1);
}

static void a_grpc_server_without_the_service_is_no_profiler(void **state)
{
  fixture *f = *state;
  xp_capture_options options = quick_options();
  f->answers[0] = (answer){XP_GRPC_UNIMPLEMENTED, "unknown service", NULL};
  xp_capture_results_free(capture(f, &options, XP_CAPTURE_NO_PROFILER), 1);
}

static void a_damaged_reply_leaves_no_file(void **state)
{
  fixture *f = *state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  put_xspace(&reply, "the capture");
  xp_wire_put_varint(&reply, 7, 0);
  reply.len--; /* the last value is cut off */
  f->answers[0].message = &reply;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_SERVER_ERROR);
  assert_contains(r->message, "damaged");
  assert_int_equal(files_in(f), -1);
  xp_capture_results_free(r, 1);
  xp_wire_writer_free(&reply);
}

/* What came whole before the damage has no use either, and would stand beside the next answer's. */
static void a_reply_that_is_damaged_late_leaves_none_of_its_parts(void **state)
{
  fixture *f = *state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  put_tool(&reply, "xplane.pb", "the capture");
  put_tool(&reply, "overview_page.json", "{}");
  xp_wire_put_varint(&reply, 7, 0);
  reply.len--; /* the last value is cut off */
  f->answers[0].message = &reply;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_SERVER_ERROR);
  assert_int_equal(files_in(f), -1);
  xp_capture_results_free(r, 1);
  xp_wire_writer_free(&reply);
}

static void a_reply_cannot_fill_the_directory_with_files(void **state)
{
  fixture *f = *state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  for (int i = 0; i < 1000; i++) {
    put_tool(&reply, "tool", "x");
  }
  f->answers[0].message = &reply;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_SERVER_ERROR);
  assert_contains(r->message, "damaged: it has more than 256 parts");
  assert_int_equal(files_in(f), -1);
  xp_capture_results_free(r, 1);
  xp_wire_writer_free(&reply);
}

static void nobody_listens_is_told_and_asked_again(void **state)
{
  fixture *f = *state;
  xp_capture_options options = quick_options();
  snprintf(f->target, sizeof f->target, "127.0.0.1:1");
  options.timeout_ms = 100;
  xp_capture_result *r = capture(f, &options, XP_CAPTURE_NO_LISTENER);
  assert_in_range(r->tries, 3, 7);
  xp_capture_results_free(r, 1);
}

static void a_directory_that_cannot_be_written_is_told_before_anybody_is_asked(void **state)
{
  fixture *f = *state;
  const char *targets[] = {f->target};
  xp_capture_options options = quick_options();
  xp_capture_result *results;
  xp_error err;
  assert_int_equal(xp_capture_run(targets, 1, "/proc/nowhere", &options, &results, &err), XP_ERR_IO);
  assert_null(results);
  assert_contains(err.text, "/proc/nowhere");
  assert_int_equal(atomic_load(&f->asked), 0);
}

/* ---------------------------------------------------------------- what is asked for */

static void the_request_says_what_the_options_say(void **state)
{
  fixture *f = *state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  const char *advanced[] = {"tpu_trace_mode", "TRACE_COMPUTE", "tpu_num", "4", "tpu_flag", "true", NULL};
  options.advanced = advanced;
  options.host_tracer_level = 0;
  options.device_tracer_level = 0;
  options.python_tracer_level = 1;
  f->answers[0].message = &reply;
  xp_capture_results_free(capture(f, &options, XP_CAPTURE_SAVED_THERE), 1);
  const xp_profile_request *q = &f->request;
  assert_int_equal(q->duration_ms, 10);
  assert_int_equal(q->options.duration_ms, 10);
  assert_int_equal(q->options.version, 1);
  assert_int_equal(q->options.host_tracer_level, 0);
  assert_int_equal(q->options.device_tracer_level, 0);
  assert_int_equal(q->options.python_tracer_level, 1);
  assert_int_equal(q->options.start_timestamp_ns, 0);
  assert_true(q->emit_xspace);
  assert_str(q->session_id, "a_run");
  assert_str_contains(q->repository_root, "/plugins/profile");
  assert_int_equal(q->options.advanced_count, 3);
  const xp_advanced_option *mode = xp_profile_options_advanced(&q->options, "tpu_trace_mode");
  const xp_advanced_option *num = xp_profile_options_advanced(&q->options, "tpu_num");
  const xp_advanced_option *flag = xp_profile_options_advanced(&q->options, "tpu_flag");
  assert_int_equal(mode->type, XP_ADVANCED_STR);
  assert_str(mode->text, "TRACE_COMPUTE");
  assert_int_equal(num->type, XP_ADVANCED_INT);
  assert_int_equal(num->number, 4);
  assert_int_equal(flag->type, XP_ADVANCED_BOOL);
  assert_int_equal(flag->number, 1);
}

static void several_programs_begin_together_and_are_one_run(void **state)
{
  fixture *f = *state, *second;
  void *second_state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  xp_capture_result *results;
  xp_error err;
  assert_int_equal(set_up(&second_state), 0);
  second = second_state;
  put_xspace(&reply, "the capture");
  f->answers[0].message = &reply;
  second->answers[0].message = &reply;
  const char *targets[] = {f->target, second->target};
  assert_int_equal(xp_capture_run(targets, 2, f->folder, &options, &results, &err), XP_OK);
  assert_int_equal(files_in(f), 2);
  assert_int_equal(f->request.options.start_timestamp_ns, second->request.options.start_timestamp_ns);
  assert_true(f->request.options.start_timestamp_ns > 0);
  xp_capture_results_free(results, 2);
  xp_wire_writer_free(&reply);
  assert_int_equal(tear_down(&second_state), 0);
}

static void one_program_that_fails_does_not_stop_the_others(void **state)
{
  fixture *f = *state;
  xp_wire_writer reply = {0};
  xp_capture_options options = quick_options();
  xp_capture_result *results;
  xp_error err;
  put_xspace(&reply, "the capture");
  f->answers[0].message = &reply;
  const char *targets[] = {"127.0.0.1:1", f->target};
  assert_int_equal(xp_capture_run(targets, 2, f->folder, &options, &results, &err), XP_ERR_CONNECT);
  assert_int_equal(results[0].outcome, XP_CAPTURE_NO_LISTENER);
  assert_int_equal(results[1].outcome, XP_CAPTURE_SAVED);
  xp_capture_results_free(results, 2);
  xp_wire_writer_free(&reply);
}

static void hear(void *context, const char *message)
{
  char *heard = context;
  snprintf(heard, 512, "%s", message);
}

static void somebody_is_told_why_and_for_how_long_it_goes_on(void **state)
{
  fixture *f = *state;
  xp_capture_options options = quick_options();
  char heard[512] = "";
  f->answers[0] = (answer){XP_GRPC_UNAVAILABLE, "compiling", NULL};
  options.timeout_ms = 60;
  options.tell = hear;
  options.tell_context = heard;
  xp_capture_results_free(capture(f, &options, XP_CAPTURE_SERVER_ERROR), 1);
  assert_contains(heard, "UNAVAILABLE: compiling. Asking again in 0.0 s, for another 0 s");
}

static void a_capture_that_is_given_up_ends_at_once(void **state)
{
  fixture *f = *state;
  xp_capture_options options = quick_options();
  volatile int cancel = 1;
  f->answers[0] = (answer){XP_GRPC_UNAVAILABLE, "compiling", NULL};
  options.timeout_ms = 60000;
  options.cancel = &cancel;
  xp_capture_results_free(capture(f, &options, XP_CAPTURE_CANCELLED), 1);
}

static void wrong_arguments_are_refused(void **state)
{
  fixture *f = *state;
  xp_capture_options options = quick_options();
  xp_capture_result *results;
  const char *good[] = {f->target}, *bad[] = {"no port"};
  assert_int_equal(xp_capture_run(bad, 1, f->folder, &options, &results, NULL), XP_ERR_USAGE);
  assert_int_equal(xp_capture_run(good, 0, f->folder, &options, &results, NULL), XP_ERR_USAGE);
  assert_int_equal(xp_capture_run(good, 1, "s3://bucket", &options, &results, NULL), XP_ERR_USAGE);
  options.duration_ms = 0;
  assert_int_equal(xp_capture_run(good, 1, f->folder, &options, &results, NULL), XP_ERR_USAGE);
  options = quick_options();
  options.size = 8;
  assert_int_equal(xp_capture_run(good, 1, f->folder, &options, &results, NULL), XP_ERR_USAGE);
  options = quick_options();
  options.session_id = "a/b";
  assert_int_equal(xp_capture_run(good, 1, f->folder, &options, &results, NULL), XP_ERR_USAGE);
  assert_null(results);
}

static void a_server_without_metrics_is_explained(void **state)
{
  fixture *f = *state;
  char *text = NULL;
  xp_error err;
  assert_int_equal(xp_capture_metrics(f->target, 2000, &text, &err), XP_ERR_PEER);
  assert_contains(err.text, "UNIMPLEMENTED");
  assert_null(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(a_capture_in_the_reply_is_written_here),
      TEST(a_capture_in_pieces_becomes_one_file),
      TEST(data_of_tools_become_files_of_their_names),
      TEST(nothing_that_exists_is_overwritten),
      TEST(a_reply_without_a_capture_was_saved_by_the_server),
      TEST(an_empty_trace_is_asked_for_again_within_the_round),
      TEST(empty_traces_only_are_told_and_leave_nothing_behind),
      TEST(a_busy_profiler_is_asked_again_until_it_is_free),
      TEST(a_profiler_that_stays_busy_is_told_apart_from_an_error),
      TEST(an_error_that_time_does_not_cure_is_not_asked_again),
      TEST(a_grpc_server_without_the_service_is_no_profiler),
      TEST(a_damaged_reply_leaves_no_file),
      TEST(a_reply_that_is_damaged_late_leaves_none_of_its_parts),
      TEST(a_reply_cannot_fill_the_directory_with_files),
      TEST(nobody_listens_is_told_and_asked_again),
      TEST(a_directory_that_cannot_be_written_is_told_before_anybody_is_asked),
      TEST(the_request_says_what_the_options_say),
      TEST(several_programs_begin_together_and_are_one_run),
      TEST(one_program_that_fails_does_not_stop_the_others),
      TEST(somebody_is_told_why_and_for_how_long_it_goes_on),
      TEST(a_capture_that_is_given_up_ends_at_once),
      TEST(wrong_arguments_are_refused),
      TEST(a_server_without_metrics_is_explained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
