/* Lists of free pieces by size, and pages that are cut from the front.  Under the address sanitizer every piece is one
 * of malloc's, so that it sees uses of nodes and tensors that were freed. */
#include "lazy/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 /* as gcc says it */
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { CLASSES = 0 };
#else
enum { CLASSES = 16 };
#endif
enum { GRAIN_BYTES = 32, CHUNK_BYTES = 4 << 20 };

typedef struct link link;
struct link {
  link *next;
};

static struct {
  link *free[CLASSES + 1]; /* by size in grains */
  link *chunks;
  char *pos, *end;
} pool;

static size_t grains_of(size_t bytes)
{
  return (bytes + GRAIN_BYTES - 1) / GRAIN_BYTES;
}

static void *cut(size_t bytes)
{
  if ((size_t)(pool.end - pool.pos) < bytes) {
    const size_t size = xp_pages_size(CHUNK_BYTES);
    link *chunk = xp_pages_map(size);
    if (chunk == NULL) {
      return NULL;
    }
    chunk->next = pool.chunks;
    pool.chunks = chunk;
    pool.pos = (char *)chunk + GRAIN_BYTES;
    pool.end = (char *)chunk + size;
  }
  void *piece = pool.pos;
  pool.pos += bytes;
  return piece;
}

void *xl_piece_take(size_t bytes)
{
  const size_t grains = grains_of(bytes);
  if (grains > CLASSES) {
    return malloc(bytes);
  }
  link *piece = pool.free[grains];
  if (piece == NULL) {
    return cut(grains * GRAIN_BYTES);
  }
  pool.free[grains] = piece->next;
  return piece;
}

void *xl_piece_take_zeroed(size_t bytes)
{
  void *piece = xl_piece_take(bytes);
  return piece != NULL ? memset(piece, 0, bytes) : NULL;
}

void xl_piece_give(void *piece, size_t bytes)
{
  const size_t grains = grains_of(bytes);
  if (grains > CLASSES) {
    free(piece);
  } else if (piece != NULL) {
    ((link *)piece)->next = pool.free[grains];
    pool.free[grains] = piece;
  }
}

void xl_pieces_end(void)
{
  while (pool.chunks != NULL) {
    link *next = pool.chunks->next;
    xp_pages_unmap(pool.chunks, xp_pages_size(CHUNK_BYTES));
    pool.chunks = next;
  }
  memset(&pool, 0, sizeof pool);
}
