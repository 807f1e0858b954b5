/* The memory that events are recorded in: chunks out of one reservation.
 *
 * The reservation has the size of the limit and costs nothing until it is touched.  A chunk is taken by one atomic
 * addition and belongs to its thread until the reservation is given back.  Every use of a chunk has a generation that
 * no other use in this process ever has: who holds a place in a chunk can see whether it is still the same use.
 *
 * The first touch of memory costs 8 us per 4 KiB on a virtual machine, so a thread of the pool (feeder.c) touches it
 * ahead of those who record.
 */
#ifndef XP_ANNOTATE_POOL_H
#define XP_ANNOTATE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { XP_CHUNK_BYTES = 128 << 10 }; /* a text argument of 65535 bytes fits beside a name of that length */

/* Stands at the beginning of a chunk. */
typedef struct xp_chunk {
  uint64_t generation;
  void *owner;           /* whose thread's */
  struct xp_chunk *next; /* of the same thread, younger */
  uint64_t before;       /* events that the thread had written when it came to this chunk */
  char *end;             /* behind the last slot; unset as long as the thread writes here */
  uint64_t unused[3];
} xp_chunk;

enum { XP_CHUNK_ROOM = XP_CHUNK_BYTES - (int)sizeof(xp_chunk) };

typedef struct {
  char *base;     /* aligned to XP_CHUNK_BYTES; NULL if there are no chunks */
  uint64_t count; /* of chunks */
  uint64_t taken; /* atomic; may run beyond count */
  uint64_t first_generation;
} xp_pool;

/* The chunk that a place is in. */
static inline xp_chunk *xp_chunk_of(const void *place)
{
  return (xp_chunk *)((uintptr_t)place & ~(uintptr_t)(XP_CHUNK_BYTES - 1));
}

static inline char *xp_chunk_begin(xp_chunk *chunk)
{
  return (char *)(chunk + 1);
}

/* A number that was never given before, from 1. */
uint64_t xp_generation_new(void);

/* Reserves as many whole chunks as fit into limit_bytes (there may be none).  False when the system refuses. */
bool xp_pool_open(xp_pool *pool, uint64_t limit_bytes);

/* Gives the memory back. */
void xp_pool_close(xp_pool *pool);

/* A chunk that nobody had, with a new generation; NULL if there is none left.  Any thread. */
xp_chunk *xp_pool_take(xp_pool *pool, void *owner);

/* Touches memory ahead of what is taken, in a thread of its own; without one, recording threads do it as they come to
 * it. */
typedef struct xp_feeder xp_feeder;

/* Touches the first piece and starts the thread; NULL if nothing is left to touch, or it cannot be started. */
xp_feeder *xp_feeder_start(xp_pool *pool);

/* Ends the thread and waits for it; NULL is allowed. */
void xp_feeder_stop(xp_feeder *feeder);

/* After fork, in the child, where the thread is not: frees what it had. */
void xp_feeder_forget(xp_feeder *feeder);

#endif
