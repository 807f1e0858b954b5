/* UTF-8, read one code point at a time from bytes that may not be UTF-8 at all. */
#ifndef XP_JSON_UTF8_H
#define XP_JSON_UTF8_H

#include "base/arena.h"

#define XP_UTF8_BAD UINT32_MAX

/* Decodes the code point at offset `at` (< s.len) and returns its length in bytes.  Overlong forms, surrogates, values
 * above U+10FFFF and cut sequences give *code = XP_UTF8_BAD and length 1. */
size_t xp_utf8_next(xp_str s, size_t at, uint32_t *code);

/* Bytes from `at` (<= s.len) on that are printable ASCII, so that nothing has to be decoded for them.  Names are mostly
 * that; eight are looked at together. */
size_t xp_utf8_plain(xp_str s, size_t at);

/* True if all of s is UTF-8. */
bool xp_utf8_is_valid(xp_str s);

/* Room that the repaired form of len bytes needs at most. */
#define XP_UTF8_REPAIRED_ROOM(len) (3 * (len) + 1)

/* Writes s with U+FFFD for every byte that is not UTF-8, and returns the length. */
size_t xp_utf8_repair(xp_str s, char *to);

/* s if it is UTF-8, else its repaired form in the arena; ptr is NULL when memory is out. */
xp_str xp_utf8_clean(xp_str s, xp_arena *arena);

#endif
