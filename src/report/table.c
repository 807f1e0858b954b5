/* Text is laid out in three passes over the rows: what the columns hold decides which are shown and their units; then
 * every cell is written out to learn the widths; then the rows are written.  If a row is too wide, text columns shrink,
 * the widest first, and columns that may go are dropped.
 *
 * No text of a cell outlives its row: it is made again in the next pass, in the scratch arena, which each row clears.
 * So a table of a million rows takes no more memory than one of ten, if its rows come from a callback.
 *
 * Collected rows go by column order, so a cell's place in `cells` is row * columns + column. */
#include "report/table.h"

#include <inttypes.h>

#include "report/csv.h"
#include "report/extent.h"
#include "report/html.h"
#include "report/text.h"

enum { GUTTER = 2, LEAST_TEXT = 12, COMFORTABLE_TEXT = 24, LAST_TEXT = 5 };

typedef struct {
  enum { CELL_NONE, CELL_TEXT, CELL_INT, CELL_REAL } kind;
  union {
    xp_str text;
    int64_t integer;
    double real;
  };
} cell;

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
} layout;

struct xp_table {
  const xp_printer *printer;
  const xp_column *columns;
  size_t column_count;
  cell *cells;
  size_t cell_count, capacity;
  size_t rows; /* with a callback */
  xp_table_row *add_row;
  const void *context;
  layout *layouts;
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

void xp_table_rows(xp_table *table, size_t rows, xp_table_row *add_row, const void *context)
{
  table->rows = rows;
  table->add_row = add_row;
  table->context = context;
}

static size_t row_count(const xp_table *table)
{
  return table->add_row != NULL ? table->rows : table->cell_count / table->column_count;
}

/* The cells of a row, until the next row is asked for; ends the texts of the row before. */
static const cell *cells_of(xp_table *table, size_t row)
{
  xp_arena_clear(table->printer->scratch);
  if (table->add_row == NULL) {
    return &table->cells[row * table->column_count];
  }
  table->cell_count = 0;
  table->add_row(table->context, table, row);
  return table->cells;
}

static bool is_empty(const cell *c)
{
  return c->kind == CELL_NONE || (c->kind == CELL_TEXT && c->text.len == 0) || (c->kind == CELL_INT && c->integer == 0);
}

/* ---- text */

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
  for (size_t row = 0; row < row_count(table); row++) {
    const cell *cells = cells_of(table, row);
    for (size_t i = 0; i < table->column_count; i++) {
      layout *l = &table->layouts[i];
      l->has_values = l->has_values || !is_empty(&cells[i]);
      if (cells[i].kind == CELL_INT && table->columns[i].kind == XP_COLUMN_TIME) {
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
    layout *l = &table->layouts[i];
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
    layout *l = &table->layouts[i];
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
  const layout *l = &table->layouts[column];
  if (!l->one_unit) {
    return xp_format_time(arena, ps);
  }
  if (ps == 0) {
    return xp_str_c("0");
  }
  return table->columns[column].flags & XP_ONE_UNIT ? xp_format_place_in(arena, ps, l->unit, l->decimals)
                                                    : xp_format_time_in(arena, ps, l->unit, l->decimals);
}

static xp_str number_text(const xp_table *table, size_t column, const cell *c)
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

static xp_str cell_text(const xp_table *table, size_t column, const cell *c)
{
  if (c->kind == CELL_NONE) {
    return xp_str_c("-");
  }
  if (c->kind == CELL_TEXT) {
    return xp_text_printable(table->printer->scratch, c->text);
  }
  return number_text(table, column, c);
}

static xp_str heading_text(const xp_table *table, size_t column)
{
  const layout *l = &table->layouts[column];
  const char *title = table->columns[column].title;
  return l->one_unit ? xp_arena_format(table->printer->arena, "%s %s", title, xp_unit_name(l->unit)) : xp_str_c(title);
}

static void widen(layout *l, xp_str text)
{
  size_t width = xp_text_width(text);
  l->natural = width > l->natural ? width : l->natural;
}

static void find_widths(xp_table *table)
{
  for (size_t i = 0; i < table->column_count; i++) {
    layout *l = &table->layouts[i];
    l->shown = is_shown(table, i);
    l->heading = heading_text(table, i);
    widen(l, l->heading);
  }
  for (size_t row = 0; row < row_count(table); row++) {
    const cell *cells = cells_of(table, row);
    for (size_t i = 0; i < table->column_count; i++) {
      if (table->layouts[i].shown) {
        widen(&table->layouts[i], cell_text(table, i, &cells[i]));
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
    const layout *l = &table->layouts[i];
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

/* A numeric cell stands at the right of its column, a text at the left; no blanks at the end of a line. */
static void write_cell(const xp_table *table, size_t column, xp_str text, size_t *pending)
{
  const layout *l = &table->layouts[column];
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

static void print_text(xp_table *table, size_t indent)
{
  const xp_printer *printer = table->printer;
  table->layouts = xp_arena_array(printer->arena, table->column_count, sizeof *table->layouts);
  choose_units(table, survey(table));
  find_widths(table);
  fit(table, printer->width > indent ? printer->width - indent : 0);
  write_headings(table, indent);
  for (size_t row = 0; row < row_count(table); row++) {
    const cell *cells = cells_of(table, row);
    size_t pending = indent;
    for (size_t i = 0; i < table->column_count; i++) {
      if (table->layouts[i].shown) {
        write_cell(table, i, cell_text(table, i, &cells[i]), &pending);
      }
    }
    fputc('\n', printer->out);
  }
}

/* ---- HTML */

/* Columns that a narrow terminal goes without have a class, by which a narrow screen leaves them out, too. */
static void html_cell(const xp_table *table, const char *tag, size_t column, xp_str text)
{
  bool number = table->columns[column].kind != XP_COLUMN_TEXT, minor = table->columns[column].flags & XP_DROP_NARROW;
  xp_html_element(table->printer, tag, number ? (minor ? "n minor" : "n") : minor ? "minor" : "", text);
}

static void print_html(xp_table *table)
{
  FILE *out = table->printer->out;
  table->layouts = xp_arena_array(table->printer->arena, table->column_count, sizeof *table->layouts);
  choose_units(table, survey(table));
  fputs("<div class=\"table\"><table>\n<thead><tr>\n", out);
  for (size_t i = 0; i < table->column_count; i++) {
    table->layouts[i].shown = is_shown(table, i);
    if (table->layouts[i].shown) {
      html_cell(table, "th", i, heading_text(table, i));
    }
  }
  fputs("</tr></thead>\n<tbody>\n", out);
  for (size_t row = 0; row < row_count(table); row++) {
    const cell *cells = cells_of(table, row);
    fputs("<tr>\n", out);
    for (size_t i = 0; i < table->column_count; i++) {
      if (table->layouts[i].shown) {
        html_cell(table, "td", i, cell_text(table, i, &cells[i]));
      }
    }
    fputs("</tr>\n", out);
  }
  fputs("</tbody>\n</table></div>\n", out);
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

static void print_csv(xp_table *table)
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
    const cell *cells = cells_of(table, row);
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

void xp_table_print(xp_table *table, size_t indent)
{
  if (table->printer->form == XP_FORM_CSV) {
    print_csv(table);
  } else if (table->printer->form == XP_FORM_HTML) {
    print_html(table);
  } else {
    print_text(table, indent);
  }
}
