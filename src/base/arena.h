/* Memory that is given back all at once.
 *
 * An arena hands out pieces of large blocks; nothing is freed before the arena is.  Large blocks are marked for huge
 * pages: on virtual machines the first touch of a 4 KiB page costs 2 to 16 us, 5 to 30 times what the same memory costs
 * in huge pages.  Memory comes zeroed.
 *
 * An arena belongs to one thread at a time.
 */
#ifndef XP_BASE_ARENA_H
#define XP_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>

#include "base/str.h"

typedef struct xp_arena xp_arena;

/* A new arena without blocks; NULL when memory is out.  The caller ends it with xp_arena_destroy. */
xp_arena *xp_arena_create(void);

/* Gives back all memory of the arena; NULL is allowed. */
void xp_arena_destroy(xp_arena *arena);

/* Where xp_arena_alloc jumps (longjmp, value 1) when memory is out.  Without an escape it returns NULL instead.  Code
 * that allocates in many small places sets one at its entry point and needs no checks below it; it must hold no
 * resource outside of the arena while it runs.  NULL takes the escape away.  Returns the one that was set before. */
jmp_buf *xp_arena_set_escape(xp_arena *arena, jmp_buf *escape);

/* Calls run(context) with an escape of its own and puts the old one back.  Returns false if memory ran out. */
bool xp_arena_guard(xp_arena *arena, void (*run)(void *context), void *context);

/* Makes an arena jump where another one does. */
void xp_arena_share_escape(xp_arena *arena, const xp_arena *other);

/* Does what the arena does when memory is out: jumps to its escape.  Returns if it has none. */
void xp_arena_give_up(xp_arena *arena);

/* size bytes of zeroed memory, aligned for any type.  A size of 0 gives a pointer that must not be read. */
void *xp_arena_alloc(xp_arena *arena, size_t size);

/* count * size bytes, checked for overflow (which counts as memory being out). */
void *xp_arena_array(xp_arena *arena, size_t count, size_t size);

/* Gives a piece of 256 KiB or more back before the arena ends; smaller ones stay.  bytes: as it was asked for. */
void xp_arena_discard(xp_arena *arena, void *piece, size_t bytes);

/* Gives all pieces back and keeps one block for the next ones: for arenas that serve one row after the other. */
void xp_arena_clear(xp_arena *arena);

/* Makes room for one more element: returns `array` if count < *capacity, else a copy of twice the room (the old one
 * stays in the arena until the end).  Use: rows = xp_arena_grow(arena, rows, count, &capacity, sizeof *rows). */
void *xp_arena_grow(xp_arena *arena, void *array, size_t count, size_t *capacity, size_t size);

/* A copy of the bytes, NUL-terminated behind their end. */
xp_str xp_arena_copy(xp_arena *arena, xp_str s);

/* A formatted text. */
xp_str xp_arena_format(xp_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Bytes of the blocks that the arena holds. */
size_t xp_arena_bytes(const xp_arena *arena);

#endif
