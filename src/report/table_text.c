/* Text is laid out in three passes over the rows: what the columns hold (table_cells.c); then every cell is written out
 * to learn the widths; then the rows are written.  If a row is too wide, text columns shrink, the widest first, and
 * columns that may go are dropped.
 *
 * No text of a cell outlives its row: it is made again in the next pass, in the scratch arena, which each row clears.
 * So a table of a million rows takes no more memory than one of ten, if its rows come from a callback.
 */
#include "report/table_cells.h"
#include "report/text.h"

enum { GUTTER = 2, LEAST_TEXT = 12, COMFORTABLE_TEXT = 24, LAST_TEXT = 5 };

/* ---- widths */

static void widen(xp_cell_layout *l, xp_str text)
{
  size_t width = xp_text_width(text);
  l->natural = width > l->natural ? width : l->natural;
}

static void find_widths(xp_table *table)
{
  for (size_t i = 0; i < table->column_count; i++) {
    xp_cell_layout *l = &table->layouts[i];
    widen(l, l->heading);
  }
  for (size_t row = 0; row < xp_table_row_count(table); row++) {
    const xp_cell *cells = xp_table_cells_of(table, row);
    for (size_t i = 0; i < table->column_count; i++) {
      if (table->layouts[i].shown) {
        widen(&table->layouts[i], xp_table_cell_text(table, i, &cells[i]));
      }
    }
  }
}

static size_t total_width(const xp_table *table)
{
  size_t width = 0;
  for (size_t i = 0; i < table->column_count; i++) {
    width += table->layouts[i].shown ? table->layouts[i].width + GUTTER : 0;
  }
  return width > GUTTER ? width - GUTTER : 0;
}

static size_t least_width(const xp_table *table, size_t column)
{
  const xp_column *c = &table->columns[column];
  size_t least = c->least > 0 ? c->least : LEAST_TEXT, heading = xp_text_width(table->layouts[column].heading);
  return least > heading ? least : heading;
}

/* The widest text column that is wider than `floor`, and than it has to be unless all is `narrow`; column_count if
 * there is none. */
static size_t widest(const xp_table *table, size_t floor, bool narrow)
{
  size_t found = table->column_count;
  for (size_t i = 0; i < table->column_count; i++) {
    const xp_cell_layout *l = &table->layouts[i];
    if (!l->shown || table->columns[i].kind != XP_COLUMN_TEXT || l->width <= floor ||
        (!narrow && l->width <= least_width(table, i))) {
      continue;
    }
    if (found == table->column_count || l->width > table->layouts[found].width) {
      found = i;
    }
  }
  return found;
}

/* Takes what is too much off the natural widths of names. */
static bool shrink(xp_table *table, size_t room, size_t floor, bool narrow)
{
  for (size_t i = 0; i < table->column_count; i++) {
    table->layouts[i].width = table->layouts[i].natural;
  }
  while (total_width(table) > room) {
    size_t column = widest(table, floor, narrow);
    if (column == table->column_count) {
      return false;
    }
    table->layouts[column].width--;
  }
  return true;
}

/* Leaves out columns with a flag, the last first, until the row fits. */
static bool drop(xp_table *table, size_t room, size_t floor, int flag)
{
  bool fits = shrink(table, room, floor, false);
  for (size_t i = table->column_count; !fits && i > 0; i--) {
    if (table->columns[i - 1].flags & flag) {
      table->layouts[i - 1].shown = false;
      fits = shrink(table, room, floor, false);
    }
  }
  return fits;
}

/* Names give way until they get hard to read, then columns that may go, then names again; on the narrowest of terminals
 * columns that nobody wants to miss, and at last all but the first. */
static void fit(xp_table *table, size_t room)
{
  if (drop(table, room, COMFORTABLE_TEXT, XP_DROP_NARROW) || drop(table, room, 0, XP_DROP_LAST)) {
    return;
  }
  for (size_t i = table->column_count; !shrink(table, room, LAST_TEXT, true) && i > 1; i--) {
    table->layouts[i - 1].shown = false;
  }
}

/* ---- rows */

/* A numeric cell stands at the right of its column, a text at the left; no blanks at the end of a line. */
static void write_cell(const xp_table *table, size_t column, xp_str text, size_t *pending)
{
  const xp_cell_layout *l = &table->layouts[column];
  text = xp_text_fit(table->printer->scratch, text, l->width);
  size_t width = xp_text_width(text), blanks = l->width > width ? l->width - width : 0;
  bool right = table->columns[column].kind != XP_COLUMN_TEXT;
  if (right) {
    *pending += blanks;
  }
  if (text.len > 0) {
    xp_text_pad(table->printer->out, *pending);
    fwrite(text.ptr, 1, text.len, table->printer->out);
    *pending = 0;
  } else {
    *pending += width;
  }
  *pending += (right ? 0 : blanks) + GUTTER;
}

static void write_headings(const xp_table *table, size_t indent)
{
  FILE *out = table->printer->out;
  size_t pending = indent;
  for (size_t i = 0; i < table->column_count; i++) {
    if (table->layouts[i].shown) {
      write_cell(table, i, table->layouts[i].heading, &pending);
    }
  }
  fputc('\n', out);
}

void xp_table_print_text(xp_table *table, size_t indent)
{
  const xp_printer *printer = table->printer;
  xp_table_prepare(table);
  find_widths(table);
  fit(table, printer->width > indent ? printer->width - indent : 0);
  write_headings(table, indent);
  for (size_t row = 0; row < xp_table_row_count(table); row++) {
    const xp_cell *cells = xp_table_cells_of(table, row);
    size_t pending = indent;
    for (size_t i = 0; i < table->column_count; i++) {
      if (table->layouts[i].shown) {
        write_cell(table, i, xp_table_cell_text(table, i, &cells[i]), &pending);
      }
    }
    fputc('\n', printer->out);
  }
}
