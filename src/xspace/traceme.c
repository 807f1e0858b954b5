/* Names as TraceMe encodes them: "train#_r=1,step_num=3#".
 *
 * A name carries pairs if its last byte is '#'.  The rules are those of upstream's parse_annotation.cc: parts behind
 * the second are dropped; commas inside quotes and brackets do not split; pieces of one byte, and pairs without key or
 * value, are dropped.
 */
#include "xspace/tables.h"

enum { DEEPEST = 64 };

void xp_traceme_split(xp_str encoded, xp_str *name, xp_str *args)
{
  *name = encoded;
  *args = xp_str_from(NULL, 0);
  if (encoded.len == 0 || encoded.ptr[encoded.len - 1] != '#') {
    return;
  }
  xp_str body = xp_str_take(encoded, encoded.len - 1);
  size_t hash = xp_str_find(body, '#', 0);
  *name = xp_str_trim(xp_str_take(body, hash));
  if (hash < body.len) {
    xp_str rest = xp_str_skip(body, hash + 1);
    *args = xp_str_take(rest, xp_str_find(rest, '#', 0));
  }
}

static char closer_of(char c)
{
  switch (c) {
  case '(':
    return ')';
  case '[':
    return ']';
  case '{':
    return '}';
  case '"':
  case '\'':
    return c;
  default:
    return '\0';
  }
}

/* Offset of the comma that ends the first piece; the length if there is none.  Deeper nesting than DEEPEST is read as
 * if the inner brackets were plain text. */
static size_t piece_end(xp_str s)
{
  char open[DEEPEST];
  size_t depth = 0;
  for (size_t i = 0; i < s.len; i++) {
    char c = s.ptr[i];
    if (depth > 0 && c == open[depth - 1]) {
      depth--;
    } else if (closer_of(c) != '\0' && depth < DEEPEST) {
      open[depth++] = closer_of(c);
    } else if (c == ',' && depth == 0) {
      return i;
    }
  }
  return s.len;
}

bool xp_args_next(xp_str *args, xp_str *key, xp_str *value)
{
  while (args->len > 0) {
    size_t end = piece_end(*args);
    xp_str piece = xp_str_take(*args, end);
    *args = xp_str_skip(*args, end + 1);
    size_t equals = xp_str_find(piece, '=', 0);
    if (piece.len <= 1 || equals == piece.len) {
      continue;
    }
    *key = xp_str_trim(xp_str_take(piece, equals));
    *value = xp_str_trim(xp_str_skip(piece, equals + 1));
    if (key->len > 0 && value->len > 0) {
      return true;
    }
  }
  return false;
}

uint32_t xp_args_flags(xp_str args)
{
  uint32_t flags = 0;
  xp_str key, value;
  while (xp_args_next(&args, &key, &value)) {
    uint32_t f = xp_key_flags(xp_key_find(key));
    if (f == XP_STAT_IS_ROOT) {
      f = xp_str_is(value, "0") ? 0 : XP_EVENT_STEP;
    }
    flags |= f;
  }
  return flags;
}
