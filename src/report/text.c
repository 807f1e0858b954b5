/* Everything walks the text one code point at a time.  The width tables hold what a terminal treats specially and
 * leave out rare scripts: a wrong width moves a column, nothing more. */
#include "report/text.h"

#include <inttypes.h>

#include "json/utf8.h"

enum { LONGEST = 4000 /* bytes of a text that are shown */, LEAST_ROOM = 8 /* columns for words in a line */ };

/* True for code points that a terminal does not simply show: controls, marks that turn or hide text, and those that are
 * no characters. */
static bool is_hostile(uint32_t code)
{
  return code == XP_UTF8_BAD || code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad ||
         (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code & 0xfffe) == 0xfffe ||
         (code >= 0xfdd0 && code <= 0xfdef) || (code >= 0xe0000 && code <= 0xe007f);
}

/* The escape of a code point, or of the byte at its place; at most 10 characters. */
static void escape(char *out, size_t size, uint32_t code, uint8_t byte)
{
  if (code == '\n' || code == '\r' || code == '\t') {
    snprintf(out, size, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
  } else if (code == XP_UTF8_BAD || code < 0x80) {
    snprintf(out, size, "\\x%02x", byte);
  } else if (code < 0x10000) {
    snprintf(out, size, "\\u%04" PRIx32, code);
  } else {
    snprintf(out, size, "\\U%08" PRIx32, code);
  }
}

static bool is_printable(xp_str s)
{
  for (size_t at = xp_utf8_plain(s, 0); at < s.len; at += xp_utf8_plain(s, at)) {
    uint32_t code;
    at += xp_utf8_next(s, at, &code);
    if (is_hostile(code)) {
      return false;
    }
  }
  return true;
}

/* Appends the escaped text to `out`, which has room for 10 bytes for each byte of s; returns the new length. */
static size_t append_escaped(char *out, size_t n, xp_str s)
{
  for (size_t at = 0; at < s.len;) {
    uint32_t code;
    size_t length = xp_utf8_next(s, at, &code);
    if (is_hostile(code)) {
      char mark[16];
      escape(mark, sizeof mark, code, (uint8_t)s.ptr[at]);
      memcpy(out + n, mark, strlen(mark));
      n += strlen(mark);
    } else {
      memcpy(out + n, s.ptr + at, length);
      n += length;
    }
    at += length;
  }
  return n;
}

xp_str xp_text_printable(xp_arena *arena, xp_str s)
{
  if (s.len <= LONGEST && is_printable(s)) {
    return s;
  }
  xp_str head = s, tail = xp_str_from(NULL, 0);
  if (s.len > LONGEST) {
    head = xp_str_take(s, LONGEST / 2);
    tail = xp_str_skip(s, s.len - LONGEST / 4);
  }
  char *copy = xp_arena_array(arena, head.len + tail.len + 1, 10);
  size_t n = append_escaped(copy, 0, head);
  if (tail.len > 0) {
    memcpy(copy + n, "...", 3);
    n = append_escaped(copy, n + 3, tail);
  }
  return xp_str_from(copy, n);
}

void xp_text_write(FILE *out, xp_str s)
{
  for (size_t at = 0; at < s.len;) {
    uint32_t code;
    char mark[16];
    size_t length = xp_utf8_next(s, at, &code);
    if (is_hostile(code)) {
      escape(mark, sizeof mark, code, (uint8_t)s.ptr[at]);
      fputs(mark, out);
    } else {
      fwrite(s.ptr + at, 1, length, out);
    }
    at += length;
  }
}

static bool in_ranges(uint32_t code, const uint32_t (*ranges)[2], size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (code >= ranges[i][0] && code <= ranges[i][1]) {
      return true;
    }
  }
  return false;
}

