/* A recording as the recorder makes it and the cursor reads it. */
#ifndef XP_ANNOTATE_RECORDING_H
#define XP_ANNOTATE_RECORDING_H

#include "annotate/clock.h"
#include "annotate/pool.h"
#include "annotate/recorder.h"

/* Of one thread. */
typedef struct {
  const xp_chunk *first;
  xp_chunk *own;       /* the first chunk if it is not of the pool: freed with the recording */
  uint64_t last_ticks; /* when the thread or the recording ended */
  uint64_t order, count, dropped;
  int64_t tid;
  char name[32];
} xp_recording_part;

typedef struct {
  xp_recording seen; /* first: what others hold a pointer to */
  xp_pool pool;
  xp_clock_scale scale;
  xp_recording_part *parts; /* like seen.threads, once it is finished */
  size_t part_count;
} xp_recording_data;

/* An empty one with room for so many threads; NULL when memory is out. */
xp_recording_data *xp_recording_create(size_t part_count);

/* Puts the threads that have something in order, and takes the pool.  If memory is out it frees the recording, leaves
 * the pool and returns false. */
bool xp_recording_finish(xp_recording_data *data, const xp_pool *pool, xp_clock_pair start, xp_clock_pair stop,
                         int64_t start_unix_ns);

#endif
