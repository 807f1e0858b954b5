/* Text is laid out in three passes: every cell becomes a printable text and the columns get their natural widths; if a
 * row is too wide, columns that may go are dropped and text columns shrink, the widest first; then the rows are
 * written.
 *
 * Rows go by column order, so a cell's place in `cells` is row * columns + column. */
#include "report/table.h"

#include <inttypes.h>

#include "report/csv.h"
#include "report/extent.h"
#include "report/text.h"

enum { GUTTER = 2, LEAST_TEXT = 12, COMFORTABLE_TEXT = 24 };

typedef struct {
  enum { CELL_NONE, CELL_TEXT, CELL_INT, CELL_REAL } kind;
  xp_str text;
  int64_t integer;
  double real;
} cell;

typedef struct {
  bool shown;
  bool one_unit; /* times of the column share `unit` and `decimals`; the heading names the unit */
  xp_time_unit unit;
  int decimals;
  size_t width;
  xp_str heading;
} layout;

struct xp_table {
  const xp_printer *printer;
  const xp_column *columns;
  size_t column_count;
  cell *cells;
  size_t cell_count, capacity;
  layout *layouts;
  xp_str *texts; /* of all cells */
};

xp_table *xp_table_create(const xp_printer *printer, const xp_column *columns, size_t count)
{
  xp_table *table = xp_arena_alloc(printer->arena, sizeof *table);
  table->printer = printer;
  table->columns = columns;
  table->column_count = count;
  return table;
}

static void add(xp_table *table, cell c)
{
  table->cells =
      xp_arena_grow(table->printer->arena, table->cells, table->cell_count, &table->capacity, sizeof *table->cells);
  table->cells[table->cell_count++] = c;
}

void xp_table_text(xp_table *table, xp_str value)
{
  add(table, (cell){.kind = CELL_TEXT, .text = value});
}

void xp_table_int(xp_table *table, int64_t value)
{
  add(table, (cell){.kind = CELL_INT, .integer = value});
}

void xp_table_real(xp_table *table, double value)
{
  add(table, (cell){.kind = CELL_REAL, .real = value});
}

void xp_table_none(xp_table *table)
{
  add(table, (cell){.kind = CELL_NONE});
}

static size_t row_count(const xp_table *table)
{
  return table->cell_count / table->column_count;
}

static const cell *cell_at(const xp_table *table, size_t row, size_t column)
{
  return &table->cells[row * table->column_count + column];
}

static bool is_empty(const cell *c)
{
  return c->kind == CELL_NONE || (c->kind == CELL_TEXT && c->text.len == 0) || (c->kind == CELL_INT && c->integer == 0);
}

static bool is_shown(const xp_table *table, size_t column)
{
  int flags = table->columns[column].flags;
  if (flags & XP_ONLY_CSV) {
    return false;
  }
  if (!(flags & XP_HIDE_EMPTY)) {
    return true;
  }
  for (size_t row = 0; row < row_count(table); row++) {
    if (!is_empty(cell_at(table, row, column))) {
      return true;
    }
  }
  return false;
}

/* ---- text */

static void widen(const xp_table *table, size_t column, xp_extent *extent)
{
  for (size_t row = 0; row < row_count(table); row++) {
    const cell *c = cell_at(table, row, column);
    if (c->kind == CELL_INT) {
      xp_extent_add(extent, c->integer);
    }
  }
}

static void set_unit(const xp_table *table, size_t column, xp_time_unit unit)
{
  layout *l = &table->layouts[column];
  xp_extent extent = XP_EXTENT_NONE;
  widen(table, column, &extent);
  l->one_unit = true;
  l->unit = unit;
  l->decimals = xp_extent_decimals(&extent, unit);
}

/* Columns of times have one unit together, or else every cell its own, so that the numbers of a row can be compared.
 * Places on an axis are apart: they have one unit in any case. */
static void choose_units(const xp_table *table)
{
  xp_extent lengths = XP_EXTENT_NONE;
  for (size_t i = 0; i < table->column_count; i++) {
    xp_extent places = XP_EXTENT_NONE;
    if (table->columns[i].kind != XP_COLUMN_TIME || (table->columns[i].flags & (XP_OWN_UNITS | XP_ONLY_CSV))) {
      continue;
    }
    if (table->columns[i].flags & XP_ONE_UNIT) {
      widen(table, i, &places);
      set_unit(table, i, xp_extent_unit(&places));
    } else {
      widen(table, i, &lengths);
    }
  }
  for (size_t i = 0; i < table->column_count && xp_extent_has_one_unit(&lengths); i++) {
    if (table->columns[i].kind == XP_COLUMN_TIME &&
        !(table->columns[i].flags & (XP_OWN_UNITS | XP_ONLY_CSV | XP_ONE_UNIT))) {
      set_unit(table, i, xp_extent_unit(&lengths));
    }
  }
}

static xp_str time_text(const xp_table *table, const layout *l, int64_t ps)
{
  xp_arena *arena = table->printer->arena;
  if (!l->one_unit) {
    return xp_format_time(arena, ps);
  }
  return ps == 0 ? xp_str_c("0") : xp_format_time_in(arena, ps, l->unit, l->decimals);
}

