/* Every allocation of the recorder fails once: nothing crashes, nothing stays behind, and the next session is as good
 * as any.  The files that allocate are compiled in here, with the calls replaced. */
#define _GNU_SOURCE
#include "recorded.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

static atomic_int calls, live; /* asked for; not given back */
static int first_to_fail, last_to_fail;

static bool fails(void)
{
  int n = atomic_fetch_add(&calls, 1) + 1;
  return first_to_fail > 0 && n >= first_to_fail && n <= last_to_fail;
}

static void *failing_calloc(size_t count, size_t size)
{
  void *piece = fails() ? NULL : calloc(count, size);
  atomic_fetch_add(&live, piece != NULL);
  return piece;
}

static void *failing_aligned_alloc(size_t alignment, size_t size)
{
  void *piece = fails() ? NULL : aligned_alloc(alignment, size);
  atomic_fetch_add(&live, piece != NULL);
  return piece;
}

static void counting_free(void *piece)
{
  atomic_fetch_sub(&live, piece != NULL);
  free(piece);
}

static void *failing_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
  if (fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return mmap(at, size, protection, flags, fd, offset);
}

static int failing_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
  return fails() ? EAGAIN : pthread_create(id, attributes, run, argument);
}

#define calloc         failing_calloc
#define aligned_alloc  failing_aligned_alloc
#define free           counting_free
#define mmap           failing_mmap
#define pthread_create failing_pthread_create
#define end_thread     end_this_thread /* recorded.h has another */
#include "../../src/annotate/cursor.c"
#include "../../src/annotate/feeder.c"
#include "../../src/annotate/pool.c"
#include "../../src/annotate/recorder.c"
#include "../../src/annotate/recording.c"
#include "../../src/annotate/tracer.c"
#include "../../src/base/arena.c"
#include "../../src/base/map.c"
#undef calloc
#undef aligned_alloc
#undef free
#undef mmap
#undef pthread_create
#undef end_thread

typedef struct {
  xp_status status;
  uint64_t events, dropped;
} outcome;

static void read_all(outcome *out, const xp_recording *recording)
{
  for (size_t i = 0; i < recording->thread_count; i++) {
    xp_recorded_cursor *cursor = xp_recorded_cursor_open(recording, i);
    if (cursor == NULL) {
      out->status = XP_ERR_MEMORY;
      continue;
    }
    for (xp_recorded_event event; xp_recorded_cursor_next(cursor, &event);) {
      out->events++;
      touch_bytes(event.name);
    }
    xp_recorded_cursor_close(cursor);
  }
  out->dropped = recording->dropped;
}

static void *record_and_read(void *context)
{
  outcome *out = context;
  xp_error err = {0};
  xp_recording *recording;
  const xp_recorder_options options = {1, false, (uint64_t)4 * MIB};
  XP_TRACE("open before") {
    out->status = xp_recorder_start(&options, &err);
    xp_trace trace = xp_trace_begin_copy("copied", 6, NULL, 0);
    xp_trace_add(trace, XP_INT("k", 1));
    xp_trace_end(trace, NULL);
    uint64_t now = xp_clock_ticks();
    xp_record(1, "past", now - 1, now, NULL, 0);
  }
  if (out->status == XP_OK) {
    out->status = xp_recorder_stop(&recording, &err);
    if (out->status == XP_OK) {
      read_all(out, recording);
      xp_recording_free(recording);
    }
  }
  assert_true(out->status == XP_OK || (err.status == out->status && err.text[0] != '\0') || err.status == XP_OK);
  return NULL;
}

static void each_allocation_may_fail_alone_or_with_all_that_follow(void **state)
{
  (void)state;
  for (int alone = 0; alone < 2; alone++) {
    int untouched = 0;
    for (int n = 1; untouched < 2; n++) {
      assert_true(n < 1000);
      outcome out = {XP_OK, 0, 0};
      atomic_store(&calls, 0);
      first_to_fail = n;
      last_to_fail = alone ? n : INT32_MAX;
      run_in_thread(record_and_read, &out);
      first_to_fail = 0;
      assert_true(out.status == XP_OK || out.status == XP_ERR_MEMORY);
      assert_int_equal(atomic_load(&live), 0);
      untouched += atomic_load(&calls) < n;
      if (untouched > 0) {
        assert_int_equal(out.status, XP_OK);
        assert_int_equal(out.events, 3);
      }
    }
  }
}

static void *begin_without_memory(void *context)
{
  (void)context;
  uint64_t misuse = xp_misuse_count();
  atomic_store(&calls, 0);
  first_to_fail = 1;
  last_to_fail = INT32_MAX;
  xp_trace trace = xp_trace_begin("t");
  first_to_fail = 0;
  assert_null(trace.thread);
  assert_int_equal(xp_misuse_count() - misuse, 1);
  assert_int_equal(xp_trace_end(trace, NULL), XP_OK);
  return NULL;
}

static void a_trace_without_memory_for_its_thread_is_counted(void **state)
{
  (void)state;
  run_in_thread(begin_without_memory, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_allocation_may_fail_alone_or_with_all_that_follow),
      cmocka_unit_test(a_trace_without_memory_for_its_thread_is_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
