/* The profiler service of a running process, asked over the loopback interface: rpc/profiler_server.c, profile_call.c,
 * profile_answer.c. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testing.h"

#include "rpc/grpc_client.h"
#include "rpc/messages.h"
#include "rpc/profile_reply.h"
#include "xlaprof/xlaprof.h"
#include "xspace/xspace.h"

enum { SECOND_NS = 1000000000 };

/* ---------------------------------------------------------------- a server, and calls to it */

typedef struct {
  xp_server *server;
  uint16_t port;
  char folder[64];
} fixture;

static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  xp_server_options options = XP_SERVER_OPTIONS_INIT;
  xp_error err;
  snprintf(f->folder, sizeof f->folder, "/tmp/xlaprof-test-XXXXXX");
  if (mkdtemp(f->folder) == NULL || xp_server_start(&options, &f->server, &err) != XP_OK) {
    return -1;
  }
  f->port = xp_server_port(f->server);
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  char command[128];
  xp_server_stop(f->server);
  snprintf(command, sizeof command, "rm -rf %s", f->folder);
  int status = system(command);
  free(f);
  return status;
}

/* What a call gave. */
typedef struct {
  xp_grpc_answer answer;
  xp_wire_writer message;
} result;

static bool collect(void *context, uint64_t total, xp_str bytes)
{
  result *r = context;
  (void)total;
  xp_wire_writer piece = {.data = (uint8_t *)(uintptr_t)bytes.ptr, .len = bytes.len};
  xp_wire_put_raw(&r->message, &piece);
  return true;
}

static void call_until(uint16_t port, const char *path, xp_str request, uint64_t timeout_ns, const volatile int *cancel,
                       result *r)
{
  xp_grpc_request q = {.target = {.host = "127.0.0.1", .port = port},
                       .path = path,
                       .request = request,
                       .connect_timeout_ns = (uint64_t)5 * SECOND_NS,
                       .timeout_ns = timeout_ns,
                       .max_reply_bytes = UINT32_MAX,
                       .sink = collect,
                       .context = r,
                       .cancel = cancel};
  memset(r, 0, sizeof *r);
  xp_grpc_unary(&q, &r->answer);
}

static void call(uint16_t port, const char *path, xp_str request, result *r)
{
  call_until(port, path, request, (uint64_t)20 * SECOND_NS, NULL, r);
}

static xp_profile_request profile_request(uint64_t duration_ms)
{
  xp_profile_request request = {.has_options = true, .emit_xspace = true, .options = xp_profile_options_default()};
  request.options.duration_ms = duration_ms;
  request.session_id = xp_str_c("a_session");
  return request;
}

static void profile(uint16_t port, const xp_profile_request *request, result *r)
{
  xp_wire_writer w = {0};
  xp_profile_request_put(&w, request);
  call(port, XP_RPC_PROFILE, written(&w), r);
  xp_wire_writer_free(&w);
}

static void assert_status(const result *r, xp_grpc_code code, const char *text)
{
  assert_int_equal(r->answer.end, XP_GRPC_END_STATUS);
  if (strstr(r->answer.message, text) == NULL) {
    fail_msg("\"%s\" lacks \"%s\"", r->answer.message, text);
  }
  assert_int_equal(r->answer.code, code);
}

/* ---------------------------------------------------------------- something to profile, and clients in threads */

enum { WORK_MS = 250 }; /* so long that the thread gets a processor on a busy machine, too */

static atomic_int stops_working;

static void *work(void *context)
{
  (void)context;
  for (int i = 0; !stops_working; i++) {
    XP_STEP("test_step", i) {
      struct timespec nap = {0, 1000000};
      nanosleep(&nap, NULL);
    }
  }
  return NULL;
}

static pthread_t start_working(void)
{
  pthread_t thread;
  stops_working = 0;
  assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
  return thread;
}

static void stop_working(pthread_t thread)
{
  stops_working = 1;
  pthread_join(thread, NULL);
}

typedef struct {
  uint16_t port;
  xp_profile_request request;
  result result;
  volatile int cancel;
} client;

static void *ask(void *context)
{
  client *c = context;
  xp_wire_writer w = {0};
  xp_profile_request_put(&w, &c->request);
  call_until(c->port, XP_RPC_PROFILE, written(&w), (uint64_t)20 * SECOND_NS, &c->cancel, &c->result);
  xp_wire_writer_free(&w);
  return NULL;
}

