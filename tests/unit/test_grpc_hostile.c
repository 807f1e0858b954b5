/* Clients that are broken or mean harm: the server ends them, keeps its memory and its time, and serves the others. */
#include "http2_bytes.h"

#include <sys/resource.h>

static int client;

static void start_again(const xp_grpc_server_options *options)
{
  xp_grpc_server_stop(bench.server);
  start_with(options);
}

static void connect_client(void)
{
  client = raw_connect(xp_grpc_server_port(bench.server));
}

static int end_client(void **state)
{
  if (client >= 0) {
    close(client);
  }
  client = -1;
  assert_served();
  return tear_down(state);
}

/* A server that is impatient in everything. */
static void start_impatient(void)
{
  xp_grpc_server_options options = server_options();
  int64_t soon = 200 * XP_NS_IN_MS;
  options.patience = (xp_grpc_patience){soon, soon, soon, soon};
  start_again(&options);
  connect_client();
}

static size_t resident_bytes(void)
{
  FILE *f = fopen("/proc/self/statm", "r");
  size_t pages = 0;
  assert_non_null(f);
  assert_int_equal(fscanf(f, "%*u %zu", &pages), 1);
  fclose(f);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---------------------------------------------------------------- other protocols */

static size_t say(const char *words, size_t len, char answer[4096])
{
  bool closed;
  connect_client();
  assert_true(raw_send(client, words, len));
  size_t n = raw_read(client, answer, 4095, 5000, &closed);
  answer[n] = '\0';
  assert_true(closed);
  return n;
}

static void http_1_is_told_what_the_port_is(void **state)
{
  (void)state;
  static const char *const REQUESTS[] = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\n\r\n",
                                         "PRI * HTTP/1.1\r\n\r\n"};
  for (size_t i = 0; i < 3; i++) {
    char answer[4096];
    say(REQUESTS[i], strlen(REQUESTS[i]), answer);
    assert_true(strncmp(answer, "HTTP/1.1 505 ", 13) == 0);
    assert_contains(answer, "xlaprof capture HOST:PORT LOGDIR");
    const char *body = strstr(answer, "\r\n\r\n");
    assert_non_null(body);
    char length[40];
    snprintf(length, sizeof length, "Content-Length: %zu\r\n", strlen(body + 4));
    assert_contains(answer, length);
    close(client);
  }
  connect_client();
}

