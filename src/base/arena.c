/* Bump allocation in blocks that are freed together.
 *
 * The first block is small and comes from calloc, so that an arena for a few strings costs little.  All later blocks
 * are mapped at addresses that are multiples of 2 MiB and marked for huge pages: the kernel then clears memory 2 MiB at
 * a time.  Only what is touched becomes resident, so a block that is larger than needed costs addresses, not memory.
 *
 * Invariant: every byte behind `used` in the newest block is zero.  An arena belongs to one thread at a time.
 */
#define _GNU_SOURCE
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { FIRST_BLOCK = 32 << 10, HUGE_PAGE = 2 << 20, LARGEST_STEP = 16 << 20, ALIGNMENT = 16 };

typedef struct block {
  struct block *older;
  size_t size; /* of the whole block, this header included */
  bool is_mapped;
} block;

/* Rounded up so that the first piece behind it is aligned. */
enum { HEADER = (sizeof(block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

struct xp_arena {
  block *newest;
  size_t used; /* of the newest block */
  size_t bytes;
  jmp_buf *escape;
};

/* Maps `size` bytes (a multiple of HUGE_PAGE) at a multiple of HUGE_PAGE: maps more and cuts both ends off. */
static void *map_aligned(size_t size)
{
  size_t reserve = size + HUGE_PAGE;
  char *raw = mmap(NULL, reserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) {
    return NULL;
  }
  size_t head = (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE) % HUGE_PAGE;
  if (head > 0) {
    munmap(raw, head);
  }
  munmap(raw + head + size, reserve - head - size);
  madvise(raw + head, size, MADV_HUGEPAGE); /* advice: without it the memory is only slower */
  return raw + head;
}

static block *new_block(xp_arena *arena, size_t need)
{
  block *b;
  if (arena->newest == NULL && need <= FIRST_BLOCK) {
    b = calloc(1, FIRST_BLOCK);
    if (b != NULL) {
      b->size = FIRST_BLOCK;
    }
    return b;
  }
  size_t step = arena->bytes < LARGEST_STEP ? arena->bytes : LARGEST_STEP;
  size_t size = need > step ? need : step;
  if (size > SIZE_MAX / 2) {
    return NULL;
  }
  size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  b = map_aligned(size);
  if (b != NULL) {
    b->size = size;
    b->is_mapped = true;
  }
  return b;
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

void xp_arena_destroy(xp_arena *arena)
{
  if (arena == NULL) {
    return;
  }
  for (block *b = arena->newest; b != NULL;) {
    block *older = b->older;
    if (b->is_mapped) {
      munmap(b, b->size);
    } else {
      free(b);
    }
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

void *xp_arena_alloc(xp_arena *arena, size_t size)
{
  if (size > SIZE_MAX / 4) {
    return out_of_memory(arena);
  }
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  block *b = arena->newest;
  if (b == NULL || b->size - arena->used < size) {
    b = new_block(arena, size + HEADER);
    if (b == NULL) {
      return out_of_memory(arena);
    }
    arena->bytes += b->size;
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

void *xp_arena_grow(xp_arena *arena, void *array, size_t count, size_t *capacity, size_t size)
{
  if (count < *capacity) {
    return array;
  }
  size_t room = *capacity < 8 ? 8 : *capacity * 2;
  void *larger = xp_arena_array(arena, room, size);
  if (larger == NULL) {
    return NULL;
  }
  if (count > 0) {
    memcpy(larger, array, count * size);
  }
  *capacity = room;
  return larger;
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

xp_str xp_arena_format(xp_arena *arena, const char *format, ...)
{
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int len = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *text = len < 0 ? NULL : xp_arena_alloc(arena, (size_t)len + 1);
  if (text != NULL) {
    vsnprintf(text, (size_t)len + 1, format, again);
  }
  va_end(again);
  return xp_str_from(text, text == NULL ? 0 : (size_t)len);
}

size_t xp_arena_bytes(const xp_arena *arena)
{
  return arena->bytes;
}
