/* What a session costs when it ends: the stop, and the export.
 *
 *   session EVENTS LOGDIR [json]
 *
 * Records so many events on four threads (a quarter of them each, every second with an integer argument), stops, and
 * writes the capture.  Prints the times, and the largest memory before and after the export.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "xlaprof/annotate.h"
#include "xlaprof/session.h"

enum { THREADS = 4 };

static double now_s(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double largest_mib(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

static void *record(void *count)
{
  for (int64_t i = 0; i < *(const int64_t *)count; i += 2) {
    XP_REGION("plain") {
      XP_REGION("argument", XP_INT("i", i)) {
      }
    }
  }
  return NULL;
}

static void record_on_threads(int64_t count)
{
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], NULL, record, &count);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
}

static int fail(const xp_error *err)
{
  fprintf(stderr, "%s\n", err->text);
  return 1;
}

int main(int argc, char **argv)
{
  if (argc < 3) {
    fputs("usage: session EVENTS LOGDIR [json]\n", stderr);
    return 2;
  }
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  xp_export_options names = XP_EXPORT_OPTIONS_INIT;
  xp_profile *profile;
  xp_export *handle;
  xp_error err = {0};
  names.write_trace_json = argc > 3 && strcmp(argv[3], "json") == 0;
  double begin = now_s();
  if (xp_session_start(&options, &err) != XP_OK) {
    return fail(&err);
  }
  double started = now_s();
  record_on_threads(strtoll(argv[1], NULL, 10) / THREADS);
  double recorded = now_s();
  if (xp_session_stop(&profile, &err) != XP_OK) {
    return fail(&err);
  }
  double stopped = now_s(), before_mib = largest_mib();
  uint64_t bytes = xp_profile_bytes(profile), dropped = xp_profile_dropped(profile);
  double measured = now_s();
  if (xp_profile_export(profile, argv[2], &names, &handle, &err) != XP_OK ||
      xp_export_wait(handle, NULL, 0, &err) != XP_OK) {
    return fail(&err);
  }
  double written = now_s();
  printf("start %.1f ms, recording %.2f s, stop %.1f ms (%" PRIu64 " dropped)\n", (started - begin) * 1e3,
         recorded - started, (stopped - recorded) * 1e3, dropped);
  printf("layout %.2f s, writing %.2f s: %.1f MB, %.0f MB/s of writing, %.0f MB/s of both\n", measured - stopped,
         written - measured, (double)bytes / 1e6, (double)bytes / 1e6 / (written - measured),
         (double)bytes / 1e6 / (written - stopped));
  printf("largest memory: %.0f MiB when stopped, %.0f MiB at the end\n", before_mib, largest_mib());
  return 0;
}
