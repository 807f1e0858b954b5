/* Fuzz target: the whole reading of a capture, and its invariants. */
#include "analyze/analyze.h"

#include <stdlib.h>

/* The parts of every gap must add up to it, whatever the capture says. */
static void check_gaps(xp_reading *reading) {
  xp_arena *arena = xp_arena_create();
  xp_error err;
  for (size_t i = 0; i < reading->gap_count; i++) {
    const xp_gap *gap = &reading->gaps[i];
    xp_gap_details details;
    if (xp_gap_explain(reading, gap, arena, &details, &err) != XP_OK) {
      abort();
    }
    int64_t sum = 0;
    for (size_t k = 0; k < details.part_count; k++) {
      sum += details.parts[k].ps;
    }
    if (sum != gap->dur_ps || gap->device >= reading->device_count) {
      abort();
    }
  }
  xp_arena_destroy(arena);
}

static void check_devices(const xp_reading *reading) {
  for (size_t i = 0; i < reading->device_count; i++) {
    const xp_device *d = &reading->devices[i];
    if (d->has_window && d->window_ps[1] - d->window_ps[0] !=
                             d->busy_ps + d->copy_ps + d->idle_ps)
      abort();
  }
}

static void group_ops(xp_reading *reading) {
  for (xp_ops_by by = XP_OPS_BY_OP; by <= XP_OPS_BY_SOURCE; by++) {
    xp_op_row *rows;
    size_t count;
    xp_error err;
    if (xp_reading_ops(reading, by, &rows, &count, &err) != XP_OK)
      abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  xp_load_options load = {.threads = 1};
  xp_capture *capture;
  xp_error err;
  if (xp_capture_load_memory(xp_str_from((const char *)data, size), "fuzz",
                             &load, &capture, &err) != XP_OK)
    return 0;
  xp_analyze_options options = {0};
  xp_reading *reading;
  if (xp_analyze(capture, &options, &reading, &err) != XP_OK)
    abort();
  check_devices(reading);
  check_gaps(reading);
  group_ops(reading);
  xp_reading_free(reading);
  xp_capture_free(capture);
  return 0;
}
