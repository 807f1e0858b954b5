/* A program whose server gives large captures: in every session it records EVENTS events with a copied text of
 * TEXT_BYTES each, and nothing else.
 *
 *   load EVENTS TEXT_BYTES LIMIT_MB
 *
 * Prints its port, and after each recording how much memory it has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "xlaprof/xlaprof.h"

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

int main(int argc, char **argv)
{
  if (argc != 4) {
    fprintf(stderr, "usage: load EVENTS TEXT_BYTES LIMIT_MB\n");
    return 2;
  }
  return serve(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
}
