/* For tests of gRPC: a server of ours with a few methods, calls of our client, and sockets that speak anything else.
 *
 * Methods: /t/Echo answers with its request.  /t/Big answers with as many bytes as the request says in decimal; byte i
 * is i * 7 + i / 4096, cut to 8 bits.  /t/Fail fails with the code and the message in the request ("13 text").  /t/Keep
 * keeps the call in `bench.kept` until the test answers it.  /t/Broken promises 1000 bytes and gives 300.
 */
#ifndef XP_TESTS_GRPC_TESTING_H
#define XP_TESTS_GRPC_TESTING_H

#define _GNU_SOURCE
#include "testing.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/grpc_client.h"
#include "rpc/grpc_server.h"
#include "rpc/monotonic.h"

enum { MOST_KEPT = 64, MAX_REQUEST = 4 << 20 };

typedef struct {
  atomic_int kept_count;
  _Atomic(xp_grpc_call *) kept[MOST_KEPT];
  atomic_int cancelled; /* of the kept ones */
  atomic_int begun, bodies_open;
  xp_grpc_server *server;
  int fds_before;
} grpc_bench;

static grpc_bench bench;

static inline void nap_ms(int ms)
{
  poll(NULL, 0, ms);
}

/* Waits until a counter has reached a value; fails the test after 10 s. */
static inline void await(const atomic_int *counter, int value)
{
  for (int i = 0; i < 10000 && atomic_load(counter) < value; i++) {
    nap_ms(1);
  }
  assert_true(atomic_load(counter) >= value);
}

/* Some machines have no IPv6. */
static inline bool has_ipv6(void)
{
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool has = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
  close(fd);
  return has;
}

/* Descriptors of this process. */
static inline int count_fds(void)
{
  DIR *dir = opendir("/proc/self/fd");
  int n = 0;
  while (dir != NULL && readdir(dir) != NULL) {
    n++;
  }
  closedir(dir);
  return n;
}

/* ---------------------------------------------------------------- methods */

static inline uint8_t big_byte(uint64_t i)
{
  return (uint8_t)(i * 7 + i / 4096);
}

typedef struct {
  uint64_t at, fails_at;
} big_body;

static inline size_t big_read(void *context, void *buffer, size_t room)
{
  big_body *b = context;
  size_t n = 0;
  for (; n < room && b->at < b->fails_at; n++) {
    ((uint8_t *)buffer)[n] = big_byte(b->at++);
  }
  return n;
}

static inline void big_end(void *context)
{
  atomic_fetch_sub(&bench.bodies_open, 1);
  free(context);
}

static inline void reply_big(xp_grpc_call *call, uint64_t total, uint64_t fails_at)
{
  big_body *b = calloc(1, sizeof *b);
  if (b == NULL) {
    xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, "no memory");
    return;
  }
  b->fails_at = fails_at;
  atomic_fetch_add(&bench.bodies_open, 1);
  xp_grpc_reply(call, &(xp_grpc_body){total, big_read, big_end, b});
}

static inline void begin_echo(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context;
  atomic_fetch_add(&bench.begun, 1);
  xp_grpc_reply_bytes(call, request);
}

static inline void begin_big(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context;
  int64_t n = 0;
  atomic_fetch_add(&bench.begun, 1);
  (void)xp_str_to_int64(request, &n);
  reply_big(call, (uint64_t)n, UINT64_MAX);
}

static inline void begin_broken(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context, (void)request;
  reply_big(call, 1000, 300);
}

static inline void begin_fail(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context;
  char text[3000];
  snprintf(text, sizeof text, "%.*s", XP_STR_ARG(request));
  char *message = text;
  long code = strtol(text, &message, 10);
  xp_grpc_fail(call, (xp_grpc_code)code, *message == ' ' ? message + 1 : message);
}

static inline void count_cancelled(void *context)
{
  (void)context;
  atomic_fetch_add(&bench.cancelled, 1);
}

static inline void begin_quiet(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context, (void)request;
  int i = atomic_load(&bench.kept_count);
  if (i == MOST_KEPT) {
    abort(); /* no assert of cmocka here: this is the server's thread */
  }
  atomic_store(&bench.kept[i], call);
  atomic_store(&bench.kept_count, i + 1);
}

static inline void begin_keep(void *context, xp_grpc_call *call, xp_str request)
{
  xp_grpc_call_on_cancel(call, count_cancelled, NULL);
  begin_quiet(context, call, request);
}

/* Waits for the kept call number i and takes it. */
static inline xp_grpc_call *take_kept(int i)
{
  await(&bench.kept_count, i + 1);
  return atomic_exchange(&bench.kept[i], NULL);
}

static const xp_grpc_method METHODS[] = {
    {"/t/Echo", begin_echo}, {"/t/Big", begin_big},     {"/t/Fail", begin_fail},
    {"/t/Keep", begin_keep}, {"/t/Quiet", begin_quiet}, {"/t/Broken", begin_broken},
};

static inline xp_grpc_server_options server_options(void)
{
  return (xp_grpc_server_options){.methods = METHODS,
                                  .method_count = sizeof METHODS / sizeof METHODS[0],
                                  .max_request_bytes = MAX_REQUEST,
                                  .max_connections = 100};
}

