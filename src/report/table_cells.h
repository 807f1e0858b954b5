/* A table as its parts share it: what it holds, and what its cells say.
 *
 * Collected rows go by column order, so a cell's place in `cells` is row * columns + column. */
#ifndef XP_REPORT_TABLE_CELLS_H
#define XP_REPORT_TABLE_CELLS_H

#include "report/extent.h"
#include "report/table.h"

typedef struct {
  enum { XP_CELL_NONE, XP_CELL_TEXT, XP_CELL_INT, XP_CELL_REAL } kind;
  union {
    xp_str text;
    int64_t integer;
    double real;
  };
} xp_cell;

typedef struct {
  bool shown;
  bool has_values;  /* some row has something other than nothing or 0 */
  xp_extent extent; /* of its times */
  bool one_unit;    /* times of the column share `unit` and `decimals`; the heading names the unit */
  xp_time_unit unit;
  int decimals;
  size_t natural; /* the width that everything in it fits into */
  size_t width;
  xp_str heading;
} xp_cell_layout;

struct xp_table {
  const xp_printer *printer;
  const xp_column *columns;
  size_t column_count;
  xp_cell *cells;
  size_t cell_count, capacity;
  size_t rows; /* with a callback */
  xp_table_row *add_row;
  const void *context;
  xp_cell_layout *layouts; /* for text and HTML */
};

size_t xp_table_row_count(const xp_table *table);

/* The cells of a row, until the next row is asked for; ends the texts of the row before. */
const xp_cell *xp_table_cells_of(xp_table *table, size_t row);

/* Makes the layouts: which columns are shown, their units and headings. */
void xp_table_prepare(xp_table *table);

/* A cell as people read it, in the scratch arena. */
xp_str xp_table_cell_text(const xp_table *table, size_t column, const xp_cell *c);

/* ---- the forms */

void xp_table_print_text(xp_table *table, size_t indent);
void xp_table_print_html(xp_table *table);
void xp_table_print_csv(xp_table *table);

#endif
