/* The server at its socket: what clients that keep to HTTP get, and what becomes of those that do not. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "viewing.h"
#include "web/server.h"

enum { PATIENCE_MS = 60000, SLOW_CLIENTS = 100, SILENT_CLIENTS = 1500, GREEDY = 4, GREEDY_REQUESTS = 24 };

static xp_web_server *server;

static void start(show *w)
{
  xp_error err;
  open_story(w);
  if (xp_web_server_start(w->site.viewer, &(xp_web_options){.port = 0}, &server, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
}

static uint16_t port_of(const char *address)
{
  return (uint16_t)atoi(strchr(address + strlen("http:"), ':') + 1);
}

/* "/TOKEN/" */
static const char *base_path(void)
{
  return strchr(xp_web_server_address(server) + strlen("http://"), '/');
}

static int connect_to(uint16_t port)
{
  const struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_true(fd >= 0);
  assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
  return fd;
}

static int connected(void)
{
  return connect_to(port_of(xp_web_server_address(server)));
}

static void put_bytes(int fd, const char *bytes, size_t count)
{
  while (count > 0) {
    ssize_t n = send(fd, bytes, count, MSG_NOSIGNAL);
    if (n <= 0) {
      return; /* the server has closed: the answer tells why */
    }
    bytes += n;
    count -= (size_t)n;
  }
}

static void put_text(int fd, const char *text)
{
  put_bytes(fd, text, strlen(text));
}

/* Reads one answer: its headers, and as many bytes behind them as they say.  Returns its status, 0 if the server closed
 * without one. */
static int read_answer(int fd, char *text, size_t room)
{
  size_t got = 0, wanted = SIZE_MAX;
  text[0] = '\0';
  while (got < wanted && got < room - 1) {
    struct pollfd ready = {fd, POLLIN, 0};
    if (poll(&ready, 1, PATIENCE_MS) != 1) {
      fail_msg("no answer: %s", text);
    }
    ssize_t n = recv(fd, text + got, room - 1 - got, 0);
    if (n <= 0) {
      break;
    }
    got += (size_t)n;
    text[got] = '\0';
    const char *end = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length: ");
    if (end != NULL && wanted == SIZE_MAX) {
      wanted = (size_t)(end + 4 - text) + (length != NULL ? (size_t)atoll(length + 16) : 0);
    }
  }
  return strncmp(text, "HTTP/1.1 ", 9) == 0 ? atoi(text + 9) : 0;
}

static char answer[1 << 20];

/* Sends GET for what is behind the token. */
static void put_get(int fd, const char *what)
{
  char text[9000];
  snprintf(text, sizeof text, "GET %s%s HTTP/1.1\r\nHost: localhost\r\n\r\n", base_path(), what);
  put_text(fd, text);
}

static int get_once(const char *what)
{
  int fd = connected();
  put_get(fd, what);
  int status = read_answer(fd, answer, sizeof answer);
  close(fd);
  return status;
}

static int end_server(void **state)
{
  xp_web_server_stop(server);
  server = NULL;
  return show_end(state);
}

#define SERVED(test) cmocka_unit_test_setup_teardown(test, show_begin, end_server)

/* ---- clients that keep to HTTP */

static void a_connection_serves_one_request_after_the_other(void **state)
{
  show *w = *state;
  two_runs(w->s);
  start(w);
  int fd = connected();
  for (int i = 0; i < 3; i++) {
    put_get(fd, "data/meta");
    assert_int_equal(read_answer(fd, answer, sizeof answer), 200);
    assert_contains(answer, "xlaprof.view.meta/1");
  }
  close(fd);
}

static void every_answer_says_what_the_page_may_do(void **state)
{
  static const char *const headers[] = {"Content-Security-Policy: default-src 'self';", "Cache-Control: no-store",
                                        "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer"};
  show *w = *state;
  two_runs(w->s);
  start(w);
  const char *const targets[] = {"", "data/meta", "none"};
  for (size_t t = 0; t < COUNT(targets); t++) {
    get_once(targets[t]);
    for (size_t i = 0; i < COUNT(headers); i++) {
      assert_contains(answer, headers[i]);
    }
  }
}

