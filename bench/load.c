/* A program that records as much as it is told, and nothing else: for measuring stop, export and reply.
 *
 *   load serve EVENTS TEXT_BYTES LIMIT_MB    serves on a free port, which it prints; in every session it records EVENTS
 * events with a copied text each load stop EVENTS INT_ARGS LOGDIR         records EVENTS events from two threads in a
 * session of its own; prints what stop and export took, and its memory
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "xlaprof/xlaprof.h"

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double resident_mb(void)
{
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file != NULL) {
    if (fscanf(file, "%*d %ld", &pages) != 1) {
      pages = 0;
    }
    fclose(file);
  }
  return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static double peak_mb(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss * 1024 / 1e6;
}

/* ---- serve */

static void record_texts(size_t events, char *text, size_t len)
{
  for (size_t i = 0; i < events && xp_is_recording(XP_LEVEL_USER); i++) {
    snprintf(text, 24, "%zu", i);
    xp_arg arg = xp_arg_str_copy("text", text, len);
    xp_region_end(xp_region_begin_args(XP_LEVEL_USER, "event", &arg, 1));
  }
}

static int serve(size_t events, size_t text_bytes, uint64_t limit_mb)
{
  xp_server_options options = XP_SERVER_OPTIONS_INIT;
  xp_server *server;
  xp_error err;
  char *text = calloc(1, text_bytes + 24);
  options.buffer_limit_bytes = limit_mb << 20;
  if (text == NULL || xp_server_start(&options, &server, &err) != XP_OK) {
    fprintf(stderr, "load: %s\n", text != NULL ? err.text : "no memory");
    return 1;
  }
  memset(text, 'x', text_bytes);
  printf("%u\n", xp_server_port(server));
  fflush(stdout);
  for (bool was_recording = false;;) {
    bool is_recording = xp_is_recording(XP_LEVEL_USER);
    if (is_recording && !was_recording) {
      record_texts(events, text, text_bytes);
      printf("recorded, resident %.0f MB\n", resident_mb());
      fflush(stdout);
    }
    was_recording = is_recording;
    usleep(1000);
  }
}

/* ---- stop */

typedef struct {
  size_t events, int_args;
} load;

static void *record(void *context)
{
  const load *l = context;
  const xp_arg args[4] = {XP_INT("a", 1), XP_INT("b", 2), XP_INT("c", 3), XP_INT("d", 4)};
  for (size_t i = 0; i < l->events; i++) {
    xp_region_end(xp_region_begin_args(XP_LEVEL_USER, i % 2 ? "odd" : "even", args, l->int_args));
  }
  return NULL;
}

static int fail(const xp_error *err)
{
  fprintf(stderr, "load: %s\n", err->text);
  return 1;
}

static int stop(size_t events, size_t int_args, const char *logdir)
{
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  xp_export_options export_options = XP_EXPORT_OPTIONS_INIT;
  xp_profile *profile;
  xp_export *handle;
  xp_error err;
  load half = {events / 2, int_args < 4 ? int_args : 4};
  pthread_t other;
  options.buffer_limit_bytes = (uint64_t)4 << 30;
  if (xp_session_start(&options, &err) != XP_OK) {
    return fail(&err);
  }
  double begin = seconds();
  pthread_create(&other, NULL, record, &half);
  record(&half);
  pthread_join(other, NULL);
  double recorded = seconds(), recorded_mb = resident_mb();
  if (xp_session_stop(&profile, &err) != XP_OK) {
    return fail(&err);
  }
  double stopped = seconds();
  uint64_t dropped = xp_profile_dropped(profile), bytes = xp_profile_bytes(profile);
  double laid_out = seconds();
  export_options.write_trace_json = false;
  if (xp_profile_export(profile, logdir, &export_options, &handle, &err) != XP_OK ||
      xp_export_wait(handle, NULL, 0, &err) != XP_OK) {
    return fail(&err);
  }
  double exported = seconds();
  printf("{\"events\": %zu, \"dropped\": %llu, \"record_s\": %.4f, \"stop_s\": %.4f, \"layout_s\": %.4f, \"export_s\": "
         "%.4f, "
         "\"bytes\": %llu, \"recorded_mb\": %.1f, \"peak_mb\": %.1f}\n",
         events, (unsigned long long)dropped, recorded - begin, stopped - recorded, laid_out - stopped,
         exported - laid_out, (unsigned long long)bytes, recorded_mb, peak_mb());
  return 0;
}

int main(int argc, char **argv)
{
  if (argc == 5 && strcmp(argv[1], "serve") == 0) {
    return serve(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
  }
  if (argc == 5 && strcmp(argv[1], "stop") == 0) {
    return stop(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), argv[4]);
  }
  fprintf(stderr, "usage: load serve EVENTS TEXT_BYTES LIMIT_MB, or load stop EVENTS INT_ARGS LOGDIR\n");
  return 2;
}
