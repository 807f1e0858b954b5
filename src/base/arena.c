/* Bump allocation in blocks that are freed together.
 *
 * The first block is small and comes from calloc, so that an arena for a few strings costs little.  All later blocks
 * are mapped.  Only what is touched becomes resident: a block that is larger than needed costs addresses, not memory.
 *
 * A piece of 256 KiB or more has a block of its own, so that it can grow by moving page tables instead of bytes, and
 * can be given back early.  Such blocks stand in the list behind the one that small pieces come from.
 *
 * Invariant: every byte behind `used` in the newest block is zero.  An arena belongs to one thread at a time.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/pages.h"

enum { ALIGNMENT = 16, FIRST_BLOCK = 32 << 10, OWN_BLOCK = 256 << 10, LEAST_STEP = 1 << 20, LARGEST_STEP = 16 << 20 };

typedef struct block {
  struct block *older;
  size_t size; /* of the whole block, this header included */
  bool is_mapped;
} block;

/* Rounded up so that the first piece behind it is aligned. */
enum { HEADER = (sizeof(block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

struct xp_arena {
  block *newest;
  size_t used;        /* of the newest block */
  size_t bytes;       /* of all blocks */
  size_t small_bytes; /* of those for small pieces */
  jmp_buf *escape;
};

static size_t round_up(size_t size)
{
  return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static block *map_block(size_t need)
{
  size_t size = xp_pages_size(need);
  block *b = xp_pages_map(size);
  if (b != NULL) {
    b->size = size;
    b->is_mapped = true;
  }
  return b;
}

static block *new_block(xp_arena *arena, size_t need)
{
  if (arena->newest == NULL && need <= FIRST_BLOCK) {
    block *b = calloc(1, FIRST_BLOCK);
    if (b != NULL) {
      b->size = FIRST_BLOCK;
    }
    return b;
  }
  size_t step = arena->small_bytes < LARGEST_STEP ? arena->small_bytes : LARGEST_STEP;
  step = step > LEAST_STEP ? step : LEAST_STEP;
  return map_block(need > step ? need : step);
}

static void *out_of_memory(xp_arena *arena)
{
  if (arena->escape != NULL) {
    longjmp(*arena->escape, 1);
  }
  return NULL;
}

xp_arena *xp_arena_create(void)
{
  return calloc(1, sizeof(xp_arena));
}

static void free_block(block *b)
{
  if (b->is_mapped) {
    xp_pages_unmap(b, b->size);
  } else {
    free(b);
  }
}

void xp_arena_destroy(xp_arena *arena)
{
  if (arena == NULL) {
    return;
  }
  for (block *b = arena->newest; b != NULL;) {
    block *older = b->older;
    free_block(b);
    b = older;
  }
  free(arena);
}

jmp_buf *xp_arena_set_escape(xp_arena *arena, jmp_buf *escape)
{
  jmp_buf *before = arena->escape;
  arena->escape = escape;
  return before;
}

void xp_arena_share_escape(xp_arena *arena, const xp_arena *other)
{
  arena->escape = other->escape;
}

void xp_arena_give_up(xp_arena *arena)
{
  out_of_memory(arena);
}

bool xp_arena_guard(xp_arena *arena, void (*run)(void *context), void *context)
{
  jmp_buf escape;
  jmp_buf *const before = xp_arena_set_escape(arena, &escape);
  if (setjmp(escape) != 0) {
    xp_arena_set_escape(arena, before);
    return false;
  }
  run(context);
  xp_arena_set_escape(arena, before);
  return true;
}

/* A block for one large piece; small pieces go on in the newest block. */
static void *alloc_own_block(xp_arena *arena, size_t size)
{
  block *b = map_block(size + HEADER);
  if (b == NULL) {
    return out_of_memory(arena);
  }
  arena->bytes += b->size;
  if (arena->newest != NULL) {
    b->older = arena->newest->older;
    arena->newest->older = b;
  } else {
    arena->newest = b;
    arena->used = b->size; /* full: the next small piece opens a block */
  }
  return (char *)b + HEADER;
}

void *xp_arena_alloc(xp_arena *arena, size_t size)
{
  if (size > SIZE_MAX / 4) {
    return out_of_memory(arena);
  }
  size = round_up(size);
  if (size >= OWN_BLOCK) {
    return alloc_own_block(arena, size);
  }
  block *b = arena->newest;
  if (b == NULL || b->size - arena->used < size) {
    b = new_block(arena, size + HEADER);
    if (b == NULL) {
      return out_of_memory(arena);
    }
    arena->bytes += b->size;
    arena->small_bytes += b->size;
    b->older = arena->newest;
    arena->newest = b;
    arena->used = HEADER;
  }
  void *piece = (char *)b + arena->used;
  arena->used += size;
  return piece;
}

void *xp_arena_array(xp_arena *arena, size_t count, size_t size)
{
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    return out_of_memory(arena);
  }
  return xp_arena_alloc(arena, bytes);
}

/* The pointer that leads to a block; NULL if the arena has no such block. */
static block **link_to(xp_arena *arena, const block *wanted)
{
  block **link = &arena->newest;
  while (*link != NULL && *link != wanted) {
    link = &(*link)->older;
  }
  return *link != NULL ? link : NULL;
}

/* Makes a block of one large piece larger; its pages move, their bytes are not touched. */
static block *grow_block(xp_arena *arena, block *b, size_t need)
{
  block **link = link_to(arena, b);
  if (link == NULL) {
    return NULL;
  }
  size_t old = b->size, size = xp_pages_size(need);
  bool newest = arena->newest == b;
  block *moved = xp_pages_grow(b, old, size);
  if (moved == NULL) {
    return NULL;
  }
  *link = moved;
  moved->size = size;
  arena->bytes += size - old;
  arena->used = newest ? size : arena->used;
  return moved;
}

/* Makes the newest small piece longer where it stands. */
static bool extend_piece(xp_arena *arena, const void *piece, size_t old, size_t size)
{
  block *b = arena->newest;
  if (b == NULL || piece == NULL || size >= OWN_BLOCK) {
    return false;
  }
  uintptr_t at = (uintptr_t)piece - (uintptr_t)b; /* far behind every block if it lies in another one */
  if (at + old != arena->used || at + size > b->size) {
    return false;
  }
  arena->used = at + size;
  return true;
}

void *xp_arena_grow(xp_arena *arena, void *array, size_t count, size_t *capacity, size_t size)
{
  if (count < *capacity) {
    return array;
  }
  size_t room = *capacity < 8 ? 8 : *capacity * 2, bytes, old = *capacity * size;
  if (__builtin_mul_overflow(room, size, &bytes) || bytes > SIZE_MAX / 4) {
    return out_of_memory(arena);
  }
  if (old >= OWN_BLOCK) {
    block *b = grow_block(arena, (block *)((char *)array - HEADER), bytes + HEADER);
    if (b != NULL) {
      *capacity = room;
      return (char *)b + HEADER;
    }
  }
  if (extend_piece(arena, array, round_up(old), round_up(bytes))) {
    *capacity = room;
    return array;
  }
  void *larger = xp_arena_alloc(arena, bytes);
  if (larger == NULL) {
    return NULL;
  }
  if (count > 0) {
    memcpy(larger, array, count * size);
  }
  *capacity = room;
  return larger;
}

void xp_arena_discard(xp_arena *arena, void *array, size_t bytes)
{
  if (round_up(bytes) < OWN_BLOCK) {
    return;
  }
  block *b = (block *)((char *)array - HEADER);
  block **link = link_to(arena, b);
  if (link == NULL) {
    return;
  }
  arena->bytes -= b->size;
  arena->used = b == arena->newest ? 0 : arena->used;
  *link = b->older;
  if (arena->used == 0 && arena->newest != NULL) {
    arena->used = arena->newest->size; /* how much of it is free is not known */
  }
  xp_pages_unmap(b, b->size);
}

void xp_arena_clear(xp_arena *arena)
{
  block *keep = arena->newest;
  if (keep == NULL) {
    return;
  }
  for (block *b = keep->older; b != NULL;) {
    block *older = b->older;
    free_block(b);
    b = older;
  }
  keep->older = NULL;
  size_t used = arena->used < keep->size ? arena->used : keep->size;
  memset((char *)keep + HEADER, 0, used - HEADER);
  arena->used = HEADER;
  arena->bytes = arena->small_bytes = keep->size;
}

xp_str xp_arena_copy(xp_arena *arena, xp_str s)
{
  char *copy = xp_arena_alloc(arena, s.len + 1);
  if (copy == NULL) {
    return xp_str_from(NULL, 0);
  }
  if (s.len > 0) {
    memcpy(copy, s.ptr, s.len);
  }
  return xp_str_from(copy, s.len);
}

/* Most texts are short: they are formatted once, on the stack, and copied. */
xp_str xp_arena_format(xp_arena *arena, const char *format, ...)
{
  char brief[256];
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int len = vsnprintf(brief, sizeof brief, format, args);
  va_end(args);
  char *text = len < 0 ? NULL : xp_arena_alloc(arena, (size_t)len + 1);
  if (text != NULL && (size_t)len < sizeof brief) {
    memcpy(text, brief, (size_t)len);
  } else if (text != NULL) {
    vsnprintf(text, (size_t)len + 1, format, again);
  }
  va_end(again);
  return xp_str_from(text, text == NULL ? 0 : (size_t)len);
}

size_t xp_arena_bytes(const xp_arena *arena)
{
  return arena->bytes;
}
