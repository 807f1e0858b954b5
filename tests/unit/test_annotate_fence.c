/* A system without membarrier: the recording threads order their memory themselves.  The file that asks for it is
 * compiled in here and told that there is none. */
#define _GNU_SOURCE
#include "recorded.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refused;

static long refuse_syscall(int command)
{
  (void)command;
  refused++;
  errno = ENOSYS;
  return -1;
}

#define syscall(number, command, ...) refuse_syscall(command)
#include "../../src/annotate/recorder.c"
#undef syscall

static bool must_end; /* atomic */

static void *record_on_and_on(void *context)
{
  uint64_t *count = context;
  while (!__atomic_load_n(&must_end, __ATOMIC_RELAXED)) {
    XP_TRACE("t", XP_INT("k", 1)) {
      XP_REGION("r") {
      }
    }
    ++*count;
  }
  return NULL;
}

static void recordings_are_whole_without_membarrier(void **state)
{
  (void)state;
  uint64_t counts[2] = {0, 0}, total = 0;
  pthread_t ids[2];
  for (int i = 0; i < 2; i++) {
    ids[i] = begin_thread(record_on_and_on, &counts[i]);
  }
  for (int i = 0; i < 50; i++) {
    start(1, true, (uint64_t)4 * CHUNK);
    usleep(1000);
    xp_recording *recording = stop();
    for (size_t t = 0; t < recording->thread_count; t++) {
      events list = events_of(recording, t);
      total += list.count;
      for (size_t k = 1; k < list.count; k++) {
        assert_true(list.all[k - 1].start_ps <= list.all[k].start_ps);
        assert_true(xp_str_is(list.all[k].name, "t") || xp_str_is(list.all[k].name, "r"));
      }
      events_free(&list);
    }
    xp_recording_free(recording);
  }
  __atomic_store_n(&must_end, true, __ATOMIC_RELAXED);
  for (int i = 0; i < 2; i++) {
    end_thread(ids[i]);
  }
  assert_int_equal(refused, 50);
  assert_true(total > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recordings_are_whole_without_membarrier),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
