/* A locale with a decimal comma, as the program that carries the library may have set it. */
#ifndef XP_TESTS_DECIMAL_COMMA_H
#define XP_TESTS_DECIMAL_COMMA_H

#include "testing.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static char decimal_comma_folder[64];

/* Makes the locale and switches to it; false if the machine has nothing to make it from. */
static inline bool set_decimal_comma(void)
{
  char command[256];
  snprintf(decimal_comma_folder, sizeof decimal_comma_folder, "/tmp/xlaprof-locale-XXXXXX");
  assert_non_null(mkdtemp(decimal_comma_folder));
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", decimal_comma_folder);
  bool is_made = system(command) == 0;
  setenv("LOCPATH", decimal_comma_folder, 1);
  return is_made && setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
}

/* Goes back.  Skips the test if there was no such locale. */
static inline void end_decimal_comma(bool is_set)
{
  char command[96], comma[8];
  snprintf(comma, sizeof comma, "%.1f", 1.5);
  setlocale(LC_NUMERIC, "C");
  snprintf(command, sizeof command, "rm -r %s", decimal_comma_folder);
  assert_int_equal(system(command), 0);
  if (!is_set) {
    skip();
  }
  assert_string_equal(comma, "1,5"); /* the test was one */
}

#endif
