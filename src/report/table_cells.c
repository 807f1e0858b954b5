/* What the columns hold decides which are shown and their units: one walk over the rows, before any is printed. */
#include "report/table_cells.h"

#include "report/text.h"

static bool is_empty(const xp_cell *c)
{
  return c->kind == XP_CELL_NONE || (c->kind == XP_CELL_TEXT && c->text.len == 0) ||
         (c->kind == XP_CELL_INT && c->integer == 0);
}

static bool is_length(const xp_column *c)
{
  return c->kind == XP_COLUMN_TIME && !(c->flags & (XP_OWN_UNITS | XP_ONLY_CSV | XP_ONE_UNIT));
}

/* What the columns hold; returns the shortest time of the first column of lengths, 0 if there is none. */
static int64_t survey(xp_table *table)
{
  size_t first = 0;
  int64_t shortest = 0;
  while (first < table->column_count && !is_length(&table->columns[first])) {
    first++;
  }
  for (size_t i = 0; i < table->column_count; i++) {
    table->layouts[i].extent = (xp_extent)XP_EXTENT_NONE;
  }
  for (size_t row = 0; row < xp_table_row_count(table); row++) {
    const xp_cell *cells = xp_table_cells_of(table, row);
    for (size_t i = 0; i < table->column_count; i++) {
      xp_cell_layout *l = &table->layouts[i];
      l->has_values = l->has_values || !is_empty(&cells[i]);
      if (cells[i].kind == XP_CELL_INT && table->columns[i].kind == XP_COLUMN_TIME) {
        xp_extent_add(&l->extent, cells[i].integer);
      }
    }
  }
  if (first < table->column_count && table->layouts[first].extent.most > 0) {
    uint64_t least = table->layouts[first].extent.least;
    shortest = least > INT64_MAX ? INT64_MAX : (int64_t)least;
  }
  return shortest;
}

/* Columns of times have one unit together, or else every cell its own, so that the numbers of a row can be compared.
 * Places on an axis are apart: they have one unit in any case, and digits enough to tell rows of the shortest length
 * apart. */
static void choose_units(xp_table *table, int64_t shortest)
{
  xp_extent lengths = XP_EXTENT_NONE;
  for (size_t i = 0; i < table->column_count; i++) {
    xp_cell_layout *l = &table->layouts[i];
    if (is_length(&table->columns[i])) {
      xp_extent_join(&lengths, &l->extent);
    } else if (table->columns[i].kind == XP_COLUMN_TIME && (table->columns[i].flags & XP_ONE_UNIT)) {
      l->one_unit = true;
      l->unit = xp_extent_unit(&l->extent);
      l->decimals = xp_extent_decimals(&l->extent, l->unit);
      xp_place_refine(shortest, &l->unit, &l->decimals);
    }
  }
  for (size_t i = 0; i < table->column_count && xp_extent_has_one_unit(&lengths); i++) {
    xp_cell_layout *l = &table->layouts[i];
    if (is_length(&table->columns[i])) {
      l->one_unit = true;
      l->unit = xp_extent_unit(&lengths);
      l->decimals = xp_extent_decimals(&l->extent, l->unit);
    }
  }
}

static bool is_shown(const xp_table *table, size_t column)
{
  int flags = table->columns[column].flags;
  return !(flags & XP_ONLY_CSV) && (!(flags & XP_HIDE_EMPTY) || table->layouts[column].has_values);
}

static xp_str time_text(const xp_table *table, size_t column, int64_t ps)
{
  xp_arena *arena = table->printer->scratch;
  const xp_cell_layout *l = &table->layouts[column];
  if (!l->one_unit) {
    return xp_format_time(arena, ps);
  }
  if (ps == 0) {
    return xp_str_c("0");
  }
  return table->columns[column].flags & XP_ONE_UNIT ? xp_format_place_in(arena, ps, l->unit, l->decimals)
                                                    : xp_format_time_in(arena, ps, l->unit, l->decimals);
}

static xp_str number_text(const xp_table *table, size_t column, const xp_cell *c)
{
  xp_arena *arena = table->printer->scratch;
  switch (table->columns[column].kind) {
  case XP_COLUMN_TIME:
    return time_text(table, column, c->integer);
  case XP_COLUMN_SHARE:
    return xp_format_share(arena, c->real);
  case XP_COLUMN_RATE:
    return xp_format_rate(arena, c->real);
  case XP_COLUMN_BYTES:
    return xp_format_bytes(arena, (uint64_t)c->integer);
  default:
    return xp_format_count(arena, (uint64_t)c->integer);
  }
}

xp_str xp_table_cell_text(const xp_table *table, size_t column, const xp_cell *c)
{
  if (c->kind == XP_CELL_NONE) {
    return xp_str_c("-");
  }
  if (c->kind == XP_CELL_TEXT) {
    return xp_text_printable(table->printer->scratch, c->text);
  }
  return number_text(table, column, c);
}

static xp_str heading_text(const xp_table *table, size_t column)
{
  const xp_cell_layout *l = &table->layouts[column];
  const char *title = table->columns[column].title;
  return l->one_unit ? xp_arena_format(table->printer->arena, "%s %s", title, xp_unit_name(l->unit)) : xp_str_c(title);
}

void xp_table_prepare(xp_table *table)
{
  table->layouts = xp_arena_array(table->printer->arena, table->column_count, sizeof *table->layouts);
  choose_units(table, survey(table));
  for (size_t i = 0; i < table->column_count; i++) {
    table->layouts[i].shown = is_shown(table, i);
    table->layouts[i].heading = heading_text(table, i);
  }
}