static void other_protocols_are_closed_without_a_word(void **state)
{
  (void)state;
  static const char TLS[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
  char answer[4096];
  assert_int_equal(say(TLS, sizeof TLS - 1, answer), 0);
  close(client);
  assert_int_equal(say("\0\1\2\3", 4, answer), 0);
  close(client);
  connect_client();
}

static void random_frames_end_their_own_connection_only(void **state)
{
  (void)state;
  uint64_t random = 12345;
  bytes b = {0};
  for (int round = 0; round < 200; round++) {
    connect_client();
    put_hello(&b, 65535);
    for (int i = 0; i < 20; i++) {
      uint8_t payload[64];
      for (size_t k = 0; k < sizeof payload; k++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        payload[k] = (uint8_t)(random >> 56);
      }
      put_frame(&b, payload[0] % 11, payload[1], payload[2] % 4, payload + 4, payload[3] % 60);
    }
    send_bytes(client, &b);
    close(client);
  }
  free(b.data);
  connect_client();
}

/* ---------------------------------------------------------------- floods */

/* Sends the same bytes up to `times` times, until the server has closed; it must have said ENHANCE_YOUR_CALM. */
static void assert_calmed(const bytes *one, int times)
{
  bytes hello = {0};
  connect_client();
  put_hello(&hello, 65535);
  send_bytes(client, &hello);
  free(hello.data);
  size_t before = resident_bytes();
  for (int i = 0; i < times && raw_send(client, one->data, one->len); i++) {
    struct pollfd p = {.fd = client, .events = POLLRDHUP};
    if (poll(&p, 1, 0) > 0) {
      break;
    }
  }
  heard h = hear(client, SIZE_MAX, 3000);
  assert_true(h.closed);
  assert_int_equal(h.goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
  assert_true(resident_bytes() < before + (20 << 20));
}

static void flood_of(uint8_t type, uint8_t flags, uint32_t id, const char *payload, size_t len)
{
  bytes b = {0};
  for (int i = 0; i < 50; i++) {
    put_frame(&b, type, flags, id, payload, len);
  }
  assert_calmed(&b, 1000);
  free(b.data);
}

static void floods_of_pings_end(void **state)
{
  (void)state;
  flood_of(PING, 0, 0, "12345678", 8);
}

static void floods_of_settings_end(void **state)
{
  (void)state;
  flood_of(SETTINGS, 0, 0, "", 0);
}

static void floods_of_priorities_end(void **state)
{
  (void)state;
  flood_of(PRIORITY, 0, 1, "\0\0\0\0\1", 5);
}

static void floods_of_empty_data_end(void **state)
{
  (void)state;
  bytes b = {0};
  put_call(&b, 1, "/t/Echo", 0);
  for (int i = 0; i < 3000; i++) {
    put_frame(&b, DATA, 0, 1, "", 0);
  }
  assert_calmed(&b, 1);
  free(b.data);
}

static void floods_of_resets_end(void **state)
{
  (void)state;
  bytes b = {0};
  for (uint32_t i = 0; i < 3000; i++) {
    put_call(&b, 2 * i + 1, "/t/Echo", 0);
    put_frame(&b, RST_STREAM, 0, 2 * i + 1, "\0\0\0\10", 4);
  }
  assert_calmed(&b, 1);
  free(b.data);
}

static void floods_of_continuations_end(void **state)
{
  (void)state;
  bytes b = {0}, block = {0};
  put_call_headers(&block, "/t/Echo", NULL, NULL, NULL);
  put_frame(&b, HEADERS, 0, 1, block.data, block.len);
  for (int i = 0; i < 1000; i++) {
    block.len = 0;
    put_header(&block, 0, "x", "y");
    put_frame(&b, CONTINUATION, 0, 1, block.data, block.len);
  }
  assert_calmed(&b, 1);
  free(b.data);
  free(block.data);
}

static void headers_of_4_mib_end(void **state)
{
  (void)state;
  bytes b = {0}, block = {0};
  char *value = malloc(16001);
  memset(value, 'v', 16000);
  value[16000] = '\0';
  put_header(&block, 0, "x", value);
  put_frame(&b, HEADERS, 0, 1, block.data, block.len);
  for (int i = 0; i < 262; i++) {
    put_frame(&b, CONTINUATION, i == 261 ? END_HEADERS : 0, 1, block.data, block.len);
  }
  assert_calmed(&b, 1);
  free(value);
  free(b.data);
  free(block.data);
}

/* 4000 bytes go into the table once and are named 12,000 times in one frame: 48 MB of headers in 16 KiB. */
static void header_bombs_end(void **state)
{
  (void)state;
  bytes b = {0}, block = {0};
  char value[4001];
  memset(value, 'v', 4000);
  value[4000] = '\0';
  put_header(&block, 0x40, "x", value);
  for (int i = 0; i < 12000; i++) {
    put_hpack_int(&block, 0x80, 7, 62); /* the newest entry of the table */
  }
  put_frame(&b, HEADERS, END_HEADERS, 1, block.data, block.len);
  assert_calmed(&b, 1);
  free(b.data);
  free(block.data);
}

/* ---------------------------------------------------------------- slow clients */

static void a_client_that_says_nothing_is_ended(void **state)
{
  (void)state;
  start_impatient();
  assert_true(raw_is_closed(client, 3000));
}

static void a_client_that_says_half_a_preface_is_ended(void **state)
{
  (void)state;
  start_impatient();
  assert_true(raw_send(client, PREFACE, 10));
  nap_ms(150);
  assert_true(raw_send(client, &PREFACE[10], 5)); /* a few bytes buy no time */
  int64_t start = xp_monotonic_ns();
  assert_true(raw_is_closed(client, 3000));
  assert_in_range(xp_monotonic_ns() - start, 0, 1000 * XP_NS_IN_MS);
}

static void an_idle_connection_is_ended_politely(void **state)
{
  (void)state;
  start_impatient();
  bytes b = {0};
  put_hello(&b, 65535);
  send_bytes(client, &b);
  free(b.data);
  heard h = hear(client, 1, 3000);
  assert_int_equal(h.goaway_code, NGHTTP2_NO_ERROR);
  assert_true(h.closed);
}

static void a_request_that_trickles_in_is_ended(void **state)
{
  (void)state;
  start_impatient();
  bytes b = {0};
  put_hello(&b, 65535);
  put_call(&b, 1, "/t/Echo", 0);
  put_frame(&b, DATA, 0, 1, "\0\0\0\0\x64", 5);
  send_bytes(client, &b);
  for (int i = 0; i < 4; i++) {
    nap_ms(75);
    put_frame(&b, DATA, 0, 1, "x", 1);
    send_bytes(client, &b);
  }
  free(b.data);
  heard h = hear(client, 1, 3000);
  assert_int_equal(h.grpc_status, 4);
  assert_contains(h.grpc_message, "did not arrive in time");
}

static void a_request_without_its_end_is_ended(void **state)
{
  (void)state;
  start_impatient();
  bytes b = {0};
  put_hello(&b, 65535);
  put_call(&b, 1, "/t/Echo", 0);
  put_message(&b, 1, "abc", 0);
  send_bytes(client, &b);
  free(b.data);
  assert_int_equal(hear(client, 1, 3000).grpc_status, 4);
}

static void a_kept_call_is_waited_for(void **state)
{
  (void)state;
  start_impatient();
  bytes b = {0};
  put_hello(&b, 65535);
  put_call(&b, 1, "/t/Keep", 0);
  put_message(&b, 1, "abc", END_STREAM);
  send_bytes(client, &b);
  free(b.data);
  xp_grpc_call *call = take_kept(0);
  nap_ms(900); /* more than four times every limit */
  xp_grpc_reply_bytes(call, xp_str_c("done"));
  heard h = hear(client, 1, 3000);
  assert_int_equal(h.grpc_status, 0);
  assert_int_equal(h.data_bytes, 9);
  assert_int_equal(atomic_load(&bench.cancelled), 0);
}

/* Asks for 100 MB with windows of the given size, and reads nothing. */
static void ask_and_not_read(uint32_t window)
{
  uint8_t more[4] = {0x7f, 0, 0, 0};
  bytes b = {0};
  put_hello(&b, window);
  if (window > 65535) {
    put_frame(&b, WINDOW_UPDATE, 0, 0, more, sizeof more);
  }
  put_call(&b, 1, "/t/Big", 0);
  put_message(&b, 1, "100000000", END_STREAM);
  send_bytes(client, &b);
  free(b.data);
  await(&bench.begun, 1);
}

static void await_no_body(void)
{
  for (int i = 0; i < 5000 && atomic_load(&bench.bodies_open) > 0; i++) {
    nap_ms(1);
  }
  assert_int_equal(atomic_load(&bench.bodies_open), 0);
}

static void a_client_with_no_window_is_given_up(void **state)
{
  (void)state;
  start_impatient();
  ask_and_not_read(0);
  await_no_body();
  assert_int_equal(hear(client, 1, 500).rst_code, NGHTTP2_CANCEL);
}

static void a_client_that_does_not_read_is_given_up(void **state)
{
  (void)state;
  start_impatient();
  ask_and_not_read(0x7fffffff);
  await_no_body();
}

static void a_client_that_reads_little_costs_little(void **state)
{
  (void)state;
  connect_client();
  size_t before = resident_bytes();
  ask_and_not_read(0x7fffffff);
  char byte;
  for (int i = 0; i < 20; i++) {
    assert_int_equal(recv(client, &byte, 1, 0), 1);
    nap_ms(20);
  }
  assert_int_equal(atomic_load(&bench.bodies_open), 1);
  assert_true(resident_bytes() < before + (8 << 20)); /* of 100 MB */
}

/* ---------------------------------------------------------------- many clients */

static void a_thousand_connections_do_not_lock_anybody_out(void **state)
{
  (void)state;
  enum { CONNECTIONS = 1000 };
  static int fds[CONNECTIONS];
  for (int i = 0; i < CONNECTIONS; i++) {
    fds[i] = raw_connect(xp_grpc_server_port(bench.server));
    if (i % 250 == 249) {
      assert_served();
    }
  }
  assert_true(raw_is_closed(fds[0], 3000)); /* the oldest made room */
  bool closed;
  assert_int_equal(raw_read(fds[CONNECTIONS - 1], fds, 0, 0, &closed), 0);
  for (int i = 0; i < CONNECTIONS; i++) {
    close(fds[i]);
  }
}

static void connections_with_calls_are_not_ended_for_new_ones(void **state)
{
  (void)state;
  xp_grpc_server_options options = server_options();
  options.max_connections = 2;
  start_again(&options);
  int fds[2];
  bytes b = {0};
  for (int i = 0; i < 2; i++) {
    fds[i] = raw_connect(xp_grpc_server_port(bench.server));
    put_hello(&b, 65535);
    put_call(&b, 1, "/t/Keep", 0);
    put_message(&b, 1, "", END_STREAM);
    send_bytes(fds[i], &b);
    await(&bench.kept_count, i + 1);
  }
  free(b.data);
  connect_client();
  assert_true(raw_is_closed(client, 3000));
  assert_int_equal(atomic_load(&bench.cancelled), 0);
  for (int i = 0; i < 2; i++) {
    xp_grpc_reply_bytes(take_kept(i), xp_str_c(""));
    assert_int_equal(hear(fds[i], 1, 3000).grpc_status, 0);
    close(fds[i]);
  }
}

/* 80 requests of 4 MiB, of which 200 KB come: held whole they would take 320 MB, as far as they came 20 MB. */
static void requests_that_never_end_have_a_budget(void **state)
{
  (void)state;
  enum { REQUESTS = 80, SENT = 200000, PIECE = 16000 };
  static const char START[5] = {0, 0, 0x40, 0, 0};
  static const char ZEROS[PIECE];
  size_t before = resident_bytes();
  connect_client();
  bytes b = {0};
  put_hello(&b, 65535);
  send_bytes(client, &b);
  nap_ms(50); /* the larger windows of the server hold when it has said so and we have agreed */
  put_frame(&b, SETTINGS, ACK, 0, "", 0);
  for (uint32_t i = 0; i < REQUESTS; i++) {
    put_call(&b, 2 * i + 1, "/t/Echo", 0);
    put_frame(&b, DATA, 0, 2 * i + 1, START, sizeof START);
    for (int sent = 0; sent < SENT; sent += PIECE) {
      put_frame(&b, DATA, 0, 2 * i + 1, ZEROS, PIECE);
    }
    send_bytes(client, &b);
  }
  free(b.data);
  heard h = hear(client, 1, 3000);
  assert_int_equal(h.grpc_status, 8);
  assert_contains(h.grpc_message, "There is no memory for the request");
  assert_true(resident_bytes() < before + (100 << 20)); /* sanitizers keep what was freed */
}

static int64_t processor_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * XP_NS_IN_S + t.tv_nsec;
}

static void without_descriptors_it_waits_and_does_not_spin(void **state)
{
  (void)state;
  struct rlimit before, low;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  low = before;
  low.rlim_cur = (rlim_t)client + 1; /* not one more */
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
  struct sockaddr_in address = loopback_at(xp_grpc_server_port(bench.server));
  assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
  int64_t start = processor_ns();
  nap_ms(600);
  assert_in_range(processor_ns() - start, 0, 200 * XP_NS_IN_MS);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_served();
}

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, set_up, end_client)

