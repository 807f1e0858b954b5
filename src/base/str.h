/* A slice of bytes that somebody else owns: names in a mapped capture, words of a command line.
 *
 * Slices are not NUL-terminated and may hold any byte, NUL included.  They are passed by value.
 */
#ifndef XP_BASE_STR_H
#define XP_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  const char *ptr; /* NULL only when len is 0 */
  size_t len;
} xp_str;

/* printf arguments for "%.*s". */
#define XP_STR_ARG(s) (int)((s).len > 4096 ? 4096 : (s).len), ((s).ptr ? (s).ptr : "")

/* A slice of a string literal, usable in initialisers of constants. */
#define XP_STR_INIT(literal)                                                                                           \
  {                                                                                                                    \
    (literal), sizeof(literal) - 1                                                                                     \
  }

static inline xp_str xp_str_from(const char *ptr, size_t len)
{
  xp_str s = {ptr, len};
  return s;
}

/* Borrows a NUL-terminated string; NULL gives the empty slice. */
static inline xp_str xp_str_c(const char *text)
{
  return xp_str_from(text, text ? strlen(text) : 0);
}

/* What stands behind the last '/' of a path; the path itself without one. */
static inline const char *xp_base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static inline bool xp_str_eq(xp_str a, xp_str b)
{
  return a.len == b.len && (a.len == 0 || a.ptr == b.ptr || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool xp_str_is(xp_str a, const char *text)
{
  return xp_str_eq(a, xp_str_c(text));
}

static inline bool xp_str_starts(xp_str s, const char *prefix)
{
  size_t n = strlen(prefix);
  return s.len >= n && memcmp(s.ptr, prefix, n) == 0;
}

static inline bool xp_str_ends(xp_str s, const char *suffix)
{
  size_t n = strlen(suffix);
  return s.len >= n && memcmp(s.ptr + s.len - n, suffix, n) == 0;
}

/* The slice without its first n bytes (all of them if it is shorter). */
static inline xp_str xp_str_skip(xp_str s, size_t n)
{
  n = n < s.len ? n : s.len;
  return xp_str_from(s.ptr + n, s.len - n);
}

/* The first n bytes of the slice. */
static inline xp_str xp_str_take(xp_str s, size_t n)
{
  return xp_str_from(s.ptr, n < s.len ? n : s.len);
}

/* Offset of the first byte c at or after `from`; s.len if there is none. */
size_t xp_str_find(xp_str s, char c, size_t from);

/* Offset of the first occurrence of a text; s.len if there is none. */
size_t xp_str_find_text(xp_str s, const char *text);

/* Offset of the last byte c; s.len if there is none. */
size_t xp_str_rfind(xp_str s, char c);

/* Without white space at both ends. */
xp_str xp_str_trim(xp_str s);

/* Bytewise order, shorter first among equal prefixes: <0, 0, >0. */
int xp_str_cmp(xp_str a, xp_str b);

/* Decimal integer with optional minus that fills the whole slice.  Returns false otherwise or on overflow. */
bool xp_str_to_int64(xp_str s, int64_t *value);

/* True if the whole of s matches the pattern, in which '*' stands for any run of bytes and every other byte for
 * itself.  Linear in s for each star; no recursion. */
bool xp_str_glob(xp_str s, const char *pattern);

/* 64-bit hash of the bytes; the same on every machine and run. */
uint64_t xp_str_hash(xp_str s);

#endif
