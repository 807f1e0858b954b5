/* Quotes are needed for a comma or a quote; blanks get them, too, since some readers trim. */
#include "report/csv.h"

#include "report/text.h"

static bool needs_quotes(xp_str s)
{
  for (size_t i = 0; i < s.len; i++) {
    if (s.ptr[i] == ',' || s.ptr[i] == '"' || s.ptr[i] == ' ') {
      return true;
    }
  }
  return false;
}

void xp_csv_text(FILE *out, xp_str s)
{
  if (!needs_quotes(s)) {
    xp_text_write(out, s);
    return;
  }
  fputc('"', out);
  while (s.len > 0) {
    size_t n = xp_str_find(s, '"', 0);
    xp_text_write(out, xp_str_take(s, n));
    if (n < s.len) {
      fputs("\"\"", out);
    }
    s = xp_str_skip(s, n + 1);
  }
  fputc('"', out);
}

void xp_csv_end(FILE *out)
{
  fputs("\r\n", out);
}
