/* One definition of a table, printed as aligned text, as HTML or as CSV.
 *
 * A table collects its cells first, or asks a callback for one row after the other; text then gets columns as wide as
 * their cells, names shortened until the row fits the width, and one unit for a column of times where that loses
 * nothing.  On narrow terminals columns are left out.  HTML gets the same cells, and
 * leaves fitting to the browser.  CSV (RFC 4180) gets the raw numbers: times
 * in ps, shares as 0 .. 1, missing values empty, control characters in names escaped.
 *
 * Strings are borrowed until the table is printed.  Memory comes from the printer's arena; the scratch arena is cleared
 * for every row.
 */
#ifndef XP_REPORT_TABLE_H
#define XP_REPORT_TABLE_H

#include "report/print.h"

typedef enum {
  XP_COLUMN_TEXT,
  XP_COLUMN_TIME,
  XP_COLUMN_COUNT,
  XP_COLUMN_SHARE,
  XP_COLUMN_RATE,
  XP_COLUMN_BYTES
} xp_column_kind;

enum {
  XP_ONLY_CSV = 1,    /* not in text */
  XP_ONLY_TEXT = 2,   /* not in CSV */
  XP_HIDE_EMPTY = 4,  /* not in text if no row has a value, or all are 0 */
  XP_DROP_NARROW = 8, /* left out of text that would else be too wide, the last such column first */
  XP_OWN_UNITS = 16,  /* every time of the column has its own unit */
  XP_ONE_UNIT = 32,   /* the times are places on one axis: one unit, whatever it takes */
  XP_DROP_LAST = 64   /* left out only where names cannot get shorter, the last such column first */
};

typedef struct {
  const char *title; /* heading in text */
  const char *csv;   /* column name in CSV */
  xp_column_kind kind;
  int flags;
  size_t least; /* TEXT: the width below which it is not shortened; 0: 12 */
} xp_column;

typedef struct xp_table xp_table;

/* A table with these columns (borrowed). */
xp_table *xp_table_create(const xp_printer *printer, const xp_column *columns, size_t count);

/* The next cell of the row, from left to right; after the last column a new row begins.  The kind of cell has to be
 * that of the column, or "none". */
void xp_table_text(xp_table *table, xp_str value);
void xp_table_int(xp_table *table, int64_t value); /* TIME in ps, COUNT, BYTES */
void xp_table_real(xp_table *table, double value); /* SHARE, RATE */
void xp_table_none(xp_table *table);               /* unknown: "-" in text */

/* Adds the cells of one row; its texts may lie in the printer's scratch arena. */
typedef void xp_table_row(const void *context, xp_table *table, size_t row);

/* Instead of cells that are added before: rows that are asked for while the table is printed, each several times, so
 * that nothing is kept for them. */
void xp_table_rows(xp_table *table, size_t rows, xp_table_row *add_row, const void *context);

/* Prints the table in the printer's form; lines of text begin with `indent` spaces. */
void xp_table_print(xp_table *table, size_t indent);

#endif
