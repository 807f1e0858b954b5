/* Names and sentences on a terminal.
 *
 * Names in a capture are bytes that somebody else chose: newlines, escape sequences, NUL, bytes that are no UTF-8. What
 * goes to a terminal goes through xp_text_printable first.  Widths count terminal columns, not bytes.
 */
#ifndef XP_REPORT_TEXT_H
#define XP_REPORT_TEXT_H

#include <stdio.h>

#include "base/arena.h"

/* The text with control characters, direction marks and bytes that are not UTF-8 written as "\n", "\x1b", "\u202e", and
 * texts of more than 4000 bytes cut in the middle.  Returns the same slice if nothing has to change, else a copy in the
 * arena. */
xp_str xp_text_printable(xp_arena *arena, xp_str s);

/* Writes a text with the same escapes to a stream, however long it is. */
void xp_text_write(FILE *out, xp_str s);

/* Terminal columns that a printable text takes: 2 for wide East Asian characters, 0 for combining marks. */
size_t xp_text_width(xp_str s);

/* Shortened in the middle, "SyncTensors...Graph.12", to at most `width` columns (at least 5). */
xp_str xp_text_fit(xp_arena *arena, xp_str s, size_t width);

/* Writes a text in lines of at most `width` columns, broken at spaces; a word that is longer than a line is shortened
 * to its head and tail.  The first line begins with `first`, every further one with `rest`, which is not longer; each
 * ends with a newline. */
void xp_text_wrap(FILE *out, xp_str s, const char *first, const char *rest, size_t width);

/* The same, but a long word goes on in the next line: for paths and the like. */
void xp_text_wrap_exact(FILE *out, xp_str s, const char *first, const char *rest, size_t width);

/* n spaces. */
void xp_text_pad(FILE *out, size_t n);

#endif
