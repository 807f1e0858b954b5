/* The first byte tells the length of a sequence and the smallest code point that may be written with it; everything
 * else is a check against these two. */
#include "json/utf8.h"

static size_t sequence_length(uint8_t first, uint32_t *bits, uint32_t *least)
{
  if (first < 0x80) {
    *bits = first;
    *least = 0;
    return 1;
  }
  if (first >= 0xc2 && first < 0xe0) {
    *bits = first & 0x1fu;
    *least = 0x80;
    return 2;
  }
  if (first >= 0xe0 && first < 0xf0) {
    *bits = first & 0x0fu;
    *least = 0x800;
    return 3;
  }
  if (first >= 0xf0 && first < 0xf5) {
    *bits = first & 0x07u;
    *least = 0x10000;
    return 4;
  }
  return 0;
}

size_t xp_utf8_next(xp_str s, size_t at, uint32_t *code)
{
  const uint8_t *p = (const uint8_t *)s.ptr + at;
  uint32_t value = 0, least = 0;
  size_t length = sequence_length(p[0], &value, &least);
  *code = XP_UTF8_BAD;
  if (length == 0 || length > s.len - at) {
    return 1;
  }
  for (size_t i = 1; i < length; i++) {
    if ((p[i] & 0xc0) != 0x80) {
      return 1;
    }
    value = value << 6 | (p[i] & 0x3fu);
  }
  if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
    return 1;
  }
  *code = value;
  return length;
}

/* A byte that is no printable ASCII sets its top bit in one of the three terms.  A carry between bytes comes only from
 * such a byte, so it never hides one. */
static bool is_plain_word(const char *p)
{
  uint64_t word;
  memcpy(&word, p, sizeof word);
  return ((word | (word - 0x2020202020202020u) | (word + 0x0101010101010101u)) & 0x8080808080808080u) == 0;
}

size_t xp_utf8_plain(xp_str s, size_t at)
{
  size_t i = at;
  while (s.len - i >= 8 && is_plain_word(s.ptr + i)) {
    i += 8;
  }
  while (i < s.len && s.ptr[i] >= 0x20 && s.ptr[i] < 0x7f) {
    i++;
  }
  return i - at;
}

bool xp_utf8_is_valid(xp_str s)
{
  uint32_t code;
  for (size_t i = 0; i < s.len;) {
    if ((unsigned char)s.ptr[i] < 0x80) {
      i++;
      continue;
    }
    i += xp_utf8_next(s, i, &code);
    if (code == XP_UTF8_BAD) {
      return false;
    }
  }
  return true;
}

size_t xp_utf8_repair(xp_str s, char *to)
{
  size_t len = 0;
  uint32_t code;
  for (size_t i = 0; i < s.len;) {
    size_t taken = xp_utf8_next(s, i, &code);
    bool is_bad = code == XP_UTF8_BAD;
    memcpy(to + len, is_bad ? "\xef\xbf\xbd" : s.ptr + i, is_bad ? 3 : taken);
    len += is_bad ? 3 : taken;
    i += taken;
  }
  return len;
}

xp_str xp_utf8_clean(xp_str s, xp_arena *arena)
{
  if (xp_utf8_is_valid(s)) {
    return s.ptr != NULL ? s : xp_str_c("");
  }
  char *room = s.len < SIZE_MAX / 4 ? xp_arena_alloc(arena, XP_UTF8_REPAIRED_ROOM(s.len)) : NULL;
  return room != NULL ? xp_str_from(room, xp_utf8_repair(s, room)) : xp_str_from(NULL, 0);
}
