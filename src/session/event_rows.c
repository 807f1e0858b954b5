/* Sorting by merging, since equal events keep their order and most lines are sorted but for a few.
 */
#include "session/event_rows.h"

#include "wire/wire.h"

bool xp_event_row_read(xp_str message, xp_event_row *row)
{
  xp_wire_reader r = xp_wire_open(message);
  xp_wire_field f;
  *row = (xp_event_row){.message = message};
  while (xp_wire_next(&r, &f)) {
    if (f.type == XP_WIRE_VARINT && f.number == 2) {
      row->offset_ps = (int64_t)f.value;
    } else if (f.type == XP_WIRE_VARINT && f.number == 3) {
      row->dur_ps = (int64_t)f.value;
    }
  }
  return r.status == XP_WIRE_OK;
}

bool xp_event_rows_add(xp_event_rows *rows, xp_arena *arena, xp_event_row row)
{
  xp_event_row *grown = xp_arena_grow(arena, rows->rows, rows->count, &rows->capacity, sizeof *grown);
  if (grown == NULL) {
    return false;
  }
  rows->rows = grown;
  rows->is_sorted = rows->count == 0 || (rows->is_sorted && xp_event_rows_in_order(&grown[rows->count - 1], &row));
  grown[rows->count++] = row;
  return true;
}

/* Merges from[low..mid) and from[mid..high) into to[low..high). */
static void merge(const xp_event_row *from, xp_event_row *to, size_t low, size_t mid, size_t high)
{
  size_t left = low, right = mid;
  for (size_t i = low; i < high; i++) {
    bool take_left = right == high || (left < mid && xp_event_rows_in_order(&from[left], &from[right]));
    to[i] = take_left ? from[left++] : from[right++];
  }
}

bool xp_event_rows_sort(xp_event_rows *rows, xp_arena *arena)
{
  if (rows->is_sorted || rows->count < 2) {
    return true;
  }
  xp_event_row *from = rows->rows, *to = xp_arena_array(arena, rows->count, sizeof *to);
  if (to == NULL) {
    return false;
  }
  for (size_t width = 1; width < rows->count; width *= 2) {
    for (size_t low = 0; low < rows->count; low += 2 * width) {
      size_t mid = low + width < rows->count ? low + width : rows->count;
      size_t high = mid + width < rows->count ? mid + width : rows->count;
      merge(from, to, low, mid, high);
    }
    xp_event_row *spare = from;
    from = to;
    to = spare;
  }
  rows->rows = from;
  rows->capacity = rows->count;
  rows->is_sorted = true;
  return true;
}
