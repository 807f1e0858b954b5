/* Searching, comparing and converting slices.
 *
 * Every function takes the length into account and none relies on a NUL.  memchr and memcmp get a pointer only where
 * the length is above 0, because the pointer of an empty slice may be NULL.
 */
#include "base/str.h"

size_t xp_str_find(xp_str s, char c, size_t from)
{
  if (from >= s.len) {
    return s.len;
  }
  const char *hit = memchr(s.ptr + from, c, s.len - from);
  return hit ? (size_t)(hit - s.ptr) : s.len;
}

size_t xp_str_find_text(xp_str s, const char *text)
{
  size_t n = strlen(text);
  if (n == 0) {
    return 0;
  }
  for (size_t at = xp_str_find(s, text[0], 0); at + n <= s.len; at = xp_str_find(s, text[0], at + 1)) {
    if (memcmp(s.ptr + at, text, n) == 0) {
      return at;
    }
  }
  return s.len;
}

size_t xp_str_rfind(xp_str s, char c)
{
  for (size_t i = s.len; i > 0; i--) {
    if (s.ptr[i - 1] == c) {
      return i - 1;
    }
  }
  return s.len;
}

static bool is_space(char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

xp_str xp_str_trim(xp_str s)
{
  while (s.len > 0 && is_space(s.ptr[0])) {
    s = xp_str_skip(s, 1);
  }
  while (s.len > 0 && is_space(s.ptr[s.len - 1])) {
    s.len--;
  }
  return s;
}

int xp_str_cmp(xp_str a, xp_str b)
{
  size_t n = a.len < b.len ? a.len : b.len;
  int order = n == 0 ? 0 : memcmp(a.ptr, b.ptr, n);
  if (order != 0) {
    return order;
  }
  return (a.len > b.len) - (a.len < b.len);
}

bool xp_str_to_int64(xp_str s, int64_t *value)
{
  bool negative = s.len > 0 && s.ptr[0] == '-';
  size_t i = negative ? 1 : 0;
  if (i == s.len) {
    return false;
  }
  int64_t n = 0; /* kept negative: the negative range is one larger */
  for (; i < s.len; i++) {
    int digit = s.ptr[i] - '0';
    if (digit < 0 || digit > 9 || __builtin_mul_overflow(n, 10, &n) || __builtin_sub_overflow(n, digit, &n)) {
      return false;
    }
  }
  if (!negative && n == INT64_MIN) {
    return false;
  }
  *value = negative ? n : -n;
  return true;
}

bool xp_str_glob(xp_str s, const char *pattern)
{
  /* On a mismatch the last star swallows one more byte; earlier stars never need to be looked at again. */
  size_t i = 0, resume = 0;
  const char *star = NULL;
  while (i < s.len) {
    if (*pattern == '*') {
      star = ++pattern;
      resume = i;
    } else if (*pattern != '\0' && *pattern == s.ptr[i]) {
      pattern++;
      i++;
    } else if (star != NULL) {
      pattern = star;
      i = ++resume;
    } else {
      return false;
    }
  }
  while (*pattern == '*') {
    pattern++;
  }
  return *pattern == '\0';
}

static inline uint64_t word_of(const char *p, size_t bytes)
{
  uint64_t word = 0;
  for (size_t k = 0; k < bytes; k++) {
    word |= (uint64_t)(uint8_t)p[k] << (8 * k);
  }
  return word;
}

static inline uint64_t fold(uint64_t h, uint64_t word)
{
  h = (h ^ word) * 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 32);
}

uint64_t xp_str_hash(xp_str s)
{
  /* Eight bytes a step, each mixed by a multiplication whose high half is folded back in.  Bytes are put together by
   * shifts, so that the order of bytes of the machine does not show. */
  uint64_t h = 0x9e3779b97f4a7c15u ^ ((uint64_t)s.len * 0xff51afd7ed558ccdu);
  size_t i = 0;
  for (; s.len - i >= 8; i += 8) {
    h = fold(h, word_of(s.ptr + i, 8));
  }
  if (i < s.len) {
    h = fold(h, word_of(s.ptr + i, s.len - i));
  }
  h *= 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}