static void nap_ms(long ms)
{
  struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

/* Waits up to two seconds for the session to be held, or free. */
static bool session_becomes(bool held)
{
  for (int i = 0; i < 200 && xp_session_is_running() != held; i++) {
    nap_ms(10);
  }
  return xp_session_is_running() == held;
}

static pthread_t start_client(client *c, uint16_t port, uint64_t duration_ms)
{
  pthread_t thread;
  memset(c, 0, sizeof *c);
  c->port = port;
  c->request = profile_request(duration_ms);
  assert_int_equal(pthread_create(&thread, NULL, ask, c), 0);
  assert_true(session_becomes(true));
  return thread;
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---------------------------------------------------------------- the capture as the reply */

/* Field 8 of a ProfileResponse. */
static xp_str xspace_of(const result *r)
{
  xp_wire_field f;
  xp_str xspace = {0};
  for (xp_wire_reader reader = xp_wire_open(written(&r->message)); xp_wire_next(&reader, &f);) {
    xspace = f.number == 8 && f.type == XP_WIRE_BYTES ? f.bytes : xspace;
  }
  return xspace;
}

static bool is_empty_trace(const result *r)
{
  xp_wire_field f;
  for (xp_wire_reader reader = xp_wire_open(written(&r->message)); xp_wire_next(&reader, &f);) {
    if (f.number == 7 && f.type == XP_WIRE_VARINT && f.value != 0) {
      return true;
    }
  }
  return false;
}

static size_t count_events(const xp_capture *capture, const char *name)
{
  size_t count = 0;
  for (size_t p = 0; p < capture->hosts[0].plane_count; p++) {
    const xp_plane *plane = &capture->hosts[0].planes[p];
    for (size_t l = 0; l < plane->line_count; l++) {
      for (size_t i = 0; i < plane->lines[l].count; i++) {
        count += xp_str_is(xp_event_name(&plane->lines[l], i), name);
      }
    }
  }
  return count;
}

static void the_reply_holds_what_the_program_did_while_it_was_traced(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(WORK_MS);
  xp_load_options load = {0};
  xp_capture *capture;
  xp_error err;
  result r;
  pthread_t worker = start_working();
  profile(f->port, &request, &r);
  stop_working(worker);
  assert_status(&r, XP_GRPC_OK, "");
  assert_false(is_empty_trace(&r));
  assert_int_equal(xp_capture_load_memory(xspace_of(&r), "reply", &load, &capture, &err), XP_OK);
  assert_true(capture->has_session);
  uint64_t most = (uint64_t)(capture->dur_ps / 1000000000) + 2; /* a step takes a millisecond and more; two are cut */
  assert_in_range(count_events(capture, "test_step"), 20, most);
  assert_in_range(capture->dur_ps, INT64_C(100000000000), INT64_C(1000000000000));
  xp_capture_free(capture);
  xp_wire_writer_free(&r.message);
}

static void a_program_that_did_nothing_gives_an_empty_trace(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(20);
  result r;
  profile(f->port, &request, &r);
  assert_status(&r, XP_GRPC_OK, "");
  assert_true(is_empty_trace(&r));
  xp_wire_writer_free(&r.message);
}

/* Version 0 marks a sender that knows no options: the session takes the defaults, the wait the duration that was sent.
 */
static void options_of_version_0_are_replaced_by_the_defaults(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(WORK_MS);
  result r;
  request.options.version = 0;
  request.options.host_tracer_level = 0;
  pthread_t worker = start_working();
  profile(f->port, &request, &r);
  stop_working(worker);
  assert_status(&r, XP_GRPC_OK, "");
  assert_false(is_empty_trace(&r));
  xp_wire_writer_free(&r.message);
}

static void host_level_0_records_nothing_of_the_host(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(WORK_MS);
  result r;
  request.options.host_tracer_level = 0;
  pthread_t worker = start_working();
  profile(f->port, &request, &r);
  stop_working(worker);
  assert_status(&r, XP_GRPC_OK, "");
  assert_true(is_empty_trace(&r));
  xp_wire_writer_free(&r.message);
}

static void collecting_begins_at_the_start_timestamp(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(10);
  struct timespec now;
  result r;
  clock_gettime(CLOCK_REALTIME, &now);
  request.options.start_timestamp_ns = (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec + SECOND_NS / 2;
  double begin = seconds();
  profile(f->port, &request, &r);
  assert_status(&r, XP_GRPC_OK, "");
  assert_true(seconds() - begin >= 0.5);
  xp_wire_writer_free(&r.message);
}

/* ---------------------------------------------------------------- one session at a time */

static void a_second_client_is_told_who_holds_the_profiler_and_for_how_long(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(10);
  client first;
  result r;
  pthread_t thread = start_client(&first, f->port, 600);
  profile(f->port, &request, &r);
  assert_status(&r, XP_GRPC_INTERNAL, "Another profiling session active. Held by a remote capture since ");
  assert_non_null(strstr(r.answer.message, ", for another 0."));
  xp_wire_writer_free(&r.message);
  pthread_join(thread, NULL);
  assert_status(&first.result, XP_GRPC_OK, "");
  xp_wire_writer_free(&first.result.message);
}

static void a_session_of_the_program_itself_makes_the_server_busy(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(10);
  xp_profile *own;
  xp_error err;
  result r;
  assert_int_equal(xp_session_start(NULL, &err), XP_OK);
  profile(f->port, &request, &r);
  assert_status(&r, XP_GRPC_INTERNAL, "Another profiling session active. Held by an in-process session since ");
  assert_int_equal(xp_session_stop(&own, &err), XP_OK);
  xp_profile_free(own);
  xp_wire_writer_free(&r.message);
}

static void the_program_cannot_start_or_stop_a_session_of_a_remote_client(void **state)
{
  fixture *f = *state;
  xp_profile *none;
  client first;
  xp_error err;
  pthread_t thread = start_client(&first, f->port, 400);
  assert_int_equal(xp_session_start(NULL, &err), XP_ERR_BUSY);
  assert_non_null(strstr(err.text, "Profile has already been started. Only one profile may be run at a time."));
  assert_int_equal(xp_session_stop(&none, &err), XP_ERR_IDLE);
  assert_non_null(strstr(err.text, "No profile started"));
  pthread_join(thread, NULL);
  assert_status(&first.result, XP_GRPC_OK, "");
  xp_wire_writer_free(&first.result.message);
}

static void a_client_that_goes_away_frees_the_session_at_once(void **state)
{
  fixture *f = *state;
  client first;
  pthread_t thread = start_client(&first, f->port, 60000);
  __atomic_store_n(&first.cancel, 1, __ATOMIC_RELAXED);
  assert_true(session_becomes(false));
  pthread_join(thread, NULL);
  assert_int_equal(first.result.answer.end, XP_GRPC_END_CANCELLED);
  xp_wire_writer_free(&first.result.message);
}

/* The session is still being stopped when the second call comes. */
/* ---------------------------------------------------------------- clients that read slowly */

/* A client that stops in the middle of its reply. */
typedef struct {
  uint16_t port;
  atomic_bool has_begun, may_go_on;
  result result;
} slow_client;

static bool wait_in_the_middle(void *context, uint64_t total, xp_str bytes)
{
  slow_client *c = context;
  (void)total;
  (void)bytes;
  atomic_store(&c->has_begun, true);
  while (!atomic_load(&c->may_go_on)) {
    nap_ms(5);
  }
  return true;
}

static void *read_slowly(void *context)
{
  slow_client *c = context;
  xp_profile_request request = profile_request(10);
  xp_wire_writer w = {0};
  xp_profile_request_put(&w, &request);
  xp_grpc_request q = {.target = {.host = "127.0.0.1", .port = c->port},
                       .path = XP_RPC_PROFILE,
                       .request = written(&w),
                       .timeout_ns = (uint64_t)60 * SECOND_NS,
                       .max_reply_bytes = UINT32_MAX,
                       .sink = wait_in_the_middle,
                       .context = c};
  xp_grpc_unary(&q, &c->result.answer);
  xp_wire_writer_free(&w);
  return NULL;
}

static pthread_t start_slow_client(slow_client *c, uint16_t port)
{
  pthread_t thread;
  memset(c, 0, sizeof *c);
  c->port = port;
  assert_int_equal(pthread_create(&thread, NULL, read_slowly, c), 0);
  for (int i = 0; i < 2000 && !atomic_load(&c->has_begun); i++) {
    nap_ms(5);
  }
  assert_true(atomic_load(&c->has_begun));
  return thread;
}

static void slow_clients_cannot_fill_the_memory_with_captures(void **state)
{
  enum { SLOW = 4, LARGE = 64 << 20 };
  fixture *f = *state;
  slow_client slow[SLOW];
  pthread_t threads[SLOW], worker = start_working();
  void *proto = calloc(1, LARGE); /* more than the connection's buffers take */
  xp_profile_request request = profile_request(WORK_MS);
  result r;
  assert_non_null(proto);
  assert_int_equal(xp_session_add_program("large", 1, proto, LARGE, NULL), XP_OK);
  free(proto);
  for (int i = 0; i < SLOW; i++) {
    threads[i] = start_slow_client(&slow[i], f->port);
  }
  profile(f->port, &request, &r);
  assert_status(
      &r, XP_GRPC_INTERNAL,
      "Another profiling session active. Its capture is still being sent, and so are 3 others, to clients that "
      "read slowly");
  for (int i = 0; i < SLOW; i++) {
    atomic_store(&slow[i].may_go_on, true);
    pthread_join(threads[i], NULL);
    assert_status(&slow[i].result, XP_GRPC_OK, "");
  }
  xp_session_drop_program(1);
  profile(f->port, &request, &r);
  assert_status(&r, XP_GRPC_OK, "");
  xp_wire_writer_free(&r.message);
  stop_working(worker);
}

static void a_call_straight_after_a_cancelled_one_is_not_refused(void **state)
{
  fixture *f = *state;
  for (int i = 0; i < 10; i++) {
    client first;
    result second;
    xp_profile_request request = profile_request(1);
    pthread_t thread = start_client(&first, f->port, 60000);
    nap_ms(20);
    __atomic_store_n(&first.cancel, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    profile(f->port, &request, &second);
    assert_status(&second, XP_GRPC_OK, "");
    xp_wire_writer_free(&first.result.message);
    xp_wire_writer_free(&second.message);
  }
}

static void a_deadline_that_passes_frees_the_session(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(60000);
  xp_wire_writer w = {0};
  result r;
  xp_profile_request_put(&w, &request);
  call_until(f->port, XP_RPC_PROFILE, written(&w), SECOND_NS / 5, NULL, &r);
  assert_int_not_equal(r.answer.code, XP_GRPC_OK);
  assert_true(session_becomes(false));
  xp_wire_writer_free(&w);
  xp_wire_writer_free(&r.message);
}

static void terminate_ends_the_collecting_of_its_session_early(void **state)
{
  fixture *f = *state;
  xp_wire_writer w = {0};
  client first;
  result r;
  pthread_t worker = start_working();
  pthread_t thread = start_client(&first, f->port, 60000);
  nap_ms(50);
  xp_terminate_request_put(&w, xp_str_c("another_session"));
  call(f->port, XP_RPC_TERMINATE, written(&w), &r);
  assert_status(&r, XP_GRPC_OK, "");
  assert_true(xp_session_is_running());
  w.len = 0;
  xp_terminate_request_put(&w, xp_str_c("a_session"));
  call(f->port, XP_RPC_TERMINATE, written(&w), &r);
  pthread_join(thread, NULL);
  stop_working(worker);
  assert_status(&first.result, XP_GRPC_OK, "");
  assert_false(is_empty_trace(&first.result));
  xp_wire_writer_free(&w);
  xp_wire_writer_free(&first.result.message);
}

static void stopping_the_server_ends_a_call_and_frees_the_session(void **state)
{
  xp_server_options options = XP_SERVER_OPTIONS_INIT;
  xp_server *server;
  xp_error err;
  client first;
  (void)state;
  assert_int_equal(xp_server_start(&options, &server, &err), XP_OK);
  pthread_t thread = start_client(&first, xp_server_port(server), 60000);
  double begin = seconds();
  xp_server_stop(server);
  assert_true(seconds() - begin < 3);
  assert_false(xp_session_is_running());
  pthread_join(thread, NULL);
  assert_int_not_equal(first.result.answer.code, XP_GRPC_OK);
  xp_wire_writer_free(&first.result.message);
}

/* ---------------------------------------------------------------- the capture saved by the server */

static void a_capture_is_saved_where_upstreams_clients_ask_for_it(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(WORK_MS);
  char path[256];
  struct stat file;
  result r;
  request.emit_xspace = false;
  request.repository_root = xp_str_c(f->folder);
  request.host_name = xp_str_c("some.host:9012");
  pthread_t worker = start_working();
  profile(f->port, &request, &r);
  stop_working(worker);
  assert_status(&r, XP_GRPC_OK, "");
  assert_int_equal(r.message.len, 0); /* the reply of upstream: every field has its default */
  snprintf(path, sizeof path, "%s/a_session/some.host_9012.xplane.pb", f->folder);
  assert_int_equal(stat(path, &file), 0);
  assert_true(file.st_size > 0);
}

static void an_empty_capture_is_not_saved(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(20);
  char path[256];
  struct stat file;
  result r;
  request.emit_xspace = false;
  request.repository_root = xp_str_c(f->folder);
  profile(f->port, &request, &r);
  assert_status(&r, XP_GRPC_OK, "");
  assert_true(is_empty_trace(&r));
  snprintf(path, sizeof path, "%s/a_session", f->folder);
  assert_int_not_equal(stat(path, &file), 0);
  xp_wire_writer_free(&r.message);
}

static void a_place_that_cannot_be_written_is_an_error(void **state)
{
  fixture *f = *state;
  static const char *const roots[] = {"", "/proc/nowhere", "gs://bucket/logs"};
  static const char *const texts[] = {"repository_root", "/proc/nowhere", "gs://bucket/logs"};
  for (size_t i = 0; i < 3; i++) {
    xp_profile_request request = profile_request(WORK_MS);
    result r;
    request.emit_xspace = false;
    request.repository_root = xp_str_c(roots[i]);
    pthread_t worker = start_working();
    profile(f->port, &request, &r);
    stop_working(worker);
    assert_status(&r, XP_GRPC_INTERNAL, texts[i]);
    xp_wire_writer_free(&r.message);
  }
}

static void a_run_cannot_leave_the_directory(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(WORK_MS);
  result r;
  request.emit_xspace = false;
  request.repository_root = xp_str_c(f->folder);
  request.session_id = xp_str_c("../outside");
  pthread_t worker = start_working();
  profile(f->port, &request, &r);
  stop_working(worker);
  assert_status(&r, XP_GRPC_INTERNAL, "cannot be the name of a run");
  xp_wire_writer_free(&r.message);
}

static void a_name_with_a_nul_is_not_cut_there(void **state)
{
  fixture *f = *state;
  xp_profile_request request = profile_request(WORK_MS);
  result r;
  request.emit_xspace = false;
  request.repository_root = xp_str_c(f->folder);
  request.session_id = xp_str_from("run\0two", 7);
  pthread_t worker = start_working();
  profile(f->port, &request, &r);
  stop_working(worker);
  assert_status(&r, XP_GRPC_INTERNAL, "has a NUL in it");
  xp_wire_writer_free(&r.message);
}

/* ---------------------------------------------------------------- the other calls */

static void monitor_answers_with_the_metrics_report(void **state)
{
  fixture *f = *state;
  xp_str text;
  xp_error err;
  result r;
  xp_counter_add(xp_counter_get("TestCounter"), 3);
  call(f->port, XP_RPC_MONITOR, xp_str_c(""), &r);
  assert_status(&r, XP_GRPC_OK, "");
  assert_int_equal(xp_monitor_response_read(written(&r.message), &text, &err), XP_OK);
  assert_true(xp_str_find_text(text, "Counter: TestCounter\n  Value: 3\n") < text.len);
  xp_wire_writer_free(&r.message);
}

static void continuous_profiling_is_unimplemented(void **state)
{
  fixture *f = *state;
  static const char *const paths[] = {XP_RPC_START_CONTINUOUS, XP_RPC_STOP_CONTINUOUS, XP_RPC_GET_SNAPSHOT,
                                      "/tensorflow.ProfileAnalysis/NewSession"};
  for (size_t i = 0; i < 4; i++) {
    result r;
    call(f->port, paths[i], xp_str_c(""), &r);
    assert_status(&r, XP_GRPC_UNIMPLEMENTED, "");
  }
}

static void a_damaged_request_is_an_invalid_argument(void **state)
{
  fixture *f = *state;
  static const char *const paths[] = {XP_RPC_PROFILE, XP_RPC_TERMINATE, XP_RPC_MONITOR};
  for (size_t i = 0; i < 3; i++) {
    result r;
    call(f->port, paths[i], xp_str_from("\x0a\x7f", 2), &r);
    assert_status(&r, XP_GRPC_INVALID_ARGUMENT, "");
  }
  assert_false(xp_session_is_running());
}

/* ---------------------------------------------------------------- the server's life */

static void a_port_that_is_taken_is_an_error_that_names_it(void **state)
{
  fixture *f = *state;
  xp_server_options options = XP_SERVER_OPTIONS_INIT;
  xp_server *server;
  char port[16];
  xp_error err;
  options.port = f->port;
  assert_int_equal(xp_server_start(&options, &server, &err), XP_ERR_IO);
  snprintf(port, sizeof port, "%u", f->port);
  assert_non_null(strstr(err.text, port));
}

static void the_port_file_holds_the_port(void **state)
{
  fixture *f = *state;
  xp_server_options options = XP_SERVER_OPTIONS_INIT;
  xp_server *server;
  char path[128];
  unsigned port = 0;
  xp_error err;
  snprintf(path, sizeof path, "%s/port", f->folder);
  options.port_file = path;
  assert_int_equal(xp_server_start(&options, &server, &err), XP_OK);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%u", &port), 1);
  fclose(file);
  assert_int_equal(port, xp_server_port(server));
  xp_server_stop(server);
}

static void a_port_file_that_cannot_be_written_starts_no_server(void **state)
{
  xp_server_options options = XP_SERVER_OPTIONS_INIT;
  xp_server *server = NULL;
  xp_error err;
  (void)state;
  options.port_file = "/proc/nowhere/port";
  assert_int_equal(xp_server_start(&options, &server, &err), XP_ERR_IO);
  assert_non_null(strstr(err.text, "/proc/nowhere/port"));
}

static void nobody_answers_when_the_server_is_stopped(void **state)
{
  xp_server_options options = XP_SERVER_OPTIONS_INIT;
  xp_server *server;
  xp_error err;
  result r;
  (void)state;
  assert_int_equal(xp_server_start(&options, &server, &err), XP_OK);
  uint16_t port = xp_server_port(server);
  xp_server_stop(server);
  call(port, XP_RPC_MONITOR, xp_str_c(""), &r);
  assert_int_equal(r.answer.end, XP_GRPC_END_NO_LISTENER);
}

static void a_child_has_neither_session_nor_server(void **state)
{
  fixture *f = *state;
  client first;
  result r;
  pthread_t thread = start_client(&first, f->port, 300);
  pid_t child = fork();
  if (child == 0) {
    bool has_none = !xp_session_is_running();
    xp_server_stop(f->server);
    _exit(has_none ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  pthread_join(thread, NULL);
  assert_status(&first.result, XP_GRPC_OK, "");
  call(f->port, XP_RPC_MONITOR, xp_str_c(""), &r);
  assert_status(&r, XP_GRPC_OK, "");
  xp_wire_writer_free(&r.message);
  xp_wire_writer_free(&first.result.message);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(the_reply_holds_what_the_program_did_while_it_was_traced),
      TEST(a_program_that_did_nothing_gives_an_empty_trace),
      TEST(options_of_version_0_are_replaced_by_the_defaults),
      TEST(host_level_0_records_nothing_of_the_host),
      TEST(collecting_begins_at_the_start_timestamp),
      TEST(a_second_client_is_told_who_holds_the_profiler_and_for_how_long),
      TEST(a_session_of_the_program_itself_makes_the_server_busy),
      TEST(the_program_cannot_start_or_stop_a_session_of_a_remote_client),
      TEST(a_client_that_goes_away_frees_the_session_at_once),
      TEST(a_call_straight_after_a_cancelled_one_is_not_refused),
      TEST(slow_clients_cannot_fill_the_memory_with_captures),
      TEST(a_deadline_that_passes_frees_the_session),
      TEST(terminate_ends_the_collecting_of_its_session_early),
      TEST(stopping_the_server_ends_a_call_and_frees_the_session),
      TEST(a_capture_is_saved_where_upstreams_clients_ask_for_it),
      TEST(an_empty_capture_is_not_saved),
      TEST(a_place_that_cannot_be_written_is_an_error),
      TEST(a_run_cannot_leave_the_directory),
      TEST(a_name_with_a_nul_is_not_cut_there),
      TEST(monitor_answers_with_the_metrics_report),
      TEST(continuous_profiling_is_unimplemented),
      TEST(a_damaged_request_is_an_invalid_argument),
      TEST(a_port_that_is_taken_is_an_error_that_names_it),
      TEST(the_port_file_holds_the_port),
      TEST(a_port_file_that_cannot_be_written_starts_no_server),
      TEST(nobody_answers_when_the_server_is_stopped),
      TEST(a_child_has_neither_session_nor_server),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
