/* Where and how a result is written; shared by all sections. */
#ifndef XP_REPORT_PRINT_H
#define XP_REPORT_PRINT_H

#include <stdio.h>

#include "base/arena.h"

typedef enum { XP_FORM_TEXT, XP_FORM_JSON, XP_FORM_CSV, XP_FORM_HTML } xp_form;

typedef struct {
  FILE *out;
  xp_form form;
  size_t width;      /* columns of text */
  bool colour;       /* escape sequences for bold headings */
  size_t top;        /* most rows of a text table; 0: the section's own choice; SIZE_MAX: all */
  xp_arena *arena;   /* texts of the output, with an escape */
  xp_arena *scratch; /* texts of one row or gap, with the same escape; whoever writes many clears it for each, and so do
                        tables */
} xp_printer;

/* Sentences and headings of sections are written by these functions in both forms that people read, text and HTML.  In
 * HTML the start of a line ("     Seen: ") becomes a label before the sentence. */

/* A heading, wrapped, bold where there is colour, with an empty line before it. */
void xp_print_heading(const xp_printer *printer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A sentence, made printable, wrapped with the given starts of the first and the further lines. */
void xp_print_text(const xp_printer *printer, const char *first, const char *rest, xp_str text);

/* The same where no word may be shortened, such as paths and the warnings that name them. */
void xp_print_exact(const xp_printer *printer, const char *first, const char *rest, xp_str text);

/* xp_print_text for a formatted text. */
void xp_print_line(const xp_printer *printer, const char *indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Rows that a text table shows: the caller's choice, or `otherwise`; never more than there are. */
size_t xp_print_rows(const xp_printer *printer, size_t otherwise, size_t there_are);

#endif
