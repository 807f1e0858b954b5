/* What a file is that is no XSpace, told from its first bytes, and what to do about it. */
#include "xspace/load.h"

typedef struct {
  xp_str begin;
  const char *text;
} signature;

#define METRICS_REPORT "this is a metrics report of torch_xla, which xlaprof counters reads"

static const signature signatures[] = {
    {XP_STR_INIT("\x7f"
                 "ELF"),
     "this is a program or library (ELF)"},
    {XP_STR_INIT("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f"), "this is a Riegeli record file"},
    {XP_STR_INIT("PK\x03\x04"), "this is a ZIP archive"},
    {XP_STR_INIT("SQLite format 3"), "this is an SQLite data base (an Nsight Systems export?)"},
    {XP_STR_INIT("%PDF"), "this is a PDF document"},
    {XP_STR_INIT("BZh"), "this is a bzip2 file"},
    {XP_STR_INIT("\xfd"
                 "7zXZ"),
     "this is an xz file"},
    {XP_STR_INIT("\x1f\x8b"), "this is a gzip file inside of another"},
    {XP_STR_INIT("Metric: "), METRICS_REPORT},
    {XP_STR_INIT("Counter: "), METRICS_REPORT},
    {XP_STR_INIT("[MetricsData"), METRICS_REPORT},
    {XP_STR_INIT("HloModule "), "this is an HLO module as text"},
    {XP_STR_INIT("<"), "this is HTML or XML"},
};

static xp_str skip_blank(xp_str s)
{
  if (xp_str_starts(s, "\xef\xbb\xbf")) {
    s = xp_str_skip(s, 3);
  }
  return xp_str_trim(xp_str_take(s, 4096));
}

bool xp_space_is_text(xp_str s)
{
  if (s.len < 8) {
    return false; /* too little to tell */
  }
  s = xp_str_take(s, 512);
  for (size_t i = 0; i < s.len; i++) {
    unsigned char c = (unsigned char)s.ptr[i];
    if (c < ' ' && c != '\n' && c != '\r' && c != '\t') {
      return false;
    }
  }
  return true;
}

static const char *name_of(xp_str bytes)
{
  for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
    xp_str begin = signatures[i].begin;
    if (xp_str_eq(xp_str_take(bytes, begin.len), begin)) {
      return signatures[i].text;
    }
  }
  xp_str text = skip_blank(bytes);
  if (text.len == 0) {
    return "this file holds only white space";
  }
  if (text.ptr[0] == '{' || text.ptr[0] == '[') {
    return xp_str_find_text(text, "traceEvents") < text.len || xp_str_find_text(text, "\"ph\"") < text.len
               ? "this is a Chrome trace (JSON)"
               : "this is JSON";
  }
  return xp_space_is_text(bytes) ? "this is text" : NULL;
}

xp_str xp_space_looks_like(xp_arena *arena, xp_str bytes)
{
  const char *name = name_of(bytes);
  if (name != NULL) {
    return xp_arena_format(arena, "%s, not an XSpace; xlaprof reads *.xplane.pb", name);
  }
  unsigned char b[4] = {0};
  memcpy(b, bytes.ptr, bytes.len < 4 ? bytes.len : 4);
  return xp_arena_format(
      arena, "this is not an XSpace (it begins with the bytes %02x %02x %02x %02x); xlaprof reads *.xplane.pb", b[0],
      b[1], b[2], b[3]);
}