static inline void start_with(const xp_grpc_server_options *options)
{
  xp_error err;
  if (xp_grpc_server_start(options, &bench.server, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
}

/* cmocka set-up and tear-down of a test with a server; the latter sees that nothing is left behind. */
static inline int set_up(void **state)
{
  (void)state;
  memset(&bench, 0, sizeof bench);
  bench.fds_before = count_fds();
  xp_grpc_server_options options = server_options();
  start_with(&options);
  return 0;
}

static inline int tear_down(void **state)
{
  (void)state;
  for (int i = 0; i < MOST_KEPT; i++) {
    xp_grpc_call *call = atomic_exchange(&bench.kept[i], NULL);
    if (call != NULL) {
      xp_grpc_fail(call, XP_GRPC_ABORTED, "the test is over");
    }
  }
  xp_grpc_server_stop(bench.server);
  assert_int_equal(atomic_load(&bench.bodies_open), 0);
  assert_int_equal(count_fds(), bench.fds_before);
  return 0;
}

/* ---------------------------------------------------------------- calls */

/* A reply that is checked against the bytes of /t/Big as it arrives, or kept. */
typedef struct {
  uint64_t got, give_up_at;
  bool is_big, is_wrong;
  char kept[8192];
} reply_check;

static inline bool check_reply(void *context, uint64_t total, xp_str bytes)
{
  reply_check *r = context;
  for (size_t i = 0; i < bytes.len; i++, r->got++) {
    if (r->is_big) {
      r->is_wrong = r->is_wrong || (uint8_t)bytes.ptr[i] != big_byte(r->got);
    } else if (r->got < sizeof r->kept) {
      r->kept[r->got] = bytes.ptr[i];
    }
  }
  r->is_wrong = r->is_wrong || r->got > total;
  return r->give_up_at == 0 || r->got < r->give_up_at;
}

static inline xp_grpc_request request_to(uint16_t port, const char *path, xp_str bytes, reply_check *reply)
{
  return (xp_grpc_request){.target = {.host = "127.0.0.1", .port = port},
                           .path = path,
                           .request = bytes,
                           .connect_timeout_ns = 10u * (uint64_t)XP_NS_IN_S,
                           .timeout_ns = 60u * (uint64_t)XP_NS_IN_S,
                           .max_reply_bytes = UINT32_MAX,
                           .sink = check_reply,
                           .context = reply};
}

static inline xp_grpc_request request_of(const char *path, xp_str bytes, reply_check *reply)
{
  return request_to(xp_grpc_server_port(bench.server), path, bytes, reply);
}

static inline void assert_end(const xp_grpc_answer *answer, xp_grpc_end end)
{
  if (answer->end != end) {
    fail_msg("end %d (code %d): \"%s\"; right is %d", (int)answer->end, answer->code, answer->message, (int)end);
  }
}

static inline void assert_status(const xp_grpc_answer *answer, xp_grpc_code code, const char *message)
{
  assert_end(answer, XP_GRPC_END_STATUS);
  assert_int_equal(answer->code, code);
  assert_string_equal(answer->message, message);
}

/* A call on a thread of its own. */
typedef struct {
  pthread_t thread;
  xp_grpc_request request;
  reply_check reply;
  xp_grpc_answer answer;
} caller;

static inline void *make_call(void *argument)
{
  caller *c = argument;
  xp_grpc_unary(&c->request, &c->answer);
  return NULL;
}

/* Starts the call that the request describes; `reply` may be set before. */
static inline void start_caller(caller *c)
{
  assert_int_equal(pthread_create(&c->thread, NULL, make_call, c), 0);
}

static inline void begin_call(caller *c, const char *path, const char *text)
{
  c->request = request_of(path, xp_str_c(text), &c->reply);
  start_caller(c);
}

/* ---------------------------------------------------------------- raw sockets */

static inline struct sockaddr_in loopback_at(uint16_t port)
{
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static inline int raw_connect(uint16_t port)
{
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = loopback_at(port);
  assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
  return fd;
}

/* Sends all; false if the other side has closed. */
static inline bool raw_send(int fd, const void *bytes, size_t len)
{
  for (size_t sent = 0; sent < len;) {
    ssize_t n = send(fd, (const char *)bytes + sent, len - sent, MSG_NOSIGNAL);
    if (n <= 0) {
      return false;
    }
    sent += (size_t)n;
  }
  return true;
}

/* Reads until the end, an error, room bytes, or ms without a byte.  Returns how many; *closed if the other side has
 * closed the connection. */
static inline size_t raw_read(int fd, void *buffer, size_t room, int ms, bool *closed)
{
  size_t len = 0;
  *closed = false;
  while (len < room) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, ms) <= 0) {
      break;
    }
    ssize_t n = recv(fd, (char *)buffer + len, room - len, 0);
    if (n <= 0) {
      *closed = true;
      break;
    }
    len += (size_t)n;
  }
  return len;
}

/* Throws away what comes; true if the other side closes within ms of silence. */
static inline bool raw_is_closed(int fd, int ms)
{
  char buffer[4096];
  bool closed = false;
  while (raw_read(fd, buffer, sizeof buffer, ms, &closed) == sizeof buffer) {
  }
  return closed;
}

#endif
