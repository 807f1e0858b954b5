/* Cells, in rings by device: a barrier goes through the ring. */
#include "lazy/cell.h"

#include "lazy/data.h"

void xl_cell_open(xl_device *device, xl_cell *cell, xl_node *value)
{
  cell->value = value;
  cell->last = NULL;
  cell->next = &device->cells;
  cell->prev = device->cells.prev;
  cell->prev->next = cell;
  device->cells.prev = cell;
}

void xl_cell_close(xl_cell *cell)
{
  cell->prev->next = cell->next;
  cell->next->prev = cell->prev;
  cell->next = cell->prev = cell;
  xl_node_drop(cell->value);
  xl_data_drop(cell->last);
  cell->value = NULL;
  cell->last = NULL;
}

void xl_cell_set(xl_cell *cell, xl_node *value)
{
  if (value->data != NULL) { /* it was computed already, in eager mode, so nothing is left to be donated to it */
    xl_data_drop(cell->last);
    cell->last = NULL;
  } else if (cell->value->data != NULL && cell->last == NULL) {
    cell->last = xl_data_hold(cell->value->data);
  }
  xl_node *old = cell->value;
  cell->value = value;
  xl_node_drop(old);
}