int main(void)
{
  client = -1;
  const struct CMUnitTest tests[] = {
      WITH_SERVER(http_1_is_told_what_the_port_is),
      WITH_SERVER(other_protocols_are_closed_without_a_word),
      WITH_SERVER(random_frames_end_their_own_connection_only),
      WITH_SERVER(floods_of_pings_end),
      WITH_SERVER(floods_of_settings_end),
      WITH_SERVER(floods_of_priorities_end),
      WITH_SERVER(floods_of_empty_data_end),
      WITH_SERVER(floods_of_resets_end),
      WITH_SERVER(floods_of_continuations_end),
      WITH_SERVER(headers_of_4_mib_end),
      WITH_SERVER(header_bombs_end),
      WITH_SERVER(a_client_that_says_nothing_is_ended),
      WITH_SERVER(a_client_that_says_half_a_preface_is_ended),
      WITH_SERVER(an_idle_connection_is_ended_politely),
      WITH_SERVER(a_request_that_trickles_in_is_ended),
      WITH_SERVER(a_request_without_its_end_is_ended),
      WITH_SERVER(a_kept_call_is_waited_for),
      WITH_SERVER(a_client_with_no_window_is_given_up),
      WITH_SERVER(a_client_that_does_not_read_is_given_up),
      WITH_SERVER(a_client_that_reads_little_costs_little),
      WITH_SERVER(a_thousand_connections_do_not_lock_anybody_out),
      WITH_SERVER(connections_with_calls_are_not_ended_for_new_ones),
      WITH_SERVER(requests_that_never_end_have_a_budget),
      WITH_SERVER(without_descriptors_it_waits_and_does_not_spin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
