/* The server's life: where it listens, how it stops, what a child after fork may do, and what it leaves behind. */
#include "http2_bytes.h"

#include <signal.h>
#include <sys/wait.h>

static int64_t stop(void)
{
  int64_t start = xp_monotonic_ns();
  xp_grpc_server_stop(bench.server);
  bench.server = NULL;
  return xp_monotonic_ns() - start;
}

/* ---------------------------------------------------------------- where it listens */

static xp_status try_start(const char *address, uint16_t port, xp_error *err)
{
  xp_grpc_server_options options = server_options();
  options.address = address;
  options.port = port;
  xp_grpc_server *server;
  xp_status status = xp_grpc_server_start(&options, &server, err);
  xp_grpc_server_stop(server);
  return status;
}

static void a_port_that_is_taken_is_an_error(void **state)
{
  (void)state;
  uint16_t port = xp_grpc_server_port(bench.server);
  xp_error err;
  assert_int_equal(try_start(NULL, port, &err), XP_ERR_IO);
  char start[80];
  snprintf(start, sizeof start, "Cannot listen on 127.0.0.1 port %u: ", port);
  assert_contains(err.text, start);
  assert_contains(err.text, "Another program listens there");
  assert_int_equal(try_start("::1", port, &err), XP_ERR_IO);
  assert_contains(err.text, "Cannot listen on ::1 port ");
}

static void a_port_is_free_again_after_the_stop(void **state)
{
  (void)state;
  assert_served(); /* leaves a connection in TIME_WAIT */
  uint16_t port = xp_grpc_server_port(bench.server);
  stop();
  xp_error err;
  assert_int_equal(try_start(NULL, port, &err), XP_OK);
}

static void addresses_must_be_numeric_and_of_this_machine(void **state)
{
  (void)state;
  xp_error err;
  assert_int_equal(try_start("localhost", 0, &err), XP_ERR_USAGE);
  assert_contains(err.text, "\"localhost\" is no numeric address. Write 127.0.0.1 or ::1");
  assert_int_equal(try_start("192.0.2.1", 0, &err), XP_ERR_IO);
  assert_contains(err.text, "no such address");
  assert_int_equal(try_start("127.0.0.1", 0, &err), XP_OK);
  assert_int_equal(try_start("::1", 0, &err), has_ipv6() ? XP_OK : XP_ERR_IO);
  assert_int_equal(try_start("0.0.0.0", 0, &err), XP_OK);
}

static void two_colons_are_all_networks_of_both_kinds(void **state)
{
  (void)state;
  if (!has_ipv6()) {
    skip();
  }
  stop();
  xp_grpc_server_options options = server_options();
  options.address = "::";
  start_with(&options);
  assert_served(); /* by 127.0.0.1 */
}

static void a_server_without_connections_makes_no_sense(void **state)
{
  (void)state;
  xp_grpc_server_options options = server_options();
  options.max_connections = 0;
  xp_grpc_server *server;
  xp_error err;
  assert_int_equal(xp_grpc_server_start(&options, &server, &err), XP_ERR_USAGE);
  assert_null(server);
}

/* ---------------------------------------------------------------- stop */

static void stop_of_none_is_allowed(void **state)
{
  (void)state;
  xp_grpc_server_stop(NULL);
}

static void stop_cancels_kept_calls_and_tells_their_clients(void **state)
{
  (void)state;
  static caller c;
  begin_call(&c, "/t/Keep", "");
  await(&bench.kept_count, 1);
  assert_in_range(stop(), 0, 900 * XP_NS_IN_MS);
  assert_int_equal(atomic_load(&bench.cancelled), 1);
  pthread_join(c.thread, NULL);
  assert_status(&c.answer, XP_GRPC_UNAVAILABLE, "The server has been stopped.");
  reply_big(take_kept(0), 1000, UINT64_MAX); /* outlives the server; goes nowhere */
  assert_int_equal(atomic_load(&bench.bodies_open), 0);
}

static void stop_lets_replies_on_their_way_arrive(void **state)
{
  (void)state;
  static caller kept;
  kept.reply.is_big = true;
  begin_call(&kept, "/t/Keep", "");
  xp_grpc_call *call = take_kept(0);
  reply_big(call, 2000000, UINT64_MAX);
  assert_in_range(stop(), 0, 1500 * XP_NS_IN_MS);
  pthread_join(kept.thread, NULL);
  assert_status(&kept.answer, XP_GRPC_OK, "");
  assert_int_equal(kept.reply.got, 2000000);
  assert_int_equal(atomic_load(&bench.cancelled), 0);
}

static void stop_does_not_wait_for_clients_that_do_not_read(void **state)
{
  (void)state;
  int fd = raw_connect(xp_grpc_server_port(bench.server));
  bytes b = {0};
  put_hello(&b, 0);
  put_call(&b, 1, "/t/Big", 0);
  put_message(&b, 1, "1000000", END_STREAM);
  send_bytes(fd, &b);
  free(b.data);
  await(&bench.begun, 1);
  assert_in_range(stop(), 900 * XP_NS_IN_MS, 2000 * XP_NS_IN_MS);
  close(fd);
}

