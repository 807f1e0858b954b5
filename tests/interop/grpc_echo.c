/* Both ends of our gRPC as a program, for peers to talk to and for measuring.
 *
 *   grpc_echo serve                                    prints its port, and serves until standard input ends
 *   grpc_echo call HOST:PORT PATH REQUEST TIMEOUT_MS   prints one line: END CODE BYTES HASH SECONDS PEAK_KIB MESSAGE
 *   grpc_echo repeat HOST:PORT N                       prints the median of N small calls, in microseconds
 *
 * Methods of the server: /xlaprof.Test/Echo; Big (as many bytes as the request says; byte i is i mod 251); Slow
 * (answers after so many milliseconds, with "cancelled" if the call was taken back by then); Fail ("CODE MESSAGE");
 * Cancelled (how many calls of Slow were taken back).
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rpc/grpc_client.h"
#include "rpc/grpc_server.h"
#include "rpc/monotonic.h"

enum { PERIOD = 251, MOST_TEXT = 4096 };

static atomic_int cancelled_count;

static int64_t number_in(xp_str text)
{
  int64_t n = 0;
  return xp_str_to_int64(text, &n) && n > 0 ? n : 0;
}

/* ---------------------------------------------------------------- methods */

static void echo(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context;
  xp_grpc_reply_bytes(call, request);
}

static size_t read_big(void *context, void *buffer, size_t room)
{
  static const uint8_t *pattern; /* of the server's thread only */
  if (pattern == NULL) {
    uint8_t *made = malloc(PERIOD * 1024);
    for (int i = 0; made != NULL && i < PERIOD * 1024; i++) {
      made[i] = (uint8_t)(i % PERIOD);
    }
    pattern = made;
  }
  uint64_t *at = context;
  size_t start = (size_t)(*at % PERIOD), n = PERIOD * 1024 - start;
  n = n < room ? n : room;
  if (pattern == NULL) {
    return 0;
  }
  memcpy(buffer, pattern + start, n);
  *at += n;
  return n;
}

static void big(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context;
  xp_grpc_body body = {(uint64_t)number_in(request), read_big, free, calloc(1, sizeof(uint64_t))};
  if (body.context == NULL) {
    xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, "no memory");
    return;
  }
  xp_grpc_reply(call, &body);
}

typedef struct {
  xp_grpc_call *call;
  int ms;
  atomic_bool is_cancelled;
} slow_call;

static void note_cancelled(void *context)
{
  slow_call *s = context;
  atomic_store(&s->is_cancelled, true);
  atomic_fetch_add(&cancelled_count, 1);
}

static void *answer_slowly(void *argument)
{
  slow_call *s = argument;
  for (int waited = 0; waited < s->ms && !atomic_load(&s->is_cancelled); waited += 10) {
    poll(NULL, 0, 10);
  }
  xp_grpc_reply_bytes(s->call, xp_str_c(atomic_load(&s->is_cancelled) ? "cancelled" : "done"));
  free(s);
  return NULL;
}

static void slow(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context;
  slow_call *s = calloc(1, sizeof *s);
  pthread_t thread;
  if (s == NULL) {
    xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, "no memory");
    return;
  }
  s->call = call;
  s->ms = (int)number_in(request);
  xp_grpc_call_on_cancel(call, note_cancelled, s);
  if (pthread_create(&thread, NULL, answer_slowly, s) != 0) {
    xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, "no thread");
    free(s);
    return;
  }
  pthread_detach(thread);
}

static void fail(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context;
  char text[MOST_TEXT], *message;
  snprintf(text, sizeof text, "%.*s", XP_STR_ARG(request));
  long code = strtol(text, &message, 10);
  xp_grpc_fail(call, (xp_grpc_code)code, *message == ' ' ? message + 1 : message);
}

static void count_cancelled(void *context, xp_grpc_call *call, xp_str request)
{
  (void)context, (void)request;
  char text[16];
  snprintf(text, sizeof text, "%d", atomic_load(&cancelled_count));
  xp_grpc_reply_bytes(call, xp_str_c(text));
}

