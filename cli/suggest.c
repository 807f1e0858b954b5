/* Edit distance with swaps (Damerau), three rows of the usual table. */
#include "suggest.h"

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b, size_t c)
{
  size_t m = a < b ? a : b;
  return m < c ? m : c;
}

size_t edit_distance(const char *word, size_t length, const char *other)
{
  size_t rows[3][LONGEST + 1], n = strlen(other);
  if (length > LONGEST || n > LONGEST) {
    return LONGEST;
  }
  for (size_t j = 0; j <= n; j++) {
    rows[0][j] = j;
  }
  for (size_t i = 1; i <= length; i++) {
    size_t *now = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= n; j++) {
      bool same = word[i - 1] == other[j - 1];
      now[j] = least(above[j] + 1, now[j - 1] + 1, above[j - 1] + !same);
      if (i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1] &&
          two_above[j - 2] + 1 < now[j]) {
        now[j] = two_above[j - 2] + 1;
      }
    }
  }
  return rows[length % 3][n];
}
