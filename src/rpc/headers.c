/* Header values are short texts from a peer that may lie: every number has a limited length, and everything that is
 * written has a limited size.
 */
#include "rpc/headers.h"

#include <stdio.h>

#include "rpc/monotonic.h"

/* ---------------------------------------------------------------- time-outs */

enum { TIMEOUT_DIGITS = 8 };

static int64_t unit_ns(char unit)
{
  switch (unit) {
  case 'H':
    return 3600 * XP_NS_IN_S;
  case 'M':
    return 60 * XP_NS_IN_S;
  case 'S':
    return XP_NS_IN_S;
  case 'm':
    return XP_NS_IN_MS;
  case 'u':
    return 1000;
  case 'n':
    return 1;
  default:
    return 0;
  }
}

bool xp_grpc_number_parse(xp_str text, int *number)
{
  if (text.len < 1 || text.len > 9) {
    return false;
  }
  int n = 0;
  for (size_t i = 0; i < text.len; i++) {
    if (text.ptr[i] < '0' || text.ptr[i] > '9') {
      return false;
    }
    n = 10 * n + (text.ptr[i] - '0');
  }
  *number = n;
  return true;
}

bool xp_grpc_timeout_parse(xp_str text, int64_t *ns)
{
  int count;
  if (text.len < 2 || text.len > TIMEOUT_DIGITS + 1 || !xp_grpc_number_parse(xp_str_take(text, text.len - 1), &count)) {
    return false;
  }
  int64_t unit = unit_ns(text.ptr[text.len - 1]);
  if (__builtin_mul_overflow((int64_t)count, unit, ns)) {
    *ns = INT64_MAX;
  }
  return unit != 0;
}

void xp_grpc_timeout_format(int64_t ns, char text[XP_GRPC_TIMEOUT_ROOM])
{
  enum { MOST = 99999999 };
  const char *unit = "numSMH";
  int64_t count = ns < 0 ? 0 : ns;
  while (count > MOST && unit[1] != '\0') {
    unit++;
    int64_t step = unit_ns(*unit);
    count = ns / step + (ns % step != 0);
  }
  snprintf(text, XP_GRPC_TIMEOUT_ROOM, "%d%c", (int)(count < MOST ? count : MOST), *unit);
}

/* ---------------------------------------------------------------- messages */

static bool is_continuation(char c)
{
  return ((uint8_t)c & 0xc0) == 0x80;
}

xp_str xp_grpc_cut_text(xp_str s, size_t most)
{
  if (s.len <= most) {
    return s;
  }
  size_t end = most;
  while (end > 0 && most - end < 4 && is_continuation(s.ptr[end])) {
    end--;
  }
  /* Bytes that are no UTF-8 may continue for ever: then there is no character to keep whole. */
  return xp_str_take(s, end > 0 && !is_continuation(s.ptr[end]) ? end : most);
}

size_t xp_grpc_message_encode(xp_str message, char coded[XP_GRPC_MESSAGE_CODED_ROOM])
{
  static const char HEX[] = "0123456789ABCDEF";
  xp_str text = xp_grpc_cut_text(message, XP_GRPC_MESSAGE_BYTES);
  size_t n = 0;
  for (size_t i = 0; i < text.len; i++) {
    uint8_t c = (uint8_t)text.ptr[i];
    if (c >= 0x20 && c <= 0x7e && c != '%') {
      coded[n++] = (char)c;
    } else {
      coded[n++] = '%';
      coded[n++] = HEX[c >> 4];
      coded[n++] = HEX[c & 15];
    }
  }
  coded[n] = '\0';
  return n;
}

static int hex_digit(char c)
{
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  char lower = (char)(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

size_t xp_grpc_message_decode(xp_str coded, char *message, size_t room)
{
  size_t n = 0;
  for (size_t i = 0; i < coded.len && n + 1 < room; i++) {
    char c = coded.ptr[i];
    if (c == '%' && coded.len - i > 2 && hex_digit(coded.ptr[i + 1]) >= 0 && hex_digit(coded.ptr[i + 2]) >= 0) {
      c = (char)(hex_digit(coded.ptr[i + 1]) * 16 + hex_digit(coded.ptr[i + 2]));
      i += 2;
    }
    message[n++] = c;
  }
  if (n + 1 == room) { /* perhaps cut: a half character at the end is no text */
    size_t start = n;
    while (start > 0 && n - start < 4 && is_continuation(message[start - 1])) {
      start--;
    }
    size_t tail = n - start + 1; /* with the leading byte */
    uint8_t lead = start > 0 ? (uint8_t)message[start - 1] : 0;
    size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : tail;
    if (tail < want) {
      n = start - 1;
    }
  }
  message[n] = '\0';
  return n;
}

/* ---------------------------------------------------------------- content type */

bool xp_grpc_content_type_is_grpc(xp_str value)
{
  static const char TYPE[] = "application/grpc";
  if (!xp_str_starts(value, TYPE)) {
    return false;
  }
  xp_str rest = xp_str_skip(value, sizeof TYPE - 1);
  return rest.len == 0 || rest.ptr[0] == '+' || rest.ptr[0] == ';' || rest.ptr[0] == ' ';
}
