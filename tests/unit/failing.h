/* Every allocation of the library fails once: nothing crashes, nothing is lost, and the answer is "out of memory".
 *
 * The files that ask the system for memory or threads are compiled into the test, with the calls replaced, and so take
 * the place of those in the library.  What zlib and zstd allocate is theirs.  Include this first, and once.
 */
#ifndef XP_TESTS_FAILING_H
#define XP_TESTS_FAILING_H

#define _GNU_SOURCE
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int calls;  /* so far */
static int first_to_fail; /* number of the call from which on calls fail; 0: none */
static int last_to_fail;
static atomic_int live;  /* pieces that were not given back */
static bool pieces_fail; /* every piece of an arena counts as a call, not only its blocks */

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

static void *failing_realloc(void *old, size_t size)
{
  void *piece = fails() ? NULL : realloc(old, size);
  atomic_fetch_add(&live, piece != NULL && old == NULL);
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

static void *failing_mremap(void *old, size_t old_size, size_t size, int flags, void *to)
{
  if (fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return mremap(old, old_size, size, flags, to);
}

/* mremap takes a fifth argument only with MREMAP_FIXED. */
#define MREMAP_ARGUMENTS(old, old_size, size, flags, to, ...) failing_mremap(old, old_size, size, flags, to)

static int failing_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
  return fails() ? EAGAIN : pthread_create(id, attributes, run, argument);
}

#define calloc         failing_calloc
#define realloc        failing_realloc
#define free           counting_free
#define mmap           failing_mmap
#define mremap(...)    MREMAP_ARGUMENTS(__VA_ARGS__, NULL, NULL)
#define pthread_create failing_pthread_create
#define put_plane      put_finished_plane /* testing.h has another */
#define xp_arena_alloc block_alloc
#define xp_arena_array block_array
#define xp_arena_grow  block_grow
#define xp_arena_copy  block_copy
void *block_alloc(xp_arena *arena, size_t size);
void *block_array(xp_arena *arena, size_t count, size_t size);
void *block_grow(xp_arena *arena, void *array, size_t count, size_t *capacity, size_t size);
xp_str block_copy(xp_arena *arena, xp_str s);
#include "../../src/base/arena.c"
#undef xp_arena_alloc
#undef xp_arena_array
#undef xp_arena_grow
#undef xp_arena_copy
#include "../../src/base/file.c"
#include "../../src/base/thread.c"
#include "../../src/base/unpack.c"
#include "../../src/wire/writer.c"
#include "../../src/xspace/write.c"
#undef calloc
#undef realloc
#undef free
#undef mmap
#undef mremap
#undef pthread_create
#undef put_plane

void *xp_arena_alloc(xp_arena *arena, size_t size)
{
  return pieces_fail && fails() ? out_of_memory(arena) : block_alloc(arena, size);
}

void *xp_arena_array(xp_arena *arena, size_t count, size_t size)
{
  return pieces_fail && fails() ? out_of_memory(arena) : block_array(arena, count, size);
}

void *xp_arena_grow(xp_arena *arena, void *array, size_t count, size_t *capacity, size_t size)
{
  return pieces_fail && count == *capacity && fails() ? out_of_memory(arena)
                                                      : block_grow(arena, array, count, capacity, size);
}

xp_str xp_arena_copy(xp_arena *arena, xp_str s)
{
  if (pieces_fail && fails()) {
    out_of_memory(arena);
    return xp_str_from(NULL, 0);
  }
  return block_copy(arena, s);
}

static int open_files(void)
{
  DIR *dir = opendir("/proc/self/fd");
  assert_non_null(dir);
  int n = 0;
  while (readdir(dir) != NULL) {
    n++;
  }
  closedir(dir);
  return n;
}

/* Runs `task` with its n-th allocation failing, for n = 1, 2, .. until it no longer has so many: alone, and with all
 * that follow it. */
static void fail_each(xp_status (*task)(const char *), const char *argument)
{
  for (int alone = 0; alone < 2; alone++) {
    int successes = 0;
    for (int n = 1; successes < 3; n++) {
      assert_true(n < 1000000);
      atomic_store(&calls, 0);
      first_to_fail = n;
      last_to_fail = alone ? n : INT32_MAX;
      int before = open_files();
      xp_status status = task(argument);
      first_to_fail = 0;
      assert_true(status == XP_OK || status == XP_ERR_MEMORY);
      assert_int_equal(atomic_load(&live), 0);
      assert_int_equal(open_files(), before);
      successes += status == XP_OK && atomic_load(&calls) < n;
    }
  }
}

#endif
