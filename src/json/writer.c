/* Every value first writes what has to stand before it: a comma, if something was written at this level, and a new line
 * with the indentation of the level, unless the level stays on one line.  The rest is escaping.
 *
 * Texts are put together in a room of the writer, since single characters are dear for a stream.
 *
 * Nothing is checked on the way: an error of the stream stays set in it (ferror), and the caller asks at the end. */
#include "json/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "json/utf8.h"

enum { LEVELS = sizeof(((xp_json *)0)->compact) / sizeof(bool) };

void xp_json_begin(xp_json *json, FILE *out)
{
  json->out = out;
  json->used = 0;
  json->depth = 0;
  json->first = true;
  json->after_key = false;
  memset(json->compact, 0, sizeof json->compact);
}

void xp_json_flush(xp_json *json)
{
  fwrite(json->room, 1, json->used, json->out);
  json->used = 0;
}

static void put_bytes(xp_json *json, const char *bytes, size_t count)
{
  if (count > sizeof json->room - json->used) {
    xp_json_flush(json);
  }
  if (count > sizeof json->room) {
    fwrite(bytes, 1, count, json->out);
    return;
  }
  memcpy(json->room + json->used, bytes, count);
  json->used += count;
}

static void put_text(xp_json *json, const char *text)
{
  put_bytes(json, text, strlen(text));
}

static void put(xp_json *json, char c)
{
  put_bytes(json, &c, 1);
}

/* Levels deeper than the table are written on one line. */
static bool is_compact(const xp_json *json)
{
  return json->depth >= LEVELS || json->compact[json->depth];
}

static void new_line(xp_json *json)
{
  put(json, '\n');
  for (int i = 0; i < json->depth; i++) {
    put(json, ' ');
  }
}

static void before_value(xp_json *json)
{
  if (json->after_key) {
    json->after_key = false;
    return;
  }
  if (!json->first) {
    put_text(json, json->depth > 0 && is_compact(json) ? ", " : ",");
  }
  if (json->depth > 0 && !is_compact(json)) {
    new_line(json);
  }
  json->first = false;
}

static void open_level(xp_json *json, char bracket, bool compact)
{
  before_value(json);
  put(json, bracket);
  bool inherited = json->depth > 0 && is_compact(json);
  json->depth++;
  if (json->depth < LEVELS) {
    json->compact[json->depth] = compact || inherited;
  }
  json->first = true;
}

static void close_level(xp_json *json, char bracket)
{
  bool compact = is_compact(json), empty = json->first;
  json->depth--;
  if (!compact && !empty) {
    new_line(json);
  }
  put(json, bracket);
  json->first = false;
}

void xp_json_object(xp_json *json)
{
  open_level(json, '{', false);
}

void xp_json_object_line(xp_json *json)
{
  open_level(json, '{', true);
}

void xp_json_object_end(xp_json *json)
{
  close_level(json, '}');
}

void xp_json_array(xp_json *json)
{
  open_level(json, '[', false);
}

void xp_json_array_line(xp_json *json)
{
  open_level(json, '[', true);
}

void xp_json_array_end(xp_json *json)
{
  close_level(json, ']');
}

/* Two-character escapes; 0 if the byte has none. */
static char short_escape(uint32_t code)
{
  switch (code) {
  case '"':
    return '"';
  case '\\':
    return '\\';
  case '\n':
    return 'n';
  case '\r':
    return 'r';
  case '\t':
    return 't';
  case '\b':
    return 'b';
  case '\f':
    return 'f';
  default:
    return 0;
  }
}

/* True for code points that stand in a string as they are.  DEL, the C1 controls and the two line separators are valid
 * JSON; they are escaped since terminals and JavaScript take them for more than text. */
static bool is_plain(uint32_t code)
{
  if (code < 0x7f) {
    return code >= 0x20 && code != '"' && code != '\\';
  }
  return code > 0x9f && code != 0x2028 && code != 0x2029 && code != XP_UTF8_BAD;
}

