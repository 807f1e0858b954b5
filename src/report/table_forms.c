/* The forms that need no widths: HTML, which leaves fitting to the browser, and CSV with raw numbers. */
#include <inttypes.h>

#include "report/csv.h"
#include "report/html.h"
#include "report/table_cells.h"

/* ---- HTML */

/* Columns that a narrow terminal goes without have a class, by which a narrow screen leaves them out, too. */
static void html_cell(const xp_table *table, const char *tag, size_t column, xp_str text)
{
  bool number = table->columns[column].kind != XP_COLUMN_TEXT, minor = table->columns[column].flags & XP_DROP_NARROW;
  xp_html_element(table->printer, tag, number ? (minor ? "n minor" : "n") : minor ? "minor" : "", text);
}

void xp_table_print_html(xp_table *table)
{
  FILE *out = table->printer->out;
  xp_table_prepare(table);
  fputs("<div class=\"table\"><table>\n<thead><tr>\n", out);
  for (size_t i = 0; i < table->column_count; i++) {
    if (table->layouts[i].shown) {
      html_cell(table, "th", i, table->layouts[i].heading);
    }
  }
  fputs("</tr></thead>\n<tbody>\n", out);
  for (size_t row = 0; row < xp_table_row_count(table); row++) {
    const xp_cell *cells = xp_table_cells_of(table, row);
    fputs("<tr>\n", out);
    for (size_t i = 0; i < table->column_count; i++) {
      if (table->layouts[i].shown) {
        html_cell(table, "td", i, xp_table_cell_text(table, i, &cells[i]));
      }
    }
    fputs("</tr>\n", out);
  }
  fputs("</tbody>\n</table></div>\n", out);
}

/* ---- CSV */

static void write_csv_cell(FILE *out, const xp_cell *c)
{
  if (c->kind == XP_CELL_TEXT) {
    xp_csv_text(out, c->text);
  } else if (c->kind == XP_CELL_INT) {
    fprintf(out, "%" PRId64, c->integer);
  } else if (c->kind == XP_CELL_REAL) {
    fprintf(out, "%.6g", c->real);
  }
}

void xp_table_print_csv(xp_table *table)
{
  FILE *out = table->printer->out;
  const char *comma = "";
  for (size_t i = 0; i < table->column_count; i++) {
    if (!(table->columns[i].flags & XP_ONLY_TEXT)) {
      fprintf(out, "%s%s", comma, table->columns[i].csv);
      comma = ",";
    }
  }
  xp_csv_end(out);
  for (size_t row = 0; row < xp_table_row_count(table); row++) {
    const xp_cell *cells = xp_table_cells_of(table, row);
    comma = "";
    for (size_t i = 0; i < table->column_count; i++) {
      if (!(table->columns[i].flags & XP_ONLY_TEXT)) {
        fputs(comma, out);
        write_csv_cell(out, &cells[i]);
        comma = ",";
      }
    }
    xp_csv_end(out);
  }
}