static xp_str number_text(const xp_table *table, size_t column, const cell *c)
{
  xp_arena *arena = table->printer->arena;
  switch (table->columns[column].kind) {
  case XP_COLUMN_TIME:
    return time_text(table, &table->layouts[column], c->integer);
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

static xp_str cell_text(const xp_table *table, size_t column, const cell *c)
{
  if (c->kind == CELL_NONE) {
    return xp_str_c("-");
  }
  if (c->kind == CELL_TEXT) {
    return xp_text_printable(table->printer->arena, c->text);
  }
  return number_text(table, column, c);
}

static xp_str heading_text(const xp_table *table, size_t column)
{
  const layout *l = &table->layouts[column];
  const char *title = table->columns[column].title;
  return l->one_unit ? xp_arena_format(table->printer->arena, "%s %s", title, xp_unit_name(l->unit)) : xp_str_c(title);
}

static void lay_out_column(xp_table *table, size_t column)
{
  layout *l = &table->layouts[column];
  l->shown = is_shown(table, column);
  l->heading = heading_text(table, column);
  l->width = xp_text_width(l->heading);
  for (size_t row = 0; l->shown && row < row_count(table); row++) {
    xp_str text = cell_text(table, column, cell_at(table, row, column));
    size_t width = xp_text_width(text);
    table->texts[row * table->column_count + column] = text;
    l->width = width > l->width ? width : l->width;
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

/* The widest text column that is wider than it has to be, and than `floor`; column_count if there is none. */
static size_t widest(const xp_table *table, size_t floor)
{
  size_t found = table->column_count;
  for (size_t i = 0; i < table->column_count; i++) {
    const layout *l = &table->layouts[i];
    if (!l->shown || table->columns[i].kind != XP_COLUMN_TEXT || l->width <= floor ||
        l->width <= least_width(table, i)) {
      continue;
    }
    if (found == table->column_count || l->width > table->layouts[found].width) {
      found = i;
    }
  }
  return found;
}

static bool shrink(xp_table *table, size_t room, size_t floor)
{
  while (total_width(table) > room) {
    size_t column = widest(table, floor);
    if (column == table->column_count) {
      return false;
    }
    table->layouts[column].width--;
  }
  return true;
}

/* Names give way until they get hard to read, then columns that may go, then names again. */
static void fit(xp_table *table, size_t room)
{
  bool fits = shrink(table, room, COMFORTABLE_TEXT);
  for (size_t i = table->column_count; !fits && i > 0; i--) {
    if (table->columns[i - 1].flags & XP_DROP_NARROW) {
      table->layouts[i - 1].shown = false;
      fits = shrink(table, room, COMFORTABLE_TEXT);
    }
  }
  if (!fits) {
    shrink(table, room, 0);
  }
}

/* A numeric cell stands at the right of its column, a text at the left; no blanks at the end of a line. */
static void write_cell(const xp_table *table, size_t column, xp_str text, size_t *pending)
{
  const layout *l = &table->layouts[column];
  text = xp_text_fit(table->printer->arena, text, l->width);
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

static void print_text(xp_table *table, size_t indent)
{
  const xp_printer *printer = table->printer;
  table->layouts = xp_arena_array(printer->arena, table->column_count, sizeof *table->layouts);
  table->texts = xp_arena_array(printer->arena, table->cell_count + 1, sizeof *table->texts);
  choose_units(table);
  for (size_t i = 0; i < table->column_count; i++) {
    lay_out_column(table, i);
  }
  fit(table, printer->width > indent ? printer->width - indent : 0);
  write_headings(table, indent);
  for (size_t row = 0; row < row_count(table); row++) {
    size_t pending = indent;
    for (size_t i = 0; i < table->column_count; i++) {
      if (table->layouts[i].shown) {
        write_cell(table, i, table->texts[row * table->column_count + i], &pending);
      }
    }
    fputc('\n', printer->out);
  }
}

/* ---- CSV */

static void write_csv_cell(FILE *out, const cell *c)
{
  if (c->kind == CELL_TEXT) {
    xp_csv_text(out, c->text);
  } else if (c->kind == CELL_INT) {
    fprintf(out, "%" PRId64, c->integer);
  } else if (c->kind == CELL_REAL) {
    fprintf(out, "%.6g", c->real);
  }
}

static void print_csv(const xp_table *table)
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
  for (size_t row = 0; row < row_count(table); row++) {
    comma = "";
    for (size_t i = 0; i < table->column_count; i++) {
      if (!(table->columns[i].flags & XP_ONLY_TEXT)) {
        fputs(comma, out);
        write_csv_cell(out, cell_at(table, row, i));
        comma = ",";
      }
    }
    xp_csv_end(out);
  }
}

void xp_table_print(xp_table *table, size_t indent)
{
  if (table->printer->form == XP_FORM_CSV) {
    print_csv(table);
  } else {
    print_text(table, indent);
  }
}