static void write_escape(xp_json *json, uint32_t code)
{
  char escape = short_escape(code), text[16];
  if (code == XP_UTF8_BAD) {
    put_text(json, "\xef\xbf\xbd");
  } else if (escape != 0) {
    put(json, '\\');
    put(json, escape);
  } else {
    snprintf(text, sizeof text, "\\u%04" PRIx32, code);
    put_text(json, text);
  }
}

static void write_string(xp_json *json, xp_str s)
{
  size_t plain = 0, at = 0; /* start of the bytes that are not written yet */
  size_t ascii_end = 0;     /* of the printable ASCII around `at`, looked for once */
  put(json, '"');
  while (at < s.len) {
    uint32_t code;
    ascii_end = at < ascii_end ? ascii_end : at + xp_utf8_plain(s, at);
    while (at < ascii_end && is_plain((uint8_t)s.ptr[at])) {
      at++;
    }
    if (at == s.len) {
      break;
    }
    size_t length = xp_utf8_next(s, at, &code);
    if (!is_plain(code)) {
      put_bytes(json, s.ptr + plain, at - plain);
      write_escape(json, code);
      plain = at + length;
    }
    at += length;
  }
  if (s.len > plain) {
    put_bytes(json, s.ptr + plain, s.len - plain);
  }
  put(json, '"');
}

void xp_json_key_str(xp_json *json, xp_str key)
{
  before_value(json);
  write_string(json, key);
  put_text(json, ": ");
  json->after_key = true;
}

void xp_json_key(xp_json *json, const char *key)
{
  xp_json_key_str(json, xp_str_c(key));
}

void xp_json_str(xp_json *json, xp_str value)
{
  before_value(json);
  write_string(json, value);
}

void xp_json_text(xp_json *json, const char *value)
{
  if (value == NULL) {
    xp_json_null(json);
  } else {
    xp_json_str(json, xp_str_c(value));
  }
}

static void write_uint(xp_json *json, uint64_t value)
{
  char text[24], *end = text + sizeof text, *at = end;
  do {
    *--at = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  put_bytes(json, at, (size_t)(end - at));
}

void xp_json_int(xp_json *json, int64_t value)
{
  before_value(json);
  if (value < 0) {
    put(json, '-');
  }
  write_uint(json, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void xp_json_uint(xp_json *json, uint64_t value)
{
  before_value(json);
  write_uint(json, value);
}

void xp_json_decimal(xp_json *json, int64_t value, int digits)
{
  char text[64];
  int end = (int)sizeof text, places = 0;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  bool is_needed = false; /* zeros at the end are left out */
  before_value(json);
  for (; rest != 0 || places <= digits; places++, rest /= 10) {
    is_needed = is_needed || rest % 10 != 0 || places >= digits;
    if (places == digits && end < (int)sizeof text) {
      text[--end] = '.';
    }
    if (is_needed) {
      text[--end] = (char)('0' + rest % 10);
    }
  }
  if (value < 0) {
    put(json, '-');
  }
  put_bytes(json, text + end, sizeof text - (size_t)end);
}

void xp_json_double(xp_json *json, double value)
{
  char text[40];
  if (!isfinite(value)) {
    xp_json_null(json);
    return;
  }
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) {
      break;
    }
  }
  before_value(json);
  put_text(json, text);
}

void xp_json_bool(xp_json *json, bool value)
{
  before_value(json);
  put_text(json, value ? "true" : "false");
}

void xp_json_null(xp_json *json)
{
  before_value(json);
  put_text(json, "null");
}

void xp_json_finish(xp_json *json)
{
  put(json, '\n');
  xp_json_flush(json);
}

void xp_json_fork(const xp_json *json, xp_json *piece, FILE *out, bool is_first)
{
  xp_json_begin(piece, out);
  piece->depth = json->depth;
  piece->first = is_first;
  memcpy(piece->compact, json->compact, sizeof piece->compact);
}

void xp_json_joined(xp_json *json)
{
  json->first = false;
}
