/* Fuzz target: what plugins collected, laid out as a capture.  Whatever the bytes are, the capture can be read, and has
 * every event of planes that are whole. */
#include <stdlib.h>

#include "session/profile.h"
#include "xspace/xspace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static xp_str read_all(const xp_rope *space)
{
  char *bytes = malloc((size_t)space->bytes + 1);
  if (bytes == NULL) {
    abort();
  }
  xp_rope_reader reader = xp_rope_open(space);
  if (xp_rope_read(&reader, bytes, (size_t)space->bytes) != space->bytes) {
    abort();
  }
  xp_rope_close(&reader);
  return xp_str_from(bytes, (size_t)space->bytes);
}

/* The number of events of a capture that can be read to its end; -1 for others. */
static int64_t count_events(xp_str bytes)
{
  xp_capture *capture;
  xp_load_options options = {.threads = 1};
  if (xp_capture_load_memory(bytes, "x", &options, &capture, NULL) != XP_OK) {
    return -1;
  }
  int64_t count = capture->partial ? -1 : (int64_t)capture->events;
  xp_capture_free(capture);
  return count;
}

/* The same bytes from several plugins: with two, planes of equal names are merged. */
static void lay_out(xp_str bytes, size_t plugins)
{
  xp_profile *p = xp_profile_create();
  if (p == NULL) {
    return;
  }
  p->start_unix_ns = 1;
  p->plugins = xp_arena_array(p->arena, plugins, sizeof *p->plugins);
  for (size_t i = 0; i < plugins; i++) {
    p->plugins[p->plugin_count++] = (xp_collected){NULL, bytes};
  }
  const xp_rope *space = xp_profile_space(p, NULL);
  if (space == NULL) {
    abort();
  }
  xp_str laid_out = read_all(space);
  int64_t before = count_events(bytes), after = count_events(laid_out);
  if (before >= 0 && p->error_count == 0 && after != before * (int64_t)plugins) {
    abort();
  }
  free((void *)(uintptr_t)laid_out.ptr);
  xp_profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  xp_str bytes = xp_str_from((const char *)data, size);
  lay_out(bytes, 1);
  lay_out(bytes, 2);
  return 0;
}
