/* Percent-decoding copies into the structure, so slices of the result live as long as it does. */
#include "web/query.h"

static int hex_digit(char c)
{
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes s behind what is there.  False for a broken escape or a NUL byte; the room was checked before. */
static bool decode(xp_query *q, xp_str s, bool plus_is_space, xp_str *out)
{
  char *to = q->text + q->used;
  size_t n = 0;
  for (size_t i = 0; i < s.len; i++) {
    char c = s.ptr[i];
    if (c == '%') {
      int high = i + 2 < s.len ? hex_digit(s.ptr[i + 1]) : -1, low = i + 2 < s.len ? hex_digit(s.ptr[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return false;
      }
      c = (char)(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') {
      return false;
    }
    to[n++] = c;
  }
  *out = xp_str_from(to, n);
  q->used += n;
  return true;
}

static bool read_pair(xp_query *q, xp_str pair)
{
  size_t equals = xp_str_find(pair, '=', 0);
  if (pair.len == 0) {
    return true;
  }
  if (q->count == XP_QUERY_MOST || !decode(q, xp_str_take(pair, equals), true, &q->pairs[q->count].name) ||
      !decode(q, xp_str_skip(pair, equals + 1), true, &q->pairs[q->count].value)) {
    return false;
  }
  q->count++;
  return true;
}

xp_query_status xp_query_read(xp_query *q, xp_str target)
{
  q->used = q->count = 0;
  q->path = xp_str_from(NULL, 0);
  if (target.len > XP_QUERY_BYTES) { /* decoded it is not longer */
    return XP_QUERY_LONG;
  }
  size_t mark = xp_str_find(target, '?', 0);
  if (target.len == 0 || target.ptr[0] != '/' || !decode(q, xp_str_take(target, mark), false, &q->path)) {
    return XP_QUERY_BAD;
  }
  for (size_t at = mark + 1; at < target.len;) {
    size_t end = xp_str_find(target, '&', at);
    if (!read_pair(q, xp_str_from(target.ptr + at, end - at))) {
      return XP_QUERY_BAD;
    }
    at = end + 1;
  }
  return XP_QUERY_OK;
}

xp_str xp_query_get(const xp_query *q, const char *name)
{
  for (size_t i = 0; i < q->count; i++) {
    if (xp_str_is(q->pairs[i].name, name)) {
      return q->pairs[i].value.ptr != NULL ? q->pairs[i].value : xp_str_c("");
    }
  }
  return xp_str_from(NULL, 0);
}

bool xp_query_int(const xp_query *q, const char *name, int64_t least, int64_t most, int64_t *value)
{
  int64_t number;
  xp_str text = xp_query_get(q, name);
  if (text.ptr == NULL) {
    return true;
  }
  if (!xp_str_to_int64(text, &number) || number < least || number > most) {
    return false;
  }
  *value = number;
  return true;
}