static void the_server_listens_on_the_loopback_interface_alone(void **state)
{
  show *w = *state;
  two_runs(w->s);
  start(w);
  char line[512];
  bool found = false;
  FILE *file = fopen("/proc/net/tcp", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL) {
    unsigned address, port, sockets_state;
    if (sscanf(line, " %*d: %8X:%4X %*8X:%*4X %2X", &address, &port, &sockets_state) == 3 && sockets_state == 0x0a &&
        port == port_of(xp_web_server_address(server))) {
      assert_int_equal(address, htonl(INADDR_LOOPBACK)); /* the kernel prints the bytes as they lie in memory */
      found = true;
    }
  }
  fclose(file);
  assert_true(found);
}

static void a_port_in_use_is_told_and_the_next_one_is_free(void **state)
{
  show *w = *state;
  xp_error err;
  xp_web_server *second;
  two_runs(w->s);
  start(w);
  uint16_t port = port_of(xp_web_server_address(server));
  assert_int_equal(xp_web_server_start(w->site.viewer, &(xp_web_options){.port = port}, &second, &err), XP_ERR_IO);
  assert_contains(err.text, "Port ");
  assert_null(second);
  assert_int_equal(xp_web_server_start(w->site.viewer, &(xp_web_options){.port = 0}, &second, &err), XP_OK);
  assert_int_not_equal(port_of(xp_web_server_address(second)), port);
  xp_web_server_stop(second);
}

/* ---- clients that do not */

