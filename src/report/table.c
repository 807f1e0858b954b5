/* Collecting cells, and handing the table to whoever prints it in the wanted form. */
#include "report/table_cells.h"

xp_table *xp_table_create(const xp_printer *printer, const xp_column *columns, size_t count)
{
  xp_table *table = xp_arena_alloc(printer->arena, sizeof *table);
  table->printer = printer;
  table->columns = columns;
  table->column_count = count;
  return table;
}

static void add(xp_table *table, xp_cell c)
{
  table->cells =
      xp_arena_grow(table->printer->arena, table->cells, table->cell_count, &table->capacity, sizeof *table->cells);
  table->cells[table->cell_count++] = c;
}

void xp_table_text(xp_table *table, xp_str value)
{
  add(table, (xp_cell){.kind = XP_CELL_TEXT, .text = value});
}

void xp_table_int(xp_table *table, int64_t value)
{
  add(table, (xp_cell){.kind = XP_CELL_INT, .integer = value});
}

void xp_table_real(xp_table *table, double value)
{
  add(table, (xp_cell){.kind = XP_CELL_REAL, .real = value});
}

void xp_table_none(xp_table *table)
{
  add(table, (xp_cell){.kind = XP_CELL_NONE});
}

void xp_table_rows(xp_table *table, size_t rows, xp_table_row *add_row, const void *context)
{
  table->rows = rows;
  table->add_row = add_row;
  table->context = context;
}

size_t xp_table_row_count(const xp_table *table)
{
  return table->add_row != NULL ? table->rows : table->cell_count / table->column_count;
}

const xp_cell *xp_table_cells_of(xp_table *table, size_t row)
{
  xp_arena_clear(table->printer->scratch);
  if (table->add_row == NULL) {
    return &table->cells[row * table->column_count];
  }
  table->cell_count = 0;
  table->add_row(table->context, table, row);
  return table->cells;
}

void xp_table_print(xp_table *table, size_t indent)
{
  if (table->printer->form == XP_FORM_CSV) {
    xp_table_print_csv(table);
  } else if (table->printer->form == XP_FORM_HTML) {
    xp_table_print_html(table);
  } else {
    xp_table_print_text(table, indent);
  }
}
