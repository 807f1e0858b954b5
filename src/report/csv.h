/* Fields of comma-separated values (RFC 4180).
 *
 * Control characters and bytes that are not UTF-8 are written as escapes ("\n", "\xff"), so that a row is one line.
 */
#ifndef XP_REPORT_CSV_H
#define XP_REPORT_CSV_H

#include <stdio.h>

#include "base/str.h"

/* A text field, in quotes where it needs them. */
void xp_csv_text(FILE *out, xp_str s);

/* The end of a row. */
void xp_csv_end(FILE *out);

#endif
