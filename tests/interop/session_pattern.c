/* Records a pattern that is known, saves it, and prints what a reader must find.
 *
 *   session_pattern LOGDIR
 *
 * Writes LOGDIR/plugins/profile/run/host.xplane.pb and host.trace.json.gz.  Prints a JSON object a line: the session
 * ({"start_ns": .., "stop_ns": ..}, bounds by the clock of the system, as all times), then the events of each thread by
 * their start: line, name, the earliest and the latest time of start and of end, and args.  A byte that is no UTF-8 is
 * printed as readers must see it.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "xlaprof/annotate.h"
#include "xlaprof/session.h"

enum { MOST = 64 };

typedef struct {
  const char *line, *name;
  char args[256];
  int64_t start[2], end[2]; /* earliest and latest, Unix ns */
} expected;

static expected all[MOST];
static int count;

static int64_t now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static expected *begins(const char *line, const char *name, const char *args)
{
  expected *e = &all[count++];
  e->line = line;
  e->name = name;
  snprintf(e->args, sizeof e->args, "%s", args);
  e->start[0] = now_ns();
  return e;
}

static void sleep_ms(long ms)
{
  const struct timespec time = {0, ms * 1000000};
  nanosleep(&time, NULL);
}

/* Arguments of all types; the texts of both kinds hold what JSON and UTF-8 find hard. */
static void record_arguments(void)
{
  static const char copied[] = "a\0b\xff";
  const xp_arg args[] = {
      xp_arg_int("i", INT64_MIN), xp_arg_uint("u", UINT64_MAX),           xp_arg_double("d", -0.1),
      xp_arg_bool("b", true),     xp_arg_str("s", "caf\xc3\xa9 \"x\"\n"), xp_arg_str_copy("c", copied, 4)};
  expected *e = begins("main", "arguments",
                       "\"i\": -9223372036854775808, \"u\": 18446744073709551615, \"d\": -0.1, \"b\": 1, "
                       "\"s\": \"caf\\u00e9 \\\"x\\\"\\n\", \"c\": \"a\\u0000b\\ufffd\"");
  xp_region region = xp_region_begin_args(XP_LEVEL_USER, "arguments", args, 6);
  e->start[1] = e->end[0] = now_ns();
  xp_region_end(region);
  e->end[1] = now_ns();
}

static void record_step(int64_t number)
{
  char args[64];
  snprintf(args, sizeof args, "\"_r\": 1, \"step_num\": %" PRId64, number);
  expected *outer = begins("main", "train", args);
  xp_trace step = xp_step_begin("train", number);
  outer->start[1] = now_ns();
  expected *inner = begins("main", "load_batch", "");
  xp_trace trace = xp_trace_begin("load#batch"); /* readers split names at this sign */
  inner->start[1] = now_ns();
  sleep_ms(2);
  inner->end[0] = now_ns();
  xp_trace_end(trace, NULL);
  inner->end[1] = outer->end[0] = now_ns();
  xp_trace_end(step, NULL);
  outer->end[1] = now_ns();
}

static void record_instant(const char *line)
{
  expected *e = begins(line, "tick", "");
  xp_instant(XP_LEVEL_INFO, "tick", NULL, 0);
  e->start[1] = e->end[1] = now_ns();
  e->end[0] = e->start[0];
}

static void *work(void *unused)
{
  (void)unused;
  pthread_setname_np(pthread_self(), "worker");
  for (int i = 0; i < 3; i++) {
    record_instant("worker");
    sleep_ms(1);
  }
  return NULL;
}

static void print_all(int64_t start_ns, int64_t stop_ns)
{
  printf("{\"start_ns\": %" PRId64 ", \"stop_ns\": %" PRId64 ", \"pid\": %ld}\n", start_ns, stop_ns, (long)getpid());
  for (int i = 0; i < count; i++) {
    const expected *e = &all[i];
    printf("{\"line\": \"%s\", \"name\": \"%s\", \"start\": [%" PRId64 ", %" PRId64 "], \"end\": [%" PRId64 ", %" PRId64
           "], \"args\": {%s}}\n",
           e->line, e->name, e->start[0], e->start[1], e->end[0], e->end[1], e->args);
  }
}

int main(int argc, char **argv)
{
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  xp_export_options names = XP_EXPORT_OPTIONS_INIT;
  xp_error err = {0};
  options.logdir = argc == 2 ? argv[1] : "";
  names.run = "run";
  names.host = "host";
  pthread_setname_np(pthread_self(), "main");
  int64_t start_ns = now_ns();
  if (xp_session_add_program("jit_f", 12, "hlo bytes", 9, &err) != XP_OK || xp_session_start(&options, &err) != XP_OK) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  record_arguments();
  for (int64_t number = 7; number < 10; number++) {
    record_step(number);
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0) {
    return 1;
  }
  expected *open = begins("main", "open", "\"unfinished\": 1");
  xp_trace trace = xp_trace_begin("open");
  open->start[1] = open->end[0] = now_ns();
  xp_status status = xp_session_save(&names, NULL, &err);
  open->end[1] = now_ns();
  xp_trace_end(trace, NULL);
  if (status != XP_OK) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  print_all(start_ns, now_ns());
  return 0;
}
