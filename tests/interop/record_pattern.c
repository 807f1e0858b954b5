/* Records a known pattern through libxlaprof, and prints what it recorded, for readers of captures to be held against.
 *
 *   record_pattern here LOGDIR   in a session of its own
 *   record_pattern serve         prints the port of its profiler server; then once in each capture, until standard
 *                                input ends
 *
 * One line of JSON for each event: line, name, args as readers shall see them, and when it began and ended, each as the
 * time of the system's clock before and after the call, in nanoseconds since 1970.  What is printed is written by hand
 * here; nothing of it is read back from the library.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xlaprof/xlaprof.h>

/* The time around a call. */
typedef struct {
  int64_t before, after;
} moment;

typedef struct {
  moment begin, end;
} times;

static int64_t now_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void nap(long us)
{
  nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

#define TIMED(moment_, call) ((moment_).before = now_ns(), call, (moment_).after = now_ns())

static void say(const char *line, const char *name, const times *t, const char *args)
{
  printf("{\"line\": \"%s\", \"name\": \"%s\", \"begin\": [%" PRId64 ", %" PRId64 "], \"end\": [%" PRId64 ", %" PRId64
         "], \"args\": {%s}}\n",
         line, name, t->begin.before, t->begin.after, t->end.before, t->end.after, args);
}

static void end(xp_trace trace, times *t)
{
  xp_error err = {XP_OK, ""};
  TIMED(t->end, xp_trace_end(trace, &err));
  if (err.status != XP_OK) {
    fprintf(stderr, "%s\n", err.text);
  }
}

/* ---- the pattern */

static void record_arguments(void)
{
  times t;
  xp_trace trace;
  char copied[] = "a copy";
  const xp_arg args[] = {XP_INT("least", INT64_MIN),
                         XP_UINT("most", UINT64_MAX),
                         XP_DOUBLE("share", 0.25),
                         XP_BOOL("is_good", true),
                         XP_TEXT("word", "gr\u00f6\u00dfe"),
                         XP_TEXT("nothing", ""),
                         {"copied", XP_ARG_STR_COPY, (uint32_t)strlen(copied), {.s = copied}}};
  TIMED(t.begin, trace = xp_trace_begin_args("arguments", args, sizeof args / sizeof *args));
  memset(copied, '?', strlen(copied)); /* the library has its own by now */
  nap(300);
  xp_trace_add(trace, XP_INT("added", -5));
  end(trace, &t);
  say("pattern", "arguments", &t,
      "\"least\": -9223372036854775808, \"most\": 18446744073709551615, \"share\": 0.25, \"is_good\": 1, "
      "\"word\": \"gr\u00f6\u00dfe\", \"nothing\": \"\", \"copied\": \"a copy\", \"added\": -5");
}

static void record_names(void)
{
  times t;
  xp_region region;
  xp_trace trace;
  char name[] = "#1 of a name that goes away";
  TIMED(t.begin, trace = xp_trace_begin_copy(name, strlen(name), NULL, 0));
  memset(name, '?', strlen(name));
  nap(200);
  end(trace, &t);
  say("pattern", "_1 of a name that goes away", &t, "");
  TIMED(t.begin, region = xp_region_begin(XP_LEVEL_INFO, "region \u65e5\u672c"));
  nap(100);
  TIMED(t.end, xp_region_end(region));
  say("pattern", "region \u65e5\u672c", &t, "");
  const xp_arg arg = XP_INT("at", 7);
  TIMED(t.begin, xp_instant(XP_LEVEL_USER, "instant", &arg, 1));
  t.end = t.begin;
  say("pattern", "instant", &t, "\"at\": 7");
}

static void *record_in_thread(void *context)
{
  times t;
  char args[64];
  uint64_t flow = *(const uint64_t *)context;
  const xp_arg out[] = {XP_FLOW_OUT(flow)};
  xp_region region;
  pthread_setname_np(pthread_self(), "helper");
  TIMED(t.begin, region = xp_region_begin_args(XP_LEVEL_USER, "hand over", out, 2));
  nap(150);
  TIMED(t.end, xp_region_end(region));
  snprintf(args, sizeof args, "\"_pt\": 0, \"_p\": %" PRIu64, flow);
  say("helper", "hand over", &t, args);
  return NULL;
}

static void record_flow(void)
{
  times t;
  char args[64];
  pthread_t helper;
  xp_trace trace;
  uint64_t flow = xp_flow_new();
  if (pthread_create(&helper, NULL, record_in_thread, &flow) != 0) {
    return;
  }
  pthread_join(helper, NULL);
  const xp_arg in[] = {XP_FLOW_IN(flow)};
  TIMED(t.begin, trace = xp_trace_begin_args("take over", in, 2));
  end(trace, &t);
  snprintf(args, sizeof args, "\"_ct\": 0, \"_c\": %" PRIu64, flow);
  say("pattern", "take over", &t, args);
}

static void record_pattern(void)
{
  for (int step = 3; step < 5; step++) {
    times t;
    char args[64];
    xp_trace trace;
    TIMED(t.begin, trace = xp_step_begin("epoch", step));
    record_arguments();
    record_names();
    record_flow();
    end(trace, &t);
    snprintf(args, sizeof args, "\"_r\": 1, \"step_num\": %d", step);
    say("pattern", "epoch", &t, args);
  }
  fflush(stdout);
}

/* ---- the two ways to record it */

static int fail(const xp_error *err)
{
  fprintf(stderr, "record_pattern: %s\n", err->text);
  return 1;
}

static int record_here(const char *logdir)
{
  xp_error err = {XP_OK, ""};
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.logdir = logdir;
  if (xp_session_start(&options, &err) != XP_OK) {
    return fail(&err);
  }
  record_pattern();
  return xp_session_save(NULL, NULL, &err) == XP_OK ? 0 : fail(&err);
}

static int serve(void)
{
  xp_error err = {XP_OK, ""};
  xp_server_options options = XP_SERVER_OPTIONS_INIT;
  xp_server *server;
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  if (xp_server_start(&options, &server, &err) != XP_OK) {
    return fail(&err);
  }
  printf("%u\n", (unsigned)xp_server_port(server));
  fflush(stdout);
  for (bool was_recording = false; poll(&input, 1, 2) == 0;) {
    bool is_recording = xp_is_recording(XP_LEVEL_USER);
    if (is_recording && !was_recording) {
      record_pattern();
    }
    was_recording = is_recording;
  }
  xp_server_stop(server);
  return 0;
}

int main(int argc, char **argv)
{
  pthread_setname_np(pthread_self(), "pattern");
  if (argc == 3 && strcmp(argv[1], "here") == 0) {
    return record_here(argv[2]);
  }
  if (argc == 2 && strcmp(argv[1], "serve") == 0) {
    return serve();
  }
  fputs("usage: record_pattern here LOGDIR | serve\n", stderr);
  return 2;
}
