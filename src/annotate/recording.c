/* What a stop took, put in order: threads by their first event, without those that have nothing. */
#include "annotate/recording.h"

#include <stdlib.h>
#include <string.h>

xp_recording_data *xp_recording_create(size_t part_count)
{
  xp_recording_data *data = calloc(1, sizeof *data);
  if (data == NULL) {
    return NULL;
  }
  data->part_count = part_count;
  data->parts = calloc(part_count + 1, sizeof *data->parts);
  if (data->parts == NULL) {
    free(data);
    return NULL;
  }
  return data;
}

static int by_order(const void *a, const void *b)
{
  const xp_recording_part *x = a, *y = b;
  return x->order != y->order ? (x->order < y->order ? -1 : 1) : x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Forgets the parts without events. */
static void drop_empty(xp_recording_data *data)
{
  size_t kept = 0;
  for (size_t i = 0; i < data->part_count; i++) {
    if (data->parts[i].count > 0 || data->parts[i].dropped > 0) {
      data->parts[kept++] = data->parts[i];
    }
  }
  data->part_count = kept;
}

bool xp_recording_finish(xp_recording_data *data, const xp_pool *pool, xp_clock_pair start, xp_clock_pair stop,
                         int64_t start_unix_ns)
{
  xp_recording *seen = &data->seen;
  drop_empty(data);
  qsort(data->parts, data->part_count, sizeof *data->parts, by_order);
  seen->threads = calloc(data->part_count + 1, sizeof *seen->threads);
  if (seen->threads == NULL) {
    xp_recording_free(seen);
    return false;
  }
  seen->thread_count = data->part_count;
  for (size_t i = 0; i < data->part_count; i++) {
    const xp_recording_part *part = &data->parts[i];
    xp_recorded_thread *thread = &seen->threads[i];
    thread->tid = part->tid;
    thread->count = part->count;
    thread->dropped = part->dropped;
    memcpy(thread->name, part->name, sizeof thread->name);
    seen->dropped += part->dropped;
  }
  data->scale = xp_clock_scale_between(start, stop);
  seen->start_unix_ns = start_unix_ns;
  seen->stop_unix_ns = start_unix_ns + (stop.monotonic_ns - start.monotonic_ns);
  data->pool = *pool;
  return true;
}

void xp_recording_free(xp_recording *recording)
{
  if (recording == NULL) {
    return;
  }
  xp_recording_data *data = (xp_recording_data *)recording;
  for (size_t i = 0; i < data->part_count; i++) {
    free(data->parts[i].own);
  }
  xp_pool_close(&data->pool);
  free(data->parts);
  free(data->seen.threads);
  free(data);
}