static void requests_that_break_the_rules_are_refused(void **state)
{
  static const struct {
    const char *before, *after; /* around the path with the token */
    int status;                 /* 0: closed without an answer */
  } requests[] = {
      {"GET ", "data/meta HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403},
      {"GET ", "data/meta HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 403},
      {"GET ", "data/meta HTTP/1.0\r\n\r\n", 403},
      {"GET ", "data/meta HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n", 403},
      {"GET ", "data/meta HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n", 403},
      {"GET /x", "data/meta HTTP/1.1\r\nHost: localhost\r\n\r\n", 200}, /* a prefix of a proxy */
      {"GET ", "../../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
      {"GET ", "%2e%2e%2f%2e%2e%2fetc%2fpasswd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
      {"GET ", "data/meta%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"POST ", "data/meta HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 405},
      {"PUT ", "data/meta HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 405},
      {"GET ", "data/meta HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 413},
      {"GET ", "data/meta HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413},
      {"OPTIONS ", "data/meta HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
      {"BREW ", "data/meta HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
  };
  show *w = *state;
  two_runs(w->s);
  start(w);
  for (size_t i = 0; i < COUNT(requests); i++) {
    char text[1024];
    int fd = connected();
    snprintf(text, sizeof text, "%s%s%s", requests[i].before, base_path(), requests[i].after);
    put_text(fd, text);
    int status = read_answer(fd, answer, sizeof answer);
    if (status != requests[i].status) {
      fail_msg("status %d for %s", status, text);
    }
    close(fd);
  }
  assert_int_equal(get_once("data/meta"), 200);
}

static void requests_that_are_too_large_are_refused(void **state)
{
  static char text[200000];
  show *w = *state;
  two_runs(w->s);
  start(w);
  int fd = connected();
  int n = snprintf(text, sizeof text, "GET %sdata/meta?x=", base_path());
  memset(text + n, 'a', 20000);
  strcpy(text + n + 20000, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  put_text(fd, text);
  assert_int_equal(read_answer(fd, answer, sizeof answer), 414);
  close(fd);
  fd = connected();
  n = snprintf(text, sizeof text, "GET %sdata/meta HTTP/1.1\r\nHost: localhost\r\nX: ", base_path());
  memset(text + n, 'a', 100000);
  strcpy(text + n + 100000, "\r\n\r\n");
  put_text(fd, text);
  int status = read_answer(fd, answer, sizeof answer);
  assert_true(status == 431 || status == 413 || status == 0); /* it may close while we still write */
  close(fd);
  assert_int_equal(get_once("data/meta"), 200);
}

static void bytes_that_are_no_request_do_no_harm(void **state)
{
  static const char *const junk[] = {"\r\n\r\n\r\n",
                                     "\0\0\0\0\0\0\0\0",
                                     "GET\r\n\r\n",
                                     "GET / HTTP/9.9\r\n\r\n",
                                     "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                                     "GET / HTTP/1.1\r\n: x\r\n\r\n",
                                     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                     "GET /%%%%%%%% HTTP/1.1\r\nHost: localhost\r\n\r\n"};
  show *w = *state;
  two_runs(w->s);
  start(w);
  for (size_t i = 0; i < COUNT(junk); i++) {
    int fd = connected();
    put_bytes(fd, junk[i], i == 1 ? 8 : strlen(junk[i]));
    struct pollfd ready = {fd, POLLIN, 0}; /* some of it may be the beginning of a request */
    int status = poll(&ready, 1, 100) == 1 ? read_answer(fd, answer, sizeof answer) : 0;
    assert_true(status == 0 || status >= 400);
    close(fd);
  }
  assert_int_equal(get_once("data/meta"), 200);
}

/* A hundred clients begin a request and do not go on; a hundred ask for much and do not read, some of them for more
 * than the system's buffers hold.  The page is served as if they were not there. */
static void slow_clients_do_not_stop_the_page(void **state)
{
  int half[SLOW_CLIENTS], full[SLOW_CLIENTS];
  show *w = *state;
  thread(w->s, "python");
  for (int64_t i = 0; i < 9000; i++) {
    event(w->s, "f", 1000 * i + 1, 1000 * i + 900);
  }
  start(w);
  for (int i = 0; i < SLOW_CLIENTS; i++) {
    half[i] = connected();
    put_text(half[i], "GET /data/meta HTTP/1.1\r\nHost: loc");
    full[i] = connected();
    for (int k = 0; k < (i < GREEDY ? GREEDY_REQUESTS : 1); k++) {
      put_get(full[i], "data/window?from=0&to=9000000000000&width=8192&tracks=0");
    }
  }
  int64_t slowest_ns = 0;
  for (int i = 0; i < 20; i++) {
    int64_t from_ns = xp_monotonic_ns();
    assert_int_equal(get_once(i % 2 ? "" : "data/summary"), 200);
    int64_t took_ns = xp_monotonic_ns() - from_ns;
    slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
  }
  assert_true(slowest_ns < 25 * XP_NS_IN_S); /* less than the time limit of a connection */
  for (int i = 0; i < SLOW_CLIENTS; i++) {
    close(half[i]);
    close(full[i]);
  }
}

/* More clients than the server keeps connections for, none of which finishes a request; every second says nothing. */
static void connections_without_a_request_make_room_for_the_page(void **state)
{
  static int silent[SILENT_CLIENTS];
  struct rlimit files;
  show *w = *state;
  two_runs(w->s);
  start(w);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  if (files.rlim_max < 2 * SILENT_CLIENTS || setrlimit(RLIMIT_NOFILE, &files) != 0) {
    skip();
  }
  for (int i = 0; i < SILENT_CLIENTS; i++) {
    silent[i] = connected();
    put_text(silent[i], i % 2 ? "GET /data/meta HTTP/1.1\r\nHost: loc" : "");
  }
  int64_t from_ns = xp_monotonic_ns();
  assert_int_equal(get_once("data/meta"), 200);
  assert_true(xp_monotonic_ns() - from_ns < 25 * XP_NS_IN_S); /* less than the time limit of a connection */
  assert_int_equal(recv(silent[0], answer, sizeof answer, 0), 0);
  struct pollfd latest = {silent[SILENT_CLIENTS - 1], POLLIN, 0};
  assert_int_equal(poll(&latest, 1, 0), 0); /* it is still there */
  for (int i = 0; i < SILENT_CLIENTS; i++) {
    close(silent[i]);
  }
}

static void the_server_ends_while_clients_are_connected(void **state)
{
  show *w = *state;
  two_runs(w->s);
  start(w);
  int idle = connected(), begun = connected();
  put_text(begun, "GET /");
  int64_t from_ns = xp_monotonic_ns();
  xp_web_server_stop(server);
  server = NULL;
  assert_true(xp_monotonic_ns() - from_ns < 10 * XP_NS_IN_S);
  assert_int_equal(read_answer(begun, answer, sizeof answer), 0);
  close(idle);
  close(begun);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      SERVED(a_connection_serves_one_request_after_the_other),
      SERVED(every_answer_says_what_the_page_may_do),
      SERVED(the_server_listens_on_the_loopback_interface_alone),
      SERVED(a_port_in_use_is_told_and_the_next_one_is_free),
      SERVED(requests_that_break_the_rules_are_refused),
      SERVED(requests_that_are_too_large_are_refused),
      SERVED(bytes_that_are_no_request_do_no_harm),
      SERVED(slow_clients_do_not_stop_the_page),
      SERVED(connections_without_a_request_make_room_for_the_page),
      SERVED(the_server_ends_while_clients_are_connected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