static size_t code_width(uint32_t code)
{
  static const uint32_t combining[][2] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
                                          {0x64b, 0x65f},   {0x93c, 0x93c},   {0xe31, 0xe31},   {0xe34, 0xe3a},
                                          {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
                                          {0xfe20, 0xfe2f}};
  static const uint32_t wide[][2] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
                                     {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
                                     {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  if (code < 0x300) {
    return 1;
  }
  if (in_ranges(code, combining, sizeof combining / sizeof combining[0])) {
    return 0;
  }
  return in_ranges(code, wide, sizeof wide / sizeof wide[0]) ? 2 : 1;
}

size_t xp_text_width(xp_str s)
{
  size_t width = 0;
  for (size_t at = 0; at < s.len;) {
    size_t plain = xp_utf8_plain(s, at);
    uint32_t code = 0;
    width += plain;
    at += plain;
    if (at < s.len) {
      at += xp_utf8_next(s, at, &code);
      width += code_width(code);
    }
  }
  return width;
}

/* Bytes of the longest prefix that takes at most `width` columns. */
static size_t prefix_bytes(xp_str s, size_t width)
{
  size_t at = 0, used = 0;
  while (at < s.len) {
    uint32_t code;
    size_t length = xp_utf8_next(s, at, &code);
    if (used + code_width(code) > width) {
      break;
    }
    used += code_width(code);
    at += length;
  }
  return at;
}

typedef struct {
  xp_str head, tail;
} cut;

/* What is left of a text that is wider than `width` (at least 5) with "..." between the two. */
static cut cut_middle(xp_str s, size_t width)
{
  size_t whole = xp_text_width(s), head = (width - 3 + 1) / 2, tail = width - 3 - head;
  size_t tail_at = prefix_bytes(s, whole - tail);
  if (xp_text_width(xp_str_skip(s, tail_at)) > tail && tail_at < s.len) {
    uint32_t code; /* a wide character stands across the cut */
    tail_at += xp_utf8_next(s, tail_at, &code);
  }
  return (cut){xp_str_take(s, prefix_bytes(s, head)), xp_str_skip(s, tail_at)};
}

xp_str xp_text_fit(xp_arena *arena, xp_str s, size_t width)
{
  if (xp_text_width(s) <= width) {
    return s;
  }
  cut c = cut_middle(s, width < 5 ? 5 : width);
  return xp_arena_format(arena, "%.*s...%.*s", XP_STR_ARG(c.head), XP_STR_ARG(c.tail));
}

void xp_text_pad(FILE *out, size_t n)
{
  static const char blanks[] = "                                ";
  while (n > 0) {
    size_t some = n < sizeof blanks - 1 ? n : sizeof blanks - 1;
    fwrite(blanks, 1, some, out);
    n -= some;
  }
}

/* True for a unit or "%" with what follows it in its word: it stays with the number before. */
static bool is_unit(xp_str word)
{
  static const char *const units[] = {"%", "ps", "ns", "us", "ms", "s", "kB", "MB", "GB"};
  while (word.len > 1 && strchr(".,;:)]", word.ptr[word.len - 1]) != NULL) {
    word.len--;
  }
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (xp_str_is(word, units[i])) {
      return true;
    }
  }
  return false;
}

/* The first word, with a unit that follows it. */
static xp_str first_word(xp_str s)
{
  size_t end = xp_str_find(s, ' ', 0), next = end < s.len ? xp_str_find(s, ' ', end + 1) : end;
  bool number = s.len > 0 && end > 0 && s.ptr[end - 1] >= '0' && s.ptr[end - 1] <= '9';
  return xp_str_take(s, number && end < s.len && is_unit(xp_str_from(s.ptr + end + 1, next - end - 1)) ? next : end);
}

/* The text without blanks at its end; their count. */
static size_t trailing_blanks(xp_str s)
{
  size_t n = 0;
  while (n < s.len && s.ptr[s.len - 1 - n] == ' ') {
    n++;
  }
  return n;
}

/* Bytes of a word that go on a line of `room` columns: up to a slash in the second half, if there is one. */
static size_t break_at(xp_str word, size_t room)
{
  size_t most = prefix_bytes(word, room), slash = xp_str_rfind(xp_str_take(word, most), '/');
  if (most == 0) { /* not even one character */
    uint32_t code;
    return xp_utf8_next(word, 0, &code);
  }
  return most < word.len && slash < most && slash + 1 > most / 2 ? slash + 1 : most;
}

/* One line after the other: what is on it, and blanks that wait for a word behind them. */
typedef struct {
  FILE *out;
  const char *rest;
  size_t width, used, pending;
  bool empty;    /* no word on this line yet */
  bool is_plain; /* the text is printable ASCII: a byte is a column */
} lines;

static size_t width_of(const lines *l, xp_str s)
{
  return l->is_plain ? s.len : xp_text_width(s);
}

/* Columns that a line behind the first has for words. */
static size_t room_of(const lines *l)
{
  size_t indent = strlen(l->rest);
  return l->width > indent + LEAST_ROOM ? l->width - indent : LEAST_ROOM;
}

static void begin_line(lines *l, const char *start)
{
  size_t length = strlen(start);
  l->pending = trailing_blanks(xp_str_from(start, length));
  fwrite(start, 1, length - l->pending, l->out);
  l->used = xp_text_width(xp_str_from(start, length));
  l->empty = true;
}

static void next_line(lines *l)
{
  fputc('\n', l->out);
  begin_line(l, l->rest);
}

static void write_bytes(lines *l, xp_str s)
{
  xp_text_pad(l->out, l->pending);
  l->pending = 0;
  fwrite(s.ptr, 1, s.len, l->out);
  l->used += width_of(l, s);
  l->empty = false;
}

/* A word that is longer than a line: its head and tail, or all of it on as many lines as it takes. */
static void write_long_word(lines *l, xp_str word, size_t room, bool exact)
{
  if (!exact) {
    cut c = cut_middle(word, room);
    write_bytes(l, c.head);
    write_bytes(l, xp_str_c("..."));
    write_bytes(l, c.tail);
    return;
  }
  while (word.len > 0) {
    size_t left = l->width > l->used ? l->width - l->used : 1, bytes = break_at(word, left);
    write_bytes(l, xp_str_take(word, bytes));
    word = xp_str_skip(word, bytes);
    if (word.len > 0) {
      next_line(l);
    }
  }
}

static void write_word(lines *l, xp_str word, bool exact)
{
  size_t columns = width_of(l, word), indent = strlen(l->rest), blank = l->empty ? 0 : 1, room = room_of(l);
  if (l->used + blank + columns > l->width && (!l->empty || l->used > indent)) {
    next_line(l);
    blank = 0;
  }
  l->pending += blank;
  l->used += blank;
  if (columns > room) {
    write_long_word(l, word, room, exact);
  } else {
    write_bytes(l, word);
  }
}

/* True for most texts, whose words need not be looked at. */
static bool fits_on_line(const lines *l, xp_str s)
{
  return l->is_plain && s.len > 0 && s.ptr[s.len - 1] != ' ' && s.len <= room_of(l) && l->used + s.len <= l->width;
}

static void wrap(FILE *out, xp_str s, const char *first, const char *rest, size_t width, bool exact)
{
  lines l = {.out = out, .rest = rest, .width = width, .is_plain = xp_utf8_plain(s, 0) == s.len};
  begin_line(&l, first);
  if (fits_on_line(&l, s)) {
    write_bytes(&l, s);
    s.len = 0;
  }
  while (s.len > 0) {
    xp_str word = first_word(s);
    s = xp_str_skip(s, word.len + 1);
    write_word(&l, word, exact);
  }
  fputc('\n', out);
}

void xp_text_wrap(FILE *out, xp_str s, const char *first, const char *rest, size_t width)
{
  wrap(out, s, first, rest, width, false);
}

void xp_text_wrap_exact(FILE *out, xp_str s, const char *first, const char *rest, size_t width)
{
  wrap(out, s, first, rest, width, true);
}