static long peak_kib(void)
{
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

static int serve(void)
{
  static const xp_grpc_method METHODS[] = {{"/xlaprof.Test/Echo", echo},
                                           {"/xlaprof.Test/Big", big},
                                           {"/xlaprof.Test/Slow", slow},
                                           {"/xlaprof.Test/Fail", fail},
                                           {"/xlaprof.Test/Cancelled", count_cancelled}};
  xp_grpc_server_options options = {.methods = METHODS,
                                    .method_count = sizeof METHODS / sizeof METHODS[0],
                                    .max_request_bytes = 64 << 20,
                                    .max_connections = 64};
  xp_grpc_server *server;
  xp_error err;
  if (xp_grpc_server_start(&options, &server, &err) != XP_OK) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  printf("%u\n", (unsigned)xp_grpc_server_port(server));
  fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  xp_grpc_server_stop(server);
  printf("%ld\n", peak_kib());
  return 0;
}

/* ---------------------------------------------------------------- calls */

/* A sum over the bytes that sees their order: FNV-1a of every 4096th byte and of the count. */
typedef struct {
  uint64_t hash, at;
} digest;

static bool take(void *context, uint64_t total, xp_str bytes)
{
  (void)total;
  digest *d = context;
  for (uint64_t i = (d->at + 4095) / 4096 * 4096; i < d->at + bytes.len; i += 4096) {
    d->hash = (d->hash ^ (uint8_t)bytes.ptr[i - d->at]) * 0x100000001b3u;
  }
  d->at += bytes.len;
  return true;
}

static int call(const char *target, const char *path, const char *text, const char *timeout_ms)
{
  static const char *const ENDS[] = {"STATUS",  "NO_ADDRESS", "NO_LISTENER", "NOT_GRPC",  "LOST",
                                     "TIMEOUT", "LIMIT",      "SINK",        "CANCELLED", "MEMORY"};
  digest d = {0xcbf29ce484222325u, 0};
  xp_grpc_request request = {.path = path,
                             .request = xp_str_c(text),
                             .connect_timeout_ns = 5u * (uint64_t)XP_NS_IN_S,
                             .timeout_ns = (uint64_t)number_in(xp_str_c(timeout_ms)) * (uint64_t)XP_NS_IN_MS,
                             .max_reply_bytes = UINT32_MAX,
                             .sink = take,
                             .context = &d};
  xp_error err;
  if (xp_grpc_target_parse(xp_str_c(target), &request.target, &err) != XP_OK) {
    fprintf(stderr, "%s\n", err.text);
    return 2;
  }
  xp_grpc_answer answer;
  int64_t start = xp_monotonic_ns();
  xp_grpc_unary(&request, &answer);
  double seconds = (double)(xp_monotonic_ns() - start) / (double)XP_NS_IN_S;
  printf("%s %d %llu %016llx %.4f %ld %s\n", ENDS[answer.end], answer.code, (unsigned long long)answer.reply_bytes,
         (unsigned long long)d.hash, seconds, peak_kib(), answer.message);
  return 0;
}

static int compare_times(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int repeat(const char *target, const char *count)
{
  size_t n = (size_t)number_in(xp_str_c(count));
  int64_t *times = calloc(n + 1, sizeof *times);
  xp_grpc_request request = {.path = "/xlaprof.Test/Echo", .request = xp_str_c("hello"), .max_reply_bytes = 100};
  if (times == NULL || xp_grpc_target_parse(xp_str_c(target), &request.target, NULL) != XP_OK) {
    return 2;
  }
  for (size_t i = 0; i < n; i++) {
    xp_grpc_answer answer;
    int64_t start = xp_monotonic_ns();
    xp_grpc_unary(&request, &answer);
    times[i] = xp_monotonic_ns() - start;
    if (answer.end != XP_GRPC_END_STATUS || answer.code != XP_GRPC_OK) {
      fprintf(stderr, "%s\n", answer.message);
      return 1;
    }
  }
  qsort(times, n, sizeof *times, compare_times);
  printf("%.1f\n", (double)times[n / 2] / 1000);
  free(times);
  return 0;
}

int main(int argc, char **argv)
{
  if (argc == 2 && strcmp(argv[1], "serve") == 0) {
    return serve();
  }
  if (argc == 6 && strcmp(argv[1], "call") == 0) {
    return call(argv[2], argv[3], argv[4], argv[5]);
  }
  if (argc == 4 && strcmp(argv[1], "repeat") == 0) {
    return repeat(argv[2], argv[3]);
  }
  fputs("usage: grpc_echo serve | call HOST:PORT PATH REQUEST TIMEOUT_MS | repeat HOST:PORT N\n", stderr);
  return 2;
}
