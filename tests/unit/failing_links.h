/* Every allocation of the library fails once, as in failing.h, for layers of many files: the linker leads their calls
 * here (--wrap, see tests/CMakeLists.txt).  Pieces of arenas count as allocations, too.  Include it once. */
#ifndef XP_TESTS_FAILING_LINKS_H
#define XP_TESTS_FAILING_LINKS_H

#define _GNU_SOURCE
#include "testing.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static atomic_int calls;         /* so far */
static atomic_int live;          /* pieces that were not given back */
static atomic_int first_to_fail; /* number of the call from which on calls fail; 0: none */
static atomic_int last_to_fail;

static bool fails(void)
{
  int n = atomic_fetch_add(&calls, 1) + 1;
  bool is_failing = first_to_fail > 0 && n >= first_to_fail && n <= last_to_fail;
  errno = is_failing ? ENOMEM : errno;
  return is_failing;
}

static void *count_piece(void *piece)
{
  atomic_fetch_add(&live, piece != NULL);
  return piece;
}

/* What the linker calls the functions that are replaced, and those that replace them. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *piece);
char *__real_strdup(const char *text);
char *__real_realpath(const char *path, char *to);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__real_mremap(void *old, size_t old_size, size_t size, int flags, void *to);
int __real_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
void *__real_xp_arena_alloc(xp_arena *arena, size_t size);
void *__real_xp_arena_array(xp_arena *arena, size_t count, size_t size);
void *__real_xp_arena_grow(xp_arena *arena, void *array, size_t count, size_t *capacity, size_t size);
xp_str __real_xp_arena_copy(xp_arena *arena, xp_str s);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *piece);
char *__wrap_strdup(const char *text);
char *__wrap_realpath(const char *path, char *to);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mremap(void *old, size_t old_size, size_t size, int flags, void *to);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
void *__wrap_xp_arena_alloc(xp_arena *arena, size_t size);
void *__wrap_xp_arena_array(xp_arena *arena, size_t count, size_t size);
void *__wrap_xp_arena_grow(xp_arena *arena, void *array, size_t count, size_t *capacity, size_t size);
xp_str __wrap_xp_arena_copy(xp_arena *arena, xp_str s);

void *__wrap_malloc(size_t size)
{
  return fails() ? NULL : count_piece(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
  return fails() ? NULL : count_piece(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
  void *piece = fails() ? NULL : __real_realloc(old, size);
  return old == NULL ? count_piece(piece) : piece;
}

void __wrap_free(void *piece)
{
  atomic_fetch_sub(&live, piece != NULL);
  __real_free(piece);
}

char *__wrap_strdup(const char *text)
{
  return fails() ? NULL : count_piece(__real_strdup(text));
}

char *__wrap_realpath(const char *path, char *to)
{
  return fails() ? NULL : count_piece(__real_realpath(path, to));
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
  return fails() ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}

/* mremap takes a fifth argument only with MREMAP_FIXED. */
void *__wrap_mremap(void *old, size_t old_size, size_t size, int flags, void *to)
{
  return fails() ? MAP_FAILED : __real_mremap(old, old_size, size, flags, to);
}

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
  return fails() ? EAGAIN : __real_pthread_create(id, attributes, run, argument);
}

/* A failing piece does what the arena does when memory is out: NULL, or its escape. */
void *__wrap_xp_arena_alloc(xp_arena *arena, size_t size)
{
  return __real_xp_arena_alloc(arena, fails() ? SIZE_MAX : size);
}

void *__wrap_xp_arena_array(xp_arena *arena, size_t count, size_t size)
{
  return fails() ? __real_xp_arena_alloc(arena, SIZE_MAX) : __real_xp_arena_array(arena, count, size);
}

void *__wrap_xp_arena_grow(xp_arena *arena, void *array, size_t count, size_t *capacity, size_t size)
{
  bool is_failing = count == *capacity && fails();
  return is_failing ? __real_xp_arena_alloc(arena, SIZE_MAX)
                    : __real_xp_arena_grow(arena, array, count, capacity, size);
}

xp_str __wrap_xp_arena_copy(xp_arena *arena, xp_str s)
{
  if (fails()) {
    __real_xp_arena_alloc(arena, SIZE_MAX);
    return xp_str_from(NULL, 0);
  }
  return __real_xp_arena_copy(arena, s);
}

/* Runs `task` with its n-th allocation failing, for n = 1, 2, .. until it no longer has so many: alone, and with all
 * that follow it. */
static inline void fail_each(void (*task)(void))
{
  for (int alone = 0; alone < 2; alone++) {
    int runs_without_failure = 0;
    for (int n = 1; runs_without_failure < 3; n++) {
      assert_true(n < 100000);
      int before = atomic_load(&live);
      atomic_store(&calls, 0);
      first_to_fail = n;
      last_to_fail = alone ? n : INT32_MAX;
      task();
      first_to_fail = 0;
      assert_int_equal(atomic_load(&live), before);
      runs_without_failure += atomic_load(&calls) < n;
    }
  }
}

#endif