static void stop_does_not_wait_for_idle_connections(void **state)
{
  (void)state;
  int fds[2] = {raw_connect(xp_grpc_server_port(bench.server)), raw_connect(xp_grpc_server_port(bench.server))};
  bytes b = {0};
  put_hello(&b, 65535);
  send_bytes(fds[0], &b); /* the other one says nothing */
  free(b.data);
  assert_served();
  assert_in_range(stop(), 0, 500 * XP_NS_IN_MS);
  heard h = hear(fds[0], 1, 1000);
  assert_int_equal(h.goaway_code, NGHTTP2_NO_ERROR);
  assert_true(h.closed);
  close(fds[0]);
  close(fds[1]);
}

static void servers_start_and_stop_many_times(void **state)
{
  (void)state;
  for (int i = 0; i < 50; i++) {
    stop();
    xp_grpc_server_options options = server_options();
    start_with(&options);
  }
  assert_served();
}

/* ---------------------------------------------------------------- fork and signals */

/* Runs check in a child; fails if it does not return true within 10 s. */
static void in_child(bool (*check)(void))
{
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(check() ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static bool stop_in_child(void)
{
  reply_big(atomic_load(&bench.kept[0]), 10, UINT64_MAX);
  xp_grpc_call_on_cancel(atomic_load(&bench.kept[0]), count_cancelled, NULL);
  xp_grpc_server_stop(bench.server);
  return atomic_load(&bench.bodies_open) == 0 && count_fds() == bench.fds_before;
}

static void a_child_can_stop_its_copy_and_the_parent_goes_on(void **state)
{
  (void)state;
  static caller c;
  begin_call(&c, "/t/Keep", "");
  await(&bench.kept_count, 1);
  int client_fds = 1; /* of the call, in the child too */
  bench.fds_before += client_fds;
  in_child(stop_in_child);
  bench.fds_before -= client_fds;
  assert_served();
  assert_int_equal(atomic_load(&bench.cancelled), 0);
  xp_grpc_reply_bytes(take_kept(0), xp_str_c("answer"));
  pthread_join(c.thread, NULL);
  assert_status(&c.answer, XP_GRPC_OK, "");
  assert_memory_equal(c.reply.kept, "answer", 6);
}

static void a_child_that_lives_on_does_not_hold_connections_open(void **state)
{
  (void)state;
  int fd = raw_connect(xp_grpc_server_port(bench.server));
  bytes b = {0};
  put_hello(&b, 65535);
  send_bytes(fd, &b);
  free(b.data);
  assert_served(); /* so the connection has been accepted */
  int pipes[2];
  assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
  pid_t child = fork();
  if (child == 0) {
    char byte;
    close(pipes[1]);
    alarm(20);
    _exit((int)read(pipes[0], &byte, 1));
  }
  stop();
  assert_true(raw_is_closed(fd, 3000));
  close(pipes[1]);
  close(pipes[0]);
  assert_int_equal(waitpid(child, NULL, 0), child);
  close(fd);
}

/* The mask of blocked signals of the server's thread, from the kernel. */
static uint64_t blocked_by_server(void)
{
  DIR *tasks = opendir("/proc/self/task");
  uint64_t mask = 0;
  for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
    char path[300], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
    FILE *f = fopen(path, "r");
    bool is_server = false;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
      is_server = is_server || strncmp(line, "Name:\txlaprof-server", 20) == 0;
      if (is_server && strncmp(line, "SigBlk:", 7) == 0) {
        mask = strtoull(line + 7, NULL, 16);
      }
    }
    if (f != NULL) {
      fclose(f);
    }
  }
  closedir(tasks);
  return mask;
}

static void the_thread_takes_no_signals_but_faults(void **state)
{
  (void)state;
  assert_served(); /* a thread that has just been made blocks everything for a moment */
  uint64_t mask = blocked_by_server();
  static const int BLOCKED[] = {SIGTERM, SIGINT, SIGPROF, SIGALRM, SIGCHLD, SIGUSR1, SIGPIPE, SIGHUP};
  for (size_t i = 0; i < sizeof BLOCKED / sizeof BLOCKED[0]; i++) {
    assert_true((mask >> (BLOCKED[i] - 1) & 1) != 0);
  }
  assert_true((mask >> (SIGSEGV - 1) & 1) == 0);
}

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_SERVER(a_port_that_is_taken_is_an_error),
      WITH_SERVER(a_port_is_free_again_after_the_stop),
      WITH_SERVER(addresses_must_be_numeric_and_of_this_machine),
      WITH_SERVER(two_colons_are_all_networks_of_both_kinds),
      WITH_SERVER(a_server_without_connections_makes_no_sense),
      WITH_SERVER(stop_of_none_is_allowed),
      WITH_SERVER(stop_cancels_kept_calls_and_tells_their_clients),
      WITH_SERVER(stop_lets_replies_on_their_way_arrive),
      WITH_SERVER(stop_does_not_wait_for_clients_that_do_not_read),
      WITH_SERVER(stop_does_not_wait_for_idle_connections),
      WITH_SERVER(servers_start_and_stop_many_times),
      WITH_SERVER(a_child_can_stop_its_copy_and_the_parent_goes_on),
      WITH_SERVER(a_child_that_lives_on_does_not_hold_connections_open),
      WITH_SERVER(the_thread_takes_no_signals_but_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
