/* The chunks' memory: touched ahead of its use by a thread, and only so far.  The feeder is compiled in here, so that a
 * kernel without MADV_POPULATE_WRITE can be played. */
#define _GNU_SOURCE
#include "recorded.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "annotate/pool.h"
#include "base/pages.h"

static bool is_old_kernel;
static atomic_int refused;

static int old_madvise(void *at, size_t bytes, int advice)
{
  if (is_old_kernel) {
    atomic_fetch_add(&refused, 1);
    errno = EINVAL;
    return -1;
  }
  return madvise(at, bytes, advice);
}

#define madvise old_madvise
#include "../../src/annotate/feeder.c"
#undef madvise

enum { LEAST_PAGE = 4096, POOL = 64 * MIB };

/* Bytes of the pool that are in memory, in pages of the system. */
static size_t resident_bytes(const xp_pool *pool)
{
  static unsigned char pages[POOL / LEAST_PAGE];
  size_t count = 0, page = xp_page_bytes();
  assert_int_equal(mincore(pool->base, POOL, pages), 0);
  for (size_t i = 0; i < POOL / page; i++) {
    count += pages[i] & 1;
  }
  return count * page;
}

/* Waits until that much is in memory; returns how much is. */
static size_t wait_for_bytes(const xp_pool *pool, size_t bytes)
{
  size_t now = 0;
  for (int tries = 0; tries < 500 && (now = resident_bytes(pool)) < bytes; tries++) {
    sleep_ms(10);
  }
  return now;
}

static void memory_is_touched_ahead_of_what_is_taken(void **state)
{
  (void)state;
  const bool has_populate = emulator() == NULL; /* qemu says that it has done what madvise asks, and does nothing */
  for (int old = has_populate ? 0 : 1; old < 2; old++) {
    is_old_kernel = old;
    xp_pool pool;
    assert_true(xp_pool_open(&pool, POOL));
    assert_int_equal(resident_bytes(&pool), 0);
    xp_feeder *feeder = xp_feeder_start(&pool);
    assert_non_null(feeder);
    assert_true(resident_bytes(&pool) >= 2 * MIB);
    assert_true(wait_for_bytes(&pool, 16 * MIB) <= 18 * MIB);
    char *last = NULL;
    for (int i = 0; i < 20 * MIB / CHUNK; i++) {
      last = xp_chunk_begin(xp_pool_take(&pool, NULL));
      memset(last, i, XP_CHUNK_ROOM);
    }
    assert_true(wait_for_bytes(&pool, 36 * MIB) <= 38 * MIB);
    xp_feeder_stop(feeder);
    for (size_t i = 0; i < XP_CHUNK_ROOM; i++) {
      assert_int_equal((unsigned char)last[i], 20 * MIB / CHUNK - 1);
    }
    xp_pool_close(&pool);
    assert_int_equal(atomic_load(&refused) > 0, old);
  }
  is_old_kernel = false;
}

static void chunks_are_aligned_and_have_generations_of_their_own(void **state)
{
  (void)state;
  xp_pool pool;
  int owner;
  assert_true(xp_pool_open(&pool, (uint64_t)3 * CHUNK + 1));
  uint64_t last = pool.first_generation;
  for (int i = 0; i < 3; i++) {
    xp_chunk *chunk = xp_pool_take(&pool, &owner);
    assert_non_null(chunk);
    assert_int_equal((uintptr_t)chunk % CHUNK, 0);
    assert_ptr_equal(xp_chunk_of((char *)chunk + CHUNK - 1), chunk);
    assert_ptr_equal(chunk->owner, &owner);
    assert_true(chunk->generation > last);
    last = chunk->generation;
  }
  assert_null(xp_pool_take(&pool, &owner));
  assert_null(xp_pool_take(&pool, &owner));
  xp_pool_close(&pool);
  xp_pool_close(&pool);
}

static void a_small_pool_needs_no_thread(void **state)
{
  (void)state;
  xp_pool pool;
  for (uint64_t bytes = 0; bytes <= 2 * MIB; bytes += MIB) {
    assert_true(xp_pool_open(&pool, bytes));
    assert_null(xp_feeder_start(&pool));
    xp_feeder_stop(NULL);
    xp_pool_close(&pool);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_touched_ahead_of_what_is_taken),
      cmocka_unit_test(chunks_are_aligned_and_have_generations_of_their_own),
      cmocka_unit_test(a_small_pool_needs_no_thread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
