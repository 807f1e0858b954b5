/* Chunks out of one reservation.
 *
 * The mapping is marked for huge pages (an eighth of the page faults' cost, once the machine has them) and to be empty
 * in a child after fork: a child neither reads the recording nor makes the parent copy it page by page.
 */
#define _GNU_SOURCE
#include "annotate/pool.h"

#include <string.h>
#include <sys/mman.h>

static const size_t alignment = (size_t)2 << 20; /* a huge page */

static uint64_t last_generation; /* atomic */

uint64_t xp_generation_new(void)
{
  return __atomic_add_fetch(&last_generation, 1, __ATOMIC_RELAXED);
}

/* Unmaps what of [from, to) is not in [keep, keep + bytes). */
static void trim(char *from, char *to, char *keep, size_t bytes)
{
  if (keep > from) {
    munmap(from, (size_t)(keep - from));
  }
  if (to > keep + bytes) {
    munmap(keep + bytes, (size_t)(to - keep) - bytes);
  }
}

bool xp_pool_open(xp_pool *pool, uint64_t limit_bytes)
{
  memset(pool, 0, sizeof *pool);
  pool->first_generation = xp_generation_new();
  uint64_t count = limit_bytes / XP_CHUNK_BYTES;
  if (count == 0) {
    return true;
  }
  if (count > (SIZE_MAX - 2 * alignment) / XP_CHUNK_BYTES) {
    return false;
  }
  size_t bytes = (size_t)count * XP_CHUNK_BYTES;
  size_t mapped = bytes + alignment;
  char *at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    return false;
  }
  char *base = at + (alignment - (uintptr_t)at % alignment) % alignment;
  trim(at, at + mapped, base, bytes);
  madvise(base, bytes, MADV_HUGEPAGE); /* both are wishes: without them all works, slower */
  madvise(base, bytes, MADV_WIPEONFORK);
  pool->base = base;
  pool->count = count;
  return true;
}

void xp_pool_close(xp_pool *pool)
{
  if (pool->base != NULL) {
    munmap(pool->base, (size_t)pool->count * XP_CHUNK_BYTES);
    pool->base = NULL;
  }
}

xp_chunk *xp_pool_take(xp_pool *pool, void *owner)
{
  /* Asked first, so that the number stays small when many threads ask an empty pool again and again. */
  if (__atomic_load_n(&pool->taken, __ATOMIC_RELAXED) >= pool->count) {
    return NULL;
  }
  uint64_t i = __atomic_fetch_add(&pool->taken, 1, __ATOMIC_RELAXED);
  if (i >= pool->count) {
    return NULL;
  }
  xp_chunk *chunk = (xp_chunk *)(pool->base + i * XP_CHUNK_BYTES);
  memset(chunk, 0, sizeof *chunk);
  chunk->owner = owner;
  __atomic_store_n(&chunk->generation, xp_generation_new(), __ATOMIC_RELAXED);
  return chunk;
}
